"""The matrix of features and functions, cell by cell: right against a second model, or refused by name."""

from __future__ import annotations

import os
from copy import copy
from functools import cache, partial
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import armdyn
from armdyn import mechanics
from armdyn.cli import application
from armdyn.errors import FeatureError
from armdyn.report.pages.study_page import study
from armdyn.robot.features import FEATURES, SUPPORT
from armdyn.webpage import share, view
from support.cells import CELLS, Case
from support.declarations import declarations
from support.feature_robots import ROBOTS
from support.free_model import FreeCase

BUILT_FROM = {
    "webpage.share": ("codegen.export", "equations.derive"),
    "webpage.view": ("webpage.share",),
    "report.study": ("equations.derive", "motion.torque_breakdown", "dynamics.compile"),
    "equations.judge": ("equations.derive",),
    "controllers.export": ("codegen.export",),
    "equations.design_conditions": ("equations.derive",),
    "equations.inverse_equations": ("kinematics.all_solutions",),
    "mechanics.rotors": ("mechanics.kinematics",),
    "motion.size": ("dynamics.inverse_dynamics", "dynamics.mass_matrix"),
}
"""Functions that hand the robot to others, and these: they declare no more than all of them."""
ROWS = set(declarations())


@cache
def alone(feature: str) -> Case:
    """The robot of a feature, with as little else as possible."""
    robot = ROBOTS[feature]()
    dry, law = {"dry_friction"}, {"dry_friction", "friction_law"}
    laws = {"static_friction": dry, "friction_law": dry, "load_friction": law, "presliding": law}
    implied = laws.get(feature, set())
    return Case(robot.without(*(set(robot.features) - implied - {feature})))


@cache
def right(feature: str) -> Case:
    """The case with which functions that take the feature into account are called."""
    return FreeCase(alone(feature).robot) if feature == "free_joints" else alone(feature)


def test_every_function_has_a_check() -> None:
    assert {*CELLS, *BUILT_FROM} == ROWS


@pytest.mark.parametrize("what", CELLS)
def test_what_is_declared_is_right_and_the_rest_is_refused(what: str) -> None:
    for feature in FEATURES:
        if set(alone(feature).robot.features) <= SUPPORT[what]:
            CELLS[what](right(feature))
        else:
            refusing = "|".join(alone(feature).robot.features)  # what a feature implies may be refused before it
            with pytest.raises(FeatureError, match=f"ROBOT,without=({refusing})"):
                CELLS[what](alone(feature))


QUICK = [what for what in CELLS if os.environ.get("ARMDYN_FULL") or not what.startswith("identification.")]
"""Functions in which a deleted declaration is looked for: those that take long only with ARMDYN_FULL=1."""


@pytest.mark.parametrize("what", BUILT_FROM)
def test_what_is_built_from_functions_declares_what_all_of_them_do(what: str) -> None:
    assert SUPPORT[what] <= frozenset.intersection(*(SUPPORT[part] for part in BUILT_FROM[what]))


@pytest.mark.parametrize("what", QUICK)
def test_a_deleted_declaration_is_noticed(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without any one of its features a function refuses the robot that its check calls it with."""
    declared = SUPPORT[what]
    for feature in declared:
        case = copy(right(feature))
        vars(case).pop("dyn", None)  # nothing compiled yet
        monkeypatch.setitem(SUPPORT, what, declared - {feature})
        with pytest.raises(FeatureError, match=f"ROBOT,without={feature}"):
            CELLS[what](case)
    monkeypatch.setitem(SUPPORT, what, declared)


@pytest.mark.parametrize("name", ["analyse", "certify", "compare", "derive", "export", "prune", "share"])
def test_verbs_refuse_what_their_function_does_not_declare(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The gate of a verb is that of the function it calls: the robot is refused by name."""
    monkeypatch.chdir(tmp_path)
    function = getattr(armdyn, name)
    declared = SUPPORT[f"{function.__module__.split('.')[1]}.{name}"]
    for feature in FEATURES:
        robot = alone(feature).robot
        if not set(robot.features) <= declared and feature != "payload":  # files hold a payload as a body
            path = robot.save(tmp_path / f"{feature}.toml")
            outcome = CliRunner().invoke(application(), [name, str(path)])
            assert isinstance(outcome.exception, FeatureError), (feature, outcome.output)
            assert "ROBOT,without=" in str(outcome.exception)


@pytest.mark.parametrize("what", sorted(BUILT_FROM))
def test_functions_built_from_others_refuse_what_they_do_not_declare(
    what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    functions: dict[str, Any] = {
        "webpage.share": share,
        "webpage.view": view,
        "report.study": study,
        "equations.judge": partial(armdyn.judge, equations="g_1 = 0"),
        "controllers.export": armdyn.export,
        "equations.design_conditions": partial(armdyn.design_conditions, wanted="g zero"),
        "equations.inverse_equations": armdyn.inverse_equations,
        "mechanics.rotors": lambda robot: mechanics.rotors.rotor_jacobian(robot, [0.0] * robot.nq, "joint1"),
        "motion.size": lambda robot: armdyn.size(robot, alone("payload").move),
    }
    function = functions[what]
    declared = SUPPORT[what]
    for feature in FEATURES:
        monkeypatch.setitem(SUPPORT, what, declared - {feature})
        with pytest.raises(FeatureError, match=f"ROBOT,without={feature}"):
            function(alone(feature).robot, *((tmp_path / "page",) if function is study else ()))
