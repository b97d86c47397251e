"""The ``clearcite`` command: one function a command, errors mapped to exit codes in one place."""

import sys

import click
import typer

from clearcite.errors import ClearciteError, InputError
from clearcite.interfaces.cli import admin, answers, demo, documents, ingestion, traces

app = typer.Typer(
    name="clearcite",
    help="Answers from your documents, with citations you can check, from only what the asker may read.",
    no_args_is_help=True,
    rich_markup_mode=None,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for module in (admin, demo, ingestion, answers, documents, traces):
    module.register(app)

INTERNAL, INTERRUPTED = 70, 130


def main() -> None:
    """Run a command and leave with its exit code; see ``clearcite.errors`` for their meaning."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="replace")
    sys.exit(run(sys.argv[1:]))


def run(args: list[str]) -> int:
    """The exit code of a command line."""
    try:
        result = app(args=args, prog_name="clearcite", standalone_mode=False)
    except ClearciteError as error:
        _complain(error)
        return error.exit_code
    except click.ClickException as error:
        error.show(sys.stderr)
        return error.exit_code
    except (KeyboardInterrupt, click.Abort):
        print("Interrupted. What was acknowledged is kept; run the same command to go on.", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        return 0
    except Exception as error:  # noqa: BLE001 - the last border: no traceback, no path, but a name to report
        print(f"Internal error ({type(error).__name__}). Please report it.", file=sys.stderr)
        return INTERNAL
    return result if isinstance(result, int) else 0


def _complain(error: ClearciteError) -> None:
    print(f"{error.code}: {error.message}", file=sys.stderr)
    if isinstance(error, InputError) and len(error.violations) > 1:
        for violation in error.violations:
            print(f"  - {violation}", file=sys.stderr)
