"""From a recipe to LLVM assembly: loops over links, whose number the code finds in memory.

`@single` takes one sample: serial loops take one link at a time, the others four. `@block` takes as many samples as a
register has lanes. What a robot is to the code are the globals of `GLOBALS`, filled when the code is loaded; memory:
see `memory`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from armdyn.graph import Node, symbol
from armdyn.graph.structure import ordered
from armdyn.kernels.call.batch import many, total
from armdyn.kernels.call.loop import copy, sequence
from armdyn.kernels.call.loop import loop as ufunc_loop
from armdyn.kernels.call.single import fast
from armdyn.kernels.ir_writer import Constants, flags, vector
from armdyn.kernels.loop_writer import LANES, V4, WIDE, Carried, LoopWriter
from armdyn.kernels.looped.batch import dense, products, transpose_samples
from armdyn.kernels.looped.memory import Cursor, Layout
from armdyn.kernels.looped.recursion import ANGLE, FREE, Loop, Part, Place, Recipe, entries
from armdyn.kernels.looped.tiles import pairs, strips
from armdyn.kernels.ports import Ports
from armdyn.kernels.straight.emit import completed
from armdyn.kernels.straight.operations import Body, joined
from armdyn.kernels.straight.schedule import plan
from armdyn.kernels.straight.sincos import FUSED, PLAIN, Reduction, exact_lanes, sincos
from armdyn.kernels.streaming import Order, put_lines, put_rows, row_copies

NUMBERS = ("n", "batch_bytes", "streamed")
GLOBALS = ("links", "parents", "transfers", "robot", "scratch", "tiles", "carries", *NUMBERS)
"""n: number of links; links: their numbers; parents: their parents;
transfers: where they pass things on; robot: its own numbers; scratch: memory for one sample; tiles: which parts of
matrices have which entries; carries: which links carry which; batch_bytes: memory of a batch; streamed: bytes of
results from which they are written with non-temporal stores."""


def module(recipe: Recipe, ports: Ports, samples: int, fused: bool) -> str:
    """The module's text.

    ports: names and ranks of the arguments; their sizes do not matter. samples: of a batch, side by side.
    """
    reduction, constants = (FUSED if fused else PLAIN), Constants()
    parts = [
        _single(recipe, ports, samples, reduction, constants),
        _block(recipe, samples, reduction, constants),
        ufunc_loop(ports),
        dense(recipe, ports, samples),
        fast(ports),
        sequence(ports),
        many(ports),
        total(),
        exact_lanes(reduction.limit),
        copy(),
        row_copies(samples),
    ]
    if recipe.products:
        parts.append(pairs(recipe, samples))
    if recipe.strip:
        parts.append(strips(recipe, recipe.strip, samples))
    if recipe.matrices:
        parts += [put_rows(), put_lines()]
    for name in GLOBALS:
        kind = "i64" if name in NUMBERS else "ptr"
        parts.append(f"@{name} = global {kind} {'0' if kind == 'i64' else 'null'}\n")
    return completed([*parts, constants.text])


HELD = 9
"""Values that a turn of a loop hands to the next one in registers."""


def _written(layout: Layout, loop: Loop, name: str, constants: Constants) -> None:
    """One loop over links."""
    w = layout.w
    four = loop.way == "each" and layout.samples == 1
    carried = _carried(layout, loop, name)
    with w.counting(name, layout.blocks if four else layout.n, carried=[*carried.values()]) as counter:
        index = w.put(f"sub i64 {w.plus(layout.n, -1)}, {counter}") if loop.way == "inward" else counter
        _at_link(Cursor(layout, index, four), loop, name, carried, constants)


def _at_link(cursor: Cursor, loop: Loop, name: str, carried: Mapping[Place, Carried], constants: Constants) -> None:
    """The body of a loop."""
    if carried:
        _received(cursor, name, carried)
    values = _part(cursor, loop.body, constants)
    for place, each in carried.items():
        each.following = cursor.outbox_at if place.where == "inbox" else values[place]
    if any(place.where == "outbox" for place, _ in loop.body.outputs):
        _added_up(cursor, name)
    if cursor.samples > 1:
        transpose_samples(cursor, loop, name)


def _carried(layout: Layout, loop: Loop, name: str) -> dict[Place, Carried]:
    """What a link hands to its neighbour, if it is little, by where the link leaves it.

    Loading what has just been stored takes as long as the rest of a link's way in short loops.
    """
    w, kind = layout.w, vector(layout.samples)
    written = [place for place, _ in loop.body.outputs]
    if loop.way == "inward":
        passed = [place for place in written if place.where == "outbox"]
        if not 0 < len(passed) <= HELD:
            return {}
        found = {place: Carried(kind, f"%{name}.passed{k}", "zeroinitializer") for k, place in enumerate(passed)}
        return {**found, Place("inbox", 0): Carried("i64", f"%{name}.place", "-1")}
    known = {*loop.body.inputs.values()}
    passed = [place for place in written if place.where == "own" and Place("parent", place.at) in known]
    if not 0 < len(passed) <= HELD:
        return {}
    start = [w.load(kind, str(layout.of_world(place.at)), 8 * layout.samples) for place in passed]
    return {place: Carried(kind, f"%{name}.passed{k}", start[k]) for k, place in enumerate(passed)}


def _received(cursor: Cursor, name: str, carried: Mapping[Place, Carried]) -> None:
    """What a link finds at its neighbour's: mostly what the link before it has just left."""
    w = cursor.w
    place = carried.get(Place("inbox", 0))
    if place is not None:
        same = w.put(f"icmp eq i64 {cursor.inbox_at}, {place.value}")
    else:
        same = w.put(f"icmp eq i64 {cursor.above}, {w.plus(cursor.index, -1)}")
    w.do(f"br i1 {same}, label %{name}.near, label %{name}.far")
    w.label(f"{name}.near")
    w.do(f"br label %{name}.found")
    w.label(f"{name}.far")
    sources = {
        left: Place("inbox", left.at) if left.where == "outbox" else Place("parent", left.at)
        for left in carried
        if left.where != "inbox"
    }
    far = [cursor.read(source) for source in sources.values()]
    w.do(f"br label %{name}.found")
    w.label(f"{name}.found")
    for (left, source), value in zip(sources.items(), far, strict=True):
        both = f"[ {carried[left].value}, %{name}.near ], [ {value}, %{name}.far ]"
        cursor.received[source] = w.put(f"phi {carried[left].kind} {both}")


