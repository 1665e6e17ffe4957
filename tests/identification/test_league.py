"""The logs of two real arms: our defaults beside the plain baseline of `benchmarks/identification_league.py`.

The logs are read in place, beside the project; without them these tests are skipped.
"""

import importlib
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
DATA = ROOT.parent / "shared" / "data"
URDF = Path(np.__file__).parents[1] / "cmeel.prefix/share/example-robot-data/robots/ur_description/urdf/ur10_robot.urdf"


@pytest.mark.parametrize(
    "name, most",
    [
        ("ur10", [5.5, 2.0, 3.2, 4.9, 6.3, 10.5]),
        ("tx40", [3.5, 5.5, 6.3, 8.3, np.inf, 13.0]),
    ],
)
def test_every_joint_is_predicted_better_than_by_the_plain_baseline(
    name: str, most: list[float], monkeypatch: pytest.MonkeyPatch
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
    plain, _ = league.errors(robot, last, league.Plain(robot, first))
    ours, (inside, _) = league.errors(robot, last, league.Ours(robot, first))
    assert (ours < plain).all(), (ours, plain)
    assert (ours < most).all(), ours
    assert (inside > 85).all(), inside
