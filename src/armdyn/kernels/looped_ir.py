"""From a recipe to LLVM assembly: loops over links, whose number the code finds in memory.

Records of links lie in blocks of four, [block][quantity][link], for one sample (`@single`: serial loops take one link
at a time, the others four), and one after the other, [link][quantity][sample], for four samples (`@block`). Tables of
links lie in blocks of four in both cases. The world's record precedes those of the links: a link whose parent is -1
finds it there. What a robot is to the code are the globals of `GLOBALS`, filled when the code is loaded.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from armdyn.graph import Node, symbol
from armdyn.graph.structure import ordered
from armdyn.kernels.batch_call import many
from armdyn.kernels.batch_loop import COPY
from armdyn.kernels.body import Body
from armdyn.kernels.fastcall import Loaded, fast
from armdyn.kernels.ir import completed
from armdyn.kernels.ir_writer import Constants, flags, vector
from armdyn.kernels.link_loops import ANGLE, FREE, Loop, Part, Place, Recipe, entries
from armdyn.kernels.loop_writer import LANES, V4, WIDE, LoopWriter, transposed
from armdyn.kernels.pair_ir import pairs
from armdyn.kernels.ports import Ports
from armdyn.kernels.schedule import plan
from armdyn.kernels.sincos import FUSED, PLAIN, Reduction, exact_lanes, sincos
from armdyn.kernels.streaming import BEHIND, leave, trickle
from armdyn.kernels.strip_ir import strips

BASE = 64
"""Bytes for the numbers of a free joint in one input."""
STREAMED = 2**22
"""Bytes of results from which they are written past the caches."""
GLOBALS = ("n", "links", "parents", "robot", "scratch", "tiles", "masks", "carries", "tile_count", "batch_bytes")
"""n: number of links; links: their numbers; parents: their parents; robot: its own numbers; scratch: memory for one
sample; tiles, masks, tile_count: which blocks of matrices have which entries; carries: which links carry
which; batch_bytes: memory for four samples."""


def module(recipe: Recipe, ports: Ports, fused: bool) -> str:
    """The module's text; `ports` have the names and ranks of the arguments, their sizes do not matter."""
    reduction, constants = (FUSED if fused else PLAIN), Constants()
    parts = [
        _single(recipe, ports, reduction, constants),
        _block(recipe, reduction, constants),
        _loop(recipe, ports),
        fast(ports, Loaded(ports)),
        many(ports, Loaded(ports)),
        exact_lanes(reduction.limit),
        COPY,
        _copy_row(),
        _gather(),
        _scatter(),
    ]
    if recipe.products:
        parts.append(pairs(recipe))
    if recipe.strip:
        parts.append(strips(recipe, recipe.strip))
    if _matrices(recipe):
        parts.append(leave() + trickle())
    for name in GLOBALS:
        kind = "i64" if name in ("n", "tile_count", "batch_bytes") else "ptr"
        parts.append(f"@{name} = global {kind} {'0' if kind == 'i64' else 'null'}\n")
    return completed([*parts, constants.text])


