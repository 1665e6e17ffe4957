"""Derivations by forces: the recursions of Siciliano, Khalil and Milićević, Kane's equations, Gibbs-Appell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from armdyn.algebra import Mat3, Scalar, Vec3, cross, ops
from armdyn.equations.sheets.arm import Arm, ArmRotor, arm_of
from armdyn.equations.sheets.ending import as_nodes, torque_lines
from armdyn.equations.sheets.sheet import Notation, Sheet
from armdyn.graph import derivative
from armdyn.mechanics.rotors import rotor_torques
from armdyn.robot.links import WORLD

if TYPE_CHECKING:
    from armdyn.equations.derivation import Equations

SICILIANO = Notation("Siciliano", {"M": "B"}, {"q": r"\vartheta"})
MILICEVIC = Notation("Milićević", {"M": "D"})
KHALIL = Notation("Khalil", {"M": "A", "tau": "Gamma"})
KANE = Notation("Kane and Levinson")
APPELL = Notation("Appell")
ZERO = Vec3(0, 0, 0)


@dataclass(frozen=True)
class Writing:
    """How a text writes its recursion; # is the link, < the link before it, > the one behind it.

    own_axes: vectors are in the axes of their link (else of the base). Each pair is a name and an equation's label.
    turn, back: rotations into the axes of the link from those before and behind it. axis: of the joint, in the link's
    axes. lever: from the frame before to that of the link.
    """

    own_axes: bool
    w: tuple[str, str]
    wd: tuple[str, str]
    a: tuple[str, str]
    center: tuple[str, str]
    force: tuple[str, str]
    moment: tuple[str, str]
    tau: tuple[str, str, str]
    turn: str
    back: str
    axis: str
    lever: str
    frames: tuple[str, str, str] = ("!A_{{{i}}}^{{{j}}}", "!T_{{{i}}}^{{0}}", "")

    def name(self, field: str, i: int, body: str = "") -> str:
        return _indexed(getattr(self, field)[0], i, body)


def _indexed(text: str, i: int, body: str = "") -> str:
    """The name for link i, counted from 1."""
    return text.replace("#", str(i)).replace("<", str(i - 1)).replace(">", str(i + 1)).replace("~", body or str(i))


OF_SICILIANO = Writing(
    True,
    (r"!\omega_{#}^{#}", "(7.107)"),
    (r"\dot{!\omega}_{#}^{#}", "(7.108)"),
    (r"\ddot{!p}_{#}^{#}", "(7.109)"),
    (r"\ddot{!p}_{C_{~}}^{#}", "(7.110)"),
    ("!f_{#}^{#}", "(7.112)"),
    (r"!\mu_{#}^{#}", "(7.113)"),
    (r"\tau", "(7.114)", r"!\mu_{#}^{#T} !R_{#}^{<T} !z_0"),
    "!R_{#}^{<T} ",
    "!R_{>}^{#} ",
    "!z_{<}^{#}",
    "!r_{<,#}",
)
OF_MILICEVIC = Writing(
    False,
    (r"!\omega_{#}", "table 1"),
    (r"\dot{!\omega}_{#}", "table 1"),
    (r"\dot{!v}_{#}", "table 1"),
    (r"\bar{!a}_{~}", "table 1"),
    ("!f_{#}", "table 1"),
    ("!n_{#}", "table 1"),
    (r"\tau", "table 1", "!n_{#}^T !z_{<}"),
    "",
    "",
    "!z_{<}",
    "!p_{#}^{*}",
    ("{{}}^{{{j}}}!A_{{{i}}}", "{{}}^{{0}}!A_{{{i}}}", "(2.2)"),
)
OF_KHALIL = Writing(
    True,
    (r"{}^{#}!\omega_{#}", "(7.51), (7.52)"),
    (r"{}^{#}\dot{!\omega}_{#}", "(7.53)"),
    (r"{}^{#}\dot{!v}_{#}", "(7.54)"),
    (r"{}^{#}!F_{~}", "(7.55)"),
    (r"{}^{#}!f_{#}", "(7.58)"),
    (r"{}^{#}!m_{#}", "(7.60)"),
    (r"\Gamma", "(7.61)", r"{}^{#}!m_{#}^T {}^{#}!a_{#}"),
    "{}^{#}!R_{<} ",
    "{}^{#}!R_{>} ",
    "{}^{#}!a_{#}",
    "{}^{<}!P_{#}",
    ("{{}}^{{{j}}}!T_{{{i}}}", "{{}}^{{0}}!T_{{{i}}}", "(3.2)"),
)


class _Link:
    """What the recursion knows of a link: axis, lever arms and bodies in the axes of the recursion."""

    def __init__(self, arm: Arm, i: int, own_axes: bool) -> None:
        self.i, self.revolute = i, arm.revolute(i)
        frame = arm.frames[i + 1]
        into = frame.R.T if own_axes else Mat3.identity()
        if own_axes:
            # The frame's own constants keep their short form: no detour over the base.
            local = arm.local[i]
            self.R = local.R.T
            axis = _axis(arm, i)
            self.z = self.R @ axis
            offset = _offset(arm, i)
            self.d = offset
            self.r = self.R @ (local.p - offset)
        else:
            self.R = Mat3.identity()
            self.z = arm.axes[i]
            self.d = arm.points[i] - arm.frames[i].p
            self.r = frame.p - arm.points[i]
            if not arm.standard:
                self.d, self.r = frame.p - arm.frames[i].p, ZERO
        self.bodies = [
            (body.label, body.mass, _seen(body, frame, own_axes)[0], _seen(body, frame, own_axes)[1])
            for body in arm.bodies
            if body.link == i
        ]
        self.rotors = [rotor for rotor in arm.rotors if rotor.carrier == i and rotor.center is not None]
        self.into, self.frame = into, frame


def _axis(arm: Arm, i: int) -> Vec3:
    joint = arm.robot.movable[i]
    return (arm.mounts[i] @ joint.geometry.before(joint.kind)).R.column(2)


def _offset(arm: Arm, i: int) -> Vec3:
    """From the origin of frame i-1 to the point that the joint moves about: none in standard DH."""
    return arm.mounts[i].p if arm.standard else arm.local[i].p


def _seen(body: Any, frame: Any, own_axes: bool) -> tuple[Vec3, Mat3]:
    """Centre of mass from the origin of the link's frame, and tensor, in link or base axes."""
    if body.frame is frame:
        return (body.com, body.tensor) if own_axes else (frame.R @ body.com, body.world_tensor)
    T = frame.inverse() @ body.frame
    com, tensor = T.apply(body.com), T.R @ body.tensor @ T.R.T
    return (com, tensor) if own_axes else (frame.R @ com, frame.R @ tensor @ frame.R.T)


