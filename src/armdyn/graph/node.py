"""Expression nodes: unique, immutable, and simplified when they are made.

Every expression exists once: building it again gives the same object, so equality is identity and sharing needs
no search. What can be simplified without a search is simplified when the node is made:

* constants are gathered; 0, 1 and -1 disappear; integers and fractions stay exact;
* signs are pulled outwards, so `neg` survives only at outputs and under functions that do not absorb it;
* operands of sums and products stand in one order, and of `a - b` and `b - a` only one exists, the other is its `neg`;
* sines and cosines are normalised and products of them collapse to sums of angles (see `angle.py`).

Nodes are weakly interned: an expression nobody holds is freed. The order of operands follows a structural hash
that does not depend on the history of the process, so the same trace gives the same program everywhere.
"""

from __future__ import annotations

import hashlib
import math
import weakref
from fractions import Fraction
from numbers import Integral, Rational, Real
from typing import Any, NoReturn

from armdyn.errors import ArmdynError

CONST, PI_OP, SYMBOL = "const", "pi", "symbol"
ADD, SUB, MUL, DIV, NEG = "add", "sub", "mul", "div", "neg"
SIN, COS, SQRT, SIGN, ABS, EXP, SELECT = "sin", "cos", "sqrt", "sign", "abs", "exp", "select"
ATAN2 = "atan2"

OPERATIONS = (ADD, SUB, MUL, DIV, NEG, SIN, COS, SQRT, SIGN, ABS, EXP, SELECT, ATAN2)
"""Names of all operations a node may carry besides the leaves `const`, `pi` and `symbol`."""

KINDS = ("variable", "parameter")
_CODE = {op: code for code, op in enumerate((CONST, PI_OP, SYMBOL, *OPERATIONS))}

Number = int | float | Fraction
"""Values a constant node may hold."""


class _Draft:
    """The fields of a node, which can be set until it becomes one."""

    __slots__ = ("__weakref__", "args", "key", "online", "op", "trig", "value")
    op: str
    args: tuple[Node, ...]
    value: Any
    key: int
    online: bool
    trig: int


class Node(_Draft):
    """One expression. Build with `symbol`, `constant`, operators and the methods below, never directly.

    Fields: `op` (operation name), `args` (operand nodes), `value` (number of a constant, name of a symbol),
    `key` (structural hash), `online` (depends on a run-time variable, not only on parameters),
    `trig` (number of sines and cosines among its factors).

    >>> x, y = symbol("x"), symbol("y")
    >>> x + y is y + x, (x - y) + y is x, -(y - x) is x - y
    (True, True, True)
    """

    __slots__ = ()

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"expression nodes are immutable: cannot set {name!r}")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"expression nodes are immutable: cannot delete {name!r}")

    def __bool__(self) -> NoReturn:
        raise ArmdynError(
            "the truth value of an expression is not known while it is traced; "
            "use select(condition, if_not_negative, if_negative) instead of 'if'"
        )

    def __add__(self, other: object) -> Node:
        node = as_node(other)
        return NotImplemented if node is None else fold.add(self, node)

    __radd__ = __add__

    def __sub__(self, other: object) -> Node:
        node = as_node(other)
        return NotImplemented if node is None else fold.sub(self, node)

    def __rsub__(self, other: object) -> Node:
        node = as_node(other)
        return NotImplemented if node is None else fold.sub(node, self)

    def __mul__(self, other: object) -> Node:
        node = as_node(other)
        return NotImplemented if node is None else fold.mul(self, node)

    __rmul__ = __mul__

    def __truediv__(self, other: object) -> Node:
        node = as_node(other)
        return NotImplemented if node is None else fold.div(self, node)

    def __rtruediv__(self, other: object) -> Node:
        node = as_node(other)
        return NotImplemented if node is None else fold.div(node, self)

    def __pow__(self, exponent: object) -> Node:
        return NotImplemented if not isinstance(exponent, Integral) else fold.power(self, int(exponent))

    def __neg__(self) -> Node:
        return fold.neg(self)

    def __pos__(self) -> Node:
        return self

    def __abs__(self) -> Node:
        return self.abs()

    def named(self, name: str, *indices: object) -> Node:
        """The node itself, with a readable name for the printed program of the trace under way."""
        from armdyn.graph.trace import named

        return named(self, name, *indices)

    def sin(self) -> Node:
        from armdyn.graph.angle import sine  # angle.py builds on this module

        return sine(self)

    def cos(self) -> Node:
        from armdyn.graph.angle import cosine  # angle.py builds on this module

        return cosine(self)

    def sqrt(self) -> Node:
        return fold.square_root(self)

    def sign(self) -> Node:
        """-1, 0 or 1."""
        return fold.sign_of(self)

    def abs(self) -> Node:
        return fold.absolute(self)

    def exp(self) -> Node:
        return fold.exponential(self)

    def atan2(self, x: object) -> Node:
        """The angle of the point (x, this expression), in (-pi, pi]."""
        node = as_node(x)
        if node is None:
            raise ArmdynError(f"atan2 of {self!r} and {x!r}", expected="a number or an expression node")
        return fold.arctangent(self, node)

    def select(self, if_not_negative: object, if_negative: object) -> Node:
        """`if_not_negative` where this expression is >= 0, else `if_negative`."""
        result: Node = fold.select(self, if_not_negative, if_negative)
        return result

    def __repr__(self) -> str:
        from armdyn.graph.expression_writer import infix  # printing builds on this module

        return infix(self, limit=400)

    def __str__(self) -> str:
        from armdyn.graph.expression_writer import infix  # printing builds on this module

        return infix(self, limit=20_000)  # whole: robot files are written this way

    def __copy__(self) -> Node:
        return self

    def __deepcopy__(self, memo: object) -> Node:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        from armdyn.graph.records import rebuild, records  # flat, so that deep expressions do not recurse

        return rebuild, (records((self,)), 0)


