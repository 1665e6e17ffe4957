"""How long the equations of motion take to derive, and how large they are: `python benchmarks/formulations.py`.

Everything is measured in one run, in seconds of the processor (others may use the machine, too), each derivation in a
fresh interpreter whose imports are done, and printed as Markdown beside published figures. `--write` also puts it into
FORMULATIONS.md; `--limit` bounds SymPy's simplification.
"""

from __future__ import annotations

import argparse
import json
import platform
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

STATE = ((0.1, 0.7, -1.1, 0.4, 0.05), (0.3, -1.2, 0.8, 2.0, -0.4), (1.0, 0.5, -0.7, 0.9, 0.2))
"""q, qd, qdd at which SymPy's equations of SCARA5 are compared with ours."""
TABLE_3 = {"kane": 46, "lagrange": 32, "gim_christoffel": 7, "bertrand_bruneau": 3}
"""Seconds for SCARA5 as El Baji table 3 prints them: SymPy on an Intel Core i3-6006U."""
QUOTED = {
    "scara5": "OpenSYMORO 46 / 36",
    "puma560": "OpenSYMORO 345 / 296 in 0.25 s; SymPyBotics 498 / 402 in 11.5 s",
}
"""Multiplications / additions of other programs, and their times elsewhere: quoted, not measured here."""
TARGETS = {"puma560": 1.0, "panda": 5.0}


# Work, each in an interpreter of its own ------------------------------------------------------------------------


def derive_scara5(formulation: str) -> dict[str, Any]:
    """Seconds to derive and to write M, C, g in closed form; first call, then the best of three more."""
    import flint  # noqa: F401  it is loaded on first use otherwise

    import armdyn
    from armdyn.equations import derive

    robot = armdyn.load("scara5")

    def once() -> tuple[float, float]:
        begin = time.process_time()
        equations = derive(robot, formulation)
        derived = time.process_time() - begin
        for name in ("M", "C", "g"):
            equations.nodes(name)
        return derived, time.process_time() - begin

    first = once()
    return {"derived": first[0], "explicit": first[1], "again": min(once()[1] for _ in range(3))}


def trace_program(name: str) -> dict[str, Any]:
    """Operations of the Newton-Euler program; ten inertial symbols per body but for SCARA5."""
    import armdyn
    from armdyn.equations.derivation import symbolic_robot
    from armdyn.graph import trace
    from armdyn.mechanics import newton_euler

    model = symbolic_robot(armdyn.load(name), "named" if name == "scara5" else "inertial")
    n = model.n
    begin = time.process_time()
    graph = trace(lambda q, qd, qdd: newton_euler.inverse_dynamics(model, q, qd, qdd), {"q": n, "qd": n, "qdd": n})
    count = graph.operations
    seconds = time.process_time() - begin
    begin = time.process_time()
    lines = len(graph.program().splitlines())
    return {"x": count.multiplications, "+": count.additions, "trig": count.trigonometric, "seconds": seconds,
            "lines": lines, "printing": time.process_time() - begin}  # fmt: skip


def explicit_forms(name: str) -> dict[str, Any]:
    """Normal forms of M, all Christoffel symbols and g with ten inertial symbols per body; then collected."""
    import flint  # noqa: F401  it is loaded on first use otherwise

    import armdyn
    from armdyn.equations import derive

    robot = armdyn.load(name)
    begin = time.process_time()
    equations = derive(robot, symbols="inertial")
    seconds = time.process_time() - begin
    for part in ("M", "C", "g"):
        equations.nodes(part)
    collected = time.process_time() - begin - seconds
    return {"terms": dict(equations.size), "seconds": seconds, "collected": collected}


def sympy_scara5(method: str, simplified: bool) -> dict[str, Any]:
    """M and the forcing vector of SCARA5 by SymPy's own method, and how far its torques are from ours."""
    import sympy
    from sympy.physics import mechanics

    begin = time.process_time()
    M, forcing, q, u = {"lagrange": _sympy_lagrange, "kane": _sympy_kane}[method](sympy, mechanics)
    if simplified:
        M, forcing = M.applyfunc(sympy.simplify), forcing.applyfunc(sympy.simplify)
    seconds = time.process_time() - begin
    operations = sympy.count_ops(M) + sympy.count_ops(forcing)
    return {"seconds": seconds, "operations": int(operations), "error": _difference(sympy, M, forcing, q, u)}