@dataclass
class _Motion:
    links: list[_Link]
    w: list[Vec3]
    wd: list[Vec3]
    a: list[Vec3]
    centers: list[list[Vec3]]


def _motion_lines(sheet: Sheet, arm: Arm, by: Writing, start: Vec3) -> _Motion:
    """The forward recursion; start: acceleration of the base, -g where weights are part of the accelerations."""
    found = _Motion([], [], [], [], [])
    w, wd, a = ZERO, ZERO, start
    for i in range(arm.n):
        sheet.section = f"Forward: link {i + 1}"
        link = _Link(arm, i, by.own_axes)
        rate = arm.qd[i] * link.z if link.revolute else ZERO
        now = i + 1
        turn, z, lever = (_indexed(each, now) for each in (by.turn, by.axis, by.lever))
        if not arm.standard and by is not OF_KHALIL:
            z = _indexed("!z_{#}", now)  # modified DH: the joint moves about the axis of its own frame
        w_before = f"{turn}{by.name('w', i)}"
        rule = f"{w_before} + \\dot{{q}}_{{{now}}} {z}" if link.revolute else w_before
        carried_w, carried_wd = link.R @ w, link.R @ wd
        base = link.R @ (a + cross(wd, link.d) + cross(w, cross(w, link.d)))
        w_new = sheet.line(by.name("w", now), rule, carried_w + rate, by.w[1])
        zd = rf" + \ddot{{q}}_{{{now}}} {z} + \dot{{q}}_{{{now}}} {w_before} \times {z}" if link.revolute else ""
        spun = arm.qdd[i] * link.z + arm.qd[i] * cross(carried_w, link.z) if link.revolute else ZERO
        wd_new = sheet.line(by.name("wd", now), f"{turn}{by.name('wd', i)}{zd}", carried_wd + spun, by.wd[1])
        moved = base + cross(wd_new, link.r) + cross(w_new, cross(w_new, link.r))
        if not link.revolute:
            moved = moved + link.z * arm.qdd[i] + cross(w_new, link.z) * (2 * arm.qd[i])
        rule = _acceleration_rule(by, now, turn, lever, own=arm.standard)
        if not link.revolute:
            rule += rf" + \ddot{{q}}_{{{now}}} {z} + 2 \dot{{q}}_{{{now}}} {by.name('w', now)} \times {z}"
        a_new = sheet.line(by.name("a", now), rule, moved, by.a[1])
        centers = []
        for label, _, com, _ in link.bodies:
            value = a_new + cross(wd_new, com) + cross(w_new, cross(w_new, com))
            name = OF_SICILIANO.name("center", now, label) if by is OF_KHALIL else by.name("center", now, label)
            rule = f"{by.name('a', now)} + {_swung(by, now, f'!r_{{{now},C}}')}"
            centers.append(sheet.line(name, rule, value, by.center[1]) if by is not OF_KHALIL else value)
        found.links.append(link)
        found.w.append(w_new)
        found.wd.append(wd_new)
        found.a.append(a_new)
        found.centers.append(centers)
        w, wd, a = w_new, wd_new, a_new
    return found


