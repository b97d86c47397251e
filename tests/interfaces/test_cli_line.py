"""A command line is read as one writes it, and what does not fit is said with the usage."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import pytest

from clearcite.errors import InputError
from clearcite.interfaces.cli.commands import Argument, Command, HelpShown, Option, read_arguments
from tests.interfaces.test_cli_output import on_terminal


def command(
    what: Annotated[str, Argument(help="What.")],
    more: Annotated[list[Path] | None, Argument(help="More.")] = None,
    count: Annotated[int, Option("-k", help="How many.")] = 10,
    group: Annotated[list[str] | None, Option("--group", help="Who.")] = None,
    after: Annotated[str | None, Option(help="Where.")] = None,
    skip_bad: Annotated[bool, Option(help="Skip.")] = False,
) -> int:
    return 0


@pytest.mark.parametrize(
    ("line", "given"),
    [
        (["x"], {}),
        (["x", "a", "b/c"], {"more": [Path("a"), Path("b/c")]}),
        (["a", "--group", "g", "b", "--group=h"], {"what": "a", "more": [Path("b")], "group": ["g", "h"]}),
        (["-k", "5", "x", "--after=-y"], {"count": 5, "after": "-y"}),
        (["-k5", "x", "--after="], {"count": 5, "after": ""}),
        (["-k5", "x", "-k", "6"], {"count": 6}),
        (["--skip-bad", "x", "--after", "a=b"], {"skip_bad": True, "after": "a=b"}),
        (["--", "-5 degrees?", "--group"], {"what": "-5 degrees?", "more": [Path("--group")]}),
        (["-"], {"what": "-"}),
        ([""], {"what": ""}),
    ],
    ids=" ".join,
)
def test_a_line_becomes_the_arguments_of_the_function(line: list[str], given: dict[str, Any]) -> None:
    found = read_arguments("try", Command(command, "Try."), line)
    assert {name: value for name, value in found.items() if value != []} == {"what": "x", **given}


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ([], "The following arguments are required: WHAT"),
        (["x", "--bogus"], "Unrecognized arguments: --bogus."),
        (["x", "--grou", "g"], "Unrecognized arguments: --grou"),
        (["x", "-k", "many"], "Argument -k: invalid int value: 'many'."),
        (["x", "-k"], "Argument -k: expected one argument."),
        (["x", ""], "Argument MORE: a path must not be empty."),
        (["x", "--skip-bad=yes"], "Argument --skip-bad: ignored explicit argument 'yes'."),
    ],
    ids=str,
)
def test_what_does_not_fit_is_said_with_the_usage(line: list[str], said: str) -> None:
    with pytest.raises(InputError) as fault:
        read_arguments("try", Command(command, "Try."), line)
    assert fault.value.message.startswith(said)
    assert "\nUsage: clearcite try [OPTIONS] WHAT [MORE]\n" in fault.value.message
    assert "All options: clearcite try --help" in fault.value.message


def test_help_is_shown_wherever_it_is_asked_for_and_nothing_runs(capsys: pytest.CaptureFixture[str]) -> None:
    for line in (["x", "-h"], ["--help"], ["--help", "--", "x"]):
        with pytest.raises(HelpShown):
            read_arguments("try", Command(command, "Try.\n\nIn full."), line)
        assert "In full." in capsys.readouterr().out
    assert read_arguments("try", Command(command, "Try."), ["--", "-h"])["what"] == "-h"


@pytest.mark.parametrize(
    ("env", "styled"), [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)], ids=str
)
def test_styles_are_for_terminals_that_have_them(company: Path, env: dict[str, str], styled: bool) -> None:
    assert ("\x1b[2m" in on_terminal(company, "ask", "paid leave?", "--as", "ann", env=env)) is styled
