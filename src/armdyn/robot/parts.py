"""The parts of a robot: all frozen, all plain data over scalars (numbers, or expressions in named parameters)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from armdyn.algebra import (
    Z_AXIS,
    ZERO,
    CentralInertia,
    Inertia,
    Mat3,
    Pose,
    Scalar,
    Vec3,
    align_z,
    ops,
    rot_rpy,
    rot_x,
    rot_z,
)

Kind = Literal["revolute", "prismatic", "fixed"]
KINDS: tuple[Kind, ...] = ("revolute", "prismatic", "fixed")
CompoundKind = Literal["free", "ball"]
LoopKind = Literal["revolute", "prismatic", "fixed", "spherical", "universal"]
LOOP_KINDS: tuple[LoopKind, ...] = ("revolute", "prismatic", "fixed", "spherical", "universal")
RotorModel = Literal["reflected", "full"]
ROTOR_MODELS: tuple[RotorModel, ...] = ("reflected", "full")


@dataclass(frozen=True, slots=True)
class Placement:
    """A constant pose by position and roll-pitch-yaw angles (URDF's order: Rz(yaw) Ry(pitch) Rx(roll))."""

    xyz: Vec3 = ZERO
    rpy: Vec3 = ZERO

    def pose(self) -> Pose:
        return Pose(rot_rpy(*self.rpy), self.xyz)


# How a joint is placed -------------------------------------------------------------------------------------------
#
# Every geometry splits the displacement parent body -> body into three: `before` (constant, ends on the joint axis,
# which is its z), the motion along or about that z by q + `offset`, and `after` (constant, up to the body frame).


@dataclass(frozen=True, slots=True)
class StandardDH:
    """Rz(theta) Tz(d) Tx(a) Rx(alpha): the joint moves about z of the parent's frame."""

    theta: Scalar = 0
    d: Scalar = 0
    a: Scalar = 0
    alpha: Scalar = 0

    def before(self, kind: Kind) -> Pose:
        return _along_z(self.theta, self.d, kind)

    def offset(self, kind: Kind) -> Scalar:
        return _dh_offset(self.theta, self.d, kind)

    def after(self) -> Pose:
        return Pose(rot_x(self.alpha), Vec3(self.a, 0, 0))


@dataclass(frozen=True, slots=True)
class ModifiedDH:
    """[Rz(gamma) Tz(b)] Rx(alpha) Tx(a) Rz(theta) Tz(d): the joint moves about z of the body's own frame.

    gamma and b place a branch whose x axis is not the parent's (Khalil, after Khalil and Kleinfinger).
    """

    theta: Scalar = 0
    d: Scalar = 0
    a: Scalar = 0
    alpha: Scalar = 0
    gamma: Scalar = 0
    b: Scalar = 0

    def before(self, kind: Kind) -> Pose:
        branch = Pose(rot_z(self.gamma), Vec3(0, 0, self.b))
        return branch @ Pose(rot_x(self.alpha), Vec3(self.a, 0, 0)) @ _along_z(self.theta, self.d, kind)

    def offset(self, kind: Kind) -> Scalar:
        return _dh_offset(self.theta, self.d, kind)

    def after(self) -> Pose:
        return Pose.identity()


@dataclass(frozen=True, slots=True)
class FreeTransform:
    """Any constant pose followed by a motion along or about any axis: URDF's joint."""

    placement: Placement = Placement()
    axis: Vec3 = Z_AXIS
    zero: Scalar = 0
    """Added to the joint variable."""

    def before(self, kind: Kind) -> Pose:
        return self.placement.pose() @ Pose.rotation(align_z(self.axis))

    def offset(self, kind: Kind) -> Scalar:
        return self.zero

    def after(self) -> Pose:
        return Pose.rotation(align_z(self.axis).T)


Geometry = StandardDH | ModifiedDH | FreeTransform


def _along_z(theta: Scalar, d: Scalar, kind: Kind) -> Pose:
    """The part of Rz(theta) Tz(d) that does not move with the joint."""
    angle = 0 if kind == "revolute" else theta
    return Pose(rot_z(angle), Vec3(0, 0, 0 if kind == "prismatic" else d))


def _dh_offset(theta: Scalar, d: Scalar, kind: Kind) -> Scalar:
    return {"revolute": theta, "prismatic": d, "fixed": 0}[kind]


def motion(kind: Kind, value: Scalar) -> Pose:
    """Displacement along or about z."""
    if kind == "revolute":
        return Pose.rotation(rot_z(value))
    return Pose.translation(0, 0, value) if kind == "prismatic" else Pose.identity()


# What a joint carries and what drives it -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Body:
    """A rigid body: its name and its inertia in its own frame, in either of the two usual forms."""

    name: str
    inertia: CentralInertia | Inertia = CentralInertia(0, ZERO, Mat3.zero())
    gravity_compensation: Scalar = 0
    """Fraction of its weight that a counterbalance carries: a force on its centre of mass against gravity."""


@dataclass(frozen=True, slots=True)
class Rotor:
    """The rotor of a joint's motor (Siciliano sec. 7.1.1).

    inertia: about its axis, kg m^2. ratio: motor speed over joint speed (rad/m for a prismatic joint).
    model: "reflected" adds ratio^2 inertia to the joint and nothing else (Khalil (7.29)); "full" adds the rotor as a
    body that spins on its carrier (Siciliano (7.21)-(7.32)): mass, kg, with centre at `position`, and spin `axis`, in
    the frame of the body that carries the motor, `on` (None: the parent of the joint). transverse: inertia about any
    line through its centre across the axis, kg m^2 (Siciliano (7.66)); only the full model feels it.
    """

    model: RotorModel = "reflected"

    inertia: Scalar = 0
    ratio: Scalar = 1
    mass: Scalar = 0
    position: Vec3 = ZERO
    axis: Vec3 = Z_AXIS
    on: str | None = None
    transverse: Scalar = 0


@dataclass(frozen=True, slots=True)
class Friction:
    """Joint friction (Khalil (7.26)-(7.28)).

        tau_f = coulomb sign(qd) + viscous qd + (static - coulomb) e^(-|qd|/stribeck) sign(qd) + offset

    viscous: N m s/rad or N s/m. coulomb, static: N m or N. stribeck: rad/s or m/s. offset: N m or N, what dry friction
    has more in one direction than in the other and what the actuator's current is off by, together; there at rest too.
    law: name of another law (see `armdyn.mechanics.friction`; None: the one above). width: velocity over which the
    laws "smooth", "piecewise", "asymmetric_smooth" and "rounded" change sign, rad/s or m/s. values: further numbers, by
    name: for the asymmetric laws viscous_negative and coulomb_negative; for "rounded" its further widths, presliding
    and load (see there); and for laws of the user's own.
    """

    viscous: Scalar = 0
    coulomb: Scalar = 0
    static: Scalar = 0
    stribeck: Scalar = 0
    width: Scalar = 0
    law: str | None = None
    values: Mapping[str, Scalar] = field(default_factory=dict, hash=False)
    offset: Scalar = 0


@dataclass(frozen=True, slots=True)
class Motor:
    """The motor of a joint, as its amplifier sees it (Khalil (9.4)); the gear is the rotor's `ratio`.

    torque_constant: N m/A. amplifier: current per unit of control input, A. torque, speed, current: limits at the
    motor, N m, rad/s, A; continuous: torque that it bears as rms value over a cycle, N m (None: not given). viscous,
    coulomb: friction that acts on the motor's own rate, N m s/rad and
    N m at the motor. Where the motor drives one joint it does what the joint's friction does; where a coupling lets
    several joints turn the motor, they all feel it. width, values: if a width is given, its friction is of the law
    "rounded", over the motor's own rate and position.
    """

    torque_constant: Scalar = 1
    amplifier: Scalar = 1
    torque: Scalar = None
    speed: Scalar = None
    current: Scalar = None
    continuous: Scalar = None
    viscous: Scalar = 0
    coulomb: Scalar = 0
    width: Scalar = 0
    values: Mapping[str, Scalar] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class Elastic:
    """An elastic transmission between motor and joint (Khalil (7.34)-(7.35)), all referred to the joint side.

    stiffness: N m/rad or N/m. damping: of the spring, N m s/rad or N s/m. viscous, coulomb: friction of the motor's
    side. The friction of the joint itself acts on the link's side.
    """

    stiffness: Scalar
    damping: Scalar = 0
    viscous: Scalar = 0
    coulomb: Scalar = 0


@dataclass(frozen=True, slots=True)
class Spring:
    """A spring across a joint, between its two bodies: it asks stiffness (q - rest) of the actuator.

    stiffness: N m/rad or N/m. rest: position of the joint at which it exerts nothing, rad or m.
    """

    stiffness: Scalar
    rest: Scalar = 0


MAGNITUDES = ("velocity", "acceleration", "torque", "jerk", "continuous")
"""Limits that hold in both directions."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Symmetric limits of velocity (rad/s, m/s), acceleration, torque (N m, N) and jerk, and the range of position.

    continuous: torque that the actuator bears as rms value over a cycle, N m or N. None: not given.
    """

    lower: Scalar = None
    upper: Scalar = None
    velocity: Scalar = None
    acceleration: Scalar = None
    torque: Scalar = None
    jerk: Scalar = None
    continuous: Scalar = None


@dataclass(frozen=True, slots=True)
class Mimic:
    """A joint that follows another one: q = ratio q_other + offset (URDF `mimic`, MJCF joint `equality` of degree 1).

    joint: name of the joint it follows. ratio: its rate per rate of that joint. offset: rad or m.
    """

    joint: str
    ratio: Scalar = 1
    offset: Scalar = 0


@dataclass(frozen=True, slots=True)
class Loop:
    """A closure of a kinematic loop: a joint between two bodies of the tree, both ends placed in their body frames.

    kind: what the closing joint leaves free: about or along z of the two placed frames; a universal joint turns about
    x of the first and y of the second.
    """

    name: str
    first: str
    second: str
    first_placement: Placement = Placement()
    second_placement: Placement = Placement()
    kind: LoopKind = "revolute"


@dataclass(frozen=True, slots=True)
class Compound:
    """A free or ball joint, of which a joint of the tree is one degree of freedom; see `armdyn.robot.compounds`."""

    name: str
    kind: CompoundKind


@dataclass(frozen=True, slots=True)
class RobotFile:
    """The file that a robot was read from, kept for what a Robot does not hold: shapes, transmissions, comments.

    format: "urdf" or "mjcf". path: where it was. text: all of it, as it was then.
    """

    format: str
    path: str
    text: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Joint:
    """A joint of one degree of freedom, where it stands, and the body it carries.

    parent: name of the body it is mounted on. passive: without a motor, moved by a closed loop. home: its position
    in the assembled robot, rad or m: decides between the ways a loop can be closed. mimic: how it follows another
    joint. compound: the free or ball joint that it is a part of.
    """

    name: str
    kind: Kind
    geometry: Geometry
    parent: str
    body: Body
    rotor: Rotor | None = None
    friction: Friction | None = None
    limits: Limits | None = None
    notes: tuple[str, ...] = field(default=())
    motor: Motor | None = None
    elastic: Elastic | None = None
    passive: bool = False
    home: Scalar = 0
    mimic: Mimic | None = None
    spring: Spring | None = None
    compound: Compound | None = None

    def pose(self, q: Scalar = 0) -> Pose:
        """T_parent_body at joint position q, between the frames the user gave."""
        before, after = self.geometry.before(self.kind), self.geometry.after()
        return before @ motion(self.kind, ops.add(q, self.geometry.offset(self.kind))) @ after
