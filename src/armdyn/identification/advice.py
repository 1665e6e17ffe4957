"""Findings on an estimate: poor excitation, poorly known or negative parameters, large or correlated residuals."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from scipy.special import ndtri

from armdyn.findings import Finding, listed
from armdyn.identification.fit.estimation import Estimate
from armdyn.identification.fit.observation import Observation
from armdyn.identification.fit.validation import Validation

POOR = 0.3
"""Relative standard deviation above which a parameter is poorly known."""
ILL = 300.0
"""Condition number of the regressor (columns scaled to length 1) above which the excitation is poor."""
FALSE_ALARM = 0.01
"""Probability that a parameter of a good log counts as negative."""
LARGE = 0.3
"""Relative error of a torque above which it is suspicious."""
CORRELATED = 1.0
"""Durbin-Watson statistic below which residuals are correlated: neighbouring samples by more than 1/2."""


def findings_on(
    observation: Observation, estimate: Estimate, tried: Validation, log: Sequence[Finding] = ()
) -> list[Finding]:
    """The findings on an estimate and its validation.

    log: those on its log, which explain large residuals
    """
    return [*_motion(observation, estimate), *_parameters(estimate), *_torques(tried, log)]


def _motion(observation: Observation, estimate: Estimate) -> Iterator[Finding]:
    names = np.array(estimate.names)
    if len(estimate.damped):
        lost = names[np.isinf(estimate.std)].tolist()
        yield Finding("damped", "suspicious", "motion", f"it does not determine {len(estimate.damped)} "
                      f"combinations of parameters; these were kept at their prior values: {listed(lost)}",
                      value=float(len(estimate.damped)), advice="Log a motion that excites them.")  # fmt: skip
        return
    condition = observation.condition(1 / np.maximum(estimate.sigma, 1e-300))
    if condition > ILL:
        yield Finding("condition", "suspicious", "motion", f"the condition number of the regressor is {condition:.3g}",
                      f"below {ILL:g}", condition, "", "joints that move little, slowly or in the same way",
                      "Log an exciting motion (`armdyn excite`).")  # fmt: skip


def _parameters(estimate: Estimate) -> Iterator[Finding]:
    names = np.array(estimate.names)
    kept = ~np.isin(names, estimate.left_out)
    poor = names[kept & (estimate.relative_std > POOR)].tolist()
    if poor:
        yield Finding("poorly-known", "note", "parameters", f"{len(poor)} have a standard deviation above {POOR:.0%} "
                      f"of their value: {listed(poor)}", value=float(len(poor)),
                      advice="They are small, or the motion hardly excites them.")  # fmt: skip
    yield from _negative(estimate)


def _negative(estimate: Estimate) -> Iterator[Finding]:
    """Friction and rotor inertias that are certainly negative."""
    positive = [i for i, name in enumerate(estimate.names) if name.startswith(("Fv", "Fc", "Ia"))]
    clear = -float(ndtri(FALSE_ALARM / max(len(positive), 1)))
    below = {estimate.names[i]: i for i in positive if estimate.values[i] < -clear * estimate.std[i]}
    expected = "friction and rotor inertia are not negative"
    for name, i in below.items():
        value, count = float(estimate.values[i]), f"{-estimate.values[i] / estimate.std[i]:.1f} standard deviations"
        viscous, coulomb = f"Fv{name[2:]}", f"Fc{name[2:]}"
        if name == coulomb and viscous in below:  # the check of the log tells signs too, unless other faults hide them
            yield Finding("negative", "suspicious", f"parameters {viscous}, {coulomb}", "both are negative, the second "
                          f"by {count}", expected, value, "", "the torques of this joint have the opposite sign",
                          "Correct other findings first, then look at the sign of these torques.")  # fmt: skip
        elif not (name == viscous and coulomb in below):
            # Rotors take up what friction leaves.
            yield Finding("negative", "note" if name.startswith("Ia") else "suspicious", f"parameter {name}",
                          f"it is negative by {count}", expected, value, "",
                          "friction that viscous and Coulomb terms do not describe",
                          "Look at the friction terms of the report; `--physical` keeps it positive.")  # fmt: skip


def _torques(tried: Validation, log: Sequence[Finding]) -> Iterator[Finding]:
    for joint, share in zip(tried.joints, tried.relative_error, strict=True):
        if share > LARGE:
            cause, advice = "noise, another friction law, or wrong geometry", "Plot the residual."
            if known := _explained(joint, tried.joints, log):
                cause, advice = f"a consequence of other findings: {listed(known)}", "Correct these first."
            yield Finding("large-residual", "suspicious", joint, f"the residual is {share:.0%} of the torque (rms)",
                          f"below {LARGE:.0%}", 100 * float(share), "%", cause, advice)  # fmt: skip
    alike = [joint for joint, watson in zip(tried.joints, tried.durbin_watson, strict=True) if watson < CORRELATED]
    if alike:
        worst = float(np.nanmin(tried.durbin_watson))
        yield Finding("not-white", "note", f"joints {listed(alike)}", "residuals are autocorrelated "
                      f"(Durbin-Watson down to {worst:.2f})", "near 2", worst, "", "unmodelled effects",
                      "Standard deviations account for it.")  # fmt: skip


def _explained(joint: str, joints: Sequence[str], log: Sequence[Finding]) -> list[str]:
    """Rules of suspicious findings on the log that concern a joint, or all joints."""
    places = [(finding.rule, set(finding.where.split(", "))) for finding in log if finding.severity != "note"]
    return list(dict.fromkeys(rule for rule, place in places if joint in place or not place & set(joints)))


__all__ = ["findings_on"]
