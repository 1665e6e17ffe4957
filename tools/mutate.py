"""Mutation test: change the source in small ways, and count how many changes the tests notice.

    python tools/mutate.py mechanics parameters kernels --count 80 --seed 1

Each mutant differs from the source by one operator, comparison, constant, index, sign or condition. All happens in a
copy of the tree. First the tests run once, to see which of them execute which lines, and how long each takes (`--map`
keeps what was seen for the next run). Then each mutant meets the tests that execute its line, fastest first, up to
the first that fails. A line that is executed at import meets the tests of its module.

A mutant that no test notices survives, and is printed with its place. One that computes the same as the source is
listed in `equivalent_mutants.toml` with the reason; such mutants are counted apart. The places are drawn at random, the
same ones for the same seed.
"""

from __future__ import annotations

import argparse
import ast
import copy
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGES = ("mechanics", "parameters", "kernels")
TESTS = ("mechanics", "parameters", "kernels", "dynamics", "crosscheck", "physics", "equations/test_certify.py",
         "equations/test_coriolis_matrices.py", "equations/test_derive.py", "equations/test_derive_elastic.py",
         "identification/test_physical.py", "identification/test_friction_laws.py")  # fmt: skip
"""What may notice a change in these packages."""
GROUPS = (6, 30, 400)
"""Tests of a mutant, by the number asked together; more are not asked."""
LONGEST = 40.0
"""Seconds of tests per mutant, as measured without it; slower ones are not asked."""
OPERATORS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult,
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.And: ast.Or, ast.Or: ast.And, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip


# Mutants --------------------------------------------------------------------------------------------------------------


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
    if kind in ("operator", "and/or"):
        node.op = OPERATORS[type(node.op)]()  # type: ignore[attr-defined]
    elif kind == "comparison":
        node.ops[0] = OPERATORS[type(node.ops[0])]()  # type: ignore[attr-defined]
    elif kind == "sign":
        node.op = ast.UAdd() if isinstance(node.op, ast.USub) else ast.Not()  # type: ignore[attr-defined]
        if isinstance(node.op, ast.Not):  # type: ignore[attr-defined]
            node.operand = ast.UnaryOp(ast.Not(), node.operand)  # type: ignore[attr-defined]
    elif kind in ("number", "truth"):
        node.value = not node.value if kind == "truth" else node.value + 1  # type: ignore[attr-defined]
    else:
        node.test = ast.UnaryOp(ast.Not(), node.test)  # type: ignore[attr-defined]


@dataclass(frozen=True)
class Mutant:
    """One changed place of a file; statement: the line where its statement begins."""

    path: Path
    line: int
    statement: int
    change: str
    source: str

    @property
    def name(self) -> str:
        """In the list of equivalent mutants: the text of the line, not its number, which changes with every edit."""
        text = self.path.read_text(encoding="utf-8").splitlines()[self.line - 1].strip()
        return f"{self.path.parent.name}/{self.path.name}: {text}: {self.change}"

    def __str__(self) -> str:
        return f"{self.path.relative_to(ROOT)}:{self.line} {self.change}"


def mutant(path: Path, number: int) -> Mutant:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    node, kind = list(places(tree))[number]
    line = node.lineno  # type: ignore[attr-defined]
    first = max(part.lineno for part in ast.walk(tree) if isinstance(part, ast.stmt) and part.lineno <= line)
    before = ast.unparse(copy.deepcopy(node)).splitlines()[0]
    changed(node, kind)
    text = ast.unparse(ast.fix_missing_locations(tree))
    return Mutant(path, line, first, f"{kind}: {before} -> {ast.unparse(node).splitlines()[0]}", text)


def all_places(package: str) -> list[tuple[Path, int]]:
    """(file, number of the place) of all mutants of a package."""
    files = sorted((ROOT / "src/armdyn" / package).glob("*.py"))
    return [(path, i) for path in files for i, _ in enumerate(places(ast.parse(path.read_text(encoding="utf-8"))))]


# Tests ----------------------------------------------------------------------------------------------------------------


def environment(folder: Path, **more: str) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": f"{folder / 'src'}:{ROOT / 'tools'}", "OPENBLAS_NUM_THREADS": "1",
            "ARMDYN_CACHE": str(folder / "cache"), "PYTHONDONTWRITEBYTECODE": "1", **more}  # fmt: skip


