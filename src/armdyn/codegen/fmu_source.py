"""FMI 3.0: one FMU with C sources per function, a test through FMPy with reference vectors, a note.

Forward dynamics is the robot as a plant: joint torques in, joint positions and velocities as continuous states, for
Model Exchange and for Co-Simulation with an integrator of its own. Every other function is a block without state. The
payload at the tool is a tunable parameter of each, and so are the named parameters of the robot's file, if kept.
"""

from __future__ import annotations

import hashlib
import io
import json
import textwrap
import uuid
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from importlib import resources
from pathlib import PurePath
from typing import NamedTuple
from xml.sax.saxutils import quoteattr

from armdyn import __version__
from armdyn.codegen import c_source
from armdyn.codegen.functions import PARAMETERS, ExportedFunction, Model
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
RATES = "q_rates"
"""The time derivative of q, a result of the plant's function if q has quaternions."""
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
UNITS |= {"c": UNITS["tau"], "g": UNITS["tau"], RATES: UNITS["qd"]}
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


def files(model: Model) -> dict[PurePath, str | bytes]:
    """The archives and texts by file name."""
    name = model.prefix
    made: dict[PurePath, str | bytes] = {
        PurePath(f"{name}_{function.name}.fmu"): Unit(model, function).archive() for function in model.functions
    }
    return {**made, PurePath(f"{name}_fmu_test.py"): _test(model), PurePath("README.txt"): _readme(model)}


class Variable(NamedTuple):
    """A variable of the model description; its value reference is its place."""

    name: str
    causality: str
    words: str
    unit: str = ""
    start: float | None = None
    derivative: int | None = None
    variability: str = "continuous"

    def written(self, place: int) -> str:
        parts = [
            ("name", self.name),
            ("valueReference", place),
            ("causality", self.causality),
            ("variability", self.variability),
        ]
        if self.causality == "output" or self.causality == "local":
            parts.append(("initial", "calculated" if self.start is None else "exact"))
        optional = {"unit": self.unit or None, "start": self.start, "derivative": self.derivative}
        parts += [(key, value) for key, value in optional.items() if value is not None]
        parts.append(("description", self.words))
        return f"    <Float64 {' '.join(f'{key}={quoteattr(str(value))}' for key, value in parts)}/>"


