"""``ablate``: each axis moves what it must, the store is as it was, and the files repeat byte for byte."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from clearcite.bench.axes import AXES, cut_fixed
from clearcite.domain.corpus import Element, ParsedDocument
from tests.support.shell import clearcite
from tests.support.world import fast_folder

PAGES = {
    "leave.md": "# Leave\n\nEvery employee has 25 days of leave a year.\n",
    "fee-old.md": "---\nsource_type: policy\n---\n# Fees\n\nThe annual membership fee is 40 euros.\n",
    "fee-new.md": "---\nsource_type: policy\n---\n# Membership fees\n\nThe annual membership fee is 60 euros.\n",
    "rooms.md": "# Rooms\n\n" + "\n\n".join(f"Room {n} has {n + 3} chairs and a lamp." for n in range(40)),
}
SUITE = """
[[cases]]
id = "leave"
ask = {text = "How many days of leave does every employee have?", tenant = "default", groups = ["staff"]}
expect = {status = "answered", cites = ["leave.md"], says = ["25 days"]}

[[cases]]
id = "fee"
ask = {text = "How much is the annual membership fee?", tenant = "default", groups = ["staff"]}
expect = {status = "conflict", cites = ["fee-old.md", "fee-new.md"]}

[[cases]]
id = "lisbon"
ask = {text = "Which lamp hangs in the room of the director in Lisbon?", tenant = "default", groups = ["staff"]}
expect = {status = "insufficient_evidence"}

