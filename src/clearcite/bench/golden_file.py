"""The golden samples of a suite's file.

[[golden]]
document = "leave.md"               # or SOURCE:DOCUMENT
tenant = "default"                  # optional
contains = ["25 days"]
title = "Leave"
headings = ["Paid leave"]
readable_by = ["staff"]             # groups, each by itself
hidden_from = ["guests"]
fields = {product_version = "2.1", effective_from = "2026-01-01"}
"""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from clearcite.bench.golden_sample import FIELDS, Golden
from clearcite.bench.suite_values import Place, known, moment, tables, text, words
from clearcite.wire.instants import format_instant

TENANT = "default"
KEYS = {"document", "tenant", "contains", "lacks", "title", "headings", "readable_by", "hidden_from", *FIELDS}
KEYS |= {"allowed_groups", "denied_groups"}
INSTANTS = ("source_time", "published_at", "effective_from", "effective_to")


def read_golden(items: Any, place: Place) -> tuple[Golden, ...]:
    """What is wrong is added to the faults of the suite: a sample that asks for nothing proves nothing."""
    found = tuple(
        _golden(item, place.at(f"golden {n}")) for n, item in enumerate(tables(items, place), start=1)
    )
    count = Counter((one.tenant, one.document) for one in found if one.document)
    for (_, name), number in count.items():
        if number > 1:
            place.fault(f"the document {name} has {number} samples; join them.")
    return found


def _golden(item: Mapping[str, Any], place: Place) -> Golden:
    known(item, KEYS, place)
    document = text(item, "document", place) or ""
    if "document" not in item:
        place.fault("it needs a document.")
    sample = Golden(
        tenant=text(item, "tenant", place) or TENANT,
        document=document,
        contains=words(item, "contains", place),
        lacks=words(item, "lacks", place),
        title=text(item, "title", place),
        headings=words(item, "headings", place),
        readable_by=words(item, "readable_by", place),
        hidden_from=words(item, "hidden_from", place),
        allowed_groups=words(item, "allowed_groups", place) if "allowed_groups" in item else None,
        denied_groups=words(item, "denied_groups", place) if "denied_groups" in item else None,
        fields=_fields(item, place),
    )
    if sample.checks == 1:
        place.fault(
            f"it asks for nothing; give at least one of {', '.join(sorted(KEYS - {'document', 'tenant'}))}."
        )
    return sample


def _fields(table: Mapping[str, Any], place: Place) -> dict[str, str]:
    found = {}
    for name in FIELDS:
        if name not in table:
            continue
        if name in INSTANTS:
            instant = moment(table, name, place)
            found[name] = "" if instant is None else format_instant(instant)
        elif isinstance(table[name], str | int) and not isinstance(table[name], bool):
            found[name] = str(table[name])
        else:
            place.fault(f"{name} must be a text or a whole number.")
    return found
