"""Siciliano: the comparisons of the items can fail."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from armdyn.graph import identical
from armdyn.mechanics import lagrange
from armdyn.texts.siciliano import lagrange_arms as simple
from armdyn.texts.siciliano import newton_euler_items as recursion
from armdyn.texts.siciliano import parallelogram, problems
from armdyn.texts.siciliano import two_link_torques as example


def broken(outcome: Any) -> set[str]:
    return {check.what for check in outcome.checks if not check.holds}


def test_a_wrong_sign_in_7_82_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = simple.planar_torques()
    p, s2, v1, v2 = simple.p, simple.s2, simple.v1, simple.v2
    monkeypatch.setattr(simple, "planar_torques", lambda: [first + 4 * p.ml2 * p.a1 * p.l2 * s2 * v1 * v2, second])
    assert broken(simple.section_7_3_2()) == {"(7.82) by four formulations", "(7.84) times (7.83) is (7.82)"}


def test_a_wrong_entry_of_the_regressor_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    columns = simple.planar_regressor()
    columns[7][0] = columns[7][0] + simple.w1
    monkeypatch.setattr(simple, "planar_regressor", lambda: columns)
    assert broken(simple.section_7_3_2()) == {"(7.84): all 16 entries", "(7.84) times (7.83) is (7.82)"}


def test_other_data_of_example_7_2_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(example.DATA, "Im", 0.011)
    assert broken(example.data()) == {"Im1, Im2", "torques of the three motions against (7.82)"}
    assert "all contributions against the terms of (7.82), relative" in {
        check.what for check in example.contribution_checks("equal durations") if not check.holds
    }


@pytest.mark.parametrize("name", ["b_a22_slip", "b_33_slip", "condition_slip", "decoupled_slip"])
def test_evidence_on_the_parallelogram_needs_two_different_forms(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Were the print right, or were ours wrong, there would be no evidence."""
    assert getattr(parallelogram, name)().holds
    for verdict in (True, False):
        monkeypatch.setattr(parallelogram, "identical", lambda *_, verdict=verdict: verdict)
        assert not getattr(parallelogram, name)().holds


def test_printed_b_a22_is_off_by_a_sixth() -> None:
    """On the arm of the catalog, by arithmetic: uniform bars of 10, 8, 15 and 20 kg."""
    printed = 0.075 + 10 * 0.15**2 + 0.6667 + 8 * 0.5**2 + 8 * 1.0**2
    right = 1.6667 + 20 * 0.5**2 + 0.6667 + 8 * 0.5**2 + 15 * 1.0**2
    assert f"{printed:.4g} kg m², the right one {right:.4g}" in parallelogram.section_7_3_3().says


def test_steps_of_7_5_3_are_more_than_their_torques() -> None:
    """f_1 printed with the weight of link 1 alone is noticed, though no torque depends on its first component."""
    printed = recursion.printed_example()
    printed["f_1"][0] = printed["f_1"][0] - simple.p.ml2 * simple.p.g * simple.s1
    assert not identical(recursion.computed_example()["f_1"], printed["f_1"])


def test_absolute_angles_have_no_coriolis_terms() -> None:
    """Problem 7.6: a product of rates put in is noticed."""
    first, second = problems.absolute_torques()
    wrong = [first + simple.v1 * simple.v2, second]
    found = lagrange.equations(problems.absolute_lagrangian, simple.q, simple.qd, simple.qdd)
    assert identical(found, [first, second]) and not identical(found, wrong)


def test_gravity_of_example_7_2_by_hand() -> None:
    """Stretched out level: (ml1 l1 + mm2 a1 + ml2 a1 + ml2 l2) g and ml2 l2 g."""
    zero = np.zeros((1, 2))
    terms = example.printed_terms(zero, zero, zero)
    assert terms["gravity 1"][0] == pytest.approx((25 + 5 + 50 + 25) * 9.81)
    assert terms["gravity 2"][0] == pytest.approx(25 * 9.81)
