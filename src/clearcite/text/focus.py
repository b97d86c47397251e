"""What exactly a question asks for: the words that name it, and the class its value must have.

*Which bank issues the cards?* asks for a bank; *how many weeks* for a span of time; *what percentage* for a percent.
A text that answers names the thing, or holds such a value. English and Portuguese; no cue, no expectation.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise, takewhile
from types import MappingProxyType

from clearcite.text.coverage import WEAK_WORDS, Need
from clearcite.text.phrases import folded_words
from clearcite.text.terms import stop_word_of
from clearcite.text.units import Value, values


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


MOST_NAMING = 3
"""Words after *which* that may belong to the thing's name."""
_NAMES_IT = _words("which what whats whose many qual quais que quantos quantas")
_BETWEEN = _words("is are was were s the a an your our my e o a os as um uma do da kind type sort")
_SPAN = _words("duration months working-days")
_AFTER_HOW = _words("long soon quickly often frequently")

_COUNTS = _words("quantos quantas")
_NUMBERS = frozenset(("quantity", "number", "phone", "date"))
# Words that give a number, or say that there is none, or no bound.
_SAYS_A_NUMBER = _words(
    "one two three four five six seven eight nine ten eleven twelve twenty thirty hundred thousand zero half both once"
    " twice single none no never any unlimited um dois duas tres quatro cinco seis sete oito nove dez"
)

_SAID_BEFORE = _words("it they them this that these those he she him se isso isto ele ela eles elas")

# What a value is called, and the class it then has; see ``text.units``.
_CALLED: Mapping[str, str] = MappingProxyType(
    dict.fromkeys(("percentage", "percent", "share", "percentagem"), "percent")
    | dict.fromkeys(("price", "cost", "costs", "fee", "fare", "preco", "custo", "custa", "taxa"), "money")
    | dict.fromkeys(("phone", "telephone", "telefone"), "phone")
    | dict.fromkeys(("email", "mail"), "address")
    | dict.fromkeys(("version", "versao"), "version")
)
# Words that say as much as a value of a class does.
_SAYS: Mapping[str, frozenset[str]] = MappingProxyType(
    {"money": _words("free gratis gratuito gratuita nothing")}
    | dict.fromkeys(
        _SPAN, _words("daily weekly monthly quarterly yearly annually hourly nightly immediately")
    )
)


def focus_words(question: str) -> frozenset[str]:
    """The folded words that name what is asked for; empty when the question does not name it."""
    words = folded_words(question)
    for at, word in enumerate(words):
        if word in _NAMES_IT:
            rest = list(words[at + 1 :])
            while rest and rest[0] in _BETWEEN:
                rest.pop(0)
            named = takewhile(lambda other: not stop_word_of(other), rest[:MOST_NAMING])
            return frozenset(named) - WEAK_WORDS  # *what happens when* names nothing
    return frozenset()


def wanted_classes(question: str) -> frozenset[str]:
    """Classes of values of which one must be given; empty where any will do."""
    words = folded_words(question)
    for before, word, after in zip(words, words[1:], (*words[2:], ""), strict=False):
        if before == "how" and word in _AFTER_HOW:
            return _SPAN
        if before in ("what", "which", "qual", "que") and word in ("time", "hora", "horas"):
            return frozenset(("time",))
        if (before, word) == ("how", "many"):
            return _class_counted_in(after)
        if before in ("quantos", "quantas"):
            return _class_counted_in(word)
    return frozenset(_CALLED[word] for word in focus_words(question) if word in _CALLED)


def is_uncounted(question: str, text: str, found: Sequence[Value]) -> bool:
    """Whether *how many* or *how much* is asked and the text with these values says no number of its own."""
    words = folded_words(question)
    pairs = pairwise(words)
    if _COUNTS.isdisjoint(words) and not any(a == "how" and b in ("many", "much") for a, b in pairs):
        return False
    told = (value for value in found if value.kind in _NUMBERS)
    new = any(not set(folded_words(text[value.start : value.end])) <= set(words) for value in told)
    said = (_SAYS_A_NUMBER | _SAYS["money"]) - set(words)
    return not new and said.isdisjoint(folded_words(text))


def names_nothing(question: str, needs: Sequence[Need]) -> bool:
    """Whether a question leaves unsaid what it is about: *When is it replaced?* says one plain word of a thing that
    some sentence before it named, and none was asked before."""
    plain = [need for need in needs if not need.named]
    return len(needs) == len(plain) == 1 and not _SAID_BEFORE.isdisjoint(folded_words(question))


def _class_counted_in(unit: str) -> frozenset[str]:
    """The class of a unit of measure; nothing for what is merely counted."""
    found = {value.unit_class for language in ("en", "pt") for value in values(f"2 {unit}", language)}
    known = frozenset(name for name in found if name and not name.startswith("count:"))
    return _SPAN if known & _SPAN else known


def holds_class(classes: frozenset[str], text: str, found: Sequence[Value]) -> bool:
    """Whether a text with these values holds one of a wanted class, or says as much in a word."""
    if "address" in classes and "@" in text:
        return True
    plain = {value.unit_class.partition("/")[0] for value in found}  # 25 days a year are days
    given = {"money" if name.startswith("currency:") else name for name in plain}
    words = frozenset(folded_words(text))
    return not given.isdisjoint(classes) or any(not words.isdisjoint(_SAYS.get(c, ())) for c in classes)
