"""Product versions: the one a question asks about, and whether two names mean the same version."""

import re
from collections.abc import Iterable

from clearcite.text.forms import clean_text
from clearcite.text.tokens import raw_tokens

_ASKED = re.compile(
    r"\b(?:version|versions|versão|release|v)[\s.:]*(\d+(?:\.\d+){0,3})\b(?!\s*%)", re.IGNORECASE
)
_NUMBER = re.compile(r"\d+(?:\.\d+)*")


def asked_version(question: str) -> str | None:
    """``in version 2.6`` and ``v2.6`` → ``2.6``; None when no version, or more than one, is named."""
    found = sorted({match.group(1) for match in _ASKED.finditer(question)})
    return found[0] if len(found) == 1 else None


def same_version(asked: str, stated: str) -> bool:
    """Whether a stated version falls under the asked one: ``2`` covers ``2.6``; ``2.6`` does not cover ``2.60``."""
    left, right = _parts(asked), _parts(stated)
    if not left or not right:
        return asked.strip().casefold() == stated.strip().casefold()
    size = min(len(left), len(right))
    return left[:size] == right[:size]


def _parts(version: str) -> tuple[int, ...]:
    match = _NUMBER.search(version)
    return tuple(int(part) for part in match.group().split(".")) if match else ()


def versions_asked(question: str, target: str | None) -> tuple[str, ...]:
    """The version a question is about; without words that say so, each bare ``2.6`` in it."""
    asked = target or asked_version(question)
    return (asked,) if asked else tuple(raw for raw in raw_tokens(clean_text(question)) if _is_dotted(raw))


def is_of(versions: Iterable[str], stated: str | None) -> bool | None:
    """Whether a stated version is one of those; None where nothing is stated."""
    return None if stated is None else any(same_version(version, stated) for version in versions)


def names_version(version: str, text: str) -> bool:
    """Whether a text has a version or one that falls under it as a word: ``2`` stands in ``v2.6``, not in ``12``."""
    return re.search(rf"(?<![\w.])v?{re.escape(version)}(?!\w)", text, re.IGNORECASE) is not None


def _is_dotted(raw: str) -> bool:
    return "." in raw and raw.replace(".", "").isdigit()
