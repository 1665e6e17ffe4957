"""What is shown is what is delivered: claims of a command are recomputed from the file it wrote, and from that alone.

The torques are judged by Lagrange's energies, differentiated, which share no code with the recursion behind the files.
That these judges bite is shown by damaging each file, and each claim, in several ways.
"""

from __future__ import annotations

import csv
import html
import json
import re
import runpy
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import armdyn
from armdyn.mechanics import lagrange
from armdyn.parameters import base_parameters
from support.command import Run

ARM = armdyn.load("planar2r")
SLIPPED = """
name = "slipped"
[[joint]]
name = "turn"
a = 0.4
mass = 2.0
com = [-0.2, 0, 0]
inertia = [0.01, 0, 0, 0.03, 0, 0.0003]
[[joint]]
name = "elbow"
a = 0.4
mass = 2.0
com = [-0.2, 0, 0]
inertia = [0.01, 0, 0, 0.03, 0, 0.03]
"""
Table = dict[str, np.ndarray]


def table_of(file: Path) -> Table:
    """The columns of a CSV file, read without armdyn."""
    with file.open(newline="", encoding="utf-8") as text:
        rows = list(csv.DictReader(text))
    return {name: np.array([float(row[name]) for row in rows]) for name in rows[0]}


def columns(table: Table, *names: str) -> list[np.ndarray]:
    """(k, 2) of each name with the numbers of the two joints."""
    return [np.column_stack([table[f"{name}1"], table[f"{name}2"]]) for name in names]


def judge_plan(claims: Any, file: Path) -> None:
    table = table_of(file)
    q, qd, qdd, tau = columns(table, "q", "qd", "qdd", "tau")
    t = table["t"]
    np.testing.assert_allclose(tau, lagrange.inverse_dynamics(ARM, q, qd, qdd), rtol=1e-9, atol=1e-9)
    # Between samples velocities are linear and positions parabolas, except where the acceleration jumps.
    steady = np.abs(np.diff(qdd, axis=0)).max(axis=1) < 1e-9
    np.testing.assert_allclose((np.diff(qd, axis=0) / np.diff(t)[:, None])[steady], qdd[:-1][steady], atol=1e-6)
    steps = np.diff(q, axis=0) / np.diff(t)[:, None]
    np.testing.assert_allclose(steps[steady], ((qd[:-1] + qd[1:]) / 2)[steady], atol=1e-6)
    assert claims["duration"] == pytest.approx(t[-1], rel=1e-9)
    for j, joint in enumerate(claims["joints"]):
        assert [joint["from"], joint["to"]] == pytest.approx([q[0, j], q[-1, j]], abs=1e-12)
        assert joint["peak torque"] == pytest.approx(np.abs(tau[:, j]).max(), rel=1e-6)
        assert joint["peak velocity"] == pytest.approx(np.abs(qd[:, j]).max(), rel=1e-6)
        assert joint["peak acceleration"] == pytest.approx(np.abs(qdd[:, j]).max(), rel=1e-6)


def judge_simulate(claims: Any, file: Path) -> None:
    table = table_of(file)
    q, qd, tau, e, ref = columns(table, "q", "qd", "tau", "e", "ref")
    np.testing.assert_allclose(e, ref - q, atol=1e-15)
    assert claims["duration"] == pytest.approx(table["t"][-1])
    # The arm of the file obeys the equations of motion: its power is the change of its energy.
    energy = np.array([lagrange.kinetic_energy(ARM, *state) for state in zip(q, qd, strict=True)])
    energy += np.array([lagrange.potential_energy(ARM, each) for each in q])
    power = (tau * qd).sum(axis=1)
    work = np.concatenate([[0.0], np.cumsum((power[1:] + power[:-1]) / 2 * np.diff(table["t"]))])
    np.testing.assert_allclose(energy - energy[0], work, atol=2e-4 * np.abs(work).max())
    for j, joint in enumerate(claims["joints"].values()):
        assert joint["peak_error"] == pytest.approx(np.abs(e[:, j]).max(), rel=1e-9)
        assert joint["rms_error"] == pytest.approx(np.sqrt((e[:, j] ** 2).mean()), rel=1e-2)
        assert joint["final_error"] == pytest.approx(e[-1, j], rel=1e-9)
        assert joint["peak_velocity"] == pytest.approx(np.abs(qd[:, j]).max(), rel=1e-9)
        assert joint["peak_torque"] == pytest.approx(np.abs(tau[:, j]).max(), rel=1e-9)


