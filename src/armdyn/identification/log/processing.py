"""From a log to samples: zero-phase low-pass, derivatives, dead band, decimation.

Positions are low-passed forwards and backwards (Butterworth), so that nothing is delayed, then differentiated. Torques
stay as measured: they and the columns of the regressor go through the same filter, `decimated`, which is linear and so
changes no solution of tau = Y pi. What is not given is chosen from the log:

    cut-off       smallest error of the acceleration: what the filter takes of the motion plus the noise it passes
    rate          as many samples as the filtered motion needs; a faster log is thinned first, its torques low-passed
    decimation    as far as the cut-off allows
    dead band     a few standard deviations of the velocity noise: below it the sign of friction is a guess
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from scipy.interpolate import make_interp_spline

from armdyn.errors import ArmdynError, ShapeError, unknown_name
from armdyn.identification.clock.stamps import FEWEST, GAP
from armdyn.identification.log.filters import (
    SAVGOL_ORDER,
    SETTLING,
    central_differences,
    continued,
    decimated,
    decimated_keep,
    local_polynomials,
    low_passed,
    spline_derivatives,
    widened,
)
from armdyn.identification.log.log import Log
from armdyn.identification.log.samples import Samples
from armdyn.robot import Robot
from armdyn.robot.limits import joint_units
from armdyn.typing import Array

Derivative = Literal["central", "spline", "savgol"]

JITTER = 0.01
"""Logs whose time steps differ by more than this share from their median are resampled first."""
SHORTEST, LONGEST = 1e-9, 1e6
"""Time steps, s, that are taken for such: derivatives of others overflow."""
SIGNIFICANT = 1e3
"""Peak power density over that of the noise above which a joint counts as moving."""
LINES = 1000
"""Lines of a spectrum that are closer than this part of their frequency are averaged: long logs have many."""
BAND = 2**0.125
"""Ratio of the ends of a frequency band: eight bands to the octave."""
SAFETY = 1.5
"""Cut-off over the best one: the motion then loses little, and noise grows little."""
HIGHEST = 0.2
"""Largest cut-off as a share of the sampling rate: five samples per period, which differences resolve."""
FAR = 15.0
"""Largest cut-off over the frequency below which 99 % of the acceleration lie: beyond it nothing is gained."""
ENOUGH = 500
"""Samples that decimation leaves at least, if there are as many."""
RATE, PER_PERIOD = 200.0, 20.0
"""Rate, Hz, and samples to the period of the cut-off, whichever is more, to which a faster log is thinned: the torques
of such a motion have nothing above, and the instant at which a velocity changes its sign is known to a few ms."""
ENDS = 0.04
"""Largest share of a log that is left out at each end. Slow logs last few periods of the cut-off and would lose more by
waiting until the filter has settled than by errors of its start: 1.5 periods after it, accelerations of real logs are
off by less than 0.7 % of their rms."""
DEAD_BAND = 5.0
"""Standard deviations of the velocity noise within which the sign of a velocity is not trusted."""
SLOWEST = 0.005
"""Share of a joint's largest velocity below which dry friction is not constant, as the model assumes."""
BRIDGED = 0.25
"""Periods of the cut-off up to which a gap is bridged by interpolation: the filter passes nothing that fits into it."""
BESIDE = 1.0
"""Periods of the cut-off beside a longer gap that are left out."""


