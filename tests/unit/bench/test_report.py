"""The report page: names do nothing, no script and nothing from elsewhere, every plot has words and a table."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import pytest
from msgspec.structs import replace

from clearcite.bench.evaluate import Evaluation
from clearcite.bench.fault_map import read_fault_map
from clearcite.bench.gates import Gate, GateRow
from clearcite.bench.judge import CaseResult
from clearcite.bench.judged import by_cohort
from clearcite.bench.markup import shown
from clearcite.bench.means import means
from clearcite.bench.measures import confusion
from clearcite.bench.plots import percent
from clearcite.bench.report import report
from clearcite.errors import InputError
from tests.unit.bench.test_regression import case

HOSTILE = '</title></style><script>alert(1)</script><img src=x onerror="a()">\x00\u202e\'`{}'
SCORES = {
    "recall@10": "0.500000",
    "context_recall": "0.250000",
    "citation_recall": None,
    "nugget_recall": None,
    "underfill": "1.000000",
    "candidate_underfill": "0.000000",
}


def evaluation(results: list[CaseResult], confidences: list[Any], name: str = "suite") -> Evaluation:
    runs: Any = tuple(
        SimpleNamespace(public=SimpleNamespace(status=one.status, confidence=confidence))
        for one, confidence in zip(results, confidences, strict=True)
    )
    gate = Gate(
        name=name,
        state="fail",
        value="0.5",
        limit="1",
        n=2,
        reason=name,
        interval=("0.1", "0.9"),
        rows=(GateRow(tenant=name, part=name, state="fail", value="0.5", n=2, n_scored=1),),
    )
    return Evaluation(
        suite=name,
        state={"harness": name},
        results=tuple(results),
        runs=runs,
        measures={},
        slices={},
        slice_scores={},
        scores=means(results),
        cohorts={cohort: means(some) for cohort, some in by_cohort(results).items()},
        confusion=confusion(results),
        gates=(gate,),
    )


def cases(name: str = "plain", n: int = 4) -> list[CaseResult]:
    return [
        replace(case(i, fails=i == 3, kind=f"{name} {i % 2}", scores=SCORES), tenant=name, cohort=name)
        for i in range(n)
    ]


class Tags(HTMLParser):
    """Every element and attribute of a page, and the texts that are shown."""

    def __init__(self, page: bytes) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.texts: list[str] = []
        self.feed(page.decode("utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def test_a_name_that_is_markup_is_shown_and_does_nothing() -> None:
    page = Tags(report(evaluation(cases(HOSTILE), ["high"] * 4, HOSTILE)))
    assert not {"script", "img", "link", "iframe", "object", "form", "a"} & set(page.tags)
    assert not [
        name for name, _ in page.attributes if name.startswith("on") or name in ("src", "href", "style")
    ]
    assert any("<script>alert(1)</script>" in text for text in page.texts), "the control: it is shown"
    assert page.tags.count("title") == Tags(
        report(evaluation(cases("x" * 99), ["high"] * 4, "x" * 99))
    ).tags.count("title")
    assert "\u202e" not in "".join(page.texts) and "\x00" not in "".join(page.texts)


def test_the_page_asks_for_nothing_and_forbids_everything_but_its_style() -> None:
    page = report(evaluation(cases(), ["high"] * 4)).decode("utf-8")
    assert "content=\"default-src 'none'; style-src 'unsafe-inline'\"" in page
    assert not re.findall(r"https?:|url\(|@import|<script|javascript:", page)
    assert "prefers-color-scheme: dark" in page


def test_each_plot_is_well_formed_and_has_a_title_a_description_and_a_table_beside_it() -> None:
    page = report(evaluation(cases(), ["high", "high", "low", "low"])).decode("utf-8")
    plots = re.findall(r"<svg.*?</svg>.*?<(\w+)", page, re.DOTALL)
    drawn = [ElementTree.fromstring(svg) for svg in re.findall(r"<svg.*?</svg>", page, re.DOTALL)]
    assert len(drawn) == len(plots) == 4 and set(plots) == {"div"}
    ids = re.findall(r'id="([^"]+)"', page)
    assert len(ids) == len(set(ids))
    for svg in drawn:
        assert svg.get("role") == "img" and all(
            name in ids for name in (svg.get("aria-labelledby") or "").split()
        )
        assert [child.tag for child in svg][:2] == ["title", "desc"]


def test_the_same_run_is_the_same_bytes() -> None:
    one = evaluation(cases(), ["high"] * 4)
    assert report(one) == report(one)


def test_what_was_not_measured_says_so_and_is_not_drawn_as_nothing() -> None:
    bare = [case(i) for i in range(2)]
    page = report(evaluation(bare, [None, None])).decode("utf-8")
    assert "No case has a relevant document" in page
    assert "No answer was given" in page
    assert "not scored" in page


def test_risk_is_that_of_the_answers_given_at_least_so_sure() -> None:
    results = [
        case(0),
        case(1),
        case(2, fails=True),
        replace(case(3, fails=True), status="insufficient_evidence"),
    ]
    page = report(evaluation(results, ["high", "low", "low", None])).decode("utf-8")
    rows = [re.findall(r"<td>(.*?)</td>", row) for row in re.findall(r"<tr>.*?</tr>", page)]
    assert ["high and above", "1 of 4", "25.0 %", "0 of 1", "0.0 %"] in rows
    assert ["low and above", "3 of 4", "75.0 %", "1 of 3", "33.3 %"] in rows


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (None, "not scored"),
        (0, "0.0 %"),
        (1, "0.1 %"),
        (999_999, "99.9 %"),
        (1_000_000, "100.0 %"),
        (333_333, "33.3 %"),
    ],
)
def test_a_percentage_is_whole_or_nothing_only_where_it_is(value: int | None, said: str) -> None:
    assert percent(value) == said


def test_many_slices_are_drawn_worst_first_and_all_stand_in_the_table() -> None:
    results = [replace(case(i, fails=i == 37), slice=f"slice-{i:02}") for i in range(40)]
    page = report(evaluation(results, [None] * 40)).decode("utf-8")
    assert "16 more stand in the table" in page
    assert all(f"<td>slice-{i:02}</td>" in page for i in range(40))
    assert page.index("slice-37") < page.index("slice-00")


def test_text_is_escaped_where_it_stands_in_an_attribute_too() -> None:
    assert shown("a\"b'<&") == "a&quot;b&#x27;&lt;&amp;"


DRILL = {
    "state": {"suite_sha256": "s"},
    "stages": [{"name": "parsing", "owner": "x"}, {"name": "retrieval", "owner": "x"}],
    "faults": [
        {"name": "ocr", "first_failing_stage": "parsing", "failing": ["parsing", "retrieval"]},
        {"name": "safe", "first_failing_stage": None, "failing": []},
    ],
}


def test_faults_of_a_drill_are_drawn_by_stage_and_stand_in_words_in_the_table() -> None:
    found = read_fault_map(json.dumps(DRILL).encode())
    page = report(replace(evaluation(cases(), ["high"] * 4), drilled=found)).decode("utf-8")
    assert (
        "<td>ocr</td><td>parsing</td><td>retrieval</td>" in page and "<td>safe</td><td></td><td></td>" in page
    )
    assert page.count('class="cell first"') == 1 and page.count('class="cell none"') == 2
    assert len([ElementTree.fromstring(svg) for svg in re.findall(r"<svg.*?</svg>", page, re.DOTALL)]) == 5
    assert "drill" not in report(evaluation(cases(), ["high"] * 4)).decode("utf-8")


@pytest.mark.parametrize(
    "change",
    [
        {"stages": []},
        {"faults": [1]},
        {"faults": [{"name": "x", "failing": ["nowhere"]}]},
        {"stages": [{}]},
        {"state": None},
    ],
)
def test_evidence_that_is_none_is_wrong_input(change: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=r"no drill\.json"):
        read_fault_map(json.dumps({**DRILL, **change}).encode())
