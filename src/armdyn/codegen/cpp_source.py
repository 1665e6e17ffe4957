"""C++17: one header with a class over std::array and Eigen, a test program, a CMake file, a note.

The statements are those of the C code. A robot with named parameters keeps them as a member of the class.
"""

from __future__ import annotations

from pathlib import PurePath

from armdyn.codegen.c_source import (
    COMPARE,
    INDENT,
    body,
    comment,
    costs,
    head,
    main_function,
    purpose_of_test,
    reference_tables,
    sign_function,
    uses_sign,
    words,
)
from armdyn.codegen.functions import PARAMETERS, ExportedFunction, Model
from armdyn.codegen.labels import LEGEND
from armdyn.codegen.naming import C_WORDS, c_comment, identifier
from armdyn.codegen.reference_vectors import AT_DEFAULTS, STATES, TOLERANCE
from armdyn.graph.program import fresh
from armdyn.graph.structure import Port


def files(model: Model) -> dict[PurePath, str]:
    """The texts by file name."""
    name = model.prefix
    return {
        PurePath(f"{name}.hpp"): header(model),
        PurePath(f"{name}_test.cpp"): test_program(model),
        PurePath("CMakeLists.txt"): _cmake(name),
        PurePath("README.txt"): _readme(model),
    }


def header(model: Model) -> str:
    """NAME.hpp: the arrays, the statements of every function, and the class Robot."""
    guard = f"{model.prefix.upper()}_HPP"
    eigen = f"{model.prefix.upper()}_EIGEN"
    lines = [
        *comment(head(model)),
        "",
        f"#ifndef {guard}",
        f"#define {guard}",
        "",
        "#include <array>",
        "#include <cmath>",
        "#include <cstddef>",
        "",
        "/* Overloads for Eigen where it is installed. */",
        "#if __has_include(<Eigen/Core>)",
        "#include <Eigen/Core>",
        f"#define {eigen} 1",
        "#endif",
        "",
        f"namespace {model.prefix} {{",
        "",
        *_arrays(model),
        "",
    ]
    lines += [
        "namespace detail {",
        "",
        "using std::atan2;",
        "using std::cos;",
        "using std::exp;",
        "using std::fabs;",
        "using std::sin;",
        "using std::sqrt;",
        "",
        *comment(["Names of intermediate results. " + LEGEND]),
        "",
    ]
    if any(map(uses_sign, model.functions)):
        lines += sign_function(model, "inline")
    for function in model.functions:
        arguments = [f"const double *{port.name}" for port in function.inputs]
        arguments += [f"double *{port.name}" for port in function.outputs]
        lines += [f"inline void {function.name}({', '.join(arguments)})", "{"]
        lines += [*body(model, function, flat=True), "}", ""]
    lines += [
        "} // namespace detail",
        "",
        *_results(model),
        *_class(model, eigen),
        "",
        f"}} // namespace {model.prefix}",
    ]
    return "\n".join([*lines, "", "#endif", ""])


def _arrays(model: Model) -> list[str]:
    count = len(model.axes)
    taken: set[str] = set(C_WORDS)
    names = ", ".join(f'"{c_comment(name)}"' for name, _ in model.axes)
    lines = [
        "template <std::size_t size> using Vector = std::array<double, size>;",
        "/* Rows of a matrix. */",
        "template <std::size_t m, std::size_t n> using Matrix = std::array<std::array<double, n>, m>;",
        "",
        f"inline constexpr std::size_t joints = {count};",
        f"inline constexpr std::array<const char *, {count}> joint_names = {{{names}}};",
        "",
        "/* Places of the joints in every array, as in q[Joint::elbow]. */",
        "struct Joint {",
    ]
    for place, (name, _) in enumerate(model.axes):
        lines.append(f"{INDENT}static constexpr std::size_t {fresh(identifier(name), taken)} = {place};")
    return [*lines, "};"]


def _results(model: Model) -> list[str]:
    """A structure for each function with several results."""
    lines = []
    for function in model.functions:
        if len(function.outputs) > 1:
            fields = [f"{INDENT}{_type(port)} {port.name};" for port in function.outputs]
            lines += [f"struct {_result(function)} {{", *fields, "};", ""]
    return lines


