"""armdyn simulate: an arm under a control law. Exit status 0 the motion was completed, 1 it was not, 2 error."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from armdyn.cli import parse
from armdyn.cli.console import compiled, console, show, show_path, working, write_figure
from armdyn.cli.control_laws import CONTROLLERS, ERRORS, TASK_LAWS, gains_of, joint_law, named_numbers, task_law
from armdyn.cli.verb import takes

if TYPE_CHECKING:
    from rich.console import Console

    from armdyn.control import Law
    from armdyn.dynamics import Dynamics
    from armdyn.robot.robot import Robot
    from armdyn.simulation import Plant, Run
    from armdyn.tables import Section

COMPLETED, STOPPED = 0, 1
TRACKING = ("peak error", "rms error", "final error")
CURVES = {"curve40": "scara5", "swing": "three_link"}
"""References of the source texts, and the robot each is for."""


PANELS = {
    "Control law": ("controller", "gain", "rows", "torques"),
    "Motion": ("reference", "start", "duration"),
    "Simulated arm": ("payload", "saturate", "no_load", "corner", "stiction", "stops", "push"),
    "Controller's clock and sensors": ("control_period", "resolution", "position_noise", "velocity_noise", "delay",
                                       "observe_velocity", "measure"),
    "Contact": ("observe_contact", "error"),
    "Integration": ("dt", "integrator"),
    "Comparisons": ("imperfect", "monte_carlo"),
}  # fmt: skip


@takes("closed", "elastic", "frictionless", panels=PANELS)
def simulate(
    robot: Robot,
    controller: Annotated[str, typer.Option(help=f"Control law: {', '.join(CONTROLLERS)}.")] = "computed_torque",
    gain: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="A gain of the control law, as in kp=200; repeatable."),
    ] = None,
    reference: Annotated[
        str | None,
        typer.Option(
            metavar="REF",
            help="Reference motion: an end configuration as in 0.5,30deg,1; a .csv file of `armdyn plan`; curve40 "
            "(El Baji) or swing (Truc). Default: every joint moves by 0.5 rad or 0.1 m.",
        ),
    ] = None,
    start: Annotated[
        str | None,
        typer.Option("--from", metavar="Q", help="Start configuration (default: the start of the reference)."),
    ] = None,
    duration: Annotated[float | None, typer.Option(metavar="S", help="Duration, s.")] = None,
    dt: Annotated[float, typer.Option(metavar="S", help="Time step, s.")] = 1e-3,
    integrator: Annotated[
        str,
        typer.Option(
            help="Integrator: auto (rk4, or implicit for stiff damping and springs), euler_taylor, semi_implicit, rk4, "
            "implicit, variational, dop853 or radau."
        ),
    ] = "auto",
    control_period: Annotated[
        float | None, typer.Option(metavar="S", help="Period of a digital controller, s; torques are held in between.")
    ] = None,
    payload: Annotated[
        str | None,
        typer.Option(
            metavar=parse.PAYLOAD,
            help="Payload at the tool, kg, and its centre of mass in the tool frame, m; unknown to the controller.",
        ),
    ] = None,
    saturate: Annotated[bool, typer.Option("--saturate", help="Saturate torques at the robot's limits.")] = False,
    no_load: parse.NoLoadOption = None,
    corner: parse.CornerOption = "0",
    stiction: Annotated[
        bool | None,
        typer.Option("--stiction/--no-stiction", help="Sticking of joints at rest (default: with dry friction)."),
    ] = None,
    stops: Annotated[bool, typer.Option("--stops", help="Put stops at the joint limits.")] = False,
    push: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PUSH",
            help="Push the arm at the origin of a frame, as in tool=0,0,-20@0.5,0.6: a force in world axes, N, and the "
            "times between which it acts, s; repeatable.",
        ),
    ] = None,
    torques: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Torques over time in place of a control law: a .csv file with t, tau1, ..."),
    ] = None,
    resolution: Annotated[
        float,
        typer.Option(metavar="RAD", help="Resolution of the position sensors, rad or m (velocities by differences)."),
    ] = 0.0,
    position_noise: Annotated[
        float, typer.Option(metavar="RAD", help="Standard deviation of the noise of measured positions, rad or m.")
    ] = 0.0,
    velocity_noise: Annotated[
        float, typer.Option(metavar="RAD/S", help="Standard deviation of the noise of measured velocities, per s.")
    ] = 0.0,
    delay: Annotated[float, typer.Option(metavar="S", help="Age of measurements, s.")] = 0.0,
    observe_velocity: Annotated[
        float,
        typer.Option(
            metavar="W", help="Velocities from an observer with poles at W rad/s; only positions are measured."
        ),
    ] = 0.0,
    observe_contact: Annotated[
        float,
        typer.Option(
            metavar="W",
            help="Contact torques from a momentum observer with a filter of W 1/s, and when they are noticed.",
        ),
    ] = 0.0,
    error: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE",
            help=f"Error of the model that --observe-contact allows for, of {', '.join(ERRORS)}: relative, com in m, "
            "as in mass=0.03; repeatable.",
        ),
    ] = None,
    rows: Annotated[
        str | None,
        typer.Option(
            metavar="ROWS",
            help="Rows that a law in the task space controls, of x y z rx ry rz (default: as many as the arm has).",
        ),
    ] = None,
    measure: Annotated[
        str,
        typer.Option(
            "--measured", metavar="SIDE", help="Side of elastic joints that the control law sees: motor or link."
        ),
    ] = "motor",
    imperfect: Annotated[
        bool,
        typer.Option(
            "--imperfect",
            help="Compare with controllers whose model lacks Coriolis, gravity or friction, or has wrong masses.",
        ),
    ] = False,
    monte_carlo: Annotated[int, typer.Option(metavar="N", help="Simulate N arms with random parameter errors.")] = 0,
    plot: parse.PlotOption = None,
    size: parse.SizeOption = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the run as samples: .csv, .npz or .parquet.")
    ] = None,
) -> None:
    """Simulate an arm under a control law: tracking, torques, energy, imperfect models.

    The control laws include computed torque, PD with gravity compensation, PID, feedforward, sliding mode, robust
    and adaptive control, and laws in the task space, which move the tool on a straight line. Exit status: 0 the motion
    was completed, 1 it was not, 2 error.
    """
    parse.check_extension(plot, parse.PICTURES, "--plot")
    parse.check_extension(out, (".csv", ".npz", ".parquet"), "--out")
    with working("preparing") as say:
        from armdyn.simulation import Actuation, Plant, Sensors, Solver
        from armdyn.simulation import simulate as run_simulation

        dyn = compiled(robot)
        known = dyn if controller == "elastic_pd" or not dyn.coordinates.doubled else compiled(robot.without("elastic"))
        if "presliding" in robot.features:  # laws have no state for it; the plant has
            known = compiled(known.robot.without("presliding"))
        pushed = _pushed(robot, push)
        law, course, options = _motion(
            robot, known, controller, gain, reference, start, duration, torques, rows, pushed
        )
        if observe_velocity:
            from armdyn.control import VelocityObserver

            law = VelocityObserver(law, known, observe_velocity)
        law = _observed(law, dyn, known, observe_contact, error)
        options |= {"solver": Solver(dt=dt, integrator=integrator)}
        curve = parse.torque_speed(no_load, corner, robot.n)
        limits = "robot" if saturate or curve else None
        actuation = Actuation(torque_limits=limits, control_period=control_period, **curve)
        mass, com = parse.payload(payload)
        carried = compiled(robot.with_payload(mass, com)) if mass else dyn
        plant = Plant(carried, stiction=stiction, stops=stops, measure=_measure(measure), wrench=pushed)
        say("simulating")
        sensors = None
        if resolution or position_noise or velocity_noise or delay:
            sensors = Sensors(resolution=resolution, noise_q=position_noise, noise_qd=velocity_noise, delay=delay,
                              differentiate=resolution > 0 and not observe_velocity)  # fmt: skip
        run = run_simulation(plant, law, course, **options, actuation=actuation, sensors=sensors)
        others = _imperfect(plant, law, course, options | {"actuation": actuation}) if imperfect else {}
        study = None
        if monte_carlo:
            from armdyn.simulation.studies import monte_carlo as many

            say(f"simulating {monte_carlo} arms")
            study = many(robot, law, course, samples=monte_carlo, **options)
    screen = console()
    _print_left_out(screen, robot, known.robot)
    _print_loops(screen, law, known)
    _print_springs(screen, law, dyn)
    _print(screen, run, law)
    _print_contacts(screen, run, law)
    if others:
        from armdyn.simulation.run_view import comparison

        show(screen, comparison({"full model": run, **others}, after=run.duration / 5))
    if study is not None:
        screen.print()
        screen.print(str(study), soft_wrap=True)
    if out is not None:
        show_path(screen, "Samples", run.save(out))
    if plot is not None:
        from armdyn.report.figures.run_figures import run_figure

        write_figure(screen, plot, run_figure(run, others), size)
    raise typer.Exit(COMPLETED if run.ok else STOPPED)


def _motion(
    robot: Robot, known: Dynamics, controller: str, gain: list[str] | None, reference: str | None, start: str | None,
    duration: float | None, torques: Path | None, rows: str | None, pushed: Any,
) -> tuple[Law, Any, dict[str, Any]]:  # fmt: skip
    """The control law, the reference, and the start and duration of the simulation."""
    if torques is None:
        gains = gains_of(gain, controller)
        motion, options = _reference(robot, reference, start, duration)
        if controller in TASK_LAWS:
            if options["q0"] is None:
                options["q0"] = motion(0.0)
            return *task_law(known, controller, gains, motion, rows, pushed), options
        if rows is not None:
            raise typer.BadParameter(f"only for {', '.join(TASK_LAWS)}", param_hint="--rows")
        return joint_law(known, controller, gains), motion, options
    if reference is not None or gain:
        raise typer.BadParameter("torques over time have no reference and no gains", param_hint="--torques")
    from armdyn.control import read_torques

    q0 = None if start is None else parse.configuration(start, robot, "--from")
    return read_torques(torques), None, {"q0": q0, "duration": duration}


def _observed(law: Law, dyn: Dynamics, known: Dynamics, gain: float, errors: list[str] | None) -> Law:
    """The law with an observer of contact torques around it, if one is asked for."""
    given = named_numbers(errors, ERRORS, "an error of the model", "--error", "mass=0.03")
    if not gain:
        if given:
            raise typer.BadParameter("only for --observe-contact", param_hint="--error")
        return law
    if dyn.coordinates.doubled:
        raise typer.BadParameter("not for elastic joints: the observer knows the momentum of a rigid arm",
                                 param_hint="--observe-contact")  # fmt: skip
    from armdyn.control import MomentumObserver, parameter_errors

    return MomentumObserver(law, known, gain, errors=parameter_errors(known, **given))


def _pushed(robot: Robot, texts: list[str] | None) -> Any:
    """The wrenches that the arm exerts while it is pushed, as a function of (t, q, qd); None: nobody pushes."""
    pushes: list[tuple[str, list[float], list[float]]] = []
    for text in texts or ():
        frame, rest = parse.pair(text, "--push", example="tool=0,0,-20@0.5,0.6")
        force, _, times = rest.partition("@")
        robot.frame(frame)
        pushes.append((frame, parse.numbers(force, 3, "--push"), parse.numbers(times, 2, "--push")))

    def exerted(t: float, q: Any, qd: Any) -> dict[str, list[float]]:
        wrenches = {frame: [0.0] * 6 for frame, _, _ in pushes}
        for frame, force, (begin, end) in pushes:
            if begin <= t < end:
                wrenches[frame][:3] = [a - b for a, b in zip(wrenches[frame], force, strict=False)]
        return wrenches

    return exerted if pushes else None


def _measure(text: str) -> Any:
    from armdyn.simulation.plant_coordinates import MEASURES

    if text not in MEASURES:
        raise typer.BadParameter(f"{text!r} is unknown; known: {', '.join(MEASURES)}", param_hint="--measured")
    return text


def _reference(robot: Robot, text: str | None, start: str | None, duration: float | None) -> tuple[Any, dict[str, Any]]:
    """The reference, and the start and duration of the simulation."""
    from armdyn.catalog.curves import SCARA_RATE, SCARA_START, ScaraCurve, Swing
    from armdyn.robot.limits import start_position
    from armdyn.trajectory import point_to_point, read_trajectory

    q0 = None if start is None else parse.configuration(start, robot, "--from")
    options: dict[str, Any] = {"q0": q0, "duration": duration}
    if text in CURVES:
        if robot.name != CURVES[text]:
            raise typer.BadParameter(f"{text} is a motion for {CURVES[text]} only", param_hint="--reference")
        if text == "swing":
            return Swing(), options
        return ScaraCurve(), options | {"q0": SCARA_START if q0 is None else q0, "qd0": SCARA_RATE}
    if text is not None and text.lower().endswith(".csv"):
        return read_trajectory(text), options
    begin = start_position(robot).tolist() if q0 is None else q0
    if text is None:
        end = [x + (0.5 if joint.kind == "revolute" else 0.1) for x, joint in zip(begin, robot.joints, strict=True)]
    else:
        end = parse.configuration(text, robot, "--reference")
    motion = point_to_point(begin, end, "quintic", duration=2.0 if duration is None else duration)
    return motion, {"q0": begin, "duration": motion.duration * 1.25 if duration is None else duration}


def _imperfect(plant: Plant, law: Law, course: Any, options: dict[str, Any]) -> dict[str, Run]:
    from armdyn.control import ComputedTorque
    from armdyn.simulation.studies import imperfect_models

    if not isinstance(law, ComputedTorque):
        raise typer.BadParameter("only computed torque has model terms to leave out", param_hint="--imperfect")
    runs = imperfect_models(plant, law, course, **options)
    return {name: run for name, run in runs.items() if name != "full model"}


def _print(screen: Console, run: Run, law: Law) -> None:
    from rich.text import Text

    show(screen, _section(run, law.in_task_space))
    if law.in_task_space:
        task: Any = law
        while hasattr(task, "law"):  # within observers
            task = task.law
        show(screen, _tool_section(run, task.rows.replace(",", " ").split()))
    style = "green" if run.ok else "bold red"
    screen.print(Text.assemble((run.status.value, style), f" {run.detail}" if run.detail else ""))
    how = "machine code" if run.compiled else "Python"
    speed = run.duration / run.seconds
    screen.print(Text(f"{len(run.t) - 1} steps in {run.seconds:.3f} s ({how}, including preparation): "
                      f"{speed:.3g} times real time.", style="dim"))  # fmt: skip


def _print_contacts(screen: Console, run: Run, law: Law) -> None:
    """Contact torques that an observer estimates, their thresholds, and when they are exceeded."""
    from armdyn.control import MomentumObserver, first_contact
    from armdyn.robot.limits import UNITS
    from armdyn.tables import Column, Section

    if not isinstance(law, MomentumObserver):
        return
    residual, threshold = (f(run.q, run.qd, run.memory) for f in (law.residual, law.threshold))
    rows = []
    for j, joint in enumerate(run.dynamics.robot.joints):
        r, most = residual[:, j : j + 1], threshold[:, j : j + 1]
        at = first_contact(r, run.t, most)
        figures = (f"{abs(r).max():.3g}", f"{most.min():.3g} to {most.max():.3g}", "-" if at is None else f"{at:.3f}")
        rows.append((joint.name, UNITS[joint.kind].torque, *figures))
    heads = ("joint", "unit", "largest estimate", "threshold", "noticed (s)")
    note = (
        "Thresholds allow for errors of the model: at any time, the probability of a false alarm of a joint is "
        f"{law.false_alarms:g}."
    )
    show(screen, Section("Contact torques", tuple(map(Column, heads)), tuple(rows), note))


def _print_left_out(screen: Console, plant: Robot, known: Robot) -> None:
    """What the simulated arm has and the model of its control law has not."""
    from armdyn.robot.features import FEATURES

    for name in (each for each in plant.features if each not in known.features):
        screen.print(f"The control law's model leaves out: {FEATURES[name].words}. The simulated arm includes it.",
                     soft_wrap=True)  # fmt: skip


def _print_loops(screen: Console, law: Law, dyn: Dynamics) -> None:
    """Poles, damping and bandwidth of laws whose loops are linear."""
    from armdyn.control import PID, ComputedTorque, analyse_gains
    from armdyn.tables import Column, Section

    if not isinstance(law, PID | ComputedTorque) or not (law.kp > 0).any():
        return
    heads = ("joint", "poles (1/s)", "fastest (rad/s)", "damping", "bandwidth (rad/s)", "advice")
    rows = []
    for loop in analyse_gains(law, dyn=dyn).loops:
        figures = (f"{loop.frequency:.4g}", f"{loop.damping:.3f}", f"{loop.bandwidth:.4g}", loop.advice)
        rows.append((loop.name, loop.poles_text, *figures))
    note = (
        "Linear loop of each joint, for PID at its largest inertia. Fastest: largest distance of a pole from 0. "
        "Damping: smallest of all pole pairs, 1 if all poles are real."
    )
    show(screen, Section("Control loops", tuple(map(Column, heads)), tuple(rows), note))


def _print_springs(screen: Console, law: Law, dyn: Dynamics) -> None:
    """Resonances of elastic joints over the workspace, and the condition of stability of a law for them."""
    from rich.text import Text

    from armdyn.control import ElasticPD, resonance_range
    from armdyn.tables import Column, Section

    if not dyn.coordinates.doubled:
        return
    locked, free = (resonance_range(dyn, motors=motors) for motors in ("locked", "free"))
    ends = zip(locked.lowest, locked.highest, free.lowest, free.highest, strict=True)
    rows = tuple((f"{k + 1}", f"{a:.4g} to {b:.4g}", f"{c:.4g} to {d:.4g}") for k, (a, b, c, d) in enumerate(ends))
    heads = ("mode", "motors locked (rad/s)", "motors free (rad/s)")
    note = f"Over the workspace. A PID designed for them has poles at most at {locked.first / 2:.4g} rad/s (Khalil)."
    show(screen, Section("Resonances of the elastic joints", tuple(map(Column, heads)), rows, note))
    if isinstance(law, ElasticPD):
        screen.print(Text(f"Condition of stability: {law.condition}."), soft_wrap=True)


def _section(run: Run, in_task_space: bool) -> Section:
    """Errors, velocities and torques, joint by joint; a law in the task space has its errors in a table of its own."""
    from armdyn.robot.limits import UNITS
    from armdyn.tables import Column, Section

    heads = ("joint", "unit", *(() if in_task_space else TRACKING), "peak velocity", "peak torque")
    numbers_of = [*([] if in_task_space else _errors(run)), abs(run.qd).max(axis=0), abs(run.tau).max(axis=0)]
    rows = []
    for j, joint in enumerate(run.dynamics.robot.joints):
        unit = UNITS[joint.kind].position
        rows.append((joint.name, unit, *(f"{float(column[j]):.3g}" for column in numbers_of)))
    title = f"{run.dynamics.robot.name}: {run.controller}, {run.integrator}, {run.duration:g} s"
    return Section(title, tuple(map(Column, heads)), tuple(rows), "Velocity per s, torque in N m or N.")


def _tool_section(run: Run, names: list[str]) -> Section:
    """Errors of the tool, row by row of the task."""
    from armdyn.tables import Column, Section

    columns = [[f"{float(x):.3g}" for x in column] for column in _errors(run)]
    units = ["rad" if name.startswith("r") else "m" for name in names]
    rows = tuple(zip(names, units, *columns, strict=True))
    return Section("Tool, world axes", tuple(map(Column, ("row", "unit", *TRACKING))), rows)


def _errors(run: Run) -> list[Any]:
    return [run.largest_error(), run.rms_error(), run.error[-1]]
