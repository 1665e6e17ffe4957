"""armdyn formulations: the formulations of the equations of motion."""

from __future__ import annotations

from armdyn.cli.console import bullet, console, mark

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
SOURCES = "El Baji et al., Milićević et al., Khalil, Truc et al., Siciliano et al."


def formulations() -> None:
    """List the formulations: their names for `derive --by`, their sources, and what each computes."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    from armdyn.mechanics.registry import QUANTITIES, formulations

    out = console()
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold", padding=(0, 1, 0, 0))
    table.add_column("name", style="bold", no_wrap=True)
    table.add_column("formulation, source", overflow="fold")
    for quantity in QUANTITIES:
        table.add_column(HEADS[quantity][0], justify="center", no_wrap=True)
    for entry in formulations():
        marks = [mark(out, True) if quantity in entry.gives else Text("") for quantity in QUANTITIES]
        table.add_row(entry.name, Text.assemble(entry.title, "\n", (entry.source, "dim")), *marks)
    out.print(table)
    out.print(bullet(", ".join(f"{head} {meaning}" for head, meaning in HEADS.values()), "columns:"))
    out.print(bullet(SOURCES, "sources:"))
    out.print(bullet("accepts the formulations that give tau, M and g", "derive:"))
