"""Mass properties of meshes: closed forms, and MuJoCo on the same files."""

from __future__ import annotations

import os
import struct
import warnings
from pathlib import Path

import numpy as np
import pytest

from armdyn.errors import FileError
from armdyn.formats import mjcf_read
from armdyn.formats.mesh_integrals import MODES, Mesh, convex_hull, mesh_mass, read_mesh
from support.mutants import all_end_well, mutated

NO_FACES = np.zeros((0, 3), dtype=np.int64)
CUBE = convex_hull(Mesh(np.array([[x, y, z] for x in (0, 1) for y in (0, 2) for z in (0, 3)], dtype=float), NO_FACES))


def test_a_box() -> None:
    exact, shell = mesh_mass(CUBE, "exact"), mesh_mass(CUBE, "shell")
    assert exact.extent == pytest.approx(6) and shell.extent == pytest.approx(22)
    for found in (exact, shell):
        np.testing.assert_allclose(found.com, [0.5, 1, 1.5])
    np.testing.assert_allclose(exact.inertia, np.diag([6 / 12 * 13, 6 / 12 * 10, 6 / 12 * 5]), atol=1e-12)
    # Faces of the shell: pairs of areas 6, 3, 2 at distances 1/2, 1, 3/2.
    xx = 2 * (6 * 0.25) + (6 + 4) / 12
    yy = 2 * (3 * 1.0) + (12 + 4) * 4 / 12
    zz = 2 * (2 * 2.25) + (12 + 6) * 9 / 12
    np.testing.assert_allclose(shell.inertia, np.diag([yy + zz, zz + xx, xx + yy]), atol=1e-12)


def test_moving_and_turning_a_mesh() -> None:
    rng = np.random.default_rng(0)
    hull = convex_hull(Mesh(rng.normal(size=(20, 3)), NO_FACES))
    R = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    R *= np.linalg.det(R)
    moved = Mesh(hull.vertices @ R.T + [1, 2, 3], hull.faces)
    for mode in MODES:
        one, other = mesh_mass(hull, mode), mesh_mass(moved, mode)
        assert one.extent == pytest.approx(other.extent, rel=1e-12)
        np.testing.assert_allclose(other.com, R @ one.com + [1, 2, 3], atol=1e-12)
        np.testing.assert_allclose(other.inertia, R @ one.inertia @ R.T, atol=1e-10)


def bumpy(seed: int) -> Mesh:
    """A closed mesh that is not convex: a hull with its corners pulled in and out."""
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(30, 3))
    hull = convex_hull(Mesh(points / np.linalg.norm(points, axis=1)[:, None], NO_FACES))
    return Mesh((hull.vertices * rng.uniform(0.5, 1, (30, 1)) + [1, 0, 0.5]) * [0.3, 0.2, 0.1], hull.faces)


def stl(mesh: Mesh) -> bytes:
    rows = (struct.pack("<12fH", 0, 0, 0, *mesh.vertices[face].ravel(), 0) for face in mesh.faces)
    return b"\0" * 80 + struct.pack("<I", len(mesh.faces)) + b"".join(rows)


def obj(mesh: Mesh) -> bytes:
    rows = ["v " + " ".join(map(repr, map(float, v))) for v in mesh.vertices]
    return "\n".join([*rows, *("f " + " ".join(f"{i + 1}//1" for i in face) for face in mesh.faces)]).encode()


def msh(mesh: Mesh) -> bytes:
    head = struct.pack("<4i", len(mesh.vertices), 0, 0, len(mesh.faces))
    return head + mesh.vertices.astype("<f4").tobytes() + mesh.faces.astype("<i4").tobytes()


WRITERS = {"stl": stl, "obj": obj, "msh": msh}
FUZZED = int(os.environ.get("ARMDYN_FUZZ", "900")) // 24


def mutant_outcome(folder: Path, ending: str, i: int) -> str:
    """Mass properties that are numbers, or a FileError."""
    path = folder / f"m.{ending}"
    path.write_bytes(mutated(f"{ending}{i}", WRITERS[ending](bumpy(0))))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            found = [mesh_mass(read_mesh(path), mode) for mode in MODES]
        except FileError:
            return "errors"
    assert all(np.isfinite(np.append(each.inertia, each.com)).all() and each.extent > 0 for each in found)
    return "masses"


@pytest.mark.parametrize("ending", WRITERS)
def test_mutated_meshes(tmp_path: Path, ending: str) -> None:
    seen = all_end_well(ending, FUZZED, lambda i: mutant_outcome(tmp_path, ending, i))
    assert seen["errors"] > FUZZED // 10


