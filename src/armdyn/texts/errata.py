"""Places where the five source texts are wrong, unclear or incomplete, and what armdyn does instead.

Every erratum of the class "wrong" has evidence under its tag, in the chapter of its text, which evaluates the printed
form and shows that it fails. `armdyn reproduce` runs all of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from armdyn.texts.item import SOURCES

Kind = Literal["wrong", "typographical", "missing"]
KINDS: dict[Kind, str] = {
    "wrong": "the printed formula, number or statement gives wrong results; the evidence computes them",
    "typographical": "a typographical slip, evident from neighbouring formulas",
    "missing": "data or formulas are missing, illegible or doubtful; the replacement is stated",
}


@dataclass(frozen=True)
class Erratum:
    """One place of a text: what is printed, what is right (or used instead), and the reason."""

    tag: str
    kind: Kind
    place: str
    printed: str
    right: str
    shown: str

    @property
    def source(self) -> str:
        """The text's name in `armdyn reproduce`: `ElBaji-1` is an erratum of elbaji."""
        return self.tag.partition("-")[0].lower()


ERRATA = (
    # El Baji -----------------------------------------------------------------------------------------------------
    Erratum(
        "ElBaji-1",
        "wrong",
        "(38), c_2",
        "- l3 s3 (y - l4 s_phi) as the second term of the numerator",
        "+ l3 s3 (y - l4 s_phi)",
        "The pose (36) at the angles of (38) must be the goal. It is with the plus; with the minus the tool misses "
        "by decimetres, and q(0) of sec. 5.3 is close to the solution with the plus only.",
    ),
    Erratum(
        "ElBaji-2",
        "wrong",
        "(16), (18), (22), (25), (26), (29)",
        "I_k and J_k multiplied by eps_bar_k",
        "I_k and J_k without a factor, as in (17) and (24)",
        "A body on a prismatic joint still rotates with the revolute joints before it. The torques of a mixed chain "
        "agree with another formulation only without the factor.",
    ),
    Erratum(
        "ElBaji-3",
        "wrong",
        "(20), (28), (29)",
        "+F_k and +M_k, called force and moment applied to body k",
        "-F_k and -M_k for force and moment applied to the body; the printed signs hold for those that the body exerts",
        "A force on the tool reduces the motor torques by J^T F (virtual work); the printed sum adds it. The weight, "
        "in the same bracket, has the right sign.",
    ),
    Erratum(
        "ElBaji-4",
        "wrong",
        "(8) to (11), left sides",
        "eps_bar_j in the sum over o_j o_(j+1)",
        "no factor: a link after a prismatic joint rotates too; the final result (14) is right",
        "The accelerations of the centres of mass, by differentiating their positions twice, agree with (14) and with "
        "(10) without the factor, but not with (10) as printed.",
    ),
    Erratum(
        "ElBaji-5",
        "wrong",
        "(5)",
        "a sum that starts at j = i + 1 with the factor eps_j",
        "the sum from j = 1 with eps_bar_j, as in (1) and (6)",
        "Only revolute joints rotate a body: for an arm of revolute joints the printed sum is zero.",
    ),
    Erratum(
        "ElBaji-6",
        "wrong",
        "(22), third line",
        "u_j between the two lever arms of m_k; qd_n in the last term only; no sign before eps_i{...}",
        "u_n, as in (18) and (26); qd_n times the whole bracket; a plus",
        "With u_j, or with qd_n on one term, the torques differ from those of another formulation; (26) agrees.",
    ),
    Erratum(
        "ElBaji-7",
        "wrong",
        "(29), zeta and Q",
        "the term with eps_i stands inside eps_bar_i( ... )",
        "the parenthesis closes before it, as in (26) and (28)",
        "eps_i eps_bar_i is always zero, so neither Coriolis nor external forces would act on prismatic joints.",
    ),
    Erratum(
        "ElBaji-8",
        "typographical",
        "(23)",
        "G_ik and Q_ik behind the sum over j",
        "inside the sum over k, outside the one over j",
        "They have no index j; see (27), (28).",
    ),
    Erratum(
        "ElBaji-9",
        "typographical",
        "(8)",
        "o_j c_(j+1)",
        "o_j o_(j+1)",
        "(9) repeats the sum with o_(j+1).",
    ),
    Erratum(
        "ElBaji-10",
        "typographical",
        "(9)",
        "the angular acceleration and o_k c_k without an operator between them",
        "their cross product",
        "It is copied from (7).",
    ),
    Erratum(
        "ElBaji-11",
        "typographical",
        "(11), left side",
        "the dual of the angular acceleration times two duals of the angular velocity",
        "their sum: a + w w",
        "As in (10).",
    ),
    Erratum(
        "ElBaji-12",
        "typographical",
        "(16)",
        "dynamic moment of body k about c_i",
        "about c_k",
        "As in (17), and by the lever arm c_ik.",
    ),
    Erratum(
        "ElBaji-13",
        "typographical",
        "(40)",
        "0, 1, cos and 0, 2",
        "0.1 cos and 0.2",
        "The commas are decimal points; with them the motion starts near q(0).",
    ),
    Erratum(
        "ElBaji-14",
        "missing",
        "table 4",
        "l_c = 0.229 m on links of 0.2 m",
        "kept as printed; 0.0229 m would be plausible",
        "The centre of mass would lie beyond the end of its link. The text gives the number only once.",
    ),
    Erratum(
        "ElBaji-15",
        "missing",
        "sec. 5.3",
        "d_1 of the motion, g, the branch of (38), the forces of fig. 4",
        "d_1 = 0.1 m and the elbow with s_3 > 0 (both fit q(0)); g = 9.81 m/s^2; free motion for fig. 4",
        "Not in the text. The control cycle of 16 ms is longer than the step of 1 ms, and than the 1 to 10 ms that "
        "its introduction requires for real time.",
    ),
    # Milićević ---------------------------------------------------------------------------------------------------
    Erratum(
        "Milicevic-1",
        "wrong",
        "(2.4), last term",
        "+ m_j g U_ji r_j",
        "- m_j g U_ji r_j, as in (2.15)",
        "(2.3) contains + m g r, and the torque subtracts its derivative. With the plus, an arm at rest is pushed "
        "down instead of being held.",
    ),
    Erratum(
        "Milicevic-2",
        "wrong",
        "table 1, acceleration of a rotational link",
        "the line of the angular acceleration, repeated",
        "omega_dot x p* + omega x (omega x p*) + acceleration of link i-1",
        "The printed line has the unit 1/s^2. With the right one the recursion agrees with Lagrange-Euler.",
    ),
    Erratum(
        "Milicevic-3",
        "wrong",
        "tables 1 and 2, initial condition",
        "acceleration of the base = (gx, gy, gz)",
        "the negative of g in (2.15): 9.8062 m/s^2 upwards",
        "With the same g in both, Lagrange-Euler and Newton-Euler differ by twice the gravity torques.",
    ),
    Erratum(
        "Milicevic-4",
        "missing",
        "table 2",
        "the acceleration of a translational link and all backward equations are illegible",
        "the recursion in link axes, as in Siciliano (7.107) to (7.114)",
        "It agrees with table 1.",
    ),
    Erratum(
        "Milicevic-5",
        "missing",
        "(4.3)",
        "brackets and vectors are damaged",
        "for every body s: m_s times the acceleration of its centre of mass at constant joint velocities, times "
        "z_(i-1) x (r_s - p_(i-1))",
        "The four legible sums are those of the acceleration; with it (4.1) agrees with Lagrange-Euler.",
    ),
    Erratum(
        "Milicevic-6",
        "missing",
        "(4.4)",
        "missing",
        "for every body s: z_(i-1) times (I_s times the angular acceleration at constant joint velocities + omega_s "
        "x I_s omega_s)",
        "Euler's equation; with it (4.1) agrees with Lagrange-Euler.",
    ),
    Erratum(
        "Milicevic-7",
        "typographical",
        "I_i",
        "in axes of the base (table 1) and in link axes (4.2), under one symbol",
        "either, as the formula requires",
        "The rotations around it in (4.2).",
    ),
    Erratum(
        "Milicevic-8",
        "typographical",
        "conclusion",
        "Newton-Euler preserves the structure of the equations",
        "it is the efficient recursion, without explicit structure",
        "See sec. 3, and the third case in the same sentence.",
    ),
    Erratum(
        "Milicevic-9",
        "missing",
        "table 3",
        "101348 and 77405 operations for Lagrange-Euler at n = 6, 792 and 662 for Newton-Euler",
        "used for ratios inside this table only",
        "Khalil table 7.5 quotes 66271 and 51548, 800 and 595 for methods of the same names; the counts are by other "
        "authors.",
    ),
    Erratum(
        "Milicevic-10",
        "missing",
        "tables 1 and 2",
        "force and moment at the tip, f_(n+1) and n_(n+1), are not given",
        "force and moment that the robot exerts on its environment; zero without contact",
        "The backward recursion starts with them.",
    ),
    # Khalil ------------------------------------------------------------------------------------------------------
    Erratum(
        "Khalil-1",
        "wrong",
        "(7.57)",
        "U_j with the angular velocity in both terms",
        "the dual of the angular acceleration plus the square of the dual of the velocity",
        "The torques of the printed and of the corrected recursion are compared with another formulation.",
    ),
    Erratum(
        "Khalil-2",
        "wrong",
        "(7.88)",
        "F_(n-1) + S^T F_n + beta",
        "F_(n-1) - S^T F_n + beta with the sign of (7.69)",
        "The elimination recovers the accelerations only with the minus, which (7.90) and (7.91) have.",
    ),
    Erratum(
        "Khalil-3",
        "wrong",
        "example 7.4, second row of the angular velocity of link 4",
        "WI12 in the first product",
        "WI13",
        "The program of the appendix has WI13, and the angular velocity of the arm requires it.",
    ),
    Erratum(
        "Khalil-4",
        "wrong",
        "table 7.5, additions of Raibert",
        "3^n + n^2, and 252 for n = 6",
        "n^3 + n^2",
        "Arithmetic: 3^6 + 36 = 765, 6^3 + 36 = 252.",
    ),
    Erratum(
        "Khalil-5",
        "wrong",
        "(8.55)",
        "the initial orientation in front of the three rotations",
        "the three rotations alone",
        "At t = 0 the printed form is the initial orientation times itself.",
    ),
    Erratum(
        "Khalil-6",
        "typographical",
        "tables 7.5 and 7.6",
        "159 in one, 160 multiplications in the other",
        "160, with 113 additions",
        "Counted in the program of the appendix.",
    ),
    Erratum(
        "Khalil-7",
        "typographical",
        "appendix, PIS22",
        "no asterisk",
        "a constant computed off-line, like PIS23 to PIS26",
        "Computed on-line it would make 114 additions.",
    ),
    Erratum(
        "Khalil-8",
        "missing",
        "appendix, base parameters",
        "the table of grouped parameters is in another chapter",
        "grouping as in sec. 9: YY, MZ and M of link j are grouped with link j - 1, from the tip to the base",
        "With these groups the program gives the torques of the arm.",
    ),
    Erratum(
        "Khalil-9",
        "typographical",
        "7.3.3 i",
        "a first derivative in the definition of A_ij",
        "the second derivative of E",
        "A_ij is the coefficient of a product of two joint velocities.",
    ),
    Erratum(
        "Khalil-10",
        "typographical",
        "(7.89)",
        "superscript n on the acceleration of link n - 1",
        "superscript n - 1",
        "As in (7.80), its general form.",
    ),
    Erratum(
        "Khalil-11",
        "typographical",
        "references to equations",
        "numbers of another edition: (7.88), (7.89), (7.91), (7.93) before (7.69); (9.94); (7.95); in 7.6.2.2 "
        "(7.71), (7.72), (7.82), (7.79), (7.90), (2.77); (13.43), (14.33), (14.36)",
        "(7.55), (7.56), (7.58), (7.60); (7.61); (7.62); (7.80), (7.81), (7.80), (7.69), (7.89), (7.77); (8.43), "
        "(9.33), (9.36)",
        "By the content of the equations.",
    ),
    Erratum(
        "Khalil-12",
        "typographical",
        "(8.52), (8.54)",
        "A(t) and R(t)",
        "one matrix",
        "By their arguments and products.",
    ),
    Erratum(
        "Khalil-13",
        "typographical",
        "(7.50), (7.61)",
        "F_c and F_s",
        "one parameter, Coulomb friction",
        "Both multiply sign(qd).",
    ),
    # Truc --------------------------------------------------------------------------------------------------------
    Erratum(
        "Truc-1",
        "wrong",
        "(70), in two entries",
        "I_3yy - I_3zz",
        "I_3yy - I_3xx, as in (67)",
        "The derivative of (64) minus twice (67) is compared in all symbols.",
    ),
    Erratum(
        "Truc-2",
        "wrong",
        "(33)",
        "an identity matrix of size r, the size of x",
        "an identity matrix of size q, the number of columns of D",
        "With the printed one the inner dimensions of the product differ unless q = r.",
    ),
    Erratum(
        "Truc-3",
        "typographical",
        "(24)",
        "the position differentiated with respect to the joint velocities",
        "with respect to the joint positions",
        "As in (62).",
    ),
    Erratum(
        "Truc-4",
        "typographical",
        "(43), left side",
        "the derivative with respect to the joint velocities",
        "the derivative with respect to the joint positions",
        "As in (41).",
    ),
    Erratum(
        "Truc-5",
        "missing",
        "(73)",
        "positions and velocities only",
        "second derivatives 4 pi^2 (1, 0.75, 0.5) cos(2 pi t), which (72) needs",
        "By differentiation.",
    ),
    Erratum(
        "Truc-6",
        "missing",
        "(71), links 2 and 3",
        "0.0405 kg m^2 on 2.412 kg and 0.19 m; 0.0202 kg m^2 on 1.577 kg and 0.17 m",
        "kept as printed",
        "Radii of gyration of 0.130 m and 0.113 m exceed half the links' lengths, which is possible but unlikely.",
    ),
    Erratum(
        "Truc-7",
        "wrong",
        "(36)",
        "a row of the blocks h_i e_i^T",
        "their sum",
        "The row has n^2 entries, h^T has n.",
    ),
    # Siciliano ---------------------------------------------------------------------------------------------------
    Erratum(
        "Siciliano-1",
        "wrong",
        "7.3.3, b_a22",
        "the terms of link 1' and m_2' a_1''^2",
        "those of link 1'' and m_3' a_1''^2",
        "By the kinetic energy of the closed chain, and by the loop formulas of this library.",
    ),
    Erratum(
        "Siciliano-2",
        "wrong",
        "7.3.3, b_3'3'",
        "contains a term with a_2' l_3' c_3'",
        "I_3' + m_3' l_3'^2",
        "The inertia about the last joint of a chain does not depend on the joint's angle.",
    ),
    Erratum(
        "Siciliano-3",
        "wrong",
        "(7.113)",
        "the gyroscopic term omega x (I omega) twice",
        "once, as in (7.105)",
        "The torques of a spatial arm are compared with another formulation; a planar arm does not show it.",
    ),
    Erratum(
        "Siciliano-4",
        "wrong",
        "(7.45)",
        "the second term differentiated with respect to q_i",
        "with respect to q_j",
        "Otherwise the symbols do not give C qd of the equations of motion, and (7.46) does not hold.",
    ),
    Erratum(
        "Siciliano-5",
        "wrong",
        "7.3.3, condition of decoupling",
        "m_3' in numerator and denominator",
        "m_2' in the denominator",
        "Only then does b_a12 vanish.",
    ),
    Erratum(
        "Siciliano-6",
        "wrong",
        "7.3.3, decoupled b_a22",
        "link 1' and the lever arm of link 2' in the denominator",
        "link 1'' and the lever arm of link 3'",
        "By substituting the condition into b_a22.",
    ),
    Erratum(
        "Siciliano-7",
        "typographical",
        "example 7.1",
        "motor friction proportional to the angle; q for g in the potential energy",
        "proportional to the velocity; g",
        "By the equation of motion that results.",
    ),
    Erratum(
        "Siciliano-8",
        "typographical",
        "text after (7.41)",
        "the effect of joint j on joint j",
        "on joint i",
        "By the index of b_ij.",
    ),
    Erratum(
        "Siciliano-9",
        "typographical",
        "7.3.3",
        "primes lost in l_2 and c_1'2'3, equal signs lost in g_1', g_2', g_3' and b_31",
        "with primes and equal signs",
        "By the neighbouring lines.",
    ),
    Erratum(
        "Siciliano-10",
        "typographical",
        "(7.90)",
        "no k_r,i+1 on either side",
        "a factor k_r,i+1 on both",
        "As in (7.91).",
    ),
    Erratum(
        "Siciliano-11",
        "typographical",
        "sec. 7.4",
        "the count of 8 of 22 parameters is attributed to example 7.2",
        "sec. 7.3.2",
        "By the content of the section.",
    ),
    Erratum(
        "Siciliano-12",
        "missing",
        "sec. 7.6",
        "forward dynamics is of order n^2",
        "n^2 for building B by n recursions, n^3 for solving",
        "Khalil says n^3; the two count different parts.",
    ),
    Erratum(
        "Siciliano-13",
        "missing",
        "(7.146) to (7.148)",
        "for a redundant arm, a part of gravity in the null space is dropped",
        "used for non-redundant arms, or as a bound on B J+ (v_dot - centre)",
        "The torques at points of the ellipsoid do not have unit norm.",
    ),
    Erratum(
        "Siciliano-14",
        "missing",
        "figs. 2.36, 7.12, 7.15, 7.16, label of (7.109)",
        "pictures and their data are not in the text",
        "our own data, stated with each figure",
        "They are missing.",
    ),
)
"""All errata, in the order of the texts."""


def of_source(source: str) -> tuple[Erratum, ...]:
    return tuple(erratum for erratum in ERRATA if erratum.source == source)


def errata_markdown() -> str:
    """The list as the page docs/errata.md."""
    lines = [
        "# Errata of the source texts",
        "",
        "armdyn implements formulas of five texts. This page lists where their print differs from the code.",
        "`armdyn reproduce` computes the evidence for every erratum of the class *wrong*.",
        "",
        *(f"- **{kind}**: {meaning}" for kind, meaning in KINDS.items()),
    ]
    for source, reference in SOURCES.items():
        lines += ["", f"## {reference.cited_as}", "", str(reference), ""]
        lines += ["| tag | class | where | printed | right | reason |", "|---|---|---|---|---|---|"]
        for e in of_source(source):
            cells = (e.tag, e.kind, e.place, e.printed, e.right, e.shown)
            lines.append("| " + " | ".join(_escaped(cell) for cell in cells) + " |")
    return "\n".join(lines) + "\n"


def _escaped(text: str) -> str:
    """Letters that Markdown would take for marks."""
    for mark in "\\|*_<>":
        text = text.replace(mark, f"\\{mark}")
    return text
