"""States and torques from a table: a CSV file or arrays."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from armdyn import text_table
from armdyn.doctor.readings import States
from armdyn.doctor.views import View, checked_states
from armdyn.errors import FileError, NotApplicable, ShapeError
from armdyn.typing import Floats

COLUMN = re.compile(r"(?P<what>qdd|qd|q|tau)[_ .:\[]?(?P<joint>.+?)\]?$")


def read_table(path: Path) -> View:
    """A CSV file with a header: columns q_NAME, qd_NAME, qdd_NAME and tau_NAME, one group per joint.

    qd and qdd may be left out: they are zero then, as in a static test.
    """
    table = text_table.read(path)
    if not all(np.isfinite(column).all() for column in table.values()):
        raise FileError("a number is not finite", where=str(path), expected="a finite number in each cell")
    columns: dict[str, dict[str, str]] = {what: {} for what in ("q", "qd", "qdd", "tau")}
    for head in table:
        found = COLUMN.match(head)
        if found:
            columns[found["what"]][found["joint"]] = head
    names = tuple(columns["tau"])
    if not names or set(columns["q"]) != set(names):
        raise FileError(f"the head is {', '.join(list(table)[:8])}", where=str(path),
                        expected="columns q_NAME and tau_NAME of every joint, and qd_NAME, qdd_NAME")  # fmt: skip

    def block(what: str) -> Floats:
        at = columns[what]
        return np.stack([table[at[n]] if n in at else np.zeros_like(table[columns["q"][n]]) for n in names], axis=1)

    named = not all(re.fullmatch(r"\d+", name) for name in names)
    return _table(States(block("q"), block("qd"), block("qdd")), block("tau"), path.name, names if named else ())


def from_arrays(q: Any, qd: Any, qdd: Any, tau: Any, *, name: str) -> View:
    """States (count, n) and torques (count, n)."""
    states, torques = checked_states(q, qd, qdd), np.atleast_2d(np.asarray(tau, float))
    if torques.shape != states.qd.shape:
        raise ShapeError(f"torques of shape {torques.shape}", expected=f"{states.qd.shape}")
    return _table(states, torques, name, ())


def _table(states: States, tau: Floats, name: str, joints: tuple[str, ...]) -> View:
    def torques(asked: States) -> Floats:
        if asked is not states:
            raise NotApplicable(f"torques of {name} at other states", expected="the states of the table")
        return tau

    return View(name, joints, torques, states=states)


def in_order(table: View, names: Sequence[str]) -> View:
    """The table with its columns in the order of a robot's joints, if their names tell it."""
    if table.states is None or set(table.joints) != set(names) or list(table.joints) == list(names):
        return table
    pick = [table.joints.index(name) for name in names]
    states, tau = table.states, table.torques(table.states)
    moved = States(states.q[:, pick], states.qd[:, pick], states.qdd[:, pick])
    return _table(moved, tau[:, pick], table.name, tuple(names))
