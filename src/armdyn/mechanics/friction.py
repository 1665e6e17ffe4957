"""Laws of joint friction, by name; a user adds one with one function.

    >>> from armdyn.mechanics.friction import register_friction
    >>> register_friction("quadratic", lambda friction, rate: friction.viscous * rate * rate * ops.sign(rate))

The function gets the joint's `Friction` and the joint's rate and returns the torque that the actuator must add; it is
written over any scalar (`armdyn.algebra.ops`), so that kernels, derivatives and batches have it too. It must be zero at
rest; a torque offset is added to any law. A robot file names the law: `friction = {law = "quadratic", viscous = 0.3}`;
numbers without a field of their own go to `values = {...}` and come as `friction.values["..."]`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from armdyn.algebra import Scalar, ops
from armdyn.algebra.ops import add, div, mul, sub
from armdyn.errors import NotApplicable, PhysicsError, RobotError, unknown_name
from armdyn.robot.features import ASYMMETRIC, ROUNDED, has_load_friction
from armdyn.robot.parts import Friction, Motor
from armdyn.robot.robot import Robot
from armdyn.robot.transmission import inverse_rows
from armdyn.typing import Scalars

Law = Callable[[Friction, Scalar], Scalar]

GENERAL = "stribeck"
"""The law of a joint that names none: with static = 0 it is Coulomb's, with coulomb = 0 too it is viscous."""


def viscous(friction: Friction, rate: Scalar) -> Scalar:
    """Fv qd."""
    return mul(friction.viscous, rate)


def coulomb(friction: Friction, rate: Scalar) -> Scalar:
    """Fc sign(qd) + Fv qd. Khalil (7.27)"""
    return _with_dry(friction, rate, friction.coulomb)


def stribeck(friction: Friction, rate: Scalar) -> Scalar:
    """Fc sign(qd) + Fv qd + (Fst - Fc) sign(qd) exp(-|qd| / v_s). Khalil (7.26), v_s = 1/B"""
    dry = friction.coulomb
    if not ops.is_zero(friction.static):
        excess = friction.static - friction.coulomb
        dry = add(dry, excess * ops.exp(-rate * ops.sign(rate) / _stribeck_rate(friction)))
    return _with_dry(friction, rate, dry)


def smooth(friction: Friction, rate: Scalar) -> Scalar:
    """Khalil (7.26) with r = sqrt(qd^2 + width^2) - width for |qd| and qd / sqrt(qd^2 + width^2) for sign(qd).

    Differentiable any number of times; the law of (7.26) is its limit for width -> 0, the error of the sign being
    (width/qd)^2 / 2. For integrators.
    """
    width = _width(friction)
    root = ops.sqrt(add(mul(rate, rate), mul(width, width)))
    dry = friction.coulomb
    if not ops.is_zero(friction.static):
        excess = friction.static - friction.coulomb
        dry = add(dry, excess * ops.exp((width - root) / _stribeck_rate(friction)))
    return add(viscous(friction, rate), mul(dry, div(rate, root)))


def piecewise(friction: Friction, rate: Scalar) -> Scalar:
    """Fc qd / width + Fv qd for |qd| < width, else Fc sign(qd) + Fv qd. Khalil (7.27), approximated as in fig. 7.2d

    A steep line through zero in place of the jump: continuous, and linear in Fc and Fv.
    """
    steep = div(rate, _width(friction))
    above, below = add(steep, 1), sub(steep, 1)
    capped = ops.half(sub(mul(above, ops.sign(above)), mul(below, ops.sign(below))))  # from -1 to 1
    return add(viscous(friction, rate), mul(friction.coulomb, capped))


def asymmetric(friction: Friction, rate: Scalar) -> Scalar:
    """Fc sign(qd) + Fv qd, with coefficients of their own for qd < 0: values coulomb_negative, viscous_negative."""
    s = ops.sign(rate)
    return _of_two_sides(friction, rate, s, mul(rate, s))


