"""Shared by the tests of the verbs."""

from __future__ import annotations

import pytest

from support.command import Run, command


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run armdyn: `run("show", "scara5", columns=80)` gives (status, out, err)."""
    return command(capsys, monkeypatch)
