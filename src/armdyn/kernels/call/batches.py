"""Code for batches, made when the first batch comes: a function that is called with single samples never needs it."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from armdyn.kernels import jit
from armdyn.kernels.call.functions import generalised_ufunc
from armdyn.kernels.collector import collector_paused
from armdyn.kernels.ports import Ports


class Batches:
    """A kernel for batches, called like the ufunc that it becomes.

    ufunc: what is there already.
    made: makes the code, whose `loop` the ufunc is made of. Threads that need it together make it once.
    """

    def __init__(self, ufunc: Any = None, made: Callable[[], jit.Code] | None = None) -> None:
        self._ufunc, self._made, self._lock = ufunc, made, threading.Lock()
        self._code: jit.Code | None = None
        self._facts: tuple[Any, ...] = ()
        self._shapes: list[tuple[int, ...]] = []
        self._fast: Callable[[], Any] = lambda: None

    def describe(self, function: str, doc: str, ports: Ports, fast: Any) -> None:
        """Name, description and arguments of the ufunc; fast: the function for one sample, if there is one."""
        self._facts = function, doc, len(ports.inputs), len(ports.outputs), ports.signature
        self._shapes = [port.shape for port in ports.inputs]
        if fast is not None:
            self._fast = weakref.ref(fast)  # which knows this object

    @property
    def ufunc(self) -> Any:
        """The ufunc, or what stands in for it."""
        with self._lock:
            if self._ufunc is None:
                assert self._made is not None
                with collector_paused():
                    self._code = self._made()
                name, doc, inputs, outputs, signature = self._facts
                at = self._code.address("loop")
                self._ufunc = generalised_ufunc(at, name, doc, inputs, outputs, signature, self._code)
            return self._ufunc

    @property
    def code(self) -> jit.Code | None:
        """The machine code of the ufunc; None where something else stands in for it."""
        return self._code if self.ufunc else None

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        """What the ufunc gives. One sample in lists or integers does not ask for code for batches."""
        fast = self._fast()
        if self._ufunc is None and fast is not None and not options and len(arguments) == len(self._shapes):
            values = [np.asarray(value) for value in arguments]
            real = all(np.can_cast(value.dtype, float) for value in values)
            if real and all(self._shapes) and [value.shape for value in values] == self._shapes:
                return fast(*(np.array(value, dtype=float) for value in values))
        return self.ufunc(*arguments, **options)
