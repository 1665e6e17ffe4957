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
) -> None:
    """Open a robot in the browser: move it, and see torques, inertia, ellipsoids, motions and equations.

    The page is served to this machine only and needs no network. Press Ctrl-C to stop.
    """
    with working("compiling"):
        from armdyn.studio import serve

        running = serve(robot, port)
        answers = running.server.answers
        answers.state(answers.about()["start"])  # compiled before the page asks
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
