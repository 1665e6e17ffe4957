"""Hypotheses about drives and gravity: rotors, friction, springs, gravity compensation, the gravity vector."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from armdyn.algebra import Vec3
from armdyn.doctor.gap import Gap, bodies_of, edit_joints
from armdyn.doctor.reading import Reading, hypothesis
from armdyn.doctor.variant import Variant
from armdyn.findings import listed
from armdyn.robot.parts import Friction, Joint, Rotor, Spring
from armdyn.typing import Floats


@dataclass(frozen=True)
class _Drive:
    """How a group of numbers of a drive is named, and how a joint takes it from another."""

    kind: str
    words: str
    unit: str
    take: Callable[[Joint, Joint], Joint]


def _rotor(joint: Joint, other: Joint) -> Joint:
    return replace(joint, rotor=other.rotor and replace(other.rotor, on=None))


def _viscous(joint: Joint, other: Joint) -> Joint:
    return replace(
        joint, friction=replace(joint.friction or Friction(), viscous=(other.friction or Friction()).viscous)
    )


def _dry(joint: Joint, other: Joint) -> Joint:
    source = other.friction or Friction()
    dry = {name: getattr(source, name) for name in ("coulomb", "static", "stribeck", "offset")}
    return replace(joint, friction=replace(joint.friction or Friction(), **dry))


DRIVES = {
    "rotor": _Drive("armature", "rotor inertia (armature)", "kg m^2", _rotor),
    "viscous": _Drive("damping", "damping (viscous friction)", "N m s/rad", _viscous),
    "coulomb": _Drive("dry_friction", "dry friction", "N m", _dry),
    "spring": _Drive("spring", "springs", "N m/rad", lambda joint, other: replace(joint, spring=other.spring)),
}


@hypothesis("model")
def drives(gap: Gap) -> Iterator[Reading]:
    """Numbers of drives that one model has and the other has not, or has otherwise: all joints at once."""
    assert gap.target is not None
    for name, drive in DRIVES.items():
        joints = gap.differences.at(name)
        if not joints:
            continue
        names = [gap.own.names[k] for k in joints]
        mine, other = gap.own.drives[name][list(joints)], gap.target.drives[name][list(joints)]
        edits = {gap.own.names[k]: _taking(drive, gap.partners[k]) for k in joints}
        factor = "" if not _one_factor(mine, other) else f"; all by the same factor, {_one_factor(mine, other):.6g}"
        yield Reading(
            drive.kind,
            tuple(names),
            f"{_sides(gap, drive.words, mine, other, drive.unit)}: joints {listed(names)}{factor}",
            edit_joints(edits),
            reals=1,
        )


def _taking(drive: _Drive, partner: Joint) -> Callable[[Joint], Joint]:
    return lambda joint: drive.take(joint, partner)


def _one_factor(mine: Floats, other: Floats) -> float:
    """The factor from one to the other, where it is the same of all joints; else zero."""
    if not mine[:, 0].all() or not other[:, 0].all():
        return 0.0
    factor = float(other[0, 0] / mine[0, 0])
    return factor if abs(factor - 1) > 1e-6 and np.allclose(other, factor * mine, rtol=1e-6) else 0.0


def _sides(gap: Gap, words: str, mine: Floats, other: Floats, unit: str) -> str:
    """Which of the two has it: the first number of each group speaks."""
    first, second = np.abs(mine).max(), np.abs(other).max()
    if first == 0 or second == 0:
        side, there = (gap.second, other) if first == 0 else (gap.first, mine)
        return f"only {side} has {words}, {_from_to(there[:, 0])} {unit}"
    return f"{words} differs, up to {np.abs(mine - other).max():.4g} {unit}"


def _from_to(values: Floats) -> str:
    low, high = f"{values.min():.4g}", f"{values.max():.4g}"
    return low if low == high else f"{low} to {high}"


@hypothesis("model")
def gravity_compensation(gap: Gap) -> Iterator[Reading]:
    """Bodies whose weight is carried in one model only."""
    if gap.other is None:
        return
    links = gap.differences.at("gravity_compensation")
    if not links:
        return
    known = {joint.body.name: joint.body.gravity_compensation for joint in gap.other.tree}
    edits: dict[str, Callable[[Joint], Joint]] = {}
    for link in links:
        for joint in bodies_of(gap.robot, link):
            share = known.get(joint.body.name, gap.partners[link].body.gravity_compensation)
            edits[joint.name] = _compensated(share)
    names = [gap.own.names[k] for k in links]
    one_side = gap.first if not gap.other.features.get("gravity_compensation") else gap.second
    yield Reading(
        "gravity_compensation",
        tuple(names),
        f"gravity compensation of the links of {listed(names)} differs: {one_side} has it",
        edit_joints(edits),
        reals=1,
    )


def _compensated(share: object) -> Callable[[Joint], Joint]:
    return lambda joint: replace(joint, body=replace(joint.body, gravity_compensation=share))


# Gravity -------------------------------------------------------------------------------------------------------------


def _gravity(vector: Floats) -> Callable[[Variant], Variant]:
    return lambda variant: replace(variant, robot=replace(variant.robot, gravity=Vec3(*map(float, vector))))


def _vectors(gap: Gap, mine: Floats, other: Floats) -> Iterator[Reading]:
    first, second = (f"({', '.join(f'{x:.5g}' for x in v)})" for v in (mine, other))
    words = f"{first} in {gap.first}, {second} in {gap.second}"
    if np.allclose(mine, -other, rtol=1e-6):
        yield Reading("gravity_sign", ("gravity",), f"gravity points the opposite way: {words}", _gravity(other))
        return
    if not other.any():
        yield Reading("gravity", ("gravity",), f"{gap.second} has no gravity", _gravity(other))
        return
    fitted = 1 if np.allclose(np.cross(mine, other), 0, atol=1e-6 * float(mine @ mine) + 1e-12) else 3
    yield Reading("gravity", ("gravity",), f"gravity differs: {words} m/s^2", _gravity(other), reals=fitted)


@hypothesis("model")
def gravity(gap: Gap) -> Iterator[Reading]:
    """The gravity vector."""
    assert gap.target is not None
    if gap.differences.at("gravity"):
        yield from _vectors(gap, gap.own.gravity, gap.target.gravity)


# From torques alone: every number enters linearly and is fitted ------------------------------------------------------


@hypothesis("torques", fits=True)
def fitted_gravity(gap: Gap) -> Iterator[Reading]:
    """The gravity vector that leaves the least difference; torques are linear in it."""
    columns = [gap.variant.torques(gap.states)]
    mine = np.array([float(x) for x in gap.robot.gravity])
    for unit in np.eye(3):
        with_unit = _gravity(mine + unit)(gap.variant).torques(gap.states)
        columns.append(with_unit - columns[0])
    found, *_ = np.linalg.lstsq(np.stack([c.ravel() for c in columns[1:]], axis=1), gap.residual.ravel(), rcond=1e-10)
    if np.abs(found).max() > 1e-6 and np.abs(mine + found).max() > 1e-6 * np.abs(mine).max():
        # without any gravity, the torques are gravity-compensated: a hypothesis of its own
        yield from _vectors(gap, mine, _round(mine + found))


def _round(v: Floats) -> Floats:
    """Without the noise of a fit."""
    return np.array([float(f"{x:.10g}") if abs(x) > 1e-9 else 0.0 for x in v])


@hypothesis("torques", effort=1, fits=True)
def fitted_drives(gap: Gap) -> Iterator[Reading]:
    """Armature, damping, dry friction and springs, joint by joint, from the residual over the joint's own motion."""
    names = [joint.name for joint in gap.robot.joints]
    if gap.robot.compounds or gap.variant.arrays.order:
        return
    q, qd, qdd = gap.states.q, gap.states.qd, gap.states.qdd
    shapes: dict[str, Callable[[int], list[Floats]]] = {
        "armature": lambda j: [qdd[:, j]],
        "damping": lambda j: [qd[:, j]],
        "dry_friction": lambda j: [np.sign(qd[:, j]), np.ones(len(q))],
        "torque_offset": lambda j: [np.ones(len(q))],
        "spring": lambda j: [q[:, j], np.ones(len(q))],
    }
    for kind, columns in shapes.items():
        fits = [_fit(columns(j), gap.residual[:, j]) for j in range(len(names))]
        sizes = [abs(found[0]) * float(np.std(columns(j)[0]) or 1.0) for j, (found, _) in enumerate(fits)]
        good = [
            j
            for j, (found, left) in enumerate(fits)
            if left < 0.5 and sizes[j] > 1e-9 and sizes[j] > ALONE * np.abs(found[1:]).max(initial=0.0)
        ]
        for group in dict.fromkeys((tuple(j for j in good if fits[j][1] < 1e-6), tuple(good), *((j,) for j in good))):
            if group:
                edits = {names[j]: _adding(kind, fits[j][0]) for j in group}
                values = ", ".join(f"{names[j]} {fits[j][0][0]:.4g}" for j in group[:4])
                where = tuple(names[j] for j in group)
                yield Reading(
                    kind,
                    where,
                    f"{gap.second} has {_WORDS[kind]} beyond that of {gap.first}: {values}"
                    f"{' and more' if len(group) > 4 else ''}",
                    edit_joints(edits),
                    reals=len(group),
                )


