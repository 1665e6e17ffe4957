"""What all control laws share: arguments, internal state, gains."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import Field, fields, is_dataclass
from typing import Any, NamedTuple

import numpy as np

from armdyn.errors import ArmdynError, ShapeError
from armdyn.typing import Array

NOTHING: Array = np.empty(0)
"""The internal state of a law that has none."""


class Desired(NamedTuple):
    """The reference at one time, (n,) each in the joint space; for the task space see `armdyn.control.task_space`.

    q:   position, rad or m.
    qd:  velocity, rad/s or m/s.
    qdd: acceleration, rad/s^2 or m/s^2.
    """

    q: Array
    qd: Array
    qdd: Array


class SingularTask(ArmdynError):
    """A singular configuration: the Jacobian of the task has lost rank."""


class Law(ABC):
    """A control law: torques from the measured and the desired state.

    `law(t, q, qd, desired)` returns the torques, (n,), N m or N. A law with internal state (integrals, estimates) is a
    frozen object like the others: its state, the `memory`, is an argument, starts as `start(q, qd)` and has the time
    derivative `change(...)`, so that the same law can be sampled, integrated with the plant, or compiled.
    """

    @property
    def compilable(self) -> bool:
        """Whether the law can be traced and become part of the compiled loop (default: True)."""
        return True

    def undefined(self, q: Array) -> Array | None:
        """(k,) configurations (k, n) at which the law has no torques, or nearly none; None: it has them everywhere.

        A law that is not compilable for these alone can be compiled by somebody who asks afterwards.
        """
        return None

    @property
    def in_task_space(self) -> bool:
        """Whether its reference moves the tool instead of the joints (default: False)."""
        return False

    @property
    def innermost(self) -> Law:
        """The law that computes the torques: this one, unless it is an observer around another."""
        return self

    @property
    def needs_reference(self) -> bool:
        """Whether its torques depend on a reference (default: True)."""
        return True

    @abstractmethod
    def __call__(self, t: Any, q: Array, qd: Array, desired: Desired, memory: Array = NOTHING) -> Array:
        """(n,) torques at time t, s, N m or N."""

    def start(self, q: Array, qd: Array) -> Array:
        """The internal state at the start."""
        return NOTHING

    def change(self, t: Any, q: Array, qd: Array, desired: Desired, memory: Array) -> Array:
        """Time derivative of the internal state."""
        return NOTHING

    def error(self, q: Array, desired: Desired) -> Array:
        """Desired minus actual position."""
        return desired.q - q

    @property
    def summary(self) -> str:
        """The law in one line: its name and its gains, without options that are not used (0, False, the default)."""
        parts: list[str] = []
        entries: tuple[Field[Any], ...] = fields(self) if is_dataclass(self) else ()
        for entry in entries:
            value = getattr(self, entry.name)
            if isinstance(value, Law):
                parts.append(value.summary)
            elif _unused(entry.default) and np.all(value == entry.default):
                continue
            elif isinstance(value, np.ndarray):
                same = value.size and np.all(value == value.flat[0])
                parts.append(f"{entry.name}={value.flat[0]:.6g}" if same else f"{entry.name}=({_listed(value)})")
            elif isinstance(value, bool | int | float | str):
                parts.append(f"{entry.name}={value}")
        return f"{type(self).__name__}({', '.join(parts)})"


def _unused(default: Any) -> bool:
    """Whether a field with this default takes no part in a law, or is a choice rather than a gain."""
    return isinstance(default, str | bool) or (isinstance(default, int | float) and default in (0, np.inf))


def _listed(values: Array) -> str:
    few = [f"{x:.4g}" for x in values.flat[:8]]
    return ", ".join(few) + (", ..." if values.size > len(few) else "")


def gain_vector(name: str, value: Any, n: int, *, positive: bool = False) -> Array:
    """(n,) gains, from one number for all joints or one per joint; raises ArmdynError for negative ones."""
    try:
        gains = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        raise ArmdynError(f"{name} = {value!r}", where="control law", expected=f"one number or {n}") from None
    if gains.ndim == 0:
        gains = np.full(n, float(gains))
    if gains.shape != (n,):
        raise ShapeError(f"{name} has shape {gains.shape}", where="control law", expected=f"one number or {n}")
    if np.isnan(gains).any() or (gains < 0).any() or (positive and (gains == 0).any()):
        raise ArmdynError(
            f"{name} = {gains.tolist()}",
            where="control law",
            expected="positive numbers" if positive else "numbers >= 0",
            advice="A gain of the wrong sign drives the arm away from its reference.",
        )
    gains = gains.copy()
    gains.flags.writeable = False
    return gains


def settle(law: Law, n: int, *, positive: tuple[str, ...] = (), others: tuple[str, ...] = ()) -> None:
    """Turn the named gains of a frozen law into vectors when it is constructed."""
    for name in (*positive, *others):
        object.__setattr__(law, name, gain_vector(name, getattr(law, name), n, positive=name in positive))
