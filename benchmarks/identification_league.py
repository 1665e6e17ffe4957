"""Identification on logs of real arms: our defaults beside a plain baseline, one split, one metric, a table per log.

    python benchmarks/identification_league.py [FOLDER ...] [--write]

Each FOLDER holds a log and a small description, `league.toml`:

    robot = "arm.urdf"                   # a file of the folder, or a name of the catalog
    log = {q = "q.csv", tau = "tau.csv"} # or one file
    format = {side = "motor", rate = 5000, offsets = [0, 1.57]}     # fields of LogFormat

Without a FOLDER the two logs kept beside the project are used (`../shared/data`), if they are there.

Split: the first 70 % of the time estimate, the last 30 % judge; the log is cut before any filter. Error of a joint:
rms(residual) / rms(torque) in % over the samples in which the joint moves faster than 0.02 rad/s, and over those in
which it rests while others move; prediction and torque low-passed alike at 10 Hz without delay; an imperfect clock is
rebuilt for our prediction. Ours is the robot that a file gives back: it is written and read again; in other programs,
it is read without the comment that holds what URDF has no place for. Band: share of these samples within the 95 % band
of the torque. Residuals of a few seconds hold few independent samples, so this share
scatters even for a perfect band; the table says how often such a band would cover 88 to 99 % (normal residuals of the
same spectrum).

The plain baseline is written out here, so that it stays what it is: base regressor, viscous and Coulomb friction with
sign(qd) as tanh(qd / 0.02), offset, rotor inertia; positions and torques low-passed at 10 Hz, differences, decimation
to 40 Hz, samples in which the robot moves; least squares weighted by one sigma per joint, iterated.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
import time
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

import armdyn
from armdyn.dynamics.presliding import torques_along
from armdyn.identification import Log, LogFormat, Processing, Samples, process, read_log
from armdyn.identification.clock.stamps import rebuilt
from armdyn.identification.fit.observation import base_regressor
from armdyn.identification.log.filters import central_differences, low_passed
from armdyn.parameters import base_parameters

SHARE, CUTOFF, SLOW, RATE = 0.7, 10.0, 0.02, 40.0
DATA = Path(__file__).parents[2] / "shared" / "data"
FAMILIES = ("inertial", "rotor", "offset")


def tx40() -> tuple[armdyn.Robot, Log]:
    folder = DATA / "tx40"
    R = np.diag([32.0, 32, 45, -48, 45, 32])
    R[5, 4] = 32.0
    arm = armdyn.load(folder / "tx40.urdf")
    arm = replace(arm, coupling=tuple(map(tuple, np.linalg.inv(R).tolist())))
    files = {"q": folder / "pos_read_data.csv", "tau": folder / "curr_data.csv"}
    zero = [0, -np.pi / 2, np.pi / 2, 0, 0, 0]
    return arm, read_log(files, arm, LogFormat(side="motor", rate=5000, offsets=zero))


def ur10() -> tuple[armdyn.Robot, Log]:
    urdf = "share/example-robot-data/robots/ur_description/urdf/ur10_robot.urdf"
    arm = armdyn.load(Path(np.__file__).parents[1] / "cmeel.prefix" / urdf)
    return arm, read_log(DATA / "ur10" / "ur10_exciting_trajectory.db3", arm)


def described(folder: Path) -> tuple[armdyn.Robot, Log]:
    """A log by its description."""
    about = tomllib.loads((folder / "league.toml").read_text(encoding="utf-8"))
    local = folder / about["robot"]
    robot = armdyn.load(local if local.exists() else about["robot"])
    log = about["log"]
    files = folder / log if isinstance(log, str) else {name: folder / file for name, file in log.items()}
    return robot, read_log(files, robot, LogFormat(**about.get("format", {})))


def part(log: Log, first: bool) -> Log:
    inside = (log.t < log.t[0] + SHARE * log.duration) == first
    fields = {name: None if getattr(log, name) is None else getattr(log, name)[inside] for name in ("qd", "qdd")}
    return replace(log, t=log.t[inside], q=log.q[inside], tau=log.tau[inside], **fields)


# The plain baseline -------------------------------------------------------------------------------------------------


class Plain:
    """Regressor, viscous, tanh Coulomb, offset, rotor; reweighted least squares."""

    def __init__(self, robot: armdyn.Robot, log: Log) -> None:
        bare = robot.bound().without("friction")
        self.families = (*FAMILIES, *(("motor",) if robot.coupling is not None else ()))
        self.base = base_parameters(bare, self.families)
        t, q, qd, qdd = moved(log)
        self.rate = (len(t) - 1) / (t[-1] - t[0])
        step = max(1, round(self.rate / RATE))
        Y = low_passed(self.columns(q, qd, qdd), CUTOFF, self.rate)[::step]
        tau = low_passed(on_grid(log, log.tau), CUTOFF, self.rate)[::step]
        moving = (np.abs(qd[::step]) > SLOW).any(axis=1)
        self.values = reweighted(Y[moving], tau[moving])

    def columns(self, q: Any, qd: Any, qdd: Any) -> Any:
        n = q.shape[1]
        rates = [rate * np.eye(n) for rate in (qd[:, :, None], np.tanh(qd / SLOW)[:, :, None])]
        return np.concatenate([base_regressor(self.base)(q, qd, qdd), *rates], axis=2)

    def predict(self, log: Log) -> tuple[Any, Any]:
        return self.columns(*moved(log)[1:]) @ self.values, None


def on_grid(log: Log, x: Any) -> Any:
    t = np.linspace(log.t[0], log.t[-1], len(log))
    return np.column_stack([np.interp(t, log.t, column) for column in x.T])


def moved(log: Log) -> tuple[Any, Any, Any, Any]:
    t = np.linspace(log.t[0], log.t[-1], len(log))
    h = t[1] - t[0]
    q = low_passed(on_grid(log, log.q), CUTOFF, 1 / h)
    return t, q, *central_differences(q, h)


def reweighted(Y: Any, tau: Any) -> Any:
    sigma = np.ones(tau.shape[1])
    for _ in range(30):
        A, y = (Y / sigma[:, None]).reshape(-1, Y.shape[2]), (tau / sigma).ravel()
        size = np.linalg.norm(A, axis=0)
        size[size == 0] = 1.0
        values = np.linalg.lstsq(A / size, y, rcond=1e-9)[0] / size
        left = tau - Y @ values
        sigma = np.maximum(np.sqrt((left**2).mean(axis=0)), 1e-9)
    return values


# Ours ---------------------------------------------------------------------------------------------------------------


class Ours:
    """`armdyn.identify` with its defaults; what is judged is the robot that a file of it gives back."""

    def __init__(self, robot: armdyn.Robot, log: Log) -> None:
        self.robot = robot
        self.fit = armdyn.identify(robot, log)

    def samples(self, log: Log) -> Samples:
        """The judged motion, with the cut-off of the estimation but not below that of the metric."""
        cutoff = max(self.fit.training.cutoff, min(CUTOFF, 0.2 / log.period))
        return process(rebuilt(log), self.robot, Processing(cutoff=cutoff, edges=0, dead_band=0, decimation=1))

    def predict(self, log: Log, suffix: str = ".toml", *, alone: bool = False) -> tuple[Any, Any]:
        """Torques of a file, read back, and the standard deviations of the fit."""
        s = self.samples(log)
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / f"robot{suffix}"
            self.fit.save(file)
            if alone:  # as programs read it that do not know the comment
                file.write_text(re.sub(r"<!--.*?-->", "", file.read_text(), flags=re.DOTALL))
            read = replace(armdyn.load(file), gravity=self.robot.bound().gravity, expressions=None)
        std = self.fit.predict_std(s.t, s.q, s.qd, s.qdd) if suffix == ".toml" else None
        return self.on_grid(log, s, torques_along(read, s.q, s.qd, s.qdd)), std if std is None else self.on_grid(
            log, s, std
        )

    def signal(self, log: Log) -> tuple[Any, Any]:
        """Torques as the log reports them, with terms of the signal."""
        s = self.samples(log)
        return self.on_grid(log, s, self.fit.predict_signal(s.t, s.q, s.qd, s.qdd)), None

    def on_grid(self, log: Log, s: Samples, x: Any) -> Any:
        grid = moved(log)[0]
        return np.column_stack([np.interp(grid, s.t, column) for column in x.T])


# The metric ---------------------------------------------------------------------------------------------------------


class Errors(NamedTuple):
    """By joint, in %: error in motion and at rest (NaN: never), share of rows at rest, of torques within the band, and
    how often a perfect band would be within 88 to 99.
    """

    moving: Any
    rest: Any
    resting: Any
    inside: Any = None
    chance: Any = None


def errors(log: Log, predicted: Any, std: Any = None) -> Errors:
    t, _, qd, _ = moved(log)
    rate = (len(t) - 1) / (t[-1] - t[0])
    left = low_passed(on_grid(log, log.tau) - predicted, CUTOFF, rate)
    tau = low_passed(on_grid(log, log.tau), CUTOFF, rate)
    moving = np.abs(qd) > SLOW
    used = moving.any(axis=1)

    def share(rows: Any) -> Any:
        found = [np.sqrt((left[m, j] ** 2).mean() / (tau[m, j] ** 2).mean()) if m.any() else np.nan
                 for j, m in enumerate(rows.T)]  # fmt: skip
        return 100 * np.array(found)

    resting = used[:, None] & ~moving
    found = Errors(share(moving), share(resting), 100 * resting.sum(axis=0) / used.sum())
    if std is None:
        return found
    inside = [100 * (np.abs(left[m, j]) <= 2 * std[m, j]).mean() for j, m in enumerate(moving.T)]
    step = max(1, round(rate / (5 * CUTOFF)))
    chance = [100 * perfect(left[::step, j], m[::step]) for j, m in enumerate(moving.T)]
    return found._replace(inside=np.array(inside), chance=np.array(chance))


def perfect(left: Any, moving: Any, draws: int = 2000) -> float:
    """How often a band that covers 95 % on average covers 88 to 99 % of residuals with the spectrum of these, (N,)."""
    if not moving.any():
        return float("nan")
    rng = np.random.default_rng(0)
    power = np.convolve(np.pad(np.abs(np.fft.rfft(left)) ** 2, 3, "reflect"), np.full(7, 1 / 7), "valid")
    lines = rng.standard_normal((draws, 2, len(power)))
    drawn = np.abs(np.fft.irfft(np.sqrt(power) * (lines[:, 0] + 1j * lines[:, 1]), len(left)))[:, moving]
    shares = (drawn <= np.quantile(drawn, 0.95)).mean(axis=1)
    return float(((shares > 0.875) & (shares < 0.995)).mean())


def table(name: str, robot: armdyn.Robot, log: Log) -> list[str]:
    first, last = part(log, True), part(log, False)
    heads = " | ".join(str(j + 1) for j in range(robot.n))
    lines = [f"## {name}", "", f"| joint | {heads} | geometric mean |", "|---" * (robot.n + 2) + "|"]

    def add(title: str, values: Any, digits: int = 1, mean: bool = True) -> None:
        cells = " | ".join("" if np.isnan(x) else f"{x:.{digits}f}" for x in values)
        lines.append(f"| {title} | {cells} | {f'{np.exp(np.log(values).mean()):.2f}' if mean else ''} |")

    plain = errors(last, Plain(robot, first).predict(last)[0])
    begin = time.process_time()
    ours = Ours(robot, first)
    seconds = time.process_time() - begin
    add("plain baseline, error in %", plain.moving)
    delivered = errors(last, *ours.predict(last))
    add("armdyn, .toml file read back, error in %", delivered.moving)
    add("armdyn, .urdf file read back, error in %", errors(last, ours.predict(last, ".urdf")[0]).moving)
    foreign = errors(last, ours.predict(last, ".urdf", alone=True)[0]).moving
    add("armdyn, .urdf file in other programs, error in %", foreign)
    if ours.fit.signal is not None:
        add("armdyn, with terms of the signal, error in %", errors(last, ours.signal(last)[0]).moving)
    add("rows at rest, %", delivered.resting, 0, mean=False)
    add("plain baseline at rest, error in %", plain.rest, 0, mean=False)
    add("armdyn, .toml file at rest, error in %", delivered.rest, 0, mean=False)
    add("within the 95 % band, %", delivered.inside, 0, mean=False)
    add("a perfect band within 88 to 99, %", delivered.chance, 0, mean=False)
    return [*lines, "", f"One fit: {seconds:.1f} s of one core.", ""]


def main() -> None:
    folders = [Path(entry) for entry in sys.argv[1:] if not entry.startswith("-")]
    logs = {folder.name: lambda folder=folder: described(folder) for folder in folders}
    logs = logs or {"TX40": tx40, "UR10": ur10}
    lines = [line for name, read in logs.items() for line in table(name, *read())]
    print("\n".join(lines))
    if "--write" in sys.argv:
        about = (__doc__ or "").split("\n\n", 2)
        text = "# Identification on logs of real arms\n\n" + about[2] + "\n" + "\n".join(lines)
        Path(__file__).with_name("IDENTIFICATION_LEAGUE.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
