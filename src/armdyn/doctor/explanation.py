"""Why two models disagree: `armdyn.explain`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from armdyn.doctor import array_hypotheses, body_hypotheses, drive_hypotheses, geometry_hypotheses
from armdyn.doctor.gap import Gap, bodies_of
from armdyn.doctor.matching import Match, match
from armdyn.doctor.reading import Found, Reading, search
from armdyn.doctor.sides import Side, in_order, side_of
from armdyn.doctor.structure import permuted, structure
from armdyn.doctor.variant import States, Variant, random_states
from armdyn.findings import listed, sentence
from armdyn.notebook_view import View
from armdyn.result import Result
from armdyn.robot.features import CLOSED, FREE, SUPPORT, TREE, declare, require
from armdyn.robot.robot import Robot
from armdyn.tables import Column, Section
from armdyn.typing import Floats, Progress, quiet

Status = Literal["equal", "explained", "unexplained"]
SAMPLES = 40
EQUAL = 1e-7
"""Relative difference of torques up to which two models are equal: files give their numbers to about eight digits."""
ACCOUNTED = 1e-3
"""Part of the difference that the causes may leave: an explanation leaves nothing but rounding."""
MOSTLY = 0.5
"""Part of the difference that causes found from torques alone may leave, as with noise, and still be named."""
ON_THEIR_OWN = (
    "armature",
    "damping",
    "dry_friction",
    "spring",
    "gravity",
    "gravity_sign",
    "gravity_compensation",
    "joint_order",
)
"""Causes whose numbers are compared directly: they hold whatever else differs."""
NO_EFFECT = 1e-9
"""Part of the torques below which a difference has no effect on them."""
assert array_hypotheses and body_hypotheses and drive_hypotheses and geometry_hypotheses  # they register themselves
declare("doctor.explain", (*TREE, *CLOSED, *FREE))


@dataclass(frozen=True)
class JointDifference:
    """Torques of one joint: rms in the second model, rms of the difference before and after the causes, N m or N."""

    joint: str
    torque: float
    difference: float
    left: float


@dataclass(frozen=True, eq=False)
class ComparedTorques:
    """Torques at the states of the comparison, each (count, n), in N m or N.

    first, second: of the two models. corrected: of the first with all causes applied. parts: what each cause alone
    makes of the difference, in the order of `Explanation.causes`; None for one that has no torques of its own.
    """

    first: Floats
    second: Floats
    corrected: Floats
    parts: tuple[Floats | None, ...] = ()


@dataclass(frozen=True, eq=False)
class Explanation(Result):
    """Why two models disagree.

    status: equal; explained: the causes leave nothing of the difference; unexplained: something is left.
    causes: the named causes, the largest share of the torque difference first.
    without_effect: differences of parameters that do not show in the torques.
    difference, left: rms of the torque difference as a part of the torques, before and after the causes.
    joints: the same joint by joint. known: what can be said of what is left. notes: how the models were read.
    torques, robots: what the comparison was made of, for pictures; a model without known parameters has no robot.
    """

    first: str
    second: str
    status: Status
    causes: tuple[Reading, ...]
    difference: float
    left: float
    joints: tuple[JointDifference, ...]
    without_effect: tuple[Reading, ...] = ()
    known: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    samples: int = SAMPLES
    torques: ComparedTorques | None = field(default=None, repr=False)
    robots: tuple[Robot | None, Robot | None] = field(default=(None, None), repr=False)

    @property
    def fine(self) -> bool:
        """Whether the models agree."""
        return self.status == "equal"

    @property
    def summary(self) -> str:
        """One sentence."""
        models = f"the models {self.first} and {self.second}"
        if self.status == "equal":
            apart = f"differ by at most {self.difference:.1e} (relative)" if self.difference else "are the same"
            return f"{models} agree: torques {apart}"
        named = {0: "no cause found", 1: "1 cause"}.get(len(self.causes), f"{len(self.causes)} causes")
        rest = f"; {100 * self.left / self.difference:.3g} % of it is not explained" if self.difference else ""
        differ = f"{models} differ by {100 * self.difference:.3g} % of the torques (rms): {named}"
        return differ if self.status == "explained" else f"{differ}{rest}"

    def record(self) -> dict[str, Any]:
        causes = [{"kind": c.kind, "where": list(c.where), "what": c.what, "share": c.share} for c in self.causes]
        plain = {key: getattr(self, key) for key in ("first", "second", "status", "difference", "left", "samples")}
        return plain | {
            "causes": causes,
            "joints": [dict(vars(joint)) for joint in self.joints],
            "without_effect": [c.what for c in self.without_effect],
            "known": list(self.known),
            "notes": list(self.notes),
        }

    def sections(self) -> list[Section]:
        """The tables: causes, then torques joint by joint; none if the models agree."""
        if self.fine:
            return []
        columns = (
            Column("cause"),
            Column("share", "%"),
            Column("where", folds=True),
            Column("what differs", folds=True),
        )
        rows = tuple(
            (c.words, "" if c.share is None else f"{100 * c.share:.1f}", listed(c.where, 4), sentence(c.what))
            for c in self.causes
        )
        found = [Section("Causes", columns, rows)] if rows else []
        heads = (Column("joint"), Column("torque", "N m or N, rms"), Column("difference"), Column("left"))
        lines = tuple((j.joint, *(_torque(x, j.torque) for x in (j.torque, j.difference, j.left))) for j in self.joints)
        return [*found, Section(f"Torques at {self.samples} states", heads, lines)]

    def remarks(self) -> list[str]:
        """Sentences beside the tables."""
        lines = [*self.known, *(f"{cause.what}; this has no effect on the torques" for cause in self.without_effect)]
        return [sentence(line) for line in (*lines, *self.notes)]

    def _view(self) -> View:
        title = f"Comparison of {self.first} with {self.second}"
        return View(title, (sentence(self.summary), self.fine), sections=self.sections(), notes=self.remarks())

    def report(self, path: str | Path) -> Path:
        """Write the comparison as one HTML page with pictures and return its path."""
        from armdyn.report.pages.explain_page import write_report

        return write_report(self, path)


def _torque(x: float, scale: float) -> str:
    """A torque in figures; what only rounding makes of it is zero."""
    return f"{x:.4g}" if x > NO_EFFECT * scale else "0"


def explain(
    a: Any,
    b: Any,
    *,
    names: tuple[str, str] = ("", ""),
    tolerance: float = EQUAL,
    samples: int = SAMPLES,
    seed: int = 0,
    progress: Progress = quiet,
) -> Explanation:
    """Explain why two models of a robot give different torques.

    a, b: a Robot, a file of any format, a catalog name, a live `pinocchio.Model`, `mujoco.MjModel` or Robotics Toolbox
        robot, a function tau(q, qd, qdd), a CSV file, or arrays (q, qd, qdd, tau). At least one is a robot.
    names: what to call them (default: their own names).
    tolerance: relative difference of torques up to which they are equal.
    samples, seed: number of random states and where they start.
    progress: called as progress(step, done).
    """
    first, second = side_of(a, names[0]), side_of(b, names[1])
    if first.robot is None and second.robot is not None:
        first, second = second, first
    if first.robot is not None:
        second = in_order(second, [joint.name for joint in first.robot.joints])
    if first.name == second.name:
        first, second = replace(first, name=f"{first.name} (first)"), replace(second, name=f"{second.name} (second)")
    for side in (first, second):
        if side.robot is not None:
            require(side.robot, "doctor.explain", SUPPORT["doctor.explain"])
    pair = match(first, second)
    return _judged(_gap(pair, second, samples, seed), pair, tolerance, progress)


def _gap(pair: Match, second: Side, samples: int, seed: int) -> Gap:
    states = second.states or random_states(pair.robot, samples, seed)
    tau = pair.torques(states)
    target = None
    partners: tuple[Any, ...] = ()
    if pair.other is not None:
        target = permuted(structure(Variant(pair.other)), pair.joints)
        partners = tuple(pair.other.opened.joints[k] for k in pair.joints)
    return Gap(Variant(pair.robot), pair.first, pair.second, target, pair.other, pair.order, states, tau, partners)


def _judged(gap: Gap, pair: Match, tolerance: float, progress: Progress) -> Explanation:
    before = _rms(gap.residual)
    scale = _rms(gap.tau) or 1.0
    worst = max(gap.torque_distances, default=0.0)
    base = Explanation(
        gap.first,
        gap.second,
        "equal",
        pair.causes,
        worst,
        worst,
        _joints(gap, gap),
        notes=pair.notes,
        samples=len(gap.states),
        torques=_table(gap, gap, (None,) * len(pair.causes)),
        robots=(pair.robot, pair.other),
    )
    if worst <= tolerance:
        return replace(base, status="explained") if pair.causes else base
    found = search(gap, progress)
    if gap.target is not None and found.case.misfit > 0 and _rms(found.case.residual) > ACCOUNTED * before:
        found = _by_torques(found, progress)
    doubtful: tuple[Reading, ...] = ()
    if _rms(found.case.residual) > max(ACCOUNTED * before, tolerance * scale):
        found, doubtful = _conclusive(gap, found)
    after = _rms(found.case.residual)
    parts = _parts(gap, found)
    shared = sorted(
        zip(_shares(found.readings, parts, before, after), parts, strict=True), key=lambda pair: -(pair[0].share or 0.0)
    )
    heard = [(cause, part) for cause, part in shared if _rms(part) > NO_EFFECT * scale]
    effective = tuple(cause for cause, _ in heard)
    silent = tuple(cause for cause, _ in shared if cause not in effective)
    done = after <= max(ACCOUNTED * before, tolerance * scale)
    status: Status = "explained" if done and (effective or pair.causes) else "unexplained"
    known = () if status == "explained" else (*_known(found.case), *_possible(doubtful))
    drawn = (*(None for _ in pair.causes), *(part for _, part in heard))
    return replace(
        base,
        status=status,
        causes=(*pair.causes, *effective),
        difference=before / scale,
        left=after / scale,
        joints=_joints(gap, found.case),
        without_effect=silent,
        known=known,
        torques=_table(gap, found.case, drawn),
    )


def _by_torques(found: Found[Gap], progress: Progress) -> Found[Gap]:
    """What the numbers do not explain may be in how arrays are read: the same search on the torques alone."""
    blind = search(replace(found.case, target=None, fits=False), progress)
    if _rms(blind.case.residual) <= ACCOUNTED * _rms(found.case.residual):
        return Found(blind.case, (*found.readings, *blind.readings))
    return found


def _rms(x: Floats) -> float:
    return float(np.sqrt(np.mean(x**2))) if x.size else 0.0


def _joints(before: Gap, after: Gap) -> tuple[JointDifference, ...]:
    names = [joint.name for joint in before.robot.joints]
    names = [names[k] for k in before.order] if before.order else names
    columns = zip(names, before.tau.T, before.residual.T, after.residual.T, strict=True)
    return tuple(JointDifference(name, _rms(t), _rms(x), _rms(y)) for name, t, x, y in columns)


# Shares --------------------------------------------------------------------------------------------------------------


def _parts(gap: Gap, found: Found[Gap]) -> list[Floats]:
    """The torques that each cause makes alone, all other causes removed."""
    others = (found.readings[:k] + found.readings[k + 1 :] for k in range(len(found.readings)))
    return [gap.after(readings).residual - found.case.residual for readings in others]


def _shares(causes: tuple[Reading, ...], parts: list[Floats], before: float, after: float) -> list[Reading]:
    """Each cause with its share: the squared difference that it makes alone as a part of the sum of these; together
    they make the part of the difference that is explained.
    """
    alone = [_rms(part) ** 2 for part in parts]
    total, explained = sum(alone) or 1.0, 1 - (after / before) ** 2 if before else 0.0
    return [replace(cause, share=explained * x / total) for cause, x in zip(causes, alone, strict=True)]


def _table(before: Gap, after: Gap, parts: tuple[Floats | None, ...]) -> ComparedTorques:
    return ComparedTorques(before.tau - before.residual, before.tau, after.tau - after.residual, parts)


# What is known of the rest -------------------------------------------------------------------------------------------


def _conclusive(gap: Gap, found: Found[Gap]) -> tuple[Found[Gap], tuple[Reading, ...]]:
    """Where something is left, a cause counts only if nothing is left of what it concerns; the others apart."""
    kept = tuple(cause for cause in found.readings if not _open(cause, found.case, _rms(gap.residual)))
    return Found(gap.after(kept), kept), tuple(cause for cause in found.readings if cause not in kept)


def _open(cause: Reading, gap: Gap, before: float) -> bool:
    """Whether something is left of what a cause concerns."""
    if gap.target is None:
        return _rms(gap.residual) > MOSTLY * before
    links = set(gap.differences.at("mass", "centre", "tensor", "axis", "position", "joint"))
    names = {name for link in links for j in bodies_of(gap.robot, link) for name in (j.name, j.body.name)}
    names |= {gap.own.names[link] for link in links}
    return cause.kind not in ON_THEIR_OWN and bool(names.intersection(cause.where))


def _possible(causes: Sequence[Reading]) -> list[str]:
    """What was tried and does not account for the difference, in one line."""
    kinds = ", ".join(dict.fromkeys(cause.words for cause in causes))
    return [f"changes that bring the models nearer without making them equal are not named ({kinds})"] if causes else []


def _known(gap: Gap) -> list[str]:
    """What can be said of a difference without a cause."""
    lines = []
    if gap.target is not None:
        for what, words in (
            ("axis", "direction of the axis"),
            ("position", "position of the axis"),
            ("mass", "mass"),
            ("centre", "centre of mass"),
            ("tensor", "inertia tensor"),
        ):
            if joints := gap.differences.at(what):
                links = listed([gap.own.names[k] for k in joints], 4)
                lines.append(f"no cause found for the {words} of the links of {links}")
    names = [joint.name for joint in gap.robot.joints]
    left = [names[k] for k, d in enumerate(gap.torque_distances) if d > EQUAL]
    lines.append(f"torques still differ at {listed(left)}")
    still = States(gap.states.q, 0 * gap.states.qd, 0 * gap.states.qdd)
    if gap.target is not None and gap.other is not None and not gap.order and not gap.robot.constrained:
        apart = _rms(Variant(gap.other).torques(still) - gap.variant.torques(still))
        lines.append(
            "at rest they agree: the difference is one of motion"
            if apart <= EQUAL * _rms(gap.tau)
            else "they differ at rest too: gravity, springs or geometry"
        )
    return lines
