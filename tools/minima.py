"""Print the lowest declared version of every dependency for this Python, for pip: `numpy==2.0.0 ...`."""

from __future__ import annotations

import operator
import re
import sys
import tomllib
from pathlib import Path

REQUIREMENT = r"([\w.-]+)>=([\d.]+)(?:; python_version (<|>=) '(\d+)\.(\d+)')?"
HOLDS = {"<": operator.lt, ">=": operator.ge, None: lambda *_: True}

declared = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))
for requirement in declared["project"]["dependencies"]:
    name, version, sign, major, minor = re.fullmatch(REQUIREMENT, requirement).groups()  # type: ignore[union-attr]
    if HOLDS[sign](sys.version_info[:2], (int(major or 0), int(minor or 0))):
        print(f"{name}=={version}")
