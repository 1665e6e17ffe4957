"""Settings in TOML files: each section is a frozen dataclass, each key one of its fields.

A key or value that does not belong is reported with file, section and key, and with the nearest known key. Fields whose
metadata say {"file": False} (functions, robots) have no place in a file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from inspect import getdoc
from textwrap import wrap
from types import UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from armdyn.errors import ArmdynError, unknown_name
from armdyn.formats.toml import toml_value

Section = TypeVar("Section")
KINDS: dict[Any, tuple[tuple[type, ...], str]] = {
    bool: ((bool,), "true or false"),
    int: ((int,), "a whole number"),
    float: ((int, float), "a number"),
    str: ((str,), "a text in quotes"),
    list: ((list,), "a list in brackets"),
    dict: ((dict,), "a table in braces"),
    type(None): ((), ""),
}
"""Annotations of fields -> types of TOML that fit, and how to say so."""


def make_section(kind: type[Section], table: Any, where: str) -> Section:
    """The dataclass of a table of a file; where: file and section, for messages."""
    if not isinstance(table, Mapping):
        raise ArmdynError(f"{table!r} in place of a table", where=where, expected="keys and values")
    hints, known = get_type_hints(kind), keys_of(kind)
    required = [entry.name for entry in _fields(kind) if _default(entry) is MISSING]
    for name in required:
        if name not in table:
            raise ArmdynError(f"{name} is missing", where=where, expected=" or ".join(_words((hints[name],))))
    values = {}
    for key, value in table.items():
        if key not in known:
            raise unknown_name("key", key, known, where=where)
        place = f"{where} {key}"
        values[key] = _value(value, hints[key], place)
        if not required:  # alone, it shows which of several keys an error is about
            _made(kind, {key: values[key]}, place)
    return _made(kind, values, where)


def _made(kind: type[Section], values: Mapping[str, Any], where: str) -> Section:
    try:
        return kind(**values)
    except ArmdynError as error:
        raise error.located(where) from None


def _value(value: Any, hint: Any, where: str) -> Any:
    """A value of a file as a field with this annotation holds it; ArmdynError if it does not fit."""
    choices = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    for choice in choices:
        origin, arguments = get_origin(choice) or choice, get_args(choice)
        if is_dataclass(choice) and isinstance(choice, type) and isinstance(value, Mapping):
            return make_section(choice, value, where)
        if origin is tuple and isinstance(value, list):
            return tuple(_value(entry, arguments[0], where) for entry in value)
        plain = {tuple: list, Mapping: dict}.get(origin, origin)
        if choice is Any or (origin is Literal and value in arguments):
            return value
        fitting = KINDS.get(plain, ((), ""))[0]
        if isinstance(value, fitting) and isinstance(value, bool) <= (bool in fitting):
            return value
    texts = [word for choice in choices if get_origin(choice) is Literal for word in get_args(choice)]
    if texts and isinstance(value, str):
        raise unknown_name("value", value, texts, where=where)
    raise ArmdynError(f"{value!r}", where=where, expected=" or ".join(_words(choices)))


def _words(choices: Iterable[Any]) -> list[str]:
    words: list[str] = []
    for choice in choices:
        origin = get_origin(choice) or choice
        if origin is Literal:
            words += map(repr, get_args(choice))
        else:
            words.append(KINDS.get({tuple: list, Mapping: dict}.get(origin, origin), ((), "a table in braces"))[1])
    return [word for word in dict.fromkeys(words) if word]


def keys_of(kind: Any) -> list[str]:
    """The keys that a section may have."""
    return [entry.name for entry in _fields(kind)]


def _fields(kind: Any) -> list[Field[Any]]:
    """The fields that a file may have."""
    return [entry for entry in fields(kind) if entry.init and entry.metadata.get("file", True)]


# Writing --------------------------------------------------------------------------------------------------------------


def section_record(section: Any, where: str) -> dict[str, Any]:
    """What differs from the defaults of a section, as plain values; ArmdynError for what a file cannot hold."""
    record = {}
    for entry in fields(section):
        value, default = getattr(section, entry.name), _default(entry)
        if value is default or plain(value) == plain(default):
            continue
        if not entry.metadata.get("file", True):
            raise ArmdynError(
                f"{entry.name} is a {type(value).__name__}",
                where=where,
                expected="numbers and texts, which a file can hold",
            )
        record[entry.name] = plain(value)
    return record


def _default(entry: Field[Any]) -> Any:
    return entry.default_factory() if entry.default_factory is not MISSING else entry.default


def plain(value: Any) -> Any:
    """A value as numbers, texts, lists and dictionaries."""
    if is_dataclass(value) and not isinstance(value, type):
        return section_record(value, type(value).__name__)
    if isinstance(value, Mapping):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [plain(entry) for entry in value]
    return plain(value.tolist()) if hasattr(value, "tolist") else value


def toml_text(tables: Mapping[str, Mapping[str, Any]]) -> str:
    """Tables of plain values as the text of a TOML file."""
    parts = []
    for name, table in tables.items():
        parts.append("\n".join([f"[{name}]", *(f"{key} = {toml_value(value)}" for key, value in table.items())]))
    return "\n\n".join(parts) + "\n"


def section_template(name: str, kind: Any, width: int = 112) -> str:
    """A section with all its keys as comments: what each means, from the docstring of its class, and its default."""
    lines = [f"[{name}]"]
    for entry in _fields(kind):
        meaning = re.search(rf"^{entry.name}: +(.+(?:\n +.+)*)", getdoc(kind) or "", re.M)
        words = " ".join(meaning[1].split()) if meaning else ""
        lines += [f"# {line}" for line in wrap(words[:1].upper() + words[1:], width)]
        default = plain(_default(entry))
        lines.append(f"# {entry.name} = {'...' if default is None else toml_value(default)}")
    return "\n".join(lines)
