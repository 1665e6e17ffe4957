"""The controller that is exported: the law of a name, object or experiment on a robot; is it stable when sampled?"""

from __future__ import annotations

from dataclasses import replace

from armdyn.control.base import Law
from armdyn.control.sampling import largest_stable_period
from armdyn.controllers.controller import Controller
from armdyn.dynamics import Dynamics, compile
from armdyn.errors import ArmdynError, NotApplicable
from armdyn.robot import Robot
from armdyn.simulation.experiment import Experiment, LawChoice
from armdyn.trajectory.piecewise import PiecewisePolynomial

PERIOD = 1e-3
"""Control period where none is given, s."""


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
