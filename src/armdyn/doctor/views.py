"""The two sides of a comparison: robots, files, live models of other engines, measured or computed torques."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from armdyn.doctor.readings import States, Variant, uniform
from armdyn.errors import NotApplicable, ShapeError
from armdyn.formats import load
from armdyn.robot.robot import Robot
from armdyn.typing import Floats

TorqueFunction = Callable[[Floats, Floats, Floats], Any]


@dataclass(frozen=True, eq=False)
class View:
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


def view(model: Any, name: str = "") -> View:
    """The view of a robot, a file or catalog name, a live model of another engine, a table, or a function."""
    from armdyn.doctor import engine_views, table_view

    if isinstance(model, View):
        return model
    if isinstance(model, Robot):
        return robot_view(model, name)
    if isinstance(model, str | Path):
        if Path(model).suffix.lower() == ".csv":
            return table_view.read_table(Path(model))
        return robot_view(load(model), name or Path(str(model)).name)
    for recognise in engine_views.ENGINES:
        found: View | None = recognise(model, name)
        if found is not None:
            return found
    if isinstance(model, tuple | list) and len(model) == 4:
        return table_view.from_arrays(*model, name=name or "the table")
    if callable(model):
        return function_view(model, name=name or getattr(model, "__name__", "the function"))
    raise NotApplicable(f"a model of type {type(model).__name__}", where="armdyn.explain",
                        expected="a Robot, a file, a catalog name, a model of Pinocchio, MuJoCo or the Robotics "
                        "Toolbox, a CSV file or arrays (q, qd, qdd, tau), or a function tau(q, qd, qdd)")  # fmt: skip


def robot_view(robot: Robot, name: str = "") -> View:
    plain = uniform(robot)
    joints = tuple(joint.name for joint in robot.joints)
    return View(name or robot.name, joints, Variant(plain).torques, plain)


def function_view(function: TorqueFunction, name: str, joints: Sequence[str] = ()) -> View:
    """Torques by a function of one state, (nq,), (n,), (n,) -> (n,)."""

    def torques(states: States) -> Floats:
        rows = zip(states.q, states.qd, states.qdd, strict=True)
        return np.array([np.asarray(function(q, qd, qdd), float) for q, qd, qdd in rows])

    return View(name, tuple(joints), torques)


def checked_states(q: ArrayLike, qd: ArrayLike, qdd: ArrayLike) -> States:
    """States from arrays (count, n)."""
    arrays = [np.atleast_2d(np.asarray(x, float)) for x in (q, qd, qdd)]
    if len({len(x) for x in arrays}) != 1 or arrays[1].shape != arrays[2].shape:
        raise ShapeError(f"states of shapes {', '.join(str(x.shape) for x in arrays)}",
                         expected="(count, nq), (count, n), (count, n)")  # fmt: skip
    return States(*arrays)
