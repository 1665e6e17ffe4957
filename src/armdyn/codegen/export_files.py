"""Write the files of a language."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from importlib import import_module
from pathlib import Path, PurePath

from armdyn.codegen import fmu_source
from armdyn.codegen.functions import DEFAULT, Model, Real, model
from armdyn.dynamics.looped.choice import THRESHOLDS
from armdyn.dynamics.looped.robots import can_be_looped
from armdyn.errors import ArmdynError, unknown_name
from armdyn.files import require_free, write_bytes, write_text
from armdyn.robot import Robot
from armdyn.robot.features import CLOSED, FREE, LOSSY, takes

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
LOOPING = ("c", "cpp")
"""Languages in which functions may be loops over the links."""


@takes(*CLOSED, "elastic", *LOSSY, *FREE)
def write(
    robot: Robot,
    to: str = "c",
    out: str | os.PathLike[str] = ".",
    functions: Iterable[str] | None = None,
    prefix: str | None = None,
    *,
    parameters: bool = False,
    loops: bool | None = None,
    real: Real = "double",
) -> list[Path]:
    """Write the robot's functions as code into a folder and return the paths of the files.

    robot: with at least one movable joint.
    to: language, one of TARGETS (default "c").
    out: folder, made if it does not exist (default: the current one).
    functions: names from QUANTITIES (default: DEFAULT; for "fmu" inverse and forward dynamics).
    prefix: begins the names of files and C functions (default: from the robot's name).
    parameters: keep the named parameters of the robot's file as arguments (default: their values are built in).
    loops: in C and C++, loops over a table of links instead of straight-line code, whose size does not depend on the
        number of joints (default: from 24 joints on, where it is the faster code too).
    real: in C, the type of numbers, "double" or "float" (default: "double").

    Raises UnknownName, ArmdynError (prefix), MissingExtra (casadi), FileError.

    >>> import armdyn, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     [path.name for path in write(armdyn.load("scara5"), "python", folder, ["gravity"])]
    ['scara5.py']
    """
    return save(
        contents(model_for(to, robot, functions, prefix, parameters=parameters, loops=loops, real=real), to), Path(out)
    )


def model_for(
    to: str,
    robot: Robot,
    functions: Iterable[str] | None = None,
    prefix: str | None = None,
    *,
    parameters: bool = False,
    loops: bool | None = None,
    real: Real = "double",
) -> Model:
    """What is written in a language; arguments as in `write`. For an FMU, the robot has a payload as parameters."""
    if to not in TARGETS:
        raise unknown_name("language", to, TARGETS, where="export")
    _must_fit(to, robot, parameters, loops, real)
    if to == "fmu":
        loaded = fmu_source.prepared(robot, parameters=parameters)
        wanted = fmu_source.DEFAULT if functions is None else functions
        long = robot.n >= THRESHOLDS.many and not parameters and not robot.compounds
        return model(loaded, wanted, prefix, parameters=True, loops=long)
    names = DEFAULT if functions is None else functions
    if loops is None:
        loops = to in LOOPING and robot.n >= THRESHOLDS.many
    return replace(model(robot, names, prefix, parameters=parameters, loops=loops), real=real)


def _must_fit(to: str, robot: Robot, parameters: bool, loops: bool | None, real: Real) -> None:
    """Raise ArmdynError for options that a language does not have."""
    if real != "double" and to != "c":
        raise ArmdynError(f"32-bit numbers in {to}", where="export", expected="the language c")
    if loops and to not in LOOPING:
        raise ArmdynError(f"loops in {to}", where="export", expected=f"one of: {', '.join(LOOPING)}")
    if loops and (parameters or not can_be_looped(robot, "inverse_dynamics")):
        raise ArmdynError(
            "named parameters together with loops" if parameters else "there is no looped code for this robot",
            where=f"export of robot {robot.name!r}",
            expected="numbers, and four joints or more without closed loops, elastic joints or special friction",
            advice="Leave loops out: straight-line code takes everything into account.",
        )


def contents(model: Model, to: str) -> dict[PurePath, Content]:
    """The files of a language by name: texts, and bytes of what is not text."""
    made: dict[PurePath, Content] = import_module(f"armdyn.codegen.{to}_source").files(model)
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
