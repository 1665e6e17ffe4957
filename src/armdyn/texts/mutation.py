"""Break what an item vouches for, and see whether the item notices.

An item names the functions and control laws whose correctness it shows (`vouches` of `Chapter.item`). Each of them is
changed in several ways, in a process of its own, and the item is run again: its verdict must change. A change that an
item does not notice is a part of the library for which the item's verdict says nothing.
"""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cache
from itertools import zip_longest
from multiprocessing import get_all_start_methods, get_context
from multiprocessing.connection import Connection
from types import CodeType, FunctionType
from typing import Any

import numpy as np

from armdyn.kernels import cache as disk_cache
from armdyn.report.figures import charts, robot_figures
from armdyn.texts.item import Item
from armdyn.typing import Progress

LONGEST = 60.0
"""Seconds until a changed item is given up, which counts as noticed; the slowest item takes two."""
INSIDE = 4
"""Changes inside of one function, spread over its text, beside those of its result."""


@dataclass(frozen=True)
class Change:
    """One way to break a function: a change of its result, or of one place in its text.

    kind: one of RESULTS, or "text".
    part, site: number of the function in `_texts`, and of the place in its text.
    """

    kind: str
    part: int = 0
    site: int = -1


@dataclass(frozen=True)
class Trial:
    """An item that was run with one function changed.

    what: the function's name and the change. effect: what the item said: its new verdict, an error, "none" (same
    verdict as before), "not called", or "same result" if the change altered no number (a swap of equal entries).
    """

    item: str
    function: str
    what: str
    effect: str

    @property
    def counts(self) -> bool:
        """Whether anything was changed at all; a change that is never called counts."""
        return self.effect != "same result"

    @property
    def noticed(self) -> bool:
        return self.counts and self.effect not in ("none", "not called")


# Changes of results -----------------------------------------------------------------------------------------------


def _mapped(value: Any, alter: Callable[[Any], Any]) -> Any:
    """A result with all of its numbers altered, whatever holds them."""
    if isinstance(value, bool | int | str | bytes) or value is None:
        return value
    if isinstance(value, np.ndarray):
        return alter(value) if value.dtype.kind in "fc" else value
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(_mapped(x, alter) for x in value))
    if isinstance(value, list | tuple):
        return type(value)(_mapped(x, alter) for x in value)
    if isinstance(value, Mapping):
        return {key: _mapped(x, alter) for key, x in value.items()}
    if is_dataclass(value) and not isinstance(value, type) and not hasattr(value, "__mul__"):
        own = {each.name: getattr(value, each.name) for each in fields(value) if each.init}
        return replace(value, **{name: _mapped(x, alter) for name, x in own.items()})
    return alter(value) if hasattr(value, "__mul__") else value


def _rows(value: Any, order: Callable[[Any], Any]) -> Any:
    """The entries of the joints (of arrays the last axis, of nested lists the outermost) in another order."""
    if isinstance(value, np.ndarray):
        return value[..., order(range(value.shape[-1]))] if value.ndim else value
    if isinstance(value, list | tuple) and not hasattr(value, "_fields"):
        return type(value)(value[i] for i in order(range(len(value))))
    if isinstance(value, tuple):
        return type(value)(*(_rows(x, order) for x in value))
    if is_dataclass(value) and not isinstance(value, type) and not hasattr(value, "__mul__"):
        own = {each.name: getattr(value, each.name) for each in fields(value) if each.init}
        return replace(value, **{name: _rows(x, order) for name, x in own.items()})
    return value


def _less_one(value: Any) -> Any:
    """A result without the numbers of the last joint."""
    if isinstance(value, np.ndarray) and value.ndim and value.dtype.kind in "fc":
        changed = value.copy()
        changed[..., -1] = 0
        return changed
    if isinstance(value, list | tuple) and value and not hasattr(value, "_fields"):
        return type(value)([*value[:-1], _mapped(value[-1], lambda x: 0 * x)])
    return _mapped(value, lambda x: 0 * x)


