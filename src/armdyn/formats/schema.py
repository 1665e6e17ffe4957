"""What the readers do with every element and attribute of a format; the one list is a TOML file per format.

Keys of an element: `used`, `ignored` (no effect on the dynamics), `reported` and `refused` list attributes, the last
two with the value that changes nothing. `treatment` says the same of the element with all that it holds; `children`
lists the elements inside. `why` and `advice` go to documents and messages. `$name` stands for a list of `[groups]`.

A name that is not in the list is an error if it resembles one that is, for it is probably a misspelling; else it is
reported.
"""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any
from xml.etree.ElementTree import Element

from armdyn.errors import RobotError, unknown_name
from armdyn.formats.safe_xml import XmlDocument, local_name
from armdyn.formats.xml_values import shown

TREATMENTS = ("used", "ignored", "reported", "refused")


@dataclass(frozen=True)
class Rule:
    """What is done with an element; `attributes`: name -> (treatment, value that changes nothing)."""

    treatment: str
    attributes: Mapping[str, tuple[str, str]]
    children: tuple[str, ...]
    why: str = ""
    advice: str = ""

    @property
    def whole(self) -> bool:
        """Whether the element is treated as a whole, whatever it holds."""
        return self.treatment != "used"


@dataclass(frozen=True)
class Schema:
    """The list of one format: rules by "element" or "parent/element"."""

    rules: Mapping[str, Rule]

    def rule(self, tag: str, parent: str) -> Rule:
        return self.rules.get(f"{parent}/{tag}") or self.rules[tag]

    def check(self, document: XmlDocument) -> list[str]:
        """Raise for what is misspelt or refused, and return notes on what changes the dynamics and is not read."""
        root = document.root
        return list(dict.fromkeys(self._inside(document, root, self.rules[local_name(root)])))

    def _inside(self, document: XmlDocument, element: Element, rule: Rule) -> Iterator[str]:
        tag = local_name(element)
        present = {local_name(child) for child in element}
        for key in element.attrib:
            if key not in rule.attributes and "}" not in key:
                unused = [name for name in rule.attributes if name not in element.attrib]
                yield _unknown(f"attribute of <{tag}>", key, unused, document.at(element))
        for child in element:
            inner = local_name(child)
            if namespace(child) != namespace(document.root):
                continue  # an extension; the reader knows those that matter
            if inner not in rule.children:
                unused = [name for name in rule.children if name not in present]
                yield _unknown(f"element in <{tag}>", inner, unused, document.at(child))
                continue
            own = self.rule(inner, tag)
            if own.treatment == "refused":
                raise RobotError(f"<{inner}>: {own.why}", where=document.at(child), advice=own.advice)
            if own.treatment == "reported" and child.get("active") != "false":
                yield f"<{inner}> in <{tag}>"
            if own.whole:
                continue
            if tag != "default":  # there, only what an element inherits counts: see `values`
                yield from self.values(document, child, tag)
            yield from self._inside(document, child, own)

    def values(self, document: XmlDocument, element: Element, parent: str) -> Iterator[str]:
        """Notes on attributes of an element that change the dynamics and are not read."""
        tag = local_name(element)
        if f"{parent}/{tag}" not in self.rules and tag not in self.rules:
            return  # `check` has noted that it is unknown
        rule = self.rule(tag, parent)
        for key, value in element.attrib.items():
            treatment, neutral = rule.attributes.get(key, ("", ""))
            if treatment not in ("reported", "refused") or _same(value, neutral):
                continue
            if treatment == "refused":
                raise RobotError(
                    f'<{tag} {key}="{shown(value)}">: {rule.why}', where=document.at(element), advice=rule.advice
                )
            yield f"{key} of <{tag}>"


def _unknown(kind: str, name: str, unused: Sequence[str], where: str) -> str:
    """A note on an unknown name; an error if it resembles a known one that is not used beside it."""
    if difflib.get_close_matches(name, unused, n=1, cutoff=0.65):
        raise unknown_name(kind, shown(name), unused, where=where)
    return f"unknown {kind} {shown(name)!r}"


def namespace(element: Element) -> str:
    """The name space of an element, empty if it has none."""
    return str(element.tag).rpartition("}")[0]


def _same(text: str, neutral: str) -> bool:
    """Whether a value changes nothing: the same numbers, or the same word; "auto or false" stands for two words."""
    if " or " in neutral:
        return any(_same(text, each) for each in neutral.split(" or "))
    try:
        return [float(word) for word in text.split()] == [float(word) for word in neutral.split()]
    except ValueError:
        return text.strip() == neutral


@cache
def schema(format_name: str) -> Schema:
    """The schema of "urdf" or "mjcf"."""
    text = files("armdyn.formats").joinpath(f"{format_name}_schema.toml").read_text(encoding="utf-8")
    record = tomllib.loads(text)
    groups = {name: words.split() for name, words in record.pop("groups", {}).items()}
    return Schema({name: _rule(entry, groups) for name, entry in record.items()})


def _rule(entry: Mapping[str, Any], groups: Mapping[str, list[str]]) -> Rule:
    attributes: dict[str, tuple[str, str]] = {}
    for treatment in TREATMENTS[:2]:
        attributes |= dict.fromkeys(_words(entry.get(treatment, ""), groups), (treatment, ""))
    for treatment in TREATMENTS[2:]:
        attributes |= {name: (treatment, neutral) for name, neutral in entry.get(treatment, {}).items()}
    return Rule(
        treatment=entry.get("treatment", "used"),
        attributes=attributes,
        children=tuple(_words(entry.get("children", ""), groups)),
        why=entry.get("why", ""),
        advice=entry.get("advice", ""),
    )


def _words(text: str, groups: Mapping[str, list[str]]) -> Iterator[str]:
    for word in text.split():
        if word.startswith("$"):
            yield from _words(" ".join(groups[word[1:]]), groups)
        else:
            yield word


def table(format_name: str) -> str:
    """The schema as a table in Markdown, for the documents."""
    rows = ["| element | treatment | used | no effect | reported | refused | why |", "|---|---|---|---|---|---|---|"]
    for name, rule in schema(format_name).rules.items():
        lists = [" ".join(f"`{k}`" for k, (t, _) in rule.attributes.items() if t == kind) for kind in TREATMENTS]
        rows.append(f"| `<{name}>` | {rule.treatment} | {' | '.join(lists)} | {rule.why} |")
    return "\n".join(rows) + "\n"
