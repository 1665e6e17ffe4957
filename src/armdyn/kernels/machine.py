"""What code generation knows of a processor."""

from __future__ import annotations

from dataclasses import dataclass

SLACK = 4
"""Registers that LLVM needs besides those of living values: for operands, and where an operation takes several
instructions."""
LEAST = 6
"""Values that are kept in registers where vectors take several: an operation has three operands."""


@dataclass(frozen=True)
class Machine:
    """registers: for vectors. doubles: of one of them. fused: it multiplies and adds in one instruction.

    broadcasts: an operand in memory may be one double for all lanes.
    short_addresses: instructions are shorter with a small displacement, and more of them are kept decoded.
    """

    registers: int
    doubles: int
    fused: bool
    broadcasts: bool
    short_addresses: bool

    def budget(self, lanes: int) -> int:
        """Vectors of this many lanes that straight-line code keeps in registers."""
        return max(LEAST, self.registers // -(-lanes // self.doubles) - SLACK)
