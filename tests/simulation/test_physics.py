"""Laws of motion, not values: energy, orders of the methods, sticking joints, agreement with another engine."""

from __future__ import annotations

import numpy as np
import pytest

import armdyn
from armdyn.control import PID, ComputedTorque, NoControl, PDGravity
from armdyn.robot.links import WORLD
from armdyn.simulation import Hold, Plant, Solver, simulate
from simulation.arms import Wave, dynamics, pendulum, random_dynamics, slider

REST = np.array([0.3, -0.4, 0.5])


def free(dyn: armdyn.Dynamics, duration: float, q0: np.ndarray, **options: object) -> armdyn.Run:
    return simulate(dyn, NoControl(dyn.n), Hold(q0), duration, q0=q0, **options)  # type: ignore[arg-type]


def drift(run: armdyn.Run) -> float:
    """Largest change of the energy, relative to the largest kinetic energy."""
    return float(np.abs(run.energy - run.energy[0]).max() / run.kinetic_energy.max())


def test_energy_of_an_undriven_arm_with_rk4() -> None:
    run = free(dynamics("three_link"), 10.0, REST, solver=Solver(dt=1e-4, integrator="rk4", compiled=True))
    assert drift(run) < 1e-9


def test_energy_of_an_undriven_arm_with_dop853() -> None:
    run = free(dynamics("three_link"), 10.0, REST, solver=Solver(dt=0.05, integrator="dop853", rtol=1e-12, atol=1e-13))
    assert drift(run) < 1e-9


def test_variational_energy_swings_but_does_not_drift() -> None:
    """Steps a hundred times those of RK4: the second half of a long run is no worse than the first."""
    run = free(dynamics("planar2r"), 40.0, np.array([0.4, 0.3]), solver=Solver(dt=1e-2, integrator="variational"))
    off = np.abs(run.energy - run.energy[0]) / run.kinetic_energy.max()
    half = len(off) // 2
    assert off.max() < 0.02
    assert off[half:].max() < 1.5 * off[:half].max()
    euler = free(dynamics("planar2r"), 40.0, np.array([0.4, 0.3]), solver=Solver(dt=1e-2, integrator="euler_taylor"))
    assert not euler.ok or drift(euler) > 10 * off.max()


@pytest.mark.parametrize(
    ("integrator", "order", "steps"),
    [
        ("euler_taylor", 1, (400, 800)),
        ("semi_implicit", 1, (400, 800)),
        ("variational", 2, (50, 100)),
        ("rk4", 4, (25, 50)),
    ],
)
def test_each_method_has_its_order(integrator: str, order: int, steps: tuple[int, int]) -> None:
    """Free motion of a random arm with skew axes, against dop853 at its tightest."""
    dyn = random_dynamics(3, 4)
    q0 = np.array([0.2, -0.3, 0.4, 0.1])
    exact = free(dyn, 0.25, q0, solver=Solver(dt=0.25, integrator="dop853", rtol=1e-13, atol=1e-14)).q[-1]
    errors = [
        np.abs(free(dyn, 0.25, q0, solver=Solver(dt=0.25 / k, integrator=integrator)).q[-1] - exact).max()
        for k in steps
    ]
    slope = np.log(errors[0] / errors[1]) / np.log(steps[1] / steps[0])
    assert slope == pytest.approx(order, abs=0.25)


def test_closed_loop_keeps_the_order_of_rk4() -> None:
    """A law that acts continuously is evaluated between the steps, so it does not spoil the method."""
    dyn = dynamics("planar2r")
    law = PID(kp=60, kd=8, ki=20)
    errors = []
    exact = simulate(dyn, law, Wave(2), 0.5, solver=Solver(dt=0.5, integrator="dop853", rtol=1e-13, atol=1e-14)).q[-1]
    for k in (40, 80):
        errors.append(
            np.abs(simulate(dyn, law, Wave(2), 0.5, solver=Solver(dt=0.5 / k, integrator="rk4")).q[-1] - exact).max()
        )
    assert np.log2(errors[0] / errors[1]) == pytest.approx(4, abs=0.3)


def test_dop853_keeps_its_tolerance() -> None:
    dyn = random_dynamics(3, 4)
    q0 = np.array([0.2, -0.3, 0.4, 0.1])
    exact = free(dyn, 0.25, q0, solver=Solver(dt=0.25, integrator="dop853", rtol=1e-13, atol=1e-14)).q[-1]
    loose = free(dyn, 0.25, q0, solver=Solver(dt=0.25, integrator="dop853", rtol=1e-7, atol=1e-8)).q[-1]
    assert 0 < np.abs(loose - exact).max() < 1e-5  # local tolerance 1e-7, a handful of steps


# Friction -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("integrator", ["euler_taylor", "semi_implicit", "rk4"])
def test_stiction_holds_a_loaded_joint_still(integrator: str) -> None:
    """Gravity pulls with 4.905 N m, friction holds up to 5: nothing moves, to the last bit."""
    robot = pendulum({"coulomb": 5.0})
    run = simulate(Plant(robot, stiction=True), NoControl(1), Hold([0.0]), 2.0, solver=Solver(integrator=integrator))
    assert np.array_equal(run.q, np.zeros_like(run.q))
    weak = Plant(pendulum({"coulomb": 4.8}), stiction=True)
    loose = simulate(weak, NoControl(1), Hold([0.0]), 0.5, solver=Solver(integrator=integrator))
    assert loose.q[-1, 0] < -1e-2


