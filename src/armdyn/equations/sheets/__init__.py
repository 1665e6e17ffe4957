"""Derivations step by step, in the notation of their texts."""
