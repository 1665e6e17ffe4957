"""The torques of a motion, split by physical effect and by link. Siciliano sec. 7.3.2, Example 7.2"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any, Literal

import numpy as np

from armdyn.conventions import STANDARD_PARAMETERS
from armdyn.dynamics import Dynamics
from armdyn.errors import ShapeError, unknown_name
from armdyn.files import writing
from armdyn.motion.sampling import checked_motion, dynamics_of, sample_times, states
from armdyn.notebook_view import Shown, View, rows_of
from armdyn.parameters.standard import FAMILIES, slots
from armdyn.robot.features import CLOSED, TREE, takes
from armdyn.robot.limits import joint_names
from armdyn.robot.robot import Robot
from armdyn.tables import Column, Section
from armdyn.typing import Array

KINDS = ("contributions", "motion", "tip")
Wrench = Any | Callable[[Array], Array] | None


@dataclass(frozen=True, eq=False)
class TorqueBreakdown(Shown):
    """Torques along a motion at k times, split by effect and by origin; each adds up to `tau`.

        tau = sum_j inertia_ij + sum_j centrifugal_ij + sum_p coriolis_ip + gravity + springs + friction + tip
        tau = sum_b bodies_ib + sum_j rotors_ij + springs + friction + tip

    t:           (k,) s, with both sides of every jump.
    q, qd, qdd:  (k, n) rad or m, and their rates.
    tau:         (k, n) N m or N.
    inertia:     (k, n, n) on joint i by the acceleration of joint j, M_ij qdd_j.
    centrifugal: (k, n, n) on joint i by the velocity of joint j, h_ijj qd_j^2.
    coriolis:    (k, n, p) on joint i by the pair of joints pairs[p].
    gravity:     (k, n).
    springs:     (k, n) of springs across joints and counterbalances.
    friction:    (k, n).
    tip:         (k, n) of the wrench at the tool.
    bodies:      (k, n, l) on joint i by weight and inertia of link b of l, with what is fixed to it.
    rotors:      (k, n, l) on joint i by the spin of the rotor of joint j of l, a part of inertia and velocity terms.
    """

    robot: Robot
    t: Array
    q: Array
    qd: Array
    qdd: Array
    tau: Array
    inertia: Array
    centrifugal: Array
    coriolis: Array
    pairs: tuple[tuple[int, int], ...]
    gravity: Array
    springs: Array
    friction: Array
    tip: Array
    bodies: Array
    rotors: Array

    @property
    def by_effect(self) -> dict[str, Array]:
        """The effects that are present, (k, n) each."""
        parts = {
            "inertia": self.inertia.sum(axis=2),
            "centrifugal": self.centrifugal.sum(axis=2),
            "Coriolis": self.coriolis.sum(axis=2),
            "gravity": self.gravity,
            "springs": self.springs,
            "friction": self.friction,
            "tip": self.tip,
        }
        return {name: part for name, part in parts.items() if name == "inertia" or np.any(part)}

    def plot(
        self, path: str | Path | None = None, kind: Literal["contributions", "motion", "tip"] = "contributions"
    ) -> Any:
        """Matplotlib figure of the contributions, of the motion with its torques, or of the tip.

        path: .png, .svg or .pdf file to write (default: none).
        kind: "contributions" (Siciliano fig. 7.6, default), "motion" (fig. 7.5) or "tip" (fig. 7.9).
        """
        from armdyn.report.figures import torque_figures as torques

        if kind not in KINDS:
            raise unknown_name("figure", kind, KINDS)
        draw = {
            "contributions": torques.contributions_figure,
            "motion": torques.motion_figure,
            "tip": torques.tip_figure,
        }
        figure = draw[kind](self)
        if path is not None:
            with writing(path) as part:
                figure.savefig(part, dpi=150)
        return figure

    def __str__(self) -> str:
        """Largest magnitudes by joint and effect."""
        parts = {**self.by_effect, "total": self.tau}
        lines = [
            f"Torques of {self.robot.name} over {self.t[-1]:.6g} s, largest magnitudes, N m or N",
            f"{'joint':<18}" + "".join(f"{name:>13}" for name in parts),
        ]
        for i, joint in enumerate(joint_names(self.robot)):
            lines.append(f"{joint:<18}" + "".join(f"{np.abs(part[:, i]).max():13.5g}" for part in parts.values()))
        return "\n".join(lines)

    def _view(self) -> View:
        parts = {**self.by_effect, "total": self.tau}
        columns = (Column("joint"), *map(Column, parts))
        rows = rows_of(
            (joint, *(f"{np.abs(part[:, i]).max():.4g}" for part in parts.values()))
            for i, joint in enumerate(joint_names(self.robot))
        )
        table = Section("Largest magnitudes by physical effect", columns, rows, "N m or N")
        return View(f"Torques of {self.robot.name} over {self.t[-1]:.6g} s", sections=(table,))

    def __repr__(self) -> str:
        return f"<TorqueBreakdown of {self.robot.name!r}: {len(self.t)} times, {self.t[-1]:.6g} s>"


@takes(*CLOSED, *TREE)
def torque_breakdown(
    model: Robot | Dynamics, motion: Any, dt: float | None = None, *, wrench: Wrench = None
) -> TorqueBreakdown:
    """Return the torques of a motion, split by physical effect and by link.

    Args:
        model:  robot or its dynamics.
        motion: motion(t), motion(t, 1), motion(t, 2), motion.duration.
        dt:     sampling interval, s (default: 1/2000 of the duration).
        wrench: (6,), (k, 6) or a function of the times: force and moment that the robot exerts at its tool, N and N m,
                world axes (default: none).

    Method:  C qd is a quadratic form in qd, so its parts are values of it: C(q, e_j) e_j is the centrifugal effect of
             joint j, C(q, e_j + e_k)(e_j + e_k) less those of j and k the Coriolis effect of the pair. Siciliano (7.41)

    >>> import armdyn
    >>> move = armdyn.point_to_point([0.0], [1.0], "bang_bang", duration=1.0)
    >>> parts = torque_breakdown(armdyn.load("pendulum"), move)
    >>> bool(abs(parts.inertia[:, 0, 0] + parts.gravity[:, 0] + parts.friction[:, 0] - parts.tau[:, 0]).max() < 1e-9)
    True
    """
    dyn = dynamics_of(model)
    checked_motion(dyn, motion)
    t = sample_times(motion, dt)
    q, qd, qdd = states(motion, t)
    n = dyn.n
    unit = np.eye(n)
    alone = np.stack([dyn.coriolis(q, unit[j]) for j in range(n)], axis=2)
    pairs = tuple(combinations(range(n), 2))
    together = [
        (dyn.coriolis(q, unit[j] + unit[k]) - alone[:, :, j] - alone[:, :, k]) * (qd[:, j] * qd[:, k])[:, None]
        for j, k in pairs
    ]
    tip = _tip_torques(dyn, t, q, wrench)
    bodies, rotors = torques_by_body(dyn, q, qd, qdd)
    return TorqueBreakdown(
        robot=dyn.robot,
        t=t,
        q=q,
        qd=qd,
        qdd=qdd,
        tau=dyn.inverse_dynamics(q, qd, qdd) + tip,
        inertia=dyn.mass_matrix(q) * qdd[:, None, :],
        centrifugal=alone * (qd**2)[:, None, :],
        coriolis=np.stack(together, axis=2) if pairs else np.zeros((len(t), n, 0)),
        pairs=pairs,
        gravity=dyn.gravity(q),
        springs=dyn.springs(q),
        friction=dyn.friction(qd),
        tip=tip,
        bodies=bodies,
        rotors=rotors,
    )


def _tip_torques(dyn: Dynamics, t: Array, q: Array, wrench: Wrench) -> Array:
    if wrench is None:
        return np.zeros_like(q)
    w = np.asarray(wrench(t) if callable(wrench) else wrench, dtype=float)
    if w.shape not in ((6,), (len(t), 6)):
        raise ShapeError(f"a wrench of shape {w.shape}", expected=f"(6,), or ({len(t)}, 6) for these times")
    torques: Array = np.einsum("kij,ki->kj", dyn.jacobian(q), np.broadcast_to(w, (len(t), 6)))
    return torques


def torques_by_body(dyn: Dynamics, q: Array, qd: Array, qdd: Array) -> tuple[Array, Array]:
    """Return the torques by link and by the spin of its rotor, (..., n, l) each.

    Torques are linear in the parameters, and each parameter belongs to one of them.
    """
    share = dyn.regressor(q, qd, qdd) * dyn.parameters
    bodies, rotors = np.zeros((2, share.shape[-1], len(dyn.robot.movable)))
    for column, (kind, joint) in enumerate(slots(dyn.robot, FAMILIES)):
        bodies[column, joint] = kind in STANDARD_PARAMETERS[:10]
        rotors[column, joint] = kind == "Ia"
    return share @ bodies, share @ rotors
