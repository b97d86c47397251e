"""What kind of thing a question asks for, and whether a text holds something of that kind.

*How many weeks* asks for a span of time, *what percentage* for a percent, *who* for somebody, *why* for a reason.
English and Portuguese; no cue, no expectation.
"""

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from types import MappingProxyType

from clearcite.text.focus import MOST_NAMING, Words, head, words_of
from clearcite.text.people import asks_name, asks_who, tells_name, tells_who
from clearcite.text.phrases import folded_words
from clearcite.text.terms import stop_word_of, word_forms
from clearcite.text.units import Value, values

_SPAN = words_of("duration months working-days")
_AFTER_HOW = words_of("long soon quickly often frequently")
_OFTEN = words_of("often frequently")
# *After what time?* is answered by 30 minutes and by 22:00.
_LASTS = {"within": _SPAN, "after": _SPAN | {"time"}, "for": _SPAN | {"time"}}
# Between *how many* and its unit no time goes by: *how many guests last year*.
_COUNTED_BEFORE = words_of("last next this each every per past")
_MEASURED = words_of("many much large big deep high tall wide warm old heavy hot cold")
_HOW_MANY = ("how", "many")
_COUNTS = words_of("quantos quantas")
_BOUNDS = words_of("maximum minimum max min limit maximo minimo limite quantidade")
_COSTS = words_of("cost costs custa custam")
_PAID = _COSTS | words_of("pay pays paid charge charged bill billed owe spend")
_NUMBERS = words_of("quantity number phone date")
# Each of these says a number only where it stands before what is counted: *one*, not *the old one*.
_SINGLE = words_of("one single once both um uma any no none")
# Words that give a number, or say that there is none, or no bound.
_SAYS_A_NUMBER = words_of(
    "two three four five six seven eight nine ten eleven twelve twenty thirty hundred hundreds thousand thousands tens"
    " dozen dozens zero half third quarter fifth sixth eighth tenth twice never unlimited free nothing gratis gratuito"
    " gratuita dois duas tres quatro cinco seis sete oito nove dez ambos nada sem limite"
)

# What a value is called, and the class it then has; see ``text.units``.
_CALLED: Mapping[str, str] = MappingProxyType(
    dict.fromkeys(("percentage", "percent", "share", "percentagem"), "percent")
    | dict.fromkeys(("price", "cost", "costs", "fee", "fare", "preco", "custo", "custa", "taxa"), "money")
    | dict.fromkeys(("fine", "deposit", "discount", "supplement", "surcharge", "desconto", "multa"), "amount")
    | dict.fromkeys(("phone", "telephone", "telefone"), "phone")
    | dict.fromkeys(("email", "mail"), "address")
    | dict.fromkeys(("version", "versao"), "version")
    | dict.fromkeys(("time", "times", "hours", "hora", "horas", "horario", "horarios"), "time")
    | dict.fromkeys(("date", "dates", "data"), "date")
    | dict.fromkeys(("year", "ano"), "year")
    | dict.fromkeys(("day", "days", "weekday", "weekdays", "dia", "dias"), "day")
)
_REACHED = words_of("reach call ring phone telephone dial ligar telefone")
# What there can be much of, and the classes its amount then has.
_MUCH: Mapping[str, frozenset[str]] = MappingProxyType(
    dict.fromkeys(("memory", "ram", "storage", "disk"), words_of("bytes"))
    | {"time": _SPAN, "money": words_of("money")}
)
# Classes of values that serve as well; *number* and *quantity* are kinds, *year* is a number that may be one.
_SERVES: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "amount": words_of("number quantity"),
        "version": words_of("number"),
        "date": words_of("weekday year"),
        "year": words_of("date"),
        "day": words_of("date weekday duration working-days"),
    }
)
# Words that say as much as a value of a class does.
_SAYS: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "money": words_of(
            "free gratis gratuito gratuita nothing coin coins cent cents pence moedas centimos"
        ),
        "amount": words_of("free gratis gratuito gratuita nothing half metade full whole double"),
        "time": words_of("noon midnight meio daily closed fechado"),
        "day": words_of("first last every primeiro ultimo"),
        "times": words_of("times once twice vezes"),
    }
    | dict.fromkeys(
        _SPAN,
        words_of(
            "daily weekly monthly quarterly yearly annually hourly nightly immediately every each ever forever never"
            " season seasons semester semesters lifetime permanently indefinitely cada sempre nunca temporada"
        ),
    )
)
_LETTERS = re.compile(r"[^\W\d_]+")
_SHORT_UNIT = 2
"""Letters of a unit that is written short: in a heading *m* and *h* seldom are one."""
_ORDINAL = re.compile(r"\b\d{1,2}(?:st|nd|rd|th|º)\b")
_YEAR = re.compile(r"\b(1[1-9]|20)\d\d\b")
_TIMES = words_of("times vezes")
_ALL = words_of("todos todas")

