"""Generalized d'Alembert equations: closed form, with the effects of translation and of rotation kept apart.

    tau_i = sum_j (D_ij^rot + D_ij^tran) qdd_j + h_i^tran + h_i^rot + c_i                               Milićević (4.1)

Source: Milićević sec. 4, (4.1)-(4.5); the damaged (4.3) and the missing (4.4) as in Milicevic-5, Milicevic-6. Vectors
are in world axes, tensors about the centres of mass in link axes. Joint j's axis is z of link j through its origin p_j
(Milićević writes z_{j-1}, p_{j-1}); p*_k leads from the origin of link k to that of the next link on the way to link
s, c_s from the origin of link s to its centre of mass. Sums to s run along the way from the base to link s, so
branches are allowed.

Milićević treats rotary joints. A prismatic joint differs in three places: z_j moves a body by z_j itself instead of
z_j x (r_s - p_j); it turns nothing, so it is left out of every angular rate; and its slide, carried round by the links
before it, adds the Coriolis acceleration 2 w x (qd_j z_j) to all bodies behind it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from armdyn.algebra import ZERO, CentralInertia, Mat3, Pose, Scalar, Vec3, cross, ops
from armdyn.algebra.ops import add, mul, sub
from armdyn.errors import RobotError
from armdyn.mechanics.actuators import actuated
from armdyn.mechanics.kinematics import Wrench, frame_pose, link_poses, point_jacobian
from armdyn.mechanics.quantity import quantity
from armdyn.robot.links import WORLD, Link
from armdyn.robot.parts import StandardDH
from armdyn.robot.robot import Robot
from armdyn.typing import Scalars

Matrix = list[list[Scalar]]
VELOCITY_TERMS = (
    "translational, w x (w x p*) of the links below",
    "translational, cor x p* of the links below",
    "translational, w x (w x c) of the link itself",
    "translational, cor x c of the link itself",
    "rotational, I cor",
    "rotational, w x I w",
)
"""What `velocity_terms` keeps apart; w: angular velocity, cor: its change at constant rates (see `_Rates`)."""


@dataclass(frozen=True, slots=True)
class CarriedBody:
    """Body s as the equations see it.

    step: p* to its link's origin from that of the link before. c: c_s. (Both in world axes.) mass, tensor: m_s, I_s.
    turn: sR0. lever: for each joint i that carries the body z_i x (r_s - p_i) (revolute) or z_i (prismatic). axis:
    sR0 z_i, zero for a prismatic joint.
    """

    mass: Scalar
    tensor: Mat3
    step: Vec3
    c: Vec3
    turn: Mat3
    lever: dict[int, Vec3]
    axis: dict[int, Vec3]


def _bodies(robot: Robot, q: Scalars, poses: Sequence[Pose]) -> list[CarriedBody]:
    """All bodies; levers as in the first form of Milićević (4.2): r_s - p_i = sum of p*_k from k = i to s-1, + c_s."""
    bodies: list[CarriedBody] = []
    reach: list[dict[int, Vec3]] = []  # [s][i]: p_s - p_i
    for link, (R, _) in zip(robot.links, poses, strict=True):
        s, central = link.index, _central(robot, link)
        step = _before(link, poses).R @ link.pose(q[s]).p
        nearer = {} if link.parent == WORLD else reach[link.parent]
        reach.append({i: p + step for i, p in nearer.items()} | {s: ZERO})
        c, turn = R @ central.com, R.T
        z = {i: poses[i].R.column(2) for i in reach[s]}
        lever = {i: cross(z[i], p + c) if robot.links[i].revolute else z[i] for i, p in reach[s].items()}
        axis = {i: turn @ z[i] if robot.links[i].revolute else ZERO for i in z}
        bodies.append(CarriedBody(central.mass, central.tensor, step, c, turn, lever, axis))
    return bodies


def _central(robot: Robot, link: Link) -> CentralInertia:
    """Mass, centre and central tensor of a link; the split of these equations needs the centre."""
    body = link.inertia
    if type(body.mass) in (int, float) and body.mass == 0 and body.moment != ZERO:
        raise RobotError(
            f"link {link.name!r} has first moments but no mass, so it has no centre of mass",
            where=f"robot {robot.name!r}",
            expected="a mass, to tell translation from rotation",
            advice="Use another formulation, such as newton_euler or kane: they need only the first moments.",
        )
    return body.about_com()


def _before(link: Link, poses: Sequence[Pose]) -> Pose:
    return Pose.identity() if link.parent == WORLD else poses[link.parent]


# The terms of (4.1) -----------------------------------------------------------------------------------------------


def _D_tran(robot: Robot, bodies: Sequence[CarriedBody]) -> Matrix:
    """sum_s m_s [z_j x (r_s - p_j)].[z_i x (r_s - p_i)]. Milićević (4.2), second sum"""
    D: Matrix = [[0] * robot.n for _ in range(robot.n)]
    for s in bodies:
        for j in s.lever:
            momentum = s.mass * s.lever[j]
            for i in robot.path(j):
                D[i][j] = D[j][i] = add(D[i][j], momentum.dot(s.lever[i]))  # Milićević (4.2), i <= j
    return D


def _D_rot(robot: Robot, bodies: Sequence[CarriedBody]) -> Matrix:
    """sum_s (sR0 z_i)^T I_s (sR0 z_j). Milićević (4.2), first sum"""
    D: Matrix = [[0] * robot.n for _ in range(robot.n)]
    for s in bodies:
        for j in s.axis:
            momentum = s.tensor @ s.axis[j]
            for i in robot.path(j):
                D[i][j] = D[j][i] = add(D[i][j], s.axis[i].dot(momentum))  # Milićević (4.2), i <= j
    return D


class _Rates:
    """What velocities alone cause, for every link: angular velocity, and the accelerations that remain for qdd = 0.

    w: w_k = sum_{p <= k} qd_p z_p. cor: sum_{p <= k} (sum_{q < p} qd_q z_q) x qd_p z_p. a: acceleration of its origin.
    """

    def __init__(self, robot: Robot, qd: Scalars, poses: Sequence[Pose], bodies: Sequence[CarriedBody]) -> None:
        self.w: list[Vec3] = []
        self.cor: list[Vec3] = []
        self.a: list[Vec3] = []
        for link in robot.outward():
            k, p = link.index, link.parent
            w, cor, a = (ZERO, ZERO, ZERO) if p == WORLD else (self.w[p], self.cor[p], self.a[p])
            rate, step = qd[k] * poses[k].R.column(2), bodies[k].step
            spin, slide = (rate, ZERO) if link.revolute else (ZERO, rate)
            self.w.append(w + spin)  # Milicevic-5
            self.cor.append(cor + cross(w, spin))  # Milicevic-5
            # Milićević (4.3), first sum
            self.a.append(a + cross(w, cross(w, step)) + cross(cor, step) + 2 * cross(w, slide))


def _h_tran(robot: Robot, bodies: Sequence[CarriedBody], rates: _Rates) -> list[Scalar]:
    """sum_s m_s {sum_{k<s} [w_k x (w_k x p*_k) + cor_k x p*_k] + w_s x (w_s x c_s) + cor_s x c_s}.lever_i.

    Milićević (4.3)
    """
    h: list[Scalar] = [0] * robot.n
    for s, w, cor, a in zip(bodies, rates.w, rates.cor, rates.a, strict=True):
        force = s.mass * (a + cross(w, cross(w, s.c)) + cross(cor, s.c))  # Milićević (4.3), restored: Milicevic-5
        for i, lever in s.lever.items():
            h[i] = add(h[i], force.dot(lever))
    return h


def _h_rot(robot: Robot, bodies: Sequence[CarriedBody], rates: _Rates) -> list[Scalar]:
    """sum_s {(sR0 z_i)^T I_s (sR0 cor_s) + [sR0 z_i x sR0 w_s]^T I_s (sR0 w_s)}. Milićević (4.4)"""
    h: list[Scalar] = [0] * robot.n
    for s, w_0, cor_0 in zip(bodies, rates.w, rates.cor, strict=True):
        w, cor = s.turn @ w_0, s.turn @ cor_0
        moment = s.tensor @ cor + cross(w, s.tensor @ w)  # Milićević (4.4), restored: Milicevic-6
        for i, axis in s.axis.items():
            h[i] = add(h[i], axis.dot(moment))
    return h


def _c(robot: Robot, bodies: Sequence[CarriedBody]) -> list[Scalar]:
    """-g.[z_i x sum_s m_s (r_s - p_i)]. Milićević (4.5)"""
    c: list[Scalar] = [0] * robot.n
    for s in bodies:
        weight = s.mass * robot.gravity
        for i, lever in s.lever.items():
            c[i] = sub(c[i], weight.dot(lever))  # Milićević (4.5)
    return c


def _tip(robot: Robot, poses: Sequence[Pose], wrench: Scalars | None) -> list[Scalar]:
    """J^T w, by which (4.1) is completed (Milicevic-10): the wrench at the tool, on each joint."""
    tool = robot.frame("tool")
    if wrench is None or tool.link == WORLD:
        return [0] * robot.n
    force, moment = Vec3.of(wrench[:3]), Vec3.of(wrench[3:])
    linear, angular = point_jacobian(robot, poses, tool.link, frame_pose(poses, tool).p)
    return [add(v.dot(force), w.dot(moment)) for v, w in zip(linear, angular, strict=True)]


# For users --------------------------------------------------------------------------------------------------------


@quantity
def mass_matrix_translational(robot: Robot, q: Scalars) -> Matrix:
    """D^tran: (..., n, n), the inertia of the bodies' masses at their centres. Milićević (4.2)"""
    return _D_tran(robot, _bodies(robot, q, link_poses(robot, q)))


