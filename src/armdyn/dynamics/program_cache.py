"""Programs found again without tracing: a note on disk leads from a robot and a function's name to its machine code.

The name of a note is a hash of all that the program depends on: robot, function, the files of this package
that make the graph, and the machine. A note holds plain data (JSON). Whatever is missing, damaged or unknown means that
the graph is traced, as without a note.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import asdict
from functools import partial

import numpy as np

from armdyn.dynamics.fingerprint import fingerprint
from armdyn.dynamics.programs import concatenated, parts_of
from armdyn.graph import Graph
from armdyn.kernels import Composite, Kernel, Program, cache, jit, restored, sources
from armdyn.kernels.ports import KernelRecord, counted
from armdyn.robot import Robot

FOLDERS = ("algebra", "graph", "robot", "mechanics", "parameters", "kernels", "dynamics")
"""Where the code is that makes graphs and programs."""


class ProgramCache:
    """The notes on one robot's programs; there are none for robots without a fingerprint or files without a version."""

    def __init__(self, robot: Robot) -> None:
        mark = fingerprint(robot)
        version = sources.version(*FOLDERS)
        known = mark is not None and version is not None and jit.available()
        self._base = (mark, version, sys.version, np.__version__) if known else None

    def find(self, function: str, variant: object, name: str, graph: Callable[[], Graph]) -> Program | None:
        """The program, if there is a sound note on it and all its code is there."""
        key = self._key(function, variant)
        content = None if key is None else cache.load(key, "note")
        if content is None:
            return None
        try:
            note = json.loads(content)
            records = [KernelRecord.of(each) for each in note["kernels"]]
            operations = counted(note["operations"])
        except (KeyError, TypeError, ValueError):
            return None
        if len(records) == 1:
            return restored(records[0], name, graph)
        kernels = tuple(
            restored(record, f"{name}_{k}", partial(lambda k: parts_of(graph())[k], k))
            for k, record in enumerate(records)
        )
        return Composite(kernels, concatenated, operations) if kernels else None

    def keep(self, function: str, variant: object, made: Program) -> None:
        """A note for the next time, on programs that are machine code."""
        kernels = [part for part in getattr(made, "parts", (made,)) if isinstance(part, Kernel) and part.record.image]
        split = isinstance(made, Composite) and made.combine is concatenated
        key = self._key(function, variant) if split or isinstance(made, Kernel) else None
        if key is None or not kernels or not sources.still_settled(*FOLDERS):
            return
        note = {"kernels": [kernel.record.data() for kernel in kernels], "operations": asdict(made.operations)}
        cache.save(key, json.dumps(note).encode(), "note")

    def is_looped(self, function: str) -> bool:
        """Whether looped code has been chosen for a function before."""
        key = self._key("looped", function)
        return key is not None and cache.load(key, "note") is not None

    def keep_looped(self, function: str) -> None:
        """A note that looped code is the choice for a function."""
        key = self._key("looped", function)
        if key is not None and sources.still_settled(*FOLDERS):
            cache.save(key, b"{}", "note")

    def _key(self, function: str, variant: object) -> str | None:
        if self._base is None:
            return None
        return cache.key("program", *self._base, jit.machine_description(), function, repr(variant))
