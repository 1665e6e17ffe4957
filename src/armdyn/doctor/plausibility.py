"""Physics as evidence: would a real robot have these numbers, and would it under another reading of them?

Sizes, masses, densities and angles of real robots lie within ranges that a wrong unit leaves by orders of magnitude,
and a centre of mass lies near its link. Every such number is a witness: a logarithm with the centre and the spread that
it has in real robots. Witnesses contradict a description by the negative logarithm of a Student distribution, so that a
few odd bodies count little and a whole column in another unit counts much.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import median_low
from typing import ClassVar, NamedTuple

import numpy as np

from armdyn.doctor.inertia_checks import Context, context_of
from armdyn.doctor.reading import Hypothesis, Reading, registered, search
from armdyn.robot.parts import FreeTransform, Joint, ModifiedDH, StandardDH
from armdyn.robot.physical import DUST, given_bodies
from armdyn.robot.robot import Robot
from armdyn.typing import Array


class Range(NamedTuple):
    """What a number is in real robots: centre and spread of its natural logarithm."""

    centre: float
    spread: float


@dataclass(frozen=True)
class Plausible:
    """Ranges of real robots: 70 files of example-robot-data and the catalog, widened by about a half.

    reach: m. mass: moving mass over reach^2.5, kg/m^2.5 (thick arms are heavy: observed 0.6 to 90).
    density: mass over the volume of the ball with the same radius of gyration, kg/m^3 (hollow and long links: low).
    gyration: radius of gyration over reach. length: a length of a table over the sum of all.
    com: distance of a centre of mass from the lines between the joints of its link, over gyration and length.
    offset: distance of a centre of mass from the origin of its frame, over reach. turns: position limits of a revolute
    joint, rad. speed: its velocity limit, rad/s.
    """

    reach: Range = Range(math.log(1.0), 0.8)
    mass: Range = Range(math.log(8.0), 1.3)
    density: Range = Range(math.log(180.0), 1.6)
    gyration: Range = Range(math.log(0.08), 0.8)
    length: Range = Range(math.log(0.12), 1.1)
    com: Range = Range(math.log(0.25), 0.7)
    offset: Range = Range(math.log(0.07), 1.2)
    turns: Range = Range(math.log(4.0), 0.9)
    speed: Range = Range(math.log(5.0), 0.9)


PLAUSIBLE = Plausible()
FREEDOM = 3.0
"""Degrees of freedom of the Student distribution: one robot in a few hundred is four spreads off."""
WHOLE_TURN = 2 * math.pi + 1e-3
"""rad. No angle of a description exceeds a turn; one in degrees mostly does."""
ODD_ANGLE = 3.0
"""Nats that an angle beyond a whole turn, and a length that is a multiple of pi/2, contradict: both are written, never
measured."""
UNTIDY, TIDY = 1.0, 0.02
"""Nats against an angle that is no multiple of 15 degrees, and steps of these by which it may be off."""
RIGHT_ANGLE_DIGITS = 1e-3
"""A length this near to pi/2, relatively, is an angle in the wrong column."""
HEAVY = 0.05
"""Part of the median mass below which a body does not count: sensors, frames, covers."""
MOST_BODIES = 40
"""Bodies that count at most: a column in another unit shows in the heaviest ones."""
BY_SIZE = ("reach", "mass", "length", "density", "gyration", "com", "offset", "turns")
STILL_ODD = 3.5
"""Nats, in the mean, that plausible robots have at most against numbers of one kind (3.0 observed, of a tiny one)."""
WEIGHT = {"reach": 3.0, "mass": 2.0, "length": 0.5}
"""Size and mass of the whole robot count more than those of one part; lengths of a table are often small."""
NATS = math.log(10.0)


def _against(x: float, range_: Range, sides: int = 2) -> float:
    """Nats against a number; sides = 1: only numbers that are too large."""
    if x <= 0 or not math.isfinite(x):
        return 0.0
    z = (math.log(x) - range_.centre) / range_.spread
    return 0.0 if sides == 1 and z < 0 else (FREEDOM + 1) / 2 * math.log1p(z**2 / FREEDOM)


@dataclass(frozen=True, eq=False)
class DescriptionCase:
    """A robot's description before physics: a case for the search. counted: bodies that count, the same throughout."""

    robot: Robot
    counted: frozenset[str]
    beam: ClassVar[int] = 2
    rounds: ClassVar[int] = 3
    eager: ClassVar[bool] = False

    @cached_property
    def context(self) -> Context:
        return context_of(self.robot.opened)

    @staticmethod
    def of(robot: Robot) -> DescriptionCase:
        robot = robot.bound()
        bodies = [body for body in given_bodies(robot.opened) if body.moving and body.mass > 0 and not body.grouped]
        least = HEAVY * median_low([body.mass for body in bodies]) if bodies else 0.0
        heaviest = sorted(bodies, key=lambda body: -body.mass)[:MOST_BODIES]
        return DescriptionCase(robot, frozenset(body.body.name for body in heaviest if body.mass >= least))

    @cached_property
    def witnesses(self) -> list[tuple[str, str, float]]:
        """(name, where, nats against it) of every number."""
        with np.errstate(all="ignore"):
            return [*self._whole(), *self._lengths_and_angles(), *self._bodies(), *self._limits()]

    def _whole(self) -> Iterator[tuple[str, str, float]]:
        reach, mass = self.context.reach, self.context.mass
        yield "reach", "robot", _against(reach, PLAUSIBLE.reach)
        yield "mass", "robot", _against(mass / reach**2.5 if reach else 0.0, PLAUSIBLE.mass)

    def _lengths_and_angles(self) -> Iterator[tuple[str, str, float]]:
        for joint in self.robot.tree:
            if joint.compound is not None:
                continue
            where = f"joint {joint.name!r}"
            for length in map(abs, lengths(joint)):
                yield "length", where, _against(length / max(self.context.reach, length), PLAUSIBLE.length)
                yield "angle", where, ODD_ANGLE * _is_right_angle(length)
            for angle in map(abs, angles(joint)):
                yield "angle", where, ODD_ANGLE * (angle > WHOLE_TURN) + UNTIDY * (not _is_tidy(angle))

    def _bodies(self) -> Iterator[tuple[str, str, float]]:
        reach = self.context.reach
        for body in (body for body in given_bodies(self.robot.opened) if body.body.name in self.counted):
            gyration = math.sqrt(max(float(np.trace(body.tensor)), 0.0) / 2 / body.mass)
            solid = max(gyration, DUST)  # so that no reading wins by making a tensor vanish
            if any(x != 0 for x in body.body.inertia.tensor.upper()):
                # A solid ball of radius r has the radius of gyration sqrt(3/5) r and the volume 9.0 gyration^3.
                yield "density", body.where, _against(body.mass / (9.0 * solid**3), PLAUSIBLE.density)
                yield "gyration", body.where, _against(solid / reach if reach else 0.0, PLAUSIBLE.gyration)
            if reach:
                yield "offset", body.where, _against(float(np.linalg.norm(body.com)) / reach, PLAUSIBLE.offset)
            points = np.vstack([self.context.points(body.body.name)[:12], *self._ends[body.body.name]])
            long = float(np.linalg.norm(points[:, None] - points[None], axis=-1).max())
            scale = gyration + long / 4
            if scale > 0 and not self.robot.loops:  # where a loop closes is not among the points of a link
                yield "com", body.where, _against(_from_lines(points, body.com) / scale, PLAUSIBLE.com, sides=1)

    @cached_property
    def _ends(self) -> dict[str, list[Array]]:
        """Per body, points in its frame where it may end beside those of its joints' frames.

        A DH table shifts a frame along its joint axis by d, which may belong to the link before or behind the axis.
        """
        ends: dict[str, list[Array]] = {name: [] for name in self.context.frames}
        for joint in self.robot.tree:
            geometry = joint.geometry
            if isinstance(geometry, StandardDH):
                pose = np.asarray(joint.pose().array(), float)
                ends[joint.parent].append(np.array([0.0, 0.0, float(geometry.d)]))
                ends[joint.body.name].append(-pose[:3, :3].T @ pose[:3, 3])
            elif isinstance(geometry, ModifiedDH):
                ends[joint.parent].append(np.array([float(geometry.a), 0.0, 0.0]))
                ends[joint.body.name].append(np.array([0.0, 0.0, -float(geometry.d)]))
        return ends

    def _limits(self) -> Iterator[tuple[str, str, float]]:
        for joint in self.robot.joints:
            if joint.limits is None or joint.kind != "revolute":
                continue
            ends = [abs(float(x)) for x in (joint.limits.lower, joint.limits.upper) if x is not None]
            if ends:
                yield "turns", f"joint {joint.name!r}", _against(max(ends), PLAUSIBLE.turns)
        for name, speed in self.speeds.items():
            yield "speed", f"joint {name!r}", _against(speed, PLAUSIBLE.speed, sides=1)

    @property
    def speeds(self) -> dict[str, float]:
        """Velocity limits of revolute joints, rad/s; none where all are the same, which often stands for no limit."""
        revolute = {joint.name: joint.limits for joint in self.robot.joints if joint.kind == "revolute"}
        found = {name: float(own.velocity) for name, own in revolute.items() if own and own.velocity is not None}
        return found if len(set(found.values())) > 1 else {}

    @cached_property
    def doubts(self) -> dict[str, float]:
        """Mean nats against the numbers of each kind."""
        groups: dict[str, list[float]] = {}
        for name, _, nats in self.witnesses:
            groups.setdefault(name, []).append(nats)
        return {name: sum(some) / len(some) for name, some in groups.items()}

    def doubtful(self, least: float, *names: str) -> bool:
        """Whether numbers of any of these kinds are contradicted by so many nats, in the mean."""
        return any(self.doubts.get(name, 0.0) >= least for name in names)

    @cached_property
    def misfit(self) -> float:
        return sum(WEIGHT.get(name, 1.0) * nats for name, _, nats in self.witnesses) / NATS

    @property
    def settled(self) -> bool:
        return False

    def after(self, readings: Sequence[Reading]) -> DescriptionCase:
        robot = self.robot
        for reading in readings:
            robot = reading.apply(robot)
        return DescriptionCase(robot, self.counted)

    def hypotheses(self) -> Sequence[Hypothesis]:
        return registered("physics")

    def cost(self, reading: Reading) -> float:
        return COST + 0.5 * reading.reals + math.log10(reading.options)


