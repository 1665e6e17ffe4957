"""MJCF written out: <attach> replaced by the bodies of another model, with what acts on them.

The other model's default classes, units of angles and automatic limits are put into its elements, so that they mean the
same in this model; names and references get the prefix. Its <option> does not count: this model's does.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from xml.etree.ElementTree import Element

from armdyn.algebra import Pose
from armdyn.errors import FileError, RobotError, unknown_name
from armdyn.formats.mjcf_expand import include_path, included, replicated
from armdyn.formats.mjcf_meshes import Meshes
from armdyn.formats.mjcf_values import (
    CLASSED,
    COMPLETE,
    ORIENTATIONS,
    Compiler,
    Options,
    all_named,
    default_classes,
    place,
)
from armdyn.formats.safe_xml import XmlDocument, local_name, parse
from armdyn.formats.schema import schema
from armdyn.formats.text import read_text
from armdyn.formats.xml_values import shown, written

ENDS = (
    "joint",
    "jointinparent",
    "joint1",
    "joint2",
    "body",
    "body1",
    "body2",
    "site",
    "site1",
    "site2",
    "refsite",
    "geom",
    "sidesite",
    "cranksite",
    "slidersite",
)
"""Attributes by which what acts names parts of the tree."""
REFERENCES = ("name", "mesh", "material", "tendon", "tendon1", "tendon2", *ENDS)
"""Attributes that hold a name of the model."""
LIMITED = {
    "range": "limited",
    "actuatorfrcrange": "actuatorfrclimited",
    "ctrlrange": "ctrllimited",
    "forcerange": "forcelimited",
}
ANGLES = ("range", "ref", "springref")
SHARED = ("from_shapes", "groups", "balance", "least_mass", "least_inertia", "total_mass", "fit_to_box")
"""Settings of the compiler that act on whole models."""
DEEPEST = 8
"""Models within models."""


def attached(document: XmlDocument, folder: Path | None, depth: int = 0) -> list[str]:
    """Replace each <attach> by what it stands for; return notes on what is not read."""
    if not any(local_name(element) == "attach" for element in document.root.iter()):
        return []
    if depth > DEEPEST:
        raise FileError(f"models within models, more than {DEEPEST} deep", where=document.name)
    models = {}
    for section in all_named(document.root, "asset"):
        for element in all_named(section, "model"):
            child = _model(document, element, folder)
            models[str(element.get("name") or child.root.get("model", ""))] = (element, child)
    notes: list[str] = []
    for world in all_named(document.root, "worldbody"):
        _fill(document, world, models, folder, notes, depth)
    return notes


Models = Mapping[str, tuple[Element, XmlDocument]]


def _model(document: XmlDocument, element: Element, folder: Path | None) -> XmlDocument:
    path = include_path(document, element, folder)
    return parse(read_text(path), str(path))


def _fill(
    document: XmlDocument, parent: Element, models: Models, folder: Path | None, notes: list[str], depth: int
) -> None:
    for index, child in reversed(list(enumerate(parent))):
        if local_name(child) != "attach":
            _fill(document, child, models, folder, notes, depth)
            continue
        name = child.get("model")
        if name is None:
            advice = "Write the model out: `mujoco.MjSpec.from_file(FILE).to_xml()` does it."
            what = "<attach> of a part of the same model is not supported"
            raise FileError(what, where=document.at(child), advice=advice)
        if name not in models:
            raise unknown_name("model", shown(name), models, where=document.at(child))
        other = parse(read_text(Path(models[name][1].name)), models[name][1].name)  # a fresh copy
        inner = Path(other.name).parent
        included(other, folder)
        notes += schema("mjcf").check(other)
        notes += attached(other, inner, depth + 1)
        replicated(other)
        document.adopt(other)
        parent[index : index + 1] = [_Copy(document, other, inner, child).frame()]


class _Copy:
    """The part of another model that an <attach> asks for."""

    def __init__(self, document: XmlDocument, other: XmlDocument, folder: Path, attach: Element) -> None:
        self.document, self.attach = document, attach
        self.values = Meshes(other, Compiler.of(other), Options.of(other), default_classes(other), folder)
        self.own = Compiler.of(document)
        self.prefix = attach.get("prefix", "")
        for key in SHARED:
            if getattr(self.values.compiler, key) != getattr(self.own, key):
                raise FileError(
                    f"an attached model whose compiler has another {key}",
                    where=document.at(attach),
                    expected="the same settings in <compiler> of both models",
                )

    def frame(self) -> Element:
        """The frame that holds the copied bodies; what acts on them is added to the document."""
        root, frame = self.values.document.root, self.made("frame", {})
        for body, childclass in self.wanted(root):
            frame.append(self.copied(body, childclass))
        names = {element.get("name") for element in frame.iter()} - {None}
        for kind in ("mesh", "material"):
            for asset in self.values.assets(kind):
                self.section("asset").append(self.asset(asset))
        for kind in ("actuator", "tendon", "equality"):
            for element in (child for part in all_named(root, kind) for child in part):
                copy = self.copied(element, "main", kind)
                ends = [value for part in copy.iter() for key, value in part.items() if key in ENDS]
                if set(ends) <= names:
                    self.section(kind).append(copy)
        return frame

    def wanted(self, root: Element) -> Iterator[tuple[Element, str]]:
        """The attached elements, with the default class that holds around them."""
        named = {key: self.attach.get(key) for key in ("body", "frame") if self.attach.get(key)}
        found = False
        for world in all_named(root, "worldbody"):
            for element, childclass in _walk(world, "main"):
                tag = local_name(element)
                if (not named and element in list(world)) or (tag in named and element.get("name") == named[tag]):
                    found = True
                    yield element, childclass
        if named and not found:
            raise RobotError(
                f"the attached model has no {shown(' '.join(map(str, named.values())))!r}",
                where=self.document.at(self.attach),
            )

    def section(self, tag: str) -> Element:
        """A section of this document, made if there is none."""
        sections = all_named(self.document.root, tag)
        if not sections:
            sections = [self.made(tag, {})]
            self.document.root.append(sections[0])
        return sections[-1]

    def made(self, tag: str, attributes: Mapping[str, str], like: Element | None = None) -> Element:
        element = Element(tag, dict(attributes))
        self.document.stands_for(element, self.attach if like is None else like)
        return element

    def copied(self, element: Element, childclass: str, parent: str = "body") -> Element:
        """An element with all that it holds, in the words of this model."""
        tag = local_name(element)
        childclass = element.get("childclass", childclass)
        known = tag in CLASSED and not (parent in ("fixed", "spatial") or (parent == "equality" and tag != "equality"))
        whole = self.values.full(element, childclass) if known else element
        values = {key: value for key, value in whole.items() if key not in ("class", "childclass")}
        if known:
            values["class"] = COMPLETE
        if any(key in ORIENTATIONS for key in values):
            pose = Pose(self.values.orientation(whole, tag), self.values.vector(whole, "pos", tag))
            values = {key: value for key, value in values.items() if key not in ORIENTATIONS} | place(pose)
        if tag == "joint" and parent not in ("fixed", "spatial", "equality"):
            values |= self.angles(values)
        values |= {
            flag: "true" if self.values.compiler.autolimits else "false"
            for key, flag in LIMITED.items()
            if key in values and values.get(flag, "auto") == "auto"
        }
        values |= {key: self.prefix + values[key] for key in REFERENCES if key in values}
        made = self.made(tag, values, element)
        made.extend(self.copied(child, childclass, tag) for child in element)
        return made

    def asset(self, element: Element) -> Element:
        """An asset under its new name, with the path of its file."""
        values = {key: value for key, value in element.items() if key != "class"} | {"class": COMPLETE}
        name = element.get("name") or Path(element.get("file", "")).stem
        path = self.values.mesh_path(element) if local_name(element) == "mesh" else None
        if path is not None:
            values["file"] = str(path.resolve())
        return self.made(local_name(element), values | {"name": self.prefix + name})

    def angles(self, values: Mapping[str, str]) -> dict[str, str]:
        """Angles of a hinge or ball joint in the unit of this model."""
        if values.get("type", "hinge") not in ("hinge", "ball") or self.own.degrees == self.values.compiler.degrees:
            return {}
        factor = 180 / math.pi if self.own.degrees else math.pi / 180
        given = {key: values[key].split() for key in ANGLES if key in values}
        return {key: " ".join(written(factor * float(word)) for word in words) for key, words in given.items()}


def _walk(element: Element, childclass: str) -> Iterator[tuple[Element, str]]:
    for child in element:
        yield child, childclass
        yield from _walk(child, child.get("childclass", childclass))
