"""xacro: URDF written with macros, expanded by the package `xacro` (the extra of the same name).

Expressions in a xacro file are evaluated by that package: read only files that you trust. $(find NAME) is looked up in
the folders around the file and in the paths of ROS, whether ROS is installed or not.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

from armdyn.errors import FileError
from armdyn.files import regular_size
from armdyn.formats import urdf_read
from armdyn.formats.mesh_files import find_package
from armdyn.formats.text import LARGEST_FILE
from armdyn.robot.parts import RobotFile
from armdyn.robot.robot import Robot

INDEX = "ament_index_python"
"""The package that xacro asks for the folders of others."""


def read(path: Path, free_root: bool | None = None, args: Mapping[str, Any] | None = None) -> Robot:
    """The robot of a xacro file.

    free_root: False welds floating joints.
    args: values of the file's <xacro:arg>, by name.
    """
    text = expanded(path, args or {})
    source = f"xacro file {path.name}"
    robot = urdf_read.loads(text, str(path), source if source.isprintable() else "", free_root)
    return replace(robot, file=RobotFile("urdf", str(path), text))


def expanded(path: Path, args: Mapping[str, Any]) -> str:
    """The URDF text that a xacro file stands for."""
    regular_size(path, LARGEST_FILE)
    try:
        import xacro
    except ImportError:
        raise FileError(
            "a xacro file, and the package xacro is not installed",
            where=str(path),
            advice="Run `pip install armdyn[xacro]`, or `xacro FILE > robot.urdf` where ROS is, and read that.",
        ) from None
    mappings = {name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in args.items()}
    try:
        with _packages(path.parent):
            document = xacro.process_file(str(path), mappings=mappings)
    except Exception as error:  # of many kinds: the package raises what the file's expressions raise
        reason = str(error) or type(error).__name__
        advice = "Pass missing arguments as args={...}, on the command line as ROBOT,arg=NAME=VALUE."
        raise FileError(f"xacro cannot expand it: {reason}", where=str(path), advice=advice) from None
    return str(document.toprettyxml(indent="  "))


@contextmanager
def _packages(folder: Path) -> Iterator[None]:
    """Answer xacro's $(find NAME) for packages around a folder, and by ROS for all others."""
    kept = {name: module for name, module in sys.modules.items() if name.partition(".")[0] == INDEX}
    try:
        from ament_index_python.packages import get_package_share_directory as installed
    except ImportError:
        installed = None

    def share(name: str) -> str:
        found = find_package(name, folder)
        if found is not None:
            return str(found)
        if installed is not None:
            return str(installed(name))
        raise LookupError(f"there is no package {name!r} around the file or in ROS_PACKAGE_PATH")

    index, packages = ModuleType(INDEX), ModuleType(f"{INDEX}.packages")
    for module in (index, packages):
        module.__dict__["get_package_share_directory"] = share
    sys.modules |= {INDEX: index, f"{INDEX}.packages": packages}
    try:
        yield
    finally:
        for name in [name for name in sys.modules if name.partition(".")[0] == INDEX]:
            del sys.modules[name]
        sys.modules |= kept
