"""Khalil, sec. 7.5 and 7.6: how the operations grow with the joints, and what neglecting velocity terms does."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from armdyn.formats import load
from armdyn.graph import trace
from armdyn.mechanics import articulated_body, composite_body, lagrange_euler, newton_euler
from armdyn.report.figures.charts import Axes, Line, chart
from armdyn.robot.random import random_robot
from armdyn.tables import Column, Section
from armdyn.texts.item import Chapter, Claim, Outcome, below
from armdyn.trajectory.joint import point_to_point
from armdyn.typing import Array

chapter = Chapter("khalil")

SIZES = (2, 4, 8, 16, 32, 64)
FEW = (2, 4, 8, 16)
"""For methods whose programs grow with the cube of the joints and faster."""
INVERSE = ("q", "qd", "qdd")
FORWARD = ("q", "qd", "tau")
METHODS: dict[str, tuple[Callable[..., Any], tuple[str, ...], tuple[int, ...]]] = {
    "inverse dynamics, Newton-Euler": (newton_euler.inverse_dynamics, INVERSE, SIZES),
    "inverse dynamics, Lagrange-Euler": (lagrange_euler.inverse_dynamics, INVERSE, FEW[:3]),
    "forward dynamics, recursion of sec. 7.6.2": (articulated_body.forward_dynamics, FORWARD, SIZES),
    "forward dynamics, inertia matrix": (composite_body.forward_dynamics, FORWARD, FEW),
}
"""Function, inputs, and the numbers of joints for which it is counted."""
LINEAR = ("inverse dynamics, Newton-Euler", "forward dynamics, recursion of sec. 7.6.2")


def arm(n: int) -> Any:
    """A general arm of revolute joints, in numbers: joint after joint asks for the same operations."""
    return random_robot(3, n, convention="modified", prismatic=0.0, tilted_base=False, tool=False).bound()


@cache
def operations(name: str, n: int) -> int:
    """Operations of a method for n joints."""
    function, inputs, _ = METHODS[name]
    robot = arm(n)
    return trace(lambda *state: function(robot, *state), dict.fromkeys(inputs, n)).operations.total


SPREAD = 0.02
"""Of the operations per joint: in an arm of random numbers a few products vanish by chance."""


def per_joint(name: str) -> Array:
    """Operations per further joint, from one size to the next; the first joints cost less."""
    sizes = SIZES[1:]
    return np.diff([operations(name, n) for n in sizes]) / np.diff(sizes)


def exponent(sizes: tuple[int, ...], amounts: list[float]) -> float:
    """The power of n between the last two sizes."""
    return float(np.log(amounts[-1] / amounts[-2]) / np.log(sizes[-1] / sizes[-2]))


def seconds(name: str, n: int) -> float:
    """Processor time of one evaluation in Python, the shortest of three."""
    function, inputs, _ = METHODS[name]
    robot, state = arm(n), np.random.default_rng(1).uniform(-1, 1, (len(inputs), n)).tolist()
    spent = []
    for _ in range(3):
        begin = time.process_time()
        function.formula(robot, *state)  # type: ignore[attr-defined]
        spent.append(time.process_time() - begin)
    return min(spent)


def cubic(counts: list[int]) -> bool:
    """Whether counts for consecutive numbers of joints are a polynomial of degree three."""
    return bool((np.diff(counts, 4) == 0).all() and (np.diff(counts, 3) != 0).all())


@chapter.item("sec. 7.5.1", "Growth of the operations with the joints, and velocity terms that are neglected")
def growth() -> Outcome:
    counted = {name: [operations(name, n) for n in sizes] for name, (_, _, sizes) in METHODS.items()}
    spent = {name: [seconds(name, n) for n in sizes] for name, (_, _, sizes) in METHODS.items()}
    steps = {name: per_joint(name) for name in LINEAR}
    by_matrix = [operations("forward dynamics, inertia matrix", n) for n in range(4, 10)]
    flipped, worst = wrong_signs()
    shares = speeds()
    checks = (
        below("Hollerbach: share of the velocity terms, at 0.2, 1 and 5 times the speed", float(np.ptp(shares)), 1e-9),
    )
    claims = (
        *(
            Claim(
                f"{name}: of order n",
                f"{', '.join(f'{x:.4g}' for x in steps[name])} operations per further joint from 4 to 8, 8 to 16, 16 "
                "to 32 and 32 to 64 joints",
                bool(np.ptp(steps[name]) <= SPREAD * steps[name].mean()),
            )
            for name in LINEAR
        ),
        Claim(
            "forward dynamics with the inverse of the inertia matrix: of order n^3",
            "counts for 4 to 9 joints are a polynomial of degree three"
            if cubic(by_matrix)
            else f"counts for 4 to 9 joints: {', '.join(map(str, by_matrix))}",
            cubic(by_matrix),
        ),
        Claim(
            "Luh: neglecting Coriolis and centrifugal terms leads to large errors, also in the sign of the torques",
            f"{100 * flipped:.0f} % of the torques of the RX-90 have the wrong sign; the largest error is {worst:.2f} "
            "times the largest torque of that joint",
            flipped > 0.01,
        ),
        Claim(
            "Hollerbach: velocity terms have the same significance relative to the acceleration terms at any speed",
            f"{100 * shares[0]:.1f} % of the moving torques, at every speed",
            bool(np.ptp(shares) < 1e-9),
        ),
    )
    heads = ("method", *map(str, SIZES), "power of n")
    rows = tuple(
        (
            name,
            *(f"{x}" for x in counts),
            *[""] * (len(SIZES) - len(counts)),
            f"{exponent(METHODS[name][2], list(map(float, counts))):.2f}",
        )
        for name, counts in counted.items()
    )
    timed = tuple(
        (
            name,
            *(f"{1e3 * x:.3g}" for x in times),
            *[""] * (len(SIZES) - len(times)),
            f"{exponent(METHODS[name][2], times):.2f}",
        )
        for name, times in spent.items()
    )
    lines = [Line(METHODS[name][2], counts, name, "o-") for name, counts in counted.items()]
    svg = chart(Axes("Operations", "joints", "operations", lines, log=True))
    tables = (
        Section(
            "Operations for n joints", tuple(map(Column, heads)), rows, "General arms of revolute joints, in numbers."
        ),
        Section("Evaluated in Python, ms", tuple(map(Column, heads)), timed, "Of this run; no verdict rests on times."),
    )
    return Outcome(
        "Programs for general arms of up to 64 joints are counted and timed; torques of the RX-90 are computed with "
        "and without velocity terms at random states, and along one motion at three speeds.",
        checks,
        chosen="General arms of revolute joints; the inertial parameters, states and motion of the RX-90.",
        tables=tables,
        figures=((svg, "Operations by the number of joints."),),
        claims=claims,
    )


def wrong_signs() -> tuple[float, float]:
    """Share of torques whose sign changes without velocity terms, and their largest error over the largest torque."""
    robot = load("rx90").without("friction")
    rng = np.random.default_rng(75)
    q, qd, qdd = (rng.uniform(-x, x, (400, 6)) for x in (np.pi, 5.0, 20.0))
    whole = np.asarray(newton_euler.inverse_dynamics(robot, q, qd, qdd))
    part = whole - np.asarray(newton_euler.coriolis(robot, q, qd))
    error = np.abs(whole - part).max(axis=0) / np.abs(whole).max(axis=0)
    return float((whole * part < 0).mean()), float(error.max())


def speeds() -> Array:
    """Velocity terms over all moving torques (Euclidean norms along a motion), at 0.2, 1 and 5 times its speed."""
    robot = load("rx90").without("friction", "gravity")
    found = []
    for factor in (0.2, 1.0, 5.0):
        move = point_to_point(np.zeros(6), np.array([1.0, 0.8, -0.9, 0.7, -0.6, 0.5]), "quintic", duration=1.0 / factor)
        t = np.linspace(0, move.duration, 201)
        q, qd, qdd = (move(t, k) for k in range(3))
        velocity = np.asarray(newton_euler.coriolis(robot, q, qd))
        inertial = np.asarray(newton_euler.inverse_dynamics(robot, q, qd, qdd)) - velocity
        sizes = np.linalg.norm(velocity), np.linalg.norm(inertial)
        found.append(sizes[0] / (sizes[0] + sizes[1]))
    return np.array(found)