[[cases]]
id = "room"
ask = {text = "How many chairs has room 17?", tenant = "default", groups = ["staff"]}
expect = {status = "answered", cites = ["rooms.md"], says = ["20 chairs"]}
"""


@pytest.fixture(scope="module")
def home() -> Iterator[Path]:
    folder = fast_folder()
    (folder / "docs").mkdir()
    for name, text in PAGES.items():
        (folder / "docs" / name).write_text(text)
    (folder / "suite.toml").write_text(SUITE)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CLEARCITE_SEMANTIC", "off")
        assert clearcite(folder, "ingest", "docs", "--group", "staff").code == 0
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(autouse=True)
def _words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLEARCITE_SEMANTIC", "off")


@pytest.fixture(scope="module")
def found(home: Path) -> dict[str, Any]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CLEARCITE_SEMANTIC", "off")
        done = clearcite(home, "ablate", "suite.toml", "--out", "first")
    assert done.code == 0, done.err
    read: dict[str, Any] = json.loads((home / "first" / "ablation.json").read_text())
    return read


def effect(found: dict[str, Any], axis: str, measure: str = "cases passed") -> dict[str, Any]:
    (one,) = (item for item in found["effects"] if (item["axis"], item["measure"]) == (axis, measure))
    return dict(one)


def test_without_checks_what_no_document_answers_is_answered(found: dict[str, Any]) -> None:
    assert effect(found, "checks", "expected_empty")["difference"] == "-1.000000"
    (lost,) = (item for item in found["lost"] if item["axis"] == "checks")
    assert "lisbon" in lost["attributed"]


def test_without_conflicts_one_side_is_told_as_the_truth(found: dict[str, Any]) -> None:
    (lost,) = (item for item in found["lost"] if item["axis"] == "conflicts")
    assert lost["cases"] == lost["attributed"] == ["fee"]


def test_every_axis_is_measured_or_left_out_with_a_reason(found: dict[str, Any]) -> None:
    measured = {item["axis"] for item in found["effects"]} | {
        name.split(",")[0] for name in found["left_out"]
    }
    assert measured == set(AXES)
    left_out = found["left_out"]
    assert {left_out.pop(name) for name in list(left_out) if name.startswith("retrieval")} == {
        "the store has no vectors"
    }
    assert "--cross-encoder FOLDER" in left_out.pop("reranker, cross-encoder")
    assert left_out.pop("reranker, none") == "it is what is configured"
    assert all("pip install" in why for why in left_out.values()), "the model, where it is not installed"
    values = {(item["axis"], item["value"]) for item in found["effects"]} | {
        tuple(name.split(", ")) for name in left_out
    }
    assert {("embedding", name) for name in ("hashed words", "word rows", "transformer")} <= values
    assert {("source weights", "off"), ("source weights", "adaptive")} <= values


def test_a_cross_encoder_of_one_s_own_is_compared(home: Path) -> None:
    pytest.importorskip("onnxruntime", reason="the extra semantic is not installed")
    pytest.importorskip("onnx", reason="the model of this test is made with onnx")
    from tests.support.cross_encoder import write_cross_encoder

    write_cross_encoder(home / "sound", {"leave": 2.0, "fee": 1.0, "lamp": -4.0})
    args = ("ablate", "suite.toml", "--axis", "reranker", "--format", "json", "--cross-encoder")
    done = clearcite(home, *args, "sound")
    assert done.code == 0, done.err
    assert {one["value"] for one in done.json["effects"]} == {"cross-encoder"}
    write_cross_encoder(home / "broken", {"leave": float("nan")})
    broken = clearcite(home, *args, "broken")
    assert (broken.code, broken.out) == (3, "") and "fell back" in broken.err
    missing = clearcite(home, *args, "docs")
    assert (missing.code, missing.out) == (2, "") and "lacks model.onnx" in missing.err


def test_the_files_repeat_and_hold_no_text(home: Path, found: dict[str, Any]) -> None:
    assert clearcite(home, "ablate", "suite.toml", "--out", "second").code == 0
    for name in ("ablation.json", "ablation.csv", "ablation.md", "ablation.html"):
        content = (home / "first" / name).read_bytes()
        assert content == (home / "second" / name).read_bytes()
        assert b"membership fee is" not in content and b"<script" not in content
    (row,) = clearcite(home, "index", "list").json["generations"]
    assert "ablated" not in row["name"]


def test_the_report_of_a_run_shows_the_ablation_of_the_same_suite_and_documents(
    home: Path, found: dict[str, Any]
) -> None:
    for name in ("one", "two"):
        done = clearcite(home, "evaluate", "suite.toml", "--ablation", "first/ablation.json", "--out", name)
        assert done.code == 0, done.out + done.err
    page = (home / "one" / "report.html").read_text()
    assert page == (home / "two" / "report.html").read_text()
    (plot,) = re.findall(r'<svg[^>]*aria-labelledby="forest-t forest-d">.*?</svg>', page, re.DOTALL)
    drawn = ElementTree.fromstring(plot)
    shown = [one for one in found["effects"] if f"<td>{one['difference']}</td>" in page]
    assert len(drawn.findall("circle")) >= len(found["lost"]) and len(shown) >= len(found["lost"])
    assert ">-100.0 %<" in plot, "abstaining is lost without checks"
    assert "<td>the store has no vectors</td>" in page and "membership fee is" not in page
    assert clearcite(home, "evaluate", "suite.toml", "--out", "plain").code == 0
    assert "forest-t" not in (home / "plain" / "report.html").read_text(), "the control: not without it"


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (lambda kept: kept["state"].update(corpus_sha256="0" * 64), "another corpus"),
        (lambda kept: kept["state"].update(suite_sha256="0" * 64), "another suite"),
        (lambda kept: kept["state"].clear(), "another harness"),
        (lambda kept: kept.pop("effects"), "missing field effects"),
        (lambda kept: kept["effects"][0].update(difference="NaN"), "a number of"),
        (lambda kept: kept.update(schema="urn:other"), "no ablation.json"),
    ],
)
def test_an_ablation_of_something_else_is_refused_and_nothing_is_written(
    home: Path, found: dict[str, Any], edit: Callable[[dict[str, Any]], object], said: str
) -> None:
    kept = json.loads(json.dumps({"schema": "urn:clearcite:ablation:1", **found}))
    edit(kept)
    (home / "other.json").write_text(json.dumps(kept))
    done = clearcite(home, "evaluate", "suite.toml", "--ablation", "other.json", "--out", "never")
    assert (done.code, done.out) == (2, "") and said in done.err
    assert not (home / "never").exists()


def test_few_cases_prove_nothing_and_no_drop_is_called_significant(found: dict[str, Any]) -> None:
    assert not any(item["significant"] for item in found["effects"])


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("suite.toml", "--axis", "chunk"), "chunks"),
        (("suite.json",), "TOML or YAML"),
        (("suite.toml", "--axis", "checks", "--cross-encoder", "docs"), "--axis reranker"),
        (("suite.toml", "--axis", "retrieval"), "no vectors"),
    ],
)
def test_what_cannot_be_ablated_is_refused(home: Path, args: tuple[str, ...], said: str) -> None:
    done = clearcite(home, "ablate", *args)
    assert (done.code, done.out) == (2, "")
    assert said in done.err


def test_fixed_chunks_hold_so_many_words_and_whole_units_only() -> None:
    text = "One two three. Four five six seven. Eight nine."
    parsed = ParsedDocument(text=text, elements=(Element(kind="paragraph", start=0, end=len(text)),))
    cuts = cut_fixed(parsed, words=4)
    assert [text[cut.start : cut.end] for cut in cuts] == [
        "One two three. Four",
        "five six seven. Eight",
        "nine.",
    ]
    assert [[text[unit.start : unit.end] for unit in cut.units] for cut in cuts] == [
        ["One two three."],
        [],
        [],
    ]
