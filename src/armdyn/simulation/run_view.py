"""What a run has to show, as tables and as plain values: joints, tool, control loops, resonances, contacts, studies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from armdyn.robot.limits import UNITS
from armdyn.tables import Column, Section
from armdyn.typing import Array

if TYPE_CHECKING:
    from armdyn.control.observer import MomentumObserver
    from armdyn.simulation.run import Run


def sections(run: Run) -> tuple[Section, ...]:
    """All tables of a run."""
    found = [joints_section(run)]
    if run.law.in_task_space:
        found.append(tool_section(run))
    if run.gain_analysis is not None:
        found.append(run.gain_analysis.section)
    if run.resonances:
        found.append(resonances_section(run))
    if (observer := contact_observer(run)) is not None:
        found.append(contacts_section(run, observer))
    if run.comparisons:
        found.append(comparison({"full model": run, **run.comparisons}, after=run.duration / 5))
    return (*found, *(() if run.monte_carlo is None else run.monte_carlo.sections))


def record(run: Run) -> dict[str, Any]:
    """The same as numbers and texts."""
    found: dict[str, Any] = {
        "robot": run.dynamics.robot.name,
        "law": run.controller,
        "integrator": run.integrator,
        "dt": run.dt,
        "duration": run.duration,
        "steps": len(run.t) - 1,
        "status": run.status.name.lower(),
        "detail": run.detail,
        "notes": list(run.notes),
        "joints": _rows(axes(run), joint_figures(run)),
    }
    if run.law.in_task_space:
        found["tool"] = _rows([(name, "") for name in task_rows(run)], tracking_errors(run))
    if run.gain_analysis is not None:
        loops = run.gain_analysis.loops
        found["control_loops"] = [
            {
                "joint": loop.name,
                "fastest": loop.frequency,
                "damping": loop.damping,
                "bandwidth": loop.bandwidth,
                "stable": loop.stable,
                "advice": loop.advice,
            }
            for loop in loops
        ]
    if run.resonances:
        found["resonances"] = {each.motors: [each.lowest.tolist(), each.highest.tolist()] for each in run.resonances}
    if (observer := contact_observer(run)) is not None:
        found["contacts"] = dict(zip(run.joints, (at for *_, at in contacts(run, observer)), strict=True))
    if run.comparisons:
        found["comparisons"] = {
            name: _rows(axes(other), joint_figures(other)) | {"status": other.status.name.lower()}
            for name, other in run.comparisons.items()
        }
    if run.monte_carlo is not None:
        found["monte_carlo"] = run.monte_carlo.record()
    return found


def _rows(names: list[tuple[str, str]], figures: Mapping[str, Array]) -> dict[str, dict[str, float]]:
    """Figures by joint."""
    return {
        name: {key.replace(" ", "_"): float(column[j]) for key, column in figures.items()}
        for j, (name, _) in enumerate(names)
    }


def axes(run: Run) -> list[tuple[str, str]]:
    """Name and unit of each joint; numbers without a unit for robots with free or ball joints."""
    joints = run.dynamics.robot.joints
    if len(joints) == run.tau.shape[1]:
        return [(joint.name, UNITS[joint.kind].position) for joint in joints]
    return [(str(k + 1), "") for k in range(run.tau.shape[1])]


def tracking_errors(run: Run) -> dict[str, Array]:
    """Errors by joint, or by row of the task."""
    return {"peak error": run.largest_error(), "rms error": run.rms_error(), "final error": run.error[-1]}


def joint_figures(run: Run) -> dict[str, Array]:
    """Errors, velocities and torques by joint; a law in the task space has its errors in a table of its own."""
    tracking = run.law.needs_reference and not run.law.in_task_space
    peaks = {"peak velocity": np.abs(run.qd).max(axis=0), "peak torque": np.abs(run.tau).max(axis=0)}
    return (tracking_errors(run) if tracking else {}) | peaks


def _section(title: str, head: str, names: list[tuple[str, str]], figures: Mapping[str, Array], note: str) -> Section:
    rows = [(*names[j], *(f"{float(column[j]):.3g}" for column in figures.values())) for j in range(len(names))]
    return Section(title, tuple(map(Column, (head, "unit", *figures))), tuple(rows), note)


def joints_section(run: Run) -> Section:
    """Joint by joint."""
    return _section("Joints", "joint", axes(run), joint_figures(run), "Velocity per s, torque in N m or N.")


def task_rows(run: Run) -> list[str]:
    """Names of the rows that a law in the task space controls."""
    rows: str = getattr(run.law.innermost, "rows")  # noqa: B009 (of laws in the task space)
    return rows.replace(",", " ").split()


def tool_section(run: Run) -> Section:
    """Errors of the tool, row by row of the task."""
    names = [(name, "rad" if name.startswith("r") else "m") for name in task_rows(run)]
    return _section("Tool", "row", names, tracking_errors(run), "World axes.")


def resonances_section(run: Run) -> Section:
    """Resonances of elastic joints, and Khalil's bound on the poles of the control loops."""
    locked, free = run.resonances
    ends = zip(locked.lowest, locked.highest, free.lowest, free.highest, strict=True)
    rows = tuple((f"{k + 1}", f"{a:.4g} to {b:.4g}", f"{c:.4g} to {d:.4g}") for k, (a, b, c, d) in enumerate(ends))
    heads = ("mode", "motors locked (rad/s)", "motors free (rad/s)")
    note = f"Over the workspace. A PID designed for them has poles at most at {locked.first / 2:.4g} rad/s (Khalil)."
    return Section("Resonances of the elastic joints", tuple(map(Column, heads)), rows, note)


