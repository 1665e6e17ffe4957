"""A controller in C: a structure with its state, a function that begins, a function for each control period, a test."""

from __future__ import annotations

from collections.abc import Iterator

from armdyn.codegen.functions import PARAMETERS, ExportedFunction, Model
from armdyn.codegen.reference_vectors import STATES
from armdyn.graph.structure import Port

INDENT = "    "
OWN = ("time", "memory", PARAMETERS)
"""Arguments of `control` that the structure holds."""
PERIODS = 4 * STATES
"""Periods of the recorded run."""


class CController:
    """What is written around the functions of a controller; `declared`: how a port is written as a C array."""

    def __init__(self, model: Model) -> None:
        assert model.sampling is not None
        self.model, self.sampling, self.prefix = model, model.sampling, model.prefix
        self.functions = {function.name: function for function in model.functions}
        self.control = self.functions["control"]
        self.motion = self.functions.get("motion")
        known = {port.name for port in self.motion.outputs} if self.motion else set()
        self.given = [port for port in self.control.inputs if port.name not in {*OWN, *known}]
        self.results = [port for port in self.control.outputs if port.name != "next_memory"]

    @property
    def kind(self) -> str:
        """The name of the structure's type."""
        return f"{self.prefix}_controller"

    def _arguments(self, ports: list[Port], constant: bool) -> list[str]:
        return [f"{'const ' if constant else ''}double {port.name}[{port.size}]" for port in ports]

    def _state(self, names: tuple[str, ...]) -> list[Port]:
        return [port for port in self.control.inputs if port.name in names]

    def _signatures(self) -> tuple[str, str]:
        states = self._arguments(self._state(("q", "qd")), constant=True)
        first = ", ".join([f"{self.kind} *controller", *states])
        arguments = [*self._arguments(self.given, constant=True), *self._arguments(self.results, constant=False)]
        again = ", ".join([f"{self.kind} *controller", *arguments])
        return f"void {self.prefix}_init({first})", f"void {self.prefix}_step({again})"

    def declarations(self) -> Iterator[str]:
        """For the header."""
        init, step = self._signatures()
        yield "/* A controller between two periods. Gains among the parameters may be changed at any time. */"
        yield "typedef struct {"
        yield f"{INDENT}unsigned long period;"
        for port in self._state(("memory", PARAMETERS)):
            yield f"{INDENT}double {port.name}[{port.size}];"
        yield f"}} {self.kind};"
        yield ""
        yield "/* Begin to control at a measured state; parameters have their default values. */"
        yield f"{init};"
        yield ""
        yield f"/* The torques for the next period of {self.sampling.period!r} s: call it once a period. */"
        yield f"{step};"
        yield ""

    def definitions(self) -> Iterator[str]:
        """For the source file."""
        init, step = self._signatures()
        yield from (init, "{", f"{INDENT}controller->period = 0;")
        if PARAMETERS in self.control.arguments:
            yield f"{INDENT}{self.prefix}_default_parameters(controller->{PARAMETERS});"
        if "start" in self.functions:
            yield f"{INDENT}{self._call(self.functions['start'], ('q', 'qd'))}"
        else:
            yield from (f"{INDENT}(void)q;", f"{INDENT}(void)qd;")
        yield from ("}", "", step, "{")
        yield f"{INDENT}const double time[1] = {{{self.sampling.period!r}*(double)controller->period}};"
        if self.motion is not None:
            yield from (f"{INDENT}double {port.name}[{port.size}];" for port in self.motion.outputs)
            yield f"{INDENT}{self._call(self.motion, ('time', *(port.name for port in self.motion.outputs)))}"
        local = ("time", *(port.name for port in (*self.control.inputs, *self.control.outputs) if port.name not in OWN))
        yield f"{INDENT}{self._call(self.control, local)}"
        yield from (f"{INDENT}controller->period += 1;", "}", "")

    def _call(self, function: ExportedFunction, local: tuple[str, ...]) -> str:
        """A call whose other arguments are in the structure; the next memory takes the place of the last one."""
        places = []
        for port in (*function.inputs, *function.outputs):
            known = port.name in local and port.name != "next_memory"
            places.append(port.name if known else f"controller->{port.name.removeprefix('next_')}")
        return f"{self.prefix}_{function.name}({', '.join(places)});"

    def test(self, tables: list[str]) -> list[str]:
        """A test that steps through the record; tables: its arrays."""
        calls = [f"{port.name}_[k]" for port in self.given]
        results = [port.name for port in self.results]
        lines = [
            "static int test_step(void)",
            "{",
            *tables,
            f"{INDENT}{self.kind} controller;",
            *(f"{INDENT}double {port.name}[{port.size}];" for port in self.results),
            f"{INDENT}double worst = 0.0;",
            f"{INDENT}int k;",
            "",
            f"{INDENT}memset(&controller, 0xff, sizeof controller); /* NaN */",
            f"{INDENT}{self.prefix}_init(&controller, q_[0], qd_[0]);",
            f"{INDENT}for (k = 0; k < {PERIODS}; k++) {{",
            f"{INDENT * 2}double error;",
        ]
        if PARAMETERS in self.control.arguments:
            copied = f"memcpy(controller.{PARAMETERS}, {PARAMETERS}_[k], sizeof controller.{PARAMETERS});"
            lines += [f"{INDENT * 2}if (k > 0) {{", f"{INDENT * 3}{copied}", f"{INDENT * 2}}}"]
        lines.append(f"{INDENT * 2}{self.prefix}_step(&controller, {', '.join([*calls, *results])});")
        for port in self.results:
            expected = f"expected_{port.name}_[k], {port.size}, scale_[k]"
            lines += [
                f"{INDENT * 2}error = difference({port.name}, {expected});",
                f"{INDENT * 2}worst = error > worst ? error : worst;",
            ]
        return [*lines, f"{INDENT}}}", f'{INDENT}return report("step", worst);', "}", ""]
