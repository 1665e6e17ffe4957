"""The program `armdyn`: its verbs, its help, its errors.

Verbs import what they need when they run, so that the command line starts at once.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Sequence
from typing import Annotated, Any, NoReturn

import typer

from armdyn import __version__
from armdyn.cli.analyse import analyse
from armdyn.cli.bench import bench
from armdyn.cli.certify import certify
from armdyn.cli.check import check
from armdyn.cli.cite import cite
from armdyn.cli.compare import compare
from armdyn.cli.derive import derive
from armdyn.cli.evaluate import evaluate
from armdyn.cli.excite import excite
from armdyn.cli.explain import explain
from armdyn.cli.export import export
from armdyn.cli.fix import fix
from armdyn.cli.formulations import formulations
from armdyn.cli.identifiable import identifiable
from armdyn.cli.identify import identify
from armdyn.cli.payload_verb import payload
from armdyn.cli.plan import plan
from armdyn.cli.prune import prune
from armdyn.cli.reproduce import reproduce
from armdyn.cli.robots import robots
from armdyn.cli.share import share
from armdyn.cli.show import show
from armdyn.cli.simulate import simulate
from armdyn.cli.stiffness_verb import stiffness
from armdyn.cli.studio import studio
from armdyn.cli.study import study
from armdyn.cli.sweep import sweep
from armdyn.cli.verb import in_panels, protected
from armdyn.errors import ArmdynError, FileError

app = typer.Typer(
    name="armdyn",
    help="Dynamics of robot manipulators: equations, fast code, motion, control and identification.",
    epilog="ROBOT is a name from `armdyn robots` or a file: .toml (DH tables), .urdf, .xml (MJCF). "
    "Start with: armdyn study scara5",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)
VERBS: dict[str, tuple[Callable[..., Any], ...]] = {
    "Model": (robots, show, check, fix, explain),
    "Equations": (derive, compare, certify, prune, formulations),
    "Motion": (evaluate, plan, simulate, analyse, sweep),
    "Data": (identifiable, excite, identify, payload, stiffness),
    "Results": (study, studio, share, export, reproduce, bench, cite),
}
"""Panels of the help and their verbs."""
for _panel, _verbs in VERBS.items():
    for _verb in _verbs:  # paragraphs are refilled: rich would keep the line ends of the docstring
        _help = "\n\n".join(" ".join(part.split()) for part in (_verb.__doc__ or "").split("\n\n"))
        app.command(rich_help_panel=_panel, help=_help)(in_panels(protected(_verb)))


def _version(asked: bool) -> None:
    if asked:
        print(f"armdyn {__version__}")
        raise typer.Exit


@app.callback()
def _common(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    pass


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the program `armdyn`. Whatever goes wrong ends it with a message: status 2 for an error in the input, or one
    of the machine (memory, disk), 3 for a defect of armdyn. ARMDYN_TRACEBACK=1 shows where it happened.
    """
    try:
        app(args=None if arguments is None else list(arguments), prog_name="armdyn")
    except Exception as error:
        if os.environ.get("ARMDYN_TRACEBACK"):
            raise
        _end(error)


def _end(error: Exception) -> NoReturn:
    """Explain an error and end the program."""
    from armdyn.cli.console import show_error

    if isinstance(error, ArmdynError):
        known, status = error, 2
    elif isinstance(error, MemoryError):
        known = ArmdynError("there is not enough memory for this", advice="Ask for fewer samples or a smaller model.")
        status = 2
    elif isinstance(error, OSError):
        place = None if error.filename is None else str(error.filename)
        known, status = FileError(error.strerror or str(error), where=place), 2
    else:
        known = ArmdynError(f"unexpected {type(error).__name__}: {error}", advice="This is a defect of armdyn: please "
                            "report it with what ARMDYN_TRACEBACK=1 shows.")  # fmt: skip
        status = 3
    with contextlib.suppress(OSError):
        show_error(known)
    with contextlib.suppress(OSError):
        sys.stdout.flush()
    if isinstance(error, OSError):  # output that cannot be delivered is not tried again at exit
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(status)
