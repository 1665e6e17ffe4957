"""Figures, tables and pages. Matplotlib is used here and nowhere else."""
