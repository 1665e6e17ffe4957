"""MATLAB and Octave: a file per function, a class, a test with reference vectors, and MEX source over the C code.

Vectors are columns, matrices are matrices. The functions need nothing but the language; the MEX function is optional.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from pathlib import PurePath

from armdyn.codegen import c_source
from armdyn.codegen.functions import PARAMETERS, ExportedFunction, Model
from armdyn.codegen.labels import LEGEND
from armdyn.codegen.naming import MATLAB_WORDS
from armdyn.codegen.reference_vectors import AT_DEFAULTS, TOLERANCE, vectors
from armdyn.graph.expression_writer import Dialect, ExpressionWriter, folded
from armdyn.graph.node import SELECT
from armdyn.graph.structure import Port
from armdyn.markup import safe_text
from armdyn.robot.features import sentence
from armdyn.robot.limits import UNITS
from armdyn.typing import Array

WIDTH = 100
INDENT = "    "


class Matlab(Dialect):
    """The spelling of MATLAB."""

    exact = False

    def function(self, op: str, arguments: list[str]) -> str:
        return super().function("select" if op == SELECT else op, arguments)


def files(model: Model) -> dict[PurePath, str]:
    """The texts by file name."""
    name = model.prefix
    made = {PurePath(f"{name}_{function.name}.m"): function_text(model, function) for function in model.functions}
    if model.parameters:
        made[PurePath(f"{name}_parameters.m")] = _parameters(model)
    return {
        PurePath(f"{name}.m"): _class(model),
        **made,
        PurePath(f"{name}_test.m"): _test(model),
        PurePath(f"{name}_mex.c"): _mex(model),
        PurePath(f"{name}.h"): c_source.header(model),
        PurePath(f"{name}.c"): c_source.source(model),
        PurePath("README.txt"): _readme(model),
    }


def function_text(model: Model, function: ExportedFunction) -> str:
    """The text of NAME_FUNCTION.m."""
    program, dialect = function.program(MATLAB_WORDS), Matlab()
    name = f"{model.prefix}_{function.name}"
    results = ", ".join(port.name for port in function.outputs)
    left = results if len(function.outputs) == 1 else f"[{results}]"
    lines = [f"function {left} = {name}({_arguments(function)})", *_help(name, function), *_checks(model, function)]
    for port in function.inputs:
        used = ((place, node) for place, node in enumerate(port.nodes, 1) if node in program.names)
        lines += [f"{program.names[node]} = {port.name}({place});" for place, node in used]
    for variable, expression in program.written(dialect):
        lines += _statement(variable, expression)
    writer = ExpressionWriter(program.names, dialect)
    for port in function.outputs:
        rows, columns = _size(port)
        lines.append(f"{port.name} = zeros({rows}, {columns});")
        for indices, node in port.places():
            place = ", ".join(str(index + 1) for index in indices) or "1"
            lines += _statement(f"{port.name}({place})", writer.write(node))
    lines.append("end")
    if any(node.op == SELECT for node in function.graph.nodes):
        lines += ["", *_SELECT]
    return "\n".join([*lines, ""])


_SELECT = ["function y = select(x, a, b)", "if x >= 0", "    y = a;", "else", "    y = b;", "end", "end"]


def _arguments(function: ExportedFunction) -> str:
    return ", ".join(port.name for port in function.inputs)


def _size(port: Port) -> tuple[int, int]:
    rows, columns = (*port.shape, 1, 1)[:2]
    return rows, columns


def _statement(target: str, text: str) -> list[str]:
    lines = folded(f"{target} = {text};", WIDTH, INDENT)
    return [f"{line} ..." for line in lines[:-1]] + lines[-1:]


def _comment(text: str) -> Iterator[str]:
    return (f"%   {line}" for line in textwrap.wrap(text, WIDTH - 4, break_on_hyphens=False))


def _help(name: str, function: ExportedFunction) -> Iterator[str]:
    yield f"%{name.upper()} {function.definition.what}"
    yield from _comment(function.definition.included)
    for port in (*function.inputs, *function.outputs):
        rows, columns = _size(port)
        yield from _comment(f"{port.name} ({rows} x {columns}): {function.words(port.name)}")
    yield from _comment(f"Operations: {c_source.operations_text(function.operations)}.")


def _checks(model: Model, function: ExportedFunction) -> Iterator[str]:
    for i, port in enumerate(function.inputs):
        if port.name == PARAMETERS:
            yield f"if nargin < {i + 1}, {PARAMETERS} = {model.prefix}_parameters(); end"
        message = f"'{port.name} has %d entries, expected {port.size}', numel({port.name})"
        yield f"if numel({port.name}) ~= {port.size}, error('armdyn:size', {message}); end"


def _parameters(model: Model) -> str:
    head = f"%{model.prefix.upper()}_PARAMETERS Named parameters with the values of the robot's file, as a column."
    lines = [f"function {PARAMETERS} = {model.prefix}_parameters()", head, f"{PARAMETERS} = ["]
    pairs = zip(model.parameters, model.defaults, strict=True)
    lines += [f"{INDENT}{value!r} % {safe_text(node.value)}" for node, value in pairs]
    return "\n".join([*lines, "];", "end", ""])


def _class(model: Model) -> str:
    robot, name = model.robot, model.prefix
    gravity = ", ".join(f"{float(x):g}" for x in robot.gravity)
    joints = "; ".join(
        f"{i} {safe_text(joint)} ({kind}, {UNITS[kind].position})" for i, (joint, kind) in enumerate(model.axes, 1)
    )
    paragraphs = [
        f"Joints, in the order of every vector: {joints}.",
        *([positions] if (positions := model.positions(safe_text)) else []),
        "Units are SI, angles in radians. tau is what the actuators exert on +q. Gravity is "
        f"({gravity}) m/s^2 in world axes.",
        sentence(robot),
        f"Names of intermediate results. {LEGEND}",
        "Generated by armdyn; do not edit.",
    ]
    cells = ", ".join("'" + safe_text(joint).replace("'", "''") + "'" for joint, _ in model.axes)
    lines = [f"classdef {name}", f"%{name.upper()} Dynamics of the robot '{safe_text(robot.name)}'."]
    lines += [line for text in paragraphs for line in _comment(text)]
    lines += [f"{INDENT}properties (Constant)", f"{INDENT * 2}joints = {{{cells}}};", f"{INDENT}end"]
    lines.append(f"{INDENT}methods (Static)")
    for function in model.functions:
        arguments = ", ".join(port.name for port in function.inputs if port.name != PARAMETERS)
        given = "varargin{:}" if PARAMETERS in function.arguments else arguments
        formal = "varargin" if PARAMETERS in function.arguments else arguments
        results = ", ".join(port.name for port in function.outputs)
        lines += [
            f"{INDENT * 2}function [{results}] = {function.name}({formal})",
            f"{INDENT * 3}[{results}] = {name}_{function.name}({given});",
            f"{INDENT * 2}end",
        ]
    return "\n".join([*lines, f"{INDENT}end", "end", ""])


# The test ---------------------------------------------------------------------------------------------------------


def _test(model: Model) -> str:
    name = model.prefix
    lines = [f"function {name}_test()", f"%{name.upper()}_TEST Compare the functions with reference vectors."]
    lines += [line for text in c_source.purpose_of_test(model) if text for line in _comment(text.replace("`", "'"))]
    lines.append("failures = 0;")
    for function in model.functions:
        lines += _tested(model, function)
    lines += [
        f"if failures, error('armdyn:test', 'FAILED: %d of {len(model.functions)}', failures); end",
        "fprintf('all passed\\n');",
        "end",
        "",
        *_COMPARE,
    ]
    return "\n".join([*lines, ""])


_COMPARE = [
    "function worst = difference(got, expected, scale)",
    "error_ = max(abs(got(:) - expected(:)));",
    "if isnan(error_), worst = Inf; elseif scale > 0, worst = error_/scale; else, worst = error_*Inf; end",
    "end",
]


def _tested(model: Model, function: ExportedFunction) -> list[str]:
    data = vectors(model, function)
    given = [port.name for port in function.inputs]
    lines = [line for name in given for line in _matrix(f"{name}_", data.inputs[name])]
    for port in function.outputs:
        columns = _size(port)
        values = data.outputs[port.name].reshape(-1, *columns).transpose(0, 2, 1).reshape(len(data.scale), -1)
        lines += _matrix(f"expected_{port.name}", values)  # column-major, as got(:) is
    lines += [*_matrix("scale", data.scale[:, None]), "worst = 0;", "for k = 1:numel(scale)"]
    cells = ", ".join(f"{name}_(k, :)'" for name in given)
    results = ", ".join(port.name for port in function.outputs)
    lines.append(f"{INDENT}given = {{{cells}}};")
    if PARAMETERS in given:
        lines.append(f"{INDENT}if k == {AT_DEFAULTS + 1}, given(end) = []; end")
    lines.append(f"{INDENT}[{results}] = {model.prefix}_{function.name}(given{{:}});")
    for port in function.outputs:
        lines.append(f"{INDENT}worst = max(worst, difference({port.name}, expected_{port.name}(k, :), scale(k)));")
    verdict = f"fprintf('%-32s %s  (largest difference %.1e of the scale)\\n', '{function.name}', word, worst);"
    lines += ["end", f"if worst <= {TOLERANCE!r}, word = 'pass';", "else, word = 'FAIL'; failures = failures + 1; end"]
    return [*lines, verdict]


def _matrix(name: str, values: Array) -> list[str]:
    lines = [f"{name} = ["]
    for row in values:
        wrapped = textwrap.wrap(" ".join(repr(float(x)) for x in row), WIDTH - 8)
        lines += [f"{INDENT}{line} ..." for line in wrapped[:-1]] + [f"{INDENT}{wrapped[-1]}"]
    return [*lines, "];"]


# Around it --------------------------------------------------------------------------------------------------------


def _mex(model: Model) -> str:
    """NAME_mex.c: one function that calls the C code by name."""
    name = model.prefix
    lines = [
        *c_source.comment(
            [
                f"MEX function over the C code: {name}_mex('inverse_dynamics', q, qd, qdd). "
                f"Build: mex {name}_mex.c {name}.c (MATLAB), mkoctfile --mex {name}_mex.c {name}.c (Octave)."
            ]
        ),
        "",
        "#include <string.h>",
        "",
        '#include "mex.h"',
        f'#include "{name}.h"',
        "",
        _MEX_HELPERS,
        "",
        "void mexFunction(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[])",
        "{",
        f"{INDENT}char name[64];",
        f"{INDENT}(void)nlhs;",
        f"{INDENT}if (nrhs < 1 || mxGetString(prhs[0], name, sizeof name)) {{",
        f'{INDENT * 2}mexErrMsgTxt("the first argument is the name of a function");',
        f"{INDENT}}}",
    ]
    for function in model.functions:
        lines += _dispatched(model, function)
    return "\n".join([*lines, f'{INDENT}mexErrMsgTxt("unknown function");', "}", ""])


_MEX_HELPERS = """\
/* The entries of argument i, which must be `size` real numbers. */
static const double *entries(int nrhs, const mxArray *prhs[], int i, size_t size)
{
    if (i >= nrhs || !mxIsDouble(prhs[i]) || mxIsComplex(prhs[i]) || mxGetNumberOfElements(prhs[i]) != size) {
        mexErrMsgTxt("wrong number or size of arguments: see the help of the function's .m file");
    }
    return mxGetPr(prhs[i]);
}

