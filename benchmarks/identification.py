"""A million samples of panda through regressor and least squares: time and memory, beside Pinocchio's regressor.

    python benchmarks/identification.py [--write]

Each line is a fresh process on one core, so that its peak of memory is its own. `observe` and `weighted`: compiled base
regressor (57 parameters, friction included), QR of every chunk, which does not square the condition number, and
estimates with covariance. Normal equations: the same regressor and W^T W summed chunk by chunk, which is what is done
with Pinocchio's `computeJointTorqueRegressor` (70 columns, no friction), one call per sample because it takes no
batches; on fewer samples, and the time scaled up, because it is proportional to their number. Making the data is not
timed. `armdyn identify`: the whole command with its defaults on a log of as many samples at 1 kHz in an .npz file,
from starting Python to the printed tables. With --write the table goes to benchmarks/IDENTIFICATION.md.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # one core for both

import numpy as np

import armdyn
from armdyn.trajectory import fourier

SAMPLES, FEWER, BLOCK = 1_000_000, 20_000, 1000
SIGMA = 0.1


def motion(count: int) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(0)
    course = fourier(rng.uniform(-0.5, 0.5, 7), rng.normal(size=(7, 5)) * 0.5, rng.normal(size=(7, 5)) * 0.5, 10.0, 1e3)
    t = np.arange(count) * 1e-3
    parts = np.array_split(t, max(count // 50_000, 1))  # the series takes memory of its own
    return (t, *(np.concatenate([course(part, order) for part in parts]) for order in range(3)))


def rubbing() -> armdyn.Robot:
    values = {f"{kind}{j}": x for j in range(1, 8) for kind, x in (("Fv", 0.5), ("Fc", 1.0))}
    return armdyn.parameters.with_standard_parameters(armdyn.load("panda"), values)


def ours(normal: bool = False) -> dict[str, float]:
    from armdyn.identification import Samples, observe
    from armdyn.identification.fit.estimation import Weighted
    from armdyn.identification.fit.observation import base_regressor
    from armdyn.parameters import base_parameters

    robot = rubbing()
    base = base_parameters(robot, ("inertial", "friction"))
    t, q, qd, qdd = motion(SAMPLES)
    tau = armdyn.compile(robot).inverse_dynamics(q, qd, qdd)
    tau += SIGMA * np.random.default_rng(1).normal(size=tau.shape)
    samples = Samples(t, q, qd, qdd, tau, np.ones(q.shape, dtype=bool))
    before = peak()
    begin = time.process_time()
    if normal:
        columns = base_regressor(base)
        G, h = np.zeros((base.count, base.count)), np.zeros(base.count)
        for start in range(0, SAMPLES, BLOCK):
            part = slice(start, start + BLOCK)
            W = columns(q[part], qd[part], qdd[part]).reshape(-1, base.count)
            G += W.T @ W
            h += W.T @ tau[part].ravel()
        values = np.linalg.solve(G, h)
        seconds = time.process_time() - begin
        std = SIGMA * np.sqrt(np.diag(np.linalg.inv(G)))
        inside = float(np.mean(np.abs(values - base.values) < 3 * std))
        return {"rows": seconds, "solve": 0.0, "before": before, "peak": peak(), "inside": inside}
    observation = observe(robot, samples, base)
    middle = time.process_time()
    estimate = Weighted(white=True)(observation)
    end = time.process_time()
    inside = float(np.mean(np.abs(estimate.values - base.values) < 3 * estimate.std))
    return {"rows": middle - begin, "solve": end - middle, "before": before, "peak": peak(), "inside": inside}


def pinocchio() -> dict[str, float]:
    sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
    import pinocchio as pin

    from support import pinocchio_model

    robot = armdyn.load("panda")
    model = pinocchio_model.build(robot)
    data = model.createData()
    _, q, qd, qdd = motion(FEWER)
    tau = armdyn.compile(robot).inverse_dynamics(q, qd, qdd)
    block = np.empty((BLOCK, 7, 70))
    G, h = np.zeros((70, 70)), np.zeros(70)
    begin = time.process_time()
    for start in range(0, FEWER, BLOCK):
        for k in range(BLOCK):
            i = start + k
            block[k] = pin.computeJointTorqueRegressor(model, data, q[i], qd[i], qdd[i])
        W = block.reshape(-1, 70)
        G += W.T @ W
        h += W.T @ tau[start : start + BLOCK].ravel()
    seconds = time.process_time() - begin
    fitted = np.linalg.lstsq(G, h, rcond=1e-12)[0]
    off = np.abs(block @ fitted - tau[-BLOCK:]).max()
    assert off < 1e-5, off  # the same torques by both
    return {"rows": seconds * SAMPLES / FEWER, "solve": 0.0, "before": 0.0, "peak": peak(), "inside": 1.0}


def write_log(folder: str) -> None:
    robot, rng = rubbing(), np.random.default_rng(2)
    t, q, qd, qdd = motion(SAMPLES)
    tau = armdyn.compile(robot).inverse_dynamics(q, qd, qdd)
    robot.save(f"{folder}/panda.toml")
    q, tau = q + 1e-5 * rng.normal(size=q.shape), tau + SIGMA * rng.normal(size=q.shape)
    np.savez(f"{folder}/log.npz", t=t, q=q, tau=tau)


def command(folder: str) -> dict[str, float]:
    words = ["identify", f"{folder}/panda.toml", f"{folder}/log.npz"]
    if subprocess.run([sys.executable, "-m", "armdyn", *words], capture_output=True).returncode == 2:
        raise SystemExit("armdyn identify: error")
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {"rows": used.ru_utime + used.ru_stime, "peak": used.ru_maxrss / 1024}


def peak() -> float:
    """MB that this process had at most."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


