"""Docstrings as Markdown: their sections in paragraphs, their examples as code."""

from __future__ import annotations

import re
from typing import Any

import griffe

SECTION = re.compile(r"^(Args|Returns|Raises|Method|Status|Example|Examples):[ ]*", re.M)
EXAMPLE = re.compile(r"(?:^[ ]*>>> .*\n?(?:^(?![ ]*$).*\n?)*)+", re.M)


class Docstrings(griffe.Extension):
    """The form of armdyn's docstrings, told to Markdown."""

    def on_object(self, *, obj: Any, **_: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = as_markdown(obj.docstring.value)


def as_markdown(text: str) -> str:
    """Sections become paragraphs with a bold head, doctests code blocks."""
    examples: list[str] = []

    def keep(match: re.Match[str]) -> str:
        lines = match[0].rstrip("\n").split("\n")
        indent = len(lines[0]) - len(lines[0].lstrip())
        examples.append("\n".join(line[indent:] for line in lines))
        return f"\n\x02{len(examples) - 1}\x03\n"

    text = EXAMPLE.sub(keep, text)
    text = "\n".join(line if line.startswith("    ") else _literal(line) for line in _unhung(text).split("\n"))
    text = SECTION.sub(r"\n**\1.** ", text)
    return re.sub("\x02(\\d+)\x03", lambda m: f"\n```pycon\n{examples[int(m[1])]}\n```\n", text)


def _unhung(text: str) -> str:
    """The hanging lines of a section, which are no code."""
    return re.sub(r"^[ ]{9}(?=\S)", "", text, flags=re.M)


def _literal(line: str) -> str:
    """Outside `code`, brackets, stars and angles mean themselves: a docstring is mathematics, not Markdown."""
    parts = line.split("`")
    parts[::2] = [re.sub(r"([\[\]*<>])", lambda m: {"<": "&lt;", ">": "&gt;"}.get(m[1], "\\" + m[1]), part)
                  for part in parts[::2]]  # fmt: skip
    return "`".join(parts)
