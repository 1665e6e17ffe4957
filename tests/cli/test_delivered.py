"""What is shown is what is delivered: claims of a command are recomputed from the file it wrote, and from that alone.

Every command that writes is run once. The torques are judged by Pinocchio, whose arm is written out a second time in
`support.walked_arm`. That the judges bite is shown by breaking each writer on purpose.
"""

from __future__ import annotations

import contextlib
import csv
import html
import io
import json
import re
import runpy
import shutil
import subprocess
import tomllib
import typing
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import typer.main

import armdyn
import armdyn.cli.verb
from armdyn.cli import application, main
from armdyn.errors import ArmdynError
from armdyn.identification import read_log
from armdyn.mechanics import kane, lagrange, newton_euler
from armdyn.motion.drive_choice import CLASSES, read_drives
from armdyn.parameters import base_parameters
from armdyn.result import Result
from support import walked_arm as truth
from support.limits import FULL
from support.logs import recomputed_errors
from support.pinocchio_model import pin
from support.walked_arm import Engine

ENGINE = Engine()
LOAD = (1.5, (0.0, 0.05, 0.0))
MOVE = armdyn.point_to_point([0.0, 0.3, -0.2], [0.8, -0.4, 0.7], "quintic", duration=1.0)
SLIPPED = truth.TOML.replace("0.06, 0, 0.06]", "0.06, 0, 0.0006]")
GUESS = truth.TOML.replace("mass = 4.0", "mass = 5.0").replace("viscous = 1.0", "viscous = 0.2")
DESIGN = "[harmonics]\nperiod = 5\n[search]\nseconds = 1\n"
SOFT = """
name = "soft"
gravity = [0, 0, 0]
[[joint]]
name = "swing"
a = 0.35
mass = 2.5
com = [-0.15, 0, 0]
inertia = [0, 0, 0, 0.02, 0, 0.02]
elastic = {stiffness = 100}
"""
SWING, SPRING, MOTOR = 2.5 * 0.2**2 + 0.02, 900.0, 0.08
"""The inertia of the soft arm about its axis, kg m^2, its true stiffness, N m/rad, and its rotor's inertia."""
COM = {"x": "-150", "y": "0", "z": "0"}
MISTAKEN = "g_2 = g*(ml2*l2*sin(q1 + q2))"
Table = dict[str, np.ndarray]
Claims = Any


def table_of(file: Path) -> Table:
    """The columns of a CSV file, read without armdyn."""
    with file.open(newline="", encoding="utf-8") as text:
        rows = list(csv.DictReader(text))
    return {name: np.array([float(row[name]) for row in rows]) for name in rows[0]}


def columns(table: Table, *names: str) -> list[np.ndarray]:
    """(k, 3) of each name with the numbers of the three joints."""
    return [np.column_stack([table[f"{name}{j}"] for j in (1, 2, 3)]) for name in names]


