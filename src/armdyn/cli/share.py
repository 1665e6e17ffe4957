"""armdyn share: a robot as one page that works without server and network."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from armdyn.cli.parse import split_robot
from armdyn.cli.verb import Writes, verb

if TYPE_CHECKING:
    from armdyn import Robot
    from armdyn.result import Result


def default_file(options: Mapping[str, Any]) -> Path:
    """Where the page goes when the user does not say: ROBOT.html."""
    return Path(f"{Path(split_robot(options['robot'])[0]).stem}.html")


@verb(out=Writes("File to write (default: ROBOT.html).", default=default_file))
def share(robot: Robot) -> Result:
    """Write a robot as one HTML page to share: move it, read torques and equations, simulate; no server, no network.

    The dynamics run in the page as WebAssembly. Open the file in any browser, mail it, or put it on a web site.
    """
    from armdyn import share

    return share(robot)
