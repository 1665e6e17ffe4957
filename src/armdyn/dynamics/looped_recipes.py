"""Recipes of looped kernels: the steps of the formulations of mechanics, at a link whose numbers are in a table.

Robots whose joints all turn have recipes of their own; others have one for both kinds, with the factors of Khalil's
sigma: `turning` is 1 for a revolute joint and 0 for a prismatic one, `sliding` the opposite.

A robot on a free joint is described in the axes of the body that this joint moves, the base, which stands in the place
of the world: it moves with the velocity and acceleration of the joint, and gravity turns. The six links of the joint
stand still on it; forces and axes along them are those along the joint's velocities.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from armdyn.algebra import ZERO, Inertia, Mat3, Pose, Scalar, Vec3, cross, ops, outer, rot_quaternion, rot_z
from armdyn.algebra.ops import add, mul, sub
from armdyn.graph import Node
from armdyn.kernels.link_loops import Kind, Product, Recipe, Site, Stage, Strip
from armdyn.mechanics import articulated_body, newton_euler
from armdyn.mechanics.angle_pair import AnglePair
from armdyn.mechanics.articulated_body import Block
from armdyn.mechanics.derivatives import Axis, Moving, Screw, answered, momentum, product, wrench_product
from armdyn.mechanics.newton_euler import LinkMotion, rate_matrix
from armdyn.parameters.regressor import UNITS
from armdyn.robot.links import WORLD, Link

PLACEMENT = ("R00", "R01", "R02", "R10", "R11", "R12", "R20", "R21", "R22", "Px", "Py", "Pz")
INERTIA = ("XX", "XY", "XZ", "YY", "YZ", "ZZ", "MX", "MY", "MZ", "M")
SIGMA = ("turning", "sliding")
JOINT = ("Ia", "Fv", "Fc", "stiffness", "off")
"""What a joint adds to the torque: Ia qdd + Fv qd + Fc sign(qd) + stiffness q + off, its spring's rest in `off`."""
JOINT_COLUMNS = ("Ia", "Fv", "Fc", "off")
"""Columns of the regressor beside those of inertia."""
GRAVITY = ("gx", "gy", "gz")
BASE = {"q": 7, "qd": 6, "qdd": 6}
"""Entries of a free joint at the root."""


Start = Callable[[Mapping[str, Node]], Mapping[str, Any]]


class Shape(NamedTuple):
    """What recipes are made for.

    mixed: prismatic joints are among the robot's.
    terms: some joint has a rotor, friction, an offset or a spring.
    floating: the robot stands on a free joint, whose six links are its first.
    """

    mixed: bool
    terms: bool
    floating: bool = False


@dataclass(frozen=True, slots=True)
class MixedLink(Link):
    """A link on a revolute or a prismatic joint: which of them is a matter of numbers."""

    turning: Scalar = 1
    sliding: Scalar = 0

    def pose(self, q: Scalar) -> Pose:
        angle, distance = q
        R, p = self.placement
        return Pose(R @ rot_z(angle), p + mul(self.sliding, distance) * R.column(2))

    def spin(self, rate: Scalar) -> Vec3:
        return Vec3(0, 0, mul(self.turning, rate))

    def slide(self, rate: Scalar) -> Vec3:
        return Vec3(0, 0, mul(self.sliding, rate))

    def along(self, force: Vec3, moment: Vec3) -> Scalar:
        return add(mul(self.turning, moment.z), mul(self.sliding, force.z))


def link_of(site: Site) -> Link:
    """The link at a site."""
    numbers = site.recipe.numbers
    R = site.numbers(" ".join(PLACEMENT[:9]))
    placement = Pose(Mat3((R[:3], R[3:6], R[6:])), Vec3(*site.numbers("Px Py Pz")))
    body = Inertia.from_parameters(*map(site.number, INERTIA))
    plain = Link(0, "", WORLD, "revolute", placement, 0, body)
    if "turning" not in numbers:
        return plain
    parts = (plain.index, plain.name, plain.parent, plain.kind, placement, 0, body, None)
    return MixedLink(*parts, *map(site.number, SIGMA))


