"""The standard parameters of a robot: named vectors, and robots made from them.

Per joint, in the order of `armdyn.conventions.STANDARD_PARAMETERS`: the ten inertial parameters of its link (002 sec.
7.3.3, 004 (7.77)), in the frame whose z is the joint axis (`robot.links`); the rotor inertia seen at the joint, Ia; the
friction coefficients Fv and Fc; a constant torque. Numbers of joints are appended: XX1 ... off1, XX2 ...

Links are the augmented ones of 004 sec. 7.2.2: what is fixed to a link and what a full rotor mounted on it weighs at
rest belong to it. Ia is ratio^2 times the rotor's inertia in both rotor models; they differ in what it does.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from armdyn.algebra import Inertia, Scalar, ops
from armdyn.conventions import STANDARD_PARAMETERS
from armdyn.errors import RobotError, ShapeError, unknown_name
from armdyn.graph import Node
from armdyn.robot import Robot
from armdyn.robot.links import WORLD, Assembly, Spin
from armdyn.robot.parts import Body, Friction, Joint, Rotor

INERTIAL = STANDARD_PARAMETERS[:10]
FAMILIES: dict[str, tuple[str, ...]] = {
    "inertial": INERTIAL,
    "rotor": ("Ia",),
    "friction": ("Fv", "Fc"),
    "offset": ("off",),
}
"""What can be included, and the parameters of one joint that it means."""


@dataclass(frozen=True)
class StandardParameters:
    """Names and values, in one order; values are numbers, or expressions in the robot's named parameters."""

    names: tuple[str, ...]
    values: tuple[Scalar, ...]

    def __getitem__(self, name: str) -> Scalar:
        if name not in self.names:
            raise unknown_name("parameter", name, self.names)
        return self.values[self.names.index(name)]

    def __iter__(self) -> Iterator[Scalar]:
        return iter(self.values)

    def __len__(self) -> int:
        return len(self.names)

    def as_dict(self) -> dict[str, Scalar]:
        return dict(zip(self.names, self.values, strict=True))

    def array(self) -> np.ndarray[Any, Any]:
        """(p,) numbers."""
        return np.array([float(value) for value in self.values])

    def __str__(self) -> str:
        width = max(map(len, self.names), default=0)
        return "\n".join(f"{name:{width}}  {value}" for name, value in self.as_dict().items())


def included(include: Iterable[str]) -> tuple[str, ...]:
    """The parameters of one joint in the families asked for, in the order of the conventions."""
    wanted = (include,) if isinstance(include, str) else tuple(include)
    for family in wanted:
        if family not in FAMILIES:
            raise unknown_name("family of parameters", family, FAMILIES, where="include")
    names = {name for family in wanted for name in FAMILIES[family]}
    return tuple(name for name in STANDARD_PARAMETERS if name in names)


def parameter_names(robot: Robot, include: Iterable[str] = tuple(FAMILIES)) -> tuple[str, ...]:
    """Names of the standard parameters, joint by joint: XX1, XY1, ...

    >>> import armdyn
    >>> parameter_names(armdyn.load("pendulum"), ("rotor", "friction"))
    ('Ia1', 'Fv1', 'Fc1')
    """
    kinds = included(include)
    return tuple(f"{kind}{j + 1}" for j in range(robot.n) for kind in kinds)


def standard_parameters(robot: Robot, include: Iterable[str] = tuple(FAMILIES)) -> StandardParameters:
    """The standard parameters of a robot; of `robot.symbolic` they are expressions.

    include: which of "inertial", "rotor", "friction", "offset".
    """
    kinds = included(include)
    rotors = seen_at_joints(robot)
    values: list[Scalar] = []
    for joint, link, Ia in zip(robot.joints, robot.links, rotors, strict=True):
        friction = joint.friction or Friction()
        own = (*link.inertia.parameters(), Ia, friction.viscous, friction.coulomb, 0)
        known = dict(zip(STANDARD_PARAMETERS, own, strict=True))
        values += [known[kind] for kind in kinds]
    return StandardParameters(parameter_names(robot, include), tuple(values))


def seen_at_joints(robot: Robot) -> list[Scalar]:
    """Ia of every joint: ratio^2 inertia of its rotor. 002 [7.29]"""
    rotors: list[Scalar] = [0] * robot.n
    for spin in robot.spins:
        rotors[spin.joint] = ops.add(rotors[spin.joint], ops.mul(spin.ratio, ops.mul(spin.ratio, spin.inertia)))
    return rotors


# A robot with other parameters ------------------------------------------------------------------------------------


