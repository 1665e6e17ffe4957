"""The conventions of armdyn, stated once: units, frames, signs, orders.

Units. SI; angles in radians. A suffix (`_deg`, `_ms`) appears only where a number enters or leaves.

Arrays. Joints in the order of `robot.joints` (movable joints only) on the last axis; leading axes broadcast.

Equation of motion. `tau = M(q) qdd + C(q, qd) qd + g(q) + friction(qd) + rotor terms + J(q)^T w`; `tau` is exerted
by the actuators on +q.

World, base, gravity. The robot stands in the world at its `base` pose (identity by default). Gravity is the
acceleration of free fall in world axes, (0, 0, -9.81) by default.

Poses. `T_ab` takes coordinates in frame b to frame a. Roll, pitch, yaw: `R = Rz(yaw) Ry(pitch) Rx(roll)`.

Denavit-Hartenberg. Standard: `Rz(theta) Tz(d) Tx(a) Rx(alpha)`, joint i moves about or along z of frame i-1.
Modified: `Rx(alpha) Tx(a) Rz(theta) Tz(d)`, joint j about z of frame j; on a branch `Rz(gamma) Tz(b)` stands in
front. In Khalil's letters our `a` is his d and our `d` is his r. The joint variable is added to theta (revolute) or
to d (prismatic).

Tip wrench. `w = (force, moment)` exerted by the robot on the environment, world axes, at the tool frame's origin.
Wrenches on other frames come as a mapping {frame name: (force, moment)}, each at the origin of its frame.

Jacobian. Six rows, linear first, then angular; world axes; at the origin of the given frame (the tool frame
by default). The tool frame is the frame of the last body (the last one that the last joint
moves) unless `tool` names another one.

Inertia. Given at the centre of mass in axes parallel to the body frame, or as (m, m c, I about the frame's origin).
Products of inertia are entries of the tensor: `I_xy = -integral of x y dm`.

Standard parameters per joint, in this order: see `STANDARD_PARAMETERS`. After those of all joints come, joint by joint,
the further ones that a joint has: of its motor, of its friction, of its spring.

Coriolis matrix. `C` is the matrix of Christoffel symbols, so that Mdot - 2C is skew-symmetric.
"""

from __future__ import annotations

GRAVITY = (0, 0, -9.81)
"""Default acceleration of free fall, m/s^2, world axes."""

STANDARD_PARAMETERS = (
    "XX",
    "XY",
    "XZ",
    "YY",
    "YZ",
    "ZZ",
    "MX",
    "MY",
    "MZ",
    "M",
    "Ia",
    "Fv",
    "Fc",
    "off",
)
"""Standard parameters of one joint: tensor about the joint frame's origin, first moments, mass, rotor inertia seen
at the joint, viscous and Coulomb friction, torque offset."""

MOTOR_PARAMETERS = ("Fvm", "Fcm")
"""Viscous and Coulomb friction of a motor, seen at its joint: ratio^2 and |ratio| times what they are at the motor.
Motors with friction of their own, or coupled to several joints, have them."""

FRICTION_PARAMETERS = ("Fs", "Fvn", "Fcn")
"""Further friction of a joint: static friction beyond Coulomb friction (at a known Stribeck velocity); viscous and
Coulomb friction for qd < 0 where they differ from those for qd > 0."""

SPRING_PARAMETERS = ("Ks", "Mc")
"""Stiffness of the spring across a joint (at a known rest position), and the mass that counterbalances of its link
carry (at a known point)."""

FURTHER_PARAMETERS = (*MOTOR_PARAMETERS, *FRICTION_PARAMETERS, *SPRING_PARAMETERS)
"""Standard parameters that only some joints have."""
