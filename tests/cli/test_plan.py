"""armdyn plan as a user sees it."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import armdyn
from armdyn.mechanics import kinematics
from support.command import Run, plain

FROM, TO = "0,0,0.4,0.2,0", "0.2,60deg,-0.9,1.0,0.05"


def test_a_motion_with_file_and_picture(run: Run, tmp_path: Path) -> None:
    png, csv = tmp_path / "out.png", tmp_path / "out.csv"
    options = ("--profile", "trapezoid", "--plot", png, "--out", csv)
    status, out, _ = run("plan", "scara5", "--from", FROM, "--to", TO, *options)
    assert status == 0
    assert png.read_bytes().startswith(b"\x89PNG")
    motion = armdyn.read_trajectory(csv)
    np.testing.assert_allclose(motion(0.0), [0, 0, 0.4, 0.2, 0])
    np.testing.assert_allclose(motion(motion.duration), [0.2, np.pi / 3, -0.9, 1.0, 0.05], atol=1e-12)
    assert f"{motion.duration:.4f} s" in out
    assert "No velocity limits known" in out  # scara5 has none: it says what it takes
    assert re.search(r"elbow\s+rad\s+0.4000\s+-0.9000\s+1.0000\s+4.0000", out)


def test_limits_of_the_user_and_of_the_robot(run: Run) -> None:
    q = ["--from", "0,0,0,-1,0,1,0", "--to", "1,0,0,-1,0,1,0"]
    _, out, _ = run("plan", "panda", *q)
    assert "assumed" not in out
    duration = 2.175 / 15 + 1 / 2.175  # (8.22) with the panda's own limits of joint 1
    assert f"panda: {duration:.4f} s" in out
    _, out, _ = run("plan", "panda", *q, "--limits", "v=1,a=2")
    assert "panda: 1.5000 s" in out
    _, out, _ = run("plan", "panda", *q, "--duration", "0.3", "--profile", "cubic")
    assert "panda_joint1: velocity 5 at 0.15 s, limit 2.175" in plain(out)


def test_a_straight_line_of_the_tool(run: Run, tmp_path: Path) -> None:
    csv = tmp_path / "line.csv"
    q0, q1 = [0.3, -1.2, 1.4, -0.9, -1.2, 0.0], [0.5, -1.0, 1.2, -0.9, -1.2, 0.2]
    texts = [",".join(map(str, q)) for q in (q0, q1)]
    options = ("--line", "--profile", "smooth", "--dt", "0.01", "--limits", "tool_v=0.1,tool_a=0.4")
    status, out, _ = run("plan", "ur5", "--from", texts[0], "--to", texts[1], *options, "--out", str(csv))
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


def test_configurations_on_the_way(run: Run, tmp_path: Path) -> None:
    """The tool passes the pose of the configuration in between at a distance; the joints themselves likewise."""
    robot, csv = armdyn.load("ur5"), tmp_path / "out.csv"
    q = ["0.3,-1.2,1.4,-1.8,-1.5,0.2", "0.6,-1.0,1.2,-1.6,-1.3,0.5", "0.2,-0.9,1.3,-1.7,-1.4,0"]
    points = np.array([[float(x) for x in text.split(",")] for text in q])
    for options, closest in (((), 0.2), (("--line",), 0.05)):
        route = ("--from", q[0], "--to", q[1], "--to", q[2], "--out", csv, "--force")
        status, out, _ = run("plan", "ur5", *route, *options)
        assert status == 0
        assert "blends, straight lines" in out
        motion = armdyn.read_trajectory(csv)
        ends = motion([0.0, motion.duration])
        np.testing.assert_allclose(ends, points[[0, 2]], atol=1e-6)
        between = motion(np.linspace(0, motion.duration, 200))
        away = (
            np.array([kinematics.pose(robot, at) for at in between])[:, :3, 3]
            - kinematics.pose(robot, points[1])[:3, 3]
        )
        assert 1e-4 < np.linalg.norm(away, axis=1).min() < closest
    status, out, _ = run("plan", "ur5", *route, "--profile", "cubic")
    motion = armdyn.read_trajectory(csv)
    near = np.linalg.norm(motion(np.linspace(0, motion.duration, 2000)) - points[1], axis=1).min()
    assert status == 0 and "spline through 3 configurations" in out and near < 2e-3
    status, _, err = run("plan", "ur5", *route, "--profile", "smooth")
    assert status == 2 and "one of: blends, cubic, quintic" in " ".join(plain(err).split())


def test_a_line_of_an_arm_that_cannot_choose_its_rotation(run: Run) -> None:
    status, out, _ = run("plan", "planar2r", "--from", "0.2,0.9", "--to", "0.9,1.3", "--line", "--duration", "1")
    assert status == 0
    assert "orientation of the tool is left free" in out
    assert re.search(r"elbow\s+rad\s+0.9000\s+1.3000", out)


# Timing by torques -------------------------------------------------------------------------------------------------

LIFT = ["--from", "0,0,0,0,0", "--to", "0.2,0,0,0,0"]
FORCE = 300.0


def scara_on_one_axis() -> tuple[float, float]:
    """Accelerations up and down of the lift, which carries all of the robot, at the largest force: F = M (a + g)."""
    robot = armdyn.load("scara5")
    mass = sum(float(joint.body.inertia.mass) for joint in robot.tree)
    return FORCE / mass - 9.81, FORCE / mass + 9.81


def figures(out: str, joint: str) -> list[float]:
    """The numbers in a joint's row."""
    (row,) = re.findall(rf"^ *{joint} +(?:m|rad) +(.*)$", out, re.MULTILINE)
    return [float(cell) for cell in row.split()]