def torques_of(file: Path, states: Any) -> np.ndarray:
    """Torques of a delivered robot."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", armdyn.ModelWarning)
        return np.asarray(newton_euler.inverse_dynamics(armdyn.load(file), *states))


def rounding(values: Any) -> Any:
    """Of programs whose sums are in another order."""
    return {"rtol": 1e-9, "atol": 1e-11 * float(np.abs(values).max())}


# Judges: the claims of a command, its text and its file ---------------------------------------------------------------


def judge_plan(claims: Claims, text: str, file: Path) -> None:
    table = table_of(file)
    q, qd, qdd, tau = columns(table, "q", "qd", "qdd", "tau")
    t = table["t"]
    np.testing.assert_allclose(tau, ENGINE.torques(q, qd, qdd), **rounding(tau))
    # Between samples velocities are linear and positions parabolas, except where the acceleration jumps.
    steady = np.abs(np.diff(qdd, axis=0)).max(axis=1) < 1e-9
    np.testing.assert_allclose((np.diff(qd, axis=0) / np.diff(t)[:, None])[steady], qdd[:-1][steady], atol=1e-6)
    steps = np.diff(q, axis=0) / np.diff(t)[:, None]
    np.testing.assert_allclose(steps[steady], ((qd[:-1] + qd[1:]) / 2)[steady], atol=1e-6)
    assert claims["duration"] == pytest.approx(t[-1], rel=1e-9)
    for j, joint in enumerate(claims["joints"]):
        assert [joint["from"], joint["to"]] == pytest.approx([q[0, j], q[-1, j]], abs=1e-12)
        largest = np.abs(tau[:, j]).max()  # of the samples; the motion's own peak lies between two of them
        assert largest * (1 - 1e-9) <= joint["peak torque"] <= largest * (1 + 1e-4)
        assert joint["peak velocity"] == pytest.approx(np.abs(qd[:, j]).max(), rel=1e-6)
        assert joint["peak acceleration"] == pytest.approx(np.abs(qdd[:, j]).max(), rel=1e-6)
        assert joint["used, %"] == pytest.approx(100 * joint["peak torque"] / truth.TORQUE[j], rel=1e-9)
    peaks = [(qd, truth.SPEED), (qdd, truth.ACCELERATION), (tau, truth.TORQUE)]
    kept = all((np.abs(values).max(axis=0) <= most * (1 + 1e-9)).all() for values, most in peaks)
    assert claims["holds"] == kept == ("keeps all known limits" in text)


def judge_simulate(claims: Claims, text: str, file: Path) -> None:
    table = table_of(file)
    q, qd, tau, e, ref = columns(table, "q", "qd", "tau", "e", "ref")
    np.testing.assert_allclose(e, ref - q, atol=1e-15)
    assert claims["duration"] == pytest.approx(table["t"][-1])
    # The arm of the file obeys the equations of motion: power beyond friction is the change of its energy.
    energy = Engine(LOAD).energy(q, qd)
    power = ((tau - truth.VISCOUS * qd - truth.COULOMB * np.sign(qd)) * qd).sum(axis=1)
    work = np.concatenate([[0.0], np.cumsum((power[1:] + power[:-1]) / 2 * np.diff(table["t"]))])
    np.testing.assert_allclose(energy - energy[0], work, atol=1e-3 * np.abs(work).max())
    for j, joint in enumerate(claims["joints"].values()):
        assert joint["peak_error"] == pytest.approx(np.abs(e[:, j]).max(), rel=1e-9)
        assert joint["rms_error"] == pytest.approx(np.sqrt((e[:, j] ** 2).mean()), rel=1e-2)
        assert joint["final_error"] == pytest.approx(e[-1, j], rel=1e-9)
        assert joint["peak_velocity"] == pytest.approx(np.abs(qd[:, j]).max(), rel=1e-9)
        assert joint["peak_torque"] == pytest.approx(np.abs(tau[:, j]).max(), rel=1e-9)
    assert "leaves out: a payload" in text  # the law does not know of it


def judge_evaluate(claims: Claims, text: str, file: Path) -> None:
    table = table_of(file)
    q, qd, qdd, tau = columns(table, "q", "qd", "qdd", "tau")
    inertia, coriolis, gravity, friction = columns(table, "inertia", "coriolis", "gravity", "friction")
    np.testing.assert_allclose(tau, ENGINE.torques(q, qd, qdd), **rounding(tau))
    np.testing.assert_allclose(gravity, ENGINE.gravity(q), **rounding(tau))
    np.testing.assert_allclose(friction, truth.VISCOUS * qd + truth.COULOMB * np.sign(qd), **rounding(tau))
    np.testing.assert_allclose(inertia + coriolis + gravity + friction, tau, **rounding(tau))
    M = np.array([[table[f"M{i}_{j}"][0] for j in (1, 2, 3)] for i in (1, 2, 3)])
    np.testing.assert_allclose(M, ENGINE.mass_matrix(q[0]), **rounding(M))
    tool = [table[axis][0] for axis in "xyz"]
    np.testing.assert_allclose(tool, ENGINE.tool_position(q[0]), atol=1e-12)
    np.testing.assert_allclose(claims["tau"], tau[0], rtol=1e-12)
    np.testing.assert_allclose(claims["M"], M, rtol=1e-12)
    assert ", ".join(f"{x:z.5f}" for x in tool) in text


def judge_sweep(claims: Claims, text: str, file: Path) -> None:
    """Largest torques at rest: no more than at 20,000 positions, no less than 0.9 of it, and linear in the payload."""
    table = table_of(file)
    q = truth.states(20_000)[0]
    for j, name in enumerate(("turn", "shoulder", "elbow")):
        measured = table[f"holding_torque_{name}"]
        assert claims["results"][f"holding_torque_{name}"] == pytest.approx(measured.tolist(), rel=1e-11, abs=1e-11)
        for load, value in zip(table["payload"], measured, strict=True):
            largest = np.abs(Engine((load, (0, 0, 0))).gravity(q)[:, j]).max()
            assert 0.9 * largest - 1e-9 <= value <= largest * 1.01 + 1e-9
    assert "configurations" in text  # these are the largest of some, not of all


def judge_derive(claims: Claims, text: str, file: Path) -> None:
    """The program, and the equations as texts."""
    made = runpy.run_path(str(file))
    for state in zip(*truth.states(5, seed=7), strict=True):
        tau = made["function"](*state, **made.get("PARAMETERS", {}))["tau"]
        expected = ENGINE.torques(*(x[None] for x in state))[0]
        np.testing.assert_allclose(tau, expected, **rounding(expected))
        names: dict[str, Any] = {"cos": np.cos, "sin": np.sin, "sign": np.sign}
        for name, each in zip(("q", "qd"), state, strict=False):
            names |= {f"{name}{j + 1}": x for j, x in enumerate(each)}
        M, C, g, friction = (
            np.vectorize(lambda entry: eval(str(entry).replace("^", "**"), {}, names), otypes=[float])(claims[key])  # noqa: B023
            for key in ("M", "C", "g", "friction")
        )
        np.testing.assert_allclose(M @ state[2] + C @ state[1] + g + friction, expected, **rounding(expected))


def judge_prune(claims: Claims, text: str, file: Path) -> None:
    """The bound holds at 5,000 motions and stands in the file; so does what is left out."""
    function = runpy.run_path(str(file))["function"]
    rng = np.random.default_rng(2)
    q, (v, a) = truth.states(5000, seed=2)[0], rng.choice([-1.0, 1.0], (2, 5000, 3))
    states = q, v * truth.SPEED, a * truth.ACCELERATION
    tau = np.array([function(*state)["tau"] for state in zip(*states, strict=True)])
    off = np.abs(tau - ENGINE.rigid(*states)).max(axis=0)
    assert (off <= np.array(claims["bound"])).all() and (off >= 0.5 * np.array(claims["found"])).all()
    words = file.read_text(encoding="utf-8")
    assert "left out on request: friction" in words and "left out on request: friction" in " ".join(text.split())
    stated = re.search(r"off by up to ([\d., ]+) \(proven\)", words)
    assert stated is not None
    written = np.array([float(x) for x in stated[1].split(",")])
    assert (written >= claims["bound"]).all() and written == pytest.approx(claims["bound"], rel=1e-3)


def judge_export(claims: Claims, text: str, file: Path) -> None:
    made = runpy.run_path(str(file))
    assert set(claims["functions"]) == set(made["__all__"])
    assert claims["bytes"] == {file.name: file.stat().st_size}
    q, qd, qdd = truth.states(20, seed=3)
    expected = ENGINE.torques(q, qd, qdd)
    np.testing.assert_allclose(made["inverse_dynamics"](q, qd, qdd), expected, **rounding(expected))
    np.testing.assert_allclose(made["mass_matrix"](q)[0], ENGINE.mass_matrix(q[0]), rtol=1e-9, atol=1e-12)


def judge_fix(claims: Claims, text: str, file: Path) -> None:
    """The repaired file is the arm as it was before the slip."""
    states = truth.states(20)
    np.testing.assert_allclose(torques_of(file, states), ENGINE.torques(*states), rtol=1e-9, atol=1e-9)
    (repair,) = claims["repairs"]
    said = re.search(r"Izz (\S+) -> (\S+) kg", repair["what"], re.IGNORECASE)
    rows = [tomllib.loads(each)["joint"][1]["inertia"][5] for each in (SLIPPED, file.read_text(encoding="utf-8"))]
    assert said is not None and [float(said[1]), float(said[2])] == rows
    assert claims["after"] == armdyn.check(file).summary and "no issues found after the repairs" in text


def judge_excite(claims: Claims, text: str, file: Path) -> None:
    """The condition of the regressor over the motion of the file, its rates, and what they use of the limits."""
    table = table_of(file)
    q, qd, qdd = columns(table, "q", "qd", "qdd")
    middle = np.diff(table["t"])[:, None]
    np.testing.assert_allclose(np.diff(q, axis=0) / middle, (qd[:-1] + qd[1:]) / 2, atol=1e-4)
    np.testing.assert_allclose(np.diff(qd, axis=0) / middle, (qdd[:-1] + qdd[1:]) / 2, atol=2e-3)
    W = base_parameters(armdyn.load(file.with_name("arm.toml")), ("inertial", "friction")).regressor(q, qd, qdd)
    condition = np.linalg.cond(W.reshape(-1, W.shape[-1]))
    assert claims["condition"] == pytest.approx(condition, rel=0.02)  # the search takes fewer samples
    tau = ENGINE.torques(q, qd, qdd)
    for name, values, most in (("velocity", qd, truth.SPEED), ("acceleration", qdd, truth.ACCELERATION)):
        assert claims["use"][name] == pytest.approx(list(np.abs(values).max(axis=0) / most), rel=1e-3)
    assert claims["use"]["torque"] == pytest.approx(list(np.abs(tau).max(axis=0) / truth.TORQUE), rel=1e-2)


def judge_analyse(claims: Claims, text: str, file: Path) -> None:
    """The map and the joints' table by Pinocchio; bounds that hold at random positions."""
    table = table_of(file)
    q = np.column_stack([table[f"q_{name}"] for name in ("turn", "shoulder", "elbow")])
    tau = np.column_stack([table[f"gravity_{name}"] for name in ("turn", "shoulder", "elbow")])
    np.testing.assert_allclose(tau, ENGINE.gravity(q), atol=2e-7)  # ten digits
    for k in range(0, len(q), 301):
        np.testing.assert_allclose([table[axis][k] for axis in "xyz"], ENGINE.tool_position(q[k]), atol=1e-8)
    at = np.array(claims["q"])
    np.testing.assert_allclose(claims["holding_torque"], ENGINE.gravity(at[None])[0], atol=1e-9)
    np.testing.assert_allclose(claims["inertia"], np.diag(ENGINE.mass_matrix(at)), rtol=1e-9)
    random = truth.states(300)[0]
    assert claims["bounds"]["mass_matrix"][0] >= max(np.linalg.norm(ENGINE.mass_matrix(x), 2) for x in random)
    assert claims["bounds"]["gravity"][0] >= np.linalg.norm(ENGINE.gravity(random), axis=1).max()


