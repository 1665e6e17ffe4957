"""Torques that bring an arm to a target, found by gradients through its simulation. Needs jax."""

import time

import jax
import jax.numpy as jnp
import numpy as np
from scipy.optimize import minimize

import armdyn
import armdyn.jax

STEPS, DT = 100, 0.005


def main() -> None:
    jax.config.update("jax_enable_x64", True)
    dyn = armdyn.compile(armdyn.load("ur5"))
    functions = armdyn.jax.wrap(dyn)
    scale = np.diag(dyn.mass_matrix(np.zeros(6)))  # torques of joints differ by orders of magnitude
    start, goal = jnp.zeros(6), jnp.array([0.3, -0.5, 0.4, 0.2, 0.0, 0.1])

    def end(torques: jax.Array) -> tuple[jax.Array, jax.Array]:
        """Where the arm is after torques (STEPS, 6) on top of gravity compensation."""

        def step(state: tuple[jax.Array, jax.Array], u: jax.Array) -> tuple[tuple[jax.Array, jax.Array], None]:
            q, qd = state
            qd = qd + DT * functions.forward_dynamics(q, qd, functions.gravity(q) + u)
            return (q + DT * qd, qd), None

        return jax.lax.scan(step, (start, jnp.zeros(6)), torques)[0]

    @jax.jit
    @jax.value_and_grad
    def cost(flat: jax.Array) -> jax.Array:
        q, qd = end(scale * flat.reshape(STEPS, 6))
        return ((q - goal) ** 2).sum() + 0.1 * (qd**2).sum() + 1e-7 * (flat**2).sum()

    begin = time.perf_counter()
    found = minimize(lambda u: tuple(map(np.asarray, cost(u))), np.zeros(6 * STEPS), jac=True, method="L-BFGS-B",
                     options={"maxiter": 500, "ftol": 1e-12, "gtol": 1e-8})  # fmt: skip
    q, qd = end(scale * found.x.reshape(STEPS, 6))
    print(f"{found.nfev} gradients of {STEPS} steps in {time.perf_counter() - begin:.1f} s")
    print(
        f"distance to the target {float(jnp.abs(q - goal).max()):.4f} rad, speed {float(jnp.abs(qd).max()):.3f} rad/s"
    )
    assert jnp.abs(q - goal).max() < 0.02
    assert jnp.abs(qd).max() < 0.1


if __name__ == "__main__":
    main()