def with_standard_parameters(robot: Robot, values: Mapping[str, Scalar] | StandardParameters) -> Robot:
    """The same robot with other values of the standard parameters named; the others stay.

    A rotor keeps its model and ratio; a joint without one gets a reflected rotor. A robot has no torque offsets, so
    `off` must be 0.

    >>> import armdyn
    >>> robot = armdyn.load("pendulum")
    >>> lighter = with_standard_parameters(robot, {"M1": 0.5})
    >>> standard_parameters(lighter)["M1"]
    0.5
    """
    given = values.as_dict() if isinstance(values, StandardParameters) else dict(values)
    known = standard_parameters(robot).as_dict()
    for name, value in given.items():
        if name not in known:
            raise unknown_name("parameter", name, known, where=f"robot {robot.name!r}")
        if name.startswith("off") and not (isinstance(value, int | float) and value == 0):
            raise RobotError(f"{name} = {value}: a robot has no torque offsets", where=f"robot {robot.name!r}",
                             advice="Add the offsets to the torques yourself.")  # fmt: skip
    known |= given
    inertias = [Inertia.from_parameters(*(known[f"{kind}{j + 1}"] for kind in INERTIAL)) for j in range(robot.n)]
    joints = {
        joint.name: _driven(joint, j + 1, known, {name for name in given if name.endswith(str(j + 1))})
        for j, joint in enumerate(robot.joints)
    }
    driven = replace(robot, tree=tuple(joints.get(joint.name, joint) for joint in robot.tree), expressions=None)
    return with_links(driven, inertias)


def _driven(joint: Joint, number: int, known: Mapping[str, Scalar], given: set[str]) -> Joint:
    """The joint with the rotor and friction asked for."""
    if f"Ia{number}" in given:
        rotor, Ia = joint.rotor or Rotor(), known[f"Ia{number}"]
        inertia = Ia if type(rotor.ratio) is int and rotor.ratio == 1 else Ia / (rotor.ratio * rotor.ratio)
        joint = replace(joint, rotor=replace(rotor, inertia=inertia))
    if given & {f"Fv{number}", f"Fc{number}"}:
        friction = replace(joint.friction or Friction(), viscous=known[f"Fv{number}"], coulomb=known[f"Fc{number}"])
        joint = replace(joint, friction=friction)
    return joint


def with_links(robot: Robot, inertias: Sequence[Inertia], rotorless: Iterable[str] = ()) -> Robot:
    """The same robot, its links having these inertias (in `robot.links` frames).

    Every moving body gets what its link needs, in its own frame; bodies fixed to it become weightless. Joints named in
    `rotorless` lose their rotor (whose inertia is then expected among the inertias).
    """
    if len(inertias) != robot.n:
        raise ShapeError(
            f"{len(inertias)} inertias", where=f"robot {robot.name!r}", expected=f"{robot.n}, one per link"
        )
    left_out = set(rotorless)
    hollow = []
    for joint in robot.tree:
        body = joint.body if robot.frame(joint.body.name).link == WORLD else Body(joint.body.name, Inertia.zero())
        hollow.append(replace(joint, body=body, rotor=None if joint.name in left_out else joint.rotor))
    symbolic = robot.has_symbols or any(isinstance(x, Node) for body in inertias for x in body.parameters())
    parameters = robot.parameters if symbolic else {}
    empty = replace(robot, tree=tuple(hollow), expressions=None, parameters=parameters)
    rotors = {joint.name: link.inertia for joint, link in zip(empty.joints, empty.links, strict=True)}
    wanted = dict(zip(rotors, inertias, strict=True))

    def filled(joint: Joint) -> Joint:
        if joint.kind == "fixed":
            return joint
        T_link_body = robot.frame(joint.body.name).pose
        own = (wanted[joint.name] + negative(rotors[joint.name])).seen_from(T_link_body.inverse())
        return replace(joint, body=Body(joint.body.name, own))

    return with_exact_links(replace(empty, tree=tuple(map(filled, hollow))), inertias)


def negative(body: Inertia) -> Inertia:
    return Inertia(ops.sub(0, body.mass), -body.moment, -body.tensor)


def with_exact_links(robot: Robot, inertias: Sequence[Inertia], spins: Sequence[Spin] | None = None) -> Robot:
    """A view of the robot whose links have exactly these inertias (and whose rotors are these).

    The tree of bodies is left alone. Where it says the same (see `with_links`), this keeps zeros that would come back
    from the bodies' frames as 1e-17 and cost operations in generated code.
    """
    links = tuple(replace(link, inertia=body) for link, body in zip(robot.links, inertias, strict=True))
    return assembled(robot, Assembly(links, dict(robot.frames), robot.spins if spins is None else tuple(spins)))


def assembled(robot: Robot, assembly: Assembly) -> Robot:
    """A view of the robot that mechanics sees by this assembly; robots derived from the view assemble themselves."""
    view = replace(robot, expressions=None)
    view.__dict__["_assembly"] = assembly
    return view


__all__ = [
    "FAMILIES",
    "INERTIAL",
    "StandardParameters",
    "parameter_names",
    "standard_parameters",
    "with_links",
    "with_standard_parameters",
]