def judge_solve(claims: Claims, text: str, file: Path) -> None:
    """Every solution puts the tool there; the distance to the limits, and how many are within them."""
    table = table_of(file)
    (q,) = columns(table, "q")
    for row, condition in zip(q, table["condition"], strict=True):
        np.testing.assert_allclose(ENGINE.tool_position(row), [0.4, 0.2, 0.4], atol=1e-12)
        pin.computeJointJacobians(ENGINE.model, ENGINE.data, row)
        pin.updateFramePlacements(ENGINE.model, ENGINE.data)
        J = pin.getFrameJacobian(ENGINE.model, ENGINE.data, ENGINE.tool, pin.LOCAL_WORLD_ALIGNED)[:3]
        assert condition == pytest.approx(np.linalg.cond(J), rel=1e-9)
    room = np.minimum(q - truth.LOWER, truth.UPPER - q).min(axis=1)
    np.testing.assert_allclose(table["room"], room, atol=1e-12)
    np.testing.assert_allclose(claims["q"], q, atol=1e-15)
    assert f"{len(q)} found, {(room >= 0).sum()} of them within the limits" in text


def judge_study(claims: Claims, text: str, file: Path) -> None:
    """Torques of the motion, robot and code of the folder, and facts of the report that follow from them."""
    q, qd, qdd, tau = columns(table_of(file), "q", "qd", "qdd", "tau")
    np.testing.assert_allclose(tau, ENGINE.torques(q, qd, qdd), **rounding(tau))
    states = truth.states(20)
    expected = ENGINE.torques(*states)
    np.testing.assert_allclose(torques_of(file.with_name("robot.toml"), states), expected, **rounding(expected))
    made = runpy.run_path(str(file.parent / "code" / "walker.py"))
    np.testing.assert_allclose(made["inverse_dynamics"](*states), expected, **rounding(expected))
    numbers = claims["numbers"]
    assert numbers["moving_mass_kg"] == pytest.approx(12.0) and numbers["joints"] == 3
    places = (ENGINE.tool_position(x) for x in truth.states(3000)[0])
    farthest = max(float(np.linalg.norm(place)) for place in places)
    assert 0.99 * numbers["reach_m"] < farthest <= numbers["reach_m"] + 1e-9
    assert numbers["base_parameters"] == regressor_rank() and numbers["agree"]
    recorded = json.loads(file.with_name("study.json").read_text(encoding="utf-8"))
    assert recorded["numbers"]["terms"] == numbers["terms"]
    with file.with_name("base_parameters.csv").open(encoding="utf-8") as rows:
        assert sum(1 for _ in rows) == 1 + numbers["base_parameters"]
    page = html.unescape(file.with_name("report.html").read_text(encoding="utf-8"))
    assert "friction is not part" not in page.lower() and "Friction torques" in page


