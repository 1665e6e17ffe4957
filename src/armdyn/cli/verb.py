"""What all verbs that read a robot share: its options, the loaded robot, the features taken into account."""

from __future__ import annotations

import copy
import inspect
import os
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, TypeVar, cast, get_args

from typer.models import OptionInfo

from armdyn.cli.parse import (
    ArgOption,
    BaseOption,
    ForceOption,
    LockOption,
    RobotArgument,
    TipOption,
    WithoutOption,
    locked,
    pair,
)

if TYPE_CHECKING:
    from armdyn.robot.robot import Robot

Verb = TypeVar("Verb", bound=Callable[..., Any])
TAKES: dict[str, tuple[str, ...]] = {}
"""Verb -> features that it takes into account; entered in the table of all declarations by `cli.declarations`."""

OPTIONS: dict[str, Any] = {"tip": TipOption, "base": BaseOption, "lock": LockOption, "arg": ArgOption,
                           "without": WithoutOption}  # fmt: skip
"""What is done to the robot of a file before the verb sees it."""
Panels = Mapping[str, tuple[str, ...]]
RESULTS = ("report", "plot", "size", "out", "dt", "json", "force")
SHARED: Panels = {"Robot": tuple(OPTIONS), "Results": RESULTS}
"""Panels of the help that all verbs have, and their options; each panel is as wide as its own names."""
PANELS: dict[str, Panels] = {}
"""Verb -> further panels of its help, in their order; options that no panel names stand first."""


class Running(NamedTuple):
    """The verb that runs, and the robot as it was named on the command line."""

    verb: str
    robot: str


RUNNING: ContextVar[Running] = ContextVar("RUNNING")


def takes(*names: str, movable: bool = True, panels: Panels | None = None) -> Callable[[Verb], Verb]:
    """Declare which features of robots a verb takes into account ("tree": all ordinary ones of a rigid tree).

    On the command line, the verb's argument `robot: Robot` is a name or a file with the options `OPTIONS`; the verb
    gets the loaded robot, after the gate has compared the robot's features with the declared ones.

    movable: the robot must have a movable joint
    panels:  panels of the help besides those that all verbs have, and their options
    """

    def declared(verb: Verb) -> Verb:
        name = verb.__name__
        TAKES[name] = names
        PANELS[name] = panels or {}
        signature = inspect.signature(verb)
        if "robot" not in signature.parameters:  # the verb reads its files by itself
            return verb
        # Typer sees the annotation `Robot` as the text that names one: no verb imports the class to start.
        hints = inspect.get_annotations(verb, eval_str=True, locals={"Robot": RobotArgument})
        given = [
            parameter.replace(annotation=hints[parameter.name], kind=parameter.KEYWORD_ONLY)
            for parameter in signature.parameters.values()
        ]
        added = [
            inspect.Parameter(option, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)
            for option, annotation in OPTIONS.items()
        ]

        @wraps(verb)
        def run(*, robot: str, **options: Any) -> Any:
            how = {option: options.pop(option) for option in OPTIONS}
            before = RUNNING.set(Running(name, robot))
            try:
                return verb(robot=_loaded(robot, name, movable=movable, **how), **options)
            finally:
                RUNNING.reset(before)

        run.__signature__ = signature.replace(parameters=[*given, *added])  # type: ignore[attr-defined]
        run.__annotations__ = {**hints, **OPTIONS}
        return cast(Verb, run)

    return declared


WRITTEN = ("out", "plot", "report")
"""Options that name what a verb writes."""


def protected(verb: Verb) -> Verb:
    """The verb, replacing existing files with the added option --force only; it asks before it works."""
    signature = inspect.signature(verb)
    if not any(name in signature.parameters for name in WRITTEN):
        return verb
    hints = {**inspect.get_annotations(verb, eval_str=True), "force": ForceOption}
    force = inspect.Parameter("force", inspect.Parameter.KEYWORD_ONLY, default=False)
    given = (parameter.replace(kind=parameter.KEYWORD_ONLY) for parameter in signature.parameters.values())
    parameters = [parameter.replace(annotation=hints[parameter.name]) for parameter in (*given, force)]

    @wraps(verb)
    def run(*, force: bool, **options: Any) -> Any:
        if force:
            return verb(**options)
        from armdyn.files import protecting_existing, require_free

        with protecting_existing():
            named = [options[name] for name in WRITTEN if options.get(name) is not None]
            require_free(path for path in named if not os.path.isdir(path))
            return verb(**options)

    run.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    run.__annotations__ = hints
    return cast(Verb, run)


def in_panels(verb: Verb) -> Verb:
    """The verb, its options in panels of the help."""
    own = PANELS.get(verb.__name__, {})
    panel_of = {option: panel for panels in (SHARED, own) for panel in panels for option in panels[panel]}
    hints = inspect.get_annotations(verb, eval_str=True)
    hints = {name: _in_panel(hint, panel_of.get(name)) for name, hint in hints.items()}
    parameters = inspect.signature(verb).parameters.values()
    verb.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [parameter.replace(annotation=hints[parameter.name]) for parameter in parameters]
    )
    verb.__annotations__ = hints
    return verb


def _in_panel(hint: Any, panel: str | None) -> Any:
    """Annotated[kind, option] with its option in a panel; anything else as it is."""
    kind, *extra = get_args(hint) or (hint,)
    if panel is None or not extra or not isinstance(extra[0], OptionInfo):
        return hint
    option = copy.copy(extra[0])
    option.rich_help_panel = panel
    return Annotated[kind, option]


def default_folder() -> Path:
    """Where results go when the user does not say: out/ROBOT."""
    return Path("out") / Path(RUNNING.get().robot).stem


def _loaded(
    name: str,
    verb: str,
    *,
    tip: str | None,
    base: str | None,
    lock: list[str] | None,
    arg: list[str] | None,
    without: list[str] | None,
    movable: bool,
) -> Robot:
    """The robot, if the verb takes all its features into account.

    The first warning of `load` goes to stderr as one line, the others are for `armdyn check`; so does the line that
    says what the model includes.
    """
    from rich.text import Text

    from armdyn.cli.console import console, first_warning, working

    with working("reading the robot"):
        import armdyn.cli.declarations  # noqa: F401 (enters what the verbs declare)
        from armdyn.errors import RobotError
        from armdyn.formats import load
        from armdyn.robot.features import SUPPORT, model_line, require

        with first_warning(name):
            args = dict(pair(text, "--arg", "prefix=left_") for text in arg or ())
            robot = load(name, tip=tip, base=base, lock=locked(lock), args=args).without(*without or ())
    require(robot, f"armdyn {verb}", SUPPORT[f"cli.{verb}"])
    console(stderr=True).print(Text(model_line(robot), style="dim"), soft_wrap=True)
    if movable and not robot.n:
        raise RobotError("no movable joint is left", where=f"robot {robot.name!r}",
                         expected="a revolute or prismatic joint", advice="Lock fewer joints.")  # fmt: skip
    return robot
