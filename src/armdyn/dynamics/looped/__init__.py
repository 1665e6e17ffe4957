"""Quantities of robots of any size as recipes of looped kernels, and the choice of them."""
