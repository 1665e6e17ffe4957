"""A small network learns the friction of an arm from measured accelerations, through its dynamics. Needs torch."""

import numpy as np
import torch

import armdyn
import armdyn.torch

SAMPLES, STEPS = 500, 300


def main() -> None:
    rng = np.random.default_rng(0)
    torch.manual_seed(0)
    robot = armdyn.load("ur5")
    functions = armdyn.torch.wrap(armdyn.compile(robot.without("friction")))

    scale = torch.tensor([8.0, 8.0, 6.0, 1.0, 1.0, 0.5])  # Coulomb friction of each joint, N m

    def friction(qd: torch.Tensor) -> torch.Tensor:
        """What the real arm has and the model does not: Coulomb and viscous friction, N m."""
        return scale * (torch.tanh(qd / 0.3) + 0.5 * qd)

    q, qd, tau = (torch.tensor(x) for x in rng.normal(size=(3, SAMPLES, 6)))
    tau = functions.gravity(q) + scale * 5 * tau
    measured = functions.forward_dynamics(q, qd, tau - friction(qd))

    network = torch.nn.Sequential(torch.nn.Linear(1, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1)).double()
    optimiser = torch.optim.Adam(network.parameters(), lr=0.03)
    size = measured.std(0)
    for step in range(STEPS):
        learned = scale * network(qd[..., None])[..., 0]
        error = (functions.forward_dynamics(q, qd, tau - learned) - measured) / size
        loss = error.square().mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        if step % 100 == 0:
            print(f"step {step:4d}: error of accelerations {loss.item() ** 0.5:.4f} of their deviation")
    speeds = torch.linspace(-2, 2, 41, dtype=torch.float64)[:, None]
    left = (scale * network(speeds) - friction(speeds)).abs().max(0).values / scale
    print(f"error of friction: {left.max().item():.3f} of Coulomb friction")
    assert loss.item() ** 0.5 < 0.03


if __name__ == "__main__":
    main()
