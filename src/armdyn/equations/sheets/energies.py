"""Derivations by energies and virtual work: Truc, Milićević (Lagrange-Euler, d'Alembert), Khalil, El Baji."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from armdyn.algebra import Mat3, Vec3, cross, ops, outer, skew
from armdyn.equations.sheets.arm import Arm, Rows, arm_of, product, total, transposed, weighted
from armdyn.equations.sheets.ending import (
    as_nodes,
    christoffel_lines,
    closing_lines,
    rotor_parts,
    slopes,
    weight_torque,
)
from armdyn.equations.sheets.sheet import Notation, Sheet
from armdyn.graph import derivative
from armdyn.mechanics.kinematics import link_poses
from armdyn.mechanics.rotors import rotor_mass_matrix

if TYPE_CHECKING:
    from armdyn.equations.derivation import Equations

TRUC = Notation("Truc")
MILICEVIC = Notation("Milićević", {"M": "D", "g": "c"})
KHALIL = Notation("Khalil", {"M": "A", "g": "Q", "tau": "Gamma"})
EL_BAJI = Notation("El Baji", {"g": "G"}, {"q": "q"})


def _velocity(C: Rows, arm: Arm) -> list[Any]:
    return [ops.total(ops.mul(x, rate) for x, rate in zip(row, arm.qd, strict=True)) for row in C]


def _with_rotors(sheet: Sheet, arm: Arm, letter: str, M: Rows) -> tuple[Rows, list[tuple[Any, Any, Any]]]:
    """The inertia matrix with the rotors, which these texts do not have."""
    parts = rotor_parts(sheet, arm)
    if not parts:
        return M, parts
    sheet.section = "Inertia matrix with rotors"
    rule = letter + r" + \sum_i \left(m_{m_i} !J_P^{(m_i)T} !J_P^{(m_i)} + !J_O^{(m_i)T} !I_{m_i} !J_O^{(m_i)}\right)"
    added: Rows = sheet.line(letter, rule, total([M, *(part for _, _, part in parts)], arm.n), "Siciliano (7.32)")
    return added, parts


def _with_weights(g: Sequence[Any], gravity: Vec3, parts: Sequence[tuple[Any, Any, Any]]) -> list[Any]:
    return [ops.add(x, weight_torque(gravity, parts, i)) if parts else x for i, x in enumerate(g)]


# Truc -----------------------------------------------------------------------------------------------------------------


def truc(sheet: Sheet, equations: Equations) -> None:
    """Truc (8)-(52), as in the example (56)-(70)."""
    arm = arm_of(equations.tree, sheet, "!A_{{{i}}}^{{{j}}}", "!T_{{{i}}}^{{0}}", "(8)")
    n = range(arm.n)
    sheet.section = "Angular velocities"
    rotations = [sheet.line(f"!R_{{{i + 1}}}^{{0}}", f"!T_{{{i + 1}}}^{{0}}", arm.frames[i + 1].R, "(57)") for i in n]
    turning: list[Rows] = []
    for i in n:
        rate = sum((arm.qd[j] * arm.axes[j] for j in range(i + 1) if arm.revolute(j)), Vec3(0, 0, 0))
        rule = rf"!S(!\omega_{{{i + 1}}}) = !R_{{{i + 1}}}^{{0T}} \dot{{!R}}_{{{i + 1}}}^{{0}}"
        own = sheet.line(rf"!\omega_{{{i + 1}}}", rule, rotations[i].T @ rate, "(10), (58)")
        J = derivative([as_nodes(x) for x in own], arm.qd)
        name = rf"!J_{{R_{{{i + 1}}}}}"
        turning.append(
            sheet.line(name, rf"\frac{{\partial !\omega_{{{i + 1}}}}}{{\partial \dot{{!q}}}}", _listed(J), "(25), (59)")
        )
    sheet.section = "Centres of mass and inertia tensors"
    M, potential = [], []
    for body in arm.bodies:
        own_label = body.label
        com = sheet.line(f"!r_{{C_{{{own_label}}}}}", "", body.com, "(60)")
        rule = f"!T_{{{own_label}}}^{{0}} !r_{{C_{{{own_label}}}}}"
        center = sheet.line(f"!p_{{C_{{{own_label}}}}}^{{0}}", rule, body.frame.apply(com), "(14), (61)")
        slope = _listed(derivative([as_nodes(x) for x in center], arm.q))
        rule = rf"\frac{{\partial !p_{{C_{{{own_label}}}}}^{{0}}}}{{\partial !q}}"
        J_T = sheet.line(f"!J_{{T_{{{own_label}}}}}^{{0}}", rule, slope, "(24), (62)")
        # A body on a fixed joint turns with its link, whose axes may be others.
        own = arm.frames[body.link + 1].R.T @ body.frame.R
        tensor = sheet.line(f"!I_{{{own_label}}}", "", own @ body.tensor @ own.T)
        J_R = turning[body.link]
        M += [weighted(body.mass, product(transposed(J_T), J_T)), product(transposed(J_R), product(tensor.rows, J_R))]
        potential.append((body.mass, center))
    sheet.section = "Inertia matrix"
    rule = r"\sum_i \left(m_i (!J_{T_i}^0)^T !J_{T_i}^0 + !J_{R_i}^T !I_i !J_{R_i}\right)"
    inertia = sheet.line("!M", rule, total(M, arm.n), "(28), (63)")
    inertia, rotors = _with_rotors(sheet, arm, "!M", inertia)
    sheet.section = "Coriolis matrix"
    dM = slopes(inertia, arm.q)
    U = [[ops.total(ops.mul(dM[k][i][j], arm.qd[k]) for k in n) for j in n] for i in n]
    V = [[ops.total(ops.mul(dM[j][i][k], arm.qd[k]) for k in n) for j in n] for i in n]
    U = sheet.line("!U", r"\frac{\partial !M}{\partial !q} (!1_n \otimes \dot{!q})", U, "(53)")
    V = sheet.line("!V", r"\frac{\partial !M}{\partial !q} (\dot{!q} \otimes !1_n)", V, "(53)")
    C = [[ops.half(as_nodes(U[i][j]) + as_nodes(V[i][j]) - as_nodes(V[j][i])) for j in n] for i in n]
    C = sheet.results["C"] = sheet.line("!C", r"\frac{1}{2} \left(!U + !V - !V^T\right)", C, "(52), (54), (67)")
    N = [[as_nodes(U[i][j]) - 2 * as_nodes(C[i][j]) for j in n] for i in n]
    sheet.line(r"!N", r"\dot{!M} - 2 !C", N, "(55), (70)")
    sheet.section = "Gravity"
    g0 = sheet.line("!g^0", "", arm.robot.gravity)
    P = -as_nodes(ops.total(ops.mul(mass, g0.dot(center)) for mass, center in potential))
    P = sheet.line("P", r"-\sum_i m_i (!g^0)^T !p_{C_i}^0", P, "(17), (68)")
    g = _with_weights(derivative(as_nodes(P), arm.q), g0, rotors)
    g = sheet.line("!g", r"\left(\frac{\partial P}{\partial !q}\right)^T", g, "(45), (69)")
    whole = r"\sum_j M_{#j} \ddot{q}_j + \sum_j C_{#j} \dot{q}_j + g_{#}"
    closing_lines(sheet, arm, equations, inertia, _velocity(C, arm), g, whole, "(44)")


def _listed(rows: Any) -> Rows:
    return [list(row) for row in rows]


# Milićević ------------------------------------------------------------------------------------------------------------


def lagrange_euler(sheet: Sheet, equations: Equations) -> None:
    """Milićević (2.1)-(2.15): 4x4 matrices U_ij and U_ijk, traces."""
    arm = arm_of(equations.tree, sheet, "{{}}^{{{j}}}!A_{{{i}}}", "{{}}^{{0}}!A_{{{i}}}", "(2.2)")
    n = range(arm.n)
    sheet.section = "Matrices U"
    frames = [[list(row) for row in _homogeneous(body.frame)] for body in arm.bodies]
    U: list[list[Any]] = []
    for k, body in enumerate(arm.bodies):
        flat = derivative([as_nodes(x) for row in frames[k] for x in row], arm.q)
        own = []
        for j in n:
            matrix = [[flat[4 * a + b][j] for b in range(4)] for a in range(4)]
            rule = rf"\frac{{\partial {{}}^0!A_{{{body.label}}}}}{{\partial q_{{{j + 1}}}}}"
            own.append(sheet.line(f"!U_{{{body.label}{j + 1}}}", rule, matrix, "(2.3)") if j <= body.link else None)
        U.append(own)
    sheet.section = "Pseudo-inertia matrices"
    J = []
    for body in arm.bodies:
        half_trace = ops.half(body.tensor.trace)
        second = Mat3.identity() * half_trace - body.tensor + outer(body.com, body.com) * body.mass
        moment = body.mass * body.com
        rows = [[*row, m] for row, m in zip(second.rows, moment, strict=True)] + [[*moment, body.mass]]
        J.append(sheet.line(f"!J_{{{body.label}}}", "", rows, "(2.1)"))

    def trace(a: Rows, k: int, b: Rows) -> Any:
        return ops.total(
            x for i, row in enumerate(product(product(a, J[k]), transposed(b))) for j, x in enumerate(row) if i == j
        )

    sheet.section = "Inertia matrix"
    D: Rows = [[0 for _ in n] for _ in n]
    for i in n:
        for k in range(i, arm.n):
            parts = [trace(U[b][k], b, U[b][i]) for b, body in enumerate(arm.bodies) if body.link >= k]
            name = f"D_{{{i + 1}{k + 1}}}" + (f" = D_{{{k + 1}{i + 1}}}" if i < k else "")
            rule = r"\sum_j \mathrm{Tr}\left(!U_{jk} !J_j !U_{ji}^T\right)"
            D[i][k] = D[k][i] = sheet.line(name, rule, ops.total(parts), "(2.11)")
    whole, rotors = _with_rotors(sheet, arm, "!D", D)
    sheet.section = "Velocity coefficients"
    velocity: list[Any] = []
    curved = [{j: _slope_matrices(U[b][j], arm) for j in n if j <= body.link} for b, body in enumerate(arm.bodies)]
    for i in n:
        terms = []
        for k in n:
            for m in range(k, arm.n):
                last = max(i, k, m)
                parts = [trace(curved[b][k][m], b, U[b][i]) for b, body in enumerate(arm.bodies) if body.link >= last]
                name = f"h_{{{i + 1}{k + 1}{m + 1}}}" + (f" = h_{{{i + 1}{m + 1}{k + 1}}}" if k < m else "")
                rule = r"\sum_j \mathrm{Tr}\left(!U_{jkm} !J_j !U_{ji}^T\right)"
                h = sheet.line(name, rule, ops.total(parts), "(2.14)")
                terms.append(ops.mul(ops.mul(2 if k < m else 1, h), ops.mul(arm.qd[k], arm.qd[m])))
        rule = rf"\sum_k \sum_m h_{{{i + 1}km}} \dot{{q}}_k \dot{{q}}_m"
        velocity.append(sheet.line(f"h_{{{i + 1}}}", rule, ops.total(terms), "(2.13)"))
    velocity = _rotor_velocity(sheet, arm, rotors, velocity)
    sheet.section = "Gravity"
    c = []
    for i in n:
        parts = []
        for b, body in enumerate(arm.bodies):
            if body.link >= i:
                r = [*body.com, 1]
                point = [ops.total(ops.mul(x, y) for x, y in zip(row, r, strict=True)) for row in U[b][i]]
                parts.append(-as_nodes(ops.mul(body.mass, arm.robot.gravity.dot(Vec3(*point[:3])))))
        rule = rf"-\sum_j m_j !g !U_{{j{i + 1}}} {{}}^j\bar{{!r}}_j"
        c.append(sheet.line(f"c_{{{i + 1}}}", rule, ops.total(parts), "(2.15)"))
    c = _with_weights(c, arm.robot.gravity, rotors)
    rule = r"\sum_k D_{#k} \ddot{q}_k + h_{#} + c_{#}"
    closing_lines(sheet, arm, equations, whole, velocity, c, rule, "(2.5)")


def _homogeneous(pose: Any) -> list[tuple[Any, ...]]:
    return [*((*row, p) for row, p in zip(pose.R.rows, pose.p, strict=True)), (0, 0, 0, 1)]


def _slope_matrices(matrix: Rows, arm: Arm) -> list[Rows]:
    """d/dq_m of a 4x4 matrix, for every m: U_ijm."""
    flat = derivative([as_nodes(x) for row in matrix for x in row], arm.q)
    return [[[flat[4 * a + b][m] for b in range(4)] for a in range(4)] for m in range(arm.n)]


def _rotor_velocity(sheet: Sheet, arm: Arm, rotors: Sequence[tuple[Any, Any, Any]], velocity: list[Any]) -> list[Any]:
    """The velocity terms with those of the rotors' inertia matrix."""
    if not rotors:
        return velocity
    M = total([part for _, _, part in rotors], arm.n)
    n, dM = range(arm.n), slopes(M, arm.q)
    found = []
    for i in n:
        terms = [
            ops.mul(ops.sub(dM[k][i][j], ops.half(as_nodes(dM[i][j][k]))), ops.mul(arm.qd[j], arm.qd[k]))
            for j in n
            for k in n
        ]
        added = sheet.line(f"h_{{{i + 1}}}^{{(m)}}", "", ops.total(terms), "velocity terms of the rotors")
        found.append(ops.add(velocity[i], added))
    return found


