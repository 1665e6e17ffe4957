# mypy: disable-error-code="empty-body"
# The quantities are declared here; what answers is made at first access.
"""Dynamics: all functions of a robot, compiled when they are first used."""

from __future__ import annotations

import keyword
import threading
import warnings
from collections.abc import Callable, Mapping
from functools import cached_property, update_wrapper
from math import isfinite
from types import MappingProxyType
from typing import Any, NoReturn, TypeVar, cast

import numpy as np

from armdyn.dynamics.graphs import FORWARD, RECIPES, Forward, Kitchen, Recipe, parameterless
from armdyn.dynamics.program_cache import Shelf
from armdyn.dynamics.programs import Composed, Program, finite, program
from armdyn.errors import ArmdynError, PhysicsError, ShapeError, unknown_name
from armdyn.formats import ModelWarning
from armdyn.graph import Graph, Operations
from armdyn.kernels import Kernel
from armdyn.parameters import parameter_names, standard_parameters
from armdyn.robot import Robot
from armdyn.typing import Floats as Array

Declaration = TypeVar("Declaration", bound=Callable[..., Any])
Variant = str | tuple[str, ...]
OPTIONS = ("out", "threads")
LONG = 10
"""Joints beyond which the derivatives of forward dynamics are composed of other functions, and counting takes time."""
_MAKING = threading.RLock()
"""Held while a graph is traced or compiled: threads that use a function for the first time together make it once."""


class _Compiled:
    """A quantity of Dynamics: at the first access it is compiled and takes its own place in the object."""

    def __init__(self, declaration: Callable[..., Any]) -> None:
        update_wrapper(self, declaration)  # type: ignore[arg-type]
        self.declaration = declaration

    def __get__(self, dynamics: Dynamics | None, owner: type) -> Any:
        if dynamics is None:
            return self.declaration
        name = self.declaration.__name__
        return dynamics.__dict__.setdefault(name, dynamics._function(RECIPES[name]))


def _compiled(declaration: Declaration) -> Declaration:
    return cast(Declaration, _Compiled(declaration))


