"""Loops over the links of a robot: the body of a recursion traced once, with the numbers of a link read from a table.

A recipe is a list of stages, each a formula at one link: it reads numbers of the link, inputs of its joint, its own
quantities and those of its parent, and puts quantities of its own or adds to those of its parent. Traced, stages
become loops. Where the lanes of vectors are samples, successive stages share a loop; where they are links, stages that
look at one link only stay apart from those that pass something on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, NamedTuple

from armdyn.algebra import Mat3, Scalar, Vec3
from armdyn.graph import Node, symbol
from armdyn.graph.node import NEG, as_node

Way = Literal["outward", "inward", "each"]
Kind = Literal["scalar", "vector", "matrix", "symmetric"]
Record = Literal["own", "parent", "world"]
RECORDS = ("own", "parent", "world")
SIZES: dict[Kind, int] = {"scalar": 1, "vector": 3, "matrix": 9, "symmetric": 6}
ANGLE = ("cosine", "sine")
"""Quantities that every link has before the first stage."""
FREE = 6
"""Links of a free joint."""


class Place(NamedTuple):
    """Where a number is: in the table of links, in an input, a result, or a record."""

    where: Literal["link", "joint", "own", "parent", "world", "inbox", "outbox", "pair", "strip", "result"]
    at: int


class Part(NamedTuple):
    """Straight-line code: what it reads by symbol, and what it writes, in order."""

    inputs: Mapping[Node, Place]
    outputs: tuple[tuple[Place, Node], ...]


@dataclass(frozen=True)
class Loop:
    """A loop over links."""

    way: Way
    body: Part


class Storage(NamedTuple):
    """Where entries of quantities are kept while a batch is computed: entry -> place.

    record: those that a later loop reads.
    outward: those that only links further out read, in the loop that computes them.
    inward: sums of what links further out add, which only the link itself reads, in the loop that adds them up.
    """

    record: Mapping[int, int]
    outward: Mapping[int, int]
    inward: Mapping[int, int]


class Stage(NamedTuple):
    """A formula at one link.

    way: the order in which links are visited; "each": in any order.
    late: where sums are passed inwards, it belongs to the loop inwards that follows, and not to the one before: what it
        computes needs no place in memory then.
    """

    way: Way
    formula: Callable[[Site], None]
    late: bool = False


class Product(NamedTuple):
    """One matrix from all pairs of a link and one that it carries, or itself: sums of products of their quantities.

    upper: (quantity of the carrier, quantity of the carried link), for the entry [carrier, carried].
    lower: the same for [carried, carrier].
    diagonal: result whose entries are added to the diagonal.
    """

    upper: tuple[tuple[str, str], ...]
    lower: tuple[tuple[str, str], ...]
    diagonal: str | None = None


class Strip(NamedTuple):
    """One matrix with a strip of columns per link: rows of all links that carry it, entries in vectors of four.

    width: columns per link.
    vectors: for each vector of a strip the quantities (`pairs`, vectors of three) of the carrier that it is made of;
        of the carried link come as many numbers, four at a time, in `strip`.
    diagonal: results that stand in the last columns of the link's own row.
    """

    width: int
    vectors: tuple[tuple[str, ...], ...]
    diagonal: tuple[str, ...]

    @property
    def size(self) -> int:
        """Numbers of a link."""
        return sum(4 * 3 * len(names) for names in self.vectors)


@dataclass(frozen=True)
class Recipe:
    """A quantity of a robot of any size.

    name: of the quantity.
    inputs: joint vectors, in order; the first is the positions.
    numbers: names of the numbers of a link.
    own: quantities of a link, by kind. pairs: those that products read.
    results: vectors with one entry per joint, in order; those that are no output are added to diagonals.
    outputs: how many of the results are outputs.
    robot: numbers of the robot itself. start: quantities of the world, as functions of them.
    stages: in order.
    products: matrices, outputs after the vectors.
    strip: a matrix of strips, the last output.
    reload: operations of a loop over samples after which what is in memory is loaded again; 0: never.
    turning: the number that multiplies a joint's position where it is an angle; None: all are angles.
    base: of a robot on a free joint, how many of an input's first entries are that joint's. They are for `start` alone,
        as "q0", "q1", ...; the six links of that joint find zeros in their places.
    """

    name: str
    inputs: tuple[str, ...]
    numbers: tuple[str, ...]
    own: Mapping[str, Kind]
    stages: tuple[Stage, ...]
    results: tuple[str, ...] = ()
    outputs: int = 0
    robot: tuple[str, ...] = ()
    start: Callable[[Mapping[str, Node]], Mapping[str, Any]] = field(default=lambda _: {})
    pairs: Mapping[str, Kind] = field(default_factory=dict)
    products: tuple[Product, ...] = ()
    strip: Strip | None = None
    reload: int = 0
    turning: str | None = None
    base: Mapping[str, int] = field(default_factory=dict)

    @cached_property
    def places(self) -> dict[str, int]:
        """Where each quantity of a link begins in its record."""
        return _places({**dict.fromkeys(ANGLE, "scalar"), **self.own})

    @cached_property
    def pair_places(self) -> dict[str, int]:
        return _places(self.pairs)

    @cached_property
    def own_size(self) -> int:
        return len(ANGLE) + sum(SIZES[kind] for kind in self.own.values())

    @cached_property
    def pair_size(self) -> int:
        return sum(SIZES[kind] for kind in self.pairs.values())

    @cached_property
    def strip_size(self) -> int:
        return self.strip.size if self.strip else 0

    @cached_property
    def matrices(self) -> int:
        """Outputs that are computed sample by sample."""
        return len(self.products) + (self.strip is not None)

    @cached_property
    def columns(self) -> int:
        """Of those matrices, per joint."""
        return self.strip.width if self.strip else 1

    def loops(self, *, fused: bool) -> tuple[Loop, ...]:
        """The stages as loops, sums in the links' own records. fused: successive stages share a loop where they can."""
        return self._made(self._traced(fused))

    @cached_property
    def stored(self) -> tuple[tuple[Loop, ...], Storage]:
        """Loops that share as much as they can, and where they keep their quantities.

        What links only pass on to their neighbours needs no place of its own for every link: few links at a time have
        something to pass on, so it stays in the nearest cache.
        """
        sums = self._sums(self._traced(fused=True, late=True))
        traced = self._traced(fused=True, late=True, sums=sums)
        read = self._read(traced)
        record = {place.at for place in read if place.where in RECORDS}
        outward = {at for at in record if self._only_children_read(at, traced)}
        kept = sorted(record - outward | {self.places[name] for name in ANGLE})
        storage = (dict(zip(entries, range(self.own_size), strict=False)) for entries in (kept, sorted(outward), sums))
        return self._made(traced), Storage(*storage)

    def _traced(self, fused: bool, late: bool = False, sums: Sequence[int] = ()) -> list[tuple[Way, Site]]:
        """Loops with their formulas.

        late: stages may be late, which would overwrite sums that are added to the parent's record.
        sums: entries that are passed inwards instead of being added there.
        """
        first = Site(self, fused=fused)
        for stage in self.stages:
            stage.formula(first)
        changing = {place.at for place in first.written if place.where == "parent"} - {*sums}
        known = Known(frozenset(changing))
        made: list[tuple[Way, Site]] = []
        for stage in self.stages:
            way: Way = "inward" if late and stage.late else stage.way
            if not made or not _joins(made[-1][0], way, fused):
                made.append((way, Site(self, known, sums if way == "inward" else (), fused=fused)))
            elif made[-1][0] == "each":
                made[-1] = way, made[-1][1]
            site = made[-1][1]
            if not stage.late:
                site.sum_up()
            stage.formula(site)
        return made

    def _made(self, traced: Sequence[tuple[Way, Site]]) -> tuple[Loop, ...]:
        needed = {place.at for place in self._read(traced) if place.where in RECORDS}
        return tuple(Loop(way, site.part(needed)) for way, site in traced)

    def _read(self, traced: Sequence[tuple[Way, Site]]) -> list[Place]:
        return [place for _, site in traced for place in site.read.values()]

    def _sums(self, traced: Sequence[tuple[Way, Site]]) -> tuple[int, ...]:
        """Entries that links add to their parents' and that no other loop reads."""
        found = []
        for _, site in traced:
            elsewhere = {
                place.at
                for place in self._read([other for other in traced if other[1] is not site])
                if place.where in RECORDS
            }
            added = {place.at for place in site.written if place.where == "parent"} - elsewhere
            spans = (range(self.places[name], self.places[name] + SIZES[kind]) for name, kind in self.own.items())
            found += [at for span in spans if added.issuperset(span) for at in span]
        return tuple(sorted(found))

    def _only_children_read(self, at: int, traced: Sequence[tuple[Way, Site]]) -> bool:
        readers = [site for _, site in traced if Place("parent", at) in site.read.values()]
        others = {Place("own", at), Place("world", at)}
        return len(readers) == 1 and Place("own", at) in readers[0].written and others.isdisjoint(self._read(traced))


