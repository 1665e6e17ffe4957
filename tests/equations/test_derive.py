"""armdyn.derive: explicit forms against print, and the parts against the whole, as identities."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import sympy

import armdyn
from armdyn.equations import Equations, derive
from armdyn.errors import RobotError, UnknownName
from armdyn.formula_lines import wrapped
from armdyn.graph import constant, evaluate, identical, symbols, to_float
from armdyn.mechanics import composite_body, kinematics
from armdyn.mechanics.matrices import times
from armdyn.mechanics.registry import FORMULATIONS
from armdyn.robot.random import random_robot
from support.limits import calls

DERIVABLE = [entry.name for entry in FORMULATIONS if {"inverse_dynamics", "mass_matrix", "gravity"} <= set(entry.gives)]
ROBOTS = ("planar2r", "scara5")
_made: dict[tuple[str, str, str], Equations] = {}


def equations(robot: str, formulation: str = "newton_euler", kind: str = "named") -> Equations:
    """Derived once, whoever asks."""
    key = robot, formulation, kind
    if key not in _made:
        _made[key] = derive(armdyn.load(robot), formulation, symbols=kind)
    return _made[key]


def rates(n: int) -> tuple[Any, Any, Any]:
    return tuple(symbols(" ".join(f"{name}{i + 1}" for i in range(n))) for name in ("q", "qd", "qdd"))  # type: ignore[return-value]


def total(parts: Any) -> list[Any]:
    """Sum of vectors."""
    return [sum(column, constant(0)) for column in zip(*parts, strict=True)]


# Against print --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("formulation", ["newton_euler", "lagrange_euler"])
def test_planar_arm_is_siciliano_7_82_in_sympy(formulation: str) -> None:
    """M, C, g, tau of the two-link planar arm, typed from print, against the SymPy matrices."""
    q1, q2, qd1, qd2, qdd1, qdd2 = sympy.symbols("q1 q2 qd1 qd2 qdd1 qdd2")
    Il1, Il2, ml1, ml2, mm2, a1, l1, l2, kr1, kr2, Im1, Im2, g = sympy.symbols(
        "Il1 Il2 ml1 ml2 mm2 a1 l1 l2 kr1 kr2 Im1 Im2 g"
    )
    c1, c2, s2, c12 = sympy.cos(q1), sympy.cos(q2), sympy.sin(q2), sympy.cos(q1 + q2)
    b11 = Il1 + ml1 * l1**2 + kr1**2 * Im1 + Il2 + ml2 * (a1**2 + l2**2 + 2 * a1 * l2 * c2) + Im2 + mm2 * a1**2
    b12 = Il2 + ml2 * (l2**2 + a1 * l2 * c2) + kr2 * Im2
    b22 = Il2 + ml2 * l2**2 + kr2**2 * Im2
    M = sympy.Matrix([[b11, b12], [b12, b22]])
    h = -ml2 * a1 * l2 * s2
    C = sympy.Matrix([[h * qd2, h * (qd1 + qd2)], [-h * qd1, 0]])
    swing = ml2 * l2 * g * c12
    weight = sympy.Matrix([(ml1 * l1 + mm2 * a1 + ml2 * a1) * g * c1 + swing, swing])
    tau = sympy.Matrix([
        b11 * qdd1 + b12 * qdd2 + 2 * h * qd1 * qd2 + h * qd2**2 + weight[0],
        b12 * qdd1 + b22 * qdd2 - h * qd1**2 + weight[1],
    ])  # fmt: skip
    ours = equations("planar2r", formulation)
    for found, printed in ((ours.M, M), (ours.C, C), (ours.g, weight), (ours.tau, tau)):
        assert found.shape == printed.shape
        assert (found - printed).applyfunc(sympy.expand) == sympy.zeros(*printed.shape)


def test_textbook_form() -> None:
    """The text is what a textbook prints."""
    text = str(equations("planar2r"))
    assert "M22 = Il2 + Im2*kr2^2 + l2^2*ml2" in text
    assert "C21 = a1*l2*ml2*s2*qd1" in text
    assert "g2 = g*l2*ml2*c12" in text
    assert "M21" not in text  # symmetric


# The parts and the whole ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("robot", ROBOTS)
@pytest.mark.parametrize("formulation", DERIVABLE)
def test_torques_are_M_qdd_C_qd_g(robot: str, formulation: str) -> None:
    eq = equations(robot, formulation)
    _, qd, qdd = rates(eq.robot.n)
    sum_ = total([times(eq.raw["M"], qdd), times(eq.raw["C"], qd), eq.raw["g"]])
    assert identical(sum_, eq.raw["tau"])


@pytest.mark.parametrize("robot", ROBOTS)
@pytest.mark.parametrize("name", ["M", "christoffel", "C", "g", "tau"])
def test_explicit_forms_are_what_was_derived(robot: str, name: str) -> None:
    eq = equations(robot, "lagrange")
    assert identical(eq.nodes(name), eq.raw[name])


@pytest.mark.parametrize("formulation", DERIVABLE[1:])
def test_every_formulation_derives_the_same(formulation: str) -> None:
    ours, reference = equations("scara5", formulation), equations("scara5")
    assert ours.size == reference.size
    for name in ("M", "C", "g"):
        assert identical(ours.raw[name], reference.raw[name])


@pytest.mark.parametrize("robot", ROBOTS)
def test_causes_sum_to_the_torques(robot: str) -> None:
    eq = equations(robot, "kane")
    causes = eq.terms()
    external = causes.pop("external")
    assert identical(total(causes.values()), eq.raw["tau"])
    q, _, _ = rates(eq.robot.n)
    J = kinematics.jacobian(eq.robot, q)
    wrench = symbols("fx fy fz mx my mz")
    transposed = [sum((J[row][i] * wrench[row] for row in range(6)), constant(0)) for i in range(eq.robot.n)]
    assert identical(external, transposed)


@pytest.mark.parametrize("robot", ROBOTS)
@pytest.mark.parametrize("formulation", ["newton_euler", "bertrand_bruneau"])
def test_bodies_sum_to_the_torques_without_rotors(robot: str, formulation: str) -> None:
    parts = equations(robot, formulation).bodies()
    whole = derive(armdyn.load(robot).without("rotors"), formulation)
    assert identical(total(parts.values()), whole.raw["tau"])


@pytest.mark.parametrize("robot", ["pendulum", "planar2r", "scara5"])
@pytest.mark.parametrize("formulation", ["newton_euler_base", "dalembert"])
def test_masses_cancel_where_a_formulation_divides_by_them(robot: str, formulation: str) -> None:
    """Centres of mass are first moments over masses; no mass is left below a line in the end."""
    ours, reference = equations(robot, formulation, "inertial"), equations(robot, kind="inertial")
    assert identical(ours.raw["tau"], reference.raw["tau"])
    assert ours.size == reference.size
    assert "/M" not in str(ours)


# Symbols --------------------------------------------------------------------------------------------------------


def urdf_like() -> armdyn.Robot:
    """Body frames away from the joint axes, bodies on fixed joints, a branch, rotors."""
    return random_robot(5, 4, convention="free", branching=0.3, fixed=0.5, rotors=True)


@pytest.mark.parametrize("make", [lambda: armdyn.load("puma560"), lambda: armdyn.load("planar2r"), urdf_like])
def test_inertial_symbols_are_the_standard_parameters_of_dynamics(make: Callable[[], armdyn.Robot]) -> None:
    robot = make()
    dyn, eq = armdyn.compile(robot), derive(robot, symbols="inertial")
    q = np.random.default_rng(0).uniform(-1, 1, robot.n)
    values = dict(zip(dyn.parameter_names, dyn.parameters, strict=True)) | {f"q{i}": x for i, x in enumerate(q, 1)}
    M = [[to_float(entry, {**robot.parameters, **values}) for entry in row] for row in eq.raw["M"]]
    np.testing.assert_allclose(M, dyn.mass_matrix(q), rtol=0, atol=1e-13 * np.abs(M).max())
    whole = eq.robot.bound()  # the symbols know their values
    np.testing.assert_allclose(composite_body.mass_matrix(whole, q), M, rtol=0, atol=1e-13 * np.abs(M).max())


def test_a_file_may_not_use_a_standard_name_for_something_else() -> None:
    rows = [{"a": 1.0, "mass": "M1 / 2", "com": [-0.5, 0, 0], "inertia": [0, 0, 0, "M1 / 12", 0, "M1 / 12"]}]
    robot = armdyn.Robot.from_dh(rows, parameters={"M1": 3.0}, name="misnamed")
    with pytest.raises(RobotError, match=r"own parameter M1 = 3 is not the standard parameter .* \(1.5, in the joint"):
        derive(robot, symbols="inertial")


def test_ten_inertial_symbols_per_link() -> None:
    eq = equations("scara5", kind="inertial")
    names = {str(node.value) for node in eq.graph.parameters}
    assert {"ZZ2", "MX3", "MY3", "M4", "M5", "l2", "g"} <= names
    assert not {"m2", "lc2", "Izz2"} & names
    assert identical(eq.nodes("M")[4][4], symbols("M5", "parameter"))


def test_symbols_is_one_of_two() -> None:
    with pytest.raises(UnknownName, match="Did you mean 'inertial'"):
        derive(armdyn.load("pendulum"), symbols="inertia")


# Written forms --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("robot", [*ROBOTS, "three_link"])
@pytest.mark.parametrize("kind", ["named", "inertial"])
def test_latex_and_markdown_are_well_formed(robot: str, kind: str) -> None:
    eq = equations(robot, kind=kind)
    for text in (eq.latex(), eq.markdown()):
        depth = 0
        for letter in text:
            depth += {"{": 1, "}": -1}.get(letter, 0)
            assert depth >= 0
        assert depth == 0
        assert text.count("(") == text.count(")") and text.count(r"\bigl(") == text.count(r"\bigr)")
        assert r"\left" not in text  # such a bracket could not be broken into lines
        assert text.count(r"\begin{") == text.count(r"\end{")
        assert "**" not in text and "*" not in text
    assert eq.markdown().count("$$") % 2 == 0


def test_long_lines_are_broken() -> None:
    eq = equations("scara5", kind="inertial")
    source = eq.document("text").source
    assert max(map(len, source.splitlines())) <= 112 and max(map(len, str(eq).splitlines())) <= 112
    unbroken = re.sub(r"\n +", " ", source)
    assert "M22 = " in unbroken and "\n  " not in unbroken
    assert wrapped("x = a + b", 80) == "x = a + b"


@pytest.mark.parametrize("formulation", DERIVABLE)
def test_program_reproduces_the_torques(formulation: str) -> None:
    robot = armdyn.load("scara5")
    eq = equations("scara5", formulation)
    values = {str(node.value): robot.parameters[node.value] for node in eq.graph.parameters}
    module: dict[str, Any] = {}
    exec(eq.graph.program("python"), module)
    for state in np.random.default_rng(5).uniform(-1, 1, (3, 3, 5)):
        found = module["function"](*state.tolist(), **values)["tau"]
        expected = armdyn.mechanics.newton_euler.inverse_dynamics(robot, *state)
        assert found == pytest.approx(expected, rel=1e-10, abs=1e-12)


def test_program_is_short_assignments() -> None:
    program = equations("scara5").program()
    assert all(re.fullmatch(r"\w+ = .+", line) for line in program.splitlines() if not line.startswith("# "))
    assert program.splitlines()[-1].startswith("tau5 = ")
    count = equations("scara5").operations
    assert (count.multiplications, count.additions) <= (46, 36)


# Errors ---------------------------------------------------------------------------------------------------------


def test_unknown_formulation_is_suggested() -> None:
    with pytest.raises(UnknownName, match="Did you mean 'kronecker'"):
        derive(armdyn.load("pendulum"), "kroneker")


@pytest.mark.parametrize("formulation", ["composite_body", "articulated_body", "forward"])
def test_formulation_without_inverse_dynamics(formulation: str) -> None:
    with pytest.raises(RobotError, match=f"{formulation} gives no inverse_dynamics.*Use one that does: newton_euler"):
        derive(armdyn.load("pendulum"), formulation)


def test_unknown_quantity() -> None:
    with pytest.raises(UnknownName, match="unknown quantity 'B'"):
        equations("planar2r").nodes("B")


def test_progress() -> None:
    steps: list[tuple[str, float]] = []
    derive(armdyn.load("pendulum"), progress=lambda step, done: steps.append((step, done)))
    assert steps[0] == ("mass matrix", 0.0) and len(steps) >= 4
    assert all(0 <= done < 1 for _, done in steps) and steps == sorted(steps, key=lambda pair: pair[1])


# In SymPy ---------------------------------------------------------------------------------------------------------


def test_equations_are_at_home_in_sympy() -> None:
    """Substitution by name, by symbol and by the robot's parameters, against the compiled functions."""
    robot = armdyn.load("planar2r")
    eq, dyn = armdyn.derive(robot), armdyn.compile(robot)
    assert eq.M.subs({"q2": 0}).free_symbols.isdisjoint(eq.q)
    assert eq.M.subs({eq.q[1]: 0}) == eq.M.subs({sympy.Symbol("q2"): 0}) == eq.M.subs({"q2": 0})
    at = dict(zip(eq.q, (0.3, -1.1), strict=True))
    for values in (robot.parameters, eq.parameters):
        numbers = np.array(eq.M.subs(values).subs(at), dtype=float)
        np.testing.assert_allclose(numbers, dyn.mass_matrix([0.3, -1.1]), rtol=1e-13)


