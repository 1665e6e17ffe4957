"""Checks of files, frameworks, sweeps, the studio and diagnosis."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from importlib.util import find_spec
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import armdyn
from armdyn import sweeps
from armdyn.browser import studio as open_studio
from armdyn.browser.robot_queries import RobotQueries
from armdyn.codegen.export_files import texts
from armdyn.errors import MissingExtra
from armdyn.robot.features import SUPPORT
from armdyn.robot.random import random_robot
from support.cells.case import CELLS, DIFFERENCES, Case, Check, cell, close, refusal
from support.energy_model import EnergyModel


@cell("codegen.model")
def _export(c: Case) -> None:
    _run(c, next(iter(texts(armdyn.codegen.model(c.robot, ("inverse_dynamics",)), "python").values())))


@cell("codegen.export")
def _write(c: Case) -> None:
    with TemporaryDirectory() as folder:
        written = armdyn.export(c.robot, "python", ("inverse_dynamics",)).save(folder)
        _run(c, written[0].read_text(encoding="utf-8"))


def _run(c: Case, module: str) -> None:
    """The exported Python module on the state of the case."""
    space: dict[str, Any] = {"__name__": "exported"}
    exec(module, space)
    close(space["inverse_dynamics"](c.x, c.xd, c.xdd), c.tau)


@cell("jax.wrap")
def _jax(c: Case) -> None:
    try:
        functions = _double(lambda: armdyn.jax.wrap(c.dyn))
    except MissingExtra:
        return  # the gate has let the robot pass; what follows needs JAX
    import jax

    state = (c.x, c.xd, c.xdd)
    close(functions.inverse_dynamics(*state), c.tau)
    along = jax.jvp(functions.inverse_dynamics, state, (c.xd, c.xdd, c.x))[1]
    close(along, _along(c), DIFFERENCES)


@cell("casadi.wrap")
def _casadi(c: Case) -> None:
    try:
        call = armdyn.casadi.wrap(c.dyn).inverse_dynamics
    except MissingExtra:
        return  # the gate has let the robot pass; what follows needs CasADi
    state = (c.x, c.xd, c.xdd)
    close(np.array(call(*state)).ravel(), c.tau)
    slopes = [np.array(each) for each in call.jacobian()(*state, c.tau)]
    along = sum(slope @ each for slope, each in zip(slopes, (c.xd, c.xdd, c.x), strict=True))
    close(along, _along(c), DIFFERENCES)


@cell("torch.wrap")
def _torch(c: Case) -> None:
    try:
        functions = armdyn.torch.wrap(c.dyn)
    except MissingExtra:
        return  # the gate has let the robot pass; what follows needs PyTorch
    import torch

    state = tuple(torch.as_tensor(each) for each in (c.x, c.xd, c.xdd))
    close(functions.inverse_dynamics(*state).numpy(), c.tau)
    along = torch.func.jvp(functions.inverse_dynamics, state, (state[1], state[2], state[0]))[1]
    close(along.numpy(), _along(c), DIFFERENCES)


def _double(make: Callable[[], Any]) -> Any:
    """With JAX in double precision, if it is there."""
    if find_spec("jax"):
        import jax

        jax.config.update("jax_enable_x64", True)
    return make()


def _along(c: Case) -> Any:
    """How the torques of the second model change along (xd, xdd, x)."""
    states = [np.concatenate(each) for each in ((c.x, c.xd, c.xdd), (c.xd, c.xdd, c.x))]
    return c.difference(lambda s: c.model.inverse_dynamics(*np.split(s, 3)), *states)


def _file(ending: str) -> Check:
    def check(c: Case) -> None:
        """What is read back has the torques of the second model."""
        with TemporaryDirectory() as folder, warnings.catch_warnings():
            if ending == "urdf" and any(j.compound and j.compound.kind == "ball" for j in c.robot.tree):
                assert "no ball joint" in str(refusal(lambda: c.robot.save(f"{folder}/robot.{ending}")))
                return check(type(c)(random_robot(3, 4, free_root=True)))
            warnings.simplefilter("ignore", armdyn.ModelWarning)  # limits that a format lacks
            again = armdyn.load(c.robot.save(f"{folder}/robot.{ending}"))
        assert {"load_friction", "presliding"} & set(c.robot.features) <= set(again.features)
        sliding = armdyn.compile(again.without("presliding"))  # whose torques need the motion before
        return close(sliding.inverse_dynamics(c.x, c.xd, c.xdd), c.tau)

    return check


CELLS |= {"formats.toml": _file("toml"), "formats.urdf": _file("urdf"), "formats.mjcf": _file("xml")}


@cell("formats.par")
def _symoro(c: Case) -> None:
    taken = set(c.robot.features) <= SUPPORT["formats.par"]
    robot = c.robot.to_dh("modified") if taken else c.robot  # what is refused may have no such table
    with TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", armdyn.ModelWarning)  # the format has no tool frame
        again = armdyn.load(robot.save(f"{folder}/robot.par"))
    close(armdyn.compile(again).inverse_dynamics(c.x, c.xd, c.xdd), c.tau)


@cell("sweeps.sweep")
def _sweep(c: Case) -> None:
    found = sweeps.sweep(c.robot, {"payload": [0.0, 1.0]}, measures=("holding_torque",), rest=c.q[None], motion=c.move)
    loaded = EnergyModel(c.robot.with_payload(1.0))
    held = np.abs(np.stack([c.held, loaded.gravity(c.x) + loaded.springs(c.x)]))
    close(found.results, held)


@cell("browser.studio")
def _studio(c: Case) -> None:
    try:
        served = open_studio(c.robot)
    except armdyn.errors.MissingExtra:  # after the features were compared
        answers = RobotQueries(c.robot)
    else:
        answers = served.answers
        served.stop()
    close([load.torque for load in answers.loads(c.q)], c.held)


@cell("doctor.explain")
def _explain(c: Case) -> None:
    """The torques of the second model are those of the robot: there is nothing to explain."""
    found = armdyn.explain(c.robot, (c.q[None], c.qd[None], c.qdd[None], np.real(c.tau)[None, : c.n]))
    assert found.status == "equal" and not found.causes, found


@cell("doctor.fix")
def _fix(c: Case) -> None:
    """A robot without findings keeps its torques."""
    found = armdyn.fix(c.robot)
    assert not found.repairs, found
    close(c.second(found.robot).inverse_dynamics(c.x, c.xd, c.xdd), c.tau)
