"""The engines that armdyn is compared with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from armdyn.robot import Robot
from armdyn.speed.calls import Engine
from armdyn.speed.engines import casadi, mujoco, pinocchio, toolbox

Maker = Callable[[Robot], Engine]

OTHERS: Mapping[str, Maker] = MappingProxyType(
    {
        "Pinocchio": pinocchio.PinocchioEngine,
        "MuJoCo": mujoco.MujocoEngine,
        "CasADi": casadi.CasadiEngine,
        "Robotics Toolbox": toolbox.ToolboxEngine,
    }
)
"""The engines that we compare with, by name."""
