"""A robot's dynamics inside PyTorch: functions with autograd, batched, for `torch.func` and `torch.compile`.

Values and derivatives are computed by the same machine code as in NumPy, on the memory of the tensors (CPU only).
Leading axes broadcast, and `vmap` makes one call for the whole batch. Second derivatives exist too; third ones do not.

>>> functions = armdyn.torch.wrap(armdyn.compile(robot))            # doctest: +SKIP
>>> qdd = functions.forward_dynamics(q, qd, tau)                    # doctest: +SKIP
>>> qdd.square().sum().backward()                                   # doctest: +SKIP
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from math import prod
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from armdyn.dynamics import Dynamics
from armdyn.dynamics.differentials import ArrayFunctions, Differential, Part, check_shapes
from armdyn.errors import ArmdynError, MissingExtra, NotApplicable
from armdyn.robot.features import CLOSED, TREE, takes

_known: dict[str, Differential] = {}
"""By label: operators of PyTorch take texts, not objects."""


class FunctionSpec(NamedTuple):
    """What a call needs to know of a function, in plain words that PyTorch's compiler understands."""

    label: str
    inputs: tuple[str, ...]
    sizes: tuple[int, ...]
    shapes: tuple[tuple[int, ...], ...]


@takes(*CLOSED, "elastic", *TREE)
def wrap(dynamics: Dynamics) -> TorchFunctions:
    """The functions of a robot's dynamics for PyTorch.

    dynamics: made by `armdyn.compile`.

    Returns an object with the same functions as `dynamics`, over tensors (..., n) in the memory of the processor. They
    compute in 64 bits; results have the type of the arguments. They can be batched and differentiated twice, backward
    and forward, and stand in compiled functions as operators. `pose` and others take `frame`; a wrench w at the tool
    adds `functions.jacobian(q).mT @ w` to the torques.

    A result that does not exist (a singular mass matrix, a loop that does not close) is NaN. For robots with closed
    loops or mimic joints, inverse and forward dynamics have first derivatives; the others have none.

    Raises MissingExtra without PyTorch, FeatureError for free and ball joints.
    """
    _torch()
    return TorchFunctions(dynamics)


class TorchFunctions(ArrayFunctions):
    """Functions of tensors, named as those of `Dynamics`; each is compiled at its first use."""

    framework = "PyTorch"

    def _evaluation(self, differential: Differential, where: str) -> Callable[..., Any]:
        label = differential.value.label
        _known.setdefault(label, differential)
        entry = FunctionSpec(label, differential.inputs, differential.sizes, differential.shapes)
        torch, operators = _torch(), _operators()

        def evaluated(*arguments: Any) -> Any:
            return _called(torch, operators, entry, arguments, where)

        return evaluated


def _called(torch: Any, operators: Any, entry: FunctionSpec, arguments: Sequence[Any], where: str) -> Any:
    tensors = [each if isinstance(each, torch.Tensor) else torch.as_tensor(each) for each in arguments]
    for tensor in tensors:
        if tensor.device.type != "cpu":
            raise ArmdynError(f"a tensor on {tensor.device}", where=where, expected="tensors on the processor (cpu)")
    check_shapes(entry.inputs, entry.sizes, tensors, where)
    kind = _common(torch, tensors)
    rank = max(tensor.dim() for tensor in tensors)
    x = [tensor.to(torch.float64).reshape((1,) * (rank - tensor.dim()) + tuple(tensor.shape)) for tensor in tensors]
    compiling = torch.compiler.is_compiling()
    flat = operators.value(x, entry.label) if compiling else operators.Value.apply(entry.label, *x)
    results, start = [], 0
    for shape in entry.shapes:
        stop = start + prod(shape)
        results.append(flat[..., start:stop].reshape(tuple(flat.shape[:-1]) + shape).to(kind))
        start = stop
    return results[0] if len(results) == 1 else tuple(results)


def _common(torch: Any, tensors: Sequence[Any]) -> Any:
    """The type of the results: that of the arguments, double precision for integers."""
    kinds = [each.dtype for each in tensors if each.is_floating_point()] or [torch.float64]
    first = kinds[0]
    for kind in kinds[1:]:
        first = torch.promote_types(first, kind)
    return first


# Numbers -------------------------------------------------------------------------------------------------------------


