"""Recipes of matrices over pairs of links: mass matrix, Coriolis matrix, derivatives, regressor.

All in the world's axes about its origin.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from armdyn.algebra import ZERO, Inertia, Mat3, Pose, Scalar, Screw, cross, momentum, ops
from armdyn.algebra.ops import sub
from armdyn.dynamics.looped import chains
from armdyn.dynamics.looped.links import (
    POSING,
    SIGMA,
    Shape,
    at_rest,
    base_motion,
    link_of,
    moved,
    standard,
    summed,
    with_position,
)
from armdyn.graph import Node
from armdyn.kernels.looped.recursion import Kind, Product, Recipe, Site, Stage, Strip
from armdyn.mechanics.derivatives import Axis, Moving, answered, product, wrench_product
from armdyn.parameters.regressor import UNITS

JOINT_COLUMNS = ("Ia", "Fv", "Fc", "off")
"""Columns of the regressor beside those of inertia."""
PLACED: dict[str, Kind] = {"R": "matrix", "T": "matrix", "p": "vector", "s": "vector", "z": "vector", "h": "vector",
                           "J": "symmetric"}  # fmt: skip
"""R: rotation in the parent; T, p: pose in the world; (s, z): the axis as a screw; h, J: moments of what is carried."""


def _axis(site: Site) -> None:
    S = _placed_axis(site)
    site.put(s=S.linear, z=S.angular)


def _placed_axis(site: Site) -> Screw:
    z, p = site.own("T").column(2), site.own("p")
    if site.recipe.turning is None:
        return Screw(cross(p, z), z)
    turning, sliding = map(site.number, SIGMA)
    return Screw(cross(p, turning * z) + sliding * z, turning * z)


def _axis_of(site: Site) -> Screw:
    """The joint's axis as a screw. In batches it is computed again on the way inwards, which is faster than loading."""
    return _placed_axis(site) if site.fused else _screw(site, "s", "z")


def _rate_of(site: Site) -> Screw:
    """The rate of the axis, likewise."""
    return product(_screw(site, "v", "w"), _axis_of(site)) if site.fused else _screw(site, "sd", "zd")


def _weighed(site: Site) -> None:
    """The link's own body."""
    body = link_of(site).inertia.seen_from(Pose(site.own("T"), site.own("p")))
    site.put(h=body.moment, J=body.tensor)


def _composite(site: Site) -> Inertia:
    return Inertia(site.number_if_any("MC"), site.own("h"), site.own("J"))


def _screw(site: Site, linear: str, angular: str) -> Screw:
    return Screw(site.own(linear), site.own(angular))


def _in_the_world(given: Mapping[str, Node]) -> Mapping[str, Any]:
    base = base_motion(given)
    motion = {"v": base.v, "w": base.w, "a": base.vd - base.gravity, "wd": base.wd, "fall": -base.gravity}
    vectors = dict.fromkeys(("p", "h", "l", "F", "N", "f", "m"), ZERO)
    return {"T": Mat3.identity(), "J": Mat3.zero(), "A": Mat3.zero(), **motion, **vectors}


def _of_pairs(name: str, shape: Shape, own: dict[str, Kind], **parts: Any) -> Recipe:
    """A recipe of matrices, with the mass that a link carries among its numbers."""
    made = standard(name, shape, own=with_position({**PLACED, **own}, shape), start=_in_the_world, **parts)
    kept = {*made.own}

    def start(given: Mapping[str, Node]) -> Mapping[str, Any]:
        return {name: value for name, value in _in_the_world(given).items() if name in kept}

    carried = [*["MC"] * (not shape.grouped), *["inner"] * shape.floating]
    return replace(made, numbers=(*made.numbers, *carried), start=start)


def mass_matrix(shape: Shape) -> Recipe:
    """M_ij = S_i . (I_j S_j) by composite bodies, joint i carrying joint j. Walker and Orin (1982), method 3"""

    def paired(site: Site) -> None:
        S = _axis_of(site)
        force, moment = momentum(_composite(site), S)
        site.pair(s=S.linear, z=S.angular, F=force, N=moment)
        if shape.terms:
            site.result("Ia", site.number("Ia"))

    stages = (
        *POSING,
        Stage("each", _axis),
        Stage("each", _weighed, late=True),
        summed("h", "J"),
        Stage("each", paired),
    )
    product = Product((("s", "F"), ("z", "N")), (), "Ia" if shape.terms else None)
    made = _of_pairs("mass_matrix", shape, {}, inputs=("q",), stages=stages, products=(product,),
                     results=("Ia",) if shape.terms else (),
                     pairs=dict.fromkeys(("s", "z", "F", "N"), "vector"))  # fmt: skip
    return chains.mass_matrix(made) if shape.aligned else made


