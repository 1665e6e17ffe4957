"""How often `explain` names the cause of a seeded fault: kinds of faults x robots, pairs of faults, agreeing pairs.

    python tests/support/fault_runs.py                          a new seed, robots of the test
    python tests/support/fault_runs.py --seed 7 --development   robots on which the search was developed

The robots are split in two. Development: the catalog robots panda, rx90 and puma560, random robots of seeds below
10,000, and every second family of the wheel example-robot-data. Test: the other catalog robots, random robots of seeds
from 10,000 on, and the other families of the wheel. All thresholds were chosen on the first half.
"""

from __future__ import annotations

import argparse
import importlib.util
import math
import secrets
import sys
import tempfile
import time
import warnings
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import armdyn
from armdyn.doctor import Explanation, explain
from armdyn.doctor.sides import side_of
from armdyn.doctor.variant import random_states
from armdyn.errors import ArmdynError, FeatureError, NotApplicable
from armdyn.formats import read
from armdyn.robot import Robot
from support.engine_faults import ENGINE_FAULTS, FREE_BASE, Engine
from support.faults import FAULTS, Fault, angles, origin, put, rotation, turn, vector
from support.wheel import wheel_files

ROBOTS = 20
SPLIT = 10_000
DEVELOPMENT = ("panda", "rx90", "puma560")
TEST = ("ur5", "scara5", "planar3r", "three_link", "cartesian2")
LARGEST = 12
"""Movable joints of the largest robot of the wheel that is drawn."""
VISIBLE = 1e-4
"""A fault below this part of the torques is drawn again."""
HELD = ("locked_joint", "mimic_joint")
"""Kinds after which the torques of the other joints may well be the same."""
SUFFIX = {"urdf": ".urdf", "mjcf": ".xml"}
Rng = np.random.Generator


# Robots --------------------------------------------------------------------------------------------------------------


def family(path: Path) -> str:
    """The folder of a robot in the wheel: files of one robot are in the same half of the split."""
    return next(part for part in path.parts[::-1] if part.endswith(("_description", "_data")))


def wheel_half(development: bool) -> list[Path]:
    files = wheel_files()
    families = sorted({family(path) for path in files})
    return [path for path in files if families.index(family(path)) % 2 == (0 if development else 1)]


def from_wheel(rng: Rng, development: bool) -> Path | Robot:
    """A file of the wheel that can be read, with 2 to LARGEST joints; a random robot without the wheel."""
    files = wheel_half(development)
    for k in rng.permutation(len(files)):
        try:
            if 2 <= len(quietly(read, files[k]).joints) <= LARGEST:
                return files[k]
        except ArmdynError:
            continue
    return random_one(rng, development)


def random_one(rng: Rng, development: bool, branching: float = 0.0) -> Robot:
    seed = int(rng.integers(SPLIT) if development else rng.integers(SPLIT, 2**31))
    return armdyn.random_robot(seed, int(rng.integers(3, 8)), fixed=0.5, branching=branching)


def one_robot(rng: Rng, k: int, development: bool) -> Path | Robot:
    """Robot k: of twenty, three of the catalog, seven of the wheel, five random chains and five random trees."""
    place = k % 20
    if place < 3:
        return armdyn.load(str(rng.choice(DEVELOPMENT if development else TEST)))
    if place < 10:
        return from_wheel(rng, development)
    return random_one(rng, development, 0.4 if place < 15 else 0.0)


def written(robot: Path | Robot, folder: Path, format: str) -> Path | None:
    """The robot's file in a format; None if it has none."""
    if isinstance(robot, Path) and format == "urdf":
        return robot
    robot = read(robot) if isinstance(robot, Path) else robot
    path = folder / f"{robot.name}{SUFFIX[format]}"
    try:
        quietly(robot.without("friction").save, path)
    except ArmdynError:
        return None
    return path


