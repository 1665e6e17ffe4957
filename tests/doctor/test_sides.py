"""The sides of a comparison besides robots and files: tables of states and torques, models of the Robotics Toolbox."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import armdyn
from armdyn.doctor import explain
from armdyn.doctor.sides import side_of
from armdyn.errors import FileError, NotApplicable
from support.command import Run
from support.fault_runs import quietly
from support.limits import FULL


def table(path: Path, names: list[str], columns: dict[str, np.ndarray]) -> Path:
    """A CSV file with the columns of all joints, joint by joint."""
    heads = [f"{what}_{name}" for name in names for what in columns]
    rows = np.stack([columns[what][:, k] for k in range(len(names)) for what in columns], axis=1)
    lines = [",".join(heads), *(",".join(repr(float(x)) for x in row) for row in rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_a_table_with_columns_in_another_order(tmp_path: Path, run: Run) -> None:
    """Names tell the order, which is no cause then; the damping of one joint is."""
    pin = pytest.importorskip("pinocchio", reason="Pinocchio computes the torques of this test")
    robot = armdyn.load("panda").without("friction")  # with limits: without them Pinocchio has (cos, sin)
    urdf = quietly(robot.save, tmp_path / "panda.urdf")  # URDF has no limits of acceleration
    model = pin.buildModelFromUrdf(str(urdf))
    data = model.createData()
    rng = np.random.default_rng(1)
    q, qd, qdd = rng.uniform(-1, 1, (3, 30, 7))
    tau = np.array([pin.rnea(model, data, *row).copy() for row in zip(q, qd, qdd, strict=True)])
    tau[:, 2] += 1.7 * qd[:, 2]
    back = np.arange(7)[::-1]
    names = [robot.joints[k].name for k in back]
    path = table(
        tmp_path / "log.csv", names, {"q": q[:, back], "qd": qd[:, back], "qdd": qdd[:, back], "tau": tau[:, back]}
    )
    found = explain(robot, path)
    assert [(cause.kind, cause.where) for cause in found.causes] == [("damping", (robot.joints[2].name,))]
    assert found.status == "explained" and "1.7" in found.causes[0].what
    assert explain(path, robot).causes[0].kind == "damping"  # either side may be the table
    assert run("explain", urdf, path).status == 1


def test_static_tables_need_no_velocities(tmp_path: Path) -> None:
    robot = armdyn.load("planar2r").without("friction")
    dyn = armdyn.compile(robot)
    q = np.random.default_rng(2).uniform(-1, 1, (20, 2))
    names = [joint.name for joint in robot.joints]
    assert explain(robot, table(tmp_path / "a.csv", names, {"q": q, "tau": dyn.gravity(q)})).status == "equal"
    found = explain(robot, table(tmp_path / "b.csv", names, {"q": q, "tau": -dyn.gravity(q)}))
    assert [cause.kind for cause in found.causes] == ["gravity_sign"]


def test_what_cannot_be_compared_is_refused_by_name(tmp_path: Path) -> None:
    for text, words in (
        ("q_a,tau_a\n", "no line of numbers"),
        ("a,b\n1,2\n", "a, b"),
        ("q_a,tau_a\n1,x\n", "no line of numbers"),
        ("q_a,tau_a\n1,2\n1,x\n", "line 3"),
    ):
        path = tmp_path / "bad.csv"
        path.write_text(text, encoding="utf-8")
        with pytest.raises(FileError, match=words):
            explain("planar2r", path)
    with pytest.raises(NotApplicable, match="ur5 6, scara5 5"):
        explain("ur5", "scara5")
    with pytest.raises(FileError, match="a folder"):
        explain(tmp_path, "ur5")
    with pytest.raises(NotApplicable, match="neither"):
        explain(lambda q, qd, qdd: qdd, lambda q, qd, qdd: qdd)


@pytest.mark.parametrize("pair", [("planar3r", "three_link"), *([("ur5", "puma560")] if FULL else [])])
def test_two_different_robots_have_no_fanciful_causes(pair: tuple[str, str]) -> None:
    found = explain(*pair)
    assert found.status == "unexplained" and not found.fine and found.known
    assert {cause.kind for cause in found.causes} <= {"armature", "damping", "dry_friction"}


def test_models_of_the_robotics_toolbox() -> None:
    rtb = pytest.importorskip("roboticstoolbox", reason="models of the Robotics Toolbox are one side of this test")
    puma = rtb.models.DH.Puma560()
    assert side_of(puma).robot is not None  # its friction is not the same in both directions
    found = explain("puma560", puma)
    assert [cause.kind for cause in found.causes] == ["dry_friction"] and found.status == "explained"
    heavier = rtb.models.DH.Puma560()
    heavier.links[2].m = 10 * heavier.links[2].m
    heavier.dynchanged()
    found = explain(puma, heavier)
    assert [(cause.kind, cause.where) for cause in found.causes] == [("decimal", ("link3",))]
