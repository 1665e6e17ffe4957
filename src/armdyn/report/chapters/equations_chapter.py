"""Chapters on the equations of motion: explicit, certified, by every formulation, in base parameters."""

from __future__ import annotations

import numpy as np

from armdyn.equations import Certificate, Comparison, certify, compare, derive
from armdyn.equations.derivation import must_move
from armdyn.errors import NotApplicable
from armdyn.graph import text
from armdyn.mechanics.registry import FORMULATIONS, Formulation
from armdyn.parameters import BaseParameters, base_parameters, standard_parameters
from armdyn.report.chapters.chapter import Fact, ReportChapter
from armdyn.report.chapters.subject import Subject
from armdyn.report.pages import html
from armdyn.report.pages.equations_block import equations_block, is_long
from armdyn.robot.links import WORLD
from armdyn.robot.robot import Robot
from armdyn.tables import Column, Section, without_rounding

MANY = 10
"""Joints beyond which the certificate uses one random state: still exact, with a larger error probability."""
VERY_MANY = 16
SWIFT = ("newton_euler", "newton_euler_base", "dalembert", "composite_body", "articulated_body", "forward")
"""Joints beyond which only these formulations are compared; the others would take minutes."""
DEEPEST = 8
"""Joints in a row up to which explicit equations are derived."""
DEFINITE = "M positive definite"
"""Begins the statement about the robot's own inertias, which says nothing about formulations."""
FAMILIES = {"inertial": "links", "rotor": "rotors", "friction": "friction"}


def equations(subject: Subject) -> ReportChapter:
    """M, C and g, typeset."""
    longest = _longest_chain(subject.robot)
    if longest > DEEPEST:
        raise NotApplicable(
            f"the explicit equations of {longest} joints in a row are too long to print",
            where=f"robot {subject.robot.name!r}",
            advice="Compiled functions and exported code do not need the explicit form",
        )
    derived = derive(subject.robot, progress=subject.progress("equations"))
    files = []
    if not is_long(derived):
        files.append(subject.text("equations.md", derived.markdown(), "the equations as Markdown"))
        files.append(subject.text("equations.tex", derived.latex(), "the equations as LaTeX"))
    blocks = [equations_block(derived)]
    return ReportChapter(blocks, files=files, numbers={"terms": dict(derived.size)})


def _longest_chain(robot: Robot) -> int:
    """The largest number of movable joints in a row."""
    depths: list[int] = []
    for link in robot.opened.links:
        depths.append(1 if link.parent == WORLD else depths[link.parent] + 1)
    return max(depths, default=0)


def certificate(subject: Subject) -> ReportChapter:
    """Exact agreement of all formulations."""
    points, compared = (3 if subject.robot.n <= MANY else 1), _compared(subject.robot)
    made = certify(subject.robot, points=points, formulations=compared, progress=subject.progress("certificate"))
    count = len({check.formulation for check in made.checks} & {entry.name for entry in FORMULATIONS})
    definite = [check for check in made.checks if check.statement.startswith(DEFINITE)]
    agree = all(check.holds for check in made.checks if check not in definite)
    verdict = "exact" if agree else "they DISAGREE"
    facts = [Fact("agreement of formulations", verdict, f"{count} compared without tolerance", agree)]
    if not all(check.holds for check in definite):
        facts.append(Fact("mass matrix", "not positive definite", "no forward dynamics", False))
    words = "All formulations were evaluated in exact rational arithmetic and compared with one another."
    blocks = [html.paragraph(words), html.table(_certificate_section(made))]
    return ReportChapter(blocks, facts, numbers={"agree": agree, "error_probability": made.error_probability})


def _compared(robot: Robot) -> tuple[Formulation, ...]:
    """All formulations; of robots with very many joints those whose cost grows slowly with them."""
    return tuple(entry for entry in FORMULATIONS if robot.n <= VERY_MANY or entry.name in SWIFT)


def formulations(subject: Subject) -> ReportChapter:
    """Inverse dynamics by every formulation: operations and times."""
    made = compare(
        subject.robot,
        formulations=_compared(subject.robot),
        coriolis=False,
        progress=subject.progress("formulations"),
    )
    section = _comparison_section(made)
    least = min(made.rows, key=lambda row: row.operations.total)
    words = (
        f"{len(made.rows)} formulations, same torques. Fewest operations for this robot: {least.formulation.title} "
        f"({least.operations.multiplications} multiplications, {least.operations.additions} additions)."
    )
    file = subject.table("formulations.csv", section, "operations and times of all formulations")
    blocks = [html.paragraph(words), html.table(section)]
    return ReportChapter(blocks, files=[file])


