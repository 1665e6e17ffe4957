"""armdyn plan: a motion through configurations, its torques and a verdict, as a file and as a figure."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from armdyn.cli import parse
from armdyn.cli.verb import Writes, figure, verb

if TYPE_CHECKING:
    from armdyn import Robot
    from armdyn.motion import Plan


class Timing(StrEnum):
    """How the motion along the path is timed."""

    given = "given"
    scaled = "scaled"
    optimal = "optimal"


PANELS = {
    "Path": ("start", "to", "line"),
    "Timing": ("timing", "profile", "duration", "limits"),
    "Payload": ("payload",),
}


@verb(
    out=Writes("Write the motion as samples of t, q, qd, qdd, tau (.csv)."),
    plot=figure("positions, velocities, accelerations and torques", film=True),
    panels=PANELS,
)
def plan(
    robot: Robot,
    start: Annotated[
        str,
        typer.Option(
            "--from",
            metavar="Q",
            help="Start configuration: one number per joint as in 0,30deg,-1.2 (rad, m), or its name in the file.",
        ),
    ],
    to: Annotated[
        list[str],
        typer.Option(
            metavar="Q", help="End configuration, in the same form; repeatable: those before the last are on the way."
        ),
    ],
    line: Annotated[bool, typer.Option("--line", help="Move the tool along straight lines.")] = False,
    profile: Annotated[
        str | None,
        typer.Option(
            help="Velocity profile: linear, cubic, quintic, bang_bang, trapezoid (default), smooth, smooth_trapezoid, "
            "or smooth_trapezoid:SHARE, where the acceleration rises and falls in a SHARE (up to 0.5) of its time. "
            "Past configurations on the way: blends (default), cubic or quintic."
        ),
    ] = None,
    timing: Annotated[
        Timing,
        typer.Option(
            help="given: by profile and limits. scaled: the whole motion is sped up or slowed down until a joint "
            "reaches a limit of torque, velocity, acceleration or jerk. optimal: the fastest timing of the path; the "
            "profile is not used."
        ),
    ] = Timing.given,
    duration: Annotated[float | None, typer.Option(metavar="S", help="Duration, s (default: the shortest).")] = None,
    limits: parse.LimitsOption = None,
    payload: Annotated[
        str | None,
        typer.Option(
            metavar=parse.PAYLOAD,
            help="Payload at the tool, kg, and its centre of mass in the tool frame, m; largest[@X,Y,Z] finds the "
            "largest of the motion, or, with --timing optimal and --duration, of the path in that time.",
        ),
    ] = None,
    dt: Annotated[float, typer.Option(metavar="S", help="Time step of the samples, s.")] = 1e-3,
) -> Plan:
    """Plan a motion between configurations within limits of velocity, acceleration, jerk and torque.

    Exit status: 0 the motion respects every known limit, 1 it does not.
    """
    from armdyn import plan

    given = [(start, "--from"), *((text, "--to") for text in to)]
    points = [parse.configuration(text, robot, option) for text, option in given]
    joints, tool = parse.limits_by_name(limits)
    largest = payload is not None and payload.startswith("largest")
    mass, com = parse.payload(payload.replace("largest", "0", 1) if payload and largest else payload)
    return plan(
        robot,
        points,
        timing=timing.value,
        profile=profile,
        duration=duration,
        straight=line,
        limits=joints,
        tool_limits=tool,
        payload=mass,
        com=com,
        largest=largest,
        dt=dt,
    )
