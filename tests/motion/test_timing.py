"""The fastest timing: analytic cases, laws that every optimum obeys, limits on a fine grid, reasons for refusal."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq

import armdyn
from armdyn.motion import Infeasible
from armdyn.motion.path import corners
from armdyn.motion.timed_path import TimingStatus
from motion.arms import compiled, slider, waypoints
from support.limits import FULL

LINE = [[0.0], [1.0]]


# Analytic cases -------------------------------------------------------------------------------------------------------


def test_double_integrator_is_bang_bang() -> None:
    move = armdyn.time_optimal(LINE, slider(), limits={"tau_max": 4.0})  # 2 kg: 2 m/s^2
    assert np.isclose(move.duration, np.sqrt(2.0), rtol=1e-9) and move.status is TimingStatus.OPTIMAL
    t = np.linspace(0, move.duration, 1001)
    middle = np.abs(t - move.duration / 2) < 1e-3
    assert np.allclose(np.abs(move(t, 2)[~middle]), 2.0, rtol=1e-6)
    switches = np.flatnonzero(np.diff(np.sign(move(t, 2)[~middle, 0])))
    assert len(switches) == 1
    assert np.allclose(move(t[t < 0.7])[:, 0], t[t < 0.7] ** 2, atol=1e-7)


@pytest.mark.parametrize(("v_max", "a_max"), [(0.5, np.inf), (np.inf, 0.8), (0.5, 0.8)])
def test_velocity_and_acceleration_limits_make_a_trapezoid(v_max: float, a_max: float) -> None:
    a = min(2.0, a_max)
    v = min(v_max, np.sqrt(a))
    move = armdyn.time_optimal(LINE, slider(), limits={"tau_max": 4.0, "v_max": v_max, "a_max": a_max})
    # The exact switch lies within a cell: a cell is lost at most, 0.25 % of the way, at a fraction of the speed.
    assert 1 / v + v / a <= move.duration * (1 + 1e-9) < (1 / v + v / a) * (1 + 1e-4)


def rest_to_rest(up: float, down: float) -> float:
    """Time over 1 m with these accelerations."""
    return float(np.sqrt(2 * (up + down) / (up * down)))


def test_gravity_and_dry_friction_split_the_torque() -> None:
    lift = armdyn.time_optimal(LINE, slider(gravity=1.0), limits={"tau_max": 4.0})
    assert np.isclose(lift.duration, rest_to_rest((4 - 2) / 2, (4 + 2) / 2), rtol=1e-5)
    rough = armdyn.time_optimal(LINE, slider({"coulomb": 1.0}), limits={"tau_max": 4.0})
    # 5e-4: in the very last cell friction is not counted on, as it is none at rest.
    assert np.isclose(rough.duration, rest_to_rest(3 / 2, 5 / 2), rtol=5e-4)
    one_sided = armdyn.time_optimal(LINE, slider(), limits={"tau_max": 4.0, "tau_min": -1.0})
    assert np.isclose(one_sided.duration, rest_to_rest(2.0, 0.5), rtol=1e-5)


def test_viscous_friction() -> None:
    """m v' = F - c v, then m v' = -F - c v, in closed form."""
    F, c, m = 4.0, 3.0, 2.0

    def way(switch: float) -> tuple[float, float]:
        v = F / c * (1 - np.exp(-c * switch / m))
        gone = F / c * (switch - m / c * (1 - np.exp(-c * switch / m)))
        brake = m / c * np.log(1 + c * v / F)
        return gone + (v + F / c) * m / c * (1 - np.exp(-c * brake / m)) - F / c * brake, switch + brake

    switch = brentq(lambda x: way(x)[0] - 1, 0.0, 5.0)
    exact = way(switch)[1]
    errors = []
    for points in (100, 400, 1600):
        move = armdyn.time_optimal(LINE, slider({"viscous": c}), limits={"tau_max": F}, points=points)
        assert move.status is TimingStatus.OPTIMAL and move.rounds > 1
        errors.append(move.duration / exact - 1)
    assert 0 < errors[2] < errors[1] / 2 < errors[0] / 4 and errors[1] < 2e-3  # first order in the cell


def test_speeds_at_the_ends_and_a_weight_that_torque_cannot_hold() -> None:
    """Weight 2 N, torque 1 N: only momentum lifts. Braking by 0.5 at least, by 1.5 at most, from 1.2 to 0.3 m/s."""
    robot = slider(gravity=1.0)
    move = armdyn.time_optimal(LINE, robot, limits={"tau_max": 1.0}, start_speed=1.2, end_speed=0.3)
    switch = np.sqrt(1.44 - 0.825)  # 1.44 - s = 0.09 + 3 (1 - s) at s = 0.825
    assert np.isclose(move.duration, (1.2 - switch) / 0.5 + (switch - 0.3) / 1.5, rtol=1e-5)
    assert np.isclose(move(0.0, 1)[0], 1.2) and np.isclose(move(move.duration, 1)[0], 0.3)
    with pytest.raises(Infeasible, match="needs 2 N against gravity alone, 1 N beyond its limit of 1 N"):
        armdyn.time_optimal(LINE, robot, limits={"tau_max": 1.0})
    with pytest.raises(Infeasible):  # too slow to arrive
        armdyn.time_optimal(LINE, robot, limits={"tau_max": 1.0}, start_speed=0.9, end_speed=0.3)


# Laws of every optimum ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["planar2r", "panda", "ur5", "puma560"] if FULL else ["planar2r", "puma560"])
@pytest.mark.parametrize("profile", ["quintic", "trapezoid", "bang_bang"])
def test_never_slower_than_scaling(name: str, profile: str) -> None:
    dyn = compiled(name)
    ends = waypoints(name, 11, 2)
    ref = armdyn.point_to_point(ends[0], ends[1], profile, duration=1.0)
    tau = np.maximum(armdyn.motion.motion_limits(dyn.robot, tau_max=2000.0 if name == "planar2r" else None).tau_max,
                     1.5 * np.abs(dyn.gravity(ref(np.linspace(0, 1, 100)))).max(axis=0) + 30)  # fmt: skip
    v, a = 3.0, 40.0
    scaled = armdyn.scale_to_torque(ref, dyn, limits={"tau_max": tau, "v_max": v, "a_max": a})
    assert armdyn.time_optimal(ref, dyn, limits={"tau_max": tau, "v_max": v, "a_max": a}).duration < scaled.duration * (
        1 + 1e-6
    )


def use_of_limits(dyn: armdyn.Dynamics, move: armdyn.trajectory.Trajectory, t: np.ndarray) -> np.ndarray:
    """(k,) the largest share of any limit that is used."""
    limits = armdyn.motion.motion_limits(dyn.robot)
    q, qd, qdd = move(t), move(t, 1), move(t, 2)
    shares = [np.abs(qd) / limits.velocity, np.abs(qdd) / limits.acceleration,
              np.abs(dyn.inverse_dynamics(q, qd, qdd)) / limits.tau_max]  # fmt: skip
    return np.max(shares, axis=(0, 2))


@pytest.mark.parametrize("name", ["panda", "ur5", "puma560"] if FULL else ["ur5"])
@pytest.mark.parametrize("seed", range(4))
def test_limits_hold_on_a_fine_grid_and_one_is_always_reached(name: str, seed: int) -> None:
    dyn = compiled(name)
    move = armdyn.time_optimal(waypoints(name, seed), dyn)
    t = np.linspace(0, move.duration, 40_001)
    use = use_of_limits(dyn, move, t)
    # 1e-4: limits are made to hold at five places of each of 400 cells; between them they curve by this much.
    assert use.max() < 1 + 1e-4
    # Nothing is left unused, but where the last cell before a switch is cut short and, with friction, where the end of
    # a cell binds and its start does not.
    assert np.mean(use > (0.9 if name == "puma560" else 0.97)) > 0.97


def test_no_chattering_at_points_of_zero_inertia() -> None:
    """Where M q' of a joint passes zero, a bang-bang solution would switch to and fro."""
    dyn = compiled("planar2r")
    path = armdyn.trajectory.from_samples([0.0, 1.0], [[0.0, 1.8], [2.5, 1.3]])
    tau = [3000.0, 300.0]
    s = np.linspace(0, 1, 2001)
    a = np.einsum("kij,kj->ki", dyn.mass_matrix(path(s)), path(s, 1))
    assert (a[:-1, 1] * a[1:, 1] < 0).any() or (a[:-1, 0] * a[1:, 0] < 0).any()
    move = armdyn.time_optimal(path, dyn, limits={"tau_max": tau})
    acceleration = np.diff(move.speed**2) / np.diff(move.s)
    assert np.count_nonzero(np.diff(np.sign(acceleration))) < 12
    assert armdyn.feasibility(dyn, move, limits={"tau_max": tau})


