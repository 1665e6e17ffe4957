"""FMI 3.0 units, built and run through FMPy: reference vectors, simulation, payload, hostile names."""

from __future__ import annotations

import ctypes
import os
import platform
import re
import shutil
import sys
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import armdyn
from armdyn.codegen import c_source, export
from armdyn.codegen.export_files import model_for
from armdyn.codegen.payload_parameters import PAYLOAD, with_payload_parameters
from armdyn.control.base import Law
from armdyn.robot import Robot

from .conftest import COMPILERS, HOSTILE, run
from .test_shells import ROBOTS

fmpy = pytest.importorskip("fmpy", reason="FMPy is not installed: pip install 'armdyn[fmu]'")
pytestmark = [
    pytest.mark.skipif(not COMPILERS, reason="no C compiler (gcc or clang) on this machine"),
    pytest.mark.skipif(platform.system() != "Linux", reason="shared objects are built for Linux here"),
]
FULL = os.environ.get("ARMDYN_FULL") == "1"
"""All robots."""
WARNINGS = ("-std=c99", "-O1", "-Wall", "-Wextra", "-Werror", "-pedantic", "-Wno-overlength-strings")


def built(path: Path) -> str:
    """The unit, unpacked, valid, with a binary of its sources."""
    from fmpy.validation import validate_fmu

    assert validate_fmu(str(path)) == []
    folder = Path(fmpy.extract(str(path), path.with_suffix("")))
    headers = Path(fmpy.__file__).parent / "c-code"
    target = folder / "binaries" / fmpy.platform_tuple / f"{path.stem}.so"
    target.parent.mkdir(parents=True)
    sources = sorted((folder / "sources").glob("*.c"))
    for compiler in COMPILERS:
        done = run(compiler, *WARNINGS, "-shared", "-fPIC", f"-I{headers}", *sources, "-lm", "-o", target, cwd=folder)
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


@pytest.mark.skipif(not shutil.which("cmake"), reason="CMake, which FMPy builds with, is not installed")
@pytest.mark.parametrize("name", [name for name in ROBOTS if FULL or name in ("free_tree", "chain30")])
def test_vectors(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The exported test, as a user runs it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CMAKE_BUILD_PARALLEL_LEVEL", "1")
    paths = export(ROBOTS[name][0](), "fmu", prefix="arm").save(tmp_path)
    ran = run(sys.executable, "arm_fmu_test.py", cwd=tmp_path)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert ran.stdout.count(" pass ") == len(paths) - 2 == 2
    assert "all passed" in ran.stdout


def test_the_payload_of_a_long_chain_in_loops(tmp_path: Path) -> None:
    robot = ROBOTS["chain30"][0]()
    made = model_for("fmu", robot, ("inverse_dynamics", "forward_dynamics"), "arm")
    assert all(function.loops for function in made.functions)
    for name, text in (("arm.h", c_source.header(made)), ("arm.c", c_source.source(made))):
        (tmp_path / name).write_text(text)
    done = run(COMPILERS[0], *WARNINGS, "-shared", "-fPIC", "arm.c", "-lm", "-o", "arm.so", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    library, load = ctypes.CDLL(str(tmp_path / "arm.so")), dict(zip(PAYLOAD, carried(), strict=True))
    parameters = np.array([load[str(node.value).removeprefix("payload_")] for node in made.parameters])
    dyn = armdyn.compile(carrying(robot))
    for name in ("inverse_dynamics", "forward_dynamics"):
        arguments, result = np.random.default_rng(1).normal(size=(3, robot.n)), np.zeros(robot.n)
        places = [x.ctypes.data_as(ctypes.c_void_p) for x in (*arguments, parameters, result)]
        getattr(library, f"arm_{name}")(*places)
        expected = getattr(dyn, name)(*arguments)
        np.testing.assert_allclose(result, expected, rtol=0, atol=1e-12 * np.abs(expected).max())


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


@pytest.mark.parametrize("name", ["panda", "parallelogram", "free_tree"])
def test_the_plant_moves_as_the_library_s(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A second from a random state under constant torques, empty and loaded, by both interfaces."""
    monkeypatch.chdir(tmp_path)
    robot = ROBOTS[name][0]()
    if name == "free_tree":
        robot = robot.without("friction")  # dry friction jumps: integrators differ there
    (path, *_) = export(robot, "fmu", ["forward_dynamics"], "arm").save(tmp_path)
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
    for path in paths[:2]:
        folder = Path(built(path))
        with zipfile.ZipFile(path) as archive:
            assert all(re.fullmatch(r"(\w+/)?\w+\.\w+", name) for name in archive.namelist())
            texts = {name: archive.read(name).decode("ascii") for name in archive.namelist()}
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
        assert not re.search(r"</etc|<img|<script", texts["documentation/index.html"])
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
