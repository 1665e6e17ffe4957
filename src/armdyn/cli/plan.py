"""armdyn plan: a motion between two configurations, as a file and as a figure."""

from __future__ import annotations

import math
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from armdyn.cli import parse
from armdyn.cli.console import compiled, console, show, show_path, write_figure
from armdyn.cli.verb import takes

if TYPE_CHECKING:
    from armdyn.dynamics import Dynamics
    from armdyn.motion import Feasibility, MotionLimits
    from armdyn.robot.robot import Robot
    from armdyn.tables import Section
    from armdyn.trajectory.trajectory import Trajectory

BEYOND = 1
"""Exit status if a limit of the robot is exceeded."""
TORQUES_OVER_INERTIAS = "torque limits over the largest inertias"
REACHED = 0.999
"""Share of a limit from which it counts as reached."""


class Timing(StrEnum):
    """How the motion along the path is timed."""

    given = "given"
    scaled = "scaled"
    optimal = "optimal"


PANELS = {
    "Path": ("start", "end", "via", "line"),
    "Timing": ("timing", "profile", "duration"),
    "Limits": ("v_max", "a_max", "j_max", "tau_max", "no_load", "corner"),
    "Payload": ("payload", "largest"),
    "Results": ("loads",),
}


@takes("closed", "elastic", "tree", panels=PANELS)
def plan(
    robot: Robot,
    start: Annotated[
        str,
        typer.Option(
            "--from",
            metavar="Q",
            help="Start configuration: one number per joint as in 0,30deg,-1.2 (rad, m), or its name in the file.",
        ),
    ],
    end: Annotated[str, typer.Option("--to", metavar="Q", help="End configuration, in the same form.")],
    via: Annotated[
        list[str] | None,
        typer.Option("--via", metavar="Q", help="Configuration to pass on the way, with blends; may be repeated."),
    ] = None,
    profile: Annotated[
        str,
        typer.Option(
            help="Velocity profile: linear, cubic, quintic, bang_bang, trapezoid, smooth, smooth_trapezoid, or "
            "smooth_trapezoid:SHARE, where the acceleration rises and falls in a SHARE (up to 0.5) of its time."
        ),
    ] = "trapezoid",
    v_max: parse.VelocityOption = None,
    a_max: parse.AccelerationOption = None,
    j_max: Annotated[
        str | None,
        typer.Option(metavar="J", help="Jerk limits, one for all joints or one each (default: the robot's, or none)."),
    ] = None,
    timing: Annotated[
        Timing,
        typer.Option(
            help="given: by profile and limits. scaled: the whole motion is sped up or slowed down until a joint "
            "reaches a limit of torque, velocity, acceleration or jerk. optimal: the fastest timing of the path; the "
            "profile is not used."
        ),
    ] = Timing.given,
    tau_max: parse.TorqueOption = None,
    no_load: parse.NoLoadOption = None,
    corner: parse.CornerOption = "0",
    duration: Annotated[float | None, typer.Option(metavar="S", help="Duration, s (default: the shortest).")] = None,
    line: Annotated[
        bool,
        typer.Option(
            "--line", help="Move the tool along straight lines; V and A are then limits of the tool, m/s and m/s^2."
        ),
    ] = False,
    payload: Annotated[
        str | None,
        typer.Option(
            metavar=parse.PAYLOAD, help="Payload at the tool, kg, and its centre of mass in the tool frame, m."
        ),
    ] = None,
    largest: Annotated[
        bool,
        typer.Option(
            "--largest-payload",
            help="Find the largest payload of the motion, centred as --payload 0@X,Y,Z says; with --timing optimal and "
            "--duration, the largest with which the path takes that time.",
        ),
    ] = False,
    plot: parse.PlotOption = None,
    size: parse.SizeOption = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the motion as samples of t, q, qd, qdd (.csv).")
    ] = None,
    dt: Annotated[float, typer.Option(metavar="S", help="Time step of the samples, s.")] = 1e-3,
    loads: Annotated[bool, typer.Option("--loads", help="Also print the largest bearing loads of the motion.")] = False,
) -> None:
    """Plan a motion between two configurations within limits of velocity, acceleration, jerk and torque.

    Exit status: 0 the motion respects every known limit, 1 it does not, 2 error.
    """
    from armdyn.motion import feasibility

    parse.check_extension(plot, parse.PICTURES, "--plot")
    given = [(start, "--from"), *((text, "--via") for text in via or ()), (end, "--to")]
    points = [parse.configuration(text, robot, option) for text, option in given]
    if via and profile != "trapezoid":
        raise typer.BadParameter("a motion with --via has blends, and no profile", param_hint="--profile")
    mass, com = parse.payload(payload)
    robot = robot.with_payload(mass, com) if mass else robot
    limits = _limits(robot, None if line else v_max, None if line else a_max, j_max, tau_max, no_load, corner)
    free = largest and timing is Timing.optimal and duration is not None
    if timing is not Timing.given or largest:
        _refuse_timing(robot, limits, timing, profile, None if free or timing is Timing.given else duration)
    planned = _line if line else _joints
    motion, note = planned(robot, points, profile, v_max, a_max, None if free else duration, limits)
    dyn = compiled(robot) if _has_torque_limits(limits) else None
    told = ""
    if free:
        assert dyn is not None
        told, robot, motion = _largest(dyn, motion, limits, com, duration)
        dyn = compiled(robot)
    elif dyn is not None and timing is not Timing.given:
        # A path that never slows down is its own parameter: nothing has to be solved for its length.
        steady = timing is Timing.optimal and not via
        path = planned(robot, points, "linear", None, None, 1.0, None)[0] if steady else motion
        motion, told = _retimed(dyn, motion, path, timing, limits)
        note = f"For the motion before retiming: {note}" if note else ""
    if largest and not free:
        assert dyn is not None
        found, robot, motion = _largest(dyn, motion, limits, com, None)
        told, dyn = f"{told} {found}".strip(), compiled(robot)
    verdict = None if dyn is None else feasibility(dyn, motion, limits=limits)
    screen = console()
    shape = f"straight line{'s' if via else ''} {'of the tool' if line else 'in joint space'}"
    manner = _manner(timing, "blends" if via else f"profile {profile}")
    title = f"{robot.name}: {motion.duration:.4f} s, {manner}, {shape}"
    show(screen, _section(robot, motion, title, verdict))
    if loads:
        from armdyn.motion import bearing_loads

        show(screen, bearing_loads(robot, motion).section())
    for text in filter(None, (told, note, _limits_reached(verdict) if told else "", _unlimited(robot, limits))):
        screen.print(text)
    warnings = [*_beyond_limits(robot, motion, limits), *_too_strong(verdict)]
    for warning in warnings:
        screen.print(f"[yellow]{warning}[/]")
    if out is not None:
        motion.save(out, dt)
        show_path(screen, "Samples", out)
    if plot is not None:
        torques = limits.tau_max if _has_torque_limits(limits) else None
        write_figure(screen, plot, motion.plot(robot=robot, tau_max=torques), size)
    if warnings:
        raise typer.Exit(BEYOND)


