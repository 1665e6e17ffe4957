"""A robot's dynamics inside JAX: functions for `jit`, `vmap`, `grad`, `jacfwd`, with derivatives from compiled kernels.

Values and derivatives are computed by the same machine code as in NumPy, which XLA calls on its own buffers (CPU only).
Leading axes broadcast, and `vmap` makes one call for the whole batch. Second derivatives exist too; third ones do not.

>>> import jax                                                      # doctest: +SKIP
>>> jax.config.update("jax_enable_x64", True)                       # doctest: +SKIP
>>> functions = armdyn.jax.wrap(armdyn.compile(robot))              # doctest: +SKIP
>>> jax.jit(jax.vmap(functions.forward_dynamics))(q, qd, tau)       # doctest: +SKIP
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable, Sequence
from functools import cache, cached_property
from math import prod
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from armdyn.bridges.xla_handler import VERSIONS, handler
from armdyn.codegen.evaluation import installed
from armdyn.dynamics import Dynamics
from armdyn.dynamics.differentials import ArrayFunctions, Differential, Part, check_shapes
from armdyn.errors import ArmdynError, NotApplicable
from armdyn.kernels import Kernel
from armdyn.robot.features import CLOSED, TREE, takes

_registered: set[str] = set()


@takes(*CLOSED, "elastic", *TREE)
def wrap(dynamics: Dynamics) -> JaxFunctions:
    """The functions of a robot's dynamics for JAX.

    dynamics: made by `armdyn.compile`.

    Returns an object with the same functions as `dynamics`, over JAX arrays (..., n) of 64-bit floats; arguments of
    lower precision are converted. They can be traced, batched, and differentiated twice, forward and backward. `pose`
    and others take `frame`; a wrench w at the tool adds `functions.jacobian(q).T @ w` to the torques.

    A result that does not exist (a singular mass matrix, a loop that does not close) is NaN. For robots with closed
    loops or mimic joints, inverse and forward dynamics have first derivatives; the others have none.

    Raises MissingExtra without JAX, FeatureError for free and ball joints, ArmdynError in single precision.
    """
    _require_double_precision()
    return JaxFunctions(dynamics)


class JaxFunctions(ArrayFunctions):
    """Functions of JAX arrays, named as those of `Dynamics`; each is compiled at its first use."""

    framework = "JAX"

    def _evaluation(self, differential: Differential, where: str) -> Callable[..., Any]:
        return _Function(differential, where)


class _Function:
    """One function with its rules of differentiation."""

    def __init__(self, differential: Differential, where: str) -> None:
        self.differential, self.where = differential, where

    def __call__(self, *arguments: Any) -> Any:
        jnp = _jax().numpy
        _require_double_precision()
        arrays = [jnp.asarray(argument, dtype=float) for argument in arguments]
        check_shapes(self.differential.inputs, self.differential.sizes, arrays, self.where)
        flat = self._differentiable(*_aligned(arrays))
        batch = flat.shape[:-1]
        batch = batch[len(batch) - max(array.ndim - 1 for array in arrays) :]
        results, start = [], 0
        for shape in self.differential.shapes:
            stop = start + prod(shape)
            results.append(flat[..., start:stop].reshape(batch + shape))
            start = stop
        return results[0] if len(results) == 1 else tuple(results)

    @cached_property
    def _differentiable(self) -> Any:
        """All results as one vector, of arrays with as many axes each."""
        jax, differential = _jax(), self.differential

        def evaluated(*x: Any) -> Any:
            results = _evaluated(differential.value, x)
            sizes = [prod(shape) for shape in differential.shapes]
            flat = [each.reshape(*each.shape[: x[0].ndim - 1], size) for each, size in zip(results, sizes, strict=True)]
            return flat[0] if len(flat) == 1 else jax.numpy.concatenate(flat, axis=-1)

        value = jax.custom_jvp(evaluated)

        def rule(x: Any, tangents: Any) -> Any:
            zero = jax.custom_derivatives.SymbolicZero
            wrt = tuple(k for k, each in enumerate(tangents) if not isinstance(each, zero))
            primal = value(*x)
            if not wrt:
                return primal, jax.numpy.zeros_like(primal)
            return primal, _primitives().push.bind(*x, *(tangents[k] for k in wrt), differential=differential, wrt=wrt)

        value.defjvp(rule, symbolic_zeros=True)
        return value


# Values --------------------------------------------------------------------------------------------------------------


def _evaluated(part: Part, x: Sequence[Any]) -> tuple[Any, ...]:
    """The results of a compiled function on arrays with as many axes each: the machine code on XLA's own buffers."""
    jax = _jax()
    arrays = [x[k] for k in part.takes]
    batch = np.broadcast_shapes(*(array.shape[:-1] for array in arrays))
    results = [jax.ShapeDtypeStruct((*batch, *shape), np.float64) for shape in part.shapes]
    if isinstance(part.program, Kernel) and part.program.code is not None and _version() in VERSIONS:
        _register(part.label, part.program)
        call = jax.ffi.ffi_call(part.label, results, vmap_method="expand_dims")
        return tuple(call(*arrays))

    def computed(*values: Any) -> Any:
        made = part.program(*(np.asarray(value) for value in values))
        return list(made) if isinstance(made, tuple) else [made]

    return tuple(jax.pure_callback(computed, results, *arrays, vmap_method="expand_dims"))


