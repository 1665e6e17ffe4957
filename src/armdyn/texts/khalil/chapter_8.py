"""Khalil, sec. 8.1 to 8.3: interpolation functions, minimum times, synchronised joints."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from armdyn.control.extremes import acceleration_constants
from armdyn.dynamics import compile as compiled
from armdyn.formats import load
from armdyn.mechanics import kane
from armdyn.report.figures.charts import Axes, Line, chart
from armdyn.robot.limits import torque_limits
from armdyn.tables import Column, Section
from armdyn.texts.item import Chapter, Check, Outcome, below, distance
from armdyn.trajectory.cartesian import line
from armdyn.trajectory.follow import follow
from armdyn.trajectory.joint import follow_target, point_to_point
from armdyn.trajectory.profiles import Ramped
from armdyn.trajectory.trajectory import Trajectory
from armdyn.typing import Array

chapter = Chapter("khalil")

FIXED = {"cubic": (3 / 2, 6.0), "quintic": (15 / 8, 10 / math.sqrt(3)), "bang_bang": (2.0, 4.0)}
"""Largest |qd| t_f/|D| and |qdd| t_f^2/|D|. (8.8), (8.9), (8.12), (8.13), (8.16), (8.17)"""
RAMPED = {"trapezoid": 1.0, "smooth": 1.5}
"""Factor c of tau = c lambda k_v / (nu k_a). (8.33), (8.41)"""
CHOSEN_MOVE = "A motion of 1 rad in 1 s; the figure has no numbers."
RNG_MOVES = 25


# What the text prints -----------------------------------------------------------------------------------------------


def printed_interpolation(s: Any) -> dict[str, Any]:
    """r at s = t/t_f. (8.4), (8.7), (8.11), (8.15)"""
    return {
        "linear": s,
        "cubic": 3 * s**2 - 2 * s**3,
        "quintic": 10 * s**3 - 15 * s**4 + 6 * s**5,
        "bang_bang": np.where(s <= 0.5, 2 * s**2, -1 + 4 * s - 2 * s**2),
    }


def printed_minimum_times(D: Any, k_v: Any, k_a: Any) -> dict[str, Any]:
    """Table 8.1, per joint."""
    d = np.abs(D)
    return {
        "linear": d / k_v,
        "cubic": np.maximum(3 * d / (2 * k_v), np.sqrt(6 * d / k_a)),
        "quintic": np.maximum(15 * d / (8 * k_v), np.sqrt(10 * d / (math.sqrt(3) * k_a))),
        "bang_bang": np.maximum(2 * d / k_v, 2 * np.sqrt(d / k_a)),
    }


def synchronised(D: Array, k_v: Array, k_a: Array, c: float) -> tuple[Array, Array, float, float]:
    """(lambda_j k_vj, nu_j k_aj, tau, t_f) with joint 1 as the reference; moves too short to reach k_v as in the notes.

    c = 1: (8.18)-(8.35); c = 3/2: (8.41)-(8.47).
    """
    d = np.abs(D)
    k_v = np.where(d < c * k_v**2 / k_a, np.sqrt(d * k_a / c), k_v)  # (8.35), (8.47)
    lam = min(1.0, (k_v[1:] * d[0] / (k_v[0] * d[1:])).min(initial=1.0))  # (8.34)
    nu = min(1.0, (k_a[1:] * d[0] / (k_a[0] * d[1:])).min(initial=1.0))
    velocities = lam * k_v[0] * d / d[0]  # (8.27)
    accelerations = nu * k_a[0] * d / d[0]  # (8.28)
    tau = float(c * lam * k_v[0] / (nu * k_a[0]))  # (8.33), (8.41)
    return velocities, accelerations, tau, float(tau + d[0] / (lam * k_v[0]))  # (8.25), (8.45)


def printed_trapezoid(t: Any, q0: Any, q1: Any, V: Any, A: Any, tau: float, t_f: float) -> Any:
    """(8.19) with lambda_j k_vj and nu_j k_aj."""
    sign = np.sign(q1 - q0)
    last = q1 - (t_f - t) ** 2 / 2 * A * sign
    middle = q0 + (t - tau / 2) * V * sign
    return np.where(t <= tau, q0 + t**2 / 2 * A * sign, np.where(t <= t_f - tau, middle, last))


def compact_trapezoid(t: Any, tau: float, t_f: float) -> Any:
    """r(t) in terms of tau and t_f, after (8.34)."""
    width = 2 * tau * (t_f - tau)
    middle = (2 * t - tau) / (2 * (t_f - tau))
    return np.where(t <= tau, t**2 / width, np.where(t <= t_f - tau, middle, 1 - (t_f - t) ** 2 / width))


def printed_smooth(t: Any, q0: Any, q1: Any, V: Any, tau: float, t_f: float) -> list[Any]:
    """Position, velocity, acceleration. (8.37)-(8.39), (8.42), (8.43)"""
    h = t_f - 2 * tau
    W, start, x = V * np.sign(q1 - q0), -1 / tau**3 * V * np.sign(q1 - q0), t - tau - h
    pieces = [
        (
            q0 + start * (t / 2 - tau) * t**3,
            q0 + W * (tau / 2 + (t - tau)),
            q1 + 0.5 * ((t - 3 * tau - h) * x**3 / tau**3 + (2 * t - 3 * tau - 2 * h)) * W,
        ),
        (start * (2 * t - 3 * tau) * t**2, W + 0 * t, ((2 * t - 5 * tau - 2 * h) * x**2 / tau**3 + 1) * W),
        (6 * start * (t - tau) * t, 0 * W * t, 6 / tau**3 * (t - 2 * tau - h) * x * W),
    ]
    return [np.where(t <= tau, up, np.where(t <= t_f - tau, cruise, down)) for up, cruise, down in pieces]


def compact_smooth(t: Any, tau: float, t_f: float) -> Any:
    """r(t) in terms of tau and t_f, after (8.47)."""
    last = 1 - (t_f - t) ** 3 / (2 * (t_f - tau)) * (2 * tau - t_f + t) / tau**3
    middle = (2 * t - tau) / (2 * (t_f - tau))
    return np.where(
        t <= tau, (2 * t**3 / tau**2 - t**4 / tau**3) / (2 * (t_f - tau)), np.where(t <= t_f - tau, middle, last)
    )


# Figures ------------------------------------------------------------------------------------------------------------


def samples(motion: Trajectory, order: int) -> tuple[Array, Array]:
    """(t, values) with both sides of every jump, and some time at rest before and after."""
    T = motion.duration
    tiny, knots = 1e-9 * T, motion.breaks
    t = np.unique(np.concatenate([np.linspace(-0.05 * T, 1.05 * T, 400), knots - tiny, knots + tiny]))
    return t, motion(t, order)


def profiles(motions: Mapping[str, Trajectory]) -> str:
    """Chart of position, velocity and acceleration of motions, joint by joint."""
    panels = []
    for order, name in enumerate(("position, rad", "velocity, rad/s", "acceleration, rad/s²")):
        lines = []
        for label, motion in motions.items():
            t, values = samples(motion, order)
            for j, column in enumerate(values.T, 1):
                lines.append(Line(t, column, label + (f", joint {j}" if motion.n > 1 else "") if order == 0 else ""))
        panels.append(Axes("", "time, s", name, lines))
    return chart(*panels, columns=3)


def jump(motion: Trajectory, order: int) -> float:
    """Largest jump of a derivative at the breaks, including the ends."""
    step = 1e-9 * motion.duration
    return float(np.abs(motion(motion.breaks + step, order) - motion(motion.breaks - step, order)).max())


def fixed_shape(name: str, continuous: int, caption: str) -> Outcome:
    """A profile without a phase of constant velocity: its shape, its peaks, its continuity."""
    motion = point_to_point([0.4], [1.4], name, duration=1.0)
    t = np.linspace(0, 1, 401)
    v, a = FIXED[name]
    checks = (
        below("interpolation function", distance(motion(t)[:, 0], 0.4 + printed_interpolation(t)[name]), 1e-14),
        below("largest velocity", abs(float(motion.peak(1)[0]) - v), 1e-12),
        below("largest acceleration", abs(float(motion.peak(2)[0]) - a), 1e-11),
        below(
            f"jumps of the derivatives up to order {continuous}",
            max(jump(motion, k) for k in range(continuous + 1)),
            1e-7,
        ),
        Check(
            f"derivative of order {continuous + 1} jumps",
            jump(motion, continuous + 1) > 1,
            f"{jump(motion, continuous + 1):.3g}",
        ),
    )
    says = "The profile is drawn and compared with its interpolation function and its printed peaks."
    return Outcome(says, checks, chosen=CHOSEN_MOVE, figures=((profiles({name.replace("_", "-"): motion}), caption),))


@chapter.item("fig. 8.1, 8.2", "Trajectories generated in the joint space and in the task space")
def figures_8_1_and_8_2() -> Outcome:
    robot = load("planar2r")
    dyn = compiled(robot)
    start, goal = np.array([0.3, 1.8]), np.array([1.2, 0.6])
    ends = [dyn.pose(x) for x in (start, goal)]
    joint = point_to_point(start, goal, "quintic", duration=1.0)
    straight = line(ends[0][:3, 3], ends[1][:3, 3], "quintic", duration=1.0)
    task = follow(robot, straight, start, rows="x y")
    t = np.linspace(0, 1, 201)
    paths = [dyn.pose(motion(t))[:, :2, 3] for motion in (joint, task)]
    along = (ends[1] - ends[0])[:2, 3] / np.linalg.norm((ends[1] - ends[0])[:2, 3])
    across = np.array([-along[1], along[0]])
    off = [float(np.abs((path - ends[0][:2, 3]) @ across).max()) for path in paths]
    back = point_to_point(goal, start, "quintic", duration=1.0)
    checks = (
        below("task space: the path is the straight line, m", off[1], 1e-9),
        Check("joint space: the path differs", off[0] > 0.01, f"off by {off[0]:.3g} m"),
        below("joint space: the path back is the same", distance(dyn.pose(back(1 - t))[:, :2, 3], paths[0]), 1e-12),
        below("both arrive at the goal", distance(task(1.0), goal), 1e-9),
    )
    lines = [
        Line(t, motion(t)[:, j], f"joint {j + 1}, {where}", style)
        for motion, where, style in ((joint, "joint space", "-"), (task, "task space", "--"))
        for j in (0, 1)
    ]
    drawn = [
        Line(path[:, 0], path[:, 1], where) for path, where in zip(paths, ("joint space", "task space"), strict=True)
    ]
    panels = (Axes("path of the tip", "x, m", "y, m", drawn, equal=True), Axes("joints", "time, s", "rad", lines))
    says = (
        "Both schemes move a planar arm between the same configurations; the remarks of the text on their paths are "
        "checked."
    )
    chosen = "The planar arm of Siciliano, start and goal. The figures are block diagrams."
    return Outcome(says, checks, chosen=chosen, figures=((chart(*panels), "Two ways to generate a motion"),))


def swaying(t: Any, order: int = 0) -> Array:
    """A moving target of two joints, and its derivatives."""
    t = np.asarray(t, dtype=float)[..., None]
    w, phase = np.array([0.7, 1.3]), np.array([0.2, 1.1])
    moved: Array = np.array([1.0, -0.4]) * (order == 0) + 0.3 * w**order * np.sin(w * t + phase + order * np.pi / 2)
    return moved


@chapter.item(
    "(8.1)-(8.3)",
    "Interpolation, also to a moving target",
    vouches=(point_to_point, follow_target, acceleration_constants),
)
def interpolated() -> Outcome:
    start, t = np.array([0.3, 0.9]), np.linspace(0, 2, 81)
    r, goal = printed_interpolation(t / 2)["quintic"][:, None], np.array([-0.5, 1.4])
    rate = ((30 * (t / 2) ** 2 - 60 * (t / 2) ** 3 + 30 * (t / 2) ** 4) / 2)[:, None]
    still, moving = (
        point_to_point(start, goal, "quintic", duration=2.0),
        follow_target(start, swaying, meet=2.0, duration=3.0),
    )
    D = swaying(0.0) - start
    late = np.linspace(2, 3, 21)
    strong = load("ur5").bound()
    limits = torque_limits(strong)
    angles: Any = np.random.default_rng(83).uniform(-np.pi, np.pi, (4000, 6))
    inertias = np.diagonal(np.asarray(kane.mass_matrix(strong, angles)), axis1=-2, axis2=-1)
    k_a, bound = acceleration_constants(compiled(strong)), limits / inertias.max(axis=0)
    checks = (
        below("(8.1): q = q_i + r D", distance(still(t), start + r * (goal - start)), 1e-14),
        below("(8.2): its velocity", distance(still(t, 1), rate * (goal - start)), 1e-13),
        below("(8.3): q = q_f(t) - (1 - r) D", distance(moving(t), swaying(t) - (1 - r) * D), 1e-14),
        below("its velocity", distance(moving(t, 1), swaying(t, 1) + rate * D), 1e-13),
        below("then along with the target", distance(moving(late), swaying(late)), 1e-14),
        Check(
            "k_a = largest torque / largest M_jj, at 4000 random configurations by Kane",
            bool((k_a <= bound * (1 + 1e-9)).all() and (k_a > 0.9 * bound).all()),
            f"{(k_a / bound).min():.3f} to {(k_a / bound).max():.3f} of them",
        ),
    )
    says = "A motion to a fixed goal and one to a moving target are compared with the formulas; k_a is that of the UR5."
    return Outcome(
        says, checks, chosen="Start, goal, target, quintic interpolation in 2 s, and the UR5 of the catalog."
    )


@chapter.item("fig. 8.3", "Cubic polynomial, (8.5)-(8.9)", vouches=(point_to_point,))
def figure_8_3() -> Outcome:
    outcome = fixed_shape("cubic", 1, "Cubic polynomial")
    motion = point_to_point([0.4], [-0.7], "cubic", duration=1.7)
    t, D, T = np.linspace(0, 1.7, 50), -1.1, 1.7
    printed = 0.4 + 3 / T**2 * D * t**2 - 2 / T**3 * D * t**3
    checks = (
        below("coefficients (8.6)", distance(motion(t)[:, 0], printed), 1e-14),
        below("velocity is largest at t_f/2", abs(abs(float(motion(T / 2, 1)[0])) - float(motion.peak(1)[0])), 1e-14),
        below(
            "acceleration is largest at the ends", abs(abs(float(motion(0.0, 2)[0])) - float(motion.peak(2)[0])), 1e-12
        ),
    )
    return Outcome(outcome.says, (*outcome.checks, *checks), chosen=outcome.chosen, figures=outcome.figures)


@chapter.item("fig. 8.4", "Quintic polynomial, (8.10)-(8.13)", vouches=(point_to_point,))
def figure_8_4() -> Outcome:
    return fixed_shape("quintic", 2, "Quintic polynomial")


def moves(n: int = 3) -> list[tuple[Array, Array, Array, Array]]:
    """Random (q0, q1, k_v, k_a)."""
    rng = np.random.default_rng(8)
    return [
        (rng.uniform(-2, 2, n), rng.uniform(-2, 2, n), rng.uniform(0.5, 3, n), rng.uniform(1, 9, n))
        for _ in range(RNG_MOVES)
    ]


@chapter.item("table 8.1", "Minimum travelling times, (8.14)", vouches=(point_to_point,))
def table_8_1() -> Outcome:
    errors: dict[str, list[float]] = {}
    for q0, q1, k_v, k_a in moves():
        for name, alone in printed_minimum_times(q1 - q0, k_v, k_a).items():
            motion = point_to_point(q0, q1, name, v_max=k_v, a_max=None if name == "linear" else k_a)
            errors.setdefault(name, []).append(abs(motion.duration / alone.max() - 1))
    checks = [
        below(f"{name.replace('_', '-')}, {RNG_MOVES} random motions of three joints", max(e), 1e-12)
        for name, e in errors.items()
    ]
    rows = []
    for name, time in printed_minimum_times(1.0, 2.0, 5.0).items():
        motion = point_to_point([0.0], [1.0], name, v_max=2.0, a_max=None if name == "linear" else 5.0)
        rows.append((name.replace("_", "-"), f"{float(time):.4f}", f"{motion.duration:.4f}"))
    heads = (Column("interpolation"), Column("formula", "s"), Column("ours", "s"))
    table = Section("|D| = 1 rad, k_v = 2 rad/s, k_a = 5 rad/s²", heads, tuple(rows))
    says = "The shortest motions within limits are compared with the formulas of the table."
    return Outcome(says, tuple(checks), tables=(table,))


@chapter.item("fig. 8.5", "Bang-bang acceleration, (8.15)-(8.17)", vouches=(point_to_point,))
def figure_8_5() -> Outcome:
    return fixed_shape("bang_bang", 1, "Bang-bang acceleration")


@chapter.item(
    "fig. 8.6", "Trapezoidal velocity and bang-bang acceleration, (8.18)", vouches=(point_to_point, Ramped.phases)
)
def figure_8_6() -> Outcome:
    limits = {"v_max": 1.0, "a_max": 4.0}
    both = {
        name: point_to_point([0.4], [1.4], key, **limits)
        for name, key in (("bang-bang", "bang_bang"), ("trapezoid", "trapezoid"))
    }
    times = {name: motion.duration for name, motion in both.items()}
    short = [point_to_point([0.4], [0.4 + 0.9 * 1 / 4], key, **limits) for key in ("bang_bang", "trapezoid")]
    peaks = [float(motion.peak(2)[0]) for motion in both.values()]
    checks = (
        Check(
            "the trapezoid is faster where |D| > k_v^2/k_a",
            times["trapezoid"] < times["bang-bang"],
            f"{times['trapezoid']:.4g} s, bang-bang {times['bang-bang']:.4g} s",
        ),
        below("the trapezoid's positions, (8.19)", ramped_errors("trapezoid")["positions"], 1e-9),
        below("the trapezoid uses the full acceleration", abs(peaks[1] - 4.0), 1e-12),
        Check("bang-bang does not reach it", peaks[0] < 4.0, f"{peaks[0]:.3g} of 4 rad/s²"),
        below("for |D| < k_v^2/k_a the durations are equal", abs(short[0].duration - short[1].duration), 1e-12),
    )
    chosen = "|D| = 1 rad, k_v = 1 rad/s, k_a = 4 rad/s²."
    figure = (profiles(both), "The same motion with both profiles")
    return Outcome("Both profiles are drawn for their minimum time.", checks, chosen=chosen, figures=(figure,))


def ramped_errors(name: str) -> dict[str, float]:
    """Largest relative differences between our motion and the printed formulas over random motions."""
    worst: dict[str, float] = {}
    for q0, q1, k_v, k_a in moves():
        V, A, tau, t_f = synchronised(q1 - q0, k_v, k_a, RAMPED[name])
        motion = point_to_point(q0, q1, name, v_max=k_v, a_max=k_a)
        t = np.linspace(0, t_f, 43)[1:-1, None]
        if name == "trapezoid":
            shape, compact = [printed_trapezoid(t, q0, q1, V, A, tau, t_f)], compact_trapezoid(t, tau, t_f)
        else:
            shape, compact = printed_smooth(t, q0, q1, V, tau, t_f), compact_smooth(t, tau, t_f)
        found = {
            "travelling time": abs(motion.duration / t_f - 1),
            "largest velocities": distance(motion.peak(1), V),
            "largest accelerations": distance(motion.peak(2), A),
            "the compact form": distance(motion(t[:, 0]), q0 + compact * (q1 - q0)),
            "homothetic velocities": distance(motion(t[:, 0], 1) * (q1 - q0)[0], motion(t[:, 0], 1)[:, :1] * (q1 - q0)),
        }
        for order, (label, printed) in enumerate(
            zip(("positions", "velocities", "accelerations"), shape, strict=False)
        ):
            found[label] = distance(motion(t[:, 0], order), printed)
        worst = {key: max(value, worst.get(key, 0.0)) for key, value in found.items()}
    return worst


@chapter.item("fig. 8.7", "Trapezoidal velocity, (8.19)-(8.22)", vouches=(point_to_point, Ramped.phases))
def figure_8_7() -> Outcome:
    errors = ramped_errors("trapezoid")
    motion = point_to_point([0.0], [1.0], "trapezoid", v_max=1.0, a_max=4.0)
    wanted = ("positions", "travelling time", "the compact form")
    checks = (
        *(below(f"{name}, {RNG_MOVES} random motions", errors[name], 1e-9) for name in wanted),
        below("(8.22): t_f = tau + |D|/k_v", abs(motion.duration - (0.25 + 1.0)), 1e-12),
        below("(8.21): area under the velocity", abs(1.0 * motion.duration - 1 / 4 - 1.0), 1e-12),
    )
    figure = (profiles({"trapezoid": motion}), "Trapezoidal velocity, with k_v = 1 rad/s and k_a = 4 rad/s²")
    return Outcome(
        "The profile is drawn; the formulas are checked on random motions.",
        checks,
        chosen="The motion and its limits.",
        figures=(figure,),
    )


@chapter.item("fig. 8.8", "Homothetic velocity profiles, (8.23)-(8.35)", vouches=(point_to_point, Ramped.phases))
def figure_8_8() -> Outcome:
    errors = ramped_errors("trapezoid")
    q1, k_v, k_a = np.array([1.0, -0.6]), np.array([1.0, 1.2]), np.array([4.0, 2.0])
    motion = point_to_point(np.zeros(2), q1, "trapezoid", v_max=k_v, a_max=k_a)
    alone = [
        point_to_point([0.0], [x], "trapezoid", v_max=v, a_max=a).duration for x, v, a in zip(q1, k_v, k_a, strict=True)
    ]
    wanted = ("positions", "largest velocities", "largest accelerations", "homothetic velocities")
    checks = (
        *(below(f"{name}, {RNG_MOVES} random motions of three joints", errors[name], 1e-8) for name in wanted),
        Check(
            "no joint alone would need longer than all together",
            motion.duration >= max(alone) - 1e-12,
            f"{motion.duration:.4g} s; alone {alone[0]:.4g} s and {alone[1]:.4g} s",
        ),
    )
    figure = (profiles({"synchronised": motion}), "Two joints with the same acceleration time")
    return Outcome(
        "Synchronised motions are compared with the printed rule.",
        checks,
        chosen="The motion and its limits.",
        figures=(figure,),
    )


@chapter.item(
    "fig. 8.9", "Continuous acceleration with constant velocity, (8.36)-(8.47)", vouches=(point_to_point, Ramped.phases)
)
def figure_8_9() -> Outcome:
    errors = ramped_errors("smooth")
    limits = {"v_max": 1.0, "a_max": 4.0}
    names = {"trapezoid": "trapezoid", "a) second degree": "smooth", "b) trapezoidal": "smooth_trapezoid"}
    motions = {label: point_to_point([0.0], [1.0], key, **limits) for label, key in names.items()}
    smooth = motions["a) second degree"]
    tau = 1.5 / 4
    checks = (
        *(below(f"{name}, {RNG_MOVES} random motions", error, 1e-8) for name, error in errors.items()),
        below("(8.41): 1.5 times the acceleration time of the trapezoid", abs(smooth.duration - (tau + 1.0)), 1e-12),
        below("(8.44): distance covered while accelerating", abs(float(smooth(tau)[0]) - 0.75 / 4), 1e-12),
        *(below(f"{label}: jumps of the acceleration", jump(motions[label], 2), 1e-6) for label in list(names)[1:]),
    )
    figure = (profiles(motions), "The trapezoidal profile and its two modifications")
    says = "Both modifications are drawn; the first, which the text details, is compared with all its formulas."
    return Outcome(says, checks, chosen="The motions and their limits.", figures=(figure,))
