"""What an engine offers: calls that can be timed and whose results can be compared."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module, metadata
from typing import Any, Protocol

import numpy as np

from armdyn.errors import MissingExtra
from armdyn.typing import Floats as Array

Inputs = tuple[Array, ...]

FUNCTIONS: Mapping[str, int] = {
    "inverse_dynamics": 3,
    "forward_dynamics": 3,
    "mass_matrix": 1,
    "coriolis_matrix": 2,
    "inverse_dynamics_derivatives": 3,
    "regressor": 3,
}
"""The functions measured, and the number of joint vectors that each takes."""
COLUMNS = 14
"""Number of columns of the regressor per joint."""


@dataclass(frozen=True)
class Call:
    """function(*arguments, **keywords), a call that computes `samples` samples.

    label: the name in the engine's documentation. read: converts the result to our order of joints and axes,
    (samples, ...), or without the first axis for a single call; derivatives are stacked, dtau/dq first. Of the
    regressor the ten columns of each link's inertia are compared.
    """

    label: str
    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    read: Callable[[Any], Array]
    keywords: Mapping[str, Any] = field(default_factory=dict)
    samples: int = 1

    def result(self) -> Array:
        return self.read(self.function(*self.arguments, **self.keywords))


class Engine(Protocol):
    """A robot in one engine."""

    def single(self, function: str, inputs: Inputs) -> dict[str, Call]:
        """Calls for one sample: "call" returns a new array, "out" writes into an existing one."""
        ...

    def batch(self, function: str, inputs: Inputs) -> dict[str, Call]:
        """Calls for many samples, inputs (samples, n): "batch" is what a user calls. Empty if there is none."""
        ...


def imported(module: str, title: str, package: str) -> Any:
    """Import an optional module; raise MissingExtra if it is not installed or fails to import."""
    try:
        return import_module(module)
    except ImportError as error:
        found = _version(package)
        what = f"{title} is not installed" if found is None else f"{title} {found} cannot be imported: {error}"
        raise MissingExtra(what, where="bench", advice=f"Install it: pip install {package}") from None


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def inertial(value: Any) -> Array:
    """The columns of inertia of a regressor with 14 columns per joint; all columns of others."""
    array = np.asarray(value, dtype=float)
    n = array.shape[-2]
    if array.shape[-1] != COLUMNS * n:
        return array
    return array.reshape(*array.shape[:-1], n, COLUMNS)[..., :10].reshape(*array.shape[:-1], 10 * n)


def plain(value: Any) -> Array:
    return np.array(value, dtype=float)


def stacked(matrices: Any) -> Array:
    """(dtau/dq, dtau/dqd), each (..., n, n), as (..., 2, n, n)."""
    first, second = (np.asarray(matrix, dtype=float) for matrix in matrices)
    return np.stack([first, second], axis=-3)
