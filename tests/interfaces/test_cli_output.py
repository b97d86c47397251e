"""What comes out: UTF-8, JSON lines when piped, nothing that acts on a terminal or that the asker may not know."""

from __future__ import annotations

import base64
import json
import os
import pty
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import clearcite as package
from tests.interfaces.conftest import HIDDEN
from tests.support.shell import clearcite, process, without, write

LEAVE = "How many days of paid leave do employees have?"
ANN, BOB = ("--as", "ann"), ("--as", "bob")
SCHEMAS = Path(package.__file__).parent / "schemas"
KINDS = {
    "ask": ("answer", ["ask", LEAVE]),
    "ask, a conflict": ("answer", ["ask", "What is the lodging allowance per night?"]),
    "ask, no evidence": ("answer", ["ask", "What is the weather on Mars?"]),
    "ask, unavailable": ("answer", ["ask", LEAVE, "--failure", "retrieval_error"]),
    "search": ("search", ["search", "paid leave"]),
    "search, nothing": ("search", ["search", "zzzz"]),
    "list": ("document", ["list"]),
    "show": ("document", ["show", "leave.md", "--source", "handbook"]),
}


@pytest.mark.parametrize("kind", KINDS)
def test_piped_output_is_json_lines_that_fit_the_published_schema(company: Path, kind: str) -> None:
    schema, args = KINDS[kind]
    done = clearcite(company, *args, *ANN)
    validator = jsonschema.Draft202012Validator(json.loads((SCHEMAS / f"{schema}.json").read_text("utf-8")))
    assert done.lines
    assert [error.message for line in done.lines for error in validator.iter_errors(line)] == []
    assert done.out.endswith("\n") and done.out.splitlines() == done.out[:-1].split("\n")


@pytest.mark.parametrize(
    ("env", "form"), [({"PYTHONIOENCODING": "ascii"}, "text"), ({"LC_ALL": "C", "PYTHONUTF8": "0"}, "json")]
)
def test_arguments_and_output_are_utf8_whatever_the_locale(
    company: Path, env: dict[str, str], form: str
) -> None:
    done = process(company, "ask", "Qual é o subsídio de refeição?", *ANN, "--format", form, env=env)
    assert done.code == 0
    assert "subsídio de refeição é de 9,60 €" in done.out


def test_nothing_is_coloured_when_piped(company: Path) -> None:
    for form in ("text", "json"):
        done = clearcite(company, "search", "valve opens", *ANN, "--format", form)
        assert "valve" in done.out
        assert not {"\x1b", "\x9b", "\u202e", "\u2028"} & set(done.out)


def test_what_a_document_holds_does_not_act_on_a_terminal(company: Path) -> None:
    """A real terminal: the only escapes on it are our own colours."""
    for form in ("text", "json"):
        seen = on_terminal(company, "show", "odd.md", "--source", "handbook", *ANN, "--format", form)
        assert "valve" in seen and "opens at 7 bar" in seen
        assert "\x1b[31m" not in seen
        assert not {"\x9b", "\u202e"} & set(seen)


def test_escapes_in_json_are_those_of_the_document(company: Path) -> None:
    done = clearcite(company, "show", "odd.md", "--source", "handbook", *ANN)
    assert "\x1b[31mred\x1b[0m \x9b31m \u202epart\u2028 opens" in done.json["text"]


def on_terminal(folder: Path, *args: str, env: Mapping[str, str] | None = None) -> str:
    ours, theirs = pty.openpty()
    child = subprocess.Popen(
        [sys.executable, "-m", "clearcite", *args],
        cwd=folder,
        env={**os.environ, "TERM": "xterm-256color", **(env or {})},
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=subprocess.DEVNULL,
    )
    os.close(theirs)
    seen = b""
    try:
        while part := os.read(ours, 65536):
            seen += part
    except OSError:  # the other side has gone
        pass
    finally:
        os.close(ours)
        child.wait()
    return seen.decode("utf-8")


QUESTIONS = [
    ["ask", "What is the purchase price of the parking company?"],
    ["ask", HIDDEN[1]],
    ["ask", LEAVE],
    ["search", HIDDEN[1], "-k", "100"],
    ["search", HIDDEN[2], "--collapse", "passage"],
    ["list"],
    ["show", "leave.md", "--source", "handbook"],
]


