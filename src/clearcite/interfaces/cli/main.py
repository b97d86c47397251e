"""The ``clearcite`` command: one function a command, errors mapped to exit codes in one place."""

import atexit
import os
import sys
import threading
from collections.abc import Mapping
from importlib import import_module
from typing import NoReturn

from clearcite import __version__
from clearcite.errors import ClearciteError, DependencyUnavailable, InputError, did_you_mean
from clearcite.interfaces.cli.commands import (
    HELP_FLAGS,
    PROGRAM,
    Command,
    HelpShown,
    read_arguments,
    table,
)
from clearcite.interfaces.cli.common import printable
from clearcite.wire.streams import take_streams

USAGE = f"{PROGRAM} COMMAND [OPTIONS] [ARGUMENTS]"

HOMES = {
    **dict.fromkeys(("init", "migrate", "status", "doctor"), "admin"),
    "demo": "demo",
    "ingest": "ingestion",
    **dict.fromkeys(("sync", "approve", "source remove"), "syncing"),
    "work": "working",
    **dict.fromkeys(("ask", "search"), "answers"),
    **dict.fromkeys(("list", "show", "delete", "reinstate"), "documents"),
    **dict.fromkeys(("inspect", "verify"), "traces"),
    **dict.fromkeys(("collection set", "collection remove", "collection list"), "permissions"),
    **dict.fromkeys(("policy sync", "policy show", "explain"), "permissions"),
    **dict.fromkeys(("reconcile", "purge", "sweep"), "upkeep"),
    **dict.fromkeys(("audit head", "audit verify", "audit export", "audit checker"), "auditing"),
    **dict.fromkeys(("backup", "restore", "integrity"), "safekeeping"),
    "evaluate": "evaluating",
    "ablate": "ablating",
    **dict.fromkeys(("diff", "bless"), "comparing"),
    "score": "scoring",
    "drill": "drilling",
    **dict.fromkeys(("index list", "index build"), "builds"),
    **dict.fromkeys(
        ("index panel", "index shadow", "index promote", "index rollback", "index retire"), "promotion"
    ),
    "export-cases": "exporting",
    "scope-check": "gates",
}
"""The commands in the order of the help, and the module beside this one that each stands in."""


SUMMARY = "Answers from your documents, with citations you can check, from only what the asker may read."

INTERNAL, INTERRUPTED = 70, 130


def main() -> None:
    """Run a command and leave with its exit code; see ``clearcite.errors`` for their meaning."""
    take_streams()
    code = run(sys.argv[1:])
    try:
        sys.stdout.flush()
    except OSError as error:
        code = _refused(error)
    _leave(code)


def _leave(code: int) -> NoReturn:
    """End the process, after what was registered for its end. Every store is closed by now; taking a loaded model and
    all modules apart, only to end, would take a tenth of the time of a question."""
    if any(thread is not threading.main_thread() and not thread.daemon for thread in threading.enumerate()):
        sys.exit(code)
    atexit._run_exitfuncs()
    sys.stderr.flush()
    os._exit(code)


def run(args: list[str]) -> int:
    """The exit code of a command line."""
    try:
        return _run([_decoded(arg) for arg in args])
    except ClearciteError as error:
        _complain(error)
        return error.exit_code
    except KeyboardInterrupt:
        print("Interrupted. What was acknowledged is kept; run the same command to go on.", file=sys.stderr)
        return INTERRUPTED
    except OSError as error:
        return _refused(error)
    except Exception as error:  # noqa: BLE001 - the last border: no traceback, no path, but a name to report
        print(f"Internal error ({type(error).__name__}). Please report it.", file=sys.stderr)
        return INTERNAL


def command_named(name: str) -> Command:
    """Loads the module the command stands in: ``ask`` does not wait for what ``ingest`` needs."""
    commands: Mapping[str, Command] = import_module(f"clearcite.interfaces.cli.{HOMES[name]}").COMMANDS
    return commands[name]


def _run(args: list[str]) -> int:
    if not args:
        print(_overview(), file=sys.stderr)
        return InputError.exit_code
    words = 2 if " ".join(args[:2]) in HOMES else 1
    name, rest = " ".join(args[:words]), args[words:]
    if name in HELP_FLAGS:
        print(_overview())
        return 0
    if name == "--version":
        print(f"{PROGRAM} {__version__}")
        return 0
    if name not in HOMES:
        hint = did_you_mean([name], HOMES) or did_you_mean([" ".join(args[:2])], HOMES)
        raise InputError(f"There is no command {name}.{hint}\nUsage: {USAGE}\nAll commands: {PROGRAM} --help")
    command = command_named(name)
    try:
        given = read_arguments(name, command, rest)
    except HelpShown:
        return 0
    return command.run(**given)


def _overview() -> str:
    rows = [(name, command_named(name).help.partition("\n")[0]) for name in HOMES]
    return f"Usage: {USAGE}\n\n  {SUMMARY}\n\n{table('Commands', rows)}\n\nEach has examples: {PROGRAM} COMMAND --help"


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


def _refused(error: OSError) -> int:
    fault = DependencyUnavailable(f"The system refused an operation ({type(error).__name__}).")
    _complain(fault)
    return fault.exit_code
