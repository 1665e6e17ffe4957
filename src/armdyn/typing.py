"""Type aliases shared by all packages."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]
"""A NumPy array; shapes and units stand in the docstring of the function that takes or returns it."""
Floats = np.ndarray[Any, np.dtype[np.float64]]
"""A NumPy array of double precision."""
