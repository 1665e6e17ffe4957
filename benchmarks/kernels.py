"""Speed of the compiled functions compared with other engines: `python benchmarks/kernels.py [ROBOT...] [--out FILE]`.

The same as `armdyn bench`; `--out benchmarks/RESULTS.md` updates the page in this folder.
"""

from __future__ import annotations

import sys

from armdyn.cli import main

if __name__ == "__main__":
    main(["bench", *sys.argv[1:]])
