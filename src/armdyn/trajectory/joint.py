"""Motion between two configurations. Khalil sec. 8.3"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from armdyn.errors import ArmdynError, NotApplicable, unknown_name
from armdyn.robot.limits import joint_vector, limit_vector
from armdyn.trajectory.piecewise import PiecewisePolynomial, along_line, hermite, stretched
from armdyn.trajectory.profiles import (
    PROFILES,
    SMOOTH_TRAPEZOID,
    Profile,
    Ramped,
    fastest_of_limited_jerk,
    trapezoidal_acceleration,
)
from armdyn.trajectory.trajectory import Trajectory
from armdyn.typing import Array

FARTHEST = 1e9
END_CONDITIONS = ("qd0", "qd1", "qdd0", "qdd1")


def point_to_point(
    q0: Any,
    q1: Any,
    profile: str = "trapezoid",
    *,
    v_max: Any = None,
    a_max: Any = None,
    j_max: Any = None,
    duration: float | None = None,
    acceleration_time: float | None = None,
    qd0: Any = None,
    qd1: Any = None,
    qdd0: Any = None,
    qdd1: Any = None,
) -> PiecewisePolynomial:
    """Return a motion of all joints from q0 to q1 on a straight line in joint space, synchronised. Khalil (8.1)

    Without `duration` the motion takes the minimum time that the profile and the limits allow.

    Args:
        q0:                (n,) start, rad or m.
        q1:                (n,) goal, rad or m.
        profile:           linear, cubic, quintic, bang_bang, trapezoid (default), smooth (continuous acceleration),
                           smooth_trapezoid (trapezoidal acceleration), or "smooth_trapezoid:SHARE", where it rises
                           and falls in a SHARE of its time each, over 0 to 0.5 (default: 0.25).
        v_max:             velocity limits, rad/s or m/s, (n,) or one number (default: none).
        a_max:             acceleration limits, rad/s^2 or m/s^2, (n,) or one number (default: none).
        j_max:             jerk limits, rad/s^3 or m/s^3, (n,) or one number (default: none). The fastest motion within
                           all three limits is that of trapezoid and smooth_trapezoid; smooth and quintic are
                           stretched; the other profiles have unbounded jerk.
        duration:          s (default: the minimum time).
        acceleration_time: of profiles with constant velocity, s, with `duration` (default: a third of it).
        qd0:               (n,) initial velocity, for cubic and quintic with `duration` (default: 0).
        qd1:               (n,) final velocity, likewise.
        qdd0:              (n,) initial acceleration, for quintic with `duration` (default: 0).
        qdd1:              (n,) final acceleration, likewise.

    Raises:  ArmdynError if `duration` is shorter than the limits allow.

    >>> move = point_to_point([0, 0], [1.0, -0.2], v_max=1.0, a_max=2.0)
    >>> move.duration, move(0.75).tolist()
    (1.5, [0.5, -0.1])
    """
    law = profile_named(profile)
    start = joint_vector("q0", q0)
    end = joint_vector("q1", q1, start.size)
    farthest = max(map(abs, (*start.tolist(), *end.tolist())))
    if farthest > FARTHEST:
        raise ArmdynError(
            f"a position of {farthest:.6g} rad or m",
            where="point_to_point",
            expected=f"at most {FARTHEST:.0e}: beyond, numbers do not resolve a micrometre",
        )
    if any(x is not None for x in (qd0, qd1, qdd0, qdd1)):
        return _between(law, start, end, (qd0, qd1), (qdd0, qdd1), (v_max, a_max, j_max), duration)
    D = end - start
    return along_line(start, D, interpolation(law, D, v_max, a_max, duration, acceleration_time, j_max))


def profile_named(name: str) -> Profile:
    """Return the profile of that name, such as `quintic` or `smooth_trapezoid:0.1`."""
    stem, colon, share = name.partition(":")
    if colon and stem == SMOOTH_TRAPEZOID.name:
        return trapezoidal_acceleration(name, share)
    if name not in PROFILES:
        raise unknown_name("profile", name, PROFILES)
    return PROFILES[name]


def interpolation(
    law: Profile,
    D: Array,
    v_max: Any = None,
    a_max: Any = None,
    duration: float | None = None,
    acceleration_time: float | None = None,
    j_max: Any = None,
) -> PiecewisePolynomial:
    """Return the r(t) of a move by D within limits, the same for all joints.

    Khalil (8.14), (8.23)-(8.35), (8.41)-(8.47)
    """
    _check_times(duration, acceleration_time, law)
    given = (("v_max", v_max), ("a_max", a_max), ("j_max", j_max))
    k_v, k_a, k_j = (limit_vector(name, value, D.size) for name, value in given)
    moving = D != 0
    if not moving.any():
        still = np.array([[[1.0]]])  # r = 1 from the start
        return PiecewisePolynomial(np.array([0.0, duration or 0.0]), still)
    distance = np.abs(D[moving])
    v, a, j = (float((k[moving] / distance).min()) for k in (k_v, k_a, k_j))
    if np.isfinite(j):
        law = _of_limited_jerk(law)
    if duration is None:
        return _fastest(law, v, a, j)
    if acceleration_time is not None:
        assert isinstance(law, Ramped)
        r = law.phases(acceleration_time, duration)
    elif isinstance(law, Ramped) and np.isfinite(a):
        r = stretched(_fastest(law, v, a, j), duration)
    else:
        r = law.lasting(duration)
    slowest = max((float(r.peak(k)[0]) / limit) ** (1 / k) for k, limit in enumerate((v, a, j), 1))
    if slowest > 1 + 1e-9:
        raise ArmdynError(
            f"a duration of {duration:.6g} s exceeds the limits by a factor of {slowest:.4g}",
            where=f"profile {law.name!r}",
            expected=f"at least {duration * slowest:.6g} s for this profile",
            advice="Leave the duration out for the minimum time, or raise the limits.",
        )
    return r


def _of_limited_jerk(law: Profile) -> Profile:
    """The profile, whose jerk must be bounded; a trapezoid becomes one of trapezoidal acceleration."""
    if law.name == "trapezoid":
        return SMOOTH_TRAPEZOID
    if law.continuous < 2:
        bounded = [name for name, profile in PROFILES.items() if profile.continuous >= 2]
        raise NotApplicable(
            f"limited jerk with profile {law.name!r}, whose acceleration jumps",
            expected=f"trapezoid, {', '.join(bounded)}",
        )
    return law


def _fastest(law: Profile, v: float, a: float, j: float) -> PiecewisePolynomial:
    if not np.isfinite(j):
        return law.fastest(v, a)
    if law is SMOOTH_TRAPEZOID:
        return fastest_of_limited_jerk(v, a, j)
    r = law.fastest(v, a) if np.isfinite([v, a]).any() else law.lasting(1.0)
    longer = (float(r.peak(3)[0]) / j) ** (1 / 3)
    return stretched(r, r.duration * longer) if longer > 1 or not np.isfinite([v, a]).any() else r


def _check_times(duration: float | None, acceleration_time: float | None, law: Profile) -> None:
    if duration is not None and not (np.isfinite(duration) and duration > 0):
        raise ArmdynError(f"duration = {duration}", expected="a positive time in s")
    if acceleration_time is None:
        return
    if duration is None or not isinstance(law, Ramped):
        raise NotApplicable(
            f"acceleration_time with profile {law.name!r}" + (" and no duration" if duration is None else ""),
            expected="a duration, and one of: " + ", ".join(k for k, p in PROFILES.items() if isinstance(p, Ramped)),
        )


def _between(
    law: Profile, q0: Array, q1: Array, qd: Any, qdd: Any, limits: tuple[Any, Any, Any], duration: float | None
) -> PiecewisePolynomial:
    """A polynomial with given end velocities and accelerations."""
    if law.name not in ("cubic", "quintic"):
        raise NotApplicable(f"end velocities with profile {law.name!r}", expected="cubic or quintic")
    if law.name == "cubic" and any(x is not None for x in qdd):
        raise NotApplicable("end accelerations with a cubic", expected="profile 'quintic'")
    if duration is None:
        raise ArmdynError("end velocities or accelerations without a duration", expected="duration, s")
    _check_times(duration, None, law)
    n = q0.size
    ends = [np.array([q0, q1])]
    for pair, name in ((qd, "qd"), (qdd, "qdd"))[: 2 if law.name == "quintic" else 1]:
        ends.append(np.array([joint_vector(f"{name}{i}", 0 if x is None else x, n) for i, x in enumerate(pair)]))
    motion = hermite(np.array([0.0, duration]), ends)
    for order, (limit, name) in enumerate(zip(limits, ("v_max", "a_max", "j_max"), strict=True), 1):
        excess = motion.peak(order) / limit_vector(name, limit, n)
        if excess.max() > 1 + 1e-9:
            raise ArmdynError(
                f"joint {int(excess.argmax()) + 1} exceeds {name} by a factor of {excess.max():.4g}",
                where=f"profile {law.name!r} of {duration:.6g} s",
                advice="Give a longer duration or smaller end velocities and accelerations.",
            )
    return motion


def hold(q: Any, duration: float) -> PiecewisePolynomial:
    """Return a trajectory that stands still at q, (n,), for `duration`, s."""
    at = joint_vector("q", q)
    if not (np.isfinite(duration) and duration >= 0):
        raise ArmdynError(f"duration = {duration}", expected="a time >= 0 in s")
    return PiecewisePolynomial(np.array([0.0, duration]), at[None, None, :])


@dataclass(frozen=True, eq=False, repr=False)
class MovingTarget(Trajectory):
    """From rest at q0 to a moving target, and along with it. Khalil (8.3)

        q(t) = q_f(t) - (1 - r(t)) D,    D = q_f(0) - q0

    q0:     (n,) start, rad or m.
    target: q_f, a callable (t, order) -> (..., n).
    r:      the interpolation function; when it has reached 1, the motion is the target's.
    until:  duration of the motion, s.
    """

    q0: Array
    target: Any
    r: PiecewisePolynomial
    until: float

    @property
    def duration(self) -> float:
        return self.until

    @property
    def n(self) -> int:
        return self.q0.size

    @property
    def breaks(self) -> Array:
        own = np.array([0.0, *self.r.knots, *getattr(self.target, "breaks", ()), self.until])
        return np.unique(own[own <= self.until])

    def inside(self, t: Array, order: int) -> Array:
        D = self.target(np.zeros(()), 0) - self.q0
        r = self.r(t, order)
        left = r - 1 if order == 0 else r
        value: Array = self.target(t, order) + left * D
        return value


def follow_target(
    q0: Any,
    target: Any,
    profile: str = "quintic",
    *,
    meet: float | None = None,
    v_max: Any = None,
    a_max: Any = None,
    duration: float | None = None,
) -> MovingTarget:
    """Return a motion from q0 to a moving target q_f(t), and then along with it. Khalil (8.3)

    Args:
        q0:       (n,) start, rad or m.
        target:   callable (t, order) -> (..., n).
        profile:  as in `point_to_point` (default: quintic).
        meet:     time at which the target is reached, s (default: the minimum time).
        v_max:    limits of the velocity relative to the target, rad/s or m/s (default: none).
        a_max:    limits of the acceleration relative to the target, rad/s^2 or m/s^2 (default: none).
        duration: of the whole motion, s (default: that of the target).
    """
    start = joint_vector("q0", q0)
    D = joint_vector("target(0)", np.asarray(target(0.0, 0)), start.size) - start
    r = interpolation(profile_named(profile), D, v_max, a_max, meet)
    until = duration if duration is not None else getattr(target, "duration", r.duration)
    if until < r.duration:
        raise ArmdynError(
            f"the target is reached after {r.duration:.6g} s, but the motion ends after {until:.6g} s",
            expected="a longer duration",
        )
    return MovingTarget(start, target, r, float(until))
