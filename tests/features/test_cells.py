"""The matrix of features and functions, cell by cell: right against a second model, or refused by name."""

from __future__ import annotations

import os
from copy import copy
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from armdyn import formats
from armdyn.cli.command import app
from armdyn.errors import FeatureError
from armdyn.report.pages.study_page import study
from armdyn.robot.features import FEATURES, SUPPORT, support
from armdyn.share import share, view
from support.cells import CELLS, Case
from support.feature_robots import ROBOTS
from support.free_model import FreeCase

VERB_ARGUMENTS: dict[str, tuple[str, ...]] = {
    "identify": ("log.csv",),
    "payload": ("a.csv", "b.csv"),
    "stiffness": ("log.csv",),
    "plan": ("--from", "0", "--to", "0"),
    "sweep": ("--vary", "payload=0,1"),
}
"""What verbs want beside the robot before they read it."""
BUILT_FROM = {
    "cli.analyse": ("analysis.summary",),
    "cli.certify": ("equations.certify",),
    "cli.compare": ("equations.compare",),
    "cli.derive": ("equations.derive",),
    "cli.excite": ("identification.excite",),
    "cli.explain": ("doctor.explain",),
    "cli.export": ("export.write",),
    "cli.fix": ("doctor.fix",),
    "cli.identifiable": ("identification.identifiable",),
    "cli.identify": ("identification.identify",),
    "cli.prune": ("analysis.prune", "analysis.significance"),
    "cli.payload": ("identification.identify_payload",),
    "cli.share": ("share.share",),
    "cli.stiffness": ("identification.identify_stiffness",),
    "cli.simulate": ("simulation.simulate",),
    "cli.studio": ("studio.serve",),
    "cli.study": ("report.study",),
    "cli.sweep": ("sweeps.sweep",),
    "share.share": ("export.write", "equations.derive"),
    "share.view": ("share.share",),
    "report.study": ("equations.derive", "motion.torque_breakdown", "dynamics.compile"),
}
"""Functions that hand the robot to others, and these: they declare no more than all of them."""
DESCRIBING = {"cli.check", "cli.show", "cli.plan"}
"""Verbs that describe a robot, or plan positions for joints and, where they can be computed, torques."""
ROWS = set(support())


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
    assert {*CELLS, *BUILT_FROM, *DESCRIBING} == ROWS


@pytest.mark.parametrize("what", CELLS)
def test_what_is_declared_is_right_and_the_rest_is_refused(what: str) -> None:
    for feature in FEATURES:
        if set(alone(feature).robot.features) <= SUPPORT[what]:
            CELLS[what](right(feature))
        else:
            refusing = "|".join(alone(feature).robot.features)  # what a feature implies may be refused before it
            with pytest.raises(FeatureError, match=f"--without ({refusing})"):
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
        with pytest.raises(FeatureError, match=f"--without {feature}"):
            CELLS[what](case)
    monkeypatch.setitem(SUPPORT, what, declared)


GATED_INSIDE = {"cli.explain": "doctor.explain", "cli.fix": "doctor.fix"}
"""Verbs that hand names of files to one function, whose gate is theirs: both declare the same."""


def test_verbs_without_a_gate_of_their_own_declare_what_their_function_does() -> None:
    for verb, function in GATED_INSIDE.items():
        assert SUPPORT[verb] == SUPPORT[function]


@pytest.mark.parametrize("feature", FEATURES)
def test_verbs_refuse_what_they_do_not_declare(feature: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the declaration taken away, every verb refuses the robot by name before it does anything."""
    robot = alone(feature).robot
    path = robot.save(tmp_path / "robot.toml")
    if feature == "payload":  # files hold it as a body
        for name in ("load", "read"):
            monkeypatch.setattr(formats, name, lambda *args, **options: robot)
    for what in sorted(set(BUILT_FROM) | DESCRIBING):
        verb = what.removeprefix("cli.")
        if what.startswith("cli.") and what not in GATED_INSIDE:
            monkeypatch.setitem(SUPPORT, what, SUPPORT[what] - {feature})
            outcome = CliRunner().invoke(app, [verb, str(path), *VERB_ARGUMENTS.get(verb, ())])
            shown = " ".join((outcome.output + outcome.stderr).replace("│", " ").split())
            assert isinstance(outcome.exception, FeatureError) or f"--without {feature}" in shown, (verb, shown)


@pytest.mark.parametrize("what", sorted(name for name in BUILT_FROM if not name.startswith("cli.")))
def test_functions_built_from_others_refuse_what_they_do_not_declare(
    what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    functions: dict[str, Any] = {"share.share": share, "share.view": view, "report.study": study}
    function = functions[what]
    declared = SUPPORT[what]
    for feature in FEATURES:
        monkeypatch.setitem(SUPPORT, what, declared - {feature})
        with pytest.raises(FeatureError, match=f"--without {feature}"):
            function(alone(feature).robot, tmp_path / "page")
