"""Words, numbers, versions and identifiers of a text, before any language is considered.

A token is a word (``risk-based``), a number (``1,000``, ``24h``), a version (``v2.6``, ``2.6.1``), an
identifier (``CVX-4210``, ``workers.concurrency``, ``snake_case``, ``camelCase``, ``--max-age``,
``/etc/hosts``, an e-mail address) or a run of a script written without spaces. Raw tokens are those of
cleaned text (``forms.clean_text``): NFKC, nothing invisible, case kept.
"""

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from typing import Literal

from msgspec import Struct

from clearcite.text.forms import clean_text

TokenKind = Literal["word", "number", "version", "identifier", "unspaced"]

# Scripts written without spaces: Han, kana, and Thai, Lao, Myanmar, Khmer. Hangul is spaced but agglutinates,
# and n-grams find its words under their particles.
_UNSPACED = (
    "\u0e00-\u0e4e\u0e80-\u0ecf\u1000-\u103f\u1780-\u17d3\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf"
    "\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003ffff"
)
# Combining marks of the other scripts: Python's \w leaves them out and would cut words at them.
_MARKS = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670"
    "\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u0711\u0730-\u074a\u07a6-\u07b0\u0900-\u0903\u093a-\u094f"
    "\u0951-\u0957\u0962\u0963\u0981-\u0983\u09bc-\u09cd\u09d7\u0a01-\u0a03\u0a3c-\u0a51\u0a81-\u0a83\u0abc-\u0acd"
    "\u0b01-\u0b03\u0b3c-\u0b57\u0b82\u0bbe-\u0bcd\u0c00-\u0c04\u0c3e-\u0c56\u0c81-\u0c83\u0cbc-\u0cd6"
    "\u0d00-\u0d03\u0d3b-\u0d4d\u0d81-\u0d83\u0dca-\u0ddf\u0f71-\u0f84\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff"
)
_WORD = rf"[\w{_MARKS}]+"
_TOKEN = re.compile(
    rf"[{_UNSPACED}]+"
    rf"|(?:(?<![\w-])--(?=[A-Za-z]))?{_WORD}"
    rf"(?:(?:[-._'’/:@\\+]{{1,3}}|(?<=\d),(?=\d)){_WORD})*"
    rf"(?:\+\+|\#(?!\w))?"
)
_UNSPACED_RUN = re.compile(f"[{_UNSPACED}]+")

_NUMBER = re.compile(r"\d+(?:[.,'’]\d+)*\Z")
_TIME_OR_DATE = re.compile(r"\d{1,4}(?:[:/-]\d{1,4})+(?:[T.]\d+(?::\d+)*)?\Z|\d{1,3}[hH][0-5]\d\Z")
_MEASURE = re.compile(r"(\d+(?:[.,]\d+)*)[-]?([^\W\d_]{1,3}|[^\W\d_A-Z]+)\Z")
_SUFFIX = r"[-.+_]?(?:alpha|beta|rc|dev|post|a|b|pre)[-.]?\d*"
_VERSION = re.compile(
    rf"(?:(?:[vV]\d+(?:\.\d+)*|\d+(?:\.\d+){{2,}})(?:{_SUFFIX})?|\d+(?:\.\d+)+{_SUFFIX})\Z", re.IGNORECASE
)
_GROUPED = re.compile(r"\d{1,3}(?:([.,'’])\d{3})(?:\1\d{3})*\Z")
_CONNECTOR = re.compile(r"[-._'’/:@\\+,]+")
_ABBREVIATION = re.compile(r"[^\W\d_](?:\.[^\W\d_])+\Z")
_CAMEL = re.compile(r"(?<=[^\W\d_A-Z])(?=[A-Z][a-z])|(?<=[A-Z])(?=[A-Z][a-z]{2})")
_CODE_MARK = re.compile(r"[_@\\]|::")
_DOTTED = re.compile(r"[^\W\d_]\.[^\W\d_]")
VERSION_WORDS = frozenset(("version", "versions", "versiones", "ver", "v", "release", "versao", "versoes"))
_POSSESSIVE = re.compile(r"['’][sS]\Z")
_LATIN_MARK = re.compile("[\u0300-\u036f\u0591-\u05c7\u064b-\u0652\u0670]+")
_LETTERS = str.maketrans({"ø": "o", "đ": "d", "ł": "l", "æ": "ae", "œ": "oe", "ı": "i", "ð": "d", "’": "'"})

# Longer tokens (keys, encoded data) keep their parts but are no identifier anybody asks for.
_LONGEST = 200
# Longer tokens are rarely seen twice: they would only push words out of the cache.
CACHED_LENGTH = 40
CACHED_WORDS = 1 << 16


class Token(Struct, frozen=True, kw_only=True):
    """A token taken apart.

    ``whole`` is the exact form and ``joined`` the one without connectors (``cvx-4210``, ``cvx4210``), both
    folded; ``parts`` are its words as written, to be stemmed.
    """

    kind: TokenKind
    whole: str
    joined: str
    parts: tuple[str, ...]


def fold(word: str) -> str:
    """Casefold and strip accents: ``Informação`` → ``informacao``."""
    if word.isascii():
        return word.lower()
    plain = _LATIN_MARK.sub("", unicodedata.normalize("NFD", word.casefold()))
    return unicodedata.normalize("NFC", plain.translate(_LETTERS))


def raw_tokens(cleaned: str) -> list[str]:
    """The tokens of a cleaned text as they stand in it."""
    return _TOKEN.findall(cleaned)