@dataclass(frozen=True)
class Unit:
    """The FMU of one function."""

    model: Model
    function: ExportedFunction

    @property
    def plant(self) -> bool:
        return self.function.name == PLANT

    @cached_property
    def code(self) -> Model:
        """What is written as C: the function; the plant's also gives the rates of positions with quaternions."""
        function, spans = self.function, self.model.robot.compounds
        if self.plant and spans:
            given = function.graph.inputs
            rates = position_rates(spans, list(given["q"]), list(given["qd"]))
            outputs = {**function.graph.outputs, RATES: nodes_of(tuple(rates))}
            wider = replace(function.graph, outputs=outputs)
            function = replace(function, traced=lambda: wider)
        return replace(self.model, functions=(function,))

    @cached_property
    def parts(self) -> dict[str, tuple[Variable, ...]]:
        """Variables by group, in the order of value references."""
        given = [port for port in self.function.inputs if port.name != PARAMETERS]
        if not self.plant:
            outputs = [variable for port in self.function.outputs for variable in self._listed(port, "output")]
            inputs = [variable for port in given for variable in self._listed(port, "input")]
            return {
                "time": (_TIME,),
                "inputs": tuple(inputs),
                "states": (),
                "derivatives": (),
                "outputs": tuple(outputs),
                "parameters": self._parameters,
            }
        ports = {port.name: port for port in given}
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
        accelerations = self._listed(self.function.outputs[0], "output")
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
        words, robot = self.function.words(port.name), self.model.robot
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
        """Parameters that the function takes, in its order, then those of the payload on which it does not depend."""
        names = dict(zip([*self.model.robot.parameters][-len(PAYLOAD) :], PAYLOAD.values(), strict=True))
        taken: set[str] = set()
        used = []
        for node, value in zip(self.model.parameters, self.model.defaults, strict=True):
            own = f"parameters.{fresh(identifier(node.value, frozenset()), taken)}"
            name, unit, words = names.get(node.value, (own, "", f"{safe_text(node.value)} of the robot's file"))
            used.append(Variable(name, "parameter", words, unit, value, None, "tunable"))
        known = {variable.name for variable in used}
        rest = [
            Variable(name, "parameter", f"{words}; without effect on this robot", unit, 0.0, None, "tunable")
            for name, unit, words in names.values()
            if name not in known
        ]
        return (*used, *rest)

    # The archive ------------------------------------------------------------------------------------------------------

    @cached_property
    def sources(self) -> dict[str, str]:
        """The C files by name, all but the token."""
        name = self.model.prefix
        return {
            f"{name}.h": c_source.header(self.code),
            f"{name}.c": c_source.source(self.code),
            "model.c": self._adapter(),
            "instance.c": (resources.files("armdyn.codegen") / "fmu" / "instance.c").read_text(encoding="utf-8"),
        }

    @cached_property
    def token(self) -> str:
        text = "\0".join([*self.sources.values(), *(v.written(i) for i, v in enumerate(self.variables))])
        return "{" + str(uuid.UUID(bytes=hashlib.sha256(text.encode()).digest()[:16])) + "}"

    @property
    def identifier(self) -> str:
        return f"{self.model.prefix}_{self.function.name}"

    def archive(self) -> bytes:
        """The FMU, a zip archive, as bytes."""
        texts = {"modelDescription.xml": self._description(), "documentation/index.html": self._page()}
        texts |= {f"sources/{name}": text for name, text in {**self.sources, "model.h": self._header()}.items()}
        texts["sources/buildDescription.xml"] = self._build()
        made = io.BytesIO()
        with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, text in texts.items():
                archive.writestr(zipfile.ZipInfo(name, EPOCH), text, zipfile.ZIP_DEFLATED)
        return made.getvalue()

    def _description(self) -> str:
        both = f'modelIdentifier="{self.identifier}" canGetAndSetFMUState="true" canSerializeFMUState="true"'
        step = 'canHandleVariableCommunicationStepSize="true" canReturnEarlyAfterIntermediateUpdate="false"'
        used = dict.fromkeys(variable.unit for variable in self.variables if variable.unit)
        lines = [
            '<?xml version="1.0" encoding="UTF-8"?>',
            f'<fmiModelDescription fmiVersion="3.0" modelName="{self.identifier}" instantiationToken="{self.token}" '
            f"description={quoteattr(self._words)} generationTool={quoteattr(f'armdyn {__version__}')} "
            'variableNamingConvention="structured">',
            f"  <ModelExchange {both}/>",
            f"  <CoSimulation {both} {step}/>",
            "  <UnitDefinitions>",
            *(f'    <Unit name="{unit}"><BaseUnit {BASE_UNITS[unit]}/></Unit>' for unit in used),
            "  </UnitDefinitions>",
            '  <DefaultExperiment startTime="0" stopTime="1" stepSize="0.001"/>',
            "  <ModelVariables>",
            *(variable.written(place) for place, variable in enumerate(self.variables)),
            "  </ModelVariables>",
            "  <ModelStructure>",
            *self._structure(),
            "  </ModelStructure>",
            "</fmiModelDescription>",
            "",
        ]
        return "\n".join(lines)

    def _structure(self) -> Iterator[str]:
        places = dict(enumerate(self.variables))
        calculated = [
            place for place, each in places.items() if each.start is None and each.causality in ("output", "local")
        ]
        yield from (f'    <Output valueReference="{i}"/>' for i, each in places.items() if each.causality == "output")
        first = self.first("derivatives")
        for i in range(first, first + len(self.parts["derivatives"])):
            yield f'    <ContinuousStateDerivative valueReference="{i}"/>'
        yield from (f'    <InitialUnknown valueReference="{i}"/>' for i in calculated)

    @property
    def about(self) -> str:
        """The sentence that says what the unit computes."""
        plant = "The robot as a plant: joint positions and velocities, integrated, from joint torques."
        return plant if self.plant else self.function.definition.what

    @property
    def _words(self) -> str:
        return f"{safe_text(self.model.robot.name)}. {self.about}"

    def _build(self) -> str:
        names = ("instance.c", "model.c", f"{self.model.prefix}.c")
        listed = "\n".join(f'      <SourceFile name="{name}"/>' for name in names)
        return (
            '<?xml version="1.0" encoding="UTF-8"?>\n<fmiBuildDescription fmiVersion="3.0">\n'
            f'  <BuildConfiguration modelIdentifier="{self.identifier}">\n'
            f'    <SourceFileSet language="C99">\n{listed}\n'
            '    </SourceFileSet>\n    <Library name="m" external="true"/>\n'
            "  </BuildConfiguration>\n</fmiBuildDescription>\n"
        )

    def _header(self) -> str:
        lines = [
            "/* How many variables of which kind the model has. Generated by armdyn; do not edit. */",
            "#ifndef MODEL_H",
            "#define MODEL_H",
            f'#define MODEL_TOKEN "{self.token}"',
            f"#define VARIABLES {len(self.variables)}",
            f"#define STATES {len(self.parts['states'])}",
            f"#define FIRST_STATE {self.first('states')}",
            f"#define FIRST_DERIVATIVE {self.first('derivatives')}",
            f"#define FIRST_PARAMETER {self.first('parameters')}",
            "extern const double model_start[VARIABLES];",
            "void model_evaluate(double v[VARIABLES]);   /* derivatives and outputs from the rest */",
            "void model_tidy(double states[]);           /* quaternions of length one */",
            "#endif",
            "",
        ]
        return "\n".join(lines)

    @cached_property
    def at(self) -> dict[str, int]:
        """Where each argument and each result of the C function begins among the variables."""
        (function,) = self.code.functions
        sizes = {port.name: port.size for port in (*function.inputs, *function.outputs)}
        first, found = self.first, {PARAMETERS: self.first("parameters")}
        if self.plant:
            state, rate = first("states"), first("derivatives")
            return found | {
                "tau": first("inputs"),
                "q": state,
                "qd": state + sizes["q"],
                RATES: rate,
                "qdd": rate + sizes["q"],
            }
        for side, ports in (("inputs", function.inputs), ("outputs", function.outputs)):
            place = first(side)
            for port in ports:
                if port.name != PARAMETERS:
                    found[port.name] = place
                    place += port.size
        return found

    def places(self, name: str) -> list[int]:
        """Value references of an argument or a result."""
        port = next(port for port in (*self.function.inputs, *self.function.outputs) if port.name == name)
        return list(range(self.at[name], self.at[name] + port.size))

    def _adapter(self) -> str:
        """model.c: start values, and the function with its arguments among the variables."""
        (function,) = self.code.functions
        arguments = [_pointer(port, self.at[port.name]) for port in (*function.inputs, *function.outputs)]
        call = f"{self.model.prefix}_{function.name}({', '.join(arguments)});"
        lines = [
            '#include "model.h"',
            f'#include "{self.model.prefix}.h"',
            "",
            "#include <math.h>",
            "#include <string.h>",
            "",
            "const double model_start[VARIABLES] = {",
            *(f"    {0.0 if each.start is None else each.start!r}," for each in self.variables),
            "};",
            "",
            "void model_evaluate(double v[VARIABLES])",
            "{",
            f"    {call}",
        ]
        spans = self.model.robot.compounds
        if self.plant and not spans:
            lines.append(f"    memcpy(v + {self.at[RATES]}, v + {self.at['qd']}, {len(self.model.axes)}*sizeof *v);")
        lines += ["}", "", "void model_tidy(double states[])", "{", "    (void)states;"]
        for span in spans:
            lines += [line.replace("@", str(span.positions.stop - 4)) for line in _NORMALISED]
        return "\n".join([*lines, "}", ""])

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
_NORMALISED = [
    "    {",
    "        double *x = states + @;",
    "        const double length = sqrt(x[0]*x[0] + x[1]*x[1] + x[2]*x[2] + x[3]*x[3]);",
    "        int i;",
    "        for (i = 0; i < 4; i++) {",
    "            x[i] /= length;",
    "        }",
    "    }",
]


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
    for function in model.functions:
        found, unit = vectors(model, function), Unit(model, function)
        names = [port.name for port in function.inputs if port.name != PARAMETERS]
        outputs = [port.name for port in function.outputs]
        data[f"{model.prefix}_{function.name}.fmu"] = {
            "inputs": {name: found.inputs[name].tolist() for name in names},
            "outputs": {name: found.outputs[name].tolist() for name in outputs},
            "places": {name: unit.places(name) for name in (*names, *outputs)},
            "scale": found.scale.tolist(),
        }
    return _SCRIPT.replace("@TOLERANCE@", repr(TOLERANCE)).replace("@DATA@", json.dumps(data))