/* A matrix of rows as a matrix of MATLAB, which stores columns. */
static mxArray *matrix(const double *rows, int m, int n)
{
    mxArray *made = mxCreateDoubleMatrix((mwSize)m, (mwSize)n, mxREAL);
    double *to = mxGetPr(made);
    int i, j;
    for (i = 0; i < m; i++) {
        for (j = 0; j < n; j++) {
            to[j*m + i] = rows[i*n + j];
        }
    }
    return made;
}"""


def _dispatched(model: Model, function: ExportedFunction) -> list[str]:
    lines = [f'{INDENT}if (!strcmp(name, "{function.name}")) {{']
    names = [port.name for port in function.inputs]
    for i, port in enumerate(function.inputs, 1):
        lines.append(f"{INDENT * 2}const double *{port.name} = entries(nrhs, prhs, {i}, {port.size});")
    for port in function.outputs:
        lines.append(f"{INDENT * 2}double {port.name}{''.join(f'[{size}]' for size in port.shape or (1,))};")
        names.append(port.name)
    lines.append(f"{INDENT * 2}{model.prefix}_{function.name}({', '.join(names)});")
    for place, port in enumerate(function.outputs):
        rows, columns = _size(port)
        first = "&" + port.name + "[0]" * max(1, len(port.shape))
        make = f"plhs[{place}] = matrix({first}, {rows}, {columns});"
        lines.append(f"{INDENT * 2}{make}" if not place else f"{INDENT * 2}if (nlhs > {place}) {{ {make} }}")
    return [*lines, f"{INDENT * 2}return;", f"{INDENT}}}"]


def _readme(model: Model) -> str:
    name = model.prefix
    return "\n".join(
        [
            f"Dynamics of the robot '{safe_text(model.robot.name)}' for MATLAB and Octave, generated by armdyn.",
            "",
            f"  addpath('this folder'), tau = {name}.inverse_dynamics(q, qd, qdd)     % or {name}_inverse_dynamics",
            f"  help {name}                  order of joints, units, what the model includes",
            f"  {name}_test                  compares every function with reference vectors",
            "",
            "Optional, some hundred times faster, with a C compiler:",
            f"  mex {name}_mex.c {name}.c                    (MATLAB)",
            f"  mkoctfile --mex {name}_mex.c {name}.c        (Octave)",
            f"  tau = {name}_mex('inverse_dynamics', q, qd, qdd)",
            "",
        ]
    )
