"""Pytest plugin: which tests execute which lines of some packages, and how long each test takes.

    TESTS_BY_LINE=map.json python -m pytest -n0 -p tests_by_line tests/mechanics        (tools/ on the Python path)

The packages are those of TESTS_BY_LINE_SOURCES, folders with commas between them. The file is JSON: {"seconds": {test:
s}, "lines": {file: {line: [number of the test]}}, "tests": [...]}. Lines that are executed at import are nobody's.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import coverage

TARGET = Path(os.environ["TESTS_BY_LINE"])
SOURCES = os.environ["TESTS_BY_LINE_SOURCES"].split(",")
measured = coverage.Coverage(data_file=None, source=SOURCES, config_file=False)
seconds: dict[str, float] = {}


def pytest_sessionstart(session: Any) -> None:
    measured.start()


def pytest_runtest_logstart(nodeid: str, location: Any) -> None:
    measured.switch_context(nodeid)


def pytest_runtest_logreport(report: Any) -> None:
    """Time of preparation counts too; what failed or was skipped says nothing."""
    if report.failed or report.skipped:
        seconds[report.nodeid] = float("inf")
    seconds[report.nodeid] = seconds.get(report.nodeid, 0.0) + report.duration


def pytest_sessionfinish(session: Any) -> None:
    measured.stop()
    tests = sorted(name for name, taken in seconds.items() if taken < float("inf"))
    number = {name: i for i, name in enumerate(tests)}
    data, lines = measured.get_data(), {}
    for file in data.measured_files():
        seen = data.contexts_by_lineno(file)
        lines[file] = {line: sorted(number[name] for name in names if name in number) for line, names in seen.items()}
    TARGET.write_text(json.dumps({"tests": tests, "seconds": {name: seconds[name] for name in tests}, "lines": lines}))
