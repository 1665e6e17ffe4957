"""Truc sec. 5: the three-link manipulator under feedforward alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp

from armdyn.catalog.curves import Swing
from armdyn.control.base import Desired
from armdyn.control.computed_torque import Feedforward
from armdyn.errors import MissingExtra
from armdyn.formats import load
from armdyn.graph import evaluate, trace
from armdyn.kernels import build
from armdyn.mechanics import kronecker
from armdyn.mechanics.matrices import plus, times
from armdyn.report.figures.charts import Axes, chart, series
from armdyn.speed.engines.pinocchio import PinocchioEngine
from armdyn.texts.item import Chapter, Check, Claim, Outcome, aside, below, distance, near
from armdyn.texts.other_model import OtherModel
from armdyn.texts.truc import printed as text
from armdyn.typing import Array

chapter = Chapter("truc")
Plant = Callable[[Array, Array, Array], Array]
"""Accelerations of an arm, (3,), as a function of q, qd and tau."""
JOINTS = ("waist", "shoulder", "elbow")


@cache
def feedforward() -> Feedforward:
    """(72), without feedback, with M of (28), C of (52) and g of (45)."""
    robot = load("three_link")

    def torques(q: Any, qd: Any, qdd: Any) -> Any:
        M, C = kronecker.mass_matrix(robot, q), kronecker.coriolis_matrix(robot, q, qd)
        return plus(times(M, qdd), times(C, qd), kronecker.gravity(robot, q))

    model: Any = OtherModel(robot, torques)
    return Feedforward(model)


def law(t: Any) -> Array:
    """The torques of (72) at times t; the measured state plays no part."""
    swing = Swing()
    desired = Desired(*(swing(t, k) for k in range(3)))
    return feedforward()(t, desired.q, desired.qd, desired)


@cache
def printed_terms() -> Any:
    """M, C, g of (64)-(69) with the data of (71), as a function of q and qd."""

    def terms(q: Any, qd: Any) -> Any:
        state = dict(zip((*text.q, *text.qd), (*q, *qd), strict=True))
        found = text.inertia_matrix(), text.coriolis_matrix(), text.gravity()
        return dict(zip("MCg", evaluate(found, {**load("three_link").parameters, **state}), strict=True))

    return build(trace(terms, {"q": 3, "qd": 3}), "printed_three_link")


def printed_arm(q: Array, qd: Array, tau: Array) -> Array:
    """Accelerations of the arm of (64)-(69)."""
    M, C, g = printed_terms()(q, qd)
    return np.asarray(np.linalg.solve(M, tau - C @ qd - g))


def plants() -> dict[str, Plant]:
    """Arms that share no code with the law: Pinocchio's, where it is installed, and that of (64)-(69)."""
    found: dict[str, Plant] = {"printed equations": printed_arm}
    try:
        engine = PinocchioEngine(load("three_link"))
    except MissingExtra:
        return found

    def accelerations(q: Array, qd: Array, tau: Array) -> Array:
        return np.array(engine.pin.aba(engine.model, engine.data, q, qd, tau))

    return {"Pinocchio": accelerations, **found}


def deviations(plant: Plant) -> tuple[Array, Array]:
    """Times, and deviations of an arm under (72) from the reference.

    The deviation itself is integrated: rounding of the positions then does not hide what the two models differ in.
    """
    swing = Swing()

    def rates(t: float, off: Array) -> Array:
        at, rate, acceleration = (swing(t, k) for k in range(3))
        qdd = plant(at + off[:3], rate + off[3:], law(t))
        return np.concatenate([off[3:], qdd - acceleration])

    t = np.linspace(0, swing.duration, 501)
    found = solve_ivp(rates, (0, swing.duration), np.zeros(6), "DOP853", t, max_step=0.01, rtol=1e-6, atol=1e-10)
    return t, found.y[:3].T


