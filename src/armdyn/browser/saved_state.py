"""The state of the studio as text: in a file, or in the address of the page."""

from __future__ import annotations

import base64
import binascii
import json
import math
import zlib
from dataclasses import asdict, dataclass
from typing import Any

from armdyn.errors import ArmdynError

LONGEST = 100_000
"""Most characters of a saved state that are read."""
MOST_NUMBERS = 1000


@dataclass(frozen=True)
class SavedState:
    """What is shown.

    robot:      its name, in the catalog or of the file that is open.
    parameters: named parameters that were changed.
    q:          configuration, rad or m.
    payload:    kg.
    degrees:    whether angles are shown in degrees.
    points:     via points of the plan.
    """

    robot: str
    q: tuple[float, ...]
    payload: float = 0.0
    degrees: bool = True
    points: tuple[tuple[float, ...], ...] = ()
    parameters: tuple[tuple[str, float], ...] = ()

    def json(self) -> str:
        """The state as JSON."""
        return json.dumps(asdict(self), indent=1)

    def address(self) -> str:
        """The state in letters that may stand in a URL."""
        return base64.urlsafe_b64encode(zlib.compress(self.json().encode(), 9)).decode().rstrip("=")


def read_state(text: str | bytes) -> SavedState:
    """The state of a text made by `State.json`; an error says what is wrong with it."""
    if len(text) > LONGEST:
        raise _wrong("it is too long")
    try:
        record = json.loads(text)
    except (ValueError, RecursionError):
        raise _wrong("it is not JSON") from None
    if not isinstance(record, dict) or not isinstance(record.get("robot"), str):
        raise _wrong("it names no robot")
    points, parameters = record.get("points", []), record.get("parameters", [])
    if not isinstance(points, list) or len(points) > 100 or not isinstance(parameters, list):
        raise _wrong("points and parameters are not lists")
    pairs = [pair for pair in parameters if isinstance(pair, list) and len(pair) == 2 and isinstance(pair[0], str)]
    return SavedState(
        record["robot"][:200],
        _numbers(record.get("q")),
        _numbers([record.get("payload", 0.0)])[0],
        record.get("degrees", True) is True,
        tuple(_numbers(point) for point in points),
        tuple((name, _numbers([value])[0]) for name, value in pairs),
    )


def read_address(letters: str) -> SavedState:
    """The state of an address made by `State.address`."""
    if len(letters) > LONGEST:
        raise _wrong("it is too long")
    try:
        packed = base64.urlsafe_b64decode(letters + "=" * (-len(letters) % 4))
        text = zlib.decompressobj().decompress(packed, LONGEST)
    except (binascii.Error, ValueError, zlib.error):
        raise _wrong("the address is damaged") from None
    return read_state(text)


def _numbers(values: Any) -> tuple[float, ...]:
    if not isinstance(values, list) or len(values) > MOST_NUMBERS:
        raise _wrong("a list of numbers is missing")
    try:
        found = tuple(float(x) for x in values if not isinstance(x, str | bool))
    except (TypeError, ValueError, OverflowError):
        found = ()
    if len(found) != len(values) or not all(map(math.isfinite, found)):
        raise _wrong("a number is not finite")
    return found


def _wrong(why: str) -> ArmdynError:
    return ArmdynError(f"the state cannot be read: {why}", where="studio", expected="a state that the studio saved")