def asymmetric_smooth(friction: Friction, rate: Scalar) -> Scalar:
    """The law "asymmetric" with qd / sqrt(qd^2 + width^2) for sign(qd) and sqrt(qd^2 + width^2) - width for |qd|.

    Differentiable any number of times; "asymmetric" is its limit for width -> 0.
    """
    width = _width(friction)
    root = ops.sqrt(add(mul(rate, rate), mul(width, width)))
    return _of_two_sides(friction, rate, div(rate, root), sub(root, width))


def rounded(friction: Friction, rate: Scalar) -> Scalar:
    """Fv qd + Fc S + sum_k coulomb_k [s(qd, width_k) - S], s(qd, w) = qd / sqrt(qd^2 + w^2), S = s(qd, width).

    The law that identification finds; numbers beyond viscous, coulomb and width are `values`, counted from 1:
    coulomb_1, width_1, ...: parts of Coulomb friction that change sign over other widths.
    load: Coulomb friction per torque l that the joint carries, load |l| S beside the above (see `friction_torques`).
    presliding_1, distance_1, ...: parts of Coulomb friction that build up over a distance, presliding_k (z_k - S)
    beside the above, with states z_k (see `armdyn.dynamics.presliding`). In steady sliding they vanish.
    """
    S = rounded_sign(friction, rate)
    others = [mul(share, sub(_rounded(rate, width), S)) for share, width in numbered(friction, "coulomb", "width")]
    return ops.total([viscous(friction, rate), mul(friction.coulomb, S), *others])


def rounded_sign(friction: Friction, rate: Scalar) -> Scalar:
    """The sign of the rate, rounded over the width of the law."""
    return _rounded(rate, _width(friction))


def _rounded(rate: Scalar, width: Scalar) -> Scalar:
    return div(rate, ops.sqrt(add(mul(rate, rate), mul(width, width))))


def numbered(friction: Friction, *names: str) -> list[tuple[Scalar, ...]]:
    """The values name_1, name_2, ... of some names side by side, in the order of their numbers."""
    keys = [key.removeprefix(f"{names[0]}_") for key in friction.values if key.startswith(f"{names[0]}_")]
    try:
        return [tuple(friction.values[f"{name}_{key}"] for name in names) for key in sorted(keys)]
    except KeyError as missing:
        raise PhysicsError(
            f"the friction law {friction.law!r} needs the value {missing}",
            expected=" and ".join(f"{name}_1, ..." for name in names),
        ) from None


def _of_two_sides(friction: Friction, rate: Scalar, sign: Scalar, size: Scalar) -> Scalar:
    """Fc_m sign + Fc_d sign^2 + Fv_m qd + Fv_d |qd|, from means and half differences of the two sides."""
    back = _backwards(friction)
    mean, difference = (
        [ops.half(join(getattr(friction, key), getattr(back, key))) for key in ("coulomb", "viscous")]
        for join in (add, sub)
    )
    even = add(mul(difference[0], mul(sign, sign)), mul(difference[1], size))
    return add(add(mul(mean[0], sign), mul(mean[1], rate)), even)


def _backwards(friction: Friction) -> Friction:
    """The friction for negative rates; a coefficient that is not given is that of positive rates."""
    values = {key: friction.values.get(f"{key}_negative", getattr(friction, key)) for key in ("viscous", "coulomb")}
    return replace(friction, **values)


def _width(friction: Friction) -> Scalar:
    if ops.is_zero(friction.width):
        raise PhysicsError(
            f"the friction law {friction.law!r} needs a width",
            expected="width, rad/s or m/s, greater than zero",
            advice="A tenth of the slowest rate that matters is a good choice.",
        )
    return friction.width


def _with_dry(friction: Friction, rate: Scalar, dry: Scalar) -> Scalar:
    torque = viscous(friction, rate)
    return torque if ops.is_zero(dry) else add(torque, mul(dry, ops.sign(rate)))


def _stribeck_rate(friction: Friction) -> Scalar:
    if ops.is_zero(friction.stribeck):
        raise PhysicsError(
            "static friction without the rate at which it falls off",
            expected="stribeck, rad/s or m/s, greater than zero",
            advice='Give it, or leave static out, or say law = "coulomb".',
        )
    return friction.stribeck


