"""Base parameters: the smallest set of combinations of standard parameters that determines the torques.

Found twice. The rules of `grouping` give the combinations, each an identity of mechanics, so there are at most as many
base parameters as they leave. The rank of the regressor over random states says that there are no fewer: over exact
rationals a rank needs no threshold, and a rank reached at some states is reached. Where both agree the count is proved.
What rules do not know (closed loops, unusual rotors) is found by elimination in 60 digits: `digits`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from armdyn.algebra import Inertia, Scalar, ops
from armdyn.errors import ArmdynError, ShapeError, unknown_name
from armdyn.graph import Node, closed_form, constant, ordered, symbol, text
from armdyn.mechanics.closed_chain import ClosedMotion
from armdyn.mechanics.dependent_joints import DependentJoints, dependent_joints
from armdyn.parameters import digits
from armdyn.parameters.grouping import Loads, regroup
from armdyn.parameters.regressor import projected, regressor
from armdyn.parameters.standard import (
    INERTIAL,
    StandardParameters,
    parameter_names,
    parameter_unit,
    standard_parameters,
    with_standard_parameters,
)
from armdyn.robot import Robot
from armdyn.robot.features import CLOSED, TREE, takes
from armdyn.robot.transmission import inverse_rows
from armdyn.typing import Array, Scalars

STRUCTURAL_ZEROS = "zeros"
"""Value of `absent`: the parameters that the robot's description gives as 0, such as those of symmetric links."""

RANK_THRESHOLD = 1e-9
"""Smallest singular value that counts, relative to the largest, of a regressor with columns scaled to length 1.

Dependent columns leave 1e-15 times the square root of the size; independent ones of the arms and random robots tried
leave more than 1e-5."""


MORE_STATES = 8
"""States beyond those that give as many rows as there are columns."""

NEGLIGIBLE = 1e-13
"""A coefficient this small is the rounding of a sum that vanishes: coefficients are of the size of lengths squared."""

UNREAD = 1e-5
"""Share of the largest coefficient below which a term of a base parameter is left out in texts, never in numbers."""
MANY_DIGITS = re.compile(r"\d\.\d{7,}|e-\d")
"""Numbers that are rounded in texts."""