CASES = {"observe": ours, "normal": lambda: ours(normal=True), "pinocchio": pinocchio}


def run(*words: str) -> dict[str, float]:
    out = subprocess.run([sys.executable, __file__, *words], capture_output=True, text=True, check=True).stdout
    return dict(json.loads(out))


def main() -> None:
    if "--one" in sys.argv:
        print(json.dumps(CASES[sys.argv[-1]]()))
        return
    if "--log" in sys.argv:
        write_log(sys.argv[-1])
        print("{}")
        return
    if "--command" in sys.argv:
        print(json.dumps(command(sys.argv[-1])))
        return
    us, normal, them = (run("--one", name) for name in CASES)
    with tempfile.TemporaryDirectory() as folder:
        run("--log", folder)
        whole = run("--command", folder)
    best = {name: f"{each['peak']:.0f} ({each['before']:.0f} before: library and data)"
            for name, each in (("us", us), ("normal", normal))}  # fmt: skip
    lines = [
        "| one million samples of panda | CPU s | peak memory, MB |",
        "|---|---|---|",
        f"| armdyn, `observe` (regressor, QR) | {us['rows']:.2f} | {best['us']} |",
        f"| armdyn, `weighted` of it | {us['solve']:.2f} | |",
        f"| `armdyn identify`, defaults | {whole['rows']:.2f} | {whole['peak']:.0f} |",
        f"| armdyn, regressor and normal equations | {normal['rows']:.2f} | {best['normal']} |",
        f"| Pinocchio, regressor and normal equations, {FEWER:,} samples scaled up | {them['rows']:.2f} | |",
        f"| Pinocchio over armdyn, normal equations | {them['rows'] / normal['rows']:.1f} | |",
        f"| Pinocchio's normal equations over armdyn's QR | {them['rows'] / (us['rows'] + us['solve']):.1f} | |",
        "",
        f"True parameters within 3 standard deviations: {us['inside']:.1%} of 57 by QR, {normal['inside']:.1%} by "
        f"normal equations. Peak memory below 2 GB: {max(us['peak'], normal['peak'], whole['peak']) < 2048}.",
    ]
    print("\n".join(lines))
    if "--write" in sys.argv:
        about = __doc__.split("\n\n")[2].strip()
        text = "# Identification from a million samples\n\n" + about + "\n\n" + "\n".join(lines) + "\n"
        Path(__file__).with_name("IDENTIFICATION.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
