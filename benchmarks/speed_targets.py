"""Speed of the compiled functions against the targets of the project: RESULTS.md.

    python benchmarks/speed_targets.py [--quick] [ROBOT...]

Measures as `armdyn bench` does, prints the targets and whether they are met, and writes benchmarks/RESULTS.md.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from armdyn.files import write_text
from armdyn.markup import markdown_table
from armdyn.notebook_view import markdown
from armdyn.speed import bench
from armdyn.speed.measuring import QUICK, THOROUGH
from armdyn.speed.result import OWN, FunctionResult, Report, RobotResult
from armdyn.speed.sample_robots import WHEEL
from armdyn.tables import Column, Section, render

PAGE = Path(__file__).with_name("RESULTS.md")
WORDS = {True: "met", False: "NOT MET", None: "not measured"}
PINOCCHIO = "Pinocchio"
ARMS = {"ur5": 60.0, "rx90": 50.0, "panda": 50.0}
"""Ratios of large batches of inverse dynamics; of forward dynamics the same."""
CALL, SHARE = {"ur5": 20.0, "rx90": 20.0, "panda": 15.0}, 0.40
COLD = {"panda": 1.5, "talos": 8.0, "chain200": 10.0}
WARM = 0.1
SHORT = 30
"""Joints up to which matrices of chains shall be computed fastest."""
CHAINS = {"inverse_dynamics": 19.0, "forward_dynamics": 16.0, "regressor": 5.0}
MATRICES = {True: 8.0, False: 5.0}
"""Ratios of batches of chains; of matrices by whether the chain is short."""
TREES = (4.0, 8.0)
REGRESSOR = (2.0, 5.0)
"""Ratios of one call and of a batch."""
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
    for robot, wanted in ARMS.items():
        for name, parallel in (("inverse_dynamics", "rneaInParallel"), ("forward_dynamics", "abaInParallel")):
            if function := _function(report, robot, name):
                what = f"{robot}: batch {name.replace('_', ' ')} against {parallel}"
                yield _ratio(what, function, wanted, batch=True)
    for robot, wanted in CALL.items():
        if function := _function(report, robot, "inverse_dynamics"):
            yield _ratio(f"{robot}: one call of inverse dynamics against pin.rnea", function, wanted, batch=False)
    if function := _function(report, "panda", "inverse_dynamics"):
        yield _share(report, function)
    for (robot, name), most in COUNTS.items():
        if function := _function(report, robot, name):
            count = function.operations.multiplications, function.operations.additions
            met = count[0] <= most[0] and count[1] <= most[1]
            what = f"{robot}: x / + of {name.replace('_', ' ')}"
            yield Target(what, f"at most {most[0]} / {most[1]}", f"{count[0]} / {count[1]}", met)
    for result in report.robots:
        if result.name.startswith("chain") or result.name.removesuffix("+free") in WHEEL:
            yield from _long(result)
    for robot, wanted in COLD.items():
        found = report.robot(robot)
        if found and found.all_cold is not None:
            yield Target(f"{robot}: all functions compiled, with code for batches", f"under {wanted:g} s",
                         f"{found.all_cold:.2f} s", found.all_cold < wanted)  # fmt: skip
    panda = report.robot("panda")
    if panda and panda.all_warm is not None:
        yield Target("panda: all functions from the cache", f"under {WARM:g} s", f"{panda.all_warm:.3f} s",
                     panda.all_warm < WARM)  # fmt: skip


def _long(robot: RobotResult) -> Iterator[Target]:
    """Chains and trees: every function in one call and in a batch of a thousand."""
    for function in robot.functions:
        if function.ratio(PINOCCHIO, "call") is None:
            continue
        chain, name = robot.name.startswith("chain"), function.name
        call, batch = (5.0, CHAINS.get(name, MATRICES[robot.joints <= SHORT])) if chain else TREES
        if name == "regressor":
            call, batch = REGRESSOR
        what = f"{robot.name}: {name.replace('_', ' ')}"
        yield _ratio(f"{what}, one call", function, call, batch=False)
        yield _ratio(f"{what}, batch", function, batch, batch=True, size=function.sizes[0])


def _function(report: Report, robot: str, name: str) -> FunctionResult | None:
    found = report.robot(robot)
    return found.function(name) if found else None


def _ratio(what: str, function: FunctionResult, wanted: float, *, batch: bool, size: int | None = None) -> Target:
    """For a batch, by default the largest, or for one call that returns a new array, as theirs does."""
    size = (size or function.sizes[-1]) if batch and function.sizes else 1
    value = function.ratio(PINOCCHIO, "batch" if batch else "call", size)
    text = f"{wanted:g} times"
    if value is None:
        return Target(what, text, "not measured", None)
    measured = f"{value:.1f} times" + (f" ({size:,} samples)" if batch else "")
    ours, theirs = function.timing(OWN, "batch", size), function.timing(PINOCCHIO, "call")
    if batch and ours is not None and theirs is not None and function.batch(PINOCCHIO, size) is not theirs:
        measured += f", {theirs.seconds / ours.seconds:.1f} against its single calls"
    return Target(what, text, measured, value >= wanted)


def _share(report: Report, function: FunctionResult) -> Target:
    """Share of the peak with sines and cosines, which the kernel computes itself; without them in parentheses."""
    what, size = "panda: share of the FMA peak, batch inverse dynamics, sincos counted as 34", function.sizes[-1]
    value = function.share(report.peak, size)
    counted = function.share(report.peak, size, sincos=True)
    if value is None or counted is None:
        return Target(what, f"{SHARE:.0%}", "not measured", None)
    return Target(what, f"{SHARE:.0%}", f"{counted:.0%} ({value:.0%} without sincos)", counted >= SHARE)


def section(report: Report) -> Section:
    """The targets as a table."""
    rows = tuple((target.what, target.wanted, target.measured, WORDS[target.met]) for target in judged(report))
    return Section("Targets", tuple(map(Column, ("target", "wanted", "measured", "verdict"))), rows)


def main() -> None:
    names = [argument for argument in sys.argv[1:] if not argument.startswith("-")]
    extent = replace(QUICK if "--quick" in sys.argv else THOROUGH, whole=tuple(COLD))
    report = bench(names, settings=extent, progress=lambda step, done: print(f"{done:4.0%} {step}", file=sys.stderr))
    targets = section(report)
    print(render(targets))
    write_text(PAGE, f"{markdown(report._view())}\n\n{markdown_table(targets)}\n")


if __name__ == "__main__":
    main()
