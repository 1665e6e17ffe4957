"""armdyn payload."""

import re
from pathlib import Path

import numpy as np

import armdyn
from armdyn.trajectory import fourier
from support.command import Run, plain

MASS, COM = 1.5, (0.03, -0.02, 0.05)


def _written(robot: armdyn.Robot, seed: int, file: Path) -> str:
    rng = np.random.default_rng(seed)
    n = robot.n
    course = fourier(rng.uniform(-0.5, 0.5, n), rng.normal(size=(n, 4)), rng.normal(size=(n, 4)), 6.0)
    t = np.arange(0, 12, 0.01)
    tau = 1.2 * armdyn.compile(robot).inverse_dynamics(course(t), course(t, 1), course(t, 2))  # gains are 20 % off
    head = ",".join(["t", *(f"q{j + 1}" for j in range(n)), *(f"tau{j + 1}" for j in range(n))])
    rows = np.hstack([t[:, None], course(t), tau + 0.02 * rng.standard_normal(tau.shape)])
    np.savetxt(file, rows, delimiter=",", header=head, comments="")
    return str(file)


def test_the_payload_of_two_logs_with_unknown_gains(run: Run, tmp_path: Path) -> None:
    robot = armdyn.load("puma560").without("friction")
    robot.save(tmp_path / "arm.toml")
    logs = [
        _written(arm, seed, tmp_path / f"{seed}.csv")
        for arm, seed in ((robot, 1), (robot.with_payload(MASS, COM, (0.006, 0, 0, 0.007, 0, 0.004)), 2))
    ]
    out = tmp_path / "loaded.toml"
    status, shown, err = run("payload", str(tmp_path / "arm.toml"), *logs, "--known", "robot", "--out", str(out))
    assert status == 1 and "its limits are" in plain(shown), err  # the motion is beyond the range of three joints
    (mass,) = [line for line in shown.splitlines() if line.strip().startswith("mass")]
    assert abs(float(mass.split()[1]) - MASS) < 0.1
    assert armdyn.load(out).n == robot.n
    gain, std = (float(x) for x in re.findall(r"([\d.e-]+) \+- ([\d.e-]+) times", " ".join(shown.split()))[0])
    assert abs(gain - 1.2) < 4 * std < 0.05
    logger = tmp_path / "logger.toml"
    logger.write_text(f"[log]\ngains = {1 / 1.2}\n", encoding="utf-8")
    status, shown, err = run("payload", str(tmp_path / "arm.toml"), *logs, "--logger", str(logger))
    assert status == 1 and "its limits are" in plain(shown), err  # the motion is beyond the range of three joints
    (mass,) = [line for line in shown.splitlines() if line.strip().startswith("mass")]
    assert abs(float(mass.split()[1]) - MASS) < 0.1 and "times" not in shown
