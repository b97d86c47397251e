"""Text → index terms, and a question → units of alternative terms. The two sides must agree; both live here.

Terms live in three namespaces, told apart by their first characters:

    =word       a folded word, a part of a compound, a number, a compound without its connectors, an n-gram
    #whole      a compound exactly as written, folded: identifiers, versions, dates
    en:stem     the stem of a word, folded, in the language of the document

A document has one language, so a word of it gives one folded word and one stem. A question is analysed in
every configured language: one of its words gives the folded word and a stem per language, all in one
``QueryTerm``, which counts once. A stop word of the document's language is not indexed at all; a word of the
question is dropped when it is a stop word of the language the question seems to be in.
"""

import hashlib
import threading
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import snowballstemmer

from clearcite.domain.retrieval import QueryTerm
from clearcite.errors import ConfigError
from clearcite.text.forms import clean_text
from clearcite.text.languages import (
    ASKS_HOW,
    HOW_WORDS,
    OPENING_WORDS,
    QUESTION_WORDS,
    STEMMERS,
    STOP_WORDS,
    UNSPACED_PARTICLES,
    UNSPACED_QUESTIONS,
)
from clearcite.text.tokens import CACHED_LENGTH, CACHED_WORDS, Token, fold, identifiers, raw_tokens, take_apart

VERSION = "1"
WORD, WHOLE = "=", "#"
_STEMMERS = threading.local()


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
        self.synonyms = {_single_word(key): tuple(values) for key, values in (synonyms or {}).items()}
        self.fingerprint = _fingerprint(self.languages, self.synonyms)

    def analyze_document(self, text: str, language: str | None = None) -> dict[str, int]:
        """Index terms of a text with their counts. ``language``: as stated (``pt-BR`` is pt), else voted.

        A stated language that is not configured is indexed by its words alone: no stems, no stop words.
        """
        counts = Counter(raw_tokens(clean_text(text)))
        stated = base_language(language)
        language = stated or self._vote(counts)[0]
        configured = language if language in self.languages else ""
        terms: dict[str, int] = {}
        for raw, count in counts.items():
            for term in _document_terms(raw, configured):
                terms[term] = terms.get(term, 0) + count
        return terms

    def analyze_question(self, text: str) -> tuple[QueryTerm, ...]:
        """Units of the question in order, each once; a unit counts by its best form."""
        raws = raw_tokens(clean_text(text))
        dropped_in = self._vote(Counter(raws))
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
        raws = raw_tokens(clean_text(text))
        dropped_in = self._vote(Counter(raws))
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
        return self._vote(Counter(raw_tokens(clean_text(text))))[0]

    def _vote(self, counts: Mapping[str, int]) -> tuple[str, ...]:
        """The languages with most stop words; all of them when there is none."""
        votes = dict.fromkeys(self.languages, 0)
        for raw, count in counts.items():
            for language in _stop_word_of(raw):
                if language in votes:
                    votes[language] += count
        most = max(votes.values())
        return tuple(language for language, vote in votes.items() if vote == most)

    def _units(self, token: Token, dropped_in: Collection[str]) -> Iterable[QueryTerm]:
        if token.kind == "unspaced":
            yield from (QueryTerm(surface=gram, forms=(WORD + gram,)) for gram in _grams(token.whole))
            return
        exact = _asked_forms(token)
        words = [unit for part in token.parts for unit in self._word_units(part, dropped_in)]
        if words:
            first = words[0]
            yield QueryTerm(surface=first.surface, forms=tuple(dict.fromkeys((*first.forms, *exact))))
            yield from words[1:]
        elif exact and not token.parts:
            yield QueryTerm(surface=token.whole or token.joined, forms=exact)

    def _word_units(self, word: str, dropped_in: Collection[str]) -> Iterable[QueryTerm]:
        folded = fold(word)
        stops = _stop_word_of(folded)
        if any(language in stops for language in dropped_in):
            return
        languages = [language for language in self.languages if language not in stops]
        others = self.synonyms.get(folded, ())
        alternatives = [word, *(other for other in others if " " not in other)]
        forms = dict.fromkeys(form for other in alternatives for form in _word_forms(other, languages))
        yield QueryTerm(surface=folded, forms=tuple(forms))
        for several in (other for other in others if " " in other):
            for raw in raw_tokens(clean_text(several)):
                if not _stop_word_of(raw):
                    yield QueryTerm(surface=fold(raw), forms=tuple(_word_forms(raw, self.languages)))

    def _needed(self, token: Token, dropped_in: Collection[str]) -> Iterable[QueryTerm]:
        if token.kind == "unspaced":
            grams = [gram for gram in _grams(token.whole) if len(gram) > 1 or len(token.whole) == 1]
            yield from (QueryTerm(surface=g, forms=(WORD + g,)) for g in grams if _tells_something(g))
        elif token.kind == "word" and len(token.parts) == 1:
            yield from list(self._word_units(token.parts[0], dropped_in))[:1]
        elif token.kind == "word" and len(token.parts) > 1:
            for part in token.parts:
                yield from list(self._word_units(part, dropped_in))[:1]
        else:
            yield QueryTerm(surface=token.whole or token.joined, forms=_asked_forms(token))