def test_a_finer_grid_agrees() -> None:
    dyn = compiled("panda")
    durations = [armdyn.time_optimal(waypoints("panda", 1), dyn, points=k).duration for k in (100, 400, 1600)]
    assert abs(durations[1] / durations[2] - 1) < 1e-3 and abs(durations[0] / durations[2] - 1) < 1e-2


def test_own_timing_of_the_path_does_not_matter() -> None:
    dyn = compiled("planar2r")
    tau = [2000.0, 800.0]
    ways = [armdyn.point_to_point([0.0, 0.5], [1.0, -0.5], profile, duration=T) for profile, T in
            (("linear", 1.0), ("quintic", 3.0), ("bang_bang", 0.1), ("trapezoid", 70.0))]  # fmt: skip
    durations = [armdyn.time_optimal(way, dyn, limits={"tau_max": tau}).duration for way in ways]
    assert np.ptp(durations) < 2e-4 * durations[0]
    back = armdyn.time_optimal(ways[1].reversed(), dyn, limits={"tau_max": tau}).duration
    assert np.isclose(back, durations[0], rtol=2e-3)  # torques are symmetric and there is no friction


def test_the_robot_stops_at_corners() -> None:
    dyn = compiled("planar2r")
    tau = [3000.0, 1500.0]
    legs = [armdyn.point_to_point([0.0, 0.0], [1.0, 0.0], duration=1.0),
            armdyn.point_to_point([1.0, 0.0], [1.0, 1.0], duration=1.0)]  # fmt: skip
    whole = armdyn.time_optimal(legs[0].then(legs[1]), dyn, limits={"tau_max": tau})
    parts = [armdyn.time_optimal(leg, dyn, limits={"tau_max": tau}).duration for leg in legs]
    assert np.isclose(whole.duration, sum(parts), rtol=1e-3)
    at = parts[0] * whole.duration / sum(parts)
    t = np.linspace(at - 0.01, at + 0.01, 401)
    assert np.linalg.norm(whole(t) - [1.0, 0.0], axis=1).min() < 1e-4
    assert np.abs(whole(t, 1)).max(axis=1).min() < 0.2
    assert armdyn.feasibility(dyn, whole, limits={"tau_max": tau})