@dataclass(frozen=True, kw_only=True)
class Processing:
    """How to process a log; None: chosen from the log.

    cutoff: cut-off frequency of the low-pass of positions, Hz (default: chosen from the log)
    order: of the Butterworth filter, run forwards and backwards (default 4)
    derivative: "central" (five points), "spline" (quintic, through the filtered positions) or "savgol" (local
                polynomials instead of the Butterworth filter); default "central"
    measured: take velocities, and accelerations if logged, from the log, low-passed alike (default: differentiate q)
    edges: time left out at both ends, s (default: until the filter has settled, at most 4 % of the log each)
    dead_band: velocity below which samples are left out, rad/s or m/s, for all joints or one each; 0: none (default:
               chosen from the noise)
    decimation: decimation factor, 1 for none (default: chosen from the cut-off frequency)
    rate: Hz, to which a faster log is thinned after its derivatives were taken (default: chosen from the cut-off
          frequency; that of the log if `decimation` is given)
    """

    cutoff: float | None = None
    order: int = 4
    derivative: Derivative = "central"
    measured: bool = False
    edges: float | None = None
    dead_band: float | Sequence[float] | None = None
    decimation: int | None = None
    rate: float | None = None

    def __post_init__(self) -> None:
        if self.derivative not in get_args(Derivative):
            raise unknown_name("derivative", self.derivative, get_args(Derivative), where="processing")
        for name, least in (("cutoff", 0.0), ("edges", -1.0), ("order", 0.0), ("decimation", 0.0), ("rate", 0.0)):
            value = getattr(self, name)
            if value is not None and not least < value < math.inf:
                raise ArmdynError(f"{name} = {value}", where="processing", expected="a positive number, or None")


def process(log: Log, robot: Robot | None = None, processing: Processing | None = None) -> Samples:
    """Samples for the regressor: filtered q, its derivatives, tau; a log that is faster than needed is thinned.

    Args:    log: joint side, SI units
             robot: gives the names of the joints (default: those of the log)
             processing: filter, derivatives, dead band, decimation (default: chosen from the log)
    Raises:  ShapeError for a log too short to filter.
    """
    settings = processing or Processing()
    names = _names(log, robot)
    log, bad, steps = _even(log)
    rate = 1 / log.period
    chosen_here = settings.cutoff is None or settings.dead_band is None
    spectra = [Spectrum.of(log.q[:, j], rate) for j in range(log.n)] if chosen_here else []
    cutoff, how = _cutoff(spectra, rate, settings)
    steps["low-pass"] = f"{_filter_text(settings)}, {cutoff:.4g} Hz: {how}"
    steps["derivatives"] = _derivative_text(settings, log)
    edge = min(settings.edges if settings.edges is not None else SETTLING / cutoff, ENDS * log.duration)
    inner = slice(round(edge * rate), len(log) - round(edge * rate))
    steps["edges"] = f"{edge:.3g} s left out at each end, where the filter has not settled"
    bad, text = _not_bridged(bad, rate, cutoff)
    if text:
        steps["gaps"] = text
    thin = _thinning(rate, cutoff, settings)
    given = settings.dead_band if settings.dead_band is None else np.broadcast_to(settings.dead_band, log.n)
    band, keep, signals = np.zeros(log.n), np.zeros((len(log.t[inner]), log.n), dtype=bool), []
    for j in range(log.n):  # one by one: a long log takes less memory
        q, qd, qdd = _derivatives(log, j, rate, cutoff, settings)
        band[j] = _dead_band(spectra[j], qd, cutoff, settings.order) if given is None else given[j]
        keep[:, j] = ((np.abs(qd) >= band[j]) & ~bad)[inner]
        signals.append(np.stack([*(x[inner][::thin] for x in (q, qd, qdd)), decimated(log.tau[inner, j], thin)]))
    steps["dead band"] = f"{_dead_band_text(settings)}: {_bands_text(names, band, keep, robot)}"
    if thin > 1:
        steps["thinning"] = (
            f"every {thin}th sample, {rate / thin:.4g} Hz, torques low-passed at {0.4 * rate / thin:.4g} Hz"
        )
    q, qd, qdd, tau = np.stack(signals, axis=2)
    keep = decimated_keep(keep, thin)
    rate /= thin
    factor = settings.decimation or _decimation(rate, cutoff, len(keep))
    steps["decimation"] = _decimation_text(rate, factor)
    return Samples(log.t[inner][::thin], q, qd, qdd, tau, keep, factor, steps, log.findings, cutoff)


def _thinning(rate: float, cutoff: float, settings: Processing) -> int:
    """Every how many samples one is taken."""
    least = settings.rate
    if least is None:
        least = rate if settings.decimation is not None else max(RATE, PER_PERIOD * cutoff)
    return max(1, math.floor(rate / least * (1 + 1e-9)))


