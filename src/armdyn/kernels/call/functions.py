"""Functions of Python around machine code: builtin functions, and ufuncs by NumPy's tables of C functions."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable
from functools import cache
from importlib import import_module
from typing import Any, Protocol

import numpy as np

METH_FASTCALL, METH_KEYWORDS = 0x80, 0x2


class MethodRecord(ctypes.Structure):
    """PyMethodDef: what CPython knows of a builtin function."""

    _fields_ = (
        ("ml_name", ctypes.c_char_p),
        ("ml_meth", ctypes.c_void_p),
        ("ml_flags", ctypes.c_int),
        ("ml_doc", ctypes.c_char_p),
    )


_retired: list[MethodRecord] = []
"""Records of functions that nobody can call any more. They are used again and never freed: CPython still reads the
flags, which are the same in all, when it destroys a builtin function that the cycle collector has found."""


def retire(records: Iterable[MethodRecord]) -> None:
    """Let other functions have the records of functions whose code is gone."""
    _retired.extend(records)


class Owner(Protocol):
    """Code that functions belong to; their records live as long as it."""

    records: list[MethodRecord]


def builtin(address: int, name: str, doc: str, slow: Callable[..., Any], code: Owner) -> Any:
    """The builtin function around `@fast`. It keeps the Python function alive, and that the code."""
    record = _retired.pop() if _retired else MethodRecord()
    record.ml_name, record.ml_meth, record.ml_flags = name.encode(), address, METH_FASTCALL | METH_KEYWORDS
    record.ml_doc = doc.encode()
    code.records.append(record)
    slow.__dict__["_kept"] = (record, code)
    create = ctypes.pythonapi.PyCFunction_NewEx
    create.restype, create.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p]
    return create(ctypes.addressof(record), slow, None)


def rebound(fast: Any, slow: Callable[..., Any], name: str, signature: str, doc: str) -> Any:
    """The same builtin function under another name, with another Python function for the calls it does not take itself.

    The signature goes where `inspect.signature` looks for that of a builtin: in front of the docstring.
    """
    record, code = fast.__self__.__dict__["_kept"]
    return builtin(record.ml_meth, name, f"{name}{signature}\n--\n\n{doc}", slow, code)


# Ufuncs ---------------------------------------------------------------------------------------------------------------

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
