"""What the lists must be, in plain Python: it is given the readable chunks only, and shares no code with the index."""

from collections.abc import Mapping, Sequence


class Oracle:
    """``chunks``: chunk id → (term counts, vector and scale or None). k1 and b in hundredths."""

    def __init__(self, chunks: Mapping[str, tuple], k1: int, b: int, average: int) -> None:
        self.chunks, self.k1, self.b, self.average = chunks, k1, b, average
        self.lengths = dict.fromkeys(chunks, 0)
        self.postings: dict[str, dict[str, int]] = {}
        for chunk, (terms, _) in chunks.items():
            for term, count in terms.items():
                self.postings.setdefault(term, {})[chunk] = count
                self.lengths[chunk] += count if term.startswith("=") else 0

    def lexical(self, words: Sequence[Sequence[str]]) -> tuple[list[tuple[int, str]], int, tuple[int, ...]]:
        """The list of (score, chunk id), N, and df of each word."""
        scores: dict[str, int] = {}
        frequencies = []
        for forms in words:
            counts: dict[str, int] = {}
            for form in forms:
                for chunk, count in self.postings.get(form, {}).items():
                    counts[chunk] = max(counts.get(chunk, 0), count)
            frequencies.append(len(counts))
            idf = self.idf(len(counts))
            for chunk, count in counts.items():
                scores[chunk] = scores.get(chunk, 0) + idf * self.weight(count, self.lengths[chunk])
        return self.ranked(scores), len(self.chunks), tuple(frequencies)

    def dense(self, query: Sequence[int]) -> tuple[list[tuple[int, str]], int]:
        dots = {
            chunk: vector[1] * sum(x * y for x, y in zip(vector[0], query, strict=True))
            for chunk, (_, vector) in self.chunks.items()
            if vector
        }
        return self.ranked(dots), len(dots)

    def weight(self, count: int, length: int) -> int:
        """1023 · tf / (tf + k1 (1 − b + b · length / average)), rounded down, at least 1."""
        above = 10_000 * self.average * count
        below = above + self.k1 * ((100 - self.b) * self.average + self.b * length)
        return max(1, 1023 * above // below)

    def idf(self, frequency: int) -> int:
        """1024 · log2((N + 1) / (df + 1/2)), rounded down, at least 1: the whole digits of the 1024th power."""
        above, below = (2 * len(self.chunks) + 2) ** 1024, (2 * frequency + 1) ** 1024
        return max(1, (above // below).bit_length() - 1)

    def ranked(self, scores: Mapping[str, int]) -> list[tuple[int, str]]:
        return sorted(((score, chunk) for chunk, score in scores.items()), key=lambda p: (-p[0], p[1]))
