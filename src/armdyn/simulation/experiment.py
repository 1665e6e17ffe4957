"""An experiment as data: law, reference, plant, actuators, sensors, observers, solver and studies, in a TOML file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from armdyn.catalog.curves import CURVES
from armdyn.control.base import Law
from armdyn.control.named_laws import LAWS, law
from armdyn.dynamics import Dynamics
from armdyn.dynamics import compile as compiled_dynamics
from armdyn.errors import ArmdynError, FeatureError, unknown_name
from armdyn.files import write_text
from armdyn.formats.settings_file import keys_of, make_section, plain, section_record, section_template, toml_text
from armdyn.formats.text import read_text
from armdyn.formats.toml import toml_tables
from armdyn.robot import Robot
from armdyn.robot.limits import start_position
from armdyn.simulation.settings import TOOL, Actuation, Plant, Sensors, Solver
from armdyn.trajectory import point_to_point

USUAL_MOVE = {"revolute": 0.5, "prismatic": 0.1}
"""How far joints move where no motion is given, rad or m."""
USUAL_DURATION, SETTLING = 2.0, 1.25
"""Duration of a motion to a configuration, s, and how much longer it is simulated, to see the arm settle."""


@dataclass(frozen=True, kw_only=True)
class LawChoice:
    """The control law by name, with its gains, as in `armdyn.control.law`.

    name:  one of `armdyn.control.LAWS` (default: computed_torque).
    gains: by name; in a file they are further keys of the section.
    """

    name: str = "computed_torque"
    gains: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.name not in LAWS:
            raise unknown_name("control law", self.name, LAWS)
        for gain in self.gains:
            if gain not in LAWS[self.name].gains:
                raise unknown_name(f"gain of {self.name}", gain, LAWS[self.name].gains)

    def on(self, robot: Robot, plant: Plant, period: float | None = None) -> tuple[Law, Dynamics]:
        """The law for a robot, and the model it knows: without payload, and without what laws cannot know.

        period: control period for which gains are designed, s (default: the law acts continuously).

        Laws have no state for presliding friction, and all but elastic_pd are designed for rigid joints; the run's
        notes say what its law does not know.
        """
        beyond = ("presliding",) if self.name == "elastic_pd" else ("presliding", "elastic")
        model = compiled_dynamics(robot.without(*(name for name in beyond if name in robot.features)))
        gains = dict(self.gains)
        if self.name == "admittance" and any(push.frame == TOOL for push in plant.pushes):
            gains["force"] = _ForceSensor(plant)
        return law(self.name, model, period=period, **gains), model


class _ForceSensor(NamedTuple):
    """A force sensor at the tool: it measures what pushes there."""

    plant: Plant

    def __call__(self, t: float, q: Any, qd: Any) -> Any:
        assert self.plant.exerted is not None
        return self.plant.exerted(t, q, qd)[TOOL]


@dataclass(frozen=True, kw_only=True)
class ReferenceMotion:
    """The desired motion.

    motion:   where to: positions of the joints, rad or m, or the name of one of the robot's configurations; or a .csv
              file of `armdyn plan`; or a curve of a text, curve40 (El Baji) or swing (Truc) (default: every joint moves
              by 0.5 rad or 0.1 m). Laws in the task space move the tool on a straight line between the ends.
    start:    initial positions of the joints, rad or m, or the name of a configuration (default: the start of the
              reference).
    duration: s (default: that of the file or curve; to a configuration 2 s, simulated for 2.5 s).
    """

    motion: str | list[float] | None = None
    start: str | list[float] | None = None
    duration: float | None = None

    def __post_init__(self) -> None:
        if self.is_file:
            object.__setattr__(self, "motion", str(Path(str(self.motion)).absolute()))

    @property
    def is_file(self) -> bool:
        """Whether the motion is that of a file."""
        return isinstance(self.motion, str) and self.motion.lower().endswith(".csv")

    def on(self, robot: Robot, law: Law, model: Dynamics) -> dict[str, Any]:
        """The arguments reference, duration, q0 and qd0 of `simulate`."""
        q0 = None if self.start is None else _configuration(self.start, robot, "start")
        if not law.needs_reference:
            if self.motion is not None:
                raise ArmdynError(
                    f"a motion for {law.summary}",
                    where="reference, motion",
                    expected="none: this law follows no reference",
                )
            duration = getattr(law, "duration", USUAL_DURATION) if self.duration is None else self.duration
            return {"duration": duration, "q0": start_position(robot) if q0 is None else q0}
        found: dict[str, Any] = {"reference": None, "duration": self.duration, "q0": q0, "qd0": None}
        if self.is_file:
            from armdyn.trajectory import read_trajectory

            found["reference"] = read_trajectory(str(self.motion))
        elif isinstance(self.motion, str) and self.motion in CURVES:
            found |= self._curve(CURVES[self.motion], robot, q0)
        else:
            found |= self._move(robot, start_position(robot).tolist() if q0 is None else q0)
        if law.in_task_space:
            from armdyn.trajectory import line

            motion = found["reference"]
            start, goal = (model.pose(motion(t)) for t in (0.0, motion.duration))
            found["reference"] = line(start, goal, "quintic", duration=motion.duration)
            found["q0"] = motion(0.0) if found["q0"] is None else found["q0"]
        return found

    def _curve(self, curve: Any, robot: Robot, q0: Any) -> dict[str, Any]:
        if robot.name != curve.robot:
            raise ArmdynError(
                f"the robot is {robot.name}",
                where=f"reference, motion {self.motion!r}",
                expected=f"{curve.robot}, which the curve is for",
            )
        start = {} if curve.start is None else {"q0": curve.start[0] if q0 is None else q0, "qd0": curve.start[1]}
        return {"reference": curve.make(), **start}

    def _move(self, robot: Robot, begin: Any) -> dict[str, Any]:
        moves = [USUAL_MOVE[joint.kind] for joint in robot.joints]
        end = [x + move for x, move in zip(begin, moves, strict=True)]
        end = end if self.motion is None else _configuration(self.motion, robot, "motion")
        motion = point_to_point(begin, end, "quintic", duration=self.duration or USUAL_DURATION)
        return {"reference": motion, "q0": begin, "duration": self.duration or SETTLING * USUAL_DURATION}


def _configuration(given: str | Sequence[float], robot: Robot, key: str) -> list[float]:
    """Positions of the joints: numbers, or one of the robot's configurations."""
    where = f"reference, {key}"
    if isinstance(given, str):
        if given not in robot.configurations:
            raise unknown_name(
                "motion" if key == "motion" else "configuration",
                given,
                (*robot.configurations, *(CURVES if key == "motion" else ())),
                where=where,
            )
        given = robot.configuration(given).tolist()
    if len(given) != robot.n:
        raise ArmdynError(f"{len(given)} numbers", where=where, expected=f"{robot.n}, one per joint")
    return [float(x) for x in given]


