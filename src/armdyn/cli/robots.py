"""armdyn robots: the catalog."""

from __future__ import annotations

from armdyn.cli.console import console


def robots() -> None:
    """List the robots of the catalog."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    from armdyn import catalog
    from armdyn.formats import read
    from armdyn.robot.describe import types

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    table.add_column("name", style="bold", no_wrap=True)
    table.add_column("joints", justify="right", no_wrap=True)
    table.add_column("types", no_wrap=True)
    table.add_column("source", overflow="fold")
    for name in catalog.names():
        robot = read(name)
        table.add_row(name, str(robot.n), types(robot), Text(robot.source))
    console().print(table)
