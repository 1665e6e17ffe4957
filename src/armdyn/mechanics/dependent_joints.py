"""Dependent joints from independent ones, over any scalar: what makes a closed chain a robot of its own.

A joint is dependent because it mimics another one or because a closed loop moves it. In the order of their solution:

    linear      q_d = k q_a + c: mimic joints, and parallelograms, recognised at random closed configurations
    triangle    two parallel revolute joints and the closing one: two circles, with the branch of the assembly
    strut       a bar between a universal joint and a ball: its angles in closed form, once the distance is right
    distances   what the lengths of struts determine together, such as a platform: Newton steps
    iteration   everything else: a fixed number of Newton steps from the assembly; not a number where they do not end

The assembly is the closed configuration next to the joints' `home`. Rates follow from J qd = 0, with J the rates of the
loops' conditions (`loop_geometry`): qd = G qd_a, qdd = G qdd_a + drift.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary

from armdyn.algebra import Scalar, derivative, dot, ops
from armdyn.algebra.ops import add, mul, sub
from armdyn.errors import FeatureError, PhysicsError, RobotError
from armdyn.mechanics.linear import least_norm, least_squares
from armdyn.mechanics.loop_geometry import LoopGeometry, lengths_of
from armdyn.mechanics.matrices import Rows, inner, times
from armdyn.mechanics.strut import StrutGeometry, universal_joint
from armdyn.mechanics.triangle import TriangleGeometry
from armdyn.robot.loop_paths import branches
from armdyn.robot.robot import Robot
from armdyn.typing import Matrix, Scalars

STEPS = 6
"""Newton steps from the assembly that a program takes."""
MOST_STEPS = 60
"""Newton steps that a search in numbers may take."""
LARGEST_STEP = 0.5
"""Of Newton's method, rad or m (norm over the joints that are solved together)."""
CLOSED = 1e-10
"""A loop is closed if its ends are this close: rad, or parts of the robot's length."""
SETTLED, NEARLY = 1e-16, 0.01
"""Square of the last step of a search that has come to rest, and what it may leave open to be called a misfit."""
ALIKE = 1e-9
"""Rates of a linear joint differ by less between configurations."""
SAMPLES = 3
"""Random closed configurations at which the kind of a loop is decided."""


@dataclass(frozen=True)
class Linear:
    """q = sum of rates times independent joints, plus a constant."""

    rates: tuple[Scalar, ...]
    constant: Scalar


@dataclass(frozen=True)
class Triangle:
    """Two parallel revolute joints that a loop determines.

    joints: the two, the second after the first if they are on one branch (`chained`); sense: 1 or -1, whether the
    second turns about the first one's axis; branch: sign of the root.
    """

    loops: tuple[int]
    joints: tuple[int, int]
    chained: bool
    sense: int
    branch: int


@dataclass(frozen=True)
class Iteration:
    """Joints that are solved together by Newton's method, with the loops they close."""

    loops: tuple[int, ...]
    joints: tuple[int, ...]


@dataclass(frozen=True)
class Distances:
    """Joints that the lengths of struts determine, one each, by Newton's method; struts: their universal joints."""

    loops: tuple[int, ...]
    joints: tuple[int, ...]
    struts: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Strut:
    """The universal joint of a strut whose ends are known; branch: sign of the root."""

    loops: tuple[int]
    joints: tuple[int, int]
    branch: int


Stage = Triangle | Iteration | Distances | Strut


