"""Values changed in an XML text that stays the same elsewhere, byte for byte: spacing, comments, order, line ends.

page = Page(text)
page.set(page.find("link", "elbow").child("inertial").child("mass"), "value", "2.5")
page.text
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from xml.etree.ElementTree import Element
from xml.sax.saxutils import escape, unescape

from armdyn.errors import FileError, unknown_name
from armdyn.formats.xml_values import written

_TOKEN = re.compile(
    r"<!--.*?-->|<!\[CDATA\[.*?\]\]>|<\?.*?\?>"
    r"|</\s*(?P<closed>[^\s>]+)\s*>"
    r"|<(?P<name>[^\s/>!?]+)(?P<attributes>(?:[^\"'>]|\"[^\"]*\"|'[^']*')*?)(?P<empty>/?)>",
    re.S,
)
_ATTRIBUTE = re.compile(r"([^\s=]+)\s*=\s*(?:\"([^\"]*)\"|'([^']*)')", re.S)
TENSOR = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
CLOSE = 1e-9
"""Relative difference that rounding explains when a patched text is read again."""
_QUOTES = {"&quot;": '"', "&apos;": "'"}


@dataclass(eq=False)
class Tag:
    """An element of a text: where it stands (`start` to `end`), its start tag (up to `inside`) and its attributes.

    name: as it stands in the text, with its prefix. spans: attribute -> where its value stands.
    """

    name: str
    start: int
    inside: int
    spans: dict[str, tuple[int, int]]
    values: dict[str, str]
    end: int = -1
    children: list[Tag] = field(default_factory=list)

    def child(self, name: str) -> Tag | None:
        """The first child of that name."""
        return next((child for child in self.children if child.name == name), None)

    def walk(self) -> Iterator[Tag]:
        """The element and all inside it, in the order of the text."""
        yield self
        for child in self.children:
            yield from child.walk()


class Page:
    """An XML text and the changes to be made in it; `text` is the changed one. The text must be well-formed."""

    def __init__(self, text: str, where: str = "XML text") -> None:
        self.original = text
        self.root = _tree(text, where)
        self._changes: dict[tuple[int, int, str], str] = {}

    def find(self, tag: str, name: str) -> Tag:
        """The child of the root with that tag and that `name`; UnknownName if there is none.

        Elements inside others may have the same name: the joints of <ros2_control> and <transmission>.
        """
        found = [element for element in self.root.children if element.name == tag]
        for element in found:
            if element.values.get("name") == name:
                return element
        raise unknown_name(f"<{tag}>", name, [element.values.get("name", "") for element in found])

    def set(self, tag: Tag, key: str, value: str) -> None:
        """Change an attribute, or add it."""
        if key in tag.spans:
            start, end = tag.spans[key]
            quote = self.original[start - 1]
            self._changes[start, end, key] = escape(value, {quote: "&quot;" if quote == '"' else "&apos;"})
        else:
            at = self._closing(tag)
            self._changes[at, at, f"{tag.start} {key}"] = f' {key}="{escape(value, {chr(34): "&quot;"})}"'

    def set_numbers(self, tag: Tag, key: str, numbers: Sequence[float]) -> None:
        """Change the numbers of an attribute; those that are the same keep their digits."""
        old = tag.values.get(key, "").split()
        new = [written(x) for x in numbers]
        if len(old) == len(new):
            new = [a if _number(a) == x else b for a, b, x in zip(old, new, numbers, strict=True)]
        if old != new:
            gaps = re.split(r"\S+", tag.values.get(key, "")) if len(old) == len(new) else []
            self.set(tag, key, _spaced(new, gaps) if gaps else " ".join(new))

    def unset(self, tag: Tag, key: str) -> None:
        """Remove an attribute with the space in front of it."""
        if key in tag.spans:
            start, end = tag.spans[key]
            begin = re.search(rf"\s*{re.escape(key)}\s*=\s*.\Z", self.original[tag.start : start], re.S)
            assert begin is not None
            self._changes[tag.start + begin.start(), end + 1, ""] = ""

    def remove(self, tag: Tag) -> None:
        """Remove an element with the line that it leaves empty."""
        before = len(self.original[: tag.start].rstrip(" \t"))
        alone = self.original[:before].endswith("\n") and re.match(r"[ \t]*(\r?\n|\Z)", self.original[tag.end :])
        end = tag.end + alone.end() if alone else tag.end
        self._changes[before if alone else tag.start, end, ""] = ""

    def add(self, tag: Tag, xml: str, *, first: bool = False) -> None:
        """Add text inside an element, after (or before) all that is there, on lines of its own if the others are."""
        source = self.original
        line = "\r\n" if "\r\n" in source else "\n"
        own = _indent(source, tag.start)
        inner = next((_indent(source, child.start) for child in tag.children), None)
        if own is None or (tag.children and inner is None):
            made, tail = xml, ""
        else:
            inner = inner if inner is not None else own + "  "
            made = "".join(f"{line}{inner}{row}" for row in xml.splitlines())
            tail = f"{line}{own}"
        if source[tag.inside - 2 : tag.inside] == "/>":
            begin, last = len(source[: tag.inside - 2].rstrip()), f"{tail}</{tag.name}>"
            earlier = self._changes.get((begin, tag.inside, "+"), f">{last}")
            self._changes[begin, tag.inside, "+"] = earlier.removesuffix(last) + made + last
            return
        at = tag.inside if first else max([tag.inside, *(child.end for child in tag.children)])
        made += tail if not tag.children and not source[at : tag.end].lstrip(" \t").startswith(("\n", "\r")) else ""
        self._changes[at, at, f"+{len(self._changes)}"] = made

    @property
    def text(self) -> str:
        """The text with all changes made."""
        parts, at = [], 0
        for (start, end, _), new in sorted(self._changes.items(), key=lambda change: change[0][:2]):
            parts += [self.original[at:start], new]  # the first is empty where the element before is removed
            at = max(at, end)
        return "".join([*parts, self.original[at:]])

    def _closing(self, tag: Tag) -> int:
        """Where a further attribute goes: behind the last one."""
        body = self.original[tag.start : tag.inside].rstrip(">").rstrip("/").rstrip()
        return tag.start + len(body)


def set_attributes(page: Page, tag: Tag, old: Element, new: Element) -> None:
    """Change the attributes that differ between two plain elements."""
    for key, value in new.items():
        if old.get(key) == value:
            continue
        try:
            page.set_numbers(tag, key, [float(word) for word in value.split()])
        except ValueError:
            page.set(tag, key, value)


def _spaced(words: Sequence[str], gaps: Sequence[str]) -> str:
    """Words with the spaces that stood around the old ones."""
    return "".join(part for pair in zip(gaps, [*words, ""], strict=True) for part in pair)


def difference(before: str, after: str, name: str) -> str:
    """The changed lines of a file with one line around them, as a unified diff; empty if it is the same."""
    old, new = before.splitlines(), after.splitlines()
    rows = [f"--- {name}", f"+++ {name} (new)"] if old != new else []
    for start, end, first, last in _hunks(old, new):
        rows.append(f"@@ -{start + 1},{end - start} +{first + 1},{last - first} @@")
        same = difflib.SequenceMatcher(None, old[start:end], new[first:last], autojunk=False)
        for tag, a, b, c, d in same.get_opcodes():
            rows += [f" {row}" for row in old[start + a : start + b]] if tag == "equal" else []
            rows += [f"-{row}" for row in old[start + a : start + b]] if tag in ("replace", "delete") else []
            rows += [f"+{row}" for row in new[first + c : first + d]] if tag in ("replace", "insert") else []
    return "\n".join(rows)


def _hunks(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[int, int, int, int]]:
    """Where two texts differ, with one line around: lines of the old one and of the new one."""
    if len(old) == len(new):  # values were changed in place: no search, which files of repeated lines would lead astray
        changed = [i for i, (a, b) in enumerate(zip(old, new, strict=True)) if a != b]
        while changed:
            last = next((k for k in range(len(changed) - 1) if changed[k + 1] > changed[k] + 2), len(changed) - 1)
            start, end = max(changed[0] - 1, 0), min(changed[last] + 2, len(old))
            yield start, end, start, end
            changed = changed[last + 1 :]
        return
    for group in difflib.SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(1):
        yield group[0][1], group[-1][2], group[0][3], group[-1][4]


def _number(word: str) -> float | None:
    try:
        return float(word)
    except ValueError:
        return None


def _indent(text: str, start: int) -> str | None:
    """The white space in front of an element that begins a line, else None."""
    begin = text.rfind("\n", 0, start) + 1
    return text[begin:start] if not text[begin:start].strip() else None


def _tree(text: str, where: str) -> Tag:
    root: Tag | None = None
    stack: list[Tag] = []
    for token in _TOKEN.finditer(text):
        if token["closed"]:
            if not stack or stack[-1].name != token["closed"]:
                raise FileError(f"</{token['closed']}> closes nothing", where=where, expected="well-formed XML")
            stack.pop().end = token.end()
        elif token["name"]:
            tag = _tag(token)
            if stack:
                stack[-1].children.append(tag)
            elif root is None:
                root = tag
            if token["empty"]:
                tag.end = token.end()
            else:
                stack.append(tag)
    if root is None or stack:
        raise FileError("elements are not closed", where=where, expected="well-formed XML")
    return root


def _tag(token: re.Match[str]) -> Tag:
    spans, values = {}, {}
    for found in _ATTRIBUTE.finditer(token["attributes"]):
        group = 2 if found[2] is not None else 3
        offset = token.start("attributes")
        spans[found[1]] = (offset + found.start(group), offset + found.end(group))
        values[found[1]] = unescape(found[group], _QUOTES)
    return Tag(token["name"], token.start(), token.end(), spans, values)


def close(a: Element, b: Element) -> bool:
    """Whether two plain elements have the same values, but for rounding."""
    one, other = list(_values(a)), list(_values(b))
    if [key for key, _ in one] != [key for key, _ in other]:
        return False
    for (_, x), (_, y) in zip(one, other, strict=True):
        size = max((abs(v) for v in (*x, *y) if isinstance(v, float)), default=0.0)
        if len(x) != len(y):
            return False
        for v, w in zip(x, y, strict=True):
            numbers = isinstance(v, float) and isinstance(w, float)
            if v != w and not (numbers and abs(float(v) - float(w)) <= CLOSE * max(size, 1e-9)):
                return False
    return True


def _values(element: Element) -> Iterator[tuple[str, list[float | str]]]:
    """All attributes of an element and its children, as numbers where they are; a tensor is one list."""
    for part in element.iter():
        if part.tag == "inertia":
            yield "inertia", [float(part.attrib[key]) for key in TENSOR]
            continue
        for key, value in part.items():
            try:
                yield f"{part.tag} {key}", [float(word) for word in value.split()]
            except ValueError:
                yield f"{part.tag} {key}", [value]