def _type(port: Port, eigen: bool = False) -> str:
    shape = port.shape
    if not shape:
        return "double"
    if not eigen:
        return f"Matrix<{shape[0]}, {shape[1]}>" if len(shape) == 2 else f"Vector<{port.size}>"
    rows = "Eigen::RowMajor" if len(shape) == 2 and shape[1] > 1 else "Eigen::ColMajor"
    return f"Eigen::Matrix<double, {shape[0]}, {shape[1] if len(shape) == 2 else 1}, {rows}>"


def _result(function: ExportedFunction, eigen: bool = False) -> str:
    if len(function.outputs) == 1:
        return _type(function.outputs[0], eigen)
    return f"{function.name}_results"


def _class(model: Model, eigen: str) -> list[str]:
    lines = ["/* The robot's functions; pure, safe in threads. */", "class Robot {", "public:"]
    if model.parameters:
        names = ", ".join(c_comment(node.value) for node in model.parameters)
        values = ", ".join(map(repr, model.defaults))
        lines += comment([f"Named parameters, with the values of the robot's file: {names}."])
        lines += [f"{INDENT}Vector<{len(model.parameters)}> {PARAMETERS} = {{{values}}};", ""]
    for function in model.functions:
        lines += [f"{INDENT}{line}" for line in comment(words(model, function))]
        lines += [f"{INDENT}{line}" for line in _method(function)]
        if len(function.outputs) == 1:
            lines += [f"#ifdef {eigen}", *(f"{INDENT}{line}" for line in _eigen_method(function)), "#endif"]
        lines.append("")
    return [*lines[:-1], "};"]


def _given(function: ExportedFunction) -> list[Port]:
    return [port for port in function.inputs if port.name != PARAMETERS]


def _method(function: ExportedFunction) -> list[str]:
    arguments = ", ".join(f"const {_type(port)} &{port.name}" for port in _given(function))
    single = len(function.outputs) == 1
    pointers = [f"{port.name}.data()" for port in function.inputs]
    for port in function.outputs:
        place = "result" if single else f"result.{port.name}"
        pointers.append(f"&{place}" if not port.shape else f"{place}{'[0]' * (len(port.shape) - 1)}.data()")
    return [
        f"{_result(function)} {function.name}({arguments}) const",
        "{",
        f"{INDENT}{_result(function)} result{{}};",
        f"{INDENT}detail::{function.name}({', '.join(pointers)});",
        f"{INDENT}return result;",
        "}",
    ]


def _eigen_method(function: ExportedFunction) -> list[str]:
    given, (port,) = _given(function), function.outputs
    types = ", ".join(f"class T{i}" for i in range(1, len(given) + 1))
    arguments = ", ".join(f"const Eigen::MatrixBase<T{i}> &{port.name}" for i, port in enumerate(given, 1))
    pointers = [
        f"{part.name}.data()" if part.name == PARAMETERS else f"{part.name}_.data()" for part in function.inputs
    ]
    copies = [f"{INDENT}const {_type(part, eigen=True)} {part.name}_ = {part.name};" for part in given]
    return [
        f"template <{types}> {_type(port, eigen=True)} {function.name}({arguments}) const",
        "{",
        *copies,
        f"{INDENT}{_type(port, eigen=True)} result;",
        f"{INDENT}detail::{function.name}({', '.join([*pointers, 'result.data()' if port.shape else '&result'])});",
        f"{INDENT}return result;",
        "}",
    ]


# The test program -----------------------------------------------------------------------------------------------------


def test_program(model: Model) -> str:
    """NAME_test.cpp: reference vectors through std::array, and through Eigen where it is installed."""
    lines = [
        *comment(purpose_of_test(model)),
        "",
        "#include <algorithm>",
        "#include <cmath>",
        "#include <cstdio>",
        "",
        f'#include "{model.prefix}.hpp"',
        "",
        "using std::fabs;",
        "using std::printf;",
        "",
        f"#define TOLERANCE {TOLERANCE!r}",
        "",
        COMPARE,
        "",
        _FLAT,
        "",
    ]
    for function in model.functions:
        lines += _tested(model, function)
    return "\n".join([*lines, *main_function(model)])


