"""FMI 3.0 and FMI 2.0: one FMU of each per function, a test through FMPy with reference vectors, a note.

Every unit has C sources and a binary for Linux on x86-64. Forward dynamics is the robot as a plant: joint torques in,
joint positions and velocities as continuous states, for Model Exchange and for Co-Simulation with an integrator of its
own. A control law is a unit for Co-Simulation, which samples its inputs once a period. Every other function is a block
without state. The payload at the tool is a tunable parameter of each, of a law if it was chosen, and so are gains and
the named parameters of the robot's file, if kept.
"""

from __future__ import annotations

import hashlib
import io
import json
import textwrap
import uuid
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import PurePath
from typing import Any, NamedTuple
from xml.sax.saxutils import quoteattr

from armdyn import __version__
from armdyn.codegen import c_source, fmu_binary
from armdyn.codegen.c_controller import PERIODS
from armdyn.codegen.functions import PARAMETERS, ExportedFunction, Model, Vectors
from armdyn.codegen.naming import identifier
from armdyn.codegen.payload_parameters import PAYLOAD
from armdyn.codegen.reference_vectors import TOLERANCE, vectors
from armdyn.graph.program import fresh
from armdyn.graph.structure import Port, nodes_of
from armdyn.markup import safe_text
from armdyn.mechanics.dependent_joints import dependent_joints
from armdyn.robot import Robot
from armdyn.robot.compounds import QUATERNION, position_rates
from armdyn.robot.coordinates import coordinates
from armdyn.robot.features import sentence
from armdyn.robot.limits import start_position
from armdyn.robot.parts import Kind

PLANT = "forward_dynamics"
DEFAULT = ("inverse_dynamics", PLANT)
LAW = ("start", "motion", "control")
"""The functions of a control law, in the order in which they are called."""
RATES = "q_rates"
"""The time derivative of q, a further result of the plant's function."""
TOLERATED = 1e-8
"""Relative error of a step of the plant's own integrator, by default."""
EPOCH = (1980, 1, 1, 0, 0, 0)
"""Date of the files in an archive: the same robot gives the same bytes."""

UNITS: dict[str, dict[Kind, str]] = {
    "q": {"revolute": "rad", "prismatic": "m"},
    "qd": {"revolute": "rad/s", "prismatic": "m/s"},
    "qdd": {"revolute": "rad/s2", "prismatic": "m/s2"},
    "tau": {"revolute": "N.m", "prismatic": "N"},
}
UNITS |= {f"{name}_desired": UNITS[name] for name in ("q", "qd", "qdd")}
UNITS |= {"c": UNITS["tau"], "g": UNITS["tau"], "residual": UNITS["tau"], RATES: UNITS["qd"]}
"""Units of joint vectors, by the kind of joint."""
BASE_UNITS = {
    "rad": 'rad="1"',
    "m": 'm="1"',
    "rad/s": 'rad="1" s="-1"',
    "m/s": 'm="1" s="-1"',
    "rad/s2": 'rad="1" s="-2"',
    "m/s2": 'm="1" s="-2"',
    "N.m": 'kg="1" m="2" s="-2"',
    "N": 'kg="1" m="1" s="-2"',
    "kg": 'kg="1"',
    "kg.m2": 'kg="1" m="2"',
    "s": 's="1"',
    "1/s": 's="-1"',
    "1": "",
}


VERSIONS = {3: "", 2: "_fmi2"}
"""Versions of FMI, and what the names of their files end with."""


def files(model: Model) -> dict[PurePath, str | bytes]:
    """The archives and texts by file name."""
    name = model.prefix
    archives = {PurePath(unit.file): unit.archive() for unit in units(model)}
    return {**archives, PurePath(f"{name}_fmu_test.py"): _test(model), PurePath("README.txt"): _readme(model)}


def units(model: Model) -> list[Unit]:
    """The units of all versions."""
    law = [function for function in model.functions if model.sampling and function.name in LAW]
    others = [(function.name, (function,)) for function in model.functions if function not in law]
    ordered = tuple(sorted(law, key=lambda function: LAW.index(function.name)))
    named = [("controller", ordered), *others] if law else others
    return [Unit(model, title, functions, version) for title, functions in named for version in VERSIONS]


