"""The studio's answers are those of the library, without a browser."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import armdyn
from armdyn.browser.changes import compared, parameter_names, with_changed
from armdyn.browser.equation_inspector import entry, entry_names, value_now
from armdyn.browser.live_simulation import LAWS, RELEASED, LiveSimulation, Setting
from armdyn.browser.panel_pages import (
    bodies_page,
    entry_page,
    error_page,
    model_page,
    phase_page,
    torque_page,
    value_page,
    words_page,
)
from armdyn.browser.playback import FASTEST, FRAMES, plan, track
from armdyn.browser.robot_queries import RobotQueries
from armdyn.browser.saved_state import SavedState, read_address, read_state
from armdyn.browser.solids import MOST_TRIANGLES, _merged, poses, quaternion, rotation, solids, surroundings, weights
from armdyn.errors import ArmdynError
from armdyn.formats import read
from armdyn.mechanics.kinematics import link_poses
from armdyn.robot.links import WORLD
from armdyn.simulation import Experiment, LawChoice
from armdyn.simulation.studies import scaled_masses
from support.wheel import MISSING, wheel_files

PANDA = np.array([0.1, -0.3, 0.2, -1.5, 0.1, 1.2, 0.3])
HOSTILE = "<img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def panda() -> RobotQueries:
    return RobotQueries(armdyn.load("panda"))


@pytest.fixture(scope="module")
def planar() -> RobotQueries:
    return RobotQueries(armdyn.load("planar2r"))


# Move ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["pendulum", "scara5", "planar3r", "five_bar"])
def test_holding_torques_with_a_payload(name: str) -> None:
    answers = RobotQueries(armdyn.load(name))
    q = answers.kept(answers.start + np.random.default_rng(1).uniform(-0.1, 0.1, answers.robot.n))
    for payload in (0.0, 2.5):
        expected = armdyn.compile(answers.robot.with_payload(payload)).gravity(q)
        np.testing.assert_allclose([load.torque for load in answers.loads(q, payload)], expected, atol=1e-9)
    for load in answers.loads(q, 2.5):
        assert sum(load.bodies.values()) + load.payload == pytest.approx(load.torque, abs=1e-9)


def test_limits_are_kept_and_bad_numbers_refused(panda: RobotQueries) -> None:
    far = panda.kept([99.0] * 7)
    assert far.tolist() == [joint.upper for joint in panda.joints]
    for bad in ([1.0], "x", [np.nan] * 7, [10**400] + [0] * 6, [[0.0] * 7]):
        with pytest.raises(ArmdynError):
            panda.kept(bad)
    wrong: list[Any] = [-1.0, 1e9, np.nan, "much", 10**400]
    for payload in wrong:
        with pytest.raises(ArmdynError, match="payload"):
            panda.loads(far, payload=payload)
    with pytest.raises(ArmdynError, match="loop 'meeting'"):
        RobotQueries(armdyn.load("five_bar").with_parameters(l2=0.3)).kept([3.5, -0.4])


def test_the_tool_follows_the_hand_within_the_limits(panda: RobotQueries) -> None:
    here = panda.dyn.pose(PANDA)
    target = here[:3, 3] + [0.05, -0.1, 0.04]
    q = panda.dragged(PANDA, target)
    np.testing.assert_allclose(panda.dyn.pose(q)[:3, 3], target, atol=2e-6)
    q = panda.dragged(PANDA, here[:3, 3] + [0.02, 0, 0], here[:3, :3])
    np.testing.assert_allclose(panda.dyn.pose(q)[:3, :3], here[:3, :3], atol=1e-5)
    beyond = panda.dragged(PANDA, [5.0, 0.0, 0.0])
    np.testing.assert_array_equal(beyond, panda.kept(beyond))
    assert panda.dyn.pose(beyond)[0, 3] > here[0, 3]
    with pytest.raises(ArmdynError):
        panda.dragged(PANDA, [np.inf, 0.0, 0.0])


def test_the_tool_of_a_closed_chain_is_dragged() -> None:
    answers = RobotQueries(armdyn.load("five_bar"))
    target = answers.dyn.pose(answers.start)[:3, 3] + [0.02, 0.03, 0.0]
    np.testing.assert_allclose(answers.dyn.pose(answers.dragged(answers.start, target))[:3, 3], target, atol=1e-5)


@pytest.mark.parametrize(("name", "least"), [("planar2r", 2), ("puma560", 4), ("panda", 1)])
def test_branches_put_the_tool_at_the_same_place(name: str, least: int) -> None:
    answers = RobotQueries(armdyn.load(name))
    q = answers.kept(np.full(answers.robot.n, 0.3))
    found = answers.branches(q)
    assert len(found) >= least and found[0] is not q
    for other in found:
        np.testing.assert_allclose(answers.dyn.pose(other)[:3, 3], answers.dyn.pose(q)[:3, 3], atol=1e-9)


def test_ellipsoid_axes_are_vectors_of_the_world(panda: RobotQueries) -> None:
    found = panda.ellipsoid("velocity", PANDA)
    assert found is not None
    J = panda.dyn.jacobian(PANDA)[:3]
    np.testing.assert_allclose(found[0] @ found[0].T, J @ J.T, atol=1e-9)  # sum of a a^T over half axes a is J J^T
    with pytest.raises(ArmdynError, match="velocity"):
        panda.ellipsoid("speed", PANDA)


# What is drawn ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["planar2r", "planar3r", "pendulum"])
def test_planar_arms_stand_upright_and_are_seen_from_the_front(name: str) -> None:
    answers = RobotQueries(armdyn.load(name))
    place = surroundings(answers.dyn, answers.start)
    g = np.array([float(x) for x in answers.robot.gravity])
    np.testing.assert_allclose(place.up, -g / np.linalg.norm(g), atol=1e-12)
    axis = poses(answers.dyn, answers.start)[0, :3, 2]
    assert abs(place.away @ axis) > 0.9 and abs(axis @ place.up) < 1e-9
    assert place.floor <= min(poses(answers.dyn, q)[:, :3, 3] @ place.up for q in [answers.start]).min()


@pytest.mark.parametrize("name", ["panda", "scara5", "five_bar"])
def test_solid_links_hang_together(name: str) -> None:
    """Each link's tube ends where the next joint is, at any configuration."""
    answers = RobotQueries(armdyn.load(name))
    tree = answers.robot.opened
    drawn = solids(answers.robot, 1.0)
    assert sum(solid.color != (111, 143, 192) for solid in drawn) >= len(tree.links)
    q = answers.kept(answers.start + 0.05)
    where = poses(answers.dyn, q)
    expected = link_poses(tree, [float(x) for x in (answers.dyn.closed(q) if answers.robot.constrained else q)])
    np.testing.assert_allclose(where, [T.array() for T in expected], atol=1e-9)
    tubes = [s for s in drawn if s.kind == "cylinder" and s.link >= 0 and s.color == (111, 143, 192)]
    for tube in tubes:
        ends = [tube.T @ [0, 0, side * tube.size[1] / 2, 1] for side in (-1, 1)]
        feet = [[float(x) for x in link.placement.p] for link in tree.links if link.parent == tube.link != WORLD]
        feet.append(list(np.asarray(tree.frame("tool").pose.array(), dtype=float)[:3, 3]))
        assert np.linalg.norm(ends[0][:3]) < 1e-9
        assert min(np.linalg.norm(ends[1][:3] - foot) for foot in feet) < 1e-9


