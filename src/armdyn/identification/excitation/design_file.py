"""The design of an exciting motion in a TOML file: kind of motion, search, limits, surroundings, measurement."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from armdyn.errors import ArmdynError, unknown_name
from armdyn.formats.settings_file import make_section, section_template
from armdyn.formats.text import read_text
from armdyn.formats.toml import toml_tables
from armdyn.identification.excitation.clearance import Surroundings
from armdyn.identification.excitation.excite import ExcitationLimits, Measurement, Search
from armdyn.identification.excitation.harmonics import Harmonics
from armdyn.identification.excitation.polynomials import Polynomials

SECTIONS: dict[str, Any] = {
    "harmonics": Harmonics,
    "polynomials": Polynomials,
    "search": Search,
    "limits": ExcitationLimits,
    "surroundings": Surroundings,
    "measurement": Measurement,
}


@dataclass(frozen=True)
class ExcitationDesign:
    """Arguments of `excite` that a file may hold; see there."""

    harmonics: Harmonics | Polynomials = Harmonics()
    search: Search = Search()
    limits: ExcitationLimits = ExcitationLimits()
    surroundings: Surroundings | None = None
    measurement: Measurement = Measurement()

    @staticmethod
    def read(path: str | Path) -> ExcitationDesign:
        """The design of a TOML file."""
        tables = toml_tables(read_text(Path(path)), str(path))
        for name in tables:
            if name not in SECTIONS:
                raise unknown_name("section", name, SECTIONS, where=str(path))
        if {"harmonics", "polynomials"} <= tables.keys():
            raise ArmdynError("harmonics and polynomials", where=str(path), expected="one of the two sections")
        found = {name: make_section(SECTIONS[name], table, f"{path}, [{name}]") for name, table in tables.items()}
        if "polynomials" in found:
            found["harmonics"] = found.pop("polynomials")
        return ExcitationDesign(**found)

    def arguments(self) -> dict[str, Any]:
        """As keyword arguments of `excite`."""
        return vars(self)

    @staticmethod
    def template() -> str:
        """A TOML file with all keys, their meanings and defaults."""
        head = "# An exciting motion: armdyn excite ROBOT DESIGN.toml. Harmonics or polynomials; every key is optional."
        return "\n\n".join([head, *(section_template(name, kind) for name, kind in SECTIONS.items())])


__all__ = ["ExcitationDesign"]
