"""Equations of motion as things to read, compare and prove."""
