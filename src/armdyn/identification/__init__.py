"""Identification: from a log of a robot's motion to its parameters (Khalil sec. 7.3.3 f, Siciliano sec. 7.4).

log --read_log--> Log --process--> Samples --TorqueRows--> Problem --> TorqueModel --> Fit; `identify` does it all.
Before it: `excite`, the motion to log. After it: `payload`, `stiffness`, `robust_timing`.
"""

from armdyn.public import attach

attach(__name__)