def _largest(
    dyn: Dynamics, motion: Trajectory, limits: MotionLimits, com: list[float], duration: float | None
) -> tuple[str, Robot, Trajectory]:
    """What limits the largest payload, the robot with it, and its motion."""
    from armdyn.motion import largest_payload

    found = largest_payload(dyn, motion, com=com, duration=duration, limits=limits)
    return f"{found}.", found.loaded, found.motion


def _joints(
    robot: Robot,
    points: list[list[float]],
    profile: str,
    v: str | None,
    a: str | None,
    duration: float | None,
    limits: MotionLimits | None,
) -> tuple[Trajectory, str]:
    """The motion, and a note on limits that had to be assumed."""
    from armdyn.motion.lowering import lowered

    motion, note = _joint_motion(robot, points, profile, v, a, duration, None if limits is None else limits.jerk)
    if limits is None or duration is not None or TORQUES_OVER_INERTIAS not in note:
        return motion, note
    strongest, jerk = _limit(robot, a, "acceleration")[0], limits.jerk

    def planned(share: float) -> Trajectory:
        lower = ",".join(repr(share * x) for x in strongest)
        return _joint_motion(robot, points, profile, v, lower, None, jerk)[0]

    motion, share = lowered(compiled(robot), planned, limits)
    less = f" Lowered to {100 * share:.0f} % of that, to keep the torque limits." if share < 1 else ""
    return motion, note + less


