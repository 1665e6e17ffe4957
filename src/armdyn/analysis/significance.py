"""Which terms of the equations of motion matter: D_ij, h_ikm and c_i, ranked over a workspace or along a motion.

    tau_i = sum_j D_ij(q) qdd_j + sum_{k<=m} h_ikm(q) qd_k qd_m + c_i(q)                                         [PR-4]

(Milićević (2.6); here h_ikm of k < m is the whole factor of qd_k qd_m.) A term can be absent for three reasons
(Milićević sec. 2): the design of the arm, h_iii, which never exists, and configurations in which it vanishes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from armdyn.analysis.error_bound import by_rates
from armdyn.analysis.motion_box import MotionBox, motion_box
from armdyn.dynamics import compile as compiled
from armdyn.graph import Graph
from armdyn.kernels import Kernel, build
from armdyn.robot import Robot
from armdyn.robot.features import TRIGONOMETRIC, takes
from armdyn.tables import Column, Section
from armdyn.typing import Array

SAMPLES = 20_000
ABSENT = 1e-12
"""Largest contribution, as a share of the joint's largest torque, of a term that is zero but for rounding."""


@dataclass(frozen=True, eq=False)
class Term:
    """One term of the torque of joint `row`."""

    name: str
    row: int
    factors: tuple[int, ...]
    """Joints whose rates multiply it: (j,) for D_ij, (k, m) for h_ikm, none for c_i."""
    largest: float
    """Largest contribution, N m or N."""
    share: float
    """The same as a share of the largest contribution to this joint."""
    vanishes: str
    """Why or where it is zero: "design", "always", "at some configurations", or "" (it never is)."""


@dataclass(frozen=True, eq=False)
class Significance:
    """The terms of all joints, those with the largest share first."""

    robot: Robot
    terms: tuple[Term, ...]
    kernel: Kernel
    """q (..., n) -> D (..., n, n), h (..., n, n n), c (..., n)."""

    def coefficients(self, q: Any) -> tuple[Array, Array, Array]:
        """Return D (..., n, n), h (..., n, n, n) with zeros for k > m, and c (..., n) at positions (..., n)."""
        return _coefficients(self.kernel, q)

    def of_joint(self, row: int) -> list[Term]:
        """The terms of one joint that are not zero everywhere, largest first."""
        return [term for term in self.terms if term.row == row and term.vanishes not in ("design", "always")]

    def section(self, most: int = 8) -> Section:
        """A table of the largest terms of each joint."""
        columns = (Column("joint"), Column("term"), Column("largest"), Column("share"), Column("zero"))
        rows = tuple(
            (self.robot.joints[i].name, term.name, f"{term.largest:.3g}", f"{100 * term.share:.3g} %", term.vanishes)
            for i in range(self.robot.n)
            for term in self.of_joint(i)[:most]
        )
        return Section("Terms by their largest contribution", columns, rows)


@takes(*TRIGONOMETRIC)
def significance(robot: Robot, *, box: MotionBox | None = None, motion: Sequence[Any] | None = None) -> Significance:
    """Return all terms of the equations of motion, ranked by their largest contribution to the torques. [PR-4]

    robot:  an open chain or tree; friction is not looked at.
    box:    motions to look at (default: `motion_box(robot)`).
    motion: (q, qd, qdd), (..., n) each: look along this motion instead.
    """
    rigid = robot.without("friction").bound()
    graph = compiled(rigid).graph("inverse_dynamics")
    parts = by_rates(graph.outputs["tau"], graph.inputs)
    outputs = {"D": parts.linear, "h": tuple(sum(rows, ()) for rows in parts.quadratic), "c": parts.constant}
    kernel = build(Graph({"q": graph.inputs["q"]}, outputs), "coefficients")
    if motion is None:
        space = box or motion_box(rigid)
        q, *_ = space.samples(SAMPLES, np.random.default_rng(0))
        qd, qdd = np.broadcast_to(space.velocity, q.shape), np.broadcast_to(space.acceleration, q.shape)
    else:
        q, qd, qdd = (np.asarray(each, dtype=float).reshape(-1, rigid.n) for each in motion)
    D, h, c = _coefficients(kernel, q)
    found = [
        *_terms("D", D, D * qdd[:, None, :]),
        *_terms("h", h, h * (qd[:, :, None] * qd[:, None, :])[:, None]),
        *_terms("c", c, c),
    ]
    most = [max(term.largest for term in found if term.row == i) for i in range(rigid.n)]
    ranked = [_judged(term, most[term.row]) for term in found]
    return Significance(robot, tuple(sorted(ranked, key=lambda term: -term.share)), kernel)


def _coefficients(kernel: Kernel, q: Any) -> tuple[Array, Array, Array]:
    D, h, c = kernel(q)
    return D, np.reshape(h, (*np.shape(D), -1)), c


def _terms(name: str, values: Array, contributions: Array) -> list[Term]:
    """The terms of one kind; `share` and `vanishes` are preliminary."""
    low, high, size = values.min(axis=0), values.max(axis=0), np.abs(contributions).max(axis=0)
    terms = []
    for place in np.ndindex(*size.shape):
        row, *factors = place
        if factors == sorted(factors):
            label = name + "".join(str(k + 1) for k in place)
            crossing = "at some configurations" if low[place] < 0 < high[place] else ""
            terms.append(Term(label, row, tuple(factors), float(size[place]), 0.0, crossing))
    return terms


def _judged(term: Term, most: float) -> Term:
    share = term.largest / most if most else 0.0
    never = term.factors == (term.row, term.row)
    zero = ("always" if never else "design") if share <= ABSENT else term.vanishes
    return Term(term.name, term.row, term.factors, term.largest, share, zero)
