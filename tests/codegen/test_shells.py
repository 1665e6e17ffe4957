"""Exported C++, MATLAB and WebAssembly: the same reference vectors, run by the language itself."""

from __future__ import annotations

import json
import os
import re
import shutil
import threading
from collections.abc import Callable
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import armdyn
from armdyn.algebra.ops import cos, exp, sign, sin, sqrt
from armdyn.codegen import export
from armdyn.codegen.wasm_module import WasmCode, module
from armdyn.graph import Graph, symbol
from armdyn.graph.program import straight_line
from armdyn.graph.structure import ports
from armdyn.robot import Robot

from .conftest import COMPILERS, needs_compiler, run

CPP = ("g++", "-std=c++17", "-O1", "-Wall", "-Wextra", "-Werror", "-pedantic", "-Wshadow", "-Wconversion")
EIGEN = Path("/usr/include/eigen3")
needs_cpp = pytest.mark.skipif(not shutil.which("g++"), reason="no C++ compiler (g++) on this machine")
needs_octave = pytest.mark.skipif(not shutil.which("octave-cli"), reason="Octave is not installed")
needs_node = pytest.mark.skipif(not shutil.which("node"), reason="Node.js is not installed")

FULL = os.environ.get("ARMDYN_FULL") == "1"
USUAL = ["inverse_dynamics", "forward_dynamics", "mass_matrix", "gravity", "pose", "inverse_dynamics_derivatives"]
CLOSED = ["inverse_dynamics", "forward_dynamics", "mass_matrix", "gravity"]


def free_tree() -> Robot:
    """A tree on a free base."""
    tree = armdyn.random_robot(7, 5, prismatic=0.3, branching=0.5, friction=True)
    tree.save(path := Path("free_tree.toml"))
    return armdyn.load(path, free_root=True)


ROBOTS: dict[str, tuple[Callable[[], Robot], list[str]]] = {
    "ur5": (lambda: armdyn.load("ur5"), USUAL),
    "panda": (lambda: armdyn.load("panda"), USUAL[:4]),
    "parallelogram": (lambda: armdyn.load("parallelogram"), CLOSED),
    "free_tree": (free_tree, USUAL[:4]),
    "chain30": (lambda: armdyn.random_robot(1, 30), ["inverse_dynamics", "gravity"]),
}


RELATIVE = 1e-14
"""Of the terms that are added up to a result: the code and its reference are different formulations."""


def assert_passed(printed: str, functions: list[str]) -> None:
    """All functions have passed their own test, and are as near to the reference as numbers of 64 bits allow."""
    differences = [float(text) for text in re.findall(r" pass +\(largest difference (\S+) of the scale\)", printed)]
    assert len(differences) == len(functions), printed
    assert max(differences) < RELATIVE, printed


@pytest.fixture(params=ROBOTS)
def shell(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Robot, list[str]]:
    """A robot and the functions that are exported."""
    monkeypatch.chdir(tmp_path)
    make, functions = ROBOTS[request.param]
    return make(), functions


