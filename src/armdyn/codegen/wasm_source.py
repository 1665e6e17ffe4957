"""WebAssembly: a module for browsers and Node.js, a small wrapper, TypeScript types, a test with reference vectors."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import PurePath
from typing import Any

from armdyn.codegen import wasm_module
from armdyn.codegen.c_source import comment, head, purpose_of_test, words
from armdyn.codegen.functions import PARAMETERS, ExportedFunction, Model
from armdyn.codegen.reference_vectors import AT_DEFAULTS, TOLERANCE, vectors
from armdyn.graph import without_arctangents
from armdyn.kernels.straight.sincos import PLAIN
from armdyn.markup import safe_text


def files(model: Model) -> dict[PurePath, str | bytes]:
    """The texts by file name; the module as bytes."""
    name = model.prefix
    return {
        PurePath(f"{name}.wasm"): binary(model),
        PurePath(f"{name}.mjs"): wrapper(model),
        PurePath(f"{name}.d.mts"): _types(model),
        PurePath(f"{name}_test.mjs"): _test(model),
        PurePath("README.txt"): _readme(model),
    }


def binary(model: Model) -> bytes:
    """NAME.wasm: no imports; exports `memory` and the functions."""
    return wasm_module.module(codes(model))


def codes(model: Model) -> list[wasm_module.WasmCode]:
    """The functions, ready to be encoded."""
    return [
        wasm_module.WasmCode(function.name, function.program(), function.inputs, function.outputs)
        for function in map(_encodable, model.functions)
    ]


def _encodable(function: ExportedFunction) -> ExportedFunction:
    """The function with the operations that WebAssembly has."""
    return replace(function, traced=lambda: without_arctangents(function.graph))


def description(model: Model) -> dict[str, Any]:
    """Sizes of arguments and results of every function, joints and parameters: what the wrapper needs to know."""
    functions = {
        function.name: {
            "inputs": [[port.name, port.size] for port in function.inputs],
            "outputs": [[port.name, list(port.shape)] for port in function.outputs],
        }
        for function in model.functions
    }
    made: dict[str, Any] = {"joints": [safe_text(name) for name, _ in model.axes], "functions": functions}
    if model.parameters:
        made[PARAMETERS] = {
            safe_text(node.value): value for node, value in zip(model.parameters, model.defaults, strict=True)
        }
    return made


def wrapper(model: Model) -> str:
    """NAME.mjs: `load` gives an object with the functions, over arrays of numbers."""
    known = f"const ROBOT = {json.dumps(description(model), indent=1)};"
    loading = _LOADING.replace("@NAME@", model.prefix)
    return "\n".join([*comment(head(model)), "", known, "", loading, functions_script()])


def functions_script() -> str:
    """The function `robot` over the constant ROBOT (see `description`) and an instance of the module."""
    return _FUNCTIONS.replace("@LIMIT@", repr(PLAIN.limit))


_LOADING = """\
/* The robot's functions. source: the bytes of @NAME@.wasm, or a compiled module (default: the file beside this one). */
export async function load(source) {
  const given = source ?? (await bytes(new URL("@NAME@.wasm", import.meta.url)));
  const made = await WebAssembly.instantiate(given, {});
  return robot(made instanceof WebAssembly.Instance ? made : made.instance);
}

async function bytes(url) {
  if (url.protocol === "file:") return (await import("node:fs/promises")).readFile(url);
  return (await fetch(url)).arrayBuffer();
}
"""

_FUNCTIONS = """\
/* Positions beyond this are refused: sines of larger angles are not computed. */
const LARGEST = @LIMIT@;

/* The functions of an instance of the module. */
export function robot(instance) {
  const { memory } = instance.exports;
  const made = { joints: ROBOT.joints, parameters: { ...ROBOT.parameters } };
  let numbers = new Float64Array(memory.buffer);
  for (const [name, { inputs, outputs }] of Object.entries(ROBOT.functions)) {
    const sizes = [...inputs.map(([, size]) => size), ...outputs.map(([, shape]) => shape.reduce((a, b) => a * b, 1))];
    const starts = sizes.map((_, i) => sizes.slice(0, i).reduce((a, b) => a + b, 0)), places = starts.map((x) => 8 * x);
    const end = 8 * sizes.reduce((a, b) => a + b, 0);
    const limits = inputs.map(([label]) => (label === "q" ? LARGEST : Infinity));
    if (end > memory.buffer.byteLength) memory.grow(Math.ceil((end - memory.buffer.byteLength) / 65536));
    const call = instance.exports[name];
    made[name] = (...values) => {
      if (numbers.length === 0) numbers = new Float64Array(memory.buffer); // the memory has grown
      for (let i = 0; i < inputs.length; i++) {
        const [label, size] = inputs[i];
        const value = values[i] ?? (label === "parameters" ? Object.values(made.parameters) : []);
        if (value.length !== size) throw new RangeError(`${label} has ${value.length} entries, expected ${size}`);
        for (let k = 0; k < size; k++) {
          const x = value[k];
          if (!Number.isFinite(x)) throw new RangeError(`${label} is not finite`);
          if (Math.abs(x) > limits[i]) throw new RangeError(`${label} is beyond ${LARGEST}`);
          numbers[starts[i] + k] = x;
        }
      }
      call(...places);
      const results = outputs.map(([, shape], i) => {
        const start = starts[inputs.length + i];
        return shaped(numbers.slice(start, start + sizes[inputs.length + i]), shape);
      });
      return results.length === 1 ? results[0] : Object.fromEntries(outputs.map(([label], i) => [label, results[i]]));
    };
  }
  return made;
}

