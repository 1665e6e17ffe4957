"""armdyn derive: the equations of motion in explicit form, on the screen or in a file."""

from __future__ import annotations

import sys
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from armdyn.cli.console import console, show, show_facts, working
from armdyn.cli.verb import takes
from armdyn.files import write_text

if TYPE_CHECKING:
    from rich.console import Console

    from armdyn.equations import Equations
    from armdyn.equations.typesetting import Block
    from armdyn.robot.robot import Robot

MOST_TERMS = 1000
"""Terms of a quantity, multiplied out, that are printed on a terminal at most."""
MOST_LINES = 1000


class Format(StrEnum):
    """Output formats."""

    text = "text"
    latex = "latex"
    markdown = "markdown"
    program = "program"
    python = "python"
    json = "json"


class Paper(StrEnum):
    """Papers of a LaTeX document."""

    a4 = "a4"
    letter = "letter"


class Symbols(StrEnum):
    """Symbols for the inertial parameters."""

    named = "named"
    inertial = "inertial"


class Parts(NamedTuple):
    """What of the equations is asked for: single entries, or all of it, with torques by cause and by body."""

    entries: tuple[str, ...]
    terms: bool
    bodies: bool


SUFFIXES = {".txt": Format.text, ".tex": Format.latex, ".md": Format.markdown, ".py": Format.python,
            ".json": Format.json}  # fmt: skip


@takes("closed", "elastic", "tree")
def derive(
    robot: Robot,
    by: Annotated[
        str, typer.Option("--by", metavar="NAME", help="Formulation; `armdyn formulations` lists them.")
    ] = "newton_euler",
    symbols: Annotated[
        Symbols,
        typer.Option(
            metavar="KIND", help="named: the robot file's parameters; inertial: ten standard parameters per link."
        ),
    ] = Symbols.named,
    format: Annotated[
        Format | None,
        typer.Option(
            "--format", "-f", metavar="FORMAT", help="Output format (default: text, or inferred from FILE's extension)."
        ),
    ] = None,
    terms: Annotated[bool, typer.Option("--terms", help="Also give the torques split by physical effect.")] = False,
    bodies: Annotated[
        bool, typer.Option("--bodies", help="Also give the torques split by body; with --terms by both.")
    ] = False,
    entry: Annotated[
        list[str] | None,
        typer.Option("--entry", metavar="ENTRY", help="Only this entry: M12, C31, g2 or tau1; may be repeated."),
    ] = None,
    paper: Annotated[
        Paper | None,
        typer.Option(
            metavar="PAPER", help="With latex: a complete document on a4 or letter (default: equations only)."
        ),
    ] = None,
    columns: Annotated[
        int, typer.Option(min=1, max=2, metavar="N", help="With latex: break the equations for 1 or 2 columns.")
    ] = 1,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write to a file: .txt, .tex, .md, .py, .json.")
    ] = None,
    wrench: Annotated[bool, typer.Option("--wrench", help="Include a wrench at the tool in tau.")] = False,
    everything: Annotated[bool, typer.Option("--all", help="Print everything, however long.")] = False,
) -> None:
    """Derive the equations of motion: M, C, g, springs and friction in explicit form.

    FORMAT is text, latex, markdown, json, program (the torques as a list of assignments) or python (a function).
    """
    style = format or (Format.latex if paper else Format.text if out is None else _style_of(out))
    to_screen = out is None and style is Format.text
    if entry and (style in (Format.program, Format.python) or terms or bodies):
        raise typer.BadParameter("single entries have the formats text, latex, markdown and json, without --terms and "
                                 "--bodies", param_hint="--entry")  # fmt: skip
    if (paper or columns == 2) and style is not Format.latex:
        raise typer.BadParameter("only LaTeX has papers and columns", param_hint="--paper" if paper else "--columns")
    with working("deriving") as say:
        from armdyn.equations import derive as run

        equations = run(robot, by, symbols=symbols, wrench=wrench, progress=say)
        short = out is None and not everything and (to_screen or sys.stdout.isatty())
        large = _large(equations, style) if short and not entry else ()
        parts = Parts(tuple(entry or ()), terms and not large, bodies and not large)
        blocks = _blocks(equations, parts, large, say) if to_screen else []
        layout = (paper or "", columns)
        text = "" if to_screen or large else _written(equations, robot, style, parts, layout, say)
    if out is not None:
        write_text(out, text)
        done = f"Wrote {out} ({style}, {len(text.splitlines())} lines; derived in {equations.seconds:.2f} s)."
        console().print(done, soft_wrap=True, markup=False)
    elif text:
        print(text.rstrip("\n"))
    else:
        _print(console(), equations, symbols, blocks, large, bool(entry))


