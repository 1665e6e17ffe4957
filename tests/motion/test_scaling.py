"""Dynamic scaling, Siciliano sec. 7.7: touches the limit, exceeds none, refuses what no speed can help."""

from __future__ import annotations

import numpy as np
import pytest

import armdyn
from armdyn.errors import ArmdynError, NotApplicable, ShapeError
from armdyn.motion import Infeasible, motion_limits
from motion.arms import compiled, slider, waypoints
from support.limits import FULL

FINE = 20_001
TAU_MAX = [200, 200, 150, 40, 40, 40]


def torques(dyn: armdyn.Dynamics, motion: armdyn.trajectory.Trajectory) -> np.ndarray:
    jumps = np.concatenate([motion.breaks, (motion.breaks - 1e-9 * motion.duration)[1:]])
    t = np.union1d(np.linspace(0, motion.duration, FINE), jumps)
    qd = np.where(np.abs(motion(t, 1)) > 1e-12, motion(t, 1), 0.0)  # friction must not take its sign from rounding
    return dyn.inverse_dynamics(motion(t), qd, motion(t, 2))


@pytest.mark.parametrize("profile", ["cubic", "quintic", "trapezoid", "bang_bang", "smooth"])
@pytest.mark.parametrize("name", ["planar2r", "panda", "ur5", "puma560"] if FULL else ["planar2r", "panda"])
@pytest.mark.parametrize("duration", [0.3, 5.0])
def test_touches_the_limit_and_exceeds_none(name: str, profile: str, duration: float) -> None:
    dyn = compiled(name)
    ends = waypoints(name, 5, 2)
    ref = armdyn.point_to_point(ends[0], ends[1], profile, duration=duration)
    hold = np.abs(dyn.gravity(ref(np.linspace(0, duration, 200)))).max(axis=0)
    limit = np.maximum(armdyn.motion.motion_limits(dyn.robot, tau_max=1500.0 if name == "planar2r" else None).tau_max,
                       2 * hold + 1)  # fmt: skip
    scaled = armdyn.scale_to_torque(ref, dyn, limits={"tau_max": limit, "v_max": np.inf, "a_max": np.inf})
    share = np.abs(torques(dyn, scaled)) / limit
    # 1e-6: between 2,000 looked-at times the extreme is found by narrowing brackets.
    assert abs(share.max() - 1) < 1e-6
    assert dyn.robot.joints[int(share.max(axis=0).argmax())].name == scaled.joint
    assert np.isclose(scaled.duration, ref.duration / scaled.c)
    assert np.allclose(scaled(scaled.duration), ref(ref.duration))


def test_the_law_of_scaling() -> None:
    """tau_s(t) = c^2 tau_s,ref(ct): Siciliano, after (7.126); gravity apart, friction absent."""
    dyn = compiled("planar2r")
    ref = armdyn.point_to_point([-1.4, 2.9], [-0.4, 0.9], "quintic", duration=0.5)
    scaled = armdyn.scale_to_torque(ref, dyn, limits={"tau_max": 2000.0})
    c, t = scaled.c, np.linspace(0, scaled.duration, 301)

    def moving(motion: armdyn.trajectory.Trajectory, at: np.ndarray) -> np.ndarray:
        return dyn.inverse_dynamics(motion(at), motion(at, 1), motion(at, 2)) - dyn.gravity(motion(at))

    assert c < 0.9
    assert np.abs(moving(scaled, t) - c**2 * moving(ref, c * t)).max() < 1e-9 * 2000
    assert np.abs(dyn.gravity(scaled(t)) - dyn.gravity(ref(c * t))).max() < 1e-9


def test_a_slow_motion_becomes_faster_and_one_scaled_already_stays() -> None:
    ref = armdyn.point_to_point([0.0], [1.0], "bang_bang", duration=10.0)
    once = armdyn.scale_to_torque(ref, slider(), limits={"tau_max": 8.0})
    assert np.isclose(once.duration, 1.0) and np.isclose(once.c, 10.0)  # 2 kg, 4 m/s^2 over 1 m
    assert np.isclose(armdyn.scale_to_torque(once, slider(), limits={"tau_max": 8.0}).c, 1.0)