def judge_evaluate(claims: Any, file: Path) -> None:
    table = table_of(file)
    q, qd, qdd, tau, inertia, coriolis, gravity = columns(
        table, "q", "qd", "qdd", "tau", "inertia", "coriolis", "gravity"
    )
    np.testing.assert_allclose(tau, lagrange.inverse_dynamics(ARM, q, qd, qdd), rtol=1e-12, atol=1e-9)
    np.testing.assert_allclose(gravity, lagrange.gravity(ARM, q), rtol=1e-12, atol=1e-9)
    np.testing.assert_allclose(inertia + coriolis + gravity, tau, rtol=1e-12, atol=1e-9)
    M = np.array([[table[f"M{i}_{j}"][0] for j in (1, 2)] for i in (1, 2)])
    np.testing.assert_allclose(M, lagrange.mass_matrix(ARM, q[0]), rtol=1e-12)
    np.testing.assert_allclose(claims["tau"], tau[0] if len(tau) == 1 else tau, rtol=1e-12)


def judge_sweep(claims: Any, file: Path) -> None:
    table = table_of(file)
    held = 9.81 * (0.5 * 50 + table["payload"])  # arm stretched out: l2 ml2 g and a2 m g with a2 = 1, l2 = 0.5
    np.testing.assert_allclose(table["holding_torque_elbow"], held, rtol=1e-9)
    assert claims["results"]["holding_torque_elbow"] == pytest.approx(list(table["holding_torque_elbow"]), rel=1e-12)


def judge_derive(claims: Any, file: Path) -> None:
    made = runpy.run_path(str(file))
    rng = np.random.default_rng(7)
    for _ in range(5):
        state = rng.uniform(-2, 2, (3, 2))
        tau = made["function"](*state, **made["PARAMETERS"])["tau"]
        np.testing.assert_allclose(tau, lagrange.inverse_dynamics(ARM, *state), rtol=1e-12, atol=1e-9)


def judge_export(claims: Any, file: Path) -> None:
    made = runpy.run_path(str(file))
    assert set(claims["functions"]) == set(made["__all__"])
    state = np.random.default_rng(3).uniform(-2, 2, (3, 20, 2))
    np.testing.assert_allclose(made["inverse_dynamics"](*state), lagrange.inverse_dynamics(ARM, *state), rtol=1e-12)


