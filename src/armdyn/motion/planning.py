"""`plan`: a motion through configurations, its timing, its torques, and a verdict on every limit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from armdyn import text_table
from armdyn.dynamics import Dynamics
from armdyn.errors import ArmdynError, FileError, NotApplicable, ShapeError, unknown_name
from armdyn.motion.bearings import BearingLoads, bearing_loads
from armdyn.motion.sampling import Infeasible, dynamics_of, states
from armdyn.motion.verdict import Feasibility, judged
from armdyn.notebook_view import View
from armdyn.result import Result
from armdyn.robot.features import CLOSED, SUPPORT, TREE, require, takes
from armdyn.robot.limits import (
    CAREFUL,
    LimitsGiven,
    MotionLimits,
    careful_rates,
    joint_names,
    joint_units,
    limits_of,
    torque_limits,
)
from armdyn.robot.robot import Robot
from armdyn.tables import Column, Section
from armdyn.trajectory.joint import point_to_point, profile_named
from armdyn.trajectory.trajectory import Trajectory, columns_of, grid
from armdyn.typing import Array

if TYPE_CHECKING:
    from armdyn.motion.payload_cycle import LargestPayload
    from armdyn.trajectory.cartesian import PathTiming, TaskTrajectory

# What times a path by torques, and what follows a line, is imported where a plan asks for it: most do not.
TIMINGS = ("given", "scaled", "optimal")
THROUGH = ("blends", "cubic", "quintic")
"""Profiles of a motion through more than two configurations."""
REACHED = 0.999
"""Share of a limit from which it counts as reached."""
LESS, LEAST_SHARE = 0.8, 0.01
"""Factor between two trials of accelerations that must keep torque limits, and the smallest share that is tried."""
UNCHANGED = 1e-3
"""Relative change of duration below which a retimed motion takes as long as before."""
READ_BACK = 1e-9
"""Relative difference between torques in a file and those of its own motion that is left to rounding."""


@dataclass(frozen=True, eq=False)
class Plan(Result):
    """A planned motion with its torques and a verdict on every limit.

    robot:     with its payload.
    motion:    the trajectory.
    timing:    given, scaled or optimal.
    manner:    profile and path, in words.
    before:    the motion before it was scaled or timed anew; None if it was not.
    dynamics:  of that robot; None if its joints are elastic, since torques then need the positions of the motors.
    verdict:   the motion against the limits of position, velocity, acceleration, jerk, torque and power.
    payload:   the largest payload, if it was asked for.
    notes:     sentences on what was assumed and what limits the motion.
    dt:        time step of its samples, s.
    """

    robot: Robot
    motion: Trajectory
    timing: str
    manner: str
    before: Trajectory | None
    dynamics: Dynamics | None
    verdict: Feasibility
    payload: LargestPayload | None
    notes: tuple[str, ...]
    dt: float

    @property
    def duration(self) -> float:
        """Duration, s."""
        return self.motion.duration

    @property
    def fine(self) -> bool:
        """Whether every known limit is kept."""
        return self.verdict.holds

    def torques(self, t: Any) -> Array:
        """(..., n) torques at times t, N m or N."""
        if self.dynamics is None:
            raise NotApplicable(
                "torques of a plan with elastic joints",
                where=f"robot {self.robot.name!r}",
                advice='Leave the elasticity out: robot.without("elastic").',
            )
        tau: Array = self.dynamics.inverse_dynamics(*states(self.motion, np.asarray(t, dtype=float)))
        return tau

    @cached_property
    def loads(self) -> BearingLoads | None:
        """Largest bearing loads; None for elastic joints and closed chains, whose joint reactions are not computed."""
        if self.dynamics is None or self.robot.constrained:
            return None
        return bearing_loads(self.dynamics, self.motion)

    # Out ------------------------------------------------------------------------------------------------------------

    def columns(self) -> dict[str, Array]:
        """Samples by name, SI units: t, q1.., qd1.., qdd1.. and, but for elastic joints, tau1.."""
        t = grid(self.duration, self.dt)
        q, qd, qdd = states(self.motion, t)
        tau = {} if self.dynamics is None else {"tau": self.dynamics.inverse_dynamics(q, qd, qdd)}
        return {"t": t} | columns_of({"q": q, "qd": qd, "qdd": qdd} | tau)

    def save(self, path: str | Path) -> Path:
        """Write the samples of `columns` as CSV and read them back.

        Raises FileError if the torques in the file are not those of the motion in the file.
        """
        target = text_table.write(path, self.columns())
        if self.dynamics is not None:
            found = text_table.read(target)
            q, qd, qdd, tau = (text_table.numbered(found, name) for name in ("q", "qd", "qdd", "tau"))
            off = np.abs(tau - self.dynamics.inverse_dynamics(q, qd, qdd)).max(initial=0.0)
            if not off <= READ_BACK * max(np.abs(tau).max(initial=0.0), 1.0):
                raise FileError(
                    f"the torques differ by {off:.3g} from those of the motion",
                    where=str(target),
                    expected="a file that reads back as it was written",
                )
        return target

    def plot(self, path: str | Path | None = None, size: str | None = None) -> Any:
        """Matplotlib figure of position, velocity, acceleration and torque of every joint.

        path: .png, .svg or .pdf file to write (default: none).
        size: "column" or "page" of a journal (default: for the screen).
        """
        limits = None if self.dynamics is None else self.verdict.limits.tau_max
        return self.motion.plot(path, self.robot, tau_max=limits, size=size)

    def animate(self, path: str | Path) -> Path:
        """Write a film of the arm: .gif, .html (a page with a player), or .mp4 where ffmpeg is installed."""
        return self.motion.animate(path, self.robot)

    def record(self) -> dict[str, Any]:
        """The plan as plain values; `columns` has its samples."""
        heads, rows = self._table()
        return {
            "robot": self.robot.name,
            "duration": self.duration,
            "timing": self.timing,
            "manner": self.manner,
            "status": self.verdict.status.name,
            "holds": self.verdict.holds,
            "joints": [dict(zip(heads, (None if x != x else x for x in row), strict=True)) for row in rows],
            "use": {name: share.tolist() for name, share in self.verdict.use.items()},
            "exceeded": [str(excess) for excess in self.verdict.excesses],
            "largest_payload": None if self.payload is None else self.payload.mass,
            "bearing_loads": None if self.loads is None else self.loads.record(),
            "notes": list(self.notes),
        }

    def _table(self) -> tuple[list[str], list[tuple[Any, ...]]]:
        """Heads and rows: joint, unit, ends, peaks; limit and use of the torque are NaN where none is known."""
        heads = ["joint", "unit", "from", "to", "peak velocity", "peak acceleration"]
        ends, peak = self.motion(np.array([0.0, self.duration])), self.verdict.peak
        values = [ends[0], ends[1], np.abs(peak["velocity"]), np.abs(peak["acceleration"])]
        if self.dynamics is not None:
            heads += ["peak torque", "torque limit", "used, %"]
            limit = self.verdict.limits.tau_max
            known = np.isfinite(limit)
            use = 100 * self.verdict.use["torque"]
            values += [peak["torque"], np.where(known, limit, np.nan), np.where(known, use, np.nan)]
        units = (unit.position for unit in joint_units(self.robot))
        rows = zip(joint_names(self.robot), units, *(column.tolist() for column in values), strict=True)
        return heads, list(rows)

    def _view(self) -> View:
        heads, rows = self._table()
        forms = ("z.4f",) * 4 + (".2f", "g", ".1f")
        cells = [
            (name, unit, *("-" if x != x else f"{x:{form}}" for x, form in zip(row, forms, strict=False)))
            for name, unit, *row in rows
        ]
        units = "Velocity per s, acceleration per s²"
        units += "." if self.dynamics is None else ", torque in N m (N if the unit is m)."
        table = Section("Joints", tuple(map(Column, heads)), tuple(cells), units)
        return View(
            f"{self.robot.name}: {self.duration:.4f} s, {self.manner}",
            (self.verdict.status.value, self.fine),
            sections=(table,),
            details=() if self.loads is None else (self.loads.section(),),
            notes=(*self.notes, *map(str, self.verdict.excesses)),
        )


@takes(*CLOSED, "elastic", *TREE)
def plan(
    model: Robot | Dynamics,
    points: Any,
    *,
    timing: Literal["given", "scaled", "optimal"] = "given",
    profile: str | None = None,
    duration: float | None = None,
    straight: bool = False,
    limits: LimitsGiven = None,
    tool_limits: PathTiming | None = None,
    payload: float = 0.0,
    com: Sequence[float] = (0.0, 0.0, 0.0),
    largest: bool = False,
    dt: float = 1e-3,
) -> Plan:
    """Plan a motion through configurations, with its torques and a verdict on every limit.

    Args:
        model:       robot, or its dynamics.
        points:      (k, n) two or more configurations, rad or m, or names of the robot's own configurations.
        timing:      "given" (default): by profile and limits. "scaled": the whole motion is sped up or slowed down
                     until a joint reaches a limit. "optimal": the fastest timing of the path, without the profile.
        profile:     of two points as in `point_to_point` (default: trapezoid); of more: blends (default), which pass
                     the points in between at a distance, or the splines cubic and quintic through all of them.
        duration:    s (default: the shortest).
        straight:    move the tool along straight lines (default: the joints).
        limits:      of the joints, as in `feasibility` (default: the robot's; a careful motion's where it has none).
        tool_limits: of a straight motion of the tool: v_max, a_max, w_max, wd_max; see `cartesian.PathTiming`.
        payload:     mass at the tool, kg (default: 0).
        com:         (3,) its centre of mass in the tool frame, m.
        largest:     find the largest payload of the motion, centred at `com`, as well; with optimal timing and a
                     duration, the largest with which the path takes that time.
        dt:          time step of the samples that are saved, s.

    Raises:  Infeasible if no timing keeps the limits, Unreachable if a straight line leaves the workspace.

    >>> import armdyn
    >>> move = plan(armdyn.load("planar2r"), [[0.0, 0.0], [1.0, 0.5]], limits={"v_max": 1.0, "a_max": 2.0})
    >>> move.duration, move.fine, move.torques(0.0).shape
    (1.5, True, (2,))
    """
    if timing not in TIMINGS:
        raise unknown_name("timing", timing, TIMINGS, where="plan")
    robot = model if isinstance(model, Robot) else model.robot
    loaded = robot.with_payload(payload, com) if payload else robot
    kept = limits_of(loaded, limits, "plan", unused=())
    limited = bool(np.isfinite([kept.tau_max, kept.tau_min]).any())
    elastic = "elastic" in loaded.features  # then it has a plan of its joints alone, and torque limits are refused
    if elastic and limited:
        require(loaded, "motion.plan with torque limits", SUPPORT["motion.feasibility"])
    dyn = None if elastic else dynamics_of(loaded if payload else model)
    free = largest and timing == "optimal" and duration is not None
    task = _Task(
        loaded,
        dyn,
        _configurations(robot, points),
        profile,
        None if free else duration,
        kept,
        _given(limits),
        tool_limits,
        straight,
    )
    if timing != "given" or largest:
        _refuse_timing(task, timing, limited)
    motion, notes = task.motion()
    before, found = None, None
    if free:
        motion = task.path(motion)
    elif timing != "given":
        assert dyn is not None
        before, notes = motion, [f"For the motion before retiming: {note}" for note in notes]
        if timing == "scaled":
            from armdyn.motion.scaling import scale_to_torque

            motion = scaled = scale_to_torque(motion, dyn, limits=kept)
            why = f"; limited by the {scaled.quantity} of {scaled.joint} at {scaled.time:.4g} s."
        else:
            from armdyn.motion.timing import time_optimal

            motion = fastest = time_optimal(task.path(motion), dyn, limits=kept)
            why = f". {fastest.status.value}"
        notes.insert(0, _compared(before, motion) + why)
    if largest:
        from armdyn.motion.payload_cycle import largest_payload

        assert dyn is not None
        found = largest_payload(dyn, motion, com=com, duration=duration if free else None, limits=kept)
        loaded, motion, dyn = found.loaded, found.motion, dynamics_of(found.loaded)
        notes.insert(0, f"{found}.")
    verdict = judged(loaded, dyn, motion, kept)
    notes += [*(_reached(verdict) if before is not None or found is not None else ()), *_unlimited(loaded, kept)]
    return Plan(loaded, motion, timing, task.manner(timing), before, dyn, verdict, found, tuple(notes), dt)


# The motion before it is timed by torques ---------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Task:
    """What is asked for. given: names of the limits that were given, not the robot's own."""

    robot: Robot
    dyn: Dynamics | None
    points: Array
    profile: str | None
    duration: float | None
    limits: MotionLimits
    given: frozenset[str]
    tool_limits: PathTiming | None
    straight: bool

    def __post_init__(self) -> None:
        if len(self.points) > 2 and self.profile not in (None, *THROUGH):
            raise unknown_name("profile through more than two configurations", str(self.profile), THROUGH)
        if len(self.points) > 2 and self.straight and self.profile not in (None, "blends"):
            raise NotApplicable(
                f"profile {self.profile!r} with straight lines past configurations", where="plan", expected="blends"
            )
        if len(self.points) == 2:
            profile_named(self.law)  # an error with the names of all profiles
        if self.tool_limits and not self.straight:
            raise NotApplicable(
                "limits of the tool for a motion of the joints",
                where="plan",
                expected="limits=",
                advice="Limits of the tool are for straight lines of the tool.",
            )

    @property
    def law(self) -> str:
        return self.profile or ("trapezoid" if len(self.points) == 2 else "blends")

    def manner(self, timing: str) -> str:
        """Profile and path in words."""
        law = self.law if len(self.points) > 2 else f"profile {self.law}"
        how = {"given": law, "scaled": f"{law}, scaled", "optimal": "time-optimal"}[timing]
        if self.law in THROUGH[1:] and len(self.points) > 2:
            return f"{how}, spline through {len(self.points)} configurations"
        lines = "straight lines" if len(self.points) > 2 else "straight line"
        return f"{how}, {lines} {'of the tool' if self.straight else 'in joint space'}"

    def motion(self) -> tuple[Trajectory, list[str]]:
        """The motion by its profile, and notes on limits that had to be assumed."""
        if self.straight:
            return self.tool_motion()
        if self.duration is not None:
            return self.lasting(self.duration), []
        (v_max, note_v, _), (a_max, note_a, by_torques) = self.assumed("velocity"), self.assumed("acceleration")
        motion, notes = self.joint_motion(v_max, a_max), [note for note in (note_v, note_a) if note]
        if not by_torques:
            return motion, notes
        motion, share = self.accelerations_within_torque_limits(motion, v_max, a_max)
        notes += [f"Lowered to {100 * share:.0f} % of that, to keep the torque limits."] if share < 1 else []
        return motion, notes

    def path(self, motion: Trajectory) -> Trajectory:
        """The path of the motion. One that never slows down is its own parameter: its length need not be solved for."""
        if len(self.points) > 2:
            return motion
        return replace(self, profile="linear", duration=1.0, given=frozenset(), tool_limits=None).motion()[0]

    def joint_motion(self, v_max: Any, a_max: Any) -> Trajectory:
        """The shortest motion of the joints within limits."""
        jerk = self.limits.jerk
        j_max = jerk if np.isfinite(jerk).any() else None
        if len(self.points) == 2:
            return point_to_point(self.points[0], self.points[1], self.law, v_max=v_max, a_max=a_max, j_max=j_max)
        from armdyn.trajectory.via import via_points

        # Jerk is unbounded in blends and bounded in a spline, which is slowed until it keeps the limit.
        kind: Any = self.law if j_max is None else "quintic"
        motion = via_points(self.points, kind, v_max=v_max, a_max=a_max)
        return motion if j_max is None else motion.slower(max(1.0, float((motion.peak(3) / j_max).max()) ** (1 / 3)))

    def lasting(self, duration: float) -> Trajectory:
        """A motion of the joints with a given duration; limits that were given as well must hold."""
        limits = self.limits
        if len(self.points) == 2:
            v_max = limits.velocity if "v_max" in self.given else None
            a_max = limits.acceleration if "a_max" in self.given else None
            j_max = limits.jerk if np.isfinite(limits.jerk).any() else None
            return point_to_point(
                self.points[0], self.points[1], self.law, v_max=v_max, a_max=a_max, j_max=j_max, duration=duration
            )
        motion = self.joint_motion(self.assumed("velocity")[0], self.assumed("acceleration")[0]).retimed(duration)
        for name, order, most in (("v_max", 1, limits.velocity), ("a_max", 2, limits.acceleration)):
            over = np.where(name in self.given, motion.peak(order) / most, 0.0)
            if over.max() > 1 + 1e-9:
                i = int(over.argmax())
                raise ArmdynError(
                    f"{joint_names(self.robot)[i]} exceeds {name} = {most[i]:g} by a factor of {over[i]:.4g}",
                    where=f"duration {duration:g} s",
                    expected=f"at least {duration * over[i] ** (1 / order):.6g} s",
                    advice="It needs more time: leave the duration out for the shortest.",
                )
        return motion

    def assumed(self, quantity: str) -> tuple[Array, str, bool]:
        """Limits of velocity or acceleration, a note on those that had to be assumed, and whether torques gave them.

        Assumed are, where no acceleration but every torque is limited, torques over inertias (k_a of Khalil sec. 8.3),
        otherwise the rates of a careful motion.
        """
        known = getattr(self.limits, quantity)
        missing = np.isinf(known)
        if not missing.any():
            return known, "", False
        rates, source = careful_rates(self.robot)[quantity == "acceleration"], ""
        by_torques = quantity == "acceleration" and missing.all() and np.isfinite(torque_limits(self.robot)).all()
        if by_torques:
            from armdyn.control.extremes import acceleration_constants

            assert self.dyn is not None
            rates, source = acceleration_constants(self.dyn), ", torque limits over the largest inertias"
        units = [getattr(unit, quantity) for unit in joint_units(self.robot)]
        listed = dict.fromkeys(f"{x:.3g} {unit}" for x, unit, free in zip(rates, units, missing, strict=True) if free)
        note = f"No {quantity} limits known; assumed: {', '.join(listed)}{source} (change with {quantity[0]}_max)."
        return np.where(missing, rates, known), note, bool(by_torques)

    def accelerations_within_torque_limits(
        self, motion: Trajectory, v_max: Array, a_max: Array
    ) -> tuple[Trajectory, float]:
        """The motion with the largest share of its accelerations that keeps the torque limits, and that share.

        Torques over inertias leave nothing for weight and velocities.
        """
        share = 1.0
        while share > LEAST_SHARE and judged(self.robot, self.dyn, motion, self.limits).use["torque"].max() > 1:
            share *= LESS
            motion = self.joint_motion(v_max, share * a_max)
        return motion, share

    def tool_motion(self) -> tuple[Trajectory, list[str]]:
        """The motion of the joints that takes the tool along straight lines; without the orientation if it must be."""
        from armdyn.kinematics.inverse import Unreachable
        from armdyn.mechanics.kinematics import pose
        from armdyn.trajectory.cartesian import line
        from armdyn.trajectory.follow import follow
        from armdyn.trajectory.via_poses import via_poses

        timing: PathTiming = {"duration": self.duration}
        notes = []
        if self.duration is None:
            (v_max, a_max), (w_max, wd_max) = CAREFUL["prismatic"], CAREFUL["revolute"]
            timing = {"v_max": v_max, "a_max": a_max, "w_max": w_max, "wd_max": wd_max}
            notes = [f"The tool rotates at {w_max:g} rad/s and {wd_max:g} rad/s^2 at most."]
        timing |= self.tool_limits or {}

        def through(poses: list[Array]) -> TaskTrajectory:
            return via_poses(poses, **timing) if len(poses) > 2 else line(poses[0], poses[1], self.law, **timing)

        poses = [np.asarray(pose(self.robot, q)) for q in self.points]
        try:
            motion = follow(self.robot, through(poses), self.points[0])
        except Unreachable:
            if self.robot.n >= 6:
                raise
            motion = follow(self.robot, through([each[:3, 3] for each in poses]), self.points[0])
            notes = ["The orientation of the tool is left free: the arm cannot control it along the line."]
        if np.abs(motion(motion.duration) - self.points[-1]).max() > 1e-6:
            notes.append("The line reaches the last pose in another configuration.")
        return motion, notes


