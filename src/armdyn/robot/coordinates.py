"""The coordinates of a robot: its joints, and the motors of elastic joints, which move apart from their links."""

from __future__ import annotations

from typing import Any, NamedTuple

from armdyn.robot.robot import Robot
from armdyn.typing import Scalars


class Coordinates(NamedTuple):
    """x = (q, theta): positions of the n joints, then of the motors of the elastic joints, seen at their joints.

    names:  (size,) of the coordinates: joint names, then "<joint> motor".
    motors: (n,) place in x of what the motor of each joint drives: of a rigid joint, the joint itself.
    """

    names: tuple[str, ...]
    motors: tuple[int, ...]

    @property
    def size(self) -> int:
        """Number of coordinates."""
        return len(self.names)

    @property
    def n(self) -> int:
        """Number of joints."""
        return len(self.motors)

    @property
    def doubled(self) -> bool:
        """Whether a joint is elastic: there are more coordinates than joints."""
        return self.size > self.n

    def joined(self, links: Scalars, motors: Scalars) -> list[Any]:
        """(size,) vector of one entry per joint and one per motor; those of the motors of rigid joints are left out."""
        soft = [j for j, place in enumerate(self.motors) if place != j]
        return [*links, *(motors[j] for j in soft)]


def coordinates(robot: Robot) -> Coordinates:
    """The coordinates of a robot."""
    names, motors = [joint.name for joint in robot.joints], list(range(robot.n))
    for j, joint in enumerate(robot.joints):
        if joint.elastic is not None:
            motors[j] = len(names)
            names.append(f"{joint.name} motor")
    return Coordinates(tuple(names), tuple(motors))
