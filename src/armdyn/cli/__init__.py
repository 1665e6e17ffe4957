"""The command line: one file per verb. Only typer and rich are imported at the start, so that it starts at once."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from armdyn import __version__
from armdyn.cli.analyse import analyse
from armdyn.cli.bench import bench
from armdyn.cli.certify import certify
from armdyn.cli.check import check
from armdyn.cli.cite import cite
from armdyn.cli.compare import compare
from armdyn.cli.derive import derive
from armdyn.cli.excite import excite
from armdyn.cli.export import export
from armdyn.cli.formulations import formulations
from armdyn.cli.identify import identify
from armdyn.cli.plan import plan
from armdyn.cli.reproduce import reproduce
from armdyn.cli.robots import robots
from armdyn.cli.show import show
from armdyn.cli.simulate import simulate
from armdyn.cli.studio import studio
from armdyn.cli.study import study
from armdyn.cli.sweep import sweep
from armdyn.errors import ArmdynError

app = typer.Typer(
    name="armdyn",
    help="Dynamics of robot manipulators: from a robot's description to equations, code and motion.",
    epilog="ROBOT is a name from `armdyn robots` or a file: .toml (DH tables), .urdf, .xml (MJCF). "
    "Begin with: armdyn study scara5",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)
VERBS = {
    "Model": (robots, show, check),
    "Equations": (derive, compare, certify, formulations),
    "Motion": (plan, simulate, analyse, sweep),
    "Data": (excite, identify),
    "Product": (study, studio, export, reproduce, bench, cite),
}
"""Panels of the help, and their verbs."""
for _panel, _verbs in VERBS.items():
    for _verb in _verbs:  # lines of the docstring flow: rich would keep their ends
        _help = "\n\n".join(" ".join(part.split()) for part in (_verb.__doc__ or "").split("\n\n"))
        app.command(rich_help_panel=_panel, help=_help)(_verb)


def _version(asked: bool) -> None:
    if asked:
        print(f"armdyn {__version__}")
        raise typer.Exit


@app.callback()
def _common(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and leave.")
    ] = False,
) -> None:
    pass


def main(arguments: Sequence[str] | None = None) -> None:
    """The program `armdyn`. An error of the input ends it with a message and status 2, without a traceback."""
    try:
        app(args=None if arguments is None else list(arguments), prog_name="armdyn")
    except ArmdynError as error:
        from armdyn.cli.console import show_error

        show_error(error)
        sys.exit(2)
