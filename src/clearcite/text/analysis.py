"""Text → index terms, and a question → units of alternative terms. The two sides must agree; both live here.

Words, wholes and stems are different terms (see ``terms``). A document has one language, so a word of it
gives one folded word and one stem. A question is analysed in every configured language: one of its words
gives the folded word and a stem per language, all in one ``QueryTerm``, which counts once. A stop word of the
document's language is not indexed at all; a word of the question is dropped when it is a stop word of the
language the question seems to be in.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from types import MappingProxyType

from clearcite.domain.retrieval import QueryTerm
from clearcite.errors import ConfigError
from clearcite.text.forms import clean_text
from clearcite.text.languages import (
    ACRONYMS,
    ASKS_HOW,
    ASKS_WHAT,
    HOW_WORDS,
    OPENING_WORDS,
    QUESTION_WORDS,
    STEMMERS,
    UNSPACED_PARTICLES,
    UNSPACED_QUESTIONS,
    WHAT_WORDS,
)
from clearcite.text.terms import (
    STOP_WORDS_OF,
    WORD,
    asked_forms,
    document_terms,
    grams,
    stop_word_of,
    word_forms,
)
from clearcite.text.tokens import Token, fold, identifiers, raw_tokens, take_apart

VERSION = "1"

_SMALL_LETTER = re.compile("[a-z]")
"""A text that has one is not all in capitals."""


class Analyzer:
    """Immutable and thread-safe. ``languages``: in order of preference; ``synonyms``: word → other words.

    A synonym of one word becomes another form of the word; one of several words adds a unit for each.
    Raises ConfigError for a language without stemmer and stop words, and for a synonym key of several words.
    """

    __slots__ = ("fingerprint", "languages", "synonyms")

    def __init__(
        self,
        languages: Sequence[str] = ("en", "pt"),
        synonyms: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        unknown = [language for language in languages if language not in STEMMERS]
        if unknown or not languages or len(set(languages)) != len(languages):
            known = ", ".join(sorted(STEMMERS))
            raise ConfigError(
                f"languages must name at least one of {known}, each once; got {list(languages)}"
            )
        self.languages = tuple(languages)
        table = {_single_word(key): tuple(values) for key, values in (synonyms or {}).items()}
        self.synonyms: Mapping[str, tuple[str, ...]] = MappingProxyType(table)
        self.fingerprint = _fingerprint(self.languages, self.synonyms)

    def analyze_document(self, text: str, language: str | None = None) -> dict[str, int]:
        """Index terms of a text with their counts. ``language``: as stated (``pt-BR`` is pt), else voted.

        A stated language that is not configured is indexed by its words alone: no stems, no stop words.
        """
        pieces = self.pieces(text)
        language = self.language_of(pieces, language)
        return dict(Counter(chain.from_iterable(map(document_terms(language).__getitem__, pieces))))

    def pieces(self, text: str) -> list[str]:
        """What stands between white space. Pieces are cleaned where they are looked up, most of them once for all
        documents."""
        return (text if _SMALL_LETTER.search(text) else _legible(text)).split()

    def language_of(self, pieces: Iterable[str], language: str | None = None) -> str:
        """The language that a document is indexed in: as stated, else voted; empty where that is not configured."""
        stated = self.stated(language)
        return self._vote(pieces)[0] if stated is None else stated

    def stated(self, language: str | None) -> str | None:
        """The language that a document is said to be in, empty where that is not configured; unsaid, the only one that
        is configured, or None."""
        base = base_language(language)
        if not base:
            return self.languages[0] if len(self.languages) == 1 else None
        return base if base in self.languages else ""

    def analyze_question(self, text: str) -> tuple[QueryTerm, ...]:
        """Units of the question in order, each once; a unit counts by its best form."""
        raws = _raws(text)
        dropped_in = self._vote(raws)
        units: dict[tuple[str, ...], QueryTerm] = {}
        for raw in raws:
            for token in take_apart(raw):
                for unit in self._units(token, dropped_in):
                    units.setdefault(unit.forms, unit)
        return tuple(units.values())

    def informative(self, text: str) -> tuple[QueryTerm, ...]:
        """Units an answer should cover: those of the question without words that only ask.

        Compounds count as one unit, and several-word synonyms add none.
        """
        raws = _raws(text)
        dropped_in = self._vote(raws)
        units: dict[tuple[str, ...], QueryTerm] = {}
        for raw in _without_asking(raws, self.languages):
            for token in take_apart(raw):
                for unit in self._needed(token, dropped_in):
                    units.setdefault(unit.forms, unit)
        return tuple(units.values())

    def identifiers(self, text: str) -> tuple[str, ...]:
        """See ``tokens.identifiers``: what a question names exactly."""
        return identifiers(text)

    def detect_language(self, text: str) -> str:
        """The configured language whose stop words stand in the text most often; the first one on a tie."""
        return self._vote(_legible(text).split())[0]

    def _vote(self, pieces: Iterable[str]) -> tuple[str, ...]:
        """The languages with most stop words in tokens or pieces of text; all of them when there is none."""
        if len(self.languages) == 1:
            return self.languages
        return self.most_voted(Counter(chain.from_iterable(map(STOP_WORDS_OF.__getitem__, pieces))))

    def most_voted(self, votes: Mapping[str, int]) -> tuple[str, ...]:
        """``votes``: how many stop words of each language there are, with 0 for one that has none."""
        most = max(votes[language] for language in self.languages)
        return tuple(language for language in self.languages if votes[language] == most)

    def _units(self, token: Token, dropped_in: Collection[str]) -> Iterable[QueryTerm]:
        if token.kind == "unspaced":
            yield from (QueryTerm(surface=gram, forms=(WORD + gram,)) for gram in grams(token.whole))
            return
        exact = (*asked_forms(token), *self._other_forms(token.whole, self.languages))  # *k8s* is one key
        words = [unit for part in token.parts for unit in self._word_units(part, dropped_in)]
        if words:
            first = words[0]
            yield QueryTerm(surface=first.surface, forms=tuple(dict.fromkeys((*first.forms, *exact))))
            yield from words[1:]
        elif exact and not token.parts:
            yield QueryTerm(surface=token.whole or token.joined, forms=tuple(dict.fromkeys(exact)))
        if len(token.parts) != 1:  # what is one word has had them
            yield from self._other_units(token.whole)

    def _word_units(self, word: str, dropped_in: Collection[str]) -> Iterable[QueryTerm]:
        folded = fold(word)
        stops = stop_word_of(word)
        if any(language in stops for language in dropped_in):
            return
        languages = [language for language in self.languages if language not in stops]
        forms = dict.fromkeys((*word_forms(word, languages), *self._other_forms(folded, languages)))
        yield QueryTerm(surface=folded, forms=tuple(forms))
        yield from self._other_units(folded)

    def _other_forms(self, folded: str, languages: Sequence[str]) -> Iterable[str]:
        """Of the synonyms that are one word."""
        others = [other for other in self.synonyms.get(folded, ()) if " " not in other]
        return (form for other in others for form in word_forms(other, languages))

    def _other_units(self, folded: str) -> Iterable[QueryTerm]:
        """Of the synonyms that are several words."""
        for several in (other for other in self.synonyms.get(folded, ()) if " " in other):
            for raw in raw_tokens(clean_text(several)):
                if not stop_word_of(raw):
                    yield QueryTerm(surface=fold(raw), forms=tuple(word_forms(raw, self.languages)))

    def _needed(self, token: Token, dropped_in: Collection[str]) -> Iterable[QueryTerm]:
        if token.kind == "unspaced":
            useful = [gram for gram in grams(token.whole) if len(gram) > 1 or len(token.whole) == 1]
            yield from (QueryTerm(surface=g, forms=(WORD + g,)) for g in useful if _tells_something(g))
        elif token.kind == "word" and len(token.parts) == 1:
            yield from list(self._word_units(token.parts[0], dropped_in))[:1]
        elif token.kind == "word" and len(token.parts) > 1:
            for part in token.parts:
                yield from list(self._word_units(part, dropped_in))[:1]
        else:
            # 24h is also 24 h
            amount = [WORD + token.parts[0]] if token.kind == "number" and token.parts else []
            others = self._other_forms(token.whole, self.languages)
            forms = dict.fromkeys((*asked_forms(token), *amount, *others))
            yield QueryTerm(surface=token.whole or token.joined, forms=tuple(forms))


def analysed_length(terms: Mapping[str, int]) -> int:
    """Analysed words of a document: the length BM25 divides by. Stems and wholes repeat words."""
    return sum([count for term, count in terms.items() if term[0] == WORD])


def is_covered(unit: QueryTerm, terms: Collection[str]) -> bool:
    """Whether a document with these index terms contains the unit in any form."""
    return any(form in terms for form in unit.forms)


def base_language(language: str | None) -> str | None:
    """``pt-BR`` → ``pt``."""
    return language.split("-")[0].split("_")[0].lower() if language else None


def detect_language(text: str, languages: Sequence[str] = ("en", "pt")) -> str:
    """See ``Analyzer.detect_language``."""
    return _plain_analyzer(tuple(languages)).detect_language(text)


@lru_cache(maxsize=16)
def _plain_analyzer(languages: tuple[str, ...]) -> Analyzer:
    return Analyzer(languages)


def _raws(text: str) -> list[str]:
    return raw_tokens(_legible(text))


def _legible(text: str) -> str:
    """Cleaned text. Where all of it is in capitals, they tell nothing: no acronyms, no camel case."""
    cleaned = clean_text(text)
    return cleaned.lower() if cleaned.isupper() else cleaned


def _tells_something(gram: str) -> bool:
    return gram not in UNSPACED_QUESTIONS and not any(char in UNSPACED_PARTICLES for char in gram)


def _without_asking(raws: Sequence[str], languages: Sequence[str]) -> list[str]:
    asking = frozenset().union(*(QUESTION_WORDS[language] for language in languages))
    opening = frozenset().union(*(OPENING_WORDS[language] for language in languages))
    after_how = frozenset().union(*(HOW_WORDS[language] for language in languages))
    after_what = frozenset().union(*(WHAT_WORDS[language] for language in languages))
    kept: list[str] = []
    before = ""
    for raw in raws:
        word = raw if raw in ACRONYMS else fold(raw)
        only_asks = (
            word in asking
            or (word in opening and not kept)
            or (word in after_how and before in ASKS_HOW)
            or (word in after_what and before in ASKS_WHAT)
        )
        if not only_asks:
            kept.append(raw)
        before = word
    return kept


def _single_word(key: str) -> str:
    raws = raw_tokens(clean_text(key))
    if len(raws) != 1:
        raise ConfigError(f"a synonym is looked up by one word; {key!r} is not one")
    return fold(raws[0])


def _fingerprint(languages: tuple[str, ...], synonyms: Mapping[str, tuple[str, ...]]) -> str:
    table = repr(sorted(synonyms.items())).encode()
    return f"analysis-{VERSION};{','.join(languages)};synonyms-{hashlib.sha256(table).hexdigest()[:16]}"
