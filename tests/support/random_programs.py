"""Random programs with all operations, and inputs for them."""

from __future__ import annotations

import numpy as np

from armdyn.graph import Graph, select, trace

SIZES = {"q": 7, "x": 3, "s": None, "y": 2, "z": 1}


def program(seed: int, length: int) -> Graph:
    """A random program with all operations, angles that depend on sines, and results of many shapes."""
    rng = np.random.default_rng(seed)

    def formula(q, x, s, y, z):  # type: ignore[no-untyped-def]
        values = [*q, *x, s, *y, *z]

        def some():  # type: ignore[no-untyped-def]
            return values[rng.integers(len(values))]

        for k in range(length):
            a, b = some(), some()
            match int(rng.integers(12)):
                case 0 | 1 | 2:
                    new = a * b + some()
                case 3 | 4:
                    new = a - b * some()
                case 5:
                    new = a * float(rng.normal())
                case 6:
                    new = a + b
                case 7:
                    new = a / (1.5 + b * b)
                case 8:
                    new = (abs(a) + 0.25).sqrt()
                case 9:
                    new = (a + 0.3).cos() if k % 2 else a.sin()
                case 10:
                    new = a.sign() * b - 1
                case _:
                    new = select(a, b, -some())
            values.append(new.sin() if k % 5 == 0 else new)  # sines keep the numbers small
        last = values[-40:]
        return [last[:3], [last[3:8], last[8:13]], last[13], [last[14], 0, q[0], q[0].sin(), 1, -x[1], q[3]], [y[1]]]

    return trace(lambda q, x, s, y, z: dict(zip("abcde", formula(q, x, s, y, z), strict=True)), SIZES)


def inputs(count: int, seed: int) -> list[np.ndarray]:
    """Ordinary numbers, and here and there what is not: zeros of both signs, huge angles, infinity and NaN."""
    rng = np.random.default_rng(seed)
    found = [rng.normal(size=(count,) if size is None else (count, size)) for size in SIZES.values()]
    for array in found:
        places = rng.integers(array.size, size=8)
        array.flat[places] = [0.0, -0.0, 1e12, -4e9, np.inf, -np.inf, np.nan, 2.0**30]
    return found
