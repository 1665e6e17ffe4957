"""El Baji, section 5.3: the SCARA arm under computed torque."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from armdyn.catalog.curves import SCARA_RATE, SCARA_START, ScaraCurve
from armdyn.control import ComputedTorque, Formulated
from armdyn.dynamics import compile as compiled_dynamics
from armdyn.equations import derive
from armdyn.graph import evaluate, lambdified, trace
from armdyn.kernels import build
from armdyn.mechanics import kane
from armdyn.mechanics.registry import formulation
from armdyn.report.figures.charts import Axes, Line, chart, series
from armdyn.report.figures.style import GREY
from armdyn.robot.parts import Friction
from armdyn.simulation.run import Run
from armdyn.simulation.settings import Plant, Solver
from armdyn.simulation.simulator import simulate
from armdyn.simulation.studies import imperfect_models, scaled_masses
from armdyn.tables import Column, Section
from armdyn.texts.elbaji import printed as text
from armdyn.texts.elbaji.scara_tracking import PRINTED, SCARA_KD, SCARA_KP, printed_model, scara_tracking
from armdyn.texts.elbaji.sections_2_to_4 import G, dynamics, scara
from armdyn.texts.elbaji.sections_5_1_and_5_2 import JOINTS, medians
from armdyn.texts.item import Chapter, Check, Claim, Outcome, below, distance, equal, floats, near
from armdyn.texts.other_model import OtherModel, computed_torque_by_hand
from armdyn.trajectory.cartesian import task_curve
from armdyn.typing import Array

chapter = Chapter("elbaji")

REVOLUTE = slice(1, 4)
"""The revolute joints, which figs. 6 to 9 show."""
CHOSEN = (
    "d_1 = 0.1 m, the elbow with s_3 > 0 and g = 9.81 m/s^2 are not in the text; the first two fit q(0) (ElBaji-15)."
)


@chapter.item("table 4", "Parameters of the SCARA arm")
def table_4() -> Outcome:
    checks = tuple(equal(name, scara().parameters[name], printed) for name, printed in text.TABLE_4.items())
    return Outcome(
        "The parameters of the catalog robot. The centres of mass lie 0.229 m from their axes on links of 0.2 m; "
        "this is kept (ElBaji-14).",
        checks,
    )


@cache
def tracked() -> Run:
    return scara_tracking()


def _tool_40(t: Array, order: int) -> Array:
    """A derivative of (40) with decimal points; its products of two harmonics are sums of two others."""
    rates, turn = np.array([1.5, 0.5]), order * np.pi / 2
    angles = rates * t[:, None] + turn
    beats = 0.05 * rates**order
    x, y = np.cos(angles) @ beats, np.sin(angles) @ (beats * [1, -1])
    return np.column_stack([x + 0.2 * (order == 0), y + 0.2 * (order == 0), np.full_like(t, 0.2 * (order == 0))])


@chapter.item("(40)", "Desired motion of the tool", vouches=(task_curve,))
def desired_motion() -> Outcome:
    curve = ScaraCurve()
    t = np.linspace(0, 10, 401)
    tool = dynamics().pose(curve(t))[:, :3, 3]
    x, y = 0.1 * np.cos(t / 2) * np.cos(t) + 0.2, 0.1 * np.sin(t / 2) * np.cos(t) + 0.2
    path = np.column_stack([x, y, np.full_like(t, 0.2)])
    phi = curve(t)[:, REVOLUTE].sum(axis=1)
    curved = task_curve(10.0, lambda times: (_tool_40(times, 0), _tool_40(times, 1), _tool_40(times, 2)))
    return Outcome(
        "The joint motion follows from (38) with the corrected sign and decimal commas (ElBaji-13); the pose (36) "
        "gives the path of the tool.",
        checks=(
            below("distance of the tool from (40), m", float(np.abs(tool - path).max()), 1e-14),
            equal("duration, s", curved.duration, 10.0),
            below("(40) as a path of a frame, m", float(np.abs(curved.pose(t)[:, :3, 3] - path).max()), 1e-14),
            below("its velocity, m/s", float(np.abs(curved.velocity(t)[:, :3] - _tool_40(t, 1)).max()), 1e-14),
            below("deviation of phi from pi/3, rad", float(np.abs(phi - np.pi / 3).max()), 1e-14),
        ),
        chosen=CHOSEN,
    )


def cycle_times(name: str) -> dict[str, float]:
    """Time of the model in one control cycle by one formulation, s: numeric and symbolic, in Python and compiled.

    numeric: the algorithm is evaluated in every cycle. symbolic: code generated from its explicit equations.
    """
    module, state = formulation(name).module, (SCARA_START, SCARA_RATE, np.ones(5))
    eq = derive(scara(), name)
    values = {str(symbol): value for symbol, value in eq.parameters.items()}
    variables = [f"{letter}{i}" for letter in ("q", "qd", "qdd") for i in range(1, 6)]
    script = lambdified([*variables, *values], list(eq.tau), "math")
    numbers, constants = np.concatenate(state).tolist(), list(values.values())
    sizes = {"q": 5, "qd": 5, "qdd": 5}
    algorithm = trace(lambda q, qd, qdd: module.inverse_dynamics(scara(), q, qd, qdd), sizes)
    explicit = trace(lambda q, qd, qdd: evaluate(eq.nodes("tau"), _bound(q, qd, qdd)), sizes)
    numeric, symbolic = (build(graph, f"{kind}_{name}") for graph, kind in ((algorithm, "num"), (explicit, "sym")))
    lists = [x.tolist() for x in state]
    return medians(
        {
            "numeric, Python": lambda: module.inverse_dynamics.formula(scara(), *lists),
            "symbolic, Python": lambda: script(*numbers, *constants),
            "numeric, compiled": lambda: [numeric(*state) for _ in range(100)],
            "symbolic, compiled": lambda: [symbolic(*state) for _ in range(100)],
        },
        rounds=15,
    )


def _bound(q: Any, qd: Any, qdd: Any) -> dict[str, Any]:
    """Values of all symbols of the arm's equations: its parameters as numbers, the state as given."""
    state = {f"{name}{i + 1}": x for name, each in (("q", q), ("qd", qd), ("qdd", qdd)) for i, x in enumerate(each)}
    return {**scara().parameters, **state}