_SCRIPT = '''\
"""Builds the FMUs beside this file and compares them with reference vectors. It needs FMPy, CMake and a C compiler.

The vectors were computed by armdyn from the robot's data by other formulations of mechanics than the code uses. A
difference counts as rounding if it is below @TOLERANCE@ of the terms that are added up to the result.
"""

import json
import shutil
import sys
from pathlib import Path

import fmpy
from fmpy.build import build_platform_binary
from fmpy.fmi3 import FMU3Model
from fmpy.validation import validate_fmu

DATA = json.loads(r"""@DATA@""")


def worst(path, data):
    """Largest difference from the vectors, relative to their scale."""
    folder = fmpy.extract(str(path))
    build_platform_binary(folder)
    known = fmpy.read_model_description(folder)
    fmu = FMU3Model(guid=known.instantiationToken, unzipDirectory=folder,
                    modelIdentifier=known.modelExchange.modelIdentifier)
    largest = 0.0
    fmu.instantiate()
    for k, scale in enumerate(data["scale"]):
        fmu.enterInitializationMode()
        for name, rows in data["inputs"].items():
            fmu.setFloat64(data["places"][name], rows[k])
        fmu.exitInitializationMode()
        for name, rows in data["outputs"].items():
            got = fmu.getFloat64(data["places"][name])
            for x, y in zip(got, rows[k], strict=True):
                share = 0.0 if x == y else abs(x - y) / scale
                if not share <= largest:  # NaN counts as infinitely wrong
                    largest = share if share < 1e300 else 1e300
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
    print(f"{file:<40} {'pass' if passed else 'FAIL'}  (largest difference {difference:.1e} of the scale)", *problems)
print(f"FAILED: {failures}" if failures else "all passed")
sys.exit(failures != 0)
'''


def _readme(model: Model) -> str:
    name = model.prefix
    rows = [
        line
        for function in model.functions
        for line in textwrap.wrap(
            f"{name}_{function.name}.fmu  {Unit(model, function).about}", 110, subsequent_indent="  "
        )
    ]
    first = f"{name}_{model.functions[-1].name}.fmu"
    return "\n".join(
        [
            f"The robot '{safe_text(model.robot.name)}' as FMI 3.0 units with C sources, generated by armdyn.",
            "",
            *rows,
            "",
            "Variables are named by joint (tau.<joint>) and have units. payload.mass, payload.com and payload.inertia",
            "are tunable: a load at the tool, none at first. In co-simulation inputs are held during a step; the plant",
            "integrates with Dormand and Prince's method of order 5, to a relative error of `tolerance` per step. Dry",
            "friction is zero at rest: a joint that sticks moves back and forth by its acceleration times 1e-6 s.",
            sentence(model.robot),
            "",
            "The sources are compiled by the importing tool. With FMPy, CMake and a C compiler:",
            f"  fmpy compile {first}",
            f"  fmpy simulate {first} --stop-time 1 --show-plot",
            f"  python {name}_fmu_test.py      builds the units and compares them with reference vectors",
            "",
        ]
    )