def position(site: Site) -> Any:
    """What `pose` of the link takes."""
    angle = AnglePair(site.own("cosine"), site.own("sine"))
    return angle if site.recipe.turning is None else (angle, site.joint("q"))


def pose_of(site: Site) -> Pose:
    """The pose in the parent, once its rotation is known."""
    mixed = site.recipe.turning is not None
    return Pose(site.own("R"), site.own("P") if mixed else Vec3(*site.numbers("Px Py Pz")))


def posed(site: Site) -> None:
    pose = link_of(site).pose(position(site))
    site.put(R=pose.R, **({} if site.recipe.turning is None else {"P": pose.p}))


def joint_terms(site: Site, *, motion: bool = True) -> Scalar:
    """What rotor, friction, offset and spring ask of the actuator; motion: with the rotor's acceleration."""
    if "Ia" not in site.recipe.numbers:
        return 0
    q, qd = site.joint("q"), site.joint("qd")
    friction = add(mul(site.number("Fv"), qd), mul(site.number("Fc"), ops.sign(qd)))
    held = add(add(friction, mul(site.number("stiffness"), q)), site.number("off"))
    return add(held, mul(site.number("Ia"), site.joint("qdd"))) if motion else held


def standard(name: str, shape: Shape, **parts: Any) -> Recipe:
    """A recipe with the usual numbers of links."""
    numbers = PLACEMENT + INERTIA + SIGMA * shape.mixed + JOINT * shape.terms
    label = f"{name}, {'revolute and prismatic' if shape.mixed else 'revolute'}{', with joint terms' * shape.terms}"
    base = {name: size for name, size in BASE.items() if shape.floating and name in parts["inputs"]}
    return Recipe(label + ", floating" * shape.floating, numbers=numbers, robot=GRAVITY,
                  turning="turning" if shape.mixed else None, base=base, **parts)  # fmt: skip


class BaseMotion(NamedTuple):
    """How the base moves, in its own axes, and gravity there: zero but for gravity if it stands in the world."""

    v: Vec3
    w: Vec3
    vd: Vec3
    wd: Vec3
    gravity: Vec3

    @property
    def centripetal(self) -> Vec3:
        """What the acceleration of the origin has besides the rates of its velocity's components."""
        return cross(self.w, self.v)


def base_motion(given: Mapping[str, Node]) -> BaseMotion:
    """From what `start` of a recipe is given."""
    gravity = Vec3(*(given[name] for name in GRAVITY))
    if "q0" in given:
        gravity = rot_quaternion(*(given[f"q{k}"] for k in range(3, 7))).T @ gravity

    def part(name: str, first: int) -> Vec3:
        return Vec3(*(given[f"{name}{first + k}"] for k in range(3))) if f"{name}0" in given else ZERO

    return BaseMotion(part("qd", 0), part("qd", 3), part("qdd", 0), part("qdd", 3), gravity)


# Inverse dynamics -----------------------------------------------------------------------------------------------------


def inverse_dynamics(shape: Shape) -> Recipe:
    """Newton-Euler in link frames. Khalil (7.51)-(7.61)"""
    return _newton_euler("inverse_dynamics", shape, ("q", "qd", "qdd"), "tau", _at_rest)


def coriolis(shape: Shape) -> Recipe:
    """The same without accelerations, gravity and joint terms."""
    return _newton_euler("coriolis", shape._replace(terms=False), ("q", "qd"), "c", _weightless)


