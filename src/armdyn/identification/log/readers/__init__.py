"""Readers of logs: files and arrays in, one `Log` on the joint side and in SI units out."""

from armdyn.identification.log.readers.reading import read_log

__all__ = ["read_log"]
