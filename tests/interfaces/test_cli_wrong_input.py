"""Wrong input anywhere: exit 2, a message on stderr that says what to change, nothing on stdout, nothing written."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.support.shell import clearcite, everything, fed, process, write

GOOD: dict[str, Any] = {
    "tenant_id": "default", "document_id": "d", "source_sequence": 1, "source_uri": "d", "source_version": "1",
    "allowed_groups": ["staff"], "content": "# D\n\nThe pump needs 3 bar.",
}  # fmt: skip


def line(**changes: Any) -> str:
    return json.dumps({**GOOD, **changes})


ASKED = {
    "no identity": ([], "Say who asks with --as NAME"),
    "a tenant alone": (["--tenant", "acme"], "Say who asks with --as NAME"),
    "an empty group": (["--tenant", "acme", "--group", ""], "--group must not be empty"),
    "an empty tenant": (["--tenant", "", "--group", "staff"], "--tenant must not be empty"),
    "a group with a space around it": (["--tenant", "acme", "--group", " staff"], "--group must not begin or end"),
    "an invisible character": (["--tenant", "acme", "--group", "sta\u200bff"], "--group must not hold control"),
    "a tenant that is not NFC": (["--tenant", "e\u0301", "--group", "staff"], "--tenant must be in Unicode form NFC"),
    "bytes that are no text": (["--tenant", "acme\udcff", "--group", "staff"], "not valid Unicode"),
    "two identities": (["--as", "ann", "--tenant", "acme", "--group", "staff"], "Use either --as"),
    "an unknown subject": (["--as", "nobody"], "knows no subject called 'nobody'"),
    "no policy file there": (["--as", "ann", "--policy", "none.toml"], "policy file cannot be read"),
    "a format that is none": (["--as", "ann", "--format", "bogus"], "--format is text or json"),
    "a moment that is none": (["--as", "ann", "--as-of", "yesterday"], "--as-of must be a date such as 2026-03-01 or"),
    "a date in another order": (["--as", "ann", "--as-of", "01.02.2026"], "such as 2026-03-01 or an instant such as"),
    "a date that is none": (["--as", "ann", "--as-of", "2026-02-30"], "--as-of must be a date that exists"),
    "a moment without offset": (["--as", "ann", "--as-of", "2026-02-03T04:05:06"], "--as-of must name its offset"),
    "a moment to come": (["--as", "ann", "--as-of", "2999-01-01"], "as_of lies in the future"),
    "a store that is not there": (["--as", "ann", "--store", "nowhere"], "There is no store here yet"),
    "a store without a name": (["--as", "ann", "--store", ""], "--store needs the name of a folder"),
    "too many groups": (["--tenant", "acme", *(f for i in range(129) for f in ("--group", str(i)))], "at most 128"),
}  # fmt: skip


@pytest.mark.parametrize("command", ["ask", "search"])
@pytest.mark.parametrize("what", ASKED)
def test_a_question_is_refused_for(company: Path, command: str, what: str) -> None:
    flags, message = ASKED[what]
    done = clearcite(company, command, "paid leave", *flags)
    assert (done.code, done.out) == (2, "")
    assert message in done.err


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["ask", ""], "The question is empty"),
        (["ask", " \n"], "The question is empty"),
        (["ask", "x" * 4001], "longer than 4000"),
        (["ask", "\udcff"], "not valid Unicode"),
        (["ask", "x", "--failure", "bogus"], "--failure is one of"),
        (["search", "x", "-k", "0"], "k must lie between 1 and 100"),
        (["search", "x", "-k", "101"], "k must lie between 1 and 100"),
        (["search", "x", "--collapse", "bogus"], "collapse is document or passage"),
        (["search", "x", "--after", "garbage"], "not one that search returned"),
        (["search", "x", "--after", "é"], "not one that search returned"),
        (["search", "x", "--after", ""], "not one that search returned"),
        (["search", "x", "--after", "A" * 5000], "not one that search returned"),
        (["list", "--limit", "0"], "limit must lie between"),
        (["list", "--limit", "-5"], "limit must lie between"),
        (["show", "nothing.md"], "There is no such document"),
        (["show", ""], "There is no such document"),
    ],
)
def test_what_is_asked_for_is_checked(company: Path, args: list[str], message: str) -> None:
    done = clearcite(company, *args, "--as", "ann")
    assert (done.code, done.out) == (2, "")
    assert message in done.err


def test_a_policy_that_is_older_than_the_last_one_is_refused(copy: Path) -> None:
    assert clearcite(copy, "list", "--as", "ann").code == 0
    policy = copy / "policy.toml"
    policy.write_text(policy.read_text().replace('"7"', '"6"'))
    done = clearcite(copy, "ask", "paid leave", "--as", "ann")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("stale_policy: ")
    policy.write_text(policy.read_text().replace('"6"', '"8"'))
    assert clearcite(copy, "list", "--as", "ann").code == 0


@pytest.mark.parametrize(
    "policy",
    [
        "revision = ",
        'revision = "x"\n',
        "revision = " + "9" * 5000,
        "a = " + "[" * 5000,
        b'revision = "\xff"\n',
        'revision = "9"\nrevision = "10"\n',
        'revision = "9"\nbogus = 1\n',
        '[subjects.ann]\ntenant = "acme"\ngroups = ["staff"]\n',
        'revision = "9"\n[subjects.ann]\ntenant = "acme"\n',
        'revision = "9"\n[subjects.ann]\ngroups = ["staff"]\n',
        'revision = "9"\n[subjects.ann]\ntenant = "acme"\ngroups = [""]\n',
        'revision = "9"\n[subjects.ann]\ntenant = "acme"\ngroups = ["g"]\nadmin = true\n',
        'revision = "9"\n[subjects.ann]\ntenant = "acme"\ngroups = ["g"]\n[groups.g]\nmembers = ["nobody"]\n',
    ],
    ids=lambda text: str(text)[:40],
)
def test_a_policy_that_cannot_be_trusted_lets_nobody_in(copy: Path, policy: str | bytes) -> None:
    write(copy, {"policy.toml": policy})
    done = clearcite(copy, "ask", "paid leave", "--as", "ann")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("invalid_configuration: ")


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ("[store", "not valid TOML"),
        ("[bogus]\n", "unknown keys: bogus"),
        ('[text]\nsemantics = "off"\n', "unknown keys: text.semantics"),
        ("[answer]\ndepth = true\n", "answer.depth must be of type int"),
        ("[answer]\ndepth = 0\n", "depth must be at least 1"),
        ("[answer]\ndepth = " + "9" * 5000, "cannot be read"),
        ("[[sources]]\npath = 'docs'\nallowed_group = ['x']\n", "unknown keys: allowed_group"),
        ("[[sources]]\npath = 'docs'\ntrusted = 'no'\n", "sources.trusted"),
        ("[routes]\nbogus = []\n", "unknown routes"),
        ('[text]\nlanguages = ["xx"]\n', "xx"),
    ],
)
def test_a_broken_configuration_stops_every_command_that_reads_it(
    empty: Path, config: str, message: str
) -> None:
    write(empty, {"clearcite.toml": config, "docs/a.md": "# A\n\nText.\n"})
    done = clearcite(empty, "ingest", "docs", "--group", "staff")
    assert (done.code, done.out) == (2, "")
    assert message in done.err
    assert everything_there(empty) == {"clearcite.toml", "docs", "docs/a.md"}


def everything_there(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*")}


PATHS = {
    "a path that is not there": (["ingest", "nowhere", "--group", "staff"], "There is no nowhere"),
    "nobody who may read": (["ingest", "docs"], "say who may read these documents"),
    "nothing to take": (["ingest"], "Name a PATH"),
    "two folders that would be one source": (
        ["ingest", "docs", "more", "--group", "staff"],
        "Two folders would be",
    ),
    "delete without a store": (["delete", "a.md", "--tenant", "default"], "There is no store here yet"),
    "a reason that is none": (["delete", "a.md", "--tenant", "t", "--reason", "spite"], "--reason is one of"),
    "migrate without a store": (["migrate"], "There is no store here yet"),
    "status without a store": (["status"], "There is no store here yet"),
    "inspect without the flag": (["inspect"], "A trace is protected"),
    "verify without a store": (["verify", "x"], "There is no store here yet"),
    "a store that is a file": (
        ["ingest", "docs", "--group", "staff", "--store", "docs/a.md"],
        "cannot be made",
    ),
    "a demo over other files": (["demo", "--dir", "docs"], "holds something else"),
}


@pytest.mark.parametrize("what", PATHS)
def test_nothing_is_written_for(empty: Path, what: str) -> None:
    args, message = PATHS[what]
    write(empty, {"docs/a.md": "# A\n\nText.\n", "more/b.md": "# B\n\nText.\n"})
    before = everything_there(empty)
    done = clearcite(empty, *args)
    assert (done.code, done.out) == (2, "")
    assert message in done.err
    assert everything_there(empty) == before


def test_a_word_that_is_nearly_right_is_answered_with_the_right_one(empty: Path) -> None:
    assert "There is no command ingset. Did you mean ingest?\n" in clearcite(empty, "ingset", "docs").err
    assert "Did you mean index list?" in clearcite(empty, "indx", "list").err
    assert "Did you mean" not in clearcite(empty, "qqqq").err, "the control"
    policy = '[subjects.alice]\ntenant = "default"\ngroups = ["staff"]\n'
    write(empty, {"policy.toml": 'revision = "1"\n' + policy})
    asked = ("ask", "What is it?", "--policy", "policy.toml", "--as")
    assert "called 'alcie'. Did you mean alice?" in clearcite(empty, *asked, "alcie").err
    assert "alice" not in clearcite(empty, *asked, "qqqq").err
    for toml, said in (
        ('[text]\nsemantics = "off"\n', "text.semantics. Did you mean text.semantic?"),
        (
            "[[sources]]\npath = 'docs'\nallowed_group = ['x']\n",
            "allowed_group. Did you mean allowed_groups?",
        ),
    ):
        write(empty, {"clearcite.toml": toml})
        assert said in clearcite(empty, "sync").err


def test_init_writes_over_nothing(empty: Path) -> None:
    write(empty, {"policy.toml": "mine"})
    done = clearcite(empty, "init")
    assert (done.code, done.out) == (2, "")
    assert everything_there(empty) == {"policy.toml"}


FEEDS = {
    "a key that stands twice": (line()[:-1] + ', "document_id": "e"}', "stands twice"),
    "NaN": (line().replace('"source_sequence": 1', '"source_sequence": NaN'), "NaN is not JSON"),
    "a lone surrogate": (line(document_id="\ud800"), "lone surrogate"),
    "a huge integer": (line(source_sequence=10**30), "integer is outside"),
    "a number that is true": (line(source_sequence=True), "must be an integer"),
    "an unknown field": (line(bogus=1), 'unknown field "bogus"'),
    "an empty list of readers": (line(allowed_groups=[]), "must name at least one group"),
    "no list of readers": (json.dumps({k: v for k, v in GOOD.items() if k != "allowed_groups"}), "allowed_groups"),
    "a reversed window": (line(effective_from="2026-02-01", effective_to="2026-01-01"), "before the end"),
    "an empty window": (line(effective_from="2026-02-01", effective_to="2026-02-01"), "before the end"),
    "a naive instant": (line(source_time="2026-02-01T00:00:00"), "must name its offset"),
    "an invisible character in an id": (line(document_id="d\u200b"), "control or invisible"),
    "a space around an id": (line(tenant_id=" default"), "begin or end with a space"),
    "a local path as address": (line(source_uri="/etc/passwd"), "not a local path"),
    "a script as address": (line(source_uri="javascript:alert(1)"), "must not use this scheme"),
    "a delete without a reason": (json.dumps({"operation": "delete", "tenant_id": "default", "document_id": "d",
                                              "source_sequence": 2}), "missing field reason"),
    "a path out of the folder": (line(content=None, content_path="../secret.md"), "inside the folder of the feed"),
    "no JSON": ("not json", "not valid JSON"),
    "a byte order mark": ("\ufeff" + line(), "byte order mark"),
    "too deep": ("[" * 5000 + "]" * 5000, "nested deeper"),
}  # fmt: skip


@pytest.mark.parametrize("what", FEEDS)
def test_a_feed_is_refused_whole_for(empty: Path, what: str) -> None:
    bad, message = FEEDS[what]
    write(empty, {"feed.jsonl": f"{line(document_id='good')}\n{bad}\n"})
    done = clearcite(empty, "ingest", "feed.jsonl")
    assert (done.code, done.out) == (2, "")
    assert "line 2" in done.err and message in done.err
    assert "nothing to do" in done.err
    assert everything(empty) == []


def test_the_good_lines_of_a_bad_feed_are_taken_on_demand_and_all_faults_are_said(empty: Path) -> None:
    write(empty, {"feed.jsonl": "\n".join([line(document_id="good"), *(bad for bad, _ in FEEDS.values())])})
    done = clearcite(empty, "ingest", "feed.jsonl", "--skip-bad")
    assert (done.code, done.out) == (2, "")
    assert done.err.count("refused:") >= min(len(FEEDS), 20)
    assert [item["document_id"] for item in everything(empty)] == ["good"]


def test_one_sequence_with_two_states_is_a_conflict_and_the_first_stays(empty: Path) -> None:
    write(empty, {"feed.jsonl": fed(GOOD, {**GOOD, "content": "# D\n\nThe pump needs 4 bar."})})
    done = clearcite(empty, "ingest", "feed.jsonl")
    assert done.code == 2
    assert "The same source sequence carries another state" in done.err
    assert "3 bar" in clearcite(empty, "show", "d", "--tenant", "default", "--group", "staff").out


def test_bad_files_of_a_folder_are_named_and_the_rest_goes_on(empty: Path) -> None:
    write(
        empty,
        {
            "secret.md": "# Secret\n\nOutside.\n",
            "docs/good.md": "# Good\n\nThe pump needs 3 bar.\n",
            "docs/tenant.md": "---\ntenant_id: other\n---\n# T\n",
            "docs/nobody.md": "---\nallowed_groups: []\n---\n# N\n",
            "docs/window.md": "---\neffective_from: 2026-02-01\neffective_to: 2026-01-01\n---\n# W\n",
            "docs/blank.md": " \n",
            "docs/binary.md": b"\xff\xfe\x00\xd8",
            "docs/large.txt": b"a" * 10_000_001,
            "docs/un\u200bseen.md": "# U\n\nText.\n",
            "docs/broken.pdf": b"%PDF-1.7 this is none",
            "docs/image.png": b"\x89PNG",
        },
    )
    (empty / "docs" / "link.md").symlink_to(empty / "secret.md")
    (empty / "docs" / "folder").symlink_to(empty)
    done = clearcite(empty, "ingest", "docs", "--group", "staff")
    assert (done.code, done.out) == (2, "")
    said = {
        "tenant.md": "cannot set tenant_id itself",
        "nobody.md": "must name at least one group",
        "window.md": "before the end of the window",
        "blank.md": "white space",
        "binary.md": "not valid UTF-8",
        "large.txt": "is larger than 10000000 bytes",
        "seen.md": "control or invisible",
        "link.md": "leads out of the folder",
        "folder": "link to a folder is not followed",
        "default/broken.pdf": "the PDF is damaged",
        "image.png": "unknown file type",
    }
    for name, message in said.items():
        assert any(name in row and message in row for row in done.err.splitlines()), name
    assert [item["document_id"] for item in everything(empty)] == ["good.md"]
    again = clearcite(empty, "ingest", "docs", "--group", "staff")
    assert again.code == 2 and "default/broken.pdf" in again.err, "what is still not indexed is said again"


def test_what_could_not_be_indexed_is_the_only_fault_and_is_still_said(empty: Path) -> None:
    write(empty, {"docs/broken.pdf": b"%PDF-1.7 this is none"})
    assert clearcite(empty, "ingest", "docs", "--group", "staff").code == 2
    again = clearcite(empty, "ingest", "docs", "--group", "staff")
    assert again.code == 2
    assert "not indexed: default/broken.pdf" in again.err


@pytest.mark.parametrize(
    ("response", "code", "message"),
    [
        ("nothing.json", 2, "No such file"),
        (".", 2, "Is a directory"),
        ("bad.json", 2, "NaN is not JSON"),
        ("twice.json", 2, "stands twice"),
    ],
)
def test_a_response_to_verify_must_be_readable(copy: Path, response: str, code: int, message: str) -> None:
    write(copy, {"bad.json": '{"a": NaN}', "twice.json": '{"a": 1, "a": 2}'})
    trace = clearcite(copy, "ask", "paid leave", "--as", "ann").json["trace_id"]
    done = clearcite(copy, "verify", trace, "--response", response)
    assert (done.code, done.out) == (code, "")
    assert message in done.err


def test_no_message_names_a_place_of_the_program(empty: Path) -> None:
    """Through a process, where a traceback would show."""
    done = process(empty, "ask", "x", "--tenant", "a", "--group", "b")
    assert done.code == 2
    assert "Traceback" not in done.err and ".py" not in done.err
    assert os.sep + "src" not in done.err


@pytest.mark.parametrize(
    "command",
    [
        ("evaluate", "missing.toml"),
        ("ablate", "missing.toml"),
        ("drill", "--suite", "missing.toml"),
        ("export-cases", "missing.toml", "--operator-view"),
    ],
)
def test_a_place_that_cannot_be_written_is_said_before_the_work(copy: Path, command: tuple[str, ...]) -> None:
    """The suite is missing: whoever began to work would say that."""
    write(copy, {"taken": "a file"})
    done = clearcite(copy, *command, "--out", "taken/report")
    assert (done.code, done.out) == (2, "") and "cannot be written" in done.err and "taken" in done.err
    control = clearcite(copy, *command, "--out", "new" if command[0] == "export-cases" else "new/report")
    assert control.code == 2 and "suite cannot be read" in control.err
    assert not (copy / "new").exists(), "nothing is left behind"
