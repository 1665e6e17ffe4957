"""Builtin functions of Python whose body is machine code."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable
from typing import Any, Protocol

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