def _joint_motion(
    robot: Robot,
    points: list[list[float]],
    profile: str,
    v: str | None,
    a: str | None,
    duration: float | None,
    jerk: Any,
) -> tuple[Trajectory, str]:
    import numpy as np

    from armdyn.trajectory.compose import retimed
    from armdyn.trajectory.joint import point_to_point
    from armdyn.trajectory.via import via_points

    q0, q1 = points[0], points[-1]
    j_max = None if jerk is None or not np.isfinite(jerk).any() else jerk
    if len(points) > 2:
        (fastest, note_v), (strongest, note_a) = _limit(robot, v, "velocity"), _limit(robot, a, "acceleration")
        motion: Trajectory = via_points(
            points, "blends" if j_max is None else "quintic", v_max=fastest, a_max=strongest
        )
        if j_max is not None:  # a spline, whose jerk is bounded, slowed until it keeps the limit
            motion = motion.slower(max(1.0, float((motion.peak(3) / j_max).max()) ** (1 / 3)))
        if duration is not None:
            slower = retimed(motion, duration)
            _require_given(robot, slower, v, a)
            return slower, ""
        return motion, " ".join(filter(None, (note_v, note_a)))
    if duration is not None:  # sufficient on its own; limits given as well must hold
        v_max = None if v is None else parse.limits(v, robot.n, "--v-max")
        a_max = None if a is None else parse.limits(a, robot.n, "--a-max")
        return point_to_point(q0, q1, profile, v_max=v_max, a_max=a_max, j_max=j_max, duration=duration), ""
    fastest, note_v = _limit(robot, v, "velocity")
    strongest, note_a = _limit(robot, a, "acceleration")
    motion = point_to_point(q0, q1, profile, v_max=fastest, a_max=strongest, j_max=j_max)
    return motion, " ".join(filter(None, (note_v, note_a)))


def _require_given(robot: Robot, motion: Trajectory, v: str | None, a: str | None) -> None:
    """Refuse a duration in which limits that were given as well cannot hold."""
    for text, option, order in ((v, "--v-max", 1), (a, "--a-max", 2)):
        limits = [math.inf] * robot.n if text is None else parse.limits(text, robot.n, option)
        for joint, peak, limit in zip(robot.joints, motion.peak(order), limits, strict=True):
            if peak > limit * (1 + 1e-9):
                beyond = f"{joint.name} reaches {peak:.4g}, beyond {option} {limit:g}: it needs more time"
                raise typer.BadParameter(beyond, param_hint="--duration")


def _limit(robot: Robot, given: str | None, name: str) -> tuple[list[float], str]:
    """Limits given, of the robot, k_a of Khalil sec. 8.3, or of a careful motion; and a note on the last two."""
    from armdyn.robot.limits import careful_rates, joint_units, motion_limits, torque_limits

    option = f"--{name[0]}-max"
    if given is not None:
        return parse.limits(given, robot.n, option), ""
    known = getattr(motion_limits(robot), name)
    careful = careful_rates(robot)[name == "acceleration"]
    source = ""
    if name == "acceleration" and all(map(math.isinf, known)) and not any(map(math.isinf, torque_limits(robot))):
        from armdyn.control import acceleration_constants

        careful, source = acceleration_constants(compiled(robot)), f", {TORQUES_OVER_INERTIAS}"
    missing = list(dict.fromkeys(f"{rate:.3g} {getattr(unit, name)}"
                                 for limit, rate, unit in zip(known, careful, joint_units(robot), strict=True)
                                 if math.isinf(limit)))  # fmt: skip
    values = [float(y if math.isinf(x) else x) for x, y in zip(known, careful, strict=True)]
    note = f"No {name} limits known; assumed: {', '.join(missing)}{source} (change with {option})."
    return values, note if missing else ""


def _line(
    robot: Robot,
    points: list[list[float]],
    profile: str,
    v: str | None,
    a: str | None,
    duration: float | None,
    limits_of_joints: MotionLimits | None,
) -> tuple[Trajectory, str]:
    import numpy as np

    from armdyn.mechanics.kinematics import pose
    from armdyn.robot.limits import CAREFUL
    from armdyn.trajectory import TaskTrajectory, Unreachable, follow, line, via_poses

    def through(poses: list[Any]) -> TaskTrajectory:
        if len(poses) > 2:
            return via_poses(poses, **limits)
        return line(poses[0], poses[-1], profile, **limits)

    limits: dict[str, Any] = {"duration": duration}
    note = ""
    if duration is None:
        (v_max, a_max), (w_max, wd_max) = CAREFUL["prismatic"], CAREFUL["revolute"]
        limits |= {"v_max": v_max, "a_max": a_max, "w_max": w_max, "wd_max": wd_max}
        note = f"The tool rotates at {w_max:g} rad/s and {wd_max:g} rad/s^2 at most."
    for text, name in ((v, "v_max"), (a, "a_max")):
        if text is not None:
            limits[name] = parse.limits(text, 1, f"--{name[0]}-max")[0]
    poses = [np.asarray(pose(robot, q)) for q in points]
    try:
        motion = follow(robot, through(poses), points[0])
    except Unreachable:
        if robot.n >= 6:
            raise
        motion = follow(robot, through([each[:3, 3] for each in poses]), points[0])
        note = "The orientation of the tool is left free: the arm cannot control it along the line."
    if abs(motion(motion.duration) - points[-1]).max() > 1e-6:
        note += " The line reaches the pose of --to in another configuration."
    return motion, note.strip()


