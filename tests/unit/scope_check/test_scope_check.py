"""The scope check: what a case shows, what fails, and which input is refused, as the command and as the API."""

from __future__ import annotations

import io
import json
import shlex
import subprocess
import sys
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from clearcite.errors import InputError
from clearcite.scope_check import Limits, check, measure, parse_case
from clearcite.scope_check.cases import MAX_LINE, read_cases
from clearcite.scope_check.command import run
from clearcite.scope_check.render import FORMATS
from clearcite.wire.strict import loads
from tests.support.shell import clearcite

ROOT = Path(__file__).resolve().parents[3]
relaxed: dict[str, Any] = {"deadline": None, "suppress_health_check": list(HealthCheck)}
DOCUMENTS = ["a", "b", "c", "d", "e"]


def case(**changed: Any) -> dict[str, Any]:
    """A sound case; a field given as None is left out."""
    sound = {
        "id": "q1",
        "tenant": "acme",
        "cohort": "finance",
        "k": 2,
        "eligible_doc_count": 3,
        "authorized_doc_ids": ["a", "b"],
        "relevant_doc_ids": ["a"],
        "returned_doc_ids": ["a", "b"],
    }
    return {name: value for name, value in (sound | changed).items() if value is not None}


def written(folder: Path, *cases: Mapping[str, Any] | str) -> str:
    path = folder / "cases.jsonl"
    path.write_text("".join((one if isinstance(one, str) else json.dumps(one)) + "\n" for one in cases))
    return str(path)


def command(*args: str, alone: bool = False) -> subprocess.CompletedProcess[str]:
    """The command in a process of its own; ``alone`` hides everything that is installed."""
    return subprocess.run(_start(*args, alone=alone), capture_output=True, text=True, check=False)


def _start(*args: str, alone: bool) -> list[str]:
    flags = ["-I", "-S", "-c", (f"import sys; sys.path.insert(0, {str(ROOT / 'src')!r}); import runpy; "
             "runpy.run_module('clearcite.scope_check', run_name='__main__', alter_sys=True)")]  # fmt: skip
    start = flags if alone else ["-m", "clearcite", "scope-check"]
    return [sys.executable, *start, *args]


def test_it_runs_where_nothing_is_installed_and_says_the_same(tmp_path: Path) -> None:
    source = written(tmp_path, case(), case(id="q2", returned_doc_ids=["a", "secret"]))
    for shape in FORMATS:
        alone = command(source, "--format", shape, "--min-cohort-recall", "1", alone=True)
        installed = command(source, "--format", shape, "--min-cohort-recall", "1")
        assert (alone.returncode, alone.stderr) == (1, "")
        assert alone.stdout == installed.stdout
    assert "Traceback" not in command("--help", alone=True).stderr


def test_the_example_misses_a_grant_without_a_leak_until_its_lists_are_synchronised(tmp_path: Path) -> None:
    gates = ["--min-cohort-recall", "0.8", "--max-underfill-rate", "0"]
    said = []
    for mode in ([], ["--sync-permissions"]):
        demo = [sys.executable, str(ROOT / "examples" / "sqlite_acl_demo.py"), *mode]
        exported = subprocess.run(demo, capture_output=True, text=True, check=True).stdout
        done = command(written(tmp_path, exported.strip()), *gates, alone=True)
        said.append((done.returncode, done.stdout.splitlines()))
    assert said == [
        (1, [
            "RAG scope check: FAIL (1 case)",
            "acme/finance: authorized recall=0.00 (1 scored), underfill=1.00, leaking cases=0",
            "! acme-finance-expense: top-k underfilled at candidate generation",
            "! acme-finance-expense: authorized recall=0.00",
            "- acme/finance: authorized recall below 0.8 or unscored",
            "- acme/finance: underfill rate above 0",
        ]),
        (0, [
            "RAG scope check: PASS (1 case)",
            "acme/finance: authorized recall=1.00 (1 scored), underfill=0.00, leaking cases=0",
        ]),
    ]  # fmt: skip