def test_friction_scales_as_its_laws_say() -> None:
    """c^2 m a + c Fv v + Fc = limit, solved by hand at the time at which it is reached."""
    ref = armdyn.point_to_point([0.0], [1.0], "bang_bang", duration=2.0)  # a = 1, v up to 1
    robot = slider({"viscous": 3.0, "coulomb": 0.5})
    scaled = armdyn.scale_to_torque(ref, robot, limits={"tau_max": 6.0})
    by_hand = (-3.0 + np.sqrt(9 + 4 * 2.0 * 5.5)) / 4.0  # 2 c^2 + 3 c + 0.5 = 6, when v is largest
    assert np.isclose(scaled.c, by_hand, rtol=1e-7)


def test_a_law_of_friction_without_formula() -> None:
    ref = armdyn.point_to_point([0.0], [1.0], "quintic", duration=2.0)
    dyn = armdyn.compile(slider({"viscous": 1.0, "coulomb": 0.5, "static": 1.5, "stribeck": 0.1}))
    scaled = armdyn.scale_to_torque(ref, dyn, limits={"tau_max": 6.0})
    assert abs(np.abs(torques(dyn, scaled)).max() / 6.0 - 1) < 1e-5


def test_limits_of_two_sides_and_of_velocity_and_acceleration() -> None:
    ref = armdyn.point_to_point([0.0], [1.0], "bang_bang", duration=2.0)
    braking = armdyn.scale_to_torque(ref, slider(), limits={"tau_max": 8.0, "tau_min": -2.0})  # 2 c^2 <= 2
    assert np.isclose(braking.c, 1.0)
    slow = armdyn.scale_to_torque(ref, slider(), limits={"tau_max": 8.0, "v_max": 1.5})
    assert np.isclose(slow.c, 1.5) and slow.quantity == "velocity"
    gentle = armdyn.scale_to_torque(ref, slider(), limits={"tau_max": 8.0, "a_max": 1.21})
    assert np.isclose(gentle.c, 1.1) and gentle.quantity == "acceleration"


def test_what_gravity_alone_exceeds_is_refused_with_the_joint_and_the_amount() -> None:
    dyn = compiled("planar2r")
    ref = armdyn.point_to_point([0.3, 0.2], [0.0, 0.0], "quintic", duration=3.0)
    # Stretched out, g1 = (25 + 5 + 50 + 25) 9.81 and g2 = 25 * 9.81: Siciliano sec. 7.3.2.
    with pytest.raises(Infeasible, match=r"joint 'shoulder' needs 1030.* N m against gravity alone") as caught:
        armdyn.scale_to_torque(ref, dyn, limits={"tau_max": [1000.0, 300.0]})
    assert caught.value.joint == "shoulder" and caught.value.amount == pytest.approx(105 * 9.81 - 1000)
    with pytest.raises(Infeasible, match="joint 'elbow'") as caught:
        armdyn.scale_to_torque(ref, dyn, limits={"tau_max": [1100.0, 200.0]})
    assert caught.value.joint == "elbow" and caught.value.amount == pytest.approx(25 * 9.81 - 200)
    assert armdyn.scale_to_torque(ref, dyn, limits={"tau_max": [1031.0, 250.0]}).c > 0


def test_gravity_with_dry_friction_is_named_as_such() -> None:
    ref = armdyn.point_to_point([0.0], [1.0], "quintic", duration=3.0)
    with pytest.raises(Infeasible, match=r"needs 5 N against gravity with dry friction alone.*1 N beyond") as caught:
        armdyn.scale_to_torque(ref, slider({"coulomb": 3.0}, gravity=1.0), limits={"tau_max": 4.0})
    assert caught.value.amount == pytest.approx(1.0)


def test_any_function_with_a_duration_is_a_reference() -> None:
    from armdyn.catalog.curves import ScaraCurve

    dyn = compiled("scara5")
    curve = ScaraCurve()
    scaled = armdyn.scale_to_torque(curve, dyn, limits={"tau_max": 60.0})
    assert abs(np.abs(torques(dyn, scaled)).max() / 60.0 - 1) < 1e-5  # the peak is sharp: this grid passes it
    faster = armdyn.time_optimal(curve, dyn, limits={"tau_max": 60.0, "v_max": 20.0})
    assert faster.duration < scaled.duration and np.allclose(faster(faster.duration), curve(curve.duration))
    assert armdyn.feasibility(dyn, faster, limits={"tau_max": 60.0, "v_max": 20.0})


