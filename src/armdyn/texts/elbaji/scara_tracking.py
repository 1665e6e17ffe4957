"""El Baji sec. 5.3: the SCARA arm on its curve, with the gains and start of the text."""

from __future__ import annotations

from functools import cache
from typing import Any

from armdyn.catalog.curves import SCARA_RATE, SCARA_START, ScaraCurve
from armdyn.control.base import Law
from armdyn.control.computed_torque import ComputedTorque
from armdyn.dynamics import compile as compiled_dynamics
from armdyn.formats import load
from armdyn.graph import evaluate, trace
from armdyn.simulation.run import Run
from armdyn.simulation.settings import Solver
from armdyn.simulation.simulator import simulate
from armdyn.texts.elbaji import printed as text
from armdyn.texts.other_model import OtherModel

SCARA_KP, SCARA_KD = 200.0, 10.0


PRINTED = Solver(integrator="euler_taylor")
"""The scheme of the text, El Baji (43)."""


@cache
def printed_model() -> Any:
    """The five equations of fig. 3 with the data of table 4, as the model of a law."""
    robot = load("scara5")
    made = trace(text.figure_3, {"q": 5, "qd": 5, "qdd": 5})

    def forces(q: Any, qd: Any, qdd: Any) -> Any:
        state = {
            str(node): x
            for each, xs in zip(made.inputs.values(), (q, qd, qdd), strict=True)
            for node, x in zip(each, xs, strict=True)
        }
        return evaluate(made.outputs["out"], {**robot.parameters, **state})

    return OtherModel(robot, forces)


def scara_tracking(law: Law | None = None, duration: float = 10.0, solver: Solver = PRINTED) -> Run:
    """El Baji sec. 5.3: the SCARA arm of table 4 on the motion (40), scheme (43), start and gains of the text.

    law: computed torque with the printed equations of fig. 3 (kp = 200, kd = 10) unless another is given.
    """
    dyn = compiled_dynamics(load("scara5"))
    chosen = ComputedTorque(printed_model(), SCARA_KP, SCARA_KD) if law is None else law
    curve = ScaraCurve(duration=duration)
    return simulate(dyn, chosen, curve, duration, q0=SCARA_START, qd0=SCARA_RATE, solver=solver)
