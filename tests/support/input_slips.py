"""Slips of people who write robot files: units, degrees, swapped columns, signs, frames; and arms to make them in.

Nothing here uses the library: arms are tables of numbers, and a slip changes the numbers.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import Any

import numpy as np

Rng = np.random.Generator
Record = dict[str, Any]
Slip = Callable[[Record, Rng], bool]
"""Changes the record; False if it changes nothing, as degrees where all angles are zero."""
SLIPS: dict[str, tuple[Slip, str, str]] = {}
"""Name -> (slip, kind that must be named, word that must be in the sentence)."""


def slip(name: str, kind: str, word: str = "") -> Callable[[Slip], Slip]:
    def enter(function: Slip) -> Slip:
        SLIPS[name] = (function, kind, word)
        return function

    return enter


# Arms ----------------------------------------------------------------------------------------------------------------

SHAPES = (
    ("standard", [("d", 90), ("a", 0), ("a", 0), ("d", 90), ("d", -90), ("d", 0)]),
    ("standard", [("d", -90), ("a", 0), ("", 90), ("d", -90), ("", 90), ("d", 0)]),
    ("standard", [("d", 90), ("a", 0), ("a", 0), ("a", 90), ("d", 0)]),
    ("standard", [("ad", -90), ("a", 0), ("a", 90), ("d", -90), ("", 90), ("d", 0)]),
    ("modified", [("d", 0), ("", -90), ("d", 90), ("a", 90), ("ad", -90), ("", 90), ("ad", 90)]),
    ("modified", [("d", 0), ("a", -90), ("a", 0), ("ad", -90), ("", 90), ("d", -90)]),
)
"""Usual structures: which lengths a row has, and its alpha in degrees."""


def arm(rng: Rng) -> Record:
    """An arm as people build them: links are tubes between the joints with a drive at one end."""
    convention, rows = SHAPES[rng.integers(len(SHAPES))]
    size = float(rng.uniform(0.5, 1.6))
    joints = []
    for k, (which, alpha) in enumerate(rows):
        a = size * float(rng.uniform(0.15, 0.4)) if "a" in which else 0.0
        d = size * float(rng.uniform(0.1, 0.35)) if "d" in which else 0.0
        theta = math.radians(float(rng.choice([0, 0, 90, -90]))) if rng.random() < 0.4 else 0.0
        row: Record = {"name": f"joint{k + 1}", "a": round(a, 4), "d": round(d, 4), "alpha": math.radians(alpha),
                       "theta": theta}  # fmt: skip
        joints.append(row)
    for k, row in enumerate(joints):
        following = joints[k + 1] if k + 1 < len(joints) else {"a": 0.0, "d": 0.08, "alpha": 0.0}
        row |= _body(rng, _far_end(convention, row, following), size)
        row["limits"] = {
            "lower": -round(float(rng.uniform(1.5, 3)), 3),
            "upper": round(float(rng.uniform(1.5, 3)), 3),
            "velocity": round(float(rng.uniform(1.5, 5)), 3),
            "torque": round(float(rng.uniform(20, 200))),
        }
    return {"name": "arm", "convention": convention, "joint": joints}


def _far_end(convention: str, row: Record, following: Record) -> np.ndarray:
    """The other end of the link in the axes of its frame: the joint before (standard DH) or after it (modified)."""
    if convention == "standard":
        alpha = row["alpha"]
        return -np.array([row["a"], row["d"] * math.sin(alpha), row["d"] * math.cos(alpha)])
    alpha = following["alpha"]
    return np.array([following["a"], -following["d"] * math.sin(alpha), following["d"] * math.cos(alpha)])


def _body(rng: Rng, end: np.ndarray, size: float) -> Record:
    """A tube from the origin to `end` and a ball, the drive, at one of them."""
    length = float(np.linalg.norm(end))
    radius = size * float(rng.uniform(0.04, 0.07))
    tube, ball = (float(rng.uniform(300, 1500)) * math.pi * radius**2 * length,
                  float(rng.uniform(1000, 2500)) * 4 / 3 * math.pi * radius**3)  # fmt: skip
    at = end * float(rng.uniform(0, 0.3) if rng.random() < 0.5 else rng.uniform(0.7, 1.0))
    mass, com = tube + ball, (tube * end / 2 + ball * at) / (tube + ball)
    axis = end / length if length else np.array([0, 0, 1.0])
    tensor = ball * 0.4 * radius**2 * np.eye(3)
    tensor += tube * ((radius**2 / 4 + length**2 / 12) * (np.eye(3) - np.outer(axis, axis))
                      + radius**2 / 2 * np.outer(axis, axis))  # fmt: skip
    for part, place in ((tube, end / 2), (ball, at)):
        c = place - com
        tensor += part * (c @ c * np.eye(3) - np.outer(c, c))
    com = com + rng.normal(size=3) * 0.1 * radius
    upper = tensor[np.triu_indices(3)]
    return {
        "mass": round(mass, 4),
        "com": [round(float(x), 5) for x in com],
        "inertia": [float(f"{x:.5g}") for x in upper],
    }


# Slips ---------------------------------------------------------------------------------------------------------------


def _scale(record: Record, factor: float, *keys: str, rows: list[Record] | None = None) -> bool:
    changed = False
    for row in record["joint"] if rows is None else rows:
        for key in keys:
            if key not in row:
                continue
            before = row[key]
            row[key] = [factor * x for x in before] if isinstance(before, list) else factor * before
            changed = changed or row[key] != before
    return changed


def _lengths(record: Record) -> tuple[str, ...]:
    return ("xyz",) if "xyz" in record["joint"][0] else ("a", "d")


@slip("lengths in mm", "units_length", "in mm")
def lengths_mm(record: Record, rng: Rng) -> bool:
    return _scale(record, 1000, *_lengths(record))


@slip("lengths in cm", "units_length", "in cm")
def lengths_cm(record: Record, rng: Rng) -> bool:
    return _scale(record, 100, *_lengths(record))


@slip("lengths and centres in mm", "units_length", "in mm")
def lengths_and_centres(record: Record, rng: Rng) -> bool:
    return _scale(record, 1000, *_lengths(record), "com")


@slip("column a in mm", "units_length", "in mm")
def column_a(record: Record, rng: Rng) -> bool:
    return _scale(record, 1000, "a")


@slip("column d in mm", "units_length", "in mm")
def column_d(record: Record, rng: Rng) -> bool:
    return _scale(record, 1000, "d")


@slip("one length in mm", "units_length", "in mm")
def one_length(record: Record, rng: Rng) -> bool:
    row = record["joint"][rng.integers(len(record["joint"]))]
    return _scale(record, 1000, *_lengths(record), rows=[row])


@slip("alpha in degrees", "units_angle", "degrees")
def alpha_degrees(record: Record, rng: Rng) -> bool:
    return _scale(record, 180 / math.pi, "alpha")


@slip("theta in degrees", "units_angle", "degrees")
def theta_degrees(record: Record, rng: Rng) -> bool:
    return _scale(record, 180 / math.pi, "theta")


@slip("all angles in degrees", "units_angle", "degrees")
def all_degrees(record: Record, rng: Rng) -> bool:
    return _scale(record, 180 / math.pi, "alpha", "theta", "rpy")


@slip("limits in degrees", "units_angle", "limits")
def limits_degrees(record: Record, rng: Rng) -> bool:
    rows = [row["limits"] for row in record["joint"] if "limits" in row and row.get("type") != "prismatic"]
    return _scale(record, 180 / math.pi, "lower", "upper", rows=rows)


@slip("speeds in degrees", "units_angle", "velocity")
def speeds_degrees(record: Record, rng: Rng) -> bool:
    rows = [row for row in record["joint"] if row.get("type") != "prismatic"]
    for row in rows:
        row["limits"] = row.get("limits", {}) | {"velocity": round(float(rng.uniform(90, 270)))}
    return len(rows) > 1


@slip("one centre ten times too far", "com_far", "decimal")
def com_decimal(record: Record, rng: Rng) -> bool:
    """Of a long link, where it ends up outside the robot's reach."""
    rows = sorted(record["joint"], key=lambda row: -math.dist(row.get("com", (0, 0, 0)), (0, 0, 0)))
    return _scale(record, 10, "com", rows=rows[:1])