@pytest.mark.parametrize("form", ["text", "json"])
@pytest.mark.parametrize("args", QUESTIONS, ids=" ".join)
def test_nothing_hidden_and_nothing_of_the_inside_comes_out(
    company: Path, args: list[str], form: str
) -> None:
    done = clearcite(company, *args, *ANN, "--format", form)
    said = (done.out + done.err).casefold().replace(" ".join(args[1:2]).casefold(), "")
    for canary in (*HIDDEN, "99 days"):
        assert canary.casefold() not in said
    assert str(company) not in said and ".clearcite" not in said and ".db" not in said


def test_control_somebody_who_may_read_it_sees_all_of_it(company: Path) -> None:
    said = "".join(clearcite(company, *args, *BOB).out for args in QUESTIONS)
    for canary in (*HIDDEN, "99 days"):
        assert canary in said


def names_in(value: Any) -> set[str]:
    if isinstance(value, dict):
        return set(value) | {name for item in value.values() for name in names_in(item)}
    return {name for item in value for name in names_in(item)} if isinstance(value, list) else set()


@pytest.mark.parametrize("kind", KINDS)
def test_no_field_of_a_response_is_a_score_a_count_or_a_reason(company: Path, kind: str) -> None:
    names = {name for line in clearcite(company, *KINDS[kind][1], *ANN).lines for name in names_in(line)}
    for word in ("score", "rank", "total", "count", "candidate", "dropped", "degraded", "reason", "cause", "filter",
                 "group", "tenant", "position", "generation", "manifest", "millisecond", "path"):  # fmt: skip
        assert not [name for name in names if word in name]


def test_missing_and_forbidden_look_alike_to_the_byte(company: Path) -> None:
    forbidden = clearcite(company, "show", "nightjar-7f3a.md", "--source", "board", *ANN)
    missing = clearcite(company, "show", "nightjar-0000.md", "--source", "board", *ANN)
    nowhere = clearcite(company, "show", "x", "--source", "y", *ANN)
    assert forbidden == missing == nowhere
    assert clearcite(company, "show", "nightjar-7f3a.md", "--source", "board", *BOB).code == 0


def test_a_page_and_the_next_are_the_list_and_a_cursor_tells_nothing(company: Path) -> None:
    whole = clearcite(company, "search", "day month hotel night bar", *ANN, "-k", "100").json
    names = [hit["document_id"] for hit in whole["hits"]]
    assert whole["next"] is None and len(names) >= 3
    first = clearcite(company, "search", "day month hotel night bar", *ANN, "-k", "2").json
    rest = clearcite(
        company, "search", "day month hotel night bar", *ANN, "-k", "100", "--after", first["next"]
    ).json
    assert [hit["document_id"] for hit in (*first["hits"], *rest["hits"])] == names
    raw = base64.urlsafe_b64decode(first["next"] + "==")
    assert len(raw) == 26, "an integer score and a chunk id"
    assert without(rest, ["trace_id"])["next"] is None


def test_a_text_answer_shows_each_statement_with_its_citation(company: Path) -> None:
    done = clearcite(company, "ask", LEAVE, *ANN, terminal=True)
    assert done.out.startswith("answered (confidence ")
    assert "Every employee has 25 days of paid leave a year. [1]" in done.out
    assert "[1] Leave (leave.md)" in done.out


def test_a_snippet_shows_the_words_of_a_table_and_not_how_it_is_drawn(tmp_path: Path) -> None:
    """A dash in a cell stays."""
    page = "# Codes\n\n| Code | Sense |\n|:---|---:|\n| QX-7 | door -- open |\n\na | b\n- | -\n1 | -\n"
    write(tmp_path, {"docs/codes.md": page})
    assert clearcite(tmp_path, "ingest", "docs", "--group", "staff").code == 0
    (hit,) = clearcite(tmp_path, "search", "QX-7", "--tenant", "default", "--group", "staff").json["hits"]
    assert hit["snippet"] == "Code | Sense | | QX-7 | door -- open | a | b 1 | -"
