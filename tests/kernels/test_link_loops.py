"""Which stages of a recursion share a loop over the links."""

from __future__ import annotations

import itertools

import pytest

from armdyn.kernels.link_loops import Way, _joins

WAYS: tuple[Way, ...] = ("each", "outward", "inward")


@pytest.mark.parametrize(("before", "then"), list(itertools.product(WAYS, repeat=2)))
def test_stages_share_a_loop_only_where_what_they_read_is_there(before: Way, then: Way) -> None:
    """A stage on each link by itself may follow in any loop, and may become part of a loop outwards.

    A stage inwards reads what the links further out have added up, which a loop in another order has not done yet; one
    outwards reads what its parent has, which a loop inwards has not seen yet.
    """
    assert _joins(before, then, fused=False) == (before == then)
    assert _joins(before, then, fused=True) == (
        before == then or then == "each" or (before, then) == ("each", "outward")
    )
