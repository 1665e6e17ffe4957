"""One module per formulation, one function per quantity, the same signature everywhere: see `registry`.

Around the rigid chain: friction, rotors, coupling, elastic joints, external wrenches, moving base, closed chains.
"""

from armdyn.mechanics import (
    articulated_body,
    bertrand_bruneau,
    closed_chain,
    composite_body,
    coupling,
    dalembert,
    elastic,
    external,
    forward,
    friction,
    gibbs_appell,
    gim_christoffel,
    kane,
    kinematics,
    kronecker,
    lagrange,
    lagrange_euler,
    moving_base,
    newton_euler,
    newton_euler_base,
    registry,
    rotors,
)

__all__ = [
    "articulated_body",
    "bertrand_bruneau",
    "closed_chain",
    "composite_body",
    "coupling",
    "dalembert",
    "elastic",
    "external",
    "forward",
    "friction",
    "gibbs_appell",
    "gim_christoffel",
    "kane",
    "kinematics",
    "kronecker",
    "lagrange",
    "lagrange_euler",
    "moving_base",
    "newton_euler",
    "newton_euler_base",
    "registry",
    "rotors",
]
