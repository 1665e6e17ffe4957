"""The report as tables, for the terminal and for Markdown."""

from __future__ import annotations

from collections.abc import Iterator

from armdyn.notebook_view import View
from armdyn.speed.agreement import TOLERANCE
from armdyn.speed.result import OWN, SINCOS, FunctionResult, Report, RobotResult
from armdyn.tables import Column, Section

NOTES = {
    "call": "one call from Python with arrays of one sample; armdyn and Pinocchio return a new array, which is dropped "
    "before the next call. out=: into an existing array (CasADi: through its buffer). MuJoCo: the state is already in "
    "its data.",
    "batch": "per sample, one thread, results in existing arrays; armdyn as a user calls it, including the check that "
    "results are finite. For engines without a batch call the columns repeat their fastest single call; where a batch "
    "would take seconds, a smaller one replaces it.",
    "ratio": "the other engine's time divided by armdyn's of the same column.",
    "share": "operations per second of the kernel alone, without that check, relative to the measured FMA peak. "
    "Multiplications and additions are counted after sharing common subexpressions; a fused multiply-add is two. "
    f"Divisions, sign changes and sincos are not counted; in the last column each angle counts {SINCOS} more for its "
    "sine and cosine.",
    "memory": "bytes of results per second of the kernel's largest batch, relative to what the core reaches when it "
    "writes a large array past its caches, as large results are written.",
    "compile": "from the robot to the function in a fresh interpreter after imports: tracing, choosing the model, "
    "compiling; cold with an empty cache, warm with a filled one.",
    "times": "processor time, best of interleaved rounds on one core; only results that agree with armdyn's to "
    f"{TOLERANCE:.0e} of the largest entry are timed.",
}


def calls(robot: RobotResult) -> Section:
    """The calls of every engine and ours."""
    sizes = _sizes(robot)
    columns = [Column("call"), Column("one call", "us"), Column("ratio"), Column("out=", "us"), Column("ratio")]
    for position in range(len(sizes)):
        columns += [Column(f"batch {_short(sizes[position])}", "ns"), Column("ratio")]
    rows = [row for function in robot.functions for row in _rows(function, len(sizes))]
    return Section(_title(robot), tuple(columns), tuple(rows))


def _rows(function: FunctionResult, width: int) -> Iterator[tuple[str, ...]]:
    for engine in function.engines:
        cells = [_label(function, engine)]
        for kind in ("call", "out"):
            timing = function.timing(engine, kind)
            cells += [f"{1e6 * timing.seconds:.3f}" if timing else "", _ratio(function, engine, kind, 1)]
        for position in range(width):
            size = function.sizes[min(position, len(function.sizes) - 1)]
            timing = function.batch(engine, size)
            cells += [f"{1e9 * timing.seconds:.1f}" if timing else "", _ratio(function, engine, "batch", size)]
        yield tuple(cells)


def _label(function: FunctionResult, engine: str) -> str:
    if engine == OWN:
        return f"dyn.{function.name}"
    labels = list(dict.fromkeys(timing.label for timing in function.timings if timing.engine == engine))
    first = labels[0]
    module = first.partition(".")[0] + "."
    rest = [
        label.removeprefix(first) if label.startswith((f"{first}.", f"{first},")) else label.removeprefix(module)
        for label in labels[1:]
    ]
    return ", ".join([first, *(label.removeprefix(", ") for label in rest)])


def _ratio(function: FunctionResult, engine: str, kind: str, samples: int) -> str:
    value = None if engine == OWN else function.ratio(engine, kind, samples)
    return "" if value is None else f"{value:.1f}"


