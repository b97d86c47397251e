"""``export-cases --traces``: what was asked becomes cases, judged by who could read what when it was asked."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from clearcite.bench.answering import OPERATOR
from clearcite.bench.exporting import export_traces
from clearcite.config import load_settings
from clearcite.scope_check import check
from clearcite.wiring import engine_on
from tests.support.shell import Done, clearcite, write
from tests.support.world import fast_folder

CONFIG = """
[store]
policy = "policy.toml"
[text]
semantic = "off"
[[sources]]
path = "docs"
allowed_groups = ["staff"]
trusted = true
"""
POLICY = """
revision = "1"
issued_at = "2026-01-01T00:00:00Z"
[subjects.ann]
tenant = "default"
groups = ["staff"]
[subjects.ben]
tenant = "default"
groups = ["staff", "vault"]
[subjects.olga]
tenant = "default"
groups = ["staff"]
roles = ["operator"]
"""
SUITE = """
[[cases]]
id = "code"
ask = {text = "Which code opens the vault?", as = "ben"}
expect = {status = "answered", cites = ["vault.md"]}
"""
VAULT = "---\nallowed_groups: [{}]\n---\n# Vault\n\nThe code that opens the vault is 4711.\n"
CODE, FLOWERS = "Which code opens the vault?", "When are the flowers watered?"


@pytest.fixture
def home() -> Iterator[Path]:
    folder = fast_folder()
    docs = {
        "docs/vault.md": VAULT.format("vault"),
        "docs/flowers.md": "# Flowers\n\nThe flowers are watered on Monday.\n",
    }
    write(folder, {"clearcite.toml": CONFIG, "policy.toml": POLICY, "suite.toml": SUITE, **docs})
    assert clearcite(folder, "ingest").code == 0
    yield folder
    shutil.rmtree(folder)


def exported(home: Path, *args: str) -> tuple[Done, list[dict[str, Any]]]:
    done = clearcite(home, "export-cases", *args, "--operator-view")
    return done, [json.loads(line) for line in done.out.splitlines()]


def test_what_people_asked_is_judged_by_what_a_suite_says_of_the_same_question(home: Path) -> None:
    for who in ("ann", "ben"):
        assert clearcite(home, "ask", CODE, "--as", who).code == 0
    assert clearcite(home, "ask", FLOWERS, "--as", "ann").code == 0
    assert clearcite(home, "search", "vault", "--as", "ben", "-k", "1").code == 0
    done, cases = exported(home, "suite.toml", "--traces", "9")
    assert done.code == 0 and "4 cases exported" in done.err
    vault, flowers = "default/default/vault.md", "default/default/flowers.md"
    found, unjudged, of_ben, of_ann = cases
    assert (found["k"], found["returned_doc_ids"], found["cohort"]) == (1, [vault], "staff+vault")
    assert (unjudged["relevant_doc_ids"], unjudged["returned_doc_ids"]) == ([], [flowers])
    assert (of_ben["relevant_doc_ids"], of_ben["authorized_doc_ids"]) == ([vault], [vault])
    assert of_ben["eligible_doc_count"] == 2 and of_ann["eligible_doc_count"] == 1
    assert of_ann["relevant_doc_ids"] == [vault] and vault not in of_ann["authorized_doc_ids"]
    assert of_ann["policy_as_of"] == "2026-01-01T00:00:00Z" < of_ann["retrieved_at"]
    (home / "cases.jsonl").write_text(done.out)
    checked = clearcite(home, "scope-check", "cases.jsonl", "--format", "json")
    assert checked.code == 0
    scored = [one["authorized_recall"] for one in json.loads(checked.out)["cases"]]
    assert [item is None for item in scored] == [True, True, False, True], "ann may not read what is relevant"
    _, without = exported(home, "--traces", "9")
    assert [one["relevant_doc_ids"] for one in without] == [[]] * 4


def test_who_may_read_is_what_held_when_it_was_asked(home: Path) -> None:
    assert clearcite(home, "ask", CODE, "--as", "ben").code == 0
    (home / "docs" / "vault.md").write_text(VAULT.format("nobody-else"))
    assert clearcite(home, "ingest").code == 0
    assert clearcite(home, "ask", CODE, "--as", "ben").code == 0
    done, (later, earlier) = exported(home, "suite.toml", "--traces", "9")
    assert earlier["authorized_doc_ids"] == earlier["returned_doc_ids"] == ["default/default/vault.md"]
    assert later["authorized_doc_ids"] == [], "the control: not any more"
    assert done.code == 0 and check([earlier, later]).failures == ()


def test_a_question_that_found_what_was_replaced_since_is_left_out_and_counted(home: Path) -> None:
    for question in (CODE, FLOWERS):
        assert clearcite(home, "ask", question, "--as", "ben").code == 0
    (home / "docs" / "flowers.md").write_text("# Flowers\n\nThe flowers are watered on Friday.\n")
    assert clearcite(home, "ingest").code == 0
    done, cases = exported(home, "--traces", "9")
    assert (
        len(cases) == 1
        and "1 recorded question left out: a document that it found has been replaced" in done.err
    )


def test_an_answer_that_went_to_the_wrong_asker_is_a_leak_in_its_case(home: Path) -> None:
    assert clearcite(home, "ask", CODE, "--as", "ben").code == 0
    with engine_on(load_settings(home)) as engine:
        operator = engine.operator(OPERATOR)
        (trace,) = operator.newest()
        narrow = {**trace.request["principal"], "groups": ["staff"]}
        wrong = replace(trace, request={**trace.request, "principal": narrow})
        assert check(export_traces(operator, [trace], {}, 10)).failures == ()  # type: ignore[arg-type]
        (failure,) = check(export_traces(operator, [wrong], {}, 10)).failures  # type: ignore[arg-type]
    assert "unauthorized documents returned" in failure


def test_what_was_recorded_is_for_operators_and_nothing_is_made_of_nothing(home: Path) -> None:
    assert "No recorded question" in exported(home, "--traces", "9")[0].err
    assert clearcite(home, "ask", CODE, "--as", "ben").code == 0
    assert exported(home, "--traces", "9", "--as", "olga")[0].code == 0
    assert "operator" in exported(home, "--traces", "9", "--as", "ann")[0].err
    for args in ((), ("--traces", "0"), ("other.json", "--traces", "5")):
        done, _ = exported(home, *args)
        assert (done.code, done.out) == (2, "")
