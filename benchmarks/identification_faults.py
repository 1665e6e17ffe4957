"""Are faults of logs named? 21 faults, spikes and wrong clocks, put into good logs of real and simulated arms.

    python benchmarks/identification_faults.py [ROBOT ...] [--write]

Faults (`tests/support/log_faults.py`, `league_faults`): one joint's or all torques reversed, columns swapped, gains,
delays, zeros, degrees, a base on the ceiling, on a wall or tilted by 10 degrees, torques without gravity; and the log
as it is, in which nothing may be named. Named first: the first finding on the torques has the rule of the fault and the
right place. A sign of the torque or of the position of a last joint cannot be told apart, so either counts there.

Spikes: one position of one joint is off by 0.05 rad, at 20 places of each log; found: a finding names the spike.
Clocks: 20 logs with one spike of 0.05 rad to 2 pi, whose stamps must be kept, and 20 logs whose clock repeats and loses
samples, whose stamps must be rebuilt.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import identification_league as league
import numpy as np

from armdyn.doctor.log_checks import check_log
from armdyn.identification import Log
from armdyn.identification.clock.stamps import REBUILT, rebuilt
from armdyn.robot import Robot
from support.log_faults import imperfect_clock, league_faults, spiked
from support.logs import rubbing, simulated

SIMULATED = ("random", "panda", "rx90", "ur5", "puma560", "scara5")
REAL = {"UR10": league.ur10, "TX40": league.tx40}
SPIKES, CLOCKS = 20, 20


def recorded(name: str) -> tuple[Robot, Log]:
    if name in REAL:
        robot, log = REAL[name]()
        return robot.bound(), log
    arm = rubbing(name)
    return arm, simulated(arm, 7, position_noise=5e-5)


def row(name: str) -> Iterator[str]:
    robot, log = recorded(name)
    begin, missed, count = time.perf_counter(), [], 0
    for kind, fault in league_faults(robot, log).items():
        count += 1
        found = [f for f in check_log(rebuilt(fault.log), fault.robot) if f.severity != "note" or f.rule in fault.rules]
        if not (fault.named_first(found)):
            first = ", ".join(f"{f.rule} ({f.where})" for f in found[:2]) or "nothing"
            missed.append(f"{kind}: {first}")
    seconds = (time.perf_counter() - begin) / count
    spikes = sum(
        any(f.rule == "spikes" for f in check_log(rebuilt(spiked(log, seed, 0.05)), robot)) for seed in range(SPIKES)
    )
    yield f"| {name} | {count - len(missed)} of {count} | {'; '.join(missed)} | {spikes} of {SPIKES} | {seconds:.1f} |"


def clocks() -> str:
    names = (*SIMULATED, *REAL)
    kept = made = 0
    for k in range(CLOCKS):
        _, log = recorded(names[k % len(names)])
        log = replace(log, qd=None)
        kept += not _is_rebuilt(spiked(log, 100 + k, float(np.geomspace(0.05, 2 * np.pi, CLOCKS)[k])))
        made += _is_rebuilt(imperfect_clock(log, 200 + k))
    return f"Clocks: stamps kept in {kept} of {CLOCKS} logs with a spike, rebuilt in {made} with a wrong clock."


def _is_rebuilt(log: Log) -> bool:
    return any(finding.rule == REBUILT for finding in rebuilt(log).findings)


def main() -> None:
    names = [entry for entry in sys.argv[1:] if not entry.startswith("-")] or [*REAL, *SIMULATED]
    lines = ["| log | named first | missed: what was named instead | spikes found | s a log |", "|---|---|---|---|---|"]
    print("\n".join(lines), flush=True)
    for name in names:
        for line in row(name):
            lines.append(line)
            print(line, flush=True)
    lines += ["", clocks()]
    print(lines[-1])
    if "--write" in sys.argv:
        about = (__doc__ or "").split("\n\n", 2)
        text = "# Faults of logs\n\n" + about[2] + "\n" + "\n".join(lines) + "\n"
        Path(__file__).with_name("IDENTIFICATION_FAULTS.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