def _newton_euler(name: str, shape: Shape, inputs: tuple[str, ...], result: str, start: Start) -> Recipe:
    own: dict[str, Kind] = {"R": "matrix", "w": "vector", "wd": "vector", "U": "matrix", "a": "vector", "f": "vector",
                            "m": "vector"}  # fmt: skip
    stages = (
        Stage("each", posed),
        Stage("outward", _moved),
        Stage("each", _loaded),
        Stage("inward", _borne),
    )
    return standard(name, shape, inputs=inputs, own=_with_position(own, shape), results=(result,), outputs=1,
                    start=start, stages=stages)  # fmt: skip


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
    return standard("gravity", shape._replace(terms=False), inputs=("q",), own=_with_position(own, shape),
                    results=("g",), outputs=1, start=start, stages=stages)  # fmt: skip


def _with_position(own: dict[str, Kind], shape: Shape) -> Mapping[str, Kind]:
    return {**own, "P": "vector"} if shape.mixed else own


def _at_rest(given: Mapping[str, Node]) -> Mapping[str, Any]:
    """The world: it accelerates upwards instead of the bodies falling."""
    base = base_motion(given)
    a = base.vd + base.centripetal - base.gravity
    return {"w": base.w, "wd": base.wd, "U": rate_matrix(base.w, base.wd), "a": a, "f": ZERO, "m": ZERO}


def _weightless(given: Mapping[str, Node]) -> Mapping[str, Any]:
    return {**_at_rest(given), "a": base_motion(given).centripetal}


def _moved(site: Site) -> None:
    before = LinkMotion(*map(site.parent, ("w", "wd", "U", "a")))
    qdd = site.joint("qdd") if "qdd" in site.recipe.inputs else 0
    motion = newton_euler.moved(link_of(site), pose_of(site), site.joint("qd"), qdd, before)
    site.put(**motion._asdict())


def _loaded(site: Site) -> None:
    motion = LinkMotion(*map(site.own, ("w", "wd", "U", "a")))
    f, m = newton_euler.body_wrench(link_of(site), motion)
    site.put(f=f, m=m)


def _borne(site: Site) -> None:
    link, f, m = link_of(site), site.own("f"), site.own("m")
    site.result(site.recipe.results[0], add(link.along(f, m), joint_terms(site)))
    force, moment = newton_euler.passed_on(link, pose_of(site), f, m)
    site.add_to_parent(f=force, m=moment.turned + moment.lever)


# Matrices over pairs of links, in the world's axes about its origin ---------------------------------------------------

PLACED: dict[str, Kind] = {"R": "matrix", "T": "matrix", "p": "vector", "s": "vector", "z": "vector", "h": "vector",
                           "J": "symmetric"}  # fmt: skip
"""R: rotation in the parent; T, p: pose in the world; (s, z): the axis as a screw; h, J: moments of what is carried."""


def _placed(site: Site) -> None:
    """The pose in the world."""
    T, R = site.parent("T"), site.own("R")
    site.put(T=T @ R, p=site.parent("p") + T @ pose_of(site).p)


def _axis(site: Site) -> None:
    """The joint's axis as a screw."""
    z, p = site.own("T").column(2), site.own("p")
    if site.recipe.turning is None:
        site.put(s=cross(p, z), z=z)
        return
    turning, sliding = map(site.number, SIGMA)
    about = turning * z
    site.put(s=cross(p, about) + sliding * z, z=about)


def _weighed(site: Site) -> None:
    """The link's own body."""
    body = link_of(site).inertia.seen_from(Pose(site.own("T"), site.own("p")))
    site.put(h=body.moment, J=body.tensor)


def _composite(site: Site) -> Inertia:
    return Inertia(site.number("MC"), site.own("h"), site.own("J"))


def _screw(site: Site, linear: str, angular: str) -> Screw:
    return Screw(site.own(linear), site.own(angular))


def _in_the_world(given: Mapping[str, Node]) -> Mapping[str, Any]:
    base = base_motion(given)
    motion = {"v": base.v, "w": base.w, "a": base.vd - base.gravity, "wd": base.wd, "fall": -base.gravity}
    vectors = dict.fromkeys(("p", "h", "l", "F", "N", "f", "m"), ZERO)
    return {"T": Mat3.identity(), "J": Mat3.zero(), "A": Mat3.zero(), **motion, **vectors}


