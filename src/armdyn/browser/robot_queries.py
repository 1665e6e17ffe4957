"""What the studio shows of a robot at one configuration: limits, torques, the dragged tool, ellipsoids.

Nothing here knows the browser: arguments and results are numbers and texts.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from armdyn.analysis import acceleration_ellipsoid, force_ellipsoid, velocity_ellipsoid
from armdyn.analysis.ellipsoids import Ellipsoid
from armdyn.conventions import STANDARD_PARAMETERS
from armdyn.dynamics import Dynamics
from armdyn.dynamics import compile as compiled
from armdyn.dynamics.holding import holding_torques
from armdyn.errors import ArmdynError, ShapeError, unknown_name
from armdyn.kinematics.closable import pulled_in
from armdyn.kinematics.inverse import all_solutions
from armdyn.kinematics.numeric_inverse import Problem, levenberg_marquardt
from armdyn.kinematics.task_rows import linear_rows
from armdyn.robot import Robot
from armdyn.robot.limits import joint_units, position_limits, start_position, torque_limits, working_range
from armdyn.typing import Array

HEAVIEST = 1000.0
"""Largest payload that can be chosen, kg."""
ELLIPSOIDS: dict[str, Callable[..., Ellipsoid]] = {
    "velocity": velocity_ellipsoid,
    "force": force_ellipsoid,
    "acceleration": acceleration_ellipsoid,
}
ITERATIONS = 12
"""Iterations of inverse kinematics per event while the tool is dragged."""
NEAR = 1e-6
"""Distance from its target at which the dragged tool has arrived, m or rad."""


class StudioJoint(NamedTuple):
    """A joint: its name, units, and the range that it moves in, rad or m."""

    name: str
    revolute: bool
    unit: str
    torque_unit: str
    lower: float
    upper: float
    torque: float
    """Limit, N m or N; infinite if none is known."""
    endless: bool
    """Whether it may turn on and on: a revolute joint without position limits."""

    def shown(self, x: float, degrees: bool) -> float:
        """A position in the unit that is shown."""
        return math.degrees(x) if degrees and self.revolute else x

    def digits(self, degrees: bool) -> int:
        """Decimals of a position that is shown."""
        return 1 if degrees and self.revolute else 3

    def range_shown(self, degrees: bool) -> tuple[float, float]:
        """The range in the unit that is shown, rounded inwards."""
        scale = 10.0 ** self.digits(degrees)
        low, high = (scale * self.shown(x, degrees) for x in (self.lower, self.upper))
        return math.ceil(low - 1e-6) / scale, math.floor(high + 1e-6) / scale

    def unit_shown(self, degrees: bool) -> str:
        """Degrees or radians; metres."""
        return "°" if degrees and self.revolute else self.unit

    def words(self, x: float, degrees: bool) -> str:
        """A position with its unit, without the sign of zero."""
        digits, unit = self.digits(degrees), self.unit_shown(degrees)
        number = f"{round(self.shown(x, degrees), digits) + 0.0:.{digits}f}"
        return number + unit if unit == "°" else f"{number} {unit}"


class Load(NamedTuple):
    """The torque that holds one joint, beside its limit.

    torque:  N m or N, payload included.
    payload: what of it holds the payload.
    bodies:  what of it each link asks for, by name; springs and counterbalances are not among them.
    """

    joint: StudioJoint
    torque: float
    payload: float
    bodies: dict[str, float]

    @property
    def share(self) -> float:
        """Share of the limit that the torque uses; 0 if the joint has no limit."""
        return abs(self.torque) / self.joint.torque if math.isfinite(self.joint.torque) else 0.0


@dataclass(frozen=True, eq=False)
class RobotQueries:
    """One robot and its compiled dynamics."""

    robot: Robot

    @cached_property
    def dyn(self) -> Dynamics:
        return compiled(self.robot)

    @cached_property
    def _carrying(self) -> Dynamics:
        """The robot with 1 kg at the tool. Torques are linear in the payload, so this serves every payload."""
        return compiled(self.robot.with_payload(1.0))

    def loaded(self, payload: float) -> Dynamics:
        """Return the dynamics of the robot with a payload of this mass, kg, at the tool."""
        mass = within(payload, "payload", HEAVIEST, 0.0)
        return compiled(self.robot.with_payload(mass)) if mass else self.dyn

    @cached_property
    def joints(self) -> tuple[StudioJoint, ...]:
        """The joints with their limits; joints without position limits have a working range."""
        low, high = working_range(self.robot)
        endless: Array = ~np.isfinite(np.array(position_limits(self.robot))).any(axis=0)
        return tuple(
            StudioJoint(
                joint.name,
                joint.kind == "revolute",
                unit.position,
                unit.torque,
                float(a),
                float(b),
                float(torque),
                bool(free),
            )
            for joint, unit, a, b, torque, free in zip(
                self.robot.joints, joint_units(self.robot), low, high, torque_limits(self.robot), endless, strict=True
            )
        )

    @cached_property
    def bounds(self) -> tuple[Array, Array]:
        """The lower and upper ends of the joints' ranges, (n,) each."""
        return np.array([j.lower for j in self.joints]), np.array([j.upper for j in self.joints])

    @cached_property
    def start(self) -> Array:
        """A configuration to begin with."""
        begin: Array = pulled_in(self.dyn, start_position(self.robot)[None])[0]
        return self.kept(begin)

    # Configurations -------------------------------------------------------------------------------------------------

    def configuration(self, values: Any) -> Array:
        """A configuration (n,) that was given from outside, checked."""
        try:
            q: Array = np.asarray(values, dtype=float)
        except (TypeError, ValueError, OverflowError):
            raise ArmdynError("the configuration is not a list of numbers", where="studio") from None
        if q.shape != (self.robot.n,):
            raise ShapeError(f"a configuration of shape {q.shape}", where="studio", expected=f"({self.robot.n},)")
        if not np.isfinite(q).all():
            raise ArmdynError("the configuration is not finite", where="studio", expected="finite numbers")
        return q

    def kept(self, q: Any) -> Array:
        """The configuration with every joint within its range; an error names the loop that does not close there."""
        inside: Array = np.clip(self.configuration(q), *self.bounds)
        if self.robot.loops:
            self.dyn.closed(inside[None])
        return inside

    def wrapped(self, q: Array) -> Array:
        """The same configuration with the angles of endless joints within half a turn."""
        turns = np.array([joint.revolute and joint.endless for joint in self.joints])
        return np.where(turns, (q + np.pi) % (2 * np.pi) - np.pi, q)

    def dragged(self, q: Any, target: Any, rotation: Any = None) -> Array:
        """The configuration near q whose tool is at the target, or as near to it as ranges and reach allow.

        target:   (3,) position of the tool, m.
        rotation: (3, 3) of the tool; None: any.
        """
        at, goal = self.kept(q), np.asarray(target, dtype=float)
        if goal.shape != (3,) or not np.isfinite(goal).all():
            raise ArmdynError("the target of the tool is not three finite numbers", where="studio")
        wanted = np.eye(4)
        wanted[:3, 3] = goal
        if rotation is not None:
            wanted[:3, :3] = rotation
        rows = tuple(range(3 if rotation is None else 6))
        problem = Problem(self.robot, "tool", wanted[None], rows, True, NEAR)
        found: Array = np.clip(levenberg_marquardt(problem, at[None], ITERATIONS).q[0], *self.bounds)
        try:
            return self.kept(found)
        except ArmdynError:  # a loop does not close there
            return at

    def branches(self, q: Any) -> list[Array]:
        """All configurations of the closed form with the tool where it is at q, q itself first; only q without one."""
        at = self.kept(q)
        T = self.dyn.pose(at)
        found = [at]
        for pose in (T, T[:3, 3]):  # some planar arms reach a position in two ways, with another rotation
            try:
                solutions = all_solutions(self.robot, pose, q0=at)
            except ArmdynError:
                continue
            for q_other in solutions:
                inside = bool((np.clip(q_other, *self.bounds) == q_other).all())
                if inside and all(np.abs(q_other - known).max() > 1e-4 for known in found):
                    found.append(q_other)
        return found

    def branch_near(self, q: Any, other: Array) -> Array:
        """The branch nearest to another configuration, (n,), with the tool where it is at q."""
        return min(self.branches(q), key=lambda found: float(np.abs(self.wrapped(found - other)).max()))

    # Torques and ellipsoids -----------------------------------------------------------------------------------------

    def loads(self, q: Any, payload: float = 0.0) -> list[Load]:
        """The torques that hold the arm at q with a payload, kg, at the tool."""
        at, mass = self.configuration(q), within(payload, "payload", HEAVIEST, 0.0)
        empty = holding_torques(self.dyn, at)
        more = mass * (holding_torques(self._carrying, at) - empty) if mass else np.zeros_like(empty)
        bodies = self._by_body(at)
        return [
            Load(joint, float(a + b), float(b), {name: float(x) for name, x in zip(self.links, parts, strict=True)})
            for joint, a, b, parts in zip(self.joints, empty, more, bodies, strict=True)
        ]

    @cached_property
    def links(self) -> tuple[str, ...]:
        """Names of the moving links."""
        return tuple(joint.body.name for joint in self.robot.movable)

    def _by_body(self, q: Array) -> Array:
        """(n, links) gravity torques by link: torques are linear in the parameters, each of which belongs to a link."""
        count, rest = len(self.links), np.zeros(self.robot.n)
        share = (self.dyn.regressor(q, rest, rest) * self.dyn.parameters)[:, : count * len(STANDARD_PARAMETERS)]
        parts: Array = share.reshape(self.robot.n, count, len(STANDARD_PARAMETERS))[:, :, :10].sum(axis=2)
        return parts

    def ellipsoid(self, kind: str, q: Any) -> tuple[Array, Array] | None:
        """Half axes as columns (3, 3) in world axes and centre (3,) from the tool; None where it does not exist.

        A direction without bound has length 0.
        """
        if kind not in ELLIPSOIDS:
            raise unknown_name("ellipsoid", kind, ELLIPSOIDS)
        try:
            found = ELLIPSOIDS[kind](self.dyn, self.configuration(q), rows=linear_rows(self.dyn))
        except ArmdynError:
            return None
        place = [("x", "y", "z").index(row) for row in found.rows]
        axes, centre = np.zeros((3, 3)), np.zeros(3)
        axes[place, : len(place)] = found.axes * np.where(np.isfinite(found.lengths), found.lengths, 0.0)
        centre[place] = found.centre
        return axes, centre


def within(value: Any, name: str, most: float, least: float = 1e-3) -> float:
    """A number from outside, checked."""
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not least <= number <= most:
        raise ArmdynError(
            f"{name} = {str(value)[:40]}", where="studio", expected=f"a number from {least:g} to {most:g}"
        )
    return number
