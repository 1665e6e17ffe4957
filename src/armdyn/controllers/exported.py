"""export: the dynamics of a robot, or a controller for it, as code."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from armdyn.codegen.export_files import TARGETS, Exported, contents, determined, model_for
from armdyn.codegen.export_files import export as export_dynamics
from armdyn.codegen.functions import Real
from armdyn.codegen.payload_parameters import with_payload_parameters
from armdyn.control.base import Law
from armdyn.control.sampling import largest_stable_period
from armdyn.controllers.controller import PAYLOAD_NAME, Controller
from armdyn.controllers.inverse_functions import ALL, NEAREST, inverse_functions
from armdyn.dynamics import Dynamics, compile
from armdyn.errors import ArmdynError, NotApplicable, unknown_name
from armdyn.robot import Robot
from armdyn.robot.features import CLOSED, FREE, LOSSY, takes
from armdyn.simulation.experiment import Experiment, LawChoice
from armdyn.trajectory.piecewise import PiecewisePolynomial

PERIOD = 1e-3
"""Control period where none is given, s."""
LANGUAGES = ("c", "cpp", "matlab", "wasm", "python")
"""Languages in which the inverse kinematics can be written; control laws are units of simulation (FMU) too."""


@takes(*CLOSED, "elastic", *LOSSY, *FREE)
def export(
    robot: Robot,
    to: str = "c",
    functions: Iterable[str] | None = None,
    prefix: str | None = None,
    *,
    parameters: bool = False,
    loops: bool | None = None,
    real: Real = "double",
    deterministic: bool = False,
    law: str | Law | Experiment | None = None,
    period: float | None = None,
    tunable: Iterable[str] = (),
) -> Exported:
    """The robot's functions, or a controller for it, as code; `save(folder)` writes the files.

    robot: with at least one movable joint.
    to: language: c, cpp, matlab, wasm, fmu, python (default "c").
    functions: names from QUANTITIES, or "all"; "inverse_kinematics" and "all_inverse_kinematics" for arms with a closed
        form (default: DEFAULT; for "fmu" inverse and forward dynamics; with a law, none).
    prefix: begins the names of files and C functions (default: from the robot's name).
    parameters: keep the named parameters of the robot's file as arguments (default: their values are built in).
    loops: in C and C++, loops over a table of links instead of straight-line code, whose size does not depend on the
        number of joints; not with parameters (default: from 24 joints on, where it is the faster code too).
    real: in C, the type of numbers, "double" or "float" (default: "double").
    deterministic: in C, one sequence of operations for all inputs, with the same bits on every processor (default:
        False).
    law: a control law, by name, or an experiment, whose reference is then part of the code: functions `start`,
        `control` and `motion` (default: the dynamics alone).
    period: time between two calls of the law, s (default: that of the experiment, or 0.001). Designed gains are those
        for this period.
    tunable: gains of the law that stay arguments, and "payload", the load at the tool, of dynamics too (default:
        none).

    Raises UnknownName, ArmdynError (prefix; a law that is unstable when it is sampled with the period).

    >>> import armdyn
    >>> [str(name) for name in export(armdyn.load("scara5"), "python", ["gravity"]).files]
    ['scara5.py']
    """
    if law is None:
        if period is not None or tuple(tunable) not in ((), (PAYLOAD_NAME,)):
            raise ArmdynError(
                "a period or tunable gains without a law", where="export", expected="law=..., or tunable=('payload',)"
            )
        if tuple(tunable) and to != "fmu":  # an FMU has a payload in any case
            robot, parameters = with_payload_parameters(robot, parameters=parameters), True
        names = None if functions is None or isinstance(functions, str) else tuple(functions)
        inverse = [name for name in names or () if name in (NEAREST, ALL)]
        if names is None or not inverse:
            return export_dynamics(
                robot, to, functions, prefix, parameters=parameters, loops=loops, real=real, deterministic=deterministic
            )
        if deterministic:
            raise NotApplicable(
                "deterministic inverse kinematics", where="export", expected="other functions, or a law"
            )
        return _with_inverse(robot, to, names, inverse, prefix, real, parameters=parameters, loops=loops)
    if to not in TARGETS:
        raise unknown_name("language", to, TARGETS, where="export")
    if real != "double" or parameters:
        raise NotApplicable(
            "a control law in 32-bit numbers or with the parameters of the robot's file",
            where="export",
            expected="numbers of 64 bits, and the law's own tunable gains",
        )
    controller, plant = controller_for(robot, law, period, tuple(tunable))
    require_stable(controller, plant)
    model = controller.model(prefix)
    if functions is not None:
        beside = model_for("c" if to == "fmu" else to, robot, functions, prefix, loops=loops)
        model = replace(model, functions=(*model.functions, *beside.functions))
    model = determined(model, to) if deterministic else model
    return Exported(to, model, contents(model, to))


def _with_inverse(
    robot: Robot,
    to: str,
    names: tuple[str, ...],
    inverse: list[str],
    prefix: str | None,
    real: Real,
    *,
    parameters: bool,
    loops: bool | None,
) -> Exported:
    """Functions of the dynamics and the closed form of the inverse kinematics."""
    if to not in LANGUAGES or real != "double" or parameters:
        raise NotApplicable(
            "inverse kinematics as an FMU, in 32-bit numbers or with the parameters of the robot's file",
            where="export",
            expected=f"numbers of 64 bits in one of: {', '.join(LANGUAGES)}",
        )
    others = [name for name in names if name not in inverse]
    model = model_for(to, robot, others or ["pose"], prefix, loops=loops)
    functions = (*(model.functions if others else ()), *inverse_functions(robot, inverse))
    model = replace(model, functions=functions)
    return Exported(to, model, contents(model, to))


def controller_for(
    robot: Robot, law: str | Law | Experiment, period: float | None, tunable: tuple[str, ...]
) -> tuple[Controller, Dynamics]:
    """The controller, and the arm that it drives."""
    if isinstance(law, Law):
        dyn = getattr(law, "dyn", None)
        model = dyn if isinstance(dyn, Dynamics) else compile(robot)
        return Controller(law, model, PERIOD if period is None else period, tunable), compile(robot)
    experiment = Experiment(law=LawChoice(name=law)) if isinstance(law, str) else law
    time = experiment.actuation.control_period if period is None else period
    time = PERIOD if time is None else time
    chosen, model = experiment.law.on(robot, replace(experiment.plant, model=robot), period=time)
    motion = None
    if isinstance(law, Experiment) and chosen.needs_reference and not chosen.in_task_space:
        motion = experiment.reference.on(robot, chosen, model)["reference"]
        if not isinstance(motion, PiecewisePolynomial):
            raise NotApplicable(
                f"a motion of the kind {type(motion).__name__}",
                where="export",
                expected="pieces of polynomials, as those of point_to_point and via_points",
                advice="Leave the reference out and give the desired state as arguments of `control`.",
            )
    observed = experiment.observers.around(chosen, model, robot)
    return Controller(observed, model, time, tunable, motion), compile(robot)


def require_stable(controller: Controller, plant: Dynamics) -> None:
    """Raise ArmdynError if the law is unstable when it is sampled with its period."""
    if not controller.law.needs_reference:
        return
    works = largest_stable_period(controller.law, controller.dyn, plant, controller.period)
    if works < controller.period:
        period = (
            f"at most {works:.2g} s for these gains" if works else "any length, with lower gains: none works for these"
        )
        raise ArmdynError(
            f"the law {controller.law.summary} is unstable when it is sampled every {controller.period:g} s",
            where=f"export of robot {plant.robot.name!r}",
            expected=f"a control period of {period}",
            advice="Shorten the period or lower the gains; leave out the frequency to have it chosen for the period.",
        )