WORK: dict[str, Callable[..., dict[str, Any]]] = {
    "derive": derive_scara5,
    "program": trace_program,
    "explicit": explicit_forms,
    "sympy": lambda method: sympy_scara5(method, simplified=False),
    "sympy-simplified": lambda method: sympy_scara5(method, simplified=True),
}


# SCARA5 in SymPy, by hand ---------------------------------------------------------------------------------------

PARAMETERS = "g m1 m2 m3 m4 m5 l1 l2 l3 l4 l5 lc2 lc3 lc4 Izz2 Izz3 Izz4"


def _parameters(sympy: Any) -> dict[str, Any]:
    return {name: sympy.Symbol(name) for name in PARAMETERS.split()}


def _sympy_lagrange(sympy: Any, mechanics: Any) -> tuple[Any, Any, Any, Any]:
    """Lift, three turns about the vertical, quill down; positions of the centres of mass written out."""
    p, t = _parameters(sympy), mechanics.dynamicsymbols._t
    q = mechanics.dynamicsymbols("q1:6")
    qd = [x.diff(t) for x in q]
    height = p["l1"] + q[0]
    turned = [q[1], q[1] + q[2], q[1] + q[2] + q[3]]

    def arm(*lengths: Any) -> list[Any]:
        x = sum(length * sympy.cos(angle) for length, angle in zip(lengths, turned, strict=False))
        y = sum(length * sympy.sin(angle) for length, angle in zip(lengths, turned, strict=False))
        return [x, y, height]

    tip = arm(p["l2"], p["l3"], p["l4"])
    centres = [[0, 0, height], arm(p["lc2"]), arm(p["l2"], p["lc3"]), arm(p["l2"], p["l3"], p["lc4"]),
               [tip[0], tip[1], height - p["l5"] - q[4]]]  # fmt: skip
    T, U = sympy.Integer(0), sympy.Integer(0)
    for i, centre in enumerate(centres, 1):
        T += p[f"m{i}"] * sum(sympy.diff(x, t) ** 2 for x in centre) / 2
        U += p[f"m{i}"] * p["g"] * centre[2]
    for i, angle in enumerate(turned, 2):
        T += p[f"Izz{i}"] * sympy.diff(angle, t) ** 2 / 2
    method = mechanics.LagrangesMethod(T - U, q)
    method.form_lagranges_equations()
    return method.mass_matrix, method.forcing, q, qd


def _sympy_kane(sympy: Any, mechanics: Any) -> tuple[Any, Any, Any, Any]:
    """The same robot from frames, points and bodies."""
    p, t = _parameters(sympy), mechanics.dynamicsymbols._t
    q, u = mechanics.dynamicsymbols("q1:6"), mechanics.dynamicsymbols("u1:6")
    N = mechanics.ReferenceFrame("N")
    origin = mechanics.Point("O")
    origin.set_vel(N, 0)
    joint = origin.locatenew("P1", (p["l1"] + q[0]) * N.z)
    joint.set_vel(N, u[0] * N.z)
    bodies = [mechanics.Particle("B1", joint, p["m1"])]
    turned, rate, frame = sympy.Integer(0), sympy.Integer(0), N
    for i in (2, 3, 4):
        turned, rate = turned + q[i - 1], rate + u[i - 1]
        frame = N.orientnew(f"A{i}", "Axis", [turned, N.z])
        frame.set_ang_vel(N, rate * N.z)
        centre = joint.locatenew(f"C{i}", p[f"lc{i}"] * frame.x)
        centre.v2pt_theory(joint, N, frame)
        inertia = (mechanics.inertia(frame, 0, 0, p[f"Izz{i}"]), centre)
        bodies.append(mechanics.RigidBody(f"B{i}", centre, frame, p[f"m{i}"], inertia))
        end = joint.locatenew(f"P{i}", p[f"l{i}"] * frame.x)
        end.v2pt_theory(joint, N, frame)
        joint = end
    quill = joint.locatenew("P5", -(p["l5"] + q[4]) * N.z)
    quill.set_vel(N, joint.vel(N) - u[4] * N.z)
    bodies.append(mechanics.Particle("B5", quill, p["m5"]))
    loads = [(getattr(body, "masscenter", None) or body.point, -body.mass * p["g"] * N.z) for body in bodies]
    equations = [rate - x.diff(t) for rate, x in zip(u, q, strict=True)]
    method = mechanics.KanesMethod(N, q_ind=q, u_ind=u, kd_eqs=equations)
    method.kanes_equations(bodies, loads)
    return method.mass_matrix, method.forcing, q, u


