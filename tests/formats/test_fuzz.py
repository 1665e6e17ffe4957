"""Hostile files: whatever the text, the answer is a Robot or an ArmdynError, and nothing is executed.

ARMDYN_FUZZ sets the number of mutated texts (default 900, a third each TOML, URDF, MJCF); mutation i stays the same.

    ARMDYN_FUZZ=10000 pytest tests/formats/test_fuzz.py
"""

from __future__ import annotations

import os
import random
import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import armdyn
from armdyn import catalog
from armdyn.errors import ArmdynError, ExpressionError
from armdyn.formats import mjcf, toml, urdf
from armdyn.robot import Robot
from armdyn.robot.expression import parse
from support.mutants import all_end_well

COUNT = int(os.environ.get("ARMDYN_FUZZ", "900"))

TOML_TEXT = """
name = "arm"
source = "by hand"
convention = "modified"
gravity = [0, 0, "-g"]
base = {xyz = [0, 0, 0.5], rpy = [0, "pi/2", 0]}
tool = {xyz = [0, 0, 0.1], on = "probe"}
[parameters]
g = 9.81
l1 = 0.4
m1 = "2*l1 + 1/3"
[[joint]]
name = "turn"
theta = "pi/2"
a = "l1"
alpha = "-pi/2"
mass = "m1"
com = [0.1, 0, "l1/2"]
inertia = [0.1, 0, 0, "0.2*m1", 0, 0.1]
rotor = {inertia = 1e-4, ratio = 50, mass = 0.3, position = [0, 0, 0.1], axis = [0, 1, 0]}
friction = {viscous = 0.1, coulomb = 0.2, static = 0.3, stribeck = 0.01}
limits = {lower = -3, upper = 3, velocity = 2, acceleration = 5, torque = 10}
[[joint]]
name = "slide"
type = "prismatic"
link = "probe"
convention = "standard"
d = "sqrt(l1)"
a = 0.25
mass = 1.5
moment = [0, 0.1, 0]
inertia_origin = [1, 0, 0, 1, 0, 1]
[[joint]]
name = "side"
type = "revolute"
parent = "turn"
xyz = [0, 0, 0.1]
rpy = [0.1, 0.2, 0.3]
axis = [0, 0.6, 0.8]
offset = 0.1
[[loop]]
first = "side"
second = "probe"
first_at = {xyz = [0, 0, 1]}
"""
URDF_TEXT = """<?xml version="1.0" encoding="utf-8"?>
<robot name="arm">
  <material name="grey"><color rgba="0.5 0.5 0.5 1"/></material>
  <link name="base"><visual><geometry><mesh filename="package://arm/base.stl"/></geometry></visual></link>
  <link name="upper">
    <inertial>
      <origin xyz="0.1 0 0.2" rpy="0.1 0.2 0.3"/>
      <mass value="2.5"/>
      <inertia ixx="0.02" ixy="0.001" ixz="0" iyy="0.03" iyz="0" izz="0.01"/>
    </inertial>
  </link>
  <link name="finger"/>
  <link name="thumb"/>
  <link name="tool"/>
  <joint name="shoulder" type="revolute">
    <origin xyz="0 0 0.3" rpy="0 1.5707963267948966 0"/>
    <parent link="base"/>
    <child link="upper"/>
    <axis xyz="0 0 1"/>
    <limit lower="-2.5" upper="2.5" velocity="3" effort="50"/>
    <dynamics damping="0.5" friction="0.1"/>
  </joint>
  <joint name="grip" type="prismatic">
    <parent link="upper"/>
    <child link="finger"/>
    <axis xyz="0.6 0.8 0"/>
    <limit lower="0" upper="0.04" velocity="0" effort="20"/>
  </joint>
  <joint name="other" type="continuous">
    <parent link="upper"/>
    <child link="thumb"/>
    <mimic joint="grip" multiplier="-1" offset="0.01"/>
  </joint>
  <joint name="mount" type="fixed">
    <origin xyz="0 0 0.1" rpy="3.141592653589793 0 0.7"/>
    <parent link="upper"/>
    <child link="tool"/>
  </joint>
  <transmission name="t"><joint name="shoulder"/></transmission>
  <gazebo reference="upper"><mu1>0.2</mu1></gazebo>
</robot>
"""
MJCF_TEXT = (Path(__file__).parent / "everything.xml").read_text(encoding="utf-8")
NASTY = [
    "__import__('os').system('x')", "open('/etc/passwd')", "lambda: 0", "().__class__", "9**9**9**9", "2**64**64",
    "1e999", "-1e999", "nan", "inf", "-inf", "1e308", "1e-320", "0x10", "1_000", "(((((", ")" * 50, "(" * 3000,
    "[" * 3000, "{" * 3000, "<a>" * 3000, "9" * 5000, "1" * 400 + ".5", "\x00", "\ufeff", "\u202e", "\ud800",
    "\U0001f916", "٣", "½", "\u2028", "--", "]]>", "<!--", "<![CDATA[", "&amp;", "&#0;", "&lol;", "%s%n", "${x}",
    "xacro:macro", "pi/0", "sqrt(-1)", "sin(1e308)", "tan(pi/2)", "'", '"', '"""', "\\u0000", "true", "1979-05-27",
    "[]", "{}", "= =", "\r", "\t", "-0.0", "0", "-1", "1e100", "1e-100", "", "tool", "base", "a" * 100_000,
    "a.b.c.d", "[[joint]]", "[joint]", "</robot>",
]  # fmt: skip
LAUGHS = "".join(f'<!ENTITY {chr(98 + i)} "{f"&{chr(97 + i)};" * 10}">' for i in range(9))
BOMBS = [
    f'<!DOCTYPE x [<!ENTITY a "lol">{LAUGHS}]><robot name="&j;"><link name="b"/></robot>',
    '<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]><robot name="&x;"><link name="b"/></robot>',
    '<!DOCTYPE r SYSTEM "http://127.0.0.1:9/x.dtd"><robot name="r"><link name="b"/></robot>',
    '<!DOCTYPE r [<!ENTITY % p SYSTEM "file:///etc/passwd"> %p;]><robot name="r"/>',
    "<robot>" * 200_000,
    "<robot>" + "<a>" * 5000 + "</a>" * 5000 + "</robot>",
    "<robot>" + "<link/>" * 201_000 + "</robot>",
    '<robot name="r">' + "".join(f'<link name="{i}"/>' for i in range(10_001)) + "</robot>",
    '<robot name="r" ' + " ".join(f'a{i}="1"' for i in range(50_000)) + "/>",
    "\x00" * 1000, "", " ", "\ufeff", "\ud800", '<?xml version="1.0" encoding="utf-16"?><robot/>',
    '<?xml version="1.0" encoding="klingon"?><robot/>', "<robot/>" * 2, "<robot", "<xacro:robot/>",
    "x = " + "[" * 100_000, "x = " + "{a=" * 20_000, "a." * 100_000 + "b = 1", "x = " + "9" * 1_000_000, "[" * 100_000,
    "[[joint]]\n" * 2000, "[[joint]]\na = '" + "(" * 900 + "'", "[[joint]]\na = '" + "-" * 999 + "1'",
    "[[joint]]\na = '" + "+".join(["1"] * 499) + "'", "[[joint]]\na = '" + "sin(" * 240 + "'",
    "[[joint]]\na = '" + "9**64*" * 160 + "1'", "[[joint]]\nmass = 1" + "0" * 5000,
    "[[joint]]\na = '1" + "0" * 990 + "'", "[[joint]]\na = '1/" + "9" * 18 + "**64'",
    "[parameters]\np0 = 2\n" + "".join(f"p{i + 1} = 'p{i}*p{i}'\n" for i in range(300)) + "[[joint]]\na = 'p300'",
    "[parameters]\np0 = '1+pi'\n" + "".join(f"p{i + 1} = 'p{i}*p{i}+p{i}'\n" for i in range(40)) + "[[joint]]\na='p40'",
    "".join(".".join(f"k{i}" for _ in range(100)) + f"{i} = 1\n" for i in range(400)),
]  # fmt: skip