function shaped(numbers, shape) {
  if (shape.length === 0) return numbers[0];
  if (shape.length === 1) return numbers;
  return Array.from({ length: shape[0] }, (_, i) => numbers.subarray(i * shape[1], (i + 1) * shape[1]));
}
"""


def _types(model: Model) -> str:
    lines = ["export interface Robot {", "  joints: string[];", "  parameters: Record<string, number>;"]
    for function in model.functions:
        lines += [f"  {line}" for line in comment(words(model, function))]
        arguments = ", ".join(
            f"{port.name}{'?' if port.name == PARAMETERS else ''}: ArrayLike<number>" for port in function.inputs
        )
        lines.append(f"  {function.name}({arguments}): {_type(function)};")
    lines += [
        "}",
        "export function load(source?: BufferSource | WebAssembly.Module): Promise<Robot>;",
        "export function robot(instance: WebAssembly.Instance): Robot;",
        "",
    ]
    return "\n".join(lines)


def _type(function: ExportedFunction) -> str:
    kinds = {0: "number", 1: "Float64Array", 2: "Float64Array[]"}
    results = {port.name: kinds[len(port.shape)] for port in function.outputs}
    if len(results) == 1:
        return next(iter(results.values()))
    return "{ " + "; ".join(f"{name}: {kind}" for name, kind in results.items()) + " }"


def _test(model: Model) -> str:
    data = {}
    for function in model.functions:
        found = vectors(model, function)
        inputs = {name: values.tolist() for name, values in found.inputs.items()}
        outputs = {name: values.tolist() for name, values in found.outputs.items()}
        data[function.name] = {"inputs": inputs, "outputs": outputs, "scale": found.scale.tolist()}
    run = _RUN.replace("@AT_DEFAULTS@", str(AT_DEFAULTS))
    lines = [*comment(purpose_of_test(model)), "", f'import {{ load }} from "./{model.prefix}.mjs";', ""]
    return "\n".join([*lines, f"const TOLERANCE = {TOLERANCE!r};", f"const DATA = {json.dumps(data)};", "", run])


_RUN = """\
const robot = await load();
let failures = 0;
for (const [name, { inputs, outputs, scale }] of Object.entries(DATA)) {
  let worst = 0;
  scale.forEach((size, k) => {
    const given = Object.entries(inputs).filter(([label]) => label !== "parameters" || k !== @AT_DEFAULTS@);
    const got = robot[name](...given.map(([, rows]) => rows[k]));
    for (const [label, rows] of Object.entries(outputs)) {
      const value = Object.keys(outputs).length > 1 ? got[label] : got;
      const rows_of = (values) => Array.from(values, (row) => (row.length ? [...row] : row)).flat();
      const flat = typeof value === "number" ? [value] : rows_of(value);
      rows[k].forEach((expected, i) => {
        const error = Math.abs(flat[i] - expected);
        const share = error === 0 ? 0 : error / size;
        worst = share <= worst ? worst : Number.isNaN(share) ? Infinity : share;
      });
    }
  });
  const passed = worst <= TOLERANCE;
  failures += passed ? 0 : 1;
  const verdict = `${passed ? "pass" : "FAIL"}  (largest difference ${worst.toExponential(1)} of the scale)`;
  console.log(`${name.padEnd(32)} ${verdict}`);
}
console.log(failures ? `FAILED: ${failures}` : "all passed");
if (typeof process !== "undefined") process.exitCode = failures ? 1 : 0;
"""


def _readme(model: Model) -> str:
    name = model.prefix
    return "\n".join(
        [
            f"Dynamics of the robot '{safe_text(model.robot.name)}' as WebAssembly, generated by armdyn.",
            "",
            f'  import {{ load }} from "./{name}.mjs";            // in a browser or in Node.js',
            "  const robot = await load();",
            "  const tau = robot.inverse_dynamics(q, qd, qdd);   // arrays of numbers in, a Float64Array out",
            "",
            f"{name}.wasm      the functions; no imports, one memory of its own",
            f"{name}.mjs       the wrapper, with the order of joints, units and what the model includes",
            f"{name}.d.mts     its types, for TypeScript",
            f"{name}_test.mjs  compares the functions with reference vectors: node {name}_test.mjs",
            "",
        ]
    )
