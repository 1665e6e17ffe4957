"""Chapters about the equations of motion: on paper, certified, by every formulation, in the fewest parameters."""

from __future__ import annotations

from dataclasses import replace

from armdyn.equations import certify, compare, derive
from armdyn.graph import text
from armdyn.parameters import base_parameters
from armdyn.report import html, mechanics
from armdyn.report.chapter import Chapter, Fact, File, Subject
from armdyn.robot.table import Column, Section

MANY = 10
"""Joints beyond which the certificate is taken at one random state: still exact, with a larger bound on chance."""
FAMILIES = {"inertial": "links", "rotor": "rotors", "friction": "friction"}


def equations(subject: Subject) -> Chapter:
    """M, C and g, typeset."""
    derived = derive(subject.robot, progress=lambda step: subject.say(f"equations: {step}"))
    written = mechanics.write_equations(derived, subject.folder)
    what = {".md": "the equations as Markdown", ".tex": "the equations as LaTeX"}
    files = [File(path, what[path.suffix]) for path in written]
    blocks = [html.remark(subject.opened), mechanics.equations_block(derived)]
    return Chapter(blocks, files=files, numbers={"terms": dict(derived.size)})


def certificate(subject: Subject) -> Chapter:
    """Exact agreement of all formulations."""
    points = 3 if subject.robot.n <= MANY else 1
    made = certify(subject.robot, points=points, progress=lambda step: subject.say(f"certificate: {step}"))
    section = mechanics.certificate_section(made)
    count = len({check.formulation for check in made.checks})
    verdict = "exact" if made.holds else "they do NOT agree"
    fact = Fact("agreement of formulations", verdict, f"{count} compared without tolerance", made.holds)
    words = "Every formulation is evaluated in exact rational arithmetic and compared with the others."
    blocks = [html.remark(subject.opened), html.paragraph(words), html.table(replace(section, title=""))]
    return Chapter(blocks, [fact], numbers={"agree": made.holds, "error_probability": made.error_probability})


def formulations(subject: Subject) -> Chapter:
    """Inverse dynamics by every formulation: operations and times."""
    made = compare(subject.robot, progress=lambda step: subject.say(f"formulations: {step}"))
    section = mechanics.comparison_section(made)
    least = min(made.rows, key=lambda row: row.operations.total)
    words = (
        f"The same torques, reached in {len(made.rows)} ways. Fewest operations here: {least.formulation.title} "
        f"({least.operations.multiplications} multiplications, {least.operations.additions} additions)."
    )
    file = subject.table("formulations.csv", section, "operations and times of all formulations")
    blocks = [html.remark(subject.opened), html.paragraph(words), html.table(replace(section, title=""))]
    return Chapter(blocks, files=[file])


def base(subject: Subject) -> Chapter:
    """The smallest set of parameters that determines the torques."""
    robot = subject.robot
    used = ["inertial"]
    used += ["rotor"] * any(joint.rotor is not None for joint in robot.joints)
    used += ["friction"] * any(joint.friction is not None for joint in robot.joints)
    subject.say("base parameters")
    found = base_parameters(robot, used)
    rows = [
        (name, text(found.groups[name]), f"{value:.6g}")
        for name, value in zip(found.names, found.values.tolist(), strict=True)
    ]
    columns = (Column("parameter"), Column("combination", folds=True), Column("value", "SI"))
    section = Section("", columns, tuple(rows))
    how = "proved over exact rationals" if found.proved else "the rank of the regressor, found in floating point"
    families = " and ".join(FAMILIES[name] for name in used)
    words = (
        f"Of {len(found.standard)} parameters of the {families}, motion and torques show only {found.count} "
        f"combinations ({how}). These are what an identification can find, and what compiled code computes with."
    )
    idle = f"Without any effect on the torques: {', '.join(found.no_effect)}." if found.no_effect else ""
    file = subject.table("base_parameters.csv", section, "base parameters: combinations and values")
    fact = Fact("base parameters", f"{found.count} of {len(found.standard)}", "proved" if found.proved else "numerical")
    numbers = {"base_parameters": found.count, "standard_parameters": len(found.standard)}
    blocks = [
        html.remark(subject.opened),
        html.paragraph(words),
        html.table(section) if rows else "",
        html.remark(idle),
    ]
    return Chapter(blocks, [fact], [file], numbers=numbers)
