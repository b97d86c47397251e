"""A cross-encoder by a file of one's own: its scores order passages, and what is no such model is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from clearcite.adapters.rerankers.cross_encoder import GRAIN, REACH, CrossEncoder
from clearcite.answer.rerank import rerank
from clearcite.domain.retrieval import Ranked
from clearcite.errors import ConfigError, DependencyUnavailable
from tests.support.passages import passages, plan_for

pytest.importorskip("onnxruntime", reason="the extra semantic is not installed")
pytest.importorskip("onnx", reason="the models of these tests are made with onnx")

from tests.support.cross_encoder import write_cross_encoder

TEXTS = ("The valve opens.", "The pump opens. The pump stops.", "Nothing of it.")
FOUND = tuple(passages(f"d{n}", f"T | H | {text}")[0] for n, text in enumerate(TEXTS))
PLAN = plan_for("When does it open?")


def test_passages_are_ordered_by_what_the_model_says_of_question_and_passage(tmp_path: Path) -> None:
    model = CrossEncoder(write_cross_encoder(tmp_path / "m", {"pump": 1.5, "valve": -2.0, "open": 0.25}))
    scores = dict(model.rerank(PLAN, FOUND))
    # 0.25 of the question's own word for each.
    said = {"d0": -1.75, "d1": 3.25, "d2": 0.25}
    assert {one.key.document_id: scores[one.chunk_id] for one in FOUND} == {
        name: round((value + REACH) * GRAIN) + 1 for name, value in said.items()
    }
    ranked = tuple(Ranked(passage=one, score=10 - n) for n, one in enumerate(FOUND))
    order = [item.passage.key.document_id for item in rerank(PLAN, ranked, model)]
    assert order == ["d1", "d2", "d0"]


def test_no_passage_changes_the_score_of_another_and_the_name_is_that_of_the_file(tmp_path: Path) -> None:
    one, other = ({"pump": 1.0, "valve": 2.0}, {"pump": 1.0, "valve": 3.0})
    model = CrossEncoder(write_cross_encoder(tmp_path / "m", one))
    alone = [score for passage in FOUND for score in model.rerank(PLAN, [passage])]
    assert alone == list(model.rerank(PLAN, FOUND))
    again = CrossEncoder(write_cross_encoder(tmp_path / "again", one))
    assert model.fingerprint == again.fingerprint
    assert model.fingerprint != CrossEncoder(write_cross_encoder(tmp_path / "other", other)).fingerprint


@pytest.mark.parametrize("weight", [float("nan"), float("inf")])
def test_a_score_that_is_no_finite_number_is_a_part_that_failed(tmp_path: Path, weight: float) -> None:
    model = CrossEncoder(write_cross_encoder(tmp_path / "m", {"pump": weight}))
    with pytest.raises(DependencyUnavailable, match="finite"):
        model.rerank(PLAN, FOUND)


def test_a_folder_that_holds_no_cross_encoder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"model.onnx and vocab.txt"):
        CrossEncoder(tmp_path)
    broken = write_cross_encoder(tmp_path / "broken", {"pump": 1.0})
    (broken / "model.onnx").write_bytes(b"no model")
    with pytest.raises(ConfigError, match="cannot be opened"):
        CrossEncoder(broken)
    with pytest.raises(ConfigError, match="BERT family"):
        CrossEncoder(write_cross_encoder(tmp_path / "pixels", {"pump": 1.0}, name="pixels"))
    (broken / "vocab.txt").write_text("pump\n")
    with pytest.raises(ConfigError, match="lacks one of"):
        CrossEncoder(broken)
