"""Identify an arm from a log: design the motion, measure (here: simulate with noise), fit, validate."""

import sys
from pathlib import Path

import numpy as np

import armdyn
from armdyn.identification import ExcitationLimits, Harmonics, Search

OUT = Path(sys.argv[1] if len(sys.argv) > 1 else "out/examples")
OUT.mkdir(parents=True, exist_ok=True)

# The arm as designed, and the real arm with cables and undocumented friction.
table = [
    {"alpha": "pi/2", "mass": 3.0, "inertia": [0.02, 0, 0, 0.02, 0, 0.02]},
    {"a": 0.4, "mass": 2.5, "com": [-0.2, 0, 0], "inertia": [0.005, 0, 0, 0.035, 0, 0.035]},
    {"a": 0.3, "mass": 1.5, "com": [-0.15, 0, 0], "inertia": [0.002, 0, 0, 0.012, 0, 0.012]},
]
drawings = armdyn.Robot.from_dh(table, name="drawings")
real = [dict(row, mass=1.1 * row["mass"], friction={"viscous": 0.4, "coulomb": 0.6}) for row in table]
arm = armdyn.compile(armdyn.Robot.from_dh(real, name="arm").with_payload(0.3))

# A motion that excites the parameters: a Fourier series within limits, optimised.
sought = ("inertial", "friction")
design = armdyn.excite(
    drawings,
    include=sought,
    harmonics=Harmonics(count=4, period=6.0),
    search=Search(starts=1, iterations=40),
    limits=ExcitationLimits(v_max=3, a_max=12),
)
print(design)

# The log: positions and torques at 500 Hz, with the noise of encoders and current sensors.
rng = np.random.default_rng(0)
t = np.arange(0, 12.0, 0.002)
states = [design.repeated(2)(t, order) for order in range(3)]
tau = arm.inverse_dynamics(*states) + 0.05 * rng.standard_normal((len(t), 3))
log = {"t": t, "q": states[0] + 1e-5 * rng.standard_normal((len(t), 3)), "tau": tau}

# Two thirds of the log are for the fit, the last third for validation.
fit = armdyn.identify(drawings, log, validation=0.33, include=sought)
print(fit)

# The truth is known here: the errors of the parameters in standard deviations.
truth = armdyn.base_parameters(arm.robot, sought)
true = dict(zip(truth.names, truth.values, strict=True))
off = {name: abs(fit.parameters[name] - true[name]) / std for name, std in fit.std.items() if 0 < std < np.inf}
print(f"largest error: {max(off.values()):.1f} standard deviations; rms residual: {fit.validation.rms.round(3)} N m")
assert fit.validation.rms.max() < 0.06  # not more than the noise that was added
fit.save(OUT / "identified.toml")
print("friction found, N m:", {name: round(value, 3) for name, value in fit.parameters.items() if "Fc" in name})