def test_scaled_to_the_force_that_there_is(run: Run, tmp_path: Path) -> None:
    up, _ = scara_on_one_axis()
    csv = tmp_path / "scaled.csv"
    options = ("--timing", "scaled", "--limits", f"tau={FORCE}", "--profile", "bang_bang", "--out", str(csv))
    status, out, _ = run("plan", "scara5", *LIFT, *options)
    assert status == 0
    duration = 2 * np.sqrt(0.2 / up)  # half of the way at `up`, half at -up
    reference = 2 * np.sqrt(0.2 / 1.0)  # by the acceleration taken where none is known: its velocity stays below
    reference = max(reference, 2 * 0.2 / 0.25)
    assert f"scara5: {duration:.4f} s, profile bang_bang, scaled" in out
    assert f"{duration:.4f} s instead of {reference:.4f} s" in out
    assert "limited by the torque of lift" in out
    assert figures(out, "lift")[3:] == pytest.approx([up, FORCE, FORCE, 100], abs=0.006)
    assert armdyn.read_trajectory(csv).duration == pytest.approx(duration, rel=1e-12)


def test_the_fastest_timing(run: Run, tmp_path: Path) -> None:
    up, down = scara_on_one_axis()
    csv = tmp_path / "fastest.csv"
    status, out, _ = run("plan", "scara5", *LIFT, "--timing", "optimal", "--limits", f"tau={FORCE}", "--out", str(csv))
    assert status == 0
    duration = np.sqrt(2 * 0.2 * (up + down) / (up * down))  # speeds up at `up`, brakes at `down`
    motion = armdyn.read_trajectory(csv)
    assert motion.duration == pytest.approx(duration, rel=1e-3)  # limits hold at 400 places
    assert motion.duration > duration * (1 - 1e-9)
    assert f"scara5: {motion.duration:.4f} s, time-optimal" in out
    assert "At their limits: torque of lift." in out
    assert "fastest on this grid" in out
    top = np.sqrt(2 * 0.2 * up * down / (up + down))
    assert figures(out, "lift")[2:4] == pytest.approx([top, down], rel=2e-3)


def test_timing_keeps_the_robots_own_limits(run: Run) -> None:
    q = ["--from", "0,0,0,-1,0,1,0", "--to", "1,0,0,-1,0,1,0"]
    duration = 2.175 / 15 + 1 / 2.175  # by velocity and acceleration of joint 1 alone, (8.22)
    for timing in ("scaled", "optimal"):
        _, out, _ = run("plan", "panda", *q, "--timing", timing)
        assert f"panda: {duration:.4f} s" in out and "s as before" in out
        assert "At their limits: velocity of panda_joint1; acceleration of panda_joint1." in out
    _, out, _ = run("plan", "panda", *q, "--timing", "optimal", "--limits", "v=1,a=2")
    assert "panda: 1.5000 s" in out
    _, out, _ = run("plan", "panda", *q, "--timing", "scaled", "--limits", "tau=6,87,87,87,12,12,12")
    assert re.search(r"times as slow; limited by the torque of panda_joint1", out)
    assert "exceeded" not in out


