"""`armdyn.formulations`: all formulations, as a table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from armdyn.mechanics.registry import FORMULATIONS, QUANTITIES, Formulation
from armdyn.notebook_view import View
from armdyn.result import Result
from armdyn.tables import Column, Section

HEADS = {
    "inverse_dynamics": ("tau", "inverse dynamics"),
    "mass_matrix": ("M", "mass matrix"),
    "coriolis_matrix": ("C", "Coriolis matrix (Christoffel symbols)"),
    "coriolis": ("C qd", "Coriolis and centrifugal torques"),
    "gravity": ("g", "gravity torques"),
    "forward_dynamics": ("qdd", "forward dynamics"),
    "kinetic_energy": ("T", "kinetic energy"),
    "potential_energy": ("U", "potential energy"),
}
"""Quantity -> head of its column, its name."""


@dataclass(frozen=True)
class Formulations(Result):
    """All formulations: iterate over them, or take them by index."""

    entries: tuple[Formulation, ...]

    def __iter__(self) -> Iterator[Formulation]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    def __getitem__(self, k: int) -> Formulation:
        return self.entries[k]

    def _view(self) -> View:
        columns = (
            Column("name"),
            Column("formulation", folds=True),
            *(Column(HEADS[each][0]) for each in QUANTITIES),
            Column("source", folds=True),
        )
        rows = tuple(
            (entry.name, entry.title, *("✓" if each in entry.gives else "" for each in QUANTITIES), entry.source)
            for entry in self.entries
        )
        notes = (
            "Columns: " + ", ".join(f"{head} {meaning}" for head, meaning in HEADS.values()) + ".",
            "Sources: El Baji et al., Milićević et al., Khalil, Truc et al., Siciliano et al.",
            "armdyn.derive accepts the formulations that give tau, M and g.",
        )
        return View("Formulations of the equations of motion", sections=(Section("", columns, rows),), notes=notes)

    def record(self) -> dict[str, Any]:
        """Name, title, source and quantities of every formulation."""
        rows = [{"name": e.name, "title": e.title, "source": e.source, "gives": list(e.gives)} for e in self.entries]
        return {"formulations": rows}


def formulations() -> Formulations:
    """All formulations, each with name, title, source and the quantities it gives."""
    return Formulations(FORMULATIONS)