def regressor_rank() -> int:
    """Of the torques in the parameters of links, rotors and friction, by Pinocchio."""
    blocks = []
    for q, qd, qdd in zip(*truth.states(60), strict=True):
        links = pin.computeJointTorqueRegressor(ENGINE.model, ENGINE.data, q, qd, qdd)
        blocks.append(np.hstack([links, np.diag(qdd), np.diag(qd), np.diag(np.sign(qd))]))
    W = np.vstack(blocks)
    size = np.linalg.norm(W, axis=0)
    return int(np.linalg.matrix_rank(W / np.where(size > 1e-12 * size.max(), size, np.inf), tol=1e-9))


def judge_reproduce(claims: Claims, text: str, file: Path) -> None:
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


def judge_identify(claims: Claims, text: str, file: Path) -> None:
    """The file explains the log as well as is said, and torques without noise to 3 %."""
    own = recomputed_errors(file, read_log(file.with_name("log.csv"), armdyn.load(file)))
    said = claims["files"][".toml"]["moving"]
    assert said == pytest.approx(list(own), rel=0.03)  # windows of the low-pass differ in detail
    states = truth.states(200)
    expected = ENGINE.torques(*states)
    off = torques_of(file, states) - expected
    assert (np.sqrt((off**2).mean(axis=0)) < 0.03 * np.sqrt((expected**2).mean(axis=0))).all()
    shown = re.search(r": ([\d.]+) %", text)
    assert shown is not None and float(shown[1]) == pytest.approx(100 * np.exp(np.log(own).mean()), rel=0.03)