def _places(kinds: Mapping[str, Kind]) -> dict[str, int]:
    found, total = {}, 0
    for name, kind in kinds.items():
        found[name] = total
        total += SIZES[kind]
    return found


def _joins(way: Way, following: Way, fused: bool) -> bool:
    """Whether a stage shares the loop before it. What a loop inwards adds up must be there before it begins."""
    if way == following:
        return True
    return fused and (following == "each" or (way == "each" and following == "outward"))


class Known:
    """Entries of quantities that need no memory: constants, numbers of the link, and what is in memory already.

    changing: places of entries to which links further out add.
    """

    def __init__(self, changing: frozenset[int] = frozenset()) -> None:
        self.changing = changing
        self.entries: dict[int, tuple[Node, dict[Node, Place]]] = {}
        self._given: set[int] = set()
        self._kept: dict[Node, tuple[Node, Place]] = {}

    def learn(self, at: int, node: Node, read: Mapping[Node, Place], symbol: Node) -> None:
        """An entry is this node. read: where nodes have been found; symbol: as which the entry is read."""
        assert at not in self._given, "a quantity is set once"
        self._given.add(at)
        if at in self.changing:
            return
        positive = node.args[0] if node.op == NEG else node
        found = read.get(positive)
        if not node.online:
            self.entries[at] = node, {}
        elif found is not None and (found.where == "link" or (found.where == "own" and found.at not in self.changing)):
            self.entries[at] = node, {positive: found}
        elif positive in self._kept:
            other, place = self._kept[positive]
            self.entries[at] = (other if node is positive else -other), {other: place}
        else:
            self._kept[node] = symbol, Place("own", at)


