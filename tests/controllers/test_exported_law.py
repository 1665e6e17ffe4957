"""Exported controllers: they pass their own vectors, notice broken lines, and control an arm as `simulate` says."""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import armdyn
from armdyn.control import law
from armdyn.control.named_laws import LAWS
from armdyn.control.observer import MomentumObserver, VelocityObserver
from armdyn.control.pid import PID, PDGravity
from armdyn.control.sampling import largest_stable_period
from armdyn.controllers.controller import Controller
from armdyn.errors import ArmdynError, NotApplicable, UnknownName
from armdyn.simulation import Actuation, Experiment, Plant, Solver
from armdyn.simulation.experiment import LawChoice, ReferenceMotion

COMPILER = shutil.which("gcc") or shutil.which("clang")
needs_compiler = pytest.mark.skipif(COMPILER is None, reason="no C compiler (gcc or clang) on this machine")
STRICT = ("-std=c99", "-O1", "-Wall", "-Wextra", "-Werror", "-pedantic", "-Wshadow", "-Wconversion")
JOINT_LAWS = ("computed_torque", "pd_gravity", "pid", "feedforward", "sliding_mode", "robust", "adaptive")


def run(*command: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(word) for word in command], cwd=cwd, capture_output=True, text=True, check=False)


def self_test(folder: Path, name: str = "arm") -> subprocess.CompletedProcess[str]:
    done = run(str(COMPILER), *STRICT, f"{name}.c", f"{name}_test.c", "-lm", "-o", "self_test", cwd=folder)
    assert done.returncode == 0, done.stderr
    return run(folder / "self_test", cwd=folder)


@needs_compiler
@pytest.mark.parametrize("name", [name for name in LAWS if name not in ("torques", "admittance", "elastic_pd")])
@pytest.mark.parametrize("robot", ["planar2r", "scara5", "parallelogram"])
def test_a_law_in_c_passes_its_own_test(robot: str, name: str, tmp_path: Path) -> None:
    arm = armdyn.load(robot)
    try:
        found = law(name, armdyn.compile(arm), period=1e-3)
    except ArmdynError:
        pytest.skip(f"{name} does not exist for {robot}")
    if not found.compilable:
        with pytest.raises(NotApplicable, match="not a formula"):
            armdyn.export(arm, law=found)
        return
    gains = {"computed_torque": ("kp", "payload"), "pid": ("kp", "ki"), "impedance": ("stiffness",)}.get(name, ())
    if robot == "parallelogram":  # its payload would be on a closed chain
        gains = tuple(gain for gain in gains if gain != "payload")
    made = armdyn.export(arm, "c", prefix="arm", law=found, period=2e-4, tunable=gains)
    made.save(tmp_path)
    done = self_test(tmp_path)
    assert done.returncode == 0, done.stdout
    assert " step " in " ".join(done.stdout.split())


@needs_compiler
def test_observers_in_c_pass_their_own_test(tmp_path: Path) -> None:
    arm = armdyn.load("planar2r")
    dyn = armdyn.compile(arm)
    inner = law("computed_torque", dyn, ki=100.0)
    for number, observed in enumerate((MomentumObserver(inner, dyn), VelocityObserver(inner, dyn))):
        folder = tmp_path / str(number)
        armdyn.export(arm, "c", prefix="arm", law=observed, period=1e-3).save(folder)
        assert self_test(folder).returncode == 0


class InC:
    """An exported controller as a shared library."""

    def __init__(self, folder: Path, n: int) -> None:
        done = run(str(COMPILER), "-O2", "-shared", "-fPIC", "arm.c", "-lm", "-o", "arm.so", cwd=folder)
        assert done.returncode == 0, done.stderr
        self.library, self.state = ctypes.CDLL(str(folder / "arm.so")), (ctypes.c_double * 4096)()
        self.tau = np.zeros(n)

    def init(self, q: np.ndarray, qd: np.ndarray) -> None:
        self.library.arm_init(self.state, _pointer(q), _pointer(qd))

    def step(self, *arguments: np.ndarray) -> np.ndarray:
        given = [np.ascontiguousarray(x, dtype=float).ravel() for x in arguments]
        self.library.arm_step(self.state, *map(_pointer, given), _pointer(self.tau))
        return self.tau.copy()


