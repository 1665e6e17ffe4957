"""Fenced blocks of Markdown: Python that must run, commands that must parse."""

from __future__ import annotations

import doctest
import re
import shlex
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click
import pytest
from typer.main import get_command

from armdyn.cli import application

NEEDED = r"^(?:import|from) (casadi|jax|torch|pinocchio|mujoco|crocoddyl)\b"
"""Libraries without which a block is left out."""
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.S | re.M)


def fences(text: str, *languages: str) -> list[str]:
    """Texts of the fenced blocks in one of the languages ("" for blocks without one)."""
    return [block for language, block in FENCE.findall(text) if language in languages]


def run_python(path: Path, capsys: pytest.CaptureFixture[str]) -> int:
    """Execute the Python blocks of a page in order, in one namespace; those with >>> as doctests. Their number."""
    names: dict[str, Any] = {}
    blocks = fences(path.read_text(encoding="utf-8"), "python")
    for number, block in enumerate(blocks):
        where = f"{path.name}, Python block {number + 1}"
        if any(find_spec(module) is None for module in re.findall(NEEDED, block, re.M)):
            continue
        if ">>>" in block:
            test = doctest.DocTestParser().get_doctest(block, names, where, str(path), 0)
            runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
            assert runner.run(test, clear_globs=False).failed == 0, capsys.readouterr().out
            names |= test.globs
        else:
            exec(compile(block, where, "exec"), names)
    return len(blocks)


def commands(text: str) -> list[list[str]]:
    """Lines `armdyn ...` of the blocks without language (or `sh`), as arguments, without comments."""
    lines = "\n".join(fences(text, "", "sh")).replace("\\\n", " ").splitlines()
    return [shlex.split(line, comments=True)[1:] for line in lines if re.match(r"armdyn( |$)", line)]


def parse(arguments: list[str]) -> None:
    """Have the command line read its arguments, without running the verb: names, options and values must be right."""
    group = get_command(application())
    assert isinstance(group, click.Group) or hasattr(group, "commands")
    if arguments and not arguments[0].startswith("-"):
        verb = group.commands[arguments[0]]
        if arguments[1:] not in (["--help"], ["-h"]):
            verb.make_context(arguments[0], list(arguments[1:]))
    else:
        known = {name for option in group.params for name in option.opts} | {"-h", "--help"}
        assert set(arguments) <= known, arguments
