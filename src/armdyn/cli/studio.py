"""armdyn studio: a robot in the browser."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from armdyn.cli.verb import verb

if TYPE_CHECKING:
    from armdyn import Robot
    from armdyn.result import Result


@verb(waits=True)
def studio(
    robot: Robot,
    port: Annotated[int, typer.Option(help="Port on this machine; 0 chooses a free one.", min=0, max=65535)] = 0,
    browser: Annotated[bool, typer.Option(help="Open a browser window.")] = True,
) -> Result:
    """Open a robot in the browser: look at it, move it, plan and simulate motions, read its equations.

    The page is served to this machine only, needs no network, and opens with the address that is printed: it contains a
    token. Needs the extra `studio`. Press Ctrl-C to stop.
    """
    from armdyn import studio

    return studio(robot, port, browser=browser)
