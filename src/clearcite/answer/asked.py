"""What a caller hands over: question, options, identity. Refused before anything is read, whatever its type."""

import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

from clearcite.domain.access import Micros, Principal
from clearcite.domain.retrieval import Question, Route
from clearcite.errors import InputError
from clearcite.wire.decode import fault_of_name

MAX_QUESTION = 4_000
MAX_GROUPS = 128
MAX_NAME = 200
MAX_SOURCES = 128
_OPTIONS = ("as_of", "target_version", "sources", "route", "topic")
_ROUTES: dict[str, Route] = {"knowledge": "knowledge", "tool_required": "tool_required"}


def question_of(text: Any, options: Mapping[str, Any]) -> Question:
    """A question as the pipeline takes it. Raises InputError for anything that is not what it should be."""
    unknown = sorted(set(options) - set(_OPTIONS))
    if unknown:
        raise InputError(f"Unknown options: {', '.join(unknown)}.")
    return Question(
        text=_text(text),
        as_of=instant_of(options.get("as_of")),
        target_version=_name("target_version", options.get("target_version")),
        sources=_sources(options.get("sources")),
        route=_route(options.get("route")),
        topic=_name("topic", options.get("topic")),
    )


def check_identity(principal: Any) -> None:
    """Raises InputError for an identity that cannot be judged. Names are compared exactly, so one that looks
    like another is refused, not repaired."""
    if not isinstance(principal, Principal):
        raise InputError("An identity must be a Principal; nothing was read.")
    groups = principal.groups
    if not isinstance(groups, tuple) or not (principal.tenant_id and principal.subject_id and groups):
        raise InputError(
            "An identity with a tenant, a subject and at least one group is needed; nothing was read."
        )
    if len(groups) > MAX_GROUPS:
        raise InputError(f"An identity has at most {MAX_GROUPS} groups.")
    names = (("tenant", principal.tenant_id), ("subject", principal.subject_id))
    revision = ("authorization revision", principal.authorization_revision)
    for what, name in (*names, revision, *(("group", group) for group in groups)):
        if not isinstance(name, str) or not name:
            raise InputError(f"The {what} of an identity must be a name; nothing was read.")
        fault = fault_of_name(name)
        if fault is not None:
            raise InputError(f"The {what} of an identity {fault}; nothing was read.")


def _text(text: Any) -> str:
    if not isinstance(text, str):
        raise InputError("The question must be text.")
    normal = unicodedata.normalize("NFC", text)
    if any(0xD800 <= ord(char) <= 0xDFFF for char in normal):
        raise InputError("The question holds half of a surrogate pair.")
    if not normal.strip():
        raise InputError("The question is empty.")
    if len(normal) > MAX_QUESTION:
        raise InputError(f"The question is longer than {MAX_QUESTION} characters.")
    return normal


def instant_of(value: Any) -> Micros | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int):
        raise InputError("as_of must be a whole number: microseconds since 1970, UTC.")
    if abs(value) >= 2**62:
        raise InputError("as_of is out of range.")
    return value


def _name(what: str, value: Any) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str) or not 0 < len(value) <= MAX_NAME:
        raise InputError(f"{what} must be a text of 1 to {MAX_NAME} characters.")
    if any(0xD800 <= ord(char) <= 0xDFFF for char in value):
        raise InputError(f"{what} holds half of a surrogate pair.")
    return value


def _sources(value: Any) -> tuple[str, ...]:
    if value is None:
        return ()
    if isinstance(value, str) or not isinstance(value, Sequence) or len(value) > MAX_SOURCES:
        raise InputError(f"sources must be a list of at most {MAX_SOURCES} names.")
    named = [_name("each of sources", item) for item in value]
    if None in named:
        raise InputError("sources must be a list of names.")
    return tuple(name for name in named if name is not None)


def _route(value: Any) -> Route | None:
    if value is None:
        return None
    if not isinstance(value, str) or value not in _ROUTES:
        raise InputError("route is knowledge or tool_required.")
    return _ROUTES[value]
