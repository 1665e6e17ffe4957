"""What MuJoCo's compiler does to masses, and what it refuses, against MuJoCo itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import armdyn
from armdyn.errors import ArmdynError
from armdyn.formats.mesh_files import find_package

ARM = """<body name="a" pos="0 0 1" euler="0 20 30"><joint name="j" axis="0 1 0"/>
  <geom type="box" size=".1 .2 .3" pos=".3 0 .1"/>{inside}</body>"""
STATIC = '<body name="f" pos=".5 .1 0" euler="10 0 0"><geom type="sphere" size=".1"/></body>'
EMPTY = '<body name="f" pos=".5 .1 .2" euler="30 0 0"/>'
BASE = '<body name="base"><geom type="box" size=".2 .2 .2"/>{arm}</body>'


def torques(text: str, tmp_path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Gravity torques at q = 0 by MuJoCo and by armdyn."""
    mujoco: Any = pytest.importorskip("mujoco")
    path = tmp_path / "model.xml"
    path.write_text(text, encoding="utf-8")
    model = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    robot = armdyn.load(path)
    return np.array(data.qfrc_bias), armdyn.compile(robot).gravity(np.zeros(robot.n))


@pytest.mark.parametrize("fuse", ["true", "false"])
@pytest.mark.parametrize("referred", ["", '<sensor><framepos objtype="xbody" objname="base"/></sensor>'])
def test_bodies_fused_into_the_world_do_not_count_in_the_total_mass(fuse: str, referred: str, tmp_path: Path) -> None:
    base = BASE.format(arm=ARM.format(inside=STATIC))
    text = (
        f'''<mujoco><compiler fusestatic="{fuse}" settotalmass="10"/><worldbody>{base}</worldbody>{referred}</mujoco>'''
    )
    theirs, ours = torques(text, tmp_path)
    np.testing.assert_allclose(ours, theirs, rtol=1e-10)


@pytest.mark.parametrize(
    "inside", [EMPTY, EMPTY.replace("/>", '><geom type="sphere" size=".1" mass="0" pos=".2 0 0"/></body>')]
)
def test_a_bound_on_masses_gives_empty_bodies_mass(inside: str, tmp_path: Path) -> None:
    text = f"""<mujoco><compiler boundmass="1" boundinertia=".01"/><worldbody>{ARM.format(inside=inside)}</worldbody>
      </mujoco>"""
    theirs, ours = torques(text, tmp_path)
    np.testing.assert_allclose(ours, theirs, rtol=1e-10)


@pytest.mark.parametrize(
    ("outside", "name"),
    [
        ('<actuator><motor tendon="cable"/></actuator>', "tendon"),
        ('<actuator><motor joint="elbow"/></actuator>', "joint"),
        ('<actuator><motor site="grip"/></actuator>', "site"),
        ('<tendon><fixed name="t"><joint joint="elbow" coef="1"/></fixed></tendon>', "joint"),
        ('<equality><tendon tendon1="cable"/></equality>', "tendon"),
    ],
)
def test_what_acts_on_nothing_is_refused_as_mujoco_does(outside: str, name: str, tmp_path: Path) -> None:
    mujoco: Any = pytest.importorskip("mujoco")
    text = f"<mujoco><worldbody>{ARM.format(inside='')}</worldbody>{outside}</mujoco>"
    with pytest.raises(ValueError):
        mujoco.MjModel.from_xml_string(text)
    path = tmp_path / "model.xml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ArmdynError, match=f"unknown {name}"):
        armdyn.load(path)


def test_a_held_joint_is_reported(tmp_path: Path) -> None:
    inside = '<body name="b" pos=".5 0 0"><joint name="k" axis="0 1 0"/><geom type="sphere" size=".1"/></body>'
    path = tmp_path / "held.xml"
    path.write_text(
        f"""<mujoco><worldbody>{ARM.format(inside=inside)}</worldbody>
        <equality><joint joint1="k" polycoef="0.3 0 0 0 0"/></equality></mujoco>""",
        encoding="utf-8",
    )
    robot = armdyn.load(path)
    assert robot.n == 1
    assert "joint 'k' is held at 0.3 by an equality" in robot.notes


@pytest.mark.parametrize("pos", ["0 0 0", "0 0 1"])
def test_a_position_beside_fromto_is_judged_as_mujoco_does(pos: str, tmp_path: Path) -> None:
    mujoco: Any = pytest.importorskip("mujoco")
    text = f'''<mujoco><worldbody><body name="a"><joint axis="0 1 0"/>
      <geom type="capsule" size=".1" pos="{pos}" fromto="0 0 0 1 0 .5"/></body></worldbody></mujoco>'''
    if pos == "0 0 0":
        theirs, ours = torques(text, tmp_path)
        np.testing.assert_allclose(ours, theirs, rtol=1e-10)
        return
    with pytest.raises(ValueError):
        mujoco.MjModel.from_xml_string(text)
    (tmp_path / "model.xml").write_text(text, encoding="utf-8")
    with pytest.raises(ArmdynError, match="both pos and fromto"):
        armdyn.load(tmp_path / "model.xml")


def test_a_package_is_found_by_the_name_in_its_manifest(tmp_path: Path) -> None:
    folder = tmp_path / "Some_Arms_Description"
    (folder / "urdf").mkdir(parents=True)
    (folder / "package.xml").write_text("<package><name> arms_description </name></package>", encoding="utf-8")
    assert find_package("arms_description", folder / "urdf") == folder
    assert find_package("other_description", folder / "urdf") is None