def test_a_path_that_all_but_reverses_is_resolved() -> None:
    """Near a cusp the direction turns within a thousandth of the way: even cells would run over it."""
    dyn = compiled("planar2r")
    points = [[0.0, 0.0], [1.0, 1.2], [0.1, 0.01], [1.0, 1.5]]
    path = armdyn.via_points(points, times=np.arange(4.0))
    s = np.linspace(0.01, 2.99, 30_001)
    first, second = path(s, 1), path(s, 2)
    bend = np.abs(first[:, 0] * second[:, 1] - first[:, 1] * second[:, 0]) / np.linalg.norm(first, axis=1) ** 3
    assert np.sort(bend)[-300:].min() > 20  # rad per rad
    move = armdyn.time_optimal(path, dyn, limits={"tau_max": [1500.0, 500.0]})
    assert move.status is TimingStatus.OPTIMAL
    verdict = armdyn.feasibility(dyn, move, limits={"tau_max": [1500.0, 500.0]}, dt=move.duration / 20_000)
    assert verdict.use["torque"].max() < 1 + 1e-3  # the torque peaks within cells of one degree of turning


@pytest.mark.parametrize("path", ["spline", "rest"])
def test_the_result_is_a_trajectory(path: str) -> None:
    """On the path, derivatives consistent, at rest at both ends."""
    dyn = compiled("ur5")
    points = waypoints("ur5", 2)
    curve = armdyn.via_points(points, times=np.arange(5.0)) if path == "rest" else None  # comes to rest at its ends
    move = armdyn.time_optimal(curve if curve is not None else points, dyn)
    assert np.allclose(move(0.0), points[0]) and np.allclose(move(move.duration), points[-1])
    assert np.abs(move([0.0, move.duration], 1)).max() < 1e-9
    t = np.linspace(0.02, 0.98, 300) * move.duration
    h = 1e-6
    assert np.abs((move(t + h) - move(t - h)) / (2 * h) - move(t, 1)).max() < 1e-4
    speed_change = np.abs((move(t + h, 1) - move(t - h, 1)) / (2 * h) - move(t, 2)).max(axis=1)
    assert np.median(speed_change) < 1e-4  # jumps at the ends of cells apart
    if curve is not None:
        near = np.linalg.norm(move(t)[:, None] - curve(np.linspace(0, 4, 20_001))[None], axis=2).min(axis=1)
        assert near.max() < 1e-3  # half the distance of two points of the path at most