MALFORMED: dict[str, str] = {
    "a field twice": '{"id": "q", "id": "q", "tenant": "t"}',
    "a permission twice": json.dumps(case())[:-1] + ', "authorized_doc_ids": ["a", "b", "c"]}',
    "not JSON": "{",
    "a list": "[]",
    "a number": "7",
    "NaN": json.dumps(case())[:-1] + ', "k": NaN}',
    "a lone surrogate": json.dumps(case(id="\ud800")),
    "an unknown field": json.dumps(case(note="x")),
    "a field missing": json.dumps(case(authorized_doc_ids=None)),
    "a boolean for an integer": json.dumps(case(k=True)),
    "a boolean for a count": json.dumps(case(eligible_doc_count=False)),
    "a float for an integer": json.dumps(case(k=2.0)),
    "k of nought": json.dumps(case(k=0, returned_doc_ids=[])),
    "a negative count": json.dumps(case(eligible_doc_count=-1)),
    "an empty name": json.dumps(case(id="")),
    "a blank cohort": json.dumps(case(cohort=" ")),
    "a number for a name": json.dumps(case(tenant=7)),
    "a string for a list": json.dumps(case(authorized_doc_ids="ab")),
    "an object for a list": json.dumps(case(authorized_doc_ids={"a": 1})),
    "a list of lists": json.dumps(case(relevant_doc_ids=[["a"]])),
    "a number for a document": json.dumps(case(relevant_doc_ids=[1])),
    "an empty document id": json.dumps(case(relevant_doc_ids=[""])),
    "a document twice": json.dumps(case(returned_doc_ids=["a", "a"])),
    "a relevant document twice": json.dumps(case(relevant_doc_ids=["a", "a"])),
    "more than k": json.dumps(case(k=1)),
    "returned but no candidate": json.dumps(case(candidate_doc_ids=["a"])),
    "fewer eligible than authorized": json.dumps(case(eligible_doc_count=1)),
    "one time of two": json.dumps(case(policy_as_of="2026-01-01T00:00:00Z")),
    "the other time of two": json.dumps(case(retrieved_at="2026-01-01T00:00:00Z")),
    "no zone": json.dumps(case(policy_as_of="2026-01-01T00:00:00", retrieved_at="2026-01-02T00:00:00Z")),
    "a time that is a number": json.dumps(case(policy_as_of=7, retrieved_at="2026-01-02T00:00:00Z")),
    "no such day": json.dumps(case(policy_as_of="2026-02-30T00:00:00Z", retrieved_at="2026-03-02T00:00:00Z")),
    "policy after retrieval": json.dumps(
        case(policy_as_of="2026-01-02T00:00:00+01:00", retrieved_at="2026-01-01T22:59:59Z")
    ),
    "too long": json.dumps(case(id="x" * MAX_LINE)),
}


@pytest.mark.parametrize("kind", MALFORMED)
def test_a_malformed_case_is_refused_with_its_line_and_nothing_is_written(kind: str, tmp_path: Path) -> None:
    source = written(tmp_path, case(id="leak", returned_doc_ids=["x"]), "", MALFORMED[kind])
    out = io.StringIO()
    with pytest.raises(InputError, match=r"^line 3: "):
        run(source, Limits(), "text", out)
    assert out.getvalue() == ""


def test_the_command_ends_with_2_and_an_empty_stdout_where_the_input_must_change(tmp_path: Path) -> None:
    sound = written(tmp_path, case())
    (tmp_path / "empty.jsonl").write_text("\n")
    (tmp_path / "twice").mkdir()
    twice = written(tmp_path / "twice", case(), case())
    wrong = [
        [twice],
        [str(tmp_path / "empty.jsonl")],
        [str(tmp_path / "missing.jsonl")],
        [str(tmp_path)],
        [sound, "--min-cohort-recall", "1.1"],
        [sound, "--min-cohort-recall", "nan"],
        [sound, "--max-underfill-rate", "-0.1"],
        [sound, "--max-policy-age-hours", "-1"],
        [sound, "--max-policy-age-hours", "soon"],
        [sound, "--min-cohort-recall", "1e-99999999999"],
        [sound, "--format", "yaml"],
    ]
    for args in wrong:
        for code, out, err in (_alone(args), _installed(tmp_path, args)):
            assert (code, out) == (2, ""), args
            assert err and "Traceback" not in err
    control = command(sound, alone=True)
    assert (control.returncode, control.stderr) == (0, "")


