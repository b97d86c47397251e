"""What proves nothing passes nowhere: each command and each gate of the bench on input with nothing in it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import fields, replace

from clearcite.bench.answering import OPERATOR
from clearcite.bench.evaluate import Subject, evaluate
from clearcite.bench.gates import Gate, verdict_of
from clearcite.bench.judged import Judged
from clearcite.bench.limits import COUNTS, GateLimits
from clearcite.bench.readers import readers_of
from clearcite.bench.suite_gates import GATES
from clearcite.engine import Engine
from clearcite.errors import ClearciteError, DependencyUnavailable
from tests.interfaces.test_cli_builds import POLICY
from tests.support.shell import clearcite, write
from tests.support.world import NOW, fast_folder
from tests.unit.bench.test_suite_gates import suite, world

CONFIG = '[text]\nsemantic = "off"\n[[sources]]\npath = "docs"\nallowed_groups = ["staff"]\n'
ASK = 'ask = {text = "How many days of leave are there?", tenant = "default", groups = ["staff"]}\n'
ANSWERED = 'expect = {status = "answered", cites = ["leave.md"]}\n'
CASE = f'[[cases]]\nid = "leave"\n{ASK}{ANSWERED}'
QUICK = "[gates]\nnoninterference_questions = 0\n"
LINE = {
    "id": "q1",
    "tenant": "acme",
    "cohort": "finance",
    "k": 1,
    "eligible_doc_count": 1,
    "authorized_doc_ids": ["a"],
    "relevant_doc_ids": ["a"],
    "returned_doc_ids": ["a"],
}
OLGA = ("--as", "olga", "--policy", "policy.toml")
RECALL = ("--min-cohort-recall", "0.5")


def line(**changed: Any) -> str:
    return (
        json.dumps({name: value for name, value in {**LINE, **changed}.items() if value is not None}) + "\n"
    )


Row = tuple[Mapping[str, str], tuple[str, ...], int, str]
"""Files, command, exit code, and the reason that is said."""

SUITES: Mapping[str, tuple[str, int, str]] = {
    "an empty file": ("", 2, "it holds no case"),
    "an empty batch": ("cases = []\n", 2, "it holds no case"),
    "samples and no case": ('[[golden]]\ndocument = "leave.md"\ncontains = ["25"]\n', 2, "it holds no case"),
    "no oracle": (f'[[cases]]\nid = "leave"\n{ASK}', 2, "it must be a table"),
    "an oracle that says nothing": (f'[[cases]]\nid = "leave"\n{ASK}expect = {{}}\n', 2, "it needs a status"),
    "an expected document that is not there": (
        CASE.replace("leave.md", "gone.md"),
        2,
        "knows no document 'gone.md'",
    ),
    "the same id twice": (CASE + CASE, 2, "it is named 2 times"),
    "the same key twice": (CASE + ANSWERED, 2, "not valid TOML"),
    "no question": (CASE.replace("text = ", "topic = "), 2, "it needs a text"),
    "a grade that is no number": (
        CASE.replace('["leave.md"]', '{"leave.md" = nan}'),
        2,
        "the grade of leave.md",
    ),
    "a limit that is no number": (f"[gates]\nmin_ndcg = nan\n{CASE}", 2, "min_ndcg must lie between 0 and 1"),
    "a limit without end": (f"[gates]\nmax_underfill_rate = inf\n{CASE}", 2, "max_underfill_rate must lie"),
    "a sample that asks for nothing": (
        f'[[golden]]\ndocument = "leave.md"\n{CASE}',
        2,
        "it asks for nothing",
    ),
}
ALONE: Mapping[str, tuple[str, int, str]] = {
    "nothing to score": (
        f"{QUICK}min_ndcg = 0\n{CASE.replace(', cites = [', ', says = [').replace('leave.md', '25')}",
        1,
        "no case could be scored",
    ),
    "every question is sent to a tool": (
        CASE.replace(ASK, ASK.replace("groups", 'route = "tool_required", groups')).replace(
            ANSWERED, 'expect = {status = "tool_required"}\n'
        ),
        1,
        "| noninterference | unscored | not scored | 0 | 1 | every question ended before anything was read",
    ),
    "a sample of what is not there": (
        f'{QUICK}[[golden]]\ndocument = "gone.md"\ncontains = ["x"]\n{CASE}',
        1,
        "document_missing",
    ),
    "readers who may read nothing that is expected": (
        f"{QUICK}min_authorized_recall = 0\n"
        + CASE.replace("staff", "guests").replace("answered", "insufficient_evidence"),
        1,
        "may read none of the documents",
    ),
}
NOTHING_THERE: Mapping[str, Any] = {
    "eligible_doc_count": 0,
    "authorized_doc_ids": [],
    "relevant_doc_ids": [],
    "returned_doc_ids": [],
}
NOBODY = line(**NOTHING_THERE)
OUTSIDER = line(id="q9", cohort="outsiders", **NOTHING_THERE)
LINES: Mapping[str, tuple[str, tuple[str, ...], int, str]] = {
    "an empty batch": ("", (), 2, "an empty batch proves nothing"),
    "lines with nothing in them": ("\n\n", (), 2, "an empty batch proves nothing"),
    "no oracle": (line(relevant_doc_ids=None), (), 2, "relevant_doc_ids"),
    "the same id twice": (line() + line(), (), 2, "stands twice"),
    "the same key twice": (line().replace('"k": 1', '"k": 1, "k": 2'), (), 2, "twice"),
    "NaN": (line().replace('"k": 1', '"k": NaN'), (), 2, "NaN"),
    "Infinity": (line().replace('"k": 1', '"k": Infinity'), (), 2, "Infinity"),
    "an empty corpus": (NOBODY, (), 2, "an empty corpus"),
    "an empty corpus, with a limit": (NOBODY, RECALL, 2, "an empty corpus"),
    "an empty corpus for one cohort of two": (line() + OUTSIDER, RECALL, 1, "unscored"),
    "nothing relevant": (line(relevant_doc_ids=[]), RECALL, 1, "unscored"),
    "no policy time": (line(), ("--max-policy-age-hours", "24"), 1, "policy snapshot missing"),
}
RANKINGS: Mapping[str, tuple[str, str, str]] = {
    "an empty run": ("", "q 0 a 1\n", "The run is empty"),
    "no judgement": ("q Q0 a 1 1 t\n", "", "The qrels is empty"),
    "a score that is no number": ("q Q0 a 1 NaN t\n", "q 0 a 1\n", "not a finite number"),
    "a score without end": ("q Q0 a 1 inf t\n", "q 0 a 1\n", "not a finite number"),
    "a document twice": ("q Q0 a 1 2 t\nq Q0 a 2 1 t\n", "q 0 a 1\n", "ranks a twice"),
    "nothing relevant": ("q Q0 a 1 1 t\n", "q 0 a 0\n", "relevant"),
}


@pytest.fixture(scope="module")
def home() -> Iterator[Path]:
    folder = fast_folder()
    write(
        folder,
        {
            "clearcite.toml": CONFIG,
            "policy.toml": POLICY,
            "docs/leave.md": "# Leave\n\nThere are 25 days of leave.\n",
        },
    )
    assert clearcite(folder, "ingest").code == 0
    yield folder
    shutil.rmtree(folder)


def refused(folder: Path, args: tuple[str, ...], code: int, reason: str) -> None:
    done = clearcite(folder, *args)
    assert done.code == code, done.out + done.err
    assert reason in done.out + done.err, done.out + done.err
    assert "PASS" not in done.out
    assert code == 1 or done.out == "", "input that must change leaves standard output empty"


@pytest.mark.parametrize("name", SUITES)
def test_a_suite_with_nothing_in_it_passes_neither_evaluate_nor_a_panel(home: Path, name: str) -> None:
    text, code, reason = SUITES[name]
    write(home, {"suite.toml": text})
    refused(home, ("evaluate", "suite.toml", "--out", "report"), code, reason)
    refused(home, ("index", "panel", "--suite", "suite.toml", *OLGA), code, reason)
    assert not (home / "report").exists(), "nothing was written"


@pytest.mark.parametrize(
    "name", ["an empty batch", "no oracle", "the same id twice", "a limit that is no number"]
)
def test_a_suite_with_nothing_in_it_does_not_pass_a_drill(home: Path, name: str) -> None:
    text, code, reason = SUITES[name]
    write(home, {"suite.toml": text})
    refused(
        home, ("drill", "--suite", "suite.toml", "--policy", "policy.toml", "--out", "report"), code, reason
    )
    assert not (home / "report").exists(), "nothing was written"


RUNS = {
    "no run": ({}, "cannot be read"),
    "an empty file": ({"run.json": ""}, "not valid"),
    "nothing in it": ({"run.json": "{}"}, "no run.json"),
}


@pytest.mark.parametrize("name", RUNS)
def test_a_run_with_nothing_in_it_is_neither_compared_nor_blessed(tmp_path: Path, name: str) -> None:
    run, reason = RUNS[name]
    (tmp_path / "kept").mkdir()
    write(tmp_path / "kept", run)
    refused(tmp_path, ("diff", "kept", "kept"), 2, reason)
    refused(tmp_path, ("bless", "kept", "--to", "b.json", "--reason", "first"), 2, reason)
    assert not (tmp_path / "b.json").exists()


@pytest.mark.parametrize("name", ALONE)
def test_a_suite_that_measures_nothing_blocks(home: Path, name: str) -> None:
    text, code, reason = ALONE[name]
    write(home, {"suite.toml": text})
    refused(home, ("evaluate", "suite.toml"), code, reason)


def test_control_a_suite_that_measures_something_passes_both(home: Path) -> None:
    write(home, {"suite.toml": f"{QUICK}min_ndcg = 0.5\n{CASE}"})
    assert clearcite(home, "evaluate", "suite.toml").code == 0
    write(home, {"suite.toml": "[minimum]\nexpected_empty_rate = 0\n" + CASE})
    done = clearcite(home, "index", "panel", "--suite", "suite.toml", *OLGA)
    assert done.code == 0, done.out + done.err


def test_a_panel_with_a_rate_that_nothing_was_measured_for_fails(home: Path) -> None:
    write(home, {"suite.toml": CASE})
    done = clearcite(home, "index", "panel", "--suite", "suite.toml", *OLGA)
    assert done.code == 1 and "expected_empty_rate" in done.out


@pytest.mark.parametrize("name", LINES)
def test_cases_with_nothing_in_them_do_not_pass_scope_check(tmp_path: Path, name: str) -> None:
    text, limits, code, reason = LINES[name]
    write(tmp_path, {"cases.jsonl": text})
    refused(tmp_path, ("scope-check", "cases.jsonl", *limits), code, reason)


@pytest.mark.parametrize("name", RANKINGS)
def test_rankings_with_nothing_in_them_are_not_scored(tmp_path: Path, name: str) -> None:
    run, qrels, reason = RANKINGS[name]
    write(tmp_path, {"run.trec": run, "qrels.trec": qrels})
    refused(tmp_path, ("score", "run.trec", "qrels.trec"), 2, reason)


def test_control_the_same_files_with_something_in_them_pass(tmp_path: Path) -> None:
    write(tmp_path, {"cases.jsonl": line(), "run.trec": "q Q0 a 1 1 t\n", "qrels.trec": "q 0 a 1\n"})
    assert clearcite(tmp_path, "scope-check", "cases.jsonl", *RECALL).code == 0
    write(tmp_path, {"cases.jsonl": line() + OUTSIDER})
    assert clearcite(tmp_path, "scope-check", "cases.jsonl").code == 0, (
        "who may read nothing was shown nothing"
    )
    assert clearcite(tmp_path, "score", "run.trec", "qrels.trec").code == 0


def test_an_empty_corpus_passes_nothing(tmp_path: Path) -> None:
    write(tmp_path, {"clearcite.toml": CONFIG, "policy.toml": POLICY, "suite.toml": CASE, "docs/.keep": ""})
    clearcite(tmp_path, "ingest")
    done = clearcite(tmp_path, "evaluate", "suite.toml")
    assert (done.code, done.out) == (2, "")


FIXTURES = {
    "no question": (lambda value: value.update(queries=[]), "queries"),
    "no document": (lambda value: value.update(documents=[]), "documents"),
    "no oracle": (lambda value: value["queries"][0].pop("expected_status"), "expected_status"),
    "a limit that is no number": (
        lambda value: value["evaluation_policy"].update(min_case_pass_rate=float("nan")),
        "NaN",
    ),
    "the same question twice": (lambda value: value["queries"].append(value["queries"][0]), "queries"),
}


@pytest.mark.parametrize("name", FIXTURES)
def test_a_fixture_with_nothing_in_it_passes_nothing(tmp_path: Path, name: str) -> None:
    edit, reason = FIXTURES[name]
    with as_file(files("clearcite.demo") / "fixture.json") as shipped:
        value = json.loads(shipped.read_text())
    edit(value)
    write(tmp_path, {"suite.json": json.dumps(value)})
    refused(tmp_path, ("evaluate", "suite.json"), 2, reason)


class Silent(Engine):
    """Every question ends before anything is read."""

    def _sight(self, *_: Any) -> Any:
        raise DependencyUnavailable("The index is away.")


class Raising(Engine):
    def ask(self, *_: Any, **__: Any) -> Any:
        raise RuntimeError("a defect of the system under test")


STORE = ("source_coverage", "failure_rate", "index_lag")
"""Gates that look at the store and not at answers: with documents in it they have something to measure."""


def limited() -> GateLimits:
    """Every limit there is, none of them hard to keep; a fallback is allowed."""
    easy = {item.name: COUNTS.get(item.name, (0, 0))[1] or None for item in fields(GateLimits)}
    shares = {name: "0.500000" for name in easy if easy[name] is None}
    return GateLimits(**{**easy, **shares, "k": 1, "shown": False, "allow_degraded": True})


def states(judged: Judged) -> dict[str, str]:
    found = {}
    for gate in GATES:
        try:
            seen: Gate = gate(judged)
        except (ClearciteError, ArithmeticError, ValueError):
            continue  # an evaluator that raises ends the run, and nothing is written
        found[seen.name] = seen.state
    return found


def test_no_gate_passes_where_every_question_ended_before_anything_was_read() -> None:
    asked = replace(suite(), limits=limited())
    found = evaluate(Subject(engine=Silent(world().services)), asked)
    passing = {gate.name for gate in found.gates if gate.state == "pass"} - set(STORE)
    assert passing == set()
    assert found.verdict == "BLOCK"
    (leak,) = (gate for gate in found.gates if gate.name == "leak")
    assert (leak.state, leak.n, leak.n_scored) == ("unscored", 2, 0)


def test_control_with_an_engine_that_answers_the_same_gates_pass() -> None:
    asked = replace(suite(), limits=limited())
    found = evaluate(Subject(engine=world().engine), asked)
    passing = {gate.name for gate in found.gates if gate.state == "pass"}
    assert passing >= {
        "leak",
        "citation",
        "status",
        "authorized_recall",
        "underfill",
        "ndcg",
        "nugget_recall",
    }


def test_no_gate_passes_on_an_empty_batch() -> None:
    made = world()
    operator = made.engine.operator(OPERATOR)
    judged = Judged(
        suite=replace(suite(), cases=(), limits=limited()),
        engine=made.engine,
        operator=operator,
        readers=readers_of(operator, NOW),
        settings=None,
        now=NOW,
        runs=(),
        results=(),
    )
    found = states(judged)
    assert {name for name, state in found.items() if state == "pass"} <= set(STORE)
    assert found["content"] == "skipped"


def test_an_evaluator_that_raises_ends_the_run_and_proves_nothing(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(home, {"suite.toml": QUICK + CASE})
    monkeypatch.setattr(Engine, "ask", Raising.ask)
    done = clearcite(home, "evaluate", "suite.toml", "--out", "report")
    assert (done.code, done.out) == (70, "")
    assert not (home / "report").exists()


def test_a_verdict_of_no_gate_or_of_gates_left_out_is_no_pass() -> None:
    left_out = Gate(name="a", state="skipped", value=None, limit=None, n=0)
    held = replace(left_out, state="pass")
    assert [verdict_of(()), verdict_of([left_out]), verdict_of([left_out, held])] == [
        "BLOCK",
        "BLOCK",
        "PASS",
    ]
    for state in ("unscored", "inconclusive", "error", "fail"):
        assert verdict_of([held, replace(left_out, state=state)]) == "BLOCK"
