"""Milićević et al.: tables, figures and equations, regenerated."""
