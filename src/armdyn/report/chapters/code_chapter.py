"""The chapter on exported code: C for a controller and a Python module, written beside the report."""

from __future__ import annotations

from pathlib import Path

from armdyn.codegen import DEFAULT, model
from armdyn.codegen.export_files import save, texts
from armdyn.errors import PhysicsError
from armdyn.report.chapters.chapter import File, ReportChapter
from armdyn.report.chapters.subject import Subject
from armdyn.report.pages import html
from armdyn.tables import Column, Section

FOLDER = "code"
MANY = 12
"""Joints beyond which only the first function is exported."""
WHAT = {
    ".h": "C header: one function per quantity",
    ".c": "C99 source; needs only math.h, allocates nothing",
    ".py": "Python module for NumPy arrays",
}
NAMED = {"CMakeLists.txt": "CMake project for the C files", "README.txt": "how to build and call the C functions"}
LANGUAGES = ("c", "python")


def code(subject: Subject) -> ReportChapter:
    """Inverse and forward dynamics, mass matrix and others as source code."""
    names = DEFAULT if subject.robot.n <= MANY else DEFAULT[:1]
    subject.say("exporting code")
    blocked = ""
    try:
        built = model(subject.dyn, names)
    except PhysicsError as error:  # a singular mass matrix: all but what needs its inverse
        blocked = f"Without forward_dynamics: {error.message}"
        built = model(subject.dyn, [name for name in names if name != "forward_dynamics"])
    files = []
    for language in LANGUAGES:
        subject.say(f"exporting {language}")
        files += [File(path, _what(path)) for path in save(texts(built, language), subject.folder / FOLDER)]
    rows = tuple(
        (f.name, f.definition.what, f"{f.graph.operations.multiplications} / {f.graph.operations.additions}")
        for f in built.functions
    )
    columns = (Column("function"), Column("returns", folds=True), Column("operations", "x / +"))
    listed = [(path.path.relative_to(subject.folder).as_posix(), path.path.name, path.what) for path in files]
    words = "The same functions as source code, for a controller or for reading. The code does not need armdyn."
    how = (
        f"cd {FOLDER}\n"
        "cmake -B build && cmake --build build && ctest --test-dir build    # compares with reference values\n"
        f'python -c "import {built.prefix} as arm; print(arm.gravity([0.3] * {subject.robot.n}))"'
    )
    blocks = [
        html.paragraph(words),
        html.remark(blocked),
        html.links(listed, ("file", "content")),
        html.table(Section("Functions", columns, rows)),
        html.subheading("How to try it"),
        html.code(how),
    ]
    return ReportChapter(blocks, files=files)


def _what(path: Path) -> str:
    if path.name.endswith("_test.c"):
        return "C test program: compares with reference values"
    return NAMED.get(path.name) or WHAT.get(path.suffix, "exported code")
