"""Robots to play with: `<!-- robot: NAME -->` becomes the page that `armdyn share` writes of a robot of the catalog.

The page is a file of the site, in a frame: it needs neither server nor network, as the site itself.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File

import armdyn
from armdyn.webpage.shared_page import page as page_of

PLACE = re.compile(r"^<!-- robot: (\w+) -->$", re.M)
FOLDER = "robots"
HEIGHT = 980


def on_files(files: Any, config: Any, **_: Any) -> None:
    """A file for every robot that a page of the documentation asks for."""
    wanted = {name for file in files.documentation_pages() for name in PLACE.findall(file.content_string)}
    for name in sorted(wanted):
        text = page_of(armdyn.load(name))
        files.append(File.generated(config, f"{FOLDER}/{name}.html", content=text))


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """The frames."""
    up = posixpath.relpath(".", posixpath.dirname(page.file.src_uri) or ".")

    def framed(match: re.Match[str]) -> str:
        address = posixpath.normpath(posixpath.join(up, FOLDER, f"{match[1]}.html"))
        frame = f'<iframe class="robot" src="{address}" title="{match[1]}" height="{HEIGHT}" loading="lazy"></iframe>'
        return f'{frame}\n<p><a href="{address}">On a page of its own</a></p>'

    return PLACE.sub(framed, markdown)


ROBOTS = Path(armdyn.__file__).parent / "catalog"
"""Where the robots are described; `mkdocs serve` builds again when they change."""


def on_serve(server: Any, **_: Any) -> None:
    server.watch(str(ROBOTS))
