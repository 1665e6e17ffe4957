"""The sweeps over the cells of a path that find its fastest timing, as machine code. Pham & Pham 2018 (TOPP-RA)

Along a path of parameter s, with u = sdd and x = sd^2, a limit is a pair of rows L <= A u + B x <= H. On a cell of the
grid u is constant, so x grows linearly: x_end = x + 2 ds u. A row holds at the start of the cell, or at its end, where
it is (A + 2 ds B) u + B x. Divided by its A, a row is one line that bounds u from above and one from below:
below - slope x <= u <= above - slope x. The largest u less the least one is concave in x and piecewise linear.

Backwards: K_i = {x : some u obeys the rows and leads into K_i+1}, whose ends are two more lines. Its ends are zeros of
that concave function, found from outside by Newton's method, which ends after a few pieces. Forwards: the largest u.
"""

from __future__ import annotations

from armdyn.kernels.procedure import LANES, VECTOR, WHOLE, Procedure, Procedures, Value, Variable

TINY = 1e-10
"""Coefficient of u below which a row, scaled to a limit of 1, does not depend on u (a zero-inertia point)."""
SLACK = 1e-9
"""Tolerance of each row, as a fraction of its limit: rounding must not empty a set that is a single point."""
NONE = 1e100
"""Stands for no limit: far beyond every number that occurs, and its products still are numbers."""
FAR = 1e8
"""Squared path speed, in paths/s, that stands for no bound; Newton's method starts there, so its rounding matters."""
SMOOTH = 5e-3
"""Share of a torque limit by which a parabola rises above its places at most; more is a jump of dry friction."""
SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)
"""Places of a cell at which limits are checked."""
MOST_PIECES = 200
"""Newton steps in a cell: each leaves a line, and robots with many joints have a hundred."""

procedures = Procedures("sweep")