def _pointer(x: np.ndarray) -> Any:
    return x.ctypes.data_as(ctypes.POINTER(ctypes.c_double))


@needs_compiler
@pytest.mark.parametrize("name", JOINT_LAWS)
def test_controls_an_independent_plant_as_simulated(name: str, tmp_path: Path) -> None:
    """The law in C drives Pinocchio's forward dynamics, a payload unknown to the law: the same motion to rounding."""
    pin = pytest.importorskip("pinocchio")
    from support.pinocchio_model import build

    robot, dt, steps = armdyn.load("ur5").without("friction"), 1e-3, 1500
    plant = robot.with_payload(1.0, com=(0.0, 0.0, 0.05))
    q0 = np.array([0.2, -1.2, 1.1, -0.4, 0.3, 0.1])
    move = armdyn.point_to_point(q0, q0 + 0.4, "quintic", duration=1.0)
    gains = {"layer": 0.5} if name == "robust" else {}  # a thinner layer chatters at this period, and is refused
    found = law(name, armdyn.compile(robot), period=dt, **gains)
    armdyn.export(robot, "c", prefix="arm", law=found, period=dt).save(tmp_path)
    controller, model = InC(tmp_path, robot.n), build(plant)
    data, q, qd, path = model.createData(), q0.copy(), np.zeros(robot.n), []
    controller.init(q, qd)
    for k in range(steps):
        t = k * dt
        path.append(q.copy())
        tau = controller.step(q, qd, move(t), move(t, 1), move(t, 2))

        def rates(x: np.ndarray, xd: np.ndarray, tau: np.ndarray = tau) -> tuple[np.ndarray, np.ndarray]:
            return xd, np.array(pin.aba(model, data, x, xd, tau))

        a = rates(q, qd)
        b = rates(q + dt / 2 * a[0], qd + dt / 2 * a[1])
        c = rates(q + dt / 2 * b[0], qd + dt / 2 * b[1])
        d = rates(q + dt * c[0], qd + dt * c[1])
        q = q + dt / 6 * (a[0] + 2 * b[0] + 2 * c[0] + d[0])
        qd = qd + dt / 6 * (a[1] + 2 * b[1] + 2 * c[1] + d[1])
    run_ = armdyn.simulate(
        armdyn.compile(plant),
        found,
        move,
        duration=(steps - 1) * dt,
        solver=Solver(dt=dt, integrator="rk4"),
        actuation=Actuation(control_period=dt),
    )
    assert run_.ok
    assert np.abs(run_.q - np.array(path)).max() < 1e-10  # rounding of two engines, grown over 1,500 steps
    assert np.abs(run_.error).max() > 1e-6  # the payload is felt: the law and the plant differ


@needs_compiler
def test_the_motion_of_an_experiment_is_part_of_the_code(tmp_path: Path) -> None:
    robot = armdyn.load("planar2r")
    experiment = Experiment(law=LawChoice(name="pid"), reference=ReferenceMotion(motion=[0.5, -0.3], duration=1.5))
    made = armdyn.export(robot, "c", prefix="arm", law=experiment, period=1e-3)
    made.save(tmp_path)
    assert {function.name for function in made.model.functions} == {"start", "control", "motion"}
    assert self_test(tmp_path).returncode == 0


# Self-tests that bite -------------------------------------------------------------------------------------------------


