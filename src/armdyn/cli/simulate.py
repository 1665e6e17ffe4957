"""armdyn simulate: an arm under a control law."""

from __future__ import annotations

import tomllib
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from armdyn.cli import parse
from armdyn.cli.verb import Writes, figure, verb

if TYPE_CHECKING:
    from armdyn import Robot, Run
    from armdyn.typing import Progress

SAMPLES = Writes("Write the run as samples: .csv, .npz or .parquet.", (".csv", ".npz", ".parquet"))


def law_names(incomplete: str) -> list[str]:
    """Completions of --law for the TAB key."""
    from armdyn.control import LAWS

    return [name for name in LAWS if name.startswith(incomplete)]


def setting_names(incomplete: str) -> list[str]:
    """Completions of --set for the TAB key."""
    from armdyn.simulation import Experiment

    return [f"{name}=" for name in Experiment.key_names() if name.startswith(incomplete)]


def print_template(asked: bool) -> None:
    """Print an experiment's file with all keys, and end."""
    if asked:
        from armdyn.simulation import Experiment

        print(Experiment.template())
        raise typer.Exit


@verb(out=SAMPLES, plot=figure("the tool's path, joints, errors, torques and energy", film=True))
def simulate(
    robot: Robot,
    progress: Progress,
    experiment: Annotated[
        Path | None,
        typer.Argument(metavar="EXPERIMENT.toml", help="Law, reference, plant, sensors and more: --print-template."),
    ] = None,
    law: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Control law (default: computed_torque).", autocompletion=law_names),
    ] = None,
    reference: Annotated[
        str | None,
        typer.Option(
            metavar="REF",
            help="Reference motion: an end configuration as in 0.5,30deg,1; a .csv file of `armdyn plan`; curve40 "
            "(El Baji) or swing (Truc). Default: every joint moves by 0.5 rad or 0.1 m.",
        ),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="Any key of an experiment, as in law.kp=200, reference.start=0,30deg, solver.dt=0.01; repeatable.",
            autocompletion=setting_names,
        ),
    ] = None,
    template: Annotated[
        bool,
        typer.Option(
            "--print-template", help="Print an experiment with all keys.", callback=print_template, is_eager=True
        ),
    ] = False,
) -> Run:
    """Simulate an arm under a control law: tracking, torques, energy, imperfect models.

    The control laws include computed torque, PD with gravity compensation, PID, feedforward, sliding mode, robust
    and adaptive control, and laws in the task space, which move the tool on a straight line. Options replace what the
    experiment's file says. Exit status: 0 the motion was completed, 1 it was not.
    """
    from armdyn import simulate
    from armdyn.simulation import Experiment

    changes: dict[str, Any] = {} if law is None else {"law.name": law}
    if reference is not None:
        changes["reference.motion"] = _numbers(reference)
    changes |= {key: _value(text) for key, text in (parse.pair(each, "--set", "law.kp=200") for each in settings or ())}
    chosen = Experiment() if experiment is None else Experiment.read(experiment)
    return simulate(robot, chosen.changed(changes), progress=progress)


def _value(text: str) -> Any:
    """A value of TOML; else numbers as in 0,30deg; else a text, which needs no quotes on a command line."""
    with suppress(tomllib.TOMLDecodeError):
        return tomllib.loads(f"value = {text}")["value"]
    return _numbers(text)


def _numbers(text: str) -> str | list[float] | None:
    """`"0.1,30deg"` as numbers; anything else as it is."""
    try:
        return parse.vector(text, "--set")
    except typer.BadParameter:
        return text
