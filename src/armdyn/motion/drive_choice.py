"""`size`: a motor and a gear for every joint, by the torques of a motion, and why lighter ones fail."""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from armdyn.dynamics import compile as compiled
from armdyn.errors import ArmdynError, FileError, NotApplicable, RobotError
from armdyn.files import reading
from armdyn.motion.path import as_trajectory
from armdyn.motion.sampling import checked_motion, sample_times, states
from armdyn.motion.verdict import Feasibility, feasibility
from armdyn.notebook_view import View
from armdyn.result import Result
from armdyn.robot.features import TREE, takes
from armdyn.robot.limits import joint_names
from armdyn.robot.parts import Limits, Motor, Rotor
from armdyn.robot.robot import Robot
from armdyn.robot.units import unit
from armdyn.tables import Column, Section
from armdyn.typing import Array

CLASSES = Path(__file__).with_name("drives.toml")
INERTIA_RATIO = 10.0
"""Largest inertia of the load over that of motor and gear, at the motor; beyond it servo loops get hard to tune."""
SHOWN = 3
"""Lighter motors per joint whose reasons are shown."""


@dataclass(frozen=True)
class MotorClass:
    """A motor; SI units, see drives.toml."""

    name: str
    torque: float
    continuous: float
    corner: float
    speed: float
    inertia: float
    time_constant: float
    mass: float


@dataclass(frozen=True)
class GearClass:
    """A gear, or a screw for a prismatic joint, whose ratios are rad/m; SI units, see drives.toml."""

    name: str
    ratios: tuple[float, ...]
    kind: str
    torque: float
    speed: float
    inertia: float
    efficiency: float
    mass: float


@dataclass(frozen=True)
class Drive:
    """A motor and a gear on a joint, and what the motion takes of them.

    use: share of each limit, by what it limits; above 1 the drive fails. peak, rms: torque of the motor, N m.
    """

    motor: MotorClass
    gear: GearClass
    ratio: float
    peak: float
    rms: float
    use: Mapping[str, float]

    @property
    def mass(self) -> float:
        """kg, of both."""
        return self.motor.mass + self.gear.mass

    @property
    def fits(self) -> bool:
        """Whether all limits are kept."""
        return max(self.use.values()) <= 1

    @property
    def why(self) -> str:
        """What fails most."""
        name = max(self.use, key=self.use.__getitem__)
        return f"{name} {self.use[name]:.3g} times its limit"


