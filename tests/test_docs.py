"""The documentation does what it says: its Python runs, its commands parse, its site builds and needs no network."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import armdyn
from support.fences import commands, fences, parse, run_python

ROOT = Path(__file__).parents[1]
PAGES = sorted((ROOT / "docs").rglob("*.md"))
NAMES = [str(path.relative_to(ROOT / "docs")) for path in PAGES]
COMMANDS = sorted({tuple(line) for page in PAGES for line in commands(page.read_text("utf-8"))})


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_python_runs(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    run_python(page, capsys)


@pytest.mark.parametrize("line", COMMANDS, ids=lambda line: " ".join(line)[:60] if line else "armdyn")
def test_commands_parse(line: tuple[str, ...]) -> None:
    parse(list(line))


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_robot_files_load(page: Path, tmp_path: Path) -> None:
    for block in fences(page.read_text(encoding="utf-8"), "toml"):
        (tmp_path / "robot.toml").write_text(block, encoding="utf-8")
        assert armdyn.load(tmp_path / "robot.toml").n >= 1


def test_a_wrong_command_is_noticed() -> None:
    for line in (["shew", "scara5"], ["plan", "scara5", "--form", "0"], ["certify", "scara5", "--points", "many"], []):
        with pytest.raises((Exception, SystemExit)):
            assert line, "an empty line says nothing"
            parse(line)


def test_pages_are_linked_from_the_navigation() -> None:
    navigation = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    for name in NAMES:
        assert re.search(rf"[ :-] {re.escape(name)}$", navigation, re.M), f"{name} is not in mkdocs.yml"


def test_hooks_read_equations_and_docstrings() -> None:
    pytest.importorskip("mkdocs")
    pytest.importorskip("latex2mathml")
    sys.path.insert(0, str(ROOT / "docs" / ".hooks"))
    try:
        import docstrings  # type: ignore[import-not-found]
        import mathematics  # type: ignore[import-not-found]
        from mkdocs.exceptions import PluginError
    finally:
        sys.path.pop(0)

    class File:
        src_uri = "a/b.md"
        content_string = "$$ x = 1 \\tag{Z9} $$"

    class Page:
        file = File()

    mathematics.on_files(type("Files", (), {"documentation_pages": lambda self: [File()]})())
    text = "Let $\\dot q$ be, `$HOME` stays; see \\eqref{Z9}.\n\n" + File.content_string
    made = mathematics.on_page_content(mathematics.on_page_markdown(text, Page()))
    assert made.count("<math") == 2
    assert "`$HOME`" in made
    assert "[(Z9)](#Z9)" in made
    assert 'id="Z9"' in made
    with pytest.raises(PluginError, match="no equation"):
        mathematics.on_page_markdown("\\eqref{nowhere}", Page())
    shown = docstrings.as_markdown("M[i][j] * 2.\n\nArgs:    q: (n,).\n         qd: (n,).\n\n>>> 1 + 1\n2\n")
    assert "M\\[i\\]\\[j\\] \\* 2." in shown
    assert "\n**Args.** q: (n,).\nqd: (n,)." in shown
    assert "```pycon\n>>> 1 + 1\n2\n```" in shown


def test_search_finds_sections(tmp_path: Path) -> None:
    pytest.importorskip("mkdocs")
    if not (node := shutil.which("node")):
        pytest.skip("node is not installed")
    sys.path.insert(0, str(ROOT / "docs" / ".hooks"))
    try:
        import search  # type: ignore[import-not-found]
    finally:
        sys.path.pop(0)
    page = (
        '<h1 id="arms">Arms</h1><p>Torques of <code>inverse_dynamics</code> &amp; more.</p>'
        '<h2 id="friction">Friction</h2><p>Milićević has <math><mi>q</mi><annotation>\\dot q</annotation></math>.</p>'
    )
    index = search.sections(page, "Arms", "a/arms.html") + search.sections("<p>friction</p>", "Other", "other.html")
    index += search.sections('<h3 id="p">PAYLOAD</h3><p>payload payload</p>', "armdyn.codegen", "reference/export.html")
    index += search.sections('<h2 id="m">Payload and cycle time</h2><p>Payload.</p>', "Motion", "motion.html")
    assert index[1] == {
        "page": "Arms", "heading": "Friction", "address": "a/arms.html#friction", "text": "Milićević has q ."
    }  # fmt: skip
    script = (ROOT / "docs" / "style" / "search.js").read_text(encoding="utf-8")
    queries = ["friction", "Inverse_dyn", "milicevic", "torques more", "torques friction", " ", "payload"]
    script += f"""
        const looked = (query) => found({json.dumps(index)}, query).map(({{ section }}) => section.address);
        console.log(JSON.stringify({json.dumps(queries)}.map(looked)));"""
    (tmp_path / "search.js").write_text(script, encoding="utf-8")
    ran = subprocess.run([node, "search.js"], cwd=tmp_path, capture_output=True, text=True, check=True)
    arms, friction, other = "a/arms.html#arms", "a/arms.html#friction", "other.html"
    guide_first = ["motion.html#m", "reference/export.html#p"]
    assert json.loads(ran.stdout) == [[friction, other], [arms], [friction], [arms], [], [], guide_first]


BUILT = ROOT / "out" / "docs"


def external(folder: Path) -> list[str]:
    """What pages would fetch from elsewhere when they are opened: scripts, styles, pictures, fonts."""
    found = []
    for page in folder.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        loaded = re.findall(
            r"<(?:script|img|iframe|source|link)\b[^>]*?(?:src|href)=[\"']?((?:https?:)?//[^\"'> ]+)", text
        )
        found += [f"{page.name}: {address}" for address in loaded]
    for style in folder.rglob("*.css"):
        found += re.findall(r"(?:url\(|@import )[\"']?((?:https?:)?//[^\"')]+)", style.read_text(encoding="utf-8"))
    return found


def test_addresses_elsewhere_are_noticed(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text('<a href="https://x.org">ok</a><script src="https://cdn.org/x.js"></script>')
    (tmp_path / "a.css").write_text("@import 'https://fonts.org/f.css'; /* https://fine.org */")
    assert external(tmp_path) == ["a.html: https://cdn.org/x.js", "https://fonts.org/f.css"]


@pytest.mark.skipif(not (BUILT / "index.html").exists(), reason="the site is not built: make docs")
def test_the_built_site_fetches_nothing_and_is_searched() -> None:
    assert external(BUILT) == []
    assert '"address":"start/install.html' in (BUILT / "search_index.js").read_text(encoding="utf-8")