class Dynamics:
    """The dynamics of one robot as fast functions of arrays. Made by `armdyn.compile`.

    Joint vectors are (..., n) in the order of `robot.joints`; leading axes broadcast. Every function takes `out=` and
    `threads=` (for batches; 0: one thread per processor) and is compiled at its first use. Signs, frames and units:
    `armdyn.conventions`.

    A wrong shape is always an error. NaN or infinity is an error in every call with batches or lists; a call with
    single float arrays goes straight to machine code and answers NaN with NaN, never with a number that hides it.
    `compile(robot, checked=True)` checks that call too, at a few microseconds a call.
    """

    robot: Robot
    forward: Forward
    group: bool
    cache: bool
    checked: bool

    def __init__(self, robot: Robot, *, forward: Forward, group: bool, cache: bool, checked: bool) -> None:
        values = {"robot": robot, "forward": forward, "group": group, "cache": cache, "checked": checked}
        self.__dict__.update(values)
        self.__dict__["_kitchen"] = Kitchen(robot, forward, group)
        self.__dict__["_programs"] = {}

    # The functions -------------------------------------------------------------------------------------------------

    @_compiled
    def inverse_dynamics(self, q: Any, qd: Any, qdd: Any, wrench: Any = None, **options: Any) -> Array:
        """Torques (..., n) of a motion: M qdd + C qd + g + friction + rotor terms + J^T wrench.

        wrench: (..., 6), force and moment that the robot exerts at its tool, world axes; or {frame: (..., 6)} for
        wrenches on any named frames.
        """

    @_compiled
    def forward_dynamics(self, q: Any, qd: Any, tau: Any, wrench: Any = None, **options: Any) -> Array:
        """Accelerations (..., n) that torques produce. PhysicsError if the mass matrix is singular."""

    @_compiled
    def mass_matrix(self, q: Any, **options: Any) -> Array:
        """M(q): (..., n, n), both triangles, rotors included."""

    @_compiled
    def coriolis_matrix(self, q: Any, qd: Any, **options: Any) -> Array:
        """C(q, qd): (..., n, n), of Christoffel symbols: Mdot - 2C is skew-symmetric."""

    @_compiled
    def coriolis(self, q: Any, qd: Any, **options: Any) -> Array:
        """C(q, qd) qd: (..., n)."""

    @_compiled
    def gravity(self, q: Any, **options: Any) -> Array:
        """g(q): (..., n), the torques that hold the robot still."""

    @_compiled
    def friction(self, qd: Any, **options: Any) -> Array:
        """Friction torques (..., n); dry friction is zero at rest."""

    @_compiled
    def pose(self, q: Any, frame: str = "tool", **options: Any) -> Array:
        """Pose of a frame in the world: (..., 4, 4)."""

    @_compiled
    def jacobian(self, q: Any, frame: str = "tool", **options: Any) -> Array:
        """Geometric Jacobian (..., 6, n) of a frame: linear rows first, world axes, at its origin."""

    @_compiled
    def jacobian_dot_qd(self, q: Any, qd: Any, frame: str = "tool", **options: Any) -> Array:
        """Jdot(q, qd) qd: (..., 6), what velocities alone contribute to the frame's acceleration."""

    @_compiled
    def regressor(self, q: Any, qd: Any, qdd: Any, **options: Any) -> Array:
        """Y: (..., n, p) with Y @ dyn.parameters = inverse_dynamics; columns are named by `parameter_names`.

        Static and Stribeck friction are not linear in their parameters: they are the only torques that Y leaves out.
        """

    @_compiled
    def inverse_dynamics_derivatives(self, q: Any, qd: Any, qdd: Any, **options: Any) -> tuple[Array, Array]:
        """(dtau/dq, dtau/dqd), each (..., n, n): [i, j] is how torque i changes with joint j."""

    @_compiled
    def forward_dynamics_derivatives(self, q: Any, qd: Any, tau: Any, **options: Any) -> tuple[Array, Array, Array]:
        """(dqdd/dq, dqdd/dqd, dqdd/dtau), each (..., n, n); the last is the inverse of the mass matrix."""

    @_compiled
    def kinetic_energy(self, q: Any, qd: Any, **options: Any) -> Array:
        """Kinetic energy (...), J, rotors included."""

    @_compiled
    def potential_energy(self, q: Any, **options: Any) -> Array:
        """Potential energy (...), J, zero at the world's origin."""

    # What is known about them --------------------------------------------------------------------------------------

    @property
    def n(self) -> int:
        """Number of joint variables."""
        return self.robot.n

    @property
    def parameter_names(self) -> tuple[str, ...]:
        """Names of the columns of the regressor, joint by joint: XX1 ... off1, XX2 ..."""
        return parameter_names(self.robot)

    @property
    def parameters(self) -> Array:
        """(p,) standard parameters of the robot, in the order of `parameter_names`."""
        return standard_parameters(self.robot).array()

    @property
    def programs(self) -> Mapping[str, Program]:
        """What has been compiled so far, by function name (and variant)."""
        return MappingProxyType(self._programs)

    def graph(self, name: str, variant: Variant | None = None) -> Graph:
        """The expression graph of a function. variant: "wrench", a tuple of loaded frames, or the name of a frame."""
        if name not in RECIPES:
            raise unknown_name("function", name, RECIPES, where=f"dynamics of {self.robot.name!r}")
        with _MAKING:
            return self._kitchen.graph(name, variant)

    def operations(self, name: str, variant: Variant | None = None) -> Operations:
        """Operations of one call of a function."""
        return self.graph(name, variant).operations

    def program(self, name: str, variant: Variant | None = None) -> Program:
        """The compiled function behind a name: a Kernel, with signature, operations, compile time and source."""
        label = name
        if variant is not None:
            label += f"({variant})" if isinstance(variant, str) else f"(wrench on {', '.join(variant)})"
        with _MAKING:
            if label not in self._programs:
                self._programs[label] = self._made(name, variant, label)
        return self._programs[label]

    def _made(self, name: str, variant: Variant | None, label: str) -> Program:
        if name == "forward_dynamics_derivatives" and self.n > LONG:
            return Composed(*map(self.program, ("forward_dynamics", "inverse_dynamics_derivatives", "mass_matrix")))
        function, kitchen = _identifier(label), self._kitchen
        if not self.cache:
            return program(self.graph(name, variant), function, cache=False)
        made = self._shelf.find(name, variant, function, lambda: kitchen.graph(name, variant))
        if made is None:
            made = program(self.graph(name, variant), function, cache=True)
            self._shelf.keep(name, variant, made)
        return made

    @property
    def _kitchen(self) -> Kitchen:
        return cast(Kitchen, self.__dict__["_kitchen"])

    @cached_property
    def _shelf(self) -> Shelf:
        return Shelf(self.robot, self.forward, self.group)

    @property
    def _programs(self) -> dict[str, Program]:
        return cast("dict[str, Program]", self.__dict__["_programs"])

    def _function(self, recipe: Recipe) -> Callable[..., Any]:
        """What a name of this object is bound to: machine code, with a Python function for all but the plain call."""
        main = self.program(recipe.name)
        return _quick(main, _dispatcher(self, recipe, _checking(self, recipe, main)), self.checked)

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
        return _again, (self.robot, self.forward, self.group, self.cache, self.checked)

    def __dir__(self) -> list[str]:
        return sorted({*object.__dir__(self), *RECIPES})

    def __repr__(self) -> str:
        return f"<Dynamics of {self.robot.name!r}: {self.n} joints, {len(self._programs)} functions compiled>"

    def __str__(self) -> str:
        """A table of the functions; operations are counted where that is quick or done."""
        lines = [f"Dynamics of {self.robot.name}: {self.n} joints", f"{'function':<46}{'x':>6}{'+':>7}  code"]
        known = {name.partition("(")[0] for name in self._programs}
        extra = [name for name in self._programs if name not in RECIPES]
        for name in (*RECIPES, *extra):
            made = self._programs.get(name)
            label = name if name in extra else f"{name}({', '.join(RECIPES[name].inputs)})"
            if made is None and name not in known and self.n > LONG:
                lines.append(f"{label:<46}  at first use")
                continue
            count = self.operations(name) if made is None else made.operations
            code = "at first use" if made is None else _told(made)
            lines.append(f"{label:<46}{count.multiplications:>6}{count.additions:>7}  {code}")
        return "\n".join(lines)