@dataclass(frozen=True, kw_only=True)
class Observers:
    """Observers around the law.

    velocity: velocities come from an observer with poles at this frequency, rad/s; only positions are measured
              (default: 0, they are measured).
    contact:  contact torques come from a momentum observer with this filter, 1/s (default: 0, none).
    errors:   errors of the model for which the thresholds of contacts allow, as in {mass = 0.03}: see
              `parameter_errors` (default: its defaults).
    """

    velocity: float = 0.0
    contact: float = 0.0
    errors: Mapping[str, float] = field(default_factory=dict)

    def around(self, law: Law, model: Dynamics, robot: Robot) -> Law:
        """The law within the observers."""
        if self.errors and not self.contact:
            raise ArmdynError("errors of the model without contact", where="observers, errors", expected="contact = 50")
        if self.velocity:
            from armdyn.control.observer import VelocityObserver

            law = VelocityObserver(law, model, self.velocity)
        if self.contact:
            from armdyn.control.observer import MomentumObserver

            if "elastic" in robot.features:
                raise FeatureError(
                    "elastic joints",
                    where="observers, contact",
                    expected="rigid joints",
                    feature="elastic",
                    advice="The observer knows the momentum of a rigid arm.",
                )
            law = MomentumObserver(law, model, self.contact, errors=self.errors)
        return law


@dataclass(frozen=True, kw_only=True)
class Comparisons:
    """Further runs that are compared with the first.

    imperfect:   compare with computed torque whose model ignores the coupling of the joints (a diagonal mass matrix),
                 lacks Coriolis, gravity or friction, or has wrong masses (default: false).
    monte_carlo: number of arms with random errors of their parameters (default: 0).
    mass:        standard deviation of the logarithm of their factors on mass and inertia (default: 0.1).
    com:         standard deviation of the shift of their centres of mass, m (default: 0.02).
    friction:    standard deviation of the logarithm of their factors on friction (default: 0.3).
    seed:        of the random numbers (default: 0).
    """

    imperfect: bool = False
    monte_carlo: int = 0
    mass: float = 0.1
    com: float = 0.02
    friction: float = 0.3
    seed: int = 0


