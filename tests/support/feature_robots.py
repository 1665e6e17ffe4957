"""One small robot per feature, each made for it: nothing special beside the feature."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import armdyn
from armdyn.robot import Robot

LINK: dict[str, Any] = {"type": "revolute", "a": 0.4, "mass": 2.0, "com": [-0.2, 0.01, 0.02],
                        "inertia": [0.02, 0.001, 0, 0.05, 0.002, 0.06], "alpha": 0.7}  # fmt: skip

ROUNDED: dict[str, Any] = {"law": "rounded", "viscous": 0.3, "coulomb": 0.8, "width": 0.05}


def arm(**parts: Any) -> Robot:
    """Three skew links; parts: of the second joint."""
    rows = [LINK, LINK | parts, LINK | {"alpha": -1.1, "a": 0.25}]
    return Robot.from_dh([dict(row) for row in rows], name="arm")


def coupled() -> Robot:
    row = LINK | {"rotor": {"inertia": 0.003}}
    robot = Robot.from_dh([dict(row), dict(row), row | {"alpha": -1.1}], name="coupled")
    return replace(robot, coupling=((0.02, 0.0, 0.0), (0.004, 0.025, 0.0), (0.0, -0.003, 0.03)))


def gripper() -> Robot:
    """Three joints; the last follows the second."""
    rows = [dict(LINK), dict(LINK), LINK | {"mimic": {"joint": "joint2", "ratio": -0.5, "offset": 0.1}}]
    return Robot.from_dh(rows, name="gripper")


def floating() -> Robot:
    """A free body with a ball joint and a revolute one."""
    body = {key: LINK[key] for key in ("mass", "com", "inertia")}
    rows = [body | {"name": "root", "type": "free"}, body | {"name": "shoulder", "type": "ball", "xyz": [0.2, 0, 0.3]}]
    return Robot.from_dh([*rows, dict(LINK)], name="floating")


ROBOTS: dict[str, Callable[[], Robot]] = {
    "loops": lambda: armdyn.load("parallelogram"),
    "mimic": gripper,
    "elastic": lambda: arm(rotor={"inertia": 0.01}, elastic={"stiffness": 500.0}),
    "coupling": coupled,
    "rotors_on_links": lambda: arm(
        rotor={"model": "full", "inertia": 1e-3, "ratio": 50.0, "mass": 0.4, "axis": [0.6, 0, 0.8]}
    ),
    "springs": lambda: arm(spring={"stiffness": 12.0, "rest": 0.4}),
    "gravity_compensation": lambda: arm(gravity_compensation=0.7),
    "dry_friction": lambda: arm(friction={"viscous": 0.3, "coulomb": 0.8}),
    "static_friction": lambda: arm(friction={"viscous": 0.3, "coulomb": 0.8, "static": 1.3, "stribeck": 0.1}),
    "asymmetric_friction": lambda: arm(
        friction={"viscous": 0.3, "law": "asymmetric", "values": {"viscous_negative": 0.5}}
    ),
    "friction_law": lambda: arm(friction={"viscous": 0.3, "coulomb": 0.8, "width": 0.05, "law": "smooth"}),
    "load_friction": lambda: arm(friction=ROUNDED | {"values": {"load": 0.15, "coulomb_1": 0.3, "width_1": 0.4}}),
    "presliding": lambda: arm(friction=ROUNDED | {"values": {"presliding_1": 0.5, "distance_1": 0.02}}),
    "free_joints": floating,
    "payload": lambda: arm().with_payload(1.5, (0.02, 0, 0.1)),
}