def _register(label: str, kernel: Kernel) -> None:
    """Make a kernel known to XLA, once per process."""
    if label in _registered:
        return
    version = _version()
    assert version is not None
    new = ctypes.pythonapi.PyCapsule_New
    new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    _jax().ffi.register_ffi_target(label, new(handler(kernel, version), None, None), platform="cpu")
    _registered.add(label)


@cache
def _version() -> tuple[int, int] | None:
    """The version of XLA's foreign-function interface, by its header; None if it cannot be found."""
    try:
        header = Path(_jax().ffi.include_dir(), "xla", "ffi", "api", "c_api.h").read_text(encoding="utf-8")
        major, minor = (re.findall(rf"#define XLA_FFI_API_{part} (\d+)", header)[0] for part in ("MAJOR", "MINOR"))
    except (AttributeError, OSError, IndexError):
        return None
    return int(major), int(minor)


def _aligned(arrays: Sequence[Any]) -> list[Any]:
    """The arrays with as many axes each."""
    rank = max(array.ndim for array in arrays)
    return [array.reshape((1,) * (rank - array.ndim) + array.shape) for array in arrays]


# Derivatives ---------------------------------------------------------------------------------------------------------
#
# With y = f(x), J = dy/dx and H(w) the second derivatives of w.y:
#
#     push(x, t) = J t        its transpose by t: pull;    its derivative by x along u: (t^T H(e_i) u), i = 1 ...
#     pull(x, w) = J^T w      its transpose by w: push;    its derivative by x along u: H(w) u


def _push(*arguments: Any, differential: Differential, wrt: tuple[int, ...]) -> Any:
    count = len(differential.inputs)
    x, tangents = arguments[:count], dict(zip(wrt, arguments[count:], strict=True))
    blocks = _slopes(differential, x, wrt)
    return sum((blocks[k] * tangents[k][..., None, :]).sum(-1) for k in wrt)


def _pull(*arguments: Any, differential: Differential, wrt: tuple[int, ...]) -> list[Any]:
    *x, w = arguments
    blocks = _slopes(differential, x, wrt)
    return [(blocks[k] * w[..., :, None]).sum(-2) for k in wrt]


def _slopes(differential: Differential, x: Sequence[Any], wrt: Sequence[int]) -> dict[int, Any]:
    """J by input, (..., size, size of the input)."""
    found: dict[int, Any] = {}
    for part in differential.slopes:
        if set(part.gives) & set(wrt):
            found.update(zip(part.gives, _evaluated(part, x), strict=True))
    return found


def _bent(
    differential: Differential, x: Sequence[Any], w: Any, directions: dict[int, Any], wrt: Sequence[int]
) -> list[Any]:
    """H(w) u for the inputs wrt; directions: u by input."""
    blocks = dict(zip(differential.curvature.gives, _hessian(differential)(*x, w), strict=True))
    totals: list[Any] = []
    for i in wrt:
        total: Any = _jax().numpy.zeros(differential.sizes[i])
        for j, u in directions.items():
            if (i, j) in blocks:
                total = total + (blocks[i, j] * u[..., None, :]).sum(-1)
            elif (j, i) in blocks:
                total = total + (blocks[j, i] * u[..., :, None]).sum(-2)
        totals.append(total)
    return totals


def _hessian(differential: Differential) -> Any:
    def evaluated(*x: Any) -> Any:
        return _evaluated(differential.curvature, x)

    def refused(x: Any, tangents: Any) -> Any:
        raise NotApplicable(f"third derivatives of {differential.name}", where="armdyn.jax", expected="at most second")

    second = _jax().custom_jvp(evaluated)
    second.defjvp(refused)
    return second