def _same_cost(ratios: Mapping[str, float]) -> bool:
    """Whether numeric and symbolic cycles cost the same, in Python and compiled: within half as much again."""
    return all(1 / 1.5 <= ratio <= 1.5 for ratio in ratios.values())


VISCOUS = np.array([3.0, 0.2, 0.1, 0.05, 2.0])
"""Viscous friction for the test of the law, N s/m and N m s/rad; the text has none."""


@cache
def _law_by_hand() -> Check:
    """(41) at a random state, the model compiled, against Kane's equations."""
    robot = scara().bound()
    tree = tuple(replace(joint, friction=Friction(v)) for joint, v in zip(robot.tree, VISCOUS, strict=True))
    rubbing = replace(robot, tree=tree, expressions=None, parameters={})
    return computed_torque_by_hand(compiled_dynamics(rubbing), OtherModel(rubbing, viscous=VISCOUS))


@chapter.item(
    "(41)-(43)",
    "Computed torque, numeric and symbolic",
    vouches=(ComputedTorque, Formulated.mass_matrix, Formulated.coriolis, Formulated.gravity),
)
def numeric_and_symbolic() -> Outcome:
    formulated: Any = Formulated(scara(), "bertrand_bruneau")
    laws = {
        "symbolic": ComputedTorque(dynamics(), SCARA_KP, SCARA_KD),
        "numeric": ComputedTorque(formulated, SCARA_KP, SCARA_KD, through="matrices"),
    }
    runs = {
        name: scara_tracking(law, duration=0.1, solver=replace(PRINTED, compiled=False)) for name, law in laws.items()
    }
    difference = distance(runs["numeric"].tau, runs["symbolic"].tau)
    spent = {name: cycle_times(name) for name in ("bertrand_bruneau", "kane", "lagrange")}
    ratios = {
        name: {how: each[f"numeric, {how}"] / each[f"symbolic, {how}"] for how in ("Python", "compiled")}
        for name, each in spent.items()
    }
    new = ratios.pop("bertrand_bruneau")
    traditional = "; ".join(
        f"{name} {each['Python']:.1f} in Python, {each['compiled']:.1f} compiled" for name, each in ratios.items()
    )
    claims = (
        Claim(
            "with the new formulation, numeric and symbolic cycles cost the same (16 ms and 17.5 ms)",
            f"the numeric one takes {new['Python']:.1f} times as long in Python, {new['compiled']:.1f} compiled",
            _same_cost(new),
        ),
        Claim(
            "with the traditional methods they do not",
            f"numeric over symbolic: {traditional}",
            not any(map(_same_cost, ratios.values())),
        ),
    )
    rows = tuple(
        (name, *(f"{1e6 * seconds / (100 if 'compiled' in how else 1):.3g}" for how, seconds in each.items()))
        for name, each in spent.items()
    )
    columns = (Column("inverse dynamics"), *(Column(how, "µs") for how in spent["kane"]))
    return Outcome(
        "The controller (41) evaluates the new formulation numerically in every cycle, or runs generated code; plant "
        "(42), scheme (43), 100 cycles. The torques must agree. The times are those of one inverse dynamics: the "
        "algorithm evaluated anew, or its explicit equations as generated code, both in Python and as machine code.",
        checks=(
            _law_by_hand(),
            below("relative difference of the torques", difference, 1e-11),
            below("(42), (43): each sample from the previous one, relative", _scheme_error(runs["numeric"]), 1e-12),
        ),
        chosen="Times of this machine. " + CHOSEN,
        tables=(Section("Time of one inverse dynamics", columns, rows),),
        claims=claims,
    )


