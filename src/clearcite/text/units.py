"""Values in a text, normalised so that equal things compare equal: what two sources can disagree about.

    kind         unit_class                          canonical
    quantity     duration, bytes, currency:EUR, …    amount in the base unit: 24 h and 1 day are both 86400
    quantity     count:attempt, count:job/minute     the number
    number       (empty)                             the number
    date         date, time, weekday                 see ``dates``
    version      version                             2.6.1
    identifier   identifier                          cvx-4210
    phone        phone                               +5511912345678
    state        enabled, allowed, required, …       yes or no, negation counted
    negation     negation                            the word

Months, working days and days are different classes: none converts exactly into another. Canonical forms are
strings of exact numbers, never floats. Spans are code points of the text given.
"""

import re
from collections.abc import Iterator
from typing import Literal

from msgspec import Struct

from clearcite.text.analysis import base_language, detect_language
from clearcite.text.dates import find_dates
from clearcite.text.forms import clean_form
from clearcite.text.memory import memory_of_texts
from clearcite.text.numerals import canonical
from clearcite.text.polarity import find_negations, find_states
from clearcite.text.quantities import find_quantities
from clearcite.text.tokens import VERSION_WORDS, fold, take_apart, token_spans

ValueKind = Literal["quantity", "number", "date", "version", "identifier", "phone", "state", "negation"]

_PHONE = re.compile(
    r"(?<![\w.,/-])(?:\+\d{1,3}[ .-]?)?(?:\(\d{1,5}\)[ .-]?)?\d{2,6}(?:[ .-]\d{2,6}){0,4}(?![\w/-]|[.,]\d)"
)
_PHONE_WORD = re.compile(
    r"(?:phone|tel|telephone|call|ring|dial|hotline|helpline|fax|mobile|telefone|fone|ligue|celular|电话)"
    r"\W{0,3}(?:\w+\W{1,3}){0,2}\Z",
    re.IGNORECASE,
)


class Value(Struct, frozen=True, kw_only=True):
    """One value; two values disagree when kind and class are equal and the canonical forms are not."""

    kind: ValueKind
    unit_class: str
    canonical: str
    start: int
    end: int


def values(text: str, language: str | None = None) -> tuple[Value, ...]:
    """All values in order. ``language`` decides what ``1.000`` and ``no`` mean; without it, it is guessed."""
    known: dict[tuple[str, str | None], tuple[Value, ...]] = memory_of_texts("values")
    key = (text, language)
    if key not in known:
        known[key] = _values(text, language)
    return known[key]


def _values(text: str, language: str | None) -> tuple[Value, ...]:
    language = base_language(language) or detect_language(text)
    form = clean_form(text)
    taken: list[Value] = []
    for found in (_dates, _names, _phones):
        for value in found(form.text):
            if _is_free(taken, value.start, value.end):
                taken.append(value)
    quantities = find_quantities(form.text, language, lambda start, end: _is_free(taken, start, end))
    for quantity in quantities:
        kind: ValueKind = "quantity" if quantity.unit_class else "number"
        amount = canonical(quantity.amount)
        taken.append(
            Value(
                kind=kind,
                unit_class=quantity.unit_class,
                canonical=amount,
                start=quantity.start,
                end=quantity.end,
            )
        )
    taken += _said(form.text, language)
    taken.sort(key=lambda value: (value.start, value.end, value.kind))
    return tuple(_moved(value, *form.span(value.start, value.end)) for value in taken)


def _moved(value: Value, start: int, end: int) -> Value:
    return Value(
        kind=value.kind, unit_class=value.unit_class, canonical=value.canonical, start=start, end=end
    )


def _is_free(taken: list[Value], start: int, end: int) -> bool:
    return not any(value.start < end and start < value.end for value in taken)


def _dates(text: str) -> Iterator[Value]:
    for name, form, start, end in find_dates(text):
        yield Value(kind="date", unit_class=name, canonical=form, start=start, end=end)


def _names(text: str) -> Iterator[Value]:
    before = ""
    for raw, start, end in token_spans(text):
        for token in take_apart(raw):
            named = before in VERSION_WORDS and token.kind == "number" and not token.parts
            if token.kind == "version" or named:
                name = token.whole.removeprefix("v")
                yield Value(kind="version", unit_class="version", canonical=name, start=start, end=end)
            elif token.kind == "identifier":
                yield Value(
                    kind="identifier", unit_class="identifier", canonical=token.whole, start=start, end=end
                )
        before = fold(raw)


def _phones(text: str) -> Iterator[Value]:
    for match in _PHONE.finditer(text):
        digits = re.sub(r"\D", "", match.group())
        if not 7 <= len(digits) <= 15:
            continue
        groups = re.findall(r"\d+", match.group())
        shaped = match.group()[0] in "+(" or (
            "-" in match.group() and len(groups) > 1 and len(groups[-1]) == 4 and len(groups[-2]) in (3, 5)
        )
        if shaped or _PHONE_WORD.search(text[max(0, match.start() - 30) : match.start()]):
            plus = "+" if match.group()[0] == "+" else ""
            yield Value(
                kind="phone",
                unit_class="phone",
                canonical=plus + digits,
                start=match.start(),
                end=match.end(),
            )


def _said(text: str, language: str) -> Iterator[Value]:
    for word, start, end in find_negations(text, language):
        yield Value(kind="negation", unit_class="negation", canonical=word, start=start, end=end)
    for name, state, start, end in find_states(text, language):
        yield Value(kind="state", unit_class=name, canonical=state, start=start, end=end)