class LoopRates:
    """Rates and accelerations of dependent joints in a configuration that is closed already.

    robot: with loops or mimic joints. dependent: names of the joints that follow (default: the robot's own).
    """

    def __init__(self, robot: Robot, dependent: frozenset[str] | None = None) -> None:
        self.robot, self.tree = robot, robot.opened
        names = [joint.name for joint in self.tree.joints]
        _no_compounds_within(robot)
        chosen = robot.dependent if dependent is None else dependent
        self.independent = [k for k, name in enumerate(names) if name not in chosen]
        self.dependent = [k for k, name in enumerate(names) if name in chosen]
        self.loops = [LoopGeometry(self.tree, loop) for loop in robot.loops]
        self._struts: dict[tuple[int, tuple[int, int]], StrutGeometry] = {}
        self.mimics = _mimics(robot, names, self.independent)
        self.linear: dict[int, Linear] = dict(self.mimics)
        self.stages: tuple[Stage, ...] = (self._whole(),) if self.loops else ()

    def _whole(self) -> Iteration:
        """All that is not linear, solved together."""
        for loop in self.loops:
            if not set(loop.joints) & set(self.dependent):
                raise RobotError(
                    "a loop without dependent joints",
                    where=f"robot {self.robot.name!r}, loop {loop.loop.name!r}",
                    expected="joints marked passive in every loop",
                    advice="Mark the joints without a motor with passive = true.",
                )
        return Iteration(tuple(range(len(self.loops))), tuple(k for k in self.dependent if k not in self.linear))

    def stacked(self, stage: Stage, q: Scalars) -> tuple[list[dict[int, Scalar]], list[Scalar]]:
        """(J, f) of a stage: rows of J by joint."""
        if isinstance(stage, Distances):
            found = [self.strut(i, joints).condition(q) for i, joints in zip(stage.loops, stage.struts, strict=True)]
            return [row for row, _ in found], [value for _, value in found]
        rows: list[dict[int, Scalar]] = []
        values: list[Scalar] = []
        for i in stage.loops:
            loop = self.loops[i]
            placed = loop.placed(q)
            columns, conditions = loop.columns(placed), loop.conditions(placed)
            rows += [{k: column[r] for k, column in columns.items()} for r in range(len(conditions))]
            values += conditions
        return rows, values

    def strut(self, loop: int, joints: tuple[int, int]) -> StrutGeometry:
        """The strut of a loop with this universal joint."""
        key = loop, joints
        if key not in self._struts:
            self._struts[key] = StrutGeometry(self.loops[loop], joints)
        return self._struts[key]

    def multipliers(self, q: Scalars, torques: Scalars) -> list[Scalar]:
        """Forces of the closing joints, one per condition: they balance the torques of all joints without a motor.

        J^T lambda = torques in the rows of dependent joints. Where more than one set does, as out of the plane of a
        planar loop, the smallest.
        """
        joints = [k for k in self.dependent if k not in self.mimics]
        rows, _ = self.stacked(Iteration(tuple(range(len(self.loops))), ()), q)
        return least_norm([[row.get(k, 0) for k in joints] for row in rows], [torques[k] for k in joints])

    def projection(self, q: Scalars) -> Rows:
        """G = dq/dq_a, (all, independent), at a closed configuration."""
        count = range(len(self.independent))
        moved = {k: [int(place == j) for j in count] for place, k in enumerate(self.independent)}
        moved |= {k: list(line.rates) for k, line in self.linear.items()}
        return self._followed(q, moved, None)

    def rate(self, q: Scalars, qd: Scalars, G: Rows) -> Rows:
        """dG/dt, from J dG/dt = -dJ/dt G."""
        moved: dict[int, list[Scalar]] = {k: [0] * len(self.independent) for k in (*self.independent, *self.linear)}
        return self._followed(q, moved, lambda stage: derivative(lambda x: self._products(stage, x, G), q, qd))

    def drift(self, q: Scalars, qd: Scalars) -> list[Scalar]:
        """Accelerations of all joints that velocities alone cause: dG/dt qd_a."""
        moved: dict[int, list[Scalar]] = {k: [0] for k in (*self.independent, *self.linear)}
        return [row[0] for row in self._followed(q, moved, lambda stage: self._bias(stage, q, qd))]

    def _bias(self, stage: Stage, q: Scalars, qd: Scalars) -> Rows:
        """dJ/dt qd."""
        if isinstance(stage, Distances):
            bias: Rows = derivative(lambda x: self._products(stage, x, [[rate] for rate in qd]), q, qd)
            return bias
        loops = [self.loops[i] for i in stage.loops]
        return [[x] for loop in loops for x in loop.bias(loop.placed(q), qd)]

    def _products(self, stage: Stage, q: Scalars, columns: Matrix) -> Rows:
        """J times a matrix."""
        width = range(len(columns[0]))
        return [
            [ops.total(mul(x, columns[k][c]) for k, x in row.items()) for c in width]
            for row in self.stacked(stage, q)[0]
        ]

    def _followed(self, q: Scalars, moved: dict[int, list[Scalar]], bias: Callable[[Stage], Rows] | None) -> Rows:
        """Rows of all joints: `moved` are known, the others solve J X = -bias, stage by stage."""
        for stage in self.stages:
            rows, _ = self.stacked(stage, q)
            extra = bias(stage) if bias else [[0] * len(self.independent)] * len(rows)
            known = [
                [
                    sub(0, add(b, ops.total(mul(x, moved[k][c]) for k, x in row.items() if k in moved)))
                    for c, b in enumerate(line)
                ]
                for row, line in zip(rows, extra, strict=True)
            ]
            found = least_squares([[row.get(k, 0) for k in stage.joints] for row in rows], known)
            moved |= dict(zip(stage.joints, found, strict=True))
        return [moved[k] for k in range(len(self.tree.joints))]


