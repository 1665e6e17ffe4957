"""Proof that the formulations agree: exact arithmetic at random points, with a bound on the chance of error.

Two formulas that differ as polynomials of degree d can coincide at a random point of a grid of size |S| in each
coordinate with probability at most d/|S| (Schwartz, Zippel). Everything is evaluated over rationals, so there is no
tolerance; a revolute joint is a rational point of the unit circle. The inertial parameters are random too: what is
certified holds for any masses on this robot's geometry. The bound speaks of polynomials; forward dynamics divides, so
that it inverts inverse dynamics is checked at the points, exactly, without a bound of its own.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from math import floor, log10
from typing import Any

from flint import fmpq

from armdyn.algebra import Dual, Inertia, dot_of
from armdyn.equations import closed_certificate, elastic_certificate
from armdyn.equations.closed_certificate import ClosedPoint
from armdyn.equations.degree import Degree, degree_of
from armdyn.equations.derivation import must_move
from armdyn.equations.elastic_certificate import SoftPoint, SpringAngle
from armdyn.equations.inverse_certificate import certify_inverse, reason_against
from armdyn.equations.projection import must_not_be_soft_and_closed
from armdyn.errors import ArmdynError, NotApplicable, required_count
from armdyn.graph import RationalAngle
from armdyn.kinematics.closed_form import closed_form
from armdyn.mechanics import doubled
from armdyn.mechanics.registry import FORMULATIONS, Formulation
from armdyn.notebook_view import View
from armdyn.result import Result
from armdyn.robot.compounds import between, position_rates
from armdyn.robot.coordinates import coordinates
from armdyn.robot.exact import exact
from armdyn.robot.features import CLOSED, FREE, TREE, takes
from armdyn.robot.robot import Robot
from armdyn.tables import Column, Section
from armdyn.typing import Matrix, Progress

BITS = 62
"""Coordinates of a point are drawn from 2^62 integers."""
MOST_POINTS = 1000
REFERENCE = "newton_euler"


@dataclass(frozen=True)
class Check:
    """One statement and whether it held at every point."""

    statement: str
    formulation: str
    holds: bool


@dataclass(frozen=True)
class Certificate(Result):
    """What was checked, at how many points, and how likely a false agreement is."""

    robot: str
    checks: tuple[Check, ...]
    left_out: tuple[str, ...]
    """Terms that are the same everywhere, and statements about formulations that do not cover this robot."""
    points: int
    seed: int
    degree: int
    error_probability: float

    @property
    def holds(self) -> bool:
        return all(check.holds for check in self.checks)

    @property
    def _where(self) -> str:
        return f"{self.points} random point" + "s" * (self.points != 1)

    def _view(self) -> View:
        failed = [check for check in self.checks if not check.holds]
        verdict = (
            f"all {len(self.checks)} checks hold, in exact arithmetic at {self._where}"
            if not failed
            else f"{len(failed)} of {len(self.checks)} checks fail: with exact numbers, one difference is a disproof"
        )
        facts = [
            ("exact at", f"{self._where} over rational numbers"),
            (
                "chance of error",
                f"below {_power_of_ten_above(self.error_probability)}: different formulas of degree "
                f"{self.degree} or less would agree at all points",
            ),
        ]
        heads = _heads(check.statement for check in self.checks)
        meanings = Section(
            "Columns", (Column(""), Column("statement", folds=True)), tuple((h, s) for s, h in heads.items())
        )
        failures = tuple(f"Fails: {check.statement} ({check.formulation})" for check in failed)
        return View(
            f"Certificate of {self.robot}",
            (verdict, not failed),
            facts,
            (),
            (self._matrix(heads), meanings),
            notes=(*failures, *(f"Left out: {each}" for each in self.left_out)),
        )

    def _matrix(self, heads: Mapping[str, str]) -> Section:
        """Formulations below one another, statements side by side."""
        held = {(check.formulation, check.statement): check.holds for check in self.checks}

        def cell(name: str, statement: str) -> str:
            if (name, statement) in held:
                return "✓" if held[name, statement] else "✗"
            return "ref" if name == REFERENCE and statement.startswith("same") else ""

        names = dict.fromkeys(check.formulation for check in self.checks)
        rows = tuple((name, *(cell(name, statement) for statement in heads)) for name in names)
        return Section("Checks", (Column("formulation"), *map(Column, heads.values())), rows)

    def record(self) -> dict[str, Any]:
        """Everything the certificate holds, as plain values."""
        checks = [{"statement": c.statement, "formulation": c.formulation, "holds": c.holds} for c in self.checks]
        return {
            "robot": self.robot,
            "holds": self.holds,
            "points": self.points,
            "seed": self.seed,
            "degree": self.degree,
            "error_probability": self.error_probability,
            "checks": checks,
            "left_out": list(self.left_out),
        }


INVERSE = "inverse kinematics"
HEADS = {
    "same torques, tip wrench included": "tau",
    "same mass matrix": "M",
    "same Coriolis and centrifugal torques": "C qd",
    "same gravity torques": "g",
    "M symmetric": "sym",
    "M positive definite, with the robot's own inertias": "M>0",
    "Mdot - 2C skew-symmetric, C qd right": "skew",
    "kinetic energy is qd . M qd / 2": "T",
    "power: qd . tau = dE/dt": "power",
    "forward dynamics inverts inverse dynamics": "qdd",
    "torques linear in the inertial parameters": "lin",
    "every branch takes the pose": "pose",
    "the configuration is among the branches": "all",
}
"""Statement -> head of its column. Any other statement gets a number."""


def _heads(statements: Iterable[str]) -> dict[str, str]:
    """Statement -> head of its column, in the order of HEADS, then all others."""
    made = set(statements)
    heads = {statement: head for statement, head in HEADS.items() if statement in made}
    return heads | {statement: f"({i})" for i, statement in enumerate(sorted(made - set(heads)), 1)}


def _power_of_ten_above(probability: float) -> str:
    """2e-49 -> "1e-48"."""
    return f"1e{floor(log10(probability)) + 1}" if 0 < probability < 1 else f"{probability:.0e}"


@dataclass(frozen=True)
class Point:
    """One random state of a robot with random inertias."""

    robot: Robot
    q: Sequence[Any]
    qd: Sequence[Any]
    qdd: Sequence[Any]
    wrench: Sequence[Any]


@takes(*CLOSED, "elastic", *TREE, *FREE)
def certify(
    robot: Robot,
    *,
    points: int = 3,
    seed: int = 0,
    formulations: Sequence[Formulation] = FORMULATIONS,
    progress: Progress | None = None,
) -> Certificate:
    """Exact agreement of all formulations on a robot, and the laws every model must obey.

    points: number of random states, 1 to 1000. Friction and springs across joints are left out (they are the same terms
    everywhere); elastic joints are certified in their doubled model. Returns a Certificate: `.holds`, `.points`,
    `.error_probability`, `.checks`, `.left_out`.
    """
    must_move(robot)
    required_count("points", points, "certify", most=MOST_POINTS)
    if not formulations:
        raise ArmdynError("no formulation", where="certify", expected="at least one, as in armdyn.formulations()")
    must_not_be_soft_and_closed(robot)
    rubless = robot.without("friction", "springs")
    rigid = replace(rubless, tree=tuple(replace(joint, elastic=None) for joint in rubless.tree))
    draws = random.Random(seed)
    tree = rigid.opened
    states = [_random_point(exact(tree), draws) for _ in range(points)]
    cases: list[tuple[str, str, Callable[[Any], bool], Sequence[Any]]] = []
    cases += [(*each, states) for each in _statements(formulations)]
    if rigid.constrained:
        closed = [_random_closed_point(exact(rigid), draws) for _ in range(points)]
        cases += [(*each, closed) for each in closed_certificate.statements(formulations)]
    if "elastic" in rubless.features:
        soft = [_random_soft_point(exact(rubless), draws) for _ in range(points)]
        cases += [(*each, soft) for each in elastic_certificate.statements()]
    checks: list[Check] = []
    left_out = [f"{part} is the same term in all formulations" for part in rigid.left_out if part not in robot.left_out]
    for k, (statement, formulation, test, places) in enumerate(cases):
        if progress:
            progress(f"{statement} ({formulation})", k / len(cases))
        try:
            checks.append(Check(statement, formulation, all(test(place) for place in places)))
        except NotApplicable as error:
            left_out.append(f"{statement} ({formulation}): {error.what}")
    checks.append(Check("M positive definite, with the robot's own inertias", "composite_body", _definite(tree, draws)))
    degree = max(_degree(tree, formulations), _soft_degree(rubless))
    chance = (degree / 2.0**BITS) ** points
    placed = rigid if "elastic" in robot.features else robot  # where a tool is, only links decide
    form = closed_form(placed) or closed_form(placed, rotation=False)
    against = "" if form is None else reason_against(form)
    if against:
        left_out.append(f"inverse kinematics: {against}")
    elif form is not None:
        inverse = certify_inverse(placed, form, points, draws)
        checks.append(Check("every branch takes the pose", INVERSE, inverse.takes))
        checks.append(Check("the configuration is among the branches", INVERSE, inverse.finds))
        chance += inverse.error_probability
    return Certificate(robot.name, tuple(checks), tuple(left_out), points, seed, degree, chance)


# The points -----------------------------------------------------------------------------------------------------


def _integer(draws: random.Random) -> Any:
    return fmpq(draws.getrandbits(BITS) - (1 << (BITS - 1)))


def _state(robot: Robot, draws: random.Random) -> list[Any]:
    joints = [RationalAngle(_integer(draws)) if link.revolute else _integer(draws) for link in robot.links]
    for span in reversed(robot.compounds):  # quaternions may have any length
        joints[span.velocities] = _vector(span.positions.stop - span.start, draws)
    return joints


def _vector(n: int, draws: random.Random) -> list[Any]:
    return [_integer(draws) for _ in range(n)]


def with_inertias(robot: Robot, draw: Callable[[], Any]) -> Robot:
    """The robot with ten drawn inertial parameters on every body that may have any."""
    frames = between(robot.tree)
    tree = [
        joint
        if joint.body.name in frames
        else replace(joint, body=replace(joint.body, inertia=Inertia.from_parameters(*(draw() for _ in range(10)))))
        for joint in robot.tree
    ]
    return replace(robot, tree=tuple(tree), expressions=None)


def _random_point(robot: Robot, draws: random.Random) -> Point:
    n = robot.n
    robot = with_inertias(robot, lambda: _integer(draws))
    return Point(robot, _state(robot, draws), _vector(n, draws), _vector(n, draws), _vector(6, draws))


def _random_closed_point(robot: Robot, draws: random.Random) -> ClosedPoint:
    n, q_all = robot.n, _state(robot.opened, draws)
    moved = closed_certificate.with_closed_loops(with_inertias(robot, lambda: _integer(draws)), q_all)
    return ClosedPoint(moved, q_all, _vector(n, draws), _vector(n, draws), _vector(6, draws))


def _random_soft_point(robot: Robot, draws: random.Random) -> SoftPoint:
    size = coordinates(robot).size
    robot = with_inertias(robot, lambda: _integer(draws))
    x = [SpringAngle(*_vector(2, draws)) if link.revolute else _integer(draws) for link in robot.links]
    x += _vector(size - robot.n, draws)
    return SoftPoint(robot, x, _vector(size, draws), _vector(size, draws))


# The statements -------------------------------------------------------------------------------------------------

Test = Callable[[Point], bool]


def _statements(formulations: Sequence[Formulation]) -> Iterator[tuple[str, str, Test]]:
    reference = next(f for f in FORMULATIONS if f.name == REFERENCE)
    for formulation in formulations:
        for quantity, statement, arguments in _AGREEMENTS:
            if quantity in formulation.gives and formulation.name != REFERENCE:
                yield (
                    statement,
                    formulation.name,
                    _same(reference.function(quantity), formulation.function(quantity), arguments),
                )
        for quantity, statement, law in _LAWS:
            if quantity in formulation.gives:
                yield statement, formulation.name, _bind(law, formulation, reference)


def _same(ours: Callable[..., Any], theirs: Callable[..., Any], arguments: Callable[[Point], tuple[Any, ...]]) -> Test:
    return lambda at: bool(ours(at.robot, *arguments(at)) == theirs(at.robot, *arguments(at)))


def _bind(law: Callable[[Formulation, Formulation, Point], bool], ours: Formulation, reference: Formulation) -> Test:
    return lambda at: law(ours, reference, at)


_AGREEMENTS: tuple[tuple[str, str, Callable[[Point], tuple[Any, ...]]], ...] = (
    ("inverse_dynamics", "same torques, tip wrench included", lambda at: (at.q, at.qd, at.qdd, at.wrench)),
    ("mass_matrix", "same mass matrix", lambda at: (at.q,)),
    ("coriolis", "same Coriolis and centrifugal torques", lambda at: (at.q, at.qd)),
    ("gravity", "same gravity torques", lambda at: (at.q,)),
)


def _is_symmetric(ours: Formulation, reference: Formulation, at: Point) -> bool:
    M = ours.function("mass_matrix")(at.robot, at.q)
    return bool(tuple(zip(*M, strict=True)) == M)


def _is_skew(ours: Formulation, reference: Formulation, at: Point) -> bool:
    """Mdot - 2C + (Mdot - 2C)^T = 0, and C qd are the Coriolis torques."""
    moving = _moving(at)
    Mdot = [[dot_of(x) for x in row] for row in ours.function("mass_matrix")(at.robot, moving)]
    C = ours.function("coriolis_matrix")(at.robot, at.q, at.qd)
    n = range(at.robot.n)
    skew = all(Mdot[i][j] - 2 * C[i][j] + Mdot[j][i] - 2 * C[j][i] == 0 for i in n for j in n)
    torques = tuple(sum((C[i][j] * at.qd[j] for j in n), 0 * at.qd[0]) for i in n)
    return skew and torques == reference.function("coriolis")(at.robot, at.q, at.qd)


def _moving(at: Point) -> list[Any]:
    """The positions with their rates."""
    rates = position_rates(at.robot.compounds, at.q, at.qd) if at.robot.compounds else at.qd
    return [Dual(x, rate) for x, rate in zip(at.q, rates, strict=True)]


def _is_kinetic_energy(ours: Formulation, reference: Formulation, at: Point) -> bool:
    """2 T = qd . M qd."""
    M, n = reference.function("mass_matrix")(at.robot, at.q), range(at.robot.n)
    twice = sum((at.qd[i] * M[i][j] * at.qd[j] for i in n for j in n), 0 * at.qd[0])
    return bool(2 * ours.function("kinetic_energy")(at.robot, at.q, at.qd) == twice)


def _balances_power(ours: Formulation, reference: Formulation, at: Point) -> bool:
    """Qd . tau = d/dt (kinetic + potential energy)."""
    q = _moving(at)
    qd = [Dual(x, rate) for x, rate in zip(at.qd, at.qdd, strict=True)]
    energy = ours.function("kinetic_energy")(at.robot, q, qd) + ours.function("potential_energy")(at.robot, q)
    torques = reference.function("inverse_dynamics")(at.robot, at.q, at.qd, at.qdd)
    return bool(sum(tau * rate for tau, rate in zip(torques, at.qd, strict=True)) == dot_of(energy))


def _inverts(ours: Formulation, reference: Formulation, at: Point) -> bool:
    """Forward dynamics returns the accelerations given to inverse dynamics."""
    tau = reference.function("inverse_dynamics")(at.robot, at.q, at.qd, at.qdd, at.wrench)
    return tuple(ours.function("forward_dynamics")(at.robot, at.q, at.qd, tau, at.wrench)) == tuple(at.qdd)


def _is_linear(ours: Formulation, reference: Formulation, at: Point) -> bool:
    """tau(p1 + p2) = tau(p1) + tau(p2) in the inertial parameters."""
    robot, numbers = at.robot.without("rotors"), count(1)
    other = with_inertias(robot, lambda: fmpq(next(numbers)))
    both = replace(robot, tree=tuple(_joined(a, b) for a, b in zip(robot.tree, other.tree, strict=True)))
    one, two, sum_ = (ours.function("inverse_dynamics")(r, at.q, at.qd, at.qdd) for r in (robot, other, both))
    return all(a + b == c for a, b, c in zip(one, two, sum_, strict=True))


def _joined(a: Any, b: Any) -> Any:
    return replace(a, body=replace(a.body, inertia=a.body.inertia.at_origin() + b.body.inertia.at_origin()))


_LAWS: tuple[tuple[str, str, Callable[[Formulation, Formulation, Point], bool]], ...] = (
    ("mass_matrix", "M symmetric", _is_symmetric),
    ("coriolis_matrix", "Mdot - 2C skew-symmetric, C qd right", _is_skew),
    ("kinetic_energy", "kinetic energy is qd . M qd / 2", _is_kinetic_energy),
    ("potential_energy", "power: qd . tau = dE/dt", _balances_power),
    ("forward_dynamics", "forward dynamics inverts inverse dynamics", _inverts),
    ("inverse_dynamics", "torques linear in the inertial parameters", _is_linear),
)


def _definite(robot: Robot, draws: random.Random, samples: int = 5) -> bool:
    """All leading minors of M are positive, exactly, at random positions, with the inertias as given."""
    composite = next(f for f in FORMULATIONS if f.name == "composite_body").function("mass_matrix")
    numbers = exact(robot)
    return all(_minors_positive(composite(numbers, _state(numbers, draws))) for _ in range(samples))


def _minors_positive(M: Matrix) -> bool:
    rows = [list(row) for row in M]
    for k in range(len(rows)):
        if not rows[k][k] > 0:
            return False
        for i in range(k + 1, len(rows)):
            factor = rows[i][k] / rows[k][k]
            rows[i] = [a - factor * b for a, b in zip(rows[i], rows[k], strict=True)]
    return True


def _degree(robot: Robot, formulations: Sequence[Formulation]) -> int:
    """Bound on the degree, in all random coordinates, of any torque any formulation computes.

    A polynomial of degree d in cosines and sines, each a quotient over 1 + t^2 in the half-tangent t, has a numerator
    of degree at most 2 d per angle; a quotient by a mass likewise.
    """
    n = robot.nq
    positions, variables = [Degree(1)] * n, [Degree(1)] * robot.n
    shadow = with_inertias(robot.mapped(lambda x: x), lambda: Degree(1))
    degrees = [
        degree_of(f.function("inverse_dynamics")(shadow, positions, variables, variables, [Degree(1)] * 6))
        for f in formulations
        if "inverse_dynamics" in f.gives
    ]
    return 2 * max(degrees) * (n + len(robot.tree))


def _soft_degree(robot: Robot) -> int:
    """The same of the doubled model of elastic joints; 0 if there are none."""
    if "elastic" not in robot.features:
        return 0
    size = coordinates(robot).size
    shadow = with_inertias(robot.mapped(lambda x: x), lambda: Degree(1))
    state = [[Degree(1)] * size for _ in range(3)]
    return 2 * degree_of(list(doubled.inverse_dynamics.formula(shadow, *state))) * (size + len(robot.tree))