def _feedback() -> Check:
    """What feedback adds to (72) at a random state, against its formula; the text has none."""
    rng = np.random.default_rng(72)
    q, qd, *reference = rng.uniform(-1, 1, (5, 3))
    desired, (kp, kd) = Desired(*reference), rng.uniform(1, 9, (2, 3))
    held, bare = (law(0.0, q, qd, desired) for law in (replace(feedforward(), kp=kp, kd=kd), feedforward()))
    printed = kp * (desired.q - q) + kd * (desired.qd - qd)
    return below("feedback, which the text leaves out, adds k_p e + k_d de/dt", distance(held - bare, printed), 1e-13)


@chapter.item(
    "fig. 5",
    "Input torques of the feedforward controller",
    vouches=(Feedforward, kronecker.mass_matrix, kronecker.coriolis_matrix, kronecker.gravity),
)
def figure_5() -> Outcome:
    swing = Swing()
    t = np.linspace(0, swing.duration, 1001)
    q, qd, qdd = (swing(t, k) for k in range(3))
    tau = law(t)
    M, C, g = printed_terms()(q, qd)
    printed = np.einsum("kij,kj->ki", M, qdd) + np.einsum("kij,kj->ki", C, qd) + g
    svg = chart(Axes("Torques (72) on the reference (73)", "t (s)", "tau (N m)", series(t, tau, JOINTS)))
    return Outcome(
        "The torques of (72) along (73) with the data of (71): the law Feedforward with M of (28), C of (52) and g of "
        "(45), and the printed entries (64)-(69).",
        checks=(
            below("torques for 5 s against (64)-(69)", distance(tau, printed), 1e-12),
            aside(_feedback()),
        ),
        unprinted="The figure is a picture without numbers.",
        figures=((svg, "Input torques; compare fig. 5 of the text."),),
    )


@chapter.item(
    "fig. 6",
    "References, responses and tracking errors under feedforward alone",
    vouches=(Feedforward, kronecker.mass_matrix, kronecker.coriolis_matrix, kronecker.gravity),
)
def figure_6() -> Outcome:
    runs = {name: deviations(plant) for name, plant in plants().items()}
    shown, (t, off) = next(iter(runs.items()))
    desired = Swing()(t)
    q, error = desired + off, -off
    peaks = np.abs(q).max(axis=0)
    sizes = {name: float(np.abs(each).max()) for name, (_, each) in runs.items()}
    found = ", ".join(f"{size:.2g} rad with {name}" for name, size in sizes.items())
    svg = chart(
        Axes(
            "(a) reference (pale) and response",
            "t (s)",
            "q (rad)",
            [*series(t, desired, ("", "", ""), wide=True), *series(t, q, JOINTS)],
        ),
        Axes("(b) tracking error", "t (s)", "e (rad)", series(t, error, JOINTS)),
    )
    return Outcome(
        "The law (72) has M, C, g of (28), (52), (45) as its model; the arm that it drives shares no code with it: "
        f"{shown}"
        f"{' (Pinocchio is not installed)' if len(runs) == 1 else ', and again the printed equations (64)-(69)'}. The "
        "deviation from the reference is integrated by a Runge-Kutta method of order 8. Nothing corrects the arm: only "
        "two equal models keep it on the reference, and errors grow.",
        checks=(
            aside(_feedback()),
            *(
                near(f"largest angle of {name}, rad", float(peak), expected, 1e-6)
                for name, peak, expected in zip(JOINTS, peaks, (2.0, 1.5, 1.0), strict=True)
            ),
        ),
        claims=(
            Claim(
                "the tracking errors are not greater than 1e-12 rad",
                f"{found}, within {t[-1]:g} s",
                max(sizes.values()) <= 1e-12,
            ),
        ),
        chosen="Duration (5 s), integrator and step (10 ms). The text's plant is Simscape Multibody.",
        figures=((svg, f"References, responses, and errors of the arm of {shown}."),),
    )
