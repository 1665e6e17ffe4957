"""The Robot: a frozen description that everything else is derived from."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from armdyn.algebra import CentralInertia, Mat3, Scalar, Vec3
from armdyn.algebra.ops import tidy
from armdyn.conventions import GRAVITY
from armdyn.errors import ArmdynError, NotApplicable, RobotError, unknown_name
from armdyn.graph import Node, to_float
from armdyn.notebook_view import Shown, View
from armdyn.robot import compounds
from armdyn.robot.compounds import Span, spans
from armdyn.robot.links import Assembly, Frame, Link, Spin, assemble
from armdyn.robot.loop_paths import dependent_joints
from armdyn.robot.parts import Body, Joint, Loop, Placement, RobotFile
from armdyn.robot.scalars import Change, holds, mapped
from armdyn.typing import Floats

if TYPE_CHECKING:
    from armdyn.robot.dh_tables import Convention
    from armdyn.robot.features import Features

PARTS = ("friction", "rotors", "gravity", "limits", "motors", "offsets")
"""What `Robot.without` can take away, beside the features."""


@dataclass(frozen=True, eq=False)
class Robot(Shown):
    """A robot manipulator: a tree of joints and bodies on a base, with a tool and gravity.

    tree: all joints, parents before children; `joints` are the independent ones among them. gravity: acceleration of
    free fall, m/s^2, world axes. base: pose of the base frame in the world. tool: pose of the tool frame in the frame
    of the body `tool_on` (None: the last one that the last joint moves). coupling: rows of the constant matrix J with
    qd = J qd_m from motors to joints, gears included (Khalil (7.31); empty: every motor drives one joint, through the
    ratio of its rotor). parameters: values of the names that expressions use.

    A Robot in hand holds numbers. If it was described with named parameters, `symbolic` is the same robot with its
    expressions kept.
    """

    name: str
    tree: tuple[Joint, ...]
    gravity: Vec3 = Vec3(*GRAVITY)
    base: Placement = Placement()
    tool: Placement = Placement()
    tool_on: str | None = None
    root: Body = Body("base")
    loops: tuple[Loop, ...] = ()
    source: str = ""
    notes: tuple[str, ...] = ()
    parameters: Mapping[str, Scalar] = field(default_factory=dict)
    expressions: Robot | None = field(default=None, repr=False)
    coupling: tuple[tuple[Scalar, ...], ...] = ()
    configurations: Mapping[str, Mapping[str, Scalar]] = field(default_factory=dict, repr=False)
    """Named configurations: positions, rad or m, by the names of `position_names`; see `configuration`."""
    payloads: tuple[str, ...] = ()
    """Bodies that `with_payload` added."""
    left_out: tuple[str, ...] = ()
    """What `without` took away."""
    file: RobotFile | None = field(default=None, repr=False)
    """The URDF or MJCF file that it was read from."""

    def __post_init__(self) -> None:
        _validate(self)

    @staticmethod
    def from_dh(
        rows: Sequence[Mapping[str, Any]],
        convention: str = "standard",
        gravity: Sequence[Scalar] = GRAVITY,
        base: Any = None,
        tool: Any = None,
        *,
        name: str = "robot",
        parameters: Mapping[str, Any] | None = None,
    ) -> Robot:
        """Make a robot from a DH table.

        rows: one mapping per joint, with the keys of a robot file.
        convention: "standard" or "modified".
        gravity: acceleration of free fall, m/s^2, world axes.
        base, tool: (4, 4) homogeneous matrices (default: identity).
        parameters: values of the names that expressions in `rows` use.

        >>> Robot.from_dh([{"type": "revolute", "a": 0.5, "mass": 2, "com": [-0.25, 0, 0]}]).n
        1
        """
        from armdyn.robot.record import placement_from_matrix, robot_from_record

        record: dict[str, Any] = {"name": name, "convention": convention, "gravity": list(gravity)}
        record |= {"joint": [dict(row) for row in rows], "parameters": dict(parameters or {})}
        for key, pose in (("base", base), ("tool", tool)):
            if pose is not None:
                record[key] = placement_from_matrix(pose, key)
        return robot_from_record(record)

    # The tree -----------------------------------------------------------------------------------------------------

    @cached_property
    def joints(self) -> tuple[Joint, ...]:
        """The independent movable joints: their order is the order of every array.

        Joints that follow from them, by a closed loop or as mimic joints, are not among them; `opened` has all.
        """
        return tuple(joint for joint in self.movable if joint.name not in self.dependent)

    @property
    def n(self) -> int:
        """Number of velocities: degrees of freedom."""
        return len(self.joints)

    @property
    def nq(self) -> int:
        """Number of entries of q: n, and one more for every free or ball joint."""
        return self.n + len(self.compounds)

    @cached_property
    def compounds(self) -> tuple[Span, ...]:
        """The free and ball joints, with their places in arrays: each is six or three of `joints`, one per velocity."""
        return spans(self.joints)

    @cached_property
    def position_names(self) -> tuple[str, ...]:
        """(nq,) what the entries of q stand for: joints, and coordinates of free and ball joints."""
        return compounds.position_names(self.joints)

    @property
    def neutral(self) -> Floats:
        """(nq,) the position of joints at zero and free and ball joints at the identity."""
        return compounds.neutral(self.compounds, self.nq)

    def integrate(self, q: ArrayLike, v: ArrayLike, dt: ArrayLike = 1.0) -> Floats:
        """Return the position (..., nq) reached from q by constant velocities v, (..., n), during dt, s."""
        moved = compounds.checked("v", v, self.n) * np.asarray(dt, dtype=float)[..., None]
        return compounds.integrate(self.compounds, compounds.checked("q", q, self.nq), moved)

    def difference(self, q0: ArrayLike, q1: ArrayLike) -> Floats:
        """Return the constant velocities (..., n) that lead from q0 to q1 in one second, by the shorter turns."""
        pair = (compounds.checked(name, q, self.nq) for name, q in (("q0", q0), ("q1", q1)))
        return compounds.difference(self.compounds, *pair)

    def configuration(self, name: str) -> Floats:
        """Return the named configuration, (nq,): a [configurations] table of a robot file, or a keyframe of MJCF.

        Entries that it does not give are those of `neutral`.
        """
        if name not in self.configurations:
            raise unknown_name("configuration", name, self.configurations, where=f"robot {self.name!r}")
        given, q = self.configurations[name], self.neutral
        for k, entry in enumerate(self.position_names):
            q[k] = float(_number(given.get(entry, q[k]), self.parameters))
        return q

    @cached_property
    def movable(self) -> tuple[Joint, ...]:
        """All movable joints, independent or not."""
        return tuple(joint for joint in self.tree if joint.kind != "fixed")

    @cached_property
    def dependent(self) -> frozenset[str]:
        """Names of the joints that follow from the others: mimic joints, and passive joints within closed loops."""
        return dependent_joints(self.tree, self.loops)

    @property
    def constrained(self) -> bool:
        """Whether the robot is more than a tree of independent joints: it has closed loops or mimic joints."""
        return bool(self.loops or self.dependent)

    @cached_property
    def opened(self) -> Robot:
        """The tree of all movable joints, without loops and couplings by mimic; the robot itself if it has none.

        Mechanics of trees works on this one: a robot with loops has no links of its own.
        """
        if not self.constrained:
            return self
        tree = tuple(joint if joint.mimic is None else replace(joint, mimic=None) for joint in self.tree)
        return replace(self, tree=tree, loops=(), expressions=self.expressions and self.expressions.opened)

    def with_opened(self, tree: Robot) -> Robot:
        """The robot whose opened tree is an edited copy of this one's: loops and mimic joints are those of this one."""
        laws = {joint.name: joint.mimic for joint in self.tree}
        joints = tuple(replace(joint, mimic=laws[joint.name]) for joint in tree.tree)
        closed = replace(self, tree=joints, parameters=tree.parameters, expressions=None)
        closed.__dict__["opened"] = tree  # which may be a view with links of its own
        return closed

    @cached_property
    def _assembly(self) -> Assembly:
        if self.constrained:
            raise NotApplicable(
                "a robot with closed loops or mimic joints is not a tree of independent joints",
                where=f"robot {self.name!r}",
                expected="robot.opened, the tree of all movable joints",
                advice="armdyn.compile and armdyn.mechanics.closed_chain take the loops into account.",
            )
        return assemble(self.tree, self.root.name, self.base, self.coupling)

    @property
    def links(self) -> tuple[Link, ...]:
        """The moving links in joint frames, fixed bodies merged: what mechanics works on."""
        return self._assembly.links

    @property
    def spins(self) -> tuple[Spin, ...]:
        """The rotors of the joints' motors."""
        return self._assembly.spins

    def outward(self) -> Iterator[Link]:
        """Links, parents before children."""
        return iter(self.links)

    def inward(self) -> Iterator[Link]:
        """Links, children before parents."""
        return reversed(self.links)

    @cached_property
    def frames(self) -> Mapping[str, Frame]:
        """All named frames: the bodies by name, the joints' bodies by joint name, and `tool`."""
        bodies = self._assembly.frames
        ends = {joint.compound.name: bodies[joint.body.name] for joint in self.tree if joint.compound}
        frames = ends | {joint.name: bodies[joint.body.name] for joint in self.tree} | bodies
        carrier = bodies[self.tool_body]
        return frames | {"tool": Frame(carrier.link, carrier.pose @ self.tool.pose())}

    @property
    def tool_body(self) -> str:
        """Name of the body that carries the tool: as given, or the last one that the last joint moves."""
        if self.tool_on is not None or not self.tree:
            return self.tool_on or self.root.name
        if self.constrained:
            return self.opened.tool_body
        frames = self._assembly.frames
        return next(joint.body.name for joint in reversed(self.tree) if frames[joint.body.name].link == self.n - 1)

    def frame(self, name: str = "tool") -> Frame:
        """The frame of that name, as (link index, pose in the link's frame)."""
        if name not in self.frames:
            raise unknown_name("frame", name, self.frames, where=f"robot {self.name!r}")
        return self.frames[name]

    def path(self, link: int) -> list[int]:
        """Indices of the links from the base to `link`, both included."""
        indices: list[int] = []
        while link >= 0:
            indices.append(link)
            link = self.links[link].parent
        return indices[::-1]

    def joint(self, name: str) -> Joint:
        """The joint of that name."""
        for joint in self.tree:
            if joint.name == name:
                return joint
        raise unknown_name("joint", name, [j.name for j in self.tree], where=f"robot {self.name!r}")

    # Views --------------------------------------------------------------------------------------------------------

    @property
    def symbolic(self) -> Robot:
        """The same robot in its named parameters (itself, if it was described in numbers alone)."""
        return self.expressions or self

    def mapped(self, number: Change, angle: Change | None = None) -> Robot:
        """The same robot with every scalar changed; angles by `angle` (default: like numbers)."""
        change: Callable[[Any], Any] = lambda part: mapped(part, number, angle)  # noqa: E731
        return replace(
            self,
            tree=tuple(map(change, self.tree)),
            gravity=change(self.gravity),
            base=change(self.base),
            tool=change(self.tool),
            root=change(self.root),
            loops=tuple(map(change, self.loops)),
            coupling=change(self.coupling),
            expressions=None,
        )

    def bound(self) -> Robot:
        """Numbers put in for the named parameters; the expressions stay reachable by `symbolic`."""
        if not self.has_symbols:
            return self
        values: dict[str, Any] = {}
        for name, value in self.parameters.items():  # a parameter may use those above it
            values[name] = _number(value, values)
        numeric = self.mapped(lambda x: _number(x, values))
        return replace(numeric, parameters=values, expressions=self)

    @cached_property
    def has_symbols(self) -> bool:
        parts = (*self.tree, self.gravity, self.base, self.tool, self.root, *self.loops, self.coupling)
        return any(holds(part, Node) for part in parts)

    # New robots from this one -------------------------------------------------------------------------------------

    def edited(self, edit: Callable[[Robot], Robot]) -> Robot:
        """The result of an edit made on the expressions, bound to numbers again."""
        return edit(self.symbolic).bound()

    def with_parameters(self, **values: float) -> Robot:
        """Return the same robot with other values of its named parameters."""
        for name in values:
            if name not in self.parameters:
                raise unknown_name("parameter", name, self.parameters, where=f"robot {self.name!r}")
        return self.edited(lambda robot: replace(robot, parameters={**robot.parameters, **values}))

    def with_payload(
        self, mass: Scalar, com: Sequence[Scalar] = (0, 0, 0), inertia: Any = None, *, on: str | None = None
    ) -> Robot:
        """Return the robot with a payload.

        mass: kg.
        com: (3,) centre of mass in the tool frame, m.
        inertia: six entries xx xy xz yy yz zz or a (3, 3) tensor at the centre of mass, kg m^2 (default: zero).
        on: body that carries the payload instead of the tool; com is then in its frame.
        """
        from armdyn.robot.edit import add_payload

        load = CentralInertia(mass, Vec3.of(com), tensor_of(inertia))
        names = [x for x in (load.mass, *load.com, *(x for row in load.tensor.rows for x in row)) if isinstance(x, str)]
        if names:
            raise ArmdynError(
                f"a payload with the name {names[0]!r} in place of a number",
                where="Robot.with_payload",
                expected="numbers: kg, m and kg m^2",
                advice="For a payload that changes at run time, use armdyn.export(..., tunable=('payload',)).",
            )
        return self.edited(lambda robot: add_payload(robot, load, on))

    @cached_property
    def features(self) -> Features:
        """Features that not every function takes into account, by name, each with the joints that have it."""
        from armdyn.robot.features import features

        return features(self)

    @property
    def includes(self) -> str:
        """One line that says what the model includes and what was left out on request."""
        from armdyn.robot.features import model_line

        return model_line(self)

    def without(self, *parts: str) -> Robot:
        """Return the robot without some of its features or parts: friction (or offsets alone), rotors, gravity, ...

        `left_out` of the new robot names what it has lost.
        """
        from armdyn.robot.edit import remove
        from armdyn.robot.features import FEATURES

        known = (*PARTS, *FEATURES)
        for part in parts:
            if part not in known:
                raise unknown_name("part", part, known, where="Robot.without")
        return self.edited(lambda robot: remove(robot, parts)) if parts else self

    def locked(self, values: Mapping[str, Scalar]) -> Robot:
        """Return the robot with these joints held at the given positions, rad or m, and merged into their parents.

        A rotor of the full model stays, at rest, a part of the body that carries it.
        """
        from armdyn.robot.edit import lock

        return self.edited(lambda robot: lock(robot, values))

    def chain(self, base: str | None = None, tip: str | None = None) -> Robot:
        """Return the subtree of body `base`; with `tip`, only the chain from base or root to it, the tool frame there.

        A robot with loops keeps all its bodies if only a tip is given.
        """
        from armdyn.robot.edit import sub_chain

        return self.edited(lambda robot: sub_chain(robot, base, tip))

    def to_dh(self, convention: Convention = "modified") -> Robot:
        """Return the same robot by rows of a DH table: joints, zeros and torques stay, body frames move to DH frames.

        Bodies on fixed joints are merged into what carries them. What a row cannot express becomes a fixed frame
        before it; `notes` says how far the tool is off (rounding).

        convention: "modified" (Khalil, with gamma and b on branches) or "standard".
        """
        from armdyn.robot.dh_tables import to_dh

        return to_dh(self, convention)

    # Reports ------------------------------------------------------------------------------------------------------

    def save(self, path: str | Path) -> Path:
        """Write the robot to a .toml, .urdf or .xml (MJCF) file and return its path.

        A robot from a URDF or MJCF file, saved in the same format, is that file with the values that changed: visuals,
        transmissions, comments and spacing stay.
        """
        from armdyn.formats import save

        return save(self, path)

    def _view(self) -> View:
        from armdyn.robot.describe import view

        return view(self)

    def __str__(self) -> str:
        from armdyn.robot.describe import text

        return text(self)

    def __repr__(self) -> str:
        kinds = (j.compound.kind if j.compound else j.kind[0].upper() for j in compounds.collapsed(self.joints))
        return f"<Robot {self.name!r}: {self.n} {'velocities' if self.compounds else 'joints'}, {' '.join(kinds)}>"


