"""Mutation test: change the source in small ways, and count how many changes the tests notice.

    python tools/mutate.py mechanics parameters kernels --count 120 --seed 1

Each mutant differs from the source by one operator, comparison, constant, index, sign or condition. It meets the tests
that execute its line, of its package first and the fastest first, up to the first that fails, then others of the same
files, since code that is compiled once is used by all of them; a line that is executed at import meets the tests of its
module. Which tests execute which lines, and how long each takes, is seen when a file
of tests is needed for the first time; `--map` keeps it, and which test noticed which mutant, so that a run can be
continued. Tests whose process crashes or does not end have failed. What failed must pass on the source as it is. No
file is changed: this process imports what the tests need from elsewhere, and forks; the child puts the mutant in the
place of its module when armdyn is imported, and keeps its machine code in a folder of its own.

A mutant that no test notices survives, and is printed with its place. One that computes the same as the source is
listed in `equivalent_mutants.toml` with the reason; such mutants are counted apart, and no test is asked. The places
are drawn at random from each package, in proportion to its size, the same ones for the same seed; the interval of the
score is Wilson's, 95 %.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import copy
import hashlib
import importlib
import itertools
import json
import marshal
import math
import os
import random
import resource
import signal
import sys
import tempfile
import time
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import CodeType
from typing import Any

import coverage
import hypothesis
import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "armdyn"
PACKAGES = ("mechanics", "parameters", "kernels", "dynamics")
NEAR = (*PACKAGES, "architecture/test_frozen.py")
FARTHER = ("crosscheck", "physics", "equations", "analysis", "identification/test_physical.py",
           "identification/test_friction_laws.py", "identification/test_identifiability.py", "codegen/test_c_loops.py",
           "frameworks", "robot")  # fmt: skip
"""What may notice a change in the packages besides their own tests; asked for what these leave, a few files each."""
IMPORTED = ("numpy", "scipy.linalg", "scipy.optimize", "scipy.integrate", "sympy", "flint", "llvmlite.binding",
            "pinocchio", "mujoco", "hypothesis.strategies", "matplotlib.pyplot")  # fmt: skip
"""What takes long to import and is not ours."""
SLOWEST = 10.0
"""Seconds of processor time of a test; slower ones are not asked."""
GROUPS = (8, 40, 400)
"""Tests of a mutant, by the number asked together; more are not asked."""
LONGEST = 20.0
"""Seconds of processor time of the tests of a mutant, as measured without it; anew for each other file."""
FILES = 4
"""Other files asked: those that name the module most often, of those that execute the line."""
MEMORY = 8 * 2**30
NO_END = "a crash, or no end"
KILLED, LEFT = "killed", "left"
"""Where the map keeps which test noticed a mutant, and which mutants the near tests left, so that a run can be
continued."""
OPERATORS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult,
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.And: ast.Or, ast.Or: ast.And, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip


# Mutants --------------------------------------------------------------------------------------------------------------


def places(tree: ast.Module) -> Iterator[tuple[ast.AST, str]]:
    """Nodes that can be changed, each with what is done to it; annotations, words and assertions are left alone."""
    skipped: set[int] = set()
    for node in ast.walk(tree):
        for field in ("annotation", "returns"):
            if isinstance(getattr(node, field, None), ast.AST):
                skipped |= {id(part) for part in ast.walk(getattr(node, field))}
        words = isinstance(node, ast.JoinedStr | ast.Raise | ast.Import | ast.ImportFrom)
        if words or (isinstance(node, ast.keyword) and node.arg == "strict"):  # strict=True of zip: an assertion
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
    """One changed place of a file.

    number: of the place among those of the file.
    statement: the line where its statement begins.
    at_import: the place is in no function.
    """

    path: Path
    number: int
    line: int
    statement: int
    at_import: bool
    change: str
    code: CodeType

    @property
    def name(self) -> str:
        """In the list of equivalent mutants: the text of the line, not its number, which changes with every edit."""
        text = self.path.read_text(encoding="utf-8").splitlines()[self.line - 1].strip()
        return f"{self.file}: {text}: {self.change}"

    @property
    def file(self) -> str:
        """Its path in the package: "kernels/straight/sums.py"."""
        return self.path.relative_to(SOURCE).as_posix()

    @property
    def package(self) -> str:
        return self.file.partition("/")[0]

    def __str__(self) -> str:
        return f"{self.path.relative_to(ROOT)}:{self.line} {self.change}"


def mutant(path: Path, number: int) -> Mutant:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    node, kind = list(places(tree))[number]
    line = node.lineno  # type: ignore[attr-defined]
    first = max(part.lineno for part in ast.walk(tree) if isinstance(part, ast.stmt) and part.lineno <= line)
    functions = [part for part in ast.walk(tree) if isinstance(part, ast.FunctionDef | ast.Lambda)]
    inside = {id(part) for function in functions for top in _body(function) for part in ast.walk(top)}
    before = ast.unparse(copy.deepcopy(node)).splitlines()[0]
    changed(node, kind)
    code = compile(ast.fix_missing_locations(tree), str(path), "exec")
    change = f"{kind}: {before} -> {ast.unparse(node).splitlines()[0]}"
    return Mutant(path, number, line, first, id(node) not in inside, change, code)


def _body(function: ast.FunctionDef | ast.Lambda) -> list[Any]:
    return function.body if isinstance(function, ast.FunctionDef) else [function.body]


def all_places(package: str) -> list[tuple[Path, int]]:
    """(file, number of the place) of all mutants of a package."""
    files = sorted((SOURCE / package).rglob("*.py"))
    return [(path, i) for path in files for i, _ in enumerate(places(ast.parse(path.read_text(encoding="utf-8"))))]


# Tests in a child process ---------------------------------------------------------------------------------------------


class Observer:
    """Pytest plugin: the tests that passed with their processor time, the first that failed, the lines of each."""

    def __init__(self, lines: bool = False) -> None:
        self.seconds: dict[str, float] = {}
        self.failed: list[str] = []
        self.fixtures: dict[str, list[str]] = {}
        sources = [str(ROOT / "src/armdyn" / package) for package in PACKAGES]
        self.coverage = coverage.Coverage(data_file=None, source=sources, config_file=False) if lines else None

    def pytest_sessionstart(self, session: Any) -> None:
        """Failing examples are not made smaller: that they fail is enough."""
        phases = (hypothesis.Phase.explicit, hypothesis.Phase.generate)
        hypothesis.settings.register_profile("mutants", hypothesis.settings.get_profile("armdyn"), phases=phases)
        hypothesis.settings.load_profile("mutants")
        if self.coverage:
            self.coverage.start()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: Any, nextitem: Any) -> Any:
        if self.coverage:
            self.coverage.switch_context(item.nodeid)
            self.fixtures[item.nodeid] = item.fixturenames
            signal.setitimer(signal.ITIMER_PROF, SLOWEST)
        begin = time.process_time()
        try:
            return (yield)
        finally:
            self.seconds[item.nodeid] = time.process_time() - begin
            signal.setitimer(signal.ITIMER_PROF, 0)

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: Any, request: Any) -> Any:
        """What a fixture of several tests executes, all of them do, not just the first."""
        if self.coverage is None or fixturedef.scope == "function":
            return (yield)
        self.coverage.switch_context(fixturedef.argname)
        try:
            return (yield)
        finally:
            self.coverage.switch_context([*self.fixtures][-1])  # the test that is being run

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed or report.skipped:  # what is skipped says nothing
            self.failed.append(report.nodeid)

    def result(self) -> dict[str, Any]:
        """{test: [seconds, {file: lines}]} of the tests that passed."""
        lines: dict[str, dict[str, set[int]]] = {}
        if self.coverage:
            self.coverage.stop()
            data = self.coverage.get_data()
            for file in data.measured_files():
                if not Path(file).is_relative_to(SOURCE):
                    continue
                place = Path(file).relative_to(SOURCE).as_posix()
                for line, contexts in data.contexts_by_lineno(file).items():
                    for context in contexts:
                        lines.setdefault(context, {}).setdefault(place, set()).add(line)

        def executed(test: str) -> dict[str, list[int]]:
            found = [lines.get(context, {}) for context in (test, *self.fixtures.get(test, ()))]
            return {file: sorted(set().union(*(each.get(file, ()) for each in found))) for file in set().union(*found)}

        return {test: [s, executed(test)] for test, s in self.seconds.items() if test not in self.failed}


def too_slow(*_: Any) -> None:
    pytest.skip("slower than what a mutant meets")


def in_child(work: Callable[[], Any], cpu: float) -> Any:
    """What `work` returns in a forked process, as JSON; None if it crashes or takes more than `cpu` s."""
    with tempfile.TemporaryDirectory() as folder:
        answer = Path(folder) / "answer.json"
        child = os.fork()
        if not child:
            try:
                os.setsid()
                silence = os.open(Path(folder) / "output", os.O_WRONLY | os.O_CREAT)
                os.dup2(silence, 1), os.dup2(silence, 2)
                os.environ.update(ARMDYN_CACHE=f"{folder}/cache", TMPDIR=folder,
                                  HYPOTHESIS_STORAGE_DIRECTORY=f"{folder}/hypothesis")  # fmt: skip
                tempfile.tempdir = folder
                resource.setrlimit(resource.RLIMIT_CPU, (int(cpu) + 1, int(cpu) + 5))
                resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
                signal.signal(signal.SIGPROF, too_slow)
                signal.alarm(int(20 * cpu) + 60)  # a mutant that waits for ever uses no processor time
                answer.write_text(json.dumps(work()), encoding="utf-8")
            finally:
                os._exit(0)
        os.waitpid(child, 0)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)  # what it started
        return json.loads(answer.read_text(encoding="utf-8")) if answer.exists() else None


def asked(observer: Observer, tests: list[str]) -> Observer:
    options = ["-q", "-n0", "-p", "no:cacheprovider", "--no-header", "--hypothesis-seed=0",
               "-W", "ignore::pytest.PytestAssertRewriteWarning"]  # fmt: skip
    pytest.main([*options, *([] if observer.coverage else ["-x"]), *tests], plugins=[observer])
    return observer


IN_PLACE = """
import importlib.machinery, marshal, pathlib
def get_code(loader, name, original=importlib.machinery.SourceFileLoader.get_code):
    mutated = loader.path == {path!r}
    return marshal.loads(pathlib.Path({code!r}).read_bytes()) if mutated else original(loader, name)