class DependentJoints(LoopRates):
    """How the dependent joints of a robot follow; made once per robot by `dependent_joints`.

    robot: with loops or mimic joints, in numbers or symbols. decided: where the kinds of its loops are known from
    (default: found from the robot in numbers).
    """

    def __init__(self, robot: Robot, decided: DependentJoints | None = None) -> None:
        super().__init__(robot)
        self.size: float = _size(self.tree) if decided is None else decided.size
        self.assembly: list[float] = self._assembled() if decided is None else decided.assembly
        if decided is not None:
            self.stages = decided.stages
            self.linear = {**decided.linear, **self.linear}
        elif self.loops:
            self._decide()

    # Kinds of loops ------------------------------------------------------------------------------------------------

    def _assembled(self) -> list[float]:
        homes = [float(joint.home) for joint in self.tree.joints]
        start = self.from_linear([homes[k] for k in self.independent], homes)
        return self.searched(start) if self.loops else start

    def _decide(self) -> None:
        places = [self.assembly, *self.drawn(random.Random(1), SAMPLES, 0.3)]
        rates = [self.projection(place) for place in places]
        for k in self.stages[0].joints:
            if all(abs(a - b) < ALIKE for each in rates for a, b in zip(each[k], rates[0][k], strict=True)):
                found = tuple(_whole_number(x) for x in rates[0][k])
                rest = self.assembly[k] - inner([float(x) for x in found], [self.assembly[j] for j in self.independent])
                self.linear[k] = Linear(found, _quarter_turns(rest))
        self.stages = tuple(self._staged(places))

    def _staged(self, places: Sequence[Sequence[float]]) -> list[Stage]:
        """Triangles as long as there are loops with two open joints, then the rest."""
        stages: list[Stage] = []
        open_joints = {k for k in self.dependent if k not in self.linear}
        loops = [i for i, loop in enumerate(self.loops) if open_joints & set(loop.joints)]
        progress = True
        while progress:
            progress = False
            for i in loops:
                mine = [k for k in self.loops[i].joints if k in open_joints]
                triangle = self._triangle(i, mine, places) if len(mine) == 2 else None
                if triangle is not None:
                    stages.append(triangle)
                    open_joints -= set(mine)
                    progress = True
            loops = [i for i in loops if open_joints & set(self.loops[i].joints)]
        while loops:  # loops that share open joints are solved together
            group, joints = {loops[0]}, open_joints & set(self.loops[loops[0]].joints)
            while more := {i for i in loops if joints & set(self.loops[i].joints)} - group:
                group |= more
                joints |= {k for i in more for k in self.loops[i].joints if k in open_joints}
            stages += self._on_struts(sorted(group), joints, places) or [
                Iteration(tuple(sorted(group)), tuple(sorted(joints)))
            ]
            loops = [i for i in loops if i not in group]
        return stages

    def _on_struts(self, loops: list[int], joints: set[int], places: Sequence[Sequence[float]]) -> list[Stage]:
        """Distances and struts, if every loop has a strut and their lengths determine the other joints."""
        members = [k for i in loops for k in self.loops[i].joints if k in joints]
        own = {k for k in members if members.count(k) == 1}
        found = [universal_joint(self.loops[i], joints, own) for i in loops]
        if None in found:
            return []
        struts = [pair for pair in found if pair is not None]
        held = sorted(joints - {k for pair in struts for k in pair})
        if len(held) != len(struts):
            return []
        stages: list[Stage] = [Distances(tuple(loops), tuple(held), tuple(struts))]
        for i, pair in zip(loops, struts, strict=True):
            tried = [Strut((i,), pair, sign) for sign in (1, -1)]
            right = [each for each in tried if all(self._agrees(each, place) for place in places)]
            if not right:
                return []
            stages.append(right[0])
        return stages

    def _triangle(self, index: int, joints: list[int], places: Sequence[Sequence[float]]) -> Triangle | None:
        loop = self.loops[index]
        if loop.loop.kind not in ("revolute", "spherical") or any(not loop.links[k].revolute for k in joints):
            return None
        chained = all(k in loop.first for k in joints) or all(k in loop.second for k in joints)
        senses = []
        for place in places:
            placed = loop.placed(place)
            one, two = (placed.joints[k].R.column(2) for k in joints)
            senses.append(dot(one, two))
            if abs(dot(one, placed.gap)) > CLOSED * self.size:
                return None
        if any(abs(abs(x) - 1) > ALIKE for x in senses):
            return None
        tried = [Triangle((index,), (joints[0], joints[1]), chained, round(senses[0]), sign) for sign in (1, -1)]
        for triangle in tried:
            if all(self._agrees(triangle, place) for place in places):
                return triangle
        return None

    def _agrees(self, stage: Triangle | Strut, place: Sequence[float]) -> bool:
        q: list[Scalar] = list(place)
        try:
            self._close(stage, q, None)
        except ValueError:  # the root of a negative number
            return False
        return all(
            abs(q[k].cosine - math.cos(place[k])) + abs(q[k].sine - math.sin(place[k])) < 1e-6 for k in stage.joints
        )

    # Configurations ------------------------------------------------------------------------------------------------

    def from_linear(self, q_active: Scalars, near: Scalars) -> list[Scalar]:
        """All joints, with those that are not linear taken from `near`."""
        q = list(near)
        for k, x in zip(self.independent, q_active, strict=True):
            q[k] = x
        for k, line in self.linear.items():
            q[k] = add(inner(line.rates, q_active), line.constant)
        return q

    def positions(self, q_active: Scalars, near: Scalars | None = None) -> list[Scalar]:
        """All joints, closed; angles of triangles as `AnglePair`.

        near: configuration of all joints whose branch is meant and from which iterations start (default: the
              assembly).
        """
        q = self.from_linear(q_active, self.assembly if near is None else near)
        for stage in self.stages:
            self._close(stage, q, near)
        return q

    def _close(self, stage: Stage, q: list[Scalar], near: Scalars | None) -> None:
        if isinstance(stage, Iteration | Distances):
            self._iterate(stage, q)
            return
        one, two = stage.joints
        if isinstance(stage, Triangle):
            triangle = TriangleGeometry(self.loops[stage.loops[0]], stage.joints, stage.chained, stage.sense)
            q[one], q[two] = triangle.angles(q, None if near is None else near[one], stage.branch)
        else:
            strut = self.strut(stage.loops[0], stage.joints)
            q[one], q[two] = strut.angles(q, None if near is None else near[two], stage.branch)

    def _iterate(self, stage: Iteration | Distances, q: list[Scalar]) -> None:
        """Newton's method, the same number of steps everywhere; not a number where that was not enough."""
        for _ in range(STEPS):
            self._step(stage, q)
        error = self._error(stage, q)
        closed = ops.sqrt(ops.select(sub(CLOSED * CLOSED, error), 0, -1))
        for k in stage.joints:
            q[k] = q[k] + closed

    def _step(self, stage: Stage, q: list[Scalar]) -> Scalar:
        """One step; returns the square of its length."""
        J, f = self.stacked(stage, q)
        found = least_squares([[row.get(k, 0) for k in stage.joints] for row in J], [[x] for x in f], refine=False)
        step = [row[0] for row in found]
        length = inner(step, step)
        allowed = LARGEST_STEP * LARGEST_STEP
        factor = LARGEST_STEP / ops.sqrt(ops.select(sub(allowed, length), allowed, length))
        for k, x in zip(stage.joints, step, strict=True):
            q[k] = q[k] - factor * x
        return length

    def _error(self, stage: Iteration | Distances, q: Scalars) -> Scalar:
        """Sum of the squares of the conditions, lengths in parts of the robot's."""
        total: Scalar = 0
        if isinstance(stage, Distances):
            for x in self.stacked(stage, q)[1]:
                part = x / (self.size * self.size)
                total = add(total, mul(part, part))
            return total
        for i in stage.loops:
            loop = self.loops[i]
            for row, x in enumerate(loop.conditions(loop.placed(q))):
                part = x / self.size if row < lengths_of(loop.loop) and not ops.is_zero(x) else x
                total = add(total, mul(part, part))
        return total

    def refined(self, q_active: Scalars, near: Scalars, steps: int) -> list[Scalar]:
        """All joints, from a configuration that is nearly closed, by Newton steps alone: for scalars of more digits."""
        q = self.from_linear(q_active, near)
        for stage in self.stages:
            for _ in range(steps):
                self._step(stage, q)
        return q

    # In numbers ------------------------------------------------------------------------------------------------------

    def searched(self, start: Sequence[float]) -> list[float]:
        """The closed configuration next to a start, whose independent joints stay.

        Raises PhysicsError if the loops cannot be closed from there.
        """
        q: list[Scalar] = list(start)
        whole = self._whole()
        length = math.inf
        try:
            for _ in range(MOST_STEPS):
                length = self._step(whole, q)
                if length < 1e-26:
                    break
        except (ZeroDivisionError, PhysicsError):
            pass
        gaps = {i: self._error(Iteration((i,), ()), q) for i in whole.loops}
        worst = max(gaps, key=lambda i: gaps[i])
        if not gaps[worst] <= CLOSED * CLOSED:
            gap, name = math.sqrt(gaps[worst]), self.loops[worst].loop.name
            raise self._nearly_closed(name, gap) if length < SETTLED and gap < NEARLY else self.not_closed(name, gap)
        return q

    def drawn(self, draws: random.Random, count: int, spread: float) -> list[list[float]]:
        """Random closed configurations in the assembly mode of the robot.

        spread: largest distance from the assembly, rad (prismatic joints: tenths of the longest link); what cannot be
        reached is replaced by what is half as far.
        """
        longest = max(_lengths(self.tree))
        reach = [1.0 if self.tree.links[k].revolute else 0.1 * longest for k in self.independent]
        places: list[list[float]] = []
        for _ in range(count):
            way = [draws.uniform(-spread, spread) * far for far in reach]
            while True:
                target = [self.assembly[k] + x for k, x in zip(self.independent, way, strict=True)]
                try:
                    places.append(self.continued(target))
                    break
                except PhysicsError:
                    way = [x / 2 for x in way]
        return places

    def _nearly_closed(self, loop: str, gap: float) -> PhysicsError:
        """The error of a loop that is as closed as its joints can close it: there are more conditions than joints."""
        return PhysicsError(
            f"the loop is overconstrained and its geometry does not fit: its joints leave {gap:.1e} open (rad, or "
            "parts of the robot's length), whatever they do",
            where=f"robot {self.robot.name!r}, loop {loop!r}",
            expected=f"lengths, axes and angles that close it to {CLOSED:.0e}",
            advice="Rounded numbers are the usual cause: write angles as expressions (pi/2), make parallel axes "
            "exactly parallel and repeated lengths equal, or compute the cut's second placement from a closed "
            "configuration.",
        )

    def not_closed(self, loop: str, gap: float) -> PhysicsError:
        """The error of a loop that stays open; gap: not a number where it was lost on the way from the assembly."""
        left = (
            "on the way from the assembly it ends, or turns into another mode"
            if math.isnan(gap)
            else (f"{gap:.1e} (rad, or parts of the robot's length) stay open")
        )
        return PhysicsError(
            f"the loop cannot be closed from this start: {left}",
            where=f"robot {self.robot.name!r}, loop {loop!r}",
            expected="independent joints within reach and a start near the closed configuration",
            advice="Give other positions of the independent joints, another `near`, or correct the joints' `home`.",
        )

    def continued(self, q_active: Sequence[float], start: Sequence[float] | None = None) -> list[float]:
        """The closed configuration reached from a closed one (default: the assembly) on the straight way."""
        q = list(self.assembly if start is None else start)
        if not self.loops:
            return self.from_linear(q_active, q)
        way = [x - q[k] for k, x in zip(self.independent, q_active, strict=True)]
        done, step = 0.0, min(1.0, 0.2 / max((abs(x) for x in way), default=0.2) if any(way) else 1.0)
        while done < 1.0:
            part = min(step, 1.0 - done)
            ahead = [x + part * dx for x, dx in zip(q, times(self.projection(q), way), strict=True)]
            for k, x, dx in zip(self.independent, q_active, way, strict=True):
                ahead[k] = x - (1.0 - done - part) * dx
            try:
                found = self.searched(ahead)
            except PhysicsError:
                found = None
            if found is None or math.dist(found, ahead) > 0.1:
                step /= 2
                if step < 0.01:
                    raise self.not_closed(self.loops[0].loop.name, math.nan)
                continue
            q, done, step = found, done + part, min(1.0, 1.5 * step)
        return q


