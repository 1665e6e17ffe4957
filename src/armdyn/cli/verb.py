"""What all verbs share: they load a robot, call one function of armdyn, show its result, write what was asked, and end.

A verb is a function under `@verb(...)`. Its arguments are those of the command line, it returns a Result (or a text),
and this module does the rest: see `verb`. Exit status: 0 fine, 1 findings (`result.fine` is False).
"""

from __future__ import annotations

import copy
import inspect
import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from enum import Enum
from functools import partial, wraps
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Annotated, Any, NoReturn, TypeVar, cast, get_args, get_type_hints

import typer
from typer.models import OptionInfo, ParameterInfo

from armdyn.cli.parse import (
    FILMS,
    PICTURES,
    FigureSize,
    ForceOption,
    JsonOption,
    OptionError,
    RobotArgument,
    check_extension,
    split_robot,
)
from armdyn.errors import FileError, unknown_name

if TYPE_CHECKING:
    from armdyn import Robot
    from armdyn.result import Result

Verb = TypeVar("Verb", bound=Callable[..., Any])
Panels = Mapping[str, tuple[str, ...]]
FINE, FINDINGS = 0, 1
PANELS: dict[str, Panels] = {}
"""Verb -> further panels of its help, in their order; options that no panel names stand first."""


@dataclass(frozen=True)
class Writes:
    """An option that names a file or a folder, which a method of the verb's result writes.

    help:     what is written, in one sentence
    suffixes: accepted extensions; none: any
    folder:   the option names a folder
    default:  gives the path if the user names none, from the verb's options; without it nothing is written then
    """

    help: str
    suffixes: tuple[str, ...] = ()
    folder: bool = False
    default: Callable[[Mapping[str, Any]], Path] | None = None

    @property
    def annotation(self) -> Any:
        kind = "DIR" if self.folder else "FILE"
        return Annotated[Path | None, typer.Option(metavar=kind, help=self.help, show_default=False)]


def figure(of: str, *, film: bool = False) -> Writes:
    """The option --plot; of: what is drawn, as in "the torques"; film: the moving arm can be written too."""
    text = f"Draw {of}: .png, .svg or .pdf; FILE:column or FILE:page for a journal's width"
    if film:
        return Writes(f"{text}. Film of the arm: .gif, .html or .mp4.", (*PICTURES, *FILMS))
    return Writes(f"{text}.", PICTURES)


def verb(
    *,
    out: Writes | None = None,
    plot: Writes | None = None,
    report: Writes | None = None,
    waits: bool = False,
    panels: Panels | None = None,
) -> Callable[[Verb], Verb]:
    """Make a function a verb of the command line.

    The function has the verb's own options as arguments, calls one function of armdyn and returns its Result; a verb
    may also return a text, which is printed as it is. Two arguments are special: `robot: Robot` is the robot that was
    named, with the changes after its name; `progress: Progress` reports progress. Choices are arguments whose type is a
    StrEnum.

    Options added here: --json, which prints `result.record()`, if the command ends by itself; --force where files
    are written;
    out:    --out, written with `result.save(path)`; or passed to the function, if it has an argument `out`
    plot:   --plot, written with `result.plot(path, size)`, films with `result.animate(path)`; see `figure`
    report: --report, written with `result.report(path)`
    waits:  the command ends when the user stops it: `result.wait()` is called after the result was shown
    panels: panels of the help besides those that all verbs have, and their options

    `save` and `report` return the path or the paths that they wrote, or a Result that judges what was written: it is
    shown too, and decides together with the result whether the command ends with 0 or 1.
    """
    writes = {name: each for name, each in (("out", out), ("plot", plot), ("report", report)) if each is not None}

    def declared(function: Verb) -> Verb:
        signature = inspect.signature(function)
        loads, reports = "robot" in signature.parameters, "progress" in signature.parameters
        hints = _annotations(function)
        passed = [name for name in writes if name in signature.parameters]
        hints |= {name: each.annotation for name, each in writes.items()}
        hints |= ({} if waits else {"json": JsonOption}) | ({"force": ForceOption} if writes else {})
        defaults = {name: each.default for name, each in signature.parameters.items()}
        defaults |= dict.fromkeys(writes) | {"json": False, "force": False}

        @wraps(function)
        def run(*, json: bool = False, force: bool = False, **options: Any) -> NoReturn:
            from armdyn.cli.console import working
            from armdyn.files import protecting_existing, require_free

            named = {name: options.pop(name) for name in writes}
            paths = _paths(writes, named, options)
            with nullcontext() if force else protecting_existing():
                require_free(path for path, _ in paths.values() if not os.path.isdir(path))
                if loads:
                    options["robot"] = load_robot(options["robot"])
                with working(function.__name__) as say:
                    options |= {name: paths[name][0] for name in passed} | ({"progress": say} if reports else {})
                    result = function(**options)
                    written = [_write(result, name, *paths[name]) for name in paths if name not in passed]
            status = finish(result, written, json=json)
            if waits:
                result.wait()
            raise typer.Exit(status)

        run.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
            [
                inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=defaults[name], annotation=hint)
                for name, hint in hints.items()
            ]
        )
        run.__annotations__ = hints
        PANELS[function.__name__] = panels or {}
        return cast(Verb, run)

    return declared


def _annotations(function: Callable[..., Any]) -> dict[str, Any]:
    """Annotations of a verb's own options. Verbs start without the classes of armdyn: a Robot is the text that names
    one, and what only type checkers need is not evaluated.
    """
    texts = {name: text for name, text in function.__annotations__.items() if name not in ("progress", "return")}
    own = SimpleNamespace(__annotations__=texts)
    return get_type_hints(own, function.__globals__, {"Robot": RobotArgument}, include_extras=True)


