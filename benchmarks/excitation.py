"""Excitation of ur5 and panda: the optimised motion against the best of 100 random ones within the same limits.

    python benchmarks/excitation.py [--write]

Opponents: random Fourier motions of the same period and harmonics, at rest at both ends, under the same limits of
position, velocity, acceleration and torque, and as clear of the floor (the plane of the base) and of themselves; every
joint is made so large that it touches one of its limits. The condition number is that of the observation matrix W of
the base parameters, columns in SI units; that of W^T W, which Siciliano sec. 7.4 speaks of, is its square.

Bound: the largest singular value of W made as small as possible, over the smallest made as large as possible, each for
itself, by the same search. No motion has both at once, so a ratio to the best random motion above that of the bound is
not to be expected. Friction sets it: a column of Coulomb friction is made of ones whatever the motion, and much of it
is imitated by viscous friction, while gravity acts on the first moments at all times. std: geometric mean of all
standard deviations of parameters, best of 100 random motions by this measure over that of the optimised one; it is
the same in all units. Seconds are processor time of `excite`, kernels compiled before. With --write the table goes to
benchmarks/EXCITATION.md.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # small matrices: threads only get into each other's way

import numpy as np

import armdyn
from armdyn.identification.excitation.clearance import Surroundings
from armdyn.identification.excitation.criteria import CRITERIA, condition_number, scaled_condition_number
from armdyn.identification.excitation.excite import Excitation, Search, excite
from armdyn.identification.excitation.harmonics import Harmonics

CASES = (("ur5", "inertial"), ("ur5", "inertial,friction"), ("panda", "inertial"), ("panda", "inertial,friction"))
FLOOR = Surroundings(floor=0.0)
DRAWS = 100
HEAD = (
    "| robot | parameters | best of 100 random | optimised | ratio | ratio of the bound | columns of length 1: "
    "random | optimised | std: random / optimised | distance, mm | s |\n|---|---|---|---|---|---|---|---|---|---|---|"
)


def one_end(sign: int) -> Callable[[np.ndarray, float], tuple[float, np.ndarray]]:
    """log of the largest singular value (sign 1), or minus that of the smallest (-1), as power means; slopes."""

    def criterion(eigenvalues: np.ndarray, sharpness: float) -> tuple[float, np.ndarray]:
        safe = np.maximum(eigenvalues, 1e-300)
        logs = sign * sharpness * np.log(safe)
        terms = np.exp(logs - logs.max())
        value = (logs.max() + np.log(terms.sum())) / (2 * sharpness)
        return float(value), sign * terms / terms.sum() / (2 * safe)

    return criterion


CRITERIA.update(largest=one_end(1), smallest=one_end(-1))


def found(robot: str, families: tuple[str, ...], criterion: str, starts: int = 2) -> Excitation:
    return excite(armdyn.load(robot), include=families, criterion=criterion, harmonics=Harmonics(),
                  search=Search(starts=starts), surroundings=FLOOR)  # fmt: skip


def deviation(W: np.ndarray) -> float:
    """Geometric mean of the standard deviations of the parameters, for torques of noise 1."""
    return float(np.exp(np.log(np.diag(np.linalg.inv(W.T @ W))).mean() / 2))


def row(robot: str, include: str) -> str:
    families = tuple(include.split(","))
    begin = time.process_time()
    best = found(robot, families, "condition")
    seconds = time.process_time() - begin
    assert best.feasibility.holds and best.clearance >= 0
    ends = [np.linalg.svd(found(robot, families, kind, starts=1).observation, compute_uv=False)
            for kind in ("largest", "smallest")]  # fmt: skip
    bound = ends[0][0] / ends[1][-1]  # none, if the searches for the ends end behind that for both
    design, rng = best.design, np.random.default_rng(0)
    draws = [design.observation(design.harmonics.motion(design.random(rng))) for _ in range(DRAWS)]
    random, scaled, std = (min(map(f, draws)) for f in (condition_number, scaled_condition_number, deviation))
    most = f"{random / bound:.1f}" if bound < best.condition else "-"
    return (
        f"| {robot} | {include} ({best.base.count}) | {random:.1f} | {best.condition:.2f} | "
        f"{random / best.condition:.1f} | {most} | {scaled:.1f} | "
        f"{best.scaled_condition:.1f} | {std / deviation(best.observation):.2f} | {1e3 * best.clearance:.0f} | "
        f"{seconds:.0f} |"
    )


def main() -> None:
    lines = [HEAD]
    print(HEAD, flush=True)
    for case in CASES:
        lines.append(row(*case))
        print(lines[-1], flush=True)
    if "--write" in sys.argv:
        text = "# Excitation of ur5 and panda, 10 harmonics, period 10 s\n\n" + __doc__.split("\n\n", 2)[2].strip()
        Path(__file__).with_name("EXCITATION.md").write_text(text + "\n\n" + "\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
