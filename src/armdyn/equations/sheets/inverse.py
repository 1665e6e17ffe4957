"""The closed form of an arm's inverse kinematics, written down angle by angle.

The decomposition itself runs, over symbols: each subproblem hands its equation to the unknown angle, which writes it
down and goes on as a symbol, so that later equations are in terms of the angles before.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from armdyn.algebra import Mat3, Pose, Vec3
from armdyn.equations.derivation import symbolic_robot
from armdyn.equations.inverse_certificate import certify_inverse, reason_against
from armdyn.equations.projection import symbols_of
from armdyn.equations.sheets.sheet import Check, Notation, Sheet
from armdyn.equations.sheets.steps import FORMATS, Steps
from armdyn.errors import NotApplicable
from armdyn.graph import Node, constant, symbol, text
from armdyn.graph import closed_form as explicit
from armdyn.graph.node import SYMBOL
from armdyn.kinematics.closed_form import ClosedForm, Geometry, closed_form, geometry_of, no_closed_form
from armdyn.kinematics.inverse_graphs import all_graph
from armdyn.kinematics.recognise import EXACT, Lines
from armdyn.kinematics.subproblems import Angle, Choice, Direction, Equation, Line
from armdyn.robot.features import FRICTIONLESS, takes
from armdyn.robot.robot import Robot

NOTATION = Notation("subproblems of Paden and Kahan")
POSE = tuple(symbol(f"{letter}{axis}") for letter in "nsap" for axis in "xyz")
"""The wanted pose: columns n, s, a of its rotation, and its position p."""
PHI = symbol("phi")
"""Where all axes are parallel: the angle by which the wanted pose is turned about the first one from that at q = 0."""


class Written(Angle):
    """The angle of a joint, or a sum of such, as a symbol; what is found for it is written down."""

    x: Node
    derivation: Derivation

    def __new__(cls, x: Node, derivation: Derivation) -> Written:
        self = super().__new__(cls, x.cos(), x.sin())
        self.x, self.derivation = x, derivation
        return self

    @property
    def number(self) -> str:
        """The number of the joint, or those of the joints."""
        return "".join(letter for letter in _plain(self.x) if letter.isdigit())

    def __neg__(self) -> Written:
        return Written(-self.x, self.derivation)

    def plus(self, other: Angle) -> Angle:
        return Written(self.x + other.x, self.derivation) if isinstance(other, Written) else super().plus(other)

    def vector(self, v: Vec3) -> Vec3:
        named = (self.derivation.named(letter + self.number, x) for letter, x in zip("XYZ", v, strict=True))
        return Vec3(*named)

    def found(self, equation: Equation, choices: list[Choice]) -> list[Choice]:
        angle = self if self.x.op == SYMBOL else Written(symbol(f"q{self.number}"), self.derivation)
        if equation == Direction(PHI.cos(), PHI.sin()):
            angle = Written(PHI, self.derivation)
        else:
            self.derivation.write(angle, equation)
        return [Choice(angle, 1)] * len(choices)


@dataclass
class Derivation:
    """A sheet, and the angles that are on it already."""

    sheet: Sheet
    written: set[Node] = field(default_factory=set)

    def write(self, angle: Written, equation: Equation) -> None:
        """Put down the equation for an angle and its solution."""
        if angle.x in self.written:
            return
        self.written.add(angle.x)
        k, name = angle.number, f"q_{{{angle.number}}}"
        if isinstance(equation, Direction):
            cos, sin = _explicit(equation)
            self.sheet.line(name, "", sin.atan2(cos))
        elif isinstance(equation, Line):
            a, b, d = _explicit(equation)
            self.sheet.line("0", "", _explicit(a + b * angle.cos + d * angle.sin), f"sigma{k} = +1 or -1")
            cos, sin = self._on_line(k, a, b, d)
            self.sheet.line(name, "", sin.atan2(cos))
        else:
            b = (constant(1), angle.cos, angle.sin)
            conic = sum((equation.Q[i][j] * b[i] * b[j] for i in range(3) for j in range(3)), constant(0))
            self.sheet.line("0", rf"\text{{an equation with four solutions for }} {name} \text{{ at most}}", conic)

    def _on_line(self, k: str, a: Node, b: Node, d: Node) -> tuple[Node, Node]:
        """Cosine and sine of an angle with a + b cos + d sin = 0."""
        sign, zero = symbol(f"sigma{k}"), constant(0)
        if zero in (b, d):
            letter, factor = ("S", d) if b is zero else ("C", b)
            ratio = self.named(f"{letter}{k}", _quotient(-a, factor))
            root = sign * (1 - ratio * ratio).sqrt()
            return (root, ratio) if b is zero else (ratio, root)
        a, b, d = (self.named(letter + k, x) for letter, x in zip("uvw", (a, b, d), strict=True))
        root = sign * self.named(f"r{k}", _explicit(b * b + d * d - a * a).sqrt())
        return d * root - a * b, -(b * root) - a * d

    def named(self, name: str, value: Any) -> Node:
        """The name under which a value is put down; itself if it is one term."""
        node: Node = _explicit(value if isinstance(value, Node) else constant(value))
        if " " not in _plain(node):
            return node
        self.sheet.line(f"{name[0]}_{{{name[1:]}}}", "", node)
        return symbol(name)

    def drop_unused(self) -> None:
        """Leave out components that no later line has."""
        used = ""
        for line in reversed(list(self.sheet.lines)):
            name = line.name.replace("_{", "").replace("}", "")
            if line.name[0] in "XYZ" and not re.search(rf"\b{name}\b", used):
                self.sheet.lines.remove(line)
            else:
                used += f" {line.value}"


def _quotient(top: Node, bottom: Node) -> Node:
    """A fraction without halves in it and without a sign below."""
    if "/2" in _plain(top):
        top, bottom = 2 * top, 2 * bottom
    if _plain(_explicit(bottom)).startswith("-"):
        top, bottom = -top, -bottom
    top, bottom = _explicit((top, bottom))
    return top / bottom


def _explicit(value: Any) -> Any:
    try:
        return explicit(value)
    except NotApplicable:
        return value


def _plain(x: Node) -> str:
    return str(text(x))


def write_inverse(sheet: Sheet, robot: Robot, form: ClosedForm, frame: str = "tool") -> None:
    """Write down how one branch of a closed form is found; the signs sigma, which may be chosen, give the others."""
    model = symbolic_robot(robot, "named")
    geometry = geometry_of(model, frame)
    assert geometry is not None
    q = symbols_of(model, "q")
    sheet.section = "Angle by angle"
    derivation = Derivation(sheet)
    held = [Written(x, derivation) if turning else x for x, turning in zip(q, geometry.revolute, strict=True)]
    branch = next(form.solve(_wanted(geometry, form.geometry.lines), held, geometry))
    for x, angle in zip(q, branch.angles, strict=True):
        value = angle.x if isinstance(angle, Written) else angle
        if value is not x:
            sheet.line(f"q_{{{_plain(x)[1:]}}}", "", value)
    derivation.drop_unused()


@dataclass(frozen=True)
class InverseSteps(Steps):
    """The closed form of the inverse kinematics angle by angle; the formats "program" and "python" give its program.

    arm: the robot. form: its closed form, whose family is the `formulation`.
    """

    arm: Robot | None = None
    form: ClosedForm | None = None
    formats: ClassVar[tuple[str, ...]] = (*FORMATS, "program", "python")

    @property
    def title(self) -> str:
        return f"Inverse kinematics of {self.robot}: {self.formulation}"

    @property
    def source(self) -> str:
        if self.format not in ("program", "python"):
            return super().source
        assert self.arm is not None
        assert self.form is not None
        program = all_graph(self.arm, self.form).program("python" if self.format == "python" else "text")
        return (
            f"# {self.title}\n# T: wanted pose; q0: what free joints keep; q: all branches, which exist: 1\n{program}\n"
        )


@takes("elastic", *FRICTIONLESS)
def inverse_equations(
    robot: Robot, *, frame: str = "tool", format: str | None = None, start: str | None = None, quiz: bool = False
) -> InverseSteps:
    """Return the closed form of the inverse kinematics of an arm as equations, angle by angle.

    The wanted pose has columns n, s, a and the position p; of arms whose axes are all parallel it is turned by phi.
    format: text, latex, markdown, html, notebook, json, program, python. start, quiz: fields of `Steps`.
    Raises NotApplicable for arms without closed form.
    """
    form = closed_form(robot, frame) or closed_form(robot, frame, rotation=False)
    if form is None:
        raise no_closed_form(robot)
    sheet = Sheet(NOTATION)
    write_inverse(sheet, robot, form, frame)
    checks: tuple[Check, ...] = ()
    if not reason_against(form):
        holds = certify_inverse(robot, form, 1, random.Random(0))
        checks = (Check("every branch", "forward kinematics in exact arithmetic", holds.takes and holds.finds),)
    lines = tuple(sheet.lines)
    return InverseSteps(robot.name, form.family, NOTATION, lines, checks, format, start, quiz, robot, form)


def _wanted(geometry: Geometry, lines: Lines) -> Pose:
    """The wanted pose in symbols: where all axes are parallel, its rotation is by one angle phi about the first."""
    position = Vec3(*POSE[9:])
    if np.abs(np.cross(lines.h, lines.h[0])).max() > EXACT or not any(geometry.revolute):
        return Pose(Mat3.columns(*(Vec3(*POSE[k : k + 3]) for k in (0, 3, 6))), position)
    turn = Angle(PHI.cos(), PHI.sin())
    columns = (geometry.axes[0].turned(turn, geometry.tool.R.column(j)) for j in range(3))
    return Pose(geometry.base.R @ Mat3.columns(*columns), position)