def compile(
    robot: Robot, *, forward: Forward = "auto", group: bool = True, cache: bool = True, checked: bool = False
) -> Dynamics:
    """The robot's dynamics as machine code, each function made at its first use.

    Args:    forward: direct dynamics by "composite" bodies, by "articulated" bodies, or by whichever is cheaper
             ("auto"). group: generate code from grouped inertial parameters (same torques, fewer operations). cache:
             keep machine code on disk for the next time. checked: look for NaN and infinity in every call.
    Raises:  ArmdynError for a robot without joints or with symbols that have no value.

    >>> import armdyn
    >>> dyn = armdyn.compile(armdyn.load("pendulum"))
    >>> dyn.gravity([0.0]).shape
    (1,)
    """
    if not isinstance(robot, Robot):
        raise ArmdynError(
            f"cannot compile {type(robot).__name__}", expected="a Robot", advice="Load one with armdyn.load"
        )
    if forward not in FORWARD:
        raise unknown_name("forward dynamics", forward, FORWARD, where="armdyn.compile")
    if robot.n == 0:
        raise ArmdynError("no joint moves", where=f"robot {robot.name!r}", expected="at least one joint to compile for")
    if robot.loops:
        opened = f"robot {robot.name!r}: its loops are left open, these are the functions of the tree"
        advice = "For the closed chain see armdyn.mechanics.closed_chain; without('loops') says that the tree is meant"
        warnings.warn(f"{opened}. {advice}.", ModelWarning, stacklevel=2)
    return Dynamics(parameterless(robot), forward=forward, group=group, cache=cache, checked=checked)


def _again(robot: Robot, forward: Forward, group: bool, cache: bool, checked: bool) -> Dynamics:
    return Dynamics(robot, forward=forward, group=group, cache=cache, checked=checked)


# Calls that are more than single arrays ------------------------------------------------------------------------------


def _quick(made: Program, slow: Callable[..., Any], checked: bool) -> Callable[..., Any]:
    """Machine code for plain calls with single arrays, `slow` for the others."""
    return made.before(slow) if isinstance(made, Kernel) and not checked else slow


def _dispatcher(dynamics: Dynamics, recipe: Recipe, plain: Callable[..., Any]) -> Callable[..., Any]:
    """A Python function that takes any call: arguments by name, wrench or frame, out, threads."""
    count = len(recipe.inputs)
    variants: dict[Variant, Callable[..., Any]] = {"tool": plain}

    def variant(choice: Variant, *frames: str) -> Callable[..., Any]:
        if choice not in variants:
            for frame in frames:
                dynamics.robot.frame(frame)  # an unknown one is an error that lists the others
            made = dynamics.program(recipe.name, choice)
            variants[choice] = _quick(made, _checking(dynamics, recipe, made), dynamics.checked)
        return variants[choice]

    def call(*arguments: Any, **named: Any) -> Any:
        if not named and len(arguments) == count:
            return plain(*arguments)
        options = {key: named.pop(key) for key in OPTIONS if key in named}
        values, choice = _sorted(dynamics, recipe, arguments, named)
        if choice is None or (isinstance(choice, Mapping) and not choice):
            return plain(*values, **options)
        if isinstance(choice, Mapping):
            return variant(tuple(choice), *choice)(*values, *choice.values(), **options)
        if recipe.choice == "wrench":
            return variant("wrench")(*values, choice, **options)
        return variant(str(choice), str(choice))(*values, **options)

    call.__name__ = call.__qualname__ = recipe.name
    call.__doc__ = getattr(Dynamics, recipe.name).__doc__
    return call