def _no_compounds_within(robot: Robot) -> None:
    """Raise FeatureError if a loop runs through a free or ball joint: joints that follow need coordinates."""
    several = {joint.name: joint.compound for joint in robot.tree if joint.compound}
    for loop in robot.loops:
        met = [several[name] for branch in branches(robot.tree, loop) for name in branch if name in several]
        if met:
            raise FeatureError(
                f"the loop runs through a {met[0].kind} joint ({met[0].name})",
                feature="free_joints",
                where=f"robot {robot.name!r}, loop {loop.name!r}",
                joints=(met[0].name,),
                expected="free and ball joints outside of loops",
                advice='Model the joint by revolute joints, or open the loop on purpose: robot.without("loops").',
            )


def _mimics(robot: Robot, names: list[str], independent: list[int]) -> dict[int, Linear]:
    """Mimic joints that follow independent joints, directly or one after the other."""
    found: dict[int, Linear] = {}
    waiting = {joint.name: joint.mimic for joint in robot.movable if joint.mimic is not None}
    while waiting:
        ready = {name: law for name, law in waiting.items() if names.index(law.joint) in (*independent, *found)}
        if not ready:
            raise RobotError(
                "a mimic joint follows a joint that a closed loop moves",
                where=f"robot {robot.name!r}, joint {next(iter(waiting))!r}",
                expected="an independent joint, or a mimic joint",
                advice="Name an independent joint.",
            )
        for name, law in ready.items():
            leader = names.index(law.joint)
            line = found.get(leader) or Linear(tuple(int(k == leader) for k in independent), 0)
            rates = tuple(mul(law.ratio, x) for x in line.rates)
            found[names.index(name)] = Linear(rates, add(mul(law.ratio, line.constant), law.offset))
        waiting = {name: law for name, law in waiting.items() if name not in ready}
    return found


