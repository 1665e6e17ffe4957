"""armdyn robots: the catalog."""

from __future__ import annotations

from typing import TYPE_CHECKING

from armdyn.cli.verb import verb

if TYPE_CHECKING:
    from armdyn.result import Result


@verb()
def robots() -> Result:
    """List the robots of the catalog."""
    from armdyn import robots

    return robots()
