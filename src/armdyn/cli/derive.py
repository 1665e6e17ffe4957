"""armdyn derive: the equations of motion, to read or to keep."""

from __future__ import annotations

import sys
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from armdyn.cli.console import (
    BaseOption,
    LockOption,
    RobotArgument,
    TipOption,
    console,
    load_moving_robot,
    tables,
    working,
)

if TYPE_CHECKING:
    from rich.console import Console

    from armdyn.equations import Equations
    from armdyn.equations.typesetting import Block
    from armdyn.robot.robot import Robot

MOST_TERMS = 1000
"""Terms of a quantity, multiplied out, beyond which a terminal is spared."""
MOST_LINES = 1000


class Format(StrEnum):
    """What the equations are written as."""

    text = "text"
    latex = "latex"
    markdown = "markdown"
    program = "program"
    python = "python"
    json = "json"


class Symbols(StrEnum):
    """What stands for the inertias."""

    named = "named"
    inertial = "inertial"


SUFFIXES = {".txt": Format.text, ".tex": Format.latex, ".md": Format.markdown, ".py": Format.python,
            ".json": Format.json}  # fmt: skip


def derive(
    robot: RobotArgument,
    by: Annotated[
        str, typer.Option("--by", metavar="NAME", help="Formulation, see `armdyn formulations`.")
    ] = "newton_euler",
    symbols: Annotated[
        Symbols,
        typer.Option(metavar="KIND", help="named: the file's parameters; inertial: ten standard parameters per link."),
    ] = Symbols.named,
    format: Annotated[
        Format | None,
        typer.Option("--format", "-f", metavar="FORMAT", help="text if not given, or what FILE is called."),
    ] = None,
    terms: Annotated[bool, typer.Option("--terms", help="Also the torques cause by cause.")] = False,
    bodies: Annotated[bool, typer.Option("--bodies", help="Also the torques body by body.")] = False,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write to a file: .txt, .tex, .md, .py, .json.")
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Print everything, however long it is.")] = False,
    tip: TipOption = None,
    base: BaseOption = None,
    lock: LockOption = None,
) -> None:
    """Derive the equations of motion: M, C, g in explicit form.

    FORMAT is text, latex, markdown, json, program (the torques as short assignments) or python (a function that runs).
    """
    style = format or (Format.text if out is None else _style_of(out))
    to_screen = out is None and style is Format.text
    with working("reading the robot") as say:
        made = load_moving_robot(robot, tip, base, lock)
        from armdyn.equations import derive as run

        equations = run(made, by, symbols=symbols, progress=say)
        spared = out is None and not everything and (to_screen or sys.stdout.isatty())
        large = _large(equations, style) if spared else ()
        blocks = _blocks(equations, large, terms and not large, bodies and not large, say) if to_screen else []
        text = "" if to_screen or large else _written(equations, made, style, terms, bodies, say)
    if out is not None:
        _save(out, text)
        done = f"Wrote {out} ({style}, {len(text.splitlines())} lines; derived in {equations.seconds:.2f} s)."
        console().print(done, soft_wrap=True, markup=False)
    elif text:
        print(text.rstrip("\n"))
    else:
        _print(console(), equations, symbols, blocks, large)
        if any(joint.friction is not None for joint in made.joints):
            console().print("Friction is not part of these equations.", style="dim")


def _style_of(out: Path) -> Format:
    try:
        return SUFFIXES[out.suffix.lower()]
    except KeyError:
        known = ", ".join(SUFFIXES)
        raise typer.BadParameter(f"{out.name!r}: {known}, or say --format", param_hint="--out") from None


# To keep --------------------------------------------------------------------------------------------------------


def _written(
    equations: Equations, robot: Robot, style: Format, terms: bool, bodies: bool, say: Callable[..., None]
) -> str:
    from armdyn.equations import typesetting
    from armdyn.graph import latex, text

    if style is Format.program:
        return equations.program() + "\n"
    if style is Format.python:
        return _python(equations, robot)
    if style is Format.json:
        from json import dumps

        say("closed forms")
        return dumps(typesetting.record(equations, terms, bodies), indent=2, ensure_ascii=False) + "\n"
    blocks = _blocks(equations, (), terms, bodies, say)
    say("writing")
    if style is Format.latex:
        return typesetting.latex(equations, latex, blocks) + "\n"
    if style is Format.markdown:
        return typesetting.markdown(equations, latex, blocks)
    lines = [f"Equations of motion of {equations.robot.name}, by {equations.formulation}", typesetting.MOTION,
             typesetting.SHORT, typesetting.UNWRITTEN]  # fmt: skip
    for block in blocks:
        lines += ["", block.heading, *(typesetting.plain_lines(block, text) or ["all zero"])]
    return "\n".join(lines) + "\n"


def _blocks(
    equations: Equations, without: tuple[str, ...], terms: bool, bodies: bool, say: Callable[..., None]
) -> list[Block]:
    """What is asked for, with a word about each while it is made."""
    from armdyn.equations import typesetting

    blocks: list[Block] = []
    for name in (name for name in typesetting.QUANTITIES if name not in without):
        say(f"closed form of {name}: {_terms(equations, name)} terms")
        blocks += typesetting.matrices(equations, (name,))
    if terms:
        say("torques by cause")
        blocks += typesetting.causes(equations)
    if bodies:
        say("torques by body")
        blocks += typesetting.bodies(equations)
    return blocks