@needs_compiler
def test_c(shell: tuple[Robot, list[str]], tmp_path: Path) -> None:
    """With all compilers; the chain of 30 joints as loops, in a few more functions."""
    robot, functions = shell
    functions = [*functions, "forward_dynamics", "mass_matrix", "jacobian"] if robot.n == 30 else functions
    export(robot, "c", functions, "arm").save(tmp_path)
    for compiler in COMPILERS:
        done = run(compiler, "-std=c99", "arm.c", "arm_test.c", "-lm", "-o", compiler, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        ran = run(tmp_path / compiler, cwd=tmp_path)
        assert ran.returncode == 0, ran.stdout
        assert_passed(ran.stdout, functions)


@needs_cpp
def test_cpp(shell: tuple[Robot, list[str]], tmp_path: Path) -> None:
    export(shell[0], "cpp", shell[1], "arm").save(tmp_path)
    done = run(*CPP, *([f"-I{EIGEN}"] if EIGEN.exists() else []), "arm_test.cpp", "-o", "t", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    ran = run(tmp_path / "t", cwd=tmp_path)
    assert ran.returncode == 0, ran.stdout
    assert_passed(ran.stdout, shell[1])


@needs_octave
def test_octave(shell: tuple[Robot, list[str]], tmp_path: Path) -> None:
    export(shell[0], "matlab", shell[1], "arm").save(tmp_path)
    ran = run("octave-cli", "--no-init-file", "--quiet", "--eval", "arm_test", cwd=tmp_path)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert_passed(ran.stdout, shell[1])


@needs_octave
def test_octave_class_parameters_and_wrong_sizes(tmp_path: Path) -> None:
    export(armdyn.load("scara5"), "matlab", ["gravity"], "arm", parameters=True).save(tmp_path)
    program = """
        assert(arm.gravity(zeros(5, 1)), arm_gravity(zeros(5, 1)));
        heavy = arm_parameters() * 2;
        assert(any(arm.gravity(zeros(5, 1), heavy) ~= arm.gravity(zeros(5, 1))));
        assert(strcmp(arm.joints{2}, 'shoulder'));
        try, arm_gravity(zeros(4, 1)); error('not noticed');
        catch problem, assert(problem.message, 'q has 4 entries, expected 5'); end"""
    ran = run("octave-cli", "--no-init-file", "--quiet", "--eval", program, cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr


@pytest.mark.skipif(not shutil.which("mkoctfile"), reason="mkoctfile (Debian: liboctave-dev) is not installed")
def test_mex(tmp_path: Path) -> None:
    export(armdyn.load("scara5"), "matlab", ["mass_matrix", "inverse_dynamics_derivatives"], "arm").save(tmp_path)
    made = run("mkoctfile", "--mex", "arm_mex.c", "arm.c", cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    program = """
        q = (1:5)'/10; M = arm_mex('mass_matrix', q);
        assert(M, arm.mass_matrix(q), 1e-14);
        [a, b] = arm_mex('inverse_dynamics_derivatives', q, q, q);
        [c, d] = arm.inverse_dynamics_derivatives(q, q, q);
        assert(a, c, 1e-12); assert(b, d, 1e-12); assert(any(any(a ~= a')));
        try, arm_mex('mass_matrix', 1); error('none');
        catch problem, assert(strfind(problem.message, 'size') > 0); end
        try, arm_mex('nothing'); error('none');
        catch problem, assert(strfind(problem.message, 'unknown') > 0); end"""
    ran = run("octave-cli", "--no-init-file", "--quiet", "--eval", program, cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr


@needs_cpp
@pytest.mark.parametrize("parameters", [False, True])
def test_hostile_names_in_cpp(hostile: Robot, parameters: bool, tmp_path: Path) -> None:
    (path, *_) = export(hostile, "cpp", parameters=parameters).save(tmp_path)
    done = run(*CPP, f"{path.stem}_test.cpp", "-o", "t", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert run(tmp_path / "t", cwd=tmp_path).returncode == 0


@needs_octave
@pytest.mark.parametrize("parameters", [False, True])
def test_hostile_names_in_octave(hostile: Robot, parameters: bool, tmp_path: Path) -> None:
    (path, *_) = export(hostile, "matlab", parameters=parameters).save(tmp_path)
    command = f"{path.stem}_test; numel({path.stem}.joints)"
    ran = run("octave-cli", "--no-init-file", "--quiet", "--eval", command, cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert "all passed" in ran.stdout


# WebAssembly ------------------------------------------------------------------------------------------------------


@needs_node
def test_wasm(shell: tuple[Robot, list[str]], tmp_path: Path) -> None:
    export(shell[0], "wasm", shell[1], "arm").save(tmp_path)
    ran = run("node", "arm_test.mjs", cwd=tmp_path)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert_passed(ran.stdout, shell[1])


CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome") or ""
FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
         "--disable-background-networking", "--disable-component-update", "--virtual-time-budget=20000")  # fmt: skip
IN_A_PAGE = """<!doctype html><pre id="lines"></pre><script type="module">
console.log = (text) => { document.getElementById("lines").textContent += text + "\\n"; };
import("./arm_test.mjs").catch((error) => console.log(String(error)));
</script>"""


class Quiet(SimpleHTTPRequestHandler):
    """Serves a folder and says nothing."""

    def guess_type(self, path: Any) -> str:
        kinds = {".mjs": "text/javascript", ".wasm": "application/wasm", ".html": "text/html"}
        return kinds.get(Path(path).suffix, "application/octet-stream")

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.mark.skipif(not CHROMIUM, reason="Chromium is not installed")
@pytest.mark.parametrize("name", [name for name in ROBOTS if FULL or name in ("panda", "parallelogram")])
def test_wasm_in_a_browser(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The exported test as a module of a page, served by this machine to itself."""
    monkeypatch.chdir(tmp_path)
    make, functions = ROBOTS[name]
    export(make(), "wasm", functions, "arm").save(tmp_path)
    (tmp_path / "page.html").write_text(IN_A_PAGE)
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(tmp_path))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}/page.html"
        ran = run(CHROMIUM, *FLAGS, f"--user-data-dir={tmp_path / 'profile'}", "--dump-dom", address, cwd=tmp_path)
        server.shutdown()
    assert "all passed" in ran.stdout, ran.stdout + ran.stderr
    assert_passed(ran.stdout, functions)


@needs_node
def test_wasm_notices_an_error_and_wrong_input(tmp_path: Path) -> None:
    export(armdyn.load("scara5"), "wasm", ["gravity"], "arm").save(tmp_path)
    path = tmp_path / "arm_test.mjs"
    text = path.read_text()
    number = next(x for x in re.findall(r"-?\d+\.\d{6,}", text.partition('"outputs"')[2]))
    path.write_text(text.replace(number, str(float(number) * (1 + 1e-9))))
    assert run("node", "arm_test.mjs", cwd=tmp_path).returncode == 1
    program = """
        import { load } from "./arm.mjs";
        const robot = await load();
        for (const q of [[0, 0], [0, 0, NaN, 0, 0], [0, 1e7, 0, 0, 0]])
          try { robot.gravity(q); console.log("accepted"); } catch (error) { console.log(error.message); }"""
    (tmp_path / "bad.mjs").write_text(program)
    lines = run("node", "bad.mjs", cwd=tmp_path).stdout.splitlines()
    assert lines == ["q has 2 entries, expected 5", "q is not finite", "q is beyond 1048576"]


@needs_node
@pytest.mark.parametrize("parameters", [False, True])
def test_hostile_names_in_wasm(hostile: Robot, parameters: bool, tmp_path: Path) -> None:
    (path, *_) = export(hostile, "wasm", parameters=parameters).save(tmp_path)
    ran = run("node", f"{path.stem}_test.mjs", cwd=tmp_path)
    assert "all passed" in ran.stdout, ran.stderr


@needs_node
def test_elementary_functions_of_wasm(tmp_path: Path) -> None:
    """Within 2 units in the last place of the C library's: no fused multiply-adds, one rounding more."""
    x = symbol("x")
    functions = {"sine": sin(x), "cosine": cos(x), "power": exp(x), "root": sqrt(x), "sign": sign(x)}
    codes = []
    for name, node in functions.items():
        graph = Graph({"x": (x,)}, {"y": (node,)})
        codes.append(
            WasmCode(name, straight_line(graph, {}, str), ports(graph.inputs, "input"), ports(graph.outputs, "output"))
        )
    (tmp_path / "f.wasm").write_bytes(module(codes))
    rng = np.random.default_rng(0)
    angles = np.concatenate(
        [rng.uniform(-10, 10, 500), rng.uniform(-1e6, 1e6, 200), np.arange(-50, 50) * np.pi / 2, [0.0]]
    )
    values = {"sine": angles, "cosine": angles, "power": rng.uniform(-700, 700, 500), "root": rng.uniform(0, 9, 50),
              "sign": np.array([-2.5, 0.0, 3.0])}  # fmt: skip
    program = f"""
        import {{ readFileSync }} from "node:fs";
        const {{ instance }} = await WebAssembly.instantiate(readFileSync("f.wasm"), {{}});
        const numbers = new Float64Array(instance.exports.memory.buffer);
        const one = (name, x) => {{ numbers[0] = x; instance.exports[name](0, 8); return numbers[1]; }};
        const data = {json.dumps({name: list(x) for name, x in values.items()})};
        const far = ["sine", "cosine"].map((name) => Number.isNaN(one(name, 2e6)));
        const found = Object.entries(data).map(([name, xs]) => [name, xs.map((x) => one(name, x))]);
        console.log(JSON.stringify([Object.fromEntries(found), far]));"""
    (tmp_path / "f.mjs").write_text(program)
    ran = run("node", "f.mjs", cwd=tmp_path)
    found, far = json.loads(ran.stdout)
    assert far == [True, True]
    expected = {"sine": np.sin, "cosine": np.cos, "power": np.exp, "root": np.sqrt, "sign": np.sign}
    for name, function in expected.items():
        exact = function(values[name])
        # Beside multiples of pi/2 the result is small and so is its error: the reduction keeps 100 bits of pi/2.
        np.testing.assert_array_less(np.abs(np.array(found[name]) - exact), 2 * np.spacing(np.abs(exact)) + 1e-300)
