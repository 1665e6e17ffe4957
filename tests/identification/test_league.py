"""The logs of two real arms: our defaults beside the plain baseline of `benchmarks/identification_league.py`.

The logs are read in place, beside the project; without them these tests are skipped.
"""

import importlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from armdyn.identification import process
from armdyn.identification.clock.stamps import rebuilt
from armdyn.identification.fit.delivery import Delivery
from armdyn.identification.fit.validation import Judged, validate
from armdyn.parameters import physical_consistency
from support.logs import recomputed_errors

ROOT = Path(__file__).parents[2]
DATA = ROOT.parent / "shared" / "data"
URDF = Path(np.__file__).parents[1] / "cmeel.prefix/share/example-robot-data/robots/ur_description/urdf/ur10_robot.urdf"


@pytest.mark.parametrize(
    "name, most",
    [
        ("ur10", [5.6, 2.0, 3.0, 5.2, 7.3, 10.3]),
        ("tx40", [3.5, 5.5, 6.3, 8.3, np.inf, 13.0]),
    ],
)
def test_every_joint_is_predicted_better_than_by_the_plain_baseline(
    name: str, most: list[float], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """`most`: for TX40 the goals (joint 5 has hardly any torque in the last part), for UR10 what was measured plus a
    tenth; the band is there to catch a loss of calibration.
    """
    if not (DATA / name).exists():
        pytest.skip(f"the log of the {name} is not on this machine")
    if name == "ur10" and not URDF.exists():
        pytest.skip("the model of the UR10 (example-robot-data) is not installed")
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    league = importlib.import_module("identification_league")

    robot, log = getattr(league, name)()
    first, last = league.part(log, True), league.part(log, False)
    plain = league.errors(last, league.Plain(robot, first).predict(last)[0]).moving
    ours = league.Ours(robot, first)
    found = league.errors(last, *ours.predict(last))
    assert (found.moving < plain).all(), (found.moving, plain)
    assert (found.moving < most).all(), found.moving
    assert (found.inside > 85).all(), found.inside
    assert physical_consistency(ours.fit.robot).solid
    judged = Judged.of(robot.bound(), process(rebuilt(last), robot), held_out=True, source="")
    fit = replace(ours.fit, validation=validate(judged, ours.fit.robot))
    for suffix in (".toml", ".urdf", ".xml"):
        delivered = fit.save(tmp_path / f"arm{suffix}")
        assert isinstance(delivered, Delivery) and delivered.fine and delivered.read is not None
        assert recomputed_errors(tmp_path / f"arm{suffix}", last) == pytest.approx(delivered.errors.moving, rel=0.03)
        assert delivered.errors.mean < 0.75 * np.exp(np.log(plain / 100).mean())
        assert physical_consistency(delivered.read).solid
        joints = delivered.read.joints
        assert all(j.friction is None or min(float(j.friction.viscous), float(j.friction.coulomb)) >= 0 for j in joints)
        assert all(j.rotor is None or float(j.rotor.inertia) >= 0 for j in joints)
