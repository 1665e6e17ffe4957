"""All declarations of features in armdyn; run as a program, this module writes them to `features.txt`."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from string import ascii_lowercase

from armdyn.robot import features

PACKAGE = Path(features.__file__).parents[1]
TABLE = Path(features.__file__).with_suffix(".txt")


def declarations() -> Mapping[str, frozenset[str]]:
    """Import every module that declares something; return what they declared."""
    for path in sorted(PACKAGE.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if "takes(" in text or "declare(" in text:
            import_module(".".join(("armdyn", *path.relative_to(PACKAGE).with_suffix("").parts)))
    return {what: taken for what, taken in features.SUPPORT.items() if not what.startswith("cli.")}


def table() -> str:
    """What `features.txt` must contain: a letter for each feature, then a line for each function with its letters."""
    declared = declarations()
    letters = dict(zip(features.FEATURES, ascii_lowercase, strict=False))
    width = max(map(len, declared))
    lines = [f"{letter} {name}" for name, letter in letters.items()]
    for what, taken in sorted(declared.items()):
        lines.append(f"{what:{width}} " + "".join(letters[name] if name in taken else "." for name in letters))
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    TABLE.write_text(table(), encoding="utf-8")
