"""Every control law by name: the same words build the same law in Python, the command line, the studio and a file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields, replace
from inspect import signature
from typing import Any, NamedTuple, cast

from armdyn.control.adaptive import SlotineLi
from armdyn.control.base import Law
from armdyn.control.computed_torque import ComputedTorque, Feedforward, NoControl
from armdyn.control.elastic_pd import ElasticPD
from armdyn.control.open_loop import TorqueTable, read_torques
from armdyn.control.pid import PID, PDGravity
from armdyn.control.robust import RobustPassivity, SlidingMode
from armdyn.control.task_space import Admittance, Impedance, OperationalSpace, ResolvedAcceleration, TaskLaw, TaskPID
from armdyn.dynamics import Dynamics
from armdyn.errors import ArmdynError, unknown_name
from armdyn.kinematics.task_rows import ROWS, own_rows

MODEL = ("dyn", "n")
"""Fields of laws that hold their model, or its number of joints, rather than a gain."""


NOT_DESIGNED = {
    "force": "the force sensor, a function (t, q, qd) -> (6,); in an experiment, a push at the frame tool",
    "file": "a .csv file with a column t and one column of torques for each joint: tau1, tau2 and so on",
}
"""Gains that no design can find, and what they are."""


class NamedLaw(NamedTuple):
    """How a law is built.

    kind:   the class; its fields are gains.
    design: function of the model and of further gains that finds those the class cannot do without (default: none,
            the class has defaults for all).
    """

    kind: type[Law]
    design: Callable[..., Law] | None = None

    @property
    def fields(self) -> dict[str, bool]:
        """Gains that are fields of the class, and whether the class requires them."""
        entries = fields(cast(Any, self.kind))
        return {entry.name: entry.default is MISSING for entry in entries if entry.name not in MODEL}

    @property
    def design_gains(self) -> tuple[str, ...]:
        """Gains that the design takes."""
        return () if self.design is None else tuple(signature(self.design).parameters)[1:]

    @property
    def gains(self) -> tuple[str, ...]:
        """All gains, each once, those of the design first."""
        return tuple(dict.fromkeys((*self.design_gains, *self.fields)))

    def built(self, dyn: Dynamics, gains: Mapping[str, Any]) -> Law:
        """The law with these gains and the defaults of its class."""
        entries = {entry.name for entry in fields(cast(Any, self.kind))}
        model = {name: value for name, value in zip(MODEL, (dyn, dyn.robot.n), strict=True) if name in entries}
        return cast(Law, cast(Any, self.kind)(**model, **gains))


LAWS = {
    "computed_torque": NamedLaw(ComputedTorque, ComputedTorque.designed),
    "pd_gravity": NamedLaw(PDGravity, PDGravity.designed),
    "pid": NamedLaw(PID, PID.designed),
    "feedforward": NamedLaw(Feedforward),
    "sliding_mode": NamedLaw(SlidingMode),
    "robust": NamedLaw(RobustPassivity),
    "adaptive": NamedLaw(SlotineLi),
    "elastic_pd": NamedLaw(ElasticPD, ElasticPD.designed),
    "task_pid": NamedLaw(TaskPID, TaskPID.designed),
    "resolved_acceleration": NamedLaw(ResolvedAcceleration),
    "operational_space": NamedLaw(OperationalSpace),
    "impedance": NamedLaw(Impedance, Impedance.designed),
    "admittance": NamedLaw(Admittance, Admittance.designed),
    "torques": NamedLaw(TorqueTable, lambda dyn, file: read_torques(file)),
    "none": NamedLaw(NoControl),
}
"""The control laws by name."""


def law(name: str, dyn: Dynamics, **gains: Any) -> Law:
    """Return the control law of that name.

    Gains that are not given have their defaults, or follow from a design: `pid` and `pd_gravity` from the largest
    inertias and a `frequency`, `impedance` from the inertias of the task and a `stiffness`. Gains that are given
    replace those of the design; a law with all the gains that its class requires needs no design.

    Args:
        name:  one of `LAWS`, as "computed_torque"; "torques" replays `file`, "none" is no control.
        dyn:   the controller's model.
        gains: arguments of the law's class or of its `designed`. Laws in the task space control, if `rows` is not
               given, all rows that the arm can move; `admittance` needs `force`, its sensor.

    >>> import armdyn
    >>> dyn = armdyn.compile(armdyn.load("pendulum"))
    >>> law("computed_torque", dyn, kp=200, kd=10).summary
    'ComputedTorque(kp=200, kd=10)'
    """
    if name not in LAWS:
        raise unknown_name("control law", name, LAWS, where="control.law")
    named, where = LAWS[name], f"control law {name!r}"
    for gain in gains:
        if gain not in named.gains:
            raise unknown_name("gain", gain, named.gains, where=where)
    if "frequency" in gains and "kp" in gains:
        raise ArmdynError("both frequency and kp are given", where=where, expected="one of them: each gives the other")
    if issubclass(named.kind, TaskLaw) and "rows" not in gains:
        gains["rows"] = " ".join(ROWS[i] for i in own_rows(dyn, linear=named.kind is Admittance))
    required = {gain for gain, needed in named.fields.items() if needed}
    if named.design is None or required <= gains.keys() <= named.fields.keys():
        return named.built(dyn, gains)
    for gain, what in NOT_DESIGNED.items():
        if gain in named.design_gains and gain not in gains:
            raise ArmdynError(f"{gain} is missing", where=where, expected=what)
    designing = {gain: value for gain, value in gains.items() if gain in named.design_gains}
    replacing = {gain: value for gain, value in gains.items() if gain not in named.design_gains}
    found: Law = replace(cast(Any, named.design(dyn, **designing)), **replacing)
    return found
