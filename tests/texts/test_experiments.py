"""The experiments of the source texts: El Baji sec. 5.3 and Truc sec. 5."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import armdyn
from armdyn.catalog.curves import SCARA_RATE, SCARA_START, ScaraCurve, Swing
from armdyn.control import ComputedTorque, Formulated
from armdyn.simulation.settings import Solver
from armdyn.texts.elbaji.scara_tracking import SCARA_KD, SCARA_KP, printed_model, scara_tracking
from armdyn.texts.khalil import chapter_9
from armdyn.texts.other_model import OtherModel

CURVE = ScaraCurve()


@pytest.fixture(scope="module")
def dyn() -> armdyn.Dynamics:
    return armdyn.compile(armdyn.load("scara5"))


def test_inverse_kinematics_reaches_the_curve(dyn: armdyn.Dynamics) -> None:
    """El Baji (37) of the corrected (38) gives (40) back; the printed sign of c_2 does not."""
    t = np.linspace(0, 10, 401)
    pose = dyn.pose(CURVE(t))
    x, y = 0.1 * np.cos(t / 2) * np.cos(t) + 0.2, 0.1 * np.sin(t / 2) * np.cos(t) + 0.2
    assert np.allclose(pose[:, :3, 3], np.column_stack([x, y, np.full_like(t, 0.2)]), rtol=0, atol=1e-14)
    phi = CURVE(t)[:, 1:4].sum(axis=1)
    assert np.allclose(phi, np.pi / 3, rtol=0, atol=1e-14)


def test_the_curve_has_the_derivatives_it_says() -> None:
    t, h = np.linspace(0.1, 9.9, 301), 1e-4
    for order in (0, 1):
        ahead, behind = (CURVE(t + s * h, order) for s in (1, -1))
        slope = (ahead - behind) / (2 * h)
        assert np.abs(slope - CURVE(t, order + 1)).max() < 1e-5  # h^2/6 times the third derivative, about 600


def test_start_is_that_of_the_text() -> None:
    """The largest distance of the text's q(0) from the corrected inverse kinematics is 0.184 rad (ElBaji-1)."""
    assert np.abs(CURVE(0.0) - SCARA_START).max() == pytest.approx(0.184, abs=5e-4)
    assert CURVE(0.0)[[0, 4]] == pytest.approx(SCARA_START[[0, 4]])


def test_error_obeys_its_equation_at_first() -> None:
    """With the exact model e'' + 10 e' + 200 e = 0, whatever the arm does (Khalil (9.25))."""
    run = scara_tracking(duration=1.0, solver=Solver(integrator="rk4"))
    e0, v0 = run.error[0], CURVE(0.0, 1) - SCARA_RATE
    a, w = SCARA_KD / 2, np.sqrt(SCARA_KP - SCARA_KD**2 / 4)
    t = run.t[:, None]
    exact = np.exp(-a * t) * (e0 * np.cos(w * t) + (v0 + a * e0) / w * np.sin(w * t))
    assert np.abs(run.error - exact).max() < 1e-8  # RK4: (w dt)^4 of the error's size
    coarse = scara_tracking(duration=1.0)  # the scheme (43), of order 1: dt w^2 / 2 per second, about 10 % of e
    assert np.abs(coarse.error - exact).max() < 0.1 * np.abs(e0).max()


@pytest.mark.parametrize("through", ["newton_euler", "matrices"])
def test_symbolic_and_numeric_controllers_agree(dyn: armdyn.Dynamics, through: str) -> None:
    """El Baji sec. 5.3: code generated from symbols, and the new formulation evaluated on numbers in every cycle."""
    numeric = Formulated(dyn.robot, "bertrand_bruneau")
    symbolic = scara_tracking(ComputedTorque(dyn, SCARA_KP, SCARA_KD), duration=0.1)
    law = ComputedTorque(numeric, SCARA_KP, SCARA_KD, through=through)  # type: ignore[arg-type]
    other = scara_tracking(law, duration=0.1)
    assert np.abs(other.tau - symbolic.tau).max() < 1e-11 * np.abs(symbolic.tau).max()


@pytest.mark.parametrize("name", ["printed", "Kane"])
def test_models_of_the_laws_agree_with_the_arms(name: str) -> None:
    model = printed_model() if name == "printed" else chapter_9.known()
    dyn = armdyn.compile(model.robot)
    q, qd, qdd = np.random.default_rng(5).uniform(-1, 1, (3, 7, dyn.n))
    for what, state in (("inverse_dynamics", (q, qd, qdd)), ("mass_matrix", (q,)), ("coriolis", (q, qd)),
                        ("gravity", (q,)), ("friction", (qd,))):  # fmt: skip
        np.testing.assert_allclose(getattr(model, what)(*state), getattr(dyn, what)(*state), rtol=1e-11, atol=1e-11)


def test_a_wrong_equation_of_the_law_is_seen() -> None:
    """One term of fig. 3 less, and the error no longer obeys its equation: law and arm share no code."""
    wrong = OtherModel(armdyn.load("scara5"), lambda q, qd, qdd: _without_coriolis_of_the_elbow(q, qd, qdd))
    law = ComputedTorque(wrong, SCARA_KP, SCARA_KD)  # type: ignore[arg-type]
    exact, off = (scara_tracking(each, duration=0.5, solver=Solver(integrator="rk4")).error for each in (None, law))
    assert np.abs(exact - off).max() > 1e-3


def _without_coriolis_of_the_elbow(q: Any, qd: Any, qdd: Any) -> Any:
    tau = armdyn.mechanics.kane.inverse_dynamics.formula(armdyn.load("scara5"), q, qd, qdd)
    still = armdyn.mechanics.kane.inverse_dynamics.formula(armdyn.load("scara5"), q, [0] * 5, qdd)
    return [*tau[:2], still[2], *tau[3:]]


def test_swing_is_the_reference_of_the_text() -> None:
    t = np.array([0.0, 0.25, 0.5])
    w = 2 * np.pi
    assert np.allclose(Swing()(t), np.outer([0, 1, 2], [1, 0.75, 0.5]))
    assert np.allclose(Swing()(t, 1), np.outer([0, w, 0], [1, 0.75, 0.5]))
    assert np.allclose(Swing()(t, 2), np.outer([w**2, 0, -(w**2)], [1, 0.75, 0.5]))