@quantity
def mass_matrix_rotational(robot: Robot, q: Scalars) -> Matrix:
    """D^rot: (..., n, n), the inertia of the bodies' turning about their centres (no rotors). Milićević (4.2)"""
    return _D_rot(robot, _bodies(robot, q, link_poses(robot, q)))


@quantity
def coriolis_translational(robot: Robot, q: Scalars, qd: Scalars) -> list[Scalar]:
    """h^tran: (..., n), centrifugal and Coriolis torques of the masses at their centres. Milićević (4.3)"""
    poses = link_poses(robot, q)
    bodies = _bodies(robot, q, poses)
    return _h_tran(robot, bodies, _Rates(robot, qd, poses, bodies))


@quantity
def coriolis_rotational(robot: Robot, q: Scalars, qd: Scalars) -> list[Scalar]:
    """h^rot: (..., n), centrifugal and Coriolis torques of the bodies' turning (no rotors). Milićević (4.4)"""
    poses = link_poses(robot, q)
    bodies = _bodies(robot, q, poses)
    return _h_rot(robot, bodies, _Rates(robot, qd, poses, bodies))


def _anchor(robot: Robot, link: Link, poses: Sequence[Pose]) -> Vec3:
    """From a link's origin to the origin of frame k-1 of a standard table, which is on the same axis."""
    geometry = robot.joints[link.index].geometry
    if not (link.revolute and isinstance(geometry, StandardDH)):
        return ZERO
    back: Vec3 = -geometry.d * poses[link.index].R.column(2)
    return back