def _names(log: Log, robot: Robot | None) -> tuple[str, ...]:
    if robot is None:
        return log.joints or tuple(f"joint {j + 1}" for j in range(log.n))
    if robot.n != log.n:
        raise ShapeError(f"{log.n} joints", where=f"log {log.source}", expected=f"{robot.n}, those of {robot.name!r}")
    return tuple(joint.name for joint in robot.joints)


# An even time grid --------------------------------------------------------------------------------------------------


def _even(log: Log) -> tuple[Log, Array, dict[str, str]]:
    """The log on an even time grid, (N,) bool where the grid has no samples, and what was done."""
    finite = np.isfinite(log.t) & np.isfinite(log.q).all(axis=1) & np.isfinite(log.tau).all(axis=1)
    order = np.flatnonzero(finite)
    t, first = np.unique(log.t[order], return_index=True)
    order = order[first]
    if len(t) < FEWEST:
        raise ShapeError(f"{len(t)} samples", where=f"log {log.source}", expected=f"at least {FEWEST}")
    h = float(np.median(np.diff(t)))
    if not SHORTEST <= h <= LONGEST:
        raise ArmdynError(
            f"time steps of {h:.4g} s",
            where=f"log {log.source}",
            expected=f"{SHORTEST:g} s to {LONGEST:g} s",
            advice="Give time stamps in seconds, or their unit.",
        )
    span = float(t[-1]) - float(t[0])
    whole = len(order) == len(log) and np.abs(np.diff(log.t) - h).max() <= JITTER * h
    if whole:
        steps = {"samples": f"{len(log)} at {1 / h:.6g} Hz, {span:.4g} s"}
        return log, np.zeros(len(log), dtype=bool), steps
    if span / h >= 4 * len(log):
        raise ArmdynError(
            f"{span:.4g} s with {len(log)} samples, most of them {h:.4g} s apart",
            where=f"log {log.source}",
            expected="a log without long gaps",
            advice="Split the log at its gaps, or correct its time stamps.",
        )
    grid = t[0] + h * np.arange(math.floor(span / h) + 1)

    def put(x: Array | None) -> Array | None:
        return None if x is None else make_interp_spline(t, x[order], k=1)(grid)

    smooth = make_interp_spline(t, log.q[order], k=3)(grid)
    gaps = np.flatnonzero(np.diff(t) > GAP * h)
    bad = np.zeros(len(grid), dtype=bool)
    for k in gaps:
        bad |= (grid > t[k]) & (grid < t[k + 1])
    even = Log(grid, smooth, np.asarray(put(log.tau)), put(log.qd), put(log.qdd), log.joints, log.source, log.findings)
    text = f"{len(log)}, resampled to an even grid of {len(grid)} at {1 / h:.6g} Hz"
    return even, bad, {"samples": text}


