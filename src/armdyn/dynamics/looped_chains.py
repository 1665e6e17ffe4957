"""Chains of revolute joints: frames with few numbers, and forward dynamics in them.

The x axis of every link is parallel to the common normal of its own joint axis and the next one, as in modified
Denavit-Hartenberg parameters: the next link is then placed by a turn about x. The angle between this axis and the one
that the robot's description has is added to the joint's angle. Origins stay where they are: on the common normals those
of nearly parallel axes would be far away.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from armdyn.algebra import ZERO, Mat3, Pose, Scalar, Screw, Vec3, cross, rot_x, rot_z
from armdyn.algebra.ops import add, mul, sub
from armdyn.dynamics.looped_steps import Shape, base_motion, joint_terms, link_of, pose_in_factors, standard
from armdyn.graph import Node
from armdyn.kernels.link_loops import Kind, Recipe, Site, Stage
from armdyn.mechanics import articulated_body, newton_euler
from armdyn.mechanics.angle_pair import AnglePair
from armdyn.mechanics.articulated_body import Block
from armdyn.mechanics.composite_body import turned
from armdyn.robot.links import Link

# Frames ---------------------------------------------------------------------------------------------------------------

PARALLEL = 1e-15
"""Sine of an angle between axes that is only rounding."""


class Chain(NamedTuple):
    """Links in these frames, cosine and sine of what their x axes are ahead, and the world's axes."""

    links: tuple[Link, ...]
    ahead: tuple[tuple[float, float], ...]
    base: Mat3


def is_chain(links: Sequence[Link]) -> bool:
    """Whether all joints turn, each on the link before it."""
    return all(link.revolute and link.compound is None and link.parent == link.index - 1 for link in links)


def along_normals(links: Sequence[Link]) -> Chain:
    """The links of a chain in axes along common normals; numbers are floats."""
    axes = [_normal(link) for link in links] + [Mat3.identity()]
    moved, ahead = [], []
    for k, link in enumerate(links):
        back = axes[k].T
        R = back @ _numbers(link.placement.R) @ rot_z(float(link.offset))
        about_x = rot_x(AnglePair(R.rows[2][2], math.hypot(R.rows[0][2], R.rows[1][2])))
        ahead.append((about_x.T @ R @ axes[k + 1]).column(0))
        placement, inertia = Pose(about_x, back @ link.placement.p), link.inertia.seen_from(Pose(axes[k + 1].T, ZERO))
        moved.append(replace(link, placement=placement, offset=0, inertia=inertia))
    return Chain(tuple(moved), tuple((float(x.x), float(x.y)) for x in ahead), axes[0])


def _normal(link: Link) -> Mat3:
    """Axes in the parent's frame: z as it is, x at right angles to the link's axis."""
    x, y, _ = map(float, link.placement.R.column(2))
    sine = math.hypot(x, y)
    return Mat3.identity() if sine <= PARALLEL else rot_z(AnglePair(-y / sine, x / sine))


def _numbers(R: Mat3) -> Mat3:
    return Mat3([[float(entry) for entry in row] for row in R.rows])


# Forward dynamics -----------------------------------------------------------------------------------------------------

ABREAST = 2
"""Vectors of samples in turns: the way inwards is a chain of operations that wait for each other."""
OWN: dict[str, Kind] = {
    "w": "vector", "c": "vector", "cd": "vector", "F": "vector", "N": "vector", "A": "symmetric",
    "B": "matrix", "D": "symmetric", "g": "vector", "gd": "vector", "free": "scalar", "a": "vector", "wd": "vector",
}  # fmt: skip
"""(c, cd): gamma; (F, N): beta; A, B, D: articulated inertia; (g, gd): I* a / H; free: qdd of a parent that does not
accelerate; (a, wd): acceleration."""


