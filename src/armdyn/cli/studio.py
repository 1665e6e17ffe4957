"""armdyn studio: a robot in the browser. Exit status 0 ended by the user, 2 error."""

from __future__ import annotations

from typing import Annotated

import typer

from armdyn.cli import parse
from armdyn.cli.console import console, load_moving_robot, working


@parse.takes("tree")
def studio(
    robot: parse.RobotArgument,
    port: Annotated[int, typer.Option(help="Port on this machine; 0 chooses a free one.", min=0, max=65535)] = 0,
    browser: Annotated[bool, typer.Option(help="Open a browser window.")] = True,
    tip: parse.TipOption = None,
    base: parse.BaseOption = None,
    lock: parse.LockOption = None,
    without: parse.WithoutOption = None,
) -> None:
    """Open a robot in the browser: move it, and see torques, inertia, ellipsoids, motions and equations.

    The page is served to this machine only and needs no network. Press Ctrl-C to stop.
    """
    loaded = load_moving_robot(robot, tip, base, lock, without)
    with working("compiling"):
        from armdyn.studio import serve

        running = serve(loaded, port)
        answers = running.server.answers
        answers.state(answers.about()["start"])  # compiled before the page asks
    screen = console()
    screen.print(f"{loaded.name} is at [bold green]{running.address}[/]. Press Ctrl-C to stop.", soft_wrap=True)
    if browser:
        import webbrowser

        webbrowser.open(running.address)
    try:
        import threading

        threading.Event().wait()
    except KeyboardInterrupt:
        running.stop()
