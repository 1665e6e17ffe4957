"""What `armdyn fix` finds and repairs in the files of the wheel example-robot-data: a table for the documentation.

python tests/support/wheel_repairs.py       prints the table of docs/choose/repairs.md
"""

from __future__ import annotations

import sys
import warnings
from collections import Counter
from pathlib import Path

from armdyn.doctor import Fixed, fix
from armdyn.errors import ArmdynError
from armdyn.formats import read
from support.wheel import wheel_files

HEAD = "| file | found | repaired | left alone |\n|---|---|---|---|"
SMALL = 1e-4
"""Part of the torques below which a repair's effect is not given."""


def fixed(path: Path) -> Fixed | None:
    """The repairs of a file; None if it is not a complete robot."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return fix(read(path))
    except ArmdynError:
        return None


def row(path: Path, found: Fixed | None) -> str:
    """One row: findings before, repairs, what is left with the reason."""
    name = f"`{path.name}`" if path.name != "anymal.urdf" else f"`{path.name}` ({path.parts[-3].split('_')[1]})"
    if found is None:
        return f"| {name} | not a complete robot: refused by the reader | | |"
    repaired, left = Counter[str](), Counter[str]()
    for repair in found.repairs:
        if repair.rule == "angle-off":
            repaired["joint: angles rounded near a multiple of pi/2"] += 1
            continue
        share = repair.effect or 0.0
        effect = f", {100 * share:.2g} % of the torques" if share > SMALL else ""
        repaired[f"{_plain(repair.where)}: {repair.mistake} ({repair.confidence}{effect})"] += 1
    for x in found.left:
        left[f"{x.rule}: {x.reason}"] += 1
    return f"| {name} | {found.before.summary} | {_listed(repaired)} | {_listed(left)} |"


def _plain(where: str) -> str:
    return where.replace("'", "`")


def _listed(counted: Counter[str]) -> str:
    return "; ".join(f"{n} x {text}" if n > 1 else text for text, n in counted.items())


def main() -> int:
    sys.stdout.write(HEAD + "\n")
    for path in wheel_files():
        sys.stdout.write(row(path, fixed(path)) + "\n")
        sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