def forward_dynamics(shape: Shape, reload: int, one_call: Recipe) -> Recipe:
    """Articulated bodies in link frames. Khalil (7.67)-(7.79)

    Fewer operations than in the world's axes, but more of them wait for each other, so it is for batches.
    """
    stages = (Stage("outward", _rates), Stage("inward", _reduced), Stage("outward", _accelerated))
    return standard("forward_dynamics", shape, inputs=("q", "qd", "tau"), own=OWN, results=("qdd",), outputs=1,
                    start=_standing, stages=stages, reload=reload, abreast=ABREAST, one_call=one_call)  # fmt: skip


def _standing(given: Mapping[str, Node]) -> Mapping[str, Any]:
    nothing = dict.fromkeys(("A", "B", "D"), Mat3.zero()) | dict.fromkeys(("w", "wd", "F", "N"), ZERO)
    return {**nothing, "a": -base_motion(given).gravity}


def _rates(site: Site) -> None:
    """gamma and beta. Khalil (7.51), (7.52), (7.68), (7.70)"""
    link, (R, P), w_i = link_of(site), pose_in_factors(site), site.parent("w")
    w_before, spin, body = R.T @ w_i, link.spin(site.joint("qd")), link.inertia
    w = w_before + spin
    site.put(w=w, c=R.T @ cross(w_i, cross(w_i, P)), cd=cross(w_before, spin))
    U = newton_euler.rate_matrix(w, ZERO)
    site.put(F=-(U @ body.moment), N=-newton_euler.turning_moment(body.tensor, w, ZERO, U))
    site.put(**articulated_body.spatial(body)._asdict())


def _reduced(site: Site) -> None:
    """Khalil (7.71)-(7.75)"""
    link, pose = link_of(site), pose_in_factors(site)
    gamma, beta = (Screw(*map(site.own, names)) for names in (("c", "cd"), ("F", "N")))
    I = Block(*map(site.own, ("A", "B", "D")))
    u = articulated_body.column(link, I)
    H = add(link.along(*u), site.number_if_any("Ia"))
    inverse = 1 / H
    pull = add(sub(site.joint("tau"), joint_terms(site, motion=False)), link.along(*beta))
    gain = Screw(*(articulated_body.over(part, H, inverse) for part in u))
    K = articulated_body.reduced(link, I, u, gain)
    site.put(g=gain.linear, gd=gain.angular, free=sub(mul(inverse, pull), gain.dot(gamma)))
    passed = articulated_body.wrench_at_parent(pose, beta.minus(K.times(gamma)).minus(gain.times(pull)))
    site.add_to_parent(F=passed.linear, N=passed.angular, **_at_parent(site, pose.p, K)._asdict())


def _at_parent(site: Site, P: Vec3, K: Block) -> Block:
    """Khalil (7.75)"""
    angle, placed = (site.own("cosine"), site.own("sine")), site.numbers("ca sa")
    return articulated_body.about(P, Block(*(_turned_about_x(turned(block, *angle), *placed) for block in K)))


def _turned_about_x(A: Mat3, c: Scalar, s: Scalar) -> Mat3:
    """Rx A Rx^T: as about z, with x, y, z in the places of z, x, y."""
    there = turned(Mat3([[A.rows[i][j] for j in (1, 2, 0)] for i in (1, 2, 0)]), c, s)
    return Mat3([[there.rows[i][j] for j in (2, 0, 1)] for i in (2, 0, 1)])


def _accelerated(site: Site) -> None:
    """Khalil (7.76)-(7.78), gamma's share of qdd being in `free`"""
    link, (R, P) = link_of(site), pose_in_factors(site)
    a, wd = site.parent("a"), site.parent("wd")
    a, wd = R.T @ (a + cross(wd, P)), R.T @ wd
    qdd = sub(site.own("free"), add(site.own("g").dot(a), site.own("gd").dot(wd)))
    site.result("qdd", qdd)
    site.put(a=a + site.own("c"), wd=wd + site.own("cd") + link.spin(qdd))


__all__ = ["Chain", "along_normals", "forward_dynamics", "is_chain"]