@dataclass(frozen=True, kw_only=True, eq=False)
class Experiment:
    """Everything that `simulate` needs besides the robot.

    law, reference, plant, actuation, sensors, observers, solver, study: sections of an experiment's file; each has
    defaults. Without sensors the law sees the exact state. file: where it was read from, for messages.

    >>> import armdyn
    >>> experiment = Experiment(law=LawChoice(name="pid"), reference=ReferenceMotion(motion=[0.5], duration=0.2))
    >>> armdyn.simulate(armdyn.load("pendulum"), experiment).ok
    True
    """

    law: LawChoice = LawChoice()
    reference: ReferenceMotion = ReferenceMotion()
    plant: Plant = Plant()
    actuation: Actuation = Actuation()
    sensors: Sensors | None = None
    observers: Observers = Observers()
    solver: Solver = Solver()
    study: Comparisons = Comparisons()
    file: str = ""

    def arguments(self, robot: Robot) -> dict[str, Any]:
        """The arguments of `simulate` for a robot."""
        plant = replace(self.plant, model=robot)
        try:
            law, model = self.law.on(robot, plant)
            motion = self.reference.on(robot, law, model)
            law = self.observers.around(law, model, robot)
        except ArmdynError as error:
            raise error.located(self.file) if self.file else error from None
        if model.robot is robot and not plant.payload:
            plant = replace(plant, model=model)  # one set of compiled functions for both
        return {
            "plant": plant,
            "law": law,
            **motion,
            "solver": self.solver,
            "actuation": self.actuation,
            "sensors": self.sensors,
        }

    # Files ------------------------------------------------------------------------------------------------------------

    @staticmethod
    def from_record(tables: Mapping[str, Any], where: str = "experiment") -> Experiment:
        """The experiment of tables by section; where: named in messages."""
        sections: dict[str, Any] = {}
        for name, table in tables.items():
            if name not in SECTIONS:
                raise unknown_name("section", name, SECTIONS, where=where)
            place = f"{where}, [{name}]"
            if name == "law" and isinstance(table, Mapping):  # its gains are keys like its name
                chosen = make_section(LawChoice, {key: value for key, value in table.items() if key == "name"}, place)
                try:
                    gains = {key: value for key, value in table.items() if key != "name"}
                    sections[name] = replace(chosen, gains=gains)
                except ArmdynError as error:
                    raise error.located(place) from None
            elif table:
                sections[name] = make_section(SECTIONS[name], table, place)
        return Experiment(**sections, file=where)

    @staticmethod
    def read(path: str | Path) -> Experiment:
        """The experiment of a TOML file; names of other files in it are relative to its folder."""
        tables, folder = toml_tables(read_text(Path(path)), str(path)), Path(path).parent
        for section, key in (("reference", "motion"), ("law", "file")):
            table = tables.get(section)
            name = table.get(key) if isinstance(table, dict) else None
            if isinstance(table, dict) and isinstance(name, str) and name.endswith(".csv"):
                table[key] = str(folder / name)
        return Experiment.from_record(tables, str(path))

    def record(self) -> dict[str, Any]:
        """What differs from the defaults, by section; ArmdynError if it is not numbers and texts."""
        sections = {name: getattr(self, name) for name in SECTIONS}
        found = {name: section_record(section, name) for name, section in sections.items() if section is not None}
        found["law"] = {"name": self.law.name, **plain(self.law.gains)}
        if self.sensors is not None and not found["sensors"]:
            found["sensors"] = {"seed": self.sensors.seed}  # perfect sensors: the law is sampled all the same
        return {name: table for name, table in found.items() if table}

    def changed(self, changes: Mapping[str, Any]) -> Experiment:
        """The experiment with other values by key, as in {"law.kp": 200}; another law starts without gains."""
        tables = self.record()
        for key, value in changes.items():
            section, _, name = key.partition(".")
            if section not in SECTIONS or not name:
                raise unknown_name("key", key, self.key_names(), where=self.file or "experiment")
            if key == "law.name" and value != self.law.name:
                tables["law"] = {}
            tables.setdefault(section, {})[name] = value
        return Experiment.from_record(tables, self.file or "experiment")

    @staticmethod
    def key_names() -> list[str]:
        """All keys by section, as in "solver.dt"; gains of the law, "law.kp", are further ones."""
        sections = {name: keys_of(kind) for name, kind in SECTIONS.items() if name != "law"}
        return ["law.name", *(f"{section}.{key}" for section, keys in sections.items() for key in keys)]

    def save(self, path: str | Path) -> Path:
        """Write the experiment as a TOML file; `Experiment.read` gives it back."""
        return write_text(path, toml_text(self.record()))

    @staticmethod
    def template() -> str:
        """A TOML file with all sections and keys, their meanings and defaults."""
        gains = [
            f"# {name}: {', '.join(gain for gain in entry.gains if gain != 'force') or 'no gains'}"
            for name, entry in LAWS.items()
        ]
        parts = [
            "# An experiment: armdyn simulate ROBOT EXPERIMENT.toml. Every key is optional.",
            "\n".join(
                [
                    "[law]",
                    "# Gains of the law are further keys. The laws and their gains:",
                    *gains,
                    'name = "computed_torque"',
                    "# kp = 400.0",
                ]
            ),
        ]
        return "\n\n".join([*parts, *(section_template(name, SECTIONS[name]) for name in SECTIONS if name != "law")])


SECTIONS: dict[str, Any] = {
    "law": LawChoice,
    "reference": ReferenceMotion,
    "plant": Plant,
    "actuation": Actuation,
    "sensors": Sensors,
    "observers": Observers,
    "solver": Solver,
    "study": Comparisons,
}
"""Sections of an experiment's file, in their order."""
