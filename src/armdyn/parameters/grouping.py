"""Grouping of inertial parameters: what a joint cannot feel is moved to the link below, at equal torques.

Source: Khalil sec. 7.5 (base parameters; the rules are Gautier and Khalil's), here for any placement of the joints, and
for trees. What may be moved follows from one question: which bodies on link j move as if they were on its parent?

    revolute    a mass, a first moment and a line of masses on the joint's axis (M; MZ; XX = YY)             [G-1]
    prismatic   anything without mass and first moment (the whole tensor)                                     [G-2]

A link that can only turn about one direction n, or not at all, feels less than that:

    no turning       only M acts                                                                              [G-3]
    about n          only n.I n of the tensor acts, and MX, MY, MZ only across n                              [G-4]
                     a first moment of a link that slides along n moves to the parent                         [G-5]
                     no first moment acts if the origin keeps its distance: it moves along n at most, and
                     gravity is along n                                                                       [G-6]

Along n means along or against it: a SCARA arm's quill that points down is such a link (a list of rules that asks for
equal directions leaves its MX and MY). The rotor inertia of a joint joins ZZ (revolute) or M (prismatic) where the
parent's motion cannot tell them apart [G-7].
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from armdyn.algebra import Z_AXIS, ZERO, Inertia, Mat3, Scalar, Vec3, cross, ops, outer
from armdyn.algebra.ops import add, is_zero, mul, sub
from armdyn.mechanics.kinematics import link_poses
from armdyn.parameters.standard import negative, seen_at_joints, spin_of, with_links
from armdyn.robot import Robot
from armdyn.robot.features import FRICTIONLESS, takes
from armdyn.robot.links import WORLD, Link, Spin

Turning = Literal["none", "about", "free"]

ALIGNED = 1e-12
"""Largest sine of an angle (or length, m) taken for zero: rounding of a dozen rotations, less than any intention."""

NEGLIGIBLE = 1e-15
"""A parameter smaller than this share of its link's largest is the rounding of a sum that vanishes."""


@dataclass(frozen=True)
class Freedom:
    """How a link can turn, whatever the joints do.

    turning: not at all, about the constant direction `axis` (link frame) only, or freely. steady: the velocity of the
    link's origin and gravity never have a component across the axis. glides: a prismatic joint along the axis.
    """

    turning: Turning
    axis: Vec3 = ZERO
    steady: bool = False
    glides: bool = False


BASE = Freedom("none")


@dataclass
class Loads:
    """The parameters while they are moved: link inertias, rotor inertias at the joints, torque offsets.

    An eliminated parameter is the literal 0. `rotors` and `offsets` are None where they are not to be touched.
    """

    inertias: list[Inertia]
    rotors: list[Scalar] | None = None
    offsets: list[Scalar] | None = None
    grouped_rotors: list[int] = field(default_factory=list)

    def put(self, link: int, body: Inertia) -> None:
        """More on a link; what lands on the base is gone."""
        if link != WORLD:
            self.inertias[link] = total(self.inertias[link], body)


@takes(*FRICTIONLESS)
def grouped(robot: Robot, *, rotors: bool = True) -> Robot:
    """A robot with the same torques and as few inertial parameters as possible: the rest are literal zeros.

    Its generated code is shorter. The parameters are those of a model, no longer of bodies: masses may be zero or
    negative. Numbers or expressions, as the robot's.

    rotors: move rotor inertias too, where they belong.
    """
    loads = Loads([link.inertia for link in robot.links], seen_at_joints(robot) if rotors else None)
    regroup(robot, loads)
    inertias = [_tidied(body) for body in loads.inertias]
    return with_links(robot, inertias, [robot.joints[j].name for j in loads.grouped_rotors])


def regroup(robot: Robot, loads: Loads) -> Loads:
    """Move what can be moved, from the tips to the base. The scalars of the loads may be of any kind."""
    structure = Structure(robot)
    for link in robot.inward():
        if robot.joints[link.index].compound is not None:
            continue  # between its links there is nothing to save
        if loads.rotors is not None:
            _group_rotor(structure, link, loads, loads.rotors)
        body = loads.inertias[link.index]
        (_turning_link if link.revolute else _sliding_link)(structure, link, body, loads)
    return loads


def _turning_link(structure: Structure, link: Link, body: Inertia, loads: Loads) -> None:
    XX, XY, XZ, _, YZ, ZZ, MX, MY, _, _ = _without_axis(link, body, loads).parameters()
    freedom = structure.freedom[link.index]
    if freedom.turning == "about":
        XX = XY = XZ = YZ = 0  # [G-4]
    if freedom.steady:
        MX = MY = 0  # [G-6]
    loads.inertias[link.index] = Inertia.from_parameters(XX, XY, XZ, 0, YZ, ZZ, MX, MY, 0, M=0)


