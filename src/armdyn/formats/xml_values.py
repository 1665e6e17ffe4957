"""Values of XML attributes: numbers and names from untrusted files, with messages that say where they are."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any
from xml.etree.ElementTree import Element

from armdyn.algebra import ZERO, Scalar, Vec3
from armdyn.algebra.ops import tidy
from armdyn.errors import RobotError
from armdyn.formats.safe_xml import XmlDocument, local_name

_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d{1,4})?", re.ASCII)


@dataclass(frozen=True)
class Values:
    """Reads values of a document's elements; `label` names the part of the robot in messages."""

    document: XmlDocument

    def name(self, element: Element, kind: str, name: str) -> str:
        if not name.isprintable() or len(name) > 2000:
            raise RobotError(
                f"{shown(name)!r} is not a name",
                where=self.document.at(element, kind),
                expected="one line of printable text",
            )
        return name

    def text(self, element: Element, key: str, label: str) -> str:
        """Return an attribute that is required."""
        value = element.get(key)
        if value is None:
            tag = local_name(element)
            raise RobotError(
                f"{key!r} is missing in <{tag}>",
                where=self.document.at(element, label),
                expected=f'<{tag} {key}="...">',
            )
        return value

    def numbers(self, text: str, count: int, element: Element, key: str, label: str) -> list[Scalar]:
        """Return the numbers of an attribute, `count` of them."""
        where = self.document.at(element, f"{label}, <{local_name(element)} {key}>")
        words = text.split()
        if len(words) != count:
            raise RobotError(
                f"{shown(text)!r} has {len(words)} entries",
                where=where,
                expected="a number" if count == 1 else f"{count} numbers separated by spaces",
            )
        return [number(word, where) for word in words]

    def number(self, element: Element, key: str, label: str) -> Scalar:
        return self.numbers(self.text(element, key, label), 1, element, key, label)[0]

    def optional(self, element: Element, key: str, label: str) -> Scalar | None:
        return self.number(element, key, label) if key in element.attrib else None

    def vector(self, element: Element | None, key: str, label: str, default: Vec3 = ZERO) -> Vec3:
        if element is None or key not in element.attrib:
            return default
        return Vec3(*self.numbers(element.attrib[key], 3, element, key, label))


def number(word: str, where: str) -> Scalar:
    """A finite decimal number; Python's float() would also take nan, inf, 1_000 and digits of other scripts."""
    if not _NUMBER.fullmatch(word):
        xacro = "${" in word or "$(" in word
        raise RobotError(
            f"{shown(word)!r} is not a number",
            where=where,
            expected="a finite decimal number",
            advice="Run `xacro FILE > robot.urdf` and read that." if xacro else None,
        )
    value = float(word)
    if not math.isfinite(value) or abs(value) > 1e100:
        raise RobotError(
            f"{shown(word)} is not a finite number of a sensible size", where=where, expected="at most 1e100"
        )
    return tidy(value)


def shown(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 60 else text[:57] + "..."


def written(value: Scalar) -> str:
    """A number that reads back exactly."""
    number = float(value)
    if not math.isfinite(number):
        raise RobotError(f"{number} cannot be written to a file", expected="finite numbers")
    return repr(value) if isinstance(value, int) else repr(number)


def texts(vector: Vec3) -> str:
    return " ".join(map(written, vector))
