"""Figures: the only modules that import Matplotlib."""