def texts(ending: str) -> list[str]:
    """What is mutated: texts that use every feature, and for TOML the catalog too."""
    if ending in ("urdf", "xml"):
        return [URDF_TEXT if ending == "urdf" else MJCF_TEXT]
    return [TOML_TEXT] * 3 + [catalog.path(name).read_text(encoding="utf-8") for name in catalog.names()]


# One mutation each: (dice, text) -> text -----------------------------------------------------------------------


def flip(dice: random.Random, text: str) -> str:
    at = dice.randrange(len(text))
    return text[:at] + chr(ord(text[at]) ^ 1 << dice.randrange(8)) + text[at + 1 :]


def cut(dice: random.Random, text: str) -> str:
    at = dice.randrange(len(text))
    return text[:at] + text[at + dice.randrange(1, 40) :]


def truncate(dice: random.Random, text: str) -> str:
    return text[: dice.randrange(len(text))]


def insert(dice: random.Random, text: str) -> str:
    at = dice.randrange(len(text))
    return text[:at] + dice.choice(NASTY) + text[at:]


def change_lines(dice: random.Random, text: str) -> str:
    lines = text.split("\n")
    i, j = dice.randrange(len(lines)), dice.randrange(len(lines))
    change = dice.randrange(3)
    if change == 0:
        del lines[i]
    elif change == 1:
        lines.insert(j, lines[i])
    else:
        lines[i], lines[j] = lines[j], lines[i]
    return "\n".join(lines)