LAWS: dict[str, Law] = {
    "viscous": viscous,
    "coulomb": coulomb,
    "stribeck": stribeck,
    "smooth": smooth,
    "piecewise": piecewise,
    "asymmetric": asymmetric,
    "asymmetric_smooth": asymmetric_smooth,
    ROUNDED: rounded,
}
_OWN = dict(LAWS)


def is_own_law(friction: Friction | None) -> bool:
    """Whether a joint's friction follows a law of this module, not one that was registered."""
    name = GENERAL if friction is None else friction.law or GENERAL
    return name in _OWN and LAWS.get(name) is _OWN[name]


def register_friction(name: str, law: Law) -> None:
    """Make a law known under a name that robots may use; a name in use is an error."""
    if name in LAWS and LAWS[name] is not law:
        raise RobotError(f"a friction law {name!r} exists already", advice="Choose another name.")
    LAWS[name] = law


def friction_laws() -> tuple[str, ...]:
    """Names of the laws known."""
    return tuple(LAWS)


def friction_torque(friction: Friction | None, rate: Scalar, where: str | None = None) -> Scalar:
    """What friction of one joint asks of its actuator."""
    if friction is None:
        return 0
    name = friction.law or GENERAL
    if name not in LAWS:
        raise unknown_name("friction law", name, LAWS, where=where)
    try:
        return add(LAWS[name](friction, rate), friction.offset)
    except PhysicsError as error:
        raise error if where is None else error.located(where) from None


def coefficients(friction: Friction | None) -> dict[str, Scalar]:
    """The coefficients in which friction is linear, by the names of the standard parameters.

    Fv, Fc; Fs, static friction beyond Fc, where there is any; Fvn, Fcn for qd < 0, where they differ.
    """
    law = friction or Friction()
    found = {"Fv": law.viscous, "Fc": law.coulomb}
    if not ops.is_zero(law.static):
        found["Fs"] = sub(law.static, law.coulomb)
    if law.law in ASYMMETRIC:
        back = _backwards(law)
        found |= {"Fvn": back.viscous, "Fcn": back.coulomb}
    return found


def with_coefficients(friction: Friction | None, values: Mapping[str, Scalar]) -> Friction:
    """The friction with other coefficients, all those of `coefficients`."""
    law = friction or Friction()
    static = add(values["Fc"], values["Fs"]) if "Fs" in values else law.static
    back = {"viscous_negative": values["Fvn"], "coulomb_negative": values["Fcn"]} if "Fvn" in values else {}
    return replace(law, viscous=values["Fv"], coulomb=values["Fc"], static=static, values={**law.values, **back})


def unit_torques(friction: Friction | None, rate: Scalar) -> dict[str, Scalar]:
    """Torques of coefficients that are 1 with all others 0, by name: columns of the regressor."""
    bare = replace(friction or Friction(), offset=0)
    nothing: dict[str, Scalar] = dict.fromkeys(coefficients(bare), 0)
    return {name: friction_torque(with_coefficients(bare, nothing | {name: 1}), rate) for name in nothing}


def require_linear(friction: Friction | None, where: str) -> None:
    """Raise NotApplicable if a law is not linear in the coefficients of its joint, or has others."""
    if friction is None or (is_own_law(friction) and friction.law != ROUNDED):
        return
    values = coefficients(friction)
    for rate in (-1.3, 0.2, 0.7):
        units, whole = unit_torques(friction, rate), friction_torque(replace(friction, offset=0), rate)
        parts = [float(mul(units[name], value)) for name, value in values.items()]
        if abs(sum(parts) - float(whole)) > 1e-9 * max(map(abs, [*parts, float(whole)])):
            raise NotApplicable(
                f"the friction law {friction.law!r} is not linear in its coefficients",
                where=where,
                expected="torques proportional to viscous and coulomb",
                advice='robot.without("friction_law") leaves it out.',
            )


