"""Analysis of an arm in one configuration: Jacobian, operational space, ellipsoids, joint torques, warnings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from armdyn.analysis.configurations import middle_of_ranges
from armdyn.analysis.ellipsoids import (
    Ellipsoid,
    acceleration_ellipsoid,
    acceleration_polytope,
    force_ellipsoid,
    velocity_ellipsoid,
)
from armdyn.analysis.model_bounds import ModelBounds, model_bounds
from armdyn.analysis.operational_space import DEAD, OperationalSpaceModel, operational_space
from armdyn.analysis.workspace_map import WorkspaceMap, payload_capability, quantity_of, workspace_map
from armdyn.dynamics import Dynamics
from armdyn.dynamics.holding import holding_torques
from armdyn.errors import ArmdynError, NotApplicable, ShapeError
from armdyn.kinematics.closable import pulled_in
from armdyn.kinematics.manipulability import general_rank
from armdyn.kinematics.reach import reach
from armdyn.kinematics.task_rows import ANGULAR, LINEAR, ROWS, SINGULAR_RATIO, joint_array, linear_rows
from armdyn.motion.sampling import dynamics_of
from armdyn.notebook_view import View
from armdyn.result import Result
from armdyn.robot import Robot
from armdyn.robot.features import CLOSED, TREE, takes
from armdyn.robot.limits import joint_names, joint_units, required_torque_limits, working_range
from armdyn.tables import Column, Section
from armdyn.typing import Array, Progress, quiet

NEAR = 0.02
"""Isotropy of tool velocities below which a configuration counts as close to singular."""
PARTS = {"linear": slice(0, 3), "angular": slice(3, 6)}
ROW_UNITS = ("kg",) * 3 + ("kg m²",) * 3
SET_UNITS = {"velocity": "m/s", "force": "N", "acceleration": "m/s²"}


@dataclass(frozen=True, eq=False)
class Analysis(Result):
    """The abilities of an arm in one configuration, and a map over its workspace if one was asked for.

    robot: the arm
    q: (n,) configuration
    tau_max: (n,) torque limits, or None where they are not known
    position: (3,) of the tool, m, world axes
    singular_values: of J, {linear: ..., angular: ...}, largest first, as many as the rank of J almost everywhere
    moving: names of rows that some joint moves
    effective_mass: (6,) inertia against a push along, or a twist about, one world axis, the others free; inf: no motion
    model: of operational space, with its own rows; NaN where singular
    ellipsoids: of velocity, force and acceleration (with gravity), position rows
    payload: largest mass held at rest, kg, or None
    acceleration: available in every direction, m/s^2, or None
    gravity: (n,) torques that hold the arm at rest, N m or N: gravity, springs and counterbalances
    inertia: (n,) diagonal of M, kg m^2 or kg
    reach: largest distance of the tool from the base, m
    warnings: sentences
    bounds: on the norms of M, C and g for all configurations, or None where they are not known
    map: a quantity over the workspace, if asked for
    """

    robot: Robot
    q: Array
    tau_max: Array | None
    position: Array
    singular_values: dict[str, Array]
    moving: tuple[str, ...]
    effective_mass: Array
    model: OperationalSpaceModel
    ellipsoids: tuple[Ellipsoid, ...]
    payload: float | None
    acceleration: float | None
    gravity: Array
    inertia: Array
    reach: float
    warnings: tuple[str, ...]
    bounds: ModelBounds | None = None
    map: WorkspaceMap | None = None

    def sections(self) -> list[Section]:
        """The analysis as tables."""
        found = [_jacobian_table(self), _mass_table(self), _set_table(self), _joint_table(self)]
        found += [] if self.bounds is None else [self.bounds.section()]
        return found + ([] if self.map is None else [_map_table(self.map)])

    def _view(self) -> View:
        place = ", ".join(f"{x:z.4f}" for x in self.position)
        facts = [("tool", f"({place}) m"), ("reach", f"{self.reach:.4g} m from the base")]
        if self.payload is not None:
            weak = np.isnan(self.payload)
            held = "none, the arm cannot hold its own weight" if weak else f"{self.payload:.4g} kg"
            facts.append(("payload", f"{held}, the largest that is held at rest"))
        if self.acceleration is not None:
            rows = " ".join(self.ellipsoids[0].rows)
            rate = max(round(self.acceleration, 9), 0.0)
            facts.append(("acceleration", f"{rate:.4g} m/s² in every direction of {rows}"))
        return View(f"Analysis of {self.robot.name}", None, facts, (), self.sections(), notes=self.warnings)

    def record(self) -> dict[str, Any]:
        """Everything that was found, as plain values."""
        record: dict[str, Any] = {
            "robot": self.robot.name,
            "q": self.q.tolist(),
            "tau_max": None if self.tau_max is None else self.tau_max.tolist(),
            "position": self.position.tolist(),
            "reach": self.reach,
            "singular_values": {kind: values.tolist() for kind, values in self.singular_values.items()},
            "effective_mass": dict(zip(ROWS, self.effective_mass.tolist(), strict=True)),
            "ellipsoids": [
                {
                    "kind": each.kind,
                    "rows": list(each.rows),
                    "half_axes": [float(x) for x in each.printed_lengths],
                    "directions": each.axes.T.tolist(),
                    "centre": each.centre.tolist(),
                }
                for each in self.ellipsoids
            ],
            "payload": self.payload,
            "acceleration": self.acceleration,
            "holding_torque": self.gravity.tolist(),
            "inertia": self.inertia.tolist(),
            "warnings": list(self.warnings),
        }
        if self.bounds is not None:
            record["bounds"] = asdict(self.bounds)
        if self.map is not None:
            columns = {name: values.tolist() for name, values in self.map.columns().items()}
            record["map"] = {"quantity": self.map.quantity, "over": list(self.map.over), "columns": columns}
        return record

    def save(self, path: str | Path) -> Path:
        """Write the map: a table (.csv) or all arrays (.npz)."""
        if self.map is None:
            raise ArmdynError("there is no map to write", where="analyse", advice="Ask for a map of a quantity.")
        return self.map.save(path)

    def plot(self, path: str | Path | None = None, size: str | None = None) -> Any:
        """Matplotlib figure of the map if there is one, else of the ellipsoids of the tool.

        path: .png, .svg or .pdf file to write (default: none). size: "column" or "page" of a journal.
        """
        from armdyn.report.figures.ellipsoid_figures import ellipsoid_figure, map_figure
        from armdyn.report.figures.style import save_figure

        drawn = (
            map_figure(self.map)
            if self.map is not None
            else ellipsoid_figure(dynamics_of(self.robot), self.q, tau_max=self.tau_max)
        )
        if path is not None:
            save_figure(drawn, path, size)
        return drawn


@takes(*CLOSED, *TREE)
def analyse(
    model: Robot | Dynamics,
    q: Any = None,
    *,
    tau_max: Any = None,
    map_of: str | None = None,
    over: Sequence[str] | None = None,
    points: int = 61,
    progress: Progress | None = None,
) -> Analysis:
    """Analyse an arm in one configuration: Jacobian, effective mass, ellipsoids, payload, acceleration.

    model: a robot, or its Dynamics
    q: (n,) (default: the middle of the working ranges; of a closed chain nearer to its assembly if it must be)
    tau_max: (n,) or one for all, N m or N (default: the robot's limits)
    map_of: also map payload, gravity, inertia, acceleration or manipulability over the workspace
    over: axes of the map, two joints or two of x, y, z; see `workspace_map`
    points: of the map along each axis
    """
    say = progress or quiet
    say("analysing", 0.0)
    dyn = dynamics_of(model)
    q = middle_of_ranges(dyn) if q is None else joint_array(dyn, "q", q)
    if q.ndim != 1:
        raise ShapeError(f"q has shape {q.shape}", where="analyse", expected=f"one position ({dyn.n},)")
    try:
        limits: Array | None = required_torque_limits(dyn.robot, tau_max)[1]
    except NotApplicable:
        limits = None
    rows = linear_rows(dyn)
    ball: Any = 1.0 if limits is None else limits
    sets = (
        velocity_ellipsoid(dyn, q, rows=rows),
        force_ellipsoid(dyn, q, rows=rows, tau_max=ball),
        acceleration_ellipsoid(dyn, q, rows=rows, tau_max=ball),
    )
    J = dyn.jacobian(q)
    mobility = np.einsum("ij,jk,ik->i", J, np.linalg.inv(dyn.mass_matrix(q)), J)
    live, ranks = _in_general(dyn)
    free = np.abs(J).max(axis=-1) > DEAD * max(np.abs(J).max(), 1e-300)
    here = operational_space(dyn, q, throw=False)
    gravity = holding_torques(dyn, q)
    acceleration = None
    if limits is not None:
        acceleration = float(acceleration_polytope(dyn, q, rows=rows, tau_max=limits).radius())
    mapped = None
    if map_of is not None:
        say(f"map of {map_of}", 0.5)
        taken = {"tau_max": tau_max} if "tau_max" in quantity_of(map_of).options else {}
        mapped = workspace_map(dyn, map_of, over, at=q, counts=(points, points), **taken)
    return Analysis(
        robot=dyn.robot,
        q=q,
        tau_max=limits,
        position=dyn.pose(q)[:3, 3],
        singular_values={kind: np.linalg.svd(J[part], compute_uv=False)[: ranks[kind]] for kind, part in PARTS.items()},
        moving=tuple(name for name, moves in zip(ROWS, live, strict=True) if moves),
        effective_mass=np.where(free, 1 / np.where(free, mobility, 1.0), np.inf),
        model=here,
        ellipsoids=sets,
        payload=None if limits is None else float(payload_capability(dyn, q, tau_max=limits)),
        acceleration=acceleration,
        gravity=gravity,
        inertia=np.diagonal(dyn.mass_matrix(q)),
        reach=reach(dyn.robot),
        warnings=tuple(_warnings(dyn, q, limits, here, sets[0], gravity)),
        bounds=_bounds(dyn.robot),
        map=mapped,
    )


def _bounds(robot: Robot) -> ModelBounds | None:
    """Bounds on the norms of M, C and g for all configurations; None for robots that they do not cover."""
    try:
        return model_bounds(robot)
    except NotApplicable:
        return None


def _in_general(dyn: Dynamics) -> tuple[Array, dict[str, int]]:
    """(6,) which rows some joint moves somewhere, and the rank of linear and angular rows almost everywhere."""
    many = dyn.jacobian(pulled_in(dyn, np.random.default_rng(0).uniform(-1.5, 1.5, (8, dyn.n))))
    moves = np.abs(many).max(axis=(0, 2)) > DEAD * max(np.abs(many).max(), 1e-300)
    return moves, {kind: general_rank(many[:, part]) for kind, part in PARTS.items()}


def _warnings(
    dyn: Dynamics, q: Array, limits: Array | None, here: OperationalSpaceModel, speeds: Ellipsoid, gravity: Array
) -> list[str]:
    found = []
    rows = " ".join(speeds.rows)
    if speeds.isotropy <= SINGULAR_RATIO:
        found.append(f"Singular configuration: the tool cannot move in every direction of {rows}.")
    elif speeds.isotropy < NEAR:
        ratio = f"{speeds.condition_number:.0f}"
        found.append(f"Close to a singular configuration: tool velocities in {rows} differ by a factor of {ratio}.")
    if here.singular:
        found.append(
            f"There is no model of operational space for {' '.join(here.task.names)}: the Jacobian has lost rank."
        )
    low, high = working_range(dyn.robot)
    outside = [name for name, x, a, b in zip(joint_names(dyn.robot), q, low, high, strict=True) if not a <= x <= b]
    if outside:
        found.append(f"Joints out of their range: {', '.join(outside)}.")
    if limits is None:
        found.append(
            "No torque limits are known: payload and acceleration are left out, and ellipsoids are for unit torques."
        )
    else:
        weak = [name for name, g, most in zip(joint_names(dyn.robot), gravity, limits, strict=True) if abs(g) > most]
        if weak:
            found.append(f"The arm cannot hold its own weight: {', '.join(weak)}.")
    return found


# Tables -------------------------------------------------------------------------------------------------------------


def _number(x: float) -> str:
    if np.isnan(x) or np.isinf(x):
        return "-" if np.isnan(x) else "inf"
    return "0" if abs(x) < 5e-12 else f"{x:.0f}" if 1e4 <= abs(x) < 1e7 else f"{x:.4g}"


def _jacobian_table(found: Analysis) -> Section:
    heads = tuple(map(Column, ("rows", "singular values", "manipulability", "condition number")))
    rows = []
    for kind, values in found.singular_values.items():
        names_of = LINEAR if kind == "linear" else ANGULAR[None]
        if len(values) == 0:
            continue
        moving = [name for name in names_of if name in found.moving]
        flat = values[-1] <= SINGULAR_RATIO * values[0]
        measure, ratio = (0.0, np.inf) if flat else (float(np.prod(values)), values[0] / values[-1])
        rows.append((" ".join(moving), ", ".join(map(_number, values)), _number(measure), _number(ratio)))
    return Section("Jacobian of the tool", heads, tuple(rows), "Manipulability: product of the singular values.")


def _mass_table(found: Analysis) -> Section:
    heads = (Column("axis"), Column("effective mass"), Column("unit"), Column("gravity", "N or N m"))
    model = found.model
    rows = []
    for i, name in enumerate(ROWS):
        if name not in found.moving:
            continue
        weight = model.gravity[model.task.names.index(name)] if name in model.task.names else np.nan
        rows.append((name, _number(found.effective_mass[i]), ROW_UNITS[i], _number(weight)))
    note = "Effective mass: inertia against a push along the axis, other axes free. Gravity: g_A (Siciliano (7.132))."
    return Section("Operational space", heads, tuple(rows), note)


def _set_table(found: Analysis) -> Section:
    heads = (Column("ellipsoid"), Column("half axis"), Column("unit"), Column("direction"), Column("centre"))
    rows = []
    for shape in found.ellipsoids:
        centre = " ".join(map(_number, shape.centre))
        for i, length in enumerate(shape.printed_lengths):
            axis = shape.axes[:, i] * (np.sign(shape.axes[np.abs(shape.axes[:, i]).argmax(), i]) or 1.0)
            arrow = " ".join(f"{round(x, 3) + 0.0:.3f}" for x in axis)
            rows.append(
                (shape.kind if i == 0 else "", _number(length), SET_UNITS[shape.kind], arrow, centre if i == 0 else "")
            )
    torques = "unit torques" if found.tau_max is None else "torques in a ball with the limits as half axes"
    note = f"Directions and centres in {' '.join(found.ellipsoids[0].rows)}. Unit joint velocities; {torques}."
    return Section("Ellipsoids of the tool", heads, tuple(rows), note)


def _map_table(found: WorkspaceMap) -> Section:
    rows = []
    for k, label in enumerate(found.labels):
        (low, *_), (high, *_) = found.extreme(largest=False, column=k), found.extreme(column=k)
        name = found.title if label == found.quantity else f"{found.title} {label}"
        rows.append((name, _number(low), _number(high), found.label_units[k]))
    heads = tuple(map(Column, ("quantity", "smallest", "largest", "unit")))
    note = f"Over {' and '.join(found.over)}, {' x '.join(str(len(axis)) for axis in found.axes)} points."
    return Section("Map over the workspace", heads, tuple(rows), note)


def _joint_table(found: Analysis) -> Section:
    heads = tuple(map(Column, ("joint", "position", "unit", "holding torque", "limit", "share", "inertia")))
    rows = []
    for j, (name, unit) in enumerate(zip(joint_names(found.robot), joint_units(found.robot), strict=True)):
        limit = np.nan if found.tau_max is None else found.tau_max[j]
        share = "-" if np.isnan(limit) else f"{100 * abs(found.gravity[j]) / limit:.1f} %"
        place = f"{round(found.q[j], 4) + 0.0:.4f}"
        weight, inertia = _number(found.gravity[j]), _number(found.inertia[j])
        rows.append((name, place, unit[0], weight, _number(limit), share, inertia))
    return Section(
        "Joints", heads, tuple(rows), "Torques in N m or N. Inertia with the other joints held, kg m² or kg."
    )