def _scheme_error(run: Run) -> float:
    """Relative error of the samples of a run against (43) with the accelerations (42)."""
    q, qd, tau = run.q[:-1], run.qd[:-1], run.tau[:-1]
    qdd = floats([kane_acceleration(*sample) for sample in zip(q, qd, tau, strict=True)])
    ahead = q + qd * run.dt + qdd * run.dt**2 / 2
    return max(distance(run.q[1:], ahead), distance(run.qd[1:], qd + qdd * run.dt))


def kane_acceleration(q: Any, qd: Any, tau: Array) -> Array:
    """(42) with the terms of a formulation that the plant does not use."""
    rest = kane.inverse_dynamics(scara(), q, qd, (0,) * 5)
    return floats(np.linalg.solve(floats(kane.mass_matrix(scara(), q)), tau - rest))


def closed_form(t: Array) -> Array:
    """The error that (41) with the exact model leaves: e'' + kd e' + kp e = 0 from the start of the text."""
    curve = ScaraCurve()
    e, v = curve(0.0) - SCARA_START, curve(0.0, 1) - SCARA_RATE
    a, w = SCARA_KD / 2, np.sqrt(SCARA_KP - SCARA_KD**2 / 4)
    s = t[:, None]
    return floats(np.exp(-a * s) * (e * np.cos(w * s) + (v + a * e) / w * np.sin(w * s)))


@chapter.item("fig. 6", "Desired and actual path in the workspace")
def figure_6() -> Outcome:
    run = tracked()
    desired = ScaraCurve().tool(run.t)
    gap = np.linalg.norm(run.tool[:, :2] - desired[:, :2], axis=1)
    svg = chart(
        Axes(
            "Path of the tool",
            "x (m)",
            "y (m)",
            equal=True,
            lines=[
                Line(desired[:, 0], desired[:, 1], "desired", color=GREY, wide=True),
                Line(run.tool[:, 0], run.tool[:, 1], "actual"),
                Line(run.tool[:1, 0], run.tool[:1, 1], "start", "o"),
            ],
        ),
        Axes("Distance from the desired path", "t (s)", "distance (m)", [Line(run.t, gap)], log=True),
    )
    return Outcome(
        "Computed torque (41) with kp = 200, kd = 10 and the printed equations of fig. 3 as its model drives the arm "
        "of the library on the motion (40), from q(0) and qd(0) of the text, by the scheme (43) in steps of 1 ms for "
        "10 s. Figs. 7 to 10 show the same law.",
        checks=(
            Check("the run completes", run.ok, run.status.name.lower()),
            below("distance from the path after 2 s, m", float(gap[run.t >= 2].max()), 1e-3),
        ),
        chosen=CHOSEN,
        unprinted="The figure is a picture without numbers.",
        figures=((svg, "Desired and actual path, and the distance between them."),),
    )