def _without_axis(link: Link, body: Inertia, loads: Loads) -> Inertia:
    """What is left of a body on a revolute joint when masses on its axis have moved to the parent. [G-1]"""
    XX, XY, XZ, YY, YZ, ZZ, MX, MY, MZ, M = body.parameters()
    on_axis = Inertia(M, Vec3(0, 0, MZ), Mat3.diagonal(YY, YY, 0))
    loads.put(link.parent, on_axis.seen_from(link.placement))
    return Inertia.from_parameters(sub(XX, YY), XY, XZ, 0, YZ, ZZ, MX, MY, 0, M=0)


def without_axes(links: Sequence[Link]) -> list[Inertia]:
    """Inertias of links on revolute joints, parents before children, with the same torques and YY = MZ = M = 0."""
    loads = Loads([link.inertia for link in links])
    for link in reversed(links):
        loads.inertias[link.index] = _without_axis(link, loads.inertias[link.index], loads)
    return loads.inertias


def _sliding_link(structure: Structure, link: Link, body: Inertia, loads: Loads) -> None:
    freedom = structure.freedom[link.index]
    R, moment = link.placement.R, body.moment
    loads.put(link.parent, Inertia(0, ZERO, R @ body.tensor @ R.T))  # [G-2]
    if freedom.turning == "none":
        moment = ZERO  # [G-3]
    elif freedom.turning == "about":
        moment = without_component(moment, freedom.axis, structure.axis[link.index])  # [G-4]
        if freedom.glides:
            loads.put(link.parent, Inertia(0, moment, Mat3.zero()).seen_from(link.placement))  # [G-5]
            moment = ZERO
    loads.inertias[link.index] = Inertia(body.mass, moment, Mat3.zero())


def without_component(v: Vec3, n: Vec3, number: Vec3) -> Vec3:
    """The vector v + x n that has no entry where n has its largest; `number` is n in numbers."""
    size = [abs(x) for x in number]
    k = size.index(max(size))
    v_k, n_k = list(v)[k], list(n)[k]
    entries = [a if is_zero(b) or is_zero(v_k) else sub(a, mul(v_k, b / n_k)) for a, b in zip(v, n, strict=True)]
    entries[k] = 0
    return Vec3(*entries)


def _group_rotor(structure: Structure, link: Link, loads: Loads, rotors: list[Scalar]) -> None:
    """Ia qd^2/2 + Ia/k qd a.w of the rotor, against ZZ or M of the link. [G-7]"""
    j, Ia = link.index, rotors[link.index]
    if is_zero(Ia):
        return
    if link.revolute and structure.rotor_is_like_link(link):
        loads.inertias[j] = total(loads.inertias[j], Inertia(0, ZERO, Mat3.diagonal(0, 0, Ia)))
        if not structure.across_parent(link):
            z = link.placement.R.column(2)
            loads.put(link.parent, negative(Inertia(0, ZERO, Ia * outer(z, z))))
    elif not link.revolute and structure.slides_alone(link, loads.offsets is not None):
        loads.put(j, Inertia(Ia, ZERO, Mat3.zero()))
        loads.put(link.parent, negative(Inertia(Ia, ZERO, Mat3.zero())).seen_from(link.placement))
        if loads.offsets is not None and not structure.level(link):
            loads.offsets[j] = add(loads.offsets[j], mul(Ia, structure.weight_along(link)))
    else:
        return
    rotors[j] = 0
    loads.grouped_rotors.append(j)


def total(a: Inertia, b: Inertia) -> Inertia:
    """The sum, with literal zeros kept."""
    return Inertia(add(a.mass, b.mass), a.moment + b.moment, a.tensor + b.tensor)


def _tidied(body: Inertia) -> Inertia:
    values = body.parameters()
    if not all(isinstance(value, int | float) for value in values):
        return body
    least = NEGLIGIBLE * max(map(abs, values))
    return Inertia.from_parameters(*(0 if abs(value) <= least else ops.tidy(value) for value in values))


# What the geometry decides ------------------------------------------------------------------------------------------