ALONE = 1e-3
"""Part of a constant torque below which the rest of a fit is rounding: the constant alone is another cause."""
_WORDS = {
    "armature": "rotor inertia (armature)",
    "damping": "damping",
    "dry_friction": "dry friction",
    "torque_offset": "constant torques (offsets of friction or of a sensor)",
    "spring": "springs",
}


def _fit(columns: list[Floats], wanted: Floats) -> tuple[Floats, float]:
    """Coefficients of least squares, and the part of the rms that is left."""
    X = np.stack(columns, axis=1)
    found = np.asarray(np.linalg.lstsq(X, wanted, rcond=None)[0], float)
    size = float(np.linalg.norm(wanted))
    return found, float(np.linalg.norm(wanted - X @ found)) / size if size else 1.0


def _adding(kind: str, found: Floats) -> Callable[[Joint], Joint]:
    value = float(found[0])

    def change(joint: Joint) -> Joint:
        friction = joint.friction or Friction()
        if kind == "armature":
            before = 0.0 if joint.rotor is None else float(joint.rotor.inertia) * float(joint.rotor.ratio) ** 2
            return replace(joint, rotor=Rotor(inertia=before + value))
        if kind == "damping":
            return replace(joint, friction=replace(friction, viscous=float(friction.viscous) + value))
        if kind in ("dry_friction", "torque_offset"):
            dry = 0.0 if kind == "torque_offset" else value
            coulomb, offset = float(friction.coulomb) + dry, float(friction.offset) + float(found[-1])
            return replace(joint, friction=replace(friction, coulomb=coulomb, offset=offset))
        old = joint.spring or Spring(0.0)
        stiffness = float(old.stiffness) + value
        force = -float(old.stiffness) * float(old.rest) + float(found[1])
        return replace(joint, spring=Spring(stiffness, -force / stiffness if stiffness else 0.0))

    return change
