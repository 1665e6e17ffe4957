"""Reading somebody's equations and judging them."""

from __future__ import annotations

import pytest

import armdyn
from armdyn.equations.judging.reader import ReadError
from armdyn.errors import ArmdynError

B = r"""
\begin{align}
b_{11} &= I_{\ell_1} + m_{\ell_1} \ell_1^2 + k_{r_1}^2 I_{m_1} + I_{\ell_2}
  + m_{\ell_2} (a_1^2 + \ell_2^2 + 2 a_1 \ell_2 c_2) + I_{m_2} + m_{m_2} a_1^2 \\
b_{12} &= b_{21} = I_{\ell_2} + m_{\ell_2} (\ell_2^2 + a_1 \ell_2 c_2) + k_{r_2} I_{m_2} \\
b_{22} &= I_{\ell_2} + m_{\ell_2} \ell_2^2 + k_{r_2}^2 I_{m_2}
\end{align}"""
WITHOUT_ROTORS = """
l1c = cos(q2)*l1*lc2
M = [I1 + m1*lc1^2 + I2 + m2*(l1^2 + lc2^2 + 2*l1c), I2 + m2*(lc2^2 + l1c); I2 + m2*(lc2^2 + l1c), I2 + m2*lc2^2]
"""


@pytest.fixture(scope="module")
def planar2r() -> armdyn.Robot:
    return armdyn.load("planar2r")


def test_the_printed_matrix_is_the_same(planar2r: armdyn.Robot) -> None:
    judgement = armdyn.judge(planar2r, B)
    assert judgement.same and judgement.fine and not judgement.symbols
    assert [entry.name for entry in judgement.entries] == ["M11", "M12", "M21", "M22"]


@pytest.mark.parametrize(
    ("right", "wrong", "entry", "cause"),
    [
        ("2 a_1 \\ell_2 c_2", "a_1 \\ell_2 c_2", "M11", "factor of 2 is missing"),
        ("+ k_{r_2} I_{m_2}", "- k_{r_2} I_{m_2}", "M12", "sign"),
        ("\\ell_2^2 + a_1 \\ell_2 c_2", "\\ell_2^2 + a_1 \\ell_2 s_2", "M12", "s2 should be c2"),
        ("m_{\\ell_1} \\ell_1^2", "m_{\\ell_2} \\ell_1^2", "M11", "ml2 should be ml1"),
        ("m_{\\ell_1} \\ell_1^2", "m_{\\ell_1} \\ell_1", "M11", "l1 should be squared"),
        (" + m_{m_2} a_1^2", "", "M11", "the mass of the rotor of joint 2"),
    ],
)
def test_one_error_is_named(planar2r: armdyn.Robot, right: str, wrong: str, entry: str, cause: str) -> None:
    assert right in B
    judgement = armdyn.judge(planar2r, B.replace(right, wrong))
    assert not judgement.fine and judgement.wrong[0].name == entry
    assert cause in judgement.wrong[0].causes[0]


def test_a_model_without_rotors_in_other_letters(planar2r: armdyn.Robot) -> None:
    judgement = armdyn.judge(planar2r, WITHOUT_ROTORS)
    assert judgement.cause == "all rotors are left out" and len(judgement.wrong) == 4
    assert judgement.symbols["lc1"] == "l1" and judgement.symbols["l1"] == "a1" and judgement.symbols["m2"] == "ml2"


def test_a_convention_needs_evidence(planar2r: armdyn.Robot) -> None:
    """A sine in place of a cosine in one entry is an error; angles from the vertical in all of them a convention."""
    assert not armdyn.judge(planar2r, "g_2 = ml2*l2*g*sin(q1 + q2)").same
    from armdyn.graph import PI, substitute, symbol
    from armdyn.graph.expression_writer import infix

    torques = armdyn.derive(planar2r).nodes("tau")
    shifted = substitute(torques, {symbol("q1"): symbol("q1") - PI / 2})
    judgement = armdyn.judge(planar2r, "\n".join(f"tau_{i + 1} = {infix(x)}" for i, x in enumerate(shifted)))
    assert judgement.same and "quarter turn" in judgement.notes[0]


def test_another_coriolis_matrix_with_the_right_torques(planar2r: armdyn.Robot) -> None:
    h = "h = -ml2*a1*l2*sin(q2)\n"
    assert armdyn.judge(planar2r, h + "C = [h*qd2, h*(qd1 + qd2); -h*qd1, 0]").notes == ()
    other = armdyn.judge(planar2r, h + "C = [2*h*qd2, h*qd2; -h*qd1, 0]")
    assert other.same and "skew-symmetric" in other.notes[0]


