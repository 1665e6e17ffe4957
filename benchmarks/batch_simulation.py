"""Many pandas under PD control at 1 kHz, on one core: python benchmarks/batch_simulation.py [samples]

Simulated seconds per second of processor time, for armdyn's batch and for MuJoCo's own batch rollout (`mujoco.rollout`,
integrator implicitfast, one thread, no contacts), with the same robot, gains and initial states; and the largest
difference between the two after the motion. Both store the state every 100 steps at least.
"""

from __future__ import annotations

import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
from mujoco import rollout

import armdyn
from armdyn.control import PID
from armdyn.simulation import Runs, Solver, simulate

KP = np.array([200.0, 200, 100, 100, 20, 20, 5])
KD = np.array([20.0, 20, 8, 10, 1, 1, 0.2])
DURATION, DT = 0.2, 1e-3


def seconds(function: Callable[[], Any], times: int = 3) -> tuple[float, Any]:
    """Processor time of the fastest of several calls, and the result."""
    shortest, result = np.inf, None
    for _ in range(times):
        begin = time.process_time()
        result = function()
        shortest = min(shortest, time.process_time() - begin)
    return shortest, result


def mujoco_model(robot: armdyn.Robot, integrator: int) -> mujoco.MjModel:
    """The same robot in MuJoCo, with PD servos."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "robot.xml"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", armdyn.ModelWarning)  # limits of velocity have no place in MJCF
            armdyn.save(robot, path)
        spec = mujoco.MjSpec.from_file(str(path))
    for joint, kp, kd in zip(robot.joints, KP, KD, strict=True):
        servo = spec.add_actuator(name=f"servo {joint.name}", target=joint.name, trntype=mujoco.mjtTrn.mjTRN_JOINT)
        servo.gainprm[0], servo.biastype = kp, mujoco.mjtBias.mjBIAS_AFFINE
        servo.biasprm[:3] = 0, -kp, -kd
    model = spec.compile()
    model.opt.timestep, model.opt.integrator = DT, integrator
    model.jnt_actfrclimited[:] = 0  # no torque limits on either side
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT | mujoco.mjtDisableBit.mjDSBL_CONTACT
    return model


def main(count: int = 10_000) -> dict[str, float]:
    robot = armdyn.load("panda").without("friction")
    dyn = armdyn.compile(robot)
    q0 = np.random.default_rng(0).uniform(-0.5, 0.5, (count, 7)) + np.array([0, 0, 0, -1.5, 0, 1.5, 0])
    goal = np.array([0.0, 0.3, 0, -1.2, 0, 1.5, 0.3])
    law, total, figures = PID(KP, KD), count * DURATION, {}

    def ours(integrator: str) -> Runs:
        runs = simulate(dyn, law, goal, DURATION, q0=q0, solver=Solver(dt=DT, integrator=integrator, keep=100))
        assert isinstance(runs, Runs)
        return runs

    ends = {}
    for name in ("semi_implicit", "rk4"):
        ours(name)
        spent, runs = seconds(lambda name=name: ours(name))
        assert runs.ok, runs
        figures[name], ends[name] = total / spent, runs.q[:, -1]
        print(f"armdyn {name:<14} {figures[name]:10.0f} simulated seconds per second")
    share = min(count, 500)  # the time per rollout does not depend on their number
    kinds = {"implicitfast": mujoco.mjtIntegrator.mjINT_IMPLICITFAST, "rk4": mujoco.mjtIntegrator.mjINT_RK4}
    for label, kind in kinds.items():
        model = mujoco_model(robot, kind)
        data, steps = mujoco.MjData(model), round(DURATION / DT)
        state = np.zeros((share, mujoco.mj_stateSize(model, mujoco.mjtState.mjSTATE_FULLPHYSICS)))
        state[:, 1:8] = q0[:share]
        control = np.broadcast_to(goal, (share, steps, 7)).copy()
        spent, (states, _) = seconds(lambda m=model, s=state, c=control, d=data: rollout.rollout(m, d, s, c))
        figures[f"MuJoCo {label}"] = share * DURATION / spent
        apart = np.abs(states[:, -1, 1:8] - ends["rk4"][:share]).max()
        print(f"MuJoCo {label:<14} {share * DURATION / spent:10.0f}   differs by {apart:.2g} rad")
    for mine, other in (("semi_implicit", "implicitfast"), ("rk4", "rk4"), ("rk4", "implicitfast")):
        print(f"armdyn {mine} over MuJoCo {other}: {figures[mine] / figures[f'MuJoCo {other}']:.1f} times")
    return figures


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)
