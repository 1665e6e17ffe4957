"""Which stages of a recursion share a loop over the links, and where links leave what they pass on."""

from __future__ import annotations

import itertools
import random

import pytest

from armdyn.dynamics.looped.links import Shape
from armdyn.dynamics.looped.tables import RECIPES
from armdyn.kernels.looped.memory import NOWHERE, transfers
from armdyn.kernels.looped.recursion import Way, _joins

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


FORWARD = RECIPES["forward_dynamics"](Shape(mixed=False, terms=False))
TREES = [
    [-1, 0, 1, 2, 3],
    [-1, -1, -1, -1],
    [-1, 0, 0, 0, 1, 1, 2, 4, 4],
    *([random.Random(seed).randrange(-1, k) for k in range(30)] for seed in range(20)),
]


@pytest.mark.parametrize("parents", TREES, ids=str)
def test_links_find_what_their_parents_left(parents: list[int]) -> None:
    """Played with the numbers of links: nobody takes a place from which something is still to be read."""
    table, size = transfers(FORWARD, parents, 4)
    memory = {0: -1}
    for link, place in enumerate(table):
        assert memory[place.parent] == parents[link]
        assert place.own not in (0, place.parent)
        memory[place.own] = link
    assert max(memory) < size


@pytest.mark.parametrize("parents", TREES, ids=str)
def test_links_find_the_sum_of_what_their_children_left(parents: list[int]) -> None:
    table, size = transfers(FORWARD, parents, 4)
    carried = [1] * len(parents)
    for link in reversed(range(len(parents))):
        if parents[link] >= 0:
            carried[parents[link]] += carried[link]
    zero = min(place.inbox for place in table)
    memory = {zero: 0}
    for link in reversed(range(len(parents))):
        place = table[link]
        assert 1 + memory[place.inbox] == carried[link]
        assert place.outbox not in (zero, place.inbox)
        memory[place.outbox] = carried[link]
        if place.sum != NOWHERE:
            memory[place.sum] += carried[link]
        assert memory[zero] == 0
    assert max(memory) < size


def test_a_chain_passes_things_on_in_few_places() -> None:
    """However long it is."""
    assert transfers(FORWARD, range(-1, 20), 4)[1] == transfers(FORWARD, range(-1, 200), 4)[1]
