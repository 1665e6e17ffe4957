"""The handler that XLA calls, called as XLA would: structures of `c_api.h` of jaxlib, which need not be installed."""

from __future__ import annotations

import ctypes
from ctypes import POINTER, c_int, c_int64, c_size_t, c_void_p
from typing import Any

import numpy as np
import pytest

from armdyn.bridges.xla_handler import VERSIONS, handler
from armdyn.graph import trace
from armdyn.kernels import Kernel, build, jit

pytestmark = pytest.mark.skipif(not jit.available(), reason="machine code only")

METADATA, EXECUTE = 1, 3
STAGES = {"instantiate": 0, "prepare": 1, "initialize": 2}


class Buffer(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("extension", c_void_p), ("dtype", c_int), ("data", c_void_p), ("rank", c_int64),
                ("dims", POINTER(c_int64))]  # fmt: skip


class Buffers(ctypes.Structure):
    """XLA_FFI_Args and XLA_FFI_Rets."""

    _fields_ = [("struct_size", c_size_t), ("extension", c_void_p), ("size", c_int64), ("types", c_void_p),
                ("buffers", POINTER(POINTER(Buffer)))]  # fmt: skip


class Metadata(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("version_size", c_size_t), ("version_extension", c_void_p), ("major", c_int),
                ("minor", c_int), ("traits", ctypes.c_uint32), ("state_type", c_int64)]  # fmt: skip


class Extension(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("type", c_int), ("next", c_void_p), ("metadata", POINTER(Metadata))]


class CallFrame(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("extension", POINTER(Extension)), ("api", c_void_p), ("context", c_void_p),
                ("stage", c_int), ("arguments", Buffers), ("results", Buffers), ("attributes", Buffers),
                ("future", c_void_p)]  # fmt: skip


def buffers(arrays: list[np.ndarray]) -> Buffers:
    each = [Buffer(data=array.ctypes.data, rank=array.ndim, dims=(c_int64 * 8)(*array.shape)) for array in arrays]
    pointers = (POINTER(Buffer) * len(each))(*map(ctypes.pointer, each))
    return Buffers(size=len(each), buffers=pointers)


@pytest.fixture(scope="module")
def kernel() -> Kernel:
    """Scalars, vectors and a matrix come in and go out."""

    def formula(s: Any, q: Any, m: Any) -> dict[str, Any]:
        a = [[m[i][j] * q[j] + s for j in range(3)] for i in range(2)]
        return {"a": a, "b": [s * q[0], q[1].sin() - m[1][2]], "c": s - m[0][1]}

    return build(trace(formula, {"s": None, "q": 3, "m": (2, 3)}), cache=False)


def called(kernel: Kernel, frame: CallFrame, version: tuple[int, int] = VERSIONS[-1]) -> int | None:
    found: int | None = ctypes.CFUNCTYPE(c_void_p, c_void_p)(handler(kernel, version))(ctypes.addressof(frame))
    return found


BATCHES = {
    "one sample": ((), (), ()),
    "samples": ((9,), (9,), (9,)),
    "the scalar is the same for all": ((1,), (9,), (9,)),
    "the vector is the same for all": ((9,), (1,), (9,)),
    "the matrix is the same for all": ((9,), (9,), (1,)),
    "two are the same for all": ((1,), (1,), (9,)),
    "axes without gaps": ((2, 3, 4), (2, 3, 4), (1, 1, 1)),
    "the last axis differs": ((2, 5), (2, 1), (1, 5)),
    "another axis differs": ((2, 1, 3), (2, 4, 3), (1, 4, 1)),
    "every axis differs": ((2, 1, 1, 3), (1, 5, 1, 3), (2, 1, 4, 1)),
    "no samples": ((0,), (0,), (1,)),
    "no samples in one of two axes": ((3, 0), (3, 0), (1, 1)),
}


@pytest.mark.parametrize("batches", BATCHES.values(), ids=BATCHES)
def test_results_are_those_of_numpy(kernel: Kernel, batches: tuple[tuple[int, ...], ...]) -> None:
    rng = np.random.default_rng(1)
    given = [rng.normal(size=(*batch, *port.shape)) for batch, port in zip(batches, kernel.ports.inputs, strict=True)]
    batch = np.broadcast_shapes(*batches)
    results = [np.full((*batch, *port.shape), np.nan) for port in kernel.ports.outputs]
    assert called(kernel, CallFrame(stage=EXECUTE, arguments=buffers(given), results=buffers(results))) is None
    for found, expected in zip(results, kernel(*given), strict=True):
        np.testing.assert_array_equal(found, expected)
    s, q, m = given
    np.testing.assert_allclose(results[0], m * q[..., None, :] + s[..., None, None], rtol=1e-14, atol=1e-14)


@pytest.mark.parametrize("version", VERSIONS)
def test_metadata_are_answered_and_nothing_is_computed(kernel: Kernel, version: tuple[int, int]) -> None:
    metadata = Metadata(size=11, version_size=22, major=-1, minor=-1, traits=7, state_type=33)
    extension = Extension(type=METADATA, metadata=ctypes.pointer(metadata))
    assert called(kernel, CallFrame(extension=ctypes.pointer(extension), stage=EXECUTE), version) is None
    assert (metadata.major, metadata.minor, metadata.traits) == (*version, 0)
    assert metadata.major == 0  # XLA_FFI_API_MAJOR: another one would have other structures
    assert (metadata.size, metadata.version_size, metadata.version_extension, metadata.state_type) == (11, 22, None, 33)


def test_another_extension_is_ignored(kernel: Kernel) -> None:
    metadata = Metadata(major=-1)
    extension = Extension(type=METADATA + 1, metadata=ctypes.pointer(metadata))
    given, results = ([np.ones(port.shape) for port in ports] for ports in (kernel.ports.inputs, kernel.ports.outputs))
    frame = CallFrame(extension=ctypes.pointer(extension), stage=EXECUTE, arguments=buffers(given),
                      results=buffers(results))  # fmt: skip
    assert called(kernel, frame) is None
    assert metadata.major == -1 and results[2] == 0


@pytest.mark.parametrize("stage", STAGES.values(), ids=STAGES)
def test_only_one_stage_computes(kernel: Kernel, stage: int) -> None:
    """In the others there are no buffers yet."""
    assert called(kernel, CallFrame(stage=stage)) is None