def _checking(dynamics: Dynamics, recipe: Recipe, made: Program) -> Callable[..., Any]:
    """The function with finiteness checked; inputs in order, options by name."""

    def call(*values: Any, **options: Any) -> Any:
        with np.errstate(all="ignore"):  # what NumPy would warn of is an error here
            result = made(*values, **options)
            usual = type(result) is np.ndarray and result.size <= _most(values)  # a batch: one look at the result
            if not (usual and isfinite(np.add.reduce(result, axis=None))):
                _require_finite(dynamics, recipe, values, result)
        return result

    return call


def _most(values: tuple[Any, ...]) -> int:
    """Numbers in the inputs, as far as they are arrays."""
    return sum([value.size for value in values if type(value) is np.ndarray])


def _sorted(dynamics: Dynamics, recipe: Recipe, arguments: tuple[Any, ...], named: dict[str, Any]) -> tuple[Any, Any]:
    """The inputs in order, and the wrench or frame."""
    names = (*recipe.inputs, recipe.choice) if recipe.choice else recipe.inputs
    where = f"{recipe.name} of robot {dynamics.robot.name!r}"
    wanted = ", ".join(recipe.inputs) + (f" and, if wanted, {recipe.choice}" if recipe.choice else "")
    if len(arguments) > len(names):
        raise ShapeError(
            f"{len(arguments)} arguments given", where=where, expected=wanted, advice="out= needs its name."
        )
    values: dict[str, Any] = dict(zip(names, arguments, strict=False))
    for name, value in named.items():
        if name not in names:
            raise unknown_name("argument", name, [*filter(None, names), *OPTIONS], where=where)
        if name in values:
            raise ShapeError(f"{name} is given twice", where=where, expected=wanted)
        values[name] = value
    missing = [name for name in recipe.inputs if name not in values]
    if missing:
        raise ShapeError(f"{', '.join(missing)} missing", where=where, expected=wanted)
    return [values[name] for name in recipe.inputs], values.get(recipe.choice or "")


def _require_finite(dynamics: Dynamics, recipe: Recipe, values: tuple[Any, ...], result: Any) -> None:
    """Inputs or results, whichever are fewer numbers."""
    results = result if isinstance(result, tuple) else (result,)
    sizes = [sum(map(np.size, group)) for group in (values, results)]
    if all(map(finite, values if sizes[0] < sizes[1] else results)):
        return
    where = f"{recipe.name} of robot {dynamics.robot.name!r}"
    names = (*recipe.inputs, *["wrench"] * len(values))
    for name, value in zip(names, values, strict=False):
        bad = np.argwhere(~np.isfinite(np.asarray(value, dtype=float)))
        if len(bad):
            place = "".join(f"[{i}]" for i in bad[0])
            raise ShapeError(f"{name}{place} is NaN or infinite", where=where, expected="finite numbers")
    if recipe.name.startswith("forward"):
        raise PhysicsError(
            "the mass matrix is singular at this position",
            where=where,
            expected="a positive definite mass matrix",
            advice="Give the links a mass, or the joints rotors with inertia",
        )
    raise ArmdynError("the result is too large for a number", where=where, expected="smaller velocities, accelerations")


def _told(made: Program) -> str:
    kind = {"Split": "several kernels, ", "Composed": "of others, ", "Interpreted": "NumPy, "}.get(
        type(made).__name__, ""
    )
    return f"{kind}{'from cache' if made.from_cache else 'compiled'} in {made.compile_seconds * 1e3:.0f} ms"


def _identifier(label: str) -> str:
    text = "".join(letter if letter.isalnum() and letter.isascii() else "_" for letter in label).strip("_")
    return f"{text}_" if keyword.iskeyword(text) else text


__all__ = ["Dynamics", "compile"]
