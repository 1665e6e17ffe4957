"""Chains of revolute joints: frames with few numbers, forward dynamics and the mass matrix in them.

The frames are those of modified Denavit-Hartenberg parameters: the x axis of a link is the common normal of its own
joint axis and the next one. The next link is then placed by a turn about x and a step along it, and by a step along
its own axis, on which its own motion has no influence. The angle between x and the x axis of the robot's description is
added to the joint's angle.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, NamedTuple

from armdyn.algebra import Z_AXIS, ZERO, Inertia, Mat3, Pose, Scalar, Screw, Vec3, cross, momentum, rot_x, rot_z
from armdyn.algebra.ops import add, mul, sub
from armdyn.dynamics.looped.links import Shape, base_motion, joint_terms, link_of, pose_in_factors, standard
from armdyn.graph import Node
from armdyn.kernels.looped.recursion import Kind, Recipe, Site, Stage
from armdyn.mechanics import articulated_body, newton_euler
from armdyn.mechanics.angle_pair import AnglePair
from armdyn.mechanics.articulated_body import Block
from armdyn.mechanics.composite_body import turned
from armdyn.mechanics.newton_euler import LinkMotion
from armdyn.robot.links import Link

# Frames ---------------------------------------------------------------------------------------------------------------

PARALLEL = 1e-15
"""Sine of an angle between axes that is only rounding."""
FAR = 30.0
"""Steps between origins, in longest distances of the robot's own, that cost no more than three digits of an inertia."""


class Chain(NamedTuple):
    """Links in these frames, and what is known of them besides.

    steps: from the normal before to the next one along the joint's axis, then along x to the next axis.
    ahead: cosine and sine of what their x axes are ahead.
    base: the world's axes.
    """

    links: tuple[Link, ...]
    steps: tuple[tuple[float, float], ...]
    ahead: tuple[tuple[float, float], ...]
    base: Mat3


class Normal(NamedTuple):
    """The common normal of two joint axes, seen from the frame of the first.

    axes: z as it is, x along the normal. here, there: its feet, from the origins along the axes. length: from here to
    there.
    """

    axes: Mat3
    here: float
    there: float
    length: float


def is_chain(links: Sequence[Link]) -> bool:
    """Whether all joints turn, each on the link before it."""
    return all(link.revolute and link.compound is None and link.parent == link.index - 1 for link in links)


def along_normals(links: Sequence[Link]) -> Chain | None:
    """The links of a chain in these frames; None if nearly parallel axes would have their common normal far away."""
    first = Normal(_normal(links[0]).axes, 0.0, 0.0, 0.0)  # torques are the same wherever the world's origin is
    normals = [first, *map(_normal, links[1:])]
    normals.append(Normal(Mat3.identity(), normals[-1].there, 0.0, 0.0))
    steps = tuple((after.here - before.there, after.length) for before, after in pairwise(normals))
    longest = max((math.hypot(*map(float, link.placement.p)) for link in links[1:]), default=0.0)
    if max(abs(length) for step in steps for length in step) > FAR * longest:
        return None
    moved, ahead = [], []
    for link, (along, _), (before, after) in zip(links, steps, pairwise(normals), strict=True):
        R = before.axes.T @ _numbers(link.placement.R) @ rot_z(float(link.offset))
        about_x = rot_x(AnglePair(R.rows[2][2], math.hypot(R.rows[0][2], R.rows[1][2])))
        ahead.append((about_x.T @ R @ after.axes).column(0))
        inertia = link.inertia.seen_from(Pose(after.axes, Vec3(0.0, 0.0, after.here)).inverse())
        placement = Pose(about_x, Vec3(before.length, 0.0, 0.0) + along * about_x.column(2))
        moved.append(replace(link, placement=placement, offset=0, inertia=inertia))
    return Chain(tuple(moved), steps, tuple((float(x.x), float(x.y)) for x in ahead), normals[0].axes)


