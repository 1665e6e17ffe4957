"""armdyn share: a robot as one page that works without server and network. Exit status 0 written, 2 error."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from armdyn.cli.console import console, working
from armdyn.cli.verb import takes

if TYPE_CHECKING:
    from armdyn.robot.robot import Robot


@takes("closed", "tree")
def share(
    robot: Robot,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="File to write (default: the robot's name with .html).")
    ] = None,
) -> None:
    """Write a robot as one HTML page to share: move it, read torques and equations, simulate; no server, no network.

    The dynamics run in the page as WebAssembly. Open the file in any browser, mail it, or put it on a web site.
    """
    with working("encoding the dynamics"):
        from armdyn.codegen.naming import file_stem
        from armdyn.webpage import share as write

        path = write(robot, out or f"{file_stem(robot.name)}.html")
    size = path.stat().st_size / 1e3
    console().print(f"Wrote {path} ({size:.0f} kB). Open it in a browser.", soft_wrap=True, markup=False)
