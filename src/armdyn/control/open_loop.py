"""Torques without a reference: a user's function of time and state, and a table of torques over time."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from armdyn import text_table
from armdyn.control.base import NOTHING, Desired, Law
from armdyn.errors import ArmdynError, FileError, ShapeError
from armdyn.typing import Array

TorqueFunction = Callable[[float, Array, Array], Any]


class WithoutReference(Law):
    """A law that follows no reference and runs in Python."""

    @property
    def compilable(self) -> bool:
        return False

    @property
    def needs_reference(self) -> bool:
        return False


@dataclass(frozen=True, eq=False)
class FunctionLaw(WithoutReference):
    """A function law(t, q, qd) -> tau as a control law; `simulate` makes it of any callable.

    function: of time, s, and the measured state, (nq,) and (n,); returns (n,) torques, N m or N.
    n:        number of joints.
    """

    function: TorqueFunction
    n: int

    @property
    def summary(self) -> str:
        return getattr(self.function, "__name__", type(self.function).__name__)

    def __call__(self, t: Any, q: Array, qd: Array, desired: Desired, memory: Array = NOTHING) -> Array:
        given = self.function(t, q.copy(), qd.copy())  # which the function may change
        try:
            tau = np.asarray(given, dtype=float)
        except (TypeError, ValueError):
            tau = np.array(math.nan)
        if tau.shape != (self.n,) or not math.isfinite(tau.sum()):
            raise ShapeError(
                f"{given!r} at t = {t:.6g} s",
                where=f"control law {self.summary}",
                expected=f"one finite torque per joint: ({self.n},)",
            )
        return tau


@dataclass(frozen=True, eq=False)
class TorqueTable(WithoutReference):
    """Torques given over time, linear in between; before the first and after the last sample they are constant.

    t:   (k,) increasing times, s.
    tau: (k, n) torques, N m or N.
    """

    t: Any
    tau: Any

    def __post_init__(self) -> None:
        t, tau = np.array(self.t, dtype=float), np.array(self.tau, dtype=float)
        if t.ndim != 1 or tau.ndim != 2 or len(t) != len(tau) or len(t) < 2:
            raise ShapeError(
                f"times of shape {t.shape} and torques of shape {tau.shape}",
                where="TorqueTable",
                expected="(k,) and (k, n), with k at least 2",
            )
        if not (np.isfinite(t).all() and np.isfinite(tau).all() and (np.diff(t) > 0).all()):
            raise ArmdynError(
                "times that do not increase, or numbers that are not finite",
                where="TorqueTable",
                expected="increasing times in s and finite torques",
            )
        object.__setattr__(self, "t", t)
        object.__setattr__(self, "tau", tau)

    @staticmethod
    def of_file(dyn: Any, file: str) -> TorqueTable:
        """The torques of a CSV file: see `read_torques`."""
        return read_torques(file)

    @property
    def n(self) -> int:
        """Number of joints."""
        return int(self.tau.shape[1])

    @property
    def duration(self) -> float:
        """Time of the last sample, s."""
        return float(self.t[-1])

    @property
    def summary(self) -> str:
        return f"TorqueTable({len(self.t)} samples)"

    def __call__(self, t: Any, q: Array, qd: Array, desired: Desired, memory: Array = NOTHING) -> Array:
        k = min(max(int(np.searchsorted(self.t, t, "right")) - 1, 0), len(self.t) - 2)
        share = min(max((t - self.t[k]) / (self.t[k + 1] - self.t[k]), 0.0), 1.0)
        tau: Array = self.tau[k] + share * (self.tau[k + 1] - self.tau[k])
        return tau


def read_torques(path: str | Path) -> TorqueTable:
    """Return the torques of a CSV file with the columns t, tau1, tau2, ..., s and N m or N; others are ignored.

    The samples of a run (`run.save`) are such a file.
    """
    columns = text_table.read(path)
    torques = text_table.numbered(columns, "tau")
    if "t" not in columns or not torques.shape[1]:
        raise FileError(
            "the columns of torques are missing",
            where=str(path),
            expected="t, tau1, tau2, ...; found: " + ", ".join(columns)[:200],
        )
    try:
        return TorqueTable(columns["t"], torques)
    except ArmdynError as error:
        raise FileError(error.what, where=str(path), expected=error.expected) from None
