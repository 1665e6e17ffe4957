"""What URDF and MJCF have no place for is written into a comment and read back; other programs read the rest."""

from dataclasses import replace
from pathlib import Path

import mujoco
import numpy as np
import pinocchio
import pytest

import armdyn
from armdyn.algebra import Vec3
from armdyn.dynamics.presliding import torques_along
from armdyn.errors import ArmdynError, FeatureError
from armdyn.formats import load, save
from armdyn.formats.supplement import split
from armdyn.robot import Robot
from armdyn.robot.parts import Friction, Motor, Rotor

pytestmark = pytest.mark.filterwarnings("ignore::armdyn.errors.ModelWarning")


def _complete(seed: int, coupled: bool) -> Robot:
    """A random arm with everything that the formats lack."""
    rng = np.random.default_rng(seed)
    arm = armdyn.random_robot(seed, 4, prismatic=0.3).bound()
    tree = []
    for k, joint in enumerate(arm.tree):
        if joint.kind != "fixed":
            a, b, c = rng.uniform(0.1, 1, 3).tolist()
            values = {"coulomb_1": -a / 2, "width_1": b, "presliding_1": c, "distance_1": 0.02, "load": 0.1}
            law = Friction(a, b, law="rounded", width=0.02, values=values, offset=-c)
            motor = Motor(viscous=0.1 * a, coulomb=0.1 * b, width=0.02) if coupled else None
            joint = replace(
                joint,
                name=f"axis--{k}",
                friction=law,
                rotor=Rotor(inertia=a, ratio=1.0 if coupled else 3.0),
                motor=motor,
            )
        tree.append(joint)
    coupling = ((0.5, 0.0, 0.0, 0.0), (0.0, 0.3, 0.0, 0.0), (0.0, 0.0, 0.2, 0.0), (0.0, 0.0, 0.1, 0.4))
    arm = replace(arm, tree=tuple(tree), gravity=Vec3(1.0, -9.0, 3.0), expressions=None)
    return replace(arm, coupling=coupling) if coupled else arm


def _difference(a: Robot, b: Robot) -> float:
    rng = np.random.default_rng(0)
    t = np.linspace(0, 3, 200)[:, None]
    phase = rng.uniform(0, 6, (1, a.n))
    motion = np.sin(2 * t + phase), 2 * np.cos(2 * t + phase), -4 * np.sin(2 * t + phase)
    tau = [torques_along(each, *motion) for each in (a, b)]
    return float(np.abs(tau[0] - tau[1]).max() / np.abs(tau[0]).max())


@pytest.mark.parametrize("coupled", [False, True])
@pytest.mark.parametrize("suffix", [".urdf", ".xml"])
@pytest.mark.parametrize("seed", range(3))
def test_everything_is_read_back(seed: int, suffix: str, coupled: bool, tmp_path: Path) -> None:
    arm = _complete(seed, coupled)
    with pytest.raises(FeatureError):
        save(arm, tmp_path / f"refused{suffix}")
    first = load(save(arm, tmp_path / f"arm{suffix}", supplement=True))
    assert _difference(arm, first) < 1e-12
    again = load(save(first.with_payload(0.5), tmp_path / f"again{suffix}"))  # a file that has one keeps it
    assert _difference(arm.with_payload(0.5), again) < 1e-12
    assert (tmp_path / f"again{suffix}").read_text().count("<!-- armdyn") == 1


@pytest.mark.parametrize("suffix", [".urdf", ".xml"])
def test_other_programs_read_the_rest(suffix: str, tmp_path: Path) -> None:
    arm = _complete(1, coupled=True)
    path = save(arm, tmp_path / f"arm{suffix}", supplement=True)
    held, _ = split(arm, "urdf" if suffix == ".urdf" else "mjcf")
    if suffix == ".xml":
        model = mujoco.MjModel.from_xml_path(str(path))
        assert model.dof_damping == pytest.approx([float(j.friction.viscous) for j in held.joints if j.friction])
    else:
        model = pinocchio.buildModelFromUrdf(str(path))
        total = sum(float(joint.body.inertia.about_com().mass) for joint in held.tree)
        assert sum(inertia.mass for inertia in model.inertias) == pytest.approx(total)
    assert not held.coupling and all(joint.motor is None for joint in held.joints)


@pytest.mark.parametrize(
    "damage, message",
    [
        (("width =", "with ="), "unknown key"),
        (('name = "axis-\\u002d1"', 'name = "elbow"'), "elbow"),
        (("[[joint]]", "[[joint"), "not TOML"),
        (("load = 0.1", 'load = "1/0"'), "division|zero"),
    ],
)
def test_a_damaged_comment_is_an_error(damage: tuple[str, str], message: str, tmp_path: Path) -> None:
    path = save(_complete(1, coupled=False), tmp_path / "arm.urdf", supplement=True)
    text = path.read_text()
    assert damage[0] in text
    path.write_text(text.replace(damage[0], damage[1], 1))
    with pytest.raises(ArmdynError, match=message):
        load(path)