def _not_bridged(bad: Array, rate: float, cutoff: float) -> tuple[Array, str]:
    """(N,) bool, samples in and beside gaps too long to be bridged, and what was done."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], bad, [False]]).astype(int)))
    starts, ends = edges[0::2], edges[1::2]
    if not len(starts):
        return bad, ""
    long = ends - starts > BRIDGED * rate / cutoff
    left = np.zeros(len(bad), dtype=bool)
    for start, end in zip(starts[long], ends[long], strict=True):
        left[start:end] = True
    left = widened(left, round(BESIDE * rate / cutoff))
    short, parts = int((~long).sum()), []
    if short:
        parts.append(f"{short} bridged by interpolation (shorter than {1e3 * BRIDGED / cutoff:.3g} ms)")
    if long.any():
        parts.append(
            f"{int(long.sum())} too long to be bridged; {left.mean():.1%} of the samples, in and beside, left out"
        )
    return left, ", ".join(parts)


# Motion and noise ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Spectrum:
    """Power spectrum of a position, split into motion and noise.

    The spectrum of the acceleration falls where the motion ends and rises where differentiated noise takes over: below
    its valley is motion, above is noise, which continues below as strong as it is there.

    f: (F,) Hz
    motion, noise: (F,) power densities, unit^2/Hz
    valley: Hz
    moves: the motion stands out from the noise
    """

    f: Array
    motion: Array
    noise: Array
    valley: float
    moves: bool

    @staticmethod
    def of(x: Array, rate: float) -> Spectrum:
        """The spectrum of a position, (N,), sampled at a rate, Hz."""
        # A line through both ends is subtracted and the window is a high power of a sine: ends that do not meet would
        # leak into all frequencies, many decades above the noise of an encoder.
        line = np.linspace(x[0], x[-1], len(x))
        window = np.square(np.square(np.sin(np.linspace(0, np.pi, len(x)))))
        whole = np.abs(np.fft.rfft((x - line) * window)) ** 2 * (2 / (rate * float(window @ window)))
        f, power = _thinned(np.fft.rfftfreq(len(x), 1 / rate), whole)
        centre, density = _banded(f[1:], power[1:] * (2 * np.pi * f[1:]) ** 2)
        peak = int(np.argmax(density))
        # A motion that is repeated has lines with noise between them: where lines follow, the motion has not ended.
        level = density / (2 * np.pi * centre) ** 2
        ahead = np.append(np.maximum.accumulate(level[:0:-1])[::-1], 0.0)
        ended = (np.arange(len(level)) >= peak) & (ahead <= SIGNIFICANT * level)
        lowest = int(np.argmin(np.where(ended, density * centre**2, np.inf)))
        valley, floor = float(centre[lowest]), float(level[lowest : lowest + 2].mean())
        below = f < valley
        moves = centre[peak] < rate / 8 and float(power.max()) > SIGNIFICANT * floor
        return Spectrum(f, np.where(below, power, 0.0), np.where(below, floor, power), valley, moves)

    def noise_of(self, order: int, gain: Array) -> float:
        """Standard deviation of the noise in a derivative after a filter of this gain over f."""
        return math.sqrt(float(np.trapezoid(((2 * np.pi * self.f) ** order * gain) ** 2 * self.noise, self.f)))

    def acceleration_error(self, gain: Array) -> float:
        """Mean square of what a filter takes from the acceleration plus the noise it passes."""
        weight = (2 * np.pi * self.f) ** 4
        return float(np.trapezoid(weight * ((1 - gain) ** 2 * self.motion + gain**2 * self.noise), self.f))


def _thinned(f: Array, power: Array) -> tuple[Array, Array]:
    """A spectrum with lines no closer than a share 1 / LINES of their frequency: closer ones are averaged."""
    ends = [0]
    while ends[-1] < len(f):
        ends.append(ends[-1] + max(1, ends[-1] // LINES))
    starts = np.array(ends[:-1])
    counts = np.diff([*starts, len(f)])
    return np.add.reduceat(f, starts) / counts, np.add.reduceat(power, starts) / counts


def _banded(f: Array, density: Array) -> tuple[Array, Array]:
    """Centres of frequency bands, eight per octave and at least five lines each, and the mean density in each."""
    ends = [0]
    while ends[-1] < len(f):
        ends.append(max(ends[-1] + 5, int(np.searchsorted(f, f[ends[-1]] * BAND))))
    starts = np.array(ends[:-1])
    counts = np.diff([*starts, len(f)])
    return np.add.reduceat(f, starts) / counts, np.add.reduceat(density, starts) / counts


def _gain(f: Array, cutoff: float, order: int) -> Array:
    """Gain of a Butterworth low-pass run forwards and backwards."""
    power: Array = np.asarray(math.prod([(f / cutoff) ** 2] * order))  # products take a tenth of the time of powers
    gain: Array = 1 / (1 + power)
    return gain


def _cutoff(spectra: Sequence[Spectrum], rate: float, settings: Processing) -> tuple[float, str]:
    """Cut-off frequency in Hz, the largest of the joints' best ones, and how it was found."""
    if settings.cutoff is not None:
        if settings.cutoff >= rate / 2:
            raise ArmdynError(
                f"cut-off {settings.cutoff} Hz",
                where="processing",
                expected=f"less than half the sampling rate, {rate / 2:.4g} Hz",
            )
        return settings.cutoff, "as given"
    moving = [s for s in spectra if s.moves]
    if not moving:
        return 0.1 * rate, "a tenth of the sampling rate, because no joint moves"
    best = [_best_cutoff(s, settings.order, HIGHEST * rate / SAFETY) for s in moving]
    return SAFETY * max(best), f"{SAFETY} times the cut-off of smallest acceleration error"


