"""armdyn studio: a robot in the browser. Exit status 0 ended by the user, 2 error."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from armdyn.cli.console import console, working
from armdyn.cli.verb import takes

if TYPE_CHECKING:
    from armdyn.robot.robot import Robot


@takes("closed", "tree")
def studio(
    robot: Robot,
    port: Annotated[int, typer.Option(help="Port on this machine; 0 chooses a free one.", min=0, max=65535)] = 0,
    browser: Annotated[bool, typer.Option(help="Open a browser window.")] = True,
    dark: Annotated[bool, typer.Option("--dark", help="Dark colours.")] = False,
) -> None:
    """Open a robot in the browser: look at it, move it, plan and simulate motions, read its equations.

    The page is served to this machine only, needs no network, and opens with the address that is printed: it contains a
    token. Needs the extra `studio`. Press Ctrl-C to stop.
    """
    with working("compiling"):
        from armdyn.browser import serve

        running = serve(robot, port, dark=dark)
    screen = console()
    screen.print(f"{robot.name} is at [bold green]{running.address}[/]. Press Ctrl-C to stop.", soft_wrap=True)
    if browser:
        import webbrowser

        webbrowser.open(running.address)
    try:
        import threading

        threading.Event().wait()
    except KeyboardInterrupt:
        running.stop()