class Structure:
    """Which links can turn how, and what follows; decided on the robot's numbers, written in its own scalars."""

    def __init__(self, robot: Robot) -> None:
        self.robot = robot
        self.numeric = robot.bound()
        self.poses = link_poses(self.numeric, [0] * robot.n)
        self.spins = [spin_of(self.numeric, j) for j in range(robot.n)]
        self.freedom: list[Freedom] = []
        self.axis: list[Vec3] = []
        """Of every link that turns about one direction: that direction in its frame, in numbers."""
        self.slides: list[list[Vec3]] = []
        """Of every link: the axes of the prismatic joints on the way to it, in the world when all joints are at 0."""
        for link, twin in zip(robot.links, self.numeric.links, strict=True):
            self._add(link, twin)

    def _add(self, link: Link, twin: Link) -> None:
        i, grounded = link.parent, link.parent == WORLD
        parent = BASE if grounded else self.freedom[i]
        parent_axis = ZERO if grounded else self.axis[i]
        slides = [] if grounded else self.slides[i]
        z_world = self.poses[link.index].R.column(2)
        freedom, axis = Freedom("free"), ZERO
        if link.compound is not None:  # it may stand at any angle
            pass
        elif parent.turning == "none" and link.revolute:
            steady = all(parallel(direction, z_world) for direction in [*slides, self.numeric.gravity])
            freedom, axis = Freedom("about", Z_AXIS, steady), Z_AXIS
        elif parent.turning == "none":
            freedom = BASE
        elif parent.turning == "about":
            R, p = twin.placement
            along = parallel(R.column(2), parent_axis)
            if along:
                steady = parent.steady and parallel(p, parent_axis)
                freedom, axis = Freedom("about", Z_AXIS, steady, glides=not link.revolute), Z_AXIS
            elif not link.revolute:
                axis = rounded(R.T @ parent_axis)
                freedom = Freedom("about", _aligned(link.placement.R.T @ parent.axis, axis))
        self.freedom.append(freedom)
        self.axis.append(axis)
        self.slides.append(slides if link.revolute else [*slides, z_world])

    # Rotors

    def across(self, link: int, direction: Vec3) -> bool:
        """The link never turns about this direction, given in its frame."""
        if link == WORLD or self.freedom[link].turning == "none":
            return True
        about = self.freedom[link].turning == "about"
        return about and abs(float(self.axis[link].dot(direction))) < ALIGNED

    def across_parent(self, link: Link) -> bool:
        """The joint's axis is one about which the parent never turns."""
        return self.across(link.parent, self.numeric.links[link.index].placement.R.column(2))

    def felt(self, link: Link) -> bool:
        """The rotor of this joint is turned by the link that carries it, or by other joints through a coupling."""
        spin = self.spins[link.index]
        return bool(spin.others) or (spin.axis is not None and not self.across(spin.carrier, spin.axis))

    def rotor_is_like_link(self, link: Link) -> bool:
        """A turning joint's rotor has the energy of ZZ (less z z^T on the parent): (a/k - z).w = 0."""
        if not self.felt(link):
            return self.across_parent(link)
        spin: Spin = self.spins[link.index]
        if spin.carrier != link.parent or spin.axis is None or spin.others:
            return False
        z = self.numeric.links[link.index].placement.R.column(2)
        difference = spin.axis * (1 / spin.ratio) - z
        return self.across(link.parent, difference) or all(abs(float(x)) < ALIGNED for x in difference)

    def slides_alone(self, link: Link, offsets: bool) -> bool:
        """A sliding joint's rotor has the energy of M (less M on the parent), and weighs nothing or an offset.

        So it is if the parent never turns about anything but the joint's axis, and never moves along it.
        """
        if link.parent != WORLD and self.freedom[link.parent].turning != "none" and not self.freedom[link.index].glides:
            return False
        z = self.poses[link.index].R.column(2)
        before = [] if link.parent == WORLD else self.slides[link.parent]
        alone = not self.felt(link) and all(abs(float(z.dot(other))) < ALIGNED for other in before)
        return alone and (offsets or self.level(link))

    def level(self, link: Link) -> bool:
        return abs(float(self.poses[link.index].R.column(2).dot(self.numeric.gravity))) < ALIGNED

    def weight_along(self, link: Link) -> Scalar:
        """g.z of a joint whose axis keeps its direction."""
        return self.robot.gravity.dot(link_poses(self.robot, [0] * self.robot.n)[link.index].R.column(2))


def parallel(a: Vec3, b: Vec3) -> bool:
    """Along one line; a zero vector is parallel to everything."""
    return all(abs(float(x)) < ALIGNED for x in cross(a, b))


def rounded(v: Vec3) -> Vec3:
    """A unit vector as floats; entries next to 0, 1, -1 are the literal integers."""
    return Vec3(*(round(x) if abs(x - round(x)) < ALIGNED else x for x in map(float, v)))


def _aligned(axis: Vec3, twin: Vec3) -> Vec3:
    """The axis with literal zeros and ones where its numbers have them."""
    return Vec3(*(b if type(b) is int else a for a, b in zip(axis, twin, strict=True)))


__all__ = ["Freedom", "Loads", "Structure", "grouped", "regroup"]