def _evaluated(part: Part, x: Sequence[Any]) -> list[Any]:
    """The results of a compiled function, on the memory of the tensors."""
    arrays = [x[k].detach().numpy() for k in part.takes]
    with np.errstate(all="ignore"):
        results = part.program(*arrays)
    listed = results if isinstance(results, tuple) else (results,)
    return [_torch().from_numpy(np.asarray(each)) for each in listed]


def _value(label: str, x: Sequence[Any]) -> Any:
    """All results as one vector."""
    differential = _known[label]
    results = _evaluated(differential.value, x)
    sizes = [prod(shape) for shape in differential.shapes]
    batch = _batch(x)
    return _torch().cat([each.reshape(*batch, size) for each, size in zip(results, sizes, strict=True)], dim=-1)


def _batch(x: Sequence[Any]) -> tuple[int, ...]:
    return tuple(np.broadcast_shapes(*(tuple(each.shape[:-1]) for each in x)))


def _slopes(label: str, x: Sequence[Any], wrt: Sequence[int]) -> dict[int, Any]:
    found: dict[int, Any] = {}
    for part in _known[label].slopes:
        if set(part.gives) & set(wrt):
            found.update(zip(part.gives, _evaluated(part, x), strict=True))
    return found


def _push(label: str, x: Sequence[Any], tangents: Sequence[Any], wrt: Sequence[int]) -> Any:
    """J t."""
    blocks = _slopes(label, x, wrt)
    return sum((blocks[k] @ t[..., None])[..., 0] for k, t in zip(wrt, tangents, strict=True))


def _pull(label: str, x: Sequence[Any], w: Any, wrt: Sequence[int]) -> list[Any]:
    """J^T w, by input."""
    blocks = _slopes(label, x, wrt)
    return [(w[..., None, :] @ blocks[k])[..., 0, :] for k in wrt]


def _bend(label: str, x: Sequence[Any], w: Any, tangents: Sequence[Any], by: Sequence[int]) -> list[Any]:
    """H(w) u, by input, for all inputs; u: tangents of the inputs `by`."""
    part = _known[label].curvature
    blocks = dict(zip(part.gives, _evaluated(part, [*x, w]), strict=True))
    batch, results = _batch([*x, w, *tangents]), []
    for i, size in enumerate(_known[label].sizes):
        total = w.new_zeros((*batch, size))
        for j, u in zip(by, tangents, strict=True):
            if (i, j) in blocks:
                total = total + (blocks[i, j] @ u[..., None])[..., 0]
            elif (j, i) in blocks:
                total = total + (u[..., None, :] @ blocks[j, i])[..., 0, :]
        results.append(total)
    return results


# Operators -----------------------------------------------------------------------------------------------------------
#
# With y = f(x), J = dy/dx and H(w) the second derivatives of w.y: push(x, t) = J t, pull(x, w) = J^T w,
# bend(x, w, u) = H(w) u. Then w.push and t.pull have the derivative H(w) t by x. In eager mode they are functions of
# autograd, with rules for `vmap` and forward mode; in compiled functions they are operators registered by name.