def dalembert(sheet: Sheet, equations: Equations) -> None:
    """Milićević (4.1)-(4.5); (4.3) and (4.4), damaged in print, as they follow from the motion of the links."""
    arm = arm_of(equations.tree, sheet, "{{}}^{{{j}}}!A_{{{i}}}", "{{}}^{{0}}!A_{{{i}}}", "(2.2)")
    n = range(arm.n)
    sheet.section = "Inertia coefficients"
    bodies = [(body, body.center, body.world_tensor) for body in arm.bodies]

    def lever(i: int, center: Vec3) -> Vec3:
        return cross(arm.axes[i], center - arm.points[i]) if arm.revolute(i) else arm.axes[i]

    def spin(i: int) -> Vec3:
        return arm.axes[i] if arm.revolute(i) else Vec3(0, 0, 0)

    D: Rows = [[0 for _ in n] for _ in n]
    for i in n:
        for j in range(i, arm.n):
            parts = []
            for body, center, tensor in bodies:
                if body.link >= j:
                    parts.append(spin(i).dot(tensor @ spin(j)))
                    parts.append(ops.mul(body.mass, lever(i, center).dot(lever(j, center))))
            name = f"D_{{{i + 1}{j + 1}}}" + (f" = D_{{{j + 1}{i + 1}}}" if i < j else "")
            rule = (
                rf"\sum_s \left(!z_{{{arm.axis_label(i)}}}^T !I_s !z_{{{arm.axis_label(j)}}} + m_s "
                rf"[!z_{{{arm.axis_label(i)}}} \times (\bar{{!r}}_s - !p_{{{arm.axis_label(i)}}})] \cdot "
                rf"[!z_{{{arm.axis_label(j)}}} \times (\bar{{!r}}_s - !p_{{{arm.axis_label(j)}}})]\right)"
            )
            D[i][j] = D[j][i] = sheet.line(name, rule, ops.total(parts), "(4.2)")
    D, rotors = _with_rotors(sheet, arm, "!D", D)
    sheet.section = "Motion without joint accelerations"
    zero = Vec3(0, 0, 0)
    w: list[Vec3] = []
    cor: list[Vec3] = []
    at: list[Vec3] = []
    for i in n:
        before, bent, a, origin = (
            (w[i - 1], cor[i - 1], at[i - 1], arm.points[i - 1]) if i else (zero, zero, zero, arm.points[0])
        )
        rate = spin(i) * arm.qd[i]
        w.append(
            sheet.line(
                rf"!\omega_{{{i + 1}}}",
                rf"!\omega_{{{i}}} + \dot{{q}}_{{{i + 1}}} !z_{{{arm.axis_label(i)}}}"
                if arm.revolute(i)
                else rf"!\omega_{{{i}}}",
                before + rate,
            )
        )
        cor.append(
            sheet.line(
                rf"!\gamma_{{{i + 1}}}",
                rf"!\gamma_{{{i}}} + !\omega_{{{i}}} \times \dot{{q}}_{{{i + 1}}} !z_{{{arm.axis_label(i)}}}"
                if arm.revolute(i)
                else rf"!\gamma_{{{i}}}",
                bent + cross(before, rate),
            )
        )
        d = arm.points[i] - origin
        slide = zero if arm.revolute(i) else cross(w[i], arm.axes[i]) * (2 * arm.qd[i])
        at.append(a + cross(bent, d) + cross(before, cross(before, d)) + slide)
    h = []
    for i in n:
        sheet.section = "Velocity terms"
        linear, angular = [], []
        for body, center, tensor in bodies:
            if body.link >= i:
                k = body.link
                c = center - arm.points[k]
                a = at[k] + cross(cor[k], c) + cross(w[k], cross(w[k], c))
                linear.append(ops.mul(body.mass, a.dot(lever(i, center))))
                angular.append(spin(i).dot(tensor @ cor[k] + cross(w[k], tensor @ w[k])))
        rule = rf"\sum_s m_s !a_s \cdot [!z_{{{arm.axis_label(i)}}} \times (\bar{{!r}}_s - !p_{{{arm.axis_label(i)}}})]"
        tran = sheet.line(rf"h_{{{i + 1}}}^{{\mathrm{{tran}}}}", rule, ops.total(linear), "(4.3)")
        rule = rf"\sum_s !z_{{{arm.axis_label(i)}}}^T \left(!I_s !\gamma_s + !\omega_s \times !I_s !\omega_s\right)"
        rot = sheet.line(rf"h_{{{i + 1}}}^{{\mathrm{{rot}}}}", rule, ops.total(angular), "(4.4)")
        h.append(ops.add(tran, rot))
    h = _rotor_velocity(sheet, arm, rotors, h)
    sheet.section = "Gravity"
    c_ = []
    for i in n:
        parts = [
            ops.mul(body.mass, arm.robot.gravity.dot(lever(i, center))) for body, center, _ in bodies if body.link >= i
        ]
        rule = r"-!g \cdot \left[!z_{#} \times \sum_j m_j (\bar{!r}_j - !p_{#})\right]".replace("#", arm.axis_label(i))
        c_.append(sheet.line(f"c_{{{i + 1}}}", rule, -as_nodes(ops.total(parts)), "(4.5)"))
    c_ = _with_weights(c_, arm.robot.gravity, rotors)
    rule = r"\sum_j D_{#j} \ddot{q}_j + h_{#}^{\mathrm{tran}} + h_{#}^{\mathrm{rot}} + c_{#}"
    closing_lines(sheet, arm, equations, D, h, c_, rule, "(4.1)")


