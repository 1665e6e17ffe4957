"""The names that users are promised: they exist, with these arguments, and the command line has the same verbs."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest

import armdyn
from armdyn.cli import app

PROMISED: dict[str, tuple[str, ...]] = {
    "load": ("robot", "tip", "lock"),
    "Robot.from_dh": ("rows", "convention", "gravity", "base", "tool"),
    "Robot.save": ("path",),
    "Robot.with_payload": ("mass", "com", "inertia"),
    "Robot.without": ("parts",),
    "compile": ("robot",),
    "Dynamics.inverse_dynamics": ("q", "qd", "qdd", "wrench"),
    "Dynamics.forward_dynamics": ("q", "qd", "tau", "wrench"),
    "Dynamics.mass_matrix": ("q",),
    "Dynamics.coriolis_matrix": ("q", "qd"),
    "Dynamics.coriolis": ("q", "qd"),
    "Dynamics.gravity": ("q",),
    "Dynamics.friction": ("qd",),
    "Dynamics.pose": ("q",),
    "Dynamics.jacobian": ("q",),
    "Dynamics.jacobian_dot_qd": ("q", "qd"),
    "Dynamics.regressor": ("q", "qd", "qdd"),
    "Dynamics.inverse_dynamics_derivatives": ("q", "qd", "qdd"),
    "Dynamics.joint_reactions": ("q", "qd", "qdd", "wrench"),
    "Dynamics.kinetic_energy": ("q", "qd"),
    "Dynamics.potential_energy": ("q",),
    "mechanics.newton_euler.inverse_dynamics": ("robot", "q", "qd", "qdd"),
    "derive": ("robot",),
    "formulations": (),
    "compare": ("robot",),
    "certify": ("robot",),
    "base_parameters": ("robot", "include"),
    "point_to_point": ("q0", "q1", "profile", "v_max", "a_max", "duration"),
    "scale_to_torque": (),
    "simulate": ("duration", "q0", "qd0", "solver"),
    "ComputedTorque": ("dyn", "kp", "kd"),
    "PID": (),
    "PDGravity": (),
    "Feedforward": (),
    "identify": ("robot", "log", "validation"),
}
VERBS = ("show", "check", "derive", "compare", "certify", "plan", "simulate", "identify", "export", "study",
         "reproduce", "bench", "studio", "sweep")  # fmt: skip


@pytest.mark.parametrize("name", PROMISED)
def test_the_function_is_there_with_its_arguments(name: str) -> None:
    found: Any = armdyn
    for part in name.split("."):
        found = getattr(found, part)
    arguments = inspect.signature(found).parameters
    assert set(PROMISED[name]) <= set(arguments), sorted(arguments)


def test_everything_listed_can_be_imported() -> None:
    for name in armdyn.__all__:
        assert getattr(armdyn, name) is not None
    assert set(armdyn.__all__) <= set(dir(armdyn))


def test_dynamics_tells_its_parameters() -> None:
    dyn = armdyn.compile(armdyn.load("planar2r"))
    assert len(dyn.parameter_names) == len(dyn.parameters)


@pytest.mark.parametrize("verb", VERBS)
def test_the_verb_is_there(verb: str) -> None:
    known: list[Callable[..., Any] | None] = [command.callback for command in app.registered_commands]
    assert verb in {callback.__name__ for callback in known if callback is not None}
