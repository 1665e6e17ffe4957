"""Dynamics of motion: torques along a trajectory, feasibility, scaling, the fastest timing, sizing of actuators."""

from armdyn.public import attach

attach(__name__)
