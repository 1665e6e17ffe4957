"""LLVM: IR to object code for this machine, object code to functions in this process."""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import itertools
import os
import sys
import threading
import warnings
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from armdyn.errors import ArmdynError, PerformanceWarning
from armdyn.kernels.call.arrays import EXTERNALS, NEW_FROM_DESCR, RETURN
from armdyn.kernels.call.functions import MethodRecord, retire, table
from armdyn.kernels.machine import Machine

try:
    import llvmlite
    import llvmlite.binding as llvm
except (ImportError, OSError) as error:  # not installed, or a library of it is not found
    llvm, _reason = None, str(error)
else:
    _reason = ""
VARIABLE = "ARMDYN_LLVM"
"""Environment variable: "off" for NumPy in place of machine code."""
LIBRARIES = 64
"""Pieces of code that one engine takes: it keeps 9 kB of each, also of those that are gone, until it goes itself."""
ARM = ("aarch64", "arm64")
"""Beginnings of the triples of ARM's 64-bit processors."""
_lock = threading.Lock()
_numbers = itertools.count()
_OUT = sys.intern("out")


@cache
def available() -> bool:
    """Whether there is an LLVM that makes machine code here; if not, a warning says so once."""
    reason = f"{VARIABLE} is off" if os.environ.get(VARIABLE) == "off" else _reason
    if not reason:
        try:
            _engines()
        except Exception as error:
            reason = f"it cannot be initialised: {error}"
    if reason:
        warnings.warn(
            f"No machine code, because LLVM is not used ({reason}): NumPy computes the same results, many "
            "times slower. Install or update it with pip install --upgrade llvmlite.",
            PerformanceWarning,
            stacklevel=2,
        )
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
def machine() -> Machine:
    """The processor of this computer, as far as code is written for it."""
    triple, features = llvm.get_process_triple(), llvm.get_host_cpu_features()
    intel = triple.startswith("x86_64")
    more = triple.startswith(ARM)
    wide = intel and all(features.get(name, False) for name in ("avx512f", "avx512vl"))
    doubles = 8 if wide else 4 if intel and features.get("avx2", False) else 2
    return Machine(32 if wide or more else 16, doubles, fused=has_fma(), broadcasts=wide, short_addresses=intel)


@cache
def register_lanes() -> int:
    """Doubles in a vector register, at least 4: with two registers each, 4 are as good as 8 and compile faster."""
    return 8 if llvm.get_host_cpu_features().get("avx512f", False) else 4


@cache
def _target(effort: int = 1) -> Any:
    """effort: of LLVM to find good code."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    llvm.initialize_native_asmparser()
    return llvm.Target.from_triple(llvm.get_process_triple()).create_target_machine(
        cpu=llvm.get_host_cpu_name(),
        features=llvm.get_host_cpu_features().flatten(),
        opt=effort,
        reloc="pic",
        codemodel="small",
    )


def _new_engine() -> Any:
    """LLVM's older linker may place code and data further apart than ARM's instructions reach, and ends the process."""
    return llvm.create_lljit_compiler(_target(), use_jit_link=llvm.get_process_triple().startswith(ARM))


@cache
def _engines() -> list[Any]:
    """The engine that takes the next piece of code."""
    return [_new_engine()]


def compiled(text: str, effort: int = 1, optimise: bool = False) -> bytes:
    """Object code of a module.

    effort:   2 takes a tenth longer, for loops that LLVM schedules better than we do; loops of matrices gain nothing. 0
              takes half the time.
    optimise: run LLVM's optimiser, for code with variables in memory and common subexpressions.
    """
    with _lock, contextlib.closing(llvm.create_context()) as context:  # constants live as long as their context
        module = llvm.parse_assembly(text, context)
        with contextlib.closing(module):
            module.verify()
            if optimise:
                builder = llvm.create_pass_builder(_target(effort), llvm.create_pipeline_tuning_options(2))
                builder.getModulePassManager().run(module, builder)
            return bytes(_target(effort).emit_object(module))


def portable(triple: str, processor: str, *texts: str) -> bytes:
    """Object code of modules linked together, for all processors from this one on; for a file, not for this process."""
    if not available():
        raise ArmdynError("no LLVM to make a binary", where="export", expected="llvmlite, which armdyn depends on")
    with _lock:
        llvm.initialize_all_targets()
        llvm.initialize_all_asmprinters()
        options = {"cpu": processor, "opt": 2, "reloc": "pic", "codemodel": "small"}
        target = llvm.Target.from_triple(triple).create_target_machine(**options)
        first, *others = (llvm.parse_assembly(f'target triple = "{triple}"\n{text}') for text in texts)
        for other in others:
            first.link_in(other)
        first.verify()
        builder = llvm.create_pass_builder(target, llvm.create_pipeline_tuning_options(2))
        builder.getModulePassManager().run(first, builder)
        return bytes(target.emit_object(first))


class Code:
    """Machine code in this process. It lives as long as this object; functions around it keep a reference.

    kept: what the code uses besides itself.
    loaded: the code stays as long as this array; of other code it is enough to keep that.
    """

    kept: object = None

    def __init__(
        self,
        images: Sequence[bytes],
        names: tuple[str, ...],
        slots: int = 0,
        outside: Mapping[str, int] | None = None,
    ) -> None:
        """images: object code of the modules. outside: addresses of what it uses besides `_outside`."""
        builder = llvm.JITLibraryBuilder()
        for image in images:
            builder.add_object_img(image)
        for name, address in (_outside() | dict(outside or {})).items():
            builder.import_symbol(name, address)
        for name in names:
            builder.export_symbol(name)
        with _lock:
            number, engines = next(_numbers), _engines()
            if number % LIBRARIES == LIBRARIES - 1:
                engines[0] = _new_engine()  # the old one goes with its last code
            library = builder.link(engines[0], f"kernel{number}")
            engine = engines[0]
        self._addresses = {name: int(library[name]) for name in names}
        self.loaded = np.array([None], dtype=object)
        self.loaded[0] = _Loaded(number)
        results = (ctypes.c_void_p * slots).from_address(self.address("slots")) if slots else ()
        self.records: list[MethodRecord] = []
        _parts[number] = engine, library, results, self.records

    def address(self, name: str) -> int:
        return self._addresses[name]


_parts: dict[int, tuple[Any, Any, Any, list[MethodRecord]]] = {}
"""Number of a piece of code -> its engine, its library, results that it remembers, records of its functions."""


class _Loaded(int):
    """The number of a piece of code, which is unloaded when this number is gone.

    Code mostly ends in a cycle of references. Objects of a cycle are finalised in any order, and a finaliser may still
    call the code, or save it. But the cycle collector does not look into arrays, and an array holds this number: it
    goes when nothing refers to the array.
    """

    __slots__ = ()

    def __del__(self, parts: Any = _parts) -> None:  # bound here: at the end of the process globals are gone
        _engine, library, results, records = parts.pop(int(self), (None, None, (), []))
        if library is None or library.closed:
            return
        for array in results:
            if array:
                ctypes.pythonapi.Py_DecRef(ctypes.c_void_p(array))
        library.close()
        retire(records)


@atexit.register
def _leave_loaded() -> None:
    """At the end of the process code stays where it is: finalisers may call it, and LLVM may be gone before it."""
    for _, library, _, _ in list(_parts.values()):
        library.detach()


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
