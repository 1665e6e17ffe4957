"""What is noticed about a fit: joints that are predicted badly, what the log does not tell, invalid bodies."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from armdyn.findings import Finding, listed

if TYPE_CHECKING:
    from armdyn.identification.fit.identify import Fit


@dataclass(frozen=True)
class FindingSettings:
    """Limits of findings on a fit.

    error: relative error of a torque above which it is suspicious: a joint that a third of its torque is wrong of.
    untold: share of a parameter's variance before the log above which the log does not tell it.
    """

    error: float = 0.3
    untold: float = 0.5


FINDINGS = FindingSettings()


def findings_on_fit(fit: Fit, on_log: Sequence[Finding]) -> Iterator[Finding]:
    """The findings on a fit. on_log: those on its log, which explain large residuals."""
    yield from _residuals(fit, on_log)
    yield from _untold(fit)
    yield from _bands(fit)
    yield from _lag(fit)
    for each in fit.files[:1]:
        for finding in each.checkup.findings:
            if finding.invalid:
                yield replace(finding, advice=f"{finding.advice} Leave out the free estimate.".strip())


def _residuals(fit: Fit, on_log: Sequence[Finding]) -> Iterator[Finding]:
    tried = fit.validation
    for joint, share in zip(tried.joints, tried.relative_error, strict=True):
        if share > FINDINGS.error:
            cause, advice = "noise, another friction law, or wrong geometry", "Look at the residual in the report."
            places = [(f.rule, set(f.where.split(", "))) for f in on_log if f.severity != "note"]
            known = [rule for rule, place in places if joint in place or not place & set(tried.joints)]
            if known:
                cause, advice = (
                    f"a consequence of other findings: {listed(list(dict.fromkeys(known)))}",
                    "Correct these first.",
                )
            yield Finding(
                "large-residual",
                "suspicious",
                joint,
                f"the residual is {share:.0%} of the torque (rms)",
                f"below {FINDINGS.error:.0%}",
                100 * float(share),
                "%",
                cause,
                advice,
            )


def _untold(fit: Fit) -> Iterator[Finding]:
    """Parameters that the log does not tell."""
    if fit.model is None:
        lost = [name for name, std in fit.std.items() if np.isinf(std)]
    else:
        lost = [name for name, share in fit.model.informed.items() if share > FINDINGS.untold]
    if lost:
        lost.sort(key=lambda name: name.rstrip("0123456789") not in ("M", "Ia", "Fv", "Fc", "off"))
        yield Finding(
            "untold",
            "note",
            "parameters",
            f"the log does not tell {len(lost)} of "
            f"{len(fit.base.standard)}: {listed(lost)}; they keep the values of the model",
            value=float(len(lost)),
            advice="Torques on other motions may depend on them.",
        )


def _bands(fit: Fit) -> Iterator[Finding]:
    if fit.model is None:
        return
    for j, why in fit.model.band.missing.items():
        yield Finding(
            "no-band",
            "note",
            fit.validation.joints[j],
            f"no band of its torque is given: {why}",
            advice="Log a longer motion in both directions.",
        )


def _lag(fit: Fit) -> Iterator[Finding]:
    if fit.model is None or not fit.model.lag:
        return
    times = 1e3 * np.array(list(fit.model.lag.values()))
    yield Finding(
        "lag",
        "note",
        listed([fit.validation.joints[j] for j in fit.model.lag]),
        f"the torques lag behind the motion, by {times.min():.2g} to {times.max():.2g} ms; inertias and friction of "
        "the delivered robot take this up, and their error bars say by how much",
        value=float(np.median(times)),
        unit="ms",
        cause="torques that the drive smooths before it reports them, or clocks that differ",
        advice="Log torques and positions with the same delay.",
    )


__all__ = ["findings_on_fit"]
