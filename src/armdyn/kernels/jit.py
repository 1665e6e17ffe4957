"""LLVM: assembly to object code for this machine, object code to functions in this process."""

from __future__ import annotations

import ctypes
import itertools
import os
import sys
import threading
import warnings
from functools import cache
from typing import Any

import numpy as np

from armdyn.errors import PerformanceWarning
from armdyn.kernels.fastcall import EXTERNALS, NEW_FROM_DESCR, RETURN
from armdyn.kernels.ufunc import table

try:
    import llvmlite
    import llvmlite.binding as llvm
except (ImportError, OSError) as error:  # not installed, or a library of it is not found
    llvm, _reason = None, str(error)
else:
    _reason = ""
VARIABLE = "ARMDYN_LLVM"
"""Environment variable: "off" for NumPy in place of machine code."""
_lock = threading.Lock()
_numbers = itertools.count(1)
_OUT = sys.intern("out")


@cache
def available() -> bool:
    """Whether there is an LLVM that makes machine code here; if not, a warning says so once."""
    reason = f"{VARIABLE} is off" if os.environ.get(VARIABLE) == "off" else _reason
    if not reason:
        try:
            _engine()
        except Exception as error:
            reason = f"it cannot be initialised: {error}"
    if reason:
        warnings.warn(f"No machine code, because LLVM is not used ({reason}): NumPy computes the same results, many "
                      "times slower. Install or update it with pip install --upgrade llvmlite.",
                      PerformanceWarning, stacklevel=2)  # fmt: skip
    return not reason


@cache
def machine_description() -> str:
    """What object code depends on besides the program: processor, features, LLVM."""
    if llvm is None:
        return "no LLVM"
    features = llvm.get_host_cpu_features().flatten()
    version = ".".join(map(str, llvm.llvm_version_info))
    return "\n".join((llvm.get_process_triple(), llvm.get_host_cpu_name(), features, version, llvmlite.__version__))


@cache
def has_fma() -> bool:
    """Whether the processor multiplies and adds in one instruction."""
    if llvm is None:
        return True
    if not llvm.get_process_triple().startswith(("x86", "i386", "i686")):
        return True
    return bool(llvm.get_host_cpu_features().get("fma", False))


@cache
def register_lanes() -> int:
    """Doubles in a vector register, at least 4: with two registers each, 4 are as good as 8 and compile faster."""
    return 8 if llvm.get_host_cpu_features().get("avx512f", False) else 4


@cache
def _target() -> Any:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm.Target.from_triple(llvm.get_process_triple()).create_target_machine(
        cpu=llvm.get_host_cpu_name(),
        features=llvm.get_host_cpu_features().flatten(),
        opt=2,
        reloc="pic",
        codemodel="small",
    )


@cache
def _engine() -> Any:
    return llvm.create_lljit_compiler(_target(), use_jit_link=False)


def compiled(text: str) -> bytes:
    """Object code of a module."""
    with _lock:
        module = llvm.parse_assembly(text)
        module.verify()
        return bytes(_target().emit_object(module))


NAMES = ("loop", "fast", "slots")
"""What every kernel's code offers."""


class Code:
    """Machine code in this process. It lives as long as this object; functions around it keep a reference.

    kept: what the code reads besides itself.
    """

    kept: object = None

    def __init__(self, image: bytes, names: tuple[str, ...] = NAMES, slots: int = 0) -> None:
        builder = llvm.JITLibraryBuilder().add_object_img(image)
        for name, address in _outside().items():
            builder.import_symbol(name, address)
        for name in names:
            builder.export_symbol(name)
        with _lock:
            self._tracker: Any = builder.link(_engine(), f"kernel{next(_numbers)}")
        self._slots: Any = (ctypes.c_void_p * slots).from_address(self.address("slots")) if slots else ()

    def address(self, name: str) -> int:
        return int(self._tracker[name])

    def __del__(
        self, finalizing: Any = sys.is_finalizing
    ) -> None:  # bound here: at the end of the process `sys` is gone
        tracker = self.__dict__.pop("_tracker", None)
        if tracker is None:
            return
        if finalizing():
            tracker.detach()  # the process ends anyway, and LLVM may already be gone
            return
        for array in self._slots:
            if array:
                ctypes.pythonapi.Py_DecRef(ctypes.c_void_p(array))
        tracker.close()


@cache
def _outside() -> dict[str, int]:
    """Addresses of all that kernels use from outside."""
    found = {
        "ndarray": id(np.ndarray),
        "float64": id(np.dtype(np.float64)),
        "float": id(float),
        "out": id(_OUT),
        "tuple": id(tuple),
        "new_array": table("_ARRAY_API")[NEW_FROM_DESCR],
        "as_scalar": table("_ARRAY_API")[RETURN],
    }
    for name in EXTERNALS:
        if name.startswith("Py"):
            found[name] = _address(getattr(ctypes.pythonapi, name))
    for name in ("sin", "cos", "exp"):
        found[name] = llvm.address_of_symbol(name) or _address(getattr(ctypes.CDLL(None), name))
    return found


def _address(function: Any) -> int:
    address = ctypes.cast(function, ctypes.c_void_p).value
    assert address
    return address
