"""One HTML file with a robot in it: its dynamics as WebAssembly, a view, sliders, torques, equations, simulation."""

from __future__ import annotations

import base64
import json
import math
import os
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from armdyn import __version__
from armdyn.codegen import model
from armdyn.codegen.functions import Model
from armdyn.codegen.wasm_module import WasmCode, module
from armdyn.codegen.wasm_source import codes, description, functions_script
from armdyn.equations import derive
from armdyn.errors import FeatureError
from armdyn.files import write_text
from armdyn.findings import sentence as plain_sentence
from armdyn.graph import trace
from armdyn.graph.program import straight_line
from armdyn.graph.structure import ports
from armdyn.kinematics.scene import PALETTE, TOOL_AXES, scene
from armdyn.markup import safe_text
from armdyn.mechanics.closed_chain import all_positions
from armdyn.mechanics.kinematics import link_poses
from armdyn.notebook_view import View
from armdyn.report.pages.equations_block import equations_block
from armdyn.result import Result
from armdyn.robot import Robot
from armdyn.robot.features import CLOSED, TREE, sentence, takes
from armdyn.robot.limits import joint_units, start_position, torque_limits, working_range

FUNCTIONS = ("inverse_dynamics", "forward_dynamics", "mass_matrix", "gravity", "kinetic_energy", "potential_energy")
MOST_JOINTS = 7
"""Joints of a robot whose equations are derived for the page."""
SIDE = ("<", ">", "&", "\u2028", "\u2029")
"""Letters that JSON inside a page must not contain as they are."""


@dataclass(frozen=True)
class SharedPage(Result):
    """A page of a robot: one HTML text that needs neither server nor network."""

    robot: str
    html: str

    @property
    def bytes(self) -> int:
        """Size of the page."""
        return len(self.html.encode("utf-8"))

    def _view(self) -> View:
        size = f"{self.bytes / 1e3:.0f} kB"
        return View(
            f"Page of {self.robot}", facts=[("size", size), ("use", "open the file in any browser, or mail it")]
        )

    def record(self) -> dict[str, Any]:
        """The robot's name and the size of the page."""
        return {"robot": self.robot, "bytes": self.bytes}

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the page, as in "arm.html", and return its path."""
        return write_text(Path(path), self.html)


@takes(*CLOSED, *TREE)
def share(robot: Robot) -> SharedPage:
    """A page of the robot in one file: move it, read torques and equations, simulate. `save(path)` writes it.

    robot: an arm, a tree or a closed chain of one-degree joints.
    """
    return SharedPage(robot.name, page(robot))


def page(robot: Robot) -> str:
    """The whole page, as HTML."""
    names = (*FUNCTIONS, "closed") if robot.constrained else FUNCTIONS
    made = model(robot, names)
    poses = _poses(robot.opened)
    binary = module([*codes(made), poses])
    parts = {
        "title": safe_text(robot.name).replace("&", "&amp;").replace("<", "&lt;"),
        "style": _file("shared.css"),
        "robot": _json(_facts(robot, made, poses)),
        "binary": base64.b64encode(binary).decode(),
        "functions": functions_script(),
        "view": _file("view.js"),
        "script": _file("shared.js"),
        "equations": _equations(robot),
    }
    text = _file("shared.html")
    for name, part in parts.items():
        text = text.replace(f"<!--{name}-->", part)
    return text


def _equations(robot: Robot) -> str:
    if robot.n > MOST_JOINTS:
        return f"<p>The equations of {robot.n} joints are too long to print.</p>"
    try:
        return equations_block(derive(robot))
    except FeatureError as error:  # loops whose joints follow by square roots or by iteration
        return f"<p>{safe_text(plain_sentence(error.what))}</p>"


def _file(name: str) -> str:
    return (resources.files("armdyn.webpage") / "page" / name).read_text(encoding="utf-8")


def _json(value: Any) -> str:
    text = json.dumps(value, allow_nan=False)
    for letter in SIDE:
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return text


def _poses(tree: Robot) -> WasmCode:
    """Poses of all links, twelve numbers each: rows of [R p]."""

    def placed(q: Any) -> Any:
        return tuple(
            tuple(x for row, p in zip(T.R.rows, T.p, strict=True) for x in (*row, p)) for T in link_poses(tree, q)
        )

    graph = trace(placed, {"q": tree.n})
    inputs, outputs = ports(graph.inputs, "input"), ports(graph.outputs, "output")
    return WasmCode("link_poses", straight_line(graph, {}, str), inputs, outputs)


def _facts(robot: Robot, made: Model, poses: WasmCode) -> dict[str, Any]:
    """What the page knows of the robot besides its functions."""
    tree = robot.opened
    known = description(made)
    known["functions"] |= {
        "link_poses": {"inputs": [["q", tree.n]], "outputs": [["poses", list(poses.outputs[0].shape)]]}
    }
    low, high = (values.tolist() for values in working_range(robot))
    limits = torque_limits(robot).tolist()
    joints = [
        {
            "name": safe_text(joint.name),
            "kind": joint.kind,
            "unit": unit[0],
            "torque_unit": unit[3],
            "lower": lower,
            "upper": upper,
            "torque": most if math.isfinite(most) else None,
        }
        for joint, unit, lower, upper, most in zip(robot.joints, joint_units(robot), low, high, limits, strict=True)
    ]
    return known | {
        "name": safe_text(robot.name),
        "source": safe_text(robot.source or "", 300),
        "model": sentence(robot),
        "version": __version__,
        "axes": joints,
        "start": start(robot),
        "gravity": [float(x) for x in robot.gravity],
        "scene": _scene(robot),
    }


def _scene(robot: Robot) -> dict[str, Any]:
    """The arm as the page draws it, and its colours."""
    drawn = scene(robot)
    link, tool = drawn.tool
    return {
        "base": drawn.base.tolist(),
        "joints": [[kind, carrier, point.tolist(), axis.tolist()] for kind, carrier, point, axis in drawn.joints],
        "segments": [[a, start.tolist(), b, end.tolist()] for a, start, b, end in drawn.segments],
        "tool": [link, tool[:3].tolist()],
        "palette": PALETTE | {"axes": TOOL_AXES},
    }


def start(robot: Robot) -> list[float]:
    """The configuration that is shown first."""
    if not robot.constrained:
        return [float(x) for x in start_position(robot)]
    closed, joints = all_positions(robot, start_position(robot)), robot.opened.joints
    return [float(closed[joints.index(joint)]) for joint in robot.joints]
