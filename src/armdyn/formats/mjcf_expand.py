"""MJCF written out: <include> replaced by the files' contents, <replicate> by its copies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from xml.etree.ElementTree import Element

from armdyn.algebra import ZERO, Pose, Vec3
from armdyn.errors import FileError, RobotError
from armdyn.formats.mjcf_values import Compiler, Options, Posed, all_named, default_classes, place
from armdyn.formats.safe_xml import MOST_ELEMENTS, XmlDocument, local_name, parse
from armdyn.formats.text import read_text
from armdyn.formats.xml_values import shown

MOST_COPIES = 10_000
TOP_MARKERS = ("package.xml", "LICENSE", "README.md", ".git")
"""Any of these shows the top folder of a distributed model."""
MOST_LEVELS = 3
"""Folders above the model's that are searched for its top: deeper models are not distributed."""
REFERENCES = ("joint", "jointinparent")
"""Attributes by which an actuator names what it acts on."""


def included(document: XmlDocument, folder: Path | None) -> None:
    """Replace each <include> by the content of its file, which must be in the model's folder tree.

    folder: of the model (None: a text, which may include no files).
    """
    seen: set[Path] = set()

    def fill(element: Element) -> None:
        for index, child in reversed(list(enumerate(element))):
            if local_name(child) == "include":
                content = _content(document, child, folder, seen)
                fill(content)
                element[index : index + 1] = list(content)
            else:
                fill(child)

    fill(document.root)


def include_path(document: XmlDocument, include: Element, folder: Path | None) -> Path:
    """The file that an <include> or <model> names, in the model's folder tree."""
    where, name, tag = document.at(include), include.get("file", ""), local_name(include)
    if folder is None:
        raise FileError(f"<{tag}> of {shown(name)!r} in a text", where=where, advice="Load the file that holds it.")
    own = Path(document.files.get(include, document.name)).resolve().parent  # of the file that includes it
    places = own, folder.resolve()
    path = next((place / name for place in places if (place / name).is_file()), own / name).resolve()
    if not name or not path.is_relative_to(_top(folder.resolve())):
        raise FileError(
            f"<{tag}> of {shown(name)!r}",
            where=where,
            expected="a file in the model's folder or below",
            advice=f"Put the files into one folder, or mark the top of the model's folders by a file {TOP_MARKERS[0]}.",
        )
    return path


def _top(folder: Path) -> Path:
    """The top of the model's folder tree: the nearest folder, at or above its own, that has a marker; else its own."""
    candidates = (folder, *list(folder.parents)[:MOST_LEVELS])
    return next((each for each in candidates if any((each / name).exists() for name in TOP_MARKERS)), folder)


def _content(document: XmlDocument, include: Element, folder: Path | None, seen: set[Path]) -> Element:
    where, name = document.at(include), include.get("file", "")
    path = include_path(document, include, folder)
    if path in seen:
        raise FileError(f"{shown(name)!r} is included twice", where=where, expected="each file once, without cycles")
    seen.add(path)
    inner = parse(read_text(path), str(path))
    document.adopt(inner)
    return inner.root


def replicated(document: XmlDocument) -> None:
    """Replace each <replicate> by frames that hold its copies; actuators of copied joints are copied too."""
    if not any(local_name(element) == "replicate" for element in document.root.iter()):
        return
    posed = Posed(document, Compiler.of(document), Options.of(document), default_classes(document))
    origin: dict[Element, str] = {}
    copies: dict[str, list[str]] = {}
    for world in all_named(document.root, "worldbody"):
        _unroll(posed, world, origin)
        for joint in world.iter("joint"):
            if joint in origin:
                copies.setdefault(origin[joint], []).append(joint.attrib["name"])
    for section in all_named(document.root, "actuator"):
        for index, actuator in reversed(list(enumerate(section))):
            key = next((key for key in REFERENCES if actuator.get(key) in copies), None)
            if key is not None:
                section[index : index + 1] = [
                    _clone(document, actuator, {**actuator.attrib, key: name}) for name in copies[actuator.attrib[key]]
                ]


def _unroll(posed: Posed, element: Element, origin: dict[Element, str]) -> None:
    """Replace the <replicate> below an element, the innermost first."""
    for index, child in reversed(list(enumerate(element))):
        _unroll(posed, child, origin)
        if local_name(child) == "replicate":
            element[index : index + 1] = list(_copies(posed, child, origin))


def _copies(posed: Posed, replicate: Element, origin: dict[Element, str]) -> Iterator[Element]:
    count = int(posed.number(replicate, "count", "replicate"))
    if not 0 <= count <= MOST_COPIES or count * sum(1 for _ in replicate.iter()) > MOST_ELEMENTS:
        raise RobotError(f"{count} copies", where=posed.document.at(replicate), expected=f"at most {MOST_COPIES}")
    offset = posed.vector(replicate, "offset", "replicate")
    angles = posed.vector(replicate, "euler", "replicate")
    inner = {"childclass": replicate.attrib["childclass"]} if "childclass" in replicate.attrib else {}
    position = ZERO
    for number in range(count):
        suffix = f"{replicate.get('sep', '')}{number:0{len(str(count - 1))}d}"
        R = posed.turned_by(Vec3(*(number * x for x in angles)))
        frame = _clone(posed.document, replicate, {**place(Pose(R, position)), **inner}, "frame")
        frame.extend(_renamed(posed.document, child, suffix, origin) for child in replicate)
        position = position + R @ offset
        yield frame


def _renamed(document: XmlDocument, element: Element, suffix: str, origin: dict[Element, str]) -> Element:
    """A copy of an element with new names; `origin` keeps the name that the file gives."""
    made = _clone(document, element, element.attrib)
    name = element.get("name")
    if name is not None:
        made.set("name", name + suffix)
        origin[made] = origin.get(element, name)
    made.extend(_renamed(document, child, suffix, origin) for child in element)
    return made


def _clone(document: XmlDocument, element: Element, attributes: Mapping[str, str], tag: str | None = None) -> Element:
    """A copy without children that messages place where the element is."""
    made = Element(tag or element.tag, dict(attributes))
    document.stands_for(made, element)
    return made
