"""Recipes of matrices over pairs of links: mass matrix, Coriolis matrix, derivatives, regressor.

All in the world's axes about its origin: what links pass inwards is only added up there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from armdyn.algebra import ZERO, Inertia, Mat3, Pose, Scalar, Screw, cross, ops
from armdyn.algebra.ops import sub
from armdyn.dynamics.looped.links import IN_WORLD, Shape, axis_of, base_motion, link_of, propagate, recipe, sum_inwards
from armdyn.graph import Node
from armdyn.kernels.looped.recursion import Kind, Product, Recipe, Site, Stage, Strip
from armdyn.mechanics.steps.composite_body import unit_wrench
from armdyn.mechanics.steps.derivatives import AxisRates, MassMotion, composite_response, screw_product
from armdyn.mechanics.steps.newton_euler import LinkMotion, body_wrench, rate_matrix
from armdyn.parameters.regressor import UNITS

JOINT_COLUMNS = ("Ia", "Fv", "Fc", "off")
"""Columns of the regressor beside those of inertia."""
NOTHING = Screw(ZERO, ZERO)
PLACED: dict[str, Kind] = {"T": "matrix", "p": "vector", "s": "vector", "z": "vector", "h": "vector", "J": "symmetric"}
"""T, p: pose in the world; (s, z): the axis as a screw; h, J: moments of what is carried."""


def _screw(site: Site, linear: str, angular: str) -> Screw:
    return Screw(site.own(linear), site.own(angular))


def _axis_in_world(site: Site) -> Screw:
    return axis_of(site).motion_seen_from(Pose(site.own("T"), site.own("p")))


def _axis(site: Site) -> Screw:
    """The joint's axis as a screw. In batches it is computed again on the way inwards, which is faster than loading."""
    return _axis_in_world(site) if site.fused else _screw(site, "s", "z")


def _axis_rate(site: Site) -> Screw:
    """The rate of the axis, likewise. [D-1]"""
    return screw_product(_screw(site, "v", "w"), _axis(site)) if site.fused else _screw(site, "sd", "zd")


def _body(site: Site) -> Inertia:
    """The link alone; while what it carries is summed up, h and J are those of its composite body."""
    return Inertia(site.number_if_any("M"), site.own("h"), site.own("J"))


def _composite(site: Site) -> Inertia:
    return Inertia(site.number_if_any("MC"), site.own("h"), site.own("J"))


def _place_axis(site: Site) -> None:
    S = _axis_in_world(site)
    site.put(s=S.linear, z=S.angular)


def _place_body(site: Site) -> None:
    body = link_of(site).inertia.seen_from(Pose(site.own("T"), site.own("p")))
    site.put(h=body.moment, J=body.tensor)


def _start(given: Mapping[str, Node]) -> Mapping[str, Any]:
    """The base; a is a spatial acceleration."""
    base = base_motion(given)
    motion = {"v": base.v, "w": base.w, "a": base.vd - base.gravity, "wd": base.wd, "fall": -base.gravity}
    return {
        "T": Mat3.identity(),
        "J": Mat3.zero(),
        "A": Mat3.zero(),
        **motion,
        **dict.fromkeys(("p", "h", "l", "F", "N", "f", "m"), ZERO),
    }


def _of_pairs(name: str, shape: Shape, own: dict[str, Kind], **parts: Any) -> Recipe:
    """A recipe of matrices, with the mass that a link carries among its numbers."""
    carried = (*["MC"] * (not shape.grouped), *["inner"] * shape.floating)
    return recipe(name, shape, {**PLACED, **own}, _start, carried, **parts)


def mass_matrix(shape: Shape) -> Recipe:
    """M_ij = S_i . (I_j S_j) by composite bodies, joint i carrying joint j. Walker and Orin (1982), method 3"""

    def columns(site: Site) -> None:
        S = _axis(site)
        wrench = unit_wrench(S, _composite(site))
        site.pair(s=S.linear, z=S.angular, F=wrench.linear, N=wrench.angular)
        if shape.terms:
            site.result("Ia", site.number("Ia"))

    stages = (
        *IN_WORLD,
        Stage("each", _place_axis),
        Stage("each", _place_body, late=True),
        sum_inwards("h", "J"),
        Stage("each", columns),
    )
    entry = (("s", "F"), ("z", "N"))
    product = Product(entry, entry, "Ia" if shape.terms else None)
    return _of_pairs(
        "mass_matrix",
        shape,
        {},
        inputs=("q",),
        stages=stages,
        products=(product,),
        results=("Ia",) if shape.terms else (),
        pairs=dict.fromkeys(("s", "z", "F", "N"), "vector"),
    )


