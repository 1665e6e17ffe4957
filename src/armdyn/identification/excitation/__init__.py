"""Excitation: the motion to log."""
