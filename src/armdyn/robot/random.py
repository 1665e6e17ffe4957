"""Random robots: physically valid, of every shape the library knows, the same for the same seed."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from armdyn.errors import RobotError, unknown_name
from armdyn.robot.record import CONVENTIONS, robot_from_record
from armdyn.robot.robot import Robot

MOST_JOINTS_BY_CHANCE = 8
SMALLEST_RADIUS = 0.05
"""Radius of gyration, m, that every body has in every direction: rounding cannot make its inertia impossible."""
RIGHT_ANGLES = (0, "pi/2", "-pi/2", "pi")
EXACT_TURNS = ((0.6, 0.8), (0.8, 0.6), (0.28, 0.96), (0.96, 0.28))
"""Cosines and sines in two decimals: directions built from them have length one in four."""


def random_robot(
    seed: int,
    n: int | None = None,
    *,
    convention: Literal["standard", "modified", "free"] | None = None,
    prismatic: float = 0.3,
    branching: float = 0.0,
    fixed: float = 0.0,
    skew: bool = True,
    tilted_base: bool = True,
    tool: bool = True,
    any_gravity: bool = False,
    rotors: bool = False,
    friction: bool = False,
    limits: bool = False,
    ball: float = 0.0,
    free_root: bool = False,
) -> Robot:
    """Make a random robot, the same for the same arguments; its numbers have at most four decimals.

    n: number of movable joints (default: 1 to 8 at random).
    convention: how joints are placed (default: all three mixed).
    prismatic: probability that a joint is prismatic.
    branching: probability that the parent of a joint is any earlier body instead of the last.
    fixed: probability of a fixed body before a joint, and at the end.
    skew: general angles; False: multiples of pi/2 and many zero lengths.
    tilted_base, tool: general poses of the base and of the tool frame.
    any_gravity: gravity in any direction.
    rotors, friction, limits: given to every joint.
    ball: probability that a joint is a ball joint; it has none of these three.
    free_root: the first joint is a free joint.

    >>> [joint.kind for joint in random_robot(1, 3, prismatic=1).joints]
    ['prismatic', 'prismatic', 'prismatic']
    >>> random_robot(1, 6).tree == random_robot(1, 6).tree
    True
    """
    if seed < 0:
        raise RobotError(f"seed = {seed}", where="random_robot", expected="a whole number, not negative")
    if n is not None and n < 1:
        raise RobotError(f"n = {n}", where="random_robot", expected="at least one joint")
    if convention not in (None, *CONVENTIONS):
        raise unknown_name("convention", str(convention), CONVENTIONS, where="random_robot")
    for name, share in (("prismatic", prismatic), ("branching", branching), ("fixed", fixed)):
        if not 0 <= share <= 1:
            raise RobotError(f"{name} = {share}", where="random_robot", expected="a probability between 0 and 1")
    dice = _Dice(seed, skew)
    count = n or int(dice.rng.integers(1, MOST_JOINTS_BY_CHANCE + 1))
    rows: list[dict[str, Any]] = []
    for i in range(count):
        if dice.chance(fixed):
            rows.append(dice.joint(f"mount{i + 1}", "fixed", convention, rows, branching))
        kind = "prismatic" if dice.chance(prismatic) else "revolute"
        row = dice.joint(f"joint{i + 1}", kind, convention, rows, branching)
        several = "free" if free_root and i == 0 else "ball" if ball and dice.chance(ball) else None
        if several:
            rows.append(dice.several(row, several))
            continue
        row |= {"rotor": dice.rotor()} if rotors else {}
        row |= {"friction": dice.friction()} if friction else {}
        row |= {"limits": dice.limits()} if limits else {}
        rows.append(row)
    if dice.chance(fixed):
        rows.append(dice.joint("mount_end", "fixed", convention, rows, branching))
    record: dict[str, Any] = {"name": f"random{seed}", "joint": rows, "convention": convention or "standard"}
    record["source"] = f"random_robot, seed {seed}"
    record |= {"base": dice.placement()} if tilted_base else {}
    record |= {"tool": dice.placement()} if tool else {}
    record |= {"gravity": [round(9.81 * x, 4) for x in dice.direction()]} if any_gravity else {}
    return robot_from_record(record)


class _Dice:
    """Draws the entries of a robot's record."""

    def __init__(self, seed: int, skew: bool) -> None:
        self.rng = np.random.default_rng(seed)
        self.skew = skew

    def chance(self, probability: float) -> bool:
        return bool(self.rng.random() < probability)

    def between(self, low: float, high: float, digits: int = 3) -> float:
        return round(float(self.rng.uniform(low, high)), digits)

    def angle(self) -> float | str | int:
        if self.skew:
            return self.between(-3.1, 3.1)
        return RIGHT_ANGLES[self.rng.integers(len(RIGHT_ANGLES))]

    def length(self) -> float | int:
        return self.between(-0.5, 0.5) if self.skew or self.chance(0.5) else 0

    def direction(self) -> list[float]:
        """A unit vector; along a frame axis when angles are right."""
        (c, s), (C, S) = self.rng.choice(EXACT_TURNS, 2) if self.skew else ((1, 0), (1, 0))
        v = self.rng.permutation([c * C, c * S, s]) * self.rng.choice([-1, 1], 3)
        return [round(float(x), 4) for x in v]

    def placement(self) -> dict[str, Any]:
        return {"xyz": [self.length() for _ in range(3)], "rpy": [self.angle() for _ in range(3)]}

    def joint(
        self, name: str, kind: str, convention: str | None, earlier: list[dict[str, Any]], branching: float
    ) -> dict[str, Any]:
        own = convention or CONVENTIONS[self.rng.integers(len(CONVENTIONS))]
        row: dict[str, Any] = {"name": name, "type": kind, "convention": own}
        branch = bool(earlier) and self.chance(branching)
        if branch:
            row["parent"] = ["base", *(joint["name"] for joint in earlier)][self.rng.integers(len(earlier) + 1)]
        if own == "free":
            row |= self.placement() | {"axis": self.direction()}
        else:
            row |= {"theta": self.angle(), "d": self.length(), "a": self.length(), "alpha": self.angle()}
        if own == "modified" and branch:
            row |= {"gamma": self.angle(), "b": self.length()}
        return row | self.body()

    def several(self, row: dict[str, Any], kind: str) -> dict[str, Any]:
        """A joint of several degrees of freedom instead of the one drawn."""
        kept = {key: row[key] for key in ("name", "parent", "mass", "com", "inertia") if key in row}
        return kept | {"type": kind} | self.placement()

    def body(self) -> dict[str, Any]:
        """Mass, centre and tensor of a body: the tensor that follows from a positive definite covariance of mass."""
        mass = self.between(0.5, 8)
        spread = self.rng.uniform(-0.1, 0.1, (3, 3))
        covariance = mass * (spread @ spread.T + SMALLEST_RADIUS**2 * np.eye(3))
        tensor = np.trace(covariance) * np.eye(3) - covariance
        upper = [round(float(tensor[i, j]), 4) for i, j in ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))]
        return {"mass": mass, "com": [self.between(-0.2, 0.2) for _ in range(3)], "inertia": upper}

    def rotor(self) -> dict[str, Any]:
        """One that only adds to its joint, or one that is a body on its carrier."""
        row: dict[str, Any] = {"inertia": self.between(1e-4, 1e-3, 4), "ratio": self.between(20, 120, 0)}
        if self.chance(0.5):
            return row | {"model": "reflected"}
        position = [self.between(-0.1, 0.1) for _ in range(3)]
        return row | {"model": "full", "mass": self.between(0.1, 1), "position": position, "axis": self.direction()}

    def friction(self) -> dict[str, Any]:
        coulomb = self.between(0.1, 2)
        return {
            "viscous": self.between(0.1, 2),
            "coulomb": coulomb,
            "static": round(coulomb * 1.5, 4),
            "stribeck": self.between(0.01, 0.2),
        }

    def limits(self) -> dict[str, Any]:
        return {
            "lower": self.between(-3, -1),
            "upper": self.between(1, 3),
            "velocity": self.between(1, 4),
            "acceleration": self.between(2, 20),
            "torque": self.between(20, 200),
        }
