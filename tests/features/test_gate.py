"""Every public function declares the features that it takes into account; the gate refuses the others by name."""

from __future__ import annotations

import inspect
from importlib import import_module
from typing import Any

import numpy as np
import pytest

import armdyn
from armdyn.codegen.export_files import texts
from armdyn.dynamics.quantities import QUANTITIES
from armdyn.equations import typesetting
from armdyn.errors import ArmdynError, FeatureError, UnknownName
from armdyn.mechanics.registry import AROUND, FORMULATIONS
from armdyn.robot import Robot
from armdyn.robot.features import FEATURES, MODELS, SUPPORT, model_line, require, support, takes
from support.declarations import TABLE, declarations, table
from support.feature_robots import ROBOTS

PACKAGES = ("analysis", "casadi", "control", "dynamics", "equations", "codegen",
            "identification", "jax", "kinematics", "motion",
            "parameters", "simulation", "webpage", "simulation.studies", "browser", "sweeps", "torch", "trajectory",
            "report.pages.study_page")  # fmt: skip
DESCRIPTIONS = {
    "analysis.box_around": "reads ranges of a motion",
    "analysis.motion_box": "reads limits of joints",
    "control.identified_errors": "reads the covariance of a fit",
    "control.law": "builds laws, which are gated one by one",
    "dynamics.Dynamics": "made by compile; its functions are gated one by one",
    "identification.check_log": "reads numbers of a log",
    "identification.consistent": "edits inertial parameters",
    "identification.process": "filters a log",
    "identification.read_log": "reads a log",
    "motion.motion_limits": "reads limits of joints",
    "parameters.link_end_names": "names",
    "parameters.link_end_parameters": "reads parameters; closed chains and free joints are refused by name",
    "parameters.link_end_regressor": "calls parameters.regressor, which is gated",
    "parameters.momentum_regressor": "gated as parameters.energy_regressor, its module",
    "parameters.parameter_names": "names",
    "parameters.physical_consistency": "looks at bodies one by one",
    "parameters.standard_parameters": "reads parameters",
    "parameters.with_links": "edits",
    "parameters.with_standard_parameters": "edits",
    "simulation.Plant": "holds the arguments of simulate",
    "simulation.studies.run_experiment": "calls simulate, which is gated",
    "simulation.studies.scaled_masses": "edits",
    "sweeps.varied": "edits",
    "kinematics.closed_form": "recognises a geometry",
}
"""Public functions with a robot among their arguments that describe or edit it, and why they need no gate."""


def functions_of_robots() -> dict[str, Any]:
    """Public functions and classes that take a Robot or its Dynamics; results, which only hold one, are left out."""
    found = {}
    for package in PACKAGES:
        module = import_module(f"armdyn.{package}")
        for name in getattr(module, "__all__", None) or [n for n in vars(module) if not n.startswith("_")]:
            thing = getattr(module, name)
            if not callable(thing) or not str(getattr(thing, "__module__", "")).startswith("armdyn"):
                continue
            parameters = inspect.signature(thing).parameters.values()
            robots = [p for p in parameters if any(w in str(p.annotation) for w in ("Robot", "Dynamics", "Plant"))]
            result = isinstance(thing, type) and package not in ("control", "dynamics")
            if robots and not (result and name != "Plant") and thing.__module__.startswith(f"armdyn.{package}"):
                found[f"{package}.{name}"] = thing
    return found


def test_every_public_function_of_robots_is_declared() -> None:
    declared = declarations()
    assert len(functions_of_robots()) > 50
    for name in functions_of_robots():
        short = name.replace("simulation.studies.", "simulation.").replace("report.pages.study_page.", "report.")
        assert (short in declared) != (name in DESCRIPTIONS), name


def test_every_quantity_and_formulation_is_declared() -> None:
    declared = declarations()
    assert {f"dynamics.{name}" for name in QUANTITIES} <= declared.keys()
    assert {f"mechanics.{entry.name}" for entry in FORMULATIONS} | {f"mechanics.{m}" for m in AROUND} <= declared.keys()


def test_the_table_of_declarations_is_up_to_date() -> None:
    """A deleted or new declaration shows here and in the difference of `features.txt`, which people review.

    `python -m support.declarations` in the folder of the tests writes the file.
    """
    assert table() == TABLE.read_text(encoding="utf-8")
    assert support() == declarations()


def test_there_is_a_robot_for_every_feature() -> None:
    for name in FEATURES:
        assert name in ROBOTS[name]().features
    assert not armdyn.load("planar2r").without("friction", "rotors").features


