"""Units of passages as possible answers to a question, best first. What the writer, the judge of sufficiency and
the search for conflicts share, so that all three speak of the same sentences.

Features are thousandths; a score is their sum by integer weights. Without an embedder the similarities are
absent and another set of weights applies.
"""

from collections.abc import Iterator, Sequence
from itertools import islice, zip_longest

from msgspec import Struct
from msgspec.structs import replace

from clearcite.domain.answer import Claim, Quote
from clearcite.domain.corpus import Unit
from clearcite.domain.retrieval import Passage, Plan
from clearcite.domain.thresholds import LEXICAL_CLAIMS, SEMANTIC_CLAIMS, ClaimWeights
from clearcite.text.analysis import Analyzer
from clearcite.text.asks import Expected, answers_kind, expected_answer
from clearcite.text.coverage import Need, coverage, needs_of
from clearcite.text.days import is_day, speaks_of
from clearcite.text.memory import memory_of_texts
from clearcite.text.quoting import Span, asks, is_ended, spans_with, text_of
from clearcite.text.ranges import MOST_ASKED, lies_within
from clearcite.text.similarity import Similarity
from clearcite.text.told import measures_in
from clearcite.text.units import Value, values

EMBEDDED = 12
"""Candidates compared by meaning; embedding more costs time (two passes of 10 ms each) and found nothing better."""
NEAR = 40
"""Characters on either side of a value in which the words it belongs to are looked for."""
OPENING_WORDS = 12
"""A passage's first words introduce its subject, as a title would."""


INTRODUCTION = 2
"""Sentences before a table that are read with its rows."""


class Asked(Struct, frozen=True, kw_only=True):
    """A question as read once: what it needs covered, what kind of thing it asks for, and how to compare.

    ``amounts``: how much it is in the asker's case, each with the terms of its number.
    """

    plan: Plan
    analyzer: Analyzer
    needs: tuple[Need, ...]
    expected: Expected
    amounts: tuple[tuple[frozenset[str], Value], ...] = ()
    similarity: Similarity | None = None


def read_question(plan: Plan, analyzer: Analyzer, similarity: Similarity | None = None) -> Asked:
    needs = needs_of(plan, analyzer)
    return Asked(
        plan=plan,
        analyzer=analyzer,
        needs=needs,
        expected=expected_answer(plan.question),
        amounts=tuple(islice(_amounts(plan.question, needs), MOST_ASKED)),
        similarity=similarity,
    )


def _amounts(question: str, needs: Sequence[Need]) -> Iterator[tuple[frozenset[str], Value]]:
    for numbers, value in measures_in(question):
        terms = {
            form for need in needs if need.amount and need.unit.surface in numbers for form in need.unit.forms
        }
        if terms:
            yield frozenset(terms), value


class Candidate(Struct, frozen=True, kw_only=True):
    """One unit of one passage with what must be quoted with it. ``text`` is its quotes joined by ``\\n``; ``said``
    is the same without a heading that asks, which is quoted for the reader and states nothing.

    ``terms`` are index terms of what is said, ``context`` those of what stands around it; ``place`` is the rank of
    its passage, ``index`` its position among the passage's units.
    """

    passage: Passage
    unit: Unit
    place: int
    index: int
    spans: tuple[Span, ...]
    text: str
    said: str
    terms: frozenset[str]
    context: frozenset[str]
    features: tuple[tuple[str, int], ...] = ()
    score: int = 0

    def feature(self, name: str) -> int:
        return dict(self.features).get(name, 0)

    def claim(self) -> Claim:
        """Verbatim, as it would be published."""
        quotes = tuple(Quote(passage=self.passage, start=start, end=end) for start, end in self.spans)
        return Claim(text=self.text, quotes=quotes, score=self.score)


def candidates(asked: Asked, passages: Sequence[Passage]) -> tuple[Candidate, ...]:
    """All units that may be quoted, in the order (−score, place, index); headings only say what they head."""
    found = [item for place, passage in enumerate(passages) for item in _units_of(asked, passage, place)]
    weighed = [_scored(asked, item, LEXICAL_CLAIMS, with_meaning=False) for item in found]
    weighed.sort(key=_order)
    if asked.similarity is None:
        return tuple(weighed)
    compared = weighed[:EMBEDDED]
    asked.similarity.prepare(
        map(spoken, compared), by_words=(asked.plan.question, *map(in_context, compared))
    )
    head = [_scored(asked, item, SEMANTIC_CLAIMS, with_meaning=True) for item in compared]
    return tuple(sorted(head, key=_order))


def terms_of(asked: Asked, text: str, passage: Passage) -> frozenset[str]:
    """Index terms of a text in the language of the passage it stands in."""
    known: dict[tuple[str, str, str | None], frozenset[str]] = memory_of_texts("terms")
    key = (asked.analyzer.fingerprint, text, passage.language)
    if key not in known:
        known[key] = frozenset(asked.analyzer.analyze_document(text, passage.language))
    return known[key]


def _order(item: Candidate) -> tuple[int, int, int]:
    return (-item.score, item.place, item.index)


def _units_of(asked: Asked, passage: Passage, place: int) -> list[Candidate]:
    about = _about(asked, passage)
    headers = {unit.header for unit in passage.units if unit.header}
    questions = {
        (unit.start, unit.end) for unit in passage.units if unit.kind == "heading" and _asks(passage, unit)
    }
    leads = {unit.lead for unit in passage.units if unit.lead}
    found: list[Candidate] = []
    before: frozenset[str] = frozenset()
    for index, unit in enumerate(passage.units):
        own = text_of(passage, (unit.start, unit.end))
        if unit.kind == "heading" or (unit.start, unit.end) in headers:
            continue
        if (unit.kind in ("sentence", "list_item") and asks(own)) or (
            (unit.start, unit.end) in leads and not is_ended(own)
        ):
            before = terms_of(asked, own, passage)
            continue
        spans = spans_with(passage, index)
        said = "\n".join(text_of(passage, span) for span in spans if span not in questions)
        terms = terms_of(asked, said, passage) | _spoken_of(asked, said, passage)
        found.append(
            Candidate(
                passage=passage,
                unit=unit,
                place=place,
                index=index,
                spans=spans,
                text="\n".join(text_of(passage, span) for span in spans),
                said=said,
                terms=terms,
                context=about | before,
            )
        )
        before = terms
    return found


