"""What only the public bridges `armdyn.casadi`, `armdyn.jax` and `armdyn.torch` need."""