RESULTS: dict[str, Callable[[Any], Any]] = {
    "times 1.25": lambda value: _mapped(value, lambda x: x * 1.25),
    "sign": lambda value: _mapped(value, lambda x: -x),
    "last entry missing": _less_one,
    "entries reversed": lambda value: _rows(value, lambda n: [*n][::-1]),
    "off by one joint": lambda value: _rows(value, lambda n: [*n[1:], *n[:1]]),
}
_MIRRORED = "D_ij and D_ji are set together"
EQUIVALENT = {
    ("mechanics.dalembert.mass_matrix_translational", "_D_tran: D[i][j]: indices swapped"): _MIRRORED,
    ("mechanics.dalembert.mass_matrix_rotational", "_D_rot: D[i][j]: indices swapped"): _MIRRORED,
    ("mechanics.dalembert.mass_matrix", "_D_rot: D[i][j]: indices swapped"): _MIRRORED,
    ("mechanics.kronecker.coriolis_matrix", "U[i][j]: indices swapped"): "U = Mdot is symmetric",
    ("mechanics.coriolis_matrices.unsymmetric_kronecker_matrix", "U[i][j]: indices swapped"): "U = Mdot is symmetric",
}
"""Changes of the text that change nothing, and why."""
SAME = 1e-9
"""Relative difference of two results that counts as none: a swap of entries that are equal but for rounding."""


def _equal(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray | float):
        return bool(np.allclose(a, b, rtol=SAME, atol=SAME * float(np.abs(a).max(initial=0)), equal_nan=True))
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(_equal, a, b))
    if isinstance(a, Mapping):
        return all(_equal(a[key], b[key]) for key in a)
    if is_dataclass(a) and not isinstance(a, type):
        return all(_equal(getattr(a, each.name), getattr(b, each.name)) for each in fields(a))
    return a is b or bool(np.all(a == b))


# Changes of the text ----------------------------------------------------------------------------------------------


class _Editor(ast.NodeTransformer):
    """Makes the change number `site` in a function; counts the possible ones in `found`."""

    def __init__(self, site: int) -> None:
        self.site, self.found, self.made = site, 0, ""

    def _here(self, what: str) -> bool:
        self.found += 1
        if self.found - 1 == self.site:
            self.made = what
            return True
        return False

    def visit_Raise(self, node: ast.Raise) -> ast.AST:
        return node  # what an error says is no result

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        if any(isinstance(each, ast.JoinedStr) or _is_text(each) for each in (node.left, node.right)):
            return node
        text = ast.unparse(node)
        if isinstance(node.op, ast.Add | ast.Sub) and not isinstance(node.right, ast.Constant):
            if self._here(f"{text}: second term missing"):
                return node.left
            if self._here(f"{text}: other sign"):
                node.op = ast.Sub() if isinstance(node.op, ast.Add) else ast.Add()
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        name, text = ast.unparse(node.func), ast.unparse(node)
        if name in ("add", "sub", "plus") and len(node.args) == 2 and self._here(f"{text}: second term missing"):
            return node.args[0]
        if name in ("cross", "np.cross", "sub") and self._here(f"{text}: arguments swapped"):
            node.args = node.args[::-1]
        if name == "half" and self._here(f"{text}: not halved"):
            return node.args[0]
        return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        self.generic_visit(node)
        inner = node.value
        if (
            isinstance(inner, ast.Subscript)
            and isinstance(node.ctx, ast.Load)
            and isinstance(node.slice, ast.Name)
            and isinstance(inner.slice, ast.Name)
            and node.slice.id != inner.slice.id
            and self._here(f"{ast.unparse(node)}: indices swapped")
        ):
            node.slice, inner.slice = inner.slice, node.slice
        return node


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _definition(tree: ast.Module, function: FunctionType) -> ast.FunctionDef | None:
    first = function.__code__.co_firstlineno
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name == function.__code__.co_name:
            lines = {node.lineno, *(each.lineno for each in node.decorator_list)}
            if first in lines:
                return node
    return None


