"""Chapters about the equations of motion: on paper, certified, by every formulation, in the fewest parameters."""

from __future__ import annotations

from dataclasses import replace

from armdyn.equations import certify, compare, derive
from armdyn.equations.derivation import must_move
from armdyn.errors import NotApplicable
from armdyn.graph import text
from armdyn.mechanics.registry import FORMULATIONS, Formulation
from armdyn.parameters import base_parameters
from armdyn.report.chapters import mechanics_text as mechanics
from armdyn.report.chapters.chapter import Chapter, Fact, File, Subject
from armdyn.report.pages import html
from armdyn.robot.links import WORLD
from armdyn.robot.robot import Robot
from armdyn.tables import Column, Section

MANY = 10
"""Joints beyond which the certificate is taken at one random state: still exact, with a larger bound on chance."""
VERY_MANY = 16
SWIFT = ("newton_euler", "newton_euler_base", "dalembert", "composite_body", "articulated_body", "forward")
"""Joints beyond which only these formulations are compared; the others would take minutes."""
DEEPEST = 8
"""Joints one behind the other up to which explicit equations are written out."""
DEFINITE = "M positive definite"
"""Begins the statement about the robot's own inertias, which is none about formulations."""
FAMILIES = {"inertial": "links", "rotor": "rotors", "friction": "friction"}


def equations(subject: Subject) -> Chapter:
    """M, C and g, typeset."""
    longest = _longest_chain(subject.robot)
    if longest > DEEPEST:
        raise NotApplicable(f"the explicit equations of {longest} joints one behind the other would fill a book",
                            where=f"robot {subject.robot.name!r}",
                            advice="Compiled functions and exported code need no explicit form")  # fmt: skip
    derived = derive(subject.robot, progress=subject.saying("equations"))
    written = mechanics.write_equations(derived, subject.folder)
    what = {".md": "the equations as Markdown", ".tex": "the equations as LaTeX"}
    files = [File(path, what[path.suffix]) for path in written]
    blocks = [html.remark(subject.opened), mechanics.equations_block(derived)]
    return Chapter(blocks, files=files, numbers={"terms": dict(derived.size)})


def _longest_chain(robot: Robot) -> int:
    """Moving joints one behind the other, where most are."""
    depths: list[int] = []
    for link in robot.links:
        depths.append(1 if link.parent == WORLD else depths[link.parent] + 1)
    return max(depths, default=0)


def certificate(subject: Subject) -> Chapter:
    """Exact agreement of all formulations."""
    points, compared = (3 if subject.robot.n <= MANY else 1), _compared(subject.robot)
    made = certify(
        subject.robot, points=points, formulations=compared, progress=lambda step: subject.say(f"certificate: {step}")
    )
    section = mechanics.certificate_section(made)
    count = len({check.formulation for check in made.checks})
    definite = [check for check in made.checks if check.statement.startswith(DEFINITE)]
    agree = all(check.holds for check in made.checks if check not in definite)
    verdict = "exact" if agree else "they do NOT agree"
    facts = [Fact("agreement of formulations", verdict, f"{count} compared without tolerance", agree)]
    if not all(check.holds for check in definite):
        facts.append(Fact("mass matrix", "not positive definite", "no forward dynamics", False))
    words = "Every formulation is evaluated in exact rational arithmetic and compared with the others."
    blocks = [html.remark(subject.opened), html.paragraph(words), html.table(replace(section, title=""))]
    return Chapter(blocks, facts, numbers={"agree": agree, "error_probability": made.error_probability})


def _compared(robot: Robot) -> tuple[Formulation, ...]:
    """All formulations; of robots with very many joints those whose cost grows slowly with them."""
    return tuple(entry for entry in FORMULATIONS if robot.n <= VERY_MANY or entry.name in SWIFT)


def formulations(subject: Subject) -> Chapter:
    """Inverse dynamics by every formulation: operations and times."""
    made = compare(
        subject.robot, formulations=_compared(subject.robot), progress=lambda step: subject.say(f"formulations: {step}")
    )
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
    must_move(robot)
    used = ["inertial"]
    used += ["rotor"] * any(joint.rotor is not None for joint in robot.joints)
    used += ["friction"] * any(joint.friction is not None for joint in robot.joints)
    subject.say("base parameters")
    found = base_parameters(robot, used)
    rows = [
        (name, "" if (combination := text(found.groups[name])) == name else combination, f"{value:.6g}")
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
    idle = "A parameter without a combination stands for itself."
    if found.no_effect:
        idle += f" Without any effect on the torques: {', '.join(found.no_effect)}."
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
