"""Logs: reading them, and making evenly sampled motion and torques of them."""
