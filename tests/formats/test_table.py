"""Robots in tables: the same robot as a TOML file written by hand, and errors that name the cell."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import armdyn
from armdyn.errors import ArmdynError
from armdyn.formats.table import columns
from armdyn.formats.toml import loads

HEADINGS = [
    "Gelenk", "Typ", "theta [deg]", "d [mm]", "a [mm]", "alpha [deg]", "Masse [kg]", "Schwerpunkt x [mm]",
    "Schwerpunkt y [mm]", "Schwerpunkt z [mm]", "Trägheitsmoment xx [kg mm^2]", "Trägheitsmoment yy [kg mm^2]",
    "Trägheitsmoment zz [kg mm^2]", "untere Grenze [deg]", "obere Grenze [deg]", "Drehmoment [N m]",
    "viskose Reibung [N m s/rad]", "trockene Reibung [N m]", "Getriebeübersetzung", "Rotorträgheit [kg cm^2]",
    "Motordrehzahl [1/min]",
]  # fmt: skip
ROWS = [
    "A1;R;0;400;25;-90;7,5;-12,5;80;3;61000;40500;55000;-170;170;220;0,9;4,5;100;0,55;4500",
    "A2;R;-90;0;455;0;5,2;-210;0;12;12000;98000;97000;-190;45;220;0,8;4;110;0,55;4500",
    "A3;R;0;0;35;-90;3,1;-15;8;22;9000;8500;7000;-120;156;110;0,5;2,5;90;0,3;5000",
    "A4;R;0;420;0;90;2,2;0;-150;1,5;21000;3000;20500;-185;185;40;0,2;1,1;80;0,1;6000",
    "A5;R;0;0;0;-90;1,4;0;12;18;3200;3100;1900;-120;120;40;0,2;1;80;0,1;6000",
    "A6;R;180;80;0;0;0,35;0;0;-14;180;180;220;-350;350;20;0,1;0,6;60;0,05;6000",
]
SPREADSHEET = "\n".join(["Roboter;arm6", "Schwerkraft [m/s^2];0;0;-9,81", ";".join(HEADINGS), *ROWS])

BY_HAND = """
name = "arm6"
convention = "standard"
gravity = [0, 0, -9.81]
[[joint]]
name = "A1"
d = 0.4
a = 0.025
alpha = "-pi/2"
mass = 7.5
com = [-0.0125, 0.08, 0.003]
inertia = [0.061, 0, 0, 0.0405, 0, 0.055]
limits = {lower = -2.9670597283903604, upper = 2.9670597283903604, torque = 220}
friction = {viscous = 0.9, coulomb = 4.5}
rotor = {ratio = 100, inertia = 5.5e-5}
motor = {speed = 471.23889803846896}
[[joint]]
name = "A2"
theta = "-pi/2"
a = 0.455
mass = 5.2
com = [-0.21, 0, 0.012]
inertia = [0.012, 0, 0, 0.098, 0, 0.097]
limits = {lower = -3.3161255787892263, upper = 0.7853981633974483, torque = 220}
friction = {viscous = 0.8, coulomb = 4}
rotor = {ratio = 110, inertia = 5.5e-5}
motor = {speed = 471.23889803846896}
[[joint]]
name = "A3"
a = 0.035
alpha = "-pi/2"
mass = 3.1
com = [-0.015, 0.008, 0.022]
inertia = [0.009, 0, 0, 0.0085, 0, 0.007]
limits = {lower = -2.0943951023931953, upper = 2.722713633111154, torque = 110}
friction = {viscous = 0.5, coulomb = 2.5}
rotor = {ratio = 90, inertia = 3e-5}
motor = {speed = 523.5987755982989}
[[joint]]
name = "A4"
d = 0.42
alpha = "pi/2"
mass = 2.2
com = [0, -0.15, 0.0015]
inertia = [0.021, 0, 0, 0.003, 0, 0.0205]
limits = {lower = -3.2288591161895095, upper = 3.2288591161895095, torque = 40}
friction = {viscous = 0.2, coulomb = 1.1}
rotor = {ratio = 80, inertia = 1e-5}
motor = {speed = 628.3185307179587}
[[joint]]
name = "A5"
alpha = "-pi/2"
mass = 1.4
com = [0, 0.012, 0.018]
inertia = [0.0032, 0, 0, 0.0031, 0, 0.0019]
limits = {lower = -2.0943951023931953, upper = 2.0943951023931953, torque = 40}
friction = {viscous = 0.2, coulomb = 1}
rotor = {ratio = 80, inertia = 1e-5}
motor = {speed = 628.3185307179587}
[[joint]]
name = "A6"
theta = "pi"
d = 0.08
mass = 0.35
com = [0, 0, -0.014]
inertia = [0.00018, 0, 0, 0.00018, 0, 0.00022]
limits = {lower = -6.1086523819801535, upper = 6.1086523819801535, torque = 20}
friction = {viscous = 0.1, coulomb = 0.6}
rotor = {ratio = 60, inertia = 5e-6}
motor = {speed = 628.3185307179587}
"""


def written(folder: Path, text: str, name: str = "arm.csv", encoding: str = "utf-8") -> Path:
    path = folder / name
    path.write_text(text, encoding=encoding)
    return path


def assert_by_hand(robot: armdyn.Robot) -> None:
    expected = loads(BY_HAND)
    rng = np.random.default_rng(3)
    q, qd, qdd = rng.uniform(-2, 2, (3, 40, 6))
    tau, right = (armdyn.compile(each).inverse_dynamics(q, qd, qdd) for each in (robot, expected))
    np.testing.assert_allclose(tau, right, rtol=1e-13, atol=1e-12)
    for one, two in zip(robot.joints, expected.joints, strict=True):
        assert one.name == two.name and one.motor is not None and two.motor is not None
        for name in ("lower", "upper", "torque"):
            assert float(getattr(one.limits, name)) == pytest.approx(float(getattr(two.limits, name)), rel=1e-15)
        assert float(one.motor.speed or 0) == pytest.approx(float(two.motor.speed or 0), rel=1e-14)


def test_a_german_spreadsheet_is_the_robot_written_by_hand(tmp_path: Path) -> None:
    assert_by_hand(armdyn.load(written(tmp_path, SPREADSHEET)))


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16", "utf-8-sig"])
def test_encodings_of_the_office(tmp_path: Path, encoding: str) -> None:
    assert_by_hand(armdyn.load(written(tmp_path, SPREADSHEET, encoding=encoding)))


def test_tabs_commas_and_a_row_of_units(tmp_path: Path) -> None:
    assert_by_hand(armdyn.load(written(tmp_path, SPREADSHEET.replace(";", "\t"), "arm.tsv")))
    english = SPREADSHEET.replace(",", ".").replace(";", ",")
    assert_by_hand(armdyn.load(written(tmp_path, english, "english.csv")))
    lines = SPREADSHEET.splitlines()
    names, units = zip(*(heading.rstrip("]").partition(" [")[::2] for heading in HEADINGS), strict=True)
    apart = [*lines[:2], ";".join(names), ";".join(units), *lines[3:]]
    assert_by_hand(armdyn.load(written(tmp_path, "\n".join(apart), "apart.csv")))
    own = SPREADSHEET.replace("A1;R;0;400;", "A1;R;0;0,4 m;")
    assert_by_hand(armdyn.load(written(tmp_path, own, "own.csv")))


def test_a_workbook(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for line in SPREADSHEET.splitlines():
        cells = [cell.replace(",", ".") for cell in line.split(";")]
        book.active.append([float(cell) if cell.lstrip("-").replace(".", "").isdigit() else cell for cell in cells])
    book.save(tmp_path / "arm.xlsx")
    assert_by_hand(armdyn.load(tmp_path / "arm.xlsx"))
    import datetime

    book.active["D5"] = datetime.date(2024, 5, 1)
    book.save(tmp_path / "date.xlsx")
    with pytest.raises(ArmdynError, match=r"cell D5.*not a number.*dates"):
        armdyn.load(tmp_path / "date.xlsx")
    (tmp_path / "text.xlsx").write_text("no workbook")
    with pytest.raises(ArmdynError, match="not an .xlsx workbook"):
        armdyn.load(tmp_path / "text.xlsx")


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (";Masse [kg]", ";Mase [kg]", r"cell G3: unknown heading 'mase'.*Did you mean 'masse'"),
        (";alpha [deg]", ";alpha [mm]", r"cell F3: mm does not measure alpha.*a unit like rad"),
        (";d [mm]", ";d [mmm]", r"cell D3: unknown unit 'mmm'.*Did you mean 'mm'"),
        ("A2;R;", "A2;X;", r"cell B5: unknown joint type 'X'"),
        ("A2;R;-90;0;", "A2;R;-90;;", r"cell D5: the cell is empty.*0 if there is none"),
        ("A2;R;", "A1;R;", r"cell A5: 'A1' stands also in cell A4"),
        (";7,5;", ";7,5 kilo;", r"cell G4: unknown unit 'kilo'"),
        (";7,5;", ";7,5,3;", r"cell G4: '7,5,3' is not a number"),
        (";61000;", ";61.000,5;", r"cell K4: '61.000,5' has a point and a comma.*Write 61000,5"),
        (";7,5;", ";-7,5;", r"row of cell A4.*mass is -7.5 kg"),
        (";61000;40500;", ";6;40500;", r"row of cell A4"),
        (";Masse [kg]", ";d [kg]", r"cell G3: 'd \[kg\]' stands also in cell D3"),
        (";0,55;4500\nA2", ";0,55;4500;77\nA2", r"cell V4: '77' stands under no heading"),
        (";Schwerpunkt y [mm]", ";Rotorträgheit [kg mm^2]", r"cell T3: .* stands also in cell I3"),
        ("Schwerkraft [m/s^2];0;0", "Schwerkraft [m/s^2];0", r"cell A2: 2 numbers.*three numbers"),
        ("Roboter;", "Robotter;", r"cell A1: unknown setting above the headings 'robotter'.*'roboter'"),
        (";-170;170;", ";170;-170;", r"row of cell A4"),
    ],
)
def test_a_wrong_cell_is_named(tmp_path: Path, old: str, new: str, words: str) -> None:
    assert SPREADSHEET.count(old) >= 1
    with pytest.raises(ArmdynError, match=r"(?s)arm\.csv, " + words):
        armdyn.load(written(tmp_path, SPREADSHEET.replace(old, new, 1)))


def test_units_follow_the_type_of_the_joint(tmp_path: Path) -> None:
    head = "q max [deg, mm];joint;type;a [mm];q min [deg, mm];v max [deg/s, mm/s]"
    text = f"{head}\n90;turn;R;300;-90;180\n250;slide;P;0;50;400"
    turn, slide = armdyn.load(written(tmp_path, text)).joints
    assert turn.limits is not None and slide.limits is not None
    limits = [float(x) for each in (turn, slide) for x in (each.limits.lower, each.limits.upper, each.limits.velocity)]
    assert limits == pytest.approx([-np.pi / 2, np.pi / 2, np.pi, 0.05, 0.25, 0.4], rel=1e-15)
    with pytest.raises(ArmdynError, match="cell [AE]1: deg does not measure (upper|lower).*a unit like m"):
        armdyn.load(written(tmp_path, text.replace("[deg, mm]", "[deg]"), "turned.csv"))


def test_what_is_no_table_of_a_robot(tmp_path: Path) -> None:
    with pytest.raises(ArmdynError, match="no row of headings.*armdyn template"):
        armdyn.load(written(tmp_path, "t,q1,q2\n0,1,2\n"))
    with pytest.raises(ArmdynError, match="more than 2000 rows"):
        armdyn.load(written(tmp_path, "1\n" * 3000))
    with pytest.raises(ArmdynError, match="not written as a table"):
        loads(BY_HAND).save(tmp_path / "x.csv")


@pytest.mark.parametrize("name", ["robot.csv", "robot.tsv", "robot.xlsx"])
def test_a_filled_template_is_a_robot(tmp_path: Path, name: str) -> None:
    if name.endswith("xlsx"):
        pytest.importorskip("openpyxl")
    path = armdyn.template().save(tmp_path / name)
    numbers = {"a": 300, "mass": 2, "com.0": -100, "inertia.0": 1e4, "inertia.3": 2e4, "inertia.5": 2.5e4}
    row: list[object] = ["turn", "R", "arm", "base"]
    row += [
        numbers.get(key, 1000 if "motor" in key or "limits" in key or "rotor" in key else 0)
        for key in list(columns())[4:]
    ]
    row[list(columns()).index("limits.lower")] = -90
    row[-1] = 5000
    if name.endswith("xlsx"):
        import openpyxl

        book = openpyxl.load_workbook(path)
        book.active.append(row)
        book.save(path)
    else:
        sign = "\t" if name.endswith("tsv") else ";"
        path.write_text(path.read_text(encoding="utf-8-sig") + sign.join(map(str, row)) + "\n", encoding="utf-8")
    robot = armdyn.load(path)
    assert robot.joints[0].body.name == "arm" and float(robot.joints[0].geometry.a) == 0.3
    assert float(robot.joints[0].body.inertia.tensor.rows[1][1]) == pytest.approx(0.02, rel=1e-15)
    assert robot.joints[0].elastic is not None and robot.joints[0].limits is not None
