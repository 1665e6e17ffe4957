"""Robot -> MJCF text.

Bodies nest as they are mounted. A hinge of MJCF turns its body about any line in the body's own frame, so every body
keeps its frame, also where that lies off the joint axis (standard DH with a != 0).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import reduce
from operator import matmul
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from armdyn.algebra import ZERO, CentralInertia, Inertia, Mat3, Pose, Scalar, Vec3
from armdyn.errors import FeatureError, NotApplicable
from armdyn.formats.expressible import require_expressible, warn_of_loss
from armdyn.formats.mjcf_read import ROOT, TOOL
from armdyn.formats.mjcf_values import place
from armdyn.formats.urdf_write import depth_first, needs_tool_link
from armdyn.formats.xml_values import texts, written
from armdyn.robot.compounds import collapsed, position_names
from armdyn.robot.features import listed
from armdyn.robot.parts import MAGNITUDES, Body, FreeTransform, Friction, Joint, Placement
from armdyn.robot.robot import Robot

CLOSING = {
    "spherical": (ZERO,),
    "fixed": (ZERO,),
    "revolute": (Vec3(0, 0, -0.05), Vec3(0, 0, 0.05)),
}
"""Kinds of loops that MJCF can close, and the points of the closing joint that the two bodies share, m."""
_TYPES = {"revolute": "hinge", "prismatic": "slide"}


def dumps(robot: Robot) -> str:
    """The robot as MJCF; `loads` gives back the same frames, masses, ranges, torque limits, friction and gravity.

    Raises FeatureError for what MJCF cannot express and changes the torques; names the rest of it in a ModelWarning.
    """
    robot = robot.bound()
    require_expressible(robot, "mjcf")
    _refuse_loops(robot)
    warn_of_loss(robot, "mjcf", list(lost_parts(robot)))
    root = plain(robot)
    indent(root, "  ")
    return '<?xml version="1.0" encoding="utf-8"?>\n' + tostring(root, encoding="unicode") + "\n"


def plain(robot: Robot) -> Element:
    """The robot as elements, in numbers."""
    root = Element("mujoco", model=robot.name)
    SubElement(root, "compiler", angle="radian")
    SubElement(root, "option", gravity=texts(robot.gravity))
    world = SubElement(root, "worldbody")
    stand = world
    if robot.root.name != ROOT or robot.base != Placement() or _has_mass(robot.root.inertia):
        stand = _body(world, robot.root.name, robot.base.pose(), robot.root.inertia)
    bodies = {robot.root.name: stand}
    joints = collapsed(depth_first(robot))
    shared = _shared(robot, joints)
    before: dict[str, list[tuple[Joint, Pose]]] = {}
    for joint in joints:
        home = joint.home if robot.loops and joint.kind != "fixed" else 0
        above = before.pop(joint.parent, [])
        if joint.body.name in shared:
            before[joint.body.name] = [*above, (joint, _rest(joint, home))]
            continue
        carrier = bodies[above[0][0].parent if above else joint.parent]
        if joint.compound is not None and joint.compound.kind == "free":
            carrier = _above_free(robot, joint, world)
        rests = [rest for _, rest in above] + [_rest(joint, home)]
        body = _body(carrier, joint.body.name, chained(rests), joint.body.inertia)
        for number, (other, _) in enumerate(above):
            _joint(body, other, other.home if robot.loops else 0, chained(rests[number + 1 :]))
        bodies[joint.body.name] = body
        if joint.body.gravity_compensation != 0:
            body.set("gravcomp", written(joint.body.gravity_compensation))
        if joint.compound is not None:
            SubElement(body, "joint", {"name": joint.name, "type": joint.compound.kind, **_rubbing(joint.friction)})
        elif joint.kind != "fixed":
            _joint(body, joint, home)
    if needs_tool_link(robot):
        SubElement(bodies[robot.tool_body], "site", {"name": TOOL, **place(robot.tool.pose())})
    _equalities(root, robot, bodies)
    _keyframes(root, robot, joints)
    return root


def _shared(robot: Robot, joints: Sequence[Joint]) -> set[str]:
    """Bodies without mass between two joints: MJCF has both joints on the body that follows, and none without mass."""
    children: dict[str, list[Joint]] = {}
    for joint in joints:
        children.setdefault(joint.parent, []).append(joint)
    named = {robot.tool_body, *(body for loop in robot.loops for body in (loop.first, loop.second))}
    found = set()
    for joint in joints:
        below = children.get(joint.body.name, [])
        moving = [each for each in (joint, *below) if each.kind != "fixed" and each.compound is None]
        if len(below) == 1 and len(moving) == 2 and joint.body.name not in named and _is_bare(joint.body):
            found.add(joint.body.name)
    return found


def _is_bare(body: Body) -> bool:
    return not _has_mass(body.inertia) and body.gravity_compensation == 0


def chained(poses: Iterable[Pose]) -> Pose:
    """The product of poses."""
    return reduce(matmul, poses, Pose.identity())


def _equalities(root: Element, robot: Robot, bodies: Mapping[str, Element]) -> None:
    """Mimic joints and loops; a revolute joint that closes one is two points of its axis."""
    followers = [joint for joint in robot.movable if joint.mimic is not None]
    if not followers and not robot.loops:
        return
    section = SubElement(root, "equality")
    homes = {joint.name: joint.home if robot.loops else 0 for joint in robot.movable}
    for joint in followers:
        law = joint.mimic
        assert law is not None
        apart = law.offset + law.ratio * homes[law.joint] - homes[joint.name]  # MJCF counts from its configuration
        SubElement(
            section,
            "joint",
            joint1=joint.name,
            joint2=law.joint,
            polycoef=f"{written(apart)} {written(law.ratio)} 0 0 0",
        )
    for loop in robot.loops:
        for number, point in enumerate(CLOSING[loop.kind]):
            names = [f"{loop.name} {end} end {number + 1}" for end in ("first", "second")]
            ends = ((loop.first, loop.first_placement), (loop.second, loop.second_placement))
            for name, (body, placement) in zip(names, ends, strict=True):
                SubElement(
                    bodies[body], "site", {"name": name, **place(placement.pose() @ Pose(Mat3.identity(), point))}
                )
            SubElement(section, "weld" if loop.kind == "fixed" else "connect", site1=names[0], site2=names[1])
    if robot.loops:  # they say which joints a reader takes as independent
        motors = SubElement(root, "actuator")
        for joint in robot.joints:
            SubElement(motors, "motor", name=joint.name, joint=joint.name)


def _keyframes(root: Element, robot: Robot, joints: Sequence[Joint]) -> None:
    """The named configurations of a robot of independent joints, in the order of the file."""
    if not robot.configurations or robot.constrained:
        return
    section = SubElement(root, "keyframe")
    order = position_names([joint for joint in joints if joint.kind != "fixed" or joint.compound])
    for name in robot.configurations:
        q = dict(zip(robot.position_names, robot.configuration(name), strict=True))
        SubElement(section, "key", name=name, qpos=" ".join(written(float(q[entry])) for entry in order))


def _rest(joint: Joint, home: Scalar = 0) -> Pose:
    """T_parent_body in the configuration of the file."""
    if joint.compound is None or not isinstance(joint.geometry, FreeTransform):
        return joint.pose(home)
    return joint.geometry.placement.pose()


def _above_free(robot: Robot, joint: Joint, world: Element) -> Element:
    """Where the body of a free joint stands: in the world, and its position is that in the world."""
    if joint.parent != robot.root.name or _rest(joint) != Pose.identity() or robot.base != Placement():
        raise NotApplicable(
            "a free joint of MJCF stands at the world's origin",
            where=f"joint {joint.name!r}",
            expected="a free joint on the base, both without a placement, or a .toml file",
        )
    return world


def _body(parent: Element, name: str, pose: Pose, inertia: CentralInertia | Inertia) -> Element:
    body = SubElement(parent, "body", {"name": name, **place(pose)})
    if _has_mass(inertia):
        central = inertia.about_com()
        xx, xy, xz, yy, yz, zz = central.tensor.upper()
        tensor = " ".join(map(written, (xx, yy, zz, xy, xz, yz)))
        SubElement(body, "inertial", pos=texts(central.com), mass=written(central.mass), fullinertia=tensor)
    return body


def _has_mass(inertia: CentralInertia | Inertia) -> bool:
    return inertia.about_com() != CentralInertia(0, ZERO, Mat3.zero())


def _joint(body: Element, joint: Joint, home: Scalar, below: Pose | None = None) -> None:
    """A joint of a body; below: T_own_body, where a further joint carries the body."""
    own = joint.geometry.after() if below is None else joint.geometry.after() @ below
    after = own.inverse()
    values = {"name": joint.name, "type": _TYPES[joint.kind], "axis": texts(after.R.column(2))}
    if joint.kind == "revolute" and after.p != ZERO:
        values["pos"] = texts(after.p)
    if home:
        values["ref"] = written(home)
    limits, friction = joint.limits, joint.friction
    if limits is not None and limits.lower is not None and limits.upper is not None:
        values["range"] = f"{written(limits.lower)} {written(limits.upper)}"
    if limits is not None and limits.torque is not None:
        values["actuatorfrcrange"] = f"{written(-limits.torque)} {written(limits.torque)}"
    values |= _rubbing(friction)
    if joint.rotor is not None:
        values["armature"] = written(joint.rotor.ratio * joint.rotor.ratio * joint.rotor.inertia)  # Khalil (7.29)
    if joint.spring is not None:
        values |= {"stiffness": written(joint.spring.stiffness), "springref": written(joint.spring.rest)}
    SubElement(body, "joint", values)


def _rubbing(friction: Friction | None) -> dict[str, str]:
    if friction is None:
        return {}
    return {"damping": written(friction.viscous), "frictionloss": written(friction.coulomb)}


def _refuse_loops(robot: Robot) -> None:
    """MJCF has equalities for some closing joints only."""
    others = tuple(loop.name for loop in robot.loops if loop.kind not in CLOSING)
    if others:
        raise FeatureError(
            f"formats.mjcf does not take into account: loops of these kinds ({listed(others)})",
            where=f"robot {robot.name!r}",
            expected=f"loops of type {', '.join(CLOSING)}",
            advice="Save a .toml file, or cut these loops at another joint. To leave loops out on purpose: "
            'robot.without("loops"), or ROBOT,without=loops on the command line.',
            feature="loops",
            joints=others,
        )


def lost_parts(robot: Robot) -> Iterator[str]:
    """What MJCF cannot express and does not change the torques."""
    tests: dict[str, Callable[[Joint], bool]] = {
        "motors": lambda j: j.motor is not None,
        "limits of velocity, acceleration, jerk and continuous torque": lambda j: (
            j.limits is not None and any(getattr(j.limits, name) is not None for name in MAGNITUDES if name != "torque")
        ),
    }
    for what, test in tests.items():
        found = [joint.name for joint in robot.movable if test(joint)]
        if found:
            yield f"{what} ({', '.join(found)})"
    moving = [joint.name for joint in depth_first(robot) if joint.kind != "fixed"]
    if moving != [joint.name for joint in robot.movable]:
        yield f"the order of the joints, which on reading will be {', '.join(moving)}"
