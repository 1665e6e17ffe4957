"""The robot as its mechanics sees it: moving links in joint frames.

Each link has one frame whose z is its joint axis (Khalil's choice). Bodies on fixed joints are merged into what carries
them, exactly. The user's frames are kept beside, as constant poses, so that results return to them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from armdyn.algebra import ZERO, CentralInertia, Inertia, Mat3, Pose, Scalar, Vec3, ops, outer, rot_z
from armdyn.algebra.elimination import inverse
from armdyn.robot.parts import Body, Compound, Joint, Kind, Placement, Rotor

Rows = Sequence[Sequence[Scalar]]
WORLD = -1
"""Index of the parent of a link that stands on the base: its frame is the world's."""


class Frame(NamedTuple):
    """A frame fixed in link `link` (WORLD: fixed in the world): T_link_frame."""

    link: int
    pose: Pose


@dataclass(frozen=True, slots=True)
class Link:
    """One moving link.

    index: place in `robot.joints`. parent: index of the carrying link, or WORLD. placement: T_parent_link at joint
    value 0 (z on the joint axis). inertia: of everything rigid with the link, in the link's frame. compound: of the
    first link of a free or ball joint, the constant pose between the frame that the joint moves and the link's frame.
    """

    index: int
    name: str
    parent: int
    kind: Kind
    placement: Pose
    offset: Scalar
    inertia: Inertia
    compound: Pose | None = None

    @property
    def revolute(self) -> bool:
        return self.kind == "revolute"

    def pose(self, q: Scalar) -> Pose:
        """T_parent_link at joint position q."""
        value = ops.add(q, self.offset)
        R, p = self.placement
        if self.revolute:
            return Pose(R @ rot_z(value), p)
        return Pose(R, p + value * R.column(2))

    def displaced(self, T: Pose) -> Link:
        """The first link of a free or ball joint, standing where that joint is at pose T."""
        assert self.compound is not None
        return replace(self, placement=self.placement @ self.compound.inverse() @ T @ self.compound, compound=None)

    def spin(self, rate: Scalar) -> Vec3:
        """Angular rate about the joint axis, in the link's frame; zero for a prismatic joint."""
        return Vec3(0, 0, rate) if self.revolute else ZERO

    def slide(self, rate: Scalar) -> Vec3:
        """Linear rate along the joint axis, in the link's frame; zero for a revolute joint."""
        return ZERO if self.revolute else Vec3(0, 0, rate)

    def along(self, force: Vec3, moment: Vec3) -> Scalar:
        """The part of a wrench (about the link's origin, in its frame) that the joint's actuator bears."""
        return moment.z if self.revolute else force.z


@dataclass(frozen=True, slots=True)
class Spin:
    """A rotor that spins on a link: what is left of it when its mass is merged into the carrier.

    joint: index of the joint it drives. carrier: index of the link it is mounted on, or WORLD. axis: unit vector in
    the carrier's frame; None for the reflected model, in which the carrier does not feel it. others: further joints
    that turn it, by a coupling, with their ratios.
    """

    joint: int
    carrier: int
    axis: Vec3 | None
    inertia: Scalar
    ratio: Scalar
    others: tuple[tuple[int, Scalar], ...] = ()

    @property
    def rates(self) -> tuple[tuple[int, Scalar], ...]:
        """(joint, ratio): the rotor spins with the sum of ratio times joint rate."""
        return ((self.joint, self.ratio), *self.others)


class Assembly(NamedTuple):
    """What `assemble` makes of a tree: links in joint order, every body's frame by name, and the rotors."""

    links: tuple[Link, ...]
    frames: dict[str, Frame]
    spins: tuple[Spin, ...]


def assemble(tree: tuple[Joint, ...], base_name: str, base: Placement, coupling: Rows = ()) -> Assembly:
    """Merge fixed bodies and put every moving link into its joint frame."""
    frames = {base_name: Frame(WORLD, base.pose())}
    links: list[Link] = []
    inertias: list[Inertia] = []
    compounds: set[Compound | None] = set()
    for joint in tree:
        carrier = frames[joint.parent]
        if joint.kind == "fixed":
            frame = Frame(carrier.link, carrier.pose @ joint.pose())
        else:
            before = carrier.pose @ joint.geometry.before(joint.kind)
            offset = joint.geometry.offset(joint.kind)
            first = joint.compound is not None and joint.compound not in compounds
            compounds.add(joint.compound)
            inner = joint.geometry.after().inverse() if first else None
            links.append(Link(len(links), joint.name, carrier.link, joint.kind, before, offset, Inertia.zero(), inner))
            inertias.append(Inertia.zero())
            frame = Frame(len(links) - 1, joint.geometry.after())
        frames[joint.body.name] = frame
        if frame.link != WORLD and joint.body.inertia != Body("").inertia:
            body = joint.body.inertia.at_origin()
            inertias[frame.link] += body.seen_from(frame.pose)
    moving = [joint for joint in tree if joint.kind != "fixed"]
    spins = tuple(_spin(i, joint, frames, inertias) for i, joint in enumerate(moving) if joint.rotor)
    if coupling and spins:
        ratios = inverse(coupling)
        spins = tuple(coupled(spin, ratios[spin.joint]) for spin in spins)
    carried = [replace(link, inertia=inertia) for link, inertia in zip(links, inertias, strict=True)]
    return Assembly(tuple(carried), frames, spins)


def _spin(index: int, joint: Joint, frames: dict[str, Frame], inertias: list[Inertia]) -> Spin:
    """The rotor of a joint; in the full model its mass and its inertia at rest go into the carrier. Siciliano (7.52)"""
    rotor = joint.rotor
    assert rotor is not None
    if rotor.model == "reflected":
        return Spin(index, WORLD, None, rotor.inertia, rotor.ratio)
    link, T = frames[rotor.on or joint.parent]
    if link != WORLD:
        inertias[link] += inertia_at_rest(rotor, T).at_origin()
    return Spin(index, link, T.R @ rotor.axis, rotor.inertia, rotor.ratio)


def inertia_at_rest(rotor: Rotor, T: Pose) -> CentralInertia:
    """The inertia of a rotor that does not spin on its carrier, whose frame stands at pose T."""
    axis = T.R @ rotor.axis
    along = outer(axis, axis)
    tensor = rotor.inertia * along
    if not ops.is_zero(rotor.transverse):
        tensor += rotor.transverse * (Mat3.identity() - along)  # Siciliano (7.66)
    return CentralInertia(rotor.mass, T.apply(rotor.position), tensor)


def coupled(spin: Spin, ratios: Sequence[Scalar]) -> Spin:
    """The rotor that turns with qd_m = J^-1 qd. Khalil (7.31)"""
    others = tuple((j, k) for j, k in enumerate(ratios) if j != spin.joint and not ops.is_zero(k))
    return replace(spin, ratio=ratios[spin.joint], others=others)