@pytest.mark.parametrize("feature", FEATURES)
def test_features_can_be_left_out_on_purpose(feature: str) -> None:
    robot = ROBOTS[feature]()
    bare = robot.without(feature)
    assert feature not in bare.features
    assert bare.left_out == (feature,)
    assert f"left out on request: {feature}" in model_line(bare)
    assert feature in model_line(robot)
    assert "left out" not in model_line(robot)
    assert bare.without(feature) is bare or bare.without(feature).left_out == (feature,)


@pytest.mark.parametrize("feature", FEATURES)
def test_what_is_not_declared_is_refused_by_name(feature: str) -> None:
    robot = ROBOTS[feature]()
    laws = {"friction_law", "dry_friction"}  # what brings the others along
    implied = {"static_friction": {"dry_friction"}, "load_friction": laws, "presliding": laws}.get(feature, set())
    alone = robot.without(*(set(robot.features) - implied - {feature}))
    for what, taken in support().items():
        if feature in taken:
            require(alone, what, taken)
        else:
            with pytest.raises(FeatureError, match=rf"ROBOT,without={feature}") as caught:
                require(alone, what, taken | implied)
            assert (caught.value.feature, caught.value.joints) == (feature, robot.features[feature])


def test_the_quantities_of_dynamics_pass_the_gate() -> None:
    dyn = armdyn.compile(ROBOTS["elastic"]())
    for name, row in QUANTITIES.items():
        if "elastic" not in row.takes:
            with pytest.raises(FeatureError, match=f"dynamics.{name} does not take into account: elastic"):
                getattr(dyn, name)
            with pytest.raises(FeatureError, match=name):
                dyn.graph(name)
            with pytest.raises(FeatureError, match=name):
                dyn.program(name)


def test_every_formulation_passes_the_gate() -> None:
    for feature in ("loops", "elastic"):
        robot = ROBOTS[feature]()
        zeros = np.zeros(len([joint for joint in robot.tree if joint.kind != "fixed"]))
        for entry in FORMULATIONS:
            for name in entry.gives:
                function = entry.function(name)
                count = len(inspect.signature(function.formula).parameters) - 1
                with pytest.raises(FeatureError, match=f"{name} does not take into account"):
                    function(robot, *[zeros] * min(count, 3))


def test_functions_and_classes_are_gated_whatever_they_take() -> None:
    @takes("payload")
    def function(number: int, *, model: object) -> int:
        return number

    dyn = armdyn.compile(ROBOTS["payload"]())
    try:
        assert function(3, model=dyn) == 3
        with pytest.raises(FeatureError, match="elastic"):
            function(3, model=ROBOTS["elastic"]())
    finally:
        del SUPPORT[next(what for what in SUPPORT if "locals" in what)]
    elastic = armdyn.compile(ROBOTS["elastic"]())
    with pytest.raises(FeatureError, match="control.ComputedTorque"):
        armdyn.ComputedTorque(elastic, 100, 20)


def test_a_name_instead_of_a_robot_is_an_error_that_says_what_to_do() -> None:
    asked = 0
    for what, function in functions_of_robots().items():
        models = [p.name for p in inspect.signature(function).parameters.values() if p.annotation in MODELS]
        for name in models if what not in DESCRIPTIONS else ():
            asked += 1
            with pytest.raises(ArmdynError, match=r"given 'ur5'.*armdyn\.load\('ur5'\)"):
                function(**{name: "ur5"})
    assert asked > 40
    dyn = armdyn.compile(ROBOTS["payload"]())
    with pytest.raises(ArmdynError, match=r"given Dynamics.*dyn\.robot"):
        armdyn.derive(dyn)  # type: ignore[arg-type]


def test_an_unknown_feature_is_an_error() -> None:
    robot: Robot = ROBOTS["payload"]()
    with pytest.raises(UnknownName, match="Did you mean 'payload'"):
        robot.without("payloads")


def test_exported_code_says_what_its_model_includes() -> None:
    model = armdyn.codegen.model(ROBOTS["static_friction"]().without("gravity"), ("gravity",))
    for target in ("c", "cpp", "matlab", "python"):
        text = " ".join("\n".join(texts(model, target).values()).replace("*", " ").replace("\\_", "_").split())
        assert (
            "Model: includes rigid bodies, friction, dry friction, static friction; left out on request: gravity."
            in text
        )


def test_derived_equations_say_what_their_model_includes() -> None:
    equations = armdyn.derive(ROBOTS["springs"]().without("gravity"))
    line = "includes rigid bodies, springs; left out on request: gravity"
    assert line in equations.markdown() and line in equations.document(paper="a4").source
    assert typesetting.record(equations)["model"][0] == f"model: {line}"
