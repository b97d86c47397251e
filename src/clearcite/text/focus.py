"""The words by which a question names what it asks for: *bank* in *Which bank issues the cards?*

English and Portuguese; where nothing is named, nothing is expected.
"""

from collections.abc import Sequence
from itertools import dropwhile, islice, takewhile

from clearcite.text.coverage import WEAK_WORDS, Need
from clearcite.text.phrases import folded_words
from clearcite.text.terms import stop_word_of

Words = tuple[str, ...]


def words_of(text: str) -> frozenset[str]:
    return frozenset(text.split())


MOST_NAMING = 3
"""Words after *which* that may belong to the thing's name."""
MOST_LEADING = 4
"""The same, at the start of a question that leaves *what is the* out."""
_NAMES_IT = words_of("which what whats whose many qual quais que quantos quantas")
_BETWEEN = words_of("is are was were s the a an your our my e o a os as um uma do da kind type sort")
_ASKS = _NAMES_IT | words_of(
    "who whom when where why how quem quando onde como quanto quanta do does did is are can may must"
)
_SAID_BEFORE = words_of("it they them this that these those he she him se isso isto ele ela eles elas")


def focus_words(question: str) -> frozenset[str]:
    """The folded words that name what is asked for; empty when the question does not name it."""
    return frozenset(named(folded_words(question))) - WEAK_WORDS  # *what happens when* names nothing


def names_nothing(question: str, needs: Sequence[Need]) -> bool:
    """Whether a question leaves unsaid what it is about: *When is it replaced?* says one plain word of a thing that
    some sentence before it named, and none was asked before."""
    plain = [need for need in needs if not need.named]
    return len(needs) == len(plain) == 1 and not _SAID_BEFORE.isdisjoint(folded_words(question))


def named(words: Words) -> Words:
    """The words after *which*, *what is the* or *how many*, of a question's folded words."""
    for at, word in enumerate(words):
        if word in _NAMES_IT:
            rest = dropwhile(_BETWEEN.__contains__, words[at + 1 :])
            found = takewhile(
                lambda other: not stop_word_of(other), (other for other in rest if other != "s")
            )
            return tuple(islice(found, MOST_NAMING))
    return ()


def head(words: Words) -> Words:
    """What is asked for, also where *what is* is left out: *price of a spare wheel*."""
    if _ASKS.isdisjoint(words):
        return tuple(takewhile(lambda other: not stop_word_of(other), words[:MOST_LEADING]))
    return named(words)