class Variable(NamedTuple):
    """A variable of the model description; its value reference is its place."""

    name: str
    causality: str
    words: str
    unit: str = ""
    start: float | None = None
    derivative: int | None = None
    variability: str = "continuous"

    def written(self, place: int, version: int = 3) -> str:
        """The element of the model description."""
        parts: list[tuple[str, object]] = [
            ("name", self.name),
            ("valueReference", place),
            ("causality", self.causality),
            ("variability", self.variability),
        ]
        if self.causality == "output" or self.causality == "local":
            parts.append(("initial", "calculated" if self.start is None else "exact"))
        derivative = self.derivative if version == 3 or self.derivative is None else self.derivative + 1  # a place
        optional = {"unit": self.unit or None, "start": self.start, "derivative": derivative}
        value: list[tuple[str, object]] = [(key, value) for key, value in optional.items() if value is not None]
        words: list[tuple[str, object]] = [("description", self.words)]
        if version == 2:
            return f"    <ScalarVariable {_attributes(parts + words)}><Real {_attributes(value)}/></ScalarVariable>"
        return f"    <Float64 {_attributes(parts + value + words)}/>"


def _attributes(pairs: Sequence[tuple[str, object]]) -> str:
    return " ".join(f"{key}={quoteattr(str(value))}" for key, value in pairs)


