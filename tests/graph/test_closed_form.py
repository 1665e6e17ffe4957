"""Normal form, closed form and its printing, on the worked examples of the sources."""

from __future__ import annotations

from fractions import Fraction

import pytest

from armdyn.errors import ArmdynError
from armdyn.graph import (
    PI,
    Node,
    angle_folding,
    closed_form,
    count_operations,
    derivative,
    gradient,
    identical,
    latex,
    normal_form,
    symbol,
    symbols,
    text,
)

q1, q2, q3 = symbols("q1 q2 q3")
qd1, qd2, qdd1, qdd2 = symbols("qd1 qd2 qdd1 qdd2")
a, b, m, l = symbols("a b m l", "parameter")


def lagrange(
    kinetic: Node, potential: Node, q: tuple[Node, ...], qd: tuple[Node, ...], qdd: tuple[Node, ...]
) -> list[Node]:
    """d/dt (dT/dqd) - dT/dq + dU/dq, written out for the tests."""
    momenta = gradient(kinetic, qd)
    forces = []
    for i, p in enumerate(momenta):
        rate = sum((dp * v for dp, v in zip(derivative(p, q), qd, strict=True)), 0 * q1)
        rate = rate + sum((dp * v for dp, v in zip(derivative(p, qd), qdd, strict=True)), 0 * q1)
        forces.append(rate - derivative(kinetic, q[i]) + derivative(potential, q[i]))
    return forces


def test_identities_are_proved() -> None:
    with angle_folding(False):
        c, s = q1.cos(), q1.sin()
        assert identical(c**4 - s**4, (2 * q1).cos())
        assert identical((3 * q1).sin(), 3 * s - 4 * s**3)
        assert identical([(q1 - q2 + q3).cos(), a], [c * (q2 - q3).cos() + s * (q2 - q3).sin(), a + 0])
        assert not identical(c * a, c * b)
        assert identical((q1 / 2).cos() ** 2, (1 + c) / 2)
        assert identical((q1 + 0.3).sin(), s * constant_cos(0.3) + c * constant_sin(0.3))
        assert identical((q1 + PI / 5).sin() ** 2 + (q1 + PI / 5).cos() ** 2, 1)


def constant_cos(value: float) -> Node:
    """Cos of a constant kept as an unknown with c^2 + s^2 = 1, by difference of angles."""
    return (q1 + value).cos() * q1.cos() + (q1 + value).sin() * q1.sin()


def constant_sin(value: float) -> Node:
    return (q1 + value).sin() * q1.cos() - (q1 + value).cos() * q1.sin()


def test_numbers_are_exact() -> None:
    assert identical(0.5 * a + a / 2, a)
    assert not identical(a * 0.1, a / 10), "a float is the rational it is, not the decimal it was typed as"


def test_unknown_functions_are_generators() -> None:
    assert identical((a + b) * q1.sign(), a * q1.sign() + b * q1.sign())
    assert normal_form(q1.sign() * q1.sin() + q1).terms == 2


def test_division_is_refused_with_a_reason() -> None:
    with pytest.raises(ArmdynError, match="divides by"):
        normal_form(a / (q1 + 1))
    with pytest.raises(ArmdynError, match="same shape"):
        identical([a, b], a)


def test_sums_of_angles_come_back() -> None:
    with angle_folding(False):
        c, s = [q.cos() for q in (q1, q2, q3)], [q.sin() for q in (q1, q2, q3)]
        c12, s12 = c[0] * c[1] - s[0] * s[1], s[0] * c[1] + c[0] * s[1]
        c123 = c12 * c[2] - s12 * s[2]
        assert closed_form(a * c12) is a * (q1 + q2).cos()
        assert closed_form(c123 * l) is l * (q1 + q2 + q3).cos()
        assert closed_form(s12 * c12) is (q1 + q2).sin() * (q1 + q2).cos()
        assert closed_form(a - a * c12 * c12) is a * (q1 + q2).sin() ** 2
        assert closed_form(c12 * c[0]) is q1.cos() * (q1 + q2).cos()
        assert closed_form(c[0] * c[1] + s[0] * s[1]) is (q1 - q2).cos()
        assert closed_form(c[0] * c[1]) is q1.cos() * q2.cos()
        numeric = 0.5 + 0.25 * c[0] + 3 * c[1] - 2 * c12
    assert count_operations(closed_form(numeric)).trigonometric == 3


def test_two_link_planar_arm() -> None:
    """Siciliano (7.82), without rotors."""
    a1, l1, l2, m1, m2, I1, I2, g = symbols("a1 l1 l2 m1 m2 I1 I2 g", "parameter")
    w = qd1 + qd2
    speed = a1 * a1 * qd1 * qd1 + l2 * l2 * w * w + 2 * a1 * l2 * q2.cos() * qd1 * w
    kinetic = (m1 * l1 * l1 * qd1 * qd1 + I1 * qd1 * qd1 + m2 * speed + I2 * w * w) / 2
    potential = m1 * g * l1 * q1.sin() + m2 * g * (a1 * q1.sin() + l2 * (q1 + q2).sin())
    tau = lagrange(kinetic, potential, (q1, q2), (qd1, qd2), (qdd1, qdd2))
    c1, c2, s2, c12 = q1.cos(), q2.cos(), q2.sin(), (q1 + q2).cos()
    inertia = I2 + m2 * (l2**2 + a1 * l2 * c2)
    printed = [
        (I1 + m1 * l1**2 + I2 + m2 * (a1**2 + l2**2 + 2 * a1 * l2 * c2)) * qdd1
        + inertia * qdd2
        - 2 * m2 * a1 * l2 * s2 * qd1 * qd2
        - m2 * a1 * l2 * s2 * qd2**2
        + (m1 * l1 + m2 * a1) * g * c1
        + m2 * l2 * g * c12,
        inertia * qdd1 + (I2 + m2 * l2**2) * qdd2 + m2 * a1 * l2 * s2 * qd1**2 + m2 * l2 * g * c12,
    ]
    assert identical(tau, printed)
    wrong = [printed[0] + 2 * m2 * a1 * l2 * s2 * qd1 * qd2, printed[1]]
    assert not identical(tau, wrong)
    closed = closed_form(tau)
    assert identical(closed, printed)
    assert text(closed[1]) == (
        "(m2*(a1*l2*c2 + l2^2) + I2)*qdd1 + (I2 + l2^2*m2)*qdd2 + a1*l2*m2*s2*qd1^2 + g*l2*m2*c12"
    )
    assert count_operations(closed).multiplications <= count_operations(printed).multiplications + 6


