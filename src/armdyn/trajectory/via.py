"""Motion through several configurations: splines, lines with blends, measured samples."""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np
from scipy.interpolate import CubicSpline, make_interp_spline

from armdyn.errors import ArmdynError, NotApplicable, ShapeError, unknown_name
from armdyn.robot.limits import joint_vector, limit_vector
from armdyn.trajectory.piecewise import PiecewisePolynomial, hermite, stretched
from armdyn.typing import Array

KINDS = ("cubic", "quintic", "blends")


def via_points(
    points: Any,
    kind: Literal["cubic", "quintic", "blends"] = "cubic",
    *,
    times: Any = None,
    v_max: Any = None,
    a_max: Any = None,
    qd0: Any = 0.0,
    qd1: Any = 0.0,
    qdd0: Any = 0.0,
    qdd1: Any = 0.0,
) -> PiecewisePolynomial:
    """Return a motion through, or past, several configurations.

    cubic:   through all points, with continuous acceleration.
    quintic: through all points, with continuous derivatives up to the fourth.
    blends:  straight lines in joint space with parabolic blends: from the first point to the last, passing the others
             at a distance of at most b |change of velocity|/8, b the duration of the blend; two points give the
             trapezoid.

    Without `times`, the limits decide the timing: a spline is stretched until one of them is reached.

    Args:
        points: (k, n) configurations, rad or m.
        kind:   cubic (default), quintic or blends.
        times:  (k,) increasing from 0, s, for splines (default: from the limits).
        v_max:  velocity limits, rad/s or m/s, (n,) or one number (default: none).
        a_max:  acceleration limits, rad/s^2 or m/s^2, (n,) or one number (default: none; blends need them).
        qd0:    (n,) initial velocity, with `times` (default: 0).
        qd1:    (n,) final velocity, with `times` (default: 0).
        qdd0:   (n,) initial acceleration of quintic, with `times` (default: 0).
        qdd1:   (n,) final acceleration of quintic, with `times` (default: 0).
    """
    if not isinstance(kind, str):
        raise ArmdynError(
            f"{type(kind).__name__} as the kind of a motion",
            where="via_points",
            expected=", ".join(KINDS),
            advice="Give times by their name: times=[...].",
        )
    if kind not in KINDS:
        raise unknown_name("kind of motion", kind, KINDS)
    q = np.asarray(points, dtype=float)
    if q.ndim != 2 or len(q) < 2 or not np.isfinite(q).all():
        raise ShapeError(f"points of shape {q.shape}", expected="(k, n) finite numbers, at least two points")
    n = q.shape[1]
    k_v, k_a = limit_vector("v_max", v_max, n), limit_vector("a_max", a_max, n)
    steps = np.abs(np.diff(q, axis=0))
    if times is None and (steps.max(axis=1) == 0).any():
        k = int(np.argmin(steps.max(axis=1))) + 1
        raise ArmdynError(f"points {k} and {k + 1} are the same", advice="Leave one out, or use `hold` and `then`.")
    if kind == "blends":
        if times is not None:
            raise NotApplicable("times with blends", expected="v_max and a_max, which set the time")
        return _blends(q, k_v, k_a)
    ends = [
        joint_vector(name, x, n) for name, x in zip(("qd0", "qd1", "qdd0", "qdd1"), (qd0, qd1, qdd0, qdd1), strict=True)
    ]
    if times is not None:
        motion = _spline(_checked_times(times, len(q)), q, kind, ends)
        _check_limits(motion, k_v, k_a)
        return motion
    if any(end.any() for end in ends):
        raise NotApplicable("end velocities or accelerations without times", expected="times, s, for every point")
    if np.isinf(k_v).all() and np.isinf(k_a).all():
        raise ArmdynError("neither times nor limits", expected="times, or v_max, or a_max")
    motion = _spline(np.concatenate([[0.0], np.cumsum(_chords(steps, k_v, k_a))]), q, kind, ends)
    excess = max((motion.peak(1) / k_v).max(), np.sqrt((motion.peak(2) / k_a).max()))
    return stretched(motion, motion.duration * excess)


def _chords(steps: Array, k_v: Array, k_a: Array) -> Array:
    """Durations of the segments before stretching, from the limits."""
    by_velocity: Array = (steps / k_v).max(axis=1)
    by_acceleration: Array = np.sqrt((steps / k_a).max(axis=1))
    return np.maximum(by_velocity, by_acceleration)


def _checked_times(times: Any, count: int) -> Array:
    t = np.asarray(times, dtype=float)
    if t.shape != (count,) or not np.isfinite(t).all() or t[0] != 0 or (np.diff(t) <= 0).any():
        raise ShapeError(f"times = {times}", expected=f"{count} increasing times, the first 0")
    return t


def _spline(t: Array, q: Array, kind: str, ends: list[Array]) -> PiecewisePolynomial:
    qd0, qd1, qdd0, qdd1 = ends
    if kind == "cubic":
        return _from_scipy(CubicSpline(t, q, bc_type=((1, qd0), (1, qd1))))
    if len(t) == 2:
        return hermite(t, [q, np.array([qd0, qd1]), np.array([qdd0, qdd1])])
    conditions = ([(1, qd0), (2, qdd0)], [(1, qd1), (2, qdd1)])
    spline = make_interp_spline(t, q, k=5, bc_type=conditions)
    return PiecewisePolynomial(t, np.stack([spline(t[:-1], i) / math.factorial(i) for i in range(6)], axis=1))


