"""The two sides of a comparison: robots, files, live models of other engines, measured or computed torques."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from armdyn import text_table
from armdyn.doctor.variant import States, Variant, uniform
from armdyn.errors import FileError, NotApplicable, ShapeError
from armdyn.formats import load
from armdyn.robot.robot import Robot
from armdyn.typing import Floats

TorqueFunction = Callable[[Floats, Floats, Floats], Any]


@dataclass(frozen=True, eq=False)
class Side:
    """One side of a comparison.

    name: as it is called in sentences. joints: names in the order of its arrays, empty where unknown. torques:
    (count, n) for states in its own order. robot: its numbers, where they can be read. states: the only states of
    which torques are known, if it is a table.
    """

    name: str
    joints: tuple[str, ...]
    torques: Callable[[States], Floats]
    robot: Robot | None = None
    states: States | None = None
    notes: tuple[str, ...] = ()


def side_of(model: Any, name: str = "") -> Side:
    """The side of a robot, a file or catalog name, a live model of another engine, a table, or a function."""
    from armdyn.doctor import engine_sides

    if isinstance(model, Side):
        return model
    if isinstance(model, Robot):
        return robot_side(model, name)
    if isinstance(model, str | Path):
        if Path(model).suffix.lower() == ".csv":
            return read_table(Path(model))
        return robot_side(load(model), name or Path(str(model)).name)
    for recognise in engine_sides.ENGINES:
        found: Side | None = recognise(model, name)
        if found is not None:
            return found
    if isinstance(model, tuple | list) and len(model) == 4:
        return from_arrays(*model, name=name or "the table")
    if callable(model):
        return function_side(model, name=name or getattr(model, "__name__", "the function"))
    raise NotApplicable(
        f"a model of type {type(model).__name__}",
        where="armdyn.explain",
        expected="a Robot, a file, a catalog name, a model of Pinocchio, MuJoCo or the Robotics "
        "Toolbox, a CSV file or arrays (q, qd, qdd, tau), or a function tau(q, qd, qdd)",
    )


def robot_side(robot: Robot, name: str = "") -> Side:
    plain = uniform(robot)
    joints = tuple(joint.name for joint in robot.joints)
    return Side(name or robot.name, joints, Variant(plain).torques, plain)


def function_side(function: TorqueFunction, name: str, joints: Sequence[str] = ()) -> Side:
    """Torques by a function of one state, (nq,), (n,), (n,) -> (n,)."""

    def torques(states: States) -> Floats:
        rows = zip(states.q, states.qd, states.qdd, strict=True)
        return np.array([np.asarray(function(q, qd, qdd), float) for q, qd, qdd in rows])

    return Side(name, tuple(joints), torques)


def checked_states(q: ArrayLike, qd: ArrayLike, qdd: ArrayLike) -> States:
    """States from arrays (count, n)."""
    arrays = [np.atleast_2d(np.asarray(x, float)) for x in (q, qd, qdd)]
    if len({len(x) for x in arrays}) != 1 or arrays[1].shape != arrays[2].shape:
        raise ShapeError(
            f"states of shapes {', '.join(str(x.shape) for x in arrays)}",
            expected="(count, nq), (count, n), (count, n)",
        )
    return States(*arrays)


# Tables of states and torques ----------------------------------------------------------------------------------------

COLUMN = re.compile(r"(?P<what>qdd|qd|q|tau)[_ .:\[]?(?P<joint>.+?)\]?$")


def read_table(path: Path) -> Side:
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
        raise FileError(
            f"the head is {', '.join(list(table)[:8])}",
            where=str(path),
            expected="columns q_NAME and tau_NAME of every joint, and qd_NAME, qdd_NAME",
        )

    def block(what: str) -> Floats:
        at = columns[what]
        return np.stack([table[at[n]] if n in at else np.zeros_like(table[columns["q"][n]]) for n in names], axis=1)

    named = not all(re.fullmatch(r"\d+", name) for name in names)
    return _table(States(block("q"), block("qd"), block("qdd")), block("tau"), path.name, names if named else ())


def from_arrays(q: Any, qd: Any, qdd: Any, tau: Any, *, name: str) -> Side:
    """States (count, n) and torques (count, n)."""
    states, torques = checked_states(q, qd, qdd), np.atleast_2d(np.asarray(tau, float))
    if torques.shape != states.qd.shape:
        raise ShapeError(f"torques of shape {torques.shape}", expected=f"{states.qd.shape}")
    return _table(states, torques, name, ())


def _table(states: States, tau: Floats, name: str, joints: tuple[str, ...]) -> Side:
    def torques(asked: States) -> Floats:
        if asked is not states:
            raise NotApplicable(f"torques of {name} at other states", expected="the states of the table")
        return tau

    return Side(name, joints, torques, states=states)


def in_order(table: Side, names: Sequence[str]) -> Side:
    """The table with its columns in the order of a robot's joints, if their names tell it."""
    if table.states is None or set(table.joints) != set(names) or list(table.joints) == list(names):
        return table
    pick = [table.joints.index(name) for name in names]
    states, tau = table.states, table.torques(table.states)
    moved = States(states.q[:, pick], states.qd[:, pick], states.qdd[:, pick])
    return _table(moved, tau[:, pick], table.name, tuple(names))