def test_stribeck_friction_settles_and_keeps_the_limits() -> None:
    robot = slider({"viscous": 1.0, "coulomb": 0.5, "static": 1.5, "stribeck": 0.1})
    move = armdyn.time_optimal(LINE, robot, limits={"tau_max": 4.0})
    assert move.status is TimingStatus.OPTIMAL
    verdict = armdyn.feasibility(robot, move, limits={"tau_max": 4.0})
    assert verdict.use["torque"][0] < 1 + 2e-3  # static friction falls off within the first cells
    free = armdyn.time_optimal(LINE, slider(), limits={"tau_max": 4.0})
    assert move.duration > free.duration


# Refusals -------------------------------------------------------------------------------------------------------------


def test_refusals_say_why() -> None:
    dyn = compiled("planar2r")
    with pytest.raises(Infeasible, match=r"path at s = .*joint 'shoulder' needs .* against gravity alone") as caught:
        armdyn.time_optimal([[0.0, 0.0], [1.0, 1.0]], dyn, limits={"tau_max": [800.0, 1500.0]})
    assert caught.value.joint == "shoulder" and caught.value.amount == pytest.approx(105 * 9.81 - 800, rel=1e-6)
    with pytest.raises(Infeasible, match="no limit is known"):
        armdyn.time_optimal([[0.0, 0.0], [1.0, 1.0]], dyn)
    with pytest.raises(Infeasible, match=r"too fast at its start: 10/s .*Give 0.2 times the start speed"):
        armdyn.time_optimal(LINE, slider(), limits={"tau_max": 4.0}, start_speed=10.0)
    with pytest.raises(Infeasible, match="too fast at its end"):
        armdyn.time_optimal(LINE, slider(), limits={"tau_max": 4.0, "v_max": 1.0}, end_speed=1.5)
    with pytest.raises(Infeasible, match="too slow at its start: 0/s .* Give a start speed"):
        armdyn.time_optimal(LINE, slider(), limits={"tau_max": 4.0}, end_speed=2.5)  # 2 m/s can be reached
    with pytest.raises(Infeasible, match=r"s = 1.5.* of 3: joint 'shoulder' needs 1030.* against gravity alone"):
        armdyn.time_optimal(
            [[-1.5, 0.0], [0.0, 0.0], [1.5, 0.0]], dyn, limits={"tau_max": [900.0, 1500.0], "a_max": 0.01}
        )  # level
    with pytest.raises(armdyn.ArmdynError, match="a path of 1 joints"):
        armdyn.time_optimal(LINE, dyn, limits={"tau_max": 1e4})
    with pytest.raises(armdyn.ArmdynError, match="no length"):
        armdyn.time_optimal(armdyn.trajectory.hold([0.0, 0.0], 1.0), dyn, limits={"tau_max": 1e4})
    with pytest.raises(armdyn.ArmdynError, match="points 1 and 2 are the same"):
        armdyn.time_optimal([[0.0, 0.0], [0.0, 0.0]], dyn, limits={"tau_max": 1e4})


@pytest.mark.parametrize("name", ["ur5", "panda"])
def test_many_waypoints_without_a_false_stop(name: str) -> None:
    """A spline through 150 points has no corners: the robot stops nowhere on its way, and keeps its limits."""
    dyn, points = compiled(name), waypoints(name, 4, 150)
    move = armdyn.time_optimal(points, dyn)
    assert len(corners(move.path)) == 2
    speed = np.linalg.norm(move(np.linspace(0.01, 0.99, 20_001) * move.duration, 1), axis=1)
    assert speed.min() > 1e-3 * speed.max()
    use = armdyn.feasibility(dyn, move, dt=move.duration / 40_000).use
    assert max(use[quantity].max() for quantity in ("velocity", "acceleration", "torque")) < 1 + 3e-4