def test_inertia_ellipsoids_have_the_inertia() -> None:
    """A homogeneous ellipsoid with these semi-axes has the body's tensor."""
    robot = armdyn.load("puma560")
    bodies = {joint.body.name: joint.body.inertia.about_com() for joint in robot.tree}
    some = [weight for weight in weights(robot) if weight.semi_axes is not None]
    assert some
    for weight in some:
        assert weight.semi_axes is not None
        a, b, c = weight.semi_axes**2
        tensor = weight.axes @ np.diag([b + c, a + c, a + b]) @ weight.axes.T * weight.mass / 5
        body = bodies[weight.body]
        R = np.asarray(robot.frame(weight.body).pose.array(), dtype=float)[:3, :3]
        own = R @ np.array([[float(x) for x in row] for row in body.tensor.rows]) @ R.T
        np.testing.assert_allclose(tensor, own, atol=1e-9 * max(1.0, np.abs(own).max()))


def test_meshes_of_a_urdf_are_drawn_on_their_links() -> None:
    pytest.importorskip("trimesh", reason="pip install armdyn[studio]")
    pytest.importorskip("collada", reason="pip install armdyn[studio]")
    path = next(iter(wheel_files("panda_description/urdf/panda.urdf")), None)
    if path is None:
        pytest.skip(MISSING)
    robot = read(path).locked({"panda_finger_joint1": 0.0})
    meshes = [solid for solid in solids(robot, 1.0) if solid.kind == "mesh"]
    assert {solid.link for solid in meshes} >= set(range(-1, 7))
    assert 5000 < sum(len(solid.mesh.faces) for solid in meshes) <= MOST_TRIANGLES
    assert len({solid.color for solid in meshes}) > 3
    dyn = armdyn.compile(robot)
    where = poses(dyn, RobotQueries(robot).start)
    corners = [
        (where[s.link] if s.link >= 0 else np.eye(4)) @ s.T @ np.vstack([s.mesh.bounds.T, np.ones(2)]) for s in meshes
    ]
    high = max(float(corner[2].max()) for corner in corners)
    assert 0.6 < high < 1.3, "the arm is about a metre high"


