"""The first layer of all-MiniLM-L6-v2 alone: the mean of the rows of its word pieces, without the transformer.

A static embedder, of which the place of a word and its neighbours mean nothing: what it finds a transformer need not
be paid for. It is a subject of comparison. Needs the installed model and no runtime; nothing is downloaded.
"""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from clearcite.adapters.embedders.minilm import (
    REVISION_SHA256,
    model_directory,
    quantise,
    verify_files,
    word_rows,
)
from clearcite.adapters.embedders.safetensors import map_float32
from clearcite.adapters.wordpiece import WordPiece, read_vocabulary
from clearcite.domain.retrieval import DenseQuery
from clearcite.ports import Vector, Worded

if TYPE_CHECKING:
    from numpy.typing import NDArray

_ID = "all-MiniLM-L6-v2-rows"


class MiniLMRows:
    """Implements ``ports.Embedder``. The mean row of the whole vocabulary is taken off, for all rows share it and it
    would make any two texts near. Raises MissingExtra without the model, IntegrityFault for another revision of it."""

    id = _ID
    dims = 384
    max_tokens = 256
    fingerprint = f"{_ID};sha256-{REVISION_SHA256[:16]};tokens-256;int8-1"

    def __init__(self, model_path: str | Path | None = None) -> None:
        directory = model_directory(model_path)
        verify_files(directory)
        self._rows = map_float32(directory / "model.safetensors")["embeddings.word_embeddings.weight"]
        self._middle: NDArray[np.float64] = self._rows.mean(axis=0, dtype=np.float64)
        self._wordpiece = WordPiece(read_vocabulary(directory / "vocab.txt"))

    def embed_passage(self, text: str) -> Vector:
        encoded = self._wordpiece.encode(text, self.max_tokens)
        # A text without a word has the marks of begin and end alone; they stand for it then.
        ids = encoded.ids[1:-1] or encoded.ids
        mean = self._rows[list(ids)].mean(axis=0, dtype=np.float64) - self._middle
        return quantise(mean, truncated=encoded.truncated)

    def embed_words(self, text: str) -> Worded:
        encoded = self._wordpiece.encode(text, self.max_tokens)
        words, rows = word_rows(self._rows[list(encoded.ids)] - self._middle, encoded)
        return Worded(vector=self.embed_passage(text), words=words, rows=rows)

    def answers(self, question: str, text: str) -> None:
        """Words that know nothing of their neighbours say nothing of a pair."""

    def embed_query(self, text: str) -> DenseQuery:
        vector = self.embed_passage(text)
        return DenseQuery(vector=vector.data, scale=vector.scale)