RATES: dict[str, Kind] = {"v": "vector", "w": "vector", "sd": "vector", "zd": "vector", "l": "vector", "A": "matrix"}
"""(v, w): velocity, (sd, zd): rate of the axis, l and A: how the mass that is carried moves, [D-3]."""


def _going(site: Site) -> None:
    qd, S = site.joint("qd"), _axis_of(site)
    site.put(v=site.parent("v") + qd * S.linear, w=site.parent("w") + qd * S.angular)


def _axis_rates(site: Site) -> None:
    rate = product(_screw(site, "v", "w"), _axis_of(site))
    site.put(sd=rate.linear, zd=rate.angular)


GOING = (*POSING, Stage("each", _axis), Stage("outward", _going), Stage("each", _axis_rates))


def _mass_moving(site: Site) -> None:
    body = Inertia(site.number_if_any("M"), site.own("h"), site.own("J"))
    moving = Moving.of(body, site.own("v"), site.own("w"))
    site.put(l=moving.p, A=moving.A)


def coriolis_matrix(shape: Shape) -> Recipe:
    """The Christoffel matrix by composite bodies. [D-6]"""

    def paired(site: Site) -> None:
        S, Sd = _axis_of(site), _rate_of(site)
        body, B = _composite(site), Moving(site.own("l"), site.own("A"))
        turning, inertial = B.row(S), momentum(body, S)
        by_rate = B.times(S.angular).plus(momentum(body, Sd))
        site.pair(s=S.linear, z=S.angular, sd=Sd.linear, zd=Sd.angular)
        site.pair(turning=turning, F=inertial.linear, N=inertial.angular, Fd=by_rate.linear, Nd=by_rate.angular)

    stages = (
        *GOING,
        Stage("each", _weighed, late=True),
        Stage("each", _mass_moving, late=True),
        summed("h", "J", "l", "A"),
        Stage("each", paired),
    )
    names = ("s", "z", "sd", "zd", "turning", "F", "N", "Fd", "Nd")
    product = Product((("s", "Fd"), ("z", "Nd")), (("z", "turning"), ("sd", "F"), ("zd", "N")))
    return _of_pairs("coriolis_matrix", shape, RATES, inputs=("q", "qd"), stages=stages, products=(product,),
                     pairs=dict.fromkeys(names, "vector"))  # fmt: skip