@cache
def _primitives() -> SimpleNamespace:
    """`push` and `pull` as primitives of JAX: linear maps with a transpose, which depend on x."""
    jax = _jax()
    ad, batching, mlir = (installed(f"jax.interpreters.{each}", "JAX") for each in ("ad", "batching", "mlir"))
    core = installed("jax.extend.core", "JAX")
    push, pull = core.Primitive("armdyn_push"), core.Primitive("armdyn_pull")
    pull.multiple_results = True

    def batch_of(arrays: Sequence[Any]) -> tuple[int, ...]:
        return np.broadcast_shapes(*(array.shape[:-1] for array in arrays))

    def shaped(*shape: int) -> Any:
        return jax.core.ShapedArray(shape, np.dtype(float))

    def pushed(*arguments: Any, differential: Differential, wrt: Any) -> Any:
        return shaped(*batch_of(arguments), differential.size)

    def pulled(*arguments: Any, differential: Differential, wrt: Any) -> Any:
        return [shaped(*batch_of(arguments), differential.sizes[k]) for k in wrt]

    push.def_abstract_eval(pushed)
    pull.def_abstract_eval(pulled)

    for primitive, function in ((push, _push), (pull, _pull)):
        primitive.def_impl(function)
        mlir.register_lowering(primitive, mlir.lower_fun(function, multiple_results=primitive.multiple_results))

    def batched(primitive: Any) -> Callable[..., Any]:
        def rule(arguments: Any, dims: Any, **options: Any) -> Any:
            moved = [
                array[None] if dim is None else jax.numpy.moveaxis(array, dim, 0)
                for array, dim in zip(arguments, dims, strict=True)
            ]
            results = primitive.bind(*moved, **options)
            return results, [0] * len(results) if primitive.multiple_results else 0

        return rule

    def is_given(tangent: Any) -> bool:
        return not isinstance(tangent, ad.Zero)

    def push_along(arguments: Any, tangents: Any, differential: Differential, wrt: tuple[int, ...]) -> Any:
        count = len(differential.inputs)
        x, t = arguments[:count], arguments[count:]
        result = push.bind(*arguments, differential=differential, wrt=wrt)
        moved = [(k, u) for k, u in zip(wrt, tangents[count:], strict=True) if is_given(u)]
        total: Any = jax.numpy.zeros_like(result)
        if moved:
            places, along = zip(*moved, strict=True)
            total = total + push.bind(*x, *along, differential=differential, wrt=places)
        directions = {k: u for k, u in enumerate(tangents[:count]) if is_given(u)}
        if directions:
            units = jax.numpy.eye(differential.size).reshape((1,) * (result.ndim - 1) + (differential.size,) * 2)
            rows = {k: u[..., None, :] for k, u in directions.items()}
            bent = _bent(differential, [each[..., None, :] for each in x], units, rows, wrt)
            total = total + sum((each * along[..., None, :]).sum(-1) for each, along in zip(bent, t, strict=True))
        return result, total

    def pull_along(arguments: Any, tangents: Any, differential: Differential, wrt: tuple[int, ...]) -> Any:
        *x, w = arguments
        results = pull.bind(*arguments, differential=differential, wrt=wrt)
        totals = [jax.numpy.zeros_like(result) for result in results]
        if is_given(tangents[-1]):
            totals = pull.bind(*x, tangents[-1], differential=differential, wrt=wrt)
        directions = {k: u for k, u in enumerate(tangents[:-1]) if is_given(u)}
        if directions:
            bent = _bent(differential, x, w, directions, wrt)
            totals = [total + each for total, each in zip(totals, bent, strict=True)]
        return results, totals

    def summed(array: Any, aval: Any) -> Any:
        """Over the axes along which an argument was the same for all samples."""
        axes = tuple(k for k, size in enumerate(aval.shape) if size == 1 and array.shape[k] != 1)
        return array.sum(axes, keepdims=True) if axes else array

    def push_transposed(ct: Any, *arguments: Any, differential: Differential, wrt: tuple[int, ...]) -> Any:
        count = len(differential.inputs)
        x, t = arguments[:count], arguments[count:]
        asked = [k for k, each in zip(wrt, t, strict=True) if ad.is_undefined_primal(each)]
        if isinstance(ct, ad.Zero):
            return [None] * len(arguments)
        found = dict(zip(asked, pull.bind(*x, ct, differential=differential, wrt=tuple(asked)), strict=True))
        return [None] * count + [
            summed(found[k], each.aval) if k in found else None for k, each in zip(wrt, t, strict=True)
        ]

    def pull_transposed(cts: Any, *arguments: Any, differential: Differential, wrt: tuple[int, ...]) -> Any:
        *x, w = arguments
        moved = [(k, ct) for k, ct in zip(wrt, cts, strict=True) if is_given(ct)]
        if not moved:
            return [None] * len(arguments)
        places, along = zip(*moved, strict=True)
        found = push.bind(*x, *along, differential=differential, wrt=places)
        return [None] * len(x) + [summed(found, w.aval)]

    rules = ((push, push_along, push_transposed), (pull, pull_along, pull_transposed))
    for primitive, along, transposed in rules:
        batching.primitive_batchers[primitive] = batched(primitive)
        ad.primitive_jvps[primitive] = along
        ad.primitive_transposes[primitive] = transposed
    return SimpleNamespace(push=push, pull=pull)


# JAX itself ----------------------------------------------------------------------------------------------------------


def _jax() -> Any:
    return installed("jax", "JAX")


def _require_double_precision() -> None:
    if not _jax().config.jax_enable_x64:
        raise ArmdynError(
            "JAX computes in single precision",
            where="armdyn.jax",
            expected="64-bit floats",
            advice='Set jax.config.update("jax_enable_x64", True) at the start of the program.',
        )


__all__ = ["JaxFunctions", "wrap"]
