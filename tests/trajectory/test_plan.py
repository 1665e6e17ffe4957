"""armdyn plan as a user sees it."""

from __future__ import annotations

import re

import numpy as np
import pytest

import armdyn
from armdyn.cli import main
from armdyn.mechanics import kinematics

FROM, TO = "0,0,0.4,0.2,0", "0.2,60deg,-0.9,1.0,0.05"


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]):  # type: ignore[no-untyped-def]
    """Run `armdyn plan`; gives (status, stdout, stderr)."""

    def go(*arguments: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as stop:
            main(["plan", *arguments])
        out, err = capsys.readouterr()
        return int(stop.value.code or 0), out, err

    return go


def test_a_motion_with_file_and_picture(run, tmp_path) -> None:  # type: ignore[no-untyped-def]
    png, csv = tmp_path / "out.png", tmp_path / "out.csv"
    status, out, _ = run("scara5", "--from", FROM, "--to", TO, "--profile", "trapezoid", "--plot", str(png), "--out",
                         str(csv))  # fmt: skip
    assert status == 0
    assert png.read_bytes().startswith(b"\x89PNG")
    motion = armdyn.read_trajectory(csv)
    np.testing.assert_allclose(motion(0.0), [0, 0, 0.4, 0.2, 0])
    np.testing.assert_allclose(motion(motion.duration), [0.2, np.pi / 3, -0.9, 1.0, 0.05], atol=1e-12)
    assert f"{motion.duration:.4f} s" in out
    assert "No velocity limits known" in out  # scara5 has none: it says what it takes
    assert re.search(r"elbow\s+rad\s+0.4000\s+-0.9000\s+1.0000\s+4.0000", out)


def test_limits_of_the_user_and_of_the_robot(run) -> None:  # type: ignore[no-untyped-def]
    q = ["--from", "0,0,0,-1,0,1,0", "--to", "1,0,0,-1,0,1,0"]
    _, out, _ = run("panda", *q)
    assert "known" not in out
    duration = 2.175 / 15 + 1 / 2.175  # [8.22] with the panda's own limits of joint 1
    assert f"panda: {duration:.4f} s" in out
    _, out, _ = run("panda", *q, "--v-max", "1", "--a-max", "2")
    assert "panda: 1.5000 s" in out
    _, out, _ = run("panda", *q, "--duration", "0.3", "--profile", "cubic")
    assert "panda_joint1 exceeds its velocity limit 2.175: 5" in out


def test_a_straight_line_of_the_tool(run, tmp_path) -> None:  # type: ignore[no-untyped-def]
    csv = tmp_path / "line.csv"
    q0, q1 = [0.3, -1.2, 1.4, -0.9, -1.2, 0.0], [0.5, -1.0, 1.2, -0.9, -1.2, 0.2]
    texts = [",".join(map(str, q)) for q in (q0, q1)]
    options = ("--line", "--profile", "smooth", "--dt", "0.01", "--v-max", "0.1", "--a-max", "0.4")
    status, out, _ = run("ur5", "--from", texts[0], "--to", texts[1], *options, "--out", str(csv))
    assert status == 0
    assert "straight line of the tool" in out
    robot = armdyn.load("ur5")
    motion = armdyn.read_trajectory(csv)
    ends = kinematics.pose(robot, [q0, q1])[:, :3, 3]
    p = kinematics.pose(robot, motion(motion.knots))[:, :3, 3]
    D = ends[1] - ends[0]
    assert np.abs(np.cross(p - ends[0], D)).max() / np.linalg.norm(D) < 1e-9
    np.testing.assert_allclose(motion(motion.duration), q1, atol=1e-6)
    speed = np.linalg.norm(kinematics.velocity(robot, motion(motion.knots), motion(motion.knots, 1))[:, :3], axis=1)
    assert speed.max() == pytest.approx(0.1, rel=1e-6)


def test_a_line_of_an_arm_that_cannot_choose_its_rotation(run) -> None:  # type: ignore[no-untyped-def]
    status, out, _ = run("planar2r", "--from", "0.2,0.9", "--to", "0.9,1.3", "--line", "--duration", "1")
    assert status == 0
    assert "rotation is left free" in out
    assert re.search(r"elbow\s+rad\s+0.9000\s+1.3000", out)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--from", "0,0", "--to", TO), "2 numbers; the robot takes 5"),
        (("--from", "0,0,x,0,0", "--to", TO), "'x' is not a number"),
        (("--from", FROM, "--to", TO, "--profile", "trapez"), "unknown profile 'trapez'"),
        (("--from", FROM, "--to", TO, "--v-max", "-1"), "limits are positive"),
        (("--from", FROM, "--to", TO, "--plot", "x.gif"), ".png, .svg or .pdf"),
        (("--from", FROM, "--to", TO, "--out", "no/such/dir/x.csv"), "cannot be written"),
        (("--from", FROM, "--to", TO, "--duration", "0.1", "--v-max", "1"), "breaks the limits"),
    ],
)
def test_bad_requests_end_with_status_2_and_no_traceback(run, arguments, message) -> None:  # type: ignore[no-untyped-def]
    status, _, err = run("scara5", *arguments)
    assert status == 2
    flat = " ".join(re.sub(r"[│╭╮╰╯─]", " ", err).split())
    assert message.lower() in flat.lower()
    assert "Traceback" not in err