@pytest.mark.parametrize(
    "text",
    [
        "M_11 = (" * 200,
        "M_{11} = " + "{" * 500,
        "M_11 = a**99999",
        "M_11 = ((a1+a2+l1+l2)^12*(a1+a2+l1+l2)^12)^12",
        "M_11 = __import__('os').system('true')",
        "M_11 = open(1)",
        r"M_{11} = \input{x}",
        "M_11 = 1/0",
        "M_11 = 1e999999999",
        "M_11 = " + "9" * 5000,
        "M_11 = sin(100000*q1)",
        "M_11 = " + "*".join(f"cos({k}*q1/{k + 1})" for k in range(1, 9)),
        "h0 = a1 + a2\n" + "".join(f"h{i} = h{i - 1}*h{i - 1} + h{i - 1}\n" for i in range(1, 60)) + "M_11 = h59",
        "hello world",
        "",
        "x" * 300_000,
    ],
)
def test_bad_input_gets_a_clear_error(planar2r: armdyn.Robot, text: str) -> None:
    with pytest.raises(ArmdynError):
        armdyn.judge(planar2r, text)


def test_unknown_symbols_are_listed(planar2r: armdyn.Robot) -> None:
    with pytest.raises(ArmdynError, match="parameters"):
        armdyn.judge(planar2r, "M_11 = alpha*beta + zeta*eta + xi + rho")


def test_read_error_names_the_place(planar2r: armdyn.Robot) -> None:
    with pytest.raises(ReadError, match="not closed"):
        armdyn.judge(planar2r, "M_11 = (Il1 + Il2")


LUMPED = r"""M_{11} = p_1 + 2 p_3 \cos q_2 \\ M_{12} = M_{21} = p_2 + p_3 \cos q_2 \\ M_{22} = p_6 \\
g_1 = p_4 g \cos q_1 + p_5 g \cos(q_1 + q_2) \\ g_2 = p_5 g \cos(q_1 + q_2)"""


def test_lumped_parameters_are_found(planar2r: armdyn.Robot) -> None:
    judgement = armdyn.judge(planar2r, LUMPED)
    assert judgement.same and judgement.symbols["p3"] == "a1*l2*ml2" and judgement.symbols["p5"] == "l2*ml2"
    assert not armdyn.judge(planar2r, LUMPED.replace("2 p_3", "p_3")).same
    assert not armdyn.judge(planar2r, LUMPED.replace("g_2 = p_5", "g_2 = p_4")).same


STEPS = r"""
$$J_P^{(\ell_2)} = \begin{bmatrix} -a_1 s_1 - \ell_2 s_{12} & -\ell_2 s_{12} \\
  a_1 c_1 + \ell_2 c_{12} & \ell_2 c_{12} \\ 0 & 0 \end{bmatrix}$$
$$J_O^{(\ell_2)} = \begin{bmatrix} 0 & 0 \\ 0 & 0 \\ 1 & 1 \end{bmatrix}$$
$$b_{22} = I_{\ell_2} + m_{\ell_2} \ell_2^2 + k_{r_2}^2 I_{m_2}$$"""


def test_the_first_wrong_line_of_a_derivation(planar2r: armdyn.Robot) -> None:
    assert armdyn.judge(planar2r, STEPS).same
    judgement = armdyn.judge(planar2r, STEPS.replace("1 & 1", "0 & 1").replace(r"k_{r_2}^2", "k_{r_2}"))
    assert [entry.name for entry in judgement.wrong] == ["J_O^(l2)[3,1]", "M22"]
    assert judgement.cause.startswith("the first wrong line is J_O^(l2)[3,1]")


def test_maple_and_names_that_programs_run_together(planar2r: armdyn.Robot) -> None:
    assert armdyn.judge(planar2r, "M[2,2] := Il2 + ml2*l2^2 + kr2^2*Im2:\ng[2] := ml2*l2*g*cos(q1+q2):").same
    assert armdyn.judge(planar2r, r"M_{22} = Jl_{2} + l_{2}^{2} ml_{2} + kr_{2}^{2} Im_{2}").same


@pytest.mark.parametrize(
    ("latex", "right"),
    [
        (r"M_{22} = \mathrm{Il2} + \mathrm{ml2} \mathrm{l2}^2 + \mathrm{kr2}^2 \mathrm{Im2}", True),
        (r"M_{22} = \mathrm{Il2} + 2 \mathrm{ml2} \mathrm{l2}^2 + \mathrm{kr2}^2 \mathrm{Im2}", False),
        (r"g_{2} = m2l g l_{2} \cos(q_1 + q_2)", True),
        (r"g_{2} = l2g ml_{2} \cos(q_1 + q_2)", True),  # a product by hand: the robot has l2 and g
        (r"g_{2} = l2g a_2 ml_{2} \cos(q_1 + q_2)", False),
        (r"g_{2} = m2lx g l_{2} m_{2} \cos(q_1 + q_2)", False),
    ],
)
def test_names_with_letters_around_a_digit(planar2r: armdyn.Robot, latex: str, right: bool) -> None:
    assert armdyn.judge(planar2r, latex).same == right


def test_the_wrong_part_is_marked() -> None:
    judgement = armdyn.judge(armdyn.load("planar2r"), "g_2 = ml1*l2*g*cos(q1 + q2)")
    assert r"\wrong{m_{l1}}" in judgement.wrong[0].given_marked
