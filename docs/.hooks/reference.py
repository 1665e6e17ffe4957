"""Pages of the reference: one per package of armdyn, made of its docstrings. Nothing to keep up to date by hand."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File

from armdyn.formats.schema import table
from armdyn.robot.features import FEATURES, support

SOURCE = Path(__file__).parents[2] / "src" / "armdyn"
ALONE = ("casadi", "conventions", "errors", "jax", "references", "torch")
"""Modules that are not in a package."""


def on_config(config: Any, **_: Any) -> None:
    """The pages go into the navigation after the index of the reference."""
    (section,) = [entry["Reference"] for entry in config.nav if "Reference" in entry]
    section += [{title: f"reference/{name}.md"} for name, title, _ in _pages()]


def on_files(files: Any, config: Any, **_: Any) -> None:
    for name, _, text in _pages():
        files.append(File.generated(config, f"reference/{name}.md", content=text))


def _pages() -> list[tuple[str, str, str]]:
    """(name, title, Markdown) of every page."""
    pages = []
    for folder in sorted(path.parent for path in SOURCE.glob("*/__init__.py")):
        modules = sorted(path for path in folder.rglob("*.py") if path.name != "__init__.py" and _documented(path))
        blocks = [f"::: {_dotted(path)}" for path in modules]
        body = "\n\n".join([_docstring(folder / "__init__.py"), *blocks])
        pages.append((folder.name, f"armdyn.{folder.name}", f"# armdyn.{folder.name}\n\n{body}\n"))
    alone = "\n\n".join(f"::: armdyn.{name}" for name in ALONE)
    pages.append(("alone", "conventions, errors", f"# Conventions, errors, references\n\n{alone}\n"))
    pages.append(("elements", "elements of URDF and MJCF", _elements()))
    pages.append(("features", "features of robots, and who takes them into account", _features()))
    return pages


def _features() -> str:
    """The declarations of all functions, one column per feature."""
    intro = (
        "A robot has features, listed by `robot.features`. A function with a dot in a column takes that feature into "
        "account, or does not depend on it; all others refuse robots that have it with a FeatureError. "
        "`robot.without(name)`, or `ROBOT,without=name` on the command line, leaves a feature out on purpose."
    )
    declared = support()
    listed = "\n".join(f"- **{name}**: {feature.words}" for name, feature in FEATURES.items())
    heads = " | ".join(name.replace("_", " ") for name in FEATURES)
    rows = (f"| `{what}` | {' | '.join('•' if name in declared[what] else '' for name in FEATURES)} |"
            for what in sorted(declared))  # fmt: skip
    table_of_all = "\n".join([f"| function | {heads} |", "|---" * (len(FEATURES) + 1) + "|", *rows])
    return "\n\n".join(["# Features of robots", intro, listed, table_of_all])


def _elements() -> str:
    """What the readers do with every element of the two formats."""
    intro = (
        "Used attributes enter the model. Those without effect belong to drawing, contact, sensors or solvers. What "
        "changes the dynamics and is not modelled is reported as a finding, or refused. A name that is not listed is "
        "an error if it resembles a listed one, and a finding otherwise. `<a/b>` is the element `b` inside `a`."
    )
    parts = ["# Elements of URDF and MJCF", intro, "## URDF", table("urdf"), "## MJCF", table("mjcf")]
    return "\n\n".join(parts)


def _documented(path: Path) -> bool:
    return bool(_docstring(path))


def _docstring(path: Path) -> str:
    return ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""


def _dotted(path: Path) -> str:
    return ".".join(("armdyn", *path.relative_to(SOURCE).with_suffix("").parts))