def test_static_friction_holds_more_than_it_brakes() -> None:
    law = {"coulomb": 3.0, "static": 5.0, "stribeck": 0.1}
    still = simulate(Plant(pendulum(law), stiction=True), NoControl(1), Hold([0.0]), 0.5)
    assert np.array_equal(still.q, np.zeros_like(still.q))
    pushed = simulate(Plant(pendulum(law), stiction=True), NoControl(1), Hold([0.0]), 0.5, qd0=[-0.3])
    assert pushed.q[-1, 0] < -0.2  # once it moves, 3 N m are too little


def test_a_sliding_mass_stops_where_it_must_and_stays() -> None:
    """m v^2/2 = F s: from 1 m/s against 4 N the 2 kg stop after 0.25 m and 0.5 s."""
    run = simulate(
        Plant(slider({"coulomb": 4.0}), stiction=True),
        NoControl(1),
        Hold([0.0]),
        1.0,
        qd0=[1.0],
        solver=Solver(dt=1e-3, integrator="rk4"),
    )
    assert run.q[-1, 0] == pytest.approx(0.25, abs=1e-6)
    at_rest = run.t > 0.5 + 2e-3
    assert np.array_equal(run.qd[at_rest], np.zeros_like(run.qd[at_rest]))


def test_sticking_joints_of_an_arm_carry_their_neighbours() -> None:
    """All joints but one stick: the free one moves as if the others were locked."""
    rows = [{"type": "revolute", "a": 0.4, "mass": 1.0, "inertia": [0.01, 0, 0, 0.02, 0, 0.02]} for _ in range(2)]
    rows[0] |= {"friction": {"coulomb": 100.0}}
    robot = armdyn.Robot.from_dh(rows, gravity=(0, -9.81, 0))
    first = robot.joints[0].name
    run = simulate(Plant(robot, stiction=True), NoControl(2), Hold([0.3, 0.2]), 0.5, solver=Solver(integrator="rk4"))
    alone = simulate(robot.locked({first: 0.3}), NoControl(1), Hold([0.2]), 0.5, solver=Solver(integrator="rk4"))
    assert np.array_equal(run.q[:, 0], np.full(len(run.t), 0.3))
    assert np.abs(run.q[:, 1] - alone.q[:, 0]).max() < 1e-12


# Other engines --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [1, 5])
def test_free_motion_agrees_with_mujoco(seed: int) -> None:
    """Both by RK4 with the same steps: what remains is the difference of two rounding errors and of two methods."""
    mujoco = pytest.importorskip("mujoco")
    dyn = random_dynamics(seed, 4)
    robot = dyn.robot
    spec = mujoco.MjSpec()
    bodies = {WORLD: spec.worldbody}
    for link in robot.links:
        quat = np.zeros(4)
        mujoco.mju_mat2Quat(quat, np.asarray(link.placement.R.array(), float).flatten())
        body = bodies[link.parent].add_body(name=link.name, pos=[float(x) for x in link.placement.p], quat=quat)
        kind = mujoco.mjtJoint.mjJNT_HINGE if link.revolute else mujoco.mjtJoint.mjJNT_SLIDE
        body.add_joint(name=f"joint_{link.name}", type=kind, axis=[0, 0, 1])
        inertia = link.inertia.about_com()
        tensor = np.asarray(inertia.tensor.array(), float)
        body.explicitinertial = True
        body.mass, body.ipos = float(inertia.mass), [float(x) for x in inertia.com]
        body.fullinertia = [tensor[0, 0], tensor[1, 1], tensor[2, 2], tensor[0, 1], tensor[0, 2], tensor[1, 2]]
        bodies[link.index] = body
    spec.option.gravity = [float(x) for x in robot.gravity]
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_RK4
    spec.option.timestep = 1e-3
    model = spec.compile()
    data = mujoco.MjData(model)
    q0 = 0.3 * np.arange(1, 5) - 0.6
    offsets = np.array([float(link.offset) for link in robot.links])
    data.qpos[:] = q0 + offsets
    for _ in range(500):
        mujoco.mj_step(model, data)
    run = free(dyn, 0.5, q0, solver=Solver(dt=1e-3, integrator="rk4"))
    assert np.abs(run.q[-1] - q0).max() > 0.05  # it does move
    assert np.abs(run.q[-1] - (data.qpos - offsets)).max() < 1e-8 * max(1.0, np.abs(run.q[-1]).max())


# Real arms ------------------------------------------------------------------------------------------------------------


def test_payload_that_comes_at_a_time_sags_by_its_weight_over_kp() -> None:
    robot = armdyn.Robot.from_dh([{"type": "prismatic", "mass": 2.0}])
    dyn = armdyn.compile(robot)
    plant = Plant(dyn, changes={2.0: robot.with_payload(1.5)})
    run = simulate(plant, PDGravity(dyn, kp=300, kd=60), [0.0], 6.0, solver=Solver(dt=2e-3))
    before = run.t < 2.0
    assert np.abs(run.q[before]).max() < 1e-12
    assert run.error[-1, 0] == pytest.approx(1.5 * 9.81 / 300, rel=1e-6)
    assert [start for start, _ in run.plants] == [0, 1000]


def test_a_plant_other_than_the_model() -> None:
    """Steady error of computed torque with a wrong mass: kp e = g (m - m') / m'."""
    robot = armdyn.Robot.from_dh([{"type": "prismatic", "mass": 2.0}])
    wrong = armdyn.compile(armdyn.Robot.from_dh([{"type": "prismatic", "mass": 1.6}]))
    run = simulate(robot, ComputedTorque(wrong, 100, 20), [0.0], 4.0)
    assert run.error[-1, 0] == pytest.approx(9.81 * 0.4 / 1.6 / 100, rel=1e-6)