@quantity
def velocity_terms(robot: Robot, q: Scalars, qd: Scalars) -> Matrix:
    """The parts of h^tran and h^rot: (..., 6, n), in the order of VELOCITY_TERMS; their sum is coriolis (no rotors).

    Milićević (4.3): the first and second sum, then the third and fourth term; (4.4): the first and second. p*_k and c_s
    start where the text has them start: for standard Denavit-Hartenberg tables at the origin of frame k-1, for other
    robots, which it does not treat, at that of link k. The terms with w contain products of different rates, too: for
    centrifugal torques (squares) and Coriolis torques (products) see `bertrand_bruneau.contributions`.
    """
    poses = link_poses(robot, q)
    bodies = _bodies(robot, q, poses)
    rates = _Rates(robot, qd, poses, bodies)
    anchors: list[Vec3] = []  # from a link's origin to the text's p_{k-1}
    centrifugal: list[Vec3] = []  # sum of w_k x (w_k x p*_k) up to p_{s-1}
    h: Matrix = [[0] * robot.n for _ in VELOCITY_TERMS]
    for link, s in zip(robot.outward(), bodies, strict=True):
        k, p = link.index, link.parent
        anchors.append(_anchor(robot, link, poses))
        before, w_p, start = (ZERO, ZERO, ZERO) if p == WORLD else (centrifugal[p], rates.w[p], anchors[p])
        centrifugal.append(before + cross(w_p, cross(w_p, s.step + anchors[k] - start)))
        w, cor, c = rates.w[k], rates.cor[k], s.c - anchors[k]
        turned, spin = s.turn @ w, s.turn @ cor
        total = rates.a[k] + cross(w, cross(w, anchors[k])) + cross(cor, anchors[k])
        forces = (centrifugal[k], total - centrifugal[k], cross(w, cross(w, c)), cross(cor, c))
        moments = (s.tensor @ spin, cross(turned, s.tensor @ turned))
        for i, lever in s.lever.items():
            shares = [(s.mass * each).dot(lever) for each in forces] + [s.axis[i].dot(each) for each in moments]
            for part, share in zip(h, shares, strict=True):
                part[i] = add(part[i], share)
    return h


