"""fix repairs what has one repair, leaves the rest of the file alone, and says why it leaves a finding."""

from __future__ import annotations

from pathlib import Path

import armdyn
from armdyn.formats import read
from support.command import Run

MASS = """<robot name="arm">
  <!-- kept as it is -->
  <link name="base"/>
  <link name="upper">
    <inertial><origin xyz="{x} 0 0"/><mass value="2.0"/>
      <inertia ixx="0.004" ixy="0" ixz="0" iyy="0.030" iyz="0" izz="{izz}"/></inertial>
  </link>
  <joint name="shoulder" type="revolute">
    <parent link="base"/> <child link="upper"/>   <origin xyz="0 0 0.4" rpy="{roll} 0 0"/>
    <axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="10" velocity="2"/>
  </joint>
</robot>
"""


def arm(folder: Path, *, x: str = "0.2", izz: str = "0.030", roll: str = "0") -> Path:
    path = folder / "arm.urdf"
    path.write_text(MASS.format(x=x, izz=izz, roll=roll), encoding="utf-8")
    return path


def test_a_centre_in_millimetres_is_repaired_and_nothing_else_changes(tmp_path: Path) -> None:
    path = arm(tmp_path, x="200")
    found = armdyn.fix(armdyn.load(path))
    assert [repair.rule for repair in found.repairs] == ["units-length"] and not found.left
    assert found.after.fine and not found.before.fine
    copy = tmp_path / "repaired.urdf"
    found.save(copy)
    assert copy.read_text(encoding="utf-8").replace('xyz="0.2 0 0"', 'xyz="200 0 0"') == path.read_text(
        encoding="utf-8"
    )


def test_a_rounded_right_angle_becomes_exact(tmp_path: Path) -> None:
    found = armdyn.fix(armdyn.load(arm(tmp_path, roll="1.5708")))
    assert [repair.rule for repair in found.repairs] == ["angle-off"]
    assert 0 < (found.repairs[0].effect or 0) < 1e-4


def test_a_calibrated_angle_is_left_alone_with_the_reason(tmp_path: Path) -> None:
    found = armdyn.fix(armdyn.load(arm(tmp_path, roll="1.5714")))
    assert not found.repairs and "calibrated" in found.left[0].reason


def test_a_tensor_that_several_mistakes_explain_is_left_alone(tmp_path: Path) -> None:
    found = armdyn.fix(read(arm(tmp_path, izz="0.3")))  # izz ten times too large, or ixx and others too small
    assert not found.repairs and "nothing tells which" in found.left[0].reason


def test_the_verb_writes_a_copy(run: Run, tmp_path: Path) -> None:
    path, copy = arm(tmp_path, x="200"), tmp_path / "repaired.urdf"
    status, text, _ = run("fix", path, "--out", copy)
    assert status == 1 and "centres of mass are in mm" in " ".join(text.split())
    assert armdyn.check(armdyn.load(copy)).fine
    assert run("fix", copy).status == 0