def _style_of(out: Path) -> Format:
    try:
        return SUFFIXES[out.suffix.lower()]
    except KeyError:
        known = ", ".join(SUFFIXES)
        raise typer.BadParameter(f"{out.name!r} must end in {known}; or give --format", param_hint="--out") from None


# Into a file ------------------------------------------------------------------------------------------------------


def _written(
    equations: Equations, robot: Robot, style: Format, parts: Parts, layout: tuple[str, int], say: Callable[..., None]
) -> str:
    from armdyn.equations import paper, typesetting
    from armdyn.graph import text

    if style is Format.program:
        return equations.program() + "\n"
    if style is Format.python:
        return _python(equations, robot)
    if style is Format.json:
        from json import dumps

        say("closed forms")
        record = typesetting.record(equations, parts.terms, parts.bodies, parts.entries)
        return dumps(record, indent=2, ensure_ascii=False) + "\n"
    blocks = _blocks(equations, parts, (), say)
    say("writing")
    if style is Format.latex:
        page = paper.layout(*layout)
        return (
            paper.document(equations, blocks, page)
            if page.paper
            else paper.fragment(equations, blocks, page.room) + "\n"
        )
    if style is Format.markdown:
        return typesetting.markdown(equations, blocks)
    title = f"Equations of motion of {equations.robot.name}, by {equations.formulation}"
    lines = [title, *typesetting.statement(equations), typesetting.SHORT, typesetting.UNWRITTEN]
    for block in blocks:
        lines += ["", block.heading, *(typesetting.plain_lines(block, text) or ["all zero"])]
    return "\n".join(lines) + "\n"


def _blocks(equations: Equations, parts: Parts, without: tuple[str, ...], say: Callable[..., None]) -> list[Block]:
    """The requested parts of the equations; `say` reports progress."""
    from armdyn.equations import typesetting

    if parts.entries:
        return [typesetting.one_entry(equations, name) for name in parts.entries]
    blocks: list[Block] = []
    for name in (name for name in equations.quantities if name not in without):
        say(f"closed form of {name}: {_terms(equations, name)} terms")
        blocks += typesetting.matrices(equations, (name,))
    if parts.terms:
        say("torques by physical effect")
        blocks += typesetting.causes(equations)
    if parts.bodies:
        say("torques by body")
        blocks += typesetting.bodies(equations)
    if parts.terms and parts.bodies:
        say("torques by body and physical effect")
        blocks += typesetting.crossed(equations)
    return blocks


def _python(equations: Equations, robot: Robot) -> str:
    """A Python module: the function and, if they are known, the values of its parameters."""
    from armdyn.equations import typesetting

    names = [str(node.value) for node in equations.graph.parameters]
    values = {name: robot.parameters[name] for name in names if name in robot.parameters}
    inputs = ", ".join(equations.graph.inputs)
    statement = "".join(f"{line}\n" for line in typesetting.statement(equations))
    head = (
        f"Inverse dynamics of {equations.robot.name}, by {equations.formulation}: the torques of a motion.\n\n"
        f"{statement}\n"
        f"function({inputs}, **PARAMETERS) returns {{'tau': (tau1, ...)}}; q, qd, qdd have one entry per joint.\n"
    )
    table = [f'    "{name}": {value!r},\n' for name, value in values.items()]
    known = f"\nPARAMETERS = {{\n{''.join(table)}}}\n" if len(values) == len(names) else ""
    return f'"""{head}"""\n{known}\n\n{equations.graph.program("python")}'


