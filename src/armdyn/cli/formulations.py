"""armdyn formulations: the ways to the equations of motion."""

from __future__ import annotations

from armdyn.cli.console import console, mark

HEADS = {
    "inverse_dynamics": ("tau", "torques of a motion"),
    "mass_matrix": ("M", "inertia matrix"),
    "coriolis_matrix": ("C", "Christoffel matrix"),
    "coriolis": ("C qd", "its torques"),
    "gravity": ("g", "gravity torques"),
    "forward_dynamics": ("qdd", "accelerations of given torques"),
    "kinetic_energy": ("T", "kinetic energy"),
    "potential_energy": ("U", "potential energy"),
}
SOURCES = "El Baji et al., Milićević et al., Khalil, Truc et al., Siciliano et al."


def formulations() -> None:
    """List the formulations: names for `derive --by`, sources, what each gives."""
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
        given = entry.gives
        marks = [mark(out, True) if quantity in given else Text("") for quantity in QUANTITIES]
        table.add_row(entry.name, Text.assemble(entry.title, "\n", (entry.source, "dim")), *marks)
    out.print(table)
    meanings = ", ".join(f"{head} {meaning}" for head, meaning in HEADS.values())
    for label, note in (
        ("gives", meanings),
        ("sources", SOURCES),
        ("derive", "takes those that give tau, M and g"),
    ):
        line = Table.grid(padding=(0, 1))
        line.add_row(Text(f"{label}:", style="dim"), Text(note))
        out.print(line)