class Layout:
    """Addresses in scratch memory; samples: how many at a time, 1 or 4."""

    def __init__(self, w: LoopWriter, recipe: Recipe, samples: int, scratch: str) -> None:
        self.w, self.recipe, self.samples = w, recipe, samples
        self.n = w.fixed("n")
        self.blocks = w.put(f"lshr i64 {w.plus(self.n, LANES - 1)}, 2")
        row = w.times(self.blocks, WIDE * samples)
        self.base = [w.offset(scratch, BASE * samples * i) for i in range(len(recipe.inputs))]
        scratch = w.offset(scratch, BASE * samples * len(recipe.inputs))
        self.inputs = [w.offset(scratch, w.times(row, i)) for i in range(len(recipe.inputs))]
        place = w.offset(scratch, w.times(row, len(recipe.inputs)))
        self.results = [w.offset(place, w.times(row, i)) for i in range(len(recipe.results))]
        place = w.offset(place, w.times(row, len(recipe.results)))
        self.state = place
        self.world = w.offset(place, 0 if samples > 1 else 8 * (LANES - 1))
        place = w.offset(place, w.times(w.plus(self.blocks, 1), WIDE * samples * recipe.own_size))
        self.pairs = place
        pair_bytes = w.times(self.blocks, WIDE * samples * recipe.pair_size)
        self.turned = w.offset(place, pair_bytes) if samples > 1 else place
        self.pair_bytes = w.times(self.blocks, WIDE * recipe.pair_size)
        self.strips = w.offset(place, w.times(pair_bytes, 1 if samples == 1 else 2))
        strip_bytes = w.times(self.blocks, WIDE * samples * recipe.strip_size)
        self.strips_turned = w.offset(self.strips, strip_bytes) if samples > 1 else self.strips
        self.strip_bytes = w.times(self.blocks, WIDE * recipe.strip_size)
        self.links, self.parents, self.robot = w.table("links"), w.table("parents"), w.table("robot")


