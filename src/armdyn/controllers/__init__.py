"""Control laws as code: a law, its memory and its motion as functions that the writers of `codegen` know."""

from armdyn.controllers.exported import export

__all__ = ["export"]