def tensor_of(inertia: Any) -> Mat3:
    """A symmetric tensor from None, six entries (xx xy xz yy yz zz) or three rows."""
    if inertia is None:
        return Mat3.zero()
    entries = list(inertia)
    if len(entries) == 6:
        return Mat3.symmetric(*entries)
    if len(entries) == 3 and all(len(row) == 3 for row in entries):
        return Mat3([list(row) for row in entries])
    raise RobotError(
        f"an inertia tensor with {len(entries)} entries", expected="xx xy xz yy yz zz, or three rows of three"
    )


def _number(x: Scalar, values: Mapping[str, Any]) -> Scalar:
    return tidy(to_float(x, values)) if isinstance(x, Node) else x


def _validate(robot: Robot) -> None:
    """Names unique, parents known and earlier, kinds known: the tree can be walked."""
    where = f"robot {robot.name!r}"
    joints: set[str] = set()
    bodies = {robot.root.name}
    for joint in robot.tree:
        for kinds, name, taken in (("joints", joint.name, joints), ("bodies", joint.body.name, bodies)):
            if name in taken:
                advice = "Rename one of them; a joint without `link` gives its body its own name."
                raise RobotError(f"two {kinds} are called {name!r}", where=where, advice=advice)
        if joint.parent not in bodies:
            raise _bad_parent(robot, joint, bodies)
        joints.add(joint.name)
        bodies.add(joint.body.name)
    ends = (end for loop in robot.loops for end in (loop.first, loop.second))
    carriers = (joint.rotor.on for joint in robot.tree if joint.rotor is not None)
    for name in filter(None, (robot.tool_on, *ends, *carriers)):
        if name not in bodies:
            raise unknown_name("body", name, sorted(bodies), where=where)
    compounds.validate(robot.tree, where)
    _validate_mimic(robot, where)
    if robot.coupling:
        _validate_coupling(robot, where)