def scratch_bytes(recipe_sizes: Sequence[int], n: int, samples: int) -> int:
    """Memory that a Layout needs; recipe_sizes: inputs, results, own quantities, those of pairs and strips."""
    inputs, results, own, pair, strip = recipe_sizes
    blocks = -(-n // LANES)
    copies = 1 if samples == 1 else 2
    records = WIDE * samples * (blocks * (inputs + results + copies * (pair + strip)) + (blocks + 1) * own)
    return BASE * samples * inputs + records


class Cursor:
    """Addresses of one link (or of four), and what a body reads and writes there."""

    def __init__(self, layout: Layout, index: str, four_links: bool) -> None:
        w, recipe = layout.w, layout.recipe
        self.w, self.layout, self.four = w, layout, four_links
        self.samples = layout.samples
        self.vector = four_links or self.samples > 1
        if four_links:
            block, lane = index, None
        else:
            block, lane = w.put(f"lshr i64 {index}, 2"), w.times(w.put(f"and i64 {index}, 3"), 8)
        self.link = self._in_block(layout.links, block, lane, len(recipe.numbers))
        if self.samples > 1:
            self.own = w.offset(layout.state, w.times(w.plus(index, 1), WIDE * recipe.own_size))
            self.pair = w.offset(layout.pairs, w.times(index, WIDE * recipe.pair_size))
        else:
            self.own = self._in_block(layout.state, w.plus(block, 1), lane, recipe.own_size)
            self.pair = self._in_block(layout.pairs, block, lane, recipe.pair_size)
        self.row = w.times(index, WIDE if self.vector else 8)
        self.strip_step = WIDE if self.samples > 1 else 8
        self.strip = w.offset(layout.strips, w.times(index, self.strip_step * recipe.strip_size))
        if not four_links:
            parent = w.put(f"load i64, ptr {w.offset(layout.parents, w.times(index, 8))}, align 8, !invariant.load !1")
            self.parent = self._slot(parent)

    def _slot(self, link: str) -> str:
        """The record of a link by its index, -1 for the world's."""
        w, size = self.w, self.layout.recipe.own_size
        if self.samples > 1:
            return w.offset(self.layout.state, w.times(w.plus(link, 1), WIDE * size))
        place = w.plus(link, LANES)
        lane = w.times(w.put(f"and i64 {place}, 3"), 8)
        return self._in_block(self.layout.state, w.put(f"lshr i64 {place}, 2"), lane, size)

    def _in_block(self, base: str, block: str, lane: str | None, size: int) -> str:
        place = self.w.offset(base, self.w.times(block, WIDE * size))
        return place if lane is None else self.w.offset(place, lane)

    def read(self, place: Place) -> str:
        w, where, k = self.w, place.where, place.at
        if where in ("link", "robot"):
            constant = ", !invariant.load !1"
            if where == "link" and self.four:
                return w.put(f"load {V4}, ptr {w.offset(self.link, WIDE * k)}, align {WIDE}{constant}")
            address = w.offset(self.link, WIDE * k) if where == "link" else w.offset(self.layout.robot, 8 * k)
            value = w.put(f"load double, ptr {address}, align 8{constant}")
            return w.splat(value) if self.vector else value
        if where == "world" and self.four:
            return w.splat(w.load("double", self._address(place)))
        return w.load(V4, self._address(place), WIDE) if self.vector else w.load("double", self._address(place))

    def write(self, place: Place, value: str) -> None:
        kind, align = (V4, WIDE) if self.vector else ("double", 8)
        self.w.store(kind, value, self._address(place), align)

    def _address(self, place: Place) -> str:
        w, where, k = self.w, place.where, place.at
        if where == "joint":
            return w.offset(self.layout.inputs[k], self.row)
        if where == "result":
            return w.offset(self.layout.results[k], self.row)
        if where == "strip":
            assert not self.four, "strips are made one link at a time"
            return w.offset(self.strip, self.strip_step * k)
        if where == "world":
            return w.offset(self.layout.world, WIDE * k)
        base = {"own": lambda: self.own, "parent": lambda: self.parent, "pair": lambda: self.pair}[where]()
        return w.offset(base, WIDE * k)


def _written(layout: Layout, loop: Loop, name: str, reduction: Reduction, constants: Constants) -> None:
    """One loop over links."""
    w = layout.w
    four = loop.way == "each" and layout.samples == 1
    with w.counting(name, layout.blocks if four else layout.n) as counter:
        index = counter
        if loop.way == "inward":
            index = w.put(f"sub i64 {w.plus(layout.n, -1)}, {counter}")
        cursor = Cursor(layout, index, four)
        for part in loop.parts:
            _part(cursor, part, reduction, constants)


def _part(cursor: Cursor, part: Part, reduction: Reduction, constants: Constants) -> None:
    """Straight-line code; results are stored as soon as they are known."""
    nodes = [node for _, node in part.outputs]
    program = plan(ordered(nodes), nodes)
    body = Body(cursor.w, LANES if cursor.vector else 1, program, lambda node: cursor.read(part.inputs[node]),
                reduction, constants)  # fmt: skip
    waiting: dict[Node, list[Place]] = {}
    for place, node in part.outputs:
        waiting.setdefault(node, []).append(place)
    for node in program.order:
        body.write(node)
        for place in waiting.pop(node, ()):
            cursor.write(place, body.value(node))
    for node, places in waiting.items():
        for place in places:
            cursor.write(place, body.value(node))


def _beginning(layout: Layout, reduction: Reduction, constants: Constants) -> None:
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
        value = w.load("double", w.offset(layout.robot, 8 * numbers[node]))
        return value if lanes == 1 else w.splat(value)

    body = Body(w, lanes, program, read, reduction, constants)
    for node in program.order:
        body.write(node)
    for k, node in nodes.items():
        w.store(vector(lanes), body.value(node), w.offset(layout.world, WIDE * k), 8 * lanes)


def _angles(layout: Layout, reduction: Reduction, constants: Constants) -> None:
    """Cosines and sines of all joints, first among the quantities of their links."""
    w, recipe = layout.w, layout.recipe
    single = layout.samples == 1
    with w.counting("angle", layout.blocks if single else layout.n) as index:
        cursor = Cursor(layout, index, single)
        x = cursor.read(Place("joint", 0))
        if recipe.turning is not None:
            x = w.put(f"fmul {V4} {x}, {cursor.read(Place('link', recipe.numbers.index(recipe.turning)))}")
        s, c, beyond = sincos(w, x, LANES, reduction, constants)
        places = [w.offset(cursor.own, WIDE * recipe.places[name]) for name in ANGLE]
        for place, value in zip(places, (c, s), strict=True):
            w.store(V4, value, place, WIDE)
        anywhere = w.put(f"call i1 @llvm.vector.reduce.or.v{LANES}i1({flags(LANES)} {beyond})")
        with w.when(anywhere, "rare", rare=True):
            w.store(V4, x, "%angles", WIDE)
            w.do(f"call void @exact_lanes(ptr %angles, ptr {places[1]}, ptr {places[0]}, i64 {LANES})")


def _single(recipe: Recipe, ports: Ports, reduction: Reduction, constants: Constants) -> str:
    """`void @single(ptr in..., ptr out...)`: one sample, with the memory at @scratch; one call at a time."""
    w = LoopWriter()
    w.label("entry")
    w.do(f"%angles = alloca {V4}, align {WIDE}")
    layout = Layout(w, recipe, 1, w.table("scratch"))
    inputs = len(ports.inputs)
    layout.base = [f"%p{i}" for i in range(inputs)]
    for i, name in enumerate(recipe.inputs):
        taken, skipped = recipe.base.get(name, 0), FREE if name in recipe.base else 0
        rows, given = w.offset(layout.inputs[i], 8 * skipped), w.offset(f"%p{i}", 8 * taken)
        w.do(f"call void @copy_row(ptr {rows}, ptr {given}, i64 {w.plus(layout.n, -skipped)})")
    _beginning(layout, reduction, constants)
    _angles(layout, reduction, constants)
    for k, loop in enumerate(recipe.loops(fused=False)):
        _written(layout, loop, f"stage{k}", reduction, constants)
    for i in range(recipe.outputs):
        w.do(f"call void @copy_row(ptr %p{inputs + i}, ptr {layout.results[i]}, i64 {layout.n})")
    targets = [f"%p{inputs + recipe.outputs + i}" for i in _matrices(recipe)]
    if recipe.products:
        w.do(f"call void @overlap(ptr {layout.pairs})")
    _products(w, recipe, layout, (layout.pairs, layout.strips), "0", 8, targets, "null")
    w.do("ret void")
    arguments = ", ".join(f"ptr %p{i}" for i in range(len(ports.all)))
    return f'define internal void @single({arguments}) "stackrealign" {{\n{w.text}\n}}\n'


def _matrices(recipe: Recipe) -> range:
    return range(len(recipe.products) + (recipe.strip is not None))


def _products(
    w: LoopWriter, recipe: Recipe, layout: Layout, where: tuple[str, str], lane: str, step: int, targets: Sequence[str],
    behind: str,
) -> None:  # fmt: skip
    """Matrices of one sample, and what stands on their diagonals: entries `step` bytes apart, from `lane` on.

    behind: what of the sample before is still to be written past the caches, or "null".
    """

    def result(name: str) -> str:
        return w.offset(layout.results[recipe.results.index(name)], lane)

    if recipe.products:
        w.do(f"call void @pairs(ptr {where[0]}, ptr {behind}, {', '.join(f'ptr {target}' for target in targets)})")
    for product, target in zip(recipe.products, targets, strict=False):
        if product.diagonal is not None:
            w.do(f"call void @add_diagonal(ptr {target}, ptr {result(product.diagonal)}, i64 {step})")
    if recipe.strip:
        sources = "".join(f", ptr {result(name)}" for name in recipe.strip.diagonal)
        w.do(f"call void @strips(ptr {where[0]}, ptr {where[1]}, ptr {targets[-1]}, i64 {step}{sources})")


def _block(recipe: Recipe, reduction: Reduction, constants: Constants) -> str:
    """`void @block(ptr scratch)`: four samples, from the inputs to the results and the quantities of pairs."""
    w = LoopWriter()
    w.label("entry")
    w.do(f"%angles = alloca {V4}, align {WIDE}")
    layout = Layout(w, recipe, LANES, "%scratch")
    _beginning(layout, reduction, constants)
    _angles(layout, reduction, constants)
    for k, loop in enumerate(recipe.loops(fused=True)):
        _written(layout, loop, f"stage{k}", reduction, constants)
    if recipe.pairs:
        _turned(w, recipe, layout)
    if recipe.strip:
        _turned_strips(w, recipe, layout)
    w.do("ret void")
    return f'define internal void @block(ptr %scratch) noinline "stackrealign" {{\n{w.text}\n}}\n'


def _turned(w: LoopWriter, recipe: Recipe, layout: Layout) -> None:
    """Quantities of pairs from [link][quantity][sample] to [sample][block][quantity][link]."""
    size = recipe.pair_size
    with w.counting("turn", layout.blocks) as block:
        first = w.times(block, LANES)
        if recipe.products:  # the last block overlaps the one before it
            first = w.put(f"call i64 @llvm.smin.i64(i64 {first}, i64 {w.plus(layout.n, -LANES)})")
        source = w.offset(layout.pairs, w.times(first, WIDE * size))
        target = w.offset(layout.turned, w.times(block, WIDE * size))
        with w.counting("entry4", str(size)) as k:
            near = w.offset(source, w.times(k, WIDE))
            rows = [w.load(V4, w.offset(near, WIDE * size * link), WIDE) for link in range(LANES)]
            for sample, column in enumerate(transposed(w, rows)):
                far = w.offset(w.offset(target, w.times(layout.pair_bytes, sample)), w.times(k, WIDE))
                w.store(V4, column, far, WIDE)


def _turned_strips(w: LoopWriter, recipe: Recipe, layout: Layout) -> None:
    """Numbers of strips from [link][number][sample] to [sample][link][number]."""
    with w.counting("strip", w.times(layout.n, recipe.strip_size // LANES)) as k:
        source = w.offset(layout.strips, w.times(k, WIDE * LANES))
        rows = [w.load(V4, w.offset(source, WIDE * r), WIDE) for r in range(LANES)]
        for sample, column in enumerate(transposed(w, rows)):
            target = w.offset(layout.strips_turned, w.times(layout.strip_bytes, sample))
            w.store(V4, column, w.offset(target, w.times(k, WIDE)), WIDE)


def _loop(recipe: Recipe, ports: Ports) -> str:
    """`void @loop(ptr args, ptr dims, ptr steps, ptr data)`, the inner loop of a generalised ufunc."""
    w = LoopWriter()
    count = range(len(ports.all))
    inputs, vectors = len(ports.inputs), recipe.outputs
    w.label("entry")
    w.do(f"%behind = alloca [{max(1, len(_matrices(recipe))) * BEHIND // 8} x i64], align 8")
    for k in _matrices(recipe):
        w.store("i64", "0", w.offset("%behind", BEHIND * k))
    samples = w.load("i64", "%dims")
    args = [w.load("ptr", w.offset("%args", 8 * i)) for i in count]
    steps = [w.load("i64", w.offset("%steps", 8 * i)) for i in count]
    strides, place = [], len(ports.all)
    for port in ports.all:
        strides.append([w.load("i64", w.offset("%steps", 8 * (place + axis))) for axis in range(len(port.shape))])
        place += len(port.shape)
    n = w.fixed("n")
    row = w.times(n, 8 * (recipe.strip.width if recipe.strip else 1))
    matrix = w.times(row, n)
    spare = w.times(matrix, len(_matrices(recipe)))
    size = w.plus(w.fixed("batch_bytes"), w.times(spare, 2))
    memory = w.put(f"call ptr @PyMem_RawCalloc(i64 {w.plus(size, 64)}, i64 1)")
    address = w.put(f"ptrtoint ptr {memory} to i64")
    to_line = w.put(f"and i64 {w.put(f'sub i64 0, {address}')}, 63")
    scratch = w.offset(memory, to_line)
    layout = Layout(w, recipe, LANES, scratch)
    buffer = w.offset(scratch, w.fixed("batch_bytes"))
    whole = []
    for i in range(inputs + vectors, len(ports.all)):
        tidy = [w.put(f"icmp eq i64 {strides[i][0]}, {row}"), w.put(f"icmp eq i64 {strides[i][1]}, 8")]
        whole.append(w.put(f"and i1 {tidy[0]}, {tidy[1]}"))
    streaming = w.put(f"icmp sgt i64 {w.times(spare, samples)}, {STREAMED}")
    blocks = w.put(f"sdiv i64 {w.plus(samples, LANES - 1)}, {LANES}")
    with w.counting("four", blocks) as four:
        first = w.times(four, LANES)
        left = w.put(f"sub i64 {samples}, {first}")
        taken = w.put(f"call i64 @llvm.smin.i64(i64 {left}, i64 {LANES})")
        here = [w.offset(args[i], w.times(first, steps[i])) for i in count]
        for i, name in enumerate(recipe.inputs):
            of_base, skipped = recipe.base.get(name, 0), FREE if name in recipe.base else 0
            rows, given = w.offset(layout.inputs[i], WIDE * skipped), here[i]
            if of_base:
                sizes = f"i64 {steps[i]}, i64 {strides[i][0]}, i64 {of_base}, i64 {taken}"
                w.do(f"call void @gather(ptr {layout.base[i]}, ptr {given}, {sizes})")
                given = w.offset(given, w.times(strides[i][0], of_base))
            sizes = f"i64 {steps[i]}, i64 {strides[i][0]}, i64 {w.plus(n, -skipped)}, i64 {taken}"
            w.do(f"call void @gather(ptr {rows}, ptr {given}, {sizes})")
        w.do(f"call void @block(ptr {scratch})")
        for k in range(vectors):
            i = inputs + k
            sizes = f"i64 {steps[i]}, i64 {strides[i][0]}, i64 {n}, i64 {taken}"
            w.do(f"call void @scatter(ptr {here[i]}, ptr {layout.results[k]}, {sizes})")
        if _matrices(recipe):
            with w.counting("sample", taken) as sample:
                odd = w.put(f"and i64 {sample}, 1")
                own = w.offset(buffer, w.times(odd, spare))
                _matrices_of_sample(w, recipe, layout, sample, here, steps, strides, whole, streaming, own, row)
    for k in _matrices(recipe):
        w.do(f"call void @trickle(ptr {w.offset('%behind', BEHIND * k)}, i64 {2**60})")
    w.do(f"call void @PyMem_RawFree(ptr {memory})")
    w.do("ret void")
    return f"define void @loop(ptr %args, ptr %dims, ptr %steps, ptr %data) {{\n{w.text}\n}}\n"


def _matrices_of_sample(
    w: LoopWriter, recipe: Recipe, layout: Layout, sample: str, here: Sequence[str], steps: Sequence[str],
    strides: Sequence[Sequence[str]], whole: Sequence[str], streaming: str, buffer: str, row: str,
) -> None:  # fmt: skip
    """Matrices of one of four samples; where the caller's memory has gaps, by way of a buffer."""
    first = len(recipe.inputs) + recipe.outputs
    outside, targets = [], []
    columns, matrix = w.put(f"lshr i64 {row}, 3"), w.times(row, layout.n)
    for k in _matrices(recipe):
        outside.append(w.offset(here[first + k], w.times(sample, steps[first + k])))
        own = w.offset(buffer, w.times(matrix, k))
        direct = w.put(f"and i1 {whole[k]}, {w.put(f'xor i1 {streaming}, true')}")
        targets.append(w.put(f"select i1 {direct}, ptr {outside[k]}, ptr {own}"))
    where = (
        w.offset(layout.turned, w.times(layout.pair_bytes, sample)),
        w.offset(layout.strips_turned, w.times(layout.strip_bytes, sample)),
    )
    _products(w, recipe, layout, where, w.times(sample, 8), WIDE, targets, "%behind")
    for k in _matrices(recipe):
        with w.when(w.put(f"xor i1 {whole[k]}, true"), f"gaps{k}"):
            numbers = ", ".join(f"i64 {x}" for x in (0, *strides[first + k], 0, row, 8, 1, layout.n, columns))
            w.do(f"call void @copy(ptr {outside[k]}, ptr {targets[k]}, {numbers})")
        with w.when(w.put(f"and i1 {whole[k]}, {streaming}"), f"streamed{k}"):
            state = w.offset("%behind", BEHIND * k)
            w.do(f"call void @trickle(ptr {state}, i64 {2**60})")
            w.do(f"call void @leave(ptr {state}, ptr {outside[k]}, ptr {targets[k]}, i64 {w.times(layout.n, columns)})")


@contextmanager
def _in_fours(w: LoopWriter) -> Iterator[str]:
    """Starts of fours of %n entries, at least 4; the last four overlap those before where n is no multiple."""
    last = w.plus("%n", -LANES)
    blocks = w.put(f"lshr i64 {w.plus('%n', LANES - 1)}, 2")
    with w.counting("b", blocks) as block:
        yield w.put(f"call i64 @llvm.smin.i64(i64 {w.times(block, LANES)}, i64 {last})")


def _fast_where_plain(w: LoopWriter) -> None:
    """Go to `fast` for four samples with adjacent entries, else to `slow`; `fast` follows."""
    w.label("entry")
    full = w.put(f"icmp eq i64 %taken, {LANES}")
    plain = w.put(f"and i1 {full}, {w.put('icmp eq i64 %stride, 8')}")
    w.do(f"br i1 {plain}, label %fast, label %slow")
    w.label("fast")


def _copy_row() -> str:
    """`@copy_row`: n doubles, n at least 4, the last four perhaps twice."""
    w = LoopWriter()
    w.label("entry")
    with _in_fours(w) as start:
        place = w.times(start, 8)
        w.store(V4, w.load(V4, w.offset("%from", place)), w.offset("%to", place))
    w.do("ret void")
    return f"define internal void @copy_row(ptr %to, ptr %from, i64 %n) {{\n{w.text}\n}}\n"


def _gather() -> str:
    """`@gather`: rows of up to four samples to [joint][sample]; samples that are missing repeat the last."""
    w = LoopWriter()
    _fast_where_plain(w)
    with _in_fours(w) as start:
        place = w.offset("%from", w.times(start, 8))
        rows = [w.load(V4, w.offset(place, w.times("%step", sample))) for sample in range(LANES)]
        for joint, column in enumerate(transposed(w, rows)):
            w.store(V4, column, w.offset(w.offset("%to", w.times(start, WIDE)), WIDE * joint), WIDE)
    w.do("ret void")
    w.label("slow")
    final = w.plus("%taken", -1)
    with w.counting("j", "%n") as j, w.counting("s", str(LANES)) as s:
        given = w.put(f"call i64 @llvm.smin.i64(i64 {s}, i64 {final})")
        source = w.offset(w.offset("%from", w.times(given, "%step")), w.times(j, "%stride"))
        target = w.offset(w.offset("%to", w.times(j, WIDE)), w.times(s, 8))
        w.store("double", w.load("double", source), target)
    w.do("ret void")
    head = "define internal void @gather(ptr %to, ptr %from, i64 %step, i64 %stride, i64 %n, i64 %taken)"
    return f"{head} noinline {{\n{w.text}\n}}\n"


def _scatter() -> str:
    """`@scatter`: [joint][sample] to rows of up to four samples."""
    w = LoopWriter()
    _fast_where_plain(w)
    with _in_fours(w) as start:
        place = w.offset("%from", w.times(start, WIDE))
        rows = [w.load(V4, w.offset(place, WIDE * joint), WIDE) for joint in range(LANES)]
        for sample, column in enumerate(transposed(w, rows)):
            w.store(V4, column, w.offset(w.offset("%to", w.times(start, 8)), w.times("%step", sample)))
    w.do("ret void")
    w.label("slow")
    with w.counting("s", "%taken") as s, w.counting("j", "%n") as j:
        source = w.offset(w.offset("%from", w.times(j, WIDE)), w.times(s, 8))
        target = w.offset(w.offset("%to", w.times(s, "%step")), w.times(j, "%stride"))
        w.store("double", w.load("double", source), target)
    w.do("ret void")
    head = "define internal void @scatter(ptr %to, ptr %from, i64 %step, i64 %stride, i64 %n, i64 %taken)"
    return f"{head} noinline {{\n{w.text}\n}}\n"
