"""Excitation of panda: the optimised motion against the best of 100 random ones within the same limits.

    python benchmarks/excitation.py [--write]

Opponents: random Fourier motions of the same period and harmonics, at rest at both ends, under the same limits of
position, velocity, acceleration and torque. "by joint": every joint is made so large that it touches one of its limits;
"as a whole": all coefficients get one factor. The first is the stronger opponent, and the one of the ratio. The
condition number is that of the observation matrix W of the base parameters, columns in SI units; that of W^T W, which
Siciliano sec. 7.4 speaks of, is its square. With --write the table goes to benchmarks/EXCITATION.md.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # small matrices: threads only get into each other's way

import numpy as np

import armdyn
from armdyn.identification.criteria import condition_number, scaled_condition_number
from armdyn.identification.design import Design
from armdyn.identification.excitation import excite
from armdyn.identification.harmonics import Harmonics

CASES = (("inertial", 10), ("inertial", 5), ("inertial,friction", 10), ("inertial,friction,offset", 10))
HEAD = (
    "| parameters | harmonics | best of 100 random, by joint | as a whole | optimised | ratio | "
    "columns of length 1: random | optimised | s |\n|---|---|---|---|---|---|---|---|---|"
)


def as_a_whole(design: Design, rng: np.random.Generator) -> np.ndarray:
    middle, half = design.bands[0]
    while True:
        x = 10 * rng.normal(size=(design.robot.n, design.harmonics.size))
        x[:, 0] = middle + 0.5 * half * rng.uniform(-1, 1, design.robot.n)
        kept = design.shrunk(x)
        if kept is not None:
            return kept


def row(include: str, harmonics: int) -> str:
    families = tuple(include.split(","))
    begin = time.perf_counter()
    found = excite(armdyn.load("panda"), include=families, harmonics=Harmonics(count=harmonics))
    seconds = time.perf_counter() - begin
    design = found.design
    draws = []
    for draw in (lambda rng: design.random(rng), lambda rng: as_a_whole(design, rng)):
        rng = np.random.default_rng(0)
        draws.append([design.observation(design.harmonics.motion(draw(rng))) for _ in range(100)])
    joint, whole = (min(map(condition_number, Ws)) for Ws in draws)
    scaled = min(map(scaled_condition_number, draws[0]))
    assert found.feasibility.holds
    return (
        f"| {include} ({found.base.count}) | {harmonics} | {joint:.1f} | {whole:.1f} | {found.condition:.2f} | "
        f"{min(joint, whole) / found.condition:.1f} | {scaled:.1f} | {found.scaled_condition:.1f} | {seconds:.0f} |"
    )


def main() -> None:
    lines = [HEAD]
    print(HEAD, flush=True)
    for case in CASES:
        lines.append(row(*case))
        print(lines[-1], flush=True)
    if "--write" in sys.argv:
        text = "# Excitation of panda, period 10 s\n\n" + __doc__.split("\n\n")[2].strip() + "\n\n"
        Path(__file__).with_name("EXCITATION.md").write_text(text + "\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