def test_torques_beyond_their_limits_are_told(run: Run) -> None:
    q = ["--from", "0,0,0,-1,0,1,0", "--to", "1,0,0,-1,0,1,0"]
    _, out, _ = run("plan", "panda", *q, "--limits", "tau=6,87,87,87,12,12,12")
    assert re.search(r"panda_joint1: torque -?[\d.]+ at .* s, limit -?6", plain(out))
    assert "Slow down: `scale_to_torque`" in plain(out)
    _, out, _ = run("plan", "panda", *q, "--limits", "tau=87,5,87,87,12,12,12")
    assert re.search(r"panda_joint2: torque .* limit -?5", plain(out))
    assert "No timing helps" in plain(out)
    status, _, err = run("plan", "panda", *q, "--limits", "tau=87,5,87,87,12,12,12", "--timing", "optimal")
    assert status == 2 and "panda_joint2" in err and "Traceback" not in err


def test_some_joints_without_limit(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "two.toml"
    row = "[[joint]]\ntype = 'revolute'\na = 0.5\nmass = 2.0\ncom = [-0.25, 0, 0]\ninertia = [0.1, 0, 0, 0.1, 0, 0.1]\n"
    head = "name = 'two'\nconvention = 'standard'\ngravity = [0, 0, -9.81]\n"
    file.write_text(f"{head}{row}name = 'a'\nlimits = {{torque = 20.0}}\n{row}name = 'b'\n")
    status, out, _ = run("plan", str(file), "--from", "0,0", "--to", "1,1", "--timing", "scaled")
    assert status == 0
    assert "No torque limit known: b." in out
    assert re.search(r"^ *b .* - +- *$", out, re.MULTILINE)


def test_a_line_timed_by_torques(run: Run, tmp_path: Path) -> None:
    png = tmp_path / "line.png"
    options = ("--line", "--timing", "optimal", "--limits", "tau=4000,1500", "--plot", str(png))
    status, out, _ = run("plan", "planar2r", "--from", "0.2,0.9", "--to", "0.9,1.3", *options)
    assert status == 0
    assert "time-optimal, straight line of the tool" in out
    assert "For the motion before retiming: The orientation of the tool is left free" in out
    assert png.read_bytes().startswith(b"\x89PNG")


def test_scaling_keeps_jerk_limits(run: Run, tmp_path: Path) -> None:
    """The scaled motion reaches the jerk limit, and does not exceed it."""
    file = tmp_path / "move.csv"
    options = ("--timing", "scaled", "--limits", "tau=40000,v=9,a=90,j=9")
    status, out, _ = run("plan", "planar2r", "--from", "0.2,0.9", "--to", "0.9,1.3", *options, "--out", str(file))
    assert status == 0, out
    assert "jerk of" in " ".join(out.split())
    table = np.genfromtxt(file, delimiter=",", names=True)
    jerk = np.abs(np.diff(np.column_stack([table["qdd1"], table["qdd2"]]), axis=0)) / np.diff(table["t"])[:, None]
    assert jerk.max() == pytest.approx(9.0, rel=1e-2)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--from", "0,0", "--to", TO), "2 numbers; the robot takes 5"),
        (("--from", "0,0,x,0,0", "--to", TO), "'x' is not a number"),
        (("--from", FROM, "--to", TO, "--profile", "trapez"), "unknown profile 'trapez'"),
        (("--from", FROM, "--to", TO, "--limits", "v=-1"), "5 positive limits"),
        (("--from", FROM, "--to", TO, "--plot", "x.bmp"), ".png, .svg, .pdf"),
        (("--from", FROM, "--to", TO, "--out", "/dev/null/x.csv"), "cannot be written"),
        (("--from", FROM, "--to", TO, "--duration", "0.1", "--limits", "v=1"), "exceeds the limits"),
        (("--from", FROM, "--to", TO, "--timing", "fast"), "one of: given, scaled, optimal"),
        (("--from", FROM, "--to", TO, "--timing", "scaled"), "no torque limit is known"),
        (("--from", FROM, "--to", TO, "--timing", "optimal"), "Give limits with tau_max"),
        (("--from", FROM, "--to", TO, "--timing", "scaled", "--limits", "tau=9", "--duration", "1"), "follows from"),
        (
            ("--from", FROM, "--to", TO, "--timing", "scaled", "--limits", "tau=9", "--profile", "linear"),
            "jump in velocity",
        ),
        (("--from", FROM, "--to", TO, "--limits", "tau=1,2"), "5 positive limits, or one for all joints"),
        (("--from", FROM, "--to", TO, "--limits", "speed=1"), "unknown limit 'speed'"),
        (("--from", FROM, "--to", TO, "--limits", "tool_v=1"), "limits of the tool for a motion of the joints"),
        (("--from", FROM, "--to", FROM, "--timing", "scaled", "--limits", "tau=900"), "nothing limits the speed"),
        (("--from", FROM, "--to", FROM, "--timing", "optimal", "--limits", "tau=900"), "no length"),
    ],
)
def test_bad_requests_end_with_status_2_and_no_traceback(run: Run, arguments: tuple[str, ...], message: str) -> None:
    status, _, err = run("plan", "scara5", *arguments)
    assert status == 2
    flat = " ".join(re.sub(r"[│╭╮╰╯─]", " ", err).split())
    assert message.lower() in flat.lower()
    assert "Traceback" not in err


