"""Filters without delay and derivatives of evenly sampled signals."""

from __future__ import annotations

import math

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from scipy import signal
from scipy.interpolate import make_interp_spline

from armdyn.typing import Array

SETTLING = 3.0
"""Periods of the cut-off after which the start of a 4th-order Butterworth filter has decayed below 0.1 %."""
SAVGOL_ORDER = 4
"""Degree of the local polynomials."""
BLOCK = 16
"""Samples that are averaged by one product of matrices."""


def low_passed(x: Array, cutoff: float, rate: float, order: int = 4) -> Array:
    """Return x, (N, ...), low-passed along the first axis without delay: Butterworth, forwards and backwards.

    cutoff: frequency at which the gain is 1/2, Hz
    rate: sampling rate, Hz
    order: of the Butterworth filter
    """
    sections = signal.butter(order, cutoff, fs=rate, output="sos")
    pad = min(len(x) - 1, max(round(SETTLING * rate / cutoff), 3 * (2 * len(sections) + 1)))
    filtered: Array = signal.sosfiltfilt(sections, x, axis=0, padlen=pad)
    return filtered


def continued(q: Array, period: float) -> tuple[Array, int]:
    """Positions continued beyond both ends by parabolas through the last period of the cut-off, and by how much.

    A log that starts or ends in motion then keeps its acceleration there.
    """
    window, margin = min(max(math.ceil(period), 5), len(q)), math.ceil(2 * period)
    x, beyond = np.arange(window) / window, 1 + np.arange(margin) / window

    def ahead(last: Array) -> Array:
        continued: Array = np.polynomial.polynomial.polyval(beyond, np.polynomial.polynomial.polyfit(x, last, 2)).T
        return continued

    return np.concatenate([ahead(q[window - 1 :: -1])[::-1], q, ahead(q[len(q) - window :])]), margin


def central_differences(q: Array, h: float) -> tuple[Array, Array]:
    """First and second derivative by central differences over five points, error of order h^4; fewer at the ends."""
    qd, qdd = np.empty_like(q), np.empty_like(q)
    for end, kept in ((slice(None, 8), slice(None, 2)), (slice(-8, None), slice(-2, None))):
        qd[kept] = np.gradient(q[end], h, axis=0, edge_order=2)[kept]
        qdd[kept] = np.gradient(np.gradient(q[end], h, axis=0), h, axis=0)[kept]
    a, b, c, d, e = q[:-4], q[1:-3], q[2:-2], q[3:-1], q[4:]
    qd[2:-2] = (a - e + 8 * (d - b)) / (12 * h)
    qdd[2:-2] = (16 * (b + d) - a - e - 30 * c) / (12 * h * h)
    return qd, qdd


def spline_derivatives(q: Array, h: float) -> tuple[Array, Array]:
    """First and second derivative of a quintic spline through all points."""
    t = h * np.arange(len(q))
    spline = make_interp_spline(t, q, k=5)
    return spline(t, 1), spline(t, 2)


def local_polynomials(q: Array, cutoff: float, h: float) -> tuple[Array, Array, Array]:
    """Position and derivatives of local polynomials over a window with the given cut-off frequency."""
    # half width M for a cut-off f at order N: f h 2 = (N + 1) / (3.2 M - 4.6) (Schafer 2011)
    half = round(((SAVGOL_ORDER + 1) / (2 * cutoff * h) + 4.6) / 3.2)
    window = min(2 * max(half, SAVGOL_ORDER) + 1, (len(q) - 1) // 2 * 2 - 1)
    padded = _reflected(q, window // 2)
    weights = (signal.savgol_coeffs(window, SAVGOL_ORDER, deriv=k, delta=h, use="dot") for k in range(3))
    q0, q1, q2 = (averaged(padded, w) for w in weights)
    return q0, q1, q2


def _reflected(x: Array, width: int) -> Array:
    """x, (N, ...), extended beyond both ends by point reflection."""
    return np.concatenate([2 * x[:1] - x[width:0:-1], x, 2 * x[-1:] - x[-2 : -2 - width : -1]])


def decimated(x: Array, factor: int) -> Array:
    """Return x, (N, ...), at every factor-th sample after a low-pass without delay: (ceil(N / factor), ...).

    A symmetric window about every kept sample, with its cut-off at 0.8 of the new Nyquist frequency; x is extended by
    point reflection. Linear in x, ends included: if tau = Y pi holds for all samples, it holds for the decimated ones.
    """
    if factor <= 1:
        return x
    half = min(10 * factor, len(x) - 1)
    window = signal.firwin(2 * half + 1, 0.8 / factor, window=("kaiser", 5.0))
    return averaged(_reflected(x, half), window, factor)


def averaged(x: Array, window: Array, step: int = 1) -> Array:
    """Return averages of x, (N, ...), weighted by a window that moves by `step` samples: ((N - w) // step + 1, ...).

    Several of them are one product with a band matrix, which is several times faster than a convolution.
    """
    flat = x.reshape(len(x), -1)
    count = (len(x) - len(window)) // step + 1
    block = min(BLOCK, count)
    matrix = np.zeros((block, (block - 1) * step + len(window)))
    for i in range(block):
        matrix[i, i * step : i * step + len(window)] = window
    parts = sliding_window_view(flat, matrix.shape[1], axis=0)[:: block * step].swapaxes(1, 2)
    means = (matrix @ parts).reshape(-1, flat.shape[1])
    rest = count - len(means)
    last = flat[len(means) * step :][: (rest - 1) * step + len(window)]
    means = np.concatenate([means, matrix[:rest, : len(last)] @ last]) if rest else means
    return means.reshape(count, *x.shape[1:])


def decimated_keep(keep: Array, factor: int) -> Array:
    """(ceil(N / factor), n) samples that count after `decimated`: those whose neighbours within factor all count."""
    if factor <= 1:
        return keep
    columns = [~widened(~keep[:, j], factor) for j in range(keep.shape[1])]
    return np.column_stack(columns)[::factor]


def widened(bad: Array, width: int) -> Array:
    """True within `width` samples of any True."""
    if not bad.any():
        return bad
    ends = np.cumsum(np.concatenate([[0], bad]))
    index = np.arange(len(bad))
    low, high = np.maximum(index - width, 0), np.minimum(index + width + 1, len(bad))
    near: Array = ends[high] > ends[low]
    return near


__all__ = [
    "averaged",
    "central_differences",
    "continued",
    "decimated",
    "decimated_keep",
    "local_polynomials",
    "low_passed",
    "spline_derivatives",
    "widened",
]
