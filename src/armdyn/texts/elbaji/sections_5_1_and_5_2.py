"""El Baji, sections 5.1 and 5.2: forward dynamics, and the cost of deriving the equations of motion."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from armdyn.catalog.curves import SCARA_RATE, SCARA_START
from armdyn.equations import derive
from armdyn.graph import identical, span, trace
from armdyn.mechanics import bertrand_bruneau
from armdyn.mechanics.registry import formulation
from armdyn.report.figures.charts import Axes, chart, series
from armdyn.tables import Column, Section
from armdyn.texts.elbaji import printed as text
from armdyn.texts.elbaji.scara_tracking import printed_model
from armdyn.texts.elbaji.sections_2_to_4 import dynamics, scara
from armdyn.texts.elbaji.sympy_engine import MEASURED, SIMPLIFIED, derivation, torques
from armdyn.texts.elbaji.sympy_methods import SYMPY_METHODS, equations_in_numbers
from armdyn.texts.item import FULL, Chapter, Check, Claim, Outcome, below, distance, floats, identity
from armdyn.texts.other_model import OtherModel
from armdyn.typing import Array

chapter = Chapter("elbaji")

JOINTS = ("lift", "shoulder", "elbow", "wrist", "quill")
FORCES = np.array([46.0, 0.05, -0.02, 0.01, -5.1])
"""For fig. 4, N and N m: close to the weights at the prismatic joints, small at the revolute ones."""


def free_motion(model: Any, steps: int = 2000, dt: float = 1e-3) -> Array:
    """Positions under constant forces: forward dynamics (42) by one model, integrated by (43)."""
    q, qd = SCARA_START.copy(), SCARA_RATE.copy()
    found = [q]
    for _ in range(steps):
        qdd = np.linalg.solve(model.mass_matrix(q), FORCES - model.inverse_dynamics(q, qd, np.zeros(5)))
        q, qd = q + qd * dt + qdd * dt**2 / 2, qd + qdd * dt  # (43)
        found.append(q)
    return floats(found)


@chapter.item(
    "fig. 4",
    "Forward dynamics by the proposed method and by Kane's",
    vouches=(bertrand_bruneau.inverse_dynamics,),
)
def figure_4() -> Outcome:
    new = OtherModel(scara(), lambda *state: bertrand_bruneau.inverse_dynamics.formula(scara(), *state))
    proposed, kanes, printed = (free_motion(model) for model in (new, OtherModel(scara()), printed_model()))
    t, top = 1e-3 * np.arange(len(proposed)), float(np.abs(proposed).max())
    forces = ", ".join(f"{x:g}" for x in FORCES)
    svg = chart(
        Axes("(a) proposed method", "t (s)", "q (rad, m)", series(t, proposed, JOINTS)),
        Axes("(b) Kane's method", "t (s)", "q (rad, m)", series(t, kanes, JOINTS)),
    )
    return Outcome(
        "Both formulations give M, column by column, and the other forces; (42) is solved and integrated by (43) for "
        "2 s in steps of 1 ms. According to the text, the two results are identical.",
        checks=(
            below("largest relative difference of the two", float(np.abs(proposed - kanes).max()) / top, 1e-10),
            below("from the printed equations of fig. 3 alone", float(np.abs(proposed - printed).max()) / top, 1e-10),
        ),
        chosen=(
            f"The forces are not given. Constant forces {forces} (N, N m) act from q(0), qd(0) of sec. 5.3 (ElBaji-15)."
        ),
        figures=((svg, "Joint positions by the two methods."),),
    )


def medians(functions: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """Median processor time of each function in s; rounds are interleaved, so that all meet the same machine."""
    spent: dict[str, list[float]] = {name: [] for name in functions}
    for _ in range(rounds):
        for name, function in functions.items():
            begin = time.process_time()
            function()
            spent[name].append(time.process_time() - begin)
    return {name: float(np.median(each)) for name, each in spent.items()}


def sympy_times(simplify: bool, rounds: int) -> tuple[dict[str, float], tuple[Check, ...]]:
    """Median processor times of the derivations by SymPy, s, and the comparison of their torques with ours."""
    robot = scara().without("friction").bound()
    made = {name: derivation(robot, name, simplify=simplify) for name in text.TABLE_3}
    spent = medians(made, rounds)
    states = tuple(np.random.default_rng(1).uniform(-1, 1, (3, 5, 5)))
    ours = dynamics().inverse_dynamics(*states)
    kind = "simplified" if simplify else "as written"
    off = {name: distance(torques(derive_(), robot.parameters, states), ours) for name, derive_ in made.items()}
    return spent, tuple(below(f"{name} by SymPy, {kind}: tau", each, 1e-12) for name, each in off.items())


@chapter.item("table 3", "Derivation time of the equations of motion")
def table_3() -> Outcome:
    derived = {name: derive(scara(), name, coriolis="own") for name in text.TABLE_3}
    spent = medians({name: partial(derive, scara(), name, coriolis="own") for name in text.TABLE_3}, rounds=5)
    first = derived["bertrand_bruneau"]
    checks = tuple(
        identity(f"{name}: same {what}", identical(eq.raw[what], first.raw[what]))
        for name, eq in derived.items()
        if eq is not first
        for what in ("M", "C", "g", "tau")
    )
    written, agree = sympy_times(False, rounds=5)
    simplified, more = sympy_times(True, rounds=3) if FULL.get() else (SIMPLIFIED, ())
    own = medians({name: partial(each, scara()) for name, each in SYMPY_METHODS.items()}, rounds=1)
    states = tuple(np.random.default_rng(2).uniform(-1, 1, (3, 5, 5)))
    theirs = {name: equations_in_numbers(each(scara()), scara(), states) for name, each in SYMPY_METHODS.items()}
    ours = dynamics().inverse_dynamics(*states)
    agree = (
        *agree,
        *(below(f"{name} of SymPy itself: tau", distance(tau, ours), 1e-12) for name, tau in theirs.items()),
    )
    engines = {"our graph": spent, "SymPy as written": written} | (
        {"SymPy simplified": simplified} if FULL.get() else {}
    )
    slowest, fastest = (
        {engine: pick(each, key=each.__getitem__) for engine, each in engines.items()} for pick in (max, min)
    )
    chains = {name: chain(name) for name in text.TABLE_3}
    shortest = min(steps for _, steps in chains.values())
    claims = (
        Claim(
            "Kane's method takes longest, 46 s",
            f"the longest is {_picked(slowest, 'kane', engines)}",
            set(slowest.values()) == {"kane"},
        ),
        Claim(
            "the new formulation is the fastest, 3 s",
            f"the fastest is {_picked(fastest, 'bertrand_bruneau', engines)}",
            set(fastest.values()) == {"bertrand_bruneau"},
        ),
        Claim(
            "its terms can be computed simultaneously, which makes it more appropriate for parallel algorithms",
            f"operations, and those of the longest chain: {_chained(chains)}",
            shortest == chains["bertrand_bruneau"][1],
        ),
    )
    rows = tuple(
        (name, f"{printed:g}", f"{1e3 * spent[name]:.0f}", f"{1e3 * written[name]:.0f}", f"{simplified[name]:.1f}")
        for name, printed in text.TABLE_3.items()
    )
    columns = (
        Column("formulation"),
        Column("printed", "s"),
        Column("our graph", "ms"),
        Column("SymPy, as written", "ms"),
        Column("SymPy, simplified" if FULL.get() else "SymPy, simplified (not measured now)", "s"),
    )
    when = (
        "measured in this run, three rounds"
        if FULL.get()
        else f"not of this run and no part of the findings: {MEASURED}"
    )
    note = "SymPy's own methods, in ms: " + ", ".join(f"{name} {1e3 * seconds:.0f}" for name, seconds in own.items())
    return Outcome(
        "M, C, g and tau are derived in the symbols of the file, each formulation by its own velocity terms: only "
        "Lagrange's and the Christoffel symbols differentiate by positions. Three engines do the algebra: our "
        "expression graph, SymPy as it is, and SymPy with sympy.simplify of every entry. The "
        "torques of the four methods must be the same "
        "in each; the ranking by time is the text's claim. Medians of interleaved rounds, processor time. SymPy "
        f"simplified: {when}. Beside them SymPy's own KanesMethod and LagrangesMethod.",
        (*checks, *agree, *more),
        chosen="Our machine and implementations instead of the text's on a Core i3-6006U.",
        tables=(Section("Table 3 and ours", columns, rows, f"{note}. Simplified: {when}."),),
        claims=claims,
    )


def chain(name: str) -> tuple[int, int]:
    """Work and span of a formulation's inverse dynamics of the arm: all operations, and those of the longest chain."""
    module = formulation(name).module
    made = trace(lambda q, qd, qdd: module.inverse_dynamics(scara(), q, qd, qdd), {"q": 5, "qd": 5, "qdd": 5})
    return made.operations.total, span(made.outputs)


def _chained(chains: Mapping[str, tuple[int, int]]) -> str:
    """`kane 106 and 14, ...`, the shortest chain first."""
    ordered = sorted(chains.items(), key=lambda item: item[1][1])
    return ", ".join(f"{name} {work} and {steps}" for name, (work, steps) in ordered)


def _picked(picked: Mapping[str, str], claimed: str, engines: Mapping[str, Mapping[str, float]]) -> str:
    """`lagrange in our graph (114 ms, kane 17.2 ms), ...`: what was picked in each engine, beside the claimed one."""

    def shown(seconds: float) -> str:
        return f"{1e3 * seconds:.3g} ms" if seconds < 1 else f"{seconds:.3g} s"

    return ", ".join(
        f"{name} in {engine} ({shown(engines[engine][name])}"
        + (")" if name == claimed else f", {claimed} {shown(engines[engine][claimed])})")
        for engine, name in picked.items()
    )