@cache
def _operators() -> SimpleNamespace:
    torch = _torch()
    Function = torch.autograd.Function

    def moved(dims: Sequence[Any], tensors: Sequence[Any]) -> list[Any]:
        """Batched tensors with the batch in front, the others with an axis of size 1 there."""
        return [
            tensor if tensor is None else tensor.unsqueeze(0) if dim is None else tensor.movedim(dim, 0)
            for tensor, dim in zip(tensors, dims, strict=True)
        ]

    def summed(tensor: Any, like: Any) -> Any:
        """Over the axes along which an argument was the same for all samples."""
        axes = [k for k, size in enumerate(like.shape) if size == 1 and tensor.shape[k] != 1]
        return tensor.sum(axes, keepdim=True) if axes else tensor

    class Value(Function):  # type: ignore[misc, valid-type]  # PyTorch may be missing
        @staticmethod
        def forward(label: str, *x: Any) -> Any:
            return _value(label, x)

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.label, *x = inputs
            ctx.save_for_backward(*x)
            ctx.save_for_forward(*x)

        @staticmethod
        def backward(ctx: Any, w: Any) -> Any:
            x, asked = ctx.saved_tensors, ctx.needs_input_grad[1:]
            wrt = tuple(k for k, needed in enumerate(asked) if needed)
            pulled = dict(zip(wrt, Pull.apply(ctx.label, wrt, *x, w), strict=True))
            return None, *(summed(pulled[k], each) if k in pulled else None for k, each in enumerate(x))

        @staticmethod
        def jvp(ctx: Any, _: Any, *tangents: Any) -> Any:
            x = ctx.saved_tensors
            wrt = tuple(k for k, t in enumerate(tangents) if t is not None)
            return ForwardMode.apply(ctx.label, wrt, *x, *(tangents[k] for k in wrt))

        @staticmethod
        def vmap(info: Any, dims: Any, label: str, *x: Any) -> Any:
            return Value.apply(label, *moved(dims[1:], x)), 0

    class Pull(Function):  # type: ignore[misc, valid-type]  # PyTorch may be missing
        @staticmethod
        def forward(label: str, wrt: tuple[int, ...], *arguments: Any) -> Any:
            *x, w = arguments
            return tuple(_pull(label, x, w, wrt))

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.label, ctx.wrt, *arguments = inputs
            ctx.save_for_backward(*arguments)
            ctx.save_for_forward(*arguments)

        @staticmethod
        def backward(ctx: Any, *u: Any) -> Any:
            *x, w = ctx.saved_tensors
            by_x: list[Any] = [None] * len(x)
            if any(ctx.needs_input_grad[2:-1]):
                by_x = [summed(*pair) for pair in zip(Bend.apply(ctx.label, ctx.wrt, *x, w, *u), x, strict=True)]
            by_w = summed(ForwardMode.apply(ctx.label, ctx.wrt, *x, *u), w) if ctx.needs_input_grad[-1] else None
            return None, None, *by_x, by_w

        @staticmethod
        def jvp(ctx: Any, _: Any, __: Any, *tangents: Any) -> Any:
            *x, w = ctx.saved_tensors
            *along, dw = tangents
            by = tuple(k for k, t in enumerate(along) if t is not None)
            totals: list[Any] = [0.0] * len(ctx.wrt)
            if dw is not None:
                totals = list(Pull.apply(ctx.label, ctx.wrt, *x, dw))
            if by:
                bent = Bend.apply(ctx.label, by, *x, w, *(along[k] for k in by))
                totals = [total + bent[k] for total, k in zip(totals, ctx.wrt, strict=True)]
            return tuple(totals)

        @staticmethod
        def vmap(info: Any, dims: Any, label: str, wrt: tuple[int, ...], *arguments: Any) -> Any:
            return Pull.apply(label, wrt, *moved(dims[2:], arguments)), (0,) * len(wrt)

    class ForwardMode(Function):  # type: ignore[misc, valid-type]  # PyTorch may be missing
        @staticmethod
        def forward(label: str, wrt: tuple[int, ...], *arguments: Any) -> Any:
            count = len(arguments) - len(wrt)
            return _push(label, arguments[:count], arguments[count:], wrt)

        setup_context = Pull.setup_context

        @staticmethod
        def backward(ctx: Any, w: Any) -> Any:
            count = len(ctx.saved_tensors) - len(ctx.wrt)
            x, t = ctx.saved_tensors[:count], ctx.saved_tensors[count:]
            by_x: list[Any] = [None] * count
            if any(ctx.needs_input_grad[2 : 2 + count]):
                by_x = [summed(*pair) for pair in zip(Bend.apply(ctx.label, ctx.wrt, *x, w, *t), x, strict=True)]
            pulled = Pull.apply(ctx.label, ctx.wrt, *x, w)
            return None, None, *by_x, *(summed(*pair) for pair in zip(pulled, t, strict=True))

        @staticmethod
        def jvp(ctx: Any, _: Any, __: Any, *tangents: Any) -> Any:
            count = len(ctx.saved_tensors) - len(ctx.wrt)
            x, t = ctx.saved_tensors[:count], ctx.saved_tensors[count:]
            total: Any = 0.0
            along = [(k, u) for k, u in zip(ctx.wrt, tangents[count:], strict=True) if u is not None]
            if along:
                total = ForwardMode.apply(ctx.label, tuple(k for k, _ in along), *x, *(u for _, u in along))
            by = tuple(k for k, u in enumerate(tangents[:count]) if u is not None)
            if by:  # the second derivative of each result
                units = torch.eye(_known[ctx.label].size, dtype=torch.float64)
                rows = [each[..., None, :] for each in (*x, *(tangents[k] for k in by))]
                bent = Bend.apply(ctx.label, by, *rows[:count], units, *rows[count:])
                total = total + sum((bent[k] * each[..., None, :]).sum(-1) for k, each in zip(ctx.wrt, t, strict=True))
            return total

        @staticmethod
        def vmap(info: Any, dims: Any, label: str, wrt: tuple[int, ...], *arguments: Any) -> Any:
            return ForwardMode.apply(label, wrt, *moved(dims[2:], arguments)), 0

    class Bend(Function):  # type: ignore[misc, valid-type]  # PyTorch may be missing
        @staticmethod
        def forward(label: str, by: tuple[int, ...], *arguments: Any) -> Any:
            count = len(_known[label].inputs)
            return tuple(_bend(label, arguments[:count], arguments[count], arguments[count + 1 :], by))

        setup_context = Pull.setup_context

        @staticmethod
        def backward(ctx: Any, *_: Any) -> Any:
            raise _third(ctx.label)

        @staticmethod
        def jvp(ctx: Any, *_: Any) -> Any:
            raise _third(ctx.label)

        @staticmethod
        def vmap(info: Any, dims: Any, label: str, by: tuple[int, ...], *arguments: Any) -> Any:
            results = Bend.apply(label, by, *moved(dims[2:], arguments))
            return results, (0,) * len(results)

    value, pull = _registered(torch, moved, summed)
    return SimpleNamespace(Value=Value, value=value, pull=pull)


