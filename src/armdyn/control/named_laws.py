"""Every control law by name: the same words build the same law in Python, the command line, the studio and a file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields, replace
from importlib import import_module
from inspect import signature
from typing import Any, NamedTuple, cast

from armdyn.control.base import Law
from armdyn.dynamics import Dynamics
from armdyn.errors import ArmdynError, unknown_name

MODEL = ("dyn", "n")
"""Fields of laws that hold their model, or its number of joints, rather than a gain."""


DEFAULT_FREQUENCY = 20.0
"""Frequency that is tried first where a design has no default, rad/s."""
SHARES = tuple(0.8**k for k in range(20))
"""Shares of the usual frequency that a design for a sampled loop tries, down to a seventieth."""
MARGIN = 1.25
"""A design for a control period is stable with a period this much longer, so that a slightly heavier arm is too."""

NOT_DESIGNED = {
    "force": "the force sensor, a function (t, q, qd) -> (6,); in an experiment, a push at the frame tool",
    "file": "a .csv file with a column t and one column of torques for each joint: tau1, tau2 and so on",
}
"""Gains that no design can find, and what they are."""


class NamedLaw(NamedTuple):
    """How a law is built.

    module, name: where its class is, imported when the law is built; fields of the class are gains.
    design:       name of a function of that class, of the model and further gains, which finds the gains
                  that the class cannot do without (default: none, the class has defaults for all).
    """

    module: str
    name: str
    design: str = ""

    @property
    def kind(self) -> type[Law]:
        """The class."""
        return cast(type[Law], getattr(import_module(f"armdyn.control.{self.module}"), self.name))

    @property
    def designer(self) -> Callable[..., Law] | None:
        """The design."""
        return getattr(self.kind, self.design) if self.design else None

    @property
    def fields(self) -> dict[str, bool]:
        """Gains that are fields of the class, and whether the class requires them."""
        entries = fields(cast(Any, self.kind))
        return {entry.name: entry.default is MISSING for entry in entries if entry.name not in MODEL}

    @property
    def design_gains(self) -> tuple[str, ...]:
        """Names of the gains that the design method of a law accepts."""
        return () if self.designer is None else tuple(signature(self.designer).parameters)[1:]

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
    "computed_torque": NamedLaw("computed_torque", "ComputedTorque", "designed"),
    "pd_gravity": NamedLaw("pid", "PDGravity", "designed"),
    "pid": NamedLaw("pid", "PID", "designed"),
    "feedforward": NamedLaw("computed_torque", "Feedforward"),
    "sliding_mode": NamedLaw("robust", "SlidingMode"),
    "robust": NamedLaw("robust", "RobustPassivity"),
    "adaptive": NamedLaw("adaptive", "SlotineLi"),
    "elastic_pd": NamedLaw("elastic_pd", "ElasticPD", "designed"),
    "task_pid": NamedLaw("task_space", "TaskPID", "designed"),
    "resolved_acceleration": NamedLaw("task_space", "ResolvedAcceleration"),
    "operational_space": NamedLaw("task_space", "OperationalSpace"),
    "impedance": NamedLaw("task_space", "Impedance", "designed"),
    "admittance": NamedLaw("task_space", "Admittance", "designed"),
    "torques": NamedLaw("open_loop", "TorqueTable", "of_file"),
    "none": NamedLaw("computed_torque", "NoControl"),
}
"""The control laws by name."""


def law(name: str, dyn: Dynamics, *, period: float | None = None, **gains: Any) -> Law:
    """Return the control law of that name.

    Gains that are not given have their defaults, or follow from a design: `pid` and `pd_gravity` from the largest
    inertias and a `frequency`, `impedance` from the inertias of the task and a `stiffness`. Gains that are given
    replace those of the design; a law with all the gains that its class requires needs no design.

    Args:
        name:   one of `LAWS`, as "computed_torque"; "torques" replays `file`, "none" is no control.
        dyn:    the controller's model.
        period: time between two calls of the law, s; a design lowers its frequency until the sampled loop is stable
                (default: the law acts continuously).
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
    if "rows" in named.gains and "rows" not in gains:
        from armdyn.kinematics.task_rows import ROWS, own_rows

        gains["rows"] = " ".join(ROWS[i] for i in own_rows(dyn, linear=name == "admittance"))
    required = {gain for gain, needed in named.fields.items() if needed}
    if named.designer is None or required <= gains.keys() <= named.fields.keys():
        return named.built(dyn, gains)
    for gain, what in NOT_DESIGNED.items():
        if gain in named.design_gains and gain not in gains:
            raise ArmdynError(f"{gain} is missing", where=where, expected=what)
    if period is not None and "frequency" in named.design_gains and not {"frequency", "kp", "resonance"} & gains.keys():
        return _designed_for(period, name, dyn, gains)
    designing = {gain: value for gain, value in gains.items() if gain in named.design_gains}
    replacing = {gain: value for gain, value in gains.items() if gain not in named.design_gains}
    found: Law = replace(cast(Any, named.designer(dyn, **designing)), **replacing)
    return found


def _designed_for(period: float, name: str, dyn: Dynamics, gains: Mapping[str, Any]) -> Law:
    """The design with the highest frequency, up to its default, that is stable when it is sampled with a period."""
    from armdyn.control.sampling import linear_loops

    usual = float(signature(cast(Any, LAWS[name].designer)).parameters["frequency"].default or DEFAULT_FREQUENCY)
    for share in SHARES:
        found = law(name, dyn, frequency=share * usual, **gains)
        if linear_loops(found, dyn, dyn).stable(MARGIN * period):
            return found
    raise ArmdynError(
        f"no design of {name} is stable with a control period of {period:g} s",
        where="control.law",
        expected=f"a shorter period; frequencies down to {SHARES[-1] * usual:.3g} rad/s were tried",
    )
