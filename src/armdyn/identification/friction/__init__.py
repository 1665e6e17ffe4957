"""Friction: the terms that identification can find."""
