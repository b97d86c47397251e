"""``evaluate`` over the shipped fixture: PASS as it is, BLOCK when a part fails, nothing hidden in its files."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import pytest

from clearcite.bench.run_file import faults_of
from tests.support.shell import Done, clearcite, process
from tests.support.world import fast_folder

STATUSES = {
    "Q-refund": "answered",
    "Q-duplicate": "answered",
    "Q-phone-guest": "insufficient_evidence",
    "Q-phone-oncall": "answered",
    "Q-conflict": "conflict",
    "Q-mars": "insufficient_evidence",
    "Q-untrusted-content": "answered",
    "Q-order-live": "tool_required",
}


@pytest.fixture(scope="module")
def home() -> Iterator[Path]:
    folder = fast_folder()
    with as_file(files("clearcite.demo") / "fixture.json") as shipped:
        shutil.copy(shipped, folder / "suite.json")
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(autouse=True)
def _words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLEARCITE_SEMANTIC", "off")


def evaluated(home: Path, out: str, *args: str) -> tuple[Done, dict[str, Any], list[dict[str, Any]]]:
    done = clearcite(home, "evaluate", "suite.json", "--out", out, *args)
    run = json.loads((home / out / "run.json").read_text())
    cases = [json.loads(line) for line in (home / out / "cases.jsonl").read_text().splitlines()]
    return done, run["predicate"], cases


def test_the_fixture_passes_as_it_is(home: Path) -> None:
    done, run, cases = evaluated(home, "plain")
    assert (done.code, run["verdict"]) == (0, "PASS")
    assert {case["case_id"]: case["status"] for case in cases} == STATUSES
    assert all(not case["codes"] for case in cases)


@pytest.mark.parametrize(
    ("failure", "statuses"),
    [
        ("retrieval_error", {"dependency_unavailable", "tool_required"}),
        ("generation_error", {"generation_unavailable", "tool_required"}),
        ("reranker_error", set(STATUSES.values())),
    ],
)
def test_every_injected_failure_blocks(home: Path, failure: str, statuses: set[str]) -> None:
    done, run, cases = evaluated(home, failure, "--failure", failure)
    assert (done.code, run["verdict"]) == (1, "BLOCK")
    assert {case["status"] for case in cases} == statuses
    gates = {gate["name"]: gate["state"] for gate in run["gates"]}
    assert gates["degraded"] == "fail"
    assert (gates["case_pass_rate"] == "pass") is (failure == "reranker_error")
    assert gates["non_disclosure_violations"] == "pass"


def test_a_run_is_byte_identical_in_another_process_with_another_hash_seed_and_optimised(home: Path) -> None:
    evaluated(home, "first")
    for number, flags in enumerate((("-m", "clearcite"), ("-O", "-m", "clearcite"))):
        done = process(
            home,
            "evaluate",
            "suite.json",
            "--out",
            f"again-{number}",
            python=flags,
            env={"PYTHONHASHSEED": "7"},
        )
        assert done.code == 0, done.err
        for file in ("run.json", "cases.jsonl", "summary.md"):
            assert (home / "first" / file).read_bytes() == (home / f"again-{number}" / file).read_bytes(), (
                file
            )


def test_nothing_that_was_forbidden_stands_in_any_file_or_output(home: Path) -> None:
    suite = json.loads((home / "suite.json").read_text())
    hidden = {text for query in suite["queries"] for text in query["forbidden_output_substrings"]}
    hidden |= {document["title"] for document in suite["documents"]} | {"S3", str(home)}
    done, _, _ = evaluated(home, "scan")
    said = done.out + done.err + "".join(path.read_text() for path in (home / "scan").iterdir())
    # A ranking names what each asker may read, by question: the one who may read S3 finds it.
    ranked = [
        line
        for name in ("run.trec", "qrels.trec")
        for line in (home / "scan" / name).read_text().splitlines()
    ]
    allowed = [line for line in ranked if "/S3 " in line]
    assert allowed and all(line.startswith("Q-phone-oncall ") for line in allowed)
    said = "\n".join(line for line in said.splitlines() if line not in allowed)
    assert not [text for text in hidden if text in said]
    control = clearcite(home, "ask", "--fixture", "suite.json", "--query-id", "Q-phone-oncall").out
    assert "0555-0142-77" in control and "S3" in control


def test_a_leak_a_wrong_status_and_a_missing_fact_each_block(home: Path) -> None:
    """Each gate fails by a fault of its own: the documents are changed, the expectations are not."""
    suite = json.loads((home / "suite.json").read_text())
    faults = {
        "leak": lambda documents: documents[2].update(acl=["public"]),
        "expired": lambda documents: documents[1].update(effective_to=None),
        "missing": lambda documents: documents[0].update(status="archived"),
    }
    codes = {}
    for name, fault in faults.items():
        changed = json.loads(json.dumps(suite))
        fault(changed["documents"])
        (home / "changed.json").write_text(json.dumps(changed))
        done = clearcite(home, "evaluate", "changed.json", "--out", name)
        assert done.code == 1, name
        lines = (home / name / "cases.jsonl").read_text().splitlines()
        codes[name] = {code for line in lines for code in json.loads(line)["codes"]}
    assert {"forbidden_text", "forbidden_document_cited"} <= codes["leak"]
    assert "forbidden_document_retrieved" in codes["expired"]
    assert {"status_mismatch", "retrieval_fact_missing"} <= codes["missing"]


def test_run_json_is_derived_again_and_an_edit_is_found(home: Path) -> None:
    evaluated(home, "kept")
    raw = (home / "kept" / "run.json").read_text()
    assert faults_of(json.loads(raw), home / "kept") == ()
    flipped = json.loads(raw.replace('"verdict":"PASS"', '"verdict":"BLOCK"'))
    assert faults_of(flipped, home / "kept")[0] == "the verdict does not follow from the gates"
    (home / "kept" / "cases.jsonl").write_bytes(b"{}\n")
    assert faults_of(json.loads(raw), home / "kept") == ("cases.jsonl is not the file of this run",)


def test_one_query_is_asked_and_inspected_and_the_envelope_holds_nothing_else(home: Path) -> None:
    query = ["--fixture", str(home / "suite.json"), "--query-id", "Q-refund"]
    asked = clearcite(home, "ask", *query)
    assert set(asked.json) == {"mode", "result"} and asked.json["result"]["status"] == "answered"
    assert str(home) not in asked.out
    refused = clearcite(home, "inspect", *query)
    assert (refused.code, refused.out) == (2, "")
    seen = clearcite(home, "inspect", *query, "--operator-view").json
    assert seen["result"]["trace"]["visibility"] == "privileged_audit"
    assert seen["result"]["trace"]["request"]["principal"]["authorization_revision"] == "policy-12"
    reasons = seen["result"]["reasons"]
    assert "acl_denied" in reasons["harbour/fixture/S3"] and reasons["harbour/fixture/S1"] == []
    failed = clearcite(home, "inspect", *query, "--operator-view", "--failure", "retrieval_error").json
    assert failed["result"]["trace"]["degraded"] and failed["result"]["trace"]["cause"] == "dependency"


def test_wrong_use_ends_with_2_and_says_nothing_on_stdout(home: Path) -> None:
    (home / "broken.json").write_text('{"schema_version": "\\ud800"}')
    for line in (
        ["ask", "--fixture", "suite.json"],
        ["ask", "--fixture", "suite.json", "--query-id", "Q-none"],
        ["ask", "--fixture", "absent.json", "--query-id", "Q-refund"],
        ["evaluate", "broken.json"],
        ["evaluate", "suite.json", "--failure", "bogus"],
        ["inspect", "--failure", "retrieval_error", "--operator-view"],
        ["ask"],
    ):
        done = clearcite(home, *line)
        assert (done.code, done.out) == (2, ""), line
        assert "Traceback" not in done.err and str(home) not in done.err


def test_what_a_fixture_says_itself_is_not_said_again(home: Path) -> None:
    """It would count for nothing: the question of the fixture is asked, by whom the fixture says."""
    query = ["--fixture", str(home / "suite.json"), "--query-id", "Q-refund"]
    for more in (
        ["How long?"],
        ["--as", "bob"],
        ["--tenant", "t", "--group", "g"],
        ["--as-of", "2020-01-01"],
    ):
        done = clearcite(home, "ask", *more, *query)
        assert (done.code, done.out) == (2, ""), more
    done = clearcite(home, "inspect", "0" * 32, "--operator-view", *query)
    assert (done.code, done.out) == (2, "")
    done = clearcite(home, "ask", "How long?", "--tenant", "t", "--group", "g", "--query-id", "Q-refund")
    assert done.code == 2 and "--fixture" in done.err
