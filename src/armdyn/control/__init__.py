"""Control laws: frozen objects; `law(t, q, qd, desired)` returns the torques.

By name, with gains that have defaults or follow from a design: `law(name, dyn, ...)`.

Joint space: PID, PDGravity (PD with gravity compensation), ComputedTorque, Feedforward, SlidingMode, RobustPassivity,
SlotineLi (adaptive). Elastic joints: ElasticPD, and their frequencies, `resonances` and `resonance_range`. Task space:
TaskPID, ResolvedAcceleration (computed torque), OperationalSpace, Impedance, Admittance. Around another law:
MomentumObserver (contact detection), VelocityObserver. Without a reference: FunctionLaw, TorqueTable, NoControl.
Poles and bandwidth of gains: `analyse_gains`. Errors of a model's parameters: `parameter_errors`, `identified_errors`.
"""

from armdyn.public import attach

attach(__name__)