PAST = [*(("stl", i) for i in (37, 222, 254, 289, 553, 739, 785)), ("obj", 1123), ("obj", 1421),
        *(("msh", i) for i in (25, 703, 1307))]  # fmt: skip


@pytest.mark.parametrize(("ending", "i"), PAST)
def test_past_failures(tmp_path: Path, ending: str, i: int) -> None:
    """Signalling NaNs among the corners (a warning of NumPy), indices beyond all bounds (OverflowError)."""
    mutant_outcome(tmp_path, ending, i)


GEOMS = ['type="mesh"', 'type="mesh" mass="2"', *(f'type="{t}"' for t in ("sphere", "capsule", "cylinder", "box")),
         'type="ellipsoid" fitscale="1.5"', ""]  # fmt: skip


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("ending", WRITERS)
def test_against_mujoco(tmp_path: Path, seed: int, mode: str, ending: str) -> None:
    mujoco = pytest.importorskip("mujoco")
    (tmp_path / "assets").mkdir()
    (tmp_path / "assets" / f"m.{ending}").write_bytes(WRITERS[ending](bumpy(seed)))
    frame = ("", 'refpos=".1 .2 .3" refquat="1 .2 .3 .4"', 'scale="1 -2 .5"', 'scale=".5 .5 .5" refpos="0 0 1"')[seed]
    box = ' fitaabb="true"' if seed % 2 else ""
    bodies = "".join(
        f'<body name="b{i}" pos="{i} 0 0"><joint type="slide"/>'
        f'<geom mesh="m" {geom} pos=".1 0 .2" euler="10 20 30"/></body>'
        for i, geom in enumerate(GEOMS)
    )
    text = f"""<mujoco><compiler meshdir="assets"{box}/>
    <asset><mesh file="m.{ending}" {frame} inertia="{mode}"/></asset><worldbody>{bodies}</worldbody></mujoco>"""
    path = tmp_path / "m.xml"
    path.write_text(text, encoding="utf-8")
    model = mujoco.MjModel.from_xml_path(str(path))
    robot = mjcf_read.read(path)
    assert not robot.notes
    for joint in robot.tree:
        inertia, theirs = joint.body.inertia.about_com(), model.body(joint.body.name)
        R = np.zeros(9)
        mujoco.mju_quat2Mat(R, theirs.iquat)
        tensor = R.reshape(3, 3) @ np.diag(theirs.inertia) @ R.reshape(3, 3).T
        near = 1e-8  # MuJoCo iterates for the principal axes, and stops at a few 1e-9
        assert inertia.mass == pytest.approx(theirs.mass[0], rel=near), joint.name
        np.testing.assert_allclose(np.array([*inertia.com], dtype=float), theirs.ipos, atol=near)
        np.testing.assert_allclose(inertia.tensor.array(), tensor, rtol=0, atol=near * np.abs(tensor).max())


def test_quadrangles_are_divided_as_in_mujoco(tmp_path: Path) -> None:
    """A box with its corners moved: the faces are not plane, so that the diagonal counts."""
    mujoco = pytest.importorskip("mujoco")
    corners = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)])
    faces = ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3))
    masses = []
    for seed in range(5):
        moved = corners + np.random.default_rng(seed).uniform(-0.2, 0.2, (8, 3))
        (tmp_path / f"m{seed}.obj").write_bytes(obj(Mesh(moved, np.array(faces))))  # MuJoCo keeps meshes by name
        path = tmp_path / "m.xml"
        asset = f'<asset><mesh name="m" file="m{seed}.obj" inertia="exact"/></asset>'
        body = '<worldbody><body name="b"><joint/><geom type="mesh" mesh="m"/></body></worldbody>'
        path.write_text(f"<mujoco>{asset}{body}</mujoco>", encoding="utf-8")
        theirs = mujoco.MjModel.from_xml_path(str(path)).body("b").mass[0]
        masses.append(mjcf_read.read(path).tree[0].body.inertia.about_com().mass)
        assert masses[-1] == pytest.approx(theirs, rel=1e-6)  # of single precision
    assert np.ptp(np.array(masses, dtype=float)) > 1


DAMAGED = [("a.stl", b"solid"), ("a.stl", b""), ("a.obj", b"f 1 2 3"), ("a.obj", b"v 0 0 0\nf 1 2 9"),
           ("a.msh", b"\1\0\0\0"), ("a.dae", b"")]  # fmt: skip


@pytest.mark.parametrize(("name", "content"), DAMAGED)
def test_damaged_files_are_errors(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(FileError):
        read_mesh(tmp_path / name)
    with pytest.raises(FileError):
        mesh_mass(Mesh(np.zeros((4, 3)), np.array([[0, 1, 2]])))