@cache
def _source(module: str) -> str:
    return inspect.getsource(sys.modules[module])


def _edited(function: FunctionType, site: int) -> tuple[CodeType | None, str, int]:
    """The function's code with the change number `site` in its text, what it was, and how many there could be."""
    tree = ast.parse(_source(function.__module__))
    node = _definition(tree, function)
    if node is None:
        return None, "", 0
    editor = _Editor(site)
    node.body = [editor.visit(line) for line in node.body]
    ast.fix_missing_locations(tree)
    made = compile(tree, function.__code__.co_filename, "exec")
    code = next(each for each in _codes(made) if _place(each) == _place(function.__code__))
    return code, editor.made, editor.found


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _place(code: CodeType) -> tuple[str, int]:
    return code.co_name, code.co_firstlineno


# Running an item with one change ------------------------------------------------------------------------------------


def plain(vouched: Any) -> FunctionType:
    """The function behind what an item vouches for: the formula of a quantity, the torques of a law."""
    found = vouched.__call__ if isinstance(vouched, type) else inspect.unwrap(getattr(vouched, "fget", vouched))
    if not isinstance(found, FunctionType):
        raise TypeError(f"an item vouches for {vouched!r}, which is no function or class with a text")
    return found


def name_of(vouched: Any) -> str:
    """`mechanics.kronecker.coriolis`"""
    owner = vouched if isinstance(vouched, type) else plain(vouched)
    return f"{owner.__module__}.{owner.__qualname__}".removeprefix("armdyn.")


def substitute(function: FunctionType, other: Callable[..., Any]) -> None:
    """Let every caller of a function call another, wherever its name was imported to.

    The code of the function is exchanged in place, since its callers hold the function itself.
    """
    key, free = f"{function.__module__}.{function.__qualname__}", ", ".join(function.__code__.co_freevars)
    held = f"({free},); " if free else ""
    text = f"def around({free}):\n def stand_in(*a, **k): {held}return __other__[{key!r}](*a, **k)"
    function.__globals__.setdefault("__other__", {})[key] = other
    function.__defaults__ = function.__kwdefaults__ = None
    function.__code__ = next(each for each in _codes(compile(text, key, "exec")) if each.co_name == "stand_in")


def _copy(function: FunctionType, code: CodeType) -> FunctionType:
    made = FunctionType(code, function.__globals__, function.__name__, function.__defaults__, function.__closure__)
    made.__kwdefaults__ = function.__kwdefaults__
    return made


def _texts(function: FunctionType) -> list[FunctionType]:
    """A function and the private ones of its module that it calls, directly or through each other."""
    found = [function]
    for each in found:
        names = [name for code in _codes(each.__code__) for name in code.co_names if name.startswith("_")]
        called = [inspect.unwrap(each.__globals__[name]) for name in names if callable(each.__globals__.get(name))]
        found += [f for f in dict.fromkeys(called) if isinstance(f, FunctionType) and f not in found]
    return found


@cache
def changes(function: FunctionType) -> tuple[Change, ...]:
    """The ways in which a function is broken: its result in every way, its text in a few places."""
    sites = [(k, site) for k, each in enumerate(_texts(function)) for site in range(_edited(each, -1)[2])]
    chosen = sorted({round(k * (len(sites) - 1) / max(1, INSIDE - 1)) for k in range(min(INSIDE, len(sites)))})
    return (*(Change(kind) for kind in RESULTS), *(Change("text", *sites[k]) for k in chosen))