# Khalil ---------------------------------------------------------------------------------------------------------------


def khalil(sheet: Sheet, equations: Equations) -> None:
    """Khalil (7.9)-(7.25): velocities in link frames, energies linear in the inertial parameters."""
    tree = equations.tree
    arm = arm_of(tree, sheet, "{{}}^{{{j}}}!T_{{{i}}}", "{{}}^{{0}}!T_{{{i}}}", "(3.2)")
    n = range(arm.n)
    sheet.section = "Velocities"
    energy, potential = [], []
    w, v = Vec3(0, 0, 0), Vec3(0, 0, 0)
    for i, link in enumerate(tree.links):
        j = i + 1
        R, P = link.pose(arm.q[i])
        carried = cross(w, P)
        rule = rf"{{}}^{{{j}}}!R_{{{i}}} {{}}^{{{i}}}!\omega_{{{i}}}" + (
            rf" + \dot{{q}}_{{{j}}} {{}}^{{{j}}}!a_{{{j}}}" if link.revolute else ""
        )
        before = w
        w = sheet.line(rf"{{}}^{{{j}}}!\omega_{{{j}}}", rule, R.T @ before + link.spin(arm.qd[i]), "(7.17)")
        rule = r"{}^{#}!R_{<} \left({}^{<}!v_{<} + {}^{<}!\omega_{<} \times {}^{<}!P_{#}\right)".replace(
            "#", str(j)
        ).replace("<", str(i)) + ("" if link.revolute else rf" + \dot{{q}}_{{{j}}} {{}}^{{{j}}}!a_{{{j}}}")
        v = sheet.line(rf"{{}}^{{{j}}}!v_{{{j}}}", rule, R.T @ (v + carried) + link.slide(arm.qd[i]), "(7.18)")
        body = link.inertia
        E = ops.half(
            as_nodes(
                ops.total(
                    [w.dot(body.tensor @ w), ops.mul(body.mass, v.dot(v)), ops.mul(2, body.moment.dot(cross(v, w)))]
                )
            )
        )
        turning = (
            r"!\omega_{#}^T !J_{#} !\omega_{#} + M_{#} !v_{#}^T !v_{#} + 2 !M !S_{#}^T (!v_{#} \times !\omega_{#})"
        )
        rule = rf"\frac{{1}}{{2}} \left({turning.replace('#', str(j))}\right)"
        energy.append(sheet.line(f"E_{{{j}}}", rule, E, "(7.20)"))
        potential.append(body)
    sheet.section = "Inertia matrix"
    E = ops.total(energy)
    rows = [list(row) for row in derivative(list(derivative(as_nodes(E), arm.qd)), arm.qd)]
    rotors = rotor_mass_matrix(tree, arm.q)
    names = r" + !I_a" if arm.rotors else ""
    A = total([rows, rotors], arm.n)
    A = sheet.line("!A", r"\frac{\partial^2 E}{\partial \dot{q}_i \partial \dot{q}_j}" + names, A, "(7.12), (7.29)")
    C = christoffel_lines(sheet, arm, A, "A", "!A", "(7.7)", "(7.6)")
    sheet.section = "Gravity"
    g = arm.robot.gravity
    parts = [
        ops.add(ops.mul(body.mass, g.dot(T.p)), g.dot(T.R @ body.moment))
        for body, T in zip(potential, link_poses(tree, arm.q), strict=True)
    ]
    U = -as_nodes(ops.total(parts))
    U = sheet.line("U", r"-\sum_j {}^0!g^T \left(M_j {}^0!P_j + {}^0!R_j {}^j!M !S_j\right)", U, "(7.25)")
    slope = derivative(as_nodes(U), arm.q)
    Q = [sheet.line(f"Q_{{{i + 1}}}", rf"\frac{{\partial U}}{{\partial q_{{{i + 1}}}}}", slope[i], "(7.8)") for i in n]
    rule = r"\sum_j A_{#j} \ddot{q}_j + \sum_j C_{#j} \dot{q}_j + Q_{#}"
    closing_lines(sheet, arm, equations, A, _velocity(C, arm), Q, rule, "(7.5)")