def test_three_link_arm_inertia() -> None:
    """Truc (64), (65): the square of a sum is found again."""
    l1, r1, r2, m2, m3 = symbols("l1 r1 r2 m2 m3", "parameter")
    Ixx3, Iyy3, Ixx2, Iyy2, Iyy1 = symbols("Ixx3 Iyy3 Ixx2 Iyy2 Iyy1", "parameter")
    with angle_folding(False):
        c2, s2 = q2.cos(), q2.sin()
        c23, s23 = c2 * q3.cos() - s2 * q3.sin(), s2 * q3.cos() + c2 * q3.sin()
        M11 = Iyy3 * c23**2 + Ixx3 * s23**2 + Ixx2 * s2**2 + Iyy1 + (m2 * r1**2 + Iyy2) * c2**2
        M11 = M11 + m3 * (r2 * c23 + l1 * c2) ** 2
    closed = closed_form(M11)
    assert identical(closed, M11)
    assert text(closed) == "(Iyy2 + m2*r1^2)*c2^2 + Ixx2*s2^2 + Ixx3*s23^2 + Iyy3*c23^2 + m3*(l1*c2 + r2*c23)^2 + Iyy1"


def test_numbers_stand_before_brackets() -> None:
    assert text(closed_form(2 * a * q1 + 4 * b * q1)) == "2*(a + 2*b)*q1"
    assert text(closed_form(-a / 4 - 3 * b / 4)) == "-(a + 3*b)/4"
    assert text(closed_form(a / 2 + b / 3)) == "a/2 + b/3"
    assert text(closed_form(l * (q1.cos() * (q1 + q2).sin() + q1.sin() * (q1 + q2).cos()))) == "l*(c1*s12 + c12*s1)"


def test_gravity_of_the_three_link_arm() -> None:
    """Truc (69), collected by masses."""
    l1, r1, r2, m2, m3, g = symbols("l1 r1 r2 m2 m3 g", "parameter")
    torque = derivative(-g * (m2 * r1 * q2.sin() + m3 * (l1 * q2.sin() + r2 * (q2 + q3).sin())), q2)
    assert text(closed_form(torque)) == "-g*(m2*r1*c2 + m3*(l1*c2 + r2*c23))"


def test_latex() -> None:
    assert latex(closed_form(m * (a * q1.cos() + b * (q1 + q2).cos()) ** 2)) == (
        r"m \left(a c_{1} + b c_{12}\right)^{2}"
    )
    assert latex([[m, 0], [-a / 2, q1.sin()]]) == r"\begin{bmatrix} m & 0 \\ -\frac{a}{2} & s_{1} \end{bmatrix}"
    assert latex(symbol("theta_ddot3") * Fraction(2, 3)) == r"\frac{2 \ddot{\theta}_{3}}{3}"
    assert latex((q1 - 2 * q2).cos() + qdd1) == r"\ddot{q}_{1} + \cos\left(q_{1} - 2 q_{2}\right)"
    assert (
        latex(symbol("kd", "parameter") * q1.sign() + a.sqrt())
        == r"k_{d} \operatorname{sgn}\left(q_{1}\right) + \sqrt{a}"
    )
    assert latex(a * 1e-9) == r"1 \cdot 10^{-9} a"


def test_text() -> None:
    assert text((a - b) * qd1 - 3 * a * (b - a) * qd2) == "(a - b)*qd1 + 3*a*(a - b)*qd2"
    assert text((symbols("q10")[0] + q2).sin()) == "s2_10"
    assert text([a / (b + 1), -a, 0, PI * a]) == ("a/(b + 1)", "-a", "0", "pi*a")


def test_mathml_keeps_every_text_in_a_token_element() -> None:
    """Browsers drop bare text inside mrow: a denominator would vanish and the equation on the page be wrong."""
    from xml.etree import ElementTree

    from armdyn.graph.mathml import mathml

    a, b = symbol("a"), symbol("b")
    root = ElementTree.fromstring(f"<math>{mathml(a * b / 3 - a / (b + 1) + a**2 / 12)}</math>")
    assert [node.tag for node in root.iter() if node.text and node.tag not in ("mi", "mn", "mo")] == []
    denominators = {"".join(fraction[1].itertext()) for fraction in root.iter("mfrac")}
    assert {"3", "12"} <= denominators


def test_a_product_under_a_bar_is_bracketed_in_plain_text() -> None:
    a, b = symbols("a b")
    assert text(a / 2 / b) == text(a / (2 * b)) == "a/(2*b)"
    assert text(a / b / b) == "a/(b*b)"


def test_an_output_may_be_the_argument_of_another() -> None:
    """The normal form of x beside sign(x): x is a symbol of the ring although a function uses it."""
    x = symbol("x")
    assert not identical(x.sign(), x) and identical((x.sign(), x), (x.sign(), x))