@slip("centres in mm", "units_length", "in mm")
def com_mm(record: Record, rng: Rng) -> bool:
    return _scale(record, 1000, "com")


@slip("centres in cm", "units_length", "in cm")
def com_cm(record: Record, rng: Rng) -> bool:
    return _scale(record, 100, "com")


@slip("masses in g", "units_mass", "in g")
def mass_g(record: Record, rng: Rng) -> bool:
    return _scale(record, 1000, "mass")


@slip("tensors in kg mm^2", "units_tensor", "kg mm^2")
def tensor_mm(record: Record, rng: Rng) -> bool:
    return _scale(record, 1e6, "inertia")


@slip("tensors in kg cm^2", "units_tensor", "kg cm^2")
def tensor_cm(record: Record, rng: Rng) -> bool:
    return _scale(record, 1e4, "inertia")


@slip("tensors in g mm^2", "units_tensor", "g mm^2")
def tensor_g(record: Record, rng: Rng) -> bool:
    return _scale(record, 1e9, "inertia")


@slip("everything in mm", "units_length", "in mm")
def everything_mm(record: Record, rng: Rng) -> bool:
    return _scale(record, 1000, *_lengths(record), "com") and _scale(record, 1e6, "inertia")


@slip("everything in g and mm", "units_length|units_mass", "")
def everything_g(record: Record, rng: Rng) -> bool:
    """As computer-aided design gives it: both units must be named."""
    return _scale(record, 1000, *_lengths(record), "com", "mass") and _scale(record, 1e9, "inertia")


