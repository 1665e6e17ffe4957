"""Maps over the workspace: payload, gravity torques, inertia, acceleration, manipulability."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from armdyn import text_table
from armdyn.analysis.configurations import middle_of_ranges
from armdyn.analysis.ellipsoids import acceleration_polytope, manipulability
from armdyn.analysis.grid import solve_grid
from armdyn.analysis.stacked import times, transposed
from armdyn.dynamics import Dynamics
from armdyn.dynamics.holding import holding_torques
from armdyn.errors import ArmdynError, FileError, ShapeError, required_count, unknown_name
from armdyn.files import writing
from armdyn.kinematics.closable import closable, pulled_in
from armdyn.kinematics.task_rows import LINEAR, joint_array
from armdyn.motion.sampling import dynamics_of
from armdyn.robot import Robot
from armdyn.robot.features import CLOSED, FRICTIONLESS, TREE, takes
from armdyn.robot.limits import joint_names, joint_units, required_torque_limits, working_range
from armdyn.typing import Array

MOST_POINTS = 2000
"""Along one axis of a map."""
UNFELT = 1e-9
"""Lever arm, m, below which a joint carries no load: rounding."""
CHUNK = 20000
"""Configurations evaluated at a time, to keep the memory of a map small."""


@dataclass(frozen=True, eq=False)
class WorkspaceMap:
    """A quantity over many configurations of an arm: a grid (k1, k2), or samples (k,).

    robot: its name
    quantity: its name
    title: in words
    joints: (n,) names
    labels: (c,) columns of `values`: joints, or the quantity itself
    label_units: (c,) their units
    over: the two axes of the grid; empty for samples
    over_units: their units
    axes: their points, (k1,) and (k2,)
    q: (..., n)
    position: (..., 3) of the frame, m, world axes
    values: (..., c), NaN where there is none
    reached: (...) False where inverse kinematics found no configuration within the joint limits
    notes: what else is fixed
    """

    robot: str
    quantity: str
    title: str
    joints: tuple[str, ...]
    labels: tuple[str, ...]
    label_units: tuple[str, ...]
    over: tuple[str, ...]
    over_units: tuple[str, ...]
    axes: tuple[Array, ...]
    q: Array
    position: Array
    values: Array
    reached: Array
    notes: tuple[str, ...] = ()

    def extreme(self, largest: bool = True, column: int = 0) -> tuple[float, Array, Array]:
        """(value, q, position) where a column is largest, or smallest. NaN if it has no value anywhere."""
        values = self.values[..., column].ravel()
        if np.isnan(values).all():
            return float("nan"), np.full(len(self.joints), np.nan), np.full(3, np.nan)
        i = int(np.nanargmax(values) if largest else np.nanargmin(values))
        return float(values[i]), self.q.reshape(-1, len(self.joints))[i], self.position.reshape(-1, 3)[i]

    def columns(self) -> dict[str, Array]:
        """One entry per configuration, by name: joint positions, tool position, values, reached."""
        table = {f"q_{name}": self.q[..., j].ravel() for j, name in enumerate(self.joints)}
        table |= {name: self.position[..., i].ravel() for i, name in enumerate(LINEAR)}
        for k, label in enumerate(self.labels):
            name = self.quantity if label == self.quantity else f"{self.quantity}_{label}"
            table[name] = self.values[..., k].ravel()
        return table | {"reached": self.reached.ravel().astype(float)}

    def save(self, path: str | Path) -> Path:
        """Write a table (.csv), or all arrays (.npz)."""
        target = Path(path)
        if target.suffix == ".csv":
            text_table.write(target, self.columns(), digits=10)
        elif target.suffix == ".npz":
            arrays: dict[str, Any] = {"q": self.q, "position": self.position, "values": self.values}
            arrays |= {"reached": self.reached, "labels": np.array(self.labels), "units": np.array(self.label_units)}
            arrays |= {f"axis_{name}": axis for name, axis in zip(self.over, self.axes, strict=True)}
            arrays |= {"robot": np.array(self.robot), "quantity": np.array(self.quantity)}
            with writing(target) as part:
                np.savez_compressed(part, **arrays)
        else:
            raise FileError(f"unknown ending {target.suffix!r}", where=str(target), expected=".csv, .npz")
        return target


# Quantities ---------------------------------------------------------------------------------------------------------


@takes(*CLOSED, *TREE)
def payload_capability(
    model: Robot | Dynamics,
    q: Any,
    *,
    tau_max: Any = None,
    tau_min: Any = None,
    com: Sequence[float] = (0.0, 0.0, 0.0),
    frame: str = "tool",
) -> Array:
    """The largest mass (...), kg, that an arm can hold at rest at q (..., n) within its torque limits.

    Infinite where no joint carries it (straight up, for example); NaN where the arm cannot hold its own weight.

    tau_max, tau_min: (n,) or one for all, N m or N (default: the robot's)
    com: (3,) centre of mass of the load in `frame`, m
    frame: that carries the load
    """
    dyn = dynamics_of(model)
    q = joint_array(dyn, "q", q)
    low, high = required_torque_limits(dyn.robot, tau_max, tau_min)
    own = holding_torques(dyn, q)
    lift = -np.asarray(dyn.robot.gravity.array(), dtype=float)  # force by which the robot holds one kilogram
    arm = dyn.pose(q, frame=frame)[..., :3, :3] @ np.asarray(com, dtype=float)
    wrench = np.concatenate([np.broadcast_to(lift, arm.shape), np.cross(arm, lift)], axis=-1)
    more = times(transposed(dyn.jacobian(q, frame=frame)), wrench)
    room = np.where(more > 0, high - own, own - low)
    felt = np.abs(more) > UNFELT * np.linalg.norm(lift)
    most = np.where(felt, room / np.where(felt, np.abs(more), 1.0), np.inf).min(axis=-1)
    return np.where(((own > high) | (own < low)).any(axis=-1), np.nan, most)


@takes(*CLOSED, *FRICTIONLESS)
def joint_inertia(model: Robot | Dynamics, q: Any) -> Array:
    """(..., n) the diagonal of M: inertia that each drive moves while the other joints are held, kg m^2 or kg."""
    dyn = dynamics_of(model)
    return np.asarray(np.diagonal(dyn.mass_matrix(joint_array(dyn, "q", q)), axis1=-2, axis2=-1))


@takes(*CLOSED, *TREE)
def isotropic_acceleration(
    model: Robot | Dynamics,
    q: Any,
    *,
    tau_max: Any = None,
    tau_min: Any = None,
    rows: str | None = None,
    frame: str = "tool",
) -> Array:
    """(...) the acceleration, m/s^2, available to the tool from rest in every direction within the torque limits.

    0 where the arm has lost a direction, or cannot hold its own weight.

    q: (..., n)
    tau_max, tau_min: (n,) or one for all, N m or N (default: the robot's)
    rows: directions that count (default: those in which the arm can move its tool)
    frame: of the robot
    """
    found = acceleration_polytope(model, q, rows=rows, frame=frame, tau_max=tau_max, tau_min=tau_min)
    return np.maximum(found.radius(), 0.0)


@dataclass(frozen=True)
class MappedQuantity:
    """A quantity of a map. values: (dyn, q, options) -> (k,) or (k, n). options: which of the map's it takes."""

    title: str
    unit: str
    values: Callable[..., Array]
    options: tuple[str, ...] = ()
    by_joint: tuple[str, str] | None = None
    """Units of revolute and prismatic joints, if there is one value per joint."""


LIMITS = ("tau_max", "tau_min")
QUANTITIES = {
    "payload": MappedQuantity("largest payload held at rest", "kg", payload_capability, (*LIMITS, "com", "frame")),
    "gravity": MappedQuantity("gravity torque", "", lambda dyn, q: dyn.gravity(q), by_joint=("N m", "N")),
    "inertia": MappedQuantity("inertia seen by the joint", "", joint_inertia, by_joint=("kg m²", "kg")),
    "acceleration": MappedQuantity(
        "acceleration available in every direction", "m/s²", isotropic_acceleration, (*LIMITS, "rows", "frame")
    ),
    "manipulability": MappedQuantity("manipulability", "product of half axes", manipulability, ("rows", "frame")),
}


def quantity_of(name: str) -> MappedQuantity:
    """The quantity of that name."""
    if name not in QUANTITIES:
        raise unknown_name("quantity", name, QUANTITIES, where="map over the workspace")
    return QUANTITIES[name]


# Maps ---------------------------------------------------------------------------------------------------------------


@takes(*CLOSED, *TREE)
def workspace_map(
    model: Robot | Dynamics,
    quantity: str,
    over: Sequence[str] | None = None,
    *,
    at: Any = None,
    spans: Sequence[tuple[float, float]] | None = None,
    counts: tuple[int, int] = (61, 61),
    frame: str = "tool",
    tau_max: Any = None,
    tau_min: Any = None,
    com: Any = None,
    rows: str | None = None,
) -> WorkspaceMap:
    """A quantity over a grid of two joints, or of two coordinates of the tool.

    Args:    model: a robot, or its Dynamics
             quantity: payload, gravity, inertia, acceleration or manipulability
             over: two joints by name, or two of x y z (default: the second and third joint, or the first two of two)
             at: (n,) configuration of the other joints (default: the middle of their ranges). For a Cartesian grid the
                 third coordinate is that of the tool at `at`, rotations are free, and each point has one
                 configuration: the one that inverse kinematics finds from `at`
             spans: ends of the two axes (default: ranges of the joints, or the workspace)
             counts: points along the two axes
             frame: whose motion counts
             tau_max, tau_min: torque limits of payload and acceleration, (n,) or one for all (default: the robot's)
             com: (3,) centre of mass of the payload in the frame, m (default: its origin)
             rows: directions of acceleration or manipulability (default: those in which the arm moves its tool)
    """
    for count in counts:
        required_count("counts", count, "workspace_map", least=2, most=MOST_POINTS)
    dyn = dynamics_of(model)
    robot = dyn.robot
    pair = _pair(robot, over)
    middle = middle_of_ranges(dyn) if at is None else joint_array(dyn, "at", at)
    if middle.ndim != 1:
        raise ShapeError(f"at has shape {middle.shape}", where="workspace_map", expected=f"({dyn.n},)")
    cartesian = pair[0] in LINEAR
    ends = spans if spans is not None else _box(dyn, pair, frame) if cartesian else _spans(robot, pair)
    axes = tuple(np.linspace(*end, count) for end, count in zip(ends, counts, strict=True))
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
    q, reached = (solve_grid if cartesian else _place)(dyn, pair, grid, middle, frame)
    notes = _cartesian_notes(dyn, pair, middle, frame) if cartesian else _joint_notes(robot, pair, middle)
    by_name = dict(zip(joint_names(robot), joint_units(robot), strict=True))
    over_units = tuple("m" if name in LINEAR else by_name[name][0] for name in pair)
    options = {"frame": frame, "tau_max": tau_max, "tau_min": tau_min, "com": com, "rows": rows}
    return _map(dyn, quantity, q, reached, options, (pair, over_units, axes), notes)


def _cartesian_notes(dyn: Dynamics, pair: tuple[str, ...], at: Array, frame: str) -> tuple[str, ...]:
    third = next(i for i, name in enumerate(LINEAR) if name not in pair)
    height = round(float(dyn.pose(at, frame=frame)[third, 3]), 4) + 0.0
    return f"{LINEAR[third]} = {height:g} m", "one configuration per point, rotation free"


def _joint_notes(robot: Robot, pair: tuple[str, ...], at: Array) -> tuple[str, ...]:
    others = [
        f"{name} {round(float(x), 3) + 0.0:g} {unit[0]}"
        for name, x, unit in zip(joint_names(robot), at, joint_units(robot), strict=True)
        if name not in pair
    ]
    return ("other joints at " + ", ".join(others),) if others else ()


@takes(*CLOSED, *TREE)
def workspace_samples(
    model: Robot | Dynamics,
    quantity: str,
    count: int = 5000,
    *,
    seed: int = 0,
    frame: str = "tool",
    tau_max: Any = None,
    tau_min: Any = None,
    com: Any = None,
    rows: str | None = None,
) -> WorkspaceMap:
    """A quantity at random configurations within the joints' ranges (see `armdyn.robot.limits.working_range`).

    count: number of configurations
    seed: of the random numbers
    model, quantity, frame, tau_max, tau_min, com, rows: as for `workspace_map`
    """
    dyn = dynamics_of(model)
    low, high = working_range(dyn.robot)
    q = low + (high - low) * np.random.default_rng(seed).random((count, dyn.n))
    options = {"frame": frame, "tau_max": tau_max, "tau_min": tau_min, "com": com, "rows": rows}
    return _map(dyn, quantity, q, np.ones(count, dtype=bool), options, ((), (), ()), ())


def _map(
    dyn: Dynamics,
    quantity: str,
    q: Array,
    reached: Array,
    options: dict[str, Any],
    over: tuple[tuple[str, ...], tuple[str, ...], tuple[Array, ...]],
    notes: tuple[str, ...],
) -> WorkspaceMap:
    chosen = quantity_of(quantity)
    frame = options["frame"]
    given = {name: value for name, value in options.items() if value is not None}
    for name in given:
        if name not in (*chosen.options, "frame"):
            raise unknown_name("option", name, [o for o in chosen.options if o != "frame"], where=quantity)
    given = {name: value for name, value in given.items() if name in chosen.options}
    reached = reached & closable(dyn, q)
    inside = np.where(reached[..., None], q, middle_of_ranges(dyn))
    flat = inside.reshape(-1, dyn.n)
    found = [chosen.values(dyn, flat[i : i + CHUNK], **given) for i in range(0, len(flat), CHUNK)]
    values = np.concatenate(found).reshape(*q.shape[:-1], -1)
    joints = tuple(joint_names(dyn.robot))
    label_units: tuple[str, ...] = (chosen.unit,)
    if chosen.by_joint is not None:
        label_units = tuple(chosen.by_joint[joint.kind == "prismatic"] for joint in dyn.robot.joints)
    return WorkspaceMap(
        robot=dyn.robot.name,
        quantity=quantity,
        title=chosen.title,
        joints=joints,
        labels=joints if chosen.by_joint else (quantity,),
        label_units=label_units,
        over=over[0],
        over_units=over[1],
        axes=over[2],
        q=np.where(reached[..., None], q, np.nan),
        position=np.where(reached[..., None], dyn.pose(inside, frame=frame)[..., :3, 3], np.nan),
        values=np.where(reached[..., None], values, np.nan),
        reached=reached,
        notes=notes,
    )


def _pair(robot: Robot, over: Sequence[str] | None) -> tuple[str, ...]:
    joints = joint_names(robot)
    if over is None:
        if robot.n < 2:
            raise ArmdynError(
                f"robot {robot.name!r} has one joint",
                where="workspace_map",
                expected="two or more",
                advice="Use workspace_samples.",
            )
        return tuple(joints[1:3] if robot.n > 2 else joints[:2])
    pair = tuple(over)
    if len(set(pair)) != 2 or (pair[0] in LINEAR) != (pair[1] in LINEAR):
        raise ArmdynError(f"over = {pair}", where="workspace_map", expected="two joints, or two of x y z")
    for name in pair:
        if name not in (*joints, *LINEAR):
            raise unknown_name("joint", name, [*joints, *LINEAR], where="workspace_map")
    return pair


def _spans(robot: Robot, pair: tuple[str, ...]) -> list[tuple[float, float]]:
    low, high = working_range(robot)
    return [(float(low[j]), float(high[j])) for j in map(joint_names(robot).index, pair)]


def _box(dyn: Dynamics, pair: tuple[str, ...], frame: str) -> list[tuple[float, float]]:
    """Where random positions bring the frame."""
    low, high = working_range(dyn.robot)
    q = low + (high - low) * np.random.default_rng(0).random((CHUNK, dyn.n))
    p = dyn.pose(pulled_in(dyn, q), frame=frame)[:, :3, 3]
    return [(float(p[:, i].min()), float(p[:, i].max())) for i in (LINEAR.index(name) for name in pair)]


def _place(dyn: Dynamics, pair: tuple[str, ...], grid: Array, at: Array, frame: str) -> tuple[Array, Array]:
    q = np.broadcast_to(at, (*grid.shape[:-1], dyn.n)).copy()
    for k, name in enumerate(pair):
        q[..., joint_names(dyn.robot).index(name)] = grid[..., k]
    return q, np.ones(grid.shape[:-1], dtype=bool)