def _of_pairs(name: str, shape: Shape, own: dict[str, Kind], **parts: Any) -> Recipe:
    """A recipe of matrices, with the mass that a link carries among its numbers."""
    made = standard(name, shape, own=_with_position({**PLACED, **own}, shape), start=_in_the_world, **parts)
    kept = {*made.own}

    def start(given: Mapping[str, Node]) -> Mapping[str, Any]:
        return {name: value for name, value in _in_the_world(given).items() if name in kept}

    return replace(made, numbers=(*made.numbers, "MC", *["inner"] * shape.floating), start=start)


def mass_matrix(shape: Shape) -> Recipe:
    """M_ij = S_i . (I_j S_j) by composite bodies, joint i carrying joint j. Walker and Orin (1982), method 3"""

    def summed(site: Site) -> None:
        site.add_to_parent(h=site.own("h"), J=site.own("J"))

    def paired(site: Site) -> None:
        S = _screw(site, "s", "z")
        force, moment = momentum(_composite(site), S)
        site.pair(s=S.linear, z=S.angular, F=force, N=moment)
        if shape.terms:
            site.result("Ia", site.number("Ia"))

    stages = (
        Stage("each", posed),
        Stage("outward", _placed),
        Stage("each", _axis),
        Stage("each", _weighed),
        Stage("inward", summed),
        Stage("each", paired),
    )
    product = Product((("s", "F"), ("z", "N")), None, "Ia" if shape.terms else None)
    return _of_pairs("mass_matrix", shape, {}, inputs=("q",), stages=stages, products=(product,),
                     results=("Ia",) if shape.terms else (),
                     pairs=dict.fromkeys(("s", "z", "F", "N"), "vector"))  # fmt: skip


RATES: dict[str, Kind] = {"v": "vector", "w": "vector", "sd": "vector", "zd": "vector", "l": "vector", "A": "matrix"}
"""(v, w): velocity, (sd, zd): rate of the axis, l and A: how the mass that is carried moves, [D-3]."""


def _going(site: Site) -> None:
    qd = site.joint("qd")
    site.put(v=site.parent("v") + qd * site.own("s"), w=site.parent("w") + qd * site.own("z"))


def _axis_rates(site: Site) -> None:
    rate = product(_screw(site, "v", "w"), _screw(site, "s", "z"))
    site.put(sd=rate.linear, zd=rate.angular)


def _mass_moving(site: Site) -> None:
    body = Inertia(site.number("M"), site.own("h"), site.own("J"))
    moving = Moving.of(body, site.own("v"), site.own("w"))
    site.put(l=moving.p, A=moving.A)


