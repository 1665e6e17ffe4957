"""One module per formulation, one function per quantity, the same signature everywhere: see `registry`."""

from armdyn.mechanics import (
    articulated_body,
    bertrand_bruneau,
    composite_body,
    dalembert,
    direct,
    gibbs_appell,
    gim_christoffel,
    kane,
    kinematics,
    kronecker,
    lagrange,
    lagrange_euler,
    newton_euler,
    newton_euler_base,
)

__all__ = [
    "articulated_body",
    "bertrand_bruneau",
    "composite_body",
    "dalembert",
    "direct",
    "gibbs_appell",
    "gim_christoffel",
    "kane",
    "kinematics",
    "kronecker",
    "lagrange",
    "lagrange_euler",
    "newton_euler",
    "newton_euler_base",
]