# El Baji --------------------------------------------------------------------------------------------------------------


def el_baji(sheet: Sheet, equations: Equations) -> None:
    """El Baji (1)-(33), in base axes, with the corrections of (25) and (26): no factor before I_k and J_k."""
    arm = arm_of(equations.tree, sheet, "T_{{{j},{i}}}", "T_{{0,{i}}}", "(34)")
    n = range(arm.n)
    sheet.section = "Axes and centres of mass"
    u = [sheet.line(f"!u_{{{i + 1}}}", "", arm.axes[i]) for i in n]
    c: dict[tuple[int, int], Vec3] = {}
    for k, body in enumerate(arm.bodies):
        for i in range(body.link + 1):
            c[i, k] = sheet.line(
                f"!c_{{{i + 1}{body.label}}}", f"!o_{{{i + 1}}} !c_{{{body.label}}}", body.center - arm.points[i]
            )
    tensors = [body.world_tensor for body in arm.bodies]
    pseudo = [Mat3.identity() * ops.half(tensor.trace) - tensor for tensor in tensors]

    def acceleration(j: int, k: int) -> Vec3:
        """What a unit qdd_j gives the centre of mass of body k."""
        return cross(u[j], c[j, k]) if arm.revolute(j) else u[j]

    def felt(i: int, k: int, force: Vec3, moment: Vec3) -> Any:
        """The part of a force at the centre of mass and of a moment that joint i bears."""
        return u[i].dot(moment + cross(c[i, k], force)) if arm.revolute(i) else u[i].dot(force)

    zero = Vec3(0, 0, 0)
    sheet.section = "Inertia"
    H: Rows = [[0 for _ in n] for _ in n]
    for i in n:
        for j in n:
            parts = []
            for k, body in enumerate(arm.bodies):
                if body.link < max(i, j):
                    continue
                moment = tensors[k] @ u[j] if arm.revolute(j) else zero
                value = felt(i, k, body.mass * acceleration(j, k), moment)
                parts.append(
                    sheet.line(f"H_{{{i + 1}{j + 1}{body.label}}}", _h_rule(arm, i, j, body.label), value, "(24)")
                )
            H[i][j] = ops.total(parts)
    M = sheet.line("!M", r"\sum_k H_{ijk}", H, "(31)")
    M, rotors = _with_rotors(sheet, arm, "!M", M)
    sheet.section = "Centrifugal and Coriolis terms"
    velocity: list[Any] = [0 for _ in n]
    for i in n:
        terms = []
        for j in n:
            for k, body in enumerate(arm.bodies):
                if body.link < max(i, j):
                    continue
                if arm.revolute(j):
                    force = body.mass * cross(u[j], cross(u[j], c[j, k]))
                    beta = sheet.line(
                        rf"\beta_{{{i + 1}{j + 1}{body.label}}}",
                        _beta_rule(arm, i, j, body.label),
                        felt(i, k, force, cross(u[j], tensors[k] @ u[j])),
                        "(25)",
                    )
                    terms.append(ops.mul(beta, ops.mul(arm.qd[j], arm.qd[j])))
                for m in range(j):
                    if arm.revolute(m):
                        force = body.mass * cross(u[m], acceleration(j, k))
                        moment = skew(pseudo[k] @ u[m]) @ u[j] if arm.revolute(j) else zero
                        zeta = sheet.line(
                            rf"\zeta_{{{i + 1}{j + 1}{m + 1}{body.label}}}",
                            _zeta_rule(arm, i, j, m, body.label),
                            felt(i, k, force, moment),
                            "(26)",
                        )
                        terms.append(ops.mul(ops.mul(2, zeta), ops.mul(arm.qd[j], arm.qd[m])))
        velocity[i] = ops.total(terms)
    velocity = _rotor_velocity(sheet, arm, rotors, velocity)
    sheet.section = "Gravity"
    G = []
    for i in n:
        parts = []
        for k, body in enumerate(arm.bodies):
            if body.link >= i:
                value = -as_nodes(felt(i, k, body.mass * arm.robot.gravity, zero))
                rule = (
                    rf"-m_{{{body.label}}} g \, (\hat{{!c}}_{{{i + 1}{body.label}}} !u_g) \cdot !u_{{{i + 1}}}"
                    if arm.revolute(i)
                    else rf"-m_{{{body.label}}} g \, !u_g \cdot !u_{{{i + 1}}}"
                )
                parts.append(sheet.line(f"G_{{{i + 1}{body.label}}}", rule, value, "(27)"))
        G.append(ops.total(parts))
    G = _with_weights(G, arm.robot.gravity, rotors)
    quadratic = r"\beta_{#jk} \dot{q}_j^2 + 2 \dot{q}_j \sum_n \zeta_{#jnk} \dot{q}_n"
    rule = rf"\sum_k \left[\sum_j \left(H_{{#jk}} \ddot{{q}}_j + {quadratic}\right) + G_{{#k}}\right]"
    closing_lines(sheet, arm, equations, M, velocity, G, rule, "(23)")


