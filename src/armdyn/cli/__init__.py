"""The command line: one file per verb, `parse` for their input, `console` for their output."""

from __future__ import annotations

from armdyn.cli.command import VERBS, application, main

__all__ = ["VERBS", "application", "main"]
