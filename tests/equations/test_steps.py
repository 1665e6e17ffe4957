"""Derivations step by step: what they contain, that they can fail, and how they look."""

from __future__ import annotations

import json
import os
import re
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import armdyn
from armdyn.algebra import Vec3
from armdyn.equations.sheets import markup
from armdyn.equations.sheets.sheet import Sheet
from armdyn.equations.sheets.steps import DERIVATIONS, SUFFIXES, Steps, plain_name, written
from armdyn.errors import ArmdynError, FeatureError
from armdyn.graph import Node, constant, evaluate, text

FULL = bool(os.environ.get("ARMDYN_FULL"))
PAIRS = [(formulation, name) for formulation, texts in DERIVATIONS.items() for name in texts]


def torques(steps: Steps) -> list[Node]:
    """The last lines: tau of each joint."""
    return [line.value for line in steps.lines if line.section == "Torques" and re.match(r"\\(tau|Gamma)_", line.name)]


def test_jacobians_of_the_planar_arm_as_siciliano_prints_them() -> None:
    steps = armdyn.derive(armdyn.load("planar2r"), "gim_christoffel").steps()
    J = steps.line("J_P^(l2)").value
    assert [text(x) for row in J for x in row] == [
        "-a1*s1 - l2*s12", "-l2*s12", "a1*c1 + l2*c12", "l2*c12", "0", "0"
    ]  # fmt: skip
    assert [text(x) for x in steps.line("J_O^(m2)").value[2]] == ["1", "kr2"]
    assert all(check.holds for check in steps.checks) and len(steps.checks) >= 5


def agrees(model: armdyn.Robot, formulation: str, name: str, seed: int = 5) -> bool:
    """Whether the last lines of a sheet give the torques of the compiled robot."""
    steps = armdyn.derive(model, formulation).steps(name)
    q, qd, qdd = state = np.random.default_rng(seed).uniform(-2, 2, (3, model.n))
    values: dict[str, Any] = {key: float(x) for key, x in model.parameters.items()}
    for rate, x in zip(("q", "qd", "qdd"), state, strict=True):
        values |= {f"{rate}{i + 1}": float(x[i]) for i in range(model.n)}
    found = [float(evaluate(x, values)) for x in torques(steps)]
    return bool(np.allclose(found, armdyn.compile(model).inverse_dynamics(q, qd, qdd), rtol=1e-9, atol=1e-9))


@pytest.mark.parametrize(("formulation", "name"), PAIRS)
@pytest.mark.parametrize("robot", ["planar2r", "three_link", "cartesian2"])
def test_torques_equal_those_of_the_compiled_robot(formulation: str, name: str, robot: str) -> None:
    """The last line of every sheet against machine code by another formulation."""
    assert agrees(armdyn.load(robot), formulation, name)


@pytest.mark.parametrize("seed", range(30))
def test_random_serial_arms(seed: int) -> None:
    """Mixed joints, skew axes, tilted bases, fixed bodies; one sheet each by default, all of them with ARMDYN_FULL."""
    kind: Any = ("standard", "modified", "free")[seed % 3]
    model = armdyn.random_robot(seed, 1 + seed % 3, convention=kind, fixed=0.3 * (seed % 2), any_gravity=seed % 4 == 0)
    for formulation, name in PAIRS if FULL else [PAIRS[seed % len(PAIRS)]]:
        assert agrees(model, formulation, name, seed), (formulation, name)


def test_long_torques_with_angles_that_have_no_rational_sine() -> None:
    """Exact values are not to be had there; the check says that it compared numbers."""
    model = armdyn.random_robot(703, 4, convention="modified", fixed=0.3)
    assert agrees(model, "newton_euler", "siciliano", 703)
    checks = armdyn.derive(model, "newton_euler").steps("siciliano").checks
    assert all(check.holds and check.compared == "numbers" for check in checks)


def test_axes_whose_length_is_rounded() -> None:
    """No identity holds exactly then: the checks compare numbers, and every sheet says so."""
    model = armdyn.random_robot(710, 3, convention="free")
    assert agrees(model, "kronecker", "truc", 710)
    steps = armdyn.derive(model, "kronecker").steps("truc")
    assert {check.compared for check in steps.checks} == {"numbers"}
    for format in ("text", "markdown", "latex", "html"):
        sheet = replace(steps, format=format).source
        assert "Not proved, compared in numbers at three points only: " in sheet and "Proved" not in sheet
    exact = armdyn.derive(armdyn.load("planar2r"), "kronecker").steps("truc").source
    assert "Proved" in exact and "Not proved" not in exact


