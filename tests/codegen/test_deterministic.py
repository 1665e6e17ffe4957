"""Deterministic C: no conditional instruction in the listing, the same bits on x86-64 and on Cortex-M4 and M7."""

from __future__ import annotations

import re
import shutil
from itertools import accumulate
from pathlib import Path

import numpy as np
import pytest

import armdyn
from armdyn.codegen.functions import ExportedFunction
from armdyn.errors import ArmdynError
from support import cortex

from .conftest import STRICT, needs_compiler, run

GCC = shutil.which("gcc")
needs_tools = pytest.mark.skipif(
    not (GCC and cortex.INSTALLED), reason="gcc, arm-none-eabi-gcc or qemu-system-arm is not installed"
)
CASES = [(robot, law, real) for robot in ("ur5", "panda") for law, real in ((None, "float"), (None, "double"),
                                                                           ("computed_torque", "double"))]  # fmt: skip


def exported(folder: Path, robot: str, law: str | None, real: str) -> ExportedFunction:
    """The folder with arm.c, and its function."""
    arm = armdyn.load(robot)
    if law is None:
        made = armdyn.export(arm, "c", ["inverse_dynamics"], "arm", real=real, deterministic=True)  # type: ignore[arg-type]
    else:
        made = armdyn.export(arm, "c", prefix="arm", law=law, tunable=("payload",), deterministic=True)
    made.save(folder)
    return made.model.functions[-1]


@needs_tools
@pytest.mark.parametrize(("robot", "law", "real"), CASES)
def test_one_path_and_the_same_bits(robot: str, law: str | None, real: str, tmp_path: Path) -> None:
    function = exported(tmp_path, robot, law, real)
    targets = {"x86-64": (str(GCC), ())} | {"m7": (cortex.GCC, cortex.PROCESSORS["m7"])}
    if real == "float":  # doubles are a library's on an M4
        targets["m4"] = (cortex.GCC, cortex.PROCESSORS["m4"])
    for target, (compiler, flags) in targets.items():
        for name, lines in cortex.listing(tmp_path, compiler, *flags).items():
            assert lines
            assert not [line for line in lines if cortex.CONDITIONAL.search(line)], (target, name)
    sizes = [port.size for port in (*function.inputs, *function.outputs)]
    starts, inputs = [0, *accumulate(sizes)], len(function.inputs)
    given = starts[inputs]
    parts = [f"given + {a}" if a < given else f"made + {a - given}" for a in starts[:-1]]
    cortex.program(tmp_path, f"arm_{function.name}({', '.join(parts)});", given, sum(sizes) - given, real)
    bits = cortex.bits_here(tmp_path, str(GCC))
    assert len(set(bits.split())) > 1000
    for processor in sorted({"m4", "m7"} & targets.keys()):
        assert cortex.bits_of(tmp_path, processor) == bits, processor


@needs_tools
def test_a_branch_would_be_found(tmp_path: Path) -> None:
    """The search for conditional instructions finds those of ordinary code."""
    armdyn.export(armdyn.load("ur5"), "c", prefix="arm", law="sliding_mode", period=2e-4).save(tmp_path)
    for compiler, flags in ((cortex.GCC, cortex.PROCESSORS["m7"]), (str(GCC), ())):
        lines = [line for part in cortex.listing(tmp_path, compiler, *flags).values() for line in part]
        assert any(cortex.CONDITIONAL.search(line) for line in lines)


@needs_compiler
@pytest.mark.parametrize("real", ["double", "float"])
def test_elementary_functions(real: str, tmp_path: Path) -> None:
    """Every function against NumPy's in long double, to a few units in the last place."""
    from armdyn.codegen.c_source import GUARDS
    from armdyn.codegen.elementary import DOUBLE, FLOAT, functions

    x = np.random.default_rng(1).uniform(-40, 40, 20_000)
    x[:200] = np.arange(-100, 100) * np.pi / 2
    x[200:204] = 0.0, -0.0, 1e-8, -1e-8
    kind = np.float64 if real == "double" else np.float32
    x = x.astype(kind)
    names = ("sin", "cos", "exp", "sign", "select")
    shown = "".join(
        f"    y[{k}] = p_{name}(x{', 1, 2' if name == 'select' else ''});\n" for k, name in enumerate(names)
    )
    body = "\n".join([GUARDS, *functions("p", real, names)])
    main = (
        f"#include <stdio.h>\nint main(void)\n{{\n    {real} x, y[5];\n"
        f"    while (fread(&x, sizeof x, 1, stdin) == 1) {{\n{shown}"
        "        fwrite(y, sizeof y, 1, stdout);\n    }\n    return 0;\n}\n"
    )
    (tmp_path / "p.c").write_text(body + "\n" + main)
    x.tofile(tmp_path / "x")
    done = run("sh", "-c", f"gcc {' '.join(STRICT)} -O1 p.c -o p && ./p < x > y", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    y = np.fromfile(tmp_path / "y", kind).reshape(-1, 5)
    ulp, largest = np.finfo(kind).eps, DOUBLE.largest if real == "double" else FLOAT.largest
    exact = x.astype(np.longdouble)
    assert np.abs(y[:, 0] - np.sin(exact)).max() < ulp
    assert np.abs(y[:, 1] - np.cos(exact)).max() < ulp
    assert np.abs(y[:, 2] / np.exp(np.clip(exact, -largest, largest)) - 1).max() < 4 * ulp
    np.testing.assert_array_equal(y[:, 3], np.sign(x))
    np.testing.assert_array_equal(y[:, 4], np.where(x >= 0, 1, 2))


def test_other_languages_and_loops_are_refused() -> None:
    with pytest.raises(ArmdynError, match="deterministic code in wasm"):
        armdyn.export(armdyn.load("planar2r"), "wasm", deterministic=True)
    with pytest.raises(ArmdynError, match="in loops"):
        armdyn.export(armdyn.load("ur5"), loops=True, deterministic=True)


def test_the_header_says_so(tmp_path: Path) -> None:
    exported(tmp_path, "ur5", None, "double")
    text = re.sub(r"\s*\n \*\s*", " ", (tmp_path / "arm.h").read_text())
    assert "one sequence of operations, whatever its arguments" in text
