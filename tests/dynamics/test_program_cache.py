"""Programs found again without tracing: never a stale one, never a wrong one, none where that is not certain."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import armdyn
from armdyn.algebra import ops
from armdyn.dynamics import programs
from armdyn.dynamics.fingerprint import fingerprint
from armdyn.dynamics.graphs import Source
from armdyn.dynamics.program_cache import FOLDERS
from armdyn.dynamics.quantities import QUANTITIES
from armdyn.kernels import Composite, Kernel, cache, sources
from armdyn.mechanics import friction as laws
from armdyn.parameters.standard import with_exact_links
from armdyn.robot import Robot
from armdyn.robot.parts import Friction, Limits, Rotor
from armdyn.robot.reframing import reframed

# The fingerprint -----------------------------------------------------------------------------------------------------

ROBOTS: dict[str, Callable[[], Robot]] = {
    "panda": lambda: armdyn.load("panda"),
    "scara5": lambda: armdyn.load("scara5"),
    "random": lambda: armdyn.random_robot(4, 4, branching=0.4, fixed=0.4, rotors=True, friction=True, limits=True),
    "random, any gravity": lambda: armdyn.random_robot(9, 3, any_gravity=True, skew=False, rotors=True),
}


def scalars(robot: Robot) -> list[Any]:
    found: list[Any] = []
    robot.mapped(lambda x: found.append(x) or x)  # type: ignore[func-returns-value]
    return found


def every_neighbour(robot: Robot) -> Iterator[Robot]:
    """The robot with one of its scalars changed by the least step there is, for each of them."""
    own = scalars(robot)
    for chosen in range(len(own)):
        place = iter(range(len(own)))
        changed = robot.mapped(lambda x: math.nextafter(x, math.inf) if next(place) == chosen else x)  # noqa: B023
        if scalars(changed) != own:  # the walk comes twice to the zero of a free joint, the second time counts
            yield changed


@pytest.mark.parametrize("name", ROBOTS)
def test_the_last_bit_of_every_scalar_counts(name: str) -> None:
    robot = ROBOTS[name]()
    marks = [fingerprint(robot), *map(fingerprint, every_neighbour(robot))]
    assert None not in marks
    assert len(marks) > 60
    assert len(set(marks)) == len(marks)


def test_kinds_of_numbers_count() -> None:
    """A literal 0 folds away where 0.0 may not: the program differs."""
    robot = armdyn.random_robot(1, 2)

    def with_zero(zero: float) -> armdyn.Robot:
        return robot.mapped(lambda x: zero if x == 0 else x)

    marks = {fingerprint(with_zero(zero)) for zero in (0, 0.0, -0.0)}
    assert len(marks) == 3
    assert fingerprint(robot.mapped(lambda x: np.float64(x))) not in {None, fingerprint(robot)}


def first(robot: Robot, **changes: Any) -> Robot:
    joint, *others = robot.tree
    return replace(robot, tree=(replace(joint, **changes), *others))


EDITS: dict[str, Callable[[Robot], Robot]] = {
    "kind": lambda robot: first(robot, kind="prismatic"),
    "law": lambda robot: first(robot, friction=replace(robot.tree[0].friction, law="viscous")),
    "values of a law": lambda robot: first(robot, friction=replace(robot.tree[0].friction, values={"a": 1.0})),
    "no friction": lambda robot: first(robot, friction=None),
    "friction of nothing": lambda robot: first(robot, friction=Friction()),
    "limits": lambda robot: first(robot, limits=Limits(torque=1.0)),
    "full rotor": lambda robot: first(robot, rotor=replace(robot.tree[0].rotor, model="full")),
    "other rotor": lambda robot: first(robot, rotor=Rotor(inertia=1.0)),
    "tool on another body": lambda robot: replace(robot, tool_on=robot.tree[0].body.name),
    "base": lambda robot: replace(robot, base=robot.tool),
    "coupling": lambda robot: replace(robot.without("rotors"), coupling=((1, 0, 0), (1, 1, 0), (0, 0, 1))),
    "payload": lambda robot: robot.with_payload(0.1),
    "less": lambda robot: robot.without("gravity"),
    "other links, same tree": lambda robot: with_exact_links(robot, [robot.links[0].inertia] * robot.n),
    "other rotors, same tree": lambda robot: with_exact_links(robot, [link.inertia for link in robot.links], []),
    "other frames, same tree": reframed,
}  # fmt: skip


def test_all_else_counts_too() -> None:
    robot = armdyn.random_robot(3, 3, prismatic=0, rotors=True, friction=True)
    marks = [fingerprint(robot), *(fingerprint(edit(robot)) for edit in EDITS.values())]
    assert None not in marks
    assert len(set(marks)) == len(marks)


def test_no_fingerprint_where_not_all_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    class Own(Robot):
        pass

    class Number(float):
        pass

    robot = armdyn.random_robot(3, 3, friction=True)
    assert fingerprint(robot) is not None
    assert fingerprint(Own(robot.name, robot.tree)) is None
    assert fingerprint(robot.mapped(Number)) is None
    assert fingerprint(first(robot, friction=Friction(law="nobody's"))) is None
    monkeypatch.setitem(laws.LAWS, "mine", laws.viscous)
    assert fingerprint(first(robot, friction=Friction(law="mine"))) is None
    monkeypatch.setitem(laws.LAWS, laws.GENERAL, lambda friction, rate: 2 * rate)
    assert fingerprint(robot) is None


MARKS = (
    "import armdyn, armdyn.dynamics.fingerprint as f; print([f.fingerprint(armdyn.load(n)) for n in ('panda', 'rx90')])"
)


def test_the_same_in_every_process() -> None:
    found = {
        subprocess.run([sys.executable, "-c", MARKS], env={**os.environ, "PYTHONHASHSEED": seed}, text=True, check=True,
                       capture_output=True).stdout
        for seed in ("1", "2")
    }  # fmt: skip
    assert found == {f"{[fingerprint(armdyn.load(name)) for name in ('panda', 'rx90')]}\n"}


# Programs ------------------------------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, and files of the package that nobody edits meanwhile."""
    monkeypatch.setenv(cache.VARIABLE, str(tmp_path))
    monkeypatch.setattr(sources, "version", lambda *folders: "this one")
    monkeypatch.setattr(sources, "still_settled", lambda *folders: True)
    return tmp_path


