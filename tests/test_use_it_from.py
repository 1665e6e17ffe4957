"""The page "Use it from other languages": every section is followed to the letter, in an empty folder."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import armdyn
from support.fences import FENCE, fences

TEXT = (Path(__file__).parents[1] / "docs" / "start" / "use_it_from.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^## (.*?)\n(.*?)(?=^## |\Z)", TEXT, re.S | re.M))
TOOLS = {"C": "cc", "C++": "c++", "MATLAB and Octave": "octave-cli", "JavaScript and WebAssembly": "node",
         "Controllers": "cc", "Simulation tools: FMU": "fmpy", "JAX, PyTorch and CasADi": "python"}  # fmt: skip
FILE = re.compile(r"^(?:/\* (\S+) \*/|(?://|%|#) (\S+\.\w+))\n")
PATH = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
NUMBER = re.compile(r"^-?\d+\.\d{3}$", re.M)


def printed(text: str) -> list[float]:
    return [float(x) for x in NUMBER.findall(text)]


def test_the_numbers_of_the_page_are_the_library_s() -> None:
    dyn = armdyn.compile(armdyn.load("panda"))
    tau = dyn.inverse_dynamics([0.3, -0.6, 0.2, -2.2, 0.1, 1.6, 0.8], np.full(7, 0.5), np.zeros(7))
    np.testing.assert_allclose(printed(fences(TEXT, "text")[0]), tau, atol=5.1e-4)


@pytest.mark.parametrize("section", TOOLS)
def test_a_section_gets_a_new_user_to_a_torque(section: str, tmp_path: Path) -> None:
    tool = TOOLS[section]
    if not shutil.which(tool, path=PATH):
        pytest.skip(f"{tool} is not installed")
    if section.startswith("JAX"):
        pytest.importorskip("jax", reason="JAX is not installed")
    commands = tmp_path / "bin"
    commands.mkdir()
    armdyn_command = commands / "armdyn"
    armdyn_command.write_text(f"#!{sys.executable}\nfrom armdyn.cli import main\nmain()\n")
    armdyn_command.chmod(0o755)
    (folder := tmp_path / "new").mkdir()
    output = ""
    for language, block in FENCE.findall(SECTIONS[section]):
        if language == "sh":
            path = os.pathsep.join([str(commands), PATH])
            ran = subprocess.run(["sh", "-e", "-c", block], cwd=folder, env={**os.environ, "PATH": path},
                                 capture_output=True, text=True, check=False, timeout=300)  # fmt: skip
            assert ran.returncode == 0, ran.stdout + ran.stderr
            output = ran.stdout
        else:
            found = FILE.match(block)
            assert found, f"a block of {section} does not begin with the name of its file"
            (folder / (found[1] or found[2])).write_text(block)
    assert printed(output) == printed(fences(TEXT, "text")[0])
