"""Explicit equations of motion: to read, as SymPy, as LaTeX, as a program; by several formulations."""

import sys
from pathlib import Path

import armdyn

OUT = Path(sys.argv[1] if len(sys.argv) > 1 else "out/examples")
OUT.mkdir(parents=True, exist_ok=True)

robot = armdyn.load("planar2r")
equations = armdyn.derive(robot, "lagrange")
print(equations)

# SymPy matrices in the letters of the robot's file.
M = equations.M
symbols = {symbol.name: symbol for symbol in M.free_symbols}
print("\ndM11/dq2 =", M[0, 0].diff(symbols["q2"]))

# For a paper.
(OUT / "planar2r.tex").write_text(equations.latex(), encoding="utf-8")
(OUT / "planar2r.md").write_text(equations.markdown(), encoding="utf-8")

# For a controller: the torques as short assignments.
recursive = armdyn.derive(robot, "newton_euler")
count = recursive.operations
print(f"\n{count.multiplications} multiplications, {count.additions} additions:\n{recursive.program()}\n")

# All formulations lead to the same matrices, letter by letter.
for name in ("newton_euler", "kane", "kronecker", "bertrand_bruneau"):
    assert armdyn.derive(robot, name).M.equals(M), name
    print(f"{name}: the same M")

# A larger arm: sizes first, for nobody reads a thousand terms.
puma = armdyn.derive(armdyn.load("puma560"), "newton_euler")
print("\nPuma 560, all symbols kept, terms:", puma.size)
