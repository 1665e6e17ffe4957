"""Units of FMI 3.0 and 2.0, run through FMPy: reference vectors, simulation, laws, payload, hostile names."""

from __future__ import annotations

import os
import platform
import re
import struct
import sys
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import armdyn
from armdyn.codegen import export, fmu_binary
from armdyn.codegen.payload_parameters import PAYLOAD, with_payload_parameters
from armdyn.control.base import Law
from armdyn.robot import Robot

from .conftest import COMPILERS, HOSTILE, run
from .test_shells import ROBOTS

fmpy = pytest.importorskip("fmpy", reason="FMPy is not installed: pip install 'armdyn[fmu]'")
pytestmark = pytest.mark.skipif(
    (platform.system(), platform.machine()) != ("Linux", "x86_64"), reason="the binaries are for Linux on x86-64"
)
FULL = os.environ.get("ARMDYN_FULL") == "1"
"""All robots."""
WARNINGS = ("-std=c99", "-O1", "-Wall", "-Wextra", "-Werror", "-pedantic", "-Wno-overlength-strings")


def built(path: Path, *, sources: bool = False) -> str:
    """The unit, unpacked and valid; sources: with a binary of its sources, made by a compiler, in place of its own."""
    from fmpy.validation import validate_fmu

    assert validate_fmu(str(path)) == []
    folder = Path(fmpy.extract(str(path), path.with_suffix("")))
    (binary,) = folder.glob("binaries/*/*.so")
    if sources:
        headers, files = Path(fmpy.__file__).parent / "c-code", sorted((folder / "sources").glob("*.c"))
        for compiler in COMPILERS:
            done = run(compiler, *WARNINGS, "-shared", "-fPIC", f"-I{headers}", *files, "-lm", "-o", binary, cwd=folder)
            assert done.returncode == 0, done.stderr
    return str(folder)


def simulated(folder: str, interface: str, start: Mapping[str, float], inputs: Mapping[str, float], **options: Any):
    """The end of one second under constant inputs, by name."""
    names = [("time", float), *((name, float) for name in inputs)]
    held = np.array([(t, *inputs.values()) for t in (0.0, 1.0)], dtype=names)
    wanted = [v.name for v in fmpy.read_model_description(folder).modelVariables if v.causality == "output"]
    found = fmpy.simulate_fmu(folder, fmi_type=interface, start_values=dict(start), input=held, output=wanted,
                              stop_time=1.0, output_interval=0.05, **options)  # fmt: skip
    return {name: found[name][-1] for name in wanted}


def entries(made: Mapping[str, float], name: str) -> np.ndarray:
    return np.array([value for key, value in made.items() if key.startswith(f"{name}.")])