def _difference(sympy: Any, M: Any, forcing: Any, q: Any, u: Any) -> float:
    """Largest difference between M qdd - forcing and our torques, relative to the largest torque."""
    import numpy as np

    import armdyn

    robot = armdyn.load("scara5")
    values = {sympy.Symbol(name): robot.parameters[name] for name in PARAMETERS.split()}
    values |= dict(zip(u, STATE[1], strict=True)) | dict(zip(q, STATE[0], strict=True))
    # Velocities first: q is inside of its own derivative.
    rates = dict(zip(u, STATE[1], strict=True))
    numbers = [np.array(part.subs(rates).subs(values).evalf().tolist(), dtype=float) for part in (M, forcing)]
    theirs = numbers[0] @ np.array(STATE[2]) - numbers[1][:, 0]
    ours = armdyn.mechanics.newton_euler.inverse_dynamics(robot, *STATE)
    return float(np.abs(theirs - ours).max() / np.abs(ours).max())


# The run --------------------------------------------------------------------------------------------------------


def measured(work: str, argument: str, limit: float | None = None) -> dict[str, Any] | None:
    """The result of some work in a fresh interpreter; None if it takes longer than the limit."""
    command = [sys.executable, "-W", "ignore", __file__, "--work", work, argument]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit, check=False)
    except subprocess.TimeoutExpired:
        return None
    if done.returncode:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout)  # type: ignore[no-any-return]


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table; all columns but the first to the right."""
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    lines = [heads, ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])], *rows]
    return "\n".join("| " + " | ".join(_padded(line, widths)) + " |" for line in lines)


def _padded(cells: Sequence[str], widths: Sequence[int]) -> Iterator[str]:
    for i, (cell, width) in enumerate(zip(cells, widths, strict=True)):
        yield cell.rjust(width) if i else cell.ljust(width)


def machine() -> str:
    """What the figures depend on."""
    model = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [line.split(":", 1)[1].strip() for line in info.read_text().splitlines() if "model name" in line]
        model = f"{names[0]}, {len(names)} cores seen" if names else model
    libraries = ", ".join(f"{name} {version(name)}" for name in ("sympy", "python-flint", "numpy"))
    return f"{model}; {platform.system()}, Python {platform.python_version()}, {libraries}"


def derivations(limit: float) -> str:
    """SCARA5 by every formulation, beside El Baji table 3 and SymPy."""
    from armdyn.mechanics.registry import FORMULATIONS

    needed = {"inverse_dynamics", "mass_matrix", "gravity"}
    ours: dict[str, dict[str, Any]] = {}
    for entry in FORMULATIONS:
        if needed <= set(entry.gives):
            ours[entry.name] = measured("derive", entry.name) or {}
    rows = []
    for name, times in ours.items():
        printed = TABLE_3.get(name)
        ratio = f"{printed / times['explicit']:.0f}" if printed else ""
        rows.append([name, f"{times['derived']:.3f}", f"{times['explicit']:.3f}", f"{times['again']:.3f}",
                     str(printed or ""), ratio])  # fmt: skip
    heads = ["formulation", "derived, s", "explicit M, C, g, s", "again, s", "El Baji table 3, s", "ratio"]
    parts = ["## SCARA5 with the symbols of its file", table(heads, rows), NOTE_DERIVED]
    return "\n\n".join([*parts, _sympy_table(ours, limit)])


def _sympy_table(ours: dict[str, dict[str, Any]], limit: float) -> str:
    rows = []
    for method, title in (("lagrange", "LagrangesMethod"), ("kane", "KanesMethod")):
        for work, words in (("sympy", "unsimplified"), ("sympy-simplified", "simplified")):
            result = measured(work, method, limit)
            own = ours[method]["explicit"]
            if result is None:
                rows.append([f"{title}, {words}", f"> {limit:.0f}", "", "", f"{own:.3f}", f"> {limit / own:.0f}"])
            else:
                rows.append([f"{title}, {words}", f"{result['seconds']:.2f}", str(result["operations"]),
                             f"{result['error']:.0e}", f"{own:.3f}", f"{result['seconds'] / own:.0f}"])  # fmt: skip
    heads = ["SymPy", "s", "operations", "differs by", "armdyn explicit, s", "ratio"]
    return "\n\n".join(["### Beside SymPy's own methods, same robot, same run", table(heads, rows), NOTE_SYMPY])


def programs() -> str:
    """Newton-Euler as a straight-line program."""
    rows = []
    for name in ("scara5", "puma560", "panda"):
        result = measured("program", name) or {}
        rows.append([name, f"{result['x']} / {result['+']}", str(result["trig"]), f"{result['seconds']:.3f}",
                     str(result["lines"]), f"{result['printing']:.3f}", QUOTED.get(name, "")])  # fmt: skip
    heads = ["robot", "x / +", "sin, cos", "traced, s", "lines", "printed, s", "other programs, quoted"]
    return "\n\n".join(["## The Newton-Euler program", table(heads, rows), NOTE_PROGRAM])


def explicit() -> str:
    """Explicit M, C, g with full inertial symbols."""
    rows = []
    for name, target in TARGETS.items():
        result = measured("explicit", name) or {}
        terms = result["terms"]
        rows.append([name, str(terms["M"]), str(terms["christoffel"]), str(terms["g"]), f"{result['seconds']:.2f}",
                     f"< {target:.0f}", f"{result['collected']:.1f}"])  # fmt: skip
    heads = ["robot", "terms of M", "Christoffel", "g", "normal forms, s", "aim, s", "then collected, s"]
    return "\n\n".join(["## Explicit M, C, g, ten inertial symbols per body", table(heads, rows), NOTE_EXPLICIT])


NOTE_DERIVED = """\
derived: M, all Christoffel symbols, g and tau, with the normal forms of M, C, g; explicit: the same and the collected
closed forms of M, C, g, in a fresh interpreter whose imports are done; again: the best of three repetitions in it.
El Baji table 3: SymPy on an Intel Core i3-6006U, as printed; the ratio compares two machines."""
NOTE_SYMPY = """\
The model is built by hand from centres of mass and angular velocities; seconds from the first symbol to mass matrix and
forcing vector. Simplified: `simplify` on every entry. Operations are SymPy's count of these two. differs by: torques at
one state against ours, relative to the largest. SymPy gives all that is not M qdd as one vector; ours gives C and g
apart."""
NOTE_PROGRAM = """\
SCARA5 with the symbols of its file, the others with ten inertial symbols per body; operations on parameters alone are
done beforehand and not counted. Other programs: figures known from elsewhere, not measured here."""
NOTE_EXPLICIT = """\
Normal form: every product multiplied out, s^2 = 1 - c^2, in all symbols; tau is traced in the same time. Collected:
the textbook form (c23, brackets, squares of sums) that `armdyn derive --all` prints."""


def main() -> None:
    """Print the report; with --work do one piece of it."""
    options = argparse.ArgumentParser(description="Derivation times and sizes of the equations of motion.")
    options.add_argument("--limit", type=float, default=120, help="seconds allowed to each run of SymPy")
    options.add_argument("--write", action="store_true", help="also write FORMULATIONS.md beside this file")
    options.add_argument("--work", nargs=2, help=argparse.SUPPRESS)
    chosen = options.parse_args()
    if chosen.work:
        warnings.simplefilter("ignore")
        print(json.dumps(WORK[chosen.work[0]](chosen.work[1])))
        return
    head = "Printed by `python benchmarks/formulations.py` in one run; seconds of the processor."
    parts = ["# Derivation of the equations of motion", f"{head}\n{machine()}."]
    print("\n\n".join(parts), flush=True)
    sections: tuple[Callable[[], str], ...] = (lambda: derivations(chosen.limit), programs, explicit)
    for section in sections:
        parts.append(section())
        print("\n" + parts[-1], flush=True)
    if chosen.write:
        Path(__file__).with_name("FORMULATIONS.md").write_text("\n\n".join(parts) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
