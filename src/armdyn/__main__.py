"""`python -m armdyn`, and what the command `armdyn` calls."""

from __future__ import annotations

import sys
from typing import NoReturn


def main() -> NoReturn:
    """Run the command line; Ctrl-C ends it quietly with status 130, also while modules are being imported."""
    try:
        from armdyn.cli import main as run

        run()
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