def _normal(link: Link) -> Normal:
    """From the axis of the link's parent, z of its frame, to the link's own."""
    x, y, z = map(float, link.placement.R.column(2))
    px, py, pz = map(float, link.placement.p)
    sine = math.hypot(x, y)
    if sine <= PARALLEL:
        length = math.hypot(px, py)
        axes = rot_z(AnglePair(px / length, py / length)) if length else Mat3.identity()
        return Normal(axes, 0.0, -pz * z, length)
    there = -(px * x + py * y) / sine**2
    return Normal(rot_z(AnglePair(-y / sine, x / sine)), pz + there * z, there, (py * x - px * y) / sine)


def _numbers(R: Mat3) -> Mat3:
    return Mat3([[float(entry) for entry in row] for row in R.rows])


# Forward dynamics -----------------------------------------------------------------------------------------------------

ABREAST = 2
"""Vectors of samples in turns: the way inwards is a chain of operations that wait for each other."""
OWN: dict[str, Kind] = {
    "w": "vector", "wd": "vector", "U": "matrix", "a": "vector", "next": "vector", "f": "vector", "m": "vector",
    "A": "symmetric", "B": "matrix", "D": "symmetric", "g": "vector", "gd": "vector", "free": "scalar", "x": "vector",
    "xd": "vector",
}  # fmt: skip
"""(w, wd, U, a): motion at qdd = 0; next: acceleration where x meets the next axis; (f, m): -beta; A, B, D: articulated
inertia; (g, gd): I* a / H; free: qdd of a parent that does not accelerate; (x, xd): what joint accelerations add to the
acceleration."""


def forward_dynamics(shape: Shape, reload: int, one_call: Recipe) -> Recipe:
    """Articulated bodies in link frames. Khalil (7.67)-(7.79)

    Accelerations are counted from those at qdd = 0, so that gamma need not be multiplied with articulated inertias.
    Fewer operations than in the world's axes, but more of them wait for each other, so it is for batches.
    """
    stages = (Stage("outward", _resisting), Stage("inward", _reduced), Stage("outward", _accelerated))
    return standard("forward_dynamics", shape, inputs=("q", "qd", "tau"), own=OWN, results=("qdd",), outputs=1,
                    start=_standing, stages=stages, reload=reload, abreast=ABREAST, one_call=one_call)  # fmt: skip


def _standing(given: Mapping[str, Node]) -> Mapping[str, Any]:
    nothing = dict.fromkeys(("A", "B", "D"), Mat3.zero()) | dict.fromkeys(("w", "wd", "f", "m", "x", "xd"), ZERO)
    return {**nothing, "next": -base_motion(given).gravity}


def _placed(site: Site) -> tuple[Pose, Vec3]:
    """The link in its parent with its origin still on the common normal, and the step from there along its own axis.

    Two steps along axes take fewer operations than one along neither.
    """
    return Pose(pose_in_factors(site).R, Vec3(site.number("Px"), 0, 0)), Vec3(0, 0, site.number("d"))


def _resisting(site: Site) -> None:
    """-beta, of the motion at qdd = 0. Khalil (7.51)-(7.57), (7.70)"""
    link, (R, _), step = link_of(site), *_placed(site)
    before = LinkMotion(site.parent("w"), site.parent("wd"), Mat3.zero(), site.parent("next"))
    motion = newton_euler.moved(link, Pose(R, ZERO), site.joint("qd"), 0, before)
    motion = motion._replace(a=motion.a + motion.U @ step)  # points on the joint's axis move with both links
    f, m = newton_euler.body_wrench(link, motion)
    site.put(next=motion.a + motion.U @ Vec3(site.number("reach"), 0, 0))
    site.put(**motion._asdict(), f=f, m=m, **articulated_body.spatial(link.inertia)._asdict())


def _reduced(site: Site) -> None:
    """Khalil (7.71)-(7.75)"""
    link, pose, step = link_of(site), *_placed(site)
    load, I = Screw(*map(site.own, ("f", "m"))), Block(*map(site.own, ("A", "B", "D")))
    u = articulated_body.column(link, I)
    H = add(link.along(*u), site.number_if_any("Ia"))
    inverse = 1 / H
    pull = sub(sub(site.joint("tau"), joint_terms(site, motion=False)), link.along(*load))
    gain = Screw(*(articulated_body.over(part, H, inverse) for part in u))
    K = articulated_body.reduced(link, I, u, gain)
    site.put(g=gain.linear, gd=gain.angular, free=mul(inverse, pull))
    f, m = load.plus(gain.times(pull))
    passed = articulated_body.wrench_at_parent(pose, Screw(f, m + cross(step, f)))
    there = _at_parent(site, pose.p, articulated_body.about(step, K))
    site.add_to_parent(f=passed.linear, m=passed.angular, **there._asdict())


