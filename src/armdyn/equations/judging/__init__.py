"""Judge anybody's equations: read them, name their symbols, compare exactly, and say what is wrong."""