def mutants(text: str, count: int) -> list[str]:
    """Copies of a C source with one change each: a sign, a factor, an index, a missing statement's value."""
    start = text.index("arm_start(") if "arm_start(" in text else text.index("arm_control(")
    head, code = text[:start], text[start:]
    rng = np.random.default_rng(8)
    kinds = [
        (r" \+ ", " - "),
        (r" - ", " + "),
        (r"\[(\d)\] = ", None),
        (r"= ([a-z_]+)\[(\d)\];", None),
        (r"(\d\.\d+)", None),
        (r"controller->period \+= 1", "controller->period += 2"),
    ]
    found: set[str] = set()
    while len(found) < count:
        pattern, replacement = kinds[int(rng.integers(len(kinds)))]
        places = list(re.finditer(pattern, code))
        if not places:
            continue
        match = places[int(rng.integers(len(places)))]
        if replacement is not None:
            new = replacement
        elif pattern.startswith(r"(\d"):
            new = repr(float(match[1]) * 1.01)
        else:
            index = re.search(r"\[(\d)\]", match[0])
            assert index is not None
            new = match[0].replace(index[0], f"[{(int(index[1]) + 1) % 2}]")
        changed = code[: match.start()] + new + code[match.end() :]
        if changed != code:
            found.add(head + changed)
    return sorted(found)


@needs_compiler
def test_the_self_test_notices_broken_lines(tmp_path: Path) -> None:
    """Forty changes of a controller with integral, motion and tunable gains; at most two may be without effect."""
    robot = armdyn.load("planar2r")
    experiment = Experiment(
        law=LawChoice(name="computed_torque", gains={"ki": 200.0}),
        reference=ReferenceMotion(motion=[0.5, -0.3], duration=0.01),
    )
    armdyn.export(robot, "c", prefix="arm", law=experiment, period=1e-3, tunable=("kp", "payload")).save(tmp_path)
    text, noticed = (tmp_path / "arm.c").read_text(), 0
    for mutant in mutants(text, 40):
        (tmp_path / "arm.c").write_text(mutant)
        done = run(str(COMPILER), "-std=c99", "arm.c", "arm_test.c", "-lm", "-o", "mutant", cwd=tmp_path)
        noticed += done.returncode != 0 or run(tmp_path / "mutant", cwd=tmp_path).returncode != 0
    assert noticed >= 38


# Refusals -------------------------------------------------------------------------------------------------------------


def test_refuses_gains_that_are_unstable_when_sampled() -> None:
    panda = armdyn.load("panda")
    unstable = law("pid", armdyn.compile(panda))
    with pytest.raises(ArmdynError, match=r"unstable when it is sampled every 0\.001 s"):
        armdyn.export(panda, law=unstable, period=1e-3)
    armdyn.export(panda, law="pid", period=1e-3)  # designed for the period


@pytest.mark.parametrize("name", ["pid", "pd_gravity"])
@pytest.mark.parametrize("period", [1e-3, 2e-3, 4e-3])
def test_verdicts_on_a_closed_chain_are_those_of_simulation(name: str, period: float) -> None:
    """Gains for the period, those of the continuous design, and ten and a million times as much damping."""
    robot = armdyn.load("five_bar")
    chosen, model = LawChoice(name=name).on(robot, Plant(), period=period)
    usual, _ = LawChoice(name=name).on(robot, Plant())
    assert isinstance(usual, PID | PDGravity)
    verdicts = {}
    for title, tried in {
        "chosen": chosen,
        "usual": usual,
        "ten": replace(usual, kd=10 * usual.kd),
        "million": replace(usual, kd=1e6 * usual.kd),
    }.items():
        motion = ReferenceMotion(duration=1.0).on(robot, tried, model)
        run = armdyn.simulate(
            robot,
            tried,
            motion["reference"],
            q0=motion["q0"],
            duration=1.5,
            solver=Solver(dt=1e-3),
            actuation=Actuation(control_period=period),
        )
        works = run.ok and float(np.abs(run.error[-200:]).max()) < 1e-3
        verdicts[title] = works
        assert (largest_stable_period(tried, model, armdyn.compile(robot), period) == period) == works, title
    assert verdicts == {"chosen": True, "usual": (name, period) != ("pid", 4e-3), "ten": False, "million": False}