PYTEST = (sys.executable, "-m", "pytest", "-q", "-n0", "-p", "no:cacheprovider", "--no-header")


class Map:
    """Which tests execute which lines, and how long they take."""

    def __init__(self, file: Path, folder: Path) -> None:
        if not file.exists():
            begin = time.monotonic()
            sources = ",".join(str(folder / "src/armdyn" / package) for package in PACKAGES)
            more = {"TESTS_BY_LINE": str(file), "TESTS_BY_LINE_SOURCES": sources}
            command = [*PYTEST, "-p", "tests_by_line", *(f"tests/{name}" for name in TESTS)]
            done = subprocess.run(command, cwd=folder, env=environment(folder, **more), capture_output=True, text=True)
            print(f"{done.stdout.splitlines()[-1]} (in {time.monotonic() - begin:.0f} s)", flush=True)
        content = json.loads(file.read_text())
        self.tests, self.seconds = content["tests"], content["seconds"]
        self.lines = {"/".join(Path(name).parts[-2:]): lines for name, lines in content["lines"].items()}

    def of(self, place: Mutant) -> list[str]:
        """The tests that execute a line, fastest first; of the module, if the line is executed at import."""
        lines = self.lines.get("/".join(place.path.parts[-2:]), {})
        found = {*lines.get(str(place.line), ()), *lines.get(str(place.statement), ())}
        found = found or {test for tests in lines.values() for test in tests}
        return sorted((self.tests[test] for test in found), key=self.seconds.__getitem__)


def noticed(folder: Path, tests: list[str], seconds: dict[str, float]) -> bool:
    """Whether a test fails, or does not come to an end."""
    total, asked = 0.0, []
    for test in tests:
        total += seconds[test]
        if total < LONGEST:
            asked.append(test)
    start = 0
    for size in GROUPS:
        group = asked[start : start + size]
        start += size
        if not group:
            return False
        limit = 120 + 20 * sum(seconds[test] for test in group)
        try:
            done = subprocess.run([*PYTEST, "-x", *group], cwd=folder, env=environment(folder), capture_output=True,
                                  timeout=limit)  # fmt: skip
        except subprocess.TimeoutExpired:
            return True
        if done.returncode:
            return True
    return False


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("packages", nargs="+", choices=PACKAGES)
    options.add_argument("--count", type=int, default=80, help="mutants drawn from all packages")
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--minutes", type=float, default=1e9, help="stop drawing after this time")
    options.add_argument("--map", type=Path, help="file with the tests of each line, made if it is not there")
    options.add_argument("--only", default="", help="mutants whose description contains this, of all places")
    given = options.parse_args()
    known = tomllib.loads((ROOT / "tools/equivalent_mutants.toml").read_text(encoding="utf-8"))["equivalent"]
    drawn = [place for package in given.packages for place in all_places(package)]
    sample = random.Random(given.seed).sample(drawn, min(given.count, len(drawn)))
    if given.only:
        sample = [place for place in drawn if given.only in str(mutant(*place))]
    counts, survivors, begin = {"killed": 0, "SURVIVED": 0, "equivalent": 0}, [], time.monotonic()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        for name in ("src", "tests", "pyproject.toml", "docs", "examples", "README.md"):
            source = ROOT / name
            (shutil.copytree if source.is_dir() else shutil.copy)(source, folder / name)
        tests = Map(given.map or folder / "map.json", folder)
        for each in sample:
            if time.monotonic() - begin > 60 * given.minutes:
                break
            one = mutant(*each)
            target = folder / one.path.relative_to(ROOT)
            target.write_text(one.source, encoding="utf-8")
            verdict = "killed" if noticed(folder, tests.of(one), tests.seconds) else "SURVIVED"
            shutil.copy(one.path, target)
            if verdict == "SURVIVED" and one.name in known:
                verdict = "equivalent"
            counts[verdict] += 1
            survivors += [one] if verdict == "SURVIVED" else []
            print(f"{sum(counts.values())}/{len(sample)} {verdict:10} {one}", flush=True)
    different = counts["killed"] + counts["SURVIVED"]
    score = 100 * counts["killed"] / max(different, 1)
    print(f"\nseed {given.seed}: {counts['killed']} of {different} mutants killed: {score:.1f} %; "
          f"{counts['equivalent']} more are equivalent to the source ({len(drawn)} places)")  # fmt: skip
    for one in survivors:
        print(f"survived: {one}")


if __name__ == "__main__":
    main()
