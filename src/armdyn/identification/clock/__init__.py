"""The clock of a log: broken samples, wrong stamps, stamps rebuilt from the positions."""