@dataclass(frozen=True, eq=False)
class BaseParameters:
    """The map from standard to base parameters: pi_base = matrix @ pi_standard.

    standard: names of the columns of `matrix`. names: of the base parameters, after the standard parameter that each
    contains (an R stands for a regrouped one). columns: as many standard parameters with independent columns of the
    regressor. groups: the base parameters as expressions in the standard ones and the robot's named lengths and angles.
    places: the standard parameter whose place each base parameter takes in the model, all others being 0.
    proved: the count was confirmed over exact rationals; otherwise by elimination in 60 digits.
    gap: of that elimination: the smallest pivot that counts and the largest that is taken for zero, in their columns.
    """

    robot: Robot
    include: tuple[str, ...]
    standard: tuple[str, ...]
    names: tuple[str, ...]
    columns: tuple[str, ...]
    matrix: Array
    groups: Mapping[str, Node]
    places: tuple[str, ...]
    proved: bool
    gap: digits.Gap | None = None

    @property
    def evidence(self) -> str:
        """What the count rests on, in words."""
        if self.proved:
            return "proved over exact rationals"
        if self.gap is None:
            return "not proved"
        return f"by elimination in 60 digits: pivots from {self.gap[0]:.0e} count, up to {self.gap[1]:.0e} are zero"

    @property
    def count(self) -> int:
        """Number of base parameters."""
        return len(self.names)

    @cached_property
    def no_effect(self) -> tuple[str, ...]:
        """Standard parameters that no torque depends on."""
        return tuple(np.array(self.standard)[~self.matrix.any(axis=0)].tolist())

    @cached_property
    def _chosen(self) -> list[int]:
        return [self.standard.index(name) for name in self.columns]

    @cached_property
    def from_columns(self) -> Array:
        """(count, count) from base parameters to the standard parameters `columns`, all others being 0."""
        return np.linalg.inv(self.matrix[:, self._chosen])

    @cached_property
    def values(self) -> Array:
        """(count,) base parameters of the robot itself."""
        return self.from_standard(standard_parameters(self.robot, self.include))

    @cached_property
    def units(self) -> tuple[str, ...]:
        """Units of the base parameters."""
        return tuple(parameter_unit(self.robot, place) for place in self.places)

    def from_standard(self, parameters: StandardParameters | Mapping[str, float] | Sequence[float] | Array) -> Array:
        """(..., count) base parameters of standard ones: a named set, a mapping, or an array in `standard` order."""
        if isinstance(parameters, StandardParameters | Mapping):
            known = parameters.as_dict() if isinstance(parameters, StandardParameters) else parameters
            parameters = [float(known.get(name, 0)) for name in self.standard]
        array = np.asarray(parameters, dtype=float)
        if array.shape[-1:] != (len(self.standard),):
            raise ShapeError(f"parameters of shape {array.shape}", expected=f"(..., {len(self.standard)})")
        return array @ self.matrix.T

    def to_standard(self, base: Sequence[float] | Array) -> Array:
        """(..., p) one set of standard parameters that has these base parameters: zeros outside `columns`."""
        array = np.asarray(base, dtype=float)
        if array.shape[-1:] != (self.count,):
            raise ShapeError(f"base parameters of shape {array.shape}", expected=f"(..., {self.count})")
        standard = np.zeros((*array.shape[:-1], len(self.standard)))
        standard[..., self._chosen] = array @ self.from_columns.T
        return standard

    def robot_with(self, base: Sequence[float] | Array) -> Robot:
        """The robot with other base parameters."""
        values = dict.fromkeys(parameter_names(self.robot, self.include), 0.0)
        values |= dict(zip(self.standard, self.to_standard(base).tolist(), strict=True))
        return with_standard_parameters(self.robot, values)

    @cached_property
    def symbolic_robot(self) -> Robot:
        """The robot with symbols for its base parameters (ZZR1, ...): the model that Khalil's programs are made of.

        Standard parameters that are not included keep their values or names. `bound()` puts the numbers in.
        """
        values: dict[str, Scalar] = dict.fromkeys(parameter_names(self.robot, self.include), 0)
        values |= {place: symbol(name, kind="parameter") for place, name in zip(self.places, self.names, strict=True)}
        known = {**self.robot.symbolic.parameters, **dict(zip(self.names, self.values.tolist(), strict=True))}
        return with_standard_parameters(replace(self.robot.symbolic, parameters=known), values)

    def regressor(self, q: Scalars, qd: Scalars, qdd: Scalars) -> Array:
        """(..., n, count) the matrix with Y_base pi_base = tau, on numbers."""
        names = parameter_names(self.robot, self.include)
        chosen = [names.index(name) for name in self.columns]
        Y: Array = np.asarray(regressor(self.robot, q, qd, qdd, self.include))[..., chosen]
        return Y @ self.from_columns

    @cached_property
    def _has_many_digits(self) -> bool:
        """Whether one of the groups has: all are then written alike."""
        return any(MANY_DIGITS.search(text(group)) for group in self.groups.values())

    def rounded(self, name: str) -> str:
        """A base parameter for reading: as in `groups`, or, if there are numbers of many digits, in five of them.

        Terms below 1e-5 of the largest coefficient are then left out: they stem from rounded angles.
        """
        if not self._has_many_digits:
            return str(text(self.groups[name]))
        row = self.matrix[self.names.index(name)]
        terms: dict[str, list[str]] = {}
        for standard, x in zip(self.standard, row.tolist(), strict=True):
            if abs(x) > UNREAD * np.abs(row).max():
                terms.setdefault(f"{x:.5g}", []).append(standard)
        parts = []
        for x, names in sorted(terms.items(), key=lambda term: term[0] != "1"):
            inside = names[0] if len(names) == 1 else f"({' + '.join(names)})"
            sign, size = ("-", x[1:]) if x.startswith("-") else ("+", x)
            if x == "1":
                inside = " + ".join(names)
            parts.append(f"{sign} {inside}" if size == "1" else f"{sign} {size} {inside}")
        return " ".join(parts).removeprefix("+ ")

    def __str__(self) -> str:
        families = ", ".join(self.include)
        count = f"{self.count} base parameters ({families}) of {len(self.standard)}"
        lines = [f"{self.robot.name}: {count}; {self.evidence}"]
        width = max(map(len, self.names), default=0)
        lines += [f"  {name:{width}} = {text(self.groups[name])}" for name in self.names]
        if self.no_effect:
            lines.append(f"  no effect: {', '.join(self.no_effect)}")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<BaseParameters of {self.robot.name!r}: {self.count} of {len(self.standard)}>"


