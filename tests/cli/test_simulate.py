"""The command `armdyn simulate`."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import armdyn
from armdyn.robot.limits import start_position, torque_limits
from support.command import Run
from support.feature_robots import ROBOTS
from support.pictures import colors_in


def given(*settings: str) -> tuple[str, ...]:
    """Keys of an experiment as options."""
    return tuple(word for each in settings for word in ("--set", each))


def test_a_motion_with_files(run: Run, tmp_path: Path) -> None:
    picture, samples = tmp_path / "run.png", tmp_path / "run.csv"
    status, out, _ = run(
        "simulate",
        "planar2r",
        "--reference",
        "30deg,-0.4",
        "--plot",
        str(picture),
        "--out",
        str(samples),
        *given("solver.dt=0.005"),
    )
    assert status == 0
    assert "shoulder" in out
    assert "Simulation completed." in out
    assert {"#3b6fd4", "#e58a3c"} <= colors_in(picture), "a curve for each joint"
    table = np.genfromtxt(samples, delimiter=",", names=True)
    assert table["ref1"][-1] == pytest.approx(np.radians(30))


def test_a_planned_motion(run: Run, tmp_path: Path) -> None:
    plan = tmp_path / "motion.csv"
    run("plan", "planar2r", "--from", "0,0", "--to", "0.5,0.2", "--out", str(plan))
    status, out, _ = run("simulate", "planar2r", "--reference", str(plan), *given("solver.dt=0.002"))
    assert status == 0
    assert "Simulation completed" in out


@pytest.mark.parametrize(
    "controller", ["pid", "pd_gravity", "feedforward", "sliding_mode", "robust", "adaptive", "none"]
)
def test_every_controller(run: Run, controller: str) -> None:
    status, out, _ = run(
        "simulate", "three_link", "--law", controller, *given("solver.dt=0.002", "reference.duration=0.2")
    )
    assert status == 0, out


def test_a_push_at_a_frame(run: Run, tmp_path: Path) -> None:
    """The arm moves as under the same wrench in Python; before the push it rests."""
    file = tmp_path / "run.csv"
    status, out, _ = run(
        "simulate",
        "planar2r",
        "--reference",
        "0.3,0.4",
        *given("reference.start=0.3,0.4"),
        *given("reference.duration=0.2"),
        *given("plant.pushes=[{frame='elbow', force=[0,200,0], start=0.1, end=0.2}]"),
        "--out",
        str(file),
    )
    assert status == 0, out
    table = np.genfromtxt(file, delimiter=",", names=True)
    moved = np.abs(table["q1"] - 0.3)
    assert moved[table["t"] <= 0.1].max() < 1e-9 < 1e-4 < moved[-1]
    for text, message in (
        ("[{frame='elbw', force=[0, 0, 1]}]", "Did you mean 'elbow'"),
        ("[{frame='elbow', force=[0, 0]}]", "three numbers in N"),
        ("[{frame='elbow'}]", "Force is missing"),
        ("9", "a list in brackets"),
    ):
        status, out, error = run("simulate", "planar2r", *given(f"plant.pushes={text}"))
        assert status == 2
        assert message in " ".join((out + error).split())


def test_contacts_are_noticed(run: Run) -> None:
    """A push at the tool is noticed by the joints that it turns; without one there is no alarm."""
    still = (
        "simulate",
        "ur5",
        *given("reference.duration=0.3"),
        *given("solver.dt=0.002", "observers.contact=50", "observers.errors={mass=0.02}"),
    )
    status, out, _ = run(*still, *given("plant.pushes=[{frame='tool', force=[0,0,-60], start=0.1, end=0.3}]"))
    assert status == 0, out
    pan, lift = out.split("Contact torques")[1].splitlines()[4:6]
    assert 0.1 < float(lift.split()[-1]) < 0.12
    assert pan.split()[-1] == "-"  # the axis of the first joint is vertical, as the force
    _, out, _ = run(*still)
    assert [line.split()[-1] for line in out.split("Contact torques")[1].splitlines()[4:10]] == ["-"] * 6
    status, _, error = run("simulate", "planar2r", *given("observers.errors={mass=0.1}"))
    assert status == 2 and "contact = 50" in " ".join(error.split())
    status, _, error = run(*still, *given("observers.errors={weight=0.1}"))
    assert status == 2 and "mass, com, inertia, rotor, friction" in " ".join(error.split())


def test_admittance_yields_to_a_push_at_the_tool(run: Run, tmp_path: Path) -> None:
    """At rest under a constant force the tool has moved by force over stiffness."""
    file = tmp_path / "run.csv"
    status, out, _ = run(
        "simulate",
        "planar2r",
        "--law",
        "admittance",
        *given("reference.start=0.4,0.9"),
        "--reference",
        "0.4,0.9",
        *given("reference.duration=3"),
        *given(
            "law.stiffness=2000",
            "law.mass=20",
            "plant.pushes=[{frame='tool', force=[0,40,0], start=0, end=9}]",
            "solver.dt=0.005",
        ),
        "--out",
        str(file),
    )
    assert status == 0, out
    table = np.genfromtxt(file, delimiter=",", names=True)
    ends = armdyn.compile(armdyn.load("planar2r")).pose(np.column_stack([table["q1"], table["q2"]])[[0, -1]])
    moved = (ends[1] - ends[0])[:2, 3]
    # The inner loop gives way a little more: its stiffness is 400 1/s^2 times the inertia of the arm.
    assert moved == pytest.approx([0.0, 40 / 2000], abs=2e-3)
    status, _, error = run(
        "simulate",
        "planar2r",
        "--law",
        "admittance",
        *given("plant.pushes=[{frame='elbow', force=[0,40,0], start=0, end=9}]"),
    )
    assert status == 2 and "a push at the frame tool" in " ".join(error.split())


def test_imperfect_models_and_many_arms(run: Run) -> None:
    status, out, _ = run(
        "simulate",
        "scara5",
        "--reference",
        "curve40",
        *given("law.kp=200", "law.kd=10"),
        *given("reference.duration=0.5"),
        *given("study.imperfect=true", "study.monte_carlo=5"),
    )
    assert status == 0
    assert "without Coriolis" in out and "coupling ignored" in out
    assert "5 arms with random errors" in out


def test_a_blow_up_is_status_1_with_advice(run: Run) -> None:
    status, out, _ = run("simulate", "planar2r", *given("law.kp=1e8", "law.kd=0", "solver.integrator=rk4"))
    assert status == 1
    assert "lower the gains" in out


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("--law", "magic"), "computed_torque"),
        (given("law.ko=3"), "kp"),
        (given("law.kp=much"), "one number or 2"),
        (("--reference", "1,2,3"), "3 numbers"),
        (("--reference", "curve40"), "scara5"),
        (("--plot", "x.doc"), ".png"),
        (given("solver.integrator=euler"), "euler_taylor"),
        (given("actuation.torque_limits=robot"), "torque limits"),
        (("--law", "pid", *given("study.imperfect=true")), "only its model has terms"),
    ],
)
def test_mistakes_are_status_2(run: Run, arguments: tuple[str, ...], text: str) -> None:
    status, _, err = run("simulate", "planar2r", *given("reference.duration=0.1"), *arguments)
    assert status == 2
    assert text in err
    assert "Traceback" not in err


def test_torque_falls_with_the_speed(run: Run, tmp_path: Path) -> None:
    """A motor at constant voltage: in the direction of motion its torque is at most tau_max (1 - qd / v_0)."""
    samples, goal = tmp_path / "run.csv", ",".join(["0.6"] * 7)
    status, out, _ = run(
        "simulate",
        "panda",
        "--reference",
        goal,
        *given("reference.start=0,0,0,0,0,0,0"),
        *given("reference.duration=0.4"),
        *given("actuation.no_load_speed=0.8", "actuation.torque_limits=robot"),
        "--out",
        str(samples),
    )
    assert status in (0, 1), out
    table = np.genfromtxt(samples, delimiter=",", names=True)
    tau, qd = (np.stack([table[f"{name}{j}"] for j in range(1, 8)], axis=1) for name in ("tau", "qd"))
    left = torque_limits(armdyn.load("panda")) * np.clip(1 - np.sign(tau) * qd / 0.8, 0.0, 1.0)
    assert (np.abs(tau) <= left + 1e-9).all()
    assert (np.abs(tau) > 0.999 * left)[np.abs(qd) > 0.1].any(), "the curve is reached"


def test_elastic_joints(run: Run, tmp_path: Path) -> None:
    """The same arm under two laws: both print its resonances; the law for elastic joints its condition of stability."""
    row = {"type": "revolute", "a": 0.4, "mass": 1.0, "rotor": {"inertia": 0.02},
           "elastic": {"stiffness": 400.0, "damping": 0.5}}  # fmt: skip
    path = tmp_path / "flexible.toml"
    armdyn.Robot.from_dh([row, row], gravity=(0, -9.81, 0), name="flexible").save(path)
    arguments = (
        "simulate",
        str(path),
        "--reference",
        "0.6,-0.4",
        *given("reference.start=0,0"),
        *given("reference.duration=6"),
    )
    final = {}
    for law in ("computed_torque", "elastic_pd"):
        samples = tmp_path / f"{law}.csv"
        status, out, _ = run(*arguments, "--law", law, "--out", str(samples))
        assert status == 0, out
        assert "Resonances of the elastic joints" in out and "A PID designed for them" in out
        assert ("globally asymptotically stable" in out) == (law == "elastic_pd")
        assert ("model leaves out: elastic transmissions" in out) == (law == "computed_torque")
        table = np.genfromtxt(samples, delimiter=",", names=True)
        assert "theta1" in (table.dtype.names or ())
        final[law] = abs(table["e1"][-1])
    assert final["elastic_pd"] < 1e-4 < 1e-2 < final["computed_torque"]
    assert run(*arguments, *given("plant.measure=link"))[0] == 1  # the rigid design on the links' side: unstable
    assert run(*arguments, *given("plant.measure=both"))[0] == 2


def test_presliding_friction_that_the_law_does_not_know_is_announced(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "sliding.toml"
    ROBOTS["presliding"]().save(path)
    status, out, _ = run("simulate", str(path), "--law", "pd_gravity", *given("reference.duration=0.5"))
    assert status == 0, out
    assert "model leaves out: presliding friction" in out


START = start_position(armdyn.load(Path(__file__).parents[2] / "examples" / "elastic_arm.toml"))
ELASTIC = Path(__file__).parents[2] / "examples" / "elastic_arm.toml"


def test_elastic_joints_ring_under_a_rigid_design_and_settle_under_their_own(run: Run, tmp_path: Path) -> None:
    """The commands of the documentation: unstable with the links measured, off by gravity / k, settled."""
    ends = {}
    for name, options in {
        "link": ("--law", "computed_torque", *given("plant.measure=link")),
        "motor": ("--law", "computed_torque"),
        "elastic": ("--law", "elastic_pd", "--plot", str(tmp_path / "run.png")),
    }.items():
        path = tmp_path / f"{name}.npz"
        status, out, _ = run("simulate", str(ELASTIC), *options, *given("reference.duration=4"), "--out", str(path))
        with np.load(path) as saved:
            ends[name] = status, np.array([saved["q1"][-1], saved["q2"][-1]]) - START - 0.5, out
    assert ends["link"][0] != 0 and "grew without bound" in " ".join(ends["link"][2].split())
    assert ends["motor"][0] == 0 and 1e-2 < np.abs(ends["motor"][1]).max() < 0.1
    assert ends["elastic"][0] == 0 and np.abs(ends["elastic"][1]).max() < 1e-3
    assert "globally asymptotically stable" in " ".join(ends["elastic"][2].split())
    assert {"#3b6fd4", "#e58a3c"} <= colors_in(tmp_path / "run.png"), "a curve for each joint"


def last_error(path: Path) -> float:
    table = np.genfromtxt(path, delimiter=",", names=True)
    return max(abs(table[name][-1]) for name in table.dtype.names or () if name.startswith("e"))


@pytest.mark.parametrize(
    ("law", "within"),
    [("resolved_acceleration", 1e-4), ("operational_space", 1e-4), ("impedance", 5e-3), ("task_pid", 2e-2)],
)
def test_laws_in_the_task_space(run: Run, tmp_path: Path, law: str, within: float) -> None:
    """The tool of a three-joint arm follows its line, in the rows that the arm has."""
    path = tmp_path / "run.csv"
    status, out, err = run(
        "simulate",
        "three_link",
        "--law",
        law,
        *given("reference.start=0.3,-0.9,1.1"),
        "--reference",
        "0.5,-0.7,1.2",
        *given("reference.duration=3"),
        *given("solver.dt=0.004"),
        "--out",
        str(path),
    )
    assert status == 0, out + err
    assert last_error(path) < within


def test_rows_of_the_task_are_chosen_or_refused(run: Run) -> None:
    arguments = ("simulate", "three_link", *given("reference.duration=0.02"), "--law")
    status, out, _ = run(*arguments, "impedance", *given("law.rows=x y"))
    assert status == 0 and "World axes." in out
    status, _, err = run(*arguments, "impedance", *given("law.rows=x q"))
    assert status == 2 and "rx" in err
    status, _, err = run(*arguments, "pid", *given("law.rows=x y"))
    assert status == 2 and "Unknown gain of pid 'rows'" in err


def test_encoders_alone_with_an_observer_of_the_velocity(run: Run, tmp_path: Path) -> None:
    """A coarse encoder: differences of positions shake the torques, the observer's estimate does not."""
    roughness = {}
    for name, more in {"differences": "sensors.differentiate=true", "observer": "observers.velocity=80"}.items():
        path = tmp_path / f"{name}.csv"
        status, out, _ = run(
            "simulate",
            "planar2r",
            *given("sensors.resolution=1e-4", more),
            *given("reference.duration=1"),
            "--out",
            str(path),
        )
        assert status == 0, out
        tau = np.genfromtxt(path, delimiter=",", names=True)["tau1"]
        roughness[name] = np.abs(np.diff(tau[100:])).max()
    assert roughness["observer"] < 0.1 * roughness["differences"]


