"""Recipes of torques and accelerations."""

from __future__ import annotations

from armdyn.algebra import ZERO, Inertia, Mat3, Pose, Screw
from armdyn.algebra.ops import add, mul, sub
from armdyn.dynamics.looped.links import (
    IN_PARENT,
    Shape,
    Start,
    axis_of,
    base_state,
    joint_terms,
    link_about,
    link_of,
    pose_of,
    propagate,
    recipe,
    weightless_base,
)
from armdyn.kernels.looped.recursion import Kind, Recipe, Site, Stage
from armdyn.mechanics.steps.articulated_body import (
    SpatialInertia,
    driving_force,
    joint_acceleration,
    joint_gain,
    joint_inertia,
    propagate_acceleration,
    reduced_inertia,
    reduced_wrench,
    spatial_inertia,
)
from armdyn.mechanics.steps.newton_euler import LinkMotion, body_wrench, propagate_motion, wrench_to_parent

RELOAD = 24
"""Operations after which batches load again what is in memory: 7 % faster torques, 9 % faster accelerations."""
MOTION: dict[str, Kind] = {"w": "vector", "wd": "vector", "U": "matrix", "a": "vector"}
WRENCH: dict[str, Kind] = {"f": "vector", "m": "vector"}
NOTHING = Screw(ZERO, ZERO)

# Inverse dynamics -----------------------------------------------------------------------------------------------------


def inverse_dynamics(shape: Shape) -> Recipe:
    """Newton-Euler in link frames. Khalil (7.51)-(7.61)"""
    return _newton_euler("inverse_dynamics", shape, ("q", "qd", "qdd"), "tau", base_state)


def coriolis(shape: Shape) -> Recipe:
    """The same without accelerations, gravity and joint terms."""
    return _newton_euler("coriolis", shape._replace(terms=False), ("q", "qd"), "c", weightless_base)


def _newton_euler(name: str, shape: Shape, inputs: tuple[str, ...], result: str, start: Start) -> Recipe:
    stages = (
        IN_PARENT,
        Stage("outward", propagate),
        Stage("each", _body_wrench),
        Stage("inward", _propagate_wrench),
    )
    return recipe(
        name,
        shape,
        {**MOTION, **WRENCH},
        start,
        inputs=inputs,
        results=(result,),
        outputs=1,
        stages=stages,
        reload=RELOAD,
    )


def _body_wrench(site: Site) -> None:
    f, m = body_wrench(link_of(site), LinkMotion(*map(site.own, LinkMotion._fields)))
    site.put(f=f, m=m)


def _propagate_wrench(site: Site) -> None:
    link, f, m = link_of(site), site.own("f"), site.own("m")
    site.result(site.recipe.results[0], add(link.along(f, m), joint_terms(site)))
    force, moment, lever = wrench_to_parent(link, pose_of(site), f, m)
    site.add_to_parent(f=force, m=moment + lever)


# Forward dynamics -----------------------------------------------------------------------------------------------------

ARTICULATED: dict[str, Kind] = {
    "T": "matrix",
    "r": "vector",
    "s": "vector",
    "z": "vector",
    **MOTION,
    **WRENCH,
    "A": "symmetric",
    "B": "matrix",
    "D": "symmetric",
    "g": "vector",
    "gd": "vector",
    "free": "scalar",
    "x": "vector",
    "xd": "vector",
}
"""r: origin seen from the parent's; (s, z): axis; (w, wd, U, a): motion at qdd = 0; (f, m): -beta*; A, B, D:
articulated inertia; (g, gd): I* a / H about the parent's origin; free: qdd of a parent that does not accelerate;
(x, xd): what joint accelerations add to the acceleration."""


def forward_dynamics(shape: Shape) -> Recipe:
    """Articulated bodies, each about its joint's origin in the world's axes. Khalil (7.67)-(7.79)

    Accelerations are counted from those at qdd = 0, which Newton-Euler gives with their wrenches. So gamma is zero, and
    need not be multiplied with articulated inertias.
    """
    stages = (
        IN_PARENT,
        Stage("outward", _turn_to_world),
        Stage("each", _place_axis),
        Stage("outward", _bias_motion),
        Stage("each", _bias_force),
        Stage("inward", _articulated_inertia),
        Stage("outward", _accelerations),
    )
    return recipe(
        "forward_dynamics",
        shape,
        ARTICULATED,
        inputs=("q", "qd", "tau"),
        results=("qdd",),
        outputs=1,
        stages=stages,
        reload=RELOAD,
    )


def _turn_to_world(site: Site) -> None:
    T, (R, P) = site.parent("T"), pose_of(site)
    site.put(T=(R.T @ T.T).T if site.fused else T @ R, r=T @ P)


def _place_axis(site: Site) -> None:
    s, z = axis_of(site).motion_seen_from(Pose.rotation(site.own("T")))
    site.put(s=s, z=z)


def _axis(site: Site) -> Screw:
    return Screw(site.own("s"), site.own("z"))


def _in_parent(site: Site) -> Pose:
    """The link in its parent, both with the world's axes."""
    return Pose(Mat3.identity(), site.own("r"))


def _bias_motion(site: Site) -> None:
    """The motion at qdd = 0. Khalil (7.51)-(7.54), (7.57)"""
    before = LinkMotion(*map(site.parent, LinkMotion._fields))
    link = link_about(_axis(site), Inertia.zero())
    motion = propagate_motion(link, _in_parent(site), site.joint("qd"), 0, before, by_axis=False)
    site.put(**motion._asdict())


def _bias_force(site: Site) -> None:
    """-beta, of the motion at qdd = 0, and the link's own inertia. Khalil (7.70)"""
    body = link_of(site).inertia.seen_from(Pose.rotation(site.own("T")))
    f, m = body_wrench(link_about(_axis(site), body), LinkMotion(*map(site.own, LinkMotion._fields)))
    site.put(f=f, m=m, **spatial_inertia(body)._asdict())


def _articulated_inertia(site: Site) -> None:
    """Khalil (7.71)-(7.75)

    The inertia is taken about the parent's origin before what gives way is taken off, which needs a division: the two
    go on side by side.
    """
    axis, there = _axis(site), _in_parent(site)
    I, beta = SpatialInertia(*map(site.own, SpatialInertia._fields)), Screw(-site.own("f"), -site.own("m"))
    u, H = joint_inertia(axis, I, site.number_if_any("Ia"))
    inverse = 1 / H
    driving = driving_force(axis, sub(site.joint("tau"), joint_terms(site, motion=False)), beta)
    far = u.wrench_seen_from(there)
    gain = joint_gain(far, H, inverse)
    site.put(g=gain.linear, gd=gain.angular, free=mul(inverse, driving))
    K = reduced_inertia(I.about(there.p), far, gain)
    alpha = reduced_wrench(K, NOTHING, gain, driving, beta.wrench_seen_from(there))
    site.add_to_parent(f=alpha.linear, m=alpha.angular, **K._asdict())


def _accelerations(site: Site) -> None:
    """Khalil (7.76)-(7.78), with what the parent's acceleration takes off qdd: few operations wait for each other."""
    parent = Screw(site.parent("x"), site.parent("xd"))
    qdd = joint_acceleration(1, site.own("free"), Screw(site.own("g"), site.own("gd")), parent)
    site.result("qdd", qdd)
    x, xd = propagate_acceleration(_in_parent(site), parent, NOTHING).plus(_axis(site).times(qdd))
    site.put(x=x, xd=xd)