@takes(*CLOSED, *TREE)
def base_parameters(
    robot: Robot, include: Iterable[str] = ("inertial",), *, absent: Iterable[str] | str = ()
) -> BaseParameters:
    """The base parameters of a robot.

    include: families of standard parameters, "inertial", "rotor", "friction", "offset", "motor", "spring".
    absent: names of parameters known to be zero, or "zeros" for those that the robot's description gives as 0
    (symmetric links).

    >>> import armdyn
    >>> print(base_parameters(armdyn.load("pendulum"), absent="zeros"))
    pendulum: 2 base parameters (inertial) of 5; proved over exact rationals
      ZZ1 = ZZ1
      MX1 = MX1
      no effect: XX1, YY1, M1
    """
    include = (include,) if isinstance(include, str) else tuple(include)
    names = parameter_names(robot, include)
    left_out = _left_out(robot, include, absent)
    known = tuple(name for name in names if name not in left_out)
    numeric = robot.bound()
    symbolic = numeric if _ambiguous(numeric.symbolic.opened, names) else numeric.symbolic

    units = {name: np.eye(len(known))[i] for i, name in enumerate(known)}
    rows = _regrouped(numeric.opened, names, units)
    nodes = _regrouped(symbolic.opened, names, {name: symbol(name, kind="parameter") for name in known})
    kept = [name for name in names if not isinstance(rows[name], int) and np.abs(rows[name]).max() > NEGLIGIBLE]
    matrix = np.array([rows[name] for name in kept]).reshape(len(kept), len(known))
    matrix[np.abs(matrix) < NEGLIGIBLE] = 0.0
    groups = dict(zip(kept, _written([nodes[name] for name in kept]), strict=True))

    proved = not robot.constrained and _exact_rank(numeric, include, known, enough=len(kept)) == len(kept)
    gap = None
    if not proved:
        kept, matrix, groups, gap = _reduced(numeric, include, names, kept, matrix, groups)
        # Asked for one group more than there are, the proof ends when no further state adds one.
        proved = _closes_exactly(numeric) and _exact_rank(numeric, include, known, enough=len(kept) + 1) == len(kept)
    titles = [_title(name, row, known) for name, row in zip(kept, matrix, strict=True)]
    columns = _independent_columns(matrix, known, kept)
    return BaseParameters(
        numeric,
        include,
        known,
        tuple(titles),
        columns,
        matrix,
        dict(zip(titles, groups.values(), strict=True)),
        tuple(kept),
        proved,
        gap,
    )


def _left_out(robot: Robot, include: tuple[str, ...], absent: Iterable[str] | str) -> set[str]:
    standard = standard_parameters(robot.symbolic, include).as_dict()
    if absent == STRUCTURAL_ZEROS:
        return {name for name, value in standard.items() if type(value) is int and value == 0}
    left_out = {absent} if isinstance(absent, str) else set(absent)
    for name in left_out:
        if name not in standard:
            raise unknown_name("parameter", name, standard, where="absent")
    return left_out


def _ambiguous(robot: Robot, names: Sequence[str]) -> bool:
    """A length or angle of the robot has the name of a standard parameter: groups are then written in numbers."""
    geometry = [x for link in robot.links for x in (*link.placement.p, *sum(link.placement.R.rows, ()))]
    nodes = [x for x in (*geometry, *robot.gravity) if isinstance(x, Node)]
    return any(node.op == "symbol" and node.value in names for node in ordered(tuple(nodes)))


def _title(name: str, row: Array, known: Sequence[str]) -> str:
    """ZZ6, or ZZR6 if anything else is in the group."""
    alone = np.count_nonzero(row) == 1 and name in known and row[known.index(name)] == 1
    kind = name.rstrip("0123456789")
    return name if alone else f"{kind}R{name[len(kind) :]}"


# By rules -----------------------------------------------------------------------------------------------------------