def _acceleration_rule(by: Writing, i: int, turn: str, lever: str, own: bool) -> str:
    """The acceleration of the next origin; own: the lever turns with the link itself (standard DH), else with the one
    before it.
    """
    if own:
        return f"{turn}{by.name('a', i - 1)} + {_swung(by, i, lever)}"
    swung = _swung(by, i - 1, lever) if by is not OF_KHALIL else _indexed("{}^{<}!U_{<} ", i) + lever
    inside = f"{by.name('a', i - 1)} + {swung}"
    return rf"{turn}\left({inside}\right)" if turn else inside


def _swung(by: Writing, i: int, arm: str) -> str:
    """wd x r + w x (w x r)."""
    return rf"{by.name('wd', i)} \times {arm} + {by.name('w', i)} \times ({by.name('w', i)} \times {arm})"


def newton_euler(sheet: Sheet, equations: Equations, by: Writing) -> None:
    """The double recursion of Siciliano (7.107)-(7.114), Milićević table 1 or Khalil (7.51)-(7.61)."""
    arm = arm_of(equations.tree, sheet, *by.frames)
    start = -arm.robot.gravity
    if by.own_axes:
        start = arm.frames[0].R.T @ start
    motion = _motion_lines(sheet, arm, by, start)
    force, moment = ZERO, ZERO
    torques: list[Any] = [0] * arm.n
    for i in reversed(range(arm.n)):
        sheet.section = f"Backward: link {i + 1}"
        link, w, wd, a, now = motion.links[i], motion.w[i], motion.wd[i], motion.a[i], i + 1
        behind = motion.links[i + 1] if i + 1 < arm.n else None
        back = behind.R.T if behind is not None else Mat3.identity()
        carried_f, carried_n = back @ force, back @ moment
        arm_of_next = behind.d if behind is not None else ZERO
        total_f, total_n = carried_f, carried_n + cross(link.r + arm_of_next, carried_f)
        for (label, mass, com, tensor), acceleration in zip(link.bodies, motion.centers[i], strict=True):
            inertial = mass * acceleration
            if by is OF_KHALIL:
                name = by.name("center", now, label)
                rule = (
                    rf"M_{{{label}}} {by.name('a', now)} + {{}}^{{{now}}}!U_{{{now}}} {{}}^{{{now}}}!M !S_{{{label}}}"
                )
                inertial = sheet.line(name, rule, inertial, by.center[1])
            total_f = total_f + inertial
            total_n = total_n + cross(link.r + com, inertial) + tensor @ wd + cross(w, tensor @ w)
        for rotor in link.rotors:
            f, n = _rotor_wrench(arm, rotor, link, w, wd, a, by.own_axes)
            total_f, total_n = total_f + f, total_n + n
        back_f, back_n = (_indexed(by.back, now) + by.name(each, now + 1) for each in ("force", "moment"))
        own_f = by.name("center", now) if by is OF_KHALIL else r"\sum m \ddot{!p}_C"
        rule_f = f"{back_f} + {own_f}"
        force = sheet.line(by.name("force", now), rule_f, total_f, by.force[1])
        spun = rf"!I {by.name('wd', now)} + {by.name('w', now)} \times !I {by.name('w', now)}"
        carried = rf"{back_n} + {_indexed(by.lever, now if arm.standard else now + 1)} \times {back_f}"
        if by is OF_KHALIL:  # (7.56): moments about the origin of the frame
            spun = spun.replace("!I", _indexed("{}^{#}!I_{O_{#}}", now))
            rule_n = rf"{carried} + {spun} + {{}}^{{{now}}}!M !S_{{{now}}} \times {by.name('a', now)}"
        else:
            rule_n = rf"{carried} + \sum \left(!r_C \times m \ddot{{!p}}_C + {spun}\right)"
        moment = sheet.line(by.name("moment", now), rule_n, total_n, by.moment[1])
        torques[i] = link.z.dot(moment) if link.revolute else link.z.dot(force)
    for rotor in arm.rotors:
        for j, ratio in rotor.rates:
            torques[j] = ops.add(torques[j], _rotor_torque(sheet, arm, rotor, ratio, motion, by))
    rule = (
        by.tau[2]
        if all(map(arm.revolute, range(arm.n)))
        else rf"\bar{{\sigma}}_{{#}} {by.tau[2]} + \sigma_{{#}} !f_{{#}}^T !z"
    )
    torque_lines(sheet, arm, equations, torques, rule, by.tau[1], by.tau[0])


