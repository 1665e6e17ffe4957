"""Recipes of looped kernels, by quantity; here those of torques and accelerations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from armdyn.algebra import ZERO, Inertia, Mat3, Screw, Vec3, cross, outer
from armdyn.algebra.ops import add, mul, sub
from armdyn.dynamics.looped import chains, matrices, places
from armdyn.dynamics.looped.links import (
    SIGMA,
    Shape,
    Start,
    at_rest,
    base_motion,
    joint_terms,
    link_of,
    moved,
    pose_in_factors,
    pose_of,
    posed,
    standard,
    weightless,
    with_position,
)
from armdyn.graph import Node
from armdyn.kernels.looped.recursion import Kind, Recipe, Site, Stage
from armdyn.mechanics import articulated_body, newton_euler
from armdyn.mechanics.articulated_body import Block
from armdyn.mechanics.newton_euler import LinkMotion

RELOAD = 24
"""Operations after which batches load again what is in memory: 7 % faster torques, 9 % faster accelerations."""
REACTIONS = ("fx", "fy", "fz", "mx", "my", "mz")

# Inverse dynamics -----------------------------------------------------------------------------------------------------


def inverse_dynamics(shape: Shape) -> Recipe:
    """Newton-Euler in link frames. Khalil (7.51)-(7.61)"""
    return _newton_euler("inverse_dynamics", shape, ("q", "qd", "qdd"), "tau", at_rest)


def coriolis(shape: Shape) -> Recipe:
    """The same without accelerations, gravity and joint terms."""
    return _newton_euler("coriolis", shape._replace(terms=False), ("q", "qd"), "c", weightless)


def joint_reactions(shape: Shape) -> Recipe:
    """The forces and moments of the same recursion. Khalil (7.58)-(7.60)"""
    made = _newton_euler("joint_reactions", shape._replace(terms=False), ("q", "qd", "qdd"), "", at_rest)
    return replace(made, results=REACTIONS, outputs=0, grid="columns")


def _newton_euler(name: str, shape: Shape, inputs: tuple[str, ...], result: str, start: Start) -> Recipe:
    own: dict[str, Kind] = {"R": "matrix", "w": "vector", "wd": "vector", "U": "matrix", "a": "vector", "f": "vector",
                            "m": "vector"}  # fmt: skip
    stages = (
        Stage("each", posed),
        Stage("outward", lambda site: moved(site, pose_in_factors)),
        Stage("each", _loaded),
        Stage("inward", _borne),
    )
    return standard(name, shape, inputs=inputs, own=with_position(own, shape), results=(result,), outputs=1,
                    start=start, stages=stages, reload=RELOAD)  # fmt: skip


def gravity(shape: Shape) -> Recipe:
    """Weights in link frames, passed inwards. Khalil (7.54)-(7.61) at rest"""
    own: dict[str, Kind] = {"R": "matrix", "a": "vector", "f": "vector", "m": "vector"}

    def hung(site: Site) -> None:
        site.put(a=site.own("R").T @ site.parent("a"))

    def weight(site: Site) -> None:
        f, m = link_of(site).inertia.wrench(ZERO, ZERO, site.own("a"))
        site.put(f=f, m=m)

    def start(given: Mapping[str, Node]) -> Mapping[str, Any]:
        return {"a": -base_motion(given).gravity, "f": ZERO, "m": ZERO}

    stages = (Stage("each", posed), Stage("outward", hung), Stage("each", weight), Stage("inward", _borne))
    return standard("gravity", shape._replace(terms=False), inputs=("q",), own=with_position(own, shape),
                    results=("g",), outputs=1, start=start, stages=stages)  # fmt: skip


def _loaded(site: Site) -> None:
    motion = LinkMotion(*map(site.own, ("w", "wd", "U", "a")))
    f, m = newton_euler.body_wrench(link_of(site), motion)
    site.put(f=f, m=m)


def _borne(site: Site) -> None:
    link, f, m = link_of(site), site.own("f"), site.own("m")
    if site.recipe.results == REACTIONS:
        for name, value in zip(REACTIONS, (*f, *m), strict=True):
            site.result(name, value)
    else:
        site.result(site.recipe.results[0], add(link.along(f, m), joint_terms(site)))
    force, moment = newton_euler.passed_on(link, pose_in_factors(site), f, m)
    site.add_to_parent(f=force, m=moment.turned + moment.lever)


# Forward dynamics -----------------------------------------------------------------------------------------------------

ARTICULATED: dict[str, Kind] = {
    "R": "matrix", "T": "matrix", "r": "vector", "s": "vector", "z": "vector", "w": "vector", "c": "vector",
    "cd": "vector", "b": "vector", "bd": "vector", "A": "symmetric", "B": "matrix", "D": "symmetric", "F": "vector",
    "N": "vector", "g": "vector", "gd": "vector", "free": "scalar", "a": "vector", "wd": "vector",
}  # fmt: skip
"""r: origin seen from the parent's; (s, z): axis; (c, cd): gamma; (b, bd): acceleration at qdd = 0; A, B, D:
articulated inertia; (F, N): beta; (g, gd): I* a / H about the parent's origin; free: qdd of a parent that does not
accelerate; (a, wd): what joint accelerations add to the acceleration."""


def forward_dynamics(shape: Shape) -> Recipe:
    """Articulated bodies, each about its joint's origin in the world's axes. Khalil (7.67)-(7.79)

    Accelerations are counted from those at qdd = 0. So gamma is summed up on the way out, at three additions and a
    cross product, instead of being multiplied with articulated inertias on the way in.
    """
    stages = (
        Stage("each", posed),
        Stage("outward", _turned),
        Stage("each", _directed),
        Stage("outward", _spinning),
        Stage("each", _drifting),
        Stage("outward", _carried_along),
        Stage("each", _resisting),
        Stage("inward", _giving_way),
        Stage("outward", _accelerated),
    )
    made = standard("forward_dynamics", shape, inputs=("q", "qd", "tau"), own=with_position(ARTICULATED, shape),
                    results=("qdd",), outputs=1, start=_standing, stages=stages, reload=RELOAD)  # fmt: skip
    return chains.forward_dynamics(shape, RELOAD, one_call=made) if shape.aligned else made


def _standing(given: Mapping[str, Node]) -> Mapping[str, Any]:
    base = base_motion(given)
    nothing = dict.fromkeys(("A", "B", "D"), Mat3.zero()) | dict.fromkeys(("bd", "a", "wd", "F", "N"), ZERO)
    return {"T": Mat3.identity(), "w": base.w, "b": base.centripetal - base.gravity, **nothing}


def _turned(site: Site) -> None:
    T = site.parent("T")
    site.put(T=T @ site.own("R"), r=T @ pose_of(site).p)


def _directed(site: Site) -> None:
    """The axis about the link's own origin, and the link's body."""
    T, body = site.own("T"), link_of(site).inertia
    z = T.column(2)
    turning, sliding = (1, 0) if site.recipe.turning is None else map(site.number, SIGMA)
    tensor = T @ body.tensor @ T.T
    inertia = articulated_body.spatial(Inertia(body.mass, T @ body.moment, tensor))
    site.put(s=sliding * z, z=turning * z, **inertia._asdict())


def _spinning(site: Site) -> None:
    site.put(w=site.parent("w") + site.joint("qd") * site.own("z"))


def _drifting(site: Site) -> None:
    """gamma. Khalil (7.68)"""
    qd, r = site.joint("qd"), site.own("r")
    spin, slide = qd * site.own("z"), qd * site.own("s")
    w_i = site.own("w") - spin
    site.put(c=cross(w_i, cross(w_i, r)) + 2 * cross(w_i, slide), cd=cross(w_i, spin))


def _carried_along(site: Site) -> None:
    """The acceleration at qdd = 0. Khalil (7.76)"""
    b, bd = site.parent("b"), site.parent("bd")
    site.put(b=b + cross(bd, site.own("r")) + site.own("c"), bd=bd + site.own("cd"))


def _resisting(site: Site) -> None:
    """beta, of the acceleration at qdd = 0. Khalil (7.70)"""
    w, b, bd = map(site.own, ("w", "b", "bd"))
    B, J = site.own("B"), site.own("D")
    moment = Vec3(B.rows[1][2], B.rows[2][0], B.rows[0][1])  # B = -skew(moment)
    F = site.number_if_any("M") * b + cross(bd, moment) + cross(w, cross(w, moment))
    site.put(F=-F, N=-(cross(moment, b) + J @ bd + cross(w, J @ w)))


def _giving_way(site: Site) -> None:
    """Khalil (7.71)-(7.75)

    The inertia is moved to the parent before what gives way is taken off, which needs a division: the two go on side by
    side.
    """
    axis, beta = (Screw(*map(site.own, names)) for names in (("s", "z"), ("F", "N")))
    I = Block(*map(site.own, ("A", "B", "D")))
    u = I.times(axis)
    H = add(axis.dot(u), site.number_if_any("Ia"))
    inverse = 1 / H
    force = sub(site.joint("tau"), joint_terms(site, motion=False))
    pull = add(force, axis.dot(beta))
    r = site.own("r")
    seen = articulated_body.about(r, I)
    far, resistance = (_about(r, screw) for screw in (u, beta))
    gain = far.times(inverse)
    site.put(g=gain.linear, gd=gain.angular, free=mul(inverse, pull))
    site.add_to_parent(
        A=seen.A - articulated_body.symmetric(outer(far.linear, gain.linear)),
        B=seen.B - outer(far.linear, gain.angular),
        D=seen.D - articulated_body.symmetric(outer(far.angular, gain.angular)),
    )
    passed = resistance.minus(gain.times(pull))
    site.add_to_parent(F=passed.linear, N=passed.angular)


def _about(r: Vec3, wrench: Screw) -> Screw:
    """A wrench about the parent's origin, from which r leads to the link's own."""
    return Screw(wrench.linear, wrench.angular + cross(r, wrench.linear))


def _accelerated(site: Site) -> None:
    """Khalil (7.76)-(7.78), with what the parent's acceleration takes off qdd: few operations wait for each other."""
    z, a, wd = site.own("z"), site.parent("a"), site.parent("wd")
    qdd = sub(sub(site.own("free"), site.own("g").dot(a)), site.own("gd").dot(wd))
    site.result("qdd", qdd)
    site.put(a=a + cross(wd, site.own("r")) + qdd * site.own("s"), wd=wd + qdd * z)


RECIPES = {
    "inverse_dynamics": inverse_dynamics,
    "coriolis": coriolis,
    "gravity": gravity,
    "forward_dynamics": forward_dynamics,
    "joint_reactions": joint_reactions,
    "mass_matrix": matrices.mass_matrix,
    "regressor": matrices.regressor,
    "coriolis_matrix": matrices.coriolis_matrix,
    "inverse_dynamics_derivatives": matrices.inverse_dynamics_derivatives,
    "pose": places.pose,
    "jacobian": places.jacobian,
    "jacobian_dot_qd": places.jacobian_dot_qd,
    "kinetic_energy": places.kinetic_energy,
    "potential_energy": places.potential_energy,
    "center_of_mass": places.center_of_mass,
    "centroidal_momentum": places.centroidal_momentum,
}
"""By name of the quantity."""

__all__ = ["RECIPES"]