def contact_observer(run: Run) -> MomentumObserver | None:
    """The observer of contacts around the law, if it has thresholds."""
    known = getattr(run.law, "errors", None) is not None and hasattr(run.law, "threshold")
    return cast("MomentumObserver", run.law) if known else None


def contacts(run: Run, law: MomentumObserver) -> list[tuple[float, float, float, float | None]]:
    """By joint: largest estimate of the contact torque, smallest and largest threshold, and when it is exceeded, s."""
    from armdyn.control.observer import first_contact

    residual, threshold = (f(run.q, run.qd, run.memory) for f in (law.residual, law.threshold))
    found = []
    for j in range(residual.shape[1]):
        r, most = residual[:, j : j + 1], threshold[:, j : j + 1]
        found.append((float(abs(r).max()), float(most.min()), float(most.max()), first_contact(r, run.t, most)))
    return found


def contacts_section(run: Run, law: MomentumObserver) -> Section:
    """Contact torques that an observer estimates, their thresholds, and when they are exceeded."""
    rows = []
    for joint, (largest, low, high, at) in zip(run.dynamics.robot.joints, contacts(run, law), strict=True):
        figures = (f"{largest:.3g}", f"{low:.3g} to {high:.3g}", "-" if at is None else f"{at:.3f}")
        rows.append((joint.name, UNITS[joint.kind].torque, *figures))
    heads = ("joint", "unit", "largest estimate", "threshold", "noticed (s)")
    note = (
        "Thresholds allow for errors of the model: at any time, the probability of a false alarm of a joint is "
        f"{law.false_alarms:g}."
    )
    return Section("Contact torques", tuple(map(Column, heads)), tuple(rows), note)


def comparison(runs: Mapping[str, Run], after: float = 0.0) -> Section:
    """Largest errors of several runs, joint by joint."""
    first = next(iter(runs.values()))
    rows = []
    for name, run in runs.items():
        numbers = run.largest_error(after) if run.duration >= after else np.full(len(first.joints), np.nan)
        end = "" if run.ok else f"{run.status.name.lower()} {run.detail}"
        rows.append((name, *(f"{x:.3g}" for x in numbers), end))
    heads = ("model of the law", *first.joints, "end")
    title = "Largest error with imperfect models" + (f" after {after:g} s" if after else "")
    return Section(title, tuple(map(Column, heads)), tuple(rows)).filled()