def replace_token(dice: random.Random, text: str, pattern: str = r'[-\w.]+|"[^"]*"|[^\s\w]') -> str:
    """A token by a nasty one, or by another token of the text."""
    tokens = list(re.finditer(pattern, text))
    if not tokens:
        return text
    token, other = dice.choice(tokens), dice.choice(tokens)
    new = dice.choice(NASTY) if dice.random() < 0.5 else other.group()
    if token.group().startswith('"') and not new.startswith('"'):
        new = f'"{new}"'
    return text[: token.start()] + new + text[token.end() :]


def replace_number(dice: random.Random, text: str) -> str:
    return replace_token(dice, text, r"-?\d+(?:\.\d+)?(?:e-?\d+)?")


MUTATIONS: list[Callable[[random.Random, str], str]] = [
    flip, cut, truncate, insert, *[change_lines] * 2, *[replace_token] * 2, *[replace_number] * 2,
]  # fmt: skip


def mutated(ending: str, i: int) -> str:
    dice = random.Random(f"{ending}{i}")
    text = dice.choice(texts(ending))
    for _ in range(dice.choice((1, 1, 2, 4))):
        text = dice.choice(MUTATIONS)(dice, text or " ")
    return text


# What must hold --------------------------------------------------------------------------------------------------


def outcome(form: Any, text: str) -> str:
    """What came of a text, in a word; any exception but ArmdynError, any warning but ModelWarning goes through."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", armdyn.ModelWarning)
        try:
            robot = form.loads(text, "fuzz")
        except ArmdynError as error:
            assert "\x00" not in str(error)
            assert len(str(error)) < 20_000
            return "error"
        assert isinstance(robot, Robot)
        use(robot)
    return "robot"


def use(robot: Robot) -> None:
    """What anyone does with a robot: each step works, or says what is wrong with it."""
    steps: list[Callable[[], Any]] = [
        lambda: robot.links,
        lambda: robot.frames,
        lambda: toml.loads(toml.dumps(robot)),
        lambda: urdf.loads(urdf.dumps(robot)),
        lambda: mjcf.loads(mjcf.dumps(robot)),
        lambda: robot.locked({joint.name: 0.5 for joint in robot.joints}).links,
        lambda: robot.with_payload(1.0, (0, 0, 0.1)).links,
        lambda: armdyn.check(robot).findings,
        lambda: str(robot),
    ]
    for step in steps:
        try:
            step()
        except ArmdynError:
            continue


@pytest.mark.parametrize("ending", ["toml", "urdf", "xml"])
def test_mutated_files_give_a_robot_or_an_armdyn_error(ending: str) -> None:
    form = {"toml": toml, "urdf": urdf, "xml": mjcf}[ending]
    seen = all_end_well(ending, COUNT // 3, lambda i: outcome(form, mutated(ending, i)))
    assert min(seen["robot"], seen["error"]) > COUNT // 60, "the mutations are too harsh or too mild to test anything"


@pytest.mark.parametrize(("ending", "i"), [("toml", 539), ("xml", 6328), ("xml", 9151), ("xml", 10697), ("xml", 13185)])
def test_past_failures(ending: str, i: int) -> None:
    """Overflow in the check-up; unknown elements among actuators and tendons."""
    outcome({"toml": toml, "xml": mjcf}[ending], mutated(ending, i))


@pytest.mark.parametrize("form", [toml, urdf, mjcf], ids=["toml", "urdf", "mjcf"])
@pytest.mark.parametrize("i", range(len(BOMBS)))
def test_bombs_go_off_in_no_reader(form: Any, i: int) -> None:
    outcome(form, BOMBS[i].replace("robot", "mujoco") if form is mjcf else BOMBS[i])


@pytest.mark.parametrize("token", NASTY, ids=range(len(NASTY)))
def test_nasty_numbers(token: str) -> None:
    outcome(toml, f'[[joint]]\na = "{token}"')
    outcome(toml, f"[[joint]]\na = {token}")
    outcome(toml, f'name = "{token}"\n[[joint]]\nname = "{token}"')
    outcome(urdf, URDF_TEXT.replace("0.1 0 0.2", f"0 0 {token}"))
    outcome(urdf, URDF_TEXT.replace("upper", token))
    outcome(mjcf, MJCF_TEXT.replace("0.1 0.2 0.3", f"0 0 {token}"))
    outcome(mjcf, MJCF_TEXT.replace('gear="50"', f'gear="{token}"'))
    outcome(mjcf, MJCF_TEXT.replace("upper", token))


CODE = [
    "__import__('os').system('touch MARK')", '__import__("os").remove("MARK")', "open('MARK', 'w')", "open(1)",
    "lambda: 1", "(lambda: 1)()", "l1.__class__", "l1.real", "pi.sin", "[1][0]", "{1: 2}", "l1 if l1 else 0",
    "l1 := 2", "l1 == 1", "not l1", "l1 and 1", "f'{l1}'", "'x'", "print(1)", "eval('1')", "exec('1')", "l1;l1",
    "l1\nl1 = 2", "sin.__globals__", "sin(x for x in l1)", "sin(*l1)", "yield", "globals()", "1 // 2", "1 % 2",
    "1 << 9", "1 @ 2", "~1", "1j", "0o17", "...", "None", "True", "`1`",
]  # fmt: skip


@pytest.mark.parametrize("code", CODE)
def test_expressions_execute_nothing(code: str, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ArmdynError):
        parse(code, {"l1"})
    with pytest.raises(ArmdynError):
        toml.loads(f"[parameters]\nl1 = 1\n[[joint]]\na = {code!r}")
    with pytest.raises(ArmdynError):
        urdf.loads(URDF_TEXT.replace("0.1 0 0.2", f"0 0 {code.replace('<', '&lt;')}".replace('"', "&quot;")))
    assert not list(tmp_path.iterdir())


def test_the_parser_does_not_call_names_of_python() -> None:
    for name in ("abs", "max", "open", "compile", "getattr", "__import__"):
        with pytest.raises(ArmdynError, match=f"unknown function '{name}'"):
            parse(f"{name}(1)", {})
    with pytest.raises(ExpressionError):
        parse("().__class__", {})
