"""The chapters of a study in the order in which they are read. A new chapter is a function and a line here."""

from __future__ import annotations

from collections.abc import Callable

from armdyn.report.chapters.abilities_chapter import abilities
from armdyn.report.chapters.chapter import ReportChapter
from armdyn.report.chapters.code_chapter import code
from armdyn.report.chapters.conventions_chapter import conventions_used
from armdyn.report.chapters.equations_chapter import base, certificate, equations, formulations
from armdyn.report.chapters.kernels_chapter import kernels
from armdyn.report.chapters.motion_chapter import actuators, motion
from armdyn.report.chapters.references_chapter import references_used
from armdyn.report.chapters.robot_chapter import checkup, geometry, parameters
from armdyn.report.chapters.subject import Subject
from armdyn.report.chapters.tracking_chapter import tracking

CHAPTERS: dict[str, Callable[[Subject], ReportChapter]] = {
    "Check-up": checkup,
    "Geometry": geometry,
    "Parameters": parameters,
    "Equations of motion": equations,
    "Certificate": certificate,
    "Formulations": formulations,
    "Base parameters": base,
    "Compiled functions": kernels,
    "Motion and torques": motion,
    "Actuators": actuators,
    "Tracking under control": tracking,
    "Velocity, force and acceleration ellipsoids": abilities,
    "Exported code": code,
    "Conventions": conventions_used,
    "References": references_used,
}
