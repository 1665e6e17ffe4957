"""What all verbs share: how many options they have, how choices and errors read, how the program ends."""

from __future__ import annotations

import ast
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

import armdyn
from armdyn.cli import application, command
from support.command import Run, plain

MOST_OPTIONS = 15
"""Options of one verb."""
ALL_OPTIONS = 160
"""Options of all verbs together."""
SUPPORT = ("errors", "files", "findings", "formula_lines", "notebook_view", "result", "tables", "typing")
"""Modules of level 0 that shells may import: errors, files, and the form of results."""
SOURCE = Path(armdyn.__file__).parent / "cli"
BROKEN = '[[joint]]\nname = "turn"\na = 0.4\nmass = -2.0\ninertia = [0.01, 0, 0, 0.01, 0, 0.05]\n'
PROGRAM = (sys.executable, "-m", "armdyn")


def options() -> dict[str, list[Any]]:
    """Verb -> its options, but for --help."""
    verbs: dict[str, Any] = get_command(application()).commands  # type: ignore[attr-defined]
    return {
        name: [each for each in verb.params if each.param_type_name == "option" and each.name != "help"]
        for name, verb in verbs.items()
    }


def test_no_verb_has_many_options() -> None:
    assert {name: len(found) for name, found in options().items() if len(found) > MOST_OPTIONS} == {}


def test_the_verbs_together_have_few_options() -> None:
    assert sum(map(len, options().values())) <= ALL_OPTIONS


def test_every_verb_prints_json_and_changes_its_robot_in_one_way() -> None:
    for name, found in options().items():
        names = [option.opts[0] for option in found]
        assert ("--json" in names) or name == "studio", name
        assert not {"--load", "--tip", "--base", "--lock", "--arg", "--without", "--size"} & set(names), name
        assert ("--force" in names) == bool({"--out", "--plot", "--report"} & set(names)), name


@pytest.mark.parametrize("name", options())
def test_help_ends_with_an_example_that_can_be_typed(name: str, run: Run) -> None:
    arguments = command.EXAMPLES[name].split()
    get_command(application()).commands[name].make_context(name, arguments)  # type: ignore[attr-defined]
    _, out, _ = run(name, "--help", columns=200)
    assert f"Example: armdyn {name} {command.EXAMPLES[name]}".strip() in " ".join(out.split())


# Imports --------------------------------------------------------------------------------------------------------------


def imported(node: ast.AST) -> Iterator[tuple[str, str]]:
    """(module, name) of what a module imports when it runs; imports for type checkers are left out."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            continue
        if isinstance(child, ast.ImportFrom):
            yield from ((str(child.module), alias.name) for alias in child.names)
        elif isinstance(child, ast.Import):
            yield from ((alias.name, "") for alias in child.names)
        else:
            yield from imported(child)


def test_shells_import_public_names_only() -> None:
    private = []
    for path in SOURCE.glob("*.py"):
        for module, name in imported(ast.parse(path.read_text(encoding="utf-8"))):
            top, _, rest = module.partition(".")
            if top != "armdyn" or rest.split(".")[0] in ("cli", *SUPPORT):
                continue
            if rest:
                public = rest in dir(armdyn) and name in __import__(module, fromlist=["_"]).__all__
            else:
                public = name in (*dir(armdyn), "__version__")
            private += [] if public else [f"{path.name}: from {module} import {name}"]
    assert private == []


# Choices and options --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "what", "advice"),
    [
        (("derive", "planar2r", "--format", "lates"), "Unknown format 'lates'", "Did you mean 'latex'?"),
        (("export", "planar2r", "--to", "cp"), "Unknown to 'cp'", "Did you mean 'cpp'?"),
        (("show", "planar2r", "--dh", "standart"), "Unknown dh 'standart'", "Did you mean 'standard'?"),
        (("analyse", "planar2r", "--map", "payloud"), "Unknown map of 'payloud'", "Did you mean 'payload'?"),
        (("analyse", "planar2r", "--plot", "a.png:colum"), "Unknown size 'colum'", "Did you mean 'column'?"),
        (("show", "planar2r,tipp=link2"), "Unknown change of the robot 'tipp'", "Did you mean 'tip'?"),
        (("show", "planar2r,without=fricton"), "Unknown part 'fricton'", "Did you mean 'friction'?"),
    ],
)
def test_a_bad_choice_is_reported_in_one_form(arguments: tuple[str, ...], what: str, advice: str, run: Run) -> None:
    status, out, err = run(*arguments)
    shown = plain(err)
    assert (status, out) == (2, "")
    assert what in shown and "expected: one of: " in shown and advice in shown


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("shw",), "No such command 'shw'"),
        (("show",), "Missing argument 'ROBOT'"),
        (("show", "planar2r", "--jsn"), "--jsn"),
        (("certify", "planar2r", "--points", "none"), "--points"),
        (("show", "planar2r,tip"), "'tip' is not of the form tip=hand"),
        (("show", "planar2r,lock=elbow"), "'elbow' is not of the form elbow=30deg"),
        (("show", "planar2r,tip=link1,tip=link2"), "Tip is given twice"),
        (("analyse", "planar2r", "--plot", "x.txt"), "must end in .png, .svg, .pdf"),
        (("prune", "planar2r", "--out", "."), "It is a folder"),
    ],
)
def test_bad_options_say_what_is_wrong(arguments: tuple[str, ...], words: str, run: Run) -> None:
    status, out, err = run(*arguments)
    assert (status, out) == (2, "")
    assert words in plain(err)


def test_changes_after_the_name_change_the_robot(run: Run) -> None:
    status, out, err = run("show", "puma560,lock=elbow=30deg,without=friction")
    assert status == 0
    assert "5 joints" in out and "left out on request: friction" in err


def test_the_tab_key_completes_keys_and_names_of_changes() -> None:
    asked = {"_ARMDYN_COMPLETE": "complete_bash", "COMP_CWORD": "2"}
    for typed, expected in (("l", "lock="), ("tip=link1,lock=el", "tip=link1,lock=elbow=")):
        words = {"COMP_WORDS": f"armdyn show planar2r,{typed}"}
        done = subprocess.run(PROGRAM, env=os.environ | asked | words, capture_output=True, text=True)
        assert done.stdout.split() == [f"planar2r,{expected}"]


def test_figures_have_the_width_of_a_journal(run: Run, tmp_path: Path) -> None:
    wide, narrow = tmp_path / "wide.svg", tmp_path / "narrow.svg"
    for path in (str(wide), f"{narrow}:column"):
        assert run("plan", "planar2r", "--from", "0,0", "--to", "1,1", "--duration", 1, "--plot", path).status == 0
    assert 'width="252pt"' in narrow.read_text(encoding="utf-8")  # 3.5 in
    assert 'width="252pt"' not in wide.read_text(encoding="utf-8")


# Exit status ----------------------------------------------------------------------------------------------------------


def test_status_0_fine_1_findings_2_user_error(run: Run, tmp_path: Path) -> None:
    broken = tmp_path / "broken.toml"
    broken.write_text(BROKEN, encoding="utf-8")
    assert run("formulations").status == 0
    assert run("check", broken).status == 1
    assert run("show", "no_such_robot").status == 2
    assert run("show", "planar2r", "--no-such-option").status == 2


def test_status_70_defect_of_armdyn(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def defect(*args: object, **options: object) -> None:
        raise KeyError("inside")

    monkeypatch.setattr(armdyn, "show", defect, raising=False)
    monkeypatch.delenv("ARMDYN_TRACEBACK", raising=False)
    status, _, err = run("show", "planar2r")
    assert status == 70
    assert "This is a defect of armdyn" in plain(err) and "Traceback" not in err


def test_help_tells_the_exit_statuses(run: Run) -> None:
    _, out, _ = run("--help", columns=200)
    for status in (command.FINE, command.FINDINGS, command.USER_ERROR, command.DEFECT, command.INTERRUPTED):
        assert f"{status} " in out[out.index("Exit status") :]


INTERRUPTED_IMPORT = """
import sys
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == {name!r}:
            raise KeyboardInterrupt
