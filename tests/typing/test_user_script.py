"""Public functions are annotated to the door: a user's script passes a strict type checker, and runs."""

from __future__ import annotations

import os
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

import armdyn

SCRIPT = Path(__file__).with_name("user_script.py")
CONFIG = Path(__file__).parents[2] / "pyproject.toml"


def test_the_script_passes_the_type_checker() -> None:
    """`assert_type` in the script makes a result that is Any an error, so nothing passes for want of annotations."""
    pytest.importorskip("mypy", reason="mypy is not installed")
    paths = {name: str(Path(armdyn.__file__).parents[1]) for name in ("MYPYPATH", "PYTHONPATH")}
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file", str(CONFIG), str(SCRIPT)]
    result = subprocess.run(command, env={**os.environ, **paths}, capture_output=True, text=True, cwd=CONFIG.parent)
    assert result.returncode == 0, result.stdout + result.stderr


def test_the_script_runs() -> None:
    runpy.run_path(str(SCRIPT), run_name="__main__")