_FLAT = """\
inline const double *flat(const double &x) { return &x; }
template <std::size_t n> const double *flat(const std::array<double, n> &x) { return x.data(); }
template <std::size_t n, std::size_t m> const double *flat(const std::array<std::array<double, n>, m> &x)
{
    return x[0].data();
}"""


def _tested(model: Model, function: ExportedFunction) -> list[str]:
    given, single = _given(function), len(function.outputs) == 1
    names = ", ".join(port.name for port in given)
    lines = [f"static int test_{function.name}(void)", "{", *reference_tables(model, function)]
    lines += [
        f"{INDENT}double worst = 0.0;",
        f"{INDENT}for (int k = 0; k < {STATES}; k++) {{",
    ]
    lines.append(f"{INDENT * 2}{'' if PARAMETERS in function.arguments else 'const '}{model.prefix}::Robot robot;")
    if PARAMETERS in function.arguments:
        source = f"{PARAMETERS}_[k], {PARAMETERS}_[k] + {len(model.parameters)}, robot.{PARAMETERS}.begin()"
        lines.append(f"{INDENT * 2}if (k != {AT_DEFAULTS}) std::copy({source});")
    for port in given:
        name = port.name
        lines += [
            f"{INDENT * 2}{model.prefix}::{_type(port)} {name};",
            f"{INDENT * 2}std::copy({name}_[k], {name}_[k] + {port.size}, {name}.begin());",
        ]
    lines.append(f"{INDENT * 2}const auto result = robot.{function.name}({names});")
    for port in function.outputs:
        place = "result" if single else f"result.{port.name}"
        lines += _compared(f"flat({place})", port)
    if single:
        maps = ", ".join(
            f"Eigen::Map<const Eigen::Matrix<double, {port.size}, 1>>({port.name}.data())" for port in given
        )
        taken = "&same" if not function.outputs[0].shape else "same.data()"
        lines += [
            f"#ifdef {model.prefix.upper()}_EIGEN",
            f"{INDENT * 2}const auto same = robot.{function.name}({maps});",
        ]
        lines += [*_compared(taken, function.outputs[0]), "#endif"]
    return [*lines, f"{INDENT}}}", f'{INDENT}return report("{function.name}", worst);', "}", ""]


def _compared(got: str, port: Port) -> list[str]:
    call = f"difference({got}, expected_{port.name}_[k], {port.size}, scale_[k])"
    return [f"{INDENT * 2}worst = std::max(worst, {call});"]


# Around it --------------------------------------------------------------------------------------------------------


def _cmake(name: str) -> str:
    return f"""\
cmake_minimum_required(VERSION 3.10)
project({name} CXX)

add_library({name} INTERFACE)
target_include_directories({name} INTERFACE ${{CMAKE_CURRENT_SOURCE_DIR}})
target_compile_features({name} INTERFACE cxx_std_17)
find_package(Eigen3 QUIET NO_MODULE)
if(TARGET Eigen3::Eigen)
  target_link_libraries({name} INTERFACE Eigen3::Eigen)
endif()

enable_testing()
add_executable({name}_test {name}_test.cpp)
target_link_libraries({name}_test PRIVATE {name})
add_test(NAME {name}_test COMMAND {name}_test)
"""


def _readme(model: Model) -> str:
    name = model.prefix
    rows = [f"  {function.name}: {costs(model, function)}" for function in model.functions]
    return "\n".join(
        [
            f"Dynamics of the robot '{c_comment(model.robot.name)}' in C++17, generated by armdyn.",
            "",
            f'  #include "{name}.hpp"',
            f"  const {name}::Robot robot;",
            "  auto tau = robot.inverse_dynamics(q, qd, qdd);   // std::array or Eigen vectors",
            "",
            "Build and test, with CMake (Eigen is used if it is found):",
            "  cmake -B build -DCMAKE_BUILD_TYPE=Release && cmake --build build && ctest --test-dir build",
            "or without:",
            f"  c++ -std=c++17 -O2 -I/usr/include/eigen3 {name}_test.cpp -o {name}_test && ./{name}_test",
            "",
            "Functions of the class and their operations:",
            *rows,
            "",
        ]
    )