def _registered(torch: Any, moved: Callable[..., Any], summed: Callable[..., Any]) -> tuple[Any, Any]:
    """`armdyn::value` and `armdyn::pull`, what compiled functions call."""
    custom_op = torch.library.custom_op

    def evaluated(x: Any, label: str) -> Any:
        return _value(label, x)

    def contracted(x: Any, w: Any, label: str) -> Any:
        return [each.clone() for each in _pull(label, x, w, range(len(x)))]

    tensors = list[torch.Tensor]
    evaluated.__annotations__ = {"x": tensors, "label": str, "return": torch.Tensor}
    contracted.__annotations__ = {"x": tensors, "w": torch.Tensor, "label": str, "return": tensors}
    value = custom_op("armdyn::value", evaluated, mutates_args=())
    pull = custom_op("armdyn::pull", contracted, mutates_args=())

    def empty_value(x: Any, label: str) -> Any:
        batch = torch.broadcast_shapes(*(each.shape[:-1] for each in x))
        return x[0].new_empty((*batch, _known[label].size))

    def empty_pull(x: Any, w: Any, label: str) -> Any:
        batch = torch.broadcast_shapes(*(each.shape[:-1] for each in (*x, w)))
        return [w.new_empty((*batch, each.shape[-1])) for each in x]

    def saved(ctx: Any, inputs: Any, output: Any) -> None:
        x, ctx.label = inputs
        ctx.save_for_backward(*x)

    def pulled(ctx: Any, w: Any) -> Any:
        x = list(ctx.saved_tensors)
        return [summed(*pair) for pair in zip(pull(x, w, ctx.label), x, strict=True)], None

    def batch_of_values(info: Any, dims: Any, x: Any, label: str) -> Any:
        return value(moved(dims[0], x), label), 0

    def batch_of_pulls(info: Any, dims: Any, x: Any, w: Any, label: str) -> Any:
        return pull(moved(dims[0], x), *moved([dims[1]], [w]), label), [0] * len(x)

    value.register_fake(empty_value)
    value.register_autograd(pulled, setup_context=saved)
    value.register_vmap(batch_of_values)
    pull.register_fake(empty_pull)
    pull.register_vmap(batch_of_pulls)

    return value, pull


def _third(label: str) -> NotApplicable:
    return NotApplicable(f"third derivatives of {_known[label].name}", where="armdyn.torch", expected="at most second")


def _torch() -> Any:
    try:
        import torch
    except ImportError:
        advice = "Install it as pytorch.org says for your machine, for example: pip install torch"
        raise MissingExtra("PyTorch is not installed", where="armdyn.torch", advice=advice) from None
    return torch


__all__ = ["TorchFunctions", "wrap"]
