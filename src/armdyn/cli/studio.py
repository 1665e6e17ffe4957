"""armdyn studio: a robot in the browser. Exit status 0 ended by the user, 2 error."""

from __future__ import annotations

from typing import Annotated

import typer

from armdyn.cli.console import BaseOption, LockOption, RobotArgument, TipOption, console, load_moving_robot, working


def studio(
    robot: RobotArgument,
    port: Annotated[int, typer.Option(help="Port on this machine; 0 takes any that is free.", min=0, max=65535)] = 0,
    browser: Annotated[bool, typer.Option(help="Open a browser window.")] = True,
    tip: TipOption = None,
    base: BaseOption = None,
    lock: LockOption = None,
) -> None:
    """Open a robot in the browser: move it, see torques, inertia, ellipsoids, motions, equations.

    Nothing leaves this machine. Ctrl-C ends it.
    """
    made = load_moving_robot(robot, tip, base, lock)
    with working("compiling"):
        from armdyn.studio import serve

        running = serve(made, port)
        answers = running.server.answers
        answers.state(answers.about()["start"])  # compiled before the page asks
    screen = console()
    screen.print(f"{made.name} is at [bold green]{running.address}[/]; Ctrl-C ends it.", soft_wrap=True)
    if browser:
        import webbrowser

        webbrowser.open(running.address)
    try:
        import threading

        threading.Event().wait()
    except KeyboardInterrupt:
        running.stop()