@chapter.item("fig. 7", "Actuation torques")
def figure_7() -> Outcome:
    run = tracked()
    late = run.t >= 3
    moved = np.diff(run.qd, axis=0) / run.dt  # qdd of (43)
    printed = printed_model().inverse_dynamics(run.q[:-1], run.qd[:-1], moved)
    ideal = dynamics().inverse_dynamics(*(ScaraCurve()(run.t, k) for k in range(3)))
    svg = chart(
        Axes(
            "Torques of the revolute joints",
            "t (s)",
            "tau (N m)",
            series(run.t, run.tau[:, REVOLUTE], JOINTS[REVOLUTE]),
        ),
        Axes(
            "Forces of the prismatic joints",
            "t (s)",
            "F (N)",
            [Line(run.t, run.tau[:, 0], "lift"), Line(run.t, run.tau[:, 4], "quill")],
        ),
    )
    weight = G * sum(text.TABLE_4[f"m{i}"] for i in range(1, 6))
    return Outcome(
        "The law takes its torques from the printed equations of fig. 3; the motion that they cause must satisfy "
        "these equations too. The torques must settle to those of the desired motion, and the forces of the prismatic "
        "joints to the weights that they carry.",
        checks=(
            below("torques against fig. 3 along the run, relative", distance(run.tau[:-1], printed), 1e-9),
            below(
                "torques after 3 s against inverse dynamics of (40), relative",
                distance(run.tau[late], ideal[late]),
                1e-3,
            ),
            near("force of the lift at the end, N", float(run.tau[-1, 0]), weight, 1e-6),
            near("force of the quill at the end, N", float(run.tau[-1, 4]), -G * text.TABLE_4["m5"], 1e-6),
        ),
        chosen=CHOSEN,
        unprinted="The figure is a picture without numbers.",
        figures=((svg, "Torques under computed torque control."),),
    )


@chapter.item("fig. 8", "Tracking error with the perfect model", vouches=(ComputedTorque,))
def figure_8() -> Outcome:
    run = tracked()
    fine = scara_tracking(duration=1.0, solver=Solver(integrator="rk4"))
    svg = chart(
        Axes(
            "Error of the revolute joints", "t (s)", "e (rad)", series(run.t, run.error[:, REVOLUTE], JOINTS[REVOLUTE])
        ),
        Axes(
            "The same, first second; closed form pale",
            "t (s)",
            "e (rad)",
            [
                *series(fine.t, closed_form(fine.t)[:, REVOLUTE], ("", "", ""), wide=True),
                *series(fine.t, fine.error[:, REVOLUTE], JOINTS[REVOLUTE]),
            ],
        ),
    )
    return Outcome(
        "With the exact model the error obeys e'' + 10 e' + 200 e = 0 for any motion of the arm. The law knows the "
        "printed equations, the arm is the library's: the equation holds if they are the same arm.",
        checks=(
            _law_by_hand(),
            below(
                "first second, RK4, against the closed form, rad",
                float(np.abs(fine.error - closed_form(fine.t)).max()),
                1e-8,
            ),
            below("after 2 s, scheme (43), rad", float(run.largest_error(after=2.0).max()), 2e-3),
            below("initial error, rad", float(np.abs(run.error[0]).max()), 0.19),
        ),
        chosen=CHOSEN,
        unprinted="The figure is a picture without numbers.",
        figures=((svg, "Errors of the joints, and the closed form."),),
    )


