"""The check-up over every URDF of the example-robot-data wheel; some of these robots are unphysical indeed."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from armdyn.doctor import check
from armdyn.errors import ArmdynError
from armdyn.findings import Checkup
from armdyn.formats import read
from support.wheel import MISSING, wheel_files

FILES = wheel_files()
pytestmark = pytest.mark.skipif(not FILES, reason=MISSING)


def file_named(name: str) -> Path:
    return next(path for path in FILES if path.name == name)


def principal_moments(path: Path, link: str) -> np.ndarray:
    """Straight from the file, without armdyn."""
    element = ElementTree.parse(path).getroot().find(f"./link[@name='{link}']/inertial/inertia")
    assert element is not None
    xx, xy, xz, yy, yz, zz = (float(element.get(key, "nan")) for key in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz"))
    return np.linalg.eigvalsh([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def test_every_file_gets_its_check_up() -> None:
    done = 0
    for path in FILES:
        try:
            checkup = check(read(path))
        except ArmdynError as error:
            assert "no link" in str(error), path
            continue
        assert isinstance(checkup, Checkup)
        assert str(checkup)
        done += 1
    assert done > 60


IMPOSSIBLE = [
    ("allegro_left_hand.urdf", "link_15.0", "triangle"),
    ("pr2.urdf", "sensor_mount_link", "triangle"),
    ("romeo_laas_small.urdf", "LHipPitch_link", "not-positive"),
    ("hyq_no_sensors.urdf", "lf_foot", "triangle"),
    ("tiago.urdf", "base_antenna_left_link", "not-positive"),
]


@pytest.mark.parametrize(("name", "link", "rule"), IMPOSSIBLE)
def test_impossible_inertias(name: str, link: str, rule: str) -> None:
    path = file_named(name)
    moments = principal_moments(path, link)
    excess = moments[2] - moments[0] - moments[1]
    if rule == "triangle":
        assert excess > 0.01 * moments[2]
    else:
        assert moments[0] < -1e-3 * moments[2]
    checkup = check(read(path))
    assert not checkup.fine
    (finding,) = (f for f in checkup.findings if f.where == f"body {link!r}" and f.invalid)
    assert finding.rule == rule
    assert finding.value == pytest.approx(excess if rule == "triangle" else moments[0])


def test_wrist_links_of_the_old_ur5_are_too_large_for_their_mass() -> None:
    """Cylinders of 0.6 m radius instead of 0.06 m: possible bodies, but no wrists."""
    path = file_named("ur5_robot.urdf")
    moments = principal_moments(path, "wrist_1_link")
    assert np.sqrt(moments[2] / 1.219) > 0.4
    found = {f.where for f in check(read(path)).findings if f.rule == "gyration-large"}
    assert found == {f"body 'wrist_{i}_link'" for i in (1, 2, 3)}


def test_arms_in_order() -> None:
    for name in ("xarm7.urdf", "ur10_robot.urdf", "panda.urdf", "z1.urdf"):
        assert check(read(file_named(name))).fine, name