def analysed_length(terms: Mapping[str, int]) -> int:
    """Analysed words of a document: the length BM25 divides by. Stems and wholes repeat words."""
    return sum(count for term, count in terms.items() if term[0] == WORD)


def is_covered(unit: QueryTerm, terms: Collection[str]) -> bool:
    """Whether a document with these index terms contains the unit in any form."""
    return any(form in terms for form in unit.forms)


def base_language(language: str | None) -> str | None:
    """``pt-BR`` → ``pt``."""
    return language.split("-")[0].split("_")[0].lower() if language else None


def detect_language(text: str, languages: Sequence[str] = ("en", "pt")) -> str:
    """See ``Analyzer.detect_language``."""
    return Analyzer(languages).detect_language(text)


@lru_cache(maxsize=CACHED_WORDS)
def _document_terms_cached(raw: str, language: str) -> tuple[str, ...]:
    return tuple(_document_terms_of(raw, language))


def _document_terms(raw: str, language: str) -> Iterable[str]:
    return (
        _document_terms_cached(raw, language)
        if len(raw) <= CACHED_LENGTH
        else _document_terms_of(raw, language)
    )


def _document_terms_of(raw: str, language: str) -> list[str]:
    terms: list[str] = []
    if language in _stop_word_of(raw):
        return terms
    for token in take_apart(raw):
        if token.kind == "unspaced":
            terms += [WORD + gram for gram in _grams(token.whole)]
            continue
        for part in token.parts:
            if language not in _stop_word_of(part):
                terms += _word_forms(part, (language,) if language else ())
        terms += _exact_forms(token)
    return terms


def _word_forms(word: str, languages: Iterable[str]) -> list[str]:
    folded = fold(word)
    stems = [f"{language}:{_stem(word.casefold(), language)}" for language in languages]
    if len(folded) < 3 or not folded.isalpha():
        stems = []
    return [WORD + folded, *stems]


def _exact_forms(token: Token) -> list[str]:
    """The forms of a compound as a whole. A token without parts is also a word of its own."""
    if _is_plain(token):
        return []
    words = [] if token.parts else [WORD + token.joined]
    wholes = [token.whole, token.joined] if token.parts else [token.whole]
    return [*words, *dict.fromkeys(WHOLE + form for form in wholes if form and WORD + form not in words)]


def _asked_forms(token: Token) -> tuple[str, ...]:
    """What a question adds to the words of a token: ``e-mail`` finds ``email``, and the other way round."""
    if not token.joined:
        return ()
    return tuple(dict.fromkeys((WHOLE + token.whole, WHOLE + token.joined, WORD + token.joined)))


def _is_plain(token: Token) -> bool:
    return len(token.parts) == 1 and token.joined == fold(token.parts[0])


@lru_cache(maxsize=CACHED_WORDS)
def _stop_word_of(raw: str) -> tuple[str, ...]:
    """The languages in which a token is a stop word."""
    word = fold(raw)
    return tuple(language for language, words in STOP_WORDS.items() if word in words)


@lru_cache(maxsize=CACHED_WORDS)
def _stem(word: str, language: str) -> str:
    if language == "pt" and word.isascii():
        word = _restore_portuguese(word)
    return fold(_stemmer(language).stemWord(word))


def _stemmer(language: str) -> Any:
    # A stemmer keeps its word in itself while it works, so threads cannot share one.
    stemmer = getattr(_STEMMERS, language, None)
    if stemmer is None:
        stemmer = snowballstemmer.stemmer(STEMMERS[language])
        setattr(_STEMMERS, language, stemmer)
    return stemmer


# Typed without accents, these endings are unknown to the stemmer.
_PORTUGUESE_ENDINGS = (
    ("cao", "ção"),
    ("coes", "ções"),
    ("avel", "ável"),
    ("ivel", "ível"),
    ("aveis", "áveis"),
    ("iveis", "íveis"),
    ("encia", "ência"),
    ("ancia", "ância"),
    ("orio", "ório"),
)


def _restore_portuguese(word: str) -> str:
    for plain, accented in _PORTUGUESE_ENDINGS:
        if word.endswith(plain) and len(word) > len(plain) + 2:
            return word.removesuffix(plain) + accented
    return word


def _grams(run: str) -> list[str]:
    """Unigrams and bigrams of a run written without spaces."""
    return [*run, *(run[i : i + 2] for i in range(len(run) - 1))]


def _tells_something(gram: str) -> bool:
    return gram not in UNSPACED_QUESTIONS and not any(char in UNSPACED_PARTICLES for char in gram)


def _without_asking(raws: Sequence[str], languages: Sequence[str]) -> list[str]:
    asking = frozenset().union(*(QUESTION_WORDS[language] for language in languages))
    opening = frozenset().union(*(OPENING_WORDS[language] for language in languages))
    after_how = frozenset().union(*(HOW_WORDS[language] for language in languages))
    kept: list[str] = []
    before = ""
    for raw in raws:
        word = fold(raw)
        only_asks = (
            word in asking or (word in opening and not kept) or (word in after_how and before in ASKS_HOW)
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
