"""The fit: rows, estimators, bands, validation, delivery."""
