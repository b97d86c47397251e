"""An embedder for tests: words hashed into signs. It needs no model, and equal words give near vectors."""

import hashlib
from math import isqrt

from clearcite.domain.retrieval import DenseQuery
from clearcite.ports import Vector, Worded
from clearcite.text.phrases import folded_words


class HashedEmbedder:
    """Implements ``ports.Embedder``. Texts that share words are near; it knows nothing of meaning.

    Integers throughout, scaled like the real one: a vector of length one is ``data × scale / 2^30``.
    """

    id = "hashed-words"

    def __init__(self, dims: int = 64, max_tokens: int = 256) -> None:
        self.dims = dims
        self.max_tokens = max_tokens
        self.fingerprint = f"hashed-words;1;dims-{dims};tokens-{max_tokens}"

    def embed_passage(self, text: str) -> Vector:
        words = folded_words(text)
        sums = [1] + [0] * (self.dims - 1)
        for word in words[: self.max_tokens]:
            sums = [value + sign for value, sign in zip(sums, self._signs(word), strict=True)]
        largest = max(map(abs, sums))
        data = bytes((127 * value // largest) & 0xFF for value in sums)
        length = isqrt(sum(value * value for value in sums) << 32)  # times 2^16
        return Vector(
            data=data, scale=(largest << 46) // (127 * length), truncated=len(words) > self.max_tokens
        )

    def embed_words(self, text: str) -> Worded:
        words = folded_words(text)[: self.max_tokens]
        rows = b"".join(bytes(sign & 0xFF for sign in self._signs(word)) for word in words)
        return Worded(vector=self.embed_passage(text), words=words, rows=rows)

    def answers(self, question: str, text: str) -> None:
        """It reads no pairs."""

    def embed_query(self, text: str) -> DenseQuery:
        vector = self.embed_passage(text)
        return DenseQuery(vector=vector.data, scale=vector.scale)

    def _signs(self, word: str) -> list[int]:
        bits = int.from_bytes(hashlib.blake2b(word.encode(), digest_size=-(-self.dims // 8)).digest(), "big")
        return [8 if bits >> i & 1 else -8 for i in range(self.dims)]
