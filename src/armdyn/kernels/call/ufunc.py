"""NumPy's C interface: its tables of functions, and ufuncs around machine code."""

from __future__ import annotations

import ctypes
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

FROM_FUNCTIONS = 31
"""PyUFunc_FromFuncAndDataAndSignature in the ufunc table."""
DOUBLE = 12
"""NPY_DOUBLE"""
NO_IDENTITY = -1

_immortal: list[object] = []


@cache
def table(name: str) -> Any:
    """One of NumPy's tables of C functions: "_ARRAY_API" or "_UFUNC_API"."""
    place = "numpy._core" if hasattr(np, "_core") else "numpy.core"  # the latter before NumPy 2
    core = import_module(f"{place}._multiarray_umath")
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return ctypes.cast(get(getattr(core, name), None), ctypes.POINTER(ctypes.c_void_p))


@cache
def _create() -> Any:
    """PyUFunc_FromFuncAndDataAndSignature."""
    pointer, number = ctypes.c_void_p, ctypes.c_int
    arguments = pointer, pointer, pointer, number, number, number, number, pointer, pointer, number, pointer
    return ctypes.PYFUNCTYPE(ctypes.py_object, *arguments)(table("_UFUNC_API")[FROM_FUNCTIONS])


def generalised_ufunc(
    address: int, name: str, doc: str, inputs: int, outputs: int, signature: str, code: object
) -> Any:
    """A broadcasting NumPy function around the loop at this address. It keeps `code`, which owns the loop, alive."""
    loops = (ctypes.c_void_p * 1)(address)
    data = (ctypes.c_void_p * 1)(None)
    types = ctypes.create_string_buffer(bytes([DOUBLE] * (inputs + outputs)))
    texts = [ctypes.create_string_buffer(text.encode()) for text in (name, doc, signature)]
    ufunc = _create()(
        ctypes.addressof(loops),
        ctypes.addressof(data),
        ctypes.addressof(types),
        1,
        inputs,
        outputs,
        NO_IDENTITY,
        ctypes.addressof(texts[0]),
        ctypes.addressof(texts[1]),
        0,
        ctypes.addressof(texts[2]),
    )
    kept = (loops, data, types, texts, code)
    try:
        ufunc.__dict__["_kept"] = kept
    except AttributeError:  # before NumPy 2.2 a ufunc can own nothing: its code then stays for good
        _immortal.append(kept)
    assert isinstance(ufunc, np.ufunc)
    return ufunc