def judge_payload(claims: Claims, text: str, file: Path) -> None:
    """The body in the file is the one that is shown, and a body; with it the arm has the torques of the loaded one."""
    rows = tomllib.loads(file.read_text(encoding="utf-8"))["joint"]
    (body,) = (row for row in rows if row["name"] == "payload")
    shown = {label: each["value"] for label, each in claims["payload"].items()}
    held = [body["mass"], *body["com"], *body["inertia"]]
    assert held == pytest.approx(list(shown.values()), rel=1e-12)
    xx, xy, xz, yy, yz, zz = body["inertia"]
    moments = np.linalg.eigvalsh([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    assert moments[0] >= 0 and moments[2] <= moments[0] + moments[1] + 1e-12
    assert claims["constrained"] == ("most probable" in text)
    assert abs(body["mass"] - LOAD[0]) < 4 * claims["payload"]["mass"]["std"]
    states = truth.states(100)
    added = torques_of(file, states) - ENGINE.torques(*states)
    expected = Engine(LOAD).torques(*states) - ENGINE.torques(*states)
    assert np.abs(added - expected)[:, 1:].max() < 0.1 * np.abs(expected).max()


def judge_stiffness(claims: Claims, text: str, file: Path) -> None:
    (row,) = tomllib.loads(file.read_text(encoding="utf-8"))["joint"]
    (said,) = claims["joints"].values()
    assert row["elastic"]["stiffness"] == pytest.approx(said["stiffness"], rel=1e-12)
    assert f"{said['stiffness']:.5g} +-" in text
    assert abs(said["stiffness"] - SPRING) < 4 * said["std"]["stiffness"] < 0.02 * SPRING
    assert row["rotor"]["inertia"] * row["rotor"].get("ratio", 1) ** 2 == pytest.approx(MOTOR, rel=0.02)


def judge_share(claims: Claims, text: str, file: Path) -> None:
    """The page's own functions, run by node, give Pinocchio's torques; its equations have friction."""
    page = file.read_text(encoding="utf-8")
    assert claims["bytes"] == file.stat().st_size
    words = " ".join(re.sub(r"<[^>]*>", " ", page).split())
    assert "Friction torques" in words and "Friction is not part" not in words
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed")
    data, functions = (
        re.search(pattern, page, re.DOTALL)[0].replace("export ", "")  # type: ignore[index]
        for pattern in (r"const ROBOT = .*?\nconst BINARY = [^\n]*", r"const LARGEST = .*?(?=const MARGIN)")
    )
    q, qd, qdd = truth.states(10)
    program = f"""{data}\n{functions}
        const bytes = Uint8Array.from(atob(BINARY), (letter) => letter.charCodeAt(0));
        WebAssembly.instantiate(bytes, {{}}).then((made) => {{
          const arm = robot(made.instance), s = {json.dumps([x.tolist() for x in (q, qd, qdd)])};
          console.log(JSON.stringify(s[0].map((x, k) => [...arm.inverse_dynamics(x, s[1][k], s[2][k])])));
        }});"""
    done = subprocess.run([node, "-e", program], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    expected = ENGINE.torques(q, qd, qdd)
    np.testing.assert_allclose(json.loads(done.stdout), expected, **rounding(expected))


def judge_judge(claims: Claims, text: str, file: Path) -> None:
    """The difference is one, the correction is right, and the page has both with the verdict."""
    (entry,) = claims["entries"]
    rng = np.random.default_rng(0)
    for _ in range(5):
        g, ml2, l2, s12, c12 = rng.uniform(0.5, 2, 5)
        known = {"g": g, "ml2": ml2, "l2": l2, "s12": s12, "c12": c12}
        given, ours, difference = (eval(entry[key], {}, known) for key in ("given", "ours", "difference"))
        assert (given, ours) == pytest.approx((g * ml2 * l2 * s12, g * ml2 * l2 * c12))
        assert given - ours == pytest.approx(difference)
    page = html.unescape(file.read_text(encoding="utf-8"))
    for word in ("1 of 1 entries differ: g2", entry["correction"], entry["causes"][0]):
        assert word in page and word in text


def judge_explain(claims: Claims, text: str, file: Path) -> None:
    """Causes are the differences of the two files, the shares add up, and the page says so."""
    page = " ".join(re.sub(r"<[^>]*>", " ", html.unescape(file.read_text(encoding="utf-8"))).split()).lower()
    mass, damping = claims["causes"]
    assert "the mass is 5 instead of 4 kg" in mass["what"] and mass["where"] == ["shoulder"]
    assert "up to 0.8 n m s/rad" in damping["what"].lower() and damping["where"] == ["shoulder"]
    assert mass["share"] + damping["share"] == pytest.approx(1.0)
    for cause in claims["causes"]:
        assert cause["what"].lower() in page and cause["what"].lower() in " ".join(text.split()).lower()
    torque, difference = (np.array([joint[key] for joint in claims["joints"]]) for key in ("torque", "difference"))
    shown = f"{100 * claims['difference']:.3g} %"
    assert shown in page and shown in text
    assert (difference <= torque).all() and difference[0] > 0


def judge_size(claims: Claims, text: str, file: Path) -> None:
    """Motor torques along the motion, by the engine, with the inertia and the ratio that stand in the file."""
    written = {joint["name"]: joint for joint in tomllib.loads(file.read_text(encoding="utf-8"))["joint"]}
    _, gears = read_drives(CLASSES)
    t = np.linspace(0, MOVE.duration, 2001)
    q, qd, qdd = (MOVE(t, order) for order in range(3))
    qd = np.where(np.abs(qd) > 1e-12, qd, 0.0)  # at rest, the sign of friction would be that of rounding
    bare = armdyn.load(file.with_name("arm.toml")).without("rotors", "motors")
    tau = kane.inverse_dynamics(bare, q, qd, qdd)
    for j, (name, claim) in enumerate(claims["joints"].items()):
        chosen, rotor = claim["chosen"], written[name]["rotor"]
        eta = next(gear.efficiency for gear in gears if gear.name == chosen["gear"])
        power = tau[:, j] * qd[:, j]
        load = tau[:, j] * np.select([power > 0, power < 0], [1 / eta, eta], 1.0)
        torque = rotor["inertia"] * rotor["ratio"] * qdd[:, j] + load / rotor["ratio"]
        assert chosen["peak_torque"] == pytest.approx(np.abs(torque).max(), rel=0.01)  # beside reversals of friction
        assert chosen["rms_torque"] == pytest.approx(np.sqrt(np.trapezoid(torque**2, t) / MOVE.duration), rel=1e-3)
        assert f"{chosen['ratio']:.5g}" in text and chosen["motor"] in text


def judge_template(claims: Claims, text: str, file: Path) -> None:
    """Headings are those that are listed; a row that is filled in by them is the robot that was meant."""
    lines = file.read_text(encoding="utf-8-sig").splitlines()
    headings, listed = lines[-1].split(";"), [each["heading"] for each in claims["columns"]]
    assert headings == listed and all(heading in text for heading in listed)
    row = dict.fromkeys(headings, "") | {"joint": "swing", "theta [deg]": "0", "d [mm]": "0", "a [mm]": "350"}
    row |= {"alpha [deg]": "90", "mass [kg]": "2.5"} | {f"com {axis} [mm]": value for axis, value in COM.items()}
    row |= {f"i{axes} [kg mm^2]": "0" for axes in ("xx", "xy", "xz", "yz")}
    row |= {f"i{axes} [kg mm^2]": "20000" for axes in ("yy", "zz")}
    filled = file.with_name("filled.csv")
    filled.write_text("\n".join([*lines, ";".join(row.values())]) + "\n", encoding="utf-8")
    robot = armdyn.load(filled)
    assert robot.joints[0].name == "swing" and robot.tree[0].body.inertia.about_com().mass == pytest.approx(2.5)
    pose = armdyn.compile(robot).pose([0.0])[:3, [2, 3]]
    assert pose.ravel().tolist() == pytest.approx([0, 0.35, -1, 0, 0, 0], abs=1e-12)
    body = robot.tree[0].body.inertia.about_com()
    assert [float(x) for x in (*body.com, *body.tensor.upper())] == pytest.approx([-0.15, 0, 0, 0, 0, 0, 0.02, 0, 0.02])


# Commands, and how their writers are broken ---------------------------------------------------------------------------


class Break(NamedTuple):
    """A fault of a writer: what the function `name` gets or gives is changed."""

    name: str
    change: Callable[..., Any]
    """(original, *arguments) -> result."""


def scaled(*names: str) -> Callable[..., Any]:
    """A writer of tables with some columns 1 % too large."""

    def change(original: Any, path: Any, table: Mapping[str, Any], *further: Any, **named: Any) -> Any:
        wrong = {key: 1.01 * np.asarray(x) + 1e-3 if key in names else x for key, x in table.items()}
        assert set(names) <= set(wrong)
        return original(path, wrong, *further, **named)

    return change


def replaced(old: str, new: str) -> Callable[..., Any]:
    """A writer of texts with the last occurrence of a text replaced."""

    def change(original: Any, path: Any, text: str, *further: Any, **named: Any) -> Any:
        before, found, after = text.rpartition(old)
        assert found, old
        return original(path, before + new + after, *further, **named)

    return change


class Delivery(NamedTuple):
    """A command that writes a file, who judges it, and a fault of its writer."""

    arguments: tuple[str, ...]
    file: str
    judge: Callable[[Claims, str, Path], None]
    broken: Break
    option: str = "out"
    """The option that names the file; none: it is an argument."""


DELIVERIES = {
    "plan": Delivery(
        ("arm.toml", "--from", "0,0,0", "--to", "1,0.5,-1"), "motion.csv", judge_plan,
        Break("armdyn.text_table.write", scaled("t"))),
    "simulate": Delivery(
        ("arm.toml", "--law", "computed_torque", "--set", "plant.payload=1.5",
         "--set", "plant.payload_com=[0,0.05,0]", "--set", "reference.duration=0.3"),
        "run.csv", judge_simulate, Break("armdyn.text_table.write", scaled("tau2"))),
    "evaluate": Delivery(
        ("arm.toml", "--at", "0.1,0.4,-0.3", "--qd", "1,-1,1", "--qdd", "1,2,3"), "state.csv", judge_evaluate,
        Break("armdyn.text_table.write", scaled("friction1"))),
    "sweep": Delivery(
        ("arm.toml", "--vary", "payload=0,1,3"), "sweep.csv", judge_sweep,
        Break("armdyn.text_table.write", scaled("holding_torque_elbow"))),
    "derive": Delivery(
        ("arm.toml", "--format", "python"), "torques.py", judge_derive,
        Break("armdyn.equations.document.write_text", replaced("sign(", "abs("))),
    "prune": Delivery(
        ("arm.toml", "--tolerance", "2%"), "reduced.py", judge_prune,
        Break("armdyn.equations.document.write_text", replaced("; left out on request: friction", ", friction"))),
    "export": Delivery(
        ("arm.toml", "--to", "python", "--functions", "inverse_dynamics,mass_matrix"), "code/walker.py", judge_export,
        Break("armdyn.codegen.export_files.write_text", replaced("np.sin", "np.cos"))),
    "fix": Delivery(
        ("slipped.toml",), "fixed.toml", judge_fix,
        Break("armdyn.formats.toml.write_text", replaced("0.06]", "0.061]"))),
    "excite": Delivery(
        ("arm.toml", "design.toml"), "exciting.csv", judge_excite,
        Break("armdyn.text_table.write", scaled("qd1"))),
    "analyse": Delivery(
        ("arm.toml", "--map", "gravity:shoulder,elbow"), "map.csv", judge_analyse,
        Break("armdyn.text_table.write", scaled("gravity_elbow"))),
    "solve": Delivery(
        ("arm.toml", "--pose", "0.4,0.2,0.4"), "solutions.csv", judge_solve,
        Break("armdyn.text_table.write", scaled("q2"))),
    "study": Delivery(("arm.toml",), "study/motion.csv", judge_study,
        Break("armdyn.report.chapters.subject.write_text",
              lambda write, path, text: write(path, re.sub("^(t,.*)tau1,tau2", r"\1tau2,tau1", text)))),
    "reproduce": Delivery(
        ("milicevic",), "page.html", judge_reproduce,
        Break("armdyn.texts.running.write_text", replaced(">same</span></h3>", ">corrected</span></h3>"))),
    "identify": Delivery(
        ("guess.toml", "log.csv"), "identified.toml", judge_identify,
        Break("armdyn.identification.fit.delivery.save",
              lambda save, robot, path, **named: save(robot.without("friction"), path, **named))),
    "payload": Delivery(
        ("arm.toml", "log.csv", "loaded.csv"), "carrying.toml", judge_payload,
        Break("armdyn.formats.toml.write_text", replaced("mass = ", "mass = 1"))),
    "stiffness": Delivery(
        ("soft.toml", "soft.csv"), "springs.toml", judge_stiffness,
        Break("armdyn.formats.toml.write_text", replaced("stiffness = ", "stiffness = 2"))),
    "share": Delivery(
        ("arm.toml",), "shared.html", judge_share,
        Break("armdyn.webpage.shared_page.write_text", replaced("Friction torques", "Friction is not part"))),
    "judge": Delivery(
        ("planar2r", MISTAKEN), "verdict.html", judge_judge,
        Break("armdyn.equations.judging.judge.write_text", replaced("1 of 1", "0 of 1")), "report"),
    "explain": Delivery(
        ("arm.toml", "guess.toml"), "causes.html", judge_explain,
        Break("armdyn.report.pages.explain_page.write_text", replaced("instead of 4 kg", "instead of 4.1 kg")),
        "report"),
    "template": Delivery(
        (), "table.csv", judge_template,
        Break("armdyn.formats.template._heading", lambda heading, *each: heading(*each).replace("[mm]", "[m]")), ""),
    "size": Delivery(
        ("arm.toml", "move.csv"), "driven.toml", judge_size,
        Break("armdyn.formats.toml.write_text", replaced("ratio = ", "ratio = 1"))),
}  # fmt: skip
ELSEWHERE = {"bench": "speed", "identify": "identification/test_delivery.py", "share": "webpage/test_shared_page.py"}
"""Figures of `bench` are times, which no file can be asked for; two others are judged in more detail elsewhere."""


class Made(NamedTuple):
    """A result, what it claims, its text, and the file that its command wrote."""

    result: Result
    claims: Claims
    text: str
    file: Path


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files that the commands read."""
    place = tmp_path_factory.mktemp("walk")
    for name, text in (("arm", truth.TOML), ("slipped", SLIPPED), ("guess", GUESS), ("soft", SOFT), ("design", DESIGN)):
        (place / f"{name}.toml").write_text(text, encoding="utf-8")
    truth.write_log(place / "log.csv", ENGINE, 3)
    truth.write_log(place / "loaded.csv", Engine(LOAD), 4)
    write_soft_log(place / "soft.csv")
    t = np.linspace(0, MOVE.duration, 201)
    table = np.column_stack([t, *(MOVE(t, order) for order in range(3))])
    heads = ",".join(["t", *(f"{name}{j}" for name in ("q", "qd", "qdd") for j in (1, 2, 3))])
    np.savetxt(place / "move.csv", table, delimiter=",", header=heads, comments="", fmt="%.12g")
    return place


def write_soft_log(file: Path) -> None:
    """A link that swings by two harmonics, the spring that drives it and the motor behind: all in closed form."""
    t, rng = np.arange(0, 10, 1e-3), np.random.default_rng(0)
    pairs = [(0.6, 2.1), (0.2, 11.0)]
    q, qdd, fourth = (sum(a * s * w**k * np.sin(w * t) for a, w in pairs) for k, s in ((0, 1), (2, -1), (4, 1)))
    theta, thetadd = q + SWING * qdd / SPRING, qdd + SWING * fourth / SPRING
    tau = MOTOR * thetadd + SPRING * (theta - q)
    noise = 1e-6 * rng.normal(size=(2, len(t)))
    table = np.column_stack([t, q + noise[0], theta + noise[1], tau])
    np.savetxt(file, table, delimiter=",", header="t,q1,theta1,tau1", comments="")


@pytest.fixture(scope="module")
def walk(folder: Path) -> Callable[[str], Made]:
    """Run the command of a verb, once."""
    made: dict[str, Made] = {}

    def run(verb: str) -> Made:
        if verb not in made:
            made[verb] = commanded(verb, folder)
        return made[verb]

    return run


def commanded(verb: str, folder: Path) -> Made:
    """What a command, run in this process, shows as text and JSON, and its file."""
    delivery, results = DELIVERIES[verb], []
    arguments = [str(folder / each) if (folder / each).is_file() else each for each in delivery.arguments]
    file = folder / delivery.file
    target = file.parent if verb in ("export", "study") else file
    finish = armdyn.cli.verb.finish

    def recorded(result: Result, *further: Any, **named: Any) -> int:
        results.append(result)
        return finish(result, *further, **named)

    out = io.StringIO()
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(out), contextlib.suppress(SystemExit):
        patch.setattr(armdyn.cli.verb, "finish", recorded)
        writes = [f"--{delivery.option}", str(target), "--force"] if delivery.option else [str(target)]
        main([verb, *arguments, *writes, "--json"])
    (result,) = results
    return Made(result, json.loads(out.getvalue()), str(result), file)


@pytest.mark.parametrize("verb", DELIVERIES)
def test_claims_are_those_of_the_file(verb: str, walk: Callable[[str], Made]) -> None:
    made = walk(verb)
    DELIVERIES[verb].judge(made.claims, made.text, made.file)


@pytest.mark.parametrize("verb", DELIVERIES)
def test_a_broken_writer_is_noticed(verb: str, walk: Callable[[str], Made], tmp_path: Path, folder: Path) -> None:
    """By the judge, or by the command itself, which then ends with an error."""
    if verb == "study" and not FULL:
        pytest.skip("the whole study runs again; set ARMDYN_FULL=1")
    delivery, made = DELIVERIES[verb], walk(verb)
    for name in ("arm.toml", "log.csv", "loaded.csv"):
        shutil.copy(folder / name, tmp_path / name)
    file = tmp_path / delivery.file
    target = file.parent if verb in ("export", "study") else file
    with pytest.MonkeyPatch.context() as patch:
        module, _, name = delivery.broken.name.rpartition(".")
        original, calls = vars(typing.cast(Any, __import__(module, fromlist=[name])))[name], []

        def broken(*arguments: Any, **named: Any) -> Any:
            calls.append(name)
            return delivery.broken.change(original, *arguments, **named)

        patch.setattr(delivery.broken.name, broken)
        with pytest.raises((AssertionError, ArmdynError)):
            if verb == "study":
                armdyn.study(armdyn.load(folder / "arm.toml"), target)
            elif verb == "template":
                armdyn.template(target)
            elif delivery.option == "report":
                made.result.report(target)  # type: ignore[attr-defined]
            else:
                made.result.save(target)  # type: ignore[attr-defined]
            delivery.judge(made.claims, made.text, file)
    assert calls, "the writer was not called"


def test_a_wrong_claim_is_noticed(walk: Callable[[str], Made]) -> None:
    """Each number that a judge recomputes, 2 % off."""
    places: dict[str, tuple[Any, ...]] = {
        "plan": ("joints", 1, "peak torque"),
        "simulate": ("joints", "elbow", "peak_error"),
        "evaluate": ("M", 1, 1),
        "size": ("joints", "elbow", "chosen", "rms_torque"),
        "sweep": ("results", "holding_torque_elbow", 2),
        "excite": ("condition",),
        "analyse": ("holding_torque", 2),
        "study": ("numbers", "moving_mass_kg"),
        "identify": ("files", ".toml", "moving", 1),
        "payload": ("payload", "cy", "value"),
        "stiffness": ("joints", "swing", "stiffness"),
        "share": ("bytes",),
        "solve": ("q", 0, 1),
        "prune": ("bound", 1),
    }
    for verb, (*path, last) in places.items():
        made = walk(verb)
        claims = json.loads(json.dumps(made.claims))
        inner = claims
        for key in path:
            inner = inner[key]
        inner[last] *= 1.05
        with pytest.raises(AssertionError):
            DELIVERIES[verb].judge(claims, made.text, made.file)


def test_every_verb_that_writes_is_walked() -> None:
    commands = typing.cast(Any, typer.main.get_command(application())).commands
    writing = {name for name, each in commands.items() if {"out", "report"} & {p.name for p in each.params}}
    assert writing | {"template"} == set(DELIVERIES) | {"bench"}  # a template is written where its argument says
    assert all((Path(__file__).parents[1] / place).exists() for place in ELSEWHERE.values())


def test_an_arm_that_is_written_out_twice_is_one() -> None:
    """The engine's own mistakes would be seen here: by Lagrange's energies, of another robot than the file's."""
    robot = armdyn.Robot.from_dh(tomllib.loads(truth.TOML)["joint"])
    states = truth.states(20)
    expected = ENGINE.torques(*states)
    np.testing.assert_allclose(lagrange.inverse_dynamics(robot, *states), expected, **rounding(expected))