def _spin_rate(arm: Arm, rotor: ArmRotor, rates: Sequence[Any]) -> Any:
    return ops.total(ops.mul(ratio, rates[j]) for j, ratio in rotor.rates)


def _rotor_wrench(
    arm: Arm, rotor: ArmRotor, link: _Link, w: Vec3, wd: Vec3, a: Vec3, own_axes: bool
) -> tuple[Vec3, Vec3]:
    """What a rotor that is carried by a link asks of it. Siciliano (7.113)"""
    assert rotor.center is not None and rotor.axis is not None and rotor.tensor is not None
    R = link.frame.R
    offset, axis, tensor = rotor.center - link.frame.p, rotor.axis, rotor.tensor
    if own_axes:
        offset, axis, tensor = R.T @ offset, R.T @ axis, R.T @ tensor @ R
    force = rotor.mass * (a + cross(wd, offset) + cross(w, cross(w, offset)))
    spin, spun = _spin_rate(arm, rotor, arm.qd), _spin_rate(arm, rotor, arm.qdd)
    turned = ops.mul(rotor.inertia, spun) * axis + ops.mul(rotor.inertia, spin) * cross(w, axis)
    return force, cross(link.r + offset, force) + tensor @ wd + cross(w, tensor @ w) + turned


def _rotor_torque(sheet: Sheet, arm: Arm, rotor: ArmRotor, ratio: Scalar, motion: _Motion, by: Writing) -> Any:
    """k I (wd_m . z_m): what accelerates the rotor. Siciliano (7.111), (7.114)"""
    i = rotor.label
    sheet.section = "Rotors"
    spun = _spin_rate(arm, rotor, arm.qdd)
    if rotor.axis is None or rotor.carrier == WORLD:
        along = spun
    else:
        link = motion.links[rotor.carrier]
        axis = link.frame.R.T @ rotor.axis if by.own_axes else rotor.axis
        along = ops.add(axis.dot(motion.wd[rotor.carrier]), spun)
    rule = rf"k_{{r{i}}} I_{{m_{i}}} \dot{{!\omega}}_{{m_{i}}}^T !z_{{m_{i}}}"
    return sheet.line(
        rf"\tau_{{m_{{{i}}}}}", rule, ops.mul(ops.mul(ratio, rotor.inertia), along), "Siciliano (7.111), (7.114)"
    )