@procedures.define("iiiippppppppppppppppp")
def assemble(
    w: Procedure, cells: Value, n: Value, sides: Value, limited: Value, step: Value, a: Value, b: Value, g: Value,
    q1: Value, q2: Value, constant: Value, slope: Value, limits: Value, tight: Value, tight_speed: Value,
    above: Value, below: Value, slopes: Value, low: Value, high: Value, rest: Value,
) -> None:  # fmt: skip
    """Lines of all cells: torque on `sides` x both ends, acceleration at both ends if `limited`, velocity at quarters.

    constant:  (2, 2, N, n) friction on the upper and the lower limit, at both ends; slope: (sides, 2, N, n) by x.
    limits:    rows of padded joints: 1/torque, upper (sides), lower (sides), 1/acceleration, 1/velocity.
    tight:     (4, N, n) shares of the limits to take off: upper and lower torque, upper and lower acceleration.
    low, high: (N+1,) bounds of x that depend on one end alone; rest: (N,) 1 if x = u = 0 obeys the rows.
    """
    blocks = (n + (LANES - 1)) / LANES
    width, plane = blocks * LANES, cells * n
    torques, highest, lowest = limits, limits.at(width), limits.at((sides + 1) * width)
    rates = limits.at((sides * 2 + 1) * width)
    count = ((sides * 2 + limited * 2) * blocks + 1) * LANES
    high[0] = FAR
    with w.loop(cells) as i:
        ds2, first, place = step[i], i * n, w.variable(i * count, WHOLE)
        bottom, top = w.variable(0.0), w.variable(FAR)
        least, most = w.variable(-NONE, VECTOR), w.variable(NONE, VECTOR)

        def line(
            A: Value, B: Value, L: Value, H: Value,
            place: Variable = place, bottom: Variable = bottom, top: Variable = top, least: Variable = least,
            most: Variable = most,
        ) -> None:  # fmt: skip
            flat = w.call("fabs", A) <= TINY
            inverse = 1.0 / w.select(flat, 1.0, A)
            over, under = H * inverse, L * inverse
            negative = A < 0.0
            over, under = w.select(negative, under, over), w.select(negative, over, under)
            over, under = w.select(flat, NONE, over), w.select(flat, -NONE, under)
            at = place.now
            above[at], below[at], slopes[at] = over, under, w.select(flat, 0.0, B * inverse)
            place.set(at + LANES)
            most.set(w.least(most.now, over))
            least.set(w.largest(least.now, under))
            depends = w.call("fabs", B) > TINY
            impossible = (H < 0.0) | (L > 0.0)
            with w.when(w.any(flat & (depends | impossible))):  # bounds of x alone
                each = 1.0 / w.select(depends, B, 1.0)
                ends = H * each, L * each
                upper = w.select(depends, w.largest(*ends), w.select(impossible, -NONE, NONE))
                lower = w.select(depends, w.least(*ends), -NONE)
                top.set(w.least(top.now, w.reduced("fmin", w.select(flat, upper, NONE))))
                bottom.set(w.largest(bottom.now, w.reduced("fmax", w.select(flat, lower, -NONE))))

        for end in (0, 1):
            there = plane * (4 * end) + first
            with w.loop(blocks) as block:
                j = block * LANES
                at, own = there + j, first + j
                scale = torques.vector(j)
                with w.loop(sides) as side:
                    B = (b.vector(at) + slope.vector((side * 2 + end) * plane + own)) * scale
                    A = a.vector(at) * scale + (B * ds2 if end else 0.0)
                    resting = [g.vector(at) + constant.vector(plane * (2 * k + end) + own) for k in (0, 1)]
                    # Lanes beyond the joints have scale 0: what they read belongs to the next cell.
                    less = [w.select(scale > 0.0, tight.vector(plane * k + own), 0.0) for k in (0, 1)]
                    H = (highest.vector(side * width + j) - resting[0]) * scale - less[0] + SLACK
                    L = (lowest.vector(side * width + j) - resting[1]) * scale + less[1] - SLACK
                    line(A, B, L, H)
                with w.when(limited > 0):
                    scale = rates.vector(j)
                    B = q2.vector(at) * scale
                    A = q1.vector(at) * scale + (B * ds2 if end else 0.0)
                    H = 1.0 + SLACK - tight.vector(plane * 2 + own)
                    line(A, B, tight.vector(plane * 3 + own) - (1.0 + SLACK), H)
        bounds = []
        for k in range(5):  # velocity
            largest = w.variable(0.0, VECTOR)
            with w.loop(blocks) as block:
                j = block * LANES
                use = q1.vector(plane * k + first + j) * rates.vector(width + j)
                largest.set(w.largest(largest.now, use * use))
            bounds.append(w.reduced("fmax", largest.now) * (1.0 + tight_speed[i]))
        at = place.now
        for k in range(LANES):
            above[at + k], below[at + k], slopes[at + k] = NONE, -NONE, 0.0
        for k in (1, 2, 3):
            A = bounds[k] * ds2 * SHARES[k]
            with w.when(A > TINY):
                above[at + (k - 1)], slopes[at + (k - 1)] = (1.0 + SLACK) / A, bounds[k] / A
            with w.when(A <= TINY):
                top.set(w.least(top.now, 1.0 / w.largest(bounds[k], 1 / FAR)))
        high[i] = w.least(w.least(high[i], top.now), 1.0 / w.largest(bounds[0], 1 / FAR))
        high[i + 1] = 1.0 / w.largest(bounds[4], 1 / FAR)
        low[i] = bottom.now
        held = (w.reduced("fmin", most.now) >= 0.0) & (w.reduced("fmax", least.now) <= 0.0)
        rest[i] = w.select(held, w.value(1.0), 0.0)
    low[cells] = 0.0
    w.give(count)


