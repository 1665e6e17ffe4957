"""The cycle collector rests while code is made, and afterwards is as it was."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from armdyn.graph import trace
from armdyn.kernels import build, jit
from armdyn.kernels.collector import collector_paused


@pytest.fixture(params=[True, False], ids=["running", "stopped"])
def running(request: pytest.FixtureRequest) -> Iterator[bool]:
    before = gc.isenabled()
    (gc.enable if request.param else gc.disable)()
    yield request.param
    (gc.enable if before else gc.disable)()


def test_it_rests_and_goes_on(running: bool) -> None:
    with pytest.raises(ZeroDivisionError), collector_paused():
        assert not gc.isenabled()
        raise ZeroDivisionError
    assert gc.isenabled() == running


def test_it_rests_while_code_for_batches_is_made(running: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = build(trace(lambda q: [q[0] + q[1]], {"q": 2}), cache=False)
    seen: list[bool] = []
    original = kernel.batches._made
    if original is None:
        pytest.skip("no machine code")

    def watched() -> jit.Code:
        seen.append(gc.isenabled())
        return original()

    monkeypatch.setattr(kernel.batches, "_made", watched)
    assert kernel.ufunc([[1.0, 2.0]]).tolist() == [[3.0]]
    assert seen == [False] and gc.isenabled() == running