# Timing by torques -------------------------------------------------------------------------------------------------


def _limits(
    robot: Robot, v: str | None, a: str | None, j: str | None, tau: str | None, no_load: str | None, corner: str
) -> MotionLimits:
    """Limits of the joints: from the command line, otherwise the robot's."""
    from armdyn.motion import motion_limits

    given = {"v_max": v, "a_max": a, "j_max": j, "tau_max": tau}
    known = {name: parse.limits(text, robot.n, f"--{name.replace('_', '-')}")
             for name, text in given.items() if text is not None}  # fmt: skip
    return motion_limits(robot, **known, **parse.torque_speed(no_load, corner, robot.n))


def _has_torque_limits(limits: MotionLimits) -> bool:
    return any(map(math.isfinite, limits.tau_max))


def _unlimited(robot: Robot, limits: MotionLimits) -> str:
    """Joints without a torque limit, if others have one."""
    free = [joint.name for joint, tau in zip(robot.joints, limits.tau_max, strict=True) if not math.isfinite(tau)]
    return f"No torque limit known: {', '.join(free)}." if 0 < len(free) < robot.n else ""


def _refuse_timing(robot: Robot, limits: MotionLimits, timing: Timing, profile: str, duration: float | None) -> None:
    """Refuse options that contradict a timing by torques, before anything is planned."""
    from armdyn.motion import Infeasible

    if duration is not None:
        raise typer.BadParameter(f"the duration follows from --timing {timing.value}", param_hint="--duration")
    if timing is Timing.scaled and profile == "linear":
        raise typer.BadParameter("linear starts and ends with a jump in velocity, which no torque can produce",
                                 param_hint="--profile")  # fmt: skip
    if not _has_torque_limits(limits):
        raise Infeasible("no torque limit is known", where=f"robot {robot.name!r}",
                         expected=f"torque limits of the joints or motors for --timing {timing.value}",
                         advice="Give --tau-max, or put limits = {torque = ...} into the robot's file.")  # fmt: skip


def _retimed(
    dyn: Dynamics, reference: Trajectory, path: Trajectory, timing: Timing, limits: MotionLimits
) -> tuple[Trajectory, str]:
    """The path at the speed that the limits allow, and a comparison with the reference."""
    from armdyn.motion import scale_to_torque, time_optimal

    if timing is Timing.scaled:
        scaled = scale_to_torque(path, dyn, limits=limits)
        what = f"limited by the {scaled.quantity} of {scaled.joint} at {scaled.time:.4g} s."
        return scaled, f"{_compared(reference, scaled)}; {what}"
    fastest = time_optimal(path, dyn, limits=limits)
    return fastest, f"{_compared(reference, fastest)}. {fastest.status.value}"


def _compared(before: Trajectory, after: Trajectory) -> str:
    factor = before.duration / after.duration
    speed = f"{factor:.4g} times as fast" if factor >= 1 else f"{1 / factor:.4g} times as slow"
    change = "as before" if abs(factor - 1) < 1e-3 else f"instead of {before.duration:.4f} s, {speed}"
    return f"{after.duration:.4f} s {change}"


def _limits_reached(verdict: Feasibility | None) -> str:
    """`torque of a, b; velocity of c`."""
    if verdict is None:
        return ""
    joints = verdict.robot.joints
    reached = {
        quantity: [joint.name for joint, share in zip(joints, verdict.use[quantity], strict=True) if share >= REACHED]
        for quantity in ("torque", "velocity", "acceleration", "jerk")
    }
    texts = [f"{quantity} of {', '.join(names)}" for quantity, names in reached.items() if names]
    return f"At their limits: {'; '.join(texts)}." if texts else ""


