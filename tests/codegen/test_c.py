"""Exported C: it compiles without a warning, passes its vectors, and executes the operations it promises."""

from __future__ import annotations

import ctypes
import re
import shutil
from pathlib import Path

import numpy as np
import pytest

import armdyn
from armdyn.codegen import DEFAULT, export, model
from armdyn.codegen.c_source import header, source
from armdyn.codegen.functions import PARAMETERS, Model, applicable
from armdyn.codegen.reference_vectors import TOLERANCE, reference, states
from armdyn.dynamics.quantities import QUANTITIES, RARE
from armdyn.graph import Operations
from armdyn.robot import Robot
from support.feature_robots import ROBOTS

from .conftest import COMPILERS, STRICT, needs_compiler, run


def build(folder: Path, name: str, compiler: str, *flags: str) -> Path:
    program = folder / f"{name}_{compiler}"
    done = run(compiler, *flags, f"{name}.c", f"{name}_test.c", "-lm", "-o", program, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert not done.stderr
    return program


@needs_compiler
@pytest.mark.parametrize("parameters", [False, True], ids=["numbers", "parameters"])
def test_compiles_strictly_and_passes_its_vectors(robot: Robot, parameters: bool, tmp_path: Path) -> None:
    functions = ("inverse_dynamics", "forward_dynamics", "mass_matrix", "pose") if parameters else DEFAULT
    paths = export(robot, "c", functions, "arm", parameters=parameters).save(tmp_path)
    assert [path.name for path in paths] == ["arm.h", "arm.c", "arm_test.c", "CMakeLists.txt", "README.txt"]
    for compiler in COMPILERS:
        program = build(tmp_path, "arm", compiler, *STRICT)
        done = run(program, cwd=tmp_path)
        assert done.returncode == 0, done.stdout
        assert done.stdout.count(" pass ") == len(functions)


@needs_compiler
def test_the_test_program_notices_an_error(tmp_path: Path) -> None:
    export(armdyn.load("scara5"), "c", ["inverse_dynamics"]).save(tmp_path)
    text = (tmp_path / "scara5.c").read_text()
    wrong = text.replace("9.81", "9.82", 1)
    assert wrong != text
    (tmp_path / "scara5.c").write_text(wrong)
    done = run(build(tmp_path, "scara5", COMPILERS[0], *STRICT), cwd=tmp_path)
    assert done.returncode == 1
    assert "FAIL" in done.stdout


@pytest.mark.skipif(not shutil.which("g++"), reason="no C++ compiler on this machine")
def test_is_cpp_too_and_links_with_c(tmp_path: Path) -> None:
    export(armdyn.load("scara5"), "c", prefix="arm").save(tmp_path)
    strict = ("-Wall", "-Wextra", "-Werror", "-pedantic")
    done = run("g++", "-x", "c++", *strict, "arm.c", "arm_test.c", "-o", "both", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert run("gcc", "-c", "arm.c", "-o", "arm.o", cwd=tmp_path).returncode == 0
    done = run("g++", *strict, "-x", "c++", "arm_test.c", "-x", "none", "arm.o", "-lm", "-o", "mixed", cwd=tmp_path)
    assert done.returncode == 0, done.stderr  # extern "C" works
    assert run(tmp_path / "mixed", cwd=tmp_path).returncode == 0


@pytest.mark.skipif(not (shutil.which("cmake") and COMPILERS), reason="no CMake or no compiler on this machine")
def test_cmake_builds_and_tests(tmp_path: Path) -> None:
    export(armdyn.load("scara5"), "c", ["gravity", "pose"]).save(tmp_path)
    assert run("cmake", "-B", "build", cwd=tmp_path).returncode == 0
    assert run("cmake", "--build", "build", cwd=tmp_path).returncode == 0
    done = run("ctest", "--test-dir", "build", cwd=tmp_path)
    assert "100% tests passed" in done.stdout, done.stdout


@needs_compiler
def test_equals_mechanics(robot: Robot, made: Model, tmp_path: Path) -> None:
    """Called from here on other states than those in the test program; relative to the largest entry."""
    (tmp_path / "arm.c").write_text(source(made))
    (tmp_path / "arm.h").write_text(header(made))
    flags = ("-std=c99", "-O1", "-shared", "-fPIC")
    assert run(COMPILERS[0], *flags, "arm.c", "-lm", "-o", "arm.so", cwd=tmp_path).returncode == 0
    library = ctypes.CDLL(str(tmp_path / "arm.so"))
    state = states(robot, 8, seed=5)
    for function in made.functions:
        names = list(function.graph.inputs)
        expected = reference(robot, function.name, *(state[name] for name in names)).reshape(8, -1)
        width = expected.shape[1] // len(function.definition.results)
        for k in range(8):
            outputs = [np.full(width, np.nan) for _ in function.definition.results]
            arrays = [np.ascontiguousarray(state[name][k]) for name in names] + outputs
            call = getattr(library, f"arm_{function.name}")
            call.restype = None
            call(*(ctypes.c_void_p(array.ctypes.data) for array in arrays))
            error = np.abs(np.concatenate(outputs) - expected[k]).max()
            # the floor is for what vanishes: friction of a robot without, gravity torques about vertical axes
            assert error <= TOLERANCE * max(np.abs(expected).max(), 1e-3), (function.name, error)


@needs_compiler
def test_a_result_may_overlap_an_argument(tmp_path: Path) -> None:
    robot = armdyn.load("panda")
    export(robot, "c", ["inverse_dynamics"], "arm").save(tmp_path)
    assert run(COMPILERS[0], "-O2", "-shared", "-fPIC", "arm.c", "-lm", "-o", "a.so", cwd=tmp_path).returncode == 0
    call = ctypes.CDLL(str(tmp_path / "a.so")).arm_inverse_dynamics
    call.restype = None
    state = states(robot, 2)
    q, qd, qdd = (np.ascontiguousarray(state[name][1]) for name in ("q", "qd", "qdd"))
    expected = reference(robot, "inverse_dynamics", q, qd, qdd)
    call(*(ctypes.c_void_p(array.ctypes.data) for array in (q, qd, qdd, qdd)))
    np.testing.assert_allclose(qdd, expected, rtol=1e-10, atol=1e-11)


# Operation counts -------------------------------------------------------------------------------------------------


def bodies(made: Model) -> dict[str, str]:
    """The statements of every function, comments and declarations of arguments left out."""
    text = re.sub(r"/\*.*?\*/", "", source(made), flags=re.DOTALL)
    found = re.findall(rf"^void {made.prefix}_(\w+)\([^)]*\)\n{{\n(.*?)^}}", text, flags=re.DOTALL | re.MULTILINE)
    return {name: re.sub(r"const double|\(void\)\w+;|\[\d+\]", "", body) for name, body in found}


def counted(body: str) -> dict[str, int]:
    """Operators in the text of C."""
    text = re.sub(r"\d+\.?\d*(e[+-]?\d+)?(?![\w])", "1", body)
    calls = re.findall(r"([A-Za-z_]\w*)\(", text)
    binary = re.findall(r"(?<=[\w)]) [+-] (?=[\w(-])", re.sub(r"\s+", " ", text))
    unary = re.findall(r"[=(?:] ?-(?!1[;),])", text)  # a negative constant by itself is no work
    return {
        "multiplications": text.count("*"),
        "additions": len(binary),
        "divisions": text.count("/"),
        "trigonometric": calls.count("sin") + calls.count("cos"),
        "square_roots": calls.count("sqrt"),
        "negations": len(unary),
        "others": sum(call in ("exp", "fabs") or call.endswith("_sign") for call in calls) + text.count("?"),
    }


def promised(operations: Operations) -> dict[str, int]:
    names = ("multiplications", "additions", "divisions", "trigonometric", "square_roots", "negations", "others")
    offline = operations.offline or Operations()
    return {name: getattr(operations, name) + getattr(offline, name) for name in names}


def test_the_text_has_the_promised_operations(made: Model) -> None:
    check_operations(made)


def test_the_text_has_the_promised_operations_on_parameters() -> None:
    check_operations(model(armdyn.load("scara5"), QUANTITIES, parameters=True))


def check_operations(made: Model) -> None:
    texts = bodies(made)
    assert set(texts) - {"default_parameters"} == {function.name for function in made.functions}
    for function in made.functions:
        found, expected = counted(texts[function.name]), promised(function.graph.operations)
        # -(a - b)*c is written (b - a)*c: the text may have fewer changes of sign than the graph, never more
        assert found.pop("negations") <= expected.pop("negations"), function.name
        assert found == expected, function.name


@pytest.mark.skipif(not (shutil.which("valgrind") and COMPILERS), reason="no valgrind or no compiler on this machine")
def test_memory_is_clean(tmp_path: Path) -> None:
    export(armdyn.load("scara5"), "c").save(tmp_path)
    program = build(tmp_path, "scara5", COMPILERS[0], "-std=c99", "-g")
    done = run("valgrind", "--error-exitcode=9", "--leak-check=full", program, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "0 allocs" in done.stderr or "total heap usage: 1 allocs" in done.stderr  # printf's buffer


def test_no_heap_no_globals(made: Model) -> None:
    text = source(made)
    assert not re.search(r"\b(malloc|calloc|realloc|free)\(|^static (?!double \w+_sign)", text, flags=re.MULTILINE)
    assert re.findall(r"#include (\S+)", text)[1:] == ["<math.h>"]


def test_parameters_are_arguments() -> None:
    made = model(armdyn.load("scara5"), ["gravity"], parameters=True)
    assert PARAMETERS in made.functions[0].graph.inputs
    assert [node.value for node in made.parameters] == sorted(node.value for node in made.parameters)


@needs_compiler
def test_elastic_joints_pass_their_vectors(tmp_path: Path) -> None:
    """The doubled model: links and motors in every array, named in the header."""
    export(ROBOTS["elastic"](), "c", (*DEFAULT, "springs", "friction"), "arm").save(tmp_path)
    text = (tmp_path / "arm.h").read_text()
    assert "#define ARM_JOINTS 4" in text and "motor, revolute" in text
    done = run(build(tmp_path, "arm", COMPILERS[0], *STRICT), cwd=tmp_path)
    assert done.returncode == 0, done.stdout
    assert done.stdout.count(" pass ") == len(DEFAULT) + 2


@needs_compiler
@pytest.mark.parametrize("name", ["parallelogram", "five_bar"])
def test_all_functions_of_a_closed_chain(name: str, tmp_path: Path) -> None:
    """Loops that are solved exactly, and by Newton steps."""
    robot = armdyn.load(name)
    functions = applicable(robot)
    assert set(functions) == set(QUANTITIES) - set(RARE)  # second derivatives of closed chains are refused
    export(robot, "c", functions, "arm").save(tmp_path)
    done = run(build(tmp_path, "arm", COMPILERS[0], "-std=c99"), cwd=tmp_path)
    assert done.returncode == 0, done.stdout
    assert done.stdout.count(" pass ") == len(functions)