importlib.machinery.SourceFileLoader.get_code = get_code
"""


def put_in_place(path: Path, content: CodeType) -> None:
    """Other code in the place of a module, in this process and in those that it starts (sitecustomize)."""
    folder = Path(tempfile.mkdtemp())
    text = IN_PLACE.format(code=str(folder / "code"), path=str(path))
    (folder / "code").write_bytes(marshal.dumps(content))
    (folder / "sitecustomize.py").write_text(text, encoding="utf-8")
    os.environ["PYTHONPATH"] = f"{folder}:{os.environ['PYTHONPATH']}"
    exec(text, {})


def first_failure(tests: list[str], cpu: float, path: Path, content: CodeType) -> str | None:
    """The first of the tests that fails with other code in the place of a module; NO_END for a crash as well."""

    def work() -> list[str]:
        put_in_place(path, content)
        observer = asked(Observer(), tests)
        missing = [test for test in tests if test not in observer.seconds]
        return observer.failed or missing  # a module of tests that cannot be imported runs none

    failed = in_child(work, cpu)
    return NO_END if failed is None else failed[0] if failed else None


class Map:
    """Which tests execute which lines, and how long they take."""

    def __init__(self, file: Path | None) -> None:
        self.file, self.sound = file, set[str]()
        self.known: dict[str, Any] = json.loads(file.read_text(encoding="utf-8")) if file and file.exists() else {}
        self.sources = digest(*(path for package in PACKAGES for path in (SOURCE / package).rglob("*.py")))
        self.nearest = self.sources + digest(*test_files(*NEAR))

    def of_file(self, path: Path) -> dict[str, Any]:
        """{test: [seconds, {file: lines}]}; the tests run once, if that was not done before."""
        name, state = str(path.relative_to(ROOT)), self.sources + digest(path)
        if name not in self.known or self.known[name]["state"] != state:
            begin = time.monotonic()
            seen = in_child(lambda: asked(Observer(lines=True), [name]).result(), 900)
            self.known[name] = {"state": state, "tests": seen or {}}
            print(f"{name}: {len(seen or {})} tests, {time.monotonic() - begin:.0f} s", flush=True)
            self.write()
        return dict(self.known[name]["tests"])

    def killer_of(self, one: Mutant) -> str | None:
        """The test that noticed a mutant in an earlier run, if neither the source nor the test has changed since."""
        test, state = self.known.get(KILLED, {}).get(f"{one.file} {one.number}", ("", ""))
        return test if test and state == self._state(test) else None

    def keep(self, one: Mutant, test: str) -> None:
        self.known.setdefault(KILLED, {})[f"{one.file} {one.number}"] = test, self._state(test)
        self.write()

    def _state(self, test: str) -> str:
        return self.sources + ("" if test == NO_END else digest(ROOT / test.partition("::")[0]))

    def write(self) -> None:
        if self.file:
            self.file.write_text(json.dumps(self.known), encoding="utf-8")

    def near(self, one: Mutant) -> str | None:
        """The test of the packages that notices a mutant."""
        name, left = f"{one.file} {one.number}", self.known.setdefault(LEFT, {})
        if left.get(name) == self.nearest:
            return None
        tests: dict[str, Any] = {}
        for path in test_files(*NEAR):
            tests |= self.of_file(path)
        failed = self.first_of(one, tests)
        if not failed:
            left[name] = self.nearest
            self.write()
        return failed

    def farther(self, one: Mutant) -> str | None:
        """The test elsewhere that notices a mutant."""
        words = [word for word in one.path.stem.split("_") if len(word) > 2]
        files = test_files(*FARTHER)
        files.sort(key=lambda path: -sum((path.name * 20 + path.read_text(encoding="utf-8")).count(w) for w in words))
        asked = 0
        for path in files:
            tests = self.of_file(path)
            asked += bool(order(one, tests))
            if failed := self.first_of(one, tests):
                return failed
            if asked == FILES:
                break
        return None

    def first_of(self, one: Mutant, tests: dict[str, Any]) -> str | None:
        """The first of these tests that notices a mutant."""
        chosen, start = order(one, tests), 0
        for size in GROUPS:
            group = chosen[start : start + size]
            start += size
            while group and (failed := first_failure(group, limit(group, tests), one.path, one.code)):
                shown = group if failed == NO_END else [failed]
                if self.passes(shown, limit(shown, tests), one.path):
                    return failed
                group = [test for test in group if test not in shown]
        return None

    def passes(self, tests: list[str], cpu: float, path: Path) -> bool:
        """Whether tests pass with the source as it is, put in place as a mutant is."""
        if not all(test in self.sound for test in tests):
            code = compile(path.read_text(encoding="utf-8"), str(path), "exec")
            if failed := first_failure(tests, cpu, path, code):
                print(f"fails without a mutant: {failed}", flush=True)
                return False
            self.sound.update(tests)
        return True


def order(one: Mutant, tests: dict[str, Any]) -> list[str]:
    """The tests that execute the mutant's line, then others of their files, which use what these have made.

    One of each function first, near ones first, the fastest first.
    """
    file, wanted = one.file, {one.line, one.statement}
    near = f"tests/{one.package}/"
    found = {test for test, (_, lines) in tests.items() if file in lines and (one.at_import or wanted & {*lines[file]})}
    files = {test.partition("::")[0] for test in found}
    ranked, seen, total = [], Counter[tuple[bool, str]](), 0.0
    for test in sorted(tests, key=lambda test: tests[test][0]):
        if test.partition("::")[0] in files:
            function = test not in found, test.partition("[")[0]
            ranked.append((test not in found, seen[function], not test.startswith(near), tests[test][0], test))
            seen[function] += 1
    chosen: list[str] = []
    for *_, seconds, test in sorted(ranked):
        total += seconds
        if total < LONGEST:
            chosen.append(test)
    return chosen[: sum(GROUPS)]


def limit(group: list[str], tests: dict[str, Any]) -> float:
    """Seconds of processor time that tests may take with a mutant."""
    return float(20 + 10 * sum(tests[test][0] for test in group))


def digest(*files: Path) -> str:
    return hashlib.sha256(b"".join(path.read_bytes() for path in sorted(files))).hexdigest()


def test_files(*names: str) -> list[Path]:
    paths = [ROOT / "tests" / name for name in names]
    return [file for path in paths for file in ([path] if path.is_file() else sorted(path.glob("test_*.py")))]


# The score ------------------------------------------------------------------------------------------------------------


def interval(killed: int, count: int) -> tuple[float, float]:
    """Wilson's interval of a share, 95 %."""
    z, share = 1.96, killed / count
    middle, half = share + z * z / (2 * count), z * (share * (1 - share) / count + (z / (2 * count)) ** 2) ** 0.5
    return (middle - half) / (1 + z * z / count), (middle + half) / (1 + z * z / count)


