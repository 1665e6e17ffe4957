"""Estimation joint by joint, from the outermost to the base. Siciliano sec. 7.4"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from armdyn.errors import ArmdynError
from armdyn.identification.estimation import RANK, Estimate, Estimator, narrowed
from armdyn.identification.observation import Observation


@dataclass(frozen=True, kw_only=True)
class Sequential(Estimator):
    """Joint by joint, from the outermost to the base. Siciliano sec. 7.4

    The torques of a joint give the parameters that no joint further out gave; those already known are subtracted.
    Where one joint does not determine its parameters, the next joint's torques are added. Errors pass on to the joints
    further in and are part of the covariance. A global estimate is better; this one needs motion of few joints at a
    time.
    """

    def __call__(self, observation: Observation) -> Estimate:
        p, sigma = observation.count, np.zeros(observation.n)
        values, root = np.zeros(p), np.zeros((p, 0))
        known, pool, steps = np.zeros(p, dtype=bool), [], []
        times = np.ones(observation.n)
        for j in reversed(range(observation.n)):
            pool.append(j)
            new = observation.active[pool].any(axis=0) & ~known
            part = observation.factors[pool].reshape(-1, p + 1)
            A, y = part[:, :-1][:, new], part[:, -1] - part[:, :-1][:, known] @ values[known]
            lengths = np.linalg.norm(A, axis=0)
            singular = np.linalg.svd(A / lengths, compute_uv=False)
            determined = not new.any() or (len(singular) == new.sum() and singular[-1] > RANK * singular[0])
            if not determined and j > 0:
                continue
            if not determined:
                raise ArmdynError(f"the torques of joints {_numbers(pool)} do not determine their {int(new.sum())} "
                                  "parameters", where="sequential", advice="Use method='weighted'.")  # fmt: skip
            inverse = np.linalg.pinv(A / lengths) / lengths[:, None] if new.any() else A.T
            values[new] = inverse @ y
            free = max(int(observation.counts[pool].sum()) - int(new.sum()), 1)
            sigma[pool] = np.linalg.norm(y - A @ values[new]) / np.sqrt(free)
            times[pool] = self.times(observation.residuals(values)[:, pool]).max()
            passing = -inverse @ part[:, :-1][:, known]  # d new / d known
            noise = np.zeros((p, len(y)))
            noise[new] = sigma[j] * np.sqrt(times[j]) * inverse
            root[new] = passing @ root[known]
            root = narrowed(np.hstack([root, noise]))
            steps.append(f"joint {_numbers(pool)}: {int(new.sum())} parameters")
            known, pool = known | new, []
        return Estimate(observation.base.names, values, root, sigma, times, observation.counts, "sequential",
                        notes=(f"Order of estimation: {'; '.join(steps)}.",))  # fmt: skip


def _numbers(joints: Sequence[int]) -> str:
    return ", ".join(str(j + 1) for j in joints)


__all__ = ["Sequential"]
