"""Timing in turns: every call is timed in every round, so that disturbances affect all calls alike."""

from __future__ import annotations

import os
import time
import timeit
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

from armdyn.speed.calls import Call

Key = TypeVar("Key", bound=Hashable)
FEWEST = 3
"""Least number of rounds, even for the slowest call."""
CLOCK: Callable[[], float] = (
    time.process_time if time.get_clock_info("process_time").resolution <= 1e-6 else time.perf_counter
)
"""Processor time of all threads in seconds: other processes do not count."""
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def interleaved(calls: Mapping[Key, Call], rounds: int, turn: float, most: float) -> dict[Key, float]:
    """Seconds per sample of each call: the best of all its turns.

    Args:
        calls: the calls to time, by key.
        rounds: number of rounds.
        turn: seconds of one turn; a call is repeated to fill it.
        most: seconds after which a slow call is dropped, after at least three turns.
    """
    timers = {key: _timer(call) for key, call in calls.items()}
    numbers = {key: _repeats(timer, turn) for key, timer in timers.items()}
    best = dict.fromkeys(calls, float("inf"))
    spent = dict.fromkeys(calls, 0.0)
    for done in range(rounds):
        for key, timer in timers.items():
            if done < FEWEST or spent[key] < most:
                seconds = timer.timeit(numbers[key])
                spent[key] += seconds
                best[key] = min(best[key], seconds / numbers[key] / calls[key].samples)
    return best


def seconds_once(call: Call) -> float:
    """Approximate seconds per sample, from one call."""
    start = CLOCK()
    call.function(*call.arguments, **call.keywords)
    return (CLOCK() - start) / call.samples


def _timer(call: Call) -> timeit.Timer:
    """A timer of the call with local names only, so that nothing but the call is timed."""
    given: dict[str, Any] = {"function_": call.function}
    given |= {f"a{k}_": value for k, value in enumerate(call.arguments)}
    given |= {f"k{k}_": value for k, value in enumerate(call.keywords.values())}
    words = [f"a{k}" for k in range(len(call.arguments))]
    words += [f"{name}=k{k}" for k, name in enumerate(call.keywords)]
    setup = "; ".join(f"{name.removesuffix('_')} = {name}" for name in given)
    return timeit.Timer(f"function({', '.join(words)})", setup, CLOCK, globals=given)


def _repeats(timer: timeit.Timer, turn: float) -> int:
    """Number of calls that fit into a turn; the trial calls warm up caches."""
    number = 1
    while True:
        seconds = timer.timeit(number)
        if seconds >= turn / 4 or number >= 10_000_000:
            return max(1, round(number * turn / max(seconds, 1e-9)))
        number *= 4


@contextmanager
def one_core() -> Iterator[None]:
    """Restrict this process to one core, and libraries loaded meanwhile to one thread."""
    before = {name: os.environ.get(name) for name in THREADS}
    os.environ.update(dict.fromkeys(THREADS, "1"))
    get: Callable[[int], set[int]] | None = getattr(os, "sched_getaffinity", None)
    cores = get(0) if get else set()
    try:
        if len(cores) > 1:
            os.sched_setaffinity(0, {max(cores)})
        yield
    finally:
        if len(cores) > 1:
            os.sched_setaffinity(0, cores)
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