@pytest.mark.parametrize("alone", [True, False])
def test_the_verdict_is_the_exit_code_though_nobody_reads_the_report(alone: bool, tmp_path: Path) -> None:
    leaking = written(
        tmp_path, *(case(id=f"q{number}", returned_doc_ids=["a", "secret"]) for number in range(4_000))
    )
    started = subprocess.Popen(
        _start(leaking, alone=alone), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert started.stdout is not None and started.stderr is not None
    first = started.stdout.readline()
    started.stdout.close()
    assert (first, started.stderr.read()) == ("RAG scope check: FAIL (4000 cases)\n", "")
    assert started.wait() == 1
    started.stderr.close()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that takes no byte")
@pytest.mark.parametrize("alone", [True, False])
def test_streams_that_cannot_be_used_are_no_verdict(alone: bool, tmp_path: Path) -> None:
    args = _start(written(tmp_path, case()), alone=alone)
    with Path("/dev/full").open("w") as full:
        refused = subprocess.run(args, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert refused.returncode == 3 and "Traceback" not in refused.stderr
    for closing, code in (("1>&-", 0), ("0<&-", 0)):
        line = f"{shlex.join(args)} {closing}"
        done = subprocess.run(["sh", "-c", line], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (code, ""), closing


def _alone(args: list[str]) -> tuple[int, str, str]:
    done = command(*args, alone=True)
    return done.returncode, done.stdout, done.stderr


def _installed(folder: Path, args: list[str]) -> tuple[int, str, str]:
    done = clearcite(folder, "scope-check", *args)
    return done.code, done.out, done.err


def test_the_api_refuses_what_the_command_refuses() -> None:
    for cases in ([], [case(), case()], [case(k=True)], [case(extra=1)], [case(), "text"]):
        with pytest.raises(InputError):
            check(cases)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="case 2: k "):
        check([case(), case(id="q2", k=-1)])


def test_all_faults_of_a_case_are_said_at_once() -> None:
    with pytest.raises(InputError) as refused:
        parse_case(case(k=0, tenant=" ", relevant_doc_ids=[1]))
    assert len(refused.value.violations) == 3


def test_only_a_returned_leak_fails_without_limits() -> None:
    harmless = case(returned_doc_ids=[], candidate_doc_ids=["x"])
    assert check([harmless]).verdict == "PASS"
    leaking = check([harmless, case(id="q2", returned_doc_ids=["a", "x"])])
    assert leaking.failures == ("acme/finance: unauthorized documents returned in 1 case",)


def test_a_healthy_tenant_does_not_hide_a_failing_one_with_a_cohort_of_the_same_name() -> None:
    missed = case(id="missed", tenant="other", returned_doc_ids=["b"])
    found = check([case(id=f"q{n}") for n in range(99)] + [missed], Limits(min_cohort_recall=Fraction(1, 2)))
    assert [(one.tenant, one.mean_recall) for one in found.cohorts] == [("acme", 1), ("other", 0)]
    assert found.failures == ("other/finance: authorized recall below 0.5 or unscored",)


def test_what_cannot_be_scored_is_no_zero_and_passes_no_recall_gate() -> None:
    unscored = case(relevant_doc_ids=["hidden"])
    assert measure(parse_case(unscored)).recall is None
    alone = check([unscored], Limits(min_cohort_recall=Fraction(0)))
    assert alone.failures == ("acme/finance: authorized recall below 0 or unscored",)
    beside = check([unscored, case(id="q2")], Limits(min_cohort_recall=Fraction(1)))
    assert (beside.verdict, beside.cohorts[0].scored, beside.cohorts[0].mean_recall) == ("PASS", 1, 1)


@pytest.mark.parametrize(
    ("candidates", "returned", "where"),
    [
        (None, ["a"], (True, False, False)),
        (["a"], ["a"], (True, True, False)),
        (["a", "b"], ["a"], (True, False, True)),
        (["a", "b"], ["a", "b"], (False, False, False)),
        ([], [], (True, True, False)),
    ],
)
def test_a_short_list_is_laid_to_the_stage_that_lost_it(
    candidates: list[str] | None, returned: list[str], where: tuple[bool, bool, bool]
) -> None:
    found = measure(parse_case(case(candidate_doc_ids=candidates, returned_doc_ids=returned)))
    assert (found.underfilled, found.candidate_underfill, found.ranker_underfill) == where


def test_few_eligible_documents_are_no_underfill() -> None:
    small = case(k=10, eligible_doc_count=2)
    assert check([small], Limits(max_underfill_rate=Fraction(0))).verdict == "PASS"


@pytest.mark.parametrize(("hours", "passes"), [("24", True), ("23.999999", False), ("0", False)])
def test_a_policy_snapshot_may_be_as_old_as_the_limit_and_no_older(hours: str, passes: bool) -> None:
    dated = case(policy_as_of="2026-01-01T12:00:00+01:00", retrieved_at="2026-01-02T11:00:00Z")
    limits = Limits(max_policy_age_hours=Fraction(hours))
    assert (check([dated], limits).verdict == "PASS") is passes
    assert check([dated, case(id="q2")], limits).verdict == "FAIL", "a missing snapshot passes no age gate"


def test_a_limit_is_met_exactly() -> None:
    cases = [case(id=f"q{n}", returned_doc_ids=["a", "b"] if n else ["b"]) for n in range(10)]
    assert check(cases, Limits(min_cohort_recall=Fraction("0.9"))).verdict == "PASS"
    assert check(cases, Limits(min_cohort_recall=Fraction("0.9000001"))).verdict == "FAIL"


ids = st.lists(st.sampled_from(DOCUMENTS), unique=True)


@st.composite
def worlds(draw: st.DrawFn) -> list[dict[str, Any]]:
    cases = []
    for number in range(draw(st.integers(1, 6))):
        candidates, authorized = draw(ids), draw(ids)
        k = draw(st.integers(1, 5))
        cases.append(
            case(
                id=f"q{number}",
                tenant=draw(st.sampled_from(["t1", "t2"])),
                k=k,
                eligible_doc_count=draw(st.integers(len(authorized), 9)),
                authorized_doc_ids=authorized,
                relevant_doc_ids=draw(ids),
                candidate_doc_ids=candidates,
                returned_doc_ids=draw(st.lists(st.sampled_from(candidates), unique=True, max_size=k))
                if candidates
                else [],
            )
        )
    assume(any(one["eligible_doc_count"] or one["candidate_doc_ids"] for one in cases))
    return cases


@settings(max_examples=200, **relaxed)
@given(worlds())
def test_the_sums_equal_those_of_plain_arithmetic(cases: list[dict[str, Any]]) -> None:
    for cohort in check(cases).cohorts:
        mine = [one for one in cases if one["tenant"] == cohort.tenant]
        recalls = []
        for one in mine:
            wanted = [d for d in one["relevant_doc_ids"] if d in one["authorized_doc_ids"]]
            if wanted:
                hit = [d for d in wanted if d in one["returned_doc_ids"]]
                recalls.append(Fraction(len(hit), len(wanted)))
        short = [
            one for one in mine if len(one["returned_doc_ids"]) < min(one["k"], one["eligible_doc_count"])
        ]
        leaking = [one for one in mine if set(one["returned_doc_ids"]) - set(one["authorized_doc_ids"])]
        assert cohort.mean_recall == (sum(recalls, Fraction(0)) / len(recalls) if recalls else None)
        assert cohort.underfill_rate == Fraction(len(short), len(mine))
        assert (cohort.leaking, cohort.scored) == (len(leaking), len(recalls))


@settings(max_examples=100, **relaxed)
@given(worlds())
def test_every_format_can_be_read_and_tells_the_same_verdict(cases: list[dict[str, Any]]) -> None:
    said = {}
    for shape in FORMATS:
        out = io.StringIO()
        stream = io.BytesIO("".join(json.dumps(one) + "\n" for one in cases).encode())
        said[shape] = (_run_on(stream, shape, out), out.getvalue())
    report = json.loads(said["json"][1])
    assert [one["id"] for one in report["cases"]] == [one["id"] for one in cases]
    suite = ElementTree.fromstring(said["junit"][1])
    assert (suite.get("failures") != "0") is (report["verdict"] == "FAIL")
    assert said["text"][1].startswith(f"RAG scope check: {report['verdict']} (")
    assert ("::error" in said["github"][1]) is (report["verdict"] == "FAIL")


def _run_on(stream: io.BytesIO, shape: str, out: io.StringIO) -> str:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.stdin", io.TextIOWrapper(stream))
        return run("-", Limits(), shape, out).verdict


def test_names_from_the_input_act_on_no_terminal_and_break_no_format(tmp_path: Path) -> None:
    nasty = case(
        id='q\x1b[31m\n<b>&"\x00%\u202e', cohort="</testcase>\r\n::error::x", returned_doc_ids=["\x1b]0;x"]
    )
    source = written(tmp_path, nasty)
    for shape in FORMATS:
        out = io.StringIO()
        run(source, Limits(), shape, out)
        assert "\x1b" not in out.getvalue()
        assert "\n::error::x" not in out.getvalue()
    out = io.StringIO()
    run(source, Limits(), "junit", out)
    ElementTree.fromstring(out.getvalue())


@settings(max_examples=400, **relaxed)
@given(st.data())
def test_the_short_way_through_a_line_accepts_and_refuses_what_the_strict_loader_does(
    data: st.DataObject,
) -> None:
    line = json.dumps(case(candidate_doc_ids=["a", "b", "é"]), ensure_ascii=data.draw(st.booleans()))
    marks = [
        '"',
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "\\ud800",
        "\\u0061",
        "\x00",
        "\ufeff",
        " ",
        "NaN",
        "1e999",
        str(2**53),
    ]
    for _ in range(data.draw(st.integers(0, 2))):
        start = data.draw(st.integers(0, len(line)))
        end = start + data.draw(st.integers(0, 3))
        line = line[:start] + data.draw(st.sampled_from([*marks, "", line[end:], '"k": 2, '])) + line[end:]
    raw = line.encode() + data.draw(st.sampled_from([b"", b"\n", b"\xff\n"]))

    def said(judge: Any) -> Any:
        try:
            return judge()
        except InputError as error:
            return str(error).removeprefix("line 1: ")

    if b"\n" not in raw[:-1] and not raw.isspace():
        assert said(lambda: next(read_cases(io.BytesIO(raw)))) == said(lambda: parse_case(loads(raw)))
