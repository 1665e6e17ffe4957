"""Targets, and whether a report meets them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from armdyn.bench.result import FunctionResult, Report

PINOCCHIO = "Pinocchio"
BATCH, CALL, SHARE = 30.0, 6.0, 0.40
COLD, WARM = 2.0, 0.1
COUNTS = {
    ("panda", "inverse_dynamics"): (314, 291),
    ("rx90", "inverse_dynamics"): (160, 113),
    ("rx90", "forward_dynamics"): (400, 300),
}
"""Largest numbers of multiplications and additions. rx90: with the symmetric links of its file."""


@dataclass(frozen=True)
class Target:
    """One target. met: None if it was not measured."""

    what: str
    wanted: str
    measured: str
    met: bool | None


def judged(report: Report) -> tuple[Target, ...]:
    """All targets of the robots in the run, in order."""
    return tuple(_targets(report))


def _targets(report: Report) -> Iterator[Target]:
    for robot in ("ur5", "panda"):
        if function := _function(report, robot, "inverse_dynamics"):
            yield _ratio(f"{robot}: batch inverse dynamics against rneaInParallel", function, BATCH, batch=True)
    for robot in ("ur5", "rx90", "panda"):
        if function := _function(report, robot, "inverse_dynamics"):
            yield _ratio(f"{robot}: one call of inverse dynamics against pin.rnea", function, CALL, batch=False)
    for robot in ("ur5", "panda"):
        if function := _function(report, robot, "forward_dynamics"):
            yield _ratio(f"{robot}: batch forward dynamics against abaInParallel", function, BATCH, batch=True)
    if function := _function(report, "panda", "inverse_dynamics"):
        yield _share(report, function)
    for (robot, name), most in COUNTS.items():
        if function := _function(report, robot, name):
            count = function.operations.multiplications, function.operations.additions
            met = count[0] <= most[0] and count[1] <= most[1]
            what = f"{robot}: x / + of {name.replace('_', ' ')}"
            yield Target(what, f"at most {most[0]} / {most[1]}", f"{count[0]} / {count[1]}", met)
    panda = report.robot("panda")
    if panda and panda.all_cold is not None and panda.all_warm is not None:
        yield Target("panda: all functions compiled", f"under {COLD:g} s", f"{panda.all_cold:.2f} s",
                     panda.all_cold < COLD)  # fmt: skip
        yield Target("panda: all functions from the cache", f"under {WARM:g} s", f"{panda.all_warm:.3f} s",
                     panda.all_warm < WARM)  # fmt: skip


def _function(report: Report, robot: str, name: str) -> FunctionResult | None:
    found = report.robot(robot)
    return found.function(name) if found else None


def _ratio(what: str, function: FunctionResult, wanted: float, *, batch: bool) -> Target:
    """For the largest batch, or for one call that returns a new array, as theirs does."""
    size = function.sizes[-1] if batch and function.sizes else 1
    value = function.ratio(PINOCCHIO, "batch" if batch else "call", size)
    text = f"{wanted:g} times"
    if value is None:
        return Target(what, text, "not measured", None)
    return Target(what, text, f"{value:.1f} times" + (f" ({size:,} samples)" if batch else ""), value >= wanted)


def _share(report: Report, function: FunctionResult) -> Target:
    """Share of the peak with sines and cosines, which the kernel computes itself; without them in parentheses."""
    what, size = "panda: share of the FMA peak, batch inverse dynamics, sincos counted as 34", function.sizes[-1]
    value = function.share(report.peak, size)
    counted = function.share(report.peak, size, sincos=True)
    if value is None or counted is None:
        return Target(what, f"{SHARE:.0%}", "not measured", None)
    return Target(what, f"{SHARE:.0%}", f"{counted:.0%} ({value:.0%} without sincos)", counted >= SHARE)