@procedures.define("iipppppppddpppp")
def sweep(
    w: Procedure, cells: Value, count: Value, step: Value, above: Value, below: Value, slopes: Value, low: Value,
    high: Value, rest: Value, start: Value, end: Value, K_low: Value, K_high: Value, x: Value, failed: Value,
) -> None:  # fmt: skip
    """Controllable sets backwards, then the fastest x forwards: -1, or the cell in which no x is feasible.

    failed: the x at which the lines of that cell leave no u.
    """
    K_low[cells], K_high[cells] = end, end
    with w.loop(-1, start=cells - 1, step=-1) as i:
        inverse, first = 1.0 / step[i], i * count
        next_low, next_high = K_low[i + 1], K_high[i + 1]

        def gap(at: Value, sign: int, first: Value = first, inverse: Value = inverse,
                next_low: Value = next_low, next_high: Value = next_high) -> tuple[Value, Value, Value]:  # fmt: skip
            """Largest less least u at x, its derivative towards sign, and a rounding error of it."""
            over, under = (w.variable((end - at) * inverse, VECTOR) for end in (next_high, next_low))
            falls, rises = w.variable(inverse, VECTOR), w.variable(inverse, VECTOR)
            with w.loop(count, step=LANES) as k:
                slope = slopes.vector(first + k)
                upper, lower = above.vector(first + k) - slope * at, below.vector(first + k) - slope * at
                less, more = upper < over.now, lower > under.now
                falls.set(w.select(less, slope, falls.now))
                rises.set(w.select(more, slope, rises.now))
                over.set(w.select(less, upper, over.now))
                under.set(w.select(more, lower, under.now))
            u_max, u_min = w.reduced("fmin", over.now), w.reduced("fmax", under.now)
            far, how = sign * NONE, ("fmax", "fmin")[:: -1 if sign < 0 else 1]
            falling = w.reduced(how[0], w.select(over.now <= u_max, falls.now, -far))
            rising = w.reduced(how[1], w.select(under.now >= u_min, rises.now, far))
            return u_max - u_min, rising - falling, 1e-13 * (w.call("fabs", u_max) + w.call("fabs", u_min))

        ends: list[Value] = []
        bottom = low[i]
        for sign in (-1, 1):  # from above, then from below
            at = w.variable(high[i] if sign < 0 else bottom)
            todo = w.variable(1, WHOLE)
            if sign > 0:
                todo.set(w.select((rest[i] > 0.0) & (next_low <= 0.0) & (bottom <= 0.0), w.value(0, WHOLE), 1))
            with w.repeat():
                w.leave_unless((todo.now > 0) & (todo.now < MOST_PIECES))
                now = at.now
                d, rate, error = gap(now, sign)
                fits = d >= 0.0 - error
                with w.when(fits):  # from afar rounding goes a little too far: back, on the same line
                    turned = rate < 0.0 if sign < 0 else rate > 0.0
                    back = now - d / w.select(turned, rate, 1.0)
                    at.set(w.select(turned & (todo.now > 1), back, now))
                    todo.set(-1)
                with w.when(d < 0.0 - error):
                    other = bottom if sign < 0 else ends[0]
                    wrong = rate >= 0.0 if sign < 0 else rate <= 0.0
                    better = now - d / w.select(wrong, w.value(float(sign)), rate)
                    close = 1e-9 * (next_high + 1e-12) + 1e-15 * w.call("fabs", now)
                    past = better < other - close if sign < 0 else better > other + close
                    with w.when(wrong | past):
                        failed[0] = now
                        w.give(i)
                    limit = w.largest(better, other) if sign < 0 else w.least(better, other)
                    at.set(limit)
                    todo.set(w.select((limit < now) if sign < 0 else (limit > now), todo.now + 1, -1))
            ends.append(at.now)
        K_high[i], K_low[i] = ends
    with w.when((start < K_low[0] * (1 - 1e-9) - 1e-12) | (start > K_high[0] * (1 + 1e-9) + 1e-12)):
        w.give(cells)
    moving = w.variable(w.least(w.largest(start, K_low[0]), K_high[0]))
    x[0] = moving.now
    with w.loop(cells) as i:
        here, first = moving.now, i * count
        over = w.variable(NONE, VECTOR)
        with w.loop(count, step=LANES) as k:
            over.set(w.least(over.now, above.vector(first + k) - slopes.vector(first + k) * here))
        reached = here + step[i] * w.reduced("fmin", over.now)
        moving.set(w.largest(w.least(reached, K_high[i + 1]), K_low[i + 1]))
        x[i + 1] = moving.now
    w.give(-1)


