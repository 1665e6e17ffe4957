"""Meanings of MJCF that are easy to get wrong, each against MuJoCo; and files that only one of the two may accept."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path

import pytest

import armdyn
from armdyn.errors import ArmdynError
from armdyn.formats import mjcf

mujoco = pytest.importorskip("mujoco", reason="MuJoCo is not installed: MJCF files are not compared with it")

from support.mujoco_model import assert_same_dynamics  # noqa: E402  (after the check that MuJoCo is there)

INERTIAL = '<inertial pos="0.1 0.02 -0.03" quat="0.9 0.1 0.2 0.3" mass="2" diaginertia="0.02 0.03 0.025"/>'
ARM = (
    f'<body name="a" euler="10 20 30"><joint name="j" axis="1 1 0" damping="0.3" frictionloss="0.1"/>{INERTIAL}</body>'
)
CARRYING = ARM.removesuffix("</body>") + '<body name="b" pos="0.2 0 0">%s</body></body>'
FRAME = '<frame pos="0.1 0.2 0.3" euler="40 50 60">'

SAME = {
    "a joint in a frame": f'<worldbody><body name="a">{FRAME}<joint name="j" axis="0 1 0" pos="0 0.1 0"/></frame>'
    f"{INERTIAL}</body></worldbody>",
    "a slide in a frame": f'<worldbody><body name="a">{FRAME}<joint name="j" type="slide" axis="0 1 0"/></frame>'
    f"{INERTIAL}</body></worldbody>",
    "joints inside and outside of a frame": f'<worldbody><body name="a"><joint name="i" axis="1 0 0"/>{FRAME}'
    f'<joint name="j" axis="0 1 0" pos="0.1 0 0"/></frame>{INERTIAL}</body></worldbody>',
    "an inertial in a frame": f'<worldbody><body name="a"><joint name="j" axis="1 0 0"/>{FRAME}{INERTIAL}'
    "</frame></body></worldbody>",
    "a full inertia in a frame": f'<worldbody><body name="a"><joint name="j" axis="1 0 0"/>{FRAME}<inertial mass="1" '
    'pos="0 0.1 0" fullinertia="0.1 0.12 0.09 0.01 0.02 0.01"/></frame></body></worldbody>',
    "frames in frames": f'<worldbody>{FRAME}{FRAME}<body name="a">{FRAME}{FRAME}<joint name="j" axis="0 1 0"/></frame>'
    f"{INERTIAL}</frame></body></frame></frame></worldbody>",
    "no gravity": f'<option><flag gravity="disable"/></option><worldbody>{ARM}</worldbody>',
    "no dampers": f'<option><flag damper="disable"/></option><worldbody>{ARM}</worldbody>',
    "no dampers, nor those of actuators": f'<option><flag damper="disable"/></option><worldbody>{ARM}</worldbody>'
    '<actuator><motor joint="j" damping="0.3"/></actuator>',
    "no springs": '<option><flag spring="disable"/></option><worldbody><body name="a"><joint name="j" stiffness="3"/>'
    f"{INERTIAL}</body></worldbody>",
    "inertia from shapes, without shapes": f'<compiler inertiafromgeom="true"/><worldbody>{ARM}</worldbody>',
    "inertia from shapes, of another group": '<compiler inertiafromgeom="true" inertiagrouprange="0 1"/><worldbody>'
    + ARM.replace("</body>", '<geom size="0.1" group="3"/></body></worldbody>'),
    "inertia from shapes": '<compiler inertiafromgeom="true"/><worldbody>'
    + ARM.replace("</body>", '<geom size="0.1" pos="0.2 0 0"/></body></worldbody>'),
    "armature and damping of actuators": f"<worldbody>{ARM}</worldbody><actuator>"
    '<motor joint="j" gear="3" armature="0.5" damping="0.1"/><position joint="j" gear="-2" armature="0.1"/></actuator>',
    "defaults that all actuators share": '<default><motor gear="3"/><general armature="0.2"/></default><worldbody>'
    f'{ARM}</worldbody><actuator><position joint="j" damping="0.1"/></actuator>',
    "own orientation over that of the class": '<default><geom quat="0.9 0.1 0.2 0.3" type="box" size="0.1 0.2 0.3"/>'
    '</default><worldbody><body name="a"><joint name="j" axis="1 0 0"/><geom euler="10 20 0" pos="0.1 0.2 0"/></body>'
    "</worldbody>",
    "a quaternion over the class's angles": '<default><geom euler="0 20 0" type="box" size="0.1 0.2 0.3"/><default '
    'class="b"><geom zaxis="1 0 1"/></default></default><worldbody><body name="a"><joint name="j" axis="1 0 0"/>'
    '<geom quat="0.8 0.6 0 0" pos="0.1 0.2 0"/><geom class="b" pos="0 0 0.1"/></body></worldbody>',
    "bounds of mass and inertia": f'<compiler boundmass="3" boundinertia="0.027"/><worldbody>{ARM}</worldbody>',
    "balanced inertia": '<compiler balanceinertia="true"/><worldbody><body name="a"><joint name="j" axis="1 0 0"/>'
    '<inertial pos="0 0.1 0" mass="1" diaginertia="1 1 5"/></body></worldbody>',
    "total mass": f'<compiler settotalmass="20"/><worldbody>{CARRYING}</worldbody>' % '<geom size="0.1"/>',
    "a static point mass": f"<worldbody>{CARRYING}</worldbody>" % '<inertial pos="0 0 1" mass="1"/>',
    "a long box": '<worldbody><body name="a"><joint name="j" axis="1 0 0"/><geom type="box" size="0.1 0.3" '
    'fromto="0 0 0 1 1 1"/></body></worldbody>',
    "copies": '<worldbody><body name="r"><joint name="k" axis="0 1 0"/><geom size="0.1" pos="0.1 0 0"/>'
    '<replicate count="12" offset="0.1 0.2 0.3" euler="10 20 30" sep="-"><body name="a" pos="0.3 0 0">'
    '<joint name="j" axis="1 0 0"/><geom size="0.1" pos="0 0.1 0"/></body><geom size="0.05" pos="0 0 1"/></replicate>'
    '</body></worldbody><actuator><motor joint="j" gear="2" armature="0.3"/><motor joint="k" armature="1"/></actuator>',
    "copies of copies": '<worldbody><replicate count="3" offset="0 0 1"><replicate count="2" euler="0 0 9">'
    '<body name="a"><joint name="j" axis="1 0 0"/><geom size="0.1" pos="0 0.1 0"/></body></replicate></replicate>'
    '</worldbody><actuator><motor joint="j" armature="0.3"/></actuator>',
}  # fmt: skip
SHELLS = {
    "sphere": "0.1",
    "capsule": "0.1 0.2",
    "cylinder": "0.1 0.2",
    "box": "0.1 0.2 0.3",
    "ellipsoid": "0.1 0.2 0.3",
}


@pytest.mark.parametrize("case", SAME)
def test_read_as_mujoco_reads_it(case: str) -> None:
    text = f"<mujoco>{SAME[case]}</mujoco>"
    assert_same_dynamics(text, mjcf.loads(text))


@pytest.mark.parametrize("shape", SHELLS)
@pytest.mark.parametrize("weight", ['mass="3"', 'density="20"'])
def test_shells(shape: str, weight: str) -> None:
    geom = (
        f'<geom type="{shape}" size="{SHELLS[shape]}" shellinertia="true" {weight} pos="0.1 0.2 0" euler="10 20 30"/>'
    )
    body = f'<body name="a"><joint name="j" axis="1 2 3"/>{geom}</body>'
    text = f"<mujoco><worldbody>{body}</worldbody></mujoco>"
    # MuJoCo takes an ellipsoid's shell from the difference of two solids 1e-6 m apart; ours is the limit (test below).
    assert_same_dynamics(text, mjcf.loads(text), 1e-5 if shape == "ellipsoid" else 1e-10)


@pytest.mark.parametrize("size", [(0.1, 0.2, 0.3), (0.03, 0.05, 0.4)])
def test_the_shell_of_an_ellipsoid_is_the_limit_that_mujoco_approximates(size: tuple[float, float, float]) -> None:
    """The difference of two solids whose semi-axes differ by the length h, in exact fractions, as h goes to zero.

    At MuJoCo's h = 1e-6 m the quotient is MuJoCo's value, at h = 1e-15 m it is ours: the approximation is MuJoCo's.
    """
    x, y, z = (Fraction(str(s)) for s in size)

    def moment(h: Fraction) -> float:
        inner, outer = ((a * b * c, a * b * c * (b * b + c * c) / 5) for a, b, c in ((x, y, z), (x + h, y + h, z + h)))
        return float((outer[1] - inner[1]) / (outer[0] - inner[0]))

    limit, approximation = moment(Fraction(1, 10**15)), moment(Fraction(1, 10**6))
    geom = f'<geom type="ellipsoid" size="{size[0]} {size[1]} {size[2]}" mass="1" shellinertia="true"/>'
    text = f'<mujoco><worldbody><body><joint axis="1 0 0"/>{geom}</body></worldbody></mujoco>'
    ours = armdyn.compile(mjcf.loads(text)).mass_matrix([0.0])[0, 0]
    model = mujoco.MjModel.from_xml_string(text)
    theirs = next(value for value in model.body_inertia[1] if abs(value / limit - 1) < 1e-4)
    assert ours == pytest.approx(limit, rel=1e-12)
    assert theirs == pytest.approx(approximation, rel=2e-9)  # they subtract in double precision
    assert abs(theirs / limit - 1) > 100 * abs(theirs / approximation - 1)


INVALID = {
    "a negative density": '<worldbody><body><joint/><geom size="0.1" density="-3"/></body></worldbody>',
    "a negative mass": '<worldbody><body><joint/><geom size="0.1" mass="-3"/></body></worldbody>',
    "two inertials": f"<worldbody><body><joint/>{INERTIAL}{INERTIAL}</body></worldbody>",
    "fullinertia and euler": '<worldbody><body><joint/><inertial pos="0 0 0" mass="1" fullinertia="1 1 1 0 0 0" '
    'euler="1 2 3"/></body></worldbody>',
    "a stretched sphere": '<worldbody><body><joint/><geom size="0.1" fromto="0 0 0 1 1 1"/></body></worldbody>',
    "pos and fromto": '<worldbody><body><joint/><geom type="capsule" size="0.1" pos="0 0 1" fromto="0 0 0 1 1 1"/>'
    "</body></worldbody>",
    "no position of the centre of mass": '<worldbody><body><joint/><inertial mass="1" diaginertia="1 1 1"/></body>'
    "</worldbody>",
    "four coefficients": f'<worldbody><body><joint damping="1 2 3 4"/>{INERTIAL}</body></worldbody>',
}


@pytest.mark.parametrize("case", INVALID)
def test_refused_as_mujoco_refuses_it(case: str) -> None:
    text = f"<mujoco>{INVALID[case]}</mujoco>"
    with pytest.raises(ValueError, match="."):
        mujoco.MjModel.from_xml_string(text)
    with pytest.raises(ArmdynError):
        mjcf.loads(text)


@pytest.mark.parametrize(("inside", "named"), [
    ('<body name="a"><joint name="j" damping="1 2"/>{}</body>', "not proportional to the rate"),
    ('<body name="a"><joint name="j" springdamper="0.1 1"/>{}</body>', "springdamper"),
    ('<body name="a"><joint name="j"/>{}</body></worldbody><tendon><fixed stiffness="3"><joint joint="j" coef="1"/>'
     "</fixed></tendon><worldbody>", "stiffness of <fixed>"),
    ('<body name="a"><joint name="j"/>{}</body></worldbody><default><tendon armature="1"/></default><tendon><fixed>'
     '<joint joint="j" coef="1"/></fixed></tendon><worldbody>', "armature of <fixed>"),
    ('<body name="a"><joint name="j"/>{}</body></worldbody><equality><joint joint1="j" joint2="k" polycoef="0 1 0 1"/>'
     '</equality><worldbody><body name="b"><joint name="k"/>{}</body>', "degree above one"),
    ('<body name="a"><joint name="j"/>{}</body></worldbody><option><flag actuation="disable"/></option><worldbody>',
     "actuation"),
    ('<body name="a"><freejoint align="true"/>{}</body>', "align of <freejoint>"),
    ('<body name="a"><freejoint/>{}</body></worldbody><compiler alignfree="true"/><worldbody>',
     "alignfree of <compiler>"),
])  # fmt: skip
def test_what_is_not_read_is_named(inside: str, named: str) -> None:
    text = f"<mujoco><worldbody>{inside.replace('{}', INERTIAL)}</worldbody></mujoco>"
    mujoco.MjModel.from_xml_string(text)  # valid
    assert any(named in note for note in mjcf.loads(text).notes)


def test_a_free_root_can_be_welded() -> None:
    text = (
        f'<mujoco><worldbody><body name="base" pos="0 0 1" euler="0 30 0">%s{INERTIAL}{ARM}</body></worldbody></mujoco>'
    )
    robot = mjcf.loads(text % "<freejoint/>", free_root=False)
    assert_same_dynamics(text % "", robot)


FILES = {
    "arm.xml": '<mujoco><include file="parts/settings.xml"/><worldbody><body name="a"><joint name="i" axis="1 0 0"/>'
    f'{INERTIAL}<include file="parts/hand.xml"/></body></worldbody></mujoco>',
    "parts/settings.xml": '<mujoco><compiler angle="radian"/><default><joint damping="0.3"/></default></mujoco>',
    "parts/hand.xml": f'<mujocoinclude><body name="b" euler="0.1 0.2 0.3"><joint name="j"/>{INERTIAL}'
    '<include file="finger.xml"/></body></mujocoinclude>',
    "parts/finger.xml": f'<mujocoinclude><body name="c" euler="0 0.2 0.3"><joint name="k"/>{INERTIAL}</body>'
    "</mujocoinclude>",
}  # fmt: skip


def written(folder: Path, files: Mapping[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder / next(iter(files))


def test_included_files_are_read(tmp_path: Path) -> None:
    path = written(tmp_path, FILES)
    assert_same_dynamics(mujoco.MjSpec.from_file(str(path)).to_xml(), mjcf.read(path), 1e-5)  # to_xml writes six digits


def test_included_files_may_be_anywhere_in_the_folder_tree_of_the_model(tmp_path: Path) -> None:
    """A marker such as LICENSE shows the top of a distributed model; without one the model's folder is the top."""
    files = {
        "arm/scenes/table.xml": '<mujoco><include file="../arm.xml"/></mujoco>',
        "arm/arm.xml": f"<mujoco><worldbody>{ARM}</worldbody></mujoco>",
        "arm/LICENSE": "",
    }
    (tmp_path / "arm").mkdir()
    path = written(tmp_path, files)
    assert_same_dynamics(files["arm/arm.xml"], mjcf.read(path))
    (tmp_path / "arm/LICENSE").unlink()
    with pytest.raises(ArmdynError, match="folder or below"):
        mjcf.read(path)


@pytest.mark.parametrize(("files", "message"), [
    ({"model/a.xml": '<mujoco><include file="../secret.xml"/></mujoco>'}, "folder or below"),
    ({"model/a.xml": '<mujoco><include file="/etc/hostname"/></mujoco>'}, "folder or below"),
    ({"model/a.xml": '<mujoco><include file="b.xml"/></mujoco>',
      "model/b.xml": '<mujoco><include file="b.xml"/></mujoco>'}, "included twice"),
    ({"model/a.xml": '<mujoco><include file="missing.xml"/></mujoco>'}, "No such file"),
    ({"model/a.xml": '<mujoco><include file="b.xml"/></mujoco>',
      "model/b.xml": '<mujoco>\n<worldbody><body><joint axsi="1 0 0"/></body></worldbody></mujoco>'}, "b.xml:2"),
])  # fmt: skip
def test_includes_that_are_refused(files: Mapping[str, str], message: str, tmp_path: Path) -> None:
    with pytest.raises(ArmdynError, match=message):
        mjcf.read(written(tmp_path, files))