def _regrouped(robot: Robot, names: Sequence[str], values: Mapping[str, Scalar]) -> dict[str, Scalar]:
    """The standard parameters after grouping; what has no effect or was moved is the literal 0."""
    known = {name: values.get(name, 0) for name in names}
    joints = range(1, robot.n + 1)

    def all_of(kind: str) -> list[Scalar] | None:
        return [known[f"{kind}{j}"] for j in joints] if f"{kind}1" in known else None

    inertias = [Inertia.from_parameters(*(known.get(f"{kind}{j}", 0) for kind in INERTIAL)) for j in joints]
    loads = regroup(robot, Loads(inertias, all_of("Ia"), all_of("off")))
    for j, body in zip(joints, loads.inertias, strict=True):
        known |= {f"{kind}{j}": value for kind, value in zip(INERTIAL, body.parameters(), strict=True)}
    for kind, moved in (("Ia", loads.rotors), ("off", loads.offsets)):
        if moved is not None:
            known |= {f"{kind}{j}": value for j, value in zip(joints, moved, strict=True)}
    for own, others in _absorbed(robot, [name for name, value in known.items() if not ops.is_zero(value)]):
        known |= {other: ops.add(known[other], ops.mul(sign, known[own])) for other, sign in others.items()}
        known[own] = 0
    return {name: known[name] for name in names}


def _absorbed(robot: Robot, known: Sequence[str]) -> list[tuple[str, dict[str, int]]]:
    """(parameter, others with signs) where the others, of friction, cannot be told apart from it.

    That is friction of a motor that one joint turns, unless the joint's own is of another law than Fc sign(qd) + Fv qd;
    and the offset of a joint with friction of its own in each direction.
    """
    found = []
    for j, row in enumerate(inverse_rows(robot), start=1):
        law = None if (friction := robot.joints[j - 1].friction) is None else friction.law
        alone = sum(not (isinstance(k, int | float) and k == 0) for k in row) == 1
        if alone and law in (None, "coulomb", "stribeck"):
            found += [(f"Fvm{j}", {f"Fv{j}": 1}), (f"Fcm{j}", {f"Fc{j}": 1})]
        elif law == "asymmetric":
            found.append((f"off{j}", {f"Fc{j}": 1, f"Fcn{j}": -1}))
            found += [(f"Fvm{j}", {f"Fv{j}": 1, f"Fvn{j}": 1}), (f"Fcm{j}", {f"Fc{j}": 1, f"Fcn{j}": 1})] * alone
    return [(own, others) for own, others in found if {own, *others} <= set(known)]


def _written(values: Sequence[Scalar]) -> list[Node]:
    """Expressions with like terms together; left as they are where a length or an angle divides."""
    nodes = [value if isinstance(value, Node) else constant(value) for value in values]
    try:
        return list(closed_form(nodes))
    except ArmdynError:
        return nodes


# By rank ------------------------------------------------------------------------------------------------------------


def _closes_exactly(robot: Robot) -> bool:
    """Whether dependent joints follow at whole rates with quarter turns between, so that rational angles stay such."""
    if not robot.constrained or dependent_joints(robot).stages:
        return False
    laws = dependent_joints(robot).linear.values()
    whole = all(float(rate).is_integer() for law in laws for rate in law.rates)
    return whole and all(law.constant == 0 or law.constant in ops.QUARTER_TURNS for law in laws)