def _python(equations: Equations, robot: Robot) -> str:
    """A module: the function and, where they are known, the values of its parameters."""
    names = [str(node.value) for node in equations.graph.parameters]
    values = {name: robot.parameters[name] for name in names if name in robot.parameters}
    head = (
        f"Inverse dynamics of {equations.robot.name}, by {equations.formulation}: joint torques of a motion.\n\n"
        "function(q, qd, qdd, **PARAMETERS) gives {'tau': (tau1, ...)}; q, qd, qdd have one entry per joint.\n"
    )
    table = [f'    "{name}": {value!r},\n' for name, value in values.items()]
    known = f"\nPARAMETERS = {{\n{''.join(table)}}}\n" if len(values) == len(names) else ""
    return f'"""{head}"""\n{known}\n\n{equations.graph.program("python")}'


def _save(path: Path, text: str) -> None:
    from armdyn.errors import FileError

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise FileError(f"the file cannot be written: {error.strerror}", where=str(path),
                        advice="Give another place with --out.") from None  # fmt: skip


# To read --------------------------------------------------------------------------------------------------------


def _terms(equations: Equations, name: str) -> int:
    return equations.size["christoffel" if name == "C" else name]


def _large(equations: Equations, style: Format) -> tuple[str, ...]:
    """The quantities that would flood a terminal."""
    if style in (Format.program, Format.python):
        return ("tau",) if equations.program().count("\n") > MOST_LINES else ()
    return tuple(name for name in ("M", "C", "g") if _terms(equations, name) > MOST_TERMS)


def _print(out: Console, equations: Equations, symbols: str, blocks: list[Block], large: tuple[str, ...]) -> None:
    """Head, then the quantities that are short enough; the others as tables of their sizes."""
    from rich.text import Text

    from armdyn.equations import typesetting

    _print_head(out, equations, symbols)
    for block in blocks:
        _print_block(out, block)
    out.print()
    if large:
        _print_sizes(out, equations, large)
        return
    out.print(Text(typesetting.UNWRITTEN, style="dim"))
    out.print(Text(typesetting.SHORT, style="dim"))


def _print_head(out: Console, equations: Equations, symbols: str) -> None:
    from rich.panel import Panel
    from rich.table import Table
    from rich.text import Text

    from armdyn.equations import typesetting
    from armdyn.mechanics.registry import formulation

    entry, size, count = formulation(equations.formulation), equations.size, equations.operations
    offline = count.offline.total if count.offline else 0
    facts = Table.grid(padding=(0, 2))
    facts.add_column(style="dim", no_wrap=True)
    facts.add_column()
    own = symbols == "named"
    parameters = "those of the robot's file" if own else "ten inertial symbols per link, in its joint frame"
    for label, fact in (
        ("equation", typesetting.MOTION),
        ("formulation", f"{entry.title} ({entry.name}), {entry.source}"),
        ("parameters", parameters),
        ("multiplied out", f"{size['M']} terms in M, {size['christoffel']} in C, {size['g']} in g"),
        (
            "program of tau",
            f"{count.multiplications} multiplications, {count.additions} additions, "
            f"{count.trigonometric} sines and cosines, {offline} operations off-line",
        ),
        ("derived in", f"{equations.seconds:.2f} s"),
    ):
        facts.add_row(label, Text(fact))
    title = Text(f"Equations of motion of {equations.robot.name}", style="bold")
    out.print(Panel(facts, title=title, title_align="left", border_style="blue"))


def _print_block(out: Console, block: Block) -> None:
    from rich.text import Text

    from armdyn.equations import typesetting
    from armdyn.graph import text

    out.print(Text(f"\n{block.heading}", style="bold"))
    if not block.entries:
        out.print(Text("  all zero", style="dim"))
    for entry in typesetting.plain_lines(block, text, out.width - 2):
        shown = Text("  ").append(entry.replace("\n", "\n  "))
        shown.stylize("cyan", 2, 2 + len(entry.split(" ", 1)[0].rstrip(":")))
        out.print(shown, soft_wrap=True)


def _print_sizes(out: Console, equations: Equations, large: tuple[str, ...]) -> None:
    """How many terms each entry has, and how to get them."""
    from rich.text import Text

    from armdyn.equations import typesetting
    from armdyn.graph import normal_form
    from armdyn.tables import Column, Section

    for name in (name for name in large if name in typesetting.QUANTITIES):
        entries = normal_form(equations.raw[name]).entries
        rows = [[entry] for entry in entries] if name == "g" else entries
        heads = (Column(""), *(Column(str(j + 1)) for j in range(len(rows[0]))))
        counts = tuple((f"{name}{i + 1}", *(str(len(x)) for x in row)) for i, row in enumerate(rows))
        for table in tables(Section(f"{typesetting.QUANTITIES[name]}: terms of each entry", heads, counts), out.width):
            out.print(table)
    total = equations.operations.total
    if "tau" in large:
        advice = [f"A program of {total} operations is too long for a screen.", "."]
    else:
        terms = sum(_terms(equations, name) for name in large)
        advice = [f"{terms} terms are too many for a screen.", f"; --format program has {total} operations."]
    out.print(Text.assemble((advice[0], "yellow"), " Write them to a file with ", ("--out FILE", "bold"),
                            ", print them with ", ("--all", "bold"), advice[1]))  # fmt: skip
