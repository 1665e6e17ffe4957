"""The command `armdyn simulate`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import armdyn
from armdyn.robot.limits import start_position
from support.command import Run


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
        "--dt",
        "0.005",
    )
    assert status == 0
    assert "shoulder" in out
    assert "The motion ran to its end." in out
    assert picture.stat().st_size > 20_000
    table = np.genfromtxt(samples, delimiter=",", names=True)
    assert table["ref1"][-1] == pytest.approx(np.radians(30))


def test_a_planned_motion(run: Run, tmp_path: Path) -> None:
    plan = tmp_path / "motion.csv"
    run("plan", "planar2r", "--from", "0,0", "--to", "0.5,0.2", "--out", str(plan))
    status, out, _ = run("simulate", "planar2r", "--reference", str(plan), "--dt", "0.002")
    assert status == 0
    assert "ran to its end" in out


@pytest.mark.parametrize(
    "controller", ["pid", "pd_gravity", "predictive", "feedforward", "sliding_mode", "adaptive", "none"]
)
def test_every_controller(run: Run, controller: str) -> None:
    status, out, _ = run("simulate", "three_link", "--controller", controller, "--dt", "0.002", "--duration", "0.2")
    assert status == 0, out


def test_imperfect_models_and_many_arms(run: Run) -> None:
    status, out, _ = run("simulate", "scara5", "--reference", "curve40", "--gain", "kp=200", "--gain", "kd=10",
                         "--duration", "0.5", "--imperfect", "--monte-carlo", "5")  # fmt: skip
    assert status == 0
    assert "without Coriolis" in out
    assert "5 arms under" in out


def test_a_blow_up_is_status_1_with_advice(run: Run) -> None:
    status, out, _ = run("simulate", "planar2r", "--gain", "kp=1e8", "--gain", "kd=0", "--integrator", "rk4")
    assert status == 1
    assert "lower the gains" in out


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("--controller", "magic"), "computed_torque"),
        (("--gain", "ko=3"), "kp"),
        (("--gain", "kp=much"), "kp=200"),
        (("--reference", "1,2,3"), "the robot takes 2"),
        (("--reference", "curve40"), "scara5"),
        (("--plot", "x.doc"), ".png"),
        (("--integrator", "euler"), "euler_taylor"),
        (("--saturate",), "torque limits"),
        (("--controller", "pid", "--imperfect"), "only computed torque"),
    ],
)
def test_mistakes_are_status_2(run: Run, arguments: tuple[str, ...], text: str) -> None:
    status, _, err = run("simulate", "planar2r", "--duration", "0.1", *arguments)
    assert status == 2
    assert text in err
    assert "Traceback" not in err


def test_elastic_joints(run: Run, tmp_path: Path) -> None:
    """The same arm under two laws: both print its resonances; the law for elastic joints its condition of stability."""
    row = {"type": "revolute", "a": 0.4, "mass": 1.0, "rotor": {"inertia": 0.02},
           "elastic": {"stiffness": 400.0, "damping": 0.5}}  # fmt: skip
    path = tmp_path / "flexible.toml"
    armdyn.Robot.from_dh([row, row], gravity=(0, -9.81, 0), name="flexible").save(path)
    arguments = ("simulate", str(path), "--reference", "0.6,-0.4", "--from", "0,0", "--duration", "6")
    final = {}
    for law in ("computed_torque", "elastic_pd"):
        samples = tmp_path / f"{law}.csv"
        status, out, _ = run(*arguments, "--controller", law, "--out", str(samples))
        assert status == 0, out
        assert "Resonances of the elastic joints" in out and "A PID designed for them" in out
        assert ("globally asymptotically stable" in out) == (law == "elastic_pd")
        table = np.genfromtxt(samples, delimiter=",", names=True)
        assert "theta1" in (table.dtype.names or ())
        final[law] = abs(table["e1"][-1])
    assert final["elastic_pd"] < 1e-4 < 1e-2 < final["computed_torque"]
    assert run(*arguments, "--measured", "link")[0] == 1  # the rigid design on the links' side: unstable
    assert run(*arguments, "--measured", "both")[0] == 2


START = start_position(armdyn.load(Path(__file__).parents[2] / "examples" / "elastic_arm.toml"))
ELASTIC = Path(__file__).parents[2] / "examples" / "elastic_arm.toml"


def test_elastic_joints_ring_under_a_rigid_design_and_settle_under_their_own(run: Run, tmp_path: Path) -> None:
    """The commands of the documentation: unstable with the links measured, off by gravity / k, settled."""
    ends = {}
    for name, options in {
        "link": ("--controller", "computed_torque", "--measured", "link"),
        "motor": ("--controller", "computed_torque"),
        "elastic": ("--controller", "elastic_pd", "--plot", str(tmp_path / "run.png")),
    }.items():
        path = tmp_path / f"{name}.npz"
        status, out, _ = run("simulate", str(ELASTIC), *options, "--duration", "4", "--out", str(path))
        with np.load(path) as saved:
            ends[name] = status, np.array([saved["q1"][-1], saved["q2"][-1]]) - START - 0.5, out
    assert ends["link"][0] != 0 and "grew without bound" in " ".join(ends["link"][2].split())
    assert ends["motor"][0] == 0 and 1e-2 < np.abs(ends["motor"][1]).max() < 0.1
    assert ends["elastic"][0] == 0 and np.abs(ends["elastic"][1]).max() < 1e-3
    assert "globally asymptotically stable" in " ".join(ends["elastic"][2].split())
    assert (tmp_path / "run.png").stat().st_size > 5_000
