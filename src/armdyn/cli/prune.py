"""armdyn prune: a reduced torque model with a proven bound on its error."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from armdyn.cli import parse
from armdyn.cli.console import (
    console,
    print_json,
    show,
    show_path,
    working,
    write_figure,
)
from armdyn.cli.verb import takes
from armdyn.files import write_text

if TYPE_CHECKING:
    from armdyn.analysis.pruning import Pruned
    from armdyn.robot.robot import Robot


class Format(StrEnum):
    """Formats of the reduced model."""

    text = "text"
    latex = "latex"
    program = "program"
    python = "python"


SUFFIXES = {".txt": Format.text, ".tex": Format.latex, ".py": Format.python}


@takes("trigonometric")
def prune(
    robot: Robot,
    tolerance: Annotated[
        str,
        typer.Option(
            metavar="T", help="Largest torque error: 1% of the torque limits, or N m, one for all or one each."
        ),
    ] = "1%",
    v_max: parse.VelocityOption = None,
    a_max: parse.AccelerationOption = None,
    rank: Annotated[bool, typer.Option("--rank", help="Also list the largest terms of the equations.")] = False,
    plot: parse.PlotOption = None,
    size: parse.SizeOption = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the reduced model: equations (.txt, .tex) or a program (.py)."),
    ] = None,
    factor: Annotated[float, typer.Option(metavar="F", help="Tightness of the proof; smaller takes longer.")] = 1.2,
    json: parse.JsonOption = False,
) -> None:
    """Leave out of the torque program what does not matter, with a proven bound on the error.

    The bound holds for all positions within the joint limits and all rates within V and A. Friction is not included.
    --plot draws where terms of the equations vanish.
    """
    parse.check_extension(plot, parse.PICTURES, "--plot")
    parse.check_extension(out, tuple(SUFFIXES), "--out")
    if factor <= 1:
        raise typer.BadParameter("must be larger than 1", param_hint="--factor")
    share, given = _tolerance(tolerance, robot.n)
    rates = {name: None if text is None else parse.limits(text, robot.n, option)
             for name, text, option in (("v_max", v_max, "--v-max"), ("a_max", a_max, "--a-max"))}  # fmt: skip
    with working("terms") as say:
        from armdyn.analysis import motion_box, significance
        from armdyn.analysis import prune as run

        box = motion_box(robot, **rates)
        ranking = significance(robot, box=box) if rank or plot is not None else None
        found = run(robot, given, share=share, box=box, factor=factor, progress=say)
        say("timing")
        seconds = _seconds(found)
        text = "" if out is None else _written(found, SUFFIXES[out.suffix.lower()])
    if json:
        print_json(_record(found, seconds))
    else:
        _print(found, seconds)
        if ranking is not None and rank:
            show(console(), ranking.section())
    if out is not None:
        write_text(out, text)
        show_path(console(stderr=json), "Reduced model", out)
    if plot is not None and ranking is not None:
        from armdyn.report.figures.significance_figures import zero_lines_figure

        write_figure(console(stderr=json), plot, zero_lines_figure(ranking), size)


def _tolerance(text: str, n: int) -> tuple[float, list[float] | None]:
    """(share, None) of "1%", or (0.01, torques) of "0.5" or "0.5, 1, 2"."""
    if not text.strip().endswith("%"):
        return 0.01, parse.limits(text, n, "--tolerance")
    share = parse.numbers(text.strip().removesuffix("%"), 1, "--tolerance")[0] / 100
    if not 0 < share < 1:
        raise typer.BadParameter("a share lies between 0 and 100 %", param_hint="--tolerance")
    return share, None


def _seconds(found: Pruned) -> dict[str, float]:
    """Seconds per call of the whole and of the reduced model, timed in turns."""
    import numpy as np

    from armdyn.kernels import build
    from armdyn.speed.calls import Call
    from armdyn.speed.stopwatch import interleaved

    state = tuple(each[0] for each in found.box.samples(1, np.random.default_rng(0)))
    full: Callable[..., Any] = build(found.full, "inverse dynamics").call
    functions = {"full": full, "reduced": found.inverse_dynamics}
    calls = {name: Call(name, function, state, np.asarray) for name, function in functions.items()}
    return interleaved(calls, rounds=15, turn=0.01, most=1.0)


def _written(found: Pruned, style: Format) -> str:
    if style is Format.latex:
        return found.equations.latex() + "\n"
    return found.graph.program("python") if style is Format.python else f"{found.equations}\n"


def _print(found: Pruned, seconds: dict[str, float]) -> None:
    from armdyn.robot.limits import joint_units
    from armdyn.tables import Column, Section

    columns = (Column("joint"), Column("tolerance"), Column("proven bound"), Column("largest found"), Column("unit"))
    certificate = found.certificate
    values = zip(found.tolerance, found.bound, certificate.found, strict=True)
    rows = tuple(
        (joint.name, *(f"{x:.3g}" for x in row), units.torque)
        for joint, row, units in zip(found.robot.joints, values, joint_units(found.robot), strict=True)
    )
    full, less = found.full.operations, found.operations
    note = (
        f"Proof: {certificate.points} points, factor {certificate.factor:.3g}. Velocities up to "
        f"{_list(found.box.velocity)}, accelerations up to {_list(found.box.acceleration)}."
    )
    screen = console()
    show(screen, Section(f"{found.robot.name}: torque errors of the reduced model", columns, rows, note))
    costs = tuple(
        (name, str(count.multiplications), str(count.additions), str(count.trigonometric), f"{1e9 * time:.0f} ns")
        for (name, time), count in zip(seconds.items(), (full, less), strict=True)
    )
    heads = (
        Column("model"),
        Column("multiplications"),
        Column("additions"),
        Column("sines, cosines"),
        Column("one call"),
    )
    show(screen, Section("Cost of the torques", heads, costs))


def _list(values: Any) -> str:
    return ", ".join(f"{x:g}" for x in values)


def _record(found: Pruned, seconds: dict[str, float]) -> dict[str, Any]:
    certificate = found.certificate
    counts = {name: {"multiplications": count.multiplications, "additions": count.additions, "seconds": seconds[name]}
              for name, count in (("full", found.full.operations), ("reduced", found.operations))}  # fmt: skip
    return {
        "robot": found.robot.name,
        "tolerance": found.tolerance.tolist(),
        "bound": found.bound.tolist(),
        "found": certificate.found.tolist(),
        "points": certificate.points,
        "factor": certificate.factor,
        **counts,
    }
