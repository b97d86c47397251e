"""How domain values stand in columns: small JSON lists and objects, decoded without trust.

Decoders are pure functions of the stored text, so their caches cannot hide a change of the store.
"""

from __future__ import annotations

import json
from functools import lru_cache
from operator import attrgetter
from types import NoneType
from typing import Any

from msgspec.json import Encoder

from clearcite.domain.access import Access, AccessClass, Acl, Micros
from clearcite.domain.corpus import Description, Unit
from clearcite.domain.digest import digest
from clearcite.errors import InputError, IntegrityFault
from clearcite.wire.convert import from_json

_encode = Encoder().encode
_decode = json.JSONDecoder().raw_decode

REASONS = {1: "not_published", 2: "quarantined"}
_KINDS: dict[str, tuple[type, ...]] = {
    "source_uri": (str,),
    "source_version": (str,),
    "title": (str, NoneType),
    "media_type": (str,),
    "source_time": (int, NoneType),
    "canonical_document_id": (str, NoneType),
    "supersedes": (list,),
    "authority": (int,),
    "source_type": (str,),
    "product_version": (str, NoneType),
    "published_at": (int, NoneType),
    "language": (str, NoneType),
    "labels": (list,),
    "facts": (list,),
}
_PLAIN_FIELDS = tuple(name for name in Description.__struct_fields__ if name not in ("supersedes", "facts"))
_plain_fields = attrgetter(*_PLAIN_FIELDS)


def encode(value: Any) -> str:
    return _encode(value).decode("utf-8")


@lru_cache(maxsize=4_096)
def encode_strings(values: tuple[str, ...]) -> str:
    """Lists that many rows have alike: headings, flags."""
    return encode(values)


@lru_cache(maxsize=4_096)
def encode_notes(notes: tuple[tuple[str, str], ...]) -> str:
    """What a parser says of itself: most builds have it alike."""
    return encode(notes)


def decode(raw: str) -> Any:
    """Raises IntegrityFault for text that is no JSON."""
    try:
        value, end = _decode(raw)  # no white space about it: it is what ``encode`` wrote
    except (ValueError, RecursionError) as error:
        raise IntegrityFault("A stored value cannot be read.") from error
    if end != len(raw):
        raise IntegrityFault("A stored value cannot be read.")
    return value


def encode_description(description: Description) -> str:
    fields: dict[str, Any] = dict(zip(_PLAIN_FIELDS, _plain_fields(description), strict=True))
    fields["supersedes"], fields["facts"] = description.supersedes, description.facts
    return encode(fields)


def read_description(raw: str) -> Description:
    """For what is looked at once, as when it is indexed."""
    found = decode(raw)
    if _is_plain(found):
        found["supersedes"] = found["labels"] = found["facts"] = ()
        return Description(**found)
    try:
        return from_json(Description, found)
    except InputError as error:
        raise IntegrityFault("A stored description cannot be read.") from error


def _is_plain(found: Any) -> bool:
    """Whether all fields are there, each of a type it may have, and every list empty: what most descriptions are,
    and what can be taken as it is."""
    return (
        type(found) is dict
        and _has_kinds(tuple(found), tuple(map(type, found.values())))
        and not (found["supersedes"] or found["labels"] or found["facts"])
    )


@lru_cache(maxsize=64)
def _has_kinds(names: tuple[str, ...], kinds: tuple[type, ...]) -> bool:
    """Nearly all descriptions are alike in this."""
    return set(names) == _KINDS.keys() and all(
        kind in _KINDS[name] for name, kind in zip(names, kinds, strict=True)
    )


decode_description = lru_cache(maxsize=8_192)(read_description)
"""For what is looked at again, as questions do."""


@lru_cache(maxsize=16_384)
def decode_strings(raw: str) -> tuple[str, ...]:
    value = decode(raw)
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise IntegrityFault("A stored list cannot be read.")
    return tuple(value)


def encode_units(units: tuple[Unit, ...]) -> str:
    """A unit is ``[kind, start, end, header start and end, lead start and end]``; −1 where there is none."""
    rows = []
    for kind, start, end, header, lead in units:  # kinds are words: nothing in a row has to be escaped
        if header is None and lead is None:
            rows.append(f'["{kind}",{start},{end},-1,-1,-1,-1]')
        else:
            (left, right), (first, last) = header or (-1, -1), lead or (-1, -1)
            rows.append(f'["{kind}",{start},{end},{left},{right},{first},{last}]')
    return f"[{','.join(rows)}]"


@lru_cache(maxsize=16_384)
def decode_units(raw: str) -> tuple[Unit, ...]:
    try:
        return tuple(
            [
                Unit(
                    kind,
                    start,
                    end,
                    None if header < 0 else (header, header_end),
                    None if lead < 0 else (lead, lead_end),
                )
                for kind, start, end, header, header_end, lead, lead_end in decode(raw)
            ]
        )
    except (TypeError, ValueError) as error:
        raise IntegrityFault("Stored units cannot be read.") from error


def class_digest(cls: AccessClass) -> str:
    allow, deny = cls.acl.allow or (), cls.acl.deny
    return digest("class", cls.parent, str(len(allow)), *allow, str(len(deny)), *deny)


def collection_seal(path: str, allow: str | None, deny: str) -> str:
    """Over the stored columns of a collection's list."""
    return digest("collection-list", path, allow, deny)


def decode_acl(allow: str | None, deny: str) -> Acl:
    return Acl(allow=None if allow is None else decode_strings(allow), deny=decode_strings(deny))


@lru_cache(maxsize=16_384)
def decode_class(parent: str | None, allow: str, deny: str) -> AccessClass:
    return AccessClass(parent=parent, acl=decode_acl(allow, deny))


AccessColumns = tuple[str | None, str, str, str, Micros | None, Micros | None, int]


@lru_cache(maxsize=16_384)
def decode_access(columns: AccessColumns) -> Access:
    """From (parent, allow, deny, status, valid_from, valid_to, trusted)."""
    parent, allow, deny, status, valid_from, valid_to, trusted = columns
    return Access(
        allow=decode_strings(allow),
        deny=decode_strings(deny),
        parent=parent,
        status=status,  # type: ignore[arg-type]  # a value outside the domain changes the digest that is checked
        effective_from=valid_from,
        effective_to=valid_to,
        trusted=bool(trusted),
    )


@lru_cache(maxsize=8)
def decode_reasons(bits: int) -> tuple[str, ...]:
    return tuple(name for bit, name in REASONS.items() if bits & bit)
