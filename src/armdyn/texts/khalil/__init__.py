"""Khalil, lecture notes on dynamic modelling and control: tables, figures and examples, regenerated."""
