"""From machine code to Python functions: one sample, batches, keywords and errors."""
