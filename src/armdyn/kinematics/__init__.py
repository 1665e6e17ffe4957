"""Kinematics: inverse kinematics (closed form and numeric), reach, rotations, and the rows of a task."""

from armdyn.public import attach

attach(__name__)