@dataclass(frozen=True)
class Unit:
    """The FMU of one function, or of a control law, for one version of FMI."""

    model: Model
    title: str
    functions: tuple[ExportedFunction, ...]
    version: int

    @property
    def plant(self) -> bool:
        return self.title == PLANT

    @property
    def period(self) -> float:
        """Of a control law, s; else 0."""
        return self.model.sampling.period if self.model.sampling and self.title == "controller" else 0.0

    @property
    def identifier(self) -> str:
        return f"{self.model.prefix}_{self.title}"

    @property
    def file(self) -> str:
        return f"{self.identifier}{VERSIONS[self.version]}.fmu"

    @cached_property
    def code(self) -> Model:
        """What is written as C: the functions; the plant's also gives the rates of positions."""
        functions = self.functions
        if self.plant:
            (function,) = functions
            given = function.graph.inputs
            rates = position_rates(self.model.robot.compounds, list(given["q"]), list(given["qd"]))
            wider = replace(function.graph, outputs={**function.graph.outputs, RATES: nodes_of(tuple(rates))})
            functions = (replace(function, traced=lambda: wider),)
        return replace(self.model, functions=functions, sampling=None)

    @cached_property
    def ports(self) -> dict[str, Port]:
        """Arguments and results of the functions by name, but parameters."""
        each = (port for function in self.functions for port in (*function.inputs, *function.outputs))
        return {port.name: port for port in each if port.name != PARAMETERS}

    @cached_property
    def hidden(self) -> dict[str, int]:
        """Numbers of a control law that are no variables, with their sizes."""
        if not self.period:
            return {}
        kept = {port.name for function in self.functions[:-1] for port in function.outputs} | {"memory", "next_memory"}
        return {"time": 1} | {name: port.size for name, port in self.ports.items() if name in kept}

    @cached_property
    def parts(self) -> dict[str, tuple[Variable, ...]]:
        """Variables by group, in the order of value references."""
        ports, last = self.ports, self.functions[-1]
        if not self.plant:
            kind = "discrete" if self.period else "continuous"
            given = [port for name, port in ports.items() if port not in last.outputs and name not in self.hidden]
            results = [port for port in last.outputs if port.name not in self.hidden]
            outputs = [each._replace(variability=kind) for port in results for each in self._listed(port, "output")]
            inputs = [each._replace(variability=kind) for port in given for each in self._listed(port, "input")]
            return {
                "time": (_TIME,),
                "inputs": tuple(inputs),
                "states": (),
                "derivatives": (),
                "outputs": tuple(outputs),
                "parameters": self._parameters,
            }
        inputs = list(self._listed(ports["tau"], "input"))
        states = [*self._listed(ports["q"], "output"), *self._listed(ports["qd"], "output")]
        first = 1 + len(inputs)
        rates = [
            Variable(
                f"der({variable.name})",
                "local",
                f"rate of {variable.name}",
                _RATE_UNITS[variable.unit],
                None,
                first + i,
            )
            for i, variable in enumerate(states[: ports["q"].size])
        ]
        accelerations = self._listed(last.outputs[0], "output")
        rates += [v._replace(derivative=first + len(rates) + i) for i, v in enumerate(accelerations)]
        tolerance = Variable(
            "tolerance", "parameter", "relative error of a step in co-simulation", "", TOLERATED, None, "tunable"
        )
        return {
            "time": (_TIME,),
            "inputs": tuple(inputs),
            "states": tuple(states),
            "derivatives": tuple(rates),
            "outputs": (),
            "parameters": (*self._parameters, tolerance),
        }

    @cached_property
    def variables(self) -> tuple[Variable, ...]:
        return tuple(variable for part in self.parts.values() for variable in part)

    def first(self, part: str) -> int:
        """The first value reference of a group."""
        names = list(self.parts)
        return sum(len(self.parts[name]) for name in names[: names.index(part)])

    def _listed(self, port: Port, causality: str) -> Iterator[Variable]:
        """The entries of an argument or a result."""
        words, robot = self.functions[-1].words(port.name), self.model.robot
        units = UNITS.get(port.name)
        start = _start(robot) if port.name == "q" else [0.0] * port.size
        state = causality == "output" and self.plant and port.name in ("q", "qd")
        known = causality == "input" or state
        if units is None:
            for place, (indices, _) in enumerate(port.places()):
                entry = "[" + ",".join(str(index + 1) for index in indices) + "]" if indices else ""
                yield Variable(f"{port.name}{entry}", causality, words, "", start[place] if known else None)
            return
        taken: set[str] = set()
        for place, (name, kind) in enumerate(self._entries(port.name)):
            unit = "1" if kind is None else units[kind]
            label = f"{port.name}.{fresh(identifier(name, frozenset()), taken)}"
            shown = f"{safe_text(name)}: {words}"
            yield Variable(label, causality, shown, unit, start[place] if known else None)

    def _entries(self, name: str) -> list[tuple[str, Kind | None]]:
        """(name, kind of joint) of every entry of a joint vector; kind None: of a quaternion."""
        model = self.model
        if name != "q" or not model.robot.compounds:
            return list(model.axes)
        kinds = dict(model.axes)
        return [
            (
                place,
                None
                if place.endswith(tuple(f" {x}" for x in QUATERNION)) and place not in kinds
                else kinds.get(place, "prismatic"),
            )
            for place in model.robot.position_names
        ]

    @cached_property
    def _parameters(self) -> tuple[Variable, ...]:
        """Parameters that the functions take, in their order, then those of the payload on which none depends."""
        known = self.model.values if self.model.sampling else self.model.robot.parameters
        last = [*known][-len(PAYLOAD) :]
        held = bool(last) and last[0].startswith("payload_")  # else a law without one
        payload = dict(zip(last, PAYLOAD.values(), strict=True)) if held else {}
        taken: set[str] = set()
        used = []
        for node, value in zip(self.model.parameters, self.model.defaults, strict=True):
            own = f"parameters.{fresh(identifier(node.value, frozenset()), taken)}"
            about = "gain of the law" if node.value in self.model.values else "of the robot's file"
            name, unit, words = payload.get(node.value, (own, "", f"{safe_text(node.value)}, {about}"))
            used.append(Variable(name, "parameter", words, unit, value, None, "tunable"))
        listed = {variable.name for variable in used}
        rest = [
            Variable(name, "parameter", f"{words}; without effect on this robot", unit, 0.0, None, "tunable")
            for name, unit, words in payload.values()
            if name not in listed
        ]
        return (*used, *rest)

    # The archive ------------------------------------------------------------------------------------------------------

    @cached_property
    def sources(self) -> dict[str, str]:
        """The C files by name."""
        name = self.model.prefix
        kept = {each: (fmu_binary.FOLDER / each).read_text(encoding="utf-8") for each in self._around}
        return {
            f"{name}.h": c_source.header(self.code),
            f"{name}.c": c_source.source(self.code),
            "model.c": self._adapter(),
            **kept,
        }

    @property
    def _around(self) -> tuple[str, ...]:
        return (f"fmi{self.version}.c", "instance.h", "model.h")

    @cached_property
    def token(self) -> str:
        """Changes with the code and the description."""
        described = [variable.written(place, self.version) for place, variable in enumerate(self.variables)]
        texts = [c_source.source(self.code), *described, *map(str, (self.version, self.period))]
        return "{" + str(uuid.UUID(bytes=hashlib.sha256("\0".join(texts).encode()).digest()[:16])) + "}"

    def archive(self) -> bytes:
        """The FMU, a zip archive, as bytes."""
        texts: dict[str, str | bytes] = {"modelDescription.xml": self._description()}
        texts[f"documentation/{'index' if self.version == 3 else '_main'}.html"] = self._page()
        texts |= {f"sources/{name}": text for name, text in self.sources.items()}
        if self.version == 3:
            texts["sources/buildDescription.xml"] = self._build()
        folder = "x86_64-linux" if self.version == 3 else "linux64"
        texts[f"binaries/{folder}/{self.identifier}.so"] = self._binary()
        made = io.BytesIO()
        with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, text in texts.items():
                archive.writestr(zipfile.ZipInfo(name, EPOCH), text, zipfile.ZIP_DEFLATED)
        return made.getvalue()

    def _binary(self) -> bytes:
        at = {**self.at, PARAMETERS: self.first("parameters")}
        calls = {
            name: [(f"unit_{function.name}", function.graph, at) for function in functions]
            for name, functions in self._called.items()
        }
        text = fmu_binary.model_text(self._layout, self._starts, self._quaternions, self.token, calls)
        return fmu_binary.library(self.version, text, f"fmi{self.version}")

    @cached_property
    def _called(self) -> dict[str, list[ExportedFunction]]:
        """What `model_begin` and `model_evaluate` call."""
        functions = list(self.code.functions)
        start = [function for function in functions if self.period and function.name == "start"]
        return {"model_begin": start, "model_evaluate": [each for each in functions if each not in start]}

    @property
    def _starts(self) -> list[float]:
        return [0.0 if each.start is None else each.start for each in self.variables]

    @property
    def _quaternions(self) -> list[int]:
        return [span.positions.stop - 4 for span in self.model.robot.compounds] if self.plant else []

    @cached_property
    def _layout(self) -> tuple[float | int, ...]:
        """The entries of `Layout` in fmu/model.h."""
        visible, parts = len(self.variables), self.parts
        memory = self.hidden.get("memory", 0)
        places = [self.at.get(name, 0) for name in ("memory", "next_memory")]
        return (
            self.period,
            visible + sum(self.hidden.values()),
            visible,
            self.first("states"),
            len(parts["states"]),
            self.first("derivatives"),
            self.first("parameters"),
            visible,
            *places,
            memory,
            len(self._quaternions),
        )

    def _description(self) -> str:
        new = self.version == 3
        state = "FMUState" if new else "FMUstate"
        name = f'modelIdentifier="{self.identifier}"'
        both = f'{name} canGetAndSet{state}="true" canSerialize{state}="true"'
        step = 'canHandleVariableCommunicationStepSize="true"'
        step += ' canReturnEarlyAfterIntermediateUpdate="false"' if new else ""
        used = dict.fromkeys(variable.unit for variable in self.variables if variable.unit)
        token = "instantiationToken" if new else "guid"
        listed = "".join(f'<File name="{file}"/>' for file in self._compiled)
        if new:
            ends = ["/>", "/>"]
        else:
            both += ' canNotUseMemoryManagementFunctions="true"'
            ends = [f"><SourceFiles>{listed}</SourceFiles></{kind}>" for kind in ("ModelExchange", "CoSimulation")]
        step_size = self.period or 0.001
        lines = [
            '<?xml version="1.0" encoding="UTF-8"?>',
            f'<fmiModelDescription fmiVersion="{self.version}.0" modelName="{self.identifier}" {token}="{self.token}" '
            f"description={quoteattr(self._words)} generationTool={quoteattr(f'armdyn {__version__}')} "
            f'variableNamingConvention="structured"{"" if new else _NO_EVENTS}>',
            *([] if self.period else [f"  <ModelExchange {both}{ends[0]}"]),
            f"  <CoSimulation {both} {step}{ends[1]}",
            "  <UnitDefinitions>",
            *(f'    <Unit name="{unit}"><BaseUnit {BASE_UNITS[unit]}/></Unit>' for unit in used),
            "  </UnitDefinitions>",
            f'  <DefaultExperiment startTime="0" stopTime="1" stepSize="{step_size!r}"/>',
            "  <ModelVariables>",
            *(variable.written(place, self.version) for place, variable in enumerate(self.variables)),
            "  </ModelVariables>",
            "  <ModelStructure>",
            *(self._structure() if new else self._old_structure()),
            "  </ModelStructure>",
            "</fmiModelDescription>",
            "",
        ]
        return "\n".join(lines)

    @cached_property
    def _unknowns(self) -> dict[str, list[int]]:
        """Places of outputs, of derivatives, and of what is calculated at the start."""
        places, first = dict(enumerate(self.variables)), self.first("derivatives")
        return {
            "Output": [i for i, each in places.items() if each.causality == "output"],
            "ContinuousStateDerivative": [*range(first, first + len(self.parts["derivatives"]))],
            "InitialUnknown": [
                i for i, each in places.items() if each.start is None and each.causality in ("output", "local")
            ],
        }

    def _structure(self) -> Iterator[str]:
        for kind, places in self._unknowns.items():
            yield from (f'    <{kind} valueReference="{place}"/>' for place in places)

    def _old_structure(self) -> Iterator[str]:
        """In FMI 2.0 places count from 1."""
        for kind, places in zip(("Outputs", "Derivatives", "InitialUnknowns"), self._unknowns.values(), strict=True):
            if places:
                unknowns = "".join(f'<Unknown index="{place + 1}"/>' for place in places)
                yield f"    <{kind}>{unknowns}</{kind}>"

    @property
    def about(self) -> str:
        """The sentence that says what the unit computes."""
        plant = "The robot as a plant: joint positions and velocities, integrated, from joint torques."
        return plant if self.plant else self.functions[-1].definition.what

    @property
    def _words(self) -> str:
        return f"{safe_text(self.model.robot.name)}. {self.about}"

    @property
    def _compiled(self) -> tuple[str, ...]:
        return (f"fmi{self.version}.c", "model.c", f"{self.model.prefix}.c")

    def _build(self) -> str:
        listed = "\n".join(f'      <SourceFile name="{name}"/>' for name in self._compiled)
        return (
            '<?xml version="1.0" encoding="UTF-8"?>\n<fmiBuildDescription fmiVersion="3.0">\n'
            f'  <BuildConfiguration modelIdentifier="{self.identifier}">\n'
            f'    <SourceFileSet language="C99">\n{listed}\n'
            '    </SourceFileSet>\n    <Library name="m" external="true"/>\n'
            "  </BuildConfiguration>\n</fmiBuildDescription>\n"
        )

    @cached_property
    def at(self) -> dict[str, int]:
        """Where each argument and each result of the functions begins among the variables."""
        first, found, place = self.first, {}, len(self.variables)
        for name, size in self.hidden.items():
            found[name] = place
            place += size
        if self.plant:
            state, rate, size = first("states"), first("derivatives"), self.ports["q"].size
            return {"tau": first("inputs"), "q": state, "qd": state + size, RATES: rate, "qdd": rate + size}
        places = {"input": first("inputs"), "output": first("outputs")}
        for name, port in self.ports.items():
            side = "output" if port in self.functions[-1].outputs else "input"
            if name not in found:
                found[name] = places[side]
                places[side] += port.size
        return found

    def places(self, name: str) -> list[int]:
        """Value references of an argument or a result."""
        return list(range(self.at[name], self.at[name] + self.ports[name].size))

    def _adapter(self) -> str:
        """model.c: start values, and the functions with their arguments among the variables."""
        layout = ", ".join(map(repr, self._layout))
        starts, quaternions = (", ".join(map(repr, values)) for values in (self._starts, self._quaternions or [0]))
        lines = [
            '#include "model.h"',
            f'#include "{self.model.prefix}.h"',
            "",
            f"const Layout model = {{{layout}}};",
            *textwrap.wrap(f"const double model_start[] = {{{starts}}};", 110, subsequent_indent="    "),
            f"const int model_quaternions[] = {{{quaternions}}};",
            f'const char model_token[] = "{self.token}";',
        ]
        at = {**self.at, PARAMETERS: self.first("parameters")}
        for name, functions in self._called.items():
            lines += ["", f"void {name}(double *v)", "{", *([] if functions else ["    (void)v;"])]
            for function in functions:
                given = [_pointer(port, at[port.name]) for port in (*function.inputs, *function.outputs)]
                lines.append(f"    {self.model.prefix}_{function.name}({', '.join(given)});")
            lines.append("}")
        return "\n".join([*lines, ""])

    def _page(self) -> str:
        rows = [
            f"<tr><td>{_html(v.name)}</td><td>{v.causality}</td><td>{_html(v.unit)}</td><td>{_html(v.words)}</td></tr>"
            for v in self.variables
        ]
        words = [line for line in c_source.head(self.code) if line]
        title = f"<title>{self.identifier}</title>"
        lines = ["<!DOCTYPE html>", f'<html lang="en"><head><meta charset="utf-8">{title}</head><body>']
        lines += [f"<h1>{_html(self._words)}</h1>", *(f"<p>{_html(line)}</p>" for line in words), "<table>"]
        return "\n".join([*lines, *rows, "</table></body></html>", ""])


