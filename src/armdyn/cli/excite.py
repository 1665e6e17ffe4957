"""armdyn excite: an exciting motion for identification, and the error bars to expect from it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from armdyn.cli import parse
from armdyn.cli.console import console, show, show_path, working, write_figure
from armdyn.cli.verb import takes

if TYPE_CHECKING:
    from armdyn.identification.excitation.excite import Excitation
    from armdyn.robot.robot import Robot
    from armdyn.tables import Section

NOISE = 0.01
"""Default torque noise, as a share of the torque limit (of the peak torque if there is no limit)."""


PANELS = {
    "Motion": ("harmonics", "pieces", "period", "periodic", "periods"),
    "Search": ("criterion", "include", "starts", "seconds", "seed", "resume"),
    "Limits": ("share", "v_max", "a_max", "tau_max", "floor", "radius"),
    "Measurement": ("noise", "rate"),
}


@takes("closed", "tree", panels=PANELS)
def excite(
    robot: Robot,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the motion as samples of t, q, qd, qdd (.csv).")
    ] = None,
    harmonics: Annotated[int, typer.Option(metavar="K", help="Number of harmonics of the Fourier series.")] = 10,
    pieces: Annotated[
        int | None, typer.Option(metavar="K", help="Quintic polynomials in K pieces instead of a Fourier series.")
    ] = None,
    period: Annotated[float, typer.Option(metavar="S", help="Period of the motion, s.")] = 10.0,
    criterion: Annotated[
        str, typer.Option(help="condition (number of the observation matrix) or D (its determinant).")
    ] = "condition",
    include: parse.IncludeOption = "inertial,friction",
    starts: Annotated[int, typer.Option(metavar="N", help="Number of random starting points of the optimisation.")] = 2,
    seconds: Annotated[
        float | None, typer.Option(metavar="S", help="Time limit, s; the best motion found so far is kept.")
    ] = None,
    seed: Annotated[
        int, typer.Option(metavar="N", help="Random seed; the same seed gives the same motion (without --seconds).")
    ] = 0,
    share: Annotated[
        float, typer.Option(metavar="X", help="Fraction of every limit that may be used, at most 1.")
    ] = 1.0,
    periodic: Annotated[bool, typer.Option("--periodic", help="The motion need not start and end at rest.")] = False,
    v_max: parse.VelocityOption = None,
    a_max: parse.AccelerationOption = None,
    tau_max: parse.TorqueOption = None,
    floor: Annotated[
        float | None,
        typer.Option(metavar="Z", help="Height of the floor, m; links also stay clear of each other."),
    ] = None,
    radius: Annotated[
        float | None, typer.Option(metavar="R", help="Radius of the links, m (alone: links clear of each other only).")
    ] = None,
    noise: Annotated[
        str | None, typer.Option(metavar="N", help="Standard deviation of the measured torques, N m or N.")
    ] = None,
    rate: Annotated[float, typer.Option(metavar="HZ", help="Sampling rate of the measurement, Hz.")] = 100.0,
    periods: Annotated[float, typer.Option(metavar="N", help="Number of periods to write and to measure.")] = 1.0,
    resume: Annotated[Path | None, typer.Option(metavar="FILE", help="Save progress here, and resume from it.")] = None,
    plot: parse.PlotOption = None,
    size: parse.SizeOption = None,
    dt: Annotated[float, typer.Option(metavar="S", help="Time step of the samples, s.")] = 1e-3,
) -> None:
    """Design an exciting motion for identification within the robot's limits, and predict the error bars."""
    import numpy as np

    from armdyn.identification import Harmonics, Polynomials, Search, Surroundings, predicted_std
    from armdyn.identification import excite as optimised

    parse.check_extension(plot, parse.PICTURES, "--plot")
    fastest, steepest, strongest = (
        None if text is None else parse.numbers(text, robot.n, option, single=True)
        for text, option in ((v_max, "--v-max"), (a_max, "--a-max"), (tau_max, "--tau-max"))
    )
    families = parse.words(include)
    shape, count = (Harmonics, harmonics) if pieces is None else (Polynomials, pieces)
    kind = shape(count=count, period=period, rest=not periodic)
    with working("optimising the motion") as say:
        found = optimised(
            robot,
            include=families,
            criterion=criterion,
            harmonics=kind,
            search=Search(starts=starts, seconds=seconds, seed=seed),
            v_max=fastest,
            a_max=steepest,
            tau_max=strongest,
            share=share,
            surroundings=None if floor is None and radius is None else Surroundings(floor=floor, radius=radius),
            resume=resume,
            progress=say,
        )
    motion = found.repeated(periods)
    deviation = _noise(found) if noise is None else parse.numbers(noise, robot.n, "--noise", single=True)
    prediction = predicted_std(found.base, motion, deviation if len(deviation) == robot.n else deviation[0], rate=rate)
    screen = console()
    show(screen, _uses(robot, found), prediction.section())
    screen.print(str(found))
    if np.isfinite(found.clearance):
        screen.print(f"Smallest distance between links, and from the floor: {1e3 * found.clearance:.0f} mm.")
    for note in found.notes:
        screen.print(f"[yellow]{note}[/]")
    if noise is None:
        screen.print(
            f"Assumed torque noise: {NOISE:.0%} of the torque limit, or of the peak torque (change with --noise)."
        )
    if out is not None:
        motion.save(out, dt)
        show_path(screen, "Samples", out)
    if plot is not None:
        from armdyn.report.figures.excitation_figures import excitation_figure

        write_figure(screen, plot, excitation_figure(found), size)


def _noise(found: Excitation) -> list[float]:
    import numpy as np

    limit, peak = found.design.limits.tau_max, np.abs(found.feasibility.peak["torque"])
    return [float(NOISE * max(x if np.isfinite(x) else y, 1e-6)) for x, y in zip(limit, peak, strict=True)]


def _uses(robot: Robot, found: Excitation) -> Section:
    from armdyn.tables import Column, Section

    quantities = ("position", "velocity", "acceleration", "torque")
    use = found.feasibility.use
    rows = []
    for j, joint in enumerate(robot.joints):
        rows.append((joint.name, *(f"{use[name][j]:.1%}" if use[name][j] > 0 else "-" for name in quantities)))
    title = f"{robot.name}: share of the limits used by the motion"
    return Section(
        title,
        tuple(map(Column, ("joint", *quantities))),
        tuple(rows),
        "Position: distance from mid-range as a share of half the range.",
    )
