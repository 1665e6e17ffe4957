"""Verb by verb: the command calls the function of its name and prints what its result holds."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import armdyn
from armdyn.cli import VERBS
from armdyn.notebook_view import text
from armdyn.result import Result
from armdyn.speed import measuring
from support.command import Run
from support.logs import rubbing, simulated

NAMES = [verb for verbs in VERBS.values() for verb in verbs]
CASES: dict[str, tuple[str, ...]] = {
    "analyse": ("planar3r", "--limits", "tau=120,60,20", "--map", "gravity:shoulder,elbow"),
    "bench": ("pendulum", "--quick"),
    "bound": ("planar2r", "mass=10%,payload=0:5"),
    "certify": ("planar2r", "--points", "1"),
    "check": ("broken.toml",),
    "cite": ("puma560",),
    "compare": ("pendulum",),
    "derive": ("planar2r",),
    "evaluate": ("planar2r", "--at", "0.3,20deg", "--qd", "1,1", "--qdd", "0,0.5"),
    "excite": ("planar2r", "design.toml"),
    "explain": ("planar2r", "scara5"),
    "export": ("planar2r", "--functions", "gravity,pose"),
    "fix": ("broken.toml",),
    "formulations": (),
    "identifiable": ("planar2r",),
    "identify": ("arm.toml", "log.csv"),
    "judge": ("planar2r", "g_2 = ml2*l2*g*sin(q1 + q2)"),
    "payload": ("arm.toml", "log.csv", "loaded.csv"),
    "plan": ("planar2r", "--from", "0,0", "--to", "1,1", "--duration", "1"),
    "prune": ("planar2r", "--tolerance", "5%"),
    "reproduce": ("milicevic",),
    "robots": (),
    "share": ("planar2r",),
    "show": ("scara5", "--dh", "modified"),
    "simulate": ("planar2r", "--law", "pid", "--set", "reference.duration=0.1"),
    "size": ("planar2r", "move.csv"),
    "solve": ("planar3r", "--pose", "0.5,0.3,0,0,0,20deg"),
    "study": ("pendulum",),
    "sweep": ("planar2r", "--vary", "payload=0,1"),
    "template": (),
}
"""Verb -> arguments of a quick command; the files are those of `files`."""
ELSEWHERE = {
    "stiffness": "identification/test_elastic_fit.py",  # its log takes a simulation of elastic joints
    "studio": "browser/test_studio_browser.py",  # it runs until it is stopped
}
"""Verbs whose commands are run in other tests."""
BROKEN = """
name = "broken"
[[joint]]
name = "turn"
a = 0.4
mass = -2.0
inertia = [0.01, 0, 0, 0.01, 0, 0.05]
"""
WIDE = 2000
"""Columns of a terminal on which nothing is folded."""


def flat(words: str) -> str:
    """The words without line ends and repeated blanks."""
    return " ".join(words.split())


def missing(result: Result, printed: str) -> list[str]:
    """What the result holds and the command did not print."""
    view = result._view()
    held = [view.title, *(each for fact in view.facts for each in fact), *view.notes]
    held += [] if view.verdict is None else [view.verdict[0][1:]]  # the first letter becomes a capital
    held += [each for title, formulas in view.formulas for each in (title, *(f.plain or f.latex for f in formulas))]
    for section in (*view.sections, *view.details):
        heads = [each for column in section.columns for each in (column.head, column.unit)]
        held += [section.title, section.note, *heads, *(cell for row in section.rows for cell in row)]
    shown = flat(printed)
    return [each for each in held if flat(each) not in shown]


def finite(record: Any) -> Any:
    """The record with null for what is no finite number: JSON has no infinity."""
    if isinstance(record, dict):
        return {key: finite(value) for key, value in record.items()}
    if isinstance(record, list):
        return [finite(value) for value in record]
    return None if isinstance(record, float) and not math.isfinite(record) else record


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a broken robot, an arm, its logs with and without a payload, and a design of an excitation."""
    folder = tmp_path_factory.mktemp("files")
    arm = rubbing("planar3r")
    arm.save(folder / "arm.toml")
    (folder / "broken.toml").write_text(BROKEN, encoding="utf-8")
    move = armdyn.point_to_point([0.0, 0.0], [1.0, 0.5], "quintic", duration=1.0)
    t = np.linspace(0.0, 1.0, 101)
    columns = np.column_stack([t, *(move(t, order) for order in range(3))])
    heads = "t,q1,q2,qd1,qd2,qdd1,qdd2"
    np.savetxt(folder / "move.csv", columns, delimiter=",", header=heads, comments="", fmt="%.12g")
    (folder / "design.toml").write_text(
        "[harmonics]\ncount = 2\nperiod = 4\n[search]\nstarts = 1\nseconds = 1\n", encoding="utf-8"
    )
    for name, robot in (("log", arm), ("loaded", arm.with_payload(1.5, (0.0, 0.05, 0.0)))):
        log = simulated(robot, 0, torque_noise=0.005)
        names = ["t", *(f"{kind}{j + 1}" for kind in ("q", "tau") for j in range(log.n))]
        table = np.column_stack([log.t, log.q, log.tau])
        np.savetxt(folder / f"{name}.csv", table, delimiter=",", header=",".join(names), comments="", fmt="%.12g")
    return folder


def test_every_verb_is_run() -> None:
    assert sorted([*CASES, *ELSEWHERE]) == sorted(NAMES)
    for place in ELSEWHERE.values():
        assert (Path(__file__).parents[1] / place).exists()


@pytest.mark.parametrize("name", CASES)
def test_the_command_prints_what_the_result_holds(
    name: str, run: Run, monkeypatch: pytest.MonkeyPatch, files: Path
) -> None:
    monkeypatch.chdir(files)
    monkeypatch.setattr(measuring, "QUICK", replace(measuring.QUICK, sizes=(16,), rounds=1, turn=1e-5, compared=4))
    function, results = getattr(armdyn, name), []

    def recorded(*args: Any, **options: Any) -> Any:
        results.append(function(*args, **options))
        return results[-1]

    monkeypatch.setattr(armdyn, name, recorded, raising=False)
    status, out, err = run(name, *CASES[name], columns=WIDE)
    (result,) = results
    assert isinstance(result, Result), type(result)
    assert status == (0 if result.fine else 1), err
    assert missing(result, out) == []
    assert missing(result, text(result._view(), WIDE)) == []
    assert str(result) == text(result._view())
    writes = any(word in out for word in ("Written", "report.html"))
    status, out, err = run(name, *CASES[name], "--json", *(["--force"] if writes else []))
    assert status == (0 if results[-1].fine else 1), err
    assert json.loads(out) == finite(json.loads(json.dumps(results[-1].record())))