def quietly(function: Callable[..., Any], *arguments: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(*arguments)


# One draw ------------------------------------------------------------------------------------------------------------


def faulty(fault: Fault, source: Path, target: Path, rng: Rng) -> Path | None:
    """The file with a fault, or None if it has no place for one."""
    root = ET.parse(source).getroot()
    if not fault.edit(rng, root):
        return None
    ET.ElementTree(root).write(target)
    return target


def visible(fault: Fault, source: Path, target: Path, rng: Rng) -> Path | None:
    """A file with a fault that shows in the torques; None if the file has no place for one."""
    for _ in range(10):
        other = faulty(fault, source, target, rng)
        if other is None:
            return None
        if fault.kind in HELD or apart(source, other) > VISIBLE:
            return other
    return None


def apart(first: Path, second: Path) -> float:
    """Rms difference of the torques of two files as a part of the torques."""
    a, b = quietly(side_of, first), quietly(side_of, second)
    if a.robot.n != b.robot.n:
        return math.inf
    states = random_states(a.robot, 20)
    own, other = a.torques(states), b.torques(states)
    return float(np.sqrt(np.mean((own - other) ** 2) / np.mean(other**2)))


def both_visible(first: Fault, second: Fault, source: Path, folder: Path, rng: Rng) -> Path | None:
    """A file with two faults, each of which shows beside the other; None if the file has no place for them."""
    one = visible(first, source, folder / f"one{source.suffix}", rng)
    if one is None:
        return None
    for _ in range(10):
        draw = int(rng.integers(2**31))
        both = faulty(second, one, folder / f"both{source.suffix}", np.random.default_rng(draw))
        alone = faulty(second, source, folder / f"second{source.suffix}", np.random.default_rng(draw))
        if both is None or alone is None:
            return None
        shows = [fault.kind in HELD or apart(other, both) > VISIBLE for fault, other in ((second, one), (first, alone))]
        if all(shows):
            return both
    return None


def explained(faults: Sequence[Fault], robot: Path | Robot, folder: Path, rng: Rng) -> Explanation | None:
    """The explanation of one fault or two, each visible; None if the robot has no place for them."""
    source = written(robot, folder, faults[0].format)
    if source is None:
        return None
    if len(faults) == 1:
        last = visible(faults[0], source, folder / f"faulty{source.suffix}", rng)
    else:
        last = both_visible(faults[0], faults[1], source, folder, rng)
    if last is None:
        return None
    try:
        found: Explanation = quietly(explain, source, last)
    except (FeatureError, NotApplicable):
        return None  # the faults make a robot that `explain` refuses by name
    return None if found.status == "equal" else found


def in_engine(kind: str, robot: Path | Robot, folder: Path, rng: Rng) -> Explanation | None:
    """The explanation of a mistake in the use of an engine; None if it does not show or cannot be made."""
    urdf = written(robot, folder, "urdf")
    free = kind in FREE_BASE
    if urdf is None or _mimics(urdf):
        return None
    own = quietly(partial(read, urdf, free_root=True) if free else partial(read, urdf)).without("friction")
    if len(own.joints) < 2:
        return None
    found: Explanation = quietly(explain, own, ENGINE_FAULTS[kind](rng, Engine(own, urdf, free)))
    return found if found.status != "equal" and found.difference > VISIBLE else None


# Scores --------------------------------------------------------------------------------------------------------------


@dataclass
class Score:
    """Draws and successes by kind, and the draws that failed."""

    drawn: Counter[str] = field(default_factory=Counter)
    named: Counter[str] = field(default_factory=Counter)
    misses: list[str] = field(default_factory=list)

    @property
    def rate(self) -> float:
        return self.named.total() / max(self.drawn.total(), 1)

    def enter(self, kind: str, good: bool, miss: str) -> None:
        self.drawn[kind] += 1
        self.named[kind] += good
        if not good:
            self.miss(miss)

    def miss(self, text: str) -> None:
        self.misses.append(text)
        sys.stderr.write(f"    {text}\n")

    def table(self, title: str) -> str:
        rows = [f"  {kind:24s} {self.named[kind]:4d} of {n}" for kind, n in sorted(self.drawn.items())]
        total = f"  {'total':24s} {self.named.total():4d} of {self.drawn.total()}: {100 * self.rate:.1f} %"
        return "\n".join([title, *rows, total, *(f"    missed: {miss}" for miss in self.misses)])


def kinds_of_faults() -> list[Fault | str]:
    """Faults in files, and, where Pinocchio is installed, mistakes in the use of an engine."""
    engine = importlib.util.find_spec("pinocchio") is not None
    return [*FAULTS, *(ENGINE_FAULTS if engine else ())]


def single_faults(seed: int, folder: Path, *, robots: int = ROBOTS, kinds: Sequence[Fault | str] = (),
                  development: bool = False) -> Score:  # fmt: skip
    """Every kind on `robots` robots."""
    score = Score()
    for at, fault in enumerate(kinds or kinds_of_faults()):
        kind = fault if isinstance(fault, str) else fault.kind
        for k in range(robots):
            name, found = _one((seed, at, k), at + k, (fault,), folder, development)
            named = [cause.kind for cause in found.causes]
            where = "engine" if isinstance(fault, str) else "file"
            miss = f"{kind} in {where} of {name} (robot {k}): {named or 'none'}, {found.status}"
            score.enter(kind, bool(named) and named[0] == kind, miss)
    return score


def pairs_of_faults(seed: int, count: int, folder: Path, *, development: bool = False) -> Score:
    """`count` pairs of different kinds in one file: both are named, and nothing else."""
    score = Score()
    for k in range(count):
        rng = np.random.default_rng((seed, 1, k))
        format = "urdf" if rng.random() < 0.7 else "mjcf"
        choice = [fault for fault in FAULTS if fault.format == format]
        first, second = (choice[i] for i in rng.choice(len(choice), 2, replace=False))
        if {first.kind, second.kind} == {"gravity", "gravity_sign"}:  # one vector has one cause
            second = next(fault for fault in choice if fault.kind == "armature")
        name, found = _one((seed, 1, k), k, (first, second), folder, development)
        named = [cause.kind for cause in found.causes]
        wanted = f"{first.kind} + {second.kind}"
        good = set(named) == {first.kind, second.kind}
        for kind in (first.kind, second.kind):
            score.drawn[kind] += 1
            score.named[kind] += good
        if not good:
            score.miss(f"{wanted} in file of {name} (pair {k}): {named or 'none'}, {found.status}")
    return score


def _one(seed: tuple[int, ...], k: int, faults: Sequence[Fault | str], folder: Path, development: bool
         ) -> tuple[str, Explanation]:  # fmt: skip
    """Robot k with the faults, and the explanation; a robot without a place for them is replaced by the next."""
    for attempt in range(100):
        rng = np.random.default_rng((*seed, attempt))
        robot = one_robot(rng, k if not attempt else int(rng.integers(20)), development)
        first = faults[0]
        found = in_engine(first, robot, folder, rng) if isinstance(first, str) else explained(
            [fault for fault in faults if isinstance(fault, Fault)], robot, folder, rng)  # fmt: skip
        if found is not None:
            return robot.name, found
    raise AssertionError(f"no robot has a place for {faults}")


# Agreeing pairs ------------------------------------------------------------------------------------------------------


def agreeing(seed: int, count: int, folder: Path, *, development: bool = False) -> Score:
    """`count` pairs of descriptions of one robot: none may have a cause."""
    score = Score()
    k = -1
    while score.drawn.total() < count:
        k += 1
        rng = np.random.default_rng((seed, 2, k))
        robot = one_robot(rng, k, development)
        for kind, first, second in _same(robot, folder, rng):
            found: Explanation = quietly(explain, first, second)
            good = found.status == "equal" and not found.causes and not found.without_effect
            named = [cause.kind for cause in (*found.causes, *found.without_effect)]
            score.enter(kind, good, f"{kind} of {robot.name} (robot {k}): {named}, {found.status}")
    return score


def _same(robot: Path | Robot, folder: Path, rng: Rng) -> Iterator[tuple[str, Any, Any]]:
    """Two descriptions of the same robot, in several ways."""
    urdf = written(robot, folder, "urdf")
    mjcf = None if urdf is None else written(urdf, folder, "mjcf")  # URDF has no word for gravity: it is -z in both
    if urdf is not None:
        yield "other link frames", urdf, reframed(urdf, folder, rng)
        yield "other joint names", urdf, renamed(urdf, folder)
        engine = pinocchio_model(urdf)
        if engine is not None:
            yield "Pinocchio", quietly(armdyn.load, urdf).without("friction"), engine
    if mjcf is not None:
        engine = mujoco_model(mjcf)
        if engine is not None:
            yield "MuJoCo", mjcf, engine
    if urdf is not None and mjcf is not None:
        yield "URDF and MJCF", quietly(armdyn.load, urdf).without("friction"), mjcf


def reframed(source: Path, folder: Path, rng: Rng) -> Path:
    """The same robot with every moving link's frame turned, and shifted along its joint axis."""
    root = ET.parse(source).getroot()
    for joint in root.findall("joint"):
        if joint.get("type") not in ("revolute", "continuous", "prismatic"):
            continue
        found = joint.find("axis")
        axis = ET.SubElement(joint, "axis", {"xyz": "1 0 0"}) if found is None else found
        direction = vector(axis, "xyz") / np.linalg.norm(vector(axis, "xyz"))
        R = turn(0, rng.uniform(-3, 3)) @ turn(1, rng.uniform(-1, 1)) @ turn(2, rng.uniform(-3, 3))
        p = direction * rng.uniform(-0.2, 0.2)
        _shift(joint, R, p, behind=True)
        put(axis, "xyz", R.T @ direction)
        child = joint.find("child").get("link")  # type: ignore[union-attr]
        for link in root.findall("link"):
            if link.get("name") == child and link.find("inertial") is not None:
                _shift(link.find("inertial"), R, p)
        for after in root.findall("joint"):
            if after.find("parent").get("link") == child:  # type: ignore[union-attr]
                _shift(after, R, p)
    path = folder / "reframed.urdf"
    ET.ElementTree(root).write(path)
    return path


def _shift(element: Any, R: np.ndarray, p: np.ndarray, behind: bool = False) -> None:
    """The origin of an element, times (R, p) behind it, or times its inverse in front."""
    at = origin(element)
    old, x = rotation(*vector(at, "rpy")), vector(at, "xyz")
    turned, moved = (old @ R, x + old @ p) if behind else (R.T @ old, R.T @ (x - p))
    put(at, "rpy", angles(turned))
    put(at, "xyz", moved)


def renamed(source: Path, folder: Path) -> Path:
    """The same robot with other names of its joints."""
    root = ET.parse(source).getroot()
    for element in root.iter():
        if element.tag in ("joint", "mimic"):
            key = "joint" if element.tag == "mimic" else "name"
            if element.get(key):
                element.set(key, f"other_{element.get(key)}")
    path = folder / "renamed.urdf"
    ET.ElementTree(root).write(path)
    return path


def pinocchio_model(urdf: Path) -> Any:
    try:
        import pinocchio
    except ImportError:
        return None
    model = None if _mimics(urdf) else pinocchio.buildModelFromUrdf(str(urdf))
    names = [joint.name for joint in quietly(read, urdf).joints]
    return model if model is not None and list(model.names)[1:] == names else None  # other orders are another story


def _mimics(urdf: Path) -> bool:
    """Whether a file has mimic joints, which Pinocchio's reader takes as joints of their own."""
    return any(joint.find("mimic") is not None for joint in ET.parse(urdf).getroot().findall("joint"))


def mujoco_model(mjcf: Path) -> Any:
    try:
        import mujoco
    except ImportError:
        return None
    try:
        model = mujoco.MjModel.from_xml_path(str(mjcf))
        return None if model.neq else model  # coupled joints are constraints of MuJoCo, and not among its torques
    except ValueError:
        return None  # MuJoCo refuses moving bodies without mass


# The command ---------------------------------------------------------------------------------------------------------


def drawn_seed() -> int:
    return secrets.randbelow(2**31)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=None, help="of all draws (default: a new one)")
    parser.add_argument("--development", action="store_true", help="robots on which the search was developed")
    parser.add_argument("--robots", type=int, default=ROBOTS, help="robots of every kind")
    parser.add_argument("--pairs", type=int, default=200)
    parser.add_argument("--agreeing", type=int, default=200)
    parser.add_argument("--kinds", nargs="*", default=(), help="of single faults (default: all)")
    given = parser.parse_args()
    seed = drawn_seed() if given.seed is None else given.seed
    chosen = [f for f in kinds_of_faults() if not given.kinds or (f if isinstance(f, str) else f.kind) in given.kinds]
    say = sys.stdout
    say.write(f"seed {seed}, {'development' if given.development else 'test'} robots\n")
    say.flush()
    with tempfile.TemporaryDirectory() as name:
        folder, half = Path(name), {"development": given.development}
        jobs: tuple[tuple[str, float, Callable[[], Score]], ...] = (
            ("agreeing pairs without a cause", 1.0, lambda: agreeing(seed, given.agreeing, folder, **half)),
            ("right cause first", 0.95, lambda: single_faults(seed, folder, robots=given.robots, kinds=chosen, **half)),
            ("pairs: both named, nothing else", 0.85, lambda: pairs_of_faults(seed, given.pairs, folder, **half)),
        )  # fmt: skip
        good = True
        for title, least, job in jobs:
            start = time.process_time()
            score = job()
            good = good and score.rate >= least
            say.write(f"{score.table(title)}\n  {time.process_time() - start:.0f} s\n")
            say.flush()
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
