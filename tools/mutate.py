"""Mutation test: change the source in small ways, and count how many changes the tests notice.

    python tools/mutate.py mechanics parameters kernels --count 120 --seed 0

Each mutant differs from the source by one operator, comparison, constant, index, sign or condition. It is run in a copy
of the tree, against the tests that are most likely to notice it first: those named after the module, those that mention
it, all others of its package and those of ALWAYS. A mutant that no test notices survives, and is printed with its
place; one that is equivalent to the source (an early exit, a cache) is excused by a
comment `# mutation: equivalent` in its line. The places are drawn at random, the same ones for the same seed.
"""

from __future__ import annotations

import argparse
import ast
import copy
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
TESTS = {
    "mechanics": ("mechanics", "physics", "crosscheck", "dynamics", "equations", "parameters"),
    "parameters": ("parameters", "mechanics", "dynamics", "identification"),
    "kernels": ("kernels", "dynamics", "simulation"),
}
"""Package -> folders of tests that may notice a change in it, its own first."""
ALWAYS = {"mechanics": ("crosscheck",), "kernels": ("test_looped",)}
"""Package -> folders and files among these that are asked last, whatever they mention."""
EXCUSE = "# mutation: equivalent"
OPERATORS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult,
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.And: ast.Or, ast.Or: ast.And, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip


def places(tree: ast.Module) -> Iterator[tuple[ast.AST, str]]:
    """Nodes that can be changed, each with what is done to it; annotations and docstrings are left alone."""
    skipped: set[int] = set()
    for node in ast.walk(tree):
        for field in ("annotation", "returns"):
            if isinstance(getattr(node, field, None), ast.AST):
                skipped |= {id(part) for part in ast.walk(getattr(node, field))}
        if isinstance(node, ast.JoinedStr | ast.Raise | ast.Import | ast.ImportFrom):  # words, not behaviour
            skipped |= {id(part) for part in ast.walk(node)}
    for node in ast.walk(tree):
        if id(node) in skipped:
            continue
        if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS and not isinstance(node.right, ast.JoinedStr):
            yield node, "operator"
        elif isinstance(node, ast.Compare) and type(node.ops[0]) in OPERATORS:
            yield node, "comparison"
        elif isinstance(node, ast.BoolOp):
            yield node, "and/or"
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.Not):
            yield node, "sign"
        elif isinstance(node, ast.Constant) and type(node.value) in (int, float):
            yield node, "number"
        elif isinstance(node, ast.Constant) and type(node.value) is bool:
            yield node, "truth"
        elif isinstance(node, ast.If | ast.IfExp):
            yield node, "condition"


def changed(node: ast.AST, kind: str) -> None:
    """Change a node in place."""
    if kind == "operator":
        node.op = OPERATORS[type(node.op)]()  # type: ignore[attr-defined]
    elif kind == "comparison":
        node.ops[0] = OPERATORS[type(node.ops[0])]()  # type: ignore[attr-defined]
    elif kind == "and/or":
        node.op = OPERATORS[type(node.op)]()  # type: ignore[attr-defined]
    elif kind == "sign":
        node.op = ast.UAdd() if isinstance(node.op, ast.USub) else ast.Not()  # type: ignore[attr-defined]
        if isinstance(node.op, ast.Not):  # type: ignore[attr-defined]
            node.operand = ast.UnaryOp(ast.Not(), node.operand)  # type: ignore[attr-defined]
    elif kind in ("number", "truth"):
        node.value = not node.value if kind == "truth" else node.value + 1  # type: ignore[attr-defined]
    else:
        node.test = ast.UnaryOp(ast.Not(), node.test)  # type: ignore[attr-defined]


def mutants(package: str) -> list[tuple[Path, int, str]]:
    """(file, number of the place, kind) of all mutants of a package."""
    found = []
    for path in sorted((ROOT / "src/armdyn" / package).glob("*.py")):
        lines = path.read_text(encoding="utf-8").splitlines()
        for number, (node, kind) in enumerate(places(ast.parse("\n".join(lines)))):
            if EXCUSE not in lines[getattr(node, "lineno", 1) - 1]:
                found.append((path, number, kind))
    return found


def mutated(path: Path, number: int) -> tuple[str, str]:
    """The changed source of a file, and what was changed."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    node, kind = list(places(tree))[number]
    before = ast.unparse(copy.deepcopy(node)).splitlines()[0]
    changed(node, kind)
    text = f"{path.relative_to(ROOT)}:{node.lineno} {kind}: {before} -> "  # type: ignore[attr-defined]
    return ast.unparse(ast.fix_missing_locations(tree)), text + ast.unparse(node).splitlines()[0]


def suites(package: str, module: str) -> list[list[str]]:
    """Files of tests in the order in which they are asked."""
    order: list[list[str]] = [[], [], []]
    for rank, folder in enumerate(TESTS[package]):
        for path in sorted((ROOT / "tests" / folder).rglob("test_*.py")):
            near = module in path.stem or path.stem.removeprefix("test_") in module
            last = rank == 0 or not {folder, path.stem}.isdisjoint(ALWAYS.get(package, ()))
            place = 0 if near else 1 if module in path.read_text(encoding="utf-8") else 2 if last else None
            if place is not None:
                order[place].append(str(path.relative_to(ROOT)))
    return [files for files in order if files]


def noticed(folder: Path, asked: list[list[str]], seconds: float) -> bool:
    """Whether a test fails, or does not come to an end."""
    environment = {**os.environ, "PYTHONPATH": str(folder / "src"), "OPENBLAS_NUM_THREADS": "1",
                   "ARMDYN_CACHE": str(folder / "cache"), "PYTHONDONTWRITEBYTECODE": "1"}  # fmt: skip
    for files in asked:
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-n0", "-p", "no:cacheprovider", "--no-header", *files]
        try:
            done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, timeout=seconds)
        except subprocess.TimeoutExpired:
            return True
        if done.returncode:
            return True
    return False


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("packages", nargs="+", choices=list(TESTS))
    options.add_argument("--count", type=int, default=66, help="mutants drawn from all packages")
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--minutes", type=float, default=1e9, help="stop drawing after this time")
    options.add_argument("--timeout", type=float, default=900, help="seconds after which a test run counts as failed")
    given = options.parse_args()
    drawn = [(package, *mutant) for package in given.packages for mutant in mutants(package)]
    dice = random.Random(given.seed)
    sample = dice.sample(drawn, min(given.count, len(drawn)))
    killed, survivors, begin = 0, [], time.monotonic()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        for name in ("src", "tests", "pyproject.toml", "docs", "examples", "README.md"):
            source = ROOT / name
            (shutil.copytree if source.is_dir() else shutil.copy)(source, folder / name)
        for package, path, number, _ in sample:
            if time.monotonic() - begin > 60 * given.minutes:
                break
            target = folder / path.relative_to(ROOT)
            text, label = mutated(path, number)
            target.write_text(text, encoding="utf-8")
            if noticed(folder, suites(package, path.stem), given.timeout):
                killed, verdict = killed + 1, "killed"
            else:
                survivors.append(label)
                verdict = "SURVIVED"
            shutil.copy(path, target)
            print(f"{killed + len(survivors)}/{len(sample)} {verdict:8} {label}", flush=True)
    total = killed + len(survivors)
    print(f"\n{killed} of {total} mutants killed: {100 * killed / max(total, 1):.1f} % ({len(drawn)} places)")
    for label in survivors:
        print(f"survived: {label}")


if __name__ == "__main__":
    main()
