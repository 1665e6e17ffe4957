"""Equations written for a reader or a program: text, LaTeX, Markdown, an assignment list, Python, JSON."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from armdyn.equations import paper, typesetting
from armdyn.equations.typesetting import Block
from armdyn.errors import ArmdynError, FileError, unknown_name
from armdyn.files import write_text
from armdyn.graph import text
from armdyn.graph.program import arguments
from armdyn.notebook_view import View
from armdyn.result import Source

if TYPE_CHECKING:
    from armdyn.equations.derivation import Equations

FORMATS = ("text", "latex", "markdown", "program", "python", "json")
SUFFIXES = {".txt": "text", ".tex": "latex", ".md": "markdown", ".py": "python", ".json": "json"}
"""Extension of a file -> its format, if none is named."""
SPLITS = ("causes", "bodies")
PAPERS = ("a4", "letter")


@dataclass(frozen=True)
class Document(Source):
    """Equations in one format, as a whole or in parts; `source` is the text, `save(path)` writes it.

    format: one of FORMATS; None: text, LaTeX where a paper is named, or inferred from the extension of the file.
    entries: only these, such as M12, C31, g2 or tau1.
    split: also the torques by "causes", by "bodies", or by both.
    paper, columns: a complete LaTeX document on "a4" or "letter", broken for 1 or 2 columns.
    """

    equations: Equations
    format: str | None = None
    entries: tuple[str, ...] = ()
    split: tuple[str, ...] = ()
    paper: str | None = None
    columns: int = 1

    def __post_init__(self) -> None:
        for kind, names, known in (
            ("format", (self.format or "text",), FORMATS),
            ("split", self.split, SPLITS),
            ("paper", (self.paper or "a4",), PAPERS),
        ):
            for name in names:
                if name not in known:
                    raise unknown_name(kind, name, known, where="equations")
        if self.entries and (self.style in ("program", "python") or self.split):
            raise ArmdynError(
                "single entries of a program or of torques that are split",
                where="equations",
                expected="the formats text, latex, markdown and json, without splitting",
            )
        if (self.paper or self.columns == 2) and self.style != "latex":
            raise ArmdynError("only LaTeX has papers and columns", where="equations", expected="the format latex")

    @property
    def style(self) -> str:
        """The format of `source`."""
        return self.format or ("latex" if self.paper or self.columns > 1 else "text")

    @property
    def printed(self) -> bool:
        """Whether a format was named."""
        return self.format is not None or self.style != "text"

    @cached_property
    def blocks(self) -> list[Block]:
        """What is written, as groups of entries."""
        if self.entries:
            return [typesetting.one_entry(self.equations, name) for name in self.entries]
        return [*typesetting.matrices(self.equations), *self._torques()]

    def _torques(self) -> list[Block]:
        by_cause, by_body = ("causes" in self.split), ("bodies" in self.split)
        found = typesetting.causes(self.equations) if by_cause else []
        found += typesetting.bodies(self.equations) if by_body else []
        return found + (typesetting.crossed(self.equations) if by_cause and by_body else [])

    @cached_property
    def source(self) -> str:
        """The text in its format."""
        equations = self.equations
        if self.style == "program":
            return equations.program() + "\n"
        if self.style == "python":
            return _python(equations)
        if self.style == "json":
            return json.dumps(self.record(), indent=2, ensure_ascii=False) + "\n"
        if self.style == "latex":
            page = paper.layout(self.paper or "", self.columns)
            if page.paper:
                return paper.document(equations, self.blocks, page)
            return paper.fragment(equations, self.blocks, page.room) + "\n"
        if self.style == "markdown":
            return typesetting.markdown(equations, self.blocks)
        title = f"Equations of motion of {equations.robot.name}, by {equations.formulation}"
        lines = [title, *typesetting.statement(equations), typesetting.SHORT, typesetting.UNWRITTEN]
        for block in self.blocks:
            lines += ["", block.heading, *(typesetting.plain_lines(block, text) or ["all zero"])]
        return "\n".join(lines) + "\n"

    def _view(self) -> View:
        if self.printed:
            facts = [("format", self.style), ("lines", str(len(self.source.splitlines())))]
            return View(f"Equations of motion of {self.equations.robot.name}", None, facts)
        if self.entries:
            return typesetting.view(self.equations, self.blocks)
        large = typesetting.large(self.equations)
        names = [name for name in self.equations.quantities if name not in large]
        torques = [] if large else self._torques()
        return typesetting.view(self.equations, [*typesetting.matrices(self.equations, names), *torques], large)

    def record(self) -> dict[str, Any]:
        """The equations as texts that Python and SymPy can read, and the facts about them."""
        return typesetting.record(self.equations, "causes" in self.split, "bodies" in self.split, self.entries)

    def save(self, path: str | Path) -> Path:
        """Write the equations; the format is inferred from the extension, unless one was named."""
        kind = Path(path).suffix.lower()
        if self.format is None and kind not in SUFFIXES:
            raise FileError(
                f"unknown ending {kind!r}",
                where=str(path),
                expected=", ".join(SUFFIXES),
                advice="Name a format to write to a file with another extension.",
            )
        return write_text(path, replace(self, format=self.format or SUFFIXES[kind]).source)


def _python(equations: Equations) -> str:
    """A Python module: the function and, if they are known, the values of its parameters."""
    names, known = arguments(equations.graph), equations.robot.bound().parameters
    values = {argument: known[name] for name, argument in names.items() if name in known}
    called = ", ".join([*equations.graph.inputs, *(["**PARAMETERS"] if names else [])])
    statement = "\n".join(typesetting.statement(equations))
    head = (
        f"Inverse dynamics of {equations.robot.name}, by {equations.formulation}: the torques of a motion.\n\n"
        f"{statement}\n\n"
        f"function({called}) returns {{'tau': (tau1, ...)}}; q, qd, qdd have one entry per joint.\n"
    )
    table = [f'    "{name}": {value!r},\n' for name, value in values.items()]
    parameters = f"\nPARAMETERS = {{\n{''.join(table)}}}\n" if len(values) == len(names) > 0 else ""
    return f'"""{head}"""\n{parameters}\n\n{equations.graph.program("python")}'
