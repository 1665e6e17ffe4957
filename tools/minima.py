"""Print the lowest declared version of every dependency, for pip: `numpy==2.0.0 ...`."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

declared = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))
for requirement in declared["project"]["dependencies"]:
    name, version = re.fullmatch(r"([\w.-]+)>=([\d.]+)", requirement).groups()  # type: ignore[union-attr]
    print(f"{name}=={version}")
