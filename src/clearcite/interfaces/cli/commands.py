"""A command is a function: its parameters are what a command line may say, their annotations how it is said.

Known types are ``str``, ``int``, ``bool`` and ``Path``, one or a list of them. A parameter without a default must be
given. The line itself is read by argparse, which loads in a fortieth of the time of a question.
"""

import argparse
import typing
from collections.abc import Callable, Sequence
from inspect import Parameter, signature
from pathlib import Path
from typing import Any, NoReturn

from msgspec import Struct

from clearcite.errors import InputError

PROGRAM = "clearcite"
HELP_FLAGS = ("-h", "--help")


class Option(Struct, frozen=True):
    """``flag``: how it is called; after the parameter when empty."""

    flag: str = ""
    help: str = ""


class Argument(Struct, frozen=True):
    """Given by its place; a list takes all that are left."""

    help: str = ""


class Command(Struct, frozen=True):
    """``run`` returns the exit code. The first line of ``help`` is a sentence for the list of commands."""

    run: Callable[..., int]
    help: str


class HelpShown(Exception):
    """``--help`` was asked for and printed."""


def read_arguments(name: str, command: Command, args: Sequence[str]) -> dict[str, Any]:
    """A command line → the arguments of the function that were given.

    Raises InputError that shows the usage, or HelpShown.
    """
    parser = _parser(name, command)
    # Options may stand between arguments, which argparse can only read where no -- says that the rest is text.
    given = vars(parser.parse_args(args) if "--" in args else parser.parse_intermixed_args(args))
    # argparse takes its own mark for "not given" for a value where that is to become a path
    return {name: value for name, value in given.items() if str(value) != argparse.SUPPRESS}


class _Parser(argparse.ArgumentParser):
    """Faults become InputError, and nothing leaves the process from here."""

    def error(self, message: str) -> NoReturn:
        usage = f"Usage: {self.usage}\nAll options: {self.prog} --help"
        raise InputError(f"{message[:1].upper()}{message[1:]}.\n{usage}")

    def exit(self, status: int = 0, message: str | None = None) -> NoReturn:  # noqa: ARG002 - argparse's signature
        raise HelpShown


def _parser(name: str, command: Command) -> _Parser:
    hints = typing.get_type_hints(command.run, include_extras=True)
    required = [
        item for item, about in signature(command.run).parameters.items() if about.default is Parameter.empty
    ]
    places = [
        item for item in hints if item != "return" and isinstance(typing.get_args(hints[item])[1], Argument)
    ]
    shown = [item.upper() if item in required else f"[{item.upper()}]" for item in places]
    parser = _Parser(
        prog=f"{PROGRAM} {name}",
        usage=" ".join([PROGRAM, name, "[OPTIONS]", *shown]),
        description=command.help.strip(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
        argument_default=argparse.SUPPRESS,
    )
    for item in signature(command.run).parameters:
        _add(parser, item, hints[item], is_required=item in required)
    return parser


def _add(parser: _Parser, name: str, hint: Any, *, is_required: bool) -> None:
    plain, said = typing.get_args(hint)
    (kind,) = [one for one in typing.get_args(plain) or (plain,) if one is not type(None)]
    is_list = typing.get_origin(kind) is list
    kind = typing.get_args(kind)[0] if is_list else kind
    read, about = _path if kind is Path else kind, said.help.replace("%", "%%")
    if isinstance(said, Argument):
        count = ("+" if is_required else "*") if is_list else (None if is_required else "?")
        parser.add_argument(name, metavar=name.upper(), nargs=count, type=read, help=about)
        return
    flag = said.flag or "--" + name.replace("_", "-")
    if kind is bool:
        parser.add_argument(flag, dest=name, action="store_true", help=about)
        return
    action = "append" if is_list else "store"
    shown = {int: "NUMBER", str: "TEXT"}.get(kind, "PATH")
    parser.add_argument(
        flag, dest=name, metavar=shown, action=action, type=read, required=is_required, help=about
    )


def _path(text: str) -> Path:
    """Nothing is no folder: a variable of a shell that is not set would else mean the one where somebody stands."""
    if not text:
        raise argparse.ArgumentTypeError("a path must not be empty")
    return Path(text)


def table(title: str, rows: Sequence[tuple[str, str]]) -> str:
    """Two columns under a title."""
    width = max(len(left) for left, _ in rows)
    return "\n".join([f"{title}:", *(f"  {left:<{width}}  {right}" for left, right in rows)])
