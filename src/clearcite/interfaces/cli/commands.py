"""A command is a function: its parameters are what a command line may say, their annotations how it is said.

Known types are ``str``, ``int``, ``bool`` and ``Path``, one or a list of them. A parameter without a default must be
given. Written by hand because the libraries for it took a fifth of the time of a question.
"""

import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from inspect import Parameter, signature
from pathlib import Path
from typing import Any

from clearcite.errors import InputError

PROGRAM = "clearcite"
HELP_FLAGS = ("-h", "--help")


@dataclass(frozen=True, slots=True)
class Option:
    """``flag``: how it is called; after the parameter when empty."""

    flag: str = ""
    help: str = ""


@dataclass(frozen=True, slots=True)
class Argument:
    """Given by its place; a list takes all that are left."""

    help: str = ""


@dataclass(frozen=True, slots=True)
class Command:
    """``run`` returns the exit code. The first line of ``help`` is a sentence for the list of commands."""

    run: Callable[..., int]
    help: str


@dataclass(frozen=True, kw_only=True, slots=True)
class _Field:
    """One parameter. ``flag`` is empty for an argument."""

    name: str
    flag: str
    help: str
    kind: type
    is_list: bool
    is_required: bool

    @property
    def shown(self) -> str:
        """As the help names it."""
        value = {int: " NUMBER", Path: " PATH", bool: ""}.get(self.kind, " TEXT")
        return self.flag + value if self.flag else self.name.upper() + ("..." if self.is_list else "")


def asks_for_help(args: Sequence[str]) -> bool:
    """Anywhere before ``--``."""
    before = args[: args.index("--")] if "--" in args else args
    return any(arg in HELP_FLAGS for arg in before)


def read_arguments(name: str, command: Command, args: Sequence[str]) -> dict[str, Any]:
    """A command line → the arguments of the function. Raises InputError that shows the usage."""
    fields = _fields(command)
    try:
        return _read(fields, args)
    except InputError as error:
        usage = f"Usage: {_usage(name, fields)}\nAll options: {PROGRAM} {name} --help"
        raise InputError(f"{error.message}\n{usage}") from error


def help_of(name: str, command: Command) -> str:
    """What ``--help`` shows: usage, text and examples, arguments, options."""
    fields = _fields(command)
    arguments = [(field.shown, field.help) for field in fields if not field.flag]
    options = [(field.shown, field.help) for field in fields if field.flag]
    options.append((", ".join(HELP_FLAGS), "Show this and exit."))
    text = "\n".join(f"  {line}".rstrip() for line in command.help.strip().splitlines())
    parts = [f"Usage: {_usage(name, fields)}", text]
    parts += [table("Arguments", arguments)] if arguments else []
    return "\n\n".join([*parts, table("Options", options)])


def table(title: str, rows: Sequence[tuple[str, str]]) -> str:
    """Two columns under a title."""
    width = max(len(left) for left, _ in rows)
    return "\n".join([f"{title}:", *(f"  {left:<{width}}  {right}" for left, right in rows)])


def _usage(name: str, fields: Sequence[_Field]) -> str:
    arguments = [
        field.shown if field.is_required else f"[{field.shown}]" for field in fields if not field.flag
    ]
    return " ".join([PROGRAM, name, "[OPTIONS]", *arguments])


def _fields(command: Command) -> list[_Field]:
    hints = typing.get_type_hints(command.run, include_extras=True)
    return [
        _field(name, hints[name], parameter.default is Parameter.empty)
        for name, parameter in signature(command.run).parameters.items()
    ]


def _field(name: str, hint: Any, is_required: bool) -> _Field:
    plain, said = typing.get_args(hint)
    (kind,) = [one for one in typing.get_args(plain) or (plain,) if one is not type(None)]
    is_list = typing.get_origin(kind) is list
    return _Field(
        name=name,
        flag=(said.flag or "--" + name.replace("_", "-")) if isinstance(said, Option) else "",
        help=said.help,
        kind=typing.get_args(kind)[0] if is_list else kind,
        is_list=is_list,
        is_required=is_required,
    )


def _read(fields: Sequence[_Field], args: Sequence[str]) -> dict[str, Any]:
    by_flag = {field.flag: field for field in fields if field.flag}
    places = [field for field in fields if not field.flag]
    found: dict[str, Any] = {}
    for flag, text in _pieces(by_flag, args):
        if flag:
            field = by_flag[flag]
        elif places:
            field = places[0] if places[0].is_list else places.pop(0)
        else:
            raise InputError(f"There is one argument too many: {text}")
        value = _value(field, text)
        found[field.name] = [*found.get(field.name, ()), value] if field.is_list else value
    for field in fields:
        if field.is_required and field.name not in found:
            raise InputError(f"{field.flag or field.shown} is missing.")
    return found


def _pieces(by_flag: Mapping[str, _Field], args: Sequence[str]) -> Iterator[tuple[str, str]]:
    """(flag, value) of options, ("", value) of arguments. A value may itself begin with a dash."""
    rest = iter(args)
    for arg in rest:
        if arg == "--":
            yield from (("", text) for text in rest)
        elif not arg.startswith("-") or arg == "-":
            yield "", arg
        else:
            flag, separator, value = _split(arg)
            if flag not in by_flag:
                raise InputError(f"There is no option {flag}. Text that begins with a dash goes after --")
            if by_flag[flag].kind is bool:
                if separator:
                    raise InputError(f"{flag} takes no value.")
            elif not separator:
                following = next(rest, None)
                if following is None:
                    raise InputError(f"{flag} needs a value.")
                value = following
            yield flag, value


def _split(arg: str) -> tuple[str, str, str]:
    """``--flag=value`` and ``-fvalue`` → flag, whether a value came with it, value."""
    if arg.startswith("--"):
        return arg.partition("=")
    return arg[:2], arg[2:], arg[2:]


def _value(field: _Field, text: str) -> Any:
    if field.kind is bool:
        return True
    try:
        return field.kind(text)
    except ValueError as error:
        raise InputError(f"{field.flag or field.shown} needs a whole number.") from error