def coriolis_matrix(shape: Shape) -> Recipe:
    """The Christoffel matrix by composite bodies. [D-6]"""

    def summed(site: Site) -> None:
        site.add_to_parent(**{name: site.own(name) for name in ("h", "J", "l", "A")})

    def paired(site: Site) -> None:
        S, Sd = _screw(site, "s", "z"), _screw(site, "sd", "zd")
        body, B = _composite(site), Moving(site.own("l"), site.own("A"))
        turning, inertial = B.row(S), momentum(body, S)
        by_rate = B.times(S.angular).plus(momentum(body, Sd))
        site.pair(s=S.linear, z=S.angular, sd=Sd.linear, zd=Sd.angular)
        site.pair(turning=turning, F=inertial.linear, N=inertial.angular, Fd=by_rate.linear, Nd=by_rate.angular)

    stages = (
        Stage("each", posed),
        Stage("outward", _placed),
        Stage("each", _axis),
        Stage("outward", _going),
        Stage("each", _axis_rates),
        Stage("each", _weighed),
        Stage("each", _mass_moving),
        Stage("inward", summed),
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
        S, Sd = _screw(site, "s", "z"), _screw(site, "sd", "zd")
        site.put(sq=qdd * S.linear + qd * Sd.linear, zq=qdd * S.angular + qd * Sd.angular)

    def wrenches(site: Site) -> None:
        V, G = _screw(site, "v", "w"), _screw(site, "a", "wd")
        body = Inertia(site.number("M"), site.own("h"), site.own("J"))
        F = momentum(body, G).plus(wrench_product(V, momentum(body, V)))
        site.put(f=F.linear, m=F.angular)

    def carried_rate(site: Site) -> Screw:
        """The rate of the axis with what carries it. The world carries those of a free joint."""
        Sd = _screw(site, "sd", "zd")
        return Sd.times(site.number("inner")) if shape.floating else Sd

    def turned_rates(site: Site) -> None:
        S, G = _screw(site, "s", "z"), _screw(site, "a", "wd")
        if shape.floating:
            inner = site.number("inner")
            G = G.times(inner).plus(Screw(sub(1, inner) * site.world("fall"), ZERO))
        Sdd = product(G, S).plus(product(_screw(site, "v", "w"), carried_rate(site)))
        site.put(sdd=Sdd.linear, zdd=Sdd.angular)

    def summed(site: Site) -> None:
        site.add_to_parent(**{name: site.own(name) for name in ("h", "J", "l", "A", "f", "m")})

    def paired(site: Site) -> None:
        S, Sd, Sdd = (_screw(site, *names) for names in (("s", "z"), ("sd", "zd"), ("sdd", "zdd")))
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
        Stage("each", posed),
        Stage("outward", _placed),
        Stage("each", _axis),
        Stage("outward", _going),
        Stage("each", _axis_rates),
        Stage("each", pushed),
        Stage("outward", accelerating),
        Stage("each", _weighed),
        Stage("each", _mass_moving),
        Stage("each", wrenches),
        Stage("each", turned_rates),
        Stage("inward", summed),
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


# Forward dynamics -----------------------------------------------------------------------------------------------------

ARTICULATED: dict[str, Kind] = {
    "R": "matrix", "T": "matrix", "r": "vector", "s": "vector", "z": "vector", "w": "vector", "c": "vector",
    "cd": "vector", "A": "symmetric", "B": "matrix", "D": "symmetric", "F": "vector", "N": "vector", "u": "vector",
    "ud": "vector", "inverse": "scalar", "pull": "scalar", "a": "vector", "wd": "vector",
}  # fmt: skip
"""r: origin seen from the parent's; (s, z): axis; (c, cd): gamma; A, B, D: articulated inertia; (F, N): beta;
(u, ud): I* a; (a, wd): acceleration."""


def forward_dynamics(shape: Shape) -> Recipe:
    """Articulated bodies, each about its joint's origin in the world's axes. Khalil (7.67)-(7.79)"""
    stages = (
        Stage("each", posed),
        Stage("outward", _turned),
        Stage("each", _directed),
        Stage("outward", _spinning),
        Stage("each", _drifting),
        Stage("inward", _giving_way),
        Stage("outward", _accelerated),
    )
    return standard("forward_dynamics", shape, inputs=("q", "qd", "tau"), own=_with_position(ARTICULATED, shape),
                    results=("qdd",), outputs=1, start=_standing, stages=stages)  # fmt: skip


def _standing(given: Mapping[str, Node]) -> Mapping[str, Any]:
    base = base_motion(given)
    nothing = dict.fromkeys(("A", "B", "D"), Mat3.zero()) | dict.fromkeys(("wd", "F", "N"), ZERO)
    return {"T": Mat3.identity(), "w": base.w, "a": base.centripetal - base.gravity, **nothing}


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
    """gamma and beta. Khalil (7.68), (7.70)"""
    qd, w, r = site.joint("qd"), site.own("w"), site.own("r")
    spin, slide = qd * site.own("z"), qd * site.own("s")
    w_i = w - spin
    B, J = site.own("B"), site.own("D")
    moment = Vec3(B.rows[1][2], B.rows[2][0], B.rows[0][1])  # B = -skew(moment)
    site.put(c=cross(w_i, cross(w_i, r)) + 2 * cross(w_i, slide), cd=cross(w_i, spin))
    site.put(F=-cross(w, cross(w, moment)), N=-cross(w, J @ w))


def _giving_way(site: Site) -> None:
    """Khalil (7.71)-(7.75)"""
    axis, gamma, beta = (
        articulated_body.Screw(*map(site.own, names)) for names in (("s", "z"), ("c", "cd"), ("F", "N"))
    )
    I = Block(*map(site.own, ("A", "B", "D")))
    u = I.times(axis)
    H = add(axis.dot(u), site.number("Ia") if "Ia" in site.recipe.numbers else 0)
    inverse = 1 / H
    force = sub(site.joint("tau"), joint_terms(site, motion=False))
    pull = add(force, axis.dot(beta))
    gain = u.times(inverse)
    K = Block(
        I.A - articulated_body.symmetric(outer(u.linear, gain.linear)),
        I.B - outer(u.linear, gain.angular),
        I.D - articulated_body.symmetric(outer(u.angular, gain.angular)),
    )
    alpha = I.times(gamma).minus(beta).plus(gain.times(sub(pull, u.dot(gamma))))
    r = site.own("r")
    seen = articulated_body.about(r, K)
    site.put(u=u.linear, ud=u.angular, inverse=inverse, pull=pull)
    site.add_to_parent(F=-alpha.linear, N=-(alpha.angular + cross(r, alpha.linear)), **seen._asdict())


def _accelerated(site: Site) -> None:
    """Khalil (7.76)-(7.78)"""
    axis, gamma, u = (articulated_body.Screw(*map(site.own, names)) for names in (("s", "z"), ("c", "cd"), ("u", "ud")))
    a, wd = site.parent("a"), site.parent("wd")
    drift = articulated_body.Screw(a + cross(wd, site.own("r")), wd).plus(gamma)
    qdd = mul(site.own("inverse"), sub(site.own("pull"), u.dot(drift)))
    site.result("qdd", qdd)
    motion = drift.plus(axis.times(qdd))
    site.put(a=motion.linear, wd=motion.angular)


# Regressor ------------------------------------------------------------------------------------------------------------


def regressor(shape: Shape) -> Recipe:
    """Wrenches of unit inertias on the axes of all joints that carry them. Siciliano (7.79)

    Ten columns of inertia per link, then those of Ia, Fv, Fc and off, which are the joint's own.
    """
    own: dict[str, Kind] = {"R": "matrix", "T": "matrix", "p": "vector", "w": "vector", "wd": "vector", "U": "matrix",
                            "a": "vector"}  # fmt: skip
    stages = (
        Stage("each", posed),
        Stage("outward", _placed),
        Stage("outward", _moved),
        Stage("outward", _unit_wrenches),
    )
    strip = Strip(14, (("z",), ("s", "z"), ("s", "z")), JOINT_COLUMNS)
    made = standard("regressor", shape, inputs=("q", "qd", "qdd"), own=_with_position(own, shape), stages=stages,
                    results=strip.diagonal, pairs={"s": "vector", "z": "vector"}, strip=strip)  # fmt: skip

    def start(given: Mapping[str, Node]) -> Mapping[str, Any]:
        rest = _at_rest(given)
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


RECIPES = {
    "inverse_dynamics": inverse_dynamics,
    "coriolis": coriolis,
    "gravity": gravity,
    "forward_dynamics": forward_dynamics,
    "mass_matrix": mass_matrix,
    "regressor": regressor,
    "coriolis_matrix": coriolis_matrix,
    "inverse_dynamics_derivatives": inverse_dynamics_derivatives,
}
"""By name of the quantity."""

__all__ = ["JOINT", "RECIPES", "Shape"]
