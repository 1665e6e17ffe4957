"""The matrix of features and functions, cell by cell: right against a second model, or refused by name."""

from __future__ import annotations

from copy import copy
from functools import cache
from pathlib import Path

import pytest
from typer.testing import CliRunner

from armdyn.cli.command import VERBS, app
from armdyn.errors import FeatureError
from armdyn.robot.features import FEATURES as ALL_FEATURES
from armdyn.robot.features import SUPPORT, support
from support.feature_cells import CELLS, Case
from support.feature_robots import ROBOTS

VERB_ARGUMENTS: dict[str, tuple[str, ...]] = {
    "identify": ("log.csv",),
    "payload": ("a.csv", "b.csv"),
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
    "cli.explain": ("diagnosis.explain",),
    "cli.export": ("export.write",),
    "cli.fix": ("diagnosis.fix",),
    "cli.identifiable": ("identification.identifiable",),
    "cli.identify": ("identification.identify",),
    "cli.prune": ("analysis.prune", "analysis.significance"),
    "cli.payload": ("identification.identify_payload",),
    "cli.share": ("share.share",),
    "cli.simulate": ("simulation.simulate",),
    "cli.studio": ("studio.serve",),
    "cli.study": ("report.study",),
    "cli.sweep": ("sweeps.sweep",),
    "share.share": ("export.write", "equations.derive"),
    "report.study": ("equations.derive", "motion.torque_breakdown", "dynamics.compile"),
}
"""Functions that hand the robot to others, and these: they declare no more than all of them."""
DESCRIBING = {"cli.check", "cli.show", "cli.plan"}
"""Verbs that describe a robot, or plan positions for joints and, where they can be computed, torques."""
ROWS = set(support())


ELSEWHERE = {"free_joints": ("crosscheck/test_free_joints.py", "simulation/test_free_motion.py")}
"""Features whose cells have tests of their own, against other engines: their positions are not coordinates."""
FEATURES = [name for name in ALL_FEATURES if name not in ELSEWHERE]


@cache
def alone(feature: str) -> Case:
    """The robot of a feature, with as little else as possible."""
    robot = ROBOTS[feature]()
    implied = {"static_friction": {"dry_friction"}, "friction_law": {"dry_friction"}}.get(feature, set())
    return Case(robot.without(*(set(robot.features) - implied - {feature})))


def test_every_function_has_a_check() -> None:
    assert {*CELLS, *BUILT_FROM, *DESCRIBING} == ROWS
    tests = Path(__file__).parents[1]
    assert all((tests / name).is_file() for names in ELSEWHERE.values() for name in names)


@pytest.mark.parametrize("what", CELLS)
def test_what_is_declared_is_right_and_the_rest_is_refused(what: str) -> None:
    for feature in FEATURES:
        case = alone(feature)
        if set(case.robot.features) <= SUPPORT[what]:
            CELLS[what](case)
        else:
            with pytest.raises(FeatureError, match=f"--without {feature}"):
                CELLS[what](case)


@pytest.mark.parametrize("what", BUILT_FROM)
def test_what_is_built_from_functions_declares_what_all_of_them_do(what: str) -> None:
    assert SUPPORT[what] <= frozenset.intersection(*(SUPPORT[part] for part in BUILT_FROM[what]))


@pytest.mark.parametrize("what", CELLS)
def test_a_deleted_declaration_is_noticed(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without any one of its features a function refuses the robot that its check calls it with."""
    declared = SUPPORT[what]
    for feature in declared - ELSEWHERE.keys():
        case = copy(alone(feature))
        vars(case).pop("dyn", None)  # nothing compiled yet
        monkeypatch.setitem(SUPPORT, what, declared - {feature})
        with pytest.raises(FeatureError, match=f"--without {feature}"):
            CELLS[what](case)
    monkeypatch.setitem(SUPPORT, what, declared)


@pytest.mark.parametrize("feature", [name for name in FEATURES if name != "payload"])  # files hold it as a body
def test_verbs_refuse_what_they_do_not_declare(feature: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the declaration taken away, every verb that reads one robot refuses it by name before it does anything."""
    path = alone(feature).robot.save(tmp_path / "robot.toml")
    verbs = [verb.__name__ for group in VERBS.values() for verb in group]
    for what in sorted(set(BUILT_FROM) | DESCRIBING):
        verb = what.removeprefix("cli.")
        if verb in verbs and verb not in ("check", "explain", "fix"):  # these read several files, or a file as it is
            monkeypatch.setitem(SUPPORT, what, SUPPORT[what] - {feature})
            outcome = CliRunner().invoke(app, [verb, str(path), *VERB_ARGUMENTS.get(verb, ())])
            assert isinstance(outcome.exception, FeatureError) or f"--without {feature}" in outcome.output, verb
