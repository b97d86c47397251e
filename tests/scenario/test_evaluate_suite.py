"""``evaluate`` over a suite of one's own on one's own store: verdicts, files that tell nothing, the same bytes."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from clearcite.bench.disclosure import leaking_files
from clearcite.bench.run_file import faults_of
from clearcite.bench.suite import Asked, Oracle, Suite, SuiteCase
from tests.interfaces.test_cli_builds import CONFIG, POLICY
from tests.support.shell import Done, clearcite, process, write
from tests.support.world import fast_folder, principal

SUITE = """
as_of = "2026-11-01"
[gates]
min_authorized_recall = 0.9
max_underfill_rate = 1
[[cases]]
id = "lodging"
critical = true
ask = {text = "What is the lodging allowance?", as = "ann"}
expect = {status = "answered", cites = {"lodging.md" = 2}, says = ["EUR 140"], never_shown = ["EUR 999"]}
[[cases]]
id = "secret"
slice = "unauthorized"
cohort = "guests"
ask = {text = "What is the lodging allowance of the board?", tenant = "default", groups = ["guest"]}
expect = {status = "insufficient_evidence", forbidden = ["board.md"], never_shown = ["EUR 999", "Zugspitze"]}
"""
HIDDEN = ("EUR 999", "EUR 140", "Zugspitze", "board.md", "lodging.md", "Lodging", "allowance")
RANKED = ("run.trec", "qrels.trec")
FILES = ("run.json", "cases.jsonl", "summary.md", "junit.xml", "report.html", *RANKED)


@pytest.fixture(scope="module")
def home() -> Iterator[Path]:
    folder = fast_folder()
    board = (
        "---\nallowed_groups: [board]\n---\n# Zugspitze\n\nThe lodging allowance of the board is EUR 999.\n"
    )
    docs = {
        "docs/lodging.md": "# Lodging\n\nThe lodging allowance is EUR 140 per night.\n",
        "docs/board.md": board,
        "docs/rooms.md": "# Rooms\n\nRoom 5 has three beds.\n",
    }
    write(folder, {"clearcite.toml": CONFIG, "policy.toml": POLICY, "suite.toml": SUITE, **docs})
    assert clearcite(folder, "ingest").code == 0
    yield folder
    shutil.rmtree(folder)


def evaluated(home: Path, *args: str, suite: str = "suite.toml") -> Done:
    return clearcite(home, "evaluate", suite, *args)


def run_of(home: Path, out: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((home / out / "run.json").read_bytes())["predicate"]
    return found


def test_a_suite_of_one_s_own_passes_and_leaves_files_from_which_the_verdict_follows(home: Path) -> None:
    done = evaluated(home, "--out", "plain")
    assert (done.code, done.err) == (0, ""), done.out
    run = run_of(home, "plain")
    assert (run["verdict"], run["n"], run["n_scored"]) == ("PASS", 2, 2)
    staff, guests = run["cohorts"]
    assert [(row["tenant"], row["cohort"]) for row in (staff, guests)] == [
        ("default", "staff"),
        ("default", "guests"),
    ]
    assert staff["scores"]["ndcg@10"]["value"] == "1.000000"
    assert guests["scores"]["ndcg@10"] == {
        "value": None,
        "n": 1,
        "n_scored": 0,
        "reason": "no case could be scored",
    }
    assert [row["slice"] for row in run["slice_scores"]] == ["all", "unauthorized"]
    assert "Not judged (the suite gives no limit)" in done.out, done.out
    assert faults_of(json.loads((home / "plain" / "run.json").read_bytes()), home / "plain") == ()
    assert clearcite(home, "inspect", "--operator-view", "0" * 32).code == 2, "no trace was left"


@pytest.mark.parametrize(
    ("failure", "gate", "leak"),
    [
        ("retrieval_error", "critical", "unscored"),
        ("generation_error", "critical", "pass"),
        ("reranker_error", "degraded", "pass"),
    ],
)
def test_a_part_that_fails_blocks_and_where_nothing_was_read_nothing_is_said_of_leaks(
    home: Path, failure: str, gate: str, leak: str
) -> None:
    done = evaluated(home, "--failure", failure, "--out", failure)
    states = {item["name"]: item["state"] for item in run_of(home, failure)["gates"]}
    assert (done.code, states[gate], states["leak"]) == (1, "fail", leak)


def test_files_and_output_hold_no_text_title_or_id_and_no_string_that_may_be_shown_nowhere(
    home: Path,
) -> None:
    said = "".join(evaluated(home, "--out", "scan", *more).out for more in ((), ("--format", "json")))
    texts = {name: (home / "scan" / name).read_text(encoding="utf-8") for name in FILES}
    said += "".join(text for name, text in texts.items() if name not in RANKED)
    assert sorted(path.name for path in (home / "scan").iterdir()) == sorted(FILES)
    assert not [text for text in (*HIDDEN, str(home)) if text in said]
    # A ranking names documents, and only such as its asker may read.
    ranked = "".join(texts[name] for name in RANKED)
    assert "lodging.md" in ranked
    assert not [text for text in (*HIDDEN, str(home)) if text in ranked.replace("lodging.md", "")]
    shown = clearcite(
        home, "ask", "What is the lodging allowance of the board?", "--tenant", "default", "--group", "board"
    )
    assert "EUR 999" in shown.out and "Zugspitze" in shown.out, "the control"


def test_a_report_that_would_hold_such_a_string_is_found_and_the_suite_s_own_words_are_not_one() -> None:
    oracle = Oracle(status="answered", canaries=("Zugspitze", "é\n9999", "abc"))
    one = SuiteCase(
        id="one",
        slice="all",
        cohort="staff",
        critical=False,
        asked=Asked(text="", principal=principal("staff")),
        oracle=oracle,
    )
    suite = Suite(name="suite", cases=(one,), sha256="")
    clean = {"a": b'{"id":"one","sha":"' + b"abc9999f" * 8 + b'"}'}
    assert leaking_files(clean, suite) == ()
    assert leaking_files({**clean, "b": b"on the Zugspitze"}, suite) == ("b",)
    assert leaking_files({"c": json.dumps("é\n9999").encode()}, suite) == ("c",)
    named = replace(suite, cases=(replace(one, id="to the Zugspitze"),))
    assert leaking_files({"b": b"to the Zugspitze"}, named) == ()


def test_a_run_is_the_same_bytes_elsewhere_optimised_and_with_another_hash_seed(home: Path) -> None:
    assert evaluated(home, "--out", "first").code == 0
    elsewhere = fast_folder()
    try:
        shutil.copy(home / "suite.toml", elsewhere)
        store = ("--store", str(home / ".clearcite"), "--policy", str(home / "policy.toml"))
        for seed, flags in (("7", ("-m", "clearcite")), ("11", ("-O", "-m", "clearcite"))):
            env = {"PYTHONHASHSEED": seed, "CLEARCITE_SEMANTIC": "off"}
            done = process(elsewhere, "evaluate", "suite.toml", *store, "--out", seed, python=flags, env=env)
            assert done.code == 0, done.err
            for name in FILES:
                assert (elsewhere / seed / name).read_bytes() == (home / "first" / name).read_bytes(), name
    finally:
        shutil.rmtree(elsewhere)


def test_every_fault_of_a_suite_is_reported_together_and_nothing_is_written(home: Path) -> None:
    wrong = """