# --- interning ---------------------------------------------------------------------------------------------------


class _Reference(weakref.ref[Node]):
    """To a node that may be freed; entry: its place in the table."""

    __slots__ = ("entry",)
    entry: tuple[object, ...]


_TABLE: dict[tuple[object, ...], _Reference] = {}


def _forget(reference: Any, table: dict[Any, Any] = _TABLE) -> None:
    # The entry may already belong to an equal node that was made after this one was freed.
    entry = reference.entry
    if table.get(entry) is reference:
        table.pop(entry, None)  # another thread may have been quicker


def _born(entry: tuple[object, ...], op: str, args: tuple[Node, ...], value: object, key: int, online: bool) -> Node:
    draft: Any = _Draft()
    draft.op, draft.args, draft.value, draft.key, draft.online = op, args, value, key, online
    draft.trig = args[0].trig + args[1].trig if op == MUL else 1 if op in (SIN, COS) else 0
    draft.__class__ = Node
    node: Node = draft
    reference = _Reference(node, _forget)
    reference.entry = entry
    _TABLE[entry] = reference
    return node


def interned(op: str, args: tuple[Node, ...]) -> Node:
    """The node with this operation and these operands, no folding."""
    entry = (op, args)
    reference = _TABLE.get(entry)
    if reference is not None:
        known = reference()
        if known is not None:
            return known
    if len(args) == 2:
        a, b = args
        return _born(entry, op, args, None, hash((_CODE[op], a.key, b.key)), a.online or b.online)
    key = hash((_CODE[op], *[arg.key for arg in args]))
    return _born(entry, op, args, None, key, True in [arg.online for arg in args])


def _leaf(op: str, value: object, detail: object, key: int, online: bool) -> Node:
    entry = (op, value, detail)
    reference = _TABLE.get(entry)
    known = None if reference is None else reference()
    return known if known is not None else _born(entry, op, (), value, key, online)


def constant(value: object) -> Node:
    """A constant. Integers and fractions stay exact; a float that is a whole number becomes that integer.

    >>> constant(2.0) is constant(2), constant(0.5) is constant(Fraction(1, 2))
    (True, False)
    """
    number = _plain(value)
    if number is None:
        raise ArmdynError(f"cannot make a constant of {value!r}: expected an int, float or Fraction")
    return _constant(number)


def _constant(number: Number) -> Node:
    return _leaf(CONST, number, number.__class__, hash((_CODE[CONST], hash(number))), False)


def _plain(value: object) -> Number | None:
    """The value as int, Fraction or float (NumPy scalars included), None if it is no real number."""
    if type(value) is int:
        return value
    if type(value) is not float:  # the fast path for the most common case
        if isinstance(value, Integral):
            return int(value)
        if isinstance(value, Rational):
            exact = Fraction(value)
            return exact.numerator if exact.denominator == 1 else exact
        if not isinstance(value, Real):
            return None
    number = float(value)
    if not math.isfinite(number):
        raise ArmdynError(f"a constant must be finite, got {number}; check the value that produced it")
    return int(number) if number.is_integer() and abs(number) <= 2**53 else number


def as_node(value: object) -> Node | None:
    """The value as a node, or None if it is neither a node nor a real number."""
    if type(value) is Node:
        return value
    number = _plain(value)
    return None if number is None else _constant(number)


def symbol(name: str, kind: str = "variable") -> Node:
    """A named input: a run-time "variable" (q, qd, tau) or a "parameter" known off-line (lengths, masses).

    >>> symbol("q1") is symbol("q1"), symbol("m1", "parameter").online
    (True, False)
    """
    if kind not in KINDS:
        raise ArmdynError(f"unknown kind of symbol {kind!r} for {name!r}: expected one of {', '.join(KINDS)}")
    if not isinstance(name, str) or not name:
        raise ArmdynError(f"a symbol needs a non-empty name, got {name!r}")
    # Python's own string hash changes from process to process; the order of operands must not.
    digest = hashlib.blake2b(f"{kind} {name}".encode(), digest_size=7).digest()
    return _leaf(SYMBOL, name, kind, int.from_bytes(digest, "little"), kind == "variable")


def symbols(names: str, kind: str = "variable") -> tuple[Node, ...]:
    """Several symbols at once, names separated by spaces or commas."""
    return tuple(symbol(name, kind) for name in names.replace(",", " ").split())


ZERO, ONE, TWO, MINUS_ONE = (_constant(number) for number in (0, 1, 2, -1))
PI = _leaf(PI_OP, "pi", None, hash((_CODE[PI_OP],)), False)
"""The exact number pi."""


# The operators above need the folding rules, and the rules need this class: the one import that must come last.
from armdyn.graph import fold  # noqa: E402