def _best_cutoff(spectrum: Spectrum, order: int, highest: float) -> float:
    power = np.cumsum(spectrum.motion * spectrum.f**4)
    fastest = float(spectrum.f[np.searchsorted(power, 0.99 * power[-1])])
    highest = min(highest, 4 * spectrum.valley, FAR * fastest)
    grid = np.geomspace(min(spectrum.valley, highest) / 4, highest, 60)
    errors = [spectrum.acceleration_error(_gain(spectrum.f, fc, order)) for fc in grid]
    return float(grid[np.argmin(errors)])


def _decimation(rate: float, cutoff: float, samples: int) -> int:
    """Largest factor that passes twice the cut-off (torques have products of harmonics) and leaves enough samples."""
    return max(1, min(math.floor(0.8 * rate / (2 * 2 * cutoff)), samples // ENOUGH))


def _dead_band(spectrum: Spectrum, qd: Array, cutoff: float, order: int) -> float:
    """Velocity below which the samples of a joint with velocities qd, (N,), are left out."""
    noise = spectrum.noise_of(1, _gain(spectrum.f, cutoff, order))
    return max(DEAD_BAND * noise, SLOWEST * float(np.abs(qd).max()))


def _derivatives(log: Log, j: int, rate: float, cutoff: float, settings: Processing) -> tuple[Array, Array, Array]:
    """(N,) filtered position of joint j and its derivatives."""
    h = 1 / rate
    if settings.derivative == "savgol":
        q, qd, qdd = local_polynomials(log.q[:, j], cutoff, h)
    else:
        differentiated = central_differences if settings.derivative == "central" else spline_derivatives
        longer, margin = continued(log.q[:, j], rate / cutoff)
        q = low_passed(longer, cutoff, rate, settings.order)
        q, qd, qdd = (x[margin : len(x) - margin] for x in (q, *differentiated(q, h)))
    if settings.measured and log.qd is not None:
        qd = low_passed(log.qd[:, j], cutoff, rate, settings.order)
        qdd = central_differences(qd, h)[0]
        if log.qdd is not None:
            qdd = low_passed(log.qdd[:, j], cutoff, rate, settings.order)
    return q, qd, qdd


# In words -----------------------------------------------------------------------------------------------------------


def _filter_text(settings: Processing) -> str:
    if settings.derivative == "savgol":
        return "local polynomials (Savitzky-Golay)"
    return f"Butterworth of order {settings.order}, forwards and backwards"


def _dead_band_text(settings: Processing) -> str:
    if settings.dead_band is not None:
        return "as given"
    return f"{DEAD_BAND:g} standard deviations of the velocity noise, at least {SLOWEST:.1%} of the largest velocity"


def _bands_text(names: Sequence[str], band: Array, keep: Array, robot: Robot | None) -> str:
    units = [f" {unit.velocity}" for unit in joint_units(robot)] if robot is not None else [""] * len(names)
    rows = zip(names, band, units, 1 - keep.mean(axis=0), strict=True)
    return ", ".join(f"{name} {b:.3g}{unit} ({share:.1%} left out)" for name, b, unit, share in rows)


def _decimation_text(rate: float, factor: int) -> str:
    if factor == 1:
        return "none"
    return (
        f"by {factor} to {rate / factor:.4g} Hz, torque and regressor alike, low-passed at {0.4 * rate / factor:.4g} Hz"
    )


def _derivative_text(settings: Processing, log: Log) -> str:
    if settings.measured and log.qd is not None:
        return "measured velocities" + (" and accelerations" if log.qdd is not None else ", differentiated")
    return {
        "central": "central differences over five points",
        "spline": "quintic spline through the filtered positions",
        "savgol": f"local polynomials of degree {SAVGOL_ORDER}",
    }[settings.derivative]


__all__ = ["Processing", "process"]
