"""Compile times in a fresh interpreter, with an empty cache and again with a filled one.

Imports are done and LLVM has compiled a trivial function before the clock starts. The robot arrives through standard
input from the process that measures. Everything from the robot to the function is timed: tracing, choosing the model,
compiling, loading.
"""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from collections.abc import Sequence

from armdyn.errors import ArmdynError
from armdyn.robot import Robot
from armdyn.speed.stopwatch import CLOCK

PREPARED = "compile()"
"""Key of the seconds that `armdyn.compile` takes before any function is compiled."""
BATCHES = "batches"
"""Key of the seconds that the code for batches of all functions takes, which is made when a batch comes."""


def compile_seconds(robot: Robot, functions: Sequence[str]) -> dict[str, float]:
    """Seconds of `armdyn.compile`, of each function and of all code for batches, in a fresh interpreter.

    It uses this process's cache.
    """
    command = [sys.executable, "-W", "ignore", "-m", __name__, *functions]
    done = subprocess.run(command, input=pickle.dumps(robot), capture_output=True, check=False)
    if done.returncode:
        lines = done.stderr.decode(errors="replace").strip().splitlines()
        raise ArmdynError(
            f"compiling in a fresh interpreter failed: {lines[-1] if lines else 'no message'}",
            where=f"robot {robot.name!r}",
        )
    found: dict[str, float] = json.loads(done.stdout)
    return found


def main(functions: Sequence[str]) -> None:
    """Compile and time in the fresh interpreter."""
    from armdyn.dynamics import compile
    from armdyn.graph import trace
    from armdyn.kernels import Kernel, build

    robot: Robot = pickle.load(sys.stdin.buffer)  # written by the process that started this one
    build(trace(lambda q: [q[0].sin()], {"q": 1}), cache=False)
    start = CLOCK()
    dynamics = compile(robot)
    seconds = {PREPARED: CLOCK() - start}
    for name in functions:
        start = CLOCK()
        getattr(dynamics, name)
        seconds[name] = CLOCK() - start
    start = CLOCK()
    for name in functions:
        made = dynamics.programs.get(name)
        if isinstance(made, Kernel):
            _ = made.ufunc
    seconds[BATCHES] = CLOCK() - start
    json.dump(seconds, sys.stdout)


if __name__ == "__main__":
    main(sys.argv[1:])