colour = 1
as_of = "tomorrow"
[gates]
min_ndgc = 0.5
k = 0
max_underfill_rate = 1.5
[[cases]]
id = "one"
critical = "yes"
ask = {text = "What?", as = "anne", status = "answered"}
expect = {status = "answred", cites = ["board.md"]}
[[cases]]
id = "one"
ask = {text = " ", tenant = "default"}
expect = {cites = {"lodging.md" = 0, "lodgin.md" = 1}, says = "EUR"}
"""
    write(home, {"wrong.toml": wrong})
    done = evaluated(home, "--out", "wrong", suite="wrong.toml")
    assert (done.code, done.out, (home / "wrong").exists()) == (2, "", False)
    for said in (
        "no key colour",
        "as_of must be a date",
        "no limit min_ndgc. Did you mean min_ndcg?",
        "k must be a whole number",
        "max_underfill_rate must lie between 0 and 1",
        "critical must be true or false",
        "Did you mean ann?",
        "no key status",
        "Did you mean answered?",
        "'lodgin.md' of this tenant. Did you mean lodging.md?",
        "named 2 times",
        "text must be a text",
        "needs a tenant and at least one group",
        "the grade of lodging.md",
        "needs a status",
        "says must be a list of texts",
    ):
        assert said in done.err, said
    assert "'board.md'" not in done.err, "no fault that follows from another one"


def test_yaml_says_the_same_as_toml(home: Path) -> None:
    text = """
as_of: 2026-11-01
gates: {min_authorized_recall: 0.9}
cases:
  - id: lodging
    critical: true
    ask: {text: What is the lodging allowance?, as: ann}
    expect: {status: answered, cites: {lodging.md: 2}, says: [EUR 140]}
"""
    write(home, {"suite.yaml": text})
    found = evaluated(home, "--format", "json", suite="suite.yaml").json
    assert found["verdict"] == "PASS" and found["scores"]["recall@10"]["value"] == "1.000000"


def test_a_store_without_an_index_is_refused(home: Path) -> None:
    empty = fast_folder()
    try:
        write(empty, {"clearcite.toml": CONFIG, "policy.toml": POLICY, "suite.toml": SUITE})
        done = evaluated(empty)
        assert done.code == 2 and done.out == "" and "clearcite" in done.err
    finally:
        shutil.rmtree(empty)


def test_a_question_with_a_nul_is_judged_like_any_other(home: Path) -> None:
    (home / "nul.toml").write_text(
        SUITE.replace("What is the lodging allowance?", "What\\u0000 is the lodging?")
    )
    done = evaluated(home, "--out", "nul", suite="nul.toml")
    states = {item["name"]: item["state"] for item in run_of(home, "nul")["gates"]}
    assert (done.code, done.err, states["noninterference"]) == (0, "", "pass"), done.out


def test_judging_puts_no_newer_policy_in_force(home: Path) -> None:
    assert evaluated(home).code == 0, "the first policy is accepted"
    write(home, {"planned.toml": POLICY.replace('revision = "1"', 'revision = "2"')})
    refused = evaluated(home, "--policy", "planned.toml")
    assert (refused.code, refused.out) == (
        2,
        "",
    ) and "clearcite policy sync --policy planned.toml" in refused.err
    assert evaluated(home).code == 0, "the policy that was in force still is"
    assert clearcite(home, "policy", "show", "--format", "json").json["revision"] == 1