def _broken(function: FunctionType, change: Change) -> tuple[str, Callable[[], str]]:
    """Change a function in this process. What was done, and a question: was it called, did a result differ?"""
    seen = {"called": False, "differed": False}
    changed = _texts(function)[change.part]
    code, what, _ = _edited(changed, change.site)
    before, after = _copy(changed, changed.__code__), _copy(changed, code or changed.__code__)

    def other(*args: Any, **options: Any) -> Any:
        seen["called"] = True
        if change.kind == "text":
            seen["differed"] = True
            return after(*args, **options)
        right = before(*args, **options)
        wrong = RESULTS[change.kind](right)
        seen["differed"] = seen["differed"] or not _equal(right, wrong)
        return wrong

    substitute(changed, other)
    where = f"{changed.__name__}: " if change.part else ""
    answer = lambda: "" if seen["differed"] else "same result" if seen["called"] else "not called"  # noqa: E731
    return (f"{where}{what}" if change.kind == "text" else change.kind), answer


def _undrawn(*_: Any, **__: Any) -> str:
    return ""


def _run_changed(source: str, place: str, index: int, change: Change, verdict: str, answer: Connection) -> None:
    """In a process of its own: the item with one function changed; the answer is (what, effect)."""
    from armdyn.texts.running import chapter_of

    load, save = disk_cache.load, disk_cache.save
    # Notes lead from a robot to its code without a look at the functions: a changed one would not be asked, or noted.
    disk_cache.load = lambda name, kind="o": None if kind == "note" else load(name, kind)
    disk_cache.save = lambda name, image, kind="o": None if kind == "note" else save(name, image, kind)
    for drawing in (charts.chart, robot_figures.robot_figure):
        substitute(plain(drawing), _undrawn)
    item = next(each for each in chapter_of(source).items if each.place == place)
    what, idle = _broken(plain(item.vouches[index]), change)
    try:
        found = item.run().verdict
        effect = idle() or ("none" if found == verdict else found)
    except Exception as error:  # whatever a broken function leads to is noticed
        effect = f"{type(error).__name__}"
    answer.send((what, effect))


def trials(
    judged: Sequence[tuple[Item, str]],
    *,
    most: int | None = None,
    only: str = "",
    progress: Progress | None = None,
) -> tuple[Trial, ...]:
    """Run items with each function that they vouch for changed, and say what they noticed.

    judged: the items with their verdicts when nothing is changed.
    most: number of changes (default: all), spread over all items and kinds of changes.
    only: end of the name of the functions to change (default: all functions).
    """
    planned = [each for each in _planned(judged) if name_of(each[0].vouches[each[2]]).endswith(only)]
    planned = planned if most is None else planned[:: max(1, len(planned) // most)][:most]
    methods = get_all_start_methods()
    context: Any = get_context("forkserver" if "forkserver" in methods else "spawn")
    if "forkserver" in methods:
        context.set_forkserver_preload(["armdyn.texts.preloaded"])
    found: list[Trial] = []
    for item, verdict, index, change in planned:
        name = name_of(item.vouches[index])
        if progress is not None:
            progress(f"{item.key}: {name}", len(found) / len(planned))
        mine, theirs = context.Pipe(duplex=False)
        process = context.Process(
            target=_run_changed, args=(item.source, item.place, index, change, verdict, theirs), daemon=True
        )
        process.start()
        theirs.close()
        try:
            what, effect = mine.recv() if mine.poll(LONGEST) else (change.kind, "no end")
        except EOFError:
            what, effect = change.kind, "crash"
        process.kill()
        process.join()
        found.append(Trial(item.key, name, what, "same result" if (name, what) in EQUIVALENT else effect))
    return tuple(found)


def _planned(judged: Sequence[tuple[Item, str]]) -> list[tuple[Item, str, int, Change]]:
    """All changes, those of different items and functions in turns."""
    queues = [
        [(item, verdict, index, change) for change in changes(plain(vouched))]
        for item, verdict in judged
        for index, vouched in enumerate(item.vouches)
    ]
    return [each for turn in zip_longest(*queues) for each in turn if each is not None]