class Site:
    """One link, seen by the stages of one loop.

    known: what earlier loops have found. sums: entries of which links pass their shares inwards. fused: successive
    stages share loops, because lanes are samples.
    """

    def __init__(
        self, recipe: Recipe, known: Known | None = None, sums: Sequence[int] = (), *, fused: bool = False
    ) -> None:
        self.recipe, self.known, self.sums, self.fused = recipe, known or Known(), sums, fused
        self.read: dict[Node, Place] = {}
        self.written: dict[Place, Node] = {}
        self._own: dict[str, Any] = {}
        self._late: set[str] = set()

    def number(self, name: str) -> Node:
        """A number of the link."""
        return self._symbol(f"link_{name}", Place("link", self.recipe.numbers.index(name)))

    def number_if_any(self, name: str) -> Scalar:
        """A number of the link; 0 if the recipe has no such number."""
        return self.number(name) if name in self.recipe.numbers else 0

    def joint(self, name: str) -> Node:
        """An input of the link's joint."""
        return self._symbol(f"joint_{name}", Place("joint", self.recipe.inputs.index(name)))

    def own(self, name: str) -> Any:
        """A quantity of the link."""
        if name not in self._own:
            self._own[name] = self._recalled("own", name)
        return self._own[name]

    def parent(self, name: str) -> Any:
        """A quantity of the link that carries this one."""
        return self._recalled("parent", name)

    def world(self, name: str) -> Any:
        """A quantity of the world."""
        return self._recalled("world", name)

    def put(self, **values: Any) -> None:
        """Set quantities of the link."""
        self._own |= values
        self._late.update(values)
        for name, value in values.items():
            self._write("own", self.recipe.places[name], value, self.recipe.own[name], name)

    def sum_up(self) -> None:
        """From now on, quantities that late stages have set are sums with what comes from links further out."""
        for name in [name for name in self._late if self.recipe.places[name] in self.sums]:
            first, kind = self.recipe.places[name], self.recipe.own[name]
            self._own[name] += shaped(kind, [self._inbox(name, first, k) for k in range(SIZES[kind])])
        self._late.clear()

    def add_to_parent(self, **values: Any) -> None:
        """Add to quantities of the link that carries this one."""
        for name, value in values.items():
            first, kind = self.recipe.places[name], self.recipe.own[name]
            if first in self.sums:
                self._write("outbox", first, value, kind)
            else:
                self._write("parent", first, self.parent(name) + value, kind)

    def pair(self, **values: Any) -> None:
        """Set quantities that products read."""
        for name, value in values.items():
            self._write("pair", self.recipe.pair_places[name], value, self.recipe.pairs[name])

    def strip(self, numbers: Sequence[Scalar]) -> None:
        """Set the numbers of the link's strip."""
        for k, number in enumerate(numbers):
            self._write("strip", k, number, "scalar")

    def result(self, name: str, value: Scalar) -> None:
        """Set the joint's entry of a result."""
        self._write("result", self.recipe.results.index(name), value, "scalar")

    def part(self, needed: set[int]) -> Part:
        """What the stages have become; own quantities that nobody reads are not kept."""
        written = {place: node for place, node in self.written.items() if place.where != "own" or place.at in needed}
        return Part(self.read, tuple(written.items()))

    def _symbol(self, name: str, place: Place) -> Node:
        node = symbol(name)
        self.read[node] = place
        return node

    def _recalled(self, where: Record, name: str) -> Any:
        kind: Kind = "scalar" if name in ANGLE else self.recipe.own[name]
        first = self.recipe.places[name]
        return shaped(kind, [self._entry(where, name, first, k) for k in range(SIZES[kind])])

    def _entry(self, where: Record, name: str, first: int, k: int) -> Node:
        at = first + k
        if where == "own" and at in self.known.entries:
            node, places = self.known.entries[at]
            self.read |= places
        else:
            node = self._symbol(f"{where}_{name}{k}", Place(where, at))
        return node + self._inbox(name, first, k) if where == "own" and at in self.sums else node

    def _inbox(self, name: str, first: int, k: int) -> Node:
        """What links further out add to an entry."""
        return self._symbol(f"inbox_{name}{k}", Place("inbox", first + k))

    def _write(self, where: Any, first: int, value: Any, kind: Kind, name: str = "") -> None:
        for k, entry in enumerate(entries(kind, value)):
            self.written[Place(where, first + k)] = entry
            if where == "own":
                self.known.learn(first + k, entry, self.read, symbol(f"own_{name}{k}"))


def shaped(kind: Kind, values: Sequence[Scalar]) -> Any:
    """Scalars as a quantity of that kind."""
    if kind == "scalar":
        return values[0]
    if kind == "vector":
        return Vec3(*values)
    return Mat3.symmetric(*values) if kind == "symmetric" else Mat3((values[:3], values[3:6], values[6:]))


def entries(kind: Kind, value: Any) -> list[Node]:
    """The scalars of a quantity, as nodes."""
    listed: Iterable[Scalar] = [value] if kind == "scalar" else value
    if isinstance(value, Mat3):
        listed = value.upper() if kind == "symmetric" else [entry for row in value.rows for entry in row]
    nodes = [_node(entry) for entry in listed]
    assert len(nodes) == SIZES[kind], f"not a {kind}: {value!r}"
    return nodes


def _node(value: Scalar) -> Node:
    node = as_node(value)
    assert node is not None, f"not a scalar: {value!r}"
    return node
