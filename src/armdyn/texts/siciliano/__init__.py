"""Siciliano, Sciavicco, Villani and Oriolo 2009, chapter 7: examples, figures and problems, regenerated."""
