"""A serial arm as the texts see it: frames, joint axes, bodies with their centres of mass, and rotors.

`mechanics` merges bodies and rotors into links in joint frames. The texts do not: they count every body and every rotor
at its own centre of mass, in the frames of their own convention. All vectors are in world axes unless said otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from armdyn.algebra import Mat3, Pose, Scalar, Vec3, cross, ops
from armdyn.equations.projection import symbols_of
from armdyn.equations.sheets.sheet import Sheet
from armdyn.errors import FeatureError
from armdyn.graph import Node
from armdyn.robot.links import WORLD, inertia_at_rest
from armdyn.robot.parts import Joint, Rotor, StandardDH, motion
from armdyn.robot.robot import Robot


@dataclass(frozen=True)
class ArmBody:
    """A body that moves with joint `link` (counted from 0); com and tensor, about it, in the axes of its frame."""

    label: str
    link: int
    frame: Pose
    mass: Scalar
    com: Vec3
    tensor: Mat3

    @property
    def center(self) -> Vec3:
        """The centre of mass in the world."""
        return self.frame.apply(self.com)

    @property
    def world_tensor(self) -> Mat3:
        """The tensor about the centre of mass, in world axes. Siciliano (7.11)"""
        return self.frame.R @ self.tensor @ self.frame.R.T


@dataclass(frozen=True)
class ArmRotor:
    """The rotor that drives a joint.

    carrier: link on which it is mounted, or WORLD. center, axis, tensor: of a rotor that is a body of its own, in the
    world; None for one that is only reflected on its joint. rates: (joint, ratio) of the joints that turn it.
    """

    label: str
    carrier: int
    inertia: Scalar
    mass: Scalar
    rates: tuple[tuple[int, Scalar], ...]
    center: Vec3 | None = None
    axis: Vec3 | None = None
    tensor: Mat3 | None = None


@dataclass(frozen=True)
class Arm:
    """A serial arm; lists have one entry per joint, frames one more: frame 0 is the base."""

    robot: Robot
    q: Sequence[Node]
    qd: Sequence[Node]
    qdd: Sequence[Node]
    local: tuple[Pose, ...]
    mounts: tuple[Pose, ...]
    """Where each joint is mounted, seen from the frame of the link before it: off its origin behind a fixed joint."""
    frames: tuple[Pose, ...]
    axes: tuple[Vec3, ...]
    points: tuple[Vec3, ...]
    """A point on each joint axis: the origin of the frame that the convention puts on it."""
    bodies: tuple[ArmBody, ...]
    rotors: tuple[ArmRotor, ...]
    standard: bool
    """Whether joint i moves about z of frame i-1 (standard DH); else about z of frame i."""

    @property
    def n(self) -> int:
        return len(self.axes)

    def revolute(self, i: int) -> bool:
        return self.robot.joints[i].kind == "revolute"

    def axis_label(self, i: int) -> str:
        """Index of the frame whose z is the axis of joint i (counted from 0)."""
        return str(i if self.standard else i + 1)

    def linear(self, point: Vec3, link: int) -> list[list[Scalar]]:
        """Jacobian of a point of a link, 3 rows: z for a prismatic joint, z x (p - p_axis) for a revolute one."""
        columns = [
            (cross(self.axes[j], point - self.points[j]) if self.revolute(j) else self.axes[j]) if j <= link else None
            for j in range(self.n)
        ]
        return _rows(columns)

    def angular(self, link: int) -> list[list[Scalar]]:
        """Jacobian of the angular velocity of a link, 3 rows."""
        return _rows([self.axes[j] if j <= link and self.revolute(j) else None for j in range(self.n)])


def _rows(columns: Sequence[Vec3 | None]) -> list[list[Scalar]]:
    filled = [(0, 0, 0) if column is None else tuple(column) for column in columns]
    return [list(row) for row in zip(*filled, strict=True)]


def must_be_serial(robot: Robot) -> None:
    """The texts derive serial arms; everything else is refused by name."""
    serial = robot.constrained or [link.parent for link in robot.links] == list(range(-1, robot.n - 1))
    found = (
        "loops" if robot.constrained
        else "elastic joints" if "elastic" in robot.features
        else "free and ball joints" if robot.compounds
        else "branches" if not serial
        else ""
    )  # fmt: skip
    if found:
        raise FeatureError(
            f"steps follow the texts' derivations of serial arms, and this robot has {found}",
            where=f"robot {robot.name!r}",
            expected="a serial chain of revolute and prismatic joints",
            advice="armdyn.derive gives its equations; robot.chain(base, tip) takes one chain out of a tree.",
            feature=found,
        )


def arm_of(robot: Robot, sheet: Sheet, local: str, whole: str, source: str) -> Arm:
    """The arm, with lines for its frames.

    local, whole: LaTeX of the transformation from frame i to i-1 and to the base, with {i} and {j} for i and i-1.
    """
    q, qd, qdd = (symbols_of(robot, name) for name in ("q", "qd", "qdd"))
    sheet.section = "Frames"
    base = robot.base.pose()
    placed: dict[str, tuple[int, Pose]] = {robot.root.name: (WORLD, base)}
    mounted = {robot.root.name: Pose.identity()}  # frames of bodies, seen from the frame of their link
    locals_: list[Pose] = []
    mounts: list[Pose] = []
    frames, axes, points = [base], list[Vec3](), list[Vec3]()
    bodies: list[ArmBody] = []
    if any(not ops.is_zero(x) for x in base.p) or Mat3.identity() != base.R:
        frames[0] = sheet.line(whole.format(i=0, j=""), "", base, "base in the world")
        placed[robot.root.name] = (WORLD, frames[0])
    for joint in robot.tree:
        carrier, parent = placed[joint.parent]
        if joint.kind == "fixed":
            link, frame = carrier, parent @ joint.pose()
            mounted[joint.body.name] = mounted[joint.parent] @ joint.pose()
            label = f"{link + 1},\\mathrm{{{joint.body.name.replace('_', ' ')}}}"
        else:
            link = len(axes)
            i = link + 1
            before, after = joint.geometry.before(joint.kind), joint.geometry.after()
            value = ops.add(q[link], joint.geometry.offset(joint.kind))
            mount = mounted[joint.parent]
            mounted[joint.body.name] = Pose.identity()
            mounts.append(mount)
            moved = mount @ before @ motion(joint.kind, value) @ after
            step = sheet.line(local.format(i=i, j=link), "", moved, source)
            rule = " ".join([whole.format(i=link, j=""), local.format(i=i, j=link)]) if link else local.format(i=1, j=0)
            name = whole.format(i=i, j="")
            pose = frames[link] @ step
            frame = pose if name == rule else sheet.line(name, rule, pose, source)
            on_axis = parent @ before
            axes.append(on_axis.R.column(2))
            points.append(parent.p if isinstance(joint.geometry, StandardDH) else on_axis.p)
            locals_.append(step)
            frames.append(frame)
            label = str(i)
        placed[joint.body.name] = (link, frame)
        inertia = joint.body.inertia.about_com()
        if link != WORLD and not (ops.is_zero(inertia.mass) and inertia.tensor == Mat3.zero()):
            bodies.append(ArmBody(label, link, frame, inertia.mass, inertia.com, inertia.tensor))
    rotors = [_rotor(robot, k, placed) for k in range(len(robot.spins))]
    standard = all(isinstance(joint.geometry, StandardDH) for joint in robot.movable)
    geometry = tuple(locals_), tuple(mounts), tuple(frames), tuple(axes), tuple(points)
    return Arm(robot, q, qd, qdd, *geometry, tuple(bodies), tuple(rotors), standard)


def _rotor(robot: Robot, k: int, placed: dict[str, tuple[int, Pose]]) -> ArmRotor:
    spin = robot.spins[k]
    joint: Joint = robot.movable[spin.joint]
    rotor = joint.rotor
    assert isinstance(rotor, Rotor)
    label = str(spin.joint + 1)
    if rotor.model == "reflected":
        return ArmRotor(label, WORLD, rotor.inertia, 0, spin.rates)
    carrier, frame = placed[rotor.on or joint.parent]
    at_rest = inertia_at_rest(rotor, Pose.identity())
    tensor = frame.R @ at_rest.tensor @ frame.R.T
    center, axis = frame.apply(rotor.position), frame.R @ rotor.axis
    return ArmRotor(label, carrier, rotor.inertia, rotor.mass, spin.rates, center, axis, tensor)


# Matrices of any size -------------------------------------------------------------------------------------------------

Rows = list[list[Any]]


def product(A: Any, B: Any) -> Rows:
    """A B of rows of scalars."""
    columns = list(zip(*B, strict=True))
    return [[ops.total(ops.mul(x, y) for x, y in zip(row, column, strict=True)) for column in columns] for row in A]


def transposed(A: Any) -> Rows:
    return [list(row) for row in zip(*A, strict=True)]


def total(parts: Sequence[Rows], n: int) -> Rows:
    """The sum of square matrices."""
    return [[ops.total(part[i][j] for part in parts) for j in range(n)] for i in range(n)]


def weighted(factor: Scalar, A: Rows) -> Rows:
    return [[ops.mul(factor, x) for x in row] for row in A]
