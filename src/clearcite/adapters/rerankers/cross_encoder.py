"""A cross-encoder of the BERT family by a file of one's own: question and passage read together, one score for both.

The folder holds ``model.onnx`` (inputs ``input_ids``, ``attention_mask`` and, where it has it, ``token_type_ids``; one
number out) and the ``vocab.txt`` it was trained with. Nothing is ever downloaded. Pairs are read one at a time, so that
no passage changes the score of another.
"""

import hashlib
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from clearcite.adapters.runtime import runtime
from clearcite.adapters.wordpiece import WordPiece, read_vocabulary
from clearcite.domain.retrieval import Passage, Plan
from clearcite.errors import ConfigError, DependencyUnavailable, MissingExtra

MODEL, VOCABULARY = "model.onnx", "vocab.txt"
MARKS = ("[CLS]", "[SEP]", "[UNK]")
MAX_TOKENS = 512
REACH = 64
"""Scores beyond ± this are taken for this: no model of the family says more than some ± 12."""
GRAIN = 1 << 20


class CrossEncoder:
    """Implements ``ports.Reranker``. Raises ConfigError for a folder that holds no such model."""

    def __init__(self, folder: Path) -> None:
        model, vocabulary = folder / MODEL, folder / VOCABULARY
        missing = [path.name for path in (model, vocabulary) if not path.is_file()]
        if missing:
            raise ConfigError(f"The folder of the cross-encoder lacks {' and '.join(missing)}.")
        pieces = read_vocabulary(vocabulary)
        if not all(mark in pieces for mark in MARKS):
            raise ConfigError(f"The {VOCABULARY} of the cross-encoder lacks one of {', '.join(MARKS)}.")
        with model.open("rb") as stream:
            self.fingerprint = (
                f"cross-encoder;sha256-{hashlib.file_digest(stream, 'sha256').hexdigest()[:16]}"
            )
        self._wordpiece = WordPiece(pieces)
        self._session = _open(model)
        self._inputs = {item.name for item in self._session.get_inputs()}

    def rerank(self, plan: Plan, passages: Sequence[Passage]) -> tuple[tuple[str, int], ...]:
        """Scores above 0, in 2^-20 of what the model says."""
        return tuple(
            (passage.chunk_id, self._score(plan.question, f"{passage.context}\n{passage.text}"))
            for passage in passages
        )

    def _score(self, question: str, text: str) -> int:
        ids, types = self._wordpiece.pair(question, text, MAX_TOKENS)
        feed = {
            "input_ids": np.array([ids], np.int64),
            "attention_mask": np.ones((1, len(ids)), np.int64),
            "token_type_ids": np.array([types], np.int64),
        }
        try:
            found = self._session.run(None, {name: feed[name] for name in self._inputs})[0]
            value = float(np.asarray(found).reshape(-1)[-1])
        except Exception as fault:  # whatever the runtime raises, it is this dependency that failed
            raise DependencyUnavailable("The cross-encoder failed.") from fault
        if not math.isfinite(value):
            raise DependencyUnavailable("The cross-encoder gave a score that is no finite number.")
        return round((max(-REACH, min(REACH, value)) + REACH) * GRAIN) + 1


def _open(model: Path) -> Any:
    try:
        onnxruntime = runtime()
    except ImportError as error:
        raise MissingExtra("onnxruntime", 'pip install "clearcite[semantic]"') from error
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    try:
        session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
    except Exception as fault:  # the runtime has its own kinds of errors
        raise ConfigError(f"The {MODEL} of the cross-encoder cannot be opened.") from fault
    names = {item.name for item in session.get_inputs()}
    if "input_ids" not in names or names - {"input_ids", "attention_mask", "token_type_ids"}:
        raise ConfigError(f"The {MODEL} does not take what a cross-encoder of the BERT family takes.")
    return session