def _exact_rank(robot: Robot, include: tuple[str, ...], known: Sequence[str], enough: int) -> int:
    """Rank of the regressor over states, exactly, of the robot with its numbers and angles made rational.

    Counted modulo a prime of 61 bits, which can lose rank but not gain any; so can too few states. States are added
    until `enough` is reached, or long after more could help. Friction columns change sign with qd and no other column
    does, so they are always independent: of one another too, motors that one joint turns being grouped with it. So are
    those of springs, the only ones that grow with an angle or with the position of their own prismatic joint at rest.
    Of closed chains, only those that close exactly can be counted (`_closes_exactly`).
    """
    from flint import fmpq, nmod_mat  # loaded on first use, to keep the start of the library quick

    from armdyn.graph import RationalAngle
    from armdyn.robot.exact import exact

    prime = 2**61 - 1
    view = exact(robot.without("springs"))
    chain = DependentJoints(view, dependent_joints(robot)) if robot.constrained else None
    links = [view.opened.links[k] for k in chain.independent] if chain else view.links
    families = tuple(family for family in include if family not in ("friction", "motor"))
    names = parameter_names(view, families)
    counted = set(known) - {own for own, _ in _absorbed(robot, known)}
    chosen = [i for i, name in enumerate(names) if name in counted]
    apart = sum(name.startswith(("Fv", "Fc", "Fs", "Ks")) for name in counted)
    rng = np.random.default_rng(0)

    def draw(size: int) -> list[Any]:
        return [fmpq(int(a), int(b)) for a, b in zip(rng.integers(-9, 10, size), rng.integers(1, 9, size), strict=True)]

    def residue(x: Any) -> int:
        return int(x.p) * pow(int(x.q), -1, prime) % prime if isinstance(x, fmpq) else int(x) % prime

    rows: list[list[int]] = []
    rank, states = 0, 0
    while rank + apart < enough and states * robot.n < 4 * len(names) + 40:
        for _ in range(max(4, math.ceil(0.4 * len(names) / max(robot.n, 1)))):
            q = [RationalAngle(x) if link.revolute else x for link, x in zip(links, draw(robot.n), strict=True)]
            qd, qdd = draw(robot.n), draw(robot.n)
            if chain is None:
                Y: Any = regressor(view, q, qd, qdd, families)
            else:
                Y = projected(view.opened, ClosedMotion(chain, {"q": q, "qd": qd, "qdd": qdd}), families)
            rows += [[residue(row[i]) for i in chosen] for row in Y]
            states += 1
        rank = nmod_mat(len(rows), len(chosen), [x for row in rows for x in row], prime).rank() if chosen else 0
    return rank + apart


def _reduced(
    robot: Robot,
    include: tuple[str, ...],
    names: Sequence[str],
    kept: list[str],
    matrix: Array,
    groups: dict[str, Node],
) -> tuple[list[str], Array, dict[str, Node], digits.Gap]:
    """Relations between the groups that the rules did not find, such as those of loops: eliminated in many digits."""
    # What the torques depend on is W @ matrix: independent columns of W, then independent rows of the matrix.
    count = math.ceil(len(kept) / max(robot.n, 1)) + MORE_STATES
    W = digits.stacked(robot, include, [names.index(name) for name in kept], count)
    # A description rounds its angles (-1.57079632679): what such a rounding of a tree lets the torques tell, none can.
    chosen, rest, share, gap = digits.dependencies(W, digits.ZERO if robot.constrained else RANK_THRESHOLD)
    matrix = matrix[chosen] + share @ matrix[rest]  # W_rest = W_chosen share, so that dependent groups join the others
    joined = [_joined(groups, kept[c], [kept[r] for r in rest], share[i]) for i, c in enumerate(chosen)]
    kept = [kept[c] for c in chosen]
    groups = dict(zip(kept, _written(joined), strict=True))
    single, *_ = digits.dependencies(matrix.T.tolist(), RANK_THRESHOLD)  # multiples of others are known with them
    return [kept[c] for c in single], matrix[single], {kept[c]: groups[kept[c]] for c in single}, gap


def _joined(groups: Mapping[str, Node], name: str, others: Sequence[str], share: Array) -> Node:
    node = groups[name]
    for other, factor in zip(others, share, strict=True):
        if factor:
            node = node + float(f"{factor:.12g}") * groups[other]
    return node


def _independent_columns(matrix: Array, known: Sequence[str], kept: Sequence[str]) -> tuple[str, ...]:
    """Standard parameters whose columns span the matrix: those that name the groups, where they are there."""
    chosen: list[str] = []
    basis = np.zeros((len(matrix), 0))
    for name in [*(name for name in kept if name in known), *known]:
        if len(chosen) == len(matrix):
            break
        column = matrix[:, known.index(name)]
        rest = column - basis @ (basis.T @ column)
        if name not in chosen and np.linalg.norm(rest) > RANK_THRESHOLD * np.linalg.norm(column):
            basis = np.column_stack([basis, rest / np.linalg.norm(rest)])
            chosen.append(name)
    return tuple(sorted(chosen, key=known.index))


__all__ = ["BaseParameters", "base_parameters"]
