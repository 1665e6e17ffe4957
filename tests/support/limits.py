"""Limits of the process that runs the tests."""

from __future__ import annotations

import sys


def peak_memory() -> float:
    """Largest memory of this process so far, GB; 0 where the system does not tell."""
    try:
        import resource
    except ImportError:
        return 0.0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**30 if sys.platform == "darwin" else 2**20)