_TIME = Variable("time", "independent", "simulation time", "s")
_RATE_UNITS = {"rad": "rad/s", "m": "m/s", "1": "1/s"}
_NO_EVENTS = ' numberOfEventIndicators="0"'


def _pointer(port: Port, place: int) -> str:
    return f"(double (*)[{port.shape[1]}])(v + {place})" if len(port.shape) == 2 else f"v + {place}"


def _html(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;")


def _start(robot: Robot) -> list[float]:
    """Positions at the start: where the library starts too."""
    if robot.compounds:
        return [float(x) for x in robot.neutral]
    if robot.constrained:
        chain = dependent_joints(robot)
        return [float(chain.assembly[k]) for k in chain.independent]
    q = [float(x) for x in start_position(robot)]
    return [float(x) for x in coordinates(robot).joined(q, q)]


# The test and the note ------------------------------------------------------------------------------------------------


def _test(model: Model) -> str:
    data = {}
    for unit in units(model):
        if unit.period:
            assert model.sampling is not None
            data[unit.file] = _recorded(unit, model.sampling.record(PERIODS)) | {"period": unit.period}
        else:
            data[unit.file] = _recorded(unit, vectors(model, unit.functions[0]))
    return _SCRIPT.replace("@TOLERANCE@", repr(TOLERANCE)).replace("@DATA@", json.dumps(data))


def _recorded(unit: Unit, found: Vectors) -> dict[str, Any]:
    places = {name: unit.places(name) for name in (*found.inputs, *found.outputs) if name != PARAMETERS}
    first = unit.first("parameters")
    places |= {PARAMETERS: [*range(first, first + len(unit.model.parameters))]} if unit.model.parameters else {}
    return {
        "inputs": {name: values.tolist() for name, values in found.inputs.items()},
        "outputs": {name: values.tolist() for name, values in found.outputs.items()},
        "places": places,
        "scale": found.scale.tolist(),
    }


_SCRIPT = '''\
"""Compares the FMUs beside this file with reference vectors, a law with a record of its periods. It needs FMPy.

The vectors were computed by armdyn from the robot's data by other formulations of mechanics than the code uses; those
of a law by the law over numbers. A difference counts as rounding if it is below @TOLERANCE@ of the terms that are added
up to the result. Where there is no binary for this machine, FMPy builds one with CMake and a C compiler.
"""

import json
import shutil
import sys
from pathlib import Path

import fmpy
from fmpy import fmi2, fmi3
from fmpy.build import build_platform_binary
from fmpy.validation import validate_fmu

DATA = json.loads(r"""@DATA@""")


def opened(folder, known):
    """The unit in this process."""
    kind = "Slave" if known.modelExchange is None else "Model"
    version = known.fmiVersion[0]
    unit = known.coSimulation if known.modelExchange is None else known.modelExchange
    made = getattr(fmi3 if version == "3" else fmi2, f"FMU{version}{kind}")
    fmu = made(guid=known.guid if version == "2" else known.instantiationToken, unzipDirectory=folder,
               modelIdentifier=unit.modelIdentifier)
    fmu.instantiate()
    return fmu, (fmu.getReal, fmu.setReal) if version == "2" else (fmu.getFloat64, fmu.setFloat64)


def begin(fmu):
    if hasattr(fmu, "setupExperiment"):
        fmu.setupExperiment()
    fmu.enterInitializationMode()


def worst(path, data):
    """Largest difference from the vectors, relative to their scale."""
    folder = fmpy.extract(str(path))
    known = fmpy.read_model_description(folder)
    identifier = (known.coSimulation or known.modelExchange).modelIdentifier
    machine = fmpy.platform if known.fmiVersion[0] == "2" else fmpy.platform_tuple
    if not any((Path(folder) / "binaries" / machine).glob(f"{identifier}.*")):
        build_platform_binary(folder)
    fmu, (get, put) = opened(folder, known)
    period, largest = data.get("period"), 0.0
    for k, scale in enumerate(data["scale"]):
        if not period or k == 0:
            begin(fmu)
        for name, rows in data["inputs"].items():
            put(data["places"][name], rows[k])
        if not period or k == 0:
            fmu.exitInitializationMode()
        if period:
            fmu.doStep(currentCommunicationPoint=k * period, communicationStepSize=period)
        for name, rows in data["outputs"].items():
            for x, y in zip(get(data["places"][name]), rows[k], strict=True):
                share = 0.0 if x == y else abs(x - y) / scale
                if not share <= largest:  # NaN counts as infinitely wrong
                    largest = share if share < 1e300 else 1e300
        if not period:
            fmu.reset()
    fmu.freeInstance()
    shutil.rmtree(folder, ignore_errors=True)
    return largest


failures = 0
for file, data in DATA.items():
    path = Path(__file__).with_name(file)
    problems = validate_fmu(str(path))
    difference = worst(path, data)
    passed = not problems and difference <= @TOLERANCE@
    failures += not passed
    print(f"{file:<44} {'pass' if passed else 'FAIL'}  (largest difference {difference:.1e} of the scale)", *problems)
print(f"FAILED: {failures}" if failures else "all passed")
sys.exit(failures != 0)
'''


def _readme(model: Model) -> str:
    name = model.prefix
    known = units(model)
    rows = [
        line
        for unit in known
        if unit.version == 3
        for line in textwrap.wrap(f"{unit.file}  {unit.about}", 110, subsequent_indent="  ")
    ]
    law = [
        "A control law samples its inputs once a period, at the beginning of a step of co-simulation or within it, and",
        "holds its torques: step it before the plant, with inputs that were measured at the beginning of the step.",
    ]
    return "\n".join(
        [
            f"The robot '{safe_text(model.robot.name)}' as FMI 3.0 and FMI 2.0 units, generated by armdyn.",
            "",
            *rows,
            "",
            f"Files that end with {VERSIONS[2]}.fmu are the same units in FMI 2.0.",
            "Variables are named by joint (tau.<joint>) and have units. payload.mass, payload.com and payload.inertia",
            "are tunable: a load at the tool, none at first. In co-simulation inputs are held during a step; the plant",
            "integrates with Dormand and Prince's method of order 5, to a relative error of `tolerance` per step. Dry",
            "friction is zero at rest: a joint that sticks moves back and forth by its acceleration times 1e-6 s.",
            *(law if model.sampling else []),
            sentence(model.robot),
            "",
            "Each unit has a binary for Linux on x86-64 (glibc) and C sources for other machines, which the importing",
            "tool compiles. With FMPy:",
            f"  fmpy simulate {known[-2].file} --stop-time 1 --show-plot",
            f"  python {name}_fmu_test.py      compares the units with reference vectors",
            "Elsewhere, with CMake and a C compiler, first:",
            f"  fmpy compile {known[-2].file}",
            "",
        ]
    )