def test_old_and_noisy_measurements(run: Run, tmp_path: Path) -> None:
    """A delay that the gains do not stand is named; noise of the velocities shows in the torques."""
    status, out, _ = run(
        "simulate", "planar2r", *given("reference.duration=30", "solver.dt=0.005", "sensors.delay=0.2")
    )
    assert status == 1 and "measurements 0.2 s old come too late" in " ".join(out.split())
    worst = []
    for noise in ("0", "0.05"):
        path = tmp_path / f"{noise}.csv"
        assert (
            run(
                "simulate",
                "planar2r",
                *given("reference.duration=0.3"),
                *given(f"sensors.noise_qd={noise}"),
                "--out",
                str(path),
            )[0]
            == 0
        )
        worst.append(np.abs(np.diff(np.genfromtxt(path, delimiter=",", names=True)["tau1"], 2)).max())
    assert worst[1] > 20 * worst[0]


def test_adaptation_with_the_gains_it_chooses(run: Run, tmp_path: Path) -> None:
    """An unknown payload: a fixed model leaves an error that the adaptive law does not."""
    errors = {}
    for name, more in {"fixed": given("law.adaptation=0"), "adaptive": ()}.items():
        path = tmp_path / f"{name}.csv"
        settings = (*given("plant.payload=0.8", "reference.duration=2.5"), *more)
        status, out, _ = run("simulate", "three_link", "--law", "adaptive", "--out", str(path), *settings)
        assert status == 0, out
        errors[name] = last_error(path)
    assert errors["adaptive"] < 0.1 * errors["fixed"]