def test_a_mesh_with_fewer_triangles_has_nearly_the_same_surface() -> None:
    trimesh = pytest.importorskip("trimesh", reason="pip install armdyn[studio]")
    ball = trimesh.creation.icosphere(subdivisions=5, radius=0.1)
    coarse = _merged(ball, 0.01)
    assert 500 < len(coarse.faces) < len(ball.faces) / 5
    radii = np.linalg.norm(coarse.vertices, axis=1)
    assert radii.max() <= 0.1 + 1e-9 and radii.min() > 0.1 - 0.01 / 2
    assert coarse.area == pytest.approx(ball.area, rel=0.03)


def test_quaternions() -> None:
    R = rotation(np.array([0.5, 0.5, -0.5, 0.5]))
    np.testing.assert_allclose(rotation(quaternion(R)), R, atol=1e-12)


# Plan and simulate --------------------------------------------------------------------------------------------------


def test_plans_know_the_payload_and_the_limits(panda: RobotQueries) -> None:
    goal = panda.kept(PANDA + 0.3)
    free, loaded = (plan(panda, [PANDA, goal], duration=1.0, payload=m) for m in (0.0, 20.0))
    course = armdyn.point_to_point(PANDA, goal, profile="quintic", duration=1.0)
    expected = panda.dyn.inverse_dynamics(*(course(free.t, order) for order in range(3)))
    np.testing.assert_allclose(free.tau, expected, atol=1e-8)
    np.testing.assert_allclose(sum(free.effects.values()), free.tau, atol=1e-8)
    assert free.fine and not loaded.fine
    assert "of its limit of" in loaded.words[-1] and "N m" in loaded.words[-1]
    assert len(free.csv(panda).splitlines()) == len(free.t) + 1
    through = plan(panda, [PANDA, goal, PANDA])
    assert len(through.t) >= FRAMES and np.abs(through.q - goal).max(axis=1).min() < 0.02


def test_the_fastest_plan_uses_a_limit_fully(panda: RobotQueries) -> None:
    fastest = plan(panda, [PANDA, panda.kept(PANDA + 0.3)], timing=FASTEST)
    assert fastest.fine and fastest.t[-1] < 1.0
    with pytest.raises(ArmdynError, match="no torque limit is known"):
        plan(RobotQueries(armdyn.load("planar2r")), [[0.0, 0.0], [1.0, 1.0]], timing=FASTEST)


def test_plans_that_make_no_sense_are_refused(planar: RobotQueries) -> None:
    for points, options in (
        ([[0, 0]], {}),
        ([[0, 0], [0, 0]], {}),
        ([[0, 0], [1, 1]], {"profile": "no"}),
        ([[0, 0], [1, 1]], {"duration": 1e9}),
        ([[0, 0], [1, 1]], {"duration": float("nan")}),
        ([[0, 0], [1, 1]] * 30, {}),
    ):
        with pytest.raises(ArmdynError):
            plan(planar, points, **options)


def test_tracking_with_errors_of_the_model(planar: RobotQueries) -> None:
    q0, q1 = [-1.5, 0.0], [-1.0, 0.5]
    exact = track(planar, q0, q1, Setting(), duration=1.0)
    wrong = track(planar, q0, q1, Setting(payload=5.0, heavier=0.2), duration=1.0)
    assert exact.fine and "°" in exact.words[1]
    assert np.abs(wrong.q[-1] - q1).max() > 10 * np.abs(exact.q[-1] - q1).max()
    for name in LAWS[:2]:
        assert track(planar, q0, q1, Setting(name), duration=0.2).fine
    with pytest.raises(ArmdynError, match="heavier"):
        track(planar, q0, q1, Setting(heavier=-1.0))


@pytest.mark.parametrize("name", LAWS)
def test_the_same_words_build_the_law_of_an_experiment(planar: RobotQueries, name: str) -> None:
    gains: dict[str, Any] = {} if name == RELEASED else {"frequency": 7.0, "damping_ratio": 0.8}
    experiment = Experiment(law=LawChoice(name=name, gains=gains))
    here = Setting(name, 7.0, 0.8).law(planar)
    assert here.summary == experiment.arguments(planar.robot)["law"].summary


