"""One module per formulation, one function per quantity, the same signature everywhere: see `registry`.

Around the rigid chain: friction, rotors, coupling, elastic joints, external wrenches, moving base, closed chains.
"""

from importlib import import_module

from armdyn.public import attach

attach(__name__)
import_module("armdyn.mechanics.registry")  # declares the features that the formulations take into account