@slip("one mass in g", "units_mass", "in g")
def one_mass(record: Record, rng: Rng) -> bool:
    return _scale(record, 1000, "mass", rows=[_heavy(record, rng)])


@slip("one tensor in kg mm^2", "units_tensor", "kg mm^2")
def one_tensor(record: Record, rng: Rng) -> bool:
    return _scale(record, 1e6, "inertia", rows=[_heavy(record, rng)])


@slip("one centre in mm", "units_length", "in mm")
def one_com(record: Record, rng: Rng) -> bool:
    return _scale(record, 1000, "com", rows=[_heavy(record, rng)])


def _heavy(record: Record, rng: Rng) -> Record:
    """One of the bodies that are at least a tenth of the heaviest."""
    most = max(row.get("mass", 0.0) for row in record["joint"])
    rows: list[Record] = [row for row in record["joint"] if row.get("mass", 0.0) >= most / 10]
    return rows[int(rng.integers(len(rows)))]


@slip("columns a and alpha swapped", "swapped_columns", "a and alpha")
def swapped_a_alpha(record: Record, rng: Rng) -> bool:
    return _swap(record, "a", "alpha")


@slip("columns a and d swapped", "swapped_columns", "a and d")
def swapped_a_d(record: Record, rng: Rng) -> bool:
    return _swap(record, "a", "d")


def _swap(record: Record, first: str, second: str) -> bool:
    for row in record["joint"]:
        if first in row or second in row:
            row[first], row[second] = row.get(second, 0.0), row.get(first, 0.0)
    return any(row.get(first, 0.0) != row.get(second, 0.0) for row in record["joint"])


@slip("sign of one alpha", "angle_sign", "")
def alpha_sign(record: Record, rng: Rng) -> bool:
    rows = [row for row in record["joint"] if row.get("alpha", 0.0) not in (0.0, math.pi)]
    return bool(rows) and _scale(record, -1, "alpha", rows=[rows[rng.integers(len(rows))]])


@slip("centres in the frame before", "com_frame", "")
def com_before(record: Record, rng: Rng) -> bool:
    return _move_centres(record, chained=False)


@slip("centres in the base frame", "com_frame", "")
def com_base(record: Record, rng: Rng) -> bool:
    return _move_centres(record, chained=True)


def _move_centres(record: Record, chained: bool) -> bool:
    pose, changed = np.eye(4), False
    for row in record["joint"]:
        own = _pose(record.get("convention", "standard"), row)
        pose = pose @ own if chained else own
        if "com" in row:
            moved = [float(x) for x in (pose @ np.array([*row["com"], 1.0]))[:3]]
            changed = changed or not np.allclose(moved, row["com"], atol=1e-3)
            row["com"] = moved
    return changed


def _pose(convention: str, row: Record) -> np.ndarray:
    theta, d, a, alpha = (row.get(key, 0.0) for key in ("theta", "d", "a", "alpha"))
    screw_z, screw_x = _screw(2, theta, d), _screw(0, alpha, a)
    return screw_z @ screw_x if convention == "standard" else screw_x @ screw_z


def _screw(axis: int, angle: float, shift: float) -> np.ndarray:
    i, j = ((1, 2), (2, 0), (0, 1))[axis]
    T = np.eye(4)
    c, s = math.cos(angle), math.sin(angle)
    T[i, i], T[j, j], T[i, j], T[j, i], T[axis, 3] = c, c, -s, s, shift
    return T


def slipped(record: Record, name: str, rng: Rng) -> Record | None:
    """A copy of the record with the slip; None if it changes nothing."""
    changed = copy.deepcopy(record)
    return changed if SLIPS[name][0](changed, rng) else None
