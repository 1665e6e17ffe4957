"""Write the files of a language."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path, PurePath
from typing import Any

from armdyn.codegen.c_source import stack_bytes
from armdyn.codegen.functions import DEFAULT, ExportedFunction, Model, Real, applicable, model
from armdyn.codegen.payload_parameters import with_payload_parameters
from armdyn.dynamics.looped.choice import THRESHOLDS
from armdyn.dynamics.looped.robots import can_be_looped
from armdyn.errors import ArmdynError, unknown_name
from armdyn.files import require_free, write_bytes, write_text
from armdyn.graph import without_arctangents
from armdyn.notebook_view import View
from armdyn.result import Result
from armdyn.robot import Robot
from armdyn.robot.features import CLOSED, FREE, LOSSY, takes
from armdyn.tables import Column, Section

Content = str | bytes

TARGETS = {
    "c": "C99: header, source, test program, CMake file",
    "cpp": "C++17: one header with a class over std::array and Eigen, test program, CMake file",
    "matlab": "MATLAB and Octave: functions, a class, a test, MEX source",
    "wasm": "WebAssembly with a JavaScript wrapper, TypeScript types and a test",
    "fmu": "FMI 3.0 and 2.0: units with binaries for Linux and C sources, a test through FMPy",
    "python": "a module over NumPy arrays",
}
"""Languages by name; each is a module of this package."""
LOOPING = ("c", "cpp")
"""Languages in which functions may be loops over the links."""


@dataclass(frozen=True)
class Exported(Result):
    """A robot's functions as code: the files by name, texts and bytes. `save(folder)` writes them."""

    language: str
    model: Model
    files: Mapping[PurePath, Content]

    def _counts(self) -> dict[str, dict[str, int]]:
        """Operations of one call of each function, and the stack that a function in C needs."""
        counts = {}
        for function in self.model.functions:
            count = function.operations
            found = {
                "multiplications": count.multiplications,
                "additions": count.additions,
                "divisions": count.divisions,
                "trigonometric": count.trigonometric,
                "other": count.square_roots + count.others + count.negations,
            }
            if self.model.parameters:
                found["of parameters"] = count.offline.total if count.offline else 0
            if self.language in LOOPING:
                found["stack, bytes"] = stack_bytes(self.model, function)
            counts[function.name] = found
        return counts

    def _view(self) -> View:
        heads = {"multiplications": "x", "additions": "+", "divisions": "/", "trigonometric": "sin, cos"}
        counts = self._counts()
        names = next(iter(counts.values()))
        columns = (Column("function"), *(Column(heads.get(name, name)) for name in names))
        rows = tuple((function, *map(str, found.values())) for function, found in counts.items())
        notes = ["Operations of one call."]
        if self.model.parameters:
            notes.append("Of parameters: operations that depend on named parameters only.")
        if self.language in LOOPING:
            notes.append("Stack: a bound that holds without optimisation too.")
        functions = Section("Functions", columns, rows, " ".join(notes))
        sizes = tuple((str(name), _size(content)) for name, content in self.files.items())
        files = Section("Files", (Column("file"), Column("size")), sizes)
        facts = [("language", TARGETS[self.language])]
        return View(f"{self.model.robot.name} as code", facts=facts, sections=(functions, files))

    def record(self) -> dict[str, Any]:
        """Language, operations of every function, and the sizes of the files."""
        sizes = {
            str(name): len(content.encode() if isinstance(content, str) else content)
            for name, content in self.files.items()
        }
        return {"robot": self.model.robot.name, "language": self.language, "functions": self._counts(), "bytes": sizes}

    def save(self, folder: str | os.PathLike[str] = ".") -> list[Path]:
        """Write the files into a folder, made if it does not exist, and return their paths."""
        return save(self.files, Path(folder))


def _size(content: Content) -> str:
    return f"{len(content.splitlines())} lines" if isinstance(content, str) else f"{len(content)} bytes"


@takes(*CLOSED, "elastic", *LOSSY, *FREE)
def export(
    robot: Robot,
    to: str = "c",
    functions: Iterable[str] | None = None,
    prefix: str | None = None,
    *,
    parameters: bool = False,
    loops: bool | None = None,
    real: Real = "double",
    deterministic: bool = False,
) -> Exported:
    """The robot's functions as code; `save(folder)` writes the files.

    robot: with at least one movable joint.
    to: language, one of TARGETS (default "c").
    functions: names from QUANTITIES, or "all" (default: DEFAULT; for "fmu" inverse and forward dynamics).
    prefix: begins the names of files and C functions (default: from the robot's name).
    parameters: keep the named parameters of the robot's file as arguments (default: their values are built in).
    loops: in C and C++, loops over a table of links instead of straight-line code, whose size does not depend on the
        number of joints; not with parameters (default: from 24 joints on, where it is the faster code too).
    real: in C, the type of numbers, "double" or "float" (default: "double").
    deterministic: in C, one sequence of operations for all inputs, with the same bits on every processor (default:
        False).

    Raises UnknownName, ArmdynError (prefix).

    >>> import armdyn
    >>> [str(name) for name in export(armdyn.load("scara5"), "python", ["gravity"]).files]
    ['scara5.py']
    """
    names = None if functions is None else [functions] if isinstance(functions, str) else list(functions)
    chosen = applicable(robot) if names == ["all"] else names
    loops = False if deterministic and loops is None else loops
    made = model_for(to, robot, chosen, prefix, parameters=parameters, loops=loops, real=real)
    made = determined(made, to) if deterministic else made
    return Exported(to, made, contents(made, to))


def determined(made: Model, to: str) -> Model:
    """The model, to be written as deterministic code."""
    if to != "c" or any(function.loops for function in made.functions):
        raise ArmdynError(
            f"deterministic code in {to}{', in loops' if to == 'c' else ''}",
            where="export",
            expected="the language c, without loops",
        )

    def encodable(function: ExportedFunction) -> ExportedFunction:
        return replace(function, traced=lambda: without_arctangents(function.graph))

    return replace(made, functions=tuple(map(encodable, made.functions)), deterministic=True)


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
    """What is written in a language; arguments as in `export`. For an FMU, the robot has a payload as parameters."""
    if to not in TARGETS:
        raise unknown_name("language", to, TARGETS, where="export")
    _must_fit(to, robot, parameters, loops, real)
    if to == "fmu":
        from armdyn.codegen import fmu_source

        loaded = with_payload_parameters(robot, parameters=parameters)
        wanted = fmu_source.DEFAULT if functions is None else functions
        return model(loaded, wanted, prefix, parameters=True)
    names = DEFAULT if functions is None else functions
    if loops is None:
        loops = to in LOOPING and robot.n >= THRESHOLDS.many and not parameters
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
