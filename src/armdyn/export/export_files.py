"""Write the files of a language."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from importlib import import_module
from pathlib import Path, PurePath

from armdyn.errors import ArmdynError, unknown_name
from armdyn.export import fmu_source
from armdyn.export.functions import DEFAULT, Model, model
from armdyn.files import require_free, write_bytes, write_text
from armdyn.robot import Robot
from armdyn.robot.features import CLOSED, FREE, TREE, takes

Content = str | bytes

TARGETS = {
    "c": "C99: header, source, test program, CMake file",
    "cpp": "C++17: one header with a class over std::array and Eigen, test program, CMake file",
    "matlab": "MATLAB and Octave: functions, a class, a test, MEX source",
    "wasm": "WebAssembly with a JavaScript wrapper, TypeScript types and a test",
    "fmu": "FMI 3.0: units with C sources for Model Exchange and Co-Simulation, a test through FMPy",
    "python": "a module over NumPy arrays",
    "latex": "the program as equations",
    "casadi": "files for casadi.Function.load",
    "jax": "a module over JAX arrays",
}
"""Languages by name; each is a module of this package."""


@takes(*CLOSED, "elastic", *TREE, *FREE)
def write(
    robot: Robot,
    to: str = "c",
    out: str | os.PathLike[str] = ".",
    functions: Iterable[str] | None = None,
    prefix: str | None = None,
    *,
    parameters: bool = False,
) -> list[Path]:
    """Write the robot's functions as code into a folder and return the paths of the files.

    robot: with at least one movable joint.
    to: language, one of TARGETS (default "c").
    out: folder, made if it does not exist (default: the current one).
    functions: names from QUANTITIES (default: DEFAULT; for "fmu" inverse and forward dynamics).
    prefix: begins the names of files and C functions (default: from the robot's name).
    parameters: keep the named parameters of the robot's file as arguments (default: their values are built in).

    Raises UnknownName, ArmdynError (prefix), MissingExtra (casadi), FileError.

    >>> import armdyn, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     [path.name for path in write(armdyn.load("scara5"), "python", folder, ["gravity"])]
    ['scara5.py']
    """
    return save(contents(model_for(to, robot, functions, prefix, parameters=parameters), to), Path(out))


def model_for(
    to: str,
    robot: Robot,
    functions: Iterable[str] | None = None,
    prefix: str | None = None,
    *,
    parameters: bool = False,
) -> Model:
    """What is written in a language: the functions, of a robot with a payload as parameters if it is for an FMU."""
    if to not in TARGETS:
        raise unknown_name("language", to, TARGETS, where="export")
    if to != "fmu":
        return model(robot, DEFAULT if functions is None else functions, prefix, parameters=parameters)
    loaded = fmu_source.prepared(robot, parameters=parameters)
    return model(loaded, fmu_source.DEFAULT if functions is None else functions, prefix, parameters=True)


def contents(model: Model, to: str) -> dict[PurePath, Content]:
    """The files of a language by name: texts, and bytes of what is not text."""
    made: dict[PurePath, Content] = import_module(f"armdyn.export.{to}_source").files(model)
    return made


def texts(model: Model, to: str) -> dict[PurePath, str]:
    """The texts of a language by file name."""
    return {name: content for name, content in contents(model, to).items() if isinstance(content, str)}


def save(files: Mapping[PurePath, Content], folder: Path) -> list[Path]:
    """Write the texts into a folder."""
    for name in files:
        if name.name != str(name):
            raise ArmdynError(f"{name} is not a plain file name", where="export")
    require_free(folder / name for name in files)
    return [
        write_text(folder / name, content) if isinstance(content, str) else write_bytes(folder / name, content)
        for name, content in files.items()
    ]
