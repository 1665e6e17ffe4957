"""What a verb returns: one frozen result that shows, records and judges itself.

Every command `armdyn VERB` is the function `armdyn.VERB`, and every such function returns one `Result`. The shells
(command line, report, studio, notebook) parse what the user typed, call the function and show what it returned; they
compute nothing.
"""

from __future__ import annotations

from typing import Any

from armdyn.notebook_view import Shown, text


class Result(Shown):
    """Base class of results.

    A subclass is a frozen dataclass that says in `_view` what there is to see, and in `record` the same as plain
    values. What it hands over, it writes with a method `save`, which reads the file back and judges it.
    """

    __slots__ = ()

    @property
    def fine(self) -> bool:
        """False if the result contains findings that the user should act on; the command then exits with status 1."""
        verdict = self._view().verdict
        return verdict is None or verdict[1]

    def record(self) -> dict[str, Any]:
        """Everything the result holds, as numbers, texts, lists and dictionaries: what `--json` prints."""
        raise NotImplementedError

    def __str__(self) -> str:
        return text(self._view())


class Source(Result):
    """A result that can be a text in another language (LaTeX, a program), which shells then print as it is."""

    __slots__ = ()

    @property
    def printed(self) -> bool:
        """Whether the text itself is asked for, not the view."""
        raise NotImplementedError

    @property
    def source(self) -> str:
        """The text."""
        raise NotImplementedError