RATES: dict[str, Kind] = {"v": "vector", "w": "vector", "sd": "vector", "zd": "vector", "l": "vector", "A": "matrix"}
"""(v, w): velocity, (sd, zd): rate of the axis, l and A: how the mass that is carried moves, [D-3]."""


def _propagate_velocity(site: Site) -> None:
    qd, S = site.joint("qd"), _axis(site)
    site.put(v=site.parent("v") + qd * S.linear, w=site.parent("w") + qd * S.angular)


def _place_axis_rate(site: Site) -> None:
    rate = screw_product(_screw(site, "v", "w"), _axis(site))
    site.put(sd=rate.linear, zd=rate.angular)


def _mass_motion(site: Site) -> None:
    moving = MassMotion.of(_body(site), site.own("v"), site.own("w"))
    site.put(l=moving.p, A=moving.A)


VELOCITIES = (
    *IN_WORLD,
    Stage("each", _place_axis),
    Stage("outward", _propagate_velocity),
    Stage("each", _place_axis_rate),
)


def coriolis_matrix(shape: Shape) -> Recipe:
    """The Christoffel matrix by composite bodies. [D-6]"""

    def columns(site: Site) -> None:
        S, Sd = _axis(site), _axis_rate(site)
        B = MassMotion(site.own("l"), site.own("A"))
        known = composite_response(AxisRates(S, Sd, NOTHING), _composite(site), B, NOTHING, ZERO)
        site.pair(s=S.linear, z=S.angular, sd=Sd.linear, zd=Sd.angular, turning=known.turning)
        site.pair(F=known.inertial.linear, N=known.inertial.angular)
        site.pair(Fd=known.by_rate.linear, Nd=known.by_rate.angular)

    stages = (
        *VELOCITIES,
        Stage("each", _place_body, late=True),
        Stage("each", _mass_motion, late=True),
        sum_inwards("h", "J", "l", "A"),
        Stage("each", columns),
    )
    names = ("s", "z", "sd", "zd", "turning", "F", "N", "Fd", "Nd")
    product = Product((("s", "Fd"), ("z", "Nd")), (("z", "turning"), ("sd", "F"), ("zd", "N")))
    return _of_pairs(
        "coriolis_matrix",
        shape,
        RATES,
        inputs=("q", "qd"),
        stages=stages,
        products=(product,),
        pairs=dict.fromkeys(names, "vector"),
    )


