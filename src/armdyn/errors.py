"""Everything armdyn raises on purpose.

Each message answers four questions: what is wrong, where, what was expected, what to do. The answers are
attributes too, so that the command line and a page can lay them out.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class ArmdynError(Exception):
    """Root of all errors of armdyn: catch this one to catch them all."""

    def __init__(
        self, what: str, *, where: str | None = None, expected: str | None = None, advice: str | None = None
    ) -> None:
        self.what = what
        self.where = where
        self.expected = expected
        self.advice = advice
        super().__init__(self.message)

    @property
    def message(self) -> str:
        text = self.what if self.where is None else f"{self.where}: {self.what}"
        text = text.rstrip(".") + "."
        if self.expected:
            text += f" Expected: {self.expected.rstrip('.')}."
        if self.advice:
            text += f" {self.advice}" if self.advice.endswith(("?", ".")) else f" {self.advice}."
        return text

    def located(self, where: str) -> ArmdynError:
        """Return the same error with a more precise place (only the reader knows the file name)."""
        place = where if self.where is None else f"{where}, {self.where}"
        return type(self)(self.what, where=place, expected=self.expected, advice=self.advice)


class FileError(ArmdynError):
    """A file that cannot be read or written, or whose content does not match its extension."""


class ExpressionError(ArmdynError):
    """An arithmetic expression of a robot file that cannot be understood or evaluated."""


class RobotError(ArmdynError):
    """A robot description that is inconsistent: names, tree, types, values."""


class UnknownName(ArmdynError):
    """A name that does not exist; the message lists those that do."""


class ShapeError(ArmdynError):
    """An argument of the wrong size."""


class PhysicsError(ArmdynError):
    """A model that cannot be computed with: an invalid inertia under `strict`, a singular mass matrix."""


class ModelWarning(UserWarning):
    """A description with an invalid part, or one that a reader or writer could not represent completely."""


class PerformanceWarning(UserWarning):
    """Something on this machine makes armdyn slower, not wrong: a cache that is not safe to use, no LLVM."""


class NotApplicable(ArmdynError):
    """A method that does not cover this robot, although others do."""


class FeatureError(NotApplicable):
    """A robot with a feature that a function does not take into account; see `armdyn.robot.features`.

    feature: its name. joints: those that have it.
    """

    def __init__(
        self,
        what: str,
        *,
        where: str | None = None,
        expected: str | None = None,
        advice: str | None = None,
        feature: str = "",
        joints: tuple[str, ...] = (),
    ) -> None:
        super().__init__(what, where=where, expected=expected, advice=advice)
        self.feature, self.joints = feature, joints


class MissingExtra(ArmdynError):
    """An optional dependency that is not installed."""


def unknown_name(kind: str, name: object, known: Iterable[str], where: str | None = None) -> UnknownName:
    """Return the error for an unknown name; it suggests the nearest known one."""
    names = [_shortened(entry) for entry in known]
    asked = _shortened(str(name))
    near = difflib.get_close_matches(asked, names, n=1)
    listed = ", ".join(names[:40]) + (f" and {len(names) - 40} more" if len(names) > 40 else "")
    return UnknownName(
        f"unknown {kind} {asked!r}",
        where=where,
        expected=f"one of: {listed}" if names else f"there is no {kind} here",
        advice=f"Did you mean {near[0]!r}?" if near else None,
    )


def required_count(name: str, value: object, where: str, *, least: int = 1, most: int) -> int:
    """Return the value if it is a whole number from `least` to `most`; ArmdynError otherwise."""
    if isinstance(value, bool) or not hasattr(value, "__index__") or not least <= value.__index__() <= most:
        raise ArmdynError(
            f"{name} = {_shortened(str(value))}", where=where, expected=f"a whole number, {least} to {most}"
        )
    return int(value.__index__())


def _shortened(text: str) -> str:
    """A name short enough for a message: files may hold names of any length."""
    return text if len(text) <= 60 else text[:57] + "..."
