"""Where the chunks of a sweep are computed: in this process, in several of this machine, or on a Dask cluster.

Local processes talk through pipes of the operating system, which nobody else can reach. A Dask scheduler given by its
address is protected as its configuration says; `tls://` addresses take their certificates from there.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Generator, Sequence
from concurrent.futures import CancelledError, Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from importlib import import_module
from multiprocessing import active_children, get_context, parent_process
from typing import Any

from armdyn.errors import ArmdynError, MissingExtra, required_count
from armdyn.sweeps.variants import SweepJob, evaluate, evaluate_state, state
from armdyn.typing import Array

Chunks = Generator[tuple[int, Array], None, None]
MOST_PROCESSES = 1024
ATTEMPTS = 3
"""Pools of processes that may break one after the other without a chunk being finished."""
_AGAIN = "Run the sweep again: with folder=..., finished chunks are kept."


def computed_chunks(plan: SweepJob, missing: Sequence[int], scheduler: str | int | None) -> Chunks:
    """(number, results) of every missing chunk, as each is finished."""
    if not missing:
        return
    if scheduler is None:
        yield from ((number, evaluate(plan, number)) for number in missing)
    elif isinstance(scheduler, int):
        required_count("scheduler", scheduler, "sweep", most=MOST_PROCESSES)
        yield from _in_processes(plan, missing, scheduler)
    else:
        yield from _on_cluster(plan, missing, scheduler)


# Processes of this machine -------------------------------------------------------------------------------------------

_plan: SweepJob | None = None
"""The plan of a worker process."""


def _in_processes(plan: SweepJob, missing: Sequence[int], processes: int) -> Chunks:
    """Chunks of a pool of processes; if one of them dies, the pool is made anew for what is left."""
    left, failures = list(missing), 0
    while left:
        done = set()
        try:
            for number, results in _of_pool(plan, left, processes):
                done.add(number)
                yield number, results
        except BrokenProcessPool:
            failures = 0 if done else failures + 1
            if failures == ATTEMPTS:
                raise ArmdynError(
                    "the worker processes end before they finish a chunk",
                    where="sweep, scheduler",
                    advice=f"There may be too little memory: use fewer processes. {_AGAIN}",
                ) from None
        left = [number for number in left if number not in done]


def _of_pool(plan: SweepJob, numbers: Sequence[int], processes: int) -> Chunks:
    workers, others = min(processes, len(numbers)), set(active_children())
    pool = ProcessPoolExecutor(workers, get_context("spawn"), initializer=_begin, initargs=(state(plan),))
    try:
        futures = _submitted(pool, numbers)
        for future in as_completed(futures):
            yield futures[future], future.result()
    except BrokenProcessPool:
        for worker in set(active_children()) - others:  # started while the pool broke, it would wait for work forever
            worker.kill()
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _submitted(pool: ProcessPoolExecutor, numbers: Sequence[int]) -> dict[Future[Array], int]:
    try:
        return {pool.submit(_evaluate, number): number for number in numbers}
    except OSError as error:  # a worker that is started while the pool breaks finds its pipes closed
        raise BrokenProcessPool("a worker could not be started") from error


def _begin(values: dict[str, Any]) -> None:
    """Prepare a worker process."""
    global _plan
    _plan = SweepJob(**values)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """A worker whose parent was killed would wait for work forever."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _evaluate(number: int) -> Array:
    assert _plan is not None
    return evaluate(_plan, number)


# A Dask cluster -------------------------------------------------------------------------------------------------------


def _on_cluster(plan: SweepJob, missing: Sequence[int], address: str) -> Chunks:
    try:
        distributed: Any = import_module("distributed")
    except ImportError:
        raise MissingExtra(
            "Dask is not installed", where="sweep, scheduler", advice="pip install 'armdyn[sweep]'"
        ) from None
    import asyncio

    lost = (OSError, ValueError, TypeError, CancelledError, asyncio.CancelledError, distributed.KilledWorker)
    try:
        client = distributed.Client(address)
    except lost as error:
        raise ArmdynError(
            f"no Dask scheduler can be reached ({error})",
            where=f"sweep, scheduler {address!r}",
            expected="an address such as tcp://host:8786, or a number of processes",
        ) from None
    with client:
        try:
            # A task carries its own variants: data scattered to workers would be lost with one of them.
            futures = {
                client.submit(evaluate_state, state(plan.part(number)), pure=False): number for number in missing
            }
            for future in distributed.as_completed(list(futures)):
                yield futures[future], future.result()
        except lost as error:
            raise ArmdynError(
                f"the cluster was lost ({type(error).__name__})", where=f"sweep, scheduler {address!r}", advice=_AGAIN
            ) from None


__all__ = ["computed_chunks"]