@dataclass(frozen=True, eq=False)
class DriveChoice(Result):
    """Motors and gears for a motion.

    source:  the robot without drives. motion: the cycle, repeated without end.
    chosen:  the lightest drive of every joint that keeps all limits; None if there is none.
    lighter: for every joint the best drives of lighter motors, which fail.
    """

    source: Robot
    motion: Any
    chosen: tuple[Drive | None, ...]
    lighter: tuple[tuple[Drive, ...], ...]

    @cached_property
    def robot(self) -> Robot:
        """The robot with the rotors, motors and gears that were chosen; their limits are those of the motors."""
        drives = dict(zip(joint_names(self.source), self.chosen, strict=True))

        def driven(robot: Robot) -> Robot:
            tree = []
            for joint in robot.tree:
                drive = drives.get(joint.name)
                if drive is not None:
                    inertia = drive.motor.inertia + drive.gear.inertia
                    old = joint.limits or Limits()
                    motor = drive.motor
                    joint = replace(
                        joint,
                        rotor=Rotor(inertia=inertia, ratio=drive.ratio),
                        motor=Motor(torque=motor.torque, speed=motor.speed, continuous=motor.continuous),
                        limits=replace(old, torque=drive.gear.torque, continuous=None),
                    )
                tree.append(joint)
            return replace(robot, tree=tuple(tree))

        return self.source.edited(driven)

    @cached_property
    def verdict(self) -> Feasibility:
        """The motion on that robot, by its own equations: rotors included, gears without losses."""
        return feasibility(self.robot, self.motion)

    def record(self) -> dict[str, Any]:
        """What was chosen for every joint, what it uses of its limits, and why lighter drives fail."""

        def plain(drive: Drive) -> dict[str, Any]:
            return {
                "motor": drive.motor.name,
                "gear": drive.gear.name,
                "ratio": drive.ratio,
                "mass": drive.mass,
                "peak_torque": drive.peak,
                "rms_torque": drive.rms,
                "use": dict(drive.use),
            }

        rows = zip(joint_names(self.source), self.chosen, self.lighter, strict=True)
        return {
            "robot": self.source.name,
            "joints": {
                name: {"chosen": drive and plain(drive), "lighter": [plain(each) for each in lighter]}
                for name, drive, lighter in rows
            },
            "feasible": None not in self.chosen and bool(self.verdict),
        }

    def _view(self) -> View:
        names, missing = joint_names(self.source), self.chosen.count(None)
        uses = next((list(drive.use) for drive in self.chosen if drive), [])
        columns = (
            Column("joint"),
            Column("motor"),
            Column("gear"),
            Column("ratio"),
            Column("peak", "N m"),
            Column("rms", "N m"),
            *(Column(use) for use in uses),
            Column("mass", "kg"),
        )
        rows = [
            (
                *(name, d.motor.name, d.gear.name, f"{d.ratio:.5g}", f"{d.peak:.3g}", f"{d.rms:.3g}"),
                *(f"{d.use[use]:.2f}" for use in uses),
                f"{d.mass:.3g}",
            )
            for name, d in zip(names, self.chosen, strict=True)
            if d is not None
        ]
        note = "peak, rms: torque of the motor, losses of the gear included. The other columns are shares of limits."
        sections = [Section("Drives", columns, tuple(rows), note)] if rows else []
        why = [
            (name, d.motor.name, d.gear.name, f"{d.ratio:.5g}", d.why)
            for name, lighter in zip(names, self.lighter, strict=True)
            for d in lighter
        ]
        heads = tuple(Column(head) for head in ("joint", "motor", "best gear", "ratio", "fails by"))
        if why:
            sections.append(Section("Why lighter motors fail", heads, tuple(why)))
        total = sum(drive.mass for drive in self.chosen if drive)
        facts = [("motion", f"{self.motion.duration:.4g} s, repeated"), ("mass of the drives", f"{total:.3g} kg")]
        if missing:
            absent = ", ".join(name for name, drive in zip(names, self.chosen, strict=True) if drive is None)
            verdict = f"no drive of the catalog fits {absent}", False
        else:
            kept = bool(self.verdict)
            verdict = f"the robot with these drives {'keeps' if kept else 'does NOT keep'} its limits", kept
        notes = (
            "The masses of motors and gears are not added to the bodies: they are expected to contain them.",
            "Temperature: peak of the winding's rise over its rated rise, from its time constant, in the steady cycle.",
        )
        return View(f"Drives of {self.source.name}", verdict, facts, sections=sections, notes=notes)

    def save(self, path: str | Path) -> Path:
        """Write the robot with its drives as .toml."""
        from armdyn.formats import toml

        toml.write(self.robot, Path(path))
        return Path(path)