@procedures.define("iiiipppppppppppdp")
def tighten(
    w: Procedure, cells: Value, n: Value, sides: Value, limited: Value, step: Value, a: Value, b: Value, g: Value,
    q1: Value, q2: Value, resistance: Value, limits: Value, x: Value, tight: Value, tight_speed: Value,
    tolerance: Value, worst: Value,
) -> None:  # fmt: skip
    """Take off the limits of every cell by how much they are exceeded between its ends: the number of such cells.

    resistance: (2, 5, N, n) on the upper and the lower limit, at the places of the cells.
    worst:      the largest excess, as a share of a limit.
    """
    blocks = (n + (LANES - 1)) / LANES
    width, plane = blocks * LANES, cells * n
    torques, highest, lowest = limits, limits.at(width), limits.at((sides + 1) * width)
    rates = limits.at((sides * 2 + 1) * width)
    found, largest = w.variable(0, WHOLE), w.variable(-1.0)

    def excess(values: list[Value], most: float) -> Value:
        """Largest of five values, and of the parabolas through every three neighbours unless they rise by `most`."""
        top = values[0]
        for value in values[1:]:
            top = w.largest(top, value)
        peak = top
        for before, here, after in zip(values, values[1:], values[2:], strict=False):
            bend, rise = 2.0 * here - before - after, after - before
            inner = (bend > 0.0) & (w.call("fabs", rise) < 2.0 * bend)
            height = here + rise * rise / w.select(inner, 8.0 * bend, 1.0)
            peak = w.largest(peak, w.select(inner, height, top))
        return w.select(peak - top < most, peak, top)

    with w.loop(cells) as i:
        first, ds2 = i * n, step[i]
        start = x[i]
        u = (x[i + 1] - start) / ds2
        at = [start + ds2 * u * share for share in SHARES]
        over = w.variable(-1.0)

        def taken(
            values: list[Value], place: Value, most: float, over: Variable = over, entries: Value = tight
        ) -> None:
            beyond = excess(values, most)
            entries[place] = entries.vector(place) + w.select(beyond > tolerance, beyond, 0.0)
            over.set(w.largest(over.now, w.reduced("fmax", beyond)))

        fastest = w.variable(0.0)
        with w.loop(blocks) as block:
            j = block * LANES
            places = [plane * k + first + j for k in range(5)]
            scale, own = torques.vector(j), first + j
            moving = [a.vector(p) * u + b.vector(p) * value + g.vector(p) for p, value in zip(places, at, strict=True)]
            up, down = highest.vector(j), lowest.vector((sides - 1) * width + j)
            lost = [[m + resistance.vector(plane * k + p) for m, p in zip(moving, places, strict=True)] for k in (0, 5)]
            taken([(t - up) * scale for t in lost[0]], own, SMOOTH)
            taken([(down - t) * scale for t in lost[1]], plane + own, SMOOTH)
            with w.when(limited > 0):
                scale = rates.vector(j)
                each = [(q1.vector(p) * u + q2.vector(p) * value) * scale for p, value in zip(places, at, strict=True)]
                on = w.select(scale > 0.0, 1.0, NONE)  # no limit: no excess
                taken([value - on for value in each], plane * 2 + own, NONE)
                taken([0.0 - value - on for value in each], plane * 3 + own, NONE)
            rate = rates.vector(width + j)
            speeds = [
                w.call("fabs", q1.vector(p)) * rate * w.call("sqrt", w.largest(value, 0.0))
                for p, value in zip(places, at, strict=True)
            ]
            fastest.set(w.largest(fastest.now, w.reduced("fmax", excess(speeds, NONE))))
        beyond = fastest.now - 1.0
        over.set(w.largest(over.now, beyond))
        with w.when(beyond > tolerance):
            tight_speed[i] = tight_speed[i] + 2.0 * beyond
        with w.when(over.now > tolerance):
            found.set(found.now + 1)
        largest.set(w.largest(largest.now, over.now))
    worst[0] = largest.now
    w.give(found.now)
