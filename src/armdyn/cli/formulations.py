"""armdyn formulations: the formulations of the equations of motion."""

from __future__ import annotations

from typing import TYPE_CHECKING

from armdyn.cli.verb import verb

if TYPE_CHECKING:
    from armdyn.result import Result


@verb()
def formulations() -> Result:
    """List the formulations: their names for `derive --by`, their sources, and what each computes."""
    from armdyn import formulations

    return formulations()