@takes(*TREE)
def size(robot: Robot, motion: Any, catalog: str | Path | None = None) -> DriveChoice:
    """Choose the lightest motor and gear of every joint for a motion that is repeated without end.

    Args:    robot: its own rotors and motors are left out, its friction stays.
             motion: trajectory, or samples t, q1, ... (.csv)
             catalog: TOML file with tables [[motor]] and [[gear]] as in drives.toml (default: typical classes)

    Method:  motor torque = (J_motor + J_gear) r qdd + tau/(r eta) where the load takes power, + tau eta/r where it
             gives power back, + tau/r at rest, tau being the joint's torque without rotors. Limits: peak torque
             at each speed, speed, the winding's temperature (a first-order lag of the squared torque, in the steady
             cycle), torque and input speed of the gear, and the inertia of the load over that of the drive. Rotors
             carried by links add to the torque of other joints only by their mass.

    >>> import armdyn
    >>> move = armdyn.point_to_point([0.0], [1.0], "quintic", duration=1.0)
    >>> found = size(armdyn.load("pendulum"), move)
    >>> found.chosen[0].fits
    True
    """
    from armdyn.trajectory import read_trajectory

    if robot.coupling:
        raise NotApplicable("motors that drive several joints", where="size", expected="one motor per joint")
    motors, gears = read_drives(CLASSES if catalog is None else Path(catalog))
    course = read_trajectory(motion) if isinstance(motion, str | Path) else as_trajectory(motion)
    bare = robot.without("rotors", "motors")
    dyn = compiled(bare)
    checked_motion(dyn, course)
    t = sample_times(course)
    q, qd, qdd = states(course, t)
    tau = dyn.inverse_dynamics(q, qd, qdd)
    inertia = np.diagonal(dyn.mass_matrix(q), axis1=-2, axis2=-1).max(axis=0)
    chosen: list[Drive | None] = []
    lighter = []
    for j, joint in enumerate(robot.joints):
        fitting = [gear for gear in gears if gear.kind == joint.kind]
        load = _Load(t, qd[:, j], qdd[:, j], tau[:, j], float(inertia[j]))
        tried = [load.drive(motor, gear, r) for motor in motors for gear in fitting for r in gear.ratios]
        good = [drive for drive in tried if drive.fits]
        best = min(good, key=lambda drive: (drive.mass, max(drive.use.values())), default=None)
        chosen.append(best)
        lighter.append(_failing(tried, best))
    return DriveChoice(bare, course, tuple(chosen), tuple(lighter))


def _failing(tried: Sequence[Drive], best: Drive | None) -> tuple[Drive, ...]:
    """For each lighter motor that fits with no gear, the drive that comes closest; the heaviest motors first."""
    closest: dict[str, Drive] = {}
    for drive in tried:
        old = closest.get(drive.motor.name)
        if old is None or max(drive.use.values()) < max(old.use.values()):
            closest[drive.motor.name] = drive
    failing = [d for d in closest.values() if not d.fits and (best is None or d.motor.mass < best.motor.mass)]
    return tuple(sorted(failing, key=lambda drive: -drive.motor.mass)[:SHOWN])


@dataclass(frozen=True, eq=False)
class _Load:
    """What a joint asks of its drive along the motion: times (k,), velocity, acceleration, torque; its inertia."""

    t: Array
    qd: Array
    qdd: Array
    tau: Array
    inertia: float

    def drive(self, motor: MotorClass, gear: GearClass, ratio: float) -> Drive:
        rotor = motor.inertia + gear.inertia
        eta = gear.efficiency ** -np.sign(self.tau * self.qd)  # at rest, losses are not counted on to hold the load
        torque = rotor * ratio * self.qdd + self.tau * eta / ratio
        speed = np.abs(ratio * self.qd)
        available = motor.torque * np.clip((motor.speed - speed) / (motor.speed - motor.corner), 1e-9, 1.0)
        peak = float(np.abs(torque).max())
        heat = (torque / motor.continuous) ** 2
        duration = self.t[-1] - self.t[0]
        return Drive(
            motor,
            gear,
            ratio,
            peak,
            math.sqrt(np.trapezoid(torque**2, self.t) / duration),
            {
                "motor torque": float((np.abs(torque) / available).max()),
                "motor speed": float(speed.max() / motor.speed),
                "temperature": peak_of_lag(self.t, heat, motor.time_constant),
                "gear torque": float(np.abs(self.tau).max() / gear.torque),
                "gear speed": float(speed.max() / gear.speed),
                "inertia ratio": self.inertia / (ratio**2 * rotor) / INERTIA_RATIO,
            },
        )


def peak_of_lag(t: Array, x: Array, time_constant: float) -> float:
    """Largest value of y, where time_constant y' = x - y, in the steady state of the cycle x(t) that is repeated.

    x is taken as constant between samples, at the mean of both.
    """
    fade = np.exp(-np.diff(t) / time_constant)
    gain = (1 - fade) * 0.5 * (x[1:] + x[:-1])
    y = [0.0]
    for a, b in zip(fade.tolist(), gain.tolist(), strict=True):
        y.append(a * y[-1] + b)
    start = y[-1] / -math.expm1(-(t[-1] - t[0]) / time_constant)  # the cycle ends where it began
    return float((np.array(y) + start * np.exp(-(t - t[0]) / time_constant)).max())