def test_torques_from_a_file(run: Run, tmp_path: Path) -> None:
    """Constant torques against gravity, and the run that they give."""
    table, path = tmp_path / "torques.csv", tmp_path / "run.csv"
    table.write_text("t,tau1,tau2\n0,1,2\n0.2,1,2\n")
    assert (
        run(
            "simulate",
            "planar2r",
            "--law",
            "torques",
            *given(f"law.file={table}"),
            *given("reference.start=0.1,0.2"),
            "--out",
            str(path),
        )[0]
        == 0
    )
    saved = np.genfromtxt(path, delimiter=",", names=True)
    assert saved["t"][-1] == pytest.approx(0.2) and saved["tau2"] == pytest.approx(2.0)
    assert run("simulate", "planar2r", "--law", "torques", *given(f"law.file={table}"), "--reference", "0,0")[0] == 2


def test_khalils_rule_for_resonances_is_applied(run: Run) -> None:
    """Poles of a PID beyond half the lowest resonance get advice; those of one designed for it do not."""
    command = ("simulate", str(ELASTIC), "--law", "pid", *given("reference.duration=0.2"))
    _, out, _ = run(*command, columns=200)
    lowest = armdyn.control.resonance_range(armdyn.compile(armdyn.load(ELASTIC))).first
    advice = f"may excite the structure: keep the poles within {lowest / 2:.4g} rad/s"
    assert out.count(advice) == 2
    _, out, _ = run(*command, *given(f"law.resonance={lowest}"), columns=200)
    assert "may excite" not in out and "A PID designed for them" in out


