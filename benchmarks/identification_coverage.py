"""Do error bars hold? Simulated robots, many draws of noise and of an imperfect clock, every law of friction.

    python benchmarks/identification_coverage.py [ROBOT ...] [--law=LAW ...] [--payload | --bands] [--draws N]

For every draw a log of an exciting motion is simulated by inverse dynamics with one law of friction in all joints;
positions and torques get noise, 2 % of the samples are written twice and 1 % are lost, and the stamps are even.
`armdyn.identify` gets the geometry and the log; a law that joints name is given too, the law "rounded" (several widths,
presliding, load) it has to find. Coverage: share of the base parameters, over all draws, whose true value is within two
standard deviations of the estimate (nominal: 95.4 %); the coverage of the worst base parameter is beside it. Shared
noise makes the share of one draw uncertain, not its mean over draws. For laws that are found: how often which terms
were, and the error on another motion, with the terms and of viscous and Coulomb friction alone (rms over rms of the
torque, mean over joints).

Three more cases have viscous and Coulomb friction and something else that is not told: "tilted base", gravity 3 degrees
off the model's (identified with --calibrate gravity), "lag", torques smoothed over 10 ms as drives report them, and "rests",
point-to-point motion of one or two joints at a time.

With --bands: share of the torques of another motion, 20 s each, that are within the 95 % band of their prediction, by
joint in motion; simulated arms with a law that `identify` has to find, and the last 30 % of real logs.

With --payload: a load of 1.7 kg from a log without and a log with it, another motion each, by
`payload(calibrated=True)`. All torques of a draw are multiplied by one gain between 0.75 and 1.25 that is not
told; the masses of the robot are trusted.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import identification_league as league
import numpy as np
from scipy.signal import lfilter

import armdyn
from armdyn.algebra import Vec3
from armdyn.dynamics.presliding import torques_along
from armdyn.identification import Log
from armdyn.identification.fit.calibration import Calibration
from armdyn.identification.payload.payload import LABELS, payload
from armdyn.parameters import standard_parameters
from armdyn.robot.parts import Friction
from support.logs import excitation, point_to_point

ROBOTS = ("puma560", "panda", "palletiser")
LAWS = {
    "viscous and Coulomb": {},
    "asymmetric": {"law": "asymmetric"},
    "smooth": {"law": "smooth", "width": 0.05},
    "piecewise": {"law": "piecewise", "width": 0.05},
    "no law named": {},
    "widths": {"law": "rounded", "width": 0.02, "values": {"coulomb_1": 0.5, "width_1": 0.3}},
    "presliding": {"law": "rounded", "width": 0.02, "values": {"presliding_1": 0.7, "distance_1": 0.02}},
    "load": {"law": "rounded", "width": 0.02, "values": {"load": 0.1}},
}
"""Coefficients among the values are shares of Coulomb friction."""
MORE = ("tilted base", "lag", "rests")
"""Cases beside the laws of friction."""
TILT, LAG = 3.0, 0.01
"""Degrees; s."""
FOUND = ("no law named", "widths", "presliding", "load")
"""Laws that `identify` has to find."""
BANDS = ("puma560", "ur5", "panda")
"""Robots of the table of bands."""
REFUSED = ("palletiser", "load")
"""Friction that grows with the load is not modelled for robots with closed loops."""
DRAWS, RATE, DURATION, NOISE = 100, 250.0, 10.0, 0.02
LOAD = (1.7, (0.03, -0.02, 0.06), (0.008, 0.001, -0.0005, 0.009, 0.0007, 0.005))
"""Mass, kg, centre of mass, m, and tensor about it, kg m^2, of the payload."""


def rubbing(name: str, law: dict[str, Any]) -> armdyn.Robot:
    """The robot with friction about as strong as its inertia, by one law."""
    robot = armdyn.load(name).bound()
    rng = np.random.default_rng(1)
    q = np.full(robot.n, 0.3)
    inertia = dict(zip((j.name for j in robot.joints), np.diag(armdyn.compile(robot).mass_matrix(q)), strict=True))
    tree = []
    for joint in robot.tree:
        if joint.name in inertia:
            m = float(inertia[joint.name])
            viscous, coulomb = m * rng.uniform(0.5, 2, 2)
            back = {"coulomb_negative": 0.8 * coulomb, "viscous_negative": 1.2 * viscous} if "law" in law else {}
            values = back if law.get("law") == "asymmetric" else {}
            for key, value in law.get("values", {}).items():
                values[key] = value * coulomb if key.startswith(("coulomb", "presliding")) else value
            joint = replace(joint, friction=Friction(viscous, coulomb, **(law | {"values": values})))
        tree.append(joint)
    return replace(robot, tree=tuple(tree), expressions=None)


def drawn(t: np.ndarray, q: np.ndarray, tau: np.ndarray, rng: np.random.Generator) -> Log:
    """A log with noise whose clock repeats and loses samples."""
    index = np.arange(len(t))
    twice = rng.choice(len(t) - 2, len(t) // 50, replace=False) + 1
    index = np.sort(np.concatenate([np.setdiff1d(index, rng.choice(len(t), len(t) // 100, replace=False)), twice]))
    once = q + 2e-5 * rng.standard_normal(q.shape), tau + NOISE * tau.std(axis=0) * rng.standard_normal(tau.shape)
    return Log(np.linspace(t[index[0]], t[index[-1]], len(index)), once[0][index], once[1][index])


def case_row(name: str, case: str, draws: int) -> str:
    """A row of the table for one of `MORE`."""
    robot = rubbing(name, {})
    t, (motion, _) = motions(robot)
    placed, calibration = robot, None
    if case == "tilted base":
        x, y, z = (float(g) for g in robot.gravity)
        c, s = np.cos(np.radians(TILT)), np.sin(np.radians(TILT))
        placed = replace(robot, gravity=Vec3(x, c * y - s * z, s * y + c * z), expressions=None)
        calibration = Calibration(gravity=True)
    if case == "rests":
        t = np.arange(0, 4 * DURATION, 1 / RATE)
        motion = point_to_point(robot.n, t, 107)
    tau = torques_along(placed, *motion)
    if case == "lag":
        tau = lfilter([1 - np.exp(-1 / RATE / LAG)], [1, -np.exp(-1 / RATE / LAG)], tau - tau[0], axis=0) + tau[0]
    inside, begin = [], time.process_time()
    for draw in range(draws):
        log = drawn(t, motion[0], tau, np.random.default_rng([draw, 5]))
        fit = armdyn.identify(robot, log, calibration=calibration, check=False)
        truth = fit.base.from_standard(standard_parameters(robot, fit.base.include))
        inside.append(np.abs(fit.estimate.values - truth) <= 2 * fit.estimate.std)
    shares, per_draw = np.mean(inside, axis=0), np.mean(inside, axis=1)
    error, seconds = 100 * per_draw.std() / np.sqrt(draws), (time.process_time() - begin) / draws
    return (
        f"| {name} | {case} | {draws} | {len(shares)} | {100 * shares.mean():.1f} ({error:.1f}) | "
        f"{100 * shares.min():.0f} | | | {seconds:.2f} |"
    )


def motions(robot: armdyn.Robot) -> tuple[np.ndarray, list[tuple[np.ndarray, ...]]]:
    """(times, two motions as position, velocity and acceleration)."""
    t = np.arange(0, DURATION, 1 / RATE)
    return t, [tuple(excitation(robot, seed, DURATION)(t, order) for order in range(3)) for seed in (107, 108)]


def row(name: str, law: str, draws: int) -> str:
    robot, found = rubbing(name, LAWS[law]), law in FOUND
    given = rubbing(name, {}) if found else robot
    t, (motion, other) = motions(robot)
    tau, expected = torques_along(robot, *motion), torques_along(robot, *other)
    inside, features, errors, begin = [], [], [], time.process_time()
    for draw in range(draws):
        log = drawn(t, motion[0], tau, np.random.default_rng([draw, 5]))
        fit = armdyn.identify(given, log, friction="auto" if found else "plain", check=False)
        truth = fit.base.from_standard(standard_parameters(robot, fit.base.include))
        inside.append(np.abs(fit.estimate.values - truth) <= 2 * fit.estimate.std)
        features += [name for name in ("friction_law", "load_friction", "presliding") if name in fit.robot.features]
        predicted = [torques_along(each, *other) for each in (fit.robot, fit.robot_without_terms)]
        errors.append([np.mean((x - expected).std(axis=0) / expected.std(axis=0)) for x in predicted])
    shares, per_draw = np.mean(inside, axis=0), np.mean(inside, axis=1)
    seconds = (time.process_time() - begin) / draws
    names = {"friction_law": "widths", "load_friction": "load", "presliding": "presliding"}
    terms = [f"{words} {features.count(name)}" for name, words in names.items() if name in features]
    judged = "{:.2f} / {:.2f}".format(*(100 * np.mean(errors, axis=0))) if found else ""
    error = 100 * per_draw.std() / np.sqrt(draws)
    return (
        f"| {name} | {law} | {draws} | {len(shares)} | {100 * shares.mean():.1f} ({error:.1f}) | "
        f"{100 * shares.min():.0f} | {', '.join(terms) if found else ''} | {judged} | {seconds:.2f} |"
    )


def band_rows() -> Iterator[str]:
    """Rows of the table of bands, and the shares of all."""
    every, seed = [], 0
    for name in BANDS:
        for law in FOUND[1:]:
            seed += 1
            robot, given = rubbing(name, LAWS[law]), rubbing(name, {})
            t, logs = np.arange(0, 2 * DURATION, 1 / RATE), []
            for k in range(2):
                q, qd, qdd = (excitation(robot, 100 + 2 * seed + k, t[-1])(t, order) for order in range(3))
                logs.append(drawn(t, q, torques_along(robot, q, qd, qdd), np.random.default_rng([seed, k])))
            tried = armdyn.identify(given, logs[0], validation=logs[1], check=False).validation
            inside = np.abs(tried.residuals) <= 2 * tried.std
            used = tried.judged.used[:, None] & tried.judged.moving
            every.append([100 * float(inside[used[:, j], j].mean()) for j in range(robot.n)])
            yield f"| {name}, {law} | {' '.join(f'{x:.0f}' for x in every[-1])} | {np.mean(every[-1]):.1f} |"
    for name, read in {"UR10": league.ur10, "TX40": league.tx40}.items():
        if not league.DATA.exists():
            break
        robot, log = read()
        last = league.part(log, False)
        every.append(league.errors(last, *league.Ours(robot, league.part(log, True)).predict(last)).inside.tolist())
        yield f"| {name} | {' '.join(f'{x:.0f}' for x in every[-1])} | {np.mean(every[-1]):.1f} |"
    joints = np.concatenate(every)
    within = 100 * np.mean((joints >= 87.5) & (joints < 99.5))
    yield f"\nIn the mean over {len(every)} logs {np.mean([np.mean(x) for x in every]):.1f} %; {within:.0f} % of the "
    yield f"{len(joints)} joints are within 88 to 99 %."


def payload_row(name: str, draws: int) -> str:
    mass, com, inertia = LOAD
    robot, truth = rubbing(name, {}), np.array([mass, *com, *inertia])
    t, both = motions(robot)
    torques = [
        torques_along(arm, *motion) for arm, motion in zip((robot, robot.with_payload(*LOAD)), both, strict=True)
    ]
    inside, deviations = [], []
    for draw in range(draws):
        rng = np.random.default_rng([draw, 9])
        gain = rng.uniform(0.75, 1.25)
        unloaded, loaded = (drawn(t, motion[0], gain * tau, rng) for motion, tau in zip(both, torques, strict=True))
        found = payload(robot, loaded, unloaded, calibrated=True)
        std = np.array(list(found.std.values()))
        inside.append(np.abs(np.array(list(found.values.values())) - truth) <= 2 * std)
        deviations.append(std[0])
    shares, error = 100 * np.mean(inside, axis=0), 100 * np.mean(inside, axis=1).std() / np.sqrt(draws)
    worst = LABELS[int(shares.argmin())]
    return (
        f"| {name} | {draws} | {shares.mean():.1f} ({error:.1f}) | {shares[0]:.0f} | {worst} {shares.min():.0f} | "
        f"{1e3 * np.mean(deviations):.1f} |"
    )


def arguments() -> argparse.Namespace:
    options = argparse.ArgumentParser(description="Coverage of the error bars of identification on simulated logs.")
    catalog = f"name of the catalog (default: {', '.join(ROBOTS)}; with --payload the first two)"
    options.add_argument("robots", nargs="*", metavar="ROBOT", help=catalog)
    options.add_argument("--law", action="append", metavar="LAW", choices=(*LAWS, *MORE),
                         help=f"law or case, may be repeated (default: all): {', '.join((*LAWS, *MORE))}")  # fmt: skip
    options.add_argument("--payload", action="store_true", help="coverage of an identified payload instead")
    options.add_argument("--bands", action="store_true", help="coverage of the bands of torques instead")
    options.add_argument("--draws", type=int, default=DRAWS, metavar="N", help=f"logs drawn per row (default {DRAWS})")
    given = options.parse_args()
    if given.draws < 1:
        options.error(f"argument --draws: {given.draws} draws (at least one is needed)")
    if given.payload and given.law:
        options.error("argument --law: not used with --payload, whose friction is viscous and Coulomb")
    for name in given.robots:
        try:
            armdyn.load(name)
        except armdyn.ArmdynError as error:
            options.error(f"argument ROBOT: {error}")
    if [(name, law) for name in given.robots for law in given.law or ()] == [REFUSED]:
        options.error(f"{REFUSED[0]} with {REFUSED[1]!r}: not modelled for robots with closed loops")
    return given


def main() -> None:
    given = arguments()
    if given.payload:
        print("| robot | draws | within 2 std, % (standard error) | mass, % | worst, % | std of the mass, g |")
        print("|---|---|---|---|---|---|")
        for name in given.robots or ROBOTS[:2]:
            print(payload_row(name, given.draws), flush=True)
        return
    if given.bands:
        print("| log | within the band, % | mean |\n|---|---|---|")
        for line in band_rows():
            print(line, flush=True)
        return
    print("| robot | law | draws | parameters | within 2 std, % (standard error) | worst parameter, % | "
          "terms found, draws | error with / without terms, % | s a draw |")  # fmt: skip
    print("|---|---|---|---|---|---|---|---|---|")
    for name in given.robots or ROBOTS:
        for law in given.law or (*LAWS, *MORE):
            if (name, law) != REFUSED:
                print((case_row if law in MORE else row)(name, law, given.draws), flush=True)


if __name__ == "__main__":
    main()