def _whole_number(x: float) -> Scalar:
    """A rate that is a whole number to rounding as a literal."""
    return round(x) if abs(x - round(x)) < ALIKE else x


def _quarter_turns(x: float) -> Scalar:
    """A constant angle that is a multiple of a quarter turn to rounding as exactly that."""
    turns = round(x / (math.pi / 2))
    if abs(x - turns * math.pi / 2) < ALIKE:
        return turns * math.pi / 2 if turns else 0
    return x


def _size(tree: Robot) -> float:
    """Summed distances from joint to joint, m: the scale of what counts as closed."""
    return sum(_lengths(tree)) or 1.0


def _lengths(tree: Robot) -> list[float]:
    """Distances from joint to joint, m."""
    return [math.hypot(*(float(x) for x in link.pose(0.0).p)) for link in tree.links]


_KNOWN: WeakKeyDictionary[Robot, DependentJoints] = WeakKeyDictionary()


def dependent_joints(robot: Robot) -> DependentJoints:
    """How the dependent joints of a robot follow from the independent ones; found once per robot."""
    if robot not in _KNOWN:
        numeric = robot.bound()
        found = DependentJoints(numeric)
        _KNOWN[robot] = found if not robot.has_symbols else DependentJoints(robot, found)
    return _KNOWN[robot]


__all__ = ["DependentJoints", "dependent_joints"]
