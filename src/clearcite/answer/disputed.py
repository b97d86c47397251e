"""What a statement says that another can contradict: its values, with how they bind (exactly, at most, a range)."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from clearcite.domain.corpus import Fact
from clearcite.text.asks import names_in, wanted_values
from clearcite.text.candidates import Asked, Candidate
from clearcite.text.phrases import folded_words
from clearcite.text.units import Value, values

Kind = Literal["value", "polarity", "date", "code"]
MOST_VALUES = 2
"""A statement with more values of one class is a list; which one answers is not known, so none is disputed."""

_AT_MOST = re.compile(
    r"(?:up to|at most|no more than|maximum(?: of)?|not exceed(?:ing)?|within|less than|under|até|no máximo)\s*\Z",
    re.I,
)
_AT_LEAST = re.compile(
    r"(?:at least|no less than|minimum(?: of)?|more than|over|above|from|pelo menos|no mínimo|a partir de)\s*\Z",
    re.I,
)
_ABOUT = re.compile(
    r"(?:about|around|approximately|roughly|nearly|almost|cerca de|aproximadamente)\s*\Z", re.I
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Disputed:
    """The values of one class in one statement. ``bounds`` pairs each with how it binds; ``rest`` is the text
    without them, by which two statements are compared; ``shown`` is the first value as written."""

    kind: Kind
    unit_class: str
    canonical: frozenset[str]
    bounds: frozenset[str]
    rest: str
    shown: str


def disputed_values(asked: Asked, item: Candidate) -> tuple[Disputed, ...]:
    """What of a statement may be contradicted, what the question asks for first."""
    fact = fact_of(item)
    if fact is not None:
        value = f"{fact.value} {fact.unit}" if fact.unit else fact.value
        named = frozenset((value.casefold(),))
        exact = frozenset(("exactly",))
        text = item.text
        return (
            Disputed(
                kind="value",
                unit_class=f"fact:{fact.topic}",
                canonical=named,
                bounds=exact,
                rest=text,
                shown=value,
            ),
        )
    found = values(item.text, item.passage.language)
    wanted = wanted_values(asked.expected, item.text, found)
    if asked.expected.kinds and "choice" not in asked.expected.kinds:
        groups = _groups(item.text, wanted)
        return groups or _names(asked, item)
    told = [value for value in found if value.kind in ("quantity", "date", "state")]
    return _groups(item.text, [value for value in told if not _is_asked(asked, item.text, value)])


def contradicts(left: Disputed, right: Disputed) -> bool:
    """Whether both cannot hold. Unequal exact values contradict; limits contradict values beyond them."""
    if (left.kind, left.unit_class) != (right.kind, right.unit_class):
        return False
    if left.canonical & right.canonical:
        return False
    if left.kind == "date":
        return not any(a.startswith(b) or b.startswith(a) for a in left.canonical for b in right.canonical)
    if left.unit_class == "name":
        return not any(a in b or b in a for a in left.canonical for b in right.canonical)
    if left.bounds == right.bounds or left.kind != "value":
        return True
    return not _compatible(left, right)


def fact_of(item: Candidate) -> Fact | None:
    """The fact whose statement the candidate quotes."""
    for fact in item.passage.description.facts:
        if fact.statement in item.text or item.text in fact.statement:
            return fact
    return None


def _groups(text: str, found: Sequence[Value]) -> tuple[Disputed, ...]:
    """By class, in the order of the text; classes with too many values are left out."""
    groups: dict[tuple[Kind, str], list[Value]] = {}
    for value in found:
        groups.setdefault((_kind(value), value.unit_class), []).append(value)
    return tuple(
        Disputed(
            kind=kind,
            unit_class=unit_class,
            canonical=frozenset(value.canonical for value in group),
            bounds=frozenset(_bound(text, value) for value in group),
            rest=_without(text, found),
            shown=text[group[0].start : group[0].end],
        )
        for (kind, unit_class), group in groups.items()
        if len({value.canonical for value in group}) <= MOST_VALUES
    )


def _kind(value: Value) -> Kind:
    if value.kind in ("state", "negation"):
        return "polarity"
    if value.kind == "date":
        return "date"
    return "code" if value.kind in ("identifier", "version", "phone") else "value"


def _names(asked: Asked, item: Candidate) -> tuple[Disputed, ...]:
    """Names the question does not have, when it asks for one."""
    if "name" not in asked.expected.kinds:
        return ()
    spans = names_in(item.text, asked.expected.known)
    if not 0 < len(spans) <= MOST_VALUES:
        return ()
    rest = item.text
    for start, end in reversed(spans):
        rest = rest[:start] + "…" + rest[end:]
    shown = [item.text[start:end] for start, end in spans]
    named = frozenset(" ".join(folded_words(name)) for name in shown)
    exact = frozenset(("exactly",))
    return (
        Disputed(kind="value", unit_class="name", canonical=named, bounds=exact, rest=rest, shown=shown[0]),
    )


def _bound(text: str, value: Value) -> str:
    before = text[max(0, value.start - 30) : value.start]
    if _AT_MOST.search(before):
        return "at most"
    if _AT_LEAST.search(before):
        return "at least"
    return "about" if _ABOUT.search(before) else "exactly"


def _compatible(left: Disputed, right: Disputed) -> bool:
    """A limit and an amount on its right side can both hold; so can an upper and a lower limit; so can a rough
    figure and a near one."""
    try:
        ours, theirs = (sorted(map(Fraction, side.canonical)) for side in (left, right))
    except ValueError:
        return False
    for bounds, limit, amount in ((left.bounds, ours, theirs), (right.bounds, theirs, ours)):
        if "at most" in bounds and amount[-1] <= limit[-1]:
            return True
        if "at least" in bounds and amount[0] >= limit[0]:
            return True
        if "about" in bounds and abs(amount[0] - limit[0]) * 10 <= abs(limit[0]):
            return True
    return False


def _without(text: str, found: Sequence[Value]) -> str:
    for value in sorted(found, key=lambda value: -value.start):
        text = f"{text[: value.start]}…{text[value.end :]}"
    return text


def _is_asked(asked: Asked, text: str, value: Value) -> bool:
    return all(word in asked.expected.known for word in folded_words(text[value.start : value.end]))