def siciliano(sheet: Sheet, equations: Equations) -> None:
    """Siciliano (7.107)-(7.114)."""
    newton_euler(sheet, equations, OF_SICILIANO)


def milicevic(sheet: Sheet, equations: Equations) -> None:
    """Milićević table 1, with the row of the linear acceleration and the sign of gravity corrected."""
    newton_euler(sheet, equations, OF_MILICEVIC)


def khalil(sheet: Sheet, equations: Equations) -> None:
    """Khalil (7.51)-(7.61)."""
    newton_euler(sheet, equations, OF_KHALIL)


# Kane and Gibbs-Appell ------------------------------------------------------------------------------------------------


def _rotor_additions(sheet: Sheet, arm: Arm, equations: Equations) -> list[Any]:
    """Torques of the rotors, which these methods count as bodies: from their own mass matrix."""
    if not arm.rotors:
        return [0] * arm.n
    sheet.section = "Rotors"
    spins = rotor_torques(equations.tree, arm.q, arm.qd, arm.qdd)
    found: list[Any] = sheet.line(r"!\tau_m", "", spins, "spins of the rotors, Siciliano (7.30)")
    return found


def _carried_rotors(arm: Arm) -> list[tuple[str, int, Scalar, Vec3, Mat3]]:
    """Bodies and rotors at rest: (label, link, mass, centre, tensor) in the world."""
    bodies = [(body.label, body.link, body.mass, body.center, body.world_tensor) for body in arm.bodies]
    for rotor in arm.rotors:
        if rotor.center is not None and rotor.tensor is not None and rotor.carrier != WORLD:
            bodies.append((f"m_{rotor.label}", rotor.carrier, rotor.mass, rotor.center, rotor.tensor))
    return bodies


def _forces(sheet: Sheet, equations: Equations) -> tuple[Arm, list[Any], _Motion]:
    arm = arm_of(equations.tree, sheet, "!A_{{{i}}}^{{{j}}}", "!T_{{{i}}}^{{0}}", "")
    motion = _motion_lines(sheet, arm, OF_MILICEVIC, ZERO)
    found = []
    for label, link, mass, center, tensor in _carried_rotors(arm):
        w, wd = motion.w[link], motion.wd[link]
        c = center - arm.frames[link + 1].p
        a = motion.a[link] + cross(wd, c) + cross(w, cross(w, c))
        found.append((label, link, mass, center, tensor, w, wd, a))
    return arm, found, motion


