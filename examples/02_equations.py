"""Explicit equations of motion as text, SymPy, LaTeX and a program; by several formulations."""

import sys
from pathlib import Path

import armdyn

OUT = Path(sys.argv[1] if len(sys.argv) > 1 else "out/examples")
OUT.mkdir(parents=True, exist_ok=True)

robot = armdyn.load("planar2r")
equations = armdyn.derive(robot, "lagrange")
print(equations)

# SymPy matrices in the symbols of the robot file.
M = equations.M
symbols = {symbol.name: symbol for symbol in M.free_symbols}
print("\ndM11/dq2 =", M[0, 0].diff(symbols["q2"]))

# For a paper.
(OUT / "planar2r.tex").write_text(equations.latex(), encoding="utf-8")
(OUT / "planar2r.md").write_text(equations.markdown(), encoding="utf-8")

# For a controller: the torques as a list of assignments.
recursive = armdyn.derive(robot, "newton_euler")
count = recursive.operations
print(f"\n{count.multiplications} multiplications, {count.additions} additions:\n{recursive.program()}\n")

# All formulations lead to identical matrices.
for name in ("newton_euler", "kane", "kronecker", "bertrand_bruneau"):
    assert armdyn.derive(robot, name).M.equals(M), name
    print(f"{name}: the same M")

# For a larger arm, look at the sizes first: a thousand terms are too long to read.
puma = armdyn.derive(armdyn.load("puma560"), "newton_euler")
print("\nPuma 560, all symbols kept, terms:", puma.size)