def inverse_dynamics_derivatives(shape: Shape) -> Recipe:
    """By composite bodies. [D-4]-[D-6]"""

    def joint_acceleration(site: Site) -> None:
        qd, qdd = site.joint("qd"), site.joint("qdd")
        S, Sd = _axis(site), _axis_rate(site)
        site.put(sq=qdd * S.linear + qd * Sd.linear, zq=qdd * S.angular + qd * Sd.angular)

    def propagate_acceleration(site: Site) -> None:
        site.put(a=site.parent("a") + site.own("sq"), wd=site.parent("wd") + site.own("zq"))

    def wrench(site: Site) -> None:
        """Newton-Euler about the world's origin, whose acceleration as a point of the link is a + w x v."""
        w, wd = site.own("w"), site.own("wd")
        motion = LinkMotion(w, wd, rate_matrix(w, wd), site.own("a") + cross(w, site.own("v")))
        f, m = body_wrench(replace(link_of(site), inertia=_body(site)), motion)
        site.put(f=f, m=m)

    def carried_rate(site: Site) -> Screw:
        """The rate of the axis with what carries it. The world carries those of a free joint."""
        Sd = _axis_rate(site)
        return Sd.times(site.number("inner")) if shape.floating else Sd

    def second_axis_rate(site: Site) -> None:
        """[D-2]"""
        S, G = _axis(site), _screw(site, "a", "wd")
        if shape.floating:
            inner = site.number("inner")
            G = G.times(inner).plus(Screw(sub(1, inner) * site.world("fall"), ZERO))
        Sdd = screw_product(G, S).plus(screw_product(_screw(site, "v", "w"), carried_rate(site)))
        site.put(sdd=Sdd.linear, zdd=Sdd.angular)

    def columns(site: Site) -> None:
        S, Sd, Sdd = _axis(site), _axis_rate(site), _screw(site, "sdd", "zdd")
        B = MassMotion(2 * site.own("l"), 2 * site.own("A"))
        carried, force = carried_rate(site), _screw(site, "f", "m")
        twice = Sd.plus(carried) if shape.floating else Sd.times(2)
        force = force.times(site.number("inner")) if shape.floating else force
        known = composite_response(AxisRates(S, twice, Sdd), _composite(site), B, force, carried.angular)
        site.pair(s=S.linear, z=S.angular, zd=carried.angular, sd2=twice.linear, zd2=twice.angular)
        site.pair(sdd=Sdd.linear, zdd=Sdd.angular, turning=known.turning, F=known.inertial.linear)
        site.pair(N=known.inertial.angular, Fq=known.by_position.linear, Nq=known.by_position.angular)
        site.pair(Fd=known.by_rate.linear, Nd=known.by_rate.angular)
        if shape.terms:
            site.result("stiffness", site.number("stiffness"))
            site.result("Fv", site.number("Fv"))

    stages = (
        *VELOCITIES,
        Stage("each", joint_acceleration),
        Stage("outward", propagate_acceleration),
        Stage("each", _place_body, late=True),
        Stage("each", _mass_motion, late=True),
        Stage("each", wrench, late=True),
        Stage("each", second_axis_rate, late=True),
        sum_inwards("h", "J", "l", "A", "f", "m"),
        Stage("each", columns),
    )
    own: dict[str, Kind] = dict.fromkeys(("a", "wd", "sq", "zq", "sdd", "zdd", "f", "m"), "vector")
    if shape.floating:
        own["fall"] = "vector"
    names = ("s", "z", "zd", "sd2", "zd2", "sdd", "zdd", "turning", "F", "N", "Fq", "Nq", "Fd", "Nd")
    products = (
        Product(
            (("s", "Fq"), ("z", "Nq")),
            (("zd", "turning"), ("sdd", "F"), ("zdd", "N")),
            "stiffness" if shape.terms else None,
        ),
        Product(
            (("s", "Fd"), ("z", "Nd")), (("z", "turning"), ("sd2", "F"), ("zd2", "N")), "Fv" if shape.terms else None
        ),
    )
    return _of_pairs(
        "inverse_dynamics_derivatives",
        shape,
        {**RATES, **own},
        inputs=("q", "qd", "qdd"),
        stages=stages,
        products=products,
        results=("stiffness", "Fv") if shape.terms else (),
        pairs=dict.fromkeys(names, "vector"),
    )


# Regressor ------------------------------------------------------------------------------------------------------------


def regressor(shape: Shape) -> Recipe:
    """Wrenches of unit inertias on the axes of all joints that carry them. Siciliano (7.79)

    Ten columns of inertia per link, then those of Ia, Fv, Fc and off, which are the joint's own.
    """
    own: dict[str, Kind] = {"T": "matrix", "p": "vector", "w": "vector", "wd": "vector", "U": "matrix", "a": "vector"}
    stages = (*IN_WORLD, Stage("outward", propagate), Stage("outward", _unit_wrenches))
    strip = Strip(14, (("z",), ("s", "z"), ("s", "z")), JOINT_COLUMNS)
    return recipe(
        "regressor",
        shape,
        own,
        inputs=("q", "qd", "qdd"),
        stages=stages,
        results=strip.diagonal,
        pairs={"s": "vector", "z": "vector"},
        strip=strip,
    )


def _unit_wrenches(site: Site) -> None:
    pose, S = Pose(site.own("T"), site.own("p")), _axis_in_world(site)
    site.pair(s=S.linear, z=S.angular)
    wrenches = [Screw(*unit.wrench(site.own("w"), site.own("wd"), site.own("a"))) for unit in UNITS]
    wrenches = [wrench.wrench_seen_from(pose) for wrench in wrenches] + [NOTHING] * 2
    forces, moments = zip(*wrenches, strict=True)
    numbers: list[Scalar] = []
    for first, screws in ((0, (moments,)), (4, (forces, moments)), (8, (forces, moments))):
        for vectors in screws:
            numbers += [entry for axis in zip(*vectors[first : first + 4], strict=True) for entry in axis]
    site.strip(numbers)
    for name, value in zip(
        JOINT_COLUMNS, (site.joint("qdd"), site.joint("qd"), ops.sign(site.joint("qd")), 1), strict=True
    ):
        site.result(name, value)