def test_a_duration_too_short_for_given_limits_is_refused_with_via_too(run: Run) -> None:
    via = ("plan", "planar2r", "--from", "0,0", "--to", "0.5,0.2", "--to", "1,0")
    assert run(*via, "--duration", "20", "--limits", "v=1,a=1").status in (0, 1)
    short = run(*via, "--duration", "0.5", "--limits", "v=1,a=1")
    assert short.status == 2
    assert "It needs more time" in plain(short.err)


UR5 = ("plan", "ur5", "--from", "0,-1,1,0,0,0", "--to", "1,-1.5,1.5,0,0.5,0")


def test_limits_of_position_and_jerk_are_told_with_their_values(run: Run) -> None:
    far = run("plan", "panda", "--from", "0,0,0,-1,0,1,0", "--to", "1,0,0,-1,0,9,0")
    assert far.status == 1
    assert re.search(r"panda_joint6: position 9 at .* s, limit 3.7525", plain(far.out))
    assert "Slowing down does not help" in plain(far.out)
    jerky = run(*UR5, "--duration", "1", "--profile", "quintic", "--limits", "j=20")
    assert jerky.status == 2 and "exceeds the limits" in plain(jerky.err)
    smooth = run(*UR5, "--limits", "v=1,a=2,j=20")
    assert smooth.status == 0 and "ur5: 1.6000 s" in plain(smooth.out)
    line = run(*UR5, "--line", "--limits", "j=20")
    assert line.status == 1 and "jerk inf at" in plain(line.out)


def test_accelerations_from_torque_limits_keep_them(run: Run) -> None:
    weak = run(
        "plan", "ur5", "--from", "0,-1,1,0,0,0", "--to", "1,-0.1,0.1,0,0.5,0", "--limits", "tau=60,80,40,28,28,28"
    )
    assert weak.status == 0 and "to keep the torque limits" in " ".join(plain(weak.out).split())


def test_largest_payload_and_shortest_cycle(run: Run) -> None:
    motion = (*UR5, "--profile", "quintic", "--duration", "0.8")
    found = run(*motion, "--payload", "largest@0,0,0.1")
    (mass,) = re.findall(r"Largest payload: ([\d.]+) kg in 0.8 s; limited by shoulder_lift_joint", plain(found.out))
    assert found.status == 0
    assert run(*motion, "--payload", f"{0.99 * float(mass)}kg@0,0,0.1").status == 0
    assert run(*motion, "--payload", f"{1.01 * float(mass)}@0,0,0.1").status == 1
    seconds = [float(re.findall(r"ur5: ([\d.]+) s", plain(run(*UR5, "--timing", "optimal", *more).out))[0])
               for more in ((), ("--payload", "8"))]  # fmt: skip
    assert seconds[1] > 1.1 * seconds[0]
    timed = run(*UR5, "--timing", "optimal", "--duration", str(seconds[1]), "--payload", "largest")
    (mass,) = re.findall(r"Largest payload: ([\d.]+) kg", plain(timed.out))
    assert float(mass) == pytest.approx(8, rel=0.01)
    assert run(*motion, "--payload", "3@0,0").status == 2


def test_plan_with_a_torque_speed_curve(run: Run) -> None:
    options = ("--from", "0,0,0,0,0,0", "--to", "1,-0.8,0.7,0.5,0.6,0.4", "--timing", "optimal")
    plain, limited = (run("plan", "puma560", *options, *more) for more in ((), ("--limits", "no_load=2,corner=0.5")))
    assert "no speed" not in limited[1] and "OPTIMAL" not in limited[1]
    seconds = [float(text[1].split("puma560:")[1].split(" s")[0]) for text in (plain, limited)]
    assert seconds[1] > 1.1 * seconds[0]
