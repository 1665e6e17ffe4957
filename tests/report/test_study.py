"""The study: every chapter is there or says why not, the page stands alone, its files exist and say the same."""

from __future__ import annotations

import csv
import importlib.util
import json
import re
import shutil
import subprocess
import sys
import warnings
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import armdyn
from armdyn.analysis.configurations import configurations
from armdyn.cli import main
from armdyn.doctor import checkup
from armdyn.errors import PhysicsError, ShapeError, UnknownName
from armdyn.kernels import cache
from armdyn.report.chapters.chapter import ReportChapter
from armdyn.report.chapters.contents import CHAPTERS
from armdyn.report.chapters.subject import Subject
from armdyn.report.chapters.usual_motion import usual_motion
from armdyn.report.pages.study_page import Study, study
from armdyn.robot.robot import Robot

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
VOID = {"meta", "br", "img", "link", "input", "hr"}

POST = """
name = "post"
[[joint]]
name = "foot"
type = "fixed"
theta = 0
d = 1
a = 0
alpha = 0
mass = 2
"""
MASSLESS = """
name = "massless"
[[joint]]
name = "one"
type = "revolute"
theta = 0
d = 0
a = 1
alpha = 0
"""


class Page(HTMLParser):
    """What the tests ask of a page: tags that match, identifiers, links, texts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.links: list[str] = []
        self.places: list[str] = []
        self.texts: list[str] = []
        self.wrong: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        known = dict(attrs)
        self.open += [tag] if tag not in VOID else []
        self.links += [known["href"] or ""] if tag == "a" and "href" in known else []
        self.places += [known["id"] or ""] if tag == "section" and "id" in known else []

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        pass

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] not in ("style", "pre"):
            self.texts.append(data)


@pytest.fixture(scope="module")
def planar(tmp_path_factory: pytest.TempPathFactory) -> Study:
    return study(armdyn.load("planar2r"), tmp_path_factory.mktemp("planar2r"))


@pytest.fixture(scope="module")
def page(planar: Study) -> str:
    return planar.report.read_text(encoding="utf-8")


def robot_of(text: str, folder: Path) -> Robot:
    file = folder / "robot_in.toml"
    file.write_text(text, encoding="utf-8")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", armdyn.ModelWarning)  # what the check-up finds is in the report
        return armdyn.load(file)


# The page -----------------------------------------------------------------------------------------------------------


def test_every_chapter_is_there_in_order(planar: Study, page: str) -> None:
    titles = re.findall(r"<h2><a [^>]*>\d+</a>([^<]*)</h2>", page)
    assert titles == ["Summary", *CHAPTERS, "Files"]
    assert not planar.missing
    sections = page.split("<section ")[1:]
    assert len(sections) == len(titles)
    for section in sections:  # more than a heading
        assert re.search(r"<(table|figure|dl|math|p|div)\b", section.partition("</h2>")[2])


def test_the_page_is_well_formed_and_stands_alone(page: str) -> None:
    read = Page(page)
    assert not read.wrong
    assert not read.open
    assert "<script" not in page
    assert "://" not in re.sub(r'xmlns(:\w+)?="[^"]*"', "", page)
    assert len(set(read.places)) == len(read.places)


def test_every_figure_parses_and_shows_numbers_only(page: str) -> None:
    figures = re.findall(r"<svg.*?</svg>", page, flags=re.DOTALL)
    assert len(figures) >= 8
    for svg in figures:
        ElementTree.fromstring(svg)
        assert not re.search(r"\b(nan|inf)\b", svg, flags=re.IGNORECASE)
        assert "#010203" not in svg  # the ink of the page, not a colour of its own


def test_no_raw_latex(page: str) -> None:
    words = " ".join(Page(page).texts)
    assert "$" not in words
    assert not re.search(r"\\(frac|dot|left|begin|tau)", words)


def test_every_link_leads_somewhere(planar: Study, page: str) -> None:
    read = Page(page)
    folder = planar.report.parent
    for link in read.links:
        if link.startswith("#"):
            assert link[1:] in read.places
        else:
            assert (folder / link).is_file(), link
    linked = {(folder / link).resolve() for link in read.links if not link.startswith("#")}
    written = {path.resolve() for path in folder.rglob("*") if path.is_file()} - {planar.report.resolve()}
    assert linked == written == {path.resolve() for path in planar.files} - {planar.report.resolve()}


def test_the_summary_has_the_key_facts(planar: Study) -> None:
    facts = {fact.label: fact for fact in planar.facts}
    expected = ["joints", "moving mass", "reach", "check-up", "agreement of formulations", "base parameters",
                "inverse dynamics", "one call"]  # fmt: skip
    assert [fact.label for fact in planar.facts] == expected
    assert facts["joints"].text.startswith("2 ")
    assert facts["agreement of formulations"].good
    robot = armdyn.load("planar2r")
    lengths = sum((float(joint.geometry.a) for joint in robot.joints), start=0.0)
    assert float(facts["reach"].text.split()[0]) == pytest.approx(lengths, rel=5e-3)  # three digits are shown


# The data beside it -------------------------------------------------------------------------------------------------


def test_the_torques_beside_the_report_are_right(planar: Study) -> None:
    folder = planar.report.parent
    with (folder / "motion.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    columns = {name: np.array([float(row[name]) for row in rows]) for name in rows[0]}
    state = [np.column_stack([columns[f"{name}{j}"] for j in (1, 2)]) for name in ("q", "qd", "qdd", "tau")]
    expected = armdyn.mechanics.kane.inverse_dynamics(armdyn.load("planar2r"), *state[:3])
    assert np.abs(state[3] - expected).max() < 1e-9 * np.abs(expected).max()
    parts = np.load(folder / "torques.npz")
    total = sum(parts[name] for name in parts.files if name not in ("t", "tau"))
    assert np.abs(total - parts["tau"]).max() < 1e-9 * np.abs(expected).max()


@pytest.mark.parametrize("name", ["panda", "ur5", "puma560"])
def test_the_motion_of_a_robot_with_limits_is_feasible(name: str) -> None:
    dyn = armdyn.compile(armdyn.load(name))
    made = usual_motion(dyn)
    assert armdyn.feasibility(dyn, made.trajectory).holds
    ends = made.trajectory(np.array([0.0, made.trajectory.duration]))
    assert np.abs(ends[0] - ends[1]).max() < 1e-9  # there and back
    assert np.abs(made.trajectory(made.trajectory.duration / 2) - ends[0]).min() > 0.1  # every joint moves


def test_the_record_says_what_the_page_says(planar: Study) -> None:
    record = json.loads((planar.report.parent / "study.json").read_text(encoding="utf-8"))
    assert record["facts"] == {fact.label: fact.text for fact in planar.facts}
    assert record["numbers"]["agree"] is True
    assert record["missing"] == {}
    assert record["seconds"] > 0


def test_the_exported_module_answers(planar: Study) -> None:
    path = planar.report.parent / "code" / "planar2r.py"
    spec = importlib.util.spec_from_file_location("planar2r_exported", path)
    assert spec
    assert spec.loader
    module: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    robot, q = armdyn.load("planar2r"), np.array([0.4, -1.1])
    expected = armdyn.mechanics.lagrange.gravity(robot, q)
    assert np.abs(np.asarray(module.gravity(q)) - expected).max() < 1e-10 * np.abs(expected).max()


# Robots for which not everything is possible ------------------------------------------------------------------------


def test_a_robot_without_joints(tmp_path: Path) -> None:
    made = study(robot_of(POST, tmp_path), tmp_path / "out")
    assert set(CHAPTERS) - set(made.missing) == {"Check-up", "Geometry", "Parameters", "Conventions", "References"}
    assert all("no movable joint" in reason for reason in made.missing.values())
    assert made.agrees is None
    assert made.report.read_text(encoding="utf-8").count('class="missing"') == len(made.missing) + 1  # and the summary


def test_a_robot_without_masses(tmp_path: Path) -> None:
    made = study(robot_of(MASSLESS, tmp_path), tmp_path / "out")
    assert made.agrees  # the formulations do; it is the mass matrix that is singular
    facts = {fact.label: fact for fact in made.facts}
    assert facts["mass matrix"].good is False
    assert {"Tracking under control", "Velocity, force and acceleration ellipsoids"} == set(made.missing)
    assert "forward_dynamics" in made.report.read_text(encoding="utf-8").split("Functions that cannot be compiled")[1]


def test_a_closed_chain(tmp_path: Path) -> None:
    made = study(armdyn.load("parallelogram"), tmp_path)
    assert not made.missing


def test_ellipsoids_of_loops_that_are_solved_by_iteration(tmp_path: Path) -> None:
    title = "Velocity, force and acceleration ellipsoids"
    assert not study(armdyn.load("delta"), tmp_path, chapters={title: CHAPTERS[title]}).missing


def test_a_tree_with_mixed_joints(tmp_path: Path) -> None:
    chosen = {title: CHAPTERS[title] for title in ("Geometry", "Base parameters", "Motion and torques", "Actuators")}
    made = study(armdyn.random_robot(3, 5, branching=0.6), tmp_path, chapters=chosen)
    assert not made.missing
    assert not Page(made.report.read_text(encoding="utf-8")).wrong


def test_a_chapter_that_fails_does_not_stop_the_study(tmp_path: Path) -> None:
    def failing(subject: Subject) -> ReportChapter:
        raise PhysicsError("the <moon> is missing", where="sky")

    chapters = {"Check-up": CHAPTERS["Check-up"], "Moon": failing, "Conventions": CHAPTERS["Conventions"]}
    made = study(armdyn.load("pendulum"), tmp_path, chapters=chapters)
    assert made.missing == {"Moon": "sky: the <moon> is missing."}
    assert "the &lt;moon&gt; is missing" in made.report.read_text(encoding="utf-8")


# In a browser -------------------------------------------------------------------------------------------------------

FRAME = """<!doctype html><meta charset="utf-8"><body><script>
const widths = [1280, 420], found = [];
for (const width of widths) {
  const frame = document.createElement("iframe");
  frame.width = width; frame.height = 900; frame.src = "report.html";
  frame.onload = () => {
    const inside = frame.contentDocument.documentElement, wide = [];
    for (const box of inside.querySelectorAll("h1, h2, h3, p, dd, li, figcaption, .facts div"))
      if (box.scrollWidth > box.clientWidth + 1) wide.push(box.textContent.slice(0, 40));
    found.push([width, inside.scrollWidth, frame.contentWindow.innerWidth, wide]);
    if (found.length == widths.length) document.body.innerHTML = "<pre id=found>" + JSON.stringify(found) + "</pre>";
  };
  document.body.append(frame);
}
</script></body>
"""


@pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")
def test_nothing_is_wider_than_the_window(planar: Study, tmp_path: Path) -> None:
    folder = tmp_path / "page"
    shutil.copytree(planar.report.parent, folder)
    frame = folder / "frame.html"
    frame.write_text(FRAME, encoding="utf-8")
    assert CHROMIUM
    command = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
               "--allow-file-access-from-files", "--enable-logging=stderr", f"--user-data-dir={tmp_path / 'profile'}",
               "--virtual-time-budget=20000", "--dump-dom", frame.as_uri()]  # fmt: skip
    shown = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    answer = re.search(r'<pre id="found">(.*?)</pre>', shown.stdout, flags=re.DOTALL)
    assert answer, shown.stderr[-2000:]
    found = json.loads(answer[1].replace("&gt;", ">").replace("&lt;", "<").replace("&amp;", "&"))
    assert sorted(row[0] for row in found) == [420, 1280]
    for width, needed, inner, wide in found:
        assert needed <= inner == width
        assert not wide
    assert "CONSOLE" not in shown.stderr, shown.stderr


def test_configurations_of_a_robot_with_loops_are_closed() -> None:
    robot = armdyn.load("parallelogram")
    shown = configurations(robot)
    assert len(shown) >= 2
    for q in shown.values():
        q_all = armdyn.mechanics.closed_chain.all_positions(robot, q)
        gaps = np.asarray(armdyn.mechanics.closed_chain.constraints(robot, q_all), dtype=float)
        assert np.abs(gaps).max() < 1e-9


# Work ---------------------------------------------------------------------------------------------------------------


def test_a_study_computes_nothing_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    """`armdyn study scara5` with nothing in the cache. It took 3 check-ups and 81 traces before results were shared."""
    monkeypatch.setenv(cache.VARIABLE, str(tmp_path / "cache"))
    checkups, traces = _Counted(checkup.examine), _Counted(sys.modules["armdyn.graph.trace"].trace)
    for counted in (checkups, traces):
        for name, module in list(sys.modules.items()):
            if name.startswith("armdyn"):
                for attribute in [key for key, value in vars(module).items() if value is counted.function]:
                    monkeypatch.setattr(module, attribute, counted)
    with pytest.raises(SystemExit) as end:
        main(["study", "scara5", "--out", str(tmp_path / "out")])
    assert end.value.code == 0, capsys.readouterr().err
    assert checkups.calls == 1
    assert 0 < traces.calls <= 41  # five of them the control loops of the models that leave something out


class _Counted:
    """A function that counts its calls."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function, self.calls = function, 0

    def __call__(self, *given: Any, **options: Any) -> Any:
        self.calls += 1
        return self.function(*given, **options)


def test_a_motion_and_chapters_can_be_asked_for(tmp_path: Path) -> None:
    robot = armdyn.load("planar2r")
    move = armdyn.point_to_point([0.0, 0.0], [0.7, -0.4], "quintic", duration=1.25)
    found = armdyn.study(robot, tmp_path / "out", motion=move, words=["motion and", "actuators"])
    with (tmp_path / "out" / "motion.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert float(rows[-1]["t"]) == pytest.approx(1.25) and float(rows[-1]["q1"]) == pytest.approx(0.7)
    page = found.report.read_text(encoding="utf-8")
    assert ">Actuators<" in page and ">Certificate<" not in page
    with pytest.raises(UnknownName, match="chapter"):
        armdyn.study(robot, tmp_path / "other", words=["motors and things"])
    with pytest.raises(ShapeError, match="2 joints"):
        armdyn.study(armdyn.load("planar3r"), tmp_path / "third", motion=move)