COST = 1.2
"""Digits that a reading of a description must gain. No file of example-robot-data without other findings gains 1.0."""


def lengths(joint: Joint) -> list[float]:
    """The lengths of a joint's table or placement that are not zero, m."""
    geometry = joint.geometry
    given = (
        list(geometry.placement.xyz)
        if isinstance(geometry, FreeTransform)
        else [getattr(geometry, key) for key in ("a", "d", "b") if hasattr(geometry, key)]
    )
    return [float(x) for x in given if float(x) != 0]


def angles(joint: Joint) -> list[float]:
    """The angles of a joint's table or placement, rad."""
    geometry = joint.geometry
    if isinstance(geometry, FreeTransform):
        return [float(x) for x in (*geometry.placement.rpy, *([geometry.zero] if joint.kind == "revolute" else []))]
    return [float(getattr(geometry, key)) for key in ("theta", "alpha", "gamma") if hasattr(geometry, key)]


def _is_tidy(angle: float) -> bool:
    """Whether an angle is a multiple of 15 degrees, as most angles of tables are."""
    steps = angle / (math.pi / 12)
    return abs(steps - round(steps)) < TIDY


def _is_right_angle(length: float) -> bool:
    quarters = length / (math.pi / 2)
    return round(quarters) in (1, 2) and abs(quarters - round(quarters)) < RIGHT_ANGLE_DIGITS


def _from_lines(points: Array, com: Array) -> float:
    """Distance of a point from the lines between points, m."""
    first, second = (points[k] for k in np.triu_indices(len(points)))
    along = second - first
    length = np.maximum((along**2).sum(axis=1), 1e-300)
    t = np.clip(((com - first) * along).sum(axis=1) / length, 0, 1)
    return float(np.linalg.norm(first + t[:, None] * along - com, axis=1).min())


def slips(robot: Robot) -> tuple[Reading, ...]:
    """Readings of a whole description that make it plausible: units, columns, frames; none for a plausible one.

    None are named either where they leave a description that is as odd: nothing explains it then.
    """
    found = search(DescriptionCase.of(robot))
    return () if found.case.doubtful(STILL_ODD, *BY_SIZE) else found.readings