def _at_parent(site: Site, P: Vec3, K: Block) -> Block:
    """Khalil (7.75)"""
    return articulated_body.about(P, Block(*(_tensor_at_parent(site, block) for block in K)))


def _tensor_at_parent(site: Site, A: Mat3) -> Mat3:
    """Turned into the parent's axes."""
    about_z = turned(A, site.own("cosine"), site.own("sine"))
    return _turned_about_x(about_z, *site.numbers("ca sa"))


def _turned_about_x(A: Mat3, c: Scalar, s: Scalar) -> Mat3:
    """Rx A Rx^T: as about z, with x, y, z in the places of z, x, y."""
    there = turned(Mat3([[A.rows[i][j] for j in (1, 2, 0)] for i in (1, 2, 0)]), c, s)
    return Mat3([[there.rows[i][j] for j in (2, 0, 1)] for i in (2, 0, 1)])


def _accelerated(site: Site) -> None:
    """Khalil (7.76)-(7.78)"""
    link, (R, P), step = link_of(site), *_placed(site)
    x, xd = site.parent("x"), site.parent("xd")
    x, xd = R.T @ (x + cross(xd, P)), R.T @ xd
    x = x + cross(xd, step)
    qdd = sub(site.own("free"), add(site.own("g").dot(x), site.own("gd").dot(xd)))
    site.result("qdd", qdd)
    site.put(x=x, xd=xd + link.spin(qdd))


# Mass matrix ----------------------------------------------------------------------------------------------------------


def mass_matrix(one_call: Recipe) -> Recipe:
    """Composite bodies in link frames, of which the wrench about a joint's axis is a column; one call stays as it is.

    Walker and Orin (1982), method 3. The masses of grouped parameters are zero.
    """

    def start(given: Mapping[str, Node]) -> Mapping[str, Any]:
        return {"T": Mat3.identity(), "p": ZERO, "h": ZERO, "J": Mat3.zero()}

    own: dict[str, Kind] = {"T": "matrix", "p": "vector", "h": "vector", "J": "symmetric"}
    stages = (Stage("outward", _reached), Stage("inward", _composite))
    return replace(one_call, own=own, start=start, stages=stages, one_call=one_call)


def _reached(site: Site) -> None:
    """The pose in the world, and the link's own body."""
    before, link = site.parent("T"), link_of(site)
    T = before @ link.placement.R @ rot_z(AnglePair(site.own("cosine"), site.own("sine")))
    p = site.parent("p") + site.number("Px") * before.column(0) + site.number("d") * T.column(2)
    site.put(T=T, p=p, h=link.inertia.moment, J=link.inertia.tensor)


def _composite(site: Site) -> None:
    """The wrench that turns all that a joint carries about its axis, in the world; its body as the parent sees it."""
    T, p, body = site.own("T"), site.own("p"), Inertia(0, site.own("h"), site.own("J"))
    z = T.column(2)
    force, moment = (T @ part for part in momentum(body, Screw(ZERO, Z_AXIS)))
    site.pair(s=cross(p, z), z=z, F=force, N=moment + cross(p, force))
    if "Ia" in site.recipe.results:
        site.result("Ia", site.number("Ia"))
    (_, P), step = _placed(site)
    on_axis = body.seen_from(Pose(Mat3.identity(), step))
    there = Inertia(0, pose_in_factors(site).R @ on_axis.moment, _tensor_at_parent(site, on_axis.tensor))
    passed = there.seen_from(Pose(Mat3.identity(), P))
    site.add_to_parent(h=passed.moment, J=passed.tensor)


__all__ = ["Chain", "along_normals", "forward_dynamics", "is_chain", "mass_matrix"]
