"""export: the dynamics of a robot, or a controller for it, as code."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from armdyn.codegen.export_files import TARGETS, Exported, contents, determined, model_for
from armdyn.codegen.export_files import export as export_dynamics
from armdyn.codegen.functions import INVERSE, Real
from armdyn.codegen.payload_parameters import PAYLOAD_NAME, with_payload_parameters
from armdyn.errors import ArmdynError, NotApplicable, unknown_name
from armdyn.robot import Robot
from armdyn.robot.features import CLOSED, FREE, LOSSY, takes

if TYPE_CHECKING:
    from armdyn.control.base import Law
    from armdyn.simulation import Experiment

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
        inverse = [name for name in names or () if name in INVERSE]
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
    from armdyn.controllers.choice import controller_for, require_stable  # control and simulation, for laws alone

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
    from armdyn.controllers.inverse_functions import inverse_functions  # kinematics, for these functions alone

    others = [name for name in names if name not in inverse]
    model = model_for(to, robot, others or ["pose"], prefix, loops=loops)
    functions = (*(model.functions if others else ()), *inverse_functions(robot, inverse))
    model = replace(model, functions=functions)
    return Exported(to, model, contents(model, to))