def _spoken_of(asked: Asked, said: str, passage: Passage) -> frozenset[str]:
    """Terms of the question that a text holds for by a range: *EUR 50 to EUR 1,000* speaks of EUR 700, *Monday to
    Friday* of Tuesday."""
    found = values(said, passage.language) if asked.amounts else ()
    amounts = (terms for terms, value in asked.amounts if lies_within(value, said, found))
    days = (
        need.unit.forms
        for need in asked.needs
        if is_day(need.unit.surface) and speaks_of(need.unit.surface, said)
    )
    return frozenset().union(*amounts, *days)


def _asks(passage: Passage, unit: Unit) -> bool:
    return asks(text_of(passage, (unit.start, unit.end)))


def _about(asked: Asked, passage: Passage) -> frozenset[str]:
    """Terms of what a passage is about: title, headings, its first words, the version it describes."""
    headings = [text_of(passage, (unit.start, unit.end)) for unit in passage.units if unit.kind == "heading"]
    version = passage.description.product_version
    stated = f"version {version} v{version}" if version else ""
    opening = " ".join(passage.text.split()[:OPENING_WORDS])
    return terms_of(asked, "\n".join((passage.title, passage.context, *headings, opening, stated)), passage)


def _scored(asked: Asked, item: Candidate, weights: ClaimWeights, *, with_meaning: bool) -> Candidate:
    features = dict(item.features) or _features(asked, item)
    if with_meaning and asked.similarity is not None:
        features["cosine"] = asked.similarity.to_question(spoken(item))
        features["titled"] = asked.similarity.to_question(in_context(item))
    score = sum(weights.of(name) * value for name, value in features.items()) // 1000
    return replace(item, features=tuple(features.items()), score=score)


def spoken(item: Candidate) -> str:
    """The text as it would be said, which is what an encoder was trained on: a row cell by cell, no list marks."""
    if item.unit.kind == "table_row" and len(item.spans) == 2:
        header, row = (_cells(text_of(item.passage, span)) for span in item.spans)
        return ", ".join(
            f"{name}: {cell}" if name else cell for name, cell in zip_longest(header, row, fillvalue="")
        )
    return item.said.lstrip("-*•+ ")


def _cells(row: str) -> list[str]:
    return [cell.strip() for cell in row.strip().strip("|").split("|")]


def in_context(item: Candidate) -> str:
    """The text as a reader meets it: under its title and nearest heading."""
    passage = item.passage
    above = [passage.title, *passage.heading[-1:]]
    if not any(above) and item.index:
        above = [" ".join(passage.text.split()[:OPENING_WORDS])]
    return "\n".join([*dict.fromkeys(line for line in above if line), spoken(item)])


def introduction(item: Candidate) -> str:
    """For a row of a table the sentences before the table, which may say what its rows are; else empty."""
    if item.unit.kind != "table_row":
        return ""
    before = [unit for unit in item.passage.units[: item.index] if unit.kind != "table_row"][-INTRODUCTION:]
    spans = [(unit.start, unit.end) for unit in before if unit.kind == "sentence"]
    return "\n".join(text_of(item.passage, span) for span in spans)


def introduced(item: Candidate) -> str:
    """``in_context``, and a row with its introduction."""
    *above, said = in_context(item).split("\n")
    return "\n".join(line for line in (*above, introduction(item), said) if line)


def amid(item: Candidate) -> str:
    """``introduced``, and a sentence with its neighbours: what *it* is may stand before, and its limits after."""
    if item.unit.kind == "table_row":
        return introduced(item)
    passage = item.passage
    around = passage.units[max(0, item.index - 1) : item.index + 2]
    said = [text_of(passage, (unit.start, unit.end)) for unit in around if unit.kind != "heading"]
    above = (passage.title, *passage.heading[-1:])
    return "\n".join([*dict.fromkeys(line for line in above if line), *said])


def _features(asked: Asked, item: Candidate) -> dict[str, int]:
    holds, found = answers_kind(asked.expected, item.said, item.passage.language)
    coded = [need for need in asked.needs if need.coded]
    named = [need for need in asked.needs if need.named]
    plain = [need for need in asked.needs if not need.named]
    around = item.terms | item.context
    return {
        "cover": coverage(asked.needs, item.terms),
        "around": coverage(asked.needs, around),
        "coded": (coverage(coded, item.terms) + coverage(coded, around)) // 2 if coded else 1000,
        "named": coverage(named, around) if named else 1000,
        "plain": coverage(plain, item.terms) if plain else 500,
        "kind": 500 if holds is None else 1000 * holds,
        "near": _nearness(asked, item, plain, found),
        "length": min(len(item.said.split()), 10) * 100,
        "early": 1000 // (1 + item.index),
        "place": 1000 // (1 + item.place),
    }


def _nearness(asked: Asked, item: Candidate, plain: Sequence[Need], found: Sequence[Value]) -> int:
    """How much of the question's plain words stands near a value of the expected kind."""
    if not found:
        return 0
    windows = [item.said[max(0, value.start - NEAR) : value.end + NEAR] for value in found]
    return coverage(plain, terms_of(asked, " ".join(windows), item.passage)) if plain else 1000