_ASKS_WHEN_IT_WAS = frozenset(
    (("when", "did"), ("when", "was"), ("when", "were"), ("quando", "foi"), ("quando", "foram"))
)
_DATES = _SPAN | words_of("date weekday version time")
_AS_GOOD: Mapping[str, frozenset[str]] = MappingProxyType(
    {"day": words_of("date weekday"), "percent": words_of("percent")}
)
_SAYS_WHEN = words_of("after before once until since yesterday today ago depois antes desde")
_ASKS_END = frozenset((a, b) for a in ("until", "till") for b in ("what", "which", "when"))
_SAYS_END = words_of(
    "until till to by end ends close closes closed finish finishes latest before ate as fecha"
)
_RANGE = re.compile(r"\d ?[-–—] ?\d")
_ASKS_WHY = words_of("why porque")
# Words that give a reason, or say what something is for.
_SAYS_WHY = words_of(
    "because for since so therefore thus reason reasons due owing otherwise avoid cause causes caused why hence thanks"
    " as explains means would prevent prevents protect purpose order else porque pois para motivo razao assim devido"
    " causa senao evitar"
)


def is_untyped(question: str, text: str, found: Sequence[Value], above: str = "") -> bool:
    """Whether something of a kind is asked for, and the text with these values holds nothing of that kind.

    ``above``: what a row stands under. A bare number is of a unit that is named there: *Days overdue*, *Dinner (EUR)*.
    """
    asked, said = folded_words(question), folded_words(text)
    wanted = _wanted_classes(asked)
    new = [value for value in found if not set(folded_words(text[value.start : value.end])) <= set(asked)]
    return (
        (bool(wanted) and not _holds_class(wanted, text, new) and not _is_counted_above(wanted, new, above))
        or (asks_name(asked) and not _asks_number(asked) and not tells_name(asked, text))
        or (_asks_number(asked) and not _tells_number(asked, text, found))
        or (asks_who(question) and not tells_who(asked, text))
        or (not _ASKS_WHY.isdisjoint(asked[:2]) and _SAYS_WHY.isdisjoint(said))
        or (not _ASKS_END.isdisjoint(pairwise(asked)) and not _tells_end(said, text))
        or (not _ASKS_WHEN_IT_WAS.isdisjoint(pairwise(asked)) and not _tells_date(said, text, found))
    )


def tells_called(question: str, found: Sequence[Value]) -> bool:
    """Whether a day or a share is asked for, and one of these values is one: *Thursdays* is as good as the word."""
    given = frozenset(value.unit_class for value in found)
    called = (_CALLED.get(word, "") for word in head(folded_words(question)))
    return any(not given.isdisjoint(_AS_GOOD.get(name, ())) for name in called)


def _wanted_classes(words: Words) -> frozenset[str]:
    """Classes of values of which one must be given; empty where any will do."""
    for before, word, after in zip(words, words[1:], (*words[2:], ""), strict=False):
        if before == "how" and word in _AFTER_HOW:
            # *How long must a rope be?* asks for no time.
            is_length = word == "long" and words[-1] == "be"
            return frozenset() if is_length else _SPAN | ({"times"} if word in _OFTEN else frozenset())
        if before in ("what", "which", "qual", "que") and word in ("time", "hora", "horas"):
            return _LASTS.get(words[0], words_of("time"))
        if (before, word) == _HOW_MANY or before in _COUNTS:
            counted = _counted(words)
            # *25 vacation days* are counted as they are called, *25 days* by their unit.
            return _class_counted_in(counted) if len(counted) == 1 else frozenset()
        if (before, word) == ("how", "much") and (after in _MUCH or not _PAID.isdisjoint(words)):
            return _MUCH.get(after, _MUCH["money"])
    if words[:1] in (("what",), ("quanto",)) and not _COSTS.isdisjoint(words):
        return _MUCH["money"]
    if "number" in head(words) and not _REACHED.isdisjoint(words):
        return words_of("phone")
    called = frozenset(_CALLED[word] for word in head(words) if word in _CALLED)
    return _LASTS.get(words[0], called) if called == {"time"} else called


