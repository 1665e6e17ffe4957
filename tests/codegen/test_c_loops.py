"""Exported C with loops over the links, in numbers of 32 bits, and what the header says about the stack."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable
from dataclasses import replace
from math import cos, sin
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import armdyn
from armdyn.codegen import DEFAULT, Model, export, model
from armdyn.codegen.c_source import header, source, stack_bytes
from armdyn.codegen.export_files import model_for, texts
from armdyn.codegen.functions import applicable
from armdyn.codegen.reference_vectors import states
from armdyn.dynamics.looped.robots import LOOPED
from armdyn.dynamics.quantities import RARE
from armdyn.errors import ArmdynError
from armdyn.mechanics import newton_euler
from armdyn.robot import Robot
from support.feature_robots import ROBOTS as FEATURES

from .conftest import COMPILERS, STRICT, needs_compiler, run

FEW = ("inverse_dynamics", "forward_dynamics", "mass_matrix", "regressor")
ROBOTS: dict[str, tuple[Callable[[], Robot], tuple[str, ...] | None]] = {
    "mixed tree": (lambda: armdyn.random_robot(3, 9, prismatic=0.4, branching=0.4), None),
    "free base": (lambda: armdyn.random_robot(8, 6, branching=0.4, any_gravity=True, free_root=True), FEW[:3]),
    "friction and rotors": (lambda: armdyn.load("puma560"), (*FEW, "inverse_dynamics_derivatives", "coriolis_matrix")),
}


@needs_compiler
@pytest.mark.parametrize("name", ROBOTS)
def test_loops_pass_the_vectors(name: str, tmp_path: Path) -> None:
    make, functions = ROBOTS[name]
    robot = make()
    straight = ("forward_dynamics_derivatives", *RARE)
    functions = functions or tuple(each for each in applicable(robot) if each not in straight)
    made = model(robot, functions, loops=True)
    assert {function.name for function in made.functions if function.loops is not None} == {*functions} & {*LOOPED}
    export(robot, "c", functions, "arm", loops=True).save(tmp_path)
    for compiler in COMPILERS:
        done = run(compiler, *STRICT, "arm.c", "arm_test.c", "-lm", "-o", "t", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        ran = run(tmp_path / "t", cwd=tmp_path)
        assert ran.returncode == 0, ran.stdout
        assert ran.stdout.count(" pass ") == len(functions)


def test_the_statements_do_not_depend_on_the_number_of_joints() -> None:
    """But for the table: a row per joint."""
    counts = []
    for n in (8, 16):
        text = source(model(armdyn.random_robot(1, n), FEW, "arm", loops=True))
        table = re.compile(r"= \{\n.*?^    \};", re.S | re.M)
        assert len(re.findall(table, text)) == 2 * len(FEW)
        counts.append(re.sub(table, "", text).count(";"))
    assert counts[0] == counts[1]


def test_long_chains_have_loops_by_themselves() -> None:
    chain = armdyn.random_robot(1, 30)
    looped = model_for("c", chain, FEW[:3])
    assert all(function.loops for function in looped.functions)
    straight = model_for("c", armdyn.load("ur5"), FEW[:1])
    assert not any(function.loops for function in straight.functions)
    assert not any(function.loops for function in model_for("c", chain, ["gravity"], loops=False).functions)
    assert not any(function.loops for function in model_for("wasm", chain, ["gravity"]).functions)


@needs_compiler
def test_long_chains_with_named_lengths_follow_them(tmp_path: Path) -> None:
    """Parameters have an effect on all numbers of the links, which a table of constants would not show."""
    joint = [
        "[[joint]]",
        'type = "revolute"',
        'a = "length"',
        "alpha = 0.3",
        'mass = "mass"',
        "com = [-0.1, 0, 0]",
        "inertia = [0.01, 0, 0, 0.01, 0, 0.01]",
    ]
    heads = ['convention = "standard"', "[parameters]", "length = 0.2", "mass = 1.0"]
    (tmp_path / "chain.toml").write_text("\n".join(heads + 25 * joint))
    chain = armdyn.load(tmp_path / "chain.toml")
    export(chain, "c", ["inverse_dynamics"], "arm", parameters=True).save(tmp_path)
    run(COMPILERS[0], "-shared", "-fPIC", "arm.c", "-lm", "-o", "arm.so", cwd=tmp_path)
    function = ctypes.CDLL(str(tmp_path / "arm.so")).arm_inverse_dynamics
    state, tau = np.random.default_rng(0).random((3, 25)), np.empty(25)
    for length, mass in ((0.2, 1.0), (0.4, 1.0), (0.2, 1.5)):
        function(*(x.ctypes for x in (*state, np.array([length, mass]), tau)))
        expected = newton_euler.inverse_dynamics(chain.with_parameters(length=length, mass=mass), *state)
        np.testing.assert_allclose(tau, expected, rtol=0, atol=1e-12 * np.abs(expected).max())


@pytest.mark.parametrize(
    ("to", "robot", "options", "message"),
    [
        ("wasm", "ur5", {"loops": True}, "loops in wasm"),
        ("cpp", "ur5", {"real": "float"}, "32-bit numbers in cpp"),
        ("c", "scara5", {"loops": True, "parameters": True}, "named parameters together with loops"),
        ("c", "parallelogram", {"loops": True}, "there is no looped code for this robot"),
    ],
)
def test_what_a_language_does_not_have_is_an_error(to: str, robot: str, options: Any, message: str) -> None:
    with pytest.raises(ArmdynError, match=message):
        model_for(to, armdyn.load(robot), ["gravity"], **options)


@needs_compiler
@pytest.mark.parametrize("loops", [False, True])
def test_numbers_of_32_bits(loops: bool, tmp_path: Path) -> None:
    functions = ("inverse_dynamics", "forward_dynamics", "pose")
    export(armdyn.load("ur5"), "c", functions, "arm", loops=loops, real="float").save(tmp_path)
    assert "double" not in (tmp_path / "arm.c").read_text() + (tmp_path / "arm.h").read_text()
    for compiler in COMPILERS:
        flags = (*STRICT, "-Wdouble-promotion", "-Wfloat-conversion")
        done = run(compiler, *flags, "-c", "arm.c", "-o", "arm.o", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        done = run(compiler, *STRICT, "arm.c", "arm_test.c", "-lm", "-o", "t", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        ran = run(tmp_path / "t", cwd=tmp_path)
        assert ran.returncode == 0, ran.stdout
        errors = [float(x) for x in re.findall(r"difference (\S+) of", ran.stdout)]
        assert len(errors) == len(functions)
        assert 1e-10 < max(errors) < 2e-6  # rounded to 24 bits, and well within what the test tolerates


# Stack and rounding ---------------------------------------------------------------------------------------------------


def stacks() -> dict[str, Model]:
    looped = model(armdyn.random_robot(3, 9, prismatic=0.4), FEW, "arm", loops=True)
    return {
        "ur5": model(armdyn.load("ur5"), (*FEW[:3], "forward_dynamics_derivatives"), "arm"),
        "floats": replace(model(armdyn.load("ur5"), FEW[:2], "arm"), real="float"),
        "pendulum": model(armdyn.load("pendulum"), DEFAULT, "arm"),
        "loop": model(armdyn.load("five_bar"), DEFAULT, "arm"),
        "friction": model(FEATURES["static_friction"](), DEFAULT, "arm"),
        "looped": looped,
        "free base": model(ROBOTS["free base"][0](), FEW[:3], "arm", loops=True),
    }


@needs_compiler
def test_bounds_on_the_stack_hold(tmp_path: Path) -> None:
    """As compilers report it, with and without optimisation."""
    for name, made in stacks().items():
        (tmp_path / "arm.c").write_text(source(made))
        (tmp_path / "arm.h").write_text(header(made))
        bounds = {f"arm_{function.name}": stack_bytes(made, function) for function in made.functions}
        words = " ".join(header(made).replace("*", "").split())
        assert all(f"at most {bound} bytes" in words for bound in bounds.values())
        for compiler in COMPILERS:
            for level in ("-O0", "-O2") if name in ("pendulum", "looped") else ("-O0",):
                flags = ("-std=c99", level, "-fstack-usage", "-c")
                assert run(compiler, *flags, "arm.c", "-o", "arm.o", cwd=tmp_path).returncode == 0
                rows = [line.split("\t") for line in (tmp_path / "arm.su").read_text().splitlines()]
                found = {row[0].rpartition(":")[2]: int(row[1]) for row in rows}
                for function, bound in bounds.items():
                    assert found[function] + 256 <= bound, (name, compiler, level, function)  # 256: sin and cos
                    assert bound < 3 * found[function] + 2000 or level != "-O0", (name, function)  # and is of use


@needs_compiler
def test_the_same_arithmetic_gives_the_same_numbers(tmp_path: Path) -> None:
    """C of all compilers and Python, without fused operations: within one unit in the last place."""
    robot = armdyn.load("panda")
    made = model(robot, ("inverse_dynamics", "mass_matrix", "pose"), "arm")
    (text,) = texts(made, "python").values()
    python: dict[str, Any] = {"sin": sin, "cos": cos}
    exec(compile(text.replace("np.sin", "sin").replace("np.cos", "cos"), "arm.py", "exec"), python)
    (tmp_path / "arm.c").write_text(source(made))
    (tmp_path / "arm.h").write_text(header(made))
    state = states(robot, 20, seed=2)
    for compiler in COMPILERS:
        flags = ("-std=c99", "-O2", "-ffp-contract=off", "-shared", "-fPIC")
        assert run(compiler, *flags, "arm.c", "-lm", "-o", f"{compiler}.so", cwd=tmp_path).returncode == 0
        library = ctypes.CDLL(str(tmp_path / f"{compiler}.so"))
        for function in made.functions:
            call = getattr(library, f"arm_{function.name}")
            for k in range(20):
                given = [np.ascontiguousarray(state[name][k]) for name in function.arguments]
                result = np.empty(function.outputs[0].shape)
                call(*(ctypes.c_void_p(array.ctypes.data) for array in (*given, result)))
                expected = np.asarray(python[function.name](*given))
                assert (np.abs(result - expected) <= np.spacing(np.abs(expected))).all(), function.name
