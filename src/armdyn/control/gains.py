"""Poles, damping and bandwidth of joint control loops, and distance from resonances. Khalil sec. 9.3, 9.4"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from armdyn.control.base import Law
from armdyn.control.computed_torque import ComputedTorque
from armdyn.control.extremes import largest_inertias
from armdyn.control.pid import PID, PDGravity, viscous_friction
from armdyn.dynamics import Dynamics
from armdyn.errors import ArmdynError
from armdyn.robot.features import CLOSED, TREE, takes
from armdyn.tables import Column, Section, render
from armdyn.typing import Array

ROOT_ACCURACY = 1e-4
"""Relative accuracy of poles: a triple root, as a designed PID has, is known to the cube root of rounding, 6e-6."""


@dataclass(frozen=True)
class JointLoop:
    """The closed loop of one joint.

    name:      of the joint.
    poles:     of a s^3 + (kd + Fv) s^2 + kp s + ki (Khalil (9.8)), 1/s; without integral action the root 0 is left out.
    frequency: largest magnitude of a pole, rad/s.
    damping:   smallest damping ratio of a pole; 1 for real ones.
    bandwidth: frequency at which the response to the reference (Khalil (9.7)) falls below 1/sqrt(2), rad/s.
    stable:    whether all poles have negative real parts.
    resonance: of the structure, rad/s; None if not given.
    """

    name: str
    poles: tuple[complex, ...]
    frequency: float
    damping: float
    bandwidth: float
    stable: bool
    resonance: float | None = None

    @property
    def below_resonance(self) -> bool | None:
        """Whether w_j <= w_rj / 2 (Khalil, notes on (9.10)); None if no resonance is given."""
        return None if self.resonance is None else self.frequency <= self.resonance / 2 * (1 + ROOT_ACCURACY)

    @property
    def poles_text(self) -> str:
        """The poles as text, 1/s; conjugate pairs once."""
        return ", ".join(_pole_text(pole) for pole in self.poles if pole.imag >= 0 or _is_real(pole))

    @property
    def advice(self) -> str:
        """Advice if the loop is unstable, oscillates or excites the structure; else empty."""
        if not self.stable:
            return "unstable: raise kd or lower ki (kp (kd + Fv) must exceed a ki)"
        if self.below_resonance is False:
            return f"may excite the structure: keep the poles within {(self.resonance or 0) / 2:.4g} rad/s"
        if self.damping < 0.5:
            return "oscillates: raise kd"
        return ""


@dataclass(frozen=True)
class GainAnalysis:
    """The closed loops of all joints."""

    loops: tuple[JointLoop, ...]

    @property
    def stable(self) -> bool:
        return all(loop.stable for loop in self.loops)

    @property
    def section(self) -> Section:
        """The loops as a table."""
        heads = ("joint", "poles (1/s)", "fastest (rad/s)", "damping", "bandwidth (rad/s)", "advice")
        rows = []
        for loop in self.loops:
            figures = (f"{loop.frequency:.4g}", f"{loop.damping:.3f}", f"{loop.bandwidth:.4g}", loop.advice)
            rows.append((loop.name, loop.poles_text, *figures))
        note = (
            "Linear loop of each joint at its largest inertia, found by search (armdyn.analysis.proven_extremes "
            "bounds it). Fastest: largest distance of a pole from 0. "
            "Damping: smallest of all pole pairs, 1 if all poles are real."
        )
        return Section("Control loops", (*map(Column, heads[:-1]), Column(heads[-1], folds=True)), tuple(rows), note)

    def __str__(self) -> str:
        return render(self.section)


@takes(*CLOSED, *TREE)
def analyse_gains(
    kp: Any,
    kd: Any = None,
    ki: Any = 0.0,
    *,
    inertia: Any = 1.0,
    viscous: Any = 0.0,
    resonance: Any = None,
    dyn: Dynamics | None = None,
) -> GainAnalysis:
    """Poles, damping and bandwidth of the control loops of all joints. Khalil (9.6)-(9.10), (9.25), (9.26)

    Args:
        kp:        proportional gain, (n,) or one number; or, in place of all gains, a law: ComputedTorque (then
                   each joint is a double integrator), PID or PDGravity.
        kd:        derivative gain, (n,) or one number.
        ki:        integral gain, (n,) or one number (default: 0).
        inertia:   of the joints, kg m^2 or kg (default: 1; for PID and PDGravity with `dyn`, the largest M_jj).
        viscous:   viscous friction, N m s/rad or N s/m (default: 0; for these with `dyn`, that of the robot).
        resonance: of the structure, rad/s (default: not checked).
        dyn:       model of the arm, for names, inertia and friction.

    >>> round(analyse_gains(200, 10).loops[0].damping, 6)
    0.353553
    """
    if isinstance(kp, Law):
        kp, kd, ki, inertia, viscous = _of_law(kp, dyn, inertia, viscous)
    elif kd is None:
        raise ArmdynError("kd is missing", where="analyse_gains", expected="kp, kd and optionally ki; or a law")
    columns = np.broadcast_arrays(*(np.atleast_1d(np.asarray(x, dtype=float)) for x in (kp, kd, ki, inertia, viscous)))
    resonances = None if resonance is None else np.broadcast_to(np.asarray(resonance, dtype=float), columns[0].shape)
    robot = None if dyn is None else dyn.robot
    loops = []
    for j, (p, d, i, a, F) in enumerate(zip(*columns, strict=True)):
        name = f"joint {j + 1}" if robot is None else robot.joints[j].name
        limit = None if resonances is None else float(resonances[j])
        loops.append(_loop(name, float(p), float(d), float(i), float(a), float(F), limit))
    return GainAnalysis(tuple(loops))


def _of_law(law: Law, dyn: Dynamics | None, inertia: Any, viscous: Any) -> tuple[Any, Any, Any, Any, Any]:
    if isinstance(law, ComputedTorque):
        return law.kp, law.kd, law.ki, 1.0, 0.0
    if isinstance(law, PID | PDGravity):
        ki = law.ki if isinstance(law, PID) else 0.0
        if dyn is None:
            return law.kp, law.kd, ki, inertia, viscous
        return law.kp, law.kd, ki, largest_inertias(dyn), viscous_friction(dyn)
    raise ArmdynError(
        f"the loops of {type(law).__name__} are not linear",
        where="analyse_gains",
        expected="ComputedTorque, PID or PDGravity, or gains",
    )


def _loop(name: str, kp: float, kd: float, ki: float, a: float, Fv: float, resonance: float | None) -> JointLoop:
    if a <= 0:
        raise ArmdynError(f"an inertia of {a}", where=f"analyse_gains, {name}", expected="a positive inertia")
    below = [a, kd + Fv, kp, ki] if ki else [a, kd + Fv, kp]  # Khalil (9.8)
    above = [kd, kp, ki] if ki else [kd, kp]
    poles = np.roots(below)
    size = np.abs(poles)
    damping = [1.0 if w == 0 else float(-pole.real / w) for pole, w in zip(poles, size, strict=True)]
    stable = bool((poles.real < -1e-12 * max(1.0, float(size.max(initial=0.0)))).all())
    found = tuple(complex(pole) for pole in sorted(poles, key=lambda pole: (abs(pole), pole.imag)))
    return JointLoop(
        name,
        found,
        float(size.max(initial=0.0)),
        min(damping, default=1.0),
        _bandwidth(np.array(above), np.array(below)),
        stable,
        resonance,
    )


def _bandwidth(above: Array, below: Array) -> float:
    """Frequency above which |q/q_d| of Khalil (9.7) stays below 1/sqrt(2), rad/s."""

    def power(polynomial: Array) -> Array:
        """|P(i w)|^2 as a polynomial in w^2."""
        degree = len(polynomial) - 1
        signs = np.array([1j ** (degree - k) for k in range(degree + 1)])
        at = polynomial * signs
        product = np.convolve(at, np.conj(at))
        return np.real(product)[::2]

    num, den = power(above), power(below)
    num = np.concatenate([np.zeros(len(den) - len(num)), num])
    roots = np.roots(den / 2 - num)
    real = [float(root.real) for root in roots if abs(root.imag) < 1e-9 * (1 + abs(root)) and root.real > 0]
    return float(np.sqrt(max(real))) if real else 0.0


def _pole_text(pole: complex) -> str:
    return f"{pole.real:.4g}" if _is_real(pole) else f"{pole.real:.4g}±{pole.imag:.4g}i"


def _is_real(pole: complex) -> bool:
    """Whether a pole is real, as far as it is known."""
    return abs(pole.imag) < ROOT_ACCURACY * abs(pole) or pole == 0
