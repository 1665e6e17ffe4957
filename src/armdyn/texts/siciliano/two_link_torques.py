"""Siciliano, Example 7.2: torques of the planar arm along three motions, fig. 7.5 to 7.11."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from armdyn.dynamics import compile as compiled
from armdyn.formats import load
from armdyn.motion.torques import TorqueBreakdown
from armdyn.report.figures.style import DARK, as_svg
from armdyn.report.figures.torque_figures import contributions_figure, motion_figure, tip_figure
from armdyn.texts.item import Chapter, Check, Outcome, below, distance, equal
from armdyn.texts.siciliano.example_7_2 import (
    MOTIONS,
    different_durations,
    equal_durations,
    example_7_2,
    straight_line,
)
from armdyn.typing import Array

chapter = Chapter("siciliano")

DATA = {"a": 1, "l": 0.5, "ml": 50, "Il": 10, "kr": 100, "mm": 5, "Im": 0.01}
"""The same for both links and motors; g is not given."""
G = 9.81
CHOSEN = "g = 9.81 m/s². The figures have no numbers, so the remarks of the text and closed forms are compared."
MARGIN = 1e-11
"""Rounding of torques, relative to the largest one."""


def printed_terms(q: Array, qd: Array, qdd: Array) -> dict[str, Array]:
    """(7.82), term by term, with the data of the example."""
    a, l, ml, Il, kr, mm, Im = (float(DATA[name]) for name in ("a", "l", "ml", "Il", "kr", "mm", "Im"))
    s2, c2, c1, c12 = np.sin(q[:, 1]), np.cos(q[:, 1]), np.cos(q[:, 0]), np.cos(q[:, 0] + q[:, 1])
    b11 = Il + ml * l**2 + kr**2 * Im + Il + ml * (a**2 + l**2 + 2 * a * l * c2) + Im + mm * a**2
    b12 = Il + ml * (l**2 + a * l * c2) + kr * Im
    h = -ml * a * l * s2
    return {
        "inertia 11": b11 * qdd[:, 0],
        "inertia 12": b12 * qdd[:, 1],
        "inertia 21": b12 * qdd[:, 0],
        "inertia 22": own_inertia() * qdd[:, 1],
        "centrifugal 12": h * qd[:, 1] ** 2,
        "centrifugal 21": -h * qd[:, 0] ** 2,
        "Coriolis 1": 2 * h * qd[:, 0] * qd[:, 1],
        "gravity 1": (ml * l + mm * a + ml * a) * G * c1 + ml * l * G * c12,
        "gravity 2": ml * l * G * c12,
    }


def own_inertia() -> float:
    """b22 of the example, kg m^2."""
    return float(DATA["Il"] + DATA["ml"] * DATA["l"] ** 2 + DATA["kr"] ** 2 * DATA["Im"])


def found_terms(parts: TorqueBreakdown) -> dict[str, Array]:
    """Our contributions under the same names."""
    return {
        "inertia 11": parts.inertia[:, 0, 0],
        "inertia 12": parts.inertia[:, 0, 1],
        "inertia 21": parts.inertia[:, 1, 0],
        "inertia 22": parts.inertia[:, 1, 1],
        "centrifugal 12": parts.centrifugal[:, 0, 1],
        "centrifugal 21": parts.centrifugal[:, 1, 0],
        "Coriolis 1": parts.coriolis[:, 0, 0],
        "gravity 1": parts.gravity[:, 0],
        "gravity 2": parts.gravity[:, 1],
    }


AT_JOINT = (
    ("inertia 11", "inertia 12", "centrifugal 12", "Coriolis 1", "gravity 1"),
    ("inertia 21", "inertia 22", "centrifugal 21", "gravity 2"),
)


@lru_cache(maxsize=3)
def torques(name: str) -> TorqueBreakdown:
    return example_7_2(name)


def total_error(name: str) -> float:
    """Largest relative difference between our torques and the sum of (7.82)."""
    parts = torques(name)
    terms = printed_terms(parts.q, parts.qd, parts.qdd)
    total = np.stack([sum(terms[key] for key in keys) for keys in AT_JOINT], axis=1)
    return distance(parts.tau, total)


def contribution_checks(name: str) -> list[Check]:
    parts = torques(name)
    size, terms, ours = float(np.abs(parts.tau).max()), printed_terms(parts.q, parts.qd, parts.qdd), found_terms(parts)
    worst = max(float(np.abs(ours[key] - terms[key]).max()) for key in terms) / size
    alone = float(np.abs(parts.centrifugal[:, [0, 1], [0, 1]]).max()) / size
    return [
        below("all contributions against the terms of (7.82), relative", worst, MARGIN),
        below("centrifugal effects of a joint on itself, relative", alone, MARGIN),
        below("Coriolis effect at joint 2, relative", float(np.abs(parts.coriolis[:, 1]).max()) / size, MARGIN),
    ]


def outcome(says: str, checks: list[Check], figure: Any, caption: str) -> Outcome:
    drawn = as_svg(figure).replace(DARK, "currentColor")
    return Outcome(says, tuple(checks), chosen=CHOSEN, figures=((drawn, caption),))


def tip_at(q: Any) -> Array:
    place: Array = compiled(load("planar2r")).pose(q)[..., :2, 3]
    return place


@chapter.item("Example 7.2", "Data of the planar arm")
def data() -> Outcome:
    values = load("planar2r").parameters
    checks = [equal(f"{name}1, {name}2", (values[f"{name}1"], values[f"{name}2"]), (x, x)) for name, x in DATA.items()]
    worst = max(total_error(name) for name in MOTIONS)
    checks.append(below("torques of the three motions against (7.82)", worst, MARGIN))
    says = "The arm of the catalog has the printed data, and its torques are those of (7.82)."
    return Outcome(says, tuple(checks), chosen="The text gives no g; 9.81 m/s².")


# Equal durations ----------------------------------------------------------------------------------------------------


@chapter.item("fig. 7.5", "Motion and torques, equal durations")
def figure_7_5() -> Outcome:
    move = equal_durations()
    start = move(0.0)
    checks = [
        below("the tip starts at (0.2, 0) m", float(np.abs(tip_at(start) - [0.2, 0]).max()), 1e-12),
        Check("elbow below the line to the tip", start[0] < 0 < start[1], f"q = {start[0]:.4f}, {start[1]:.4f} rad"),
        below("both joints rotate by pi/2", float(np.abs(move(0.5) - start - np.pi / 2).max()), 1e-12),
        below("in 0.5 s", abs(move.duration - 0.5), 1e-15),
        below("triangular velocity: peak from the distance", float(np.abs(move.peak(1) - 2 * np.pi).max()), 1e-12),
        below(
            "accelerations of 8 pi, then -8 pi rad/s²",
            float(np.abs(move([0.1, 0.4], 2) - 8 * np.pi * np.array([[1.0], [-1.0]])).max()),
            1e-11,
        ),
        below("torques against (7.82)", total_error("equal durations"), MARGIN),
    ]
    parts = torques("equal durations")
    says = "The positions, velocities, accelerations and torques of the motion are drawn and checked."
    return outcome(says, checks, motion_figure(parts), "Both joints rotate by pi/2 in 0.5 s")


@chapter.item("fig. 7.6", "Torque contributions, equal durations")
def figure_7_6() -> Outcome:
    parts = torques("equal durations")
    signs = np.sign(parts.inertia[:, 0, 0]) == np.sign(parts.qdd[:, 0])
    early, late = parts.t < 0.25 - 1e-6, parts.t > 0.25 + 1e-6
    flat = max(float(np.ptp(parts.inertia[part, 1, 1])) for part in (early, late))
    zero = parts.t[np.flatnonzero(parts.coriolis[:-1, 0, 0] * parts.coriolis[1:, 0, 0] < 0)]
    passes = float(np.sqrt((np.pi - 2 * np.arccos(0.1)) / (4 * np.pi)))  # s2 = 0 where joint 2 passes pi
    checks = [
        *contribution_checks("equal durations"),
        Check("inertia torque 11 has the sign of the acceleration", bool(signs.all()), f"at all {len(signs)} samples"),
        below("inertia torque 22 is piecewise constant, N m", flat, 1e-8),
        below("its magnitude is 8 pi b22", abs(float(parts.inertia[0, 1, 1]) - own_inertia() * 8 * np.pi), 1e-8),
        below("inertia torques 12 and 21 are equal", distance(parts.inertia[:, 0, 1], parts.inertia[:, 1, 0]), 1e-12),
        Check(
            "the Coriolis effect acts at joint 1",
            float(np.abs(parts.coriolis[:, 0]).max()) > 1000,
            f"up to {np.abs(parts.coriolis[:, 0]).max():.0f} N m",
        ),
        below(
            "centrifugal torques are opposite", distance(parts.centrifugal[:, 0, 1], -parts.centrifugal[:, 1, 0]), 1e-12
        ),
        below("Coriolis effects vanish where s_2 = 0, s", abs(float(zero[0]) - passes), 1e-3),
    ]
    says = "Each contribution is drawn, and the remarks of the text are checked one by one."
    return outcome(says, checks, contributions_figure(parts), "Contributions to the torques at the two joints")


# Different durations ------------------------------------------------------------------------------------------------


def ends() -> tuple[float, float]:
    """Times at which the joints arrive, s: distance / velocity + acceleration time."""
    turn = float(np.arccos(0.1) - np.arccos(0.9))
    return turn / 5 + 0.15, 2 * turn / 5 + 0.15


@chapter.item("fig. 7.7", "Motion and torques, different durations")
def figure_7_7() -> Outcome:
    move = different_durations()
    first, last = ends()
    standing = move(np.linspace(first, last, 9)[1:-1], 1)[:, 0]
    checks = [
        below("the tip starts at (0.2, 0) m", float(np.abs(tip_at(move(0.0)) - [0.2, 0]).max()), 1e-12),
        below("the tip ends at (1.8, 0) m", float(np.abs(tip_at(move(move.duration)) - [1.8, 0]).max()), 1e-12),
        below("largest velocities of 5 rad/s", float(np.abs(move.peak(1) - 5).max()), 1e-12),
        below("after 0.15 s", float(np.abs(move.peak(2) - 5 / 0.15).max()), 1e-10),
        below("durations from distance, velocity and acceleration time, s", abs(move.duration - last), 1e-12),
        below("joint 1 is at rest after its own duration, rad/s", float(np.abs(standing).max()), 1e-12),
        below("torques against (7.82)", total_error("different durations"), MARGIN),
    ]
    parts = torques("different durations")
    says = "The positions, velocities, accelerations and torques of the motion are drawn and checked."
    return outcome(
        says, checks, motion_figure(parts), f"Joint 1 arrives after {first:.3f} s, joint 2 after {last:.3f} s"
    )


@chapter.item("fig. 7.8", "Torque contributions, different durations")
def figure_7_8() -> Outcome:
    parts = torques("different durations")
    first, _ = ends()
    opposite = np.isclose(parts.qdd[:, 0], -parts.qdd[:, 1]) & (parts.qdd[:, 0] != 0)
    pair = parts.inertia[opposite]
    size = float(np.abs(parts.tau).max())
    over = [
        float(parts.t[np.abs(c) > 1e-9 * size][-1]) for c in (parts.centrifugal[:, 0, 1], parts.centrifugal[:, 1, 0])
    ]
    early = parts.t < first - 0.15
    weight = parts.gravity
    checks = [
        *contribution_checks("different durations"),
        Check("opposite accelerations", bool(opposite.mean() > 0.2), f"{100 * opposite.mean():.0f} % of the time"),
        below("inertia torques 12 and 21 are opposite then", distance(pair[:, 0, 1], -pair[:, 1, 0]), 1e-11),
        Check(
            "the centrifugal effect at joint 1 dies out later",
            over[0] > over[1] + 0.1,
            f"at {over[0]:.3f} s, at joint 2 at {over[1]:.3f} s",
        ),
        below(
            "change of gravity at joint 2 while the joint velocities are opposite",
            float(np.ptp(weight[early, 1])),
            1e-6,
        ),
        Check("it changes later", float(np.ptp(weight[:, 1])) > 50, f"by {np.ptp(weight[:, 1]):.0f} N m"),
        Check(
            "gravity at joint 1 grows as the arm stretches",
            bool((np.diff(weight[:, 0]) > -1e-6).all()),
            f"from {weight[0, 0]:.0f} to {weight[-1, 0]:.0f} N m",
        ),
    ]
    says = "Each contribution is drawn, and the remarks of the text are checked one by one."
    return outcome(says, checks, contributions_figure(parts), "Contributions to the torques at the two joints")


# Straight line ------------------------------------------------------------------------------------------------------


def tip_speed(t: Array, duration: float) -> Array:
    """The trapezoidal profile of fig. 7.9."""
    return np.minimum(np.minimum(t, duration - t) * 5 / 0.15, 5.0)


@chapter.item("fig. 7.9", "Motion of the tip on a straight line")
def figure_7_9() -> Outcome:
    move = straight_line()
    t = np.linspace(0, move.duration, 201)
    q, qd = move(t), move(t, 1)
    tip = tip_at(q)
    velocity = np.einsum("kij,kj->ki", compiled(load("planar2r")).jacobian(q), qd)[:, :2]
    checks = [
        below("1.6 m, from (0.2, 0)", float(np.abs(tip[[0, -1]] - [[0.2, 0], [1.8, 0]]).max()), 1e-9),
        below("off the horizontal axis, m", float(np.abs(tip[:, 1]).max()), 1e-9),
        below(
            "duration from distance, velocity and acceleration time, s", abs(move.duration - (1.6 / 5 + 0.15)), 1e-12
        ),
        below(
            "trapezoidal velocity along x, m/s", float(np.abs(velocity[:, 0] - tip_speed(t, move.duration)).max()), 1e-8
        ),
        Check(
            "elbow below the line throughout",
            bool((q[:, 0] < 0).all() and (q[:, 1] > 0).all()),
            f"q_1 at most {q[:, 0].max():.3f}, q_2 at least {q[:, 1].min():.3f} rad",
        ),
    ]
    parts = torques("straight line")
    return outcome(
        "The position, velocity and acceleration of the tip are drawn and checked.",
        checks,
        tip_figure(parts),
        "The tip moves by 1.6 m",
    )


@chapter.item("fig. 7.10", "Joint motion and torques on a straight line")
def figure_7_10() -> Outcome:
    parts = torques("straight line")
    middle = (parts.t > 0.16) & (parts.t < parts.t[-1] - 0.16)
    varies = float(np.ptp(parts.qd[middle], axis=0).min())
    checks = [
        below("torques against (7.82)", total_error("straight line"), MARGIN),
        Check("joint velocities vary while the speed of the tip is constant", varies > 0.5, f"by {varies:.2g} rad/s"),
        below(
            "q_2 = -2 q_1, since the links are equal, rad", float(np.abs(parts.q[:, 1] + 2 * parts.q[:, 0]).max()), 1e-9
        ),
    ]
    says = "The joint motion follows by inverse kinematics of the straight line, the torques from it."
    return outcome(says, checks, motion_figure(parts), "The straight line at the joints")


@chapter.item("fig. 7.11", "Torque contributions on a straight line")
def figure_7_11() -> Outcome:
    parts = torques("straight line")
    checks = [
        *contribution_checks("straight line"),
        Check(
            "gravity at joint 1 grows as the arm stretches",
            bool((np.diff(parts.gravity[:, 0]) > -1e-6).all()),
            f"from {parts.gravity[0, 0]:.0f} to {parts.gravity[-1, 0]:.0f} N m",
        ),
    ]
    says = "Each contribution is drawn and compared with its term in (7.82)."
    return outcome(says, checks, contributions_figure(parts), "Contributions to the torques at the two joints")
