"""Exported inverse kinematics, executed: the configurations that gave the poses are found again."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

import armdyn
from armdyn.errors import NotApplicable

NAMES = ["inverse_kinematics", "all_inverse_kinematics"]
COMMANDS = {
    "c": ("cc", "cc -O0 -std=c99 -Wall -Wextra -Werror arm.c arm_test.c -lm -o checked && ./checked"),
    "wasm": ("node", "node arm_test.mjs"),
    "matlab": ("octave-cli", "octave-cli --no-gui --eval arm_test"),
}


@pytest.mark.parametrize("language", COMMANDS)
@pytest.mark.parametrize("name", ["ur5", "puma560"])
def test_exported_code_finds_the_configurations_again(name: str, language: str, tmp_path: Path) -> None:
    tool, command = COMMANDS[language]
    if shutil.which(tool) is None:
        pytest.skip(f"{tool} is not installed")
    armdyn.export(armdyn.load(name), language, NAMES, "arm").save(tmp_path)
    run = subprocess.run(command, shell=True, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "all passed" in run.stdout, run.stdout + run.stderr


def test_broken_code_is_noticed(tmp_path: Path) -> None:
    """The test that is exported with the code bites: with a link of another length it fails."""
    if shutil.which("cc") is None:
        pytest.skip("cc is not installed")
    armdyn.export(armdyn.load("puma560"), "c", NAMES, "arm").save(tmp_path)
    source = tmp_path / "arm.c"
    text = source.read_text()
    broken = re.sub(r"0\.4318\b", "0.4319", text)
    assert broken != text
    source.write_text(broken)
    run = subprocess.run(COMMANDS["c"][1], shell=True, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "FAIL" in run.stdout


def test_arms_without_closed_form_say_so() -> None:
    for robot in (armdyn.random_robot(3, 6), armdyn.load("panda")):
        with pytest.raises(NotApplicable, match="no closed form"):
            armdyn.export(robot, "c", NAMES)
