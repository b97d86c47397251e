"""What a question asks, apart from what is told with it: *I was woken at 2. When may I start?* tells, then asks."""

import re

from clearcite.text.sentences import split_sentences
from clearcite.text.terms import stop_word_of
from clearcite.text.tokens import take_apart, token_spans
from clearcite.text.units import Value, values

_CLOSERS = "\"'”’»)]} "
_ASKING = (
    r"who|whom|whose|what|which|why|how|is|are|am|was|were|do|does|did|can|could|may|must|should|shall|will|would|has"
    r"|have|quem|que|qual|quais|onde|como|quanto|quanta|quantos|quantas|posso|pode|podem|podemos|devo|deve|tenho|temos"
    r"|há|existe"
)
_BEFORE_ASKING = (
    r"(?:(?:and|but|so|e|mas) )?"
    r"(?:(?:by|for|at|in|on|to|from|until|with|after|within|o|em|de|a|para|por|até) )?"
)
# *When it rains, may I ...?* tells first, *In which town, if any, ...?* does not.
_LEADING = re.compile(
    rf"(?!{_BEFORE_ASKING}(?:{_ASKING})\b).*?[,:;]\s+(?={_BEFORE_ASKING}(?:{_ASKING}|when|where|quando)\b)",
    re.IGNORECASE | re.DOTALL,
)
_WORD_BEFORE = re.compile(r"([^\W\d_]+)[ -]\Z")
_LONGEST_NAME = 40
"""Characters before a number that are looked at: a question can have a thousand numbers behind one long word."""
_NAMES_NO_NUMBER = frozenset(
    ("got", "get", "have", "had", "paid", "spent", "about", "over", "under", "almost", "nearly", "tenho")
)
_YEAR = re.compile(r"(1[89]|20)\d\d")


def asked_part(question: str) -> str:
    """The sentences that end with a question mark, each without what stands before its question word after a comma.
    The whole text where no sentence ends so."""
    sentences = [question[start:end] for start, end in split_sentences(question)]
    asking = [text for text in sentences if text.rstrip(_CLOSERS).endswith("?")]
    if not asking:
        return question
    found = ((text, _LEADING.match(text)) for text in asking)
    return " ".join(text[match.end() :] if match else text for text, match in found)


def measures_in(question: str) -> tuple[tuple[frozenset[str], Value], ...]:
    """Money, time and measures that a question gives, each with its numbers, folded. None in a claim."""
    found = values(question) if "?" in question else ()
    return tuple((_numbers(question[v.start : v.end]), v) for v in found if _is_measured(v))


def _is_measured(value: Value) -> bool:
    return value.kind == "quantity" and not value.unit_class.startswith("count")


def amounts_in(question: str, asked: str) -> frozenset[str]:
    """Numbers, folded, that say how much of something there is in the asker's case: money, time, a measure; in what
    is only told any number that no word before it names (*severity 2*) and that is no year. None in a claim."""
    found: set[str] = set()
    for value in values(question) if "?" in question else ():
        written = question[value.start : value.end]
        if _is_measured(value) or (
            value.kind in ("quantity", "number") and _is_told(question, written, asked, value.start)
        ):
            found |= _numbers(written)
    return frozenset(found)


def _is_told(question: str, written: str, asked: str, start: int) -> bool:
    word = _WORD_BEFORE.search(question[max(0, start - _LONGEST_NAME) : start])
    names = word and not stop_word_of(word[1]) and word[1].lower() not in _NAMES_NO_NUMBER
    counts = written.endswith("s")  # *has 12 roses*, unlike *severity 2 incident*
    return written not in asked and (counts or not names) and not _YEAR.fullmatch(written)


def _numbers(text: str) -> frozenset[str]:
    raws = (raw for raw, _, _ in token_spans(text) if any(char.isdigit() for char in raw))
    return frozenset(token.whole or token.joined for raw in raws for token in take_apart(raw))