def _h_rule(arm: Arm, i: int, j: int, k: str) -> str:
    a, b = rf"\hat{{!c}}_{{{i + 1}{k}}}", rf"\hat{{!c}}_{{{j + 1}{k}}}"
    inner = {
        (True, True): rf"(!I_{{{k}}} - m_{{{k}}} {a} {b})",
        (True, False): rf"m_{{{k}}} {a}",
        (False, True): rf"-m_{{{k}}} {b}",
        (False, False): rf"m_{{{k}}}",
    }[arm.revolute(i), arm.revolute(j)]
    return rf"\left[{inner} !u_{{{j + 1}}}\right] \cdot !u_{{{i + 1}}}"


def _beta_rule(arm: Arm, i: int, j: int, k: str) -> str:
    a, b, u = rf"\hat{{!c}}_{{{i + 1}{k}}}", rf"\hat{{!c}}_{{{j + 1}{k}}}", rf"\hat{{!u}}_{{{j + 1}}}"
    inner = rf"({u} !I_{{{k}}} - m_{{{k}}} {a} {u} {b})" if arm.revolute(i) else rf"-m_{{{k}}} {u} {b}"
    return rf"\left[{inner} !u_{{{j + 1}}}\right] \cdot !u_{{{i + 1}}}"


def _zeta_rule(arm: Arm, i: int, j: int, m: int, k: str) -> str:
    a, b, u = rf"\hat{{!c}}_{{{i + 1}{k}}}", rf"\hat{{!c}}_{{{j + 1}{k}}}", rf"\hat{{!u}}_{{{m + 1}}}"
    front = rf"m_{{{k}}} {a} {u}" if arm.revolute(i) else rf"m_{{{k}}} {u}"
    if not arm.revolute(j):
        inner = front
    elif arm.revolute(i):
        inner = rf"(\mathrm{{dual}}(!J_{{{k}}} !u_{{{m + 1}}}) - {front} {b})"
    else:
        inner = rf"-{front} {b}"
    return rf"\left[{inner} !u_{{{j + 1}}}\right] \cdot !u_{{{i + 1}}}"