def _from_scipy(curve: CubicSpline) -> PiecewisePolynomial:
    """A SciPy spline, whose coefficients are descending, as PiecewisePolynomial."""
    return PiecewisePolynomial(curve.x, np.ascontiguousarray(np.moveaxis(curve.c[::-1], 0, 1)))


def _check_limits(motion: PiecewisePolynomial, k_v: Array, k_a: Array) -> None:
    for order, limit, name in ((1, k_v, "v_max"), (2, k_a, "a_max")):
        excess = motion.peak(order) / limit
        if excess.max() > 1 + 1e-9:
            raise ArmdynError(
                f"joint {int(excess.argmax()) + 1} exceeds {name} by a factor of {excess.max():.4g}",
                advice=f"Stretch the times by {max(excess.max() ** (1 / order), 1):.4g}, or leave them out.",
            )


def _blends(q: Array, k_v: Array, k_a: Array) -> PiecewisePolynomial:
    """Lines with blends, each centred on the time of its corner.

    Before the first and after the last point the motion is at rest, so the ends are corners like the others.
    """
    if np.isinf(k_a).any():
        raise ArmdynError("blends without a_max", expected="a finite a_max for every joint")
    D = np.diff(q, axis=0)
    T = _chords(np.abs(D), k_v, np.full_like(k_a, np.inf)) if np.isfinite(k_v).any() else np.zeros(len(D))
    T = np.maximum(T, 1e-6 * np.sqrt((np.abs(D) / k_a).max(axis=1)))
    for _ in range(200):
        crowded = _crowding(D, T, k_a)
        if (crowded <= 1).all():
            break
        T = T * np.sqrt(np.maximum(crowded, 1.0))
    T = T * np.sqrt(max(1.0, float(_crowding(D, T, k_a).max())))  # stretching all of them suffices
    velocity = np.vstack([np.zeros(q.shape[1]), D / T[:, None], np.zeros(q.shape[1])])
    b = _blend_times(D, T, k_a)
    corner = np.concatenate([[0.0], np.cumsum(T)]) + b[0] / 2
    knots: list[float] = [0.0]
    pieces: list[Array] = []
    for k, (time, blend) in enumerate(zip(corner, b, strict=True)):
        end = corner[-1] + b[-1] / 2
        before, after = (max(time - blend / 2, knots[-1]) if k else 0.0), min(time + blend / 2, end)
        if before > knots[-1]:  # the line up to the blend
            pieces.append(np.array([q[k] - velocity[k] * (time - knots[-1]), velocity[k], 0 * q[k]]))
            knots.append(before)
        if blend > 0:
            change = velocity[k + 1] - velocity[k]
            pieces.append(np.array([q[k] - velocity[k] * (blend / 2), velocity[k], change / (2 * blend)]))
            knots.append(after)
    return PiecewisePolynomial(np.array(knots), np.array(pieces))


def _blend_times(D: Array, T: Array, k_a: Array) -> Array:
    """Duration of the blend at every corner, from the acceleration limits."""
    velocity = np.vstack([np.zeros(D.shape[1]), D / T[:, None], np.zeros(D.shape[1])])
    times: Array = (np.abs(np.diff(velocity, axis=0)) / k_a).max(axis=1)
    return times


def _crowding(D: Array, T: Array, k_a: Array) -> Array:
    """Duration of the two half blends over that of the line between them; above 1 they do not fit."""
    b = _blend_times(D, T, k_a)
    crowding: Array = (b[:-1] + b[1:]) / (2 * T)
    return crowding


def from_samples(t: Any, q: Any, qd: Any = None, qdd: Any = None) -> PiecewisePolynomial:
    """Return a motion through samples.

    Quintic pieces from positions, velocities and accelerations; cubic pieces from positions and velocities; a cubic
    spline (not-a-knot) from positions alone.

    Args:
        t:   (k,) increasing, s; the motion starts at t[0].
        q:   (k, n) rad or m.
        qd:  (k, n) rad/s or m/s (default: not given).
        qdd: (k, n) rad/s^2 or m/s^2, with qd (default: not given).
    """
    times = np.asarray(t, dtype=float)
    given = [np.asarray(x, dtype=float) for x in (q, qd, qdd) if x is not None]
    if qd is None and qdd is not None:
        raise ShapeError("accelerations without velocities", expected="qd as well")
    if times.ndim != 1 or len(times) < 2 or any(x.ndim != 2 or x.shape != given[0].shape for x in given):
        raise ShapeError(f"t {times.shape}, samples {[x.shape for x in given]}", expected="(k,) and (k, n), k >= 2")
    if len(times) != len(given[0]):
        raise ShapeError(f"{len(times)} times and {len(given[0])} samples", expected="the same number of both")
    if not all(np.isfinite(x).all() for x in (times, *given)):
        raise ShapeError("the samples contain NaN or infinity", expected="finite numbers")
    if (np.diff(times) <= 0).any():
        k = int(np.argmax(np.diff(times) <= 0)) + 1
        raise ShapeError(f"t does not increase at sample {k + 1}", expected="increasing times")
    times = times - times[0]
    with np.errstate(all="ignore"):
        spline = len(given) == 1 and len(times) > 2
        motion = _from_scipy(CubicSpline(times, given[0])) if spline else hermite(times, given)
    if not np.isfinite(motion.coefficients).all():
        raise ShapeError("the motion between two samples overflows", expected="samples at times that differ enough")
    return motion