def judge_fix(claims: Any, file: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", armdyn.ModelWarning)  # the first file is wrong on purpose
        files = (file.with_name("slipped.toml"), file)
        before, after = (armdyn.load(each).tree[0].body.inertia for each in files)
        found = armdyn.check(file)
    (repair,) = claims["repairs"]
    said = re.search(r"izz (\S+) -> (\S+) kg", repair["what"])
    assert said is not None
    assert [float(said[1]), float(said[2])] == [float(each.about_com().tensor.rows[2][2]) for each in (before, after)]
    assert not any(finding.severity == "invalid" for finding in found.findings)
    assert claims["after"] == found.summary


def judge_excite(claims: Any, file: Path) -> None:
    """The condition of the regressor over the motion of the file, its rates, and what they use of the limits."""
    table = table_of(file)
    q, qd, qdd = columns(table, "q", "qd", "qdd")
    middle = np.diff(table["t"])[:, None]
    np.testing.assert_allclose(np.diff(q, axis=0) / middle, (qd[:-1] + qd[1:]) / 2, atol=1e-4)
    np.testing.assert_allclose(np.diff(qd, axis=0) / middle, (qdd[:-1] + qdd[1:]) / 2, atol=1e-2)
    W = base_parameters(ARM, ("inertial", "friction")).regressor(q, qd, qdd)
    condition = np.linalg.cond(W.reshape(-1, W.shape[-1]))
    assert claims["condition"] == pytest.approx(condition, rel=0.02)  # the search takes fewer samples
    assert claims["use"]["velocity"] == pytest.approx(list(np.abs(qd).max(axis=0)), rel=1e-3)  # 1 rad/s is assumed


def judge_study(claims: Any, file: Path) -> None:
    """Torques of the motion by the robot of the folder, and facts of the report that follow from it."""
    robot = armdyn.load(file.with_name("robot.toml"))
    table = table_of(file)
    state = [table[name][:, None] for name in ("q1", "qd1", "qdd1")]
    np.testing.assert_allclose(table["tau1"], lagrange.inverse_dynamics(robot, *state)[:, 0], rtol=1e-9, atol=1e-9)
    assert claims["numbers"]["moving_mass_kg"] == pytest.approx(sum(float(x.inertia.mass) for x in robot.links))
    assert claims["numbers"]["joints"] == robot.n and claims["numbers"]["reach_m"] == pytest.approx(0.5)
    made = runpy.run_path(str(file.parent / "code" / "pendulum.py"))
    np.testing.assert_allclose(made["inverse_dynamics"](*state)[:, 0], table["tau1"], rtol=1e-9, atol=1e-9)
    recorded = json.loads(file.with_name("study.json").read_text(encoding="utf-8"))
    assert recorded["numbers"]["terms"] == claims["numbers"]["terms"]


def judge_reproduce(claims: Any, file: Path) -> None:
    """Heading and row of every item on the page have its verdict, and the counts are those of the rows."""
    page = html.unescape(file.read_text(encoding="utf-8"))
    for item in claims["items"]:
        assert item["sentence"] in page
        title, verdict = re.escape(item["title"]), re.escape(item["verdict"])
        assert re.search(rf">{title}</td><td[^>]*>{verdict}</td>", page)
        assert re.search(rf">{re.escape(item['item'])}: {title}<span[^>]*>{verdict}</span></h3>", page)
    for verdict, count in claims["counts"].items():
        assert sum(item["verdict"] == verdict for item in claims["items"]) == count
        assert re.search(rf"<span>{re.escape(verdict)}</span><strong[^>]*>{count}</strong>", page)


class Delivery(NamedTuple):
    """A command that writes a file, and who judges it. damages: (pattern, replacement) of the file's text."""

    arguments: tuple[str, ...]
    file: str
    judge: Callable[[Any, Path], None]
    damages: tuple[tuple[str, str], ...] = ()


DELIVERIES = {
    "plan": Delivery(("planar2r", "--from", "0,0", "--to", "1,0.5"), "motion.csv", judge_plan),
    "simulate": Delivery(
        ("planar2r", "--law", "pd_gravity", "--set", "reference.duration=0.3"), "run.csv", judge_simulate
    ),
    "evaluate": Delivery(
        ("planar2r", "--at", "0.3,0.4", "--qd", "1,-2", "--qdd", "0.5,1"), "state.csv", judge_evaluate
    ),
    "sweep": Delivery(("planar2r", "--vary", "payload=0,1,3"), "table.csv", judge_sweep),
    "derive": Delivery(
        ("planar2r", "--format", "python"),
        "torques.py",
        judge_derive,
        ((r"9\.81", "9.80665"), (r'"l2": 0\.5', '"l2": 0.51'), (r" \+ ", " - ")),
    ),
    "export": Delivery(
        ("planar2r", "--to", "python", "--functions", "inverse_dynamics"),
        "code/planar2r.py",
        judge_export,
        ((r" \+ ", " - "), (r"np\.sin", "np.cos")),
    ),
    "fix": Delivery(
        ("slipped.toml",),
        "fixed.toml",
        judge_fix,
        ((r"(?s)0\.03\](?=.*elbow)", "0.0003]"), (r"(?s)0\.03\](?=.*elbow)", "0.031]")),
    ),
    "excite": Delivery(("planar2r", "--period", "4", "--seconds", "1"), "motion.csv", judge_excite),
    "study": Delivery(("pendulum",), "study/motion.csv", judge_study),
    "reproduce": Delivery(
        ("milicevic",),
        "page.html",
        judge_reproduce,
        ((r">same</span></h3>", ">corrected</span></h3>"), (r"</span><strong>1</strong>", "</span><strong>2</strong>")),
    ),
}
"""`identify` is judged in identification/test_delivery.py, `share` in webpage/test_shared_page.py: by running them."""


@pytest.fixture(params=DELIVERIES)
def made(request: pytest.FixtureRequest, run: Run, tmp_path: Path) -> tuple[Delivery, Any, Path]:
    """A delivery, the claims of its command and the file."""
    verb = request.param
    delivery: Delivery = DELIVERIES[verb]
    (tmp_path / "slipped.toml").write_text(SLIPPED, encoding="utf-8")
    arguments = [str(tmp_path / each) if each.endswith(".toml") else each for each in delivery.arguments]
    file = tmp_path / delivery.file
    target = file.parent if verb in ("export", "study") else file
    status, out, err = run(verb, *arguments, "--out", target, "--json")
    assert status in (0, 1), err
    return delivery, json.loads(out[: out.rindex("}") + 1]), file


def test_claims_are_those_of_the_file(made: tuple[Delivery, Any, Path]) -> None:
    delivery, claims, file = made
    delivery.judge(claims, file)


def test_a_damaged_file_is_noticed(made: tuple[Delivery, Any, Path]) -> None:
    delivery, claims, file = made
    text = file.read_text(encoding="utf-8")
    for pattern, replacement in delivery.damages:
        found = list(re.finditer(pattern, text))
        assert found, pattern
        file.write_text(text[: found[-1].start()] + replacement + text[found[-1].end() :], encoding="utf-8")
        with pytest.raises(AssertionError):
            delivery.judge(claims, file)
    if file.suffix != ".csv":
        return
    head, *rows = text.splitlines()
    for name in ("tau1", "tau2", "qd1", "e1", "gravity2", "M1_2", "holding_torque_elbow"):
        if name in head.split(","):
            damaged = [row.split(",") for row in rows]
            for cells in damaged:
                cells[head.split(",").index(name)] = str(float(cells[head.split(",").index(name)]) * 1.01 + 1e-3)
            file.write_text("\n".join([head, *map(",".join, damaged)]) + "\n", encoding="utf-8")
            with pytest.raises(AssertionError):
                delivery.judge(claims, file)


def test_a_wrong_claim_is_noticed(made: tuple[Delivery, Any, Path]) -> None:
    delivery, claims, file = made
    wrong = {
        judge_plan: lambda: claims["joints"][1].update({"peak torque": claims["joints"][1]["peak torque"] * 1.01}),
        judge_simulate: lambda: claims["joints"]["elbow"].update({"peak_error": 1.0}),
        judge_evaluate: lambda: claims.update({"tau": (1.01 * np.array(claims["tau"])).tolist()}),
        judge_sweep: lambda: claims["results"]["holding_torque_elbow"].reverse(),
        judge_export: lambda: claims["functions"].update({"gravity": {}}),
        judge_fix: lambda: claims.update({"after": claims["before"]}),
        judge_excite: lambda: claims.update({"condition": 1.1 * claims["condition"]}),
        judge_study: lambda: claims["numbers"].update({"moving_mass_kg": 2.1}),
        judge_reproduce: lambda: claims["items"][0].update({"verdict": "corrected"}),
    }
    if delivery.judge not in wrong:
        pytest.skip("the program itself is the claim")
    wrong[delivery.judge]()
    with pytest.raises(AssertionError):
        delivery.judge(claims, file)