# On the screen --------------------------------------------------------------------------------------------------


def _terms(equations: Equations, name: str) -> int:
    return equations.size.get("christoffel" if name == "C" else name, 0)  # friction is short


def _large(equations: Equations, style: Format) -> tuple[str, ...]:
    """The quantities that are too long to print on a terminal."""
    if style in (Format.program, Format.python):
        return ("tau",) if equations.program().count("\n") > MOST_LINES else ()
    return tuple(name for name in equations.quantities if _terms(equations, name) > MOST_TERMS)


def _print(
    out: Console, equations: Equations, symbols: str, blocks: list[Block], large: tuple[str, ...], single: bool
) -> None:
    """Head, then the quantities that are short enough; of the others, the number of terms."""
    from rich.text import Text

    from armdyn.equations import typesetting

    _print_head(out, equations, symbols)
    for block in blocks:
        _print_block(out, block)
    out.print()
    if large:
        _print_sizes(out, equations, large)
        return
    if not single:
        out.print(Text(typesetting.UNWRITTEN, style="dim"))
    out.print(Text(typesetting.SHORT, style="dim"))


def _print_head(out: Console, equations: Equations, symbols: str) -> None:
    from armdyn.equations import typesetting
    from armdyn.mechanics.registry import formulation

    entry, size, count = formulation(equations.formulation), equations.size, equations.operations
    offline = count.offline.total if count.offline else 0
    parameters = (
        "named in the robot file" if symbols == "named" else "ten inertial symbols per link, in its joint frame"
    )
    operations = (
        f"{count.multiplications} multiplications, {count.additions} additions, "
        f"{count.trigonometric} sines and cosines, {offline} operations off-line"
    )
    motors = len(equations.raw["g"]) > equations.robot.n
    facts = (
        ("equation", typesetting.motion(equations)),
        ("", typesetting.statement(equations)[-1]),
        *([("coordinates", typesetting.coordinates(equations))] if motors else []),
        ("formulation", f"{entry.title} ({entry.name}), {entry.source}"),
        ("parameters", parameters),
        ("multiplied out", f"{size['M']} terms in M, {size['christoffel']} in C, {size['g']} in g"),
        ("program for tau", operations),
        ("derived in", f"{equations.seconds:.2f} s"),
    )
    show_facts(out, f"Equations of motion of {equations.robot.name}", facts)


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
    """The number of terms in each entry, and how to get them."""
    from rich.text import Text

    from armdyn.equations import typesetting
    from armdyn.graph import normal_form
    from armdyn.tables import Column, Section

    for name in (name for name in large if name in typesetting.QUANTITIES):
        entries = normal_form(equations.raw[name]).entries
        rows = entries if name in ("M", "C") else [[entry] for entry in entries]
        heads = (Column(""), *(Column(str(j + 1)) for j in range(len(rows[0]))))
        counts = tuple((f"{name}{i + 1}", *(str(len(x)) for x in row)) for i, row in enumerate(rows))
        show(out, Section(f"{typesetting.QUANTITIES[name]}: terms of each entry", heads, counts))
    total = equations.operations.total
    if "tau" in large:
        advice = [f"A program of {total} operations is too long to print.", "."]
    else:
        terms = sum(_terms(equations, name) for name in large)
        advice = [f"{terms} terms are too long to print.", f"; --format program has {total} operations."]
    out.print(Text.assemble((advice[0], "yellow"), " Write them to a file with ", ("--out FILE", "bold"),
                            ", print them with ", ("--all", "bold"), advice[1]))  # fmt: skip