def _too_strong(verdict: Feasibility | None) -> list[str]:
    """Torque limits that the motion exceeds, and whether slowing down helps."""
    excesses = [] if verdict is None else [excess for excess in verdict.excesses if excess.quantity == "torque"]
    texts = [
        f"{joint} exceeds its torque limit {abs(limit):g}: {abs(value):.4g} at {time:.4g} s."
        for joint, limit, value, time in ((x.joint, x.limit, x.value, x.time) for x in excesses)
    ]
    heavy = verdict is not None and verdict.status.name == "TOO_HEAVY"
    advice = (
        "Gravity alone exceeds a limit: no timing helps."
        if heavy
        else "--timing scaled or optimal respects the limits."
    )
    return [*texts, advice] if texts else []


def _manner(timing: Timing, law: str) -> str:
    return {"given": law, "scaled": f"{law}, scaled", "optimal": "time-optimal"}[timing]


# Tables ------------------------------------------------------------------------------------------------------------


def _section(robot: Robot, motion: Trajectory, title: str, verdict: Feasibility | None) -> Section:
    from armdyn.robot.limits import UNITS
    from armdyn.tables import Column, Section

    heads = ["joint", "unit", "from", "to", "peak velocity", "peak acceleration"]
    heads += [] if verdict is None else ["peak torque", "torque limit", "used, %"]
    first, last = motion(0.0), motion(motion.duration)
    velocity, acceleration = motion.peak(1), motion.peak(2)
    rows = []
    for j, joint in enumerate(robot.joints):
        unit = UNITS[joint.kind].position
        figures = (first[j], last[j], velocity[j], acceleration[j])
        cells = [f"{float(x):z.4f}" for x in figures]
        rows.append((joint.name, unit, *cells, *_torque_cells(verdict, j)))
    units = "Velocity per s, acceleration per s^2" + (
        "." if verdict is None else ", torque in N m (N if the unit is m)."
    )
    return Section(title, tuple(map(Column, heads)), tuple(rows), units)


def _torque_cells(verdict: Feasibility | None, j: int) -> list[str]:
    """Peak torque, limit, and use of the limit in per cent."""
    if verdict is None:
        return []
    peak, limit = f"{verdict.peak['torque'][j]:.2f}", verdict.limits.tau_max[j]
    return [peak, f"{limit:g}", f"{100 * verdict.use['torque'][j]:.1f}"] if math.isfinite(limit) else [peak, "-", "-"]


def _beyond_limits(robot: Robot, motion: Trajectory, limits: MotionLimits) -> list[str]:
    """Limits of position, velocity, acceleration and jerk that the motion exceeds, and what to do."""
    import numpy as np

    from armdyn.motion.sampling import jerk_at, sample_times
    from armdyn.robot.limits import joint_units, motion_limits

    t = sample_times(motion)
    q = motion(t)
    own = motion_limits(robot)
    found, far, fast = [], False, False
    jerk = np.zeros(robot.n)
    if np.isfinite(limits.jerk).any():
        jerk = np.abs(jerk_at(motion, t, motion(t, 2), limits.jerk)).max(axis=0)
    rates = {"velocity": (motion.peak(1), own.velocity), "acceleration": (motion.peak(2), own.acceleration),
             "jerk": (jerk, limits.jerk)}  # fmt: skip
    for j, (joint, units) in enumerate(zip(robot.joints, joint_units(robot), strict=True)):
        lower, upper = own.lower[j], own.upper[j]
        low, high = float(q[:, j].min()), float(q[:, j].max())
        if low < lower - 1e-9 or high > upper + 1e-9:
            reached = high if high > upper + 1e-9 else low
            found.append(
                f"{joint.name} leaves its range {lower:g} to {upper:g}: it reaches {reached:.4g} {units.position}."
            )
            far = True
        for what, (peaks, most) in rates.items():
            if peaks[j] > most[j] * (1 + (1e-9 if what != "jerk" else 1e-3)):
                found.append(
                    f"{joint.name} exceeds its {what} limit {most[j]:g}: {peaks[j]:.4g} {getattr(units, what)}."
                )
                fast = True
    if far:
        found.append("Choose --to, --via or a path within the range: slowing down does not help.")
    if fast:
        found.append("Give a longer --duration or none, a smooth --profile where jerk is limited, or --timing optimal.")
    return found