@chapter.item("fig. 9", "Desired and actual joint motion")
def figure_9() -> Outcome:
    run = tracked()
    lines = [
        *series(run.t, run.desired.q[:, REVOLUTE], ("", "", ""), wide=True),
        *series(run.t, run.q[:, REVOLUTE], JOINTS[REVOLUTE]),
    ]
    svg = chart(Axes("Joint positions, desired pale", "t (s)", "q (rad)", lines))
    return Outcome(
        "The same run in joint space.",
        checks=(
            equal("starts at q(0) of the text", run.q[0].tolist(), SCARA_START.tolist()),
            below("error at the end, rad", float(np.abs(run.error[-1]).max()), 1e-3),
        ),
        chosen=CHOSEN,
        unprinted="The figure is a picture without numbers.",
        figures=((svg, "Joint positions of the revolute joints."),),
    )


def imperfect_plants() -> dict[str, Plant]:
    """The arm with each imperfection that the text names; the controller does not know of it."""
    robot = scara().bound()
    dry = tuple(
        replace(joint, friction=Friction(0.02, 0.05)) if joint.kind == "revolute" else joint for joint in robot.tree
    )
    rubbing = replace(robot, tree=dry, expressions=None, parameters={})
    push = np.array([1.0, 0, 0, 0, 0, 0])
    return {
        "friction in the joints": Plant(rubbing),
        "external disturbance": Plant(robot, wrench=lambda t, q, qd: push),
        "masses 20 % larger": Plant(scaled_masses(robot, 1.2)),
    }


@chapter.item("fig. 10", "Tracking error with an imperfect model", vouches=(ComputedTorque,))
def figure_10() -> Outcome:
    law, curve = ComputedTorque(printed_model(), SCARA_KP, SCARA_KD), ScaraCurve(duration=4.0)
    runs = imperfect_models(dynamics(), law, curve, q0=SCARA_START, qd0=SCARA_RATE, masses=None, solver=PRINTED)
    full, less, lone = (
        float(runs[name].largest_error(after=3.0).max())
        for name in ("full model", "without Coriolis", "coupling ignored")
    )
    sag = float(runs["without gravity"].error[-1, 0])
    disturbed = {
        name: simulate(plant, law, curve, q0=SCARA_START, qd0=SCARA_RATE, solver=PRINTED)
        for name, plant in imperfect_plants().items()
    }
    runs |= disturbed
    worse = {name: float(run.largest_error(after=3.0).max()) for name, run in disturbed.items()}
    lines = [Line(run.t, np.maximum(np.abs(run.error).max(axis=1), 1e-12), name) for name, run in runs.items()]
    turning = runs["without Coriolis"]
    svg = chart(
        Axes(
            "Without centrifugal and Coriolis terms",
            "t (s)",
            "e (rad)",
            series(turning.t, turning.error[:, REVOLUTE], JOINTS[REVOLUTE]),
        ),
        Axes("Largest error of all joints", "t (s)", "|e| (rad, m)", lines, log=True),
    )
    return Outcome(
        "The controller omits a part of the dynamics, which according to the text degrades the control considerably. "
        "Gravity acts on the lift alone, which must sag by g/kp.",
        checks=(
            Check(
                "error after 3 s without Coriolis terms, against the full model",
                less > 10 * full,
                f"{less:.2g} rad, {less / full:.0f} times {full:.2g} rad",
            ),
            Check(
                "error after 3 s with the coupling ignored (diagonal M), against the full model",
                lone > 10 * full,
                f"{lone:.2g} rad, {lone / full:.0f} times {full:.2g} rad",
            ),
            near("sag of the lift without gravity in the model, m", sag, G / SCARA_KP, 1e-9),
            *(
                Check(
                    f"error after 3 s, {name}, against the full model",
                    error > 10 * full,
                    f"{error:.2g} rad, {error / full:.0f} times {full:.2g} rad",
                )
                for name, error in worse.items()
            ),
        ),
        chosen="The text does not say which part is neglected: here the centrifugal and Coriolis terms, the coupling "
        "inertias, or gravity. "
        "Nor does it give the imperfections that it names: here friction of 0.05 N m and 0.02 N m s/rad at the "
        f"revolute joints, a force of 1 N on the tool, masses 20 % above the model's. {CHOSEN}",
        figures=((svg, "Errors under incomplete models."),),
    )
