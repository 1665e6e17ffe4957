"""Dynamics: all functions of a robot, compiled when they are first used."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cached_property, partial
from math import isfinite
from types import MappingProxyType
from typing import Any, NoReturn

import numpy as np

from armdyn.algebra import ZERO
from armdyn.dynamics.derived_graphs import derived
from armdyn.dynamics.following import followed
from armdyn.dynamics.graphs import Derived, GraphMaker, Near, Source, SymbolicSource, Variant, parameterless
from armdyn.dynamics.looped.choice import worth_looping
from armdyn.dynamics.looped.robots import can_be_looped
from armdyn.dynamics.program_cache import ProgramCache
from armdyn.dynamics.programs import COMPOSED, LOADED, concatenated, finite, program
from armdyn.dynamics.quantities import QUANTITIES, RARE, Definition, Quantities
from armdyn.errors import ArmdynError, FeatureError, NotApplicable, PhysicsError, RobotError, ShapeError, unknown_name
from armdyn.graph import Graph, Operations
from armdyn.kernels import Composite, Kernel, Program
from armdyn.kernels.collector import collector_paused
from armdyn.mechanics.dependent_joints import dependent_joints
from armdyn.mechanics.moving_axes import coordinates_of
from armdyn.notebook_view import Shown, View, rows_of
from armdyn.parameters import parameter_names, standard_parameters
from armdyn.robot import Robot
from armdyn.robot.coordinates import Coordinates, coordinates
from armdyn.robot.features import CLOSED, FREE, FRICTIONLESS, SUPPORT, require, takes
from armdyn.tables import Column, Section
from armdyn.typing import Floats as Array

OPTIONS = ("out", "threads")
LONG = 10
"""Joints beyond which the derivatives of forward dynamics are composed of other functions, and counting takes time."""
ANOTHER_MODE = 1e-6
"""A joint this far from where it should be, rad or m, belongs to another assembly mode."""
_MAKING = threading.RLock()
"""Held while a graph is traced or compiled: threads that use a function for the first time together make it once."""


class Dynamics(Shown, Quantities):
    """The dynamics of one robot as fast functions of arrays. Made by `armdyn.compile`.

    Joint vectors are (..., n) in the order of `robot.joints`; leading axes broadcast. Every function is compiled at its
    first use and takes `out` and `threads` by keyword (see `Quantities`). Signs, frames and units:
    `armdyn.conventions`.

    For a robot with elastic joints, n counts the coordinates x = (q, theta): all joints, then the motors of the elastic
    ones, seen at their joints; names and places are in `coordinates`. Torques have one entry per coordinate too: those
    of the motors stand at `coordinates.motors`, those on the link side of elastic joints are zero unless something else
    acts on the links.

    A wrong shape is always an error. NaN or infinity in a batch or a list is an error if a result depends on it. A call
    with single float arrays goes straight to machine code and answers NaN with NaN in every result that depends on it.
    Results that do not depend on it (gravity torques on a first joint with a vertical axis, for example) stay numbers.
    A configuration at which a loop cannot be closed is a PhysicsError, with the loop, in every call.
    After `compile(robot, checked=True)` every input of every call is looked at, at a few microseconds a call.
    """

    robot: Robot
    cache: bool
    checked: bool
    _programs: dict[str, Program]
    _graphs: dict[tuple[str, Variant | Near | Derived | None, bool], Graph]

    def __init__(self, robot: Robot, *, cache: bool = True, checked: bool = False) -> None:
        self.__dict__.update({"robot": robot, "cache": cache, "checked": checked, "_programs": {}, "_graphs": {}})

    # What is known about them --------------------------------------------------------------------------------------

    @property
    def n(self) -> int:
        """Number of coordinates: joints, and motors of elastic joints."""
        return self.coordinates.size

    @cached_property
    def coordinates(self) -> Coordinates:
        """Their names, `coordinates.names`, and the places of the motors among them, `coordinates.motors`."""
        return coordinates(self.robot)

    @property
    def parameter_names(self) -> tuple[str, ...]:
        """Names of the columns of the regressor, joint by joint: XX1 ... off1, XX2 ..."""
        return parameter_names(self.robot.opened)

    @property
    def parameters(self) -> Array:
        """(p,) standard parameters of the robot, in the order of `parameter_names`."""
        return self._parameters.copy()

    @cached_property
    def _parameters(self) -> Array:
        """Read off the robot once: laws ask in every control period."""
        return standard_parameters(self.robot.opened).array()

    @property
    def programs(self) -> Mapping[str, Program]:
        """What has been compiled so far, by function name (and variant)."""
        return MappingProxyType(self._programs)

    def graph(self, name: str, variant: Variant | Near | Derived | None = None, *, parameters: bool = False) -> Graph:
        """The expression graph of a function, its results named as in `QUANTITIES`.

        name: of the function.
        variant: "wrench", a tuple of frames that carry wrenches (inputs wrench1, wrench2, ...), or the name of a frame.
        parameters: keep the named parameters of the robot's file as symbols (default: their values).
        """
        definition = self._definition(name)
        key = name, variant, parameters
        with _MAKING:
            if key not in self._graphs and isinstance(variant, Derived):
                self._graphs[key] = derived(self.graph(name, variant.other, parameters=parameters), variant.order)
            if key not in self._graphs:
                made = self._maker(definition)(self._source(parameters), definition.inputs, variant)
                self._graphs[key] = made.renamed(definition.results)
            return self._graphs[key]

    def _maker(self, definition: Definition) -> GraphMaker:
        if self.robot.constrained:
            return definition.closed
        return definition.elastic.graph if self.coordinates.doubled else definition.graph

    def view(self, name: str, *, parameters: bool = False) -> Robot:
        """The robot, in numbers, in whose frames and with whose parameters the graph of a function is written."""
        definition, views = self._definition(name), self._source(parameters).tree.views
        view = (views.places if definition.optional == "frame" else views.torques).bound()
        return view if definition.gravity else replace(view, gravity=ZERO)

    def _definition(self, name: str) -> Definition:
        if name not in QUANTITIES:
            raise unknown_name("function", name, QUANTITIES, where=f"dynamics of {self.robot.name!r}")
        require(self.robot, f"dynamics.{name}", SUPPORT[f"dynamics.{name}"])
        return QUANTITIES[name]

    def _source(self, parameters: bool = False) -> Source:
        return self._symbolic_source if parameters else self._numeric_source

    @cached_property
    def _numeric_source(self) -> Source:
        return Source(self.robot)

    @cached_property
    def _symbolic_source(self) -> Source:
        return SymbolicSource(self.robot)

    def operations(self, name: str, variant: Variant | Near | None = None) -> Operations:
        """Operations of one call of a function."""
        return self.graph(name, variant).operations

    def program(self, name: str, variant: Variant | Near | Derived | None = None) -> Program:
        """The compiled function behind a name: a Kernel, with signature, operations, compile time and source."""
        label = self._definition(name).name + " near" * isinstance(variant, Near)
        if isinstance(variant, Derived):
            label += f" derivative {variant.order}"
        other = variant.other if isinstance(variant, Near | Derived) else variant
        if other is not None:
            label += f"({other})" if isinstance(other, str) else f"(wrench on {', '.join(other)})"
        with _MAKING:
            if label not in self._programs:
                with collector_paused():
                    self._programs[label] = self._made(name, variant, label)
        return self._programs[label]

    def _made(self, name: str, variant: Variant | Near | Derived | None, label: str) -> Program:
        if name in COMPOSED and self.n > LONG and variant is None:
            composition = COMPOSED[name]
            return Composite(tuple(map(self.program, composition.parts)), composition.combine)
        if self.cache:
            found = self._cache.find(name, variant, label, lambda: self.graph(name, variant))
            if found is not None:
                return found
        made = self._with_wrench(name, variant) if name in LOADED and variant else self._looped(name, variant)
        if made is None:
            made = program(self.graph(name, variant), label, cache=self.cache)
            if self.cache:
                self._cache.keep(name, variant, made)
        return made

    def _looped(self, name: str, variant: Variant | Near | Derived | None = None) -> Program | None:
        """Code with loops over the links, where there is such code and it is the better choice."""
        if variant is not None or not can_be_looped(self.robot, name):
            return None
        if not (self.cache and self._cache.is_looped(name)):
            if not worth_looping(name, self.robot, lambda: self.operations("inverse_dynamics").total):
                return None
            if self.cache:
                self._cache.keep_looped(name)
        from armdyn.dynamics.looped.tables import looped  # recipes: not loaded for straight-line code

        return looped(self.robot, name, cache=self.cache)

    def _with_wrench(self, name: str, variant: Variant | Near | Derived) -> Program | None:
        """Inverse or forward dynamics with wrenches, where without them they are looped: J^T w comes apart."""
        if isinstance(variant, Near | Derived):
            return None
        core = self._looped(name)
        if core is None:
            return None
        frames = variant if isinstance(variant, tuple) else ("tool",)
        jacobians = tuple(self.program("jacobian", None if frame == "tool" else frame) for frame in frames)
        return Composite((core, *jacobians), LOADED[name])

    @cached_property
    def _cache(self) -> ProgramCache:
        return ProgramCache(self.robot)

    def _function(self, definition: Definition) -> Callable[..., Any]:
        """What a name of this object is bound to: machine code, with a Python function for all but the plain call."""
        main = self.program(definition.name)
        function = Function(self, definition, _checking(self, definition, main))
        return _quick(self, main, function, definition)

    # A frozen object -----------------------------------------------------------------------------------------------

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"Dynamics is frozen: cannot set {name!r}. Compile a changed robot instead.")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"Dynamics is frozen: cannot delete {name!r}.")

    def __copy__(self) -> Dynamics:
        return self

    def __deepcopy__(self, memo: object) -> Dynamics:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        """Robot and options travel, machine code does not: it is made again, or taken from the cache."""
        return partial(Dynamics, cache=self.cache, checked=self.checked), (self.robot,)

    def __dir__(self) -> list[str]:
        return sorted({*object.__dir__(self), *QUANTITIES})

    def __repr__(self) -> str:
        return f"<Dynamics of {self.robot.name!r}: {self.n} joints, {len(self._programs)} functions compiled>"

    def _view(self) -> View:
        taken = [(name, row) for name, row in QUANTITIES.items() if set(self.robot.features) <= row.takes]
        done = {name.partition("(")[0] for name in self._programs}
        rows = rows_of(
            (name, ", ".join(row.inputs), "yes" if name in done else "at first use", row.what) for name, row in taken
        )
        columns = (Column("function"), Column("arguments"), Column("compiled"), Column("gives", folds=True))
        facts = [
            ("joints", f"{self.n}"),
            ("functions", f"{len(taken)}, {len(self._programs)} compiled so far"),
            ("arrays", "(..., n): one state or a batch"),
        ]
        return View(f"Dynamics of {self.robot.name}", None, facts, details=(Section("Functions", columns, rows),))

    def __str__(self) -> str:
        """A table of the functions; operations are counted where that is fast or already done."""
        lines = [f"Dynamics of {self.robot.name}: {self.n} joints", f"{'function':<46}{'x':>6}{'+':>7}  code"]
        known = {name.partition("(")[0] for name in self._programs}
        extra = [name for name in self._programs if name not in QUANTITIES]
        taken = [name for name, row in QUANTITIES.items() if set(self.robot.features) <= row.takes]
        for name in (*taken, *extra):
            made = self._programs.get(name)
            label = name if name in extra else f"{name}({', '.join(QUANTITIES[name].inputs)})"
            if made is None and name not in known and (self.n > LONG or name in RARE):
                lines.append(f"{label:<46}  at first use")
                continue
            count = self.operations(name) if made is None else made.operations
            code = "at first use" if made is None else _how(made)
            lines.append(f"{label:<46}{count.multiplications:>6}{count.additions:>7}  {code}")
        return "\n".join(lines)


@takes(*CLOSED, "elastic", *FRICTIONLESS, *FREE)
def compile(robot: Robot, *, cache: bool = True, checked: bool = False) -> Dynamics:
    """The robot's dynamics as machine code; each function is compiled at its first use.

    robot: with at least one movable joint.
    cache: keep machine code on disk for the next time.
    checked: look for NaN and infinity in every call, at a few microseconds a call.

    Raises ArmdynError for a robot without movable joints or with symbols that have no value.

    >>> import armdyn
    >>> dyn = armdyn.compile(armdyn.load("pendulum"))
    >>> dyn.gravity([0.0]).shape
    (1,)
    """
    if robot.n == 0:
        raise RobotError("the robot has no movable joint", where=f"robot {robot.name!r}", expected="at least one")
    if (robot.constrained or robot.compounds) and coordinates(robot).doubled:
        raise FeatureError(
            "elastic joints together with closed loops, mimic, free or ball joints",
            where=f"robot {robot.name!r}",
            expected="one of them",
            advice='robot.without("elastic") has rigid joints.',
            feature="elastic",
            joints=robot.features["elastic"],
        )
    if (robot.constrained or coordinates(robot).doubled) and "load_friction" in robot.features:
        raise FeatureError(
            "friction that grows with the load together with elastic joints, closed loops or mimic joints",
            where=f"robot {robot.name!r}",
            expected="one of them",
            feature="load_friction",
            advice='robot.without("load_friction") leaves it out.',
            joints=robot.features["load_friction"],
        )
    return Dynamics(parameterless(robot), cache=cache, checked=checked)


# Calls that are more than single arrays ------------------------------------------------------------------------------


class Function:
    """One function of a Dynamics, for any call: arguments by name, wrench or frame, out, threads.

    Plain calls with single arrays do not come here if there is machine code: see `kernels.call.single`.
    """

    def __init__(self, dynamics: Dynamics, definition: Definition, plain: Callable[..., Any]) -> None:
        self.dynamics, self.definition, self.plain = dynamics, definition, plain
        self.count = len(definition.inputs)
        self.variants: dict[Variant | Near, Callable[..., Any]] = {"tool": plain}

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        if not named and len(arguments) == self.count:
            return self.plain(*arguments)
        options = {key: named.pop(key) for key in OPTIONS if key in named}
        near = (named.pop("near"),) if self.dynamics.robot.constrained and "near" in named else ()
        where = f"{self.definition.name} of robot {self.dynamics.robot.name!r}"
        values, choice = self.definition.in_order(arguments, named, where, self.definition.optional, ", ".join(OPTIONS))
        variant, frames, wrenches = _variant(self.definition, choice)
        if near:
            if self.dynamics.robot.compounds:
                raise FeatureError(
                    "near= for a robot with free or ball joints",
                    feature="free_joints",
                    where=f"robot {self.dynamics.robot.name!r}",
                    expected="loops in the assembly mode of the file",
                )
            if isinstance(near[0], str):
                near = (followed(self.dynamics, values[self.definition.inputs.index("q")], near[0]),)
            _must_be_of_this_mode(self.dynamics.robot, near[0])
            return self.variant(Near(variant), *frames)(*values, *wrenches, *near, **options)
        if variant is None:
            return self.plain(*values, **options)
        return self.variant(variant, *frames)(*values, *wrenches, **options)

    def variant(self, choice: Variant | Near, *frames: str) -> Callable[..., Any]:
        """The function with a wrench, with wrenches on frames, of another frame than the tool, or with a start."""
        if choice not in self.variants:
            for frame in frames:
                self.dynamics.robot.opened.frame(frame)  # an unknown one is an error that lists the others
            made = self.dynamics.program(self.definition.name, choice)
            checking = _checking(self.dynamics, self.definition, made, choice)
            self.variants[choice] = _quick(self.dynamics, made, checking, self.definition)
        return self.variants[choice]


def _must_be_of_this_mode(robot: Robot, near: Any) -> None:
    """Raise NotApplicable if joints that follow at constant rates do not do so in these configurations (..., all).

    A parallelogram is solved as one. The way in which it is crossed is another mechanism.
    """
    chain, q = dependent_joints(robot), np.asarray(near, dtype=float)
    for k, line in chain.linear.items():
        gap = q[..., k] - q[..., chain.independent] @ np.array(line.rates, dtype=float) - float(line.constant)
        gap = np.sin(gap / 2) if chain.tree.links[k].revolute else gap
        if np.abs(gap).max(initial=0.0) > ANOTHER_MODE:
            raise NotApplicable(
                f"near= has joint {chain.tree.joints[k].name!r} in another assembly mode, in which it does not follow "
                "the others at a constant rate",
                where=f"robot {robot.name!r}",
                expected="the assembly mode of the robot's file",
                advice="Give that mode by `home` of the joints.",
            )


def _variant(definition: Definition, choice: Any) -> tuple[Variant | None, tuple[str, ...], tuple[Any, ...]]:
    """(variant, frames that must exist, wrenches) of what was given for the optional argument."""
    if choice is None or (isinstance(choice, Mapping) and not choice):
        return None, (), ()
    if isinstance(choice, Mapping):
        return tuple(choice), tuple(choice), tuple(choice.values())
    return ("wrench", (), (choice,)) if definition.optional == "wrench" else (str(choice), (str(choice),), ())


def _quick(dynamics: Dynamics, made: Program, slow: Callable[..., Any], definition: Definition) -> Callable[..., Any]:
    """Machine code for plain calls with single arrays, `slow` for the others; a function, for `help` and editors."""
    quick = slow
    if isinstance(made, Kernel) and made.fast is not None and not dynamics.checked:
        quick = made.before(slow, definition.name, str(definition.signature), definition.doc)
        if not (dynamics.robot.loops and dependent_joints(dynamics.robot).stages):
            return quick

    def call(*arguments: Any, **named: Any) -> Any:
        """Of a chain that cannot be assembled everywhere: machine code gives NaN there, `slow` the error."""
        result = quick(*arguments, **named)
        if quick is slow or (not isinstance(result, tuple) and isfinite(np.add.reduce(result, axis=None))):
            return result
        return slow(*arguments, **named)

    call.__name__ = call.__qualname__ = definition.name
    call.__doc__ = definition.doc
    vars(call)["__signature__"] = definition.signature
    return call


def _checking(
    dynamics: Dynamics, definition: Definition, made: Program, variant: Variant | Near | None = None
) -> Callable[..., Any]:
    """The function with finiteness checked; inputs in order, options by name."""

    def call(*values: Any, **options: Any) -> Any:
        with np.errstate(all="ignore"):  # what NumPy would warn of is an error here
            result = made(*values, **options)
            most = sum([value.size for value in values if type(value) is np.ndarray])
            usual = type(result) is np.ndarray and result.size <= most and not dynamics.checked
            if not (usual and isfinite(np.add.reduce(result, axis=None))):  # a batch: one look at the result
                if dynamics.robot.constrained and "q" in definition.inputs and not isinstance(variant, Near):
                    result = _closed_again(dynamics, definition, variant, values, result)
                _require_finite(dynamics, definition, values, result)
        return result

    return call


def _closed_again(
    dynamics: Dynamics, definition: Definition, variant: Variant | None, values: tuple[Any, ...], result: Any
) -> Any:
    """The result with samples whose loops did not close from the assembly computed again from where they do.

    Raises PhysicsError, with the loop, for samples that cannot be reached from the assembly.
    """
    arrays = [np.asarray(value, dtype=float) for value in values]
    results = result if isinstance(result, tuple) else (result,)
    if not all(np.isfinite(array).all() for array in arrays) or all(map(finite, results)):
        return result
    batch = np.broadcast_shapes(*(array.shape[:-1] for array in arrays))
    samples = [np.broadcast_to(array, (*batch, array.shape[-1])).reshape(-1, array.shape[-1]) for array in arrays]
    flat = [np.array(each, dtype=float).reshape(len(samples[0]), -1) for each in results]
    bad = np.any([~np.isfinite(each).all(axis=1) for each in flat], axis=0)
    chain, place = dependent_joints(dynamics.robot), definition.inputs.index("q")
    near = np.array([chain.continued(coordinates_of(dynamics.robot, q.tolist())) for q in samples[place][bad]])
    again = dynamics.program(definition.name, Near(variant))(*(sample[bad] for sample in samples), near)
    for each, new in zip(flat, again if isinstance(again, tuple) else (again,), strict=True):
        each[bad] = np.reshape(new, (len(near), -1))
    filled = []
    for old, new in zip(results, flat, strict=True):
        shaped = new.reshape(np.shape(old))
        if isinstance(old, np.ndarray) and old.ndim:
            old[...] = shaped  # perhaps the caller's own array
        filled.append(old if isinstance(old, np.ndarray) and old.ndim else shaped[()])
    return tuple(filled) if isinstance(result, tuple) else filled[0]


def _require_finite(dynamics: Dynamics, definition: Definition, values: tuple[Any, ...], result: Any) -> None:
    """Raise an error if an input or a result is not finite.

    The smaller group is looked at, both if the dynamics is `checked`, for a result need not depend on all inputs, and
    for closed chains, whose loops may stay open at numbers that are finite.
    """
    results = result if isinstance(result, tuple) else (result,)
    sizes = [sum(map(np.size, group)) for group in (values, results)]
    both = dynamics.checked or dynamics.robot.constrained
    looked_at = (*values, *results) if both else values if sizes[0] < sizes[1] else results
    if all(map(finite, looked_at)):
        return
    where = f"{definition.name} of robot {dynamics.robot.name!r}"
    names = (*definition.inputs, *["wrench"] * len(values))
    for name, value in zip(names, values, strict=False):
        bad = np.argwhere(~np.isfinite(np.asarray(value, dtype=float)))
        if len(bad):
            place = "".join(f"[{i}]" for i in bad[0])
            raise ShapeError(f"{name}{place} is NaN or infinite", where=where, expected="finite numbers")
    if dynamics.robot.constrained:
        raise PhysicsError(
            "the dependent joints do not follow from the independent ones at this configuration",
            where=where,
            expected="loops that close, and not in a singular configuration of the closed chain",
            advice="Move away from this configuration, or give near=, a closed configuration of all joints.",
        )
    if definition.inverts:
        raise PhysicsError(
            "the mass matrix is singular at this configuration",
            where=where,
            expected="a positive definite mass matrix",
            advice="Give the links a mass, or the joints rotors with inertia",
        )
    raise ArmdynError("the result overflowed", where=where, expected="smaller inputs")


def _how(made: Program) -> str:
    kind = ""
    if isinstance(made, Composite):
        kind = "several kernels, " if made.combine is concatenated else "from other functions, "
    elif isinstance(made, Kernel) and not made.record.image:
        kind = "NumPy, "
    return f"{kind}{'from cache' if made.from_cache else 'compiled'} in {made.compile_seconds * 1e3:.0f} ms"


__all__ = ["Dynamics", "compile"]
