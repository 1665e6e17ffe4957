"""How the verbs read their input: shared arguments and options, numbers, pairs, file names.

Options whose value depends on the robot (one number per joint) arrive as text and are read when the robot is known.
"""

from __future__ import annotations

import glob
import math
import os
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from armdyn.errors import ArmdynError, unknown_name

if TYPE_CHECKING:
    from armdyn import Robot


class OptionError(ArmdynError):
    """An option or an argument of the command line that cannot be used."""


ROBOT_FILES = (".toml", ".urdf", ".xml", ".xacro", ".par")
PICTURES = (".png", ".svg", ".pdf")
FILMS = (".gif", ".html", ".mp4")
PAYLOAD = "KG[@X,Y,Z]"


def robot_names(incomplete: str) -> list[str]:
    """Completions of a robot for the TAB key: catalog names, robot files and folders; after a comma, its changes."""
    from armdyn import catalog

    if "," in incomplete:
        return _changes(incomplete)
    start = Path(incomplete)
    folder, prefix = (start, "") if incomplete.endswith(os.sep) else (start.parent, start.name)
    found = [path for path in folder.glob(f"{glob.escape(prefix)}*") if path.is_dir() or path.suffix in ROBOT_FILES]
    return [*(name for name in catalog.names() if name.startswith(incomplete)), *sorted(map(str, found))]


CHANGES = ("tip", "base", "lock", "without", "payload", "arg")
"""Changes that may follow the name of a robot, as in panda,tip=hand: the body whose frame becomes the tool frame, the
body that becomes the fixed base, a joint that is held, a feature that is left out, a payload at the tool (kg), an
argument of a .xacro file."""


def _changes(incomplete: str) -> list[str]:
    """Completions after a comma: the keys, then bodies, joints and features of the robot."""
    done, _, last = incomplete.rpartition(",")
    key, equals, _ = last.partition("=")
    known = [f"{name}=" for name in CHANGES]
    if equals and key in CHANGES:
        from armdyn import load

        robot = load(split_robot(done)[0])
        bodies = [joint.body.name for joint in robot.tree]
        values = {
            "tip": bodies,
            "base": bodies,
            "lock": [f"{joint.name}=" for joint in robot.joints],
            "without": [*robot.features, "friction", "rotors", "gravity"],
        }
        known = [f"{key}={value}" for value in values.get(key, ())]
    return [f"{done},{text}" for text in known if text.startswith(last)]


def split_robot(text: str) -> tuple[str, dict[str, Any]]:
    """`"panda,tip=hand,lock=j7=0.3"` as "panda" and {"tip": "hand", "lock": {"j7": 0.3}, ...}: arguments of
    `armdyn.load`, "without", those of `Robot.without`, and "payload", kg. A file whose own name has a comma is taken as
    it is.
    """
    options: dict[str, Any] = {"lock": {}, "args": {}, "without": [], "payload": 0.0}
    name, *changes = [text] if os.path.exists(text) else text.split(",")
    for part in changes:
        key, value = pair(part, "ROBOT", "tip=hand or lock=elbow=30deg")
        if key not in CHANGES:
            raise unknown_name("change of the robot", key, CHANGES, where=text)
        if key == "lock":
            joint, position = pair(value, "ROBOT,lock", "elbow=30deg")
            (options["lock"][joint],) = numbers(position, 1, "ROBOT,lock")
        elif key == "arg":
            argument, setting = pair(value, "ROBOT,arg", "prefix=left_")
            options["args"][argument] = setting
        elif key == "without":
            options["without"].append(value)
        elif key == "payload":
            (options["payload"],) = numbers(value.removesuffix("kg"), 1, "ROBOT,payload")
        elif key in options:
            raise OptionError(f"{key} is given twice", where=text, expected=f"one {key}")
        else:
            options[key] = value
    return name, options


class FigureSize(StrEnum):
    """Widths of figures in a journal."""

    column = "column"
    page = "page"


# Arguments and options that several verbs take -----------------------------------------------------------------------

LOG_FILES = "a file (.csv, .xlsx, .mat, .npz, .parquet, a ROS 2 bag)"