def answers(dyn: armdyn.Dynamics) -> list[Any]:
    """Of all functions and some variants, single and in a batch."""
    values = np.random.default_rng(0).uniform(-2, 2, (4, 5, dyn.n))
    wrench, frame = np.arange(6.0), dyn.robot.tree[0].body.name
    inverse_dynamics: Any = dyn.inverse_dynamics
    found = []
    for name, definition in QUANTITIES.items():
        for arguments in (values, values[:, 0]):
            found.append(getattr(dyn, name)(*arguments[: len(definition.inputs)]))
    found.append(inverse_dynamics(*values[:3], wrench))
    found.append(inverse_dynamics(*values[:3], {frame: wrench, "tool": wrench}))
    return [*found, dyn.jacobian(values[0], frame)]


def equal(one: Any, other: Any) -> bool:
    if isinstance(one, tuple | list):
        return len(one) == len(other) and all(map(equal, one, other))
    return bool((one == other).all())


def refuse(*_: Any, **options: Any) -> Any:
    raise AssertionError("traced")


ARM: dict[str, Any] = {"friction": True, "rotors": True}


def test_nothing_is_traced_again_and_all_is_the_same(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cold = armdyn.compile(armdyn.random_robot(5, 3, **ARM))
    expected = answers(cold)
    assert equal(expected, answers(armdyn.compile(armdyn.random_robot(5, 3, **ARM), cache=False)))
    with monkeypatch.context() as patch:
        patch.setattr(Source, "traced", refuse)
        warm = armdyn.compile(armdyn.random_robot(5, 3, **ARM))
        assert equal(answers(warm), expected)
        assert str(warm).count("from cache") == len(warm.programs)
        assert all(made.from_cache for made in warm.programs.values())
    for name, made in cold.programs.items():
        assert warm.programs[name].operations == made.operations
    # What reads the graph traces when asked.
    kernels = cold.program("mass_matrix"), warm.program("mass_matrix")
    assert kernels[0].source() == kernels[1].source()  # type: ignore[attr-defined]
    assert warm.graph("mass_matrix").program() == cold.graph("mass_matrix").program()
    assert warm.operations("gravity") == cold.operations("gravity")
    with pytest.raises(armdyn.ArmdynError, match=r"input 'q'.*\(\.\.\., 3\)"):
        warm.mass_matrix([[0.0, 1.0]])


def test_other_options_and_versions_are_traced(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    robot = armdyn.random_robot(6, 2)
    armdyn.compile(robot).program("forward_dynamics")
    with monkeypatch.context() as patch:
        patch.setattr(Source, "traced", refuse)
        armdyn.compile(robot, checked=True).program("forward_dynamics")
        with pytest.raises(AssertionError, match="traced"):
            armdyn.compile(robot, cache=False).program("forward_dynamics")
        for name, variant in (("forward_dynamics", "wrench"), ("inverse_dynamics", None)):
            with pytest.raises(AssertionError, match="traced"):
                armdyn.compile(robot).program(name, variant)
        for version in ("another", None):
            patch.setattr(sources, "version", lambda *folders, version=version: version)
            with pytest.raises(AssertionError, match="traced"):
                armdyn.compile(robot).program("forward_dynamics")


def notes(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.note"))


DAMAGE = {
    "truncated": lambda content: content[:-9],
    "one bit": lambda content: content[:-9] + bytes([content[-9] ^ 1]) + content[-8:],
    "empty": lambda content: b"",
}


@pytest.mark.parametrize("name", DAMAGE)
@pytest.mark.parametrize("kind", ["note", "o"])
def test_damaged_files_are_made_anew(folder: Path, name: str, kind: str) -> None:
    robot = armdyn.random_robot(7, 2)
    expected = armdyn.compile(robot).gravity([0.5, 1.0])
    (file,) = folder.glob(f"*.{kind}")
    sound = file.read_bytes()
    file.write_bytes(DAMAGE[name](sound))
    again = armdyn.compile(robot)
    assert equal(again.gravity([0.5, 1.0]), expected)
    assert again.program("gravity").from_cache is (kind == "note")  # the code is sound: only the way to it was lost
    assert len(file.read_bytes()) == len(sound)


@pytest.mark.parametrize("content", [b"", b"[]", b"{}", b"\xff", b'{"kernels": [], "outputs": 1, "operations": {}}',
                                     b'{"kernels": [1], "outputs": 1, "operations": null}'])  # fmt: skip
def test_notes_that_say_nothing(folder: Path, content: bytes) -> None:
    robot = armdyn.random_robot(7, 2)
    expected = armdyn.compile(robot).gravity([0.5, 1.0])
    (file,) = notes(folder)
    before = cache.load(file.stem, "note")
    cache.save(file.stem, content, "note")
    assert equal(armdyn.compile(robot).gravity([0.5, 1.0]), expected)
    assert cache.load(file.stem, "note") == before
    assert len(json.loads(before or b"")["kernels"]) == 1


def test_programs_of_several_kernels_come_back(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    robot = armdyn.random_robot(8, 3, skew=False)
    name = "inverse_dynamics_derivatives"
    total = armdyn.compile(robot).operations(name).total
    monkeypatch.setattr(programs, "LARGEST", total - 1)
    monkeypatch.setattr(programs, "SHARE", total // 2)
    cold = armdyn.compile(robot).program(name)
    with monkeypatch.context() as patch:
        patch.setattr(Source, "traced", refuse)
        warm = armdyn.compile(robot).program(name)
    assert isinstance(cold, Composite) and isinstance(warm, Composite)
    assert warm.from_cache and warm.operations == cold.operations
    sources_of = [[part.source() for part in each.parts if isinstance(part, Kernel)] for each in (warm, cold)]
    assert sources_of[0] == sources_of[1] != []
    values = np.random.default_rng(1).uniform(-2, 2, (3, 4, 3))
    assert equal(warm(*values), cold(*values))
    for path in folder.glob("*.o"):  # of single calls and of batches
        path.unlink()
    again = armdyn.compile(robot).program(name)
    assert not again.from_cache and equal(again(*values), cold(*values))


def _scaled(factor: float) -> Any:
    return lambda law, rate: ops.mul(factor * law.viscous, rate)


def test_a_law_of_friction_may_change(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    robot = first(armdyn.random_robot(3, 1), friction=Friction(viscous=1.0, law="changing"))
    for factor in (2.0, 3.0):
        monkeypatch.setitem(laws.LAWS, "changing", _scaled(factor))
        assert armdyn.compile(robot).friction([1.0]) == [factor]
    assert notes(folder) == []


def test_no_notes_while_files_change(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "still_settled", lambda *folders: False)
    armdyn.compile(armdyn.random_robot(7, 2)).gravity([0.5, 1.0])
    assert notes(folder) == []


# The version of the package ------------------------------------------------------------------------------------------


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A package of two files that were written long before it was imported."""
    (tmp_path / "part").mkdir()
    for name in ("top.py", "part/inner.py"):
        (tmp_path / name).write_text("x = 1\n")
    monkeypatch.setattr(sources, "HOME", tmp_path)
    monkeypatch.setattr(armdyn, "IMPORTED", armdyn.IMPORTED + 1e6)
    sources.version.cache_clear()
    yield tmp_path
    sources.version.cache_clear()


def test_every_byte_of_the_package_counts(package: Path) -> None:
    def edited(name: str, text: str) -> str | None:
        (package / name).write_text(text)
        sources.version.cache_clear()
        return sources.version("part")

    found = [sources.version("part"), edited("top.py", "x = 2\n"), edited("part/inner.py", "x = 3\n")]
    found += [edited("part/more.py", ""), edited("part/more.py", "#")]
    assert None not in found and len(set(found)) == 5
    assert edited("other.txt", "") == found[-1]


def test_files_that_changed_after_the_import_tell_nothing(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert sources.settled("part")
    changed = (package / "part" / "inner.py").stat()
    monkeypatch.setattr(armdyn, "IMPORTED", changed.st_ctime + sources.SLACK / 2)
    assert not sources.settled("part")
    assert sources.version("part") is None
    os.utime(package / "top.py", (0, 0))  # an old date does not hide a change
    os.utime(package / "part" / "inner.py", (0, 0))
    assert not sources.settled("part")
    monkeypatch.setattr(sources, "HOME", package / "nowhere")
    assert not sources.settled("part")


def test_files_are_looked_at_again_when_a_module_was_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = [True, False]
    monkeypatch.setattr(sources, "settled", lambda *folders: answers.pop(0))
    sources._settled_with.cache_clear()
    assert sources.still_settled("part") and sources.still_settled("part")
    monkeypatch.setitem(sys.modules, "armdyn.imported_later", sys)
    assert not sources.still_settled("part")
    sources._settled_with.cache_clear()


LOADED = """
import sys, armdyn
dyn = armdyn.compile(armdyn.random_robot(1, 3, rotors=True, friction=True), cache=False)
for name in sorted(__import__("armdyn.dynamics.quantities").dynamics.quantities.QUANTITIES):
    dyn.program(name)
print(*sorted({name.split(".")[1] for name in sys.modules if name.startswith("armdyn.")}))
"""


def test_all_code_behind_a_program_is_in_its_version() -> None:
    told = subprocess.run([sys.executable, "-c", LOADED], capture_output=True, text=True, check=True).stdout.split()
    top = {entry.name.removesuffix(".py") for entry in sources.files()}
    files_of_robots = {"formats", "catalog"}  # what they read is in the robot, and so in the fingerprint
    assert set(told) - top - files_of_robots <= set(FOLDERS)
    assert set(FOLDERS) <= set(told)
