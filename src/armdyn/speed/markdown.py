"""The report as Markdown, for benchmarks/RESULTS.md."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from armdyn.speed.result import Report
from armdyn.speed.result_tables import NOTES, calls, remarks, verdict, work
from armdyn.tables import Section, is_numeric


def page(report: Report) -> str:
    """The whole page."""
    return "\n\n".join(_parts(report)) + "\n"


def _parts(report: Report) -> Iterator[str]:
    yield "# Speed of the compiled functions"
    how = " Quick run: few repetitions, rough figures." if report.quick else ""
    yield f"Printed by `armdyn bench --out benchmarks/RESULTS.md` in one run on one core.{how}"
    facts = [f"- {name}: {value}" for name, value in report.machine.items()]
    facts.append(f"- measured FMA peak of the core: {report.peak / 1e9:.1f} GFLOP/s")
    facts.append(f"- memory written by the core: {report.bandwidth / 1e9:.1f} GB/s")
    yield "\n".join(facts)
    yield "## Targets"
    yield table(verdict(report))
    for robot in report.robots:
        section = calls(robot)
        yield f"## {section.title}"
        yield table(section)
        yield table(work(robot, report.peak, report.bandwidth))
        if robot.compiled is not None:
            yield robot.compiled
    yield "## How the figures were measured"
    yield "\n".join(f"- {name}: {note}" for name, note in NOTES.items())
    listed = list(remarks(report))
    if listed:
        yield "## Remarks"
        yield "\n".join(f"- {remark}" for remark in listed)


def table(section: Section) -> str:
    """A section as a Markdown table, numbers right-aligned."""
    heads = [f"{column.head}, {column.unit}" if column.unit else column.head for column in section.columns]
    rows = [tuple(cell.strip().replace("|", "\\|") for cell in row) for row in section.rows]
    columns = Section("", section.columns, tuple(rows)).cells
    right = [is_numeric(column) for column in columns]
    widths = [max(map(len, (head, *column, "---"))) for head, column in zip(heads, columns, strict=True)]
    rule = ["-" * (width - 1) + ":" if numeric else "-" * width for width, numeric in zip(widths, right, strict=True)]
    return "\n".join(_line(cells, widths, right) for cells in (heads, rule, *rows))


def _line(cells: Sequence[str], widths: Sequence[int], right: Sequence[bool]) -> str:
    padded = [cell.rjust(width) if numeric else cell.ljust(width)
              for cell, width, numeric in zip(cells, widths, right, strict=True)]  # fmt: skip
    return f"| {' | '.join(padded)} |"