def inverse_dynamics_derivatives(shape: Shape) -> Recipe:
    """By composite bodies. [D-4]-[D-6]"""

    def accelerating(site: Site) -> None:
        site.put(a=site.parent("a") + site.own("sq"), wd=site.parent("wd") + site.own("zq"))

    def pushed(site: Site) -> None:
        qd, qdd = site.joint("qd"), site.joint("qdd")
        S, Sd = _axis_of(site), _rate_of(site)
        site.put(sq=qdd * S.linear + qd * Sd.linear, zq=qdd * S.angular + qd * Sd.angular)

    def wrenches(site: Site) -> None:
        V, G = _screw(site, "v", "w"), _screw(site, "a", "wd")
        body = Inertia(site.number_if_any("M"), site.own("h"), site.own("J"))
        F = momentum(body, G).plus(wrench_product(V, momentum(body, V)))
        site.put(f=F.linear, m=F.angular)

    def carried_rate(site: Site) -> Screw:
        """The rate of the axis with what carries it. The world carries those of a free joint."""
        Sd = _rate_of(site)
        return Sd.times(site.number("inner")) if shape.floating else Sd

    def turned_rates(site: Site) -> None:
        S, G = _axis_of(site), _screw(site, "a", "wd")
        if shape.floating:
            inner = site.number("inner")
            G = G.times(inner).plus(Screw(sub(1, inner) * site.world("fall"), ZERO))
        Sdd = product(G, S).plus(product(_screw(site, "v", "w"), carried_rate(site)))
        site.put(sdd=Sdd.linear, zdd=Sdd.angular)

    def paired(site: Site) -> None:
        S, Sd, Sdd = _axis_of(site), _rate_of(site), _screw(site, "sdd", "zdd")
        body, B = _composite(site), Moving(2 * site.own("l"), 2 * site.own("A"))
        carried, force = carried_rate(site), _screw(site, "f", "m")
        twice = Sd.plus(carried) if shape.floating else Sd.times(2)
        force = force.times(site.number("inner")) if shape.floating else force
        known = answered(Axis(S, twice, Sdd), body, B, force, carried.angular)
        site.pair(s=S.linear, z=S.angular, zd=carried.angular, sd2=twice.linear, zd2=twice.angular)
        site.pair(sdd=Sdd.linear, zdd=Sdd.angular, turning=known.turning, F=known.inertial.linear)
        site.pair(N=known.inertial.angular, Fq=known.by_position.linear, Nq=known.by_position.angular)
        site.pair(Fd=known.by_rate.linear, Nd=known.by_rate.angular)
        if shape.terms:
            site.result("stiffness", site.number("stiffness"))
            site.result("Fv", site.number("Fv"))

    stages = (
        *GOING,
        Stage("each", pushed),
        Stage("outward", accelerating),
        Stage("each", _weighed, late=True),
        Stage("each", _mass_moving, late=True),
        Stage("each", wrenches, late=True),
        Stage("each", turned_rates, late=True),
        summed("h", "J", "l", "A", "f", "m"),
        Stage("each", paired),
    )
    own: dict[str, Kind] = dict.fromkeys(("a", "wd", "sq", "zq", "sdd", "zdd", "f", "m"), "vector")
    if shape.floating:
        own["fall"] = "vector"
    names = ("s", "z", "zd", "sd2", "zd2", "sdd", "zdd", "turning", "F", "N", "Fq", "Nq", "Fd", "Nd")
    products = (
        Product((("s", "Fq"), ("z", "Nq")), (("zd", "turning"), ("sdd", "F"), ("zdd", "N")),
                "stiffness" if shape.terms else None),
        Product((("s", "Fd"), ("z", "Nd")), (("z", "turning"), ("sd2", "F"), ("zd2", "N")),
                "Fv" if shape.terms else None),
    )  # fmt: skip
    return _of_pairs("inverse_dynamics_derivatives", shape, {**RATES, **own}, inputs=("q", "qd", "qdd"), stages=stages,
                     products=products, results=("stiffness", "Fv") if shape.terms else (),
                     pairs=dict.fromkeys(names, "vector"))  # fmt: skip


# Regressor ------------------------------------------------------------------------------------------------------------


def regressor(shape: Shape) -> Recipe:
    """Wrenches of unit inertias on the axes of all joints that carry them. Siciliano (7.79)

    Ten columns of inertia per link, then those of Ia, Fv, Fc and off, which are the joint's own.
    """
    own: dict[str, Kind] = {"R": "matrix", "T": "matrix", "p": "vector", "w": "vector", "wd": "vector", "U": "matrix",
                            "a": "vector"}  # fmt: skip
    stages = (*POSING, Stage("outward", moved), Stage("outward", _unit_wrenches))
    strip = Strip(14, (("z",), ("s", "z"), ("s", "z")), JOINT_COLUMNS)
    made = standard("regressor", shape, inputs=("q", "qd", "qdd"), own=with_position(own, shape), stages=stages,
                    results=strip.diagonal, pairs={"s": "vector", "z": "vector"}, strip=strip)  # fmt: skip

    def start(given: Mapping[str, Node]) -> Mapping[str, Any]:
        rest = at_rest(given)
        return {"T": Mat3.identity(), "p": ZERO, **{name: rest[name] for name in ("w", "wd", "U", "a")}}

    return replace(made, start=start)


def _unit_wrenches(site: Site) -> None:
    T, p = site.own("T"), site.own("p")
    z = T.column(2)
    turning, sliding = (1, 0) if site.recipe.turning is None else map(site.number, SIGMA)
    site.pair(s=cross(p, turning * z) + sliding * z, z=turning * z)
    forces, moments = [], []
    for unit in UNITS:
        force, moment = unit.wrench(site.own("w"), site.own("wd"), site.own("a"))
        forces.append(T @ force)
        moments.append(T @ moment + cross(p, T @ force))
    nothing = [ZERO] * 2
    forces, moments = forces + nothing, moments + nothing
    numbers: list[Scalar] = []
    for first, screws in ((0, (moments,)), (4, (forces, moments)), (8, (forces, moments))):
        for vectors in screws:
            numbers += [entry for axis in zip(*vectors[first : first + 4], strict=True) for entry in axis]
    site.strip(numbers)
    for name, value in zip(JOINT_COLUMNS, (site.joint("qdd"), site.joint("qd"), ops.sign(site.joint("qd")), 1),
                           strict=True):  # fmt: skip
        site.result(name, value)
