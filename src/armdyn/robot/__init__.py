"""The robot and its parts: frozen data, and what follows from it directly."""

from armdyn.algebra import CentralInertia, Inertia
from armdyn.robot.links import Frame, Link
from armdyn.robot.parts import (
    Body,
    FreeTransform,
    Friction,
    Joint,
    Limits,
    Loop,
    ModifiedDH,
    Placement,
    RobotFile,
    Rotor,
    Spring,
    StandardDH,
)
from armdyn.robot.robot import Robot

__all__ = [
    "Body",
    "CentralInertia",
    "Frame",
    "FreeTransform",
    "Friction",
    "Inertia",
    "Joint",
    "Limits",
    "Link",
    "Loop",
    "ModifiedDH",
    "Placement",
    "Robot",
    "RobotFile",
    "Rotor",
    "Spring",
    "StandardDH",
]
