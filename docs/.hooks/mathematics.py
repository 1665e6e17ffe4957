r"""Equations as MathML: `$...$` in a line, `$$ ... $$` displayed, `\tag{N1}` a label, `\eqref{N1}` a link to it.

They are made when the site is built, so that pages need neither scripts nor a network.
"""

from __future__ import annotations

import posixpath
import re
from typing import Any

from latex2mathml.converter import convert
from mkdocs.exceptions import PluginError

CODE = re.compile(r"^(?P<fence>`{3,}|~{3,}).*?^(?P=fence)[ \t]*$|`[^`\n]+`", re.S | re.M)
DISPLAY = re.compile(r"^[ \t]*\$\$(.+?)\$\$[ \t]*$", re.S | re.M)
INLINE = re.compile(r"(?<![\\$\w])\$(?! )([^$\n]+?)(?<! )\$(?![\d$])")
TAG = re.compile(r"\\tag\{(\w+)\}")
LINK = re.compile(r"\\eqref\{(\w+)\}")

_home: dict[str, str] = {}
_made: dict[str, str] = {}


def on_files(files: Any, **_: Any) -> None:
    """Which page holds which label. Twice the same label is an error."""
    _home.clear()
    for file in files.documentation_pages():
        for label in TAG.findall(_without_code(file.content_string)):
            if label in _home:
                raise PluginError(f"{file.src_uri}: equation ({label}) is in {_home[label]} already")
            _home[label] = file.src_uri


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Equations become tokens, so that Markdown leaves them alone; labels and links become HTML and Markdown."""
    here = page.file.src_uri
    kept: list[str] = []

    def keep(match: re.Match[str]) -> str:
        kept.append(match[0])
        return f"\x02{len(kept) - 1}\x03"

    def link(match: re.Match[str]) -> str:
        label = match[1]
        if label not in _home:
            raise PluginError(f"{here}: there is no equation ({label})")
        path = posixpath.relpath(_home[label], posixpath.dirname(here) or ".")
        return f"[({label})]({'' if _home[label] == here else path}#{label})"

    text = CODE.sub(keep, markdown)
    text = DISPLAY.sub(lambda m: _displayed(m[1], here), text)
    text = INLINE.sub(lambda m: _token(_mathml(m[1], here, "inline")), text)
    text = LINK.sub(link, text)
    return re.sub("\x02(\\d+)\x03", lambda m: kept[int(m[1])], text)


def on_page_content(html: str, **_: Any) -> str:
    """Tokens become MathML."""
    return re.sub(r"EQUATION\d{6}X", lambda m: _made[m[0]], html)


def _without_code(text: str) -> str:
    return CODE.sub("", text)


def _displayed(latex: str, where: str) -> str:
    label = TAG.search(latex)
    made = _token(_mathml(TAG.sub("", latex), where, "block"))
    tag = f'<span class="label">({label[1]})</span>' if label else ""
    name = f' id="{label[1]}"' if label else ""
    return f'\n<div class="equation"{name}>{made}{tag}</div>\n'


def _mathml(latex: str, where: str, display: str) -> str:
    try:
        return convert(latex.strip(), display=display)
    except Exception as error:
        raise PluginError(f"{where}: the equation {latex.strip()!r} cannot be read: {error!r}") from error


def _token(mathml: str) -> str:
    token = f"EQUATION{len(_made):06d}X"
    _made[token] = mathml
    return token
