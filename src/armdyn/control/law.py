"""What all control laws share: what they are asked, what they remember, and how gains are given."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import Field, fields, is_dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from armdyn.errors import ArmdynError, ShapeError
from armdyn.typing import Array

NOTHING: Array = np.empty(0)
"""The memory of a law that has none."""


class Desired(NamedTuple):
    """What the reference asks for at one time: position, velocity, acceleration.

    Joint references: (n,) each. References of laws in the task space: see `armdyn.control.task_space`.
    """

    q: Array
    qd: Array
    qdd: Array


class SingularTask(ArmdynError):
    """A task that the arm cannot do from where it stands: its Jacobian has lost rank."""


class Law(ABC):
    """A control law: torques from what is measured and what is desired.

    `law(t, q, qd, desired)` gives the torques, (n,), N m or N. A law with a memory (integrals, estimates) is a frozen
    object like the others: its memory z is an argument, begins as `start(q, qd)` and obeys dz/dt = `change(...)`, so
    that the same law can be sampled, integrated with the plant, or compiled.
    """

    arithmetic: ClassVar[bool] = True
    """Whether the law is arithmetic alone, so that it can be part of the compiled loop."""
    in_task_space: ClassVar[bool] = False
    """Whether its reference moves the tool instead of the joints."""

    @abstractmethod
    def __call__(self, t: Any, q: Array, qd: Array, desired: Desired, memory: Array = NOTHING) -> Array: ...

    def start(self, q: Array, qd: Array) -> Array:
        """The memory at the beginning."""
        return NOTHING

    def change(self, t: Any, q: Array, qd: Array, desired: Desired, memory: Array) -> Array:
        """Time derivative of the memory."""
        return NOTHING

    def error(self, q: Array, desired: Desired) -> Array:
        """Desired minus actual position."""
        return desired.q - q

    @property
    def summary(self) -> str:
        """The law in one line: its name and the gains that are not the default."""
        parts: list[str] = []
        entries: tuple[Field[Any], ...] = fields(self) if is_dataclass(self) else ()
        for entry in entries:
            value = getattr(self, entry.name)
            if isinstance(value, Law):
                parts.append(value.summary)
            elif isinstance(entry.default, int | float | str | bool) and np.all(value == entry.default):
                continue
            elif isinstance(value, np.ndarray):
                same = value.size and np.all(value == value.flat[0])
                parts.append(f"{entry.name}={value.flat[0]:.6g}" if same else f"{entry.name}=({_listed(value)})")
            elif isinstance(value, bool | int | float | str):
                parts.append(f"{entry.name}={value}")
        return f"{type(self).__name__}({', '.join(parts)})"


def _listed(values: Array) -> str:
    few = [f"{x:.4g}" for x in values.flat[:8]]
    return ", ".join(few) + (", ..." if values.size > len(few) else "")


def gain_vector(name: str, value: Any, n: int, *, positive: bool = False) -> Array:
    """A gain per joint: (n,); one number serves all joints. Gains are never negative."""
    gains = np.asarray(value, dtype=float)
    if gains.ndim == 0:
        gains = np.full(n, float(gains))
    if gains.shape != (n,):
        raise ShapeError(f"{name} has shape {gains.shape}", where="control law", expected=f"one number or {n}")
    if np.isnan(gains).any() or (gains < 0).any() or (positive and (gains == 0).any()):
        raise ArmdynError(
            f"{name} = {gains.tolist()}",
            where="control law",
            expected="positive numbers" if positive else "numbers that are not negative",
            advice="A gain of the wrong sign drives the arm away from its reference.",
        )
    gains = gains.copy()
    gains.flags.writeable = False
    return gains


def settle(law: Law, n: int, *, positive: tuple[str, ...] = (), others: tuple[str, ...] = ()) -> None:
    """Turn the named gains of a frozen law into vectors, once, when it is made."""
    for name in (*positive, *others):
        object.__setattr__(law, name, gain_vector(name, getattr(law, name), n, positive=name in positive))