# Files ----------------------------------------------------------------------------------------------------------------


def read_drives(path: Path) -> tuple[list[MotorClass], list[GearClass]]:
    """The motors and gears of a file; raises an error that names the entry."""
    with reading(path, "a catalog of drives"):
        try:
            content = tomllib.loads(path.read_text(encoding="utf-8"))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise FileError(f"not a TOML file: {error}", where=str(path)) from None
    motors = [MotorClass(**values) for values in _entries(content, "motor", path, MOTOR_KEYS)]
    gears = []
    for values in _entries(content, "gear", path, GEAR_KEYS):
        leads = values.pop("leads", None)
        if (leads is None) == ("ratios" not in values):
            raise RobotError("one of ratios and leads is needed", where=f"{path}, gear {values['name']!r}")
        ratios = values.pop("ratios", None) or tuple(2 * math.pi / lead for lead in leads)
        gears.append(GearClass(ratios=ratios, kind="prismatic" if leads else "revolute", **values))
    if not motors or not gears:
        raise FileError("no motors or no gears", where=str(path), expected="tables [[motor]] and [[gear]]")
    return motors, gears


MOTOR_KEYS = {
    "torque": "N m",
    "continuous": "N m",
    "corner": "rad/s",
    "speed": "rad/s",
    "inertia": "kg m^2",
    "time_constant": "s",
    "mass": "kg",
}
GEAR_KEYS = {
    "ratios": "1",
    "leads": "m",
    "torque": "N m or N",
    "speed": "rad/s",
    "inertia": "kg m^2",
    "efficiency": "1",
    "mass": "kg",
}
"""Keys of the entries of a catalog, and their units."""


def _entries(content: Mapping[str, Any], kind: str, path: Path, keys: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    optional = {"ratios", "leads"}
    for number, entry in enumerate(content.get(kind, []), start=1):
        where = f"{path}, {kind} {entry.get('name', number)!r}"
        if unknown := sorted(set(entry) - {*keys, "name"}):
            raise RobotError(f"unknown key {unknown[0]!r}", where=where, expected=", ".join(("name", *keys)))
        if missing := [key for key in ("name", *keys) if key not in entry and key not in optional]:
            raise RobotError(f"{missing[0]!r} is missing", where=where, expected=", ".join(("name", *keys)))
        found: dict[str, Any] = {"name": str(entry["name"])}
        for key in keys.keys() & entry.keys():
            values = entry[key] if isinstance(entry[key], list) else [entry[key]]
            numbers = tuple(_positive(x, keys[key], f"{where}, {key}") for x in values)
            found[key] = numbers if isinstance(entry[key], list) else numbers[0]
        if not (found.get("corner", 0) < found["speed"] and found.get("efficiency", 1) <= 1):
            expected = "corner below speed, efficiency up to 1"
            raise RobotError("speeds or efficiency cannot be right", where=where, expected=expected)
        yield found


def _positive(value: Any, units: str, where: str) -> float:
    """A number in SI from 0.3 or "300 mm"; its unit must measure what the key holds."""
    number, text = value, ""
    if isinstance(value, str):
        match = re.fullmatch(r"\s*([\d.]+(?:[eE][-+]?\d+)?)\s*(.*?)\s*", value)
        number, text = (match[1], match[2]) if match else (math.nan, "")
    try:
        measured = unit(text or "1")
        if text and measured.powers not in [unit(each).powers for each in units.split(" or ")]:
            raise RobotError(f"{text!r} does not fit", where=where, expected=units)
        number = float(number) * float(measured.factor) * math.pi**measured.turns
    except ArmdynError as error:
        raise error.located(where) from None
    except (TypeError, ValueError):
        number = math.nan
    if not (math.isfinite(number) and number > 0):
        raise RobotError(f"{value!r} is not a positive number", where=where, expected=f"a number, or one with {units}")
    return number
