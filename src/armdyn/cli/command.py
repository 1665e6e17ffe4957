"""The program `armdyn`: its verbs, its help, its errors.

A verb is imported when it is named, and imports what it needs when it runs, so that the command line starts at once.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import Annotated, Any, NoReturn

import typer

from armdyn import __version__
from armdyn.cli.parse import OptionError
from armdyn.cli.verb import in_panels
from armdyn.errors import ArmdynError, FileError

FINE, FINDINGS, USER_ERROR, DEFECT, INTERRUPTED = 0, 1, 2, 70, 130
"""Exit statuses of the program."""
UsageError: type[Any] = typer.BadParameter.__mro__[1]
"""What the parser of the command line raises: typer has its own since 0.20, before that it is click's."""

VERBS: dict[str, tuple[str, ...]] = {
    "Model": ("robots", "show", "check", "fix", "explain", "template"),
    "Equations": ("derive", "judge", "compare", "certify", "prune", "bound", "formulations"),
    "Motion": ("evaluate", "solve", "plan", "simulate", "analyse", "sweep", "size"),
    "Data": ("identifiable", "excite", "identify", "payload", "stiffness"),
    "Results": ("study", "studio", "share", "export", "reproduce", "bench", "cite"),
}
"""Panel of the help -> its verbs. A verb is a function of this name in the module of this name."""
EXAMPLES = {
    "analyse": "panda --at 0,-0.6,0,-2.2,0,1.6,0.8 --map payload --plot map.png",
    "bench": "panda --quick",
    "bound": "ur5 mass=10%,payload=0:5",
    "certify": "scara5 --points 5",
    "check": "my_robot.urdf --json",
    "cite": "kane --bibtex",
    "compare": "puma560",
    "derive": "scara5 --by kane --entry M11 --out equations.tex",
    "evaluate": "panda --at 0,30deg,0,-1,0,1,0 --out state.csv",
    "excite": "panda --out motion.csv",
    "explain": "model.urdf model.xml --report why.html",
    "export": "panda --to c --functions inverse_dynamics,gravity --out code",
    "fix": "my_robot.urdf --out repaired.urdf",
    "formulations": "",
    "identifiable": "panda motion.csv",
    "identify": "my_robot.toml log.csv --out identified.toml --report fit.html",
    "judge": "planar2r homework.tex --report judged.html",
    "payload": "my_robot.toml empty.csv loaded.csv --out loaded.toml",
    "plan": "scara5 --from 0,0,0,0,0 --to 0.1,1,0.5,-0.3,0.1 --out plan.csv",
    "prune": "puma560 --tolerance 1% --out reduced.py",
    "reproduce": "khalil",
    "robots": "",
    "share": "panda --out panda.html",
    "show": "panda,lock=panda_joint7=30deg,without=friction",
    "simulate": "scara5 --reference plan.csv --set law.kp=200 --plot run.png",
    "size": "ur5 motion.csv --out driven.toml",
    "solve": "ur5 --pose 0.4,0.2,0.3,180deg,0,90deg --plot solutions.png",
    "stiffness": "my_robot.toml log.csv --out identified.toml",
    "studio": "panda",
    "study": "scara5",
    "sweep": "ur5 --vary payload=0:5:6 --plot sweep.png",
    "template": "robot.xlsx",
}
"""Verb -> arguments of a typical command, shown below its help."""


def application(names: Iterable[str] | None = None) -> typer.Typer:
    """The program with these verbs (default: all)."""
    app = typer.Typer(
        name="armdyn",
        help="Dynamics of robot manipulators: equations, fast code, motion, control and identification.",
        epilog="ROBOT is a name from `armdyn robots` or a file: .toml (DH tables), .csv or .xlsx (a table), .urdf, "
        ".xml (MJCF); changes may follow, as in panda,lock=panda_joint7=30deg. "
        "Start with: armdyn study scara5\n\n"
        "Exit status: 0 fine, 1 findings that you should act on, 2 an error in the input, 70 a defect of armdyn, "
        "130 stopped by Ctrl-C.",
        pretty_exceptions_enable=False,
        rich_markup_mode="rich",
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback(invoke_without_command=True)(_common)
    for panel, verbs in VERBS.items():
        for name in verbs if names is None else (each for each in verbs if each in names):
            function = getattr(import_module(f"armdyn.cli.{name}"), name)
            # Paragraphs are refilled: rich would keep the line ends of the docstring.
            text = "\n\n".join(" ".join(part.split()) for part in (function.__doc__ or "").split("\n\n"))
            example = f"Example: armdyn {name} {EXAMPLES[name]}".rstrip()
            app.command(rich_help_panel=panel, help=text, epilog=example)(in_panels(function))
    return app


def _common(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
) -> None:
    if version:
        print(f"armdyn {__version__}")
    elif context.invoked_subcommand is None:
        print(context.get_help())
    if version or context.invoked_subcommand is None:
        raise typer.Exit


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the program `armdyn` and end with its exit status. ARMDYN_TRACEBACK=1 shows where an error happened."""
    if sys.stderr is None:  # closed by the user: messages have no reader
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 (as long as the process)
    if sys.stdout is None:
        _end(FileError("standard output is closed", expected="a terminal, a file or a pipe"))
    try:
        words = sys.argv[1:] if arguments is None else list(arguments)
        known = words and any(words[0] in verbs for verbs in VERBS.values())
        app = application(words[:1] if known else None)  # what is no verb may be --help, or a typing error
        status = app(args=words, prog_name="armdyn", standalone_mode=False)
        sys.stdout.flush()
    except Exception as error:
        if os.environ.get("ARMDYN_TRACEBACK"):
            raise
        _end(error)
    sys.exit(status)


def _end(error: Exception) -> NoReturn:
    """Explain an error and end the program."""
    from armdyn.cli.console import show_error

    known, status = _explained(error)
    with contextlib.suppress(OSError):
        show_error(known)
    with contextlib.suppress(OSError):
        if sys.stdout is not None:
            sys.stdout.flush()
    if isinstance(error, OSError):  # output that cannot be delivered is not tried again at exit
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(status)


def _explained(error: Exception) -> tuple[ArmdynError, int]:
    """The error as one of armdyn, and the exit status."""
    if isinstance(error, ArmdynError):
        return error, USER_ERROR
    if isinstance(error, UsageError):
        context = error.ctx
        place = context.command_path if context else "armdyn"
        return OptionError(error.format_message(), where=place, advice=f"Run `{place} --help`."), USER_ERROR
    if isinstance(error, MemoryError):
        what = "there is not enough memory for this"
        return ArmdynError(what, advice="Ask for fewer samples or a smaller model."), USER_ERROR
    if isinstance(error, OSError):
        place = None if error.filename is None else str(error.filename)
        return FileError(error.strerror or str(error), where=place), USER_ERROR
    advice = "This is a defect of armdyn: please report it with what ARMDYN_TRACEBACK=1 shows."
    return ArmdynError(f"unexpected {type(error).__name__}: {error}", advice=advice), DEFECT
