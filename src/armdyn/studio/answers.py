"""Answers to the requests of the page, as values that fit into JSON: lists, numbers, texts."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from armdyn.analysis import acceleration_ellipsoid, force_ellipsoid, manipulability, velocity_ellipsoid
from armdyn.analysis.ellipsoids import Ellipsoid
from armdyn.control import ComputedTorque
from armdyn.control.computed_torque import NoControl
from armdyn.dynamics import Dynamics
from armdyn.dynamics import compile as compiled
from armdyn.dynamics.holding import holding_torques
from armdyn.equations import derive
from armdyn.errors import ArmdynError, ShapeError, unknown_name
from armdyn.kinematics.closable import pulled_in
from armdyn.kinematics.reach import reach
from armdyn.kinematics.task_rows import linear_rows
from armdyn.motion import torque_breakdown
from armdyn.report.figures.robot_figures import skeleton
from armdyn.report.pages.equations_block import equations_block
from armdyn.robot import Robot
from armdyn.robot.limits import joint_names, joint_units, start_position, torque_limits, working_range
from armdyn.simulation import simulate
from armdyn.trajectory import point_to_point
from armdyn.trajectory.profiles import PROFILES
from armdyn.typing import Array

FRAMES = 150
"""Frames of a motion."""
LONGEST, HEAVIEST = 60.0, 1000.0
"""Largest duration, s, and payload, kg, that the page may request."""


@dataclass(frozen=True, eq=False)
class Answers:
    """One robot and its compiled dynamics."""

    robot: Robot

    @cached_property
    def dyn(self) -> Dynamics:
        return compiled(self.robot)

    def about(self) -> dict[str, Any]:
        """What does not change: joints with their ranges and limits, reach, profiles, check-up."""
        low, high = working_range(self.robot)
        joints = [
            {
                "name": joint.name,
                "kind": joint.kind,
                "unit": unit[0],
                "torque_unit": unit[3],
                "lower": lower,
                "upper": upper,
                "torque": torque if math.isfinite(torque) else None,
            }
            for joint, unit, lower, upper, torque in zip(
                self.robot.joints,
                joint_units(self.robot),
                low.tolist(),
                high.tolist(),
                torque_limits(self.robot).tolist(),
                strict=True,
            )
        ]
        return {
            "name": self.robot.name,
            "source": self.robot.source,
            "joints": joints,
            "start": pulled_in(self.dyn, start_position(self.robot)[None])[0].tolist(),
            "profiles": list(PROFILES),
            "reach": reach(self.robot),
            "findings": self.robot.checkup().summary,
        }

    def state(self, q: Any) -> dict[str, Any]:
        """The robot at q: its pose, holding torques, mass matrix, ellipsoids."""
        at = self._vector(q, "q")
        J = self.dyn.jacobian(at)
        values = np.linalg.svd(J, compute_uv=False)
        return {
            "arm": self._arm(at),
            "gravity": _plain(holding_torques(self.dyn, at)),
            "mass_matrix": _plain(self.dyn.mass_matrix(at)),
            "pose": _plain(self.dyn.pose(at)),
            "singular_values": _plain(values),
            "manipulability": _plain(manipulability(self.dyn, at)),
            "potential_energy": _plain(self.dyn.potential_energy(at)),
            "ellipsoids": self._ellipsoids(at),
        }

    def motion(self, q0: Any, q1: Any, profile: str = "quintic", duration: float = 2.0) -> dict[str, Any]:
        """A point-to-point motion, and its torques split by physical effect."""
        if profile not in PROFILES:
            raise unknown_name("profile", profile, PROFILES)
        course = point_to_point(
            self._vector(q0, "q0"),
            self._vector(q1, "q1"),
            profile=profile,
            duration=_within(duration, "duration", LONGEST),
        )
        parts = torque_breakdown(self.dyn, course, dt=course.duration / FRAMES)
        return self._film(parts.t, parts.q, parts.tau) | {
            "parts": {name: _plain(part) for name, part in parts.by_effect.items()}
        }

    def simulation(
        self, q0: Any, q1: Any, law: str = "computed_torque", payload: float = 0.0, duration: float = 2.0
    ) -> dict[str, Any]:
        """The robot under a control law, with a payload that the law does not know; or without actuation."""
        start, end = self._vector(q0, "q0"), self._vector(q1, "q1")
        length = _within(duration, "duration", LONGEST)
        load = _within(payload, "payload", HEAVIEST, least=0.0)
        plant = compiled(self.robot.with_payload(load)) if load else self.dyn
        laws = {"computed_torque": ComputedTorque(self.dyn, kp=400, kd=40), "none": NoControl(self.robot.n)}
        if law not in laws:
            raise unknown_name("law", law, laws)
        course = point_to_point(start, end, profile="quintic", duration=length)
        run = simulate(plant, laws[law], course, duration=length, dt=1e-3, q0=start)
        picked = np.linspace(0, len(run.t) - 1, FRAMES + 1).astype(int)
        film = self._film(run.t[picked], run.q[picked], run.tau[picked])
        error = run.error[picked] if law != "none" else np.zeros_like(run.q[picked])
        return film | {"error": _plain(error), "status": run.status.name.lower(), "detail": run.detail}

    def equations(self) -> dict[str, Any]:
        """M, C and g, typeset."""
        return {"html": equations_block(derive(self.robot))}

    # Parts ----------------------------------------------------------------------------------------------------------

    def _vector(self, values: Any, name: str) -> Array:
        try:
            q: Array = np.asarray(values, dtype=float)
        except (TypeError, ValueError):
            raise ArmdynError(f"{name} is not a list of numbers", where="studio") from None
        if q.shape != (self.robot.n,):
            raise ShapeError(f"{name} has shape {q.shape}", where="studio", expected=f"({self.robot.n},)")
        if not np.isfinite(q).all():
            raise ArmdynError(f"{name} is not finite", where="studio", expected="finite numbers")
        self.dyn.closed(q[None])  # an error that names the loop where it does not close
        return q

    def _arm(self, q: Array) -> dict[str, Any]:
        joints, segments, tool = skeleton(self.robot, q)
        return {
            "joints": [{"kind": kind, "at": _plain(p), "axis": _plain(z)} for kind, p, z in joints],
            "segments": [[_plain(a), _plain(b)] for a, b in segments],
            "tool": _plain(tool),
        }

    def _film(self, t: Array, q: Array, tau: Array) -> dict[str, Any]:
        return {
            "t": _plain(t),
            "q": _plain(q),
            "tau": _plain(tau),
            "arms": [self._arm(row) for row in q],
            "joints": list(joint_names(self.robot)),
        }

    def _ellipsoids(self, q: Array) -> dict[str, Any]:
        """Ellipsoids of the tool position; one that does not exist at q is left out."""
        rows = linear_rows(self.dyn)
        kinds: Mapping[str, Any] = {
            "velocity": velocity_ellipsoid,
            "force": force_ellipsoid,
            "acceleration": acceleration_ellipsoid,
        }
        found = {}
        for name, kind in kinds.items():
            try:
                found[name] = _axes(kind(self.dyn, q, rows=rows))
            except ArmdynError:
                continue
        return found


def _axes(ellipsoid: Ellipsoid) -> dict[str, Any]:
    """Half axes as vectors in world axes, (m, 3); unlimited directions have length 0."""
    place = [["x", "y", "z"].index(row) for row in ellipsoid.rows]
    lengths = np.where(np.isfinite(ellipsoid.lengths), ellipsoid.lengths, 0.0)
    axes = np.zeros((3, len(place)))
    axes[place] = ellipsoid.axes * lengths
    centre = np.zeros(3)
    centre[place] = ellipsoid.centre
    return {"axes": _plain(axes.T), "centre": _plain(centre)}


def _plain(value: Any) -> Any:
    """Lists and floats; infinity and NaN, which JSON does not have, become None."""
    array: Array = np.asarray(value, dtype=float)
    if array.ndim == 0:
        number = float(array)
        return number if math.isfinite(number) else None
    return [_plain(entry) for entry in array] if not np.isfinite(array).all() else array.tolist()


def _within(value: Any, name: str, most: float, least: float = 1e-3) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not least <= number <= most:
        raise ArmdynError(f"{name} = {value}", where="studio", expected=f"a number from {least:g} to {most:g}")
    return number
