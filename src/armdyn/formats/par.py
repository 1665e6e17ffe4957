"""SYMORO's robot files (.par): geometry, inertial parameters, friction and rotors of a tree in Khalil's notation.

    Rz(gamma) Tz(b) Rx(alpha) Tx(d) Rz(theta) Tz(r)                              Khalil's parameters of joint j

are the modified Denavit-Hartenberg parameters gamma, b, alpha, a, theta, d of a robot file; ant is the number of the
preceding link, sigma 0, 1 or 2 a revolute, prismatic or fixed joint, mu 0 a passive one. XX ... M are about the origin
of the link's frame, IA is the rotor's inertia seen at the joint, FV and FS are viscous and Coulomb friction, k the
stiffness of a joint with eta = 1, G gravity, Z the pose of the base. The joint variable stands in theta or r, by any
name, as in "th2 + pi/2".

A file of letters has no numbers: `(* D3 = 0.45 *)` gives one. Other programs skip such a line, and robots are
written with one for each of their named parameters. A letter without a number gets one with which bodies are possible
(1 for moments of inertia and masses, 0.1 for first moments, 0.01 for products of inertia), and a warning says so.

External forces (FX ... CZ) and the state (QP, QDP, GAM) are inputs, not part of a robot. Closed loops, moving bases and
what the notation has no place for are refused by name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from armdyn.algebra import ops, rpy_of
from armdyn.errors import ArmdynError, FileError, NotApplicable
from armdyn.files import write_text
from armdyn.formats.expressible import require_expressible, warn_of_loss
from armdyn.formats.text import NOT_READ, read_text
from armdyn.graph import Node, ordered
from armdyn.robot.parts import Joint, ModifiedDH, Placement
from armdyn.robot.record import robot_from_record
from armdyn.robot.robot import Robot

TEN = ("XX", "XY", "XZ", "YY", "YZ", "ZZ", "MX", "MY", "MZ", "M")
GEOMETRY = ("ant", "sigma", "b", "d", "r", "gamma", "alpha", "mu", "theta")
OF_LINKS = (*TEN, "IA", "FV", "FS")
OF_JOINTS = ("eta", "k")
OF_BASE = {"W0": 3, "WP0": 3, "V0": 3, "VP0": 3, "G": 3, "Z": 16}
INPUTS = ("FX", "FY", "FZ", "CX", "CY", "CZ", "QP", "QDP", "GAM")
"""Forces on the links and the state: letters or numbers of an evaluation, not of a robot."""
KINDS = {"0": "revolute", "1": "prismatic", "2": "fixed"}
MOST_LINKS = 200
_SPELLING = {name.lower(): name for name in (*GEOMETRY, *OF_LINKS, *OF_JOINTS, *OF_BASE, *INPUTS) if len(name) > 1}
_FACT = re.compile(r"(?m)^\s*(NL|NJ|NF|Type|is_floating|is_mobile)\s*=\s*(\w+)")
_LIST = re.compile(r"(?m)^\s*([A-Za-z]\w*)\s*=\s*\{([^{}]*)\}")
_NUMBER = re.compile(r"\(\*\s*([A-Za-z]\w*)\s*=\s*([-+]?[\d.][\w.+-]*)\s*\*\)")
_NAME = re.compile(r"\(\*\s*Robotname\s*=\s*'([^'\n]*)'")
_VARIABLE = re.compile(r"\s*([A-Za-z]\w*)\s*(?:([+-])(.*))?$", re.DOTALL)
_WORDS = frozenset(("pi", "sin", "cos", "tan", "sqrt"))


def read(path: Path, free_root: bool | None = None) -> Robot:
    """Read the robot of a .par file."""
    return loads(read_text(path), str(path))


def loads(text: str, where: str = "text of a .par file") -> Robot:
    """The robot of a .par text; `where` names it in messages."""
    try:
        return robot_from_record(_record(text, where))
    except FileError:
        raise
    except ArmdynError as error:
        raise error.located(where) from None


def _record(text: str, where: str) -> dict[str, Any]:
    numbers = {name: float(value) for name, value in _NUMBER.findall(text) if _is_number(value)}
    named = _NAME.search(text)
    bare = re.sub(r"\(\*.*?\*\)", "", text, flags=re.DOTALL)
    facts, lists = dict(_FACT.findall(bare)), _lists(bare)
    links = _checked(facts, lists, where)
    for place, sigma in (("theta", "0"), ("r", "1")):
        pairs = zip(lists["sigma"], lists.get(place, ()), strict=False)
        lists[place] = [_offset(entry) if kind == sigma else entry for kind, entry in pairs] or ["0"] * links
    used = {name for key, entries in lists.items() for entry in entries for name in _letters(key, entry)}
    unknown = sorted(used - numbers.keys())
    parameters = {name: numbers[name] for name in sorted(used & numbers.keys())} | {
        name: _plausible(name) for name in unknown
    }
    record: dict[str, Any] = {
        "name": named[1].strip() if named else "robot",
        "convention": "modified",
        "gravity": [_text(x) for x in lists.get("G", ["0", "0", "-9.81"])],
        "parameters": parameters,
        "joint": [_row(lists, j, where) for j in range(links)],
    }
    if unknown:
        record["notes"] = [
            f"{NOT_READ}numbers of {', '.join(unknown)}, which the file does not have; others stand for them"
        ]
    base = _base(lists.get("Z", []), where)
    return record | ({"base": base} if base else {})


def _lists(text: str) -> dict[str, list[str]]:
    """Entries by keyword; SYMORO writes Ant, Sigma, Mu, Alpha, Theta, B, R or all of them small."""
    found = {}
    for key, entries in _LIST.findall(text):
        name = (
            key if key in OF_LINKS or key in OF_BASE else _SPELLING.get(key.lower(), key if key == "M" else key.lower())
        )
        found[name] = [entry.strip() for entry in entries.replace("Pi", "pi").split(",")]
    return found


def _checked(facts: Mapping[str, str], lists: Mapping[str, Sequence[str]], where: str) -> int:
    """The number of links, once nothing stands against reading them."""
    try:
        links, joints = int(facts["NL"]), int(facts.get("NJ", facts["NL"]))
    except (KeyError, ValueError):
        raise FileError("no number of links", where=where, expected="a line such as NL = 6") from None
    if joints != links:
        raise FileError(
            f"{joints} joints on {links} links: a closed loop",
            where=where,
            expected="a tree, NJ = NL",
            advice="Describe the loop in a .toml file, by [[loop]].",
        )
    if not 0 < links <= MOST_LINKS:
        raise FileError(f"{links} links", where=where, expected=f"1 to {MOST_LINKS}")
    moving = [key for key in ("is_floating", "is_mobile") if facts.get(key, "0") not in ("0", "False", "false")]
    moving += [key for key in ("W0", "WP0", "V0", "VP0") if any(x not in ("", "0") for x in lists.get(key, ()))]
    if moving:
        raise FileError(f"{moving[0]}: a base that moves", where=where, expected="a base at rest")
    for key in (*GEOMETRY, *OF_LINKS, *OF_JOINTS):
        if key in lists and len(lists[key]) != links:
            raise FileError(f"{key} has {len(lists[key])} entries", where=where, expected=f"{links}, one per link")
    for key in ("ant", "sigma", "alpha"):
        if key not in lists:
            raise FileError(f"{key} is missing", where=where, expected=f"a line such as {key} = {{0,...}}")
    for key, size in OF_BASE.items():
        if key in lists and len(lists[key]) != size:
            raise FileError(f"{key} has {len(lists[key])} entries", where=where, expected=str(size))
    return links


def _row(lists: Mapping[str, Sequence[str]], j: int, where: str) -> dict[str, Any]:
    """One joint and its link, as a robot file has them."""

    def at(key: str) -> Any:
        return _text(lists[key][j]) if key in lists else 0

    before, kind = lists["ant"][j], KINDS.get(lists["sigma"][j])
    if kind is None or not before.isdecimal() or not int(before) <= j:
        entry = f"ant = {before}, sigma = {lists['sigma'][j]}"
        raise FileError(entry, where=f"{where}, joint {j + 1}", expected="an earlier link, and 0, 1 or 2")
    geometry = {
        "theta": at("theta"),
        "d": at("r"),
        "a": at("d"),
        "alpha": at("alpha"),
        "gamma": at("gamma"),
        "b": at("b"),
    }
    inertia = [at(key) for key in TEN]
    row: dict[str, Any] = {"name": f"joint{j + 1}", "type": kind, "link": f"link{j + 1}", **geometry}
    row["parent"] = "base" if before == "0" else f"link{before}"
    row |= {"mass": inertia[9], "moment": inertia[6:9], "inertia_origin": inertia[:6]}
    if kind != "fixed":
        row |= {"rotor": {"inertia": at("IA")}} if at("IA") != 0 else {}
        rubbing = {name: at(key) for name, key in (("viscous", "FV"), ("coulomb", "FS")) if at(key) != 0}
        row |= {"friction": rubbing} if rubbing else {}
        row |= {"elastic": {"stiffness": at("k")}} if at("eta") == 1 else {}
        row |= {"passive": True} if lists.get("mu", ["1"] * (j + 1))[j] == "0" else {}
    return row


def _text(entry: str) -> int | float | str:
    """An entry as a robot file has it: a number, or an expression."""
    if not entry:
        return 0
    if _is_number(entry):
        return int(entry) if entry.lstrip("+-").isdecimal() else float(entry)
    return entry


def _is_number(entry: str) -> bool:
    try:
        return bool(np.isfinite(float(entry)))
    except ValueError:
        return False


def _offset(entry: str) -> str:
    """What is added to the joint variable, which is the first letter: "th2 + pi/2" -> "pi/2"."""
    split = _VARIABLE.match(entry)
    if split is None or split[1] in _WORDS:
        return entry
    return f"{split[2]}{split[3].strip()}".removeprefix("+") if split[2] else "0"


def _letters(key: str, entry: str) -> set[str]:
    """The named parameters of an entry; inputs are none."""
    if key in (*INPUTS, "ant", "sigma", "mu", "eta", "W0", "WP0", "V0", "VP0"):
        return set()
    return set(re.findall(r"(?<![\w.])[A-Za-z]\w*", entry)) - _WORDS


def _plausible(name: str) -> float:
    """A number for a letter, so that bodies are possible and gravity points down."""
    kind = name.rstrip("0123456789")
    return {"G": -9.81, "XY": 0.01, "XZ": 0.01, "YZ": 0.01, "MX": 0.1, "MY": 0.1, "MZ": 0.1}.get(kind, 1.0)


def _base(entries: Sequence[str], where: str) -> dict[str, Any]:
    if not entries:
        return {}
    try:
        Z = np.array([float(x) for x in entries]).reshape(4, 4)
    except ValueError:
        raise FileError("Z with letters", where=where, expected="16 numbers: the pose of the base") from None
    if np.array_equal(Z, np.eye(4)):
        return {}
    if not np.allclose(Z[:3, :3] @ Z[:3, :3].T, np.eye(3), atol=1e-6):
        raise FileError("Z is no pose", where=where, expected="a rotation and a translation, row by row")
    return {"xyz": Z[:3, 3].tolist(), "rpy": list(rpy_of(Z[:3, :3]))}


# Writing ------------------------------------------------------------------------------------------------------------


def write(robot: Robot, path: Path) -> None:
    write_text(path, dumps(robot))


def dumps(robot: Robot) -> str:
    """The robot as a .par file, in the symbols of its own file; `loads` gives it back."""
    require_expressible(robot, "par")
    robot = robot.symbolic
    warn_of_loss(robot, "par", list(_lost(robot)))
    columns = [_column(robot, joint) for joint in robot.tree]
    n, used = len(columns), {node for column in columns for x in column.values() for node in _symbols(x)}
    used |= {node for x in robot.gravity for node in _symbols(x)}
    values = robot.bound().parameters
    base = robot.bound().base.pose()
    Z = [*(x for row, p in zip(base.R.array(), base.p, strict=True) for x in (*row, p)), 0, 0, 0, 1]
    lines = [f"(* Robotname = '{robot.name}' *)", f"NL = {n}", f"NJ = {n}", f"NF = {n}"]
    lines += [
        f"Type = {int(any(int(c['ant']) != j for j, c in enumerate(columns)))}",
        "is_floating = 0",
        "is_mobile = 0",
    ]
    for title, keys in (
        ("Geometric parameters", GEOMETRY),
        ("Dynamic parameters and external forces", (*OF_LINKS, *INPUTS[:6])),
        ("Joint parameters", (*OF_JOINTS, *INPUTS[6:])),
    ):
        lines += [
            "",
            f"(* {title} *)",
            *(f"{key} = {_braced(column.get(key, 0) for column in columns)}" for key in keys),
        ]
    lines += ["", "(* Velocity and acceleration of the base *)"]
    lines += [f"{key} = {{0,0,0}}" for key in ("W0", "WP0", "V0", "VP0")]
    lines += ["", "(* Acceleration of gravity *)", f"G = {_braced(robot.gravity)}"]
    lines += ["", "(* Transformation of 0 frame position fT0 *)", f"Z = {_braced(Z)}"]
    if used:
        lines += ["", "(* Values of the letters *)"]
        lines += [f"(* {name} = {float(values[name])!r} *)" for name in sorted(used)]
    return "\n".join([*lines, "", "(* End of definition *)", ""])


def _column(robot: Robot, joint: Joint) -> dict[str, Any]:
    """The entries of one joint and its link."""
    geometry, names = joint.geometry, [each.body.name for each in robot.tree]
    if not isinstance(geometry, ModifiedDH):
        raise NotApplicable(
            f"joint {joint.name!r} is not described by modified Denavit-Hartenberg parameters",
            where=f"robot {robot.name!r}, SYMORO",
            expected='convention = "modified"',
            advice='Save robot.to_dh("modified"), which has the same torques, or a .toml file.',
        )
    j = names.index(joint.body.name) + 1
    sigma = next(int(key) for key, kind in KINDS.items() if kind == joint.kind)
    found: dict[str, Any] = {"ant": names.index(joint.parent) + 1 if joint.parent in names else 0, "sigma": sigma}
    found |= {"b": geometry.b, "d": geometry.a, "gamma": geometry.gamma, "alpha": geometry.alpha}
    found |= {"theta": geometry.theta, "r": geometry.d, "mu": int(joint.kind != "fixed" and not joint.passive)}
    variable = {"revolute": ("theta", f"t{j}"), "prismatic": ("r", f"r{j}")}.get(joint.kind)
    if variable is not None:
        key, letter = variable
        found[key] = letter if ops.is_zero(found[key]) else f"{letter} + {_written(found[key])}".replace("+ -", "- ")
    found |= dict(zip(TEN, joint.body.inertia.at_origin().parameters(), strict=True))
    if joint.rotor is not None:
        found["IA"] = joint.rotor.inertia * joint.rotor.ratio * joint.rotor.ratio
    if joint.friction is not None:
        found |= {"FV": joint.friction.viscous, "FS": joint.friction.coulomb}
    if joint.elastic is not None:
        if not all(map(ops.is_zero, (joint.elastic.damping, joint.elastic.viscous, joint.elastic.coulomb))):
            raise NotApplicable(
                f"joint {joint.name!r} has a spring with damping, or friction of the motor",
                where=f"robot {robot.name!r}, SYMORO",
                expected="a stiffness alone",
                advice="Save a .toml file.",
            )
        found |= {"eta": 1, "k": joint.elastic.stiffness}
    return found


def _symbols(value: Any) -> set[str]:
    return {str(each.value) for each in ordered([value]) if each.op == "symbol"} if isinstance(value, Node) else set()


def _written(value: Any) -> str:
    if isinstance(value, Node | str):
        return str(value)
    number = float(value)
    return repr(int(number)) if number == int(number) else repr(number)


def _braced(values: Iterable[Any]) -> str:
    return "{" + ",".join(map(_written, values)) + "}"


def _lost(robot: Robot) -> Iterator[str]:
    """What does not change the torques and has no place in the format."""
    if robot.tool != Placement() or robot.tool_on is not None:
        yield "the tool frame"
    for part in ("limits", "motor"):
        joints = [joint.name for joint in robot.movable if getattr(joint, part) is not None]
        if joints:
            yield f"{part} of {', '.join(joints)}"


__all__ = ["dumps", "loads", "read", "write"]