def test_a_polyline_with_a_short_segment_stops_at_its_corners() -> None:
    dyn = compiled("planar2r")
    ends, times = [[0.0, 0.0], [1.0, 0.2], [1.0, 0.2001], [0.5, 0.9]], [1.0, 1e-4, 1.0]
    legs = [armdyn.point_to_point(*pair, "linear", duration=d) for pair, d in zip(pairwise(ends), times, strict=True)]
    move = armdyn.time_optimal(legs[0].then(*legs[1:]), dyn, limits={"tau_max": [3000.0, 1500.0]})
    assert len(corners(move.path)) == 4 and armdyn.feasibility(dyn, move, limits={"tau_max": [3000.0, 1500.0]})


@pytest.mark.parametrize(("name", "seed", "points"), [("panda", 5, 20), ("puma560", 2, 60)])
def test_one_bad_cell_does_not_slow_the_whole_motion(name: str, seed: int, points: int) -> None:
    """On a coarse grid the motion takes little longer than on a fine one, and keeps its limits all the same."""
    dyn, path = compiled(name), waypoints(name, seed, 6)
    coarse, fine = (armdyn.time_optimal(path, dyn, points=count) for count in (points, 3000))
    assert 1 - 1e-4 < coarse.duration / fine.duration < 1.02
    use = armdyn.feasibility(dyn, coarse, dt=coarse.duration / 20_000).use
    assert max(use[quantity].max() for quantity in ("velocity", "acceleration", "torque")) < 1 + 3e-4


@pytest.mark.parametrize(("timing", "share"), [("scaled", 0.999), ("optimal", 0.996)])
def test_feasibility_accepts_what_timing_gives_and_refuses_it_with_lower_limits(timing: Any, share: float) -> None:
    """A time-optimal motion may be slowed by a thousandth as a whole, so its torques by two."""
    for seed in range(30 if FULL else 6):
        name = ("ur5", "panda", "puma560")[seed % 3]
        dyn, points = compiled(name), waypoints(name, 50 + seed, 2 + seed % 4)
        profile = "quintic" if seed % 2 else None
        found = armdyn.plan(dyn, points, timing=timing, profile=profile)
        assert found.fine, str(found)
        known = found.verdict.limits
        names = {"v_max": known.velocity, "a_max": known.acceleration, "tau_max": known.tau_max}
        lower: Any = {name: share * limit for name, limit in names.items()}
        assert not armdyn.feasibility(dyn, found.motion, limits=lower)


def _random_spline(name: str, count: int) -> tuple[armdyn.Dynamics, armdyn.trajectory.Trajectory]:
    dyn = armdyn.compile(armdyn.load(name))
    limits = armdyn.motion.motion_limits(dyn.robot)
    low, high = np.maximum(limits.lower, -2.5), np.minimum(limits.upper, 2.5)
    points = low + (high - low) * (0.2 + 0.6 * np.random.default_rng(1).random((count, dyn.n)))
    return dyn, armdyn.trajectory.from_samples(np.linspace(0, 1, count), points)


def test_velocity_limits_hold_inside_long_cells() -> None:
    """A velocity that rises between the places of a cell by 0.6 % of its limit was once taken for a jump."""
    dyn, curve = _random_spline("ur5", 400)
    motion = armdyn.time_optimal(curve, dyn)
    use = armdyn.feasibility(dyn, motion, dt=motion.duration / 40_000).use
    assert max(use["velocity"].max(), use["torque"].max()) < 1.0003
    assert (motion.speed[1:-1] > 0).all()


def test_a_finer_grid_that_fails_leaves_the_coarser_answer() -> None:
    dyn, curve = _random_spline("puma560", 100)
    motion = armdyn.time_optimal(curve, dyn)
    assert armdyn.feasibility(dyn, motion, dt=motion.duration / 10_000).use["torque"].max() < 1.0003


def test_a_fine_grid_of_a_long_path_with_friction_has_a_timing() -> None:
    """Cells so small that no speed is told from rest would be called infeasible."""
    points = waypoints("puma560", 100, 100)
    curve = armdyn.trajectory.from_samples(np.linspace(0, 1, 100), points)
    motions = [armdyn.time_optimal(curve, compiled("puma560"), points=cells) for cells in (1000, 3000)]
    assert motions[1].duration == pytest.approx(motions[0].duration, rel=2e-3)
