"""The ``clearcite`` command: one function a command, errors mapped to exit codes in one place."""

import os
import sys
from importlib import import_module
from typing import Any, cast

import typer
from typer.core import TyperGroup
from typer.main import get_group

from clearcite.errors import ClearciteError, DependencyUnavailable, InputError
from clearcite.interfaces.cli.common import printable

HOMES = {
    **dict.fromkeys(("init", "migrate", "status", "doctor"), "admin"),
    "demo": "demo",
    "ingest": "ingestion",
    **dict.fromkeys(("ask", "search"), "answers"),
    **dict.fromkeys(("list", "show", "delete"), "documents"),
    **dict.fromkeys(("inspect", "verify"), "traces"),
    "reconcile": "upkeep",
    "scope-check": "gates",
}
"""The commands in the order of the help, and the module beside this one that each stands in."""


class Commands(TyperGroup):
    """Loads the module of a command when the command is named: ``ask`` does not wait for what ``ingest`` needs."""

    def list_commands(self, _ctx: Any) -> list[str]:
        return list(HOMES)

    def get_command(self, _ctx: Any, cmd_name: str) -> Any:
        # Of a name that is no command, typer says which ones are like it.
        for name in [cmd_name] if cmd_name in HOMES else list(HOMES):
            if name not in self.commands:
                part = typer.Typer(rich_markup_mode=None)
                part.callback()(lambda: None)
                import_module(f"clearcite.interfaces.cli.{HOMES[name]}").register(part)
                self.commands.update(get_group(part).commands)
        return self.commands.get(cmd_name)


app = typer.Typer(
    cls=Commands,
    name="clearcite",
    help="Answers from your documents, with citations you can check, from only what the asker may read.",
    no_args_is_help=True,
    rich_markup_mode=None,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.callback()(lambda: None)

INTERNAL, INTERRUPTED = 70, 130
USAGE_ERROR: type[Exception] = typer.BadParameter.__mro__[1]
"""A command line that does not fit its options; typer brings click's classes along under changing names."""


def main() -> None:
    """Run a command and leave with its exit code; see ``clearcite.errors`` for their meaning."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="replace")
    code = run(sys.argv[1:])
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        _drop_stdout()
    sys.exit(code)


def run(args: list[str]) -> int:
    """The exit code of a command line."""
    try:
        result = app(args=[_decoded(arg) for arg in args], prog_name="clearcite", standalone_mode=False)
    except ClearciteError as error:
        _complain(error)
        return error.exit_code
    except USAGE_ERROR as error:
        cast(typer.BadParameter, error).show(sys.stderr)
        return InputError.exit_code
    except (KeyboardInterrupt, typer.Abort):
        result = INTERRUPTED
    except (BrokenPipeError, SystemExit):  # typer and rich leave with 1, a verdict, when nobody reads on
        _drop_stdout()
        return 0
    except OSError as error:
        fault = DependencyUnavailable(f"The system refused an operation ({type(error).__name__}).")
        _complain(fault)
        return fault.exit_code
    except Exception as error:  # noqa: BLE001 - the last border: no traceback, no path, but a name to report
        print(f"Internal error ({type(error).__name__}). Please report it.", file=sys.stderr)
        return INTERNAL
    if result == INTERRUPTED:  # some releases of typer turn an interrupt into this result
        print("Interrupted. What was acknowledged is kept; run the same command to go on.", file=sys.stderr)
    return result if isinstance(result, int) else 0


def _decoded(arg: str) -> str:
    """An argument as UTF-8, also where the locale could not read it. Raises InputError for other bytes."""
    if arg.isascii() or not any(0xD800 <= ord(char) <= 0xDFFF for char in arg):
        return arg
    try:
        return os.fsencode(arg).decode("utf-8")
    except ValueError as error:
        raise InputError("An argument is not valid Unicode.") from error


def _complain(error: ClearciteError) -> None:
    print(printable(f"{error.code}: {error.message}"), file=sys.stderr)
    if isinstance(error, InputError) and len(error.violations) > 1:
        for violation in error.violations:
            print(printable(f"  - {violation}"), file=sys.stderr)


def _drop_stdout() -> None:
    """Whoever read stdout has gone: what is left goes nowhere, also at the end of the interpreter."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