@pytest.mark.parametrize("name", [name for name in ROBOTS if FULL or name in ("free_tree", "chain30")])
def test_vectors(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The exported test, as a user runs it who has no compiler."""
    monkeypatch.chdir(tmp_path)
    functions = ["inverse_dynamics"] if name == "chain30" and not FULL else None
    paths = export(ROBOTS[name][0](), "fmu", functions, prefix="arm").save(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    ran = run(sys.executable, "arm_fmu_test.py", cwd=tmp_path)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert ran.stdout.count(" pass ") == len(paths) - 2 == (2 if functions else 4)
    assert "all passed" in ran.stdout


@pytest.mark.parametrize("law", ["computed_torque", "adaptive", "task_pid"])
def test_laws_pass_their_own_test(law: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tunable = ("kp", "payload") if law == "computed_torque" else ()
    armdyn.export(armdyn.load("scara5"), "fmu", prefix="arm", law=law, tunable=tunable).save(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    ran = run(sys.executable, "arm_fmu_test.py", cwd=tmp_path)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert ran.stdout.count(" pass ") == 2
    if tunable:
        known = fmpy.read_model_description(str(tmp_path / "arm_controller_fmi2.fmu"))
        units = {v.name: v.unit for v in known.modelVariables if v.causality == "parameter"}
        assert units["payload.mass"] == "kg"
        assert "parameters.kp_1" in units


def test_a_broken_unit_is_noticed(tmp_path: Path) -> None:
    """Constants of the machine code, changed one at a time in a thousandth: the unit's own test fails each time."""
    armdyn.export(armdyn.load("planar2r"), "fmu", prefix="arm", law="pid").save(tmp_path)
    path, broken, noticed = tmp_path / "arm_controller_fmi2.fmu", 0, 0
    with zipfile.ZipFile(path) as archive:
        contents = {name: archive.read(name) for name in archive.namelist()}
    binary = next(name for name in contents if name.endswith(".so"))
    gains: Any = armdyn.control.law("pid", armdyn.compile(armdyn.load("planar2r")), period=1e-3)
    for value in (*gains.kp, *gains.ki, *gains.kd):
        changed = contents[binary].replace(struct.pack("<d", value), struct.pack("<d", 1.001 * value))
        broken += changed != contents[binary]
        with zipfile.ZipFile(path, "w") as archive:
            for name, content in contents.items():
                archive.writestr(name, changed if name == binary else content)
        noticed += run(sys.executable, "arm_fmu_test.py", cwd=tmp_path).returncode != 0
    assert noticed == broken >= 4


@pytest.mark.skipif(not COMPILERS, reason="no C compiler (gcc or clang) on this machine")
@pytest.mark.parametrize("law", [None, "adaptive"])
def test_the_sources_are_those_of_the_binary(law: str | None, tmp_path: Path) -> None:
    """Compiled as they come, they pass the same test; the IR that binaries are made from is that of these sources."""
    for version in (2, 3):
        first = (fmu_binary.FOLDER / f"fmi{version}.ll").read_text().splitlines()[0]
        assert first.endswith(fmu_binary.digest(version)), "run tools/fmu_runtime.py"
    paths = armdyn.export(armdyn.load("scara5"), "fmu", prefix="arm", law=law).save(tmp_path)
    for path in paths[:-2]:
        folder = Path(built(path, sources=True))
        with zipfile.ZipFile(path, "w") as archive:
            for file in (each for each in folder.rglob("*") if each.is_file()):
                archive.write(file, file.relative_to(folder))
    ran = run(sys.executable, "arm_fmu_test.py", cwd=tmp_path)
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_a_law_and_a_plant_in_a_co_simulation(tmp_path: Path) -> None:
    """libcosimpy steps both units in parallel, so that torques come a period later: the arm still reaches its goal."""
    libcosimpy = pytest.importorskip("libcosimpy", reason="libcosimpy is not installed")
    from libcosimpy.CosimExecution import CosimExecution
    from libcosimpy.CosimManipulator import CosimManipulator
    from libcosimpy.CosimObserver import CosimObserver
    from libcosimpy.CosimSlave import CosimLocalSlave

    assert libcosimpy
    robot = armdyn.load("planar2r")
    armdyn.export(robot, "fmu", prefix="law", law="computed_torque").save(tmp_path)
    armdyn.export(robot, "fmu", ["forward_dynamics"], prefix="arm").save(tmp_path)
    files = {"law": tmp_path / "law_controller_fmi2.fmu", "arm": tmp_path / "arm_forward_dynamics_fmi2.fmu"}
    places = {
        unit: {v.name: v.valueReference for v in fmpy.read_model_description(str(file)).modelVariables}
        for unit, file in files.items()
    }
    execution = CosimExecution.from_step_size(step_size=1_000_000)
    number = {unit: execution.add_local_slave(CosimLocalSlave(fmu_path=str(file), instance_name=unit))
              for unit, file in files.items()}  # fmt: skip
    observer, manipulator = CosimObserver.create_last_value(), CosimManipulator.create_override()
    execution.add_observer(observer)
    execution.add_manipulator(manipulator)
    joints = [joint.name for joint in robot.joints]
    for kind, (source, target) in {"q": ("arm", "law"), "qd": ("arm", "law"), "tau": ("law", "arm")}.items():
        for joint in joints:
            name = f"{kind}.{joint}"
            execution.connect_real_variables(number[source], places[source][name], number[target], places[target][name])
    goal = np.array([0.6, -0.4])
    names = [places["law"][f"q_desired.{joint}"] for joint in joints]
    manipulator.slave_real_values(number["law"], names, goal.tolist())
    assert execution.step(step_count=2000)
    found = observer.last_real_values(number["arm"], [places["arm"][f"q.{joint}"] for joint in joints])
    np.testing.assert_allclose(found, goal, atol=2e-3)  # gains of 100 1/s^2 settle to that in 2 s


class Constant(Law):
    """The same torques at all times."""

    needs_reference = False

    def __init__(self, tau: np.ndarray) -> None:
        self.tau = tau

    def __call__(self, t: Any, q: Any, qd: Any, desired: Any, memory: Any = ()) -> np.ndarray:
        return self.tau


LOAD = {"payload.mass": 2.0, "payload.com[1]": 0.1, "payload.com[2]": -0.05, "payload.com[3]": 0.2,
        "payload.inertia.xx": 0.02, "payload.inertia.yy": 0.03, "payload.inertia.zz": 0.04, "payload.inertia.xy": 0.002,
        "payload.inertia.xz": -0.001, "payload.inertia.yz": 0.003}  # fmt: skip


def carried() -> list[float]:
    """The load in the order of PAYLOAD."""
    return [LOAD[name] for name, _, _ in PAYLOAD.values()]


def carrying(robot: Robot) -> Robot:
    return robot.with_payload(2.0, (0.1, -0.05, 0.2), (0.02, 0.002, -0.001, 0.03, 0.003, 0.04))


@pytest.mark.parametrize("version", [2, 3])
@pytest.mark.parametrize("name", ["panda", "parallelogram", "free_tree"])
def test_the_plant_moves_as_the_library_s(
    name: str, version: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A second from a random state under constant torques, empty and loaded, by both interfaces."""
    monkeypatch.chdir(tmp_path)
    robot = ROBOTS[name][0]()
    if name == "free_tree":
        robot = robot.without("friction")  # dry friction jumps: integrators differ there
    path = export(robot, "fmu", ["forward_dynamics"], "arm").save(tmp_path)[3 - version]
    folder = built(path)
    rng = np.random.default_rng(4)
    home = robot.neutral if robot.compounds or robot.constrained else np.array([0.0, -0.3, 0.2, -1.8, 0.1, 1.5, 0.4])
    q0 = robot.integrate(home, rng.uniform(-0.1, 0.1, robot.n)) if robot.compounds else home
    qd0, tau = rng.uniform(-0.2, 0.2, robot.n), rng.uniform(-1, 1, robot.n)
    known = fmpy.read_model_description(folder).modelVariables
    named = {x: [v.name for v in known if v.name.startswith(f"{x}.")] for x in ("q", "qd", "tau")}
    state = dict(zip(named["q"], q0, strict=True)) | dict(zip(named["qd"], qd0, strict=True))
    inputs = dict(zip(named["tau"], tau, strict=True))
    for load, moving in (({}, robot), (LOAD, carrying(robot))):
        expected = armdyn.simulate(
            moving, Constant(tau), duration=1.0, q0=q0, qd0=qd0, solver=armdyn.Solver(integrator="dop853")
        )
        assert expected.ok, expected.status
        ways: dict[str, dict[str, Any]] = {
            "CoSimulation": {"start": {"tolerance": 1e-10}}, "ModelExchange": {"relative_tolerance": 1e-9},
        }  # fmt: skip
        for interface, options in ways.items():
            start = {**state, **load, **options.pop("start", {})}
            found = simulated(folder, interface, start, inputs, **options)
            # Co-Simulation repeats the library's accuracy; CVode of Model Exchange, of order 5 at most, less so.
            near = 1e-7 if interface == "CoSimulation" else 1e-4
            np.testing.assert_allclose(
                entries(found, "qd"), expected.qd[-1], rtol=0, atol=near * (1 + abs(expected.qd).max())
            )
            if not robot.compounds:
                np.testing.assert_allclose(
                    entries(found, "q"), expected.q[-1], rtol=0, atol=near * (1 + abs(expected.q).max())
                )
            else:
                away = robot.difference(entries(found, "q"), expected.q[-1])
                np.testing.assert_allclose(away, 0, atol=near * (1 + abs(expected.q).max()))


def test_the_payload_is_tunable_while_it_runs(tmp_path: Path) -> None:
    """Set between two steps of co-simulation: as a plant whose model changes at that time."""
    from fmpy.fmi3 import FMU3Slave

    robot = armdyn.load("planar2r")
    (path, *_) = export(robot, "fmu", ["forward_dynamics"], "arm").save(tmp_path)
    folder = built(path)
    known = fmpy.read_model_description(folder)
    places = {v.name: v.valueReference for v in known.modelVariables}
    fmu = FMU3Slave(guid=known.instantiationToken, unzipDirectory=folder, modelIdentifier="arm_forward_dynamics")
    fmu.instantiate()
    fmu.enterInitializationMode(tolerance=1e-11)
    fmu.exitInitializationMode()
    for k in range(10):
        if k == 5:
            fmu.setFloat64([places[name] for name in LOAD], list(LOAD.values()))
        fmu.doStep(k / 10, 0.1)
    found = fmu.getFloat64([place for name, place in places.items() if name.startswith(("q.", "qd."))])
    state = fmu.getFMUState()
    fmu.doStep(1.0, 0.1)
    fmu.setFMUState(state)
    again = fmu.getFloat64([place for name, place in places.items() if name.startswith(("q.", "qd."))])
    assert again == found
    fmu.terminate()
    fmu.freeInstance()
    plant = armdyn.Plant(robot, changes={0.5: carrying(robot)})
    run_ = armdyn.simulate(
        plant, lambda t, q, qd: np.zeros(2), duration=1.0, solver=armdyn.Solver(dt=1e-4, integrator="rk4")
    )
    np.testing.assert_allclose(found, [*run_.q[-1], *run_.qd[-1]], rtol=0, atol=1e-8 * abs(run_.qd).max())


def test_errors_are_said(tmp_path: Path) -> None:
    """A unit neither takes what is not a number, nor sets what it computes, nor takes another's token."""
    from fmpy.fmi1 import FMICallException
    from fmpy.fmi3 import FMU3Model

    (path, *_) = export(armdyn.load("planar2r"), "fmu", ["inverse_dynamics"], "arm").save(tmp_path)
    folder = built(path)
    known = fmpy.read_model_description(folder)
    messages: list[str] = []

    def heard(environment: Any, status: int, category: bytes, message: bytes) -> None:
        messages.append(message.decode())

    fmu = FMU3Model(guid=known.instantiationToken, unzipDirectory=folder, modelIdentifier="arm_inverse_dynamics")
    fmu.instantiate(logMessage=heard)
    fmu.enterInitializationMode()
    output = next(v.valueReference for v in known.modelVariables if v.causality == "output")
    for place, value in ((1, float("nan")), (output, 1.0), (0, 1.0), (9999, 1.0)):
        with pytest.raises(FMICallException):
            fmu.setFloat64([place], [value])
    assert messages[0] == "variable 1 would not be finite"
    assert messages[1] == f"variable {output} cannot be set"
    assert len(messages) == 4
    fmu.guid = "{another}"
    with pytest.raises(Exception, match="instantiate"):
        fmu.instantiate(logMessage=heard)
    assert "token" in messages[-1]


@pytest.mark.parametrize("parameters", [False, True])
def test_hostile_names(hostile: Robot, parameters: bool, tmp_path: Path) -> None:
    paths = export(hostile, "fmu", parameters=parameters).save(tmp_path)
    for path in paths[:-2]:
        folder = Path(built(path, sources=bool(COMPILERS)))
        with zipfile.ZipFile(path) as archive:
            assert all(re.fullmatch(r"(\w+/|\w+-linux/)*\w+\.\w+", name) for name in archive.namelist())
            names = [name for name in archive.namelist() if not name.endswith(".so")]
            texts = {name: archive.read(name).decode("ascii") for name in names}
        for name, text in texts.items():
            if name.endswith((".c", ".h")):
                assert "??" not in text
                assert set(re.findall(r"^\s*#\s*(\w+)", text, re.M)) <= {
                    "include",
                    "define",
                    "ifdef",
                    "ifndef",
                    "endif",
                    "if",
                }
                assert all(
                    re.fullmatch(r"<\w+\.h>|\"\w+\.h\"", each) for each in re.findall(r"^\s*#include (.*)$", text, re.M)
                )
        assert not re.search(
            r"</etc|<img|<script", next(text for name, text in texts.items() if name.endswith(".html"))
        )
        names = [v.name for v in fmpy.read_model_description(str(folder)).modelVariables]
        assert len(set(names)) == len(names)
        assert all(re.fullmatch(r"(der\()?[A-Za-z_]\w*(\.\w+)*(\[\d+\])?\)?", name) for name in names), names
        assert any(name.startswith("parameters.") for name in names) == parameters
    assert len(HOSTILE) == hostile.n


def test_units_of_mixed_joints_and_the_same_bytes_twice(tmp_path: Path) -> None:
    robot = armdyn.load("scara5")
    first, *_ = export(robot, "fmu", ["inverse_dynamics"], "arm").save(tmp_path / "a")
    second, *_ = export(robot, "fmu", ["inverse_dynamics"], "arm").save(tmp_path / "b")
    assert first.read_bytes() == second.read_bytes()
    units = {v.name: v.unit for v in fmpy.read_model_description(str(first)).modelVariables}
    kinds = {joint.name: joint.kind for joint in robot.joints}
    for name, kind in kinds.items():
        assert units[f"tau.{name}"] == ("N.m" if kind == "revolute" else "N")
        assert units[f"qdd.{name}"] == ("rad/s2" if kind == "revolute" else "m/s2")
    assert units["payload.mass"] == "kg"


def test_a_robot_keeps_its_parameters_beside_the_payload() -> None:
    robot = armdyn.load("scara5")
    assert set(with_payload_parameters(robot, parameters=True).parameters) > set(robot.parameters)
    assert len(with_payload_parameters(robot).parameters) == 10
