"""`evaluate`: torques, accelerations, matrices, causes and reactions of a robot at a state or along a motion."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from armdyn import text_table
from armdyn.dynamics import Dynamics
from armdyn.errors import ArmdynError, FileError, ShapeError
from armdyn.motion.sampling import dynamics_of, states
from armdyn.motion.torques import torques_by_body
from armdyn.notebook_view import View, rows_of
from armdyn.result import Result
from armdyn.robot.features import CLOSED, FREE, LOSSY, SUPPORT, listed, takes
from armdyn.robot.robot import Robot
from armdyn.tables import Column, Section, without_rounding
from armdyn.trajectory.trajectory import columns_of, grid
from armdyn.trajectory.trajectory_files import read_samples
from armdyn.typing import Array

STEPS = 200
"""Steps at which a trajectory is evaluated if no `dt` is given."""
REACTIONS = ("fx", "fy", "fz", "mx", "my", "mz")


@dataclass(frozen=True, eq=False)
class Evaluation(Result):
    """The dynamics of a robot at states; leading axes (...) are those of the states, (k,) along a motion.

        tau = M qdd + C qd + gravity + springs + friction + tip,     tip = J^T wrench

    robot:     the robot.
    names:     (n,) of the entries of qd, qdd and tau: joints, and the motors of elastic joints.
    t:         (k,) times of a motion, s; None at other states.
    q:         (..., nq) rad or m. qd, qdd: (..., n) their rates.
    tau:       (..., n) N m or N.
    M, C:      (..., n, n) mass matrix, and Christoffel's matrix of Coriolis and centrifugal terms.
    causes:    torques by physical effect, (..., n) each; they add up to tau.
    bodies:    torques by link (weight and inertia) and by rotor (spin) that have a part in them, (..., n) each; with
               springs, friction and tip they add up to tau. Empty where torques are not linear in the parameters.
    reactions: force and moment that each joint, and each loop of a closed chain, transmits, (..., 6) each, N and N m,
               in its link's frame. Empty for elastic joints.
    wrench:    (..., 6) force and moment that the robot exerts at its tool, N and N m, world axes.
    tool:      (..., 3) position of the tool, m, world axes.
    notes:     what is left out, and why.
    """

    robot: Robot
    names: tuple[str, ...]
    t: Array | None
    q: Array
    qd: Array
    qdd: Array
    tau: Array
    M: Array
    C: Array
    causes: dict[str, Array]
    bodies: dict[str, Array]
    reactions: dict[str, Array]
    wrench: Array
    tool: Array
    notes: tuple[str, ...]

    def columns(self) -> dict[str, Array]:
        """One entry per state, by name, SI units.

        t; q1.., qd1.., qdd1.., tau1..; the causes inertia1.., coriolis1.., gravity1.., springs1.., friction1.., tip1..;
        M1_2: row 1, column 2 of M, and C likewise; body1_2: torque on joint 1 by link or rotor 2 of `bodies`;
        fx1.. mz1..: reactions of each joint; wrench1.. wrench6; x, y, z of the tool.
        """
        n = len(self.names)
        flat = {"q": self.q, "qd": self.qd, "qdd": self.qdd, "tau": self.tau, **self.causes}
        rows = {name: value.reshape(-1, value.shape[-1]) for name, value in flat.items()}
        table = {} if self.t is None else {"t": self.t}
        table |= columns_of(rows)
        by_body = np.stack([*self.bodies.values()], axis=-1) if self.bodies else np.empty((*self.tau.shape, 0))
        for name, matrix in (("M", self.M), ("C", self.C), ("body", by_body)):
            each = matrix.reshape(-1, n, matrix.shape[-1])
            table |= {f"{name}{i + 1}_{j + 1}": each[:, i, j] for i in range(n) for j in range(each.shape[2])}
        for i, load in enumerate(self.reactions.values(), 1):
            table |= {f"{name}{i}": column for name, column in zip(REACTIONS, load.reshape(-1, 6).T, strict=True)}
        table |= columns_of({"wrench": self.wrench.reshape(-1, 6)})
        return table | dict(zip("xyz", self.tool.reshape(-1, 3).T, strict=True))

    def save(self, path: str | Path) -> Path:
        """Write the columns as CSV: one row of names, then plain numbers."""
        return text_table.write(path, self.columns())

    def record(self) -> dict[str, Any]:
        """Everything as plain values, SI units."""
        return {
            "robot": self.robot.name,
            "joints": list(self.names),
            "t": None if self.t is None else self.t.tolist(),
            **{name: getattr(self, name).tolist() for name in ("q", "qd", "qdd", "tau", "M", "C", "wrench", "tool")},
            "causes": {name: part.tolist() for name, part in self.causes.items()},
            "bodies": {name: part.tolist() for name, part in self.bodies.items()},
            "reactions": {name: part.tolist() for name, part in self.reactions.items()},
            "notes": list(self.notes),
        }

    def _view(self) -> View:
        one = self.tau.ndim == 1
        states_ = int(np.prod(self.tau.shape[:-1]))
        title = f"{self.robot.name} at one state" if one else f"{self.robot.name} at {states_} states"
        present = {name: part for name, part in self.causes.items() if np.any(part)}
        values = {"velocity": self.qd, "acceleration": self.qdd, "torque": self.tau, **present}
        if self.q.shape == self.qd.shape:
            values = {"position": self.q} | values
        note = "SI units; torques by cause add up to the torque." if one else "Largest magnitudes, SI units."
        sections = [_table("Joints", "joint", self.names, {name: _shown(x) for name, x in values.items()}, note)]
        if self.bodies:
            parts = {name: _shown(x) for name, x in self.bodies.items() if np.any(x)}
            note = "Weight and inertia of each link with what is fixed to it; N m or N."
            sections.append(_table("Torques by body", "joint", self.names, parts, note))
        if one:
            for name, matrix in (("Mass matrix M", self.M), ("Matrix C of Coriolis and centrifugal terms", self.C)):
                sections.append(_table(name, "", self.names, dict(zip(self.names, matrix.T, strict=True)), ""))
        if self.reactions:
            loads = np.array([_shown(load) for load in self.reactions.values()])
            parts = dict(zip(REACTIONS, loads.T, strict=True))
            note = "Force, N, and moment, N m, that each joint transmits, in its link's frame."
            sections.append(_table("Joint reactions", "joint", tuple(self.reactions), parts, note))
        facts = [("tool at", ", ".join(f"{x:z.5f}" for x in self.tool) + " m")] if one else []
        if np.any(self.wrench):
            facts.append(("tip force", ", ".join(f"{x:.4g}" for x in _shown(self.wrench)) + " N, N m"))
        return View(title, None, facts, sections=sections[:1], details=sections[1:], notes=self.notes)


def _shown(values: Array) -> Array:
    """Values of one state; of several the largest magnitudes."""
    return values if values.ndim == 1 else np.abs(values.reshape(-1, values.shape[-1])).max(axis=0)


def _table(title: str, head: str, names: tuple[str, ...], columns: dict[str, Array], note: str) -> Section:
    scale = max((float(np.abs(x).max(initial=0.0)) for x in columns.values()), default=0.0)
    cells = [[f"{x:.6g}" for x in without_rounding(x.tolist(), scale)] for x in columns.values()]
    return Section(title, tuple(map(Column, (head, *columns))), rows_of(zip(names, *cells, strict=True)), note)


@takes(*CLOSED, "elastic", *LOSSY, *FREE)
def evaluate(
    model: Robot | Dynamics,
    q: Any = None,
    qd: Any = None,
    qdd: Any = None,
    *,
    tau: Any = None,
    wrench: Any = None,
    motion: Any = None,
    dt: float | None = None,
) -> Evaluation:
    """Evaluate the dynamics of a robot: torques, or accelerations, with all that they are made of.

    Args:
        model:  robot, or its dynamics.
        q:      (..., nq) positions, rad or m; of elastic joints those of the motors as well, see `Dynamics`.
        qd:     (..., n) velocities (default: 0).
        qdd:    (..., n) accelerations (default: 0, or those that tau brings about).
        tau:    (..., n) torques, N m or N, in place of qdd: what is asked for are then the accelerations.
        wrench: (..., 6) force and moment that the robot exerts at its tool, N and N m, world axes (default: none).
        motion: in place of q, qd and qdd: a trajectory, or a .csv file with the columns t, q1.., and qd1.., qdd1..,
                which is evaluated at its own samples.
        dt:     time step at which a trajectory is evaluated, s (default: 1/200 of its duration).

    >>> import armdyn
    >>> state = evaluate(armdyn.load("pendulum"), [0.3], tau=[0.0])
    >>> bool(abs(sum(state.causes.values()) - state.tau).max() < 1e-12), state.M.shape
    (True, (1, 1))
    """
    dyn = dynamics_of(model)
    if (q is None) == (motion is None) or (motion is not None and not (qd is None and qdd is None and tau is None)):
        raise ArmdynError(
            "one of a state and a motion", where="evaluate", expected="q with qd and qdd or tau, or motion"
        )
    if tau is not None and qdd is not None:
        raise ArmdynError("both tau and qdd", where="evaluate", expected="one of them: the other follows from it")
    t = None
    if motion is not None:
        t, q, qd, qdd = _along(dyn, motion, dt)
    given = [np.asarray(0.0 if x is None else x, dtype=float) for x in (qd, qdd, tau)]
    n = dyn.coordinates.size
    position = np.asarray(q, dtype=float)
    many = np.broadcast_shapes(position.shape[:-1], *(x.shape[:-1] for x in given if x.ndim), np.shape(wrench)[:-1])
    position = np.broadcast_to(position, (*many, *position.shape[-1:]))
    velocity, acceleration, torque = (_spread(x, many, n) for x in given)
    for name, values in (("q", position), ("qd", velocity), ("qdd", acceleration), ("tau", torque)):
        if not np.isfinite(values).all():
            raise ShapeError(f"{name} contains NaN or infinity", where="evaluate", expected="finite numbers")
    force = np.broadcast_to(np.zeros(6) if wrench is None else np.asarray(wrench, dtype=float), (*many, 6))
    pushed = () if wrench is None else (force,)
    if tau is None:
        torque = dyn.inverse_dynamics(position, velocity, acceleration, *pushed)
    else:
        acceleration = dyn.forward_dynamics(position, velocity, torque, *pushed)
    notes: list[str] = []
    return Evaluation(
        robot=dyn.robot,
        names=dyn.coordinates.names,
        t=t,
        q=position,
        qd=velocity,
        qdd=acceleration,
        tau=torque,
        M=(M := dyn.mass_matrix(position)),
        C=dyn.coriolis_matrix(position, velocity),
        causes=_causes(dyn, position, velocity, (M @ acceleration[..., None])[..., 0], torque, pushed),
        bodies=_bodies(dyn, position, velocity, acceleration, notes),
        reactions=_reactions(dyn, position, velocity, acceleration, pushed, notes),
        wrench=force,
        tool=dyn.pose(position)[..., :3, 3],
        notes=tuple(notes),
    )


def _spread(x: Array, many: tuple[int, ...], n: int) -> Array:
    """Velocities, accelerations or torques of all states; 0 for all entries if none are given."""
    if x.ndim and x.shape[-1] != n:
        raise ShapeError(f"a vector of {x.shape[-1]}", where="evaluate", expected=f"{n}, one per coordinate")
    return np.ascontiguousarray(np.broadcast_to(x, (*many, n)))


def _takes(dyn: Dynamics, quantity: str, what: str, notes: list[str]) -> bool:
    """Whether a quantity takes all features of the robot into account; a note says which it does not."""
    missing = [name for name in dyn.robot.features if name not in SUPPORT[f"dynamics.{quantity}"]]
    if missing:
        notes.append(f"There are no {what} of a robot with {listed(missing).replace('_', ' ')}.")
    return not missing


def _along(dyn: Dynamics, motion: Any, dt: float | None) -> tuple[Array, Array, Array, Array]:
    """Times and states of a motion: those of a file, or a trajectory every dt."""
    if isinstance(motion, str | PathLike):
        t, *given = read_samples(str(motion), dyn.coordinates.size)
        if len(given) < 3 and dyn.robot.nq != dyn.robot.n:
            raise FileError(
                "no velocities and accelerations",
                where=str(motion),
                expected="qd1.. and qdd1.. too: positions of free joints have no splines",
            )
        if len(given) < 3:
            from armdyn.trajectory.via import from_samples

            through = from_samples(t, *given)
            given += [through(t - t[0], order) for order in range(len(given), 3)]
        q, qd, qdd = given
        return t, q, qd, qdd
    t = grid(motion.duration, motion.duration / STEPS if dt is None else dt)
    return t, *states(motion, t)


def _causes(
    dyn: Dynamics, q: Array, qd: Array, inertia: Array, tau: Array, pushed: tuple[Array, ...]
) -> dict[str, Array]:
    """Torques by physical effect; friction is what the others leave, since it may depend on the load."""
    parts = {"inertia": inertia, "coriolis": dyn.coriolis(q, qd), "gravity": dyn.gravity(q), "springs": dyn.springs(q)}
    tip = np.zeros_like(tau)
    for force in pushed:
        tip = np.einsum("...ij,...i->...j", dyn.jacobian(q), force)
    if "load_friction" in dyn.robot.features:
        friction = tau - tip - sum(parts.values())
    else:
        friction = np.broadcast_to(dyn.friction(qd), tau.shape)
    return {**parts, "friction": friction, "tip": tip}


def _bodies(dyn: Dynamics, q: Array, qd: Array, qdd: Array, notes: list[str]) -> dict[str, Array]:
    """Torques by link and rotor that have a part in them, (..., n) each."""
    if not _takes(dyn, "regressor", "torques by body", notes):
        return {}
    links, rotors = torques_by_body(dyn, q, qd, qdd)
    names = [joint.body.name for joint in dyn.robot.movable]
    parts = {name: links[..., k] for k, name in enumerate(names)}
    parts |= {f"rotor of {name}": rotors[..., k] for k, name in enumerate(names)}
    return {name: part for name, part in parts.items() if part.any()}


def _reactions(
    dyn: Dynamics, q: Array, qd: Array, qdd: Array, pushed: tuple[Array, ...], notes: list[str]
) -> dict[str, Array]:
    """What each joint, then each loop of a closed chain, transmits, (..., 6) each."""
    if not _takes(dyn, "joint_reactions", "joint reactions", notes):
        return {}
    loads = dyn.joint_reactions(q, qd, qdd, *pushed)
    joints = dyn.robot.opened.joints if dyn.robot.constrained else dyn.robot.joints
    names = [*(joint.name for joint in joints), *(loop.name for loop in dyn.robot.loops)]
    return {name: loads[..., k, :] for k, name in enumerate(names)}
