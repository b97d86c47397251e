"""What kind of thing a question asks for, and whether a text holds one.

Only clear cues count: "how many", "who", "when", "where" and their like in English and Portuguese, and nouns
whose value is a number or a date. A question without a cue expects nothing, and nothing is held against a text.
"""

import re
from collections.abc import Collection, Sequence
from typing import Literal

from msgspec import Struct

from clearcite.text.phrases import PhraseSet, folded_words
from clearcite.text.tokens import fold, token_spans
from clearcite.text.units import Value, values

Wanted = Literal["amount", "when", "name", "choice"]

_WHEN = PhraseSet(
    (
        "when", "what time", "which time", "at what time", "what year", "which year", "what date", "which date",
        "what day", "which day", "what month", "what hour", "birth date", "date of", "deadline", "how soon", "how long",
        "how often", "how quickly", "how fast", "how late", "how early", "until what", "by what", "opening hours",
        "quando", "que horas", "qual horario", "que dia", "que data", "em que ano", "data de", "prazo", "quanto tempo",
        "quantas vezes", "com que frequencia", "horario",
    )
)  # fmt: skip
_AMOUNT = PhraseSet(
    (
        "how many", "how much", "how long", "how far", "how large", "how big", "how old", "how often", "how high",
        "how tall", "how warm", "how deep", "how heavy", "how wide", "how fast", "how soon", "population", "number of",
        "percentage", "length of", "height of", "size of", "price", "cost", "costs", "fee", "maximum", "minimum",
        "limit", "rate", "allowance", "quanto", "quanta", "quantos", "quantas", "preco", "custo", "custa", "limite",
        "maximo", "minimo", "numero de", "percentagem", "quanto tempo", "telephone", "phone number",
    )
)  # fmt: skip
_NAME = PhraseSet(
    ("who", "whom", "whose", "artist", "director", "author", "quem", "which country", "which city", "what country",
     "what city", "in which", "que pais", "que cidade", "de quem", "where was", "where is", "where are", "onde")
)  # fmt: skip
_CHOICE = frozenset(
    [
        "is",
        "are",
        "was",
        "were",
        "do",
        "does",
        "did",
        "can",
        "could",
        "may",
        "must",
        "should",
        "will",
        "has",
        "have",
        "am",
        "posso",
        "pode",
        "podem",
        "podemos",
        "devo",
        "deve",
        "e",
        "sao",
        "ha",
        "existe",
        "tem",
    ]
)

_ASKING = frozenset(
    ("who", "whom", "whose", "what", "which", "when", "where", "why", "how", "tell", "show", "explain", "give", "list",
     "quem", "que", "qual", "quais", "quando", "onde", "como", "quanto", "quanta", "quantos", "quantas", "diga",
     "porque")
)  # fmt: skip
FEW_WORDS, LONG_WITHOUT_STOP = 3, 7
_YEAR = re.compile(r"1[1-9]\d\d|20\d\d")
_ARTICLES = frozenset(("one", "um", "uma"))
_TIMES = frozenset(("date", "time", "weekday", "duration", "months", "working-days"))


class Expected(Struct, frozen=True, kw_only=True):
    """What would answer: any of ``kinds`` (none: no clear cue), by a value or name that ``known`` does not hold.

    ``known`` are the folded words of the question: repeating one of them tells nothing.
    """

    kinds: frozenset[Wanted]
    known: frozenset[str]


def expected_answer(question: str) -> Expected:
    words = folded_words(question)
    kinds: set[Wanted] = set()
    if _WHEN.found_in(question):
        kinds.add("when")
    if _AMOUNT.found_in(question):
        kinds.add("amount")
    if not kinds and _NAME.found_in(question):
        kinds.add("name")
    if not kinds and words and words[0] in _CHOICE:
        kinds.add("choice")
    return Expected(kinds=frozenset(kinds), known=frozenset(words))


def is_statement(question: str) -> bool:
    """Whether it is a claim to be checked rather than a question or a few words: a sentence that asks nothing."""
    words = folded_words(question)
    if not words or "?" in question or words[0] in _ASKING or words[0] in _CHOICE:
        return False
    return len(words) >= (FEW_WORDS if question.rstrip().endswith(".") else LONG_WITHOUT_STOP)


def answers_kind(
    expected: Expected, text: str, language: str | None = None
) -> tuple[bool | None, tuple[Value, ...]]:
    """Whether the text holds what is expected (None when nothing particular is), and the values that do."""
    if not expected.kinds or "choice" in expected.kinds:
        return None, ()
    if "name" in expected.kinds:
        return names_something(text, expected.known), ()
    found = wanted_values(expected, text, values(text, language))
    return bool(found), found


def wanted_values(expected: Expected, text: str, found: Sequence[Value]) -> tuple[Value, ...]:
    """The values of a text that are of an expected kind and not the question's own."""
    return tuple(
        value
        for value in found
        if _is_wanted(value, text, expected.kinds) and not _is_known(value, text, expected.known)
    )


def _is_wanted(value: Value, text: str, kinds: Collection[Wanted]) -> bool:
    is_time = value.unit_class in _TIMES or value.unit_class.startswith("count:time")
    written = text[value.start : value.end]
    is_year = bool(_YEAR.fullmatch(written))
    if "when" in kinds and (is_time or is_year):
        return True
    if "amount" not in kinds or value.kind not in ("quantity", "number", "phone"):
        return False
    return not is_year and fold(written) not in _ARTICLES


def _is_known(value: Value, text: str, known: Collection[str]) -> bool:
    """A value whose every word stands in the question is no answer to it."""
    return all(word in known for word in folded_words(text[value.start : value.end]))


def names_something(text: str, known: Collection[str]) -> bool:
    """Whether a name, an address or a code stands in the text that the question does not have."""
    return bool(names_in(text, known))


def names_in(text: str, known: Collection[str]) -> list[tuple[int, int]]:
    """Spans of runs of capitalised words, and of addresses and codes; not a sentence's first word, nor the
    question's own words."""
    spans: list[tuple[int, int]] = []
    for position, (raw, start, end) in enumerate(token_spans(text)):
        capital = raw[0].isupper() and (position > 0 or any(char.isupper() for char in raw[1:]))
        before = text[:start].rstrip(" \t")[-1:]
        begins = position > 0 and (before in ".!?:|" or (before == "\n" and "|" in text))
        special = any(mark in raw for mark in "/@_\\") or any(char.isdigit() for char in raw)
        if not ((capital and not begins) or special) or _all_known(raw, known):
            continue
        if spans and capital and not text[spans[-1][1] : start].strip(" .,"):
            spans[-1] = (spans[-1][0], end)
        else:
            spans.append((start, end))
    return spans


def _all_known(raw: str, known: Collection[str]) -> bool:
    return all(word in known for word in folded_words(raw)) or fold(raw) in known
