"""Front matter of one file → fields of its source record. Unknown keys become labels."""

import re
import unicodedata
from collections.abc import Iterator
from difflib import get_close_matches
from typing import Any

from clearcite.errors import InputError
from clearcite.wire.decode import fault_of_name
from clearcite.wire.strict import shown

_TEXTS = (
    *("title", "parent", "status", "effective_from", "effective_to", "effective_through", "source_time"),
    *("canonical_document_id", "source_type", "product_version", "published_at", "language"),
    *("source_uri", "source_version"),
)
_LISTS = ("allowed_groups", "denied_groups")
_LABELS = ("labels", "tags")
_OF_THE_SOURCE = frozenset(
    (
        *("tenant_id", "source_id", "document_id", "source_sequence", "operation", "reason", "run_id"),
        *("content", "content_path", "media_type"),
    )
)
_OF_ACCESS = frozenset(
    (*_LISTS, "status", "trusted", "parent", "effective_from", "effective_to", "effective_through")
)
_OTHER_NAMES = {"valid_from": "effective_from", "valid_to": "effective_to", "valid_until": "effective_to"}
_LONGEST_MISTAKE = 40
_BOOLEANS = {"true": True, "false": False}
_TRUE = ("true", "yes", "on", "1")
_INTEGER = re.compile(r"-?[0-9]{1,9}")
_NOTHING = ("", "~", "null")
MAX_LABELS = 128


def _unmistaken(key: str, value: Any) -> str:
    """A key that becomes a label. Refused if it can only have been meant to decide about access."""
    plain = key.strip().lower().replace("-", "_").replace(" ", "_")
    meant = _OTHER_NAMES.get(plain)
    if plain == "draft" and isinstance(value, str) and value.lower() in _TRUE:
        meant = "status: draft"
    if meant is None and len(plain) <= _LONGEST_MISTAKE:
        meant = next(iter(get_close_matches(plain, sorted(_OF_ACCESS), n=1, cutoff=0.85)), None)
    if meant is not None:
        raise InputError(f"front matter: {shown(key, 50)} decides nothing; write {meant}")
    return key


def _groups(key: str, value: Any) -> Any:
    """A list of groups; one that holds nothing is refused, for it may have been meant as nobody."""
    groups = value if isinstance(value, list) else [value]
    if len(groups) == 1 and isinstance(groups[0], str) and groups[0] in _NOTHING:
        raise InputError(f"front matter: {key} is empty; name groups, or leave the key out")
    return groups


def front_fields(front: dict[str, Any]) -> dict[str, Any]:
    """Values as a source record has them, their rules not yet checked. Raises InputError for a key that only
    the source may set."""
    refused = sorted(_OF_THE_SOURCE & front.keys())
    if refused:
        faults = tuple(f"front matter: a document cannot set {name} itself" for name in refused)
        raise InputError("; ".join(faults), faults)
    fields: dict[str, Any] = {}
    labels: list[str] = []
    for key, value in front.items():
        if key in _LABELS:
            labels += _labels("", value)
        elif isinstance(value, str) and value in _NOTHING and key not in _LISTS:
            continue
        elif key in _TEXTS:
            fields[key] = value.strip() if isinstance(value, str) else value
        elif key in _LISTS:
            fields[key] = _groups(key, value)
        elif key == "authority":
            fields[key] = int(value) if isinstance(value, str) and _INTEGER.fullmatch(value) else value
        elif key == "trusted":
            fields[key] = _BOOLEANS.get(value, value) if isinstance(value, str) else value
        elif key == "supersedes":
            items = value if isinstance(value, list) else [value]
            fields[key] = [{"document_id": item} if isinstance(item, str) else item for item in items]
        elif key == "facts":
            fields[key] = value
        else:
            labels += _labels(_unmistaken(key, value), value)
    if labels:
        fields["labels"] = clean_labels(labels)
    return fields


def clean_labels(labels: list[str]) -> list[str]:
    """What can be a label, once each. Labels are a convenience: what cannot be one is left out."""
    kept: dict[str, None] = {}
    for label in labels:
        plain = unicodedata.normalize("NFC", " ".join(label.split()))
        if 0 < len(plain) <= 200 and fault_of_name(plain) is None:
            kept[plain] = None
    return list(kept)[:MAX_LABELS]


def _labels(key: str, value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield f"{key}:{value}" if key else value
    elif isinstance(value, list):
        for item in value:
            yield from _labels(key, item)
    elif isinstance(value, dict):
        for name, item in value.items():
            if name.strip().lower().replace("-", "_") in _LISTS:
                raise InputError(
                    f"front matter: {name} below {shown(key, 50)} decides nothing; write it alone"
                )
            yield from _labels(f"{key}.{name}" if key else name, item)
