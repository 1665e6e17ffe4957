"""Type aliases shared by all packages."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Protocol

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]
"""A NumPy array; shapes and units stand in the docstring of the function that takes or returns it."""
Floats = np.ndarray[Any, np.dtype[np.float64]]
"""A NumPy array of double precision."""

Progress = Callable[[str, float], object]
"""Called as `progress(step, done)`: what is being done, and the share of the work already done, from 0 to 1."""


class Scalars(Protocol):
    """A vector of scalars: a list, a tuple or a NumPy array. Of numbers, it may also hold a batch: (..., n)."""

    def __len__(self) -> int: ...

    def __getitem__(self, index: Any, /) -> Any: ...

    def __iter__(self) -> Iterator[Any]: ...


Matrix = Scalars
"""Rows of scalars: nested sequences, or an array of two axes."""


def quiet(step: str, done: float) -> None:
    """A Progress that shows nothing."""