def work(robot: RobotResult, report: Report) -> Section:
    """Operations, the share of the core's peak that they reach, that of its bandwidth, and compile times."""
    peak, bandwidth = report.peak, report.bandwidth
    sizes = _sizes(robot)
    columns = [Column("function"), Column("x / +"), Column("angles")]
    columns += [Column(f"kernel {_short(size)}", "ns") for size in sizes]
    columns += [Column(f"share {_short(size)}", "%") for size in sizes]
    columns += [Column("+ sincos", "%"), Column("memory", "%"), Column("cold", "ms"), Column("warm", "ms")]
    rows = []
    for function in robot.functions:
        used = [function.sizes[min(position, len(function.sizes) - 1)] for position in range(len(sizes))]
        kernels = [function.timing(OWN, "kernel", size) for size in used]
        shares = [function.share(peak, size) for size in used]
        counted = function.share(peak, used[-1], sincos=True) if used else None
        rows.append(
            (
                function.name.replace("inverse_dynamics_", "").replace("_", " "),
                f"{function.operations.multiplications} / {function.operations.additions}",
                str(function.angles),
                *(f"{1e9 * kernel.seconds:.1f}" if kernel else "" for kernel in kernels),
                *("" if share is None else f"{100 * share:.0f}" for share in shares),
                "" if counted is None else f"{100 * counted:.0f}",
                "" if not used else f"{100 * (function.written(bandwidth, used[-1]) or 0):.0f}",
                f"{1e3 * function.cold:.0f}",
                f"{1e3 * function.warm:.1f}",
            )
        )
    return Section(
        f"{robot.name}: operations, share of the peak, compile times", tuple(columns), tuple(rows), robot.compiled or ""
    )


def view(report: Report) -> View:
    """All figures of a run."""
    facts = [
        *report.machine.items(),
        ("FMA peak of the core", f"{report.peak / 1e9:.1f} GFLOP/s"),
        ("memory written by the core", f"{report.bandwidth / 1e9:.1f} GB/s"),
    ]
    sections = [table for robot in report.robots for table in (calls(robot), work(robot, report))]
    notes = ["Quick run: few repetitions, rough figures."] if report.quick else []
    notes += [*remarks(report), *(f"{name}: {note}" for name, note in NOTES.items())]
    agree = not report.disagreements
    verdict = ("all engines agree" if agree else f"{len(report.disagreements)} calls of other engines disagree", agree)
    return View("Speed of the compiled functions", verdict, facts, (), sections, notes=notes)


def remarks(report: Report) -> Iterator[str]:
    """What the tables omit, and why."""
    for engine, reason in report.missing.items():
        yield f"{engine} is left out: {reason}."
    for robot in report.robots:
        if robot.without:
            yield f"{robot.name} is measured without {', '.join(robot.without)}, which not all engines support."
        for engine, reason in robot.absent.items():
            yield f"{robot.name}: {engine} is left out: {reason.rstrip('.')}."
        for name, reason in robot.skipped.items():
            yield f"{robot.name}: {name.replace('_', ' ')} is left out: {reason}."
        for function in robot.functions:
            for call, reason in function.failed.items():
                yield f"{robot.name}: {call} is left out because it failed: {reason.rstrip('.')}."
            if function.sizes and function.sizes[-1] < max(_sizes(robot)):
                samples = f"{function.sizes[-1]:,} samples"
                yield f"{robot.name}: the large batch of {function.name.replace('_', ' ')} has {samples} (memory)."
    for found in report.disagreements:
        yield (
            f"{found.robot}, {found.function.replace('_', ' ')}: {found.call} differs from armdyn by "
            f"{found.difference:.1e} of the largest entry and is not timed."
        )


def _sizes(robot: RobotResult) -> tuple[int, ...]:
    """The batch sizes of the robot's first function; later functions may have fewer samples."""
    return robot.functions[0].sizes if robot.functions else ()


def _title(robot: RobotResult) -> str:
    return f"{robot.name}: {robot.joints} joint{'s' if robot.joints != 1 else ''}"


def _short(size: int) -> str:
    return f"{size // 1000}k" if size >= 1000 and size % 1000 == 0 else str(size)
