"""Truc, Quyen and Quang 2020: tables, figures and equations, regenerated."""