def _validate_mimic(robot: Robot, where: str) -> None:
    leaders = {joint.name: joint.mimic.joint for joint in robot.movable if joint.mimic}
    names = [joint.name for joint in robot.movable if joint.compound is None]
    for follower, leader in leaders.items():
        if leader not in names:
            raise unknown_name("movable joint", leader, names, where=f"{where}, joint {follower!r}, mimic")
        chain = [follower]
        while leader in leaders and leader not in chain:
            chain.append(leader)
            leader = leaders[leader]
        if leader in chain:
            raise RobotError(
                f"mimic joints follow one another: {' -> '.join([*chain, leader])}",
                where=where,
                expected="a chain that ends at an independent joint",
            )


def _validate_coupling(robot: Robot, where: str) -> None:
    n = len(robot.movable)
    if len(robot.coupling) != n or any(len(row) != n for row in robot.coupling):
        raise RobotError(
            f"a coupling of {len(robot.coupling)} rows for {n} movable joints",
            where=where,
            expected=f"{n} rows of {n}: joint rates from motor rates",
            advice="A robot with locked or left out joints needs a coupling of its own: take the old one "
            'away first, with .without("coupling").',
        )
    for joint in robot.movable:
        if joint.rotor is not None and not joint.rotor.ratio == 1:
            raise RobotError(
                f"a rotor's ratio ({joint.rotor.ratio}) beside a coupling",
                where=f"{where}, joint {joint.name!r}",
                expected="the gears in the coupling alone",
                advice="Leave the ratio out; the coupling holds 1/ratio on its diagonal.",
            )


def _bad_parent(robot: Robot, joint: Joint, earlier: set[str]) -> RobotError:
    where = f"robot {robot.name!r}, joint {joint.name!r}"
    later = {j.body.name for j in robot.tree} - earlier
    if joint.parent in later:
        return RobotError(
            f"its parent {joint.parent!r} comes later in the tree or is a descendant of the joint",
            where=where,
            expected="parents before children, without cycles",
            advice="Move the joint behind its parent.",
        )
    error = unknown_name("parent body", joint.parent, sorted(earlier | later), where=where)
    return RobotError(error.what, where=error.where, expected=error.expected, advice=error.advice)
