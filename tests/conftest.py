"""Shared by all tests."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

sys.path.insert(0, str(Path(__file__).parent))

# No deadline: how long an example takes says something about the machine, not about the code.
settings.register_profile("armdyn", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("armdyn")


@pytest.fixture(autouse=True, scope="session")
def no_terminal() -> None:
    """Tests write into a pipe, however wide the terminal is from which they were started."""
    os.environ.pop("COLUMNS", None)