def base(subject: Subject) -> ReportChapter:
    """The smallest set of parameters that determines the torques."""
    robot = subject.robot
    must_move(robot)
    used = ["inertial"]
    used += ["rotor"] * any(joint.rotor is not None for joint in robot.movable)
    used += ["friction"] * any(joint.friction is not None for joint in robot.movable)
    subject.say("base parameters")
    found = base_parameters(robot, used)
    columns = (Column("parameter"), Column("combination", folds=True), Column("value"), Column("unit"))
    values = {
        name: (f"{value:.6g}", unit)
        for name, value, unit in zip(found.names, _clean_values(found), found.units, strict=True)
    }
    whole, short = {name: text(found.groups[name]) for name in found.names}, {x: found.rounded(x) for x in found.names}
    section, for_reading = (
        Section("", columns, tuple((x, "" if part == x else part, *values[x]) for x, part in written.items()))
        for written in (whole, short)
    )
    *others, last = (FAMILIES[name] for name in used)
    families = f"{', '.join(others)} and {last}" if others else last
    words = (
        f"The torques depend on only {found.count} combinations of the {len(found.standard)} parameters of the "
        f"{families} ({found.evidence}). Only these can be identified; compiled code computes with them."
    )
    idle = "A parameter without a combination stands for itself."
    if found.no_effect:
        idle += f" No effect on the torques: {', '.join(found.no_effect)}."
    if whole != short:
        idle += (
            " Numbers are rounded to five digits, terms below 1e-5 of the largest are left out; the file has them all."
        )
    file = subject.table("base_parameters.csv", section, "base parameters: combinations and values")
    fact = Fact(
        "base parameters", f"{found.count} of {len(found.standard)}", "proved" if found.proved else "to 60 digits"
    )
    numbers = {"base_parameters": found.count, "standard_parameters": len(found.standard)}
    blocks = [
        html.paragraph(words),
        html.table(for_reading) if found.names else "",
        html.remark(idle),
    ]
    return ReportChapter(blocks, [fact], [file], numbers=numbers)


def _clean_values(found: BaseParameters) -> list[float]:
    """Values of the base parameters; 0 where they vanish up to rounding, beside their terms or others of their kind."""
    known = standard_parameters(found.robot, found.include).as_dict()
    terms = np.abs(found.matrix) @ [abs(float(known.get(name, 0))) for name in found.standard]
    sizes: dict[str, float] = {}
    kinds = [_kind(name) for name in found.names]
    for kind, x in zip(kinds, found.values, strict=True):
        sizes[kind] = max(sizes.get(kind, 0.0), abs(float(x)))
    scales = [max(float(scale), sizes[kind]) for scale, kind in zip(terms, kinds, strict=True)]
    return [float(without_rounding([float(x)], scale)[0]) for x, scale in zip(found.values, scales, strict=True)]


def _kind(name: str) -> str:
    """What a base parameter is: values of one kind have one unit."""
    letters = name.rstrip("0123456789").removesuffix("R")
    if letters in ("MX", "MY", "MZ"):
        return "first moment"
    return "inertia" if letters in ("XX", "XY", "XZ", "YY", "YZ", "ZZ", "Ia") else letters


def _certificate_section(certificate: Certificate) -> Section:
    """One row per statement: for how many formulations it was checked, and whether it holds."""
    statements: dict[str, list[tuple[str, bool]]] = {}
    for check in certificate.checks:
        statements.setdefault(check.statement, []).append((check.formulation, check.holds))
    rows = []
    for statement, checks in statements.items():
        failing = [name for name, holds in checks if not holds]
        verdict = f"fails: {', '.join(failing)}" if failing else "holds exactly"
        rows.append((statement, str(len(checks)), verdict))
    note = (
        f"Evaluated in exact rational arithmetic, without any tolerance, at {certificate.points} random states with "
        f"random inertias. Probability that different formulas agree by chance: {certificate.error_probability:.0e}."
    )
    columns = (Column("statement"), Column("formulations"), Column("verdict"))
    left_out = f"Left out: {'; '.join(certificate.left_out)}." if certificate.left_out else ""
    return Section("", columns, tuple(rows), f"{note} {left_out}".strip())


def _comparison_section(comparison: Comparison) -> Section:
    """One row per formulation of inverse dynamics."""
    rows = [
        (
            row.formulation.title,
            row.formulation.source,
            f"{row.difference:.0e}" if row.difference else "0",
            f"{row.written[0]} / {row.written[1]}",
            f"{row.operations.multiplications} / {row.operations.additions}",
            f"{1e3 * row.trace_seconds:.1f}",
            f"{1e3 * row.evaluation_seconds:.2f}",
        )
        for row in comparison.rows
    ]
    columns = (
        Column("formulation"),
        Column("source", folds=True),
        Column("difference", "relative"),
        Column("as written", "x / +"),
        Column("shared", "x / +"),
        Column("tracing", "ms"),
        Column("in Python", "ms"),
    )
    note = (
        "Operations of one evaluation: as the formulation is written, and with common subexpressions shared. "
        "Difference: from the first formulation, relative to the largest torque. In Python: one evaluation of the "
        "formulas on floats. Sources are listed under References."
    )
    return Section("", columns, tuple(rows), note)
