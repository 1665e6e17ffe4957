"""The chapters of a study: each is a function of the subject; `contents` has their order."""