def live(answers: RobotQueries, setting: Setting, q: Any) -> LiveSimulation:
    at = np.array(q, dtype=float)
    return LiveSimulation(answers, setting, at, np.zeros_like(at), at.copy())


def test_a_released_arm_keeps_its_energy(planar: RobotQueries) -> None:
    running = live(planar, Setting(RELEASED), [0.0, 0.0])
    for _ in range(20):
        assert running.advance(0.05)
    curves = running.curves()
    total = curves["kinetic"] + curves["potential"]
    start = float(planar.dyn.potential_energy(np.zeros(2)))
    potential = np.array([float(planar.dyn.potential_energy(q)) for q in curves["q"]])
    scale = curves["kinetic"].max()
    assert scale > 10
    np.testing.assert_allclose(curves["kinetic"] + potential, start, atol=1e-7 * scale)
    assert np.ptp(total) < 1e-7 * scale


def test_the_hand_pulls_the_tool_and_the_law_brings_it_back(planar: RobotQueries) -> None:
    running = live(planar, Setting(frequency=5.0), [-1.0, 0.5])
    tool = planar.dyn.pose(running.q)[:3, 3]
    running.pull = tool + np.array([0.3, 0.1, 0.0])
    for _ in range(40):
        running.advance(0.05)
    pulled = planar.dyn.pose(running.q)[:3, 3]
    assert (pulled - tool) @ [0.3, 0.1, 0.0] > 0.01
    J = planar.dyn.jacobian(running.q)[:3]
    held = planar.dyn.gravity(running.q) - J.T @ running.force(running.q, running.qd)
    np.testing.assert_allclose(running.tau, held, atol=0.02 * np.abs(held).max())  # at rest law and hand balance
    running.pull = None
    for _ in range(40):
        running.advance(0.05)
    np.testing.assert_allclose(planar.dyn.pose(running.q)[:3, 3], tool, atol=1e-3)


def test_the_model_error_is_seen_at_rest(planar: RobotQueries) -> None:
    """A law without integral leaves the error that its missing torque stands for: e = M^-1 (g_true - g) / kp."""
    running = live(planar, Setting(frequency=20.0), [-1.0, 0.5])
    running.change(Setting(frequency=20.0, heavier=0.1))
    for _ in range(40):
        running.advance(0.05)
    e = running.goal - running.q
    true = armdyn.compile(scaled_masses(planar.robot, 1.1))
    missing = true.gravity(running.q) - planar.dyn.gravity(running.q)
    np.testing.assert_allclose(400.0 * planar.dyn.mass_matrix(running.q) @ e, missing, rtol=1e-3)


def test_stops_hold_a_released_arm_and_a_wild_law_is_stopped(panda: RobotQueries) -> None:
    running = live(panda, Setting(RELEASED), PANDA)
    for _ in range(20):
        running.advance(0.05)
    assert (running.q < panda.bounds[1] + 0.1).all() and (running.q > panda.bounds[0] - 0.1).all()
    wild = live(panda, Setting(frequency=316.0, damping_ratio=16.0), PANDA)
    wild.goal = panda.start
    assert not all(wild.advance(0.05) for _ in range(5))


# Equations ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["M12", "C11", "g2"])
def test_the_inspector_shows_one_entry(planar: RobotQueries, name: str) -> None:
    q, qd = np.array([0.4, 0.7]), [0.3, -0.2]
    found = entry(planar, name)
    names: dict[str, Any] = {"np": np, **planar.robot.parameters, "q1": 0.4, "q2": 0.7, "qd1": 0.3, "qd2": -0.2}
    exec(found.python, names)
    value = value_now(planar, found, q, qd)
    assert names[name] == pytest.approx(value)
    assert found.lowest <= value <= found.highest and "multiplication" in found.operations
    assert found.latex.startswith(name[0]) and found.c.startswith(f"double {name}") and "<msub>" in found.mathml
    assert "LaTeX" in entry_page(found) and found.unit in value_page(
        name, value, found.lowest, found.highest, found.unit
    )


def test_long_entries_wrap_instead_of_scrolling() -> None:
    page = entry_page(entry(RobotQueries(armdyn.load("scara5")), "C23"))
    parts = re.findall(r"<math .*?</math>", page)
    assert len(parts) == 5 and all(len(re.findall("<m[in]>", part)) < 20 for part in parts)


def test_names_and_units_of_entries() -> None:
    robot = armdyn.load("scara5")
    names = entry_names(robot)
    assert len(names["M"]) == 15 and len(names["C"]) == 25 and len(names["g"]) == 5
    assert entry(RobotQueries(robot), "g1").unit == "N" and entry(RobotQueries(robot), "M11").unit == "kg"


