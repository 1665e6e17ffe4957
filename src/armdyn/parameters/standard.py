"""The standard parameters of a robot: named vectors, and robots made from them.

Per joint, in the order of `armdyn.conventions.STANDARD_PARAMETERS`: the ten inertial parameters of its link (Khalil
sec. 7.3.3, Siciliano (7.77)), in the frame whose z is the joint axis (`robot.links`); the rotor inertia seen at the
joint, Ia; the friction coefficients Fv and Fc; a constant torque. Numbers of joints are appended: XX1 ... off1, XX2 ...
What only some joints have comes after all joints (`FURTHER_PARAMETERS`): friction of motors, such as those coupled to
several joints, static and asymmetric friction, springs, counterbalances.

Links are the augmented ones of Siciliano sec. 7.2.2: what is fixed to a link and what a full rotor mounted on it
weighs at rest belong to it. Ia is ratio^2 times the rotor's inertia in both rotor models; they differ in what it does.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace

import numpy as np

from armdyn.algebra import CentralInertia, Inertia, Mat3, Scalar, ops
from armdyn.conventions import (
    FRICTION_PARAMETERS,
    FURTHER_PARAMETERS,
    MOTOR_PARAMETERS,
    SPRING_PARAMETERS,
    STANDARD_PARAMETERS,
)
from armdyn.errors import ShapeError, unknown_name
from armdyn.graph import Node
from armdyn.mechanics.friction import coefficients, motors_with_friction, with_coefficients
from armdyn.mechanics.springs import counterbalances
from armdyn.robot import Robot
from armdyn.robot.compounds import between
from armdyn.robot.limits import UNITS
from armdyn.robot.links import WORLD, Assembly, Spin, coupled
from armdyn.robot.parts import Body, FreeTransform, Friction, Joint, Motor, Rotor
from armdyn.robot.reframing import with_assembly
from armdyn.robot.transmission import inverse_rows
from armdyn.typing import Floats

INERTIAL = STANDARD_PARAMETERS[:10]
FAMILIES: dict[str, tuple[str, ...]] = {
    "inertial": INERTIAL,
    "rotor": ("Ia",),
    "friction": ("Fv", "Fc", *FRICTION_PARAMETERS),
    "offset": ("off",),
    "motor": MOTOR_PARAMETERS,
    "spring": SPRING_PARAMETERS,
}
"""What can be included, and the parameters of one joint or motor that it means."""


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

    def array(self) -> Floats:
        """(p,) numbers."""
        return np.array([float(value) for value in self.values])

    def __str__(self) -> str:
        width = max(map(len, self.names), default=0)
        return "\n".join(f"{name:{width}}  {value}" for name, value in self.as_dict().items())


def included(include: Iterable[str]) -> tuple[str, ...]:
    """The parameters of one joint (and motor) in the given families, in the order of the conventions."""
    wanted = (include,) if isinstance(include, str) else tuple(include)
    for family in wanted:
        if family not in FAMILIES:
            raise unknown_name("family of parameters", family, FAMILIES, where="include")
    names = {name for family in wanted for name in FAMILIES[family]}
    return tuple(name for name in (*STANDARD_PARAMETERS, *FURTHER_PARAMETERS) if name in names)


def slots(robot: Robot, include: Iterable[str]) -> list[tuple[str, int]]:
    """(kind, joint) of every standard parameter, in their order."""
    robot, kinds = robot.opened, included(include)
    of_joints = [(kind, j) for j in range(robot.n) for kind in kinds if kind in STANDARD_PARAMETERS]
    if robot.compounds:
        frames, joints = between(robot.tree), robot.joints
        none = {(kind, j) for j, joint in enumerate(joints) if joint.body.name in frames for kind in INERTIAL}
        none |= {("Ia", j) for j, joint in enumerate(joints) if joint.compound is not None}
        of_joints = [slot for slot in of_joints if slot not in none]
    further = [kind for kind in kinds if kind in FURTHER_PARAMETERS]
    own = further_parameters(robot, further) if further else []
    return of_joints + [(kind, j) for j, values in enumerate(own) for kind in further if kind in values]


def further_parameters(robot: Robot, kinds: Sequence[str] = FURTHER_PARAMETERS) -> list[dict[str, Scalar]]:
    """Of every joint: the values of those of FURTHER_PARAMETERS that it has. kinds: which are wanted at least."""
    found: list[dict[str, Scalar]] = [coefficients(joint.friction) for joint in robot.joints]
    for j in motors_with_friction(robot) if MOTOR_PARAMETERS[0] in kinds else ():
        k, motor = motor_ratio(robot, j), robot.joints[j].motor or Motor()
        found[j] |= {"Fvm": ops.mul(k, ops.mul(k, motor.viscous)), "Fcm": ops.mul(_size(k), motor.coulomb)}
    for values, joint in zip(found, robot.joints, strict=True):
        if joint.spring is not None:
            values["Ks"] = joint.spring.stiffness
    for link, (_, mass) in counterbalances(robot).items():
        found[link]["Mc"] = mass
    return found


def parameter_unit(robot: Robot, name: str) -> str:
    """The unit of a standard parameter; that of friction and rotors depends on the kind of joint.

    >>> import armdyn
    >>> [parameter_unit(armdyn.load("scara5"), name) for name in ("ZZ1", "MX1", "M1", "Fv1", "Fv2", "off2")]
    ['kg m^2', 'kg m', 'kg', 'N s/m', 'N m s/rad', 'N m']
    """
    kind = name.rstrip("0123456789")
    if kind in INERTIAL:
        return "kg" if kind == "M" else "kg m" if kind.startswith("M") else "kg m^2"
    link = robot.opened.links[int(name[len(kind) :]) - 1]
    units = UNITS[link.kind]
    others = {"Ia": "kg m^2" if link.revolute else "kg", "Ks": f"{units.torque}/{units.position}", "Mc": "kg"}
    viscous = dict.fromkeys(("Fv", "Fvn", "Fvm"), f"{units.torque} s/{units.position}")
    return (others | viscous).get(kind, units.torque)


def parameter_names(robot: Robot, include: Iterable[str] = tuple(FAMILIES)) -> tuple[str, ...]:
    """Names of the standard parameters, joint by joint (those that loops and mimic joints move too): XX1, XY1, ...

    >>> import armdyn
    >>> parameter_names(armdyn.load("pendulum"), ("rotor", "friction"))
    ('Ia1', 'Fv1', 'Fc1')
    """
    return tuple(f"{kind}{j + 1}" for kind, j in slots(robot, include))


def standard_parameters(robot: Robot, include: Iterable[str] = tuple(FAMILIES)) -> StandardParameters:
    """The standard parameters of a robot; of `robot.symbolic` they are expressions.

    include: which of "inertial", "rotor", "friction", "offset", "motor", "spring".
    """
    robot = robot.opened
    rotors = seen_at_joints(robot)
    known: list[dict[str, Scalar]] = []
    for joint, link, Ia in zip(robot.joints, robot.links, rotors, strict=True):
        friction = joint.friction or Friction()
        own = (*link.inertia.parameters(), Ia, friction.viscous, friction.coulomb, friction.offset)
        known.append(dict(zip(STANDARD_PARAMETERS, own, strict=True)))
    for values, further in zip(known, further_parameters(robot), strict=True):
        values |= further
    return StandardParameters(
        parameter_names(robot, include), tuple(known[j][kind] for kind, j in slots(robot, include))
    )


def spin_of(robot: Robot, j: int) -> Spin:
    """The rotor of joint j; where it has none, a reflected one without inertia that turns as its motor does."""
    for spin in robot.spins:
        if spin.joint == j:
            return spin
    bare = Spin(j, WORLD, None, 0, 1)
    return coupled(bare, inverse_rows(robot)[j]) if robot.coupling else bare


def motor_ratio(robot: Robot, j: int) -> Scalar:
    """Rate of motor j over the rate of joint j, the others at rest."""
    return inverse_rows(robot)[j][j]


def _size(k: Scalar) -> Scalar:
    return k if type(k) is int and k == 1 else ops.mul(k, ops.sign(k))


def seen_at_joints(robot: Robot) -> list[Scalar]:
    """Ia of every joint: ratio^2 inertia of its rotor. Khalil (7.29)"""
    rotors: list[Scalar] = [0] * robot.n
    for spin in robot.spins:
        rotors[spin.joint] = ops.add(rotors[spin.joint], ops.mul(spin.ratio, ops.mul(spin.ratio, spin.inertia)))
    return rotors


# A robot with other parameters ------------------------------------------------------------------------------------


def with_standard_parameters(robot: Robot, values: Mapping[str, Scalar] | StandardParameters) -> Robot:
    """The same robot with other values of the standard parameters named; the others stay.

    A rotor keeps its model and ratio; a joint without one gets a reflected rotor.

    >>> import armdyn
    >>> robot = armdyn.load("pendulum")
    >>> lighter = with_standard_parameters(robot, {"M1": 0.5})
    >>> standard_parameters(lighter)["M1"]
    0.5
    """
    if robot.constrained:
        return robot.with_opened(with_standard_parameters(robot.opened, values))
    given = values.as_dict() if isinstance(values, StandardParameters) else dict(values)
    known = standard_parameters(robot).as_dict()
    for name in given:
        if name not in known:
            raise unknown_name("parameter", name, known, where=f"robot {robot.name!r}")
    known |= given
    inertias = [Inertia.from_parameters(*(known.get(f"{kind}{j + 1}", 0) for kind in INERTIAL)) for j in range(robot.n)]
    joints = {
        joint.name: _driven(joint, j + 1, known, given.keys(), motor_ratio(robot, j))
        for j, joint in enumerate(robot.joints)
    }
    driven = replace(robot, tree=tuple(joints.get(joint.name, joint) for joint in robot.tree), expressions=None)
    return _counterbalanced(with_links(driven, inertias), given)


def _driven(joint: Joint, number: int, known: Mapping[str, Scalar], given: Set[str], ratio: Scalar) -> Joint:
    """The joint with the given rotor and friction parameters. ratio: of its motor."""
    direct = type(ratio) is int and ratio == 1
    if f"Ia{number}" in given:
        rotor, Ia = joint.rotor or Rotor(), known[f"Ia{number}"]
        joint = replace(joint, rotor=replace(rotor, inertia=Ia if direct else Ia / (ratio * ratio)))
    if given & {f"{kind}{number}" for kind in ("off", *FAMILIES["friction"])}:
        values = {kind: known[f"{kind}{number}"] for kind in coefficients(joint.friction)}
        rubbing = replace(with_coefficients(joint.friction, values), offset=known[f"off{number}"])
        joint = replace(joint, friction=rubbing)
    if joint.spring is not None and f"Ks{number}" in given:
        joint = replace(joint, spring=replace(joint.spring, stiffness=known[f"Ks{number}"]))
    if given & {f"{kind}{number}" for kind in MOTOR_PARAMETERS}:
        Fvm, Fcm = (known[f"{kind}{number}"] for kind in MOTOR_PARAMETERS)
        viscous, coulomb = (Fvm, Fcm) if direct else (Fvm / (ratio * ratio), Fcm / _size(ratio))
        joint = replace(joint, motor=replace(joint.motor or Motor(), viscous=viscous, coulomb=coulomb))
    return joint


def _counterbalanced(robot: Robot, given: Mapping[str, Scalar]) -> Robot:
    """The robot whose counterbalances carry the given masses Mc."""
    share = {
        link: ops.div(given[f"Mc{link + 1}"], mass)
        for link, (_, mass) in counterbalances(robot).items()
        if f"Mc{link + 1}" in given
    }

    def scaled(joint: Joint) -> Joint:
        factor, fraction = share.get(robot.frame(joint.body.name).link, 1), joint.body.gravity_compensation
        return replace(joint, body=replace(joint.body, gravity_compensation=ops.mul(fraction, factor)))

    if not share:
        return robot
    balanced = replace(robot, tree=tuple(map(scaled, robot.tree)), expressions=None)
    return with_exact_links(balanced, [link.inertia for link in robot.links])


def with_links(robot: Robot, inertias: Sequence[Inertia], rotorless: Iterable[str] = ()) -> Robot:
    """The same robot, its links having these inertias (in `robot.links` frames).

    Every moving body gets what its link needs, in its own frame; bodies fixed to it become weightless. Joints named in
    `rotorless` lose their rotor (whose inertia is then expected among the inertias). Counterbalances carry what they
    carried: they act on a body of their own, with the carried mass.
    """
    if len(inertias) != robot.n:
        raise ShapeError(
            f"{len(inertias)} inertias", where=f"robot {robot.name!r}", expected=f"{robot.n}, one per link"
        )
    left_out = set(rotorless)
    carried: list[Joint] = []
    hollow: list[Joint] = []
    for joint in robot.tree:
        body = joint.body
        if robot.frame(body.name).link != WORLD:
            body = _carried(joint.body)
            if joint.kind != "fixed" and not ops.is_zero(body.gravity_compensation):
                name = f"{body.name} counterbalance"
                carried.append(Joint(name, "fixed", FreeTransform(), body.name, replace(body, name=name)))
                body = Body(body.name, Inertia.zero())
        hollow.append(replace(joint, body=body, rotor=None if joint.name in left_out else joint.rotor))
    hollow += carried
    symbolic = robot.has_symbols or any(isinstance(x, Node) for body in inertias for x in body.parameters())
    parameters = robot.parameters if symbolic else {}
    empty = replace(robot, tree=tuple(hollow), expressions=None, parameters=parameters)
    if carried:  # behind the tool's body, which stays the same
        empty = replace(empty, tool_on=robot.tool_body)
    apart = {joint.name: link.inertia for joint, link in zip(empty.joints, empty.links, strict=True)}
    wanted = dict(zip(apart, inertias, strict=True))

    def filled(joint: Joint) -> Joint:
        if joint.kind == "fixed":
            return joint
        T_link_body = robot.frame(joint.body.name).pose
        own = (wanted[joint.name] + negative(apart[joint.name])).seen_from(T_link_body.inverse())
        return replace(joint, body=Body(joint.body.name, own))

    return with_exact_links(replace(empty, tree=tuple(map(filled, hollow))), inertias)


def _carried(body: Body) -> Body:
    """The body with nothing but the mass that its counterbalance carries."""
    if ops.is_zero(body.gravity_compensation) or ops.is_zero(body.inertia.mass):
        return Body(body.name, Inertia.zero())
    central = body.inertia.about_com()
    mass = ops.mul(body.gravity_compensation, central.mass)
    return Body(body.name, CentralInertia(mass, central.com, Mat3.zero()), 1)


def negative(body: Inertia) -> Inertia:
    return Inertia(ops.sub(0, body.mass), -body.moment, -body.tensor)


def with_exact_links(robot: Robot, inertias: Sequence[Inertia], spins: Sequence[Spin] | None = None) -> Robot:
    """A view of the robot whose links have exactly these inertias (and whose rotors are these).

    The tree of bodies is left alone. Where it says the same (see `with_links`), this keeps zeros that would come back
    from the bodies' frames as 1e-17 and cost operations in generated code.
    """
    links = tuple(replace(link, inertia=body) for link, body in zip(robot.links, inertias, strict=True))
    return with_assembly(robot, Assembly(links, dict(robot.frames), robot.spins if spins is None else tuple(spins)))


__all__ = [
    "FAMILIES",
    "INERTIAL",
    "StandardParameters",
    "parameter_names",
    "standard_parameters",
    "with_links",
    "with_standard_parameters",
]