@actuated
def inverse_dynamics(robot: Robot, q: Scalars, qd: Scalars, qdd: Scalars, wrench: Wrench = None) -> list[Scalar]:
    """Joint torques that produce a motion.

        tau_i = sum_j D_ij qdd_j + h_i^tran + h_i^rot + c_i + (J^T w)_i                                 Milićević (4.1)

    Args:    q, qd, qdd: (..., n) rad or m and derivatives. wrench: (..., 6) at the tool, or {frame: (..., 6)}.
    Returns: tau: (..., n) N m or N, exerted by the actuators on +q.
    """
    poses = link_poses(robot, q)
    bodies = _bodies(robot, q, poses)
    rates = _Rates(robot, qd, poses, bodies)
    inertia = [ops.total(map(mul, row, qdd)) for row in _D(robot, bodies)]
    velocity = map(add, _h_tran(robot, bodies, rates), _h_rot(robot, bodies, rates))
    terms = zip(inertia, velocity, _c(robot, bodies), _tip(robot, poses, wrench), strict=True)
    return [ops.total(term) for term in terms]  # Milićević (4.1)


def _D(robot: Robot, bodies: Sequence[CarriedBody]) -> Matrix:
    """D = D^rot + D^tran. Milićević (4.2)"""
    return [list(map(add, rot, tran)) for rot, tran in zip(_D_rot(robot, bodies), _D_tran(robot, bodies), strict=True)]


@actuated
def mass_matrix(robot: Robot, q: Scalars) -> Matrix:
    """Mass matrix D(q) = D^rot + D^tran: (..., n, n). Milićević (4.2)"""
    return _D(robot, _bodies(robot, q, link_poses(robot, q)))


@actuated
def coriolis(robot: Robot, q: Scalars, qd: Scalars) -> list[Scalar]:
    """Centrifugal and Coriolis torques h^tran + h^rot: (..., n). Milićević (4.3), (4.4)"""
    poses = link_poses(robot, q)
    bodies = _bodies(robot, q, poses)
    rates = _Rates(robot, qd, poses, bodies)
    return list(map(add, _h_tran(robot, bodies, rates), _h_rot(robot, bodies, rates)))


@quantity
def gravity(robot: Robot, q: Scalars) -> list[Scalar]:
    """Torques that hold the robot still against gravity, c(q): (..., n). Milićević (4.5)"""
    return _c(robot, _bodies(robot, q, link_poses(robot, q)))