@pytest.mark.parametrize("factor", [2, Fraction(1_000_001, 1_000_000)])
@pytest.mark.parametrize("name", ["M", "C", "g", "J_T_3^0", "omega_3", "tau_1", "tau_3"])
def test_a_wrong_line_does_not_hide_in_numbers(monkeypatch: pytest.MonkeyPatch, name: str, factor: Any) -> None:
    """Where only numbers are compared, too: one entry of one line in error by a factor, even a tiny one."""
    right, broken = Sheet.line, list[Node]()

    def line(self: Sheet, latex: str, rule: str, value: Any, *rest: Any, **options: Any) -> Any:
        found = right(self, latex, rule, value, *rest, **options)
        return wrong(found, factor, broken) if plain_name(self.lines[-1].name) == name else found

    monkeypatch.setattr(Sheet, "line", line)
    with pytest.raises(ArmdynError, match="does not agree"):
        armdyn.derive(armdyn.random_robot(710, 3, convention="free"), "kronecker").steps("truc")
    assert broken


def test_a_wrong_long_torque_does_not_hide_in_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    right, broken = Sheet.line, list[Node]()

    def line(self: Sheet, latex: str, rule: str, value: Any, *rest: Any, **options: Any) -> Any:
        found = right(self, latex, rule, value, *rest, **options)
        return wrong(found, Fraction(1_000_001, 1_000_000), broken) if latex == r"\tau_{2}" else found

    monkeypatch.setattr(Sheet, "line", line)
    with pytest.raises(ArmdynError, match="torque 2 does not agree"):
        armdyn.derive(armdyn.random_robot(703, 4, convention="modified", fixed=0.3), "newton_euler").steps("siciliano")
    assert broken


def wrong(value: Any, factor: Any, broken: list[Node]) -> Any:
    """The same with its first entry that is no number multiplied; what it was is put into `broken`."""
    if isinstance(value, Vec3):
        return Vec3(*wrong(list(value), factor, broken))
    if isinstance(value, list):
        return [wrong(part, factor, broken) for part in value]
    if broken or not isinstance(value, Node) or value.op == "const":
        return value
    broken.append(value)
    return value * constant(factor)


def test_a_wrong_line_does_not_pass_the_proofs(monkeypatch: pytest.MonkeyPatch) -> None:
    """A rule with an error in it is noticed by the proof against another formulation."""
    from armdyn.equations.sheets import arm

    right = arm.Arm.angular
    monkeypatch.setattr(
        arm.Arm,
        "angular",
        lambda self, link: [
            [-x if isinstance(x, int) and k == 1 else x for k, x in enumerate(row)] for row in right(self, link)
        ],
    )
    with pytest.raises(ArmdynError, match="does not agree"):
        armdyn.derive(armdyn.load("planar2r"), "gim_christoffel").steps()


def test_a_changed_line_changes_what_follows() -> None:
    equations = armdyn.derive(armdyn.load("planar2r"), "gim_christoffel")
    plain = written(equations)
    place = next(k for k, line in enumerate(plain.lines) if line.name.startswith(r"\boldsymbol{B}"))
    twice = tuple(tuple(2 * x for x in row) for row in plain.lines[place].value)
    doubled = written(equations, changes={place: twice})
    assert text(doubled.lines[-1].value) != text(plain.lines[-1].value)


def test_serial_arms_only() -> None:
    with pytest.raises(FeatureError, match="loops"):
        armdyn.derive(armdyn.load("parallelogram"), "gim_christoffel").steps()


def test_formats_and_files(tmp_path: Any) -> None:
    steps = armdyn.derive(armdyn.load("planar2r"), "gim_christoffel").steps()
    for suffix in SUFFIXES:
        assert steps.save(tmp_path / f"steps{suffix}").stat().st_size > 1000
    assert len(json.loads((tmp_path / "steps.json").read_text())["lines"]) == len(steps.lines)
    page = (tmp_path / "steps.html").read_text()
    assert page.count("<math>") > 40 and "<script" not in page and r"\boldsymbol" not in page
    assert json.loads((tmp_path / "steps.ipynb").read_text())["nbformat"] == 4


@pytest.mark.parametrize(
    ("latex", "plain"),
    [
        (r"\frac{\partial b_{11}}{\partial q_2}", "∂b11/∂q2"),
        (r"\sum_k c_{ijk} \dot{q}_k", "∑_(k) c_ijk q̇k"),
        (r"\boldsymbol{J}_{P}^{(\ell_{1})}", "J_P^(ℓ1)"),
    ],
)
def test_formulas_as_text(latex: str, plain: str) -> None:
    assert markup.text(latex) == plain