def _configurations(robot: Robot, points: Any) -> Array:
    named = [robot.configuration(point) if isinstance(point, str) else point for point in points]
    try:
        q = np.array(named, dtype=float)
    except ValueError:
        q = np.empty(0)
    if q.ndim != 2 or len(q) < 2 or q.shape[1] != robot.n or not np.isfinite(q).all():
        raise ShapeError(
            f"points of shape {q.shape}" if q.size else "points of different lengths",
            where="plan",
            expected=f"(k, {robot.n}) finite numbers, at least two configurations",
        )
    return q


def _given(limits: LimitsGiven) -> frozenset[str]:
    """Names of the limits that the user gives."""
    return frozenset(("v_max", "a_max") if isinstance(limits, MotionLimits) else limits or ())


# Timing by torques -------------------------------------------------------------------------------------------------


def _refuse_timing(task: _Task, timing: str, limited: bool) -> None:
    """Refuse what contradicts a timing by torques, before anything is planned."""
    if timing != "given" and task.duration is not None:
        raise NotApplicable(
            f"a duration with timing {timing!r}",
            where="plan",
            expected="no duration",
            advice="The duration follows from the timing.",
        )
    if timing == "scaled" and task.law == "linear":
        raise NotApplicable(
            "profile 'linear' with timing 'scaled'",
            where="plan",
            expected="another profile",
            advice="It begins and ends with a jump in velocity: no torque does that.",
        )
    if not limited:
        raise Infeasible(
            "no torque limit is known",
            where=f"robot {task.robot.name!r}",
            expected="torque limits of the joints or motors",
            advice="Give limits with tau_max, or put limits = {torque = ...} into the robot's file.",
        )


def _compared(before: Trajectory, after: Trajectory) -> str:
    factor = before.duration / after.duration
    speed = f"{factor:.4g} times as fast" if factor >= 1 else f"{1 / factor:.4g} times as slow"
    change = "as before" if abs(factor - 1) < UNCHANGED else f"instead of {before.duration:.4f} s, {speed}"
    return f"{after.duration:.4f} s {change}"


def _reached(verdict: Feasibility) -> list[str]:
    """`At their limits: torque of a, b; velocity of c.`"""
    names = joint_names(verdict.robot)
    texts = []
    for quantity in ("torque", "velocity", "acceleration", "jerk"):
        reached = [name for name, share in zip(names, verdict.use[quantity], strict=True) if share >= REACHED]
        texts += [f"{quantity} of {', '.join(reached)}"] if reached else []
    return [f"At their limits: {'; '.join(texts)}."] if texts else []


def _unlimited(robot: Robot, limits: MotionLimits) -> list[str]:
    """Joints without a torque limit, if others have one."""
    free = [name for name, tau in zip(joint_names(robot), limits.tau_max, strict=True) if np.isinf(tau)]
    return [f"No torque limit known: {', '.join(free)}."] if 0 < len(free) < robot.n else []
