"""Words that exclude each other where one thing is meant: *north* and *south*, *maximum* and *minimum*.

An encoder takes them for near the same, for they stand in the same sentences. Lines hold one matter each, its sides
parted by ``|``; words of one side agree. Only what seldom goes together about one thing, in English and Portuguese.
"""

import re
from collections.abc import Collection, Iterable

_MATTERS = """
maximum max most | minimum min least
maximo maxima | minimo minima
north northern | south southern | east eastern | west western
norte | sul | leste | oeste
first | second | third | fourth | last final
earliest | latest
black white monochrome | colour color coloured
bachelor bsc | master msc | doctoral phd
primeiro primeira | ultimo ultima
before | after
antes | depois
daily | weekly | monthly | quarterly | yearly annual annually
diario diaria | semanal | mensal | trimestral | anual
monday | tuesday | wednesday | thursday | friday | saturday | sunday
mondays | tuesdays | wednesdays | thursdays | fridays | saturdays | sundays
segunda | terca | quarta | quinta | sexta | sabado sabados | domingo domingos
january | february | march | april | june | july | august | september | october | november | december
janeiro | fevereiro | marco | abril | maio | junho | julho | agosto | setembro | outubro | novembro | dezembro
spring | summer | autumn | winter
primavera | verao | outono | inverno
inside indoor indoors | outside outdoor outdoors
dentro | fora
left | right
open opens opened | close closes closed
abre abrir | fecha fechar
start starts begin begins | end ends
arrive arrives arrival | leave leaves departure
chega chegar | sai sair
enable enabled enables | disable disabled disables
adult adults | child children
adulto adultos | crianca criancas
weekday weekdays | weekend weekends
morning mornings | afternoon afternoons | evening evenings
manha | tarde | noite
import imports imported | export exports exported
upload uploads | download downloads
add adds added | remove removes removed
create creates created | delete deletes deleted
internal | external
interno interna | externo externa
domestic | international
inbound incoming | outbound outgoing
upper | lower
empty | full loaded
vazio vazia | cheio cheia carregado carregada
part | full
buy | sell
public | private
paternity | maternity | adoption
increase increases | decrease decreases
allow allows allowed | forbid forbidden deny denied
"""
Sides = tuple[frozenset[str], ...]


def _read(text: str) -> tuple[Sides, ...]:
    return tuple(
        tuple(frozenset(side.split()) for side in line.split("|")) for line in text.strip().splitlines()
    )


_SIDES = _read(_MATTERS)


def says_opposite(words: Iterable[str], said: Collection[str]) -> bool:
    """Whether of one of these words (folded) another side is said, and its own is not."""
    present = frozenset(said)
    return any(
        word in mine and mine.isdisjoint(present) and not present.isdisjoint(frozenset().union(*sides))
        for word in words
        for sides in _SIDES
        for mine in sides
    )


_PERIODS = {
    "hour": ("hourly", "hora"),
    "day": ("daily", "night", "nightly", "dia", "noite"),
    "week": ("weekly", "semana"),
    "month": ("monthly", "mes"),
    "quarter": ("quarterly", "trimestre"),
    "year": ("yearly", "annual", "annually", "ano"),
}
_NAMED = {word: name for name, words in _PERIODS.items() for word in (name, f"{name}s", *words)}
_A_PERIOD = re.compile(
    rf"\b(?:per|an?|each|every|one|por|ao|cada) ({'|'.join(_PERIODS)}|hora|dia|semana|mes|ano)\b"
    r"|\b(hourly|daily|nightly|weekly|monthly|quarterly|yearly|annual) (?:rate|price|fee|charge|rent|fare)\b"
)


def says_other_period(question: Iterable[str], said: Collection[str]) -> bool:
    """Whether something is asked *per month*, and said *per year* alone. Both are folded words in order."""
    asked, told = (_periods(" ".join(words)) for words in (question, said))
    named = {_NAMED[word] for word in said if word in _NAMED}
    return bool(asked and told) and asked.isdisjoint(named)


def _periods(text: str) -> set[str]:
    return {_NAMED[match[1] or match[2]] for match in _A_PERIOD.finditer(text)}


def _any_of(*phrases: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(phrases)})\b")


_MOST = ("at (?:the )?most", "maximum", "max", "highest", "longest", "largest", "latest", "maximo")
# Not *min*: *15 min* are minutes.
_LEAST = (
    "at (?:the )?least",
    "minimum",
    "lowest",
    "shortest",
    "smallest",
    "earliest",
    "minimo",
    "pelo menos",
)
_SAYS_MOST = _any_of(
    *_MOST, "greatest", "up to", "not? (?:more|longer) than", "limit", "limited", "under", "below",
    "(?:less|fewer) than", "within", "until", "till", "to", "exceeds?", "only", "ate", "menos de",
)  # fmt: skip
_SAYS_LEAST = _any_of(
    *_LEAST, "more than", "over", "above", "(?:not less|no fewer) than", "or more", "older", "mais de",
    "a partir de",
)  # fmt: skip
_BOUNDS = (
    (
        _any_of(*_MOST, "greatest", "up to (?:how|what|which)", "ate (?:quantos|quantas|que)"),
        _SAYS_MOST,
        _SAYS_LEAST,
    ),
    (_any_of(*_LEAST), _SAYS_LEAST, _SAYS_MOST),
)


def says_other_bound(question: Iterable[str], said: Iterable[str]) -> bool:
    """Whether the most of something is asked for, and the least alone said, or the other way round. Folded words."""
    asked, told = " ".join(question), " ".join(said)
    return any(
        asks.search(asked) and other.search(told) and not same.search(told) for asks, same, other in _BOUNDS
    )
