"""Motions that the studio plays: planned through configurations, or simulated under a control law."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from armdyn.browser.live_simulation import Setting
from armdyn.browser.robot_queries import RobotQueries, within
from armdyn.errors import ArmdynError, unknown_name
from armdyn.motion import plan as planned
from armdyn.motion import torque_breakdown
from armdyn.motion.verdict import FeasibilityStatus
from armdyn.simulation import Plant, simulate
from armdyn.trajectory import point_to_point
from armdyn.trajectory.profiles import PROFILES
from armdyn.typing import Array

FRAMES = 150
"""Number of frames into which a motion is divided."""
LONGEST = 60.0
"""Longest motion that is computed, s."""
MOST_POINTS = 20
"""Most via points that a plan may have."""
SPLINES = ("cubic", "quintic")
GIVEN, FASTEST = "given duration", "fastest within the limits"


@dataclass(frozen=True, eq=False)
class Film:
    """A motion to be played, its torques, and a verdict in words.

    t: (k,) s. q: (k, n) rad or m. tau: (k, n) N m or N.
    fine: whether all known limits are kept and the motion runs to its end.
    words: the verdict first, then details.
    effects: torques by physical effect, (k, n) each.
    curves: further curves over time by name, (k,) each.
    """

    t: Array
    q: Array
    tau: Array
    fine: bool
    words: tuple[str, ...]
    effects: dict[str, Array]
    curves: dict[str, Array]

    def at(self, time: float) -> Array:
        """The configuration at a time, s."""
        row = min(int(np.searchsorted(self.t, time)), len(self.t) - 1)
        q: Array = self.q[row]
        return q

    def csv(self, answers: RobotQueries) -> str:
        """The motion and its torques as a table of comma-separated values, SI units."""
        names = ["t_s"]
        for kind in ("position", "torque"):
            for joint in answers.joints:
                unit = (joint.unit if kind == "position" else joint.torque_unit).replace(" ", "")
                names.append(f"{joint.name}_{kind}_{unit}".replace(",", "_"))
        rows = np.column_stack([self.t, self.q, self.tau])
        return "\n".join([",".join(names), *(",".join(f"{x:.9g}" for x in row) for row in rows)]) + "\n"


def plan(
    answers: RobotQueries,
    points: Sequence[Any],
    *,
    profile: str = "quintic",
    duration: float = 2.0,
    payload: float = 0.0,
    timing: str = GIVEN,
) -> Film:
    """A motion through configurations, its torques with the payload, and whether the limits allow it.

    points:   two or more configurations (n,).
    profile:  of a motion between two points; more are joined by a cubic or quintic spline.
    duration: s, for GIVEN timing.
    payload:  kg at the tool.
    timing:   GIVEN, or FASTEST within the limits of the joints.
    """
    if not 2 <= len(points) <= MOST_POINTS:
        raise ArmdynError(f"{len(points)} configurations", where="plan", expected=f"from 2 to {MOST_POINTS}")
    for kind, name, known in (("profile", profile, tuple(PROFILES)), ("timing", timing, (GIVEN, FASTEST))):
        if name not in known:
            raise unknown_name(kind, name, known)
    at = np.array([answers.kept(q) for q in points])
    if np.abs(np.diff(at, axis=0)).max(axis=1).min() < 1e-9:
        raise ArmdynError(
            "two configurations in a row are the same", where="plan", advice="Move the arm, or add other points."
        )
    length = within(duration, "duration", LONGEST)
    law = profile if len(at) == 2 or profile in SPLINES else SPLINES[0]
    found = planned(
        answers.loaded(payload),
        at,
        profile=law,
        timing="optimal" if timing == FASTEST else "given",
        duration=None if timing == FASTEST else length,
    )
    motion, verdict = found.motion, found.verdict
    parts = torque_breakdown(answers.loaded(payload), motion, dt=motion.duration / FRAMES)
    verdict_words = verdict.status.value
    if verdict.status is FeasibilityStatus.UNLIMITED:
        verdict_words = "No limit of this robot is known, so none is exceeded."
    words = [f"{motion.duration:.3g} s. {verdict_words}", *map(str, verdict.excesses)]
    if timing == FASTEST and verdict.holds:
        words[0] = f"{motion.duration:.3g} s: no motion along this path is faster within the limits."
    words.append(strongest(answers, parts.tau))
    power = {"mechanical power, W": (parts.tau * parts.qd).sum(axis=1)}
    return Film(parts.t, parts.q, parts.tau, verdict.holds, tuple(words), parts.by_effect, power)


def track(answers: RobotQueries, start: Any, goal: Any, setting: Setting, duration: float = 2.0) -> Film:
    """The arm under a control law that follows a quintic from start to goal, with errors of its model.

    setting: the law, its gains, and how the true arm differs from the law's model.
    """
    q0, q1 = answers.kept(start), answers.kept(goal)
    length = within(duration, "duration", LONGEST)
    plant, law = setting.plant(answers), setting.law(answers)
    course = point_to_point(q0, q1, profile="quintic", duration=length)
    run = simulate(Plant(plant, stops=True), law, course, duration=length, q0=q0)
    at = np.unique(np.linspace(0, len(run.t) - 1, FRAMES + 1).astype(int))
    t, q, qd, tau = run.t[at], run.q[at], run.qd[at], run.tau[at]
    kinetic, potential = plant.kinetic_energy(q, qd), plant.potential_energy(q)
    curves = {"kinetic energy, J": kinetic, "potential energy, J": potential - potential[0]}
    words = [f"{run.status.value} {run.detail}".strip()]
    if law.needs_reference:
        worst = np.abs(run.error).max(axis=0)
        i = int(worst.argmax())
        joint = answers.joints[i]
        shown = f"{math.degrees(worst[i]):.3g}°" if joint.revolute else f"{1e3 * worst[i]:.3g} mm"
        words.append(f"Largest tracking error: {shown} ({joint.name}).")
        curves |= {"largest error, mrad or mm": 1e3 * np.abs(run.error[at]).max(axis=1)}
    words.append(strongest(answers, tau))
    fine = run.ok and not bool((np.abs(tau).max(axis=0) > [j.torque for j in answers.joints]).any())
    return Film(t, q, tau, fine, tuple(words), {}, curves)


def strongest(answers: RobotQueries, tau: Array) -> str:
    """The largest torque in words: joint, unit, limit."""
    limits = np.array([joint.torque for joint in answers.joints])
    peaks = np.abs(tau).max(axis=0)
    known = np.isfinite(limits)
    shares = np.where(known, peaks / limits, 0.0)
    i = int((shares if known.any() else peaks).argmax())
    joint = answers.joints[i]
    limit = f"{shares[i]:.0%} of its limit of {joint.torque:.4g}" if known[i] else "no limit known"
    return f"Largest load: {joint.name}, {peaks[i]:.4g} {joint.torque_unit} ({limit})."