def _added_up(cursor: Cursor, name: str) -> None:
    """What a link passes inwards, added to what other children of its parent have left."""
    w, layout, step = cursor.w, cursor.layout, cursor.layout.step
    others, kind = cursor.sum_at, vector(cursor.lanes)
    with w.when(w.put(f"icmp sge i64 {others}, 0"), f"{name}.branch"):
        target = w.offset(layout.passed, others)
        with w.counting(f"{name}.sum", str(len(layout.recipe.stored[1].inward))) as k:
            places = [w.offset(base, w.times(k, step)) for base in (target, cursor.outbox)]
            a, b = (w.load(kind, place, step) for place in places)
            w.store(kind, w.put(f"fadd {kind} {a}, {b}"), places[0], step)


def _part(cursor: Cursor, part: Part, constants: Constants) -> dict[Place, str]:
    """Straight-line code; results are stored as soon as they are known. Returns what is passed on."""
    nodes = [node for _, node in part.outputs]
    program = plan(ordered(nodes), nodes)
    where = dict(part.inputs)
    body = Body(cursor.w, cursor.lanes, program, lambda node: cursor.read(where[node]), constants)
    passed = {place: node for place, node in part.outputs if place.where in ("own", "outbox")}
    waiting: dict[Node, list[Place]] = {}
    for place, node in part.outputs:
        waiting.setdefault(node, []).append(place)
    every = 0 if cursor.four else cursor.layout.recipe.reload
    for k, node in enumerate(program.order):
        if every and k and k % every == 0:
            cursor.renew()
            body.forget(every)
        body.write(node)
        for place in waiting.pop(node, ()):
            cursor.write(place, body.value(node))
            if every and place.where in ("own", "pair"):
                where[node] = place
                body.in_memory.add(node)
    for node, places in waiting.items():
        for place in places:
            cursor.write(place, body.value(node))
    return {place: body.value(node) for place, node in passed.items()}


def _beginning(layout: Layout, constants: Constants) -> None:
    """The world's record."""
    w, recipe = layout.w, layout.recipe
    names = {name: symbol(f"robot_{name}") for name in recipe.robot}
    inputs = {f"{name}{k}": (i, k) for i, name in enumerate(recipe.inputs) for k in range(recipe.base.get(name, 0))}
    of_base = {name: symbol(f"base_{name}") for name in inputs}
    values = recipe.start({**names, **of_base})
    nodes = {
        recipe.places[name] + k: node
        for name, value in values.items()
        for k, node in enumerate(entries(recipe.own[name], value))
    }
    numbers = {node: k for k, node in enumerate(names.values())}
    places = {node: inputs[name] for name, node in of_base.items()}
    program = plan(ordered(tuple(nodes.values())), list(nodes.values()))
    lanes = layout.samples

    def read(node: Node) -> str:
        if node in places:
            i, k = places[node]
            return w.load(vector(lanes), w.offset(layout.base[i], 8 * lanes * k), 8 * lanes)
        return w.splat(w.load("double", w.offset(layout.robot, 8 * numbers[node])), lanes)

    body = Body(w, lanes, program, read, constants)
    for node in program.order:
        body.write(node)
    for at, node in nodes.items():
        place = layout.of_world(at)
        if place is not None:
            w.store(vector(lanes), body.value(node), place, 8 * lanes)


