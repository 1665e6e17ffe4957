"""What describes a logger, in a TOML file: how its logs are read, and how they are processed."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from armdyn.errors import unknown_name
from armdyn.formats.settings_file import make_section, section_template
from armdyn.formats.text import read_text
from armdyn.formats.toml import toml_tables
from armdyn.identification.log.log_format import LogFormat
from armdyn.identification.log.processing import Processing

SECTIONS = {"log": LogFormat, "processing": Processing}


class Logger(NamedTuple):
    """How the logs of a logger are read and processed; None: as by default."""

    log_format: LogFormat | None = None
    processing: Processing | None = None

    @staticmethod
    def read(path: str | Path) -> Logger:
        """The logger of a TOML file with the sections [log] and [processing]."""
        tables = toml_tables(read_text(Path(path)), str(path))
        for name in tables:
            if name not in SECTIONS:
                raise unknown_name("section", name, SECTIONS, where=str(path))
        found: dict[str, Any] = {
            name: make_section(kind, tables[name], f"{path}, [{name}]")
            for name, kind in SECTIONS.items()
            if tables.get(name)
        }
        return Logger(found.get("log"), found.get("processing"))

    @staticmethod
    def template() -> str:
        """A TOML file with all keys, their meanings and defaults."""
        head = "# A logger: armdyn identify ROBOT LOG --logger LOGGER.toml. Every key is optional."
        return "\n\n".join([head, *(section_template(name, kind) for name, kind in SECTIONS.items())])


def declared(
    log_format: LogFormat | str | Path | None, processing: Processing | None
) -> tuple[LogFormat, Processing | None]:
    """Format and processing that a user declared, some of it perhaps in a file."""
    if not isinstance(log_format, str | Path):
        return log_format or LogFormat(), processing
    found = Logger.read(log_format)
    return found.log_format or LogFormat(), processing or found.processing


__all__ = ["Logger", "declared"]