def _paths(
    writes: Mapping[str, Writes], named: Mapping[str, Path | None], options: Mapping[str, Any]
) -> dict[str, tuple[Path, Any]]:
    """Option -> path and size of a figure, checked before the work begins."""
    paths = {}
    for name, each in writes.items():
        path, size = named[name], None
        if path is None and each.default is not None:
            path = each.default(options)
        if path is None:
            continue
        if name == "plot":
            path, size = _figure_size(path)
        if not each.folder and os.path.isdir(path):
            raise FileError("it is a folder", where=f"--{name} {path}", expected="the name of a file")
        if each.suffixes:
            check_extension(path, each.suffixes, f"--{name}")
        paths[name] = path, size
    return paths


def _figure_size(path: Path) -> tuple[Path, str | None]:
    """`fig.pdf:column` as the file and the size; a colon may also be part of a file's name."""
    name, colon, size = str(path).rpartition(":")
    if not colon or Path(name).suffix.lower() not in PICTURES:
        return path, None
    return Path(name), member(FigureSize, "size", "--plot", size).value


def _write(result: Any, option: str, path: Path, size: str | None) -> Any:
    """Have the result write itself; give what it returns, for `finish`."""
    if option == "plot":
        if path.suffix.lower() in FILMS:
            result.animate(path)
        else:
            result.plot(path, size)
        return path
    method = "save" if option == "out" else option
    if not hasattr(result, method):
        raise OptionError("this result has nothing to write", where=f"--{option}")
    return getattr(result, method)(path)


def finish(result: Result | str, written: list[Any], *, json: bool = False) -> int:
    """Show the result and where it was written; return the exit status."""
    from armdyn.cli.console import console, show_path, show_result
    from armdyn.result import Result, Source

    judgements = [each for each in written if isinstance(each, Result)]
    if isinstance(result, str):
        print(result.rstrip("\n"))
    elif isinstance(result, Source) and result.printed and not (json or written):
        print(result.source.rstrip("\n"))
    else:
        show_result(result, json=json)
    for judgement in judgements:
        show_result(judgement, json=False, stderr=json)
    for each in written:
        if not isinstance(each, Result):
            paths = each if isinstance(each, list | tuple) else [each]
            show_path(console(stderr=json or isinstance(result, str)), "Written", *paths)
    fine = all(each.fine for each in (result, *judgements) if not isinstance(each, str))
    return FINE if fine else FINDINGS


def changed_robot(text: str) -> Robot | str:
    """The robot if changes follow its name; else the text, for functions that read files themselves."""
    return load_robot(text) if split_robot(text)[0] != text else text


def load_robot(text: str) -> Robot:
    """The robot of a name or file, with the changes after it.

    The first warning of `load` goes to stderr as one line, and so does what the model includes.
    """
    from rich.text import Text

    from armdyn.cli.console import console, first_warning, working

    name, how = split_robot(text)
    without, payload = how.pop("without"), how.pop("payload")
    with working("reading the robot"):
        from armdyn import load

        with first_warning(name):
            robot = load(name, **how).without(*without)
        robot = robot.with_payload(payload) if payload else robot
    console(stderr=True).print(Text(robot.includes, style="dim"), soft_wrap=True)
    return robot


# Choices and panels of the help --------------------------------------------------------------------------------------


RESULTS = ("report", "plot", "size", "out", "dt", "json", "force")
SHARED: Panels = {"Results": RESULTS}
"""Panels of the help that all verbs have, and their options; each panel is as wide as its own names."""


def member(choices: type[Enum], kind: str, where: str, text: str) -> Enum:
    """The choice of that name; a bad one is reported in this form everywhere."""
    for each in choices:
        if text == each.value:
            return each
    raise unknown_name(kind, text, [str(each.value) for each in choices], where=where)


def in_panels(verb: Verb) -> Verb:
    """The verb, its options in panels of the help, its choices completed by the TAB key."""
    own = PANELS.get(verb.__name__, {})
    panel_of = {option: panel for panels in (SHARED, own) for panel in panels for option in panels[panel]}
    hints = inspect.get_annotations(verb, eval_str=True)
    hints = {name: _completed(name, hint, panel_of.get(name)) for name, hint in hints.items()}
    parameters = inspect.signature(verb).parameters.values()
    verb.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [parameter.replace(annotation=hints[parameter.name]) for parameter in parameters]
    )
    verb.__annotations__ = hints
    return verb


def _completed(name: str, hint: Any, panel: str | None) -> Any:
    """Annotated[kind, option] with its option in a panel and its choices read by `member`; anything else as it is."""
    kind, *extra = get_args(hint) or (hint,)
    if not extra or not isinstance(extra[0], ParameterInfo):
        return hint
    given = copy.copy(extra[0])
    if panel is not None and isinstance(given, OptionInfo):
        given.rich_help_panel = panel
    choices = next(
        (each for each in (kind, *get_args(kind)) if isinstance(each, type) and issubclass(each, Enum)), None
    )
    if choices is not None and given.parser is None:
        words = [str(each.value) for each in choices]
        where = next((text for text in given.param_decls or () if text.startswith("--")), f"--{name.replace('_', '-')}")
        given.parser = partial(member, choices, name.replace("_", " "), where)
        given.autocompletion = completing(words)
        given.metavar = given.metavar or "|".join(words)
    return Annotated[kind, given]


def completing(words: Iterable[str]) -> Callable[[str], list[str]]:
    """Completions for the TAB key among these words."""

    def beginning(incomplete: str) -> list[str]:
        return [word for word in words if word.startswith(incomplete)]

    return beginning
