"""The schemas list every element and attribute, and what they do not list is not passed over."""

from __future__ import annotations

import re

import pytest

from armdyn.errors import ArmdynError, UnknownName
from armdyn.formats import mjcf, urdf
from armdyn.formats.schema import schema, table

MISSPELT = {
    "attribute of MJCF": (mjcf, '<mujoco><worldbody><body><joint axsi="1 0 0"/></body></worldbody></mujoco>', "axis"),
    "element of MJCF": (mjcf, "<mujoco><worldbody><body><jiont/></body></worldbody></mujoco>", "joint"),
    "default of MJCF": (mjcf, '<mujoco><default><joint dampng="1"/></default></mujoco>', "damping"),
    "option of MJCF": (mjcf, '<mujoco><option gravty="0 0 0"/></mujoco>', "gravity"),
    "flag of MJCF": (mjcf, '<mujoco><option><flag gravity="disabled"/></option></mujoco>', "disable"),
    "inertial of URDF": (urdf, '<robot name="a"><link name="a"><inertail/></link></robot>', "inertial"),
    "attribute of URDF": (urdf, '<robot name="a"><link name="a"><inertial><mass vale="1"/></inertial></link></robot>',
                          "value"),
    "origin of URDF": (urdf, '<robot name="a"><link name="a"/><link name="b"/><joint name="j" type="fixed">'
                       '<orgin xyz="0 0 1"/><parent link="a"/><child link="b"/></joint></robot>', "origin"),
    "damping of URDF": (urdf, '<robot name="a"><link name="a"/><link name="b"/><joint name="j" type="revolute">'
                        '<dynamics dampng="1"/><parent link="a"/><child link="b"/></joint></robot>', "damping"),
}  # fmt: skip


@pytest.mark.parametrize("case", MISSPELT)
def test_a_misspelling_is_an_error_with_the_nearest_name(case: str) -> None:
    reader, text, meant = MISSPELT[case]
    with pytest.raises(UnknownName, match=f"Did you mean '{meant}'"):
        reader.loads(text)


def test_unknown_names_without_a_neighbour_are_reported() -> None:
    robot = urdf.loads('<robot name="a"><link name="a" colour_scheme="dark"><zebra/></link></robot>')
    assert any("'colour_scheme'" in note for note in robot.notes) and any("'zebra'" in note for note in robot.notes)


def test_the_schema_of_mjcf_has_all_that_mujoco_knows() -> None:
    mujoco = pytest.importorskip("mujoco", reason="MuJoCo prints its own schema")
    rules = schema("mjcf")
    missing = []
    path: list[str] = [""]
    for depth, tag, attributes in _rows(mujoco.mj_printSchema(False, False)):
        path = [*path[: depth + 1], tag]
        if any(rules.rule(path[i], path[i - 1]).whole for i in range(1, len(path) - 1)):
            continue  # inside an element that is treated as a whole
        parent = path[-2]
        if parent and tag not in rules.rule(parent, path[-3]).children and (parent, tag) != ("mujoco", "body"):
            missing.append(f"<{tag}> in <{parent}>")
        elif not (rule := rules.rule(tag, parent)).whole:
            missing += [f"{key} of <{tag}>" for key in attributes if key not in rule.attributes]
    assert not missing


def _rows(text: str) -> list[tuple[int, str, list[str]]]:
    """Depth, tag and attributes of each element; a long list of attributes goes on in the next lines."""
    rows: list[tuple[int, str, list[str]]] = []
    for line in text.splitlines():
        found = re.match(r"( *)(\S+) \(.\) *(.*)", line)
        if found:
            rows.append((len(found[1]) // 3, found[2].replace("(world)", ""), found[3].split()))
        elif rows:
            rows[-1][2].extend(line.split())
    return rows


@pytest.mark.parametrize("name", ["urdf", "mjcf"])
def test_every_child_has_a_rule(name: str) -> None:
    rules = schema(name).rules
    for key, rule in rules.items():
        for child in rule.children:
            assert f"{key.rpartition('/')[2]}/{child}" in rules or child in rules, f"<{child}> in <{key}>"
    assert all(f"`<{key}>`" in table(name) for key in rules)


@pytest.mark.parametrize(("inside", "message"), [
    ('<option density="1.2"/>', "Drag"),
    ('<option viscosity="0.1"/>', "Drag"),
    ('<worldbody><flexcomp name="a" type="grid"/></worldbody>', "Flexible"),
    ('<deformable><flex name="a"/></deformable>', "Flexible"),
])  # fmt: skip
def test_what_changes_the_dynamics_and_is_not_modelled_is_refused(inside: str, message: str) -> None:
    with pytest.raises(ArmdynError, match=message):
        mjcf.loads(f"<mujoco>{inside}</mujoco>")