def _class_counted_in(counted: Words) -> frozenset[str]:
    """The class of a unit of measure, which is the last of these words; nothing for what is merely counted."""
    unit = " ".join(counted[-2:])
    return _class_of(unit) or _class_of(" ".join(counted[-1:]))


def _class_of(unit: str) -> frozenset[str]:
    read = (value for language in ("en", "pt") for value in values(f"2 {unit}", language))
    found = {value.unit_class for value in read if value.kind == "quantity"}
    known = frozenset(name for name in found if name and not name.startswith("count:"))
    return _SPAN if known & _SPAN else known


def _holds_class(wanted: frozenset[str], text: str, found: Sequence[Value]) -> bool:
    """Whether a text with these values holds one of a wanted class, or says as much in a word."""
    if "address" in wanted and "@" in text:
        return True
    plain = {value.unit_class.partition("/")[0] for value in found}  # 25 days a year are days
    given = {"money" if name.startswith("currency:") else name for name in plain}
    given |= {value.kind for value in found} & {"number", "quantity"}
    if _YEAR.search(text):
        given.add("year")
    if _ORDINAL.search(text):
        given.add("day")
    serving = wanted.union(*(_SERVES.get(name, ()) for name in wanted))
    says = frozenset[str]().union(*(_SAYS.get(name, ()) for name in wanted))
    return not given.isdisjoint(serving) or not says.isdisjoint(folded_words(text))


def _is_counted_above(wanted: frozenset[str], found: Sequence[Value], above: str) -> bool:
    if not any(value.kind == "number" for value in found):
        return False
    words = (word for word in _LETTERS.findall(above) if len(word) > _SHORT_UNIT)
    named = frozenset[str]().union(*map(_class_of, words))
    return not wanted.isdisjoint("money" if name.startswith("currency:") else name for name in named)


def _asks_number(words: Words) -> bool:
    """Whether *how many*, *how deep* or a bound is asked for."""
    measured = any(before == "how" and word in _MEASURED for before, word in pairwise(words))
    return measured or not _COUNTS.isdisjoint(words) or not _BOUNDS.isdisjoint(head(words))


def _tells_number(asked: Words, text: str, found: Sequence[Value]) -> bool:
    """Whether a text with these values says a number of its own."""
    known, said = frozenset(asked) | _SINGLE, folded_words(text)
    counted = _counted(asked)
    if _HOW_MANY in pairwise(asked) or not _COUNTS.isdisjoint(asked):
        found = [value for value in found if not _counts_other(counted, value)]
    told = (value for value in found if value.kind in _NUMBERS)
    if any(not known.issuperset(folded_words(text[value.start : value.end])) for value in told):
        return True
    if not (_SAYS_A_NUMBER - known).isdisjoint(said):
        return True
    if not _TIMES.isdisjoint(counted) and not (_SAYS["duration"] | _ALL).isdisjoint(said):
        return True  # *how many times?* *every day*
    forms = {form for word in counted for form in _forms(word)}
    return any(word in _SINGLE and not forms.isdisjoint(_forms(after)) for word, after in pairwise(said))


def _counts_other(counted: Words, value: Value) -> bool:
    """Whether things are counted, and the value is a span of time, a price, a date or a telephone number."""
    if _class_counted_in(counted):
        return False
    name = value.unit_class.partition("/")[0]
    return name in _SPAN or name.startswith("currency:") or value.kind in ("date", "phone")


def _counted(words: Words) -> Words:
    """The words for what is counted, if the question has them: as far as a unit, *vacation days*, else the first."""
    for at, word in enumerate(words):
        if word in _COUNTS or (word in ("many", "much") and words[at - 1 : at] == ("how",)):
            return _as_far_as_unit(words[at + 1 : at + 1 + MOST_NAMING])
    return tuple(word for word in head(words) if word not in _BOUNDS)


def _as_far_as_unit(words: Words) -> Words:
    for size, word in enumerate(words, 1):
        if stop_word_of(word) or word in _COUNTED_BEFORE:
            break
        if _class_of(word):
            return words[:size]
    return words[:1]


def _forms(word: str) -> list[str]:
    return word_forms(word, ("en", "pt"))


def _tells_end(said: Words, text: str) -> bool:
    return not _SAYS_END.isdisjoint(said) or _RANGE.search(text) is not None


def _tells_date(said: Words, text: str, found: Sequence[Value]) -> bool:
    is_dated = any(value.unit_class in _DATES for value in found) or _YEAR.search(text) is not None
    return is_dated or not _SAYS_WHEN.isdisjoint(said)