def test_gains_that_no_period_makes_stable_are_said_to_be() -> None:
    """They grow at 1 us too, which is no excuse: in continuous time they do not."""
    robot = armdyn.load("five_bar")
    with pytest.raises(ArmdynError, match="with lower gains: none works for these"):
        armdyn.export(robot, law=PDGravity(armdyn.compile(robot), kp=2e8, kd=3e7), period=1e-3)


def test_unknown_laws_and_gains_are_named() -> None:
    arm = armdyn.load("planar2r")
    with pytest.raises(UnknownName, match="computed_torque"):
        armdyn.export(arm, law="computed_torqe")
    with pytest.raises(UnknownName, match="kp"):
        armdyn.export(arm, law="computed_torque", tunable=("kpp",))
    with pytest.raises(ArmdynError, match="without a law"):
        armdyn.export(arm, period=1e-3)
    with pytest.raises(NotApplicable, match="32-bit"):
        armdyn.export(arm, law="computed_torque", real="float")


def test_vectors_come_from_the_law_over_numbers() -> None:
    """A wrong graph does not change what is expected of it."""
    dyn = armdyn.compile(armdyn.load("planar2r"))
    controller = Controller(law("computed_torque", dyn), dyn, 1e-3, ("kp",))
    vectors = controller.control_vectors(6)
    q, qd = vectors.inputs["q"][2], vectors.inputs["qd"][2]
    w = vectors.inputs["qdd_desired"][2] + 40 * (vectors.inputs["qd_desired"][2] - qd)
    w = w + vectors.inputs["parameters"][2] * (vectors.inputs["q_desired"][2] - q)
    expected = dyn.mass_matrix(q) @ w + dyn.coriolis(q, qd) + dyn.gravity(q) + dyn.friction(qd)
    np.testing.assert_allclose(vectors.outputs["tau"][2], expected, rtol=1e-12)


@needs_compiler
def test_the_payload_of_dynamics_is_an_argument(tmp_path: Path) -> None:
    """Torques in C with a payload given at run time are those of Pinocchio with that payload."""
    from support import pinocchio_model

    robot = armdyn.load("ur5").without("friction")
    armdyn.export(robot, "c", ["inverse_dynamics"], "arm", tunable=("payload",)).save(tmp_path)
    assert self_test(tmp_path).returncode == 0
    run(str(COMPILER), "-O1", "-shared", "-fPIC", "arm.c", "-lm", "-o", "arm.so", cwd=tmp_path)
    names = re.findall(r"ARM_(payload_\w+) = (\d+)", (tmp_path / "arm.h").read_text())
    places = {name: int(place) for name, place in names}
    parameters, tau = np.zeros(len(places)), np.zeros(robot.n)
    load = {"mass": 2.0, "x": 0.01, "y": -0.02, "z": 0.07, "xx": 0.01, "yy": 0.012, "zz": 0.009, "xy": 0.001}
    for name, value in load.items():
        parameters[places[f"payload_{name}"]] = value
    q, qd, qdd = np.random.default_rng(3).uniform(-1, 1, (3, robot.n))
    ctypes.CDLL(str(tmp_path / "arm.so")).arm_inverse_dynamics(*map(_pointer, (q, qd, qdd, parameters, tau)))
    inertia = [[0.01, 0.001, 0], [0.001, 0.012, 0], [0, 0, 0.009]]
    loaded = robot.with_payload(2.0, com=(0.01, -0.02, 0.07), inertia=inertia)
    np.testing.assert_allclose(tau, pinocchio_model.inverse_dynamics(loaded, q, qd, qdd), rtol=1e-11)


def test_a_payload_by_name_is_refused() -> None:
    with pytest.raises(ArmdynError, match="'mp' in place of a number"):
        armdyn.load("planar2r").with_payload("mp")
