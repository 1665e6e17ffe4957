"""The summary of an arm at a position, and the verb that prints it."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

import armdyn
from analysis.arms import compiled, foreign, states
from armdyn.analysis import isotropic_acceleration, payload_capability, summary
from armdyn.cli import main
from armdyn.tables import render


def text_of(name: str, q: object, **options: object) -> str:
    found = summary(compiled(name), q, **options)  # type: ignore[arg-type]
    return "\n".join(map(render, found.sections()))


def test_numbers_of_a_summary_by_pinocchio() -> None:
    q = states("panda")[0][0]
    found = summary(compiled("panda"), q)
    M, _, g, J, _ = foreign("panda", q, 0 * q)
    np.testing.assert_allclose(found.singular_values["linear"], np.linalg.svd(J[:3], compute_uv=False), rtol=1e-9)
    np.testing.assert_allclose(found.singular_values["angular"], np.linalg.svd(J[3:], compute_uv=False), rtol=1e-9)
    # A unit push along one axis, other axes free: acceleration J M^-1 J^T, mass its reciprocal.
    np.testing.assert_allclose(found.effective_mass, 1 / np.diag(J @ np.linalg.inv(M) @ J.T), rtol=1e-9)
    np.testing.assert_allclose(found.gravity, g, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(found.inertia, np.diag(M), rtol=1e-9)
    assert found.payload == pytest.approx(float(payload_capability(compiled("panda"), q)))
    assert found.acceleration == pytest.approx(float(isotropic_acceleration(compiled("panda"), q)))
    assert found.moving == ("x", "y", "z", "rx", "ry", "rz")


def test_singular_and_weak_positions_are_told() -> None:
    found = summary(compiled("planar2r"), [0.0, 0.0], tau_max=100.0)
    assert [warning.split(":")[0] for warning in found.warnings] == [
        "Singular position",
        "No model of operational space for x y here",
        "The arm cannot hold its own weight",
    ]
    assert found.moving == ("x", "y", "rz") and np.isinf(found.effective_mass[0])
    assert found.payload is not None and np.isnan(found.payload)
    near = summary(compiled("planar2r"), [0.0, 0.02])
    assert near.warnings[0].startswith("Close to a singular position")
    assert near.warnings[-1].startswith("No torque limits are known")
    assert not summary(compiled("panda"), states("panda")[0][0] * [1, 1, 1, -1, 1, 1, 1]).warnings
    assert "Out of their range: panda_joint4." in summary(compiled("panda"), np.full(7, 0.5)).warnings


def test_tables_read_well() -> None:
    singular = text_of("planar2r", [0.0, 0.0])
    assert "x y 2.236, 0 0 inf" in " ".join(singular.split())  # rows, singular values, measure, condition number
    regular = text_of("planar2r", [0.3, 1.0])
    assert "inf" in singular and "inf" not in regular
    assert "nan" not in singular
    with pytest.raises(armdyn.ArmdynError, match="one position"):
        summary(compiled("planar2r"), [[0.0, 1.0]])


def test_every_robot_of_the_catalog_has_a_summary() -> None:
    for name in ("pendulum", "cartesian2", "three_link", "rx90", "scara5"):
        assert summary(compiled(name)).sections()


# The verb -----------------------------------------------------------------------------------------------------------


def run(*arguments: str) -> None:
    with pytest.raises(SystemExit) as end:
        main(arguments)
    assert end.value.code == 0


def test_analyse_prints_draws_and_maps(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    picture = tmp_path / "here.svg"
    run("analyse", "planar3r", "--at", "30deg,40deg,50deg", "--tau-max", "120,60,20", "--plot", str(picture),
        "--map", "payload", "--over", "shoulder,elbow", "--points", "5", "--out", str(tmp_path / "maps"))  # fmt: skip
    text = capsys.readouterr().out
    expected = float(payload_capability(compiled("planar3r"), np.radians([30, 40, 50]), tau_max=[120, 60, 20]))
    assert f"Largest payload held still at the tool: {expected:.4g} kg" in text
    assert "Jacobian of the tool" in text and "effective mass" in text
    assert "velocity" in picture.read_text(encoding="utf-8") or picture.stat().st_size > 10000
    with (tmp_path / "maps" / "payload.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 25 and (tmp_path / "maps" / "payload.png").stat().st_size > 5000
    one = rows[7]
    q = [float(one[f"q_{joint}"]) for joint in ("shoulder", "elbow", "wrist")]
    assert float(one["payload"]) == pytest.approx(
        float(payload_capability(compiled("planar3r"), q, tau_max=[120, 60, 20])), rel=1e-8
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("planar2r", "--map", "payloud"), "Did you mean 'payload'?"),
        (("planar2r", "--map", "payload"), "Give tau_max"),
        (("planar2r", "--at", "1"), "the robot takes 2"),
        (("planar2r", "--plot", "x.txt"), ".png, .svg, .pdf"),
        (("planar2r", "--map", "gravity", "--points", "1"), "2 or more"),
    ],
)
def test_analyse_refuses(arguments: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(("analyse", *arguments))
    assert end.value.code == 2
    assert message in " ".join(capsys.readouterr().err.replace("│", " ").split())
