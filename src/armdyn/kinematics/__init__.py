"""Inverse kinematics (closed form and numeric), rotations, and the rows of a task."""
