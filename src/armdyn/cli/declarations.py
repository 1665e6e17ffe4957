"""The features that the verbs take into account, entered in the table of all declarations.

Apart from the verbs, so that the command line starts without NumPy.
"""

from __future__ import annotations

from armdyn.cli import command, verb
from armdyn.robot.features import CLOSED, FRICTIONLESS, LOSSY, TREE, TRIGONOMETRIC, declare

assert command.VERBS  # all verbs are imported, so all have declared
GROUPS = {"tree": TREE, "lossy": LOSSY, "frictionless": FRICTIONLESS, "trigonometric": TRIGONOMETRIC, "closed": CLOSED}
for name, names in verb.TAKES.items():
    declare(f"cli.{name}", (feature for group in names for feature in GROUPS.get(group, (group,))))
