"""What is reported is what is delivered: figures recomputed from the written file and the log alone."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import armdyn
from armdyn.dynamics.presliding import torques_along
from armdyn.errors import FeatureError
from armdyn.formats import save
from armdyn.formats.supplement import split
from armdyn.identification import Fit, Log, Weighted
from armdyn.identification.fit.delivery import Delivery
from armdyn.parameters import physical_consistency
from armdyn.robot.parts import Friction
from support import logs
from support.logs import recomputed_errors

FORMATS = (".toml", ".urdf", ".xml")


def _upright() -> armdyn.Robot:
    """An arm of four joints, as URDF has it: gravity downwards, no rotors, no friction."""
    return armdyn.load("ur5").without("friction", "rotors")


def _truth() -> armdyn.Robot:
    """The same arm with friction of several widths, presliding, load, and offsets."""
    tree = []
    for k, joint in enumerate(_upright().tree):
        if joint.kind != "fixed":
            values = {"coulomb_1": 1.0, "width_1": 0.3, "presliding_1": 2.0, "distance_1": 0.02, "load": 0.1}
            law = Friction(2.0, 4.0 + k, law="rounded", width=0.02, values=values, offset=0.5)
            joint = replace(joint, friction=law)
        tree.append(joint)
    return replace(_upright(), tree=tuple(tree), expressions=None)


def _log(seed: int) -> Log:
    truth, course = _truth(), logs.excitation(_truth(), seed)
    t = np.arange(0, 20, 0.004)
    q, qd, qdd = (course(t, order) for order in range(3))
    tau = torques_along(truth, q, qd, qdd)
    rng = np.random.default_rng(seed)
    names = tuple(joint.name for joint in truth.joints)
    return Log(t, q + 1e-6 * rng.standard_normal(q.shape), tau + 0.3 * rng.standard_normal(tau.shape), joints=names)


@pytest.fixture(scope="module")
def fit() -> Fit:
    return armdyn.identify(_upright(), _log(1), validation=_log(2), check=False)


@pytest.mark.parametrize("suffix", FORMATS)
def test_the_printed_error_is_that_of_the_file(suffix: str, fit: Fit, tmp_path: Path) -> None:
    """By filters written out here; windows of the low-pass differ in detail, hence the 2 %."""
    written = fit.save(tmp_path / f"arm{suffix}")
    assert isinstance(written, Delivery) and written.fine and written.path is not None
    own = recomputed_errors(written.path, _log(2))
    assert own == pytest.approx(written.errors.moving, rel=0.02)
    shown = float(re.findall(r"torque error ([\d.]+) %", str(written))[0])
    assert shown == pytest.approx(100 * np.exp(np.log(own).mean()), rel=0.02)
    for each in fit.files:
        if each.suffix == suffix:
            assert each.errors.moving == pytest.approx(written.errors.moving, rel=1e-9)
            assert f"{100 * each.errors.mean:.3g} % as {suffix}" in str(fit).replace("\n", " ")


@pytest.mark.parametrize("suffix", FORMATS)
def test_every_delivered_robot_is_physically_consistent(suffix: str, fit: Fit) -> None:
    found = fit.as_file(suffix)
    assert found.read is not None and physical_consistency(found.read).solid
    for joint in found.read.joints:
        law, rotor = joint.friction or Friction(), joint.rotor
        assert law.viscous >= 0 and law.coulomb >= 0 and (rotor is None or rotor.inertia >= 0)


@pytest.mark.parametrize("suffix", [".urdf", ".xml"])
def test_what_a_format_lacks_is_read_back_and_other_programs_get_the_best_of_the_rest(
    suffix: str, fit: Fit, tmp_path: Path
) -> None:
    written = fit.save(tmp_path / f"arm{suffix}")
    assert isinstance(written, Delivery) and {"friction_law", "offsets"} <= set(written.left_out)
    assert written.alone is not None and written.errors.mean < 1.2 * fit.files[0].errors.mean
    assert [path.name for path in tmp_path.iterdir()] == [f"arm{suffix}"]  # nothing else is written
    text = (tmp_path / f"arm{suffix}").read_text()
    elsewhere = tmp_path / f"elsewhere{suffix}"
    elsewhere.write_text(re.sub(r"<!-- armdyn.*?-->", "", text, flags=re.DOTALL))
    assert recomputed_errors(elsewhere, _log(2)) == pytest.approx(written.alone.moving, rel=0.02)
    judged = fit.validation.judged
    dropped, _ = split(fit.robot, "mjcf" if suffix == ".xml" else "urdf")
    assert judged.errors(judged.torques(dropped)).mean > 1.2 * written.alone.mean  # than the same terms dropped


def test_a_file_that_gives_back_another_robot_is_an_error(fit: Fit, monkeypatch: pytest.MonkeyPatch) -> None:
    """Evidence that bites: a writer that loses the friction of a joint is noticed."""
    from armdyn.identification.fit import delivery

    monkeypatch.setattr(delivery, "save", lambda robot, path, **_: save(robot.without("friction"), path))
    with pytest.raises(armdyn.ArmdynError, match="gives back a robot"):
        fit.as_file(".toml")


def test_a_closed_chain_has_no_urdf_file() -> None:
    truth = armdyn.load("palletiser").bound()
    found = armdyn.identify(truth, logs.simulated(truth), include=("inertial",), check=False)
    assert [each.suffix for each in found.files] == [".toml"]
    with pytest.raises(FeatureError, match="loops|mimic"):
        found.save("never.urdf")


def test_a_free_estimate_is_delivered_as_it_is_and_its_invalid_bodies_are_findings() -> None:
    log = _log(1)
    noisy = replace(log, tau=log.tau + 60 * np.random.default_rng(0).standard_normal(log.tau.shape))
    free = armdyn.identify(_upright(), noisy, free=Weighted(), check=False)
    assert not physical_consistency(free.robot).consistent
    assert not free.fine and any(finding.invalid for finding in free.findings)
    assert np.isfinite(list(free.std.values())).all()
