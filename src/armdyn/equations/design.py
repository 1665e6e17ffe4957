"""Conditions on the masses and lengths of a design that make its equations simple, solved from the normal form.

An entry of M or g is a sum of products of sines, cosines and positions, each times a polynomial in the parameters of
the robot. The products are independent functions of the configuration once s^2 = 1 - c^2 is used, so an entry vanishes
for every configuration exactly if all of these polynomials do. They are the conditions. A mass, a moment of inertia
about an axis of the link and the inertia of a rotor are positive: factors of them are divided out, and a sum of
products of them, all of one sign, cannot vanish. Then there is no such design, and that is the proof.

Siciliano sec. 7.3.3 finds the parallelogram that decouples so.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from armdyn.equations.derivation import derive, symbolic_robot
from armdyn.errors import NotApplicable, unknown_name
from armdyn.graph import Node, closed_form, normal_form, text
from armdyn.graph.expression_writer import infix
from armdyn.graph.polynomial import Ring, rational_terms
from armdyn.graph.structure import ordered
from armdyn.notebook_view import Formula, View
from armdyn.result import Result
from armdyn.robot.features import CLOSED, TREE, takes
from armdyn.robot.robot import Robot
from armdyn.typing import Progress

if TYPE_CHECKING:
    from flint import fmpq_mpoly

WANTED = {
    "M diagonal": "the joints' accelerations do not act on each other",
    "M constant": "the mass matrix does not depend on the configuration, and there are no Coriolis torques",
    "g zero": "the arm is balanced: gravity asks nothing of the actuators",
}


@dataclass(frozen=True)
class Condition:
    """A polynomial that must vanish.

    entries: where it comes from, as in M12. factors: its irreducible factors that can vanish; one of them must. Empty
    if none can: every factor is positive, or a sum of products of positive parameters.
    """

    entries: tuple[str, ...]
    polynomial: Node
    factors: tuple[Node, ...]

    @property
    def possible(self) -> bool:
        return bool(self.factors)

    def solved(self, parameter: str) -> Node | None:
        """The value of a parameter for which a factor that is linear in it vanishes; None if there is none."""
        for factor in self.factors:
            found = _linear(factor, parameter)
            if found is not None:
                return found
        return None

    def __str__(self) -> str:
        if not self.possible:
            return f"{text(self.polynomial)} = 0 has no solution"
        return " or ".join(f"{text(factor)} = 0" for factor in self.factors)


@dataclass(frozen=True)
class DesignConditions(Result):
    """What a design must satisfy, condition by condition; all of them must hold.

    robot, wanted: the question. positive: parameters that are taken as positive. conditions: none if the robot has the
    property whatever its parameters are.
    """

    robot: Robot
    wanted: str
    positive: tuple[str, ...]
    conditions: tuple[Condition, ...]

    @property
    def possible(self) -> bool:
        """False if one condition has no solution: no choice of parameters gives the property. That is a proof.

        True says that each condition by itself can hold, not that all of them can at once.
        """
        return all(condition.possible for condition in self.conditions)

    @property
    def always(self) -> bool:
        """Whether there is nothing to satisfy."""
        return not self.conditions

    def _view(self) -> View:
        if self.always:
            verdict = "holds for all values of the parameters"
        elif self.possible:
            verdict = f"{len(self.conditions)} condition{'s' if len(self.conditions) > 1 else ''}"
        else:
            verdict = "no values of the parameters give it"
        rows = [
            (f"from {', '.join(condition.entries)}", [Formula("", "", str(condition))]) for condition in self.conditions
        ]
        facts = [("wanted", f"{self.wanted}: {WANTED[self.wanted]}")]
        facts += [("taken as positive", ", ".join(self.positive))] if self.positive else []
        notes = ["Each line must hold; of several alternatives in a line, one."] if self.conditions else []
        return View(f"Design conditions of {self.robot.name}", (verdict, True), facts, rows, notes=notes)

    def record(self) -> dict[str, Any]:
        """The conditions as texts that Python and SymPy can read."""
        return {
            "robot": self.robot.name,
            "wanted": self.wanted,
            "possible": self.possible,
            "always": self.always,
            "positive": list(self.positive),
            "conditions": [
                {
                    "entries": list(each.entries),
                    "polynomial": infix(each.polynomial),
                    "factors": list(map(infix, each.factors)),
                    "possible": each.possible,
                }
                for each in self.conditions
            ],
        }


@takes(*CLOSED, *TREE)
def design_conditions(
    robot: Robot, wanted: str, *, symbols: str = "named", progress: Progress | None = None
) -> DesignConditions:
    """The polynomial conditions on a robot's parameters under which M is diagonal or constant, or g vanishes.

    wanted: "M diagonal", "M constant" or "g zero".
    symbols: "named", the parameters of the robot's file; or "inertial", ten standard parameters per link.
    progress: as in `derive`.

    >>> import armdyn
    >>> found = armdyn.design_conditions(armdyn.load("planar2r"), "g zero")
    >>> "l2 = 0" in map(str, found.conditions), found.possible
    (True, True)
    """
    if wanted not in WANTED:
        raise unknown_name("property of a design", wanted, WANTED, where="armdyn.design_conditions")
    if symbols == "base":
        raise NotApplicable(
            "conditions on base parameters",
            where="armdyn.design_conditions",
            expected='symbols="named" or "inertial": base parameters are sums, so that their signs are not known',
        )
    equations = derive(robot, symbols=symbols, progress=progress)
    n = range(equations.size_of_x)
    M, g = equations.raw["M"], equations.raw["g"]
    if wanted == "M diagonal":
        entries = {f"M{i + 1}{j + 1}": M[i][j] for i in n for j in n if i < j}
    elif wanted == "M constant":
        entries = {f"M{i + 1}{j + 1}": M[i][j] for i in n for j in n if i <= j}
    else:
        entries = {f"g{i + 1}": g[i] for i in n}
    positive = tuple(sorted(_positive(symbolic_robot(robot.opened, symbols))))
    weight = {str(each.value) for x in robot.symbolic.gravity for each in _symbols(x)}
    found: dict[str, tuple[list[str], Node]] = {}
    moving = wanted == "M constant"
    for name, polynomial in _coefficients(entries, moving=moving):
        found.setdefault(infix(polynomial), ([], polynomial))[0].append(name)
    conditions = [
        Condition(tuple(dict.fromkeys(names)), polynomial, tuple(_factors(polynomial, {*positive}, weight)))
        for names, polynomial in found.values()
    ]
    return DesignConditions(equations.robot, wanted, positive, tuple(_distinct(conditions)))


def _coefficients(entries: dict[str, Any], *, moving: bool) -> Iterator[tuple[str, Node]]:
    """(entry, factor) of each product of sines, cosines and positions; moving: without what depends on none."""
    form = normal_form(entries)
    ring = form.ring
    turning = [index for index, unit in enumerate(ring.angles) if any(x.online for x in _symbols(unit))]
    count = len(ring.angles)
    places = [k + offset for k in turning for offset in (0, count)]
    places += [2 * count + k for k, each in enumerate(ring.symbols) if each.online]
    generators = [*(unit.sin() for unit in ring.angles), *(unit.cos() for unit in ring.angles), *ring.symbols]
    for name, node in form.nodes.items():
        parts: dict[tuple[int, ...], Node] = {}
        for exponents, value in rational_terms(ring.polynomial(node)).items():
            key = tuple(exponents[place] for place in places)
            if moving and not any(key):
                continue
            term: Any = value if value.denominator != 1 else int(value)
            for place, power in enumerate(exponents):
                for _ in range(0 if place in places else power):
                    term = generators[place] * term
            parts[key] = parts[key] + term if key in parts else 0 * generators[0] + term
        for polynomial in parts.values():
            yield name, closed_form(polynomial)


def _factors(polynomial: Node, positive: set[str], weight: set[str]) -> Iterator[Node]:
    """Irreducible factors that can vanish; weight: letters of gravity, which no design makes zero."""
    nodes = ordered([polynomial])
    ring = Ring(nodes, [polynomial])
    generators = [*(unit.sin() for unit in ring.angles), *(unit.cos() for unit in ring.angles), *ring.symbols]
    _, factors = ring.polynomial(polynomial).factor()
    for factor, _ in factors:
        used = {k for exponents in factor.to_dict() for k, power in enumerate(exponents) if power}
        if used and not _signed(factor, generators, positive | weight):
            made = sum(
                (_product(value, exponents, generators) for exponents, value in rational_terms(factor).items()),
                0 * generators[0],
            )
            yield closed_form(made)


def _product(value: Any, exponents: Sequence[int], generators: Sequence[Node]) -> Node:
    term: Any = value if value.denominator != 1 else int(value)
    for generator, power in zip(generators, exponents, strict=True):
        for _ in range(power):
            term = generator * term
    return term if isinstance(term, Node) else 0 * generators[0] + term


def _signed(factor: fmpq_mpoly, generators: Sequence[Node], positive: set[str]) -> bool:
    """Whether a polynomial cannot vanish: terms of one sign in even powers and positive letters, one of them in these
    letters alone.
    """
    terms = rational_terms(factor)
    if len({value > 0 for value in terms.values()}) != 1:
        return False
    known = [generator.op == "symbol" and str(generator.value) in positive for generator in generators]
    even = all(sure or power % 2 == 0 for exponents in terms for sure, power in zip(known, exponents, strict=True))
    alone = any(all(sure or power == 0 for sure, power in zip(known, exponents, strict=True)) for exponents in terms)
    return even and alone


def _positive(robot: Robot) -> set[str]:
    """Letters that stand alone for a mass, a moment of inertia about an axis or the inertia of a rotor."""
    found: set[str] = set()
    for joint in robot.tree:
        body = joint.body.inertia
        tensor = body.tensor.upper()
        values = [body.mass, tensor[0], tensor[3], tensor[5]]
        values += [joint.rotor.inertia, joint.rotor.mass] if joint.rotor is not None else []
        found |= {str(x.value) for x in values if isinstance(x, Node) and x.op == "symbol"}
    return found


def _symbols(x: Any) -> list[Node]:
    return [each for each in ordered([x]) if each.op == "symbol"] if isinstance(x, Node) else []


def _distinct(conditions: Iterable[Condition]) -> list[Condition]:
    """Conditions with the same factors once; one that another implies is left out."""
    found: dict[tuple[str, ...], Condition] = {}
    for each in conditions:
        key = tuple(sorted(map(infix, each.factors))) if each.factors else (infix(each.polynomial),)
        old = found.get(key)
        entries = each.entries if old is None else tuple(dict.fromkeys((*old.entries, *each.entries)))
        found[key] = Condition(entries, each.polynomial, each.factors)
    alternatives = {key: set(key) for key, each in found.items() if each.factors}
    implied = {
        key
        for key, own in alternatives.items()
        for other, theirs in alternatives.items()
        if other != key and theirs < own
    }
    return [each for key, each in found.items() if key not in implied]


def _linear(factor: Node, parameter: str) -> Node | None:
    """-b/a of a x + b, where x does not occur in a and b."""
    ring = Ring(ordered([factor]), [factor])
    generators = [*(unit.sin() for unit in ring.angles), *(unit.cos() for unit in ring.angles), *ring.symbols]
    place = next((k for k, x in enumerate(generators) if x.op == "symbol" and str(x.value) == parameter), None)
    terms = rational_terms(ring.polynomial(factor))
    if place is None or {exponents[place] for exponents in terms} - {0, 1} or not any(e[place] for e in terms):
        return None
    zero = 0 * generators[0]
    a, b = zero, zero
    for exponents, value in terms.items():
        rest = tuple(0 if k == place else power for k, power in enumerate(exponents))
        part = _product(value, rest, generators)
        a, b = (a + part, b) if exponents[place] else (a, b - part)
    found: Node = closed_form(b) / closed_form(a)
    return found


__all__ = ["Condition", "DesignConditions", "design_conditions"]