def test_questions_without_an_answer() -> None:
    with pytest.raises(Infeasible, match="no torque limit is known"):
        armdyn.scale_to_torque(armdyn.point_to_point([0.0], [1.0], duration=1.0), slider())
    with pytest.raises(Infeasible, match="nothing limits the speed"):
        armdyn.scale_to_torque(armdyn.trajectory.hold([0.3], 2.0), slider(), limits={"tau_max": 4.0})
    with pytest.raises(armdyn.ArmdynError, match="tau_max"):
        armdyn.scale_to_torque(armdyn.point_to_point([0.0], [1.0], duration=1.0), slider(), limits={"tau_max": -4.0})


def test_a_reference_that_stands_has_no_speed_to_scale() -> None:
    still = armdyn.point_to_point([0.3, 0.4], [0.3, 0.4], "cubic", duration=1.0)
    with pytest.raises(Infeasible, match="nothing limits the speed"):
        armdyn.scale_to_torque(still, armdyn.load("planar2r"), limits={"tau_max": 3000.0})


def test_jerk_scales_with_the_cube_of_the_speed() -> None:
    """A quintic reaches its jerk limit exactly, 60 strokes over the cube of the duration; a trapezoid never can."""
    arm = compiled("planar2r")
    move = armdyn.point_to_point([0.0, 0.0], [1.0, 0.5], "quintic", duration=2.0)
    scaled = armdyn.scale_to_torque(move, arm, limits={"tau_max": 1e6, "j_max": 30.0})
    assert (scaled.quantity, scaled.joint) == ("jerk", "shoulder")
    assert scaled.duration == pytest.approx((60.0 / 30.0) ** (1 / 3), rel=1e-9)
    assert armdyn.feasibility(arm, scaled, limits={"tau_max": 1e6, "j_max": 30.0 * (1 + 1e-6)})
    with pytest.raises(Infeasible, match="jumps"):
        armdyn.scale_to_torque(
            armdyn.point_to_point([0.0, 0.0], [1.0, 0.5], duration=2.0), arm, limits={"tau_max": 1e6, "j_max": 30.0}
        )


def test_limits_as_one_object() -> None:
    """The same limits, by name or as one object, for every function that takes them; never both, never left out."""
    robot = compiled("ur5").robot
    move = armdyn.point_to_point(np.zeros(6), np.full(6, 0.4), "quintic", duration=1.0)
    limits = motion_limits(robot, tau_max=TAU_MAX, v_max=2.0, no_load_speed=3.0)
    assert limits.curve is not None

    verdicts = (armdyn.feasibility(robot, move, limits={"tau_max": TAU_MAX, "v_max": 2.0, "no_load_speed": 3.0}),
                armdyn.feasibility(robot, move, limits=limits))  # fmt: skip
    assert (verdicts[0].use["torque"] == verdicts[1].use["torque"]).all()
    payloads = (armdyn.largest_payload(robot, move, limits={"tau_max": TAU_MAX, "v_max": 2.0, "no_load_speed": 3.0}),
                armdyn.largest_payload(robot, move, limits=limits))  # fmt: skip
    assert payloads[0].mass == payloads[1].mass > 0
    timings = (armdyn.time_optimal(move, robot, limits={"tau_max": TAU_MAX, "v_max": 2.0, "no_load_speed": 3.0}),
               armdyn.time_optimal(move, robot, limits=limits))  # fmt: skip
    assert timings[0].duration == timings[1].duration
    scaled = (armdyn.scale_to_torque(move, robot, limits={"tau_max": TAU_MAX, "v_max": 2.0, "no_load_speed": 3.0}),
              armdyn.scale_to_torque(move, robot, limits=limits))  # fmt: skip
    assert scaled[0].duration == scaled[1].duration


def test_limits_that_contradict_or_are_unknown() -> None:
    robot, move = compiled("planar2r").robot, armdyn.point_to_point([0.0, 0.0], [1.0, 0.5], "quintic", duration=2.0)
    for function in (armdyn.scale_to_torque, armdyn.time_optimal):
        with pytest.raises(ArmdynError, match="Did you mean 'v_max'"):
            function(move, robot, limits={"tau_max": 1e6, "vmax": 1.0})
        for limits in ({"tau_max": 1e6, "p_max": 100.0}, motion_limits(robot, tau_max=1e6, p_max=100.0)):
            with pytest.raises(NotApplicable, match="a limit p_max"):
                function(move, robot, limits=limits)
        with pytest.raises(ShapeError, match="limits of 6 joints"):
            function(move, robot, limits=motion_limits(compiled("ur5").robot))
    with pytest.raises(ArmdynError, match="Did you mean 'v_max'"):
        motion_limits(robot, vmax=2.0)  # type: ignore[call-arg]
