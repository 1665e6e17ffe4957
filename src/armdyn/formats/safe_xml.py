"""XML from untrusted sources: no DTD, no entities, nothing fetched, bounded depth and size, line numbers."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any
from xml.etree.ElementTree import Element, ParseError, TreeBuilder

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import DefusedXMLParser

from armdyn.errors import FileError
from armdyn.formats.text import LARGEST_FILE

UNBOUND_PREFIX = 27
"""The parser's code for a prefix without a declaration (XML_ERROR_UNBOUND_PREFIX)."""
_ROOT = re.compile(r"<[A-Za-z_][\w.:-]*")
_PREFIX = re.compile(r"[<\s]/?([A-Za-z_][\w.-]*):[A-Za-z_]")
DEEPEST = 100
MOST_ELEMENTS = 200_000


@dataclass(frozen=True)
class XmlDocument:
    """A parsed text: its root, its name, and the line of every element.

    files: the names of those elements' files that come from another one.
    """

    root: Element
    name: str
    lines: dict[Element, int]
    files: dict[Element, str] = field(default_factory=dict)

    def at(self, element: Element, label: str = "") -> str:
        """Return the place of an element, for a message."""
        place = f"{self.files.get(element, self.name)}:{self.lines[element]}"
        return f"{place}, {label}" if label else place

    def stands_for(self, made: Element, element: Element) -> None:
        """Place a made element, in messages, where the element is."""
        self.lines[made] = self.lines[element]
        if element in self.files:
            self.files[made] = self.files[element]

    def adopt(self, other: XmlDocument) -> None:
        """Know the places of another document's elements too."""
        if len(self.lines) + len(other.lines) > MOST_ELEMENTS:
            raise FileError(f"more than {MOST_ELEMENTS} elements", where=other.name)
        self.lines.update(other.lines)
        self.files.update(dict.fromkeys(other.lines, other.name) | other.files)


class _Builder(TreeBuilder):
    """Builds the tree, records line numbers, and stops where a file grows without bound."""

    def __init__(self, where: str, skipped: int) -> None:
        super().__init__()
        self.where = where
        self.skipped = skipped
        self.expat: Any = None
        self.lines: dict[Element, int] = {}
        self.depth = 0

    def start(self, tag: Any, attrs: Any) -> Element:
        line = self.expat.CurrentLineNumber + self.skipped
        self.depth += 1
        if self.depth > DEEPEST:
            raise FileError(f"elements more than {DEEPEST} deep", where=f"{self.where}:{line}")
        if len(self.lines) == MOST_ELEMENTS:
            raise FileError(f"more than {MOST_ELEMENTS} elements", where=f"{self.where}:{line}")
        element: Element = super().start(tag, attrs)
        self.lines[element] = line
        return element

    def end(self, tag: str) -> Element:
        self.depth -= 1
        return super().end(tag)


def parse(text: str, where: str) -> XmlDocument:
    """The elements of an XML text; `where` names it in messages."""
    if len(text) > LARGEST_FILE:
        raise FileError(f"{len(text) / 2**20:.0f} MiB", where=where, expected="at most 16 MiB")
    body = text.lstrip("\ufeff \t\r\n")  # XML allows nothing before <?xml; files have it nevertheless
    skipped = text[: len(text) - len(body)].count("\n")
    try:
        try:
            return _parsed(body, where, skipped)
        except ParseError as error:
            if error.code != UNBOUND_PREFIX:
                raise
            return _parsed(_declared(body), where, skipped)
    except DefusedXmlException:
        raise FileError(
            "a document type declaration (<!DOCTYPE ...>)",
            where=where,
            expected="plain elements; declared entities can expand without bound or read other files",
            advice="Remove the declaration.",
        ) from None
    except ParseError as error:
        advice = "It uses xacro: run `xacro FILE > robot.urdf` and read that." if "xacro:" in text else None
        line, column = error.position[0] + skipped, error.position[1]
        reason = str(error).partition(":")[0]
        raise FileError(
            f"not XML: {reason} (column {column + 1})",
            where=f"{where}:{line}",
            expected="well-formed XML",
            advice=advice,
        ) from None
    except (ValueError, LookupError, AssertionError) as error:  # lone surrogates, unknown encodings, no element at all
        raise FileError(f"not XML: {error}", where=where) from None


def _parsed(text: str, where: str, skipped: int) -> XmlDocument:
    builder = _Builder(where, skipped)
    parser = DefusedXMLParser(target=builder, forbid_dtd=True, forbid_entities=True, forbid_external=True)
    builder.expat = parser.parser
    parser.feed(text)
    return XmlDocument(parser.close(), where, builder.lines)


def _declared(text: str) -> str:
    """The text with all prefixes of its elements and attributes declared in the root element."""
    start = _ROOT.search(text)
    if start is None:
        return text
    declared = set(re.findall(r"xmlns:([\w.-]+)", text))
    prefixes = set(_PREFIX.findall(text)) - declared - {"xml", "xmlns"}
    names = "".join(f' xmlns:{prefix}="undeclared:{prefix}"' for prefix in sorted(prefixes))
    return text[: start.end()] + names + text[start.end() :]


def local_name(element: Element) -> str:
    """The tag without its namespace (some generators declare a default one)."""
    return str(element.tag).rpartition("}")[2]
