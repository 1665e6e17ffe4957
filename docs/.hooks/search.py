"""Search that works from a folder: the sections of all pages as a script, which `style/search.js` looks through.

Browsers do not let a page of the disk read other files, except scripts.
"""

from __future__ import annotations

import html
import json
import re
from pathlib import Path
from typing import Any

INDEX = "search_index.js"
HEADING = re.compile(r"<h([1-4])\b[^>]*?\bid=\"([^\"]+)\"[^>]*>(.*?)</h\1>", re.S)
UNSEEN = re.compile(r"<(annotation|small)\b.*?</\1>", re.S)
"""LaTeX of equations; labels of names in the reference, as in "dataclass"."""
_sections: list[dict[str, str]] = []


def on_pre_build(**_: Any) -> None:
    _sections.clear()


def on_page_content(content: str, page: Any, **_: Any) -> str:
    """Keep the sections of a page; the page itself stays as it is."""
    _sections.extend(sections(content, page.title, page.url))
    return content


def on_post_build(config: Any, **_: Any) -> None:
    text = json.dumps(_sections, ensure_ascii=False, separators=(",", ":"))
    Path(config.site_dir, INDEX).write_text(f"const SECTIONS = {text};\n", encoding="utf-8")


def sections(content: str, title: str, address: str) -> list[dict[str, str]]:
    """Title of the page, heading, address and text of every section."""
    first, *others = HEADING.split(content)
    found = [(title, "", first), *zip(others[2::4], others[1::4], others[3::4], strict=True)]
    made = []
    for heading, anchor, text in found:
        shown = {"page": title, "heading": _plain(heading), "address": f"{address}#{anchor}" if anchor else address}
        if _plain(text) or anchor:
            made.append({**shown, "text": _plain(text)})
    return made


def _plain(text: str) -> str:
    """The words of HTML."""
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", UNSEEN.sub("", text))).split())