def friction_torques(robot: Robot, qd: Scalars, carried: Scalars | None = None) -> list[Scalar]:
    """Friction of joints and motors, and the torque offsets. Khalil (7.26)-(7.28)

    carried: (n,) torques without friction, on which the friction of some joints depends: load |l| S more.
    """
    torques = list(map(add, joint_friction(robot, qd), motor_friction(robot, qd)))
    if carried is None:
        return torques
    losses = [mul(share, mul(l, ops.sign(l))) for share, l in zip(loss_shares(robot, qd), carried, strict=True)]
    return list(map(add, torques, losses))


def loss_shares(robot: Robot, qd: Scalars) -> list[Scalar]:
    """(n,) share of the size of the torque it carries that each joint loses to friction: load S."""
    return [
        mul(joint.friction.values["load"], rounded_sign(joint.friction, rate))
        if joint.friction is not None and has_load_friction(joint)
        else 0
        for joint, rate in zip(robot.joints, qd, strict=True)
    ]


def driving_torques(robot: Robot, qd: Scalars, tau: Scalars) -> list[Scalar]:
    """What friction leaves of the torques of the actuators.

    The l of tau = l + load |l| S + friction(qd): load |S| being below one, l has the sign of tau - friction.
    """
    left = [sub(torque, rubbing) for torque, rubbing in zip(tau, friction_torques(robot, qd), strict=True)]
    return [
        x if ops.is_zero(share) else div(x, add(1, mul(share, ops.sign(x))))
        for share, x in zip(loss_shares(robot, qd), left, strict=True)
    ]


def joint_friction(robot: Robot, qd: Scalars) -> list[Scalar]:
    """Friction of every joint, by its law."""
    return [
        friction_torque(joint.friction, rate, f"robot {robot.name!r}, joint {joint.name!r}")
        for joint, rate in zip(robot.joints, qd, strict=True)
    ]


def motor_friction(robot: Robot, rates: Scalars) -> list[Scalar]:
    """Friction of the motors, on the joints: with qd_m = K qd (Khalil (7.31)), K^T (Fv qd_m + Fc sign(qd_m)).

    rates: of the motors, seen at their joints (for a stiff transmission qd).
    """
    torques: list[Scalar] = [0] * robot.n
    motors = [joint.motor or Motor() for joint in robot.joints]
    if not any(map(_rubs, motors)):
        return torques
    for motor, ratios in zip(motors, inverse_rows(robot), strict=True):
        rate = ops.total(map(mul, ratios, rates))
        law = of_motor(motor)
        rubbing = LAWS[law.law or GENERAL](law, rate)
        torques = [add(torque, mul(ratio, rubbing)) for torque, ratio in zip(torques, ratios, strict=True)]
    return torques


def motors_with_friction(robot: Robot) -> list[int]:
    """Motors whose friction is a parameter beside the joints': those with any, and those that several joints turn."""
    shared = [sum(not (isinstance(k, int | float) and k == 0) for k in row) > 1 for row in inverse_rows(robot)]
    motors = [joint.motor or Motor() for joint in robot.joints]
    return [j for j in range(robot.n) if shared[j] or _rubs(motors[j])]


def _rubs(motor: Motor) -> bool:
    return not (ops.is_zero(motor.viscous) and ops.is_zero(motor.coulomb) and ops.is_zero(motor.width))


def of_motor(motor: Motor) -> Friction:
    """The friction of a motor, over its own rate."""
    law = "coulomb" if ops.is_zero(motor.width) else ROUNDED
    return Friction(motor.viscous, motor.coulomb, width=motor.width, law=law, values=motor.values)


__all__ = [
    "LAWS",
    "Law",
    "coefficients",
    "driving_torques",
    "friction_laws",
    "friction_torque",
    "friction_torques",
    "is_own_law",
    "joint_friction",
    "motor_friction",
    "motors_with_friction",
    "numbered",
    "of_motor",
    "register_friction",
    "require_linear",
    "unit_torques",
    "with_coefficients",
]