def score(verdicts: Counter[str]) -> str:
    different = verdicts["killed"] + verdicts["SURVIVED"]
    if not different:
        return "no mutants"
    killed, (low, high) = verdicts["killed"], interval(verdicts["killed"], different)
    return (f"{killed} of {different} mutants killed: {100 * killed / different:.1f} % ({100 * low:.0f} to "
            f"{100 * high:.0f} %); {verdicts['equivalent']} more are equivalent to the source")  # fmt: skip


def sample(packages: list[str], count: int, seed: int) -> list[tuple[Path, int]]:
    """Places drawn from each package in proportion to its size, in random order."""
    chance, drawn = random.Random(seed), []
    places = {package: all_places(package) for package in packages}
    total = sum(map(len, places.values()))
    for found in places.values():
        drawn += chance.sample(found, min(len(found), round(count * len(found) / total)))
    chance.shuffle(drawn)
    return drawn


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("packages", nargs="+", choices=PACKAGES)
    options.add_argument("--count", type=int, default=120, help="mutants drawn from all packages")
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--map", type=Path, help="file that keeps what was found, so that a run can be continued")
    options.add_argument("--minutes", type=float, default=math.inf, help="after which the others count as survivors")
    options.add_argument("--only", default="", help="mutants whose description contains this, of all places")
    given = options.parse_args()
    os.chdir(ROOT)
    sys.path.insert(0, str(ROOT / "src"))
    os.environ.update(PYTHONPATH=str(ROOT / "src"), OPENBLAS_NUM_THREADS="1", PYTHONDONTWRITEBYTECODE="1")
    for name in IMPORTED:
        try:
            importlib.import_module(name)
        except ImportError:
            print(f"{name} is not installed: its tests are skipped", flush=True)
    known = tomllib.loads((ROOT / "tools/equivalent_mutants.toml").read_text(encoding="utf-8"))["equivalent"]
    drawn = sample(given.packages, given.count, given.seed)
    if given.only:
        drawn = [place for package in given.packages for place in all_places(package)
                 if given.only in str(mutant(*place))]  # fmt: skip
    tests = Map(given.map)
    verdicts = {package: Counter[str]() for package in given.packages}
    left = []
    for one in itertools.starmap(mutant, drawn):
        verdicts[one.package]["equivalent"] += one.name in known
        left += [] if one.name in known else [one]
    end = time.monotonic() + 60 * given.minutes
    for killer in (tests.near, tests.farther):
        meeting, left = left, []
        for number, one in enumerate(meeting, 1):
            if time.monotonic() > end:
                left += meeting[number - 1 :]
                print(f"no time for {len(meeting) - number + 1} mutants: they count as survivors", flush=True)
                break
            failed = tests.killer_of(one)
            if failed is None and (failed := killer(one)):
                tests.keep(one, failed)
            verdicts[one.package]["killed"] += failed is not None
            left += [] if failed else [one]
            print(f"{number}/{len(meeting)} {one}: {f'killed by {failed}' if failed else 'left'}", flush=True)
    for one in left:
        verdicts[one.package]["SURVIVED"] += 1
    print(f"\nseed {given.seed}, {sum(sum(each.values()) for each in verdicts.values())} mutants drawn from "
          f"{sum(len(all_places(package)) for package in given.packages)} places")  # fmt: skip
    for package, each in verdicts.items():
        print(f"{package:12} {score(each)}")
    print(f"{'all':12} {score(sum(verdicts.values(), Counter()))}")
    for one in left:
        print(f"survived: {one}\n    {one.name}")


if __name__ == "__main__":
    main()