def test_an_experiment_from_a_file(run: Run, tmp_path: Path) -> None:
    """Options replace what the file says, and files named in it are beside it."""
    plan, file = tmp_path / "motion.csv", tmp_path / "experiment.toml"
    run("plan", "planar2r", "--from", "0,0", "--to", "0.5,0.2", "--out", str(plan))
    file.write_text('[law]\nname = "pid"\nfrequency = 9.0\n[reference]\nmotion = "motion.csv"\n[solver]\ndt = 2e-3\n')
    status, out, _ = run("simulate", "planar2r", str(file), "--json")
    record = json.loads(out)
    assert status == 0 and record["law"].startswith("PID(") and record["dt"] == 2e-3
    assert record["control_loops"][0]["fastest"] == pytest.approx(9.0, rel=1e-4)  # a triple pole
    status, out, _ = run("simulate", "planar2r", str(file), "--law", "computed_torque", "--json")
    assert status == 0 and json.loads(out)["law"] == "ComputedTorque(kp=400, kd=40)"
    file.write_text("[solver]\nintegrater = 3\n")
    status, _, err = run("simulate", "planar2r", str(file), columns=200)
    assert status == 2 and f"{file}, [solver]" in err and "Did you mean 'integrator'?" in err


def test_the_template_is_an_experiment(run: Run, tmp_path: Path) -> None:
    """Every key that it shows with a value can be given; its meaning stands above it."""
    status, out, _ = run("simulate", "--print-template")
    assert status == 0 and "[sensors]" in out and "# Sensor delay, s" in out
    shown = [line.removeprefix("# ") if " = " in line and "..." not in line and line[2:].split(" = ")[0].isidentifier()
             else "" if line.startswith("#") else line for line in out.splitlines()]  # fmt: skip
    assert len(shown) > 60 and "delay = 0.0" in shown
    file = tmp_path / "experiment.toml"
    file.write_text("\n".join(shown))
    status, out, err = run("simulate", "pendulum", str(file), *given("reference.duration=0.1"))
    assert status == 0, err