sys.meta_path.insert(0, Finder())
sys.argv = ["armdyn", "certify", "planar2r"]
from armdyn.__main__ import main
main()
"""


@pytest.mark.parametrize("name", ["armdyn.cli", "typer", "rich.text", "armdyn.cli.certify", "numpy", "flint"])
def test_status_130_ctrl_c_while_a_module_is_imported(name: str) -> None:
    script = INTERRUPTED_IMPORT.format(name=name)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (130, "")
    assert "Traceback" not in done.stderr


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_status_130_ctrl_c_while_a_verb_works() -> None:
    arguments = [*PROGRAM, "certify", "puma560", "--points", "1000"]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as started:
        assert started.stderr is not None
        assert started.stderr.readline().startswith("model:")  # the robot is read
        started.send_signal(signal.SIGINT)
        rest = started.stderr.read()
    assert started.returncode == 130
    assert "Traceback" not in rest


# The edge of the process ----------------------------------------------------------------------------------------------


@pytest.mark.skipif(os.name == "nt", reason="a shell of POSIX")
def test_closed_streams() -> None:
    program = " ".join(PROGRAM)
    closed = subprocess.run(f"{program} show planar2r >&-", shell=True, capture_output=True, text=True)
    assert closed.returncode == 2
    assert "Standard output is closed" in closed.stderr and "Traceback" not in closed.stderr
    silent = subprocess.run(f"{program} show planar2r 2>&-", shell=True, capture_output=True, text=True)
    assert silent.returncode == 0 and "planar2r: 2 joints" in silent.stdout
    wrong = subprocess.run(f"{program} show no_such_robot 2>&-", shell=True, capture_output=True, text=True)
    assert wrong.returncode == 2 and wrong.stdout == ""


def test_a_folder_in_place_of_a_file(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    status, _, err = run("share", "planar2r", "--force", "--out", ".")
    assert status == 2
    assert "It is a folder" in plain(err)


def test_existing_files_are_replaced_on_demand_only(run: Run, tmp_path: Path) -> None:
    page = tmp_path / "arm.html"
    page.write_text("mine", encoding="utf-8")
    status, _, err = run("share", "planar2r", "--out", page)
    assert status == 2 and "--force" in err and page.read_text(encoding="utf-8") == "mine"
    assert run("share", "planar2r", "--out", page, "--force").status == 0
    assert "planar2r" in page.read_text(encoding="utf-8")