def kane(sheet: Sheet, equations: Equations) -> None:
    """Kane and Levinson, ch. 4 and 6: partial velocities, inertia forces, active forces."""
    arm, bodies, _ = _forces(sheet, equations)
    g = arm.robot.gravity
    sheet.section = "Inertia forces and torques"
    wrenches = []
    for label, _, mass, _, tensor, w, wd, a in bodies:
        force = sheet.line(f"!R_{{{label}}}^{{*}}", rf"-m_{{{label}}} \bar{{!a}}_{{{label}}}", -(mass * a), "[K-4]")
        rule = rf"-!I_{{{label}}} \dot{{!\omega}} - !\omega \times !I_{{{label}}} !\omega"
        moment = sheet.line(f"!T_{{{label}}}^{{*}}", rule, -(tensor @ wd + cross(w, tensor @ w)), "[K-4]")
        wrenches.append((force, moment))
    torques = []
    for r in range(arm.n):
        sheet.section = f"Generalized forces of joint {r + 1}"
        inertia, active = [], []
        for (label, link, mass, center, *_), (force, moment) in zip(bodies, wrenches, strict=True):
            if link < r:
                continue
            rule = rf"\frac{{\partial !v_{{{label}}}}}{{\partial \dot{{q}}_{{{r + 1}}}}}"
            velocity = cross(arm.axes[r], center - arm.points[r]) if arm.revolute(r) else arm.axes[r]
            v = sheet.line(f"!v_{{{r + 1}}}^{{{label}}}", rule, velocity, "[K-2]")
            inertia.append(v.dot(force))
            if arm.revolute(r):
                inertia.append(arm.axes[r].dot(moment))
            active.append(ops.mul(mass, v.dot(g)))
        words = rf"\sum_k \left(!v_{{{r + 1}}}^k \cdot !R_k^* + !\omega_{{{r + 1}}}^k \cdot !T_k^*\right)"
        F_star = sheet.line(f"F_{{{r + 1}}}^{{*}}", words, ops.total(inertia), "[K-4]")
        F = sheet.line(f"F_{{{r + 1}}}", rf"\sum_k m_k !v_{{{r + 1}}}^k \cdot !g", ops.total(active), "[K-5]")
        torques.append(-as_nodes(ops.add(F, F_star)))
    added = _rotor_additions(sheet, arm, equations)
    torque_lines(sheet, arm, equations, list(map(ops.add, torques, added)), "-(F_{#} + F_{#}^*)", "[K-1]")


def gibbs_appell(sheet: Sheet, equations: Equations) -> None:
    """Appell: the energy of acceleration, differentiated by the joint accelerations."""
    arm, bodies, _ = _forces(sheet, equations)
    g = arm.robot.gravity
    sheet.section = "Energy of acceleration"
    total: list[Any] = []
    weights: list[Any] = []
    for label, _, mass, _, tensor, w, wd, a in bodies:
        half = ops.half(as_nodes(ops.add(ops.mul(mass, a.dot(a)), wd.dot(tensor @ wd))))
        rule = (
            r"\frac{1}{2} m_{#} \bar{!a}_{#}^2 + \frac{1}{2} \dot{!\omega} \cdot !I_{#} \dot{!\omega} "
            r"+ \dot{!\omega} \cdot (!\omega \times !I_{#} !\omega)".replace("#", label)
        )
        S = sheet.line(f"S_{{{label}}}", rule, ops.add(half, wd.dot(cross(w, tensor @ w))), "[G-2]", folded=arm.n > 3)
        total.append(S)
        weights.append(ops.mul(mass, a.dot(g)))
    rates = derivative(as_nodes(ops.total(total)), arm.qdd)
    Q = derivative(as_nodes(ops.total(weights)), arm.qdd)
    torques = []
    for r in range(arm.n):
        sheet.section = f"Derivatives by the acceleration of joint {r + 1}"
        rule = rf"\frac{{\partial S}}{{\partial \ddot{{q}}_{{{r + 1}}}}}"
        x = sheet.line(rf"S_{{,{r + 1}}}", rule, rates[r], "[G-1]", folded=arm.n > 5)
        rule = rf"\frac{{\partial}}{{\partial \ddot{{q}}_{{{r + 1}}}}} \sum_k m_k !g \cdot \bar{{!a}}_k"
        y = sheet.line(f"Q_{{{r + 1}}}", rule, Q[r], "[G-3]")
        torques.append(ops.sub(as_nodes(x), as_nodes(y)))
    added = _rotor_additions(sheet, arm, equations)
    rule = r"\frac{\partial S}{\partial \ddot{q}_{#}} - Q_{#}"
    torque_lines(sheet, arm, equations, list(map(ops.add, torques, added)), rule, "[G-1]")