def _angles(layout: Layout, reduction: Reduction, constants: Constants) -> None:
    """Cosines and sines of all joints, first among the quantities of their links.

    Two vectors at a time, step by step side by side: one alone is a chain of operations that wait for each other. The
    last pair may be half beyond the links, where there is room.
    """
    w, recipe = layout.w, layout.recipe
    single = layout.samples == 1
    lanes = LANES if single else layout.samples
    kind = vector(lanes)
    count = w.put(f"lshr i64 {w.plus(layout.blocks if single else layout.n, 1)}, 1")
    with w.counting("angle", count) as index:
        first = w.times(index, 2)
        cursors = [Cursor(layout, place, single) for place in (first, w.plus(first, 1))]
        angles = [_angle(cursor) for cursor in cursors]
        s, c, beyond = sincos(w, joined(w, lanes, angles), 2 * lanes, reduction, constants)
        places = [[cursor.address(Place("own", recipe.places[name])) for name in ANGLE] for cursor in cursors]
        halves = [range(lanes * k, lanes * (k + 1)) for k in (0, 1)]
        found = [[w.shuffle(2 * lanes, each, each, half) for each in (c, s)] for half in halves]
        for cursor, place, values in zip(cursors, places, found, strict=True):
            _stored(cursor, values, place)
        anywhere = w.put(f"call i1 @llvm.vector.reduce.or.v{2 * lanes}i1({flags(2 * lanes)} {beyond})")
        with w.when(anywhere, "angle.rare", rare=True):
            for place, x in zip(places, angles, strict=True):
                w.store(kind, x, "%angles", 8 * lanes)
                w.do(f"call void @exact_lanes(ptr %angles, ptr {place[1]}, ptr {place[0]}, i64 {lanes})")


def _stored(cursor: Cursor, values: Sequence[str], places: Sequence[str]) -> None:
    for value, place in zip(values, places, strict=True):
        cursor.w.store(vector(cursor.lanes), value, place, 8 * cursor.lanes)


def _angle(cursor: Cursor) -> str:
    """What is the angle of a joint, in each lane."""
    w, recipe = cursor.w, cursor.layout.recipe
    x = cursor.read(Place("joint", 0))
    if recipe.turning is None:
        return x
    return w.put(f"fmul {vector(cursor.lanes)} {x}, {cursor.read(Place('link', recipe.numbers.index(recipe.turning)))}")


def _single(recipe: Recipe, ports: Ports, wide: int, reduction: Reduction, constants: Constants) -> str:
    """`void @single(ptr in..., ptr out...)`: one sample, with the memory at @scratch; one call at a time."""
    w = LoopWriter()
    w.do(f"%angles = alloca {V4}, align {WIDE}")
    layout = Layout(w, recipe, 1, w.table("scratch"), wide)
    inputs = len(ports.inputs)
    layout.base = [f"%p{i}" for i in range(inputs)]
    for i, name in enumerate(recipe.inputs):
        taken, skipped = recipe.base.get(name, 0), FREE if name in recipe.base else 0
        rows, given = w.offset(layout.inputs[i], 8 * skipped), w.offset(f"%p{i}", 8 * taken)
        w.do(f"call void @copy_row(ptr {rows}, ptr {given}, i64 {w.plus(layout.n, -skipped)})")
    _beginning(layout, constants)
    _angles(layout, reduction, constants)
    for k, loop in enumerate(recipe.loops(fused=False)):
        _written(layout, loop, f"stage{k}", constants)
    for i in range(recipe.outputs):
        w.do(f"call void @copy_row(ptr %p{inputs + i}, ptr {layout.results[i]}, i64 {layout.n})")
    targets = [f"%p{inputs + recipe.outputs + i}" for i in range(recipe.matrices)]
    products(w, recipe, layout, (layout.pairs, layout.strips), "0", 8, targets, Order())
    arguments = ", ".join(f"ptr %p{i}" for i in range(len(ports.all)))
    return w.function(f'internal void @single({arguments}) "stackrealign"')


def _block(recipe: Recipe, samples: int, reduction: Reduction, constants: Constants) -> str:
    """`void @block(ptr scratch)`: samples side by side, from inputs to results and quantities of pairs."""
    w = LoopWriter()
    w.do(f"%angles = alloca {vector(samples)}, align {8 * samples}")
    layout = Layout(w, recipe, samples, "%scratch", samples)
    _beginning(layout, constants)
    _angles(layout, reduction, constants)
    for k, loop in enumerate(recipe.stored[0]):
        _written(layout, loop, f"stage{k}", constants)
    return w.function('internal void @block(ptr %scratch) noinline "stackrealign"')