@pytest.mark.parametrize("name", ["planar2r", "scara5"])
def test_lambdify(name: str) -> None:
    robot = armdyn.load(name).without("friction")
    eq, dyn = armdyn.derive(robot), armdyn.compile(robot)
    q, qd, qdd = np.random.default_rng(3).uniform(-2, 2, (3, robot.n))
    np.testing.assert_allclose(eq.lambdify()(q, qd, qdd), dyn.inverse_dynamics(q, qd, qdd), rtol=1e-11)
    np.testing.assert_allclose(eq.lambdify("M")(q), dyn.mass_matrix(q), rtol=1e-11)
    np.testing.assert_allclose(eq.lambdify("C")(q, qd), dyn.coriolis_matrix(q, qd), rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(eq.lambdify("g")(q, parameters={"g": 0.0}), 0, atol=1e-14)
    with pytest.raises(UnknownName, match="unknown parameter"):
        eq.lambdify("g")(q, parameters={"mass": 1.0})
    with pytest.raises(UnknownName, match="unknown quantity"):
        eq.lambdify("H")


@pytest.mark.parametrize("name", DERIVABLE)
@pytest.mark.parametrize("robot", ROBOTS)  # with rotors on links, with prismatic joints
def test_own_velocity_terms_are_the_christoffel_symbols(name: str, robot: str) -> None:
    own, other = (armdyn.derive(armdyn.load(robot), name, coriolis=c) for c in ("own", "christoffel"))
    assert identical(own.raw["christoffel"], other.raw["christoffel"])
    assert identical(own.raw["C"], other.raw["C"])


def test_unknown_choice_of_coriolis_terms() -> None:
    with pytest.raises(UnknownName, match="Coriolis"):
        armdyn.derive(armdyn.load("planar2r"), coriolis="none")


def test_panda_is_written_out_soon_and_is_what_it_was() -> None:
    """57,000 terms; each Christoffel symbol is written once, and no bracket stands behind a factor such as 1e-19."""
    eq = armdyn.derive(armdyn.load("panda"))
    text = eq.document("text").source
    assert calls(lambda: eq.document("text").source) < len(text)  # 0.6 calls a character
    assert not re.search(r"e-1[6-9]\*\(", text.split("g1 =")[0])
    rng = np.random.default_rng(0)
    state = {f"{name}{k}": x for name in ("q", "qd") for k, x in enumerate(rng.uniform(-1, 1, 7), 1)}
    values = {**eq.robot.bound().parameters, **state}
    dyn = armdyn.compile(armdyn.load("panda"))
    q, qd = ([state[f"{name}{k}"] for k in range(1, 8)] for name in ("q", "qd"))
    for name, expected in (("M", dyn.mass_matrix(q)), ("C", dyn.coriolis_matrix(q, qd)), ("g", dyn.gravity(q))):
        found = np.array(evaluate(eq.nodes(name), values), dtype=float)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 * np.abs(expected).max())


@pytest.mark.parametrize("robot", ["scara5", "three_link"])
def test_gamma_times_products_of_velocities_is_the_coriolis_torque(robot: str) -> None:
    """Siciliano (7.117), against the compiled recursion."""
    eq, dyn = equations(robot), armdyn.compile(armdyn.load(robot).without("friction"))
    q, qd = np.random.default_rng(3).uniform(-1, 1, (2, dyn.n))
    products = [qd[j] * qd[k] for j in range(dyn.n) for k in range(j, dyn.n)]
    assert eq.Gamma.shape == (dyn.n, dyn.n * (dyn.n + 1) // 2)
    np.testing.assert_allclose(eq.lambdify("Gamma")(q) @ products, dyn.coriolis(q, qd), atol=1e-12)
