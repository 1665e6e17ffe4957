"""Robot files in TOML: named parameters, arithmetic in quotes, one [[joint]] per joint."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from armdyn.errors import ArmdynError, FileError
from armdyn.files import write_text
from armdyn.formats.expressible import require_expressible
from armdyn.formats.text import read_text
from armdyn.robot.record import robot_from_record
from armdyn.robot.record_writer import record_from_robot
from armdyn.robot.robot import Robot

LARGEST = 2 * 2**20
MOST_DOTS = 100


def read(path: Path, free_root: bool | None = None) -> Robot:
    """Read the robot of a TOML file, which has no free joints."""
    return loads(read_text(path), str(path))


def loads(text: str, where: str = "TOML text") -> Robot:
    """The robot of a TOML text; `where` names it in messages."""
    record = toml_tables(text, where, "The format is shown in docs/start/robot_files.md.")
    try:
        return robot_from_record(record)
    except ArmdynError as error:
        raise error.located(where) from None


def toml_tables(text: str, where: str, advice: str | None = None) -> dict[str, Any]:
    """The tables of any TOML text; FileError, with the advice, if it is not TOML."""
    _refuse_bombs(text, where)
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, ValueError) as error:
        raise FileError(f"not TOML: {error}", where=where, advice=advice) from None
    except RecursionError:
        raise FileError("nested too deeply", where=where) from None


def _refuse_bombs(text: str, where: str) -> None:
    """The parser's memory grows with the square of the length of a dotted key: 200 kB of `a.a.a...` take gigabytes."""
    if len(text) > LARGEST:
        raise FileError(f"{len(text) / 2**20:.1f} MiB of TOML", where=where, expected=f"at most {LARGEST // 2**20} MiB")
    for number, line in enumerate(text.split("\n"), start=1):
        if line.count(".") > MOST_DOTS:
            raise FileError(
                f"the line has {line.count('.')} dots",
                where=f"{where}:{number}",
                expected=f"at most {MOST_DOTS}",
                advice="Break the line.",
            )


def dumps(robot: Robot) -> str:
    """The robot as TOML; `loads` gives it back."""
    require_expressible(robot, "toml")
    record = record_from_robot(robot)
    lines = [f"{key} = {toml_value(value)}" for key, value in record.items() if not _is_section(key)]
    if "parameters" in record:
        lines += ["", "[parameters]"] + [f"{key} = {toml_value(value)}" for key, value in record["parameters"].items()]
    for name, values in record.get("configurations", {}).items():
        lines += ["", f"[configurations.{toml_value(name)}]"] + [
            f"{toml_value(key)} = {toml_value(x)}" for key, x in values.items()
        ]
    for section in ("joint", "loop"):
        for row in record.get(section, []):
            lines += ["", f"[[{section}]]"] + [f"{key} = {toml_value(value)}" for key, value in row.items()]
    return "\n".join(lines) + "\n"


def write(robot: Robot, path: Path) -> None:
    write_text(path, dumps(robot))


def _is_section(key: str) -> bool:
    return key in ("parameters", "configurations", "joint", "loop")


def toml_value(value: Any) -> str:
    """One TOML value. A JSON string is a TOML basic string; Python prints floats so that they read back exactly."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key} = {toml_value(entry)}" for key, entry in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml_value, value)) + "]"
    return repr(float(value)) if isinstance(value, float) else repr(value)  # NumPy shows the type of its numbers
