"""Reports: figures (the only modules that import Matplotlib), chapters, pages."""