def print_logger_template(asked: bool) -> None:
    """Print a logger's file with all keys, and end."""
    if asked:
        from armdyn.identification import Logger

        print(Logger.template())
        raise typer.Exit


LoggerOption = Annotated[
    Path | None,
    typer.Option(
        "--logger",
        metavar="FILE",
        help="TOML file of the logger: columns, units, gears, efforts; `armdyn identify --print-template` prints one.",
    ),
]
LoggerTemplateOption = Annotated[
    bool,
    typer.Option(
        "--print-template",
        help="Print a file for --logger with all keys.",
        callback=print_logger_template,
        is_eager=True,
    ),
]
RobotArgument = Annotated[
    str,
    typer.Argument(
        metavar="ROBOT",
        help="A name from `armdyn robots` or a robot file; changes follow after commas: tip=BODY, base=BODY, "
        "lock=JOINT=VALUE, without=FEATURE, arg=NAME=VALUE (of a .xacro file).",
        autocompletion=robot_names,
    ),
]
IncludeOption = Annotated[
    str,
    typer.Option(
        metavar="FAMILIES",
        help="Parameters to identify, as in `identify --include`: inertial, rotor, friction, offset, spring.",
    ),
]
ForceOption = Annotated[bool, typer.Option("--force", help="Replace files that exist already.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
LimitsOption = Annotated[
    str | None,
    typer.Option(
        metavar="NAME=VALUE,...",
        help="Limits in place of the robot's, one number for all joints or one each, as in v=1,a=2,tau=87,87,12: v, a, "
        "j, tau, tau_min, no_load (speed without torque, or robot), corner (speed from which it falls); of the tool on "
        "a line: tool_v, tool_a, tool_w, tool_wd.",
    ),
]


# Texts of options ----------------------------------------------------------------------------------------------------


def numbers(text: str, count: int, option: str, single: bool = False) -> list[float]:
    """`"0.1, 30deg, -2"` as numbers in rad and m.

    count:  how many numbers the robot needs
    option: name of the option, for the error message
    single: accept one number for all joints as well
    """
    values = []
    for word in text.replace(",", " ").split():
        degrees = word.endswith("deg")
        try:
            value = float(word.removesuffix("deg"))
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            raise typer.BadParameter(f"{word!r} is not a number (rad, m, or degrees as in 30deg)", param_hint=option)
        values.append(math.radians(value) if degrees else value)
    if len(values) != count and not (single and len(values) == 1):
        one = " or 1" if single and count != 1 else ""
        raise typer.BadParameter(f"got {len(values)} numbers; the robot takes {count}{one}", param_hint=option)
    return values


def configuration(text: str, robot: Robot, option: str) -> list[float]:
    """Positions of the joints: numbers, or the name of one of the robot's configurations."""
    if text in robot.configurations:
        return [float(x) for x in robot.configuration(text)]
    if robot.configurations and text.strip()[:1].isalpha():
        raise unknown_name("configuration", text, robot.configurations, where=option)
    return numbers(text, robot.n, option)


def vector(text: str | None, option: str) -> list[float] | None:
    """`"0.1, 30deg"` as numbers, however many there are."""
    return None if text is None else numbers(text, len(text.replace(",", " ").split()), option)


def position(text: str | None, robot: Robot, option: str = "--at") -> list[float] | None:
    """Numbers, however many there are, or one of the robot's configurations by its name."""
    if text is not None and (text in robot.configurations or text.strip()[:1].isalpha()):
        return [float(x) for x in robot.configuration(text)]
    return vector(text, option)


def limits(text: str, count: int, option: str) -> list[float]:
    """Positive limits, one per joint; a single number holds for all."""
    values = numbers(text, count, option, single=True)
    if min(values) <= 0:
        raise typer.BadParameter("limits must be positive", param_hint=option)
    return values if len(values) == count else values * count


JOINT_LIMITS = {
    "v": "v_max",
    "a": "a_max",
    "j": "j_max",
    "tau": "tau_max",
    "tau_min": "tau_min",
    "no_load": "no_load_speed",
    "corner": "corner_speed",
}
TOOL_LIMITS = {"tool_v": "v_max", "tool_a": "a_max", "tool_w": "w_max", "tool_wd": "wd_max"}


def limits_by_name(text: str | None) -> tuple[Any, Any]:
    """`"v=1,tau=6,87,tool_v=0.2"` as limits of the joints and of the tool, as the functions of motion take them."""
    given: dict[str, list[Any]] = {}
    name = ""
    for word in words((text or "").replace(" ", ",")):
        *named, value = word.rsplit("=", 1)
        name = named[0] if named else name
        if name not in (*JOINT_LIMITS, *TOOL_LIMITS):
            raise unknown_name("limit", name, (*JOINT_LIMITS, *TOOL_LIMITS), where="--limits")
        robots_own = name == "no_load" and value == "robot"
        given.setdefault(name, []).append(value if robots_own else numbers(value, 1, f"--limits {name}")[0])
    values = {name: each[0] if len(each) == 1 else each for name, each in given.items()}
    joints, tool = (
        {known[name]: value for name, value in values.items() if name in known} for known in (JOINT_LIMITS, TOOL_LIMITS)
    )
    return joints, tool


def joint_limits(text: str | None, *names: str) -> dict[str, Any]:
    """`"v=1,a=4"` as {"v_max": 1.0, "a_max": 4.0}; other limits than those named do not matter here."""
    given: dict[str, Any] = limits_by_name(text)[0]
    known = [JOINT_LIMITS[name] for name in names]
    for name in given:
        if name not in known:
            raise unknown_name("limit", name.removesuffix("_max"), names, where="--limits")
    return given


def payload(text: str | None) -> tuple[float, list[float]]:
    """`"3kg@0,0,0.1"` as mass and centre of mass in the tool frame; None: no mass."""
    mass, _, com = (text or "0").partition("@")
    (kilograms,) = numbers(mass.strip().removesuffix("kg"), 1, "--payload")
    if kilograms < 0:
        raise typer.BadParameter("the mass must not be negative", param_hint="--payload")
    return kilograms, numbers(com, 3, "--payload") if com else [0.0, 0.0, 0.0]


def seconds(text: str, where: str) -> float:
    """`1ms` or `0.001` as a time in s."""
    number, factor = (text.removesuffix("ms"), 1e-3) if text.endswith("ms") else (text.removesuffix("s"), 1.0)
    try:
        return factor * float(number)
    except ValueError:
        raise OptionError(f"{text!r} is not a time", where=where, expected="as in 1ms or 0.001") from None


def words(text: str) -> tuple[str, ...]:
    """`"inertial, friction"` as ("inertial", "friction")."""
    return tuple(word.strip() for word in text.split(",") if word.strip())


def pair(text: str, option: str, example: str) -> tuple[str, str]:
    """`"NAME=VALUE"` as (NAME, VALUE); example: shown in the error message."""
    name, sign, value = (part.strip() for part in text.partition("="))
    if not (name and sign and value):
        raise typer.BadParameter(f"{text!r} is not of the form {example}", param_hint=option)
    return name, value


def check_extension(path: Path | None, extensions: tuple[str, ...], option: str) -> None:
    """Refuse a file name that could not be written in the end, before the work begins."""
    if path is not None and path.suffix.lower() not in extensions:
        raise typer.BadParameter(f"{path.name!r} must end in {', '.join(extensions)}", param_hint=option)


def model_errors(text: str) -> dict[str, Any]:
    """`"mass=10%,payload=0:5"` as {"mass": 0.1, "payload": (0.0, 5.0)}: what may be wrong in a model."""
    known = ("mass", "payload", "friction")
    found: dict[str, Any] = {"mass": 0.0}
    for word in text.split(","):
        name, _, value = (each.strip() for each in word.partition("="))
        if name not in known:
            raise unknown_name("quantity", name, known, where="NAME=RANGE")
        try:
            if name == "payload":
                low, high = map(float, value.split(":"))
                found[name] = low, high
            else:
                found[name] = float(value.removesuffix("%")) / (100 if value.endswith("%") else 1)
        except ValueError:
            expected = "two masses such as payload=0:5" if name == "payload" else f"a share such as {name}=10%"
            raise OptionError(f"{word!r} is not a range", where="NAME=RANGE", expected=expected) from None
    return found