def token_spans(cleaned: str) -> list[tuple[str, int, int]]:
    """Like ``raw_tokens``, with the span of each."""
    spans: list[tuple[str, int, int]] = []
    for match in _TOKEN.finditer(cleaned):
        raw, at = match.group(), match.start()
        pieces = [(at, match.end())] if raw.isascii() else _scripts(cleaned, *match.span())
        spans += [(cleaned[start:end], start, end) for start, end in pieces]
    return spans


def _scripts(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Spans that are written without spaces, and those between them."""
    for run in _UNSPACED_RUN.finditer(text, start, end):
        if start < run.start():
            yield start, run.start()
        yield run.span()
        start = run.end()
    if start < end:
        yield start, end


def take_apart(raw: str) -> tuple[Token, ...]:
    """What one raw token stands for; several when it mixes scripts."""
    return _take_apart_cached(raw) if len(raw) <= CACHED_LENGTH else _take_apart(raw)


def identifiers(text: str) -> tuple[str, ...]:
    """Codes and names that mean one thing only, folded, in order, each once; neither numbers nor versions."""
    found = [
        token.whole
        for raw in raw_tokens(clean_text(text))
        for token in take_apart(raw)
        if token.kind == "identifier"
    ]
    return tuple(dict.fromkeys(found))


def versions(text: str) -> tuple[str, ...]:
    """Versions without their ``v``, in order, each once: ``v2.6``, ``2.6.1``, ``version 3``."""
    found: list[str] = []
    before = ""
    for raw in raw_tokens(clean_text(text)):
        for token in take_apart(raw):
            if token.kind == "version" or (
                token.kind == "number" and before in VERSION_WORDS and not token.parts
            ):
                found.append(token.whole.removeprefix("v"))
        before = fold(raw)
    return tuple(dict.fromkeys(found))


def is_plain_word(raw: str) -> bool:
    """Whether a raw token is one word and nothing else, told at a glance: most of them are."""
    return raw.isascii() and raw.isalpha() and (len(raw) == 1 or raw[1:].islower())


def _take_apart(raw: str) -> tuple[Token, ...]:
    if raw.isascii() or not _UNSPACED_RUN.search(raw):
        return (_classify(raw),)
    tokens: list[Token] = []
    at = 0
    for match in _UNSPACED_RUN.finditer(raw):
        tokens += [_classify(part) for part in raw_tokens(raw[at : match.start()])]
        run = fold(match.group())
        tokens.append(Token(kind="unspaced", whole=run, joined=run, parts=(run,)))
        at = match.end()
    return (*tokens, *(_classify(part) for part in raw_tokens(raw[at:])))


_take_apart_cached = lru_cache(maxsize=CACHED_WORDS)(_take_apart)


def _classify(raw: str) -> Token:
    raw = _POSSESSIVE.sub("", raw)
    if is_plain_word(raw) or (raw.isalpha() and not _CAMEL.search(raw)):
        word = fold(raw)
        return Token(kind="word", whole=word, joined=word, parts=(raw,))
    if raw.isascii() and raw.isdigit():
        return Token(kind="number", whole=raw, joined=raw, parts=())
    if _NUMBER.match(raw) and not _VERSION.match(raw):
        return _number(raw)
    if _VERSION.match(raw):
        whole = fold(raw)
        return Token(kind="version", whole=whole, joined=whole.removeprefix("v"), parts=())
    if measure := _MEASURE.match(raw):
        number, unit = measure.groups()
        parts = (_number(number).joined, unit)
        return Token(kind="number", whole=fold(raw), joined="".join(map(fold, parts)), parts=parts)
    return _compound(raw)


def _number(raw: str) -> Token:
    """``1,000`` and ``1.000`` are both also 1000: which one is meant depends on who wrote it."""
    joined = re.sub(r"[.,'’]", "", raw) if _GROUPED.match(raw) else raw.replace(",", ".")
    return Token(kind="number", whole=raw, joined=joined, parts=())


def _compound(raw: str) -> Token:
    whole = fold(raw)
    if _ABBREVIATION.match(raw):
        joined = whole.replace(".", "")
        return Token(kind="word", whole=joined, joined=joined, parts=())
    pieces = [piece for piece in _CONNECTOR.split(raw.strip("_")) if piece]
    parts = tuple(part for piece in pieces for part in _camel_parts(piece))
    joined = "".join(map(fold, pieces))
    if len(raw) > _LONGEST:
        return Token(kind="word", whole="", joined="", parts=parts)
    kind: TokenKind = "identifier" if _is_identifier(raw, pieces) else "word"
    if _TIME_OR_DATE.match(raw):
        kind = "number"
    if len(parts) == 1 and fold(parts[0]) == joined and kind != "word":
        parts = ()
    return Token(kind=kind, whole=joined if kind == "word" else whole, joined=joined, parts=parts)


def _camel_parts(piece: str) -> list[str]:
    if piece[1:].islower():
        return [piece]
    parts = _CAMEL.split(piece)
    return parts if len(parts) > 1 and len(parts[0]) > 1 else [piece]


def _is_identifier(raw: str, pieces: list[str]) -> bool:
    """A name that means one thing only: an exact match of it is worth more than its parts."""
    if raw.startswith("--") or raw.endswith(("++", "#")) or _CODE_MARK.search(raw):
        return True
    has_digits = any(map(str.isdigit, raw)) and any(map(str.isalpha, raw))
    if has_digits and not (len(pieces) == 2 and "/" in raw):  # "20/month" is a rate
        return True
    if raw.count("/") > 1 or _DOTTED.search(raw):
        return True
    if len(pieces) > 1 and all(piece.isupper() and len(piece) > 1 for piece in pieces):
        return True
    return any(len(_camel_parts(piece)) > 1 for piece in pieces)
