"""What is worth saying about an estimate: motions that tell little, parameters hardly known, torques not explained."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from armdyn.findings import Finding, listed
from armdyn.identification.estimation import Estimate
from armdyn.identification.observation import Observation
from armdyn.identification.validation import Validation

POOR = 0.3
"""Relative standard deviation from which on a parameter is called poorly known."""
ILL = 300.0
"""Condition number of the regressor (columns of length 1) from which on the motion is called poor."""
UNEXPLAINED = 0.3
"""Share of a torque left unexplained from which on it is doubted."""
CORRELATED = 1.0
"""Durbin-Watson figure below which residuals are called correlated: neighbours have a correlation above 1/2."""


def findings_on(observation: Observation, estimate: Estimate, tried: Validation) -> list[Finding]:
    """The findings on an estimate."""
    return [*_motion(observation, estimate), *_parameters(estimate), *_torques(tried)]


def _motion(observation: Observation, estimate: Estimate) -> Iterator[Finding]:
    names = np.array(estimate.names)
    if len(estimate.damped):
        lost = names[np.isinf(estimate.std)].tolist()
        yield Finding("damped", "suspicious", "motion", f"it does not tell {len(estimate.damped)} combinations of "
                      f"parameters; as they were before: {listed(lost)}", value=float(len(estimate.damped)),
                      advice="Log a motion that moves these joints.")  # fmt: skip
        return
    condition = observation.condition(1 / np.maximum(estimate.sigma, 1e-300))
    if condition > ILL:
        yield Finding("condition", "suspicious", "motion", f"the condition number of its regressor is {condition:.3g}",
                      f"below {ILL:g}", condition, "", "joints that move little, slowly or alike",
                      "Log an exciting motion.")  # fmt: skip


def _parameters(estimate: Estimate) -> Iterator[Finding]:
    names = np.array(estimate.names)
    kept = ~np.isin(names, estimate.left_out)
    poor = names[kept & (estimate.relative_std > POOR)].tolist()
    if poor:
        yield Finding("poorly-known", "note", "parameters", f"{len(poor)} have a standard deviation above {POOR:.0%} "
                      f"of their value: {listed(poor)}", value=float(len(poor)),
                      advice="They are small, or the motion hardly shows them.")  # fmt: skip
    for name, value, std in zip(names, estimate.values, estimate.std, strict=True):
        if name.startswith(("Fv", "Fc", "Ia")) and value < -2 * std:
            yield Finding("negative", "suspicious", f"parameter {name}", f"it is negative by {-value / std:.1f} "
                          "standard deviations", "friction and rotor inertia are not negative", float(value), "",
                          "the sign of a torque or position, or friction of another law",
                          "Look at the torques of this joint.")  # fmt: skip


def _torques(tried: Validation) -> Iterator[Finding]:
    for joint, share in zip(tried.joints, tried.relative_error, strict=True):
        if share > UNEXPLAINED:
            yield Finding("unexplained", "suspicious", f"joint {joint!r}",
                          f"the residual is {share:.0%} of the torque (rms)",
                          f"below {UNEXPLAINED:.0%}", float(share), "",
                          "noise, friction of another law, or the geometry", "Look at its residuals.")  # fmt: skip
    alike = [joint for joint, watson in zip(tried.joints, tried.durbin_watson, strict=True) if watson < CORRELATED]
    if alike:
        worst = float(np.nanmin(tried.durbin_watson))
        yield Finding("not-white", "note", f"joints {listed(alike)}", "residuals of neighbouring rows are alike "
                      f"(Durbin-Watson down to {worst:.2f})", "near 2", worst, "", "what the model does not know",
                      "Standard deviations allow for it.")  # fmt: skip


__all__ = ["findings_on"]
