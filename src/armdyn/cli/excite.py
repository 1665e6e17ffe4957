"""armdyn excite: the motion from which a robot's parameters are best identified, and the error bars to expect."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from armdyn.cli.console import (
    PICTURES,
    BaseOption,
    LockOption,
    RobotArgument,
    TipOption,
    check_ending,
    console,
    load_moving_robot,
    tables,
    working,
)
from armdyn.cli.plan import numbers

if TYPE_CHECKING:
    from armdyn.identification.excitation import Excitation
    from armdyn.robot.robot import Robot
    from armdyn.tables import Section

NOISE = 0.01
"""Noise of the torques taken where none is given, as a share of the torque limit (of the peak torque without one)."""


def excite(
    robot: RobotArgument,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="Write samples: .csv (t, q, qd, qdd).")] = None,
    harmonics: Annotated[int, typer.Option(metavar="K", help="Harmonics of the Fourier series.")] = 10,
    period: Annotated[float, typer.Option(metavar="S", help="Period of the motion, s.")] = 10.0,
    criterion: Annotated[
        str, typer.Option(help="condition (number of the observation matrix) or D (determinant).")
    ] = "condition",
    include: Annotated[
        str,
        typer.Option(
            metavar="FAMILIES", help="Parameters sought: inertial, rotor, friction, offset; as `identify --include`."
        ),
    ] = "inertial,friction",
    starts: Annotated[int, typer.Option(metavar="N", help="Random motions from which the best is sought.")] = 2,
    seconds: Annotated[float | None, typer.Option(metavar="S", help="Stop after this time with the best.")] = None,
    seed: Annotated[
        int, typer.Option(metavar="N", help="The same seed gives the same motion (without --seconds).")
    ] = 0,
    share: Annotated[float, typer.Option(metavar="X", help="Share of every limit that may be used, up to 1.")] = 1.0,
    periodic: Annotated[
        bool, typer.Option("--periodic", help="Need not start and end at rest: the robot is moving already.")
    ] = False,
    v_max: Annotated[str | None, typer.Option(metavar="V", help="Largest velocities; else the robot's.")] = None,
    a_max: Annotated[str | None, typer.Option(metavar="A", help="Largest accelerations; else the robot's.")] = None,
    tau_max: Annotated[str | None, typer.Option(metavar="T", help="Largest torques; else the robot's.")] = None,
    noise: Annotated[
        str | None, typer.Option(metavar="N", help="Standard deviation of measured torques, N m or N.")
    ] = None,
    rate: Annotated[float, typer.Option(metavar="HZ", help="Rate at which torques will be measured, 1/s.")] = 100.0,
    periods: Annotated[float, typer.Option(metavar="N", help="Periods that will be measured and written.")] = 1.0,
    resume: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Keep finished work here, and go on from it.")
    ] = None,
    plot: Annotated[Path | None, typer.Option(metavar="FILE", help="Draw it: .png, .svg or .pdf.")] = None,
    dt: Annotated[float, typer.Option(metavar="S", help="Time step of the samples written, s.")] = 1e-3,
    tip: TipOption = None,
    base: BaseOption = None,
    lock: LockOption = None,
) -> None:
    """Optimise a motion for identification within the robot's limits, and predict the error bars."""
    from armdyn.identification import Harmonics, Search, predicted_std
    from armdyn.identification import excite as optimised

    made = load_moving_robot(robot, tip, base, lock)
    check_ending(plot, PICTURES, "--plot")
    fastest, steepest, strongest = (
        None if text is None else numbers(text, made.n, option, single=True)
        for text, option in ((v_max, "--v-max"), (a_max, "--a-max"), (tau_max, "--tau-max"))
    )
    families = tuple(word.strip() for word in include.split(","))
    with working("optimising the motion") as say:
        found = optimised(
            made,
            include=families,
            criterion=criterion,
            harmonics=Harmonics(count=harmonics, period=period, rest=not periodic),
            search=Search(starts=starts, seconds=seconds, seed=seed),
            v_max=fastest,
            a_max=steepest,
            tau_max=strongest,
            share=share,
            resume=resume,
            progress=say,
        )
    motion = found.repeated(periods)
    deviation = _noise(found) if noise is None else numbers(noise, made.n, "--noise", single=True)
    prediction = predicted_std(found.base, motion, deviation if len(deviation) == made.n else deviation[0], rate=rate)
    screen = console()
    for section in (_uses(made, found), prediction.section()):
        for table in tables(section, screen.width):
            screen.print(table)
    screen.print(str(found))
    for note in found.notes:
        screen.print(f"[yellow]{note}[/]")
    if noise is None:
        screen.print(f"Noise: {NOISE:.0%} of the torque limit or peak taken (--noise to choose).")
    if out is not None:
        motion.save(out, dt)
        screen.print(f"Samples: [bold green]{out}[/]", soft_wrap=True)
    if plot is not None:
        _draw(found, plot)
        screen.print(f"Picture: [bold green]{plot}[/]", soft_wrap=True)


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
    title = f"{robot.name}: share of the limits that the motion uses"
    return Section(title, tuple(map(Column, ("joint", *quantities))), tuple(rows), "Position: share of half the range.")


def _draw(found: Excitation, path: Path) -> None:
    from armdyn.errors import FileError
    from armdyn.report.figures.excitation_figures import excitation_figure

    try:
        excitation_figure(found).savefig(path, dpi=150)
    except OSError as error:
        raise FileError(f"cannot be written: {error.strerror}", where=str(path)) from None