@pytest.mark.parametrize(("slope", "rounding"), [(0, False), (1e-15, True), (1e-6, False)])
def test_what_rounding_leaves_of_an_entry_is_zero(slope: float, rounding: bool) -> None:
    """Gravity does not turn a vertical axis; a slope of 1e-15 is how a file writes none, 1e-6 is a real one."""
    rows = [{"alpha": "pi/2", "d": 0.3, "mass": 1.0}, {"a": 0.5, "mass": 2.0, "com": [-0.2, 0.0, 0.1]}]
    answers = RobotQueries(armdyn.Robot.from_dh(rows, gravity=(slope, 0, -9.81)))
    found = entry(answers, "g1")
    assert found.rounding == rounding
    assert (found.highest > 0) == (slope == 1e-6)
    assert (value_now(answers, found, np.array([0.1, 0.2]), [0.0, 0.0]) == 0.0) == (slope != 1e-6)
    assert ("rounding" in entry_page(found)) == rounding


def test_long_formulas_are_not_typeset() -> None:
    found = entry(RobotQueries(armdyn.load("puma560")), "M11")
    assert found.mathml == "" or len(found.python) <= 6000


# Model --------------------------------------------------------------------------------------------------------------


def test_a_changed_parameter_and_what_it_changes(planar: RobotQueries) -> None:
    q = np.array([0.2, 0.3])
    name = parameter_names(planar.robot)[0]
    changed = with_changed(planar.robot, name, 2.0)
    assert changed.parameters[name] == 2 * planar.robot.parameters[name]
    rows = {row[0]: row for row in compared(planar.robot, changed, q).rows}
    torque = float(armdyn.compile(changed).gravity(q)[0])
    assert rows["torque of shoulder"][2] == f"{torque:.4g}"
    with pytest.raises(ArmdynError):
        with_changed(planar.robot, "nothing", 2.0)


def test_links_of_robots_without_named_parameters_are_changed() -> None:
    robot = armdyn.load("planar2r").bound()
    from dataclasses import replace

    robot = replace(robot, parameters={}, expressions=None)
    (first, *_) = parameter_names(robot)
    changed = with_changed(robot, first, 2.0)
    q = np.array([0.2, 0.3])
    before, after = armdyn.compile(robot), armdyn.compile(changed)
    assert after.gravity(q)[1] == pytest.approx(before.gravity(q)[1])
    assert after.gravity(q)[0] > before.gravity(q)[0]


# Pages and states ---------------------------------------------------------------------------------------------------


def test_names_of_a_file_are_escaped(planar: RobotQueries) -> None:
    joints = [joint._replace(name=HOSTILE, torque=1e-9) for joint in planar.joints]
    loads = [load._replace(bodies={HOSTILE: 1.0}) for load in planar.loads(planar.start)]
    checkup = armdyn.check(planar.robot)
    pages = [
        torque_page(HOSTILE, joints, [1.0, 2.0], planar.start, True),
        bodies_page(loads),
        words_page(False, [HOSTILE, HOSTILE]),
        error_page(ArmdynError(HOSTILE, expected=HOSTILE, advice=HOSTILE)),
        model_page(HOSTILE, [(HOSTILE, HOSTILE)], checkup, [checkup.section()]),
        phase_page(HOSTILE, np.arange(3.0), np.zeros(3)),
    ]
    assert all("<img" not in page for page in pages)
    assert "too large" in pages[0] and "N m" in pages[0]


def test_states_go_through_text_and_address() -> None:
    state = SavedState("scara5", (0.1, 0.2, 0.3, 0.4, 0.05), 1.5, False, ((0.0,) * 5,), (("m1", 2.0),))
    assert read_state(state.json()) == read_address(state.address()) == state
    assert all(letter.isalnum() or letter in "-_" for letter in state.address())
    deep = b"[" * 50_000
    for bad in (b"{", b"[]", b"{}", deep, b'{"robot": 1, "q": []}', b'{"robot": "x", "q": [NaN]}', b"x" * 200_000,
                b'{"robot": "x", "q": [1e999]}', b'{"robot": "x", "q": ["1"]}',
                b'{"robot": "x", "q": [0], "points": 3}', b'{"robot": "x", "q": [' + b"9" * 400 + b"]}"):  # fmt: skip
        with pytest.raises(ArmdynError, match="state"):
            read_state(bad)
    for bad_address in ("", "a", "AAAA", "_" * 200_000):
        with pytest.raises(ArmdynError, match="state"):
            read_address(bad_address)
