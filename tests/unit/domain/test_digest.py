"""Hashes over length-prefixed parts: one form, however it is computed."""

import hashlib
import random
from dataclasses import fields, replace

import pytest

from clearcite.adapters.ledgers import codec
from clearcite.domain.corpus import Description, Fact, Superseded
from clearcite.domain.digest import digest
from clearcite.errors import IntegrityFault
from clearcite.wire import from_json

PARTS = (
    None,
    True,
    False,
    -5,
    0,
    12,
    10**20,
    b"",
    b"abc",
    b"\x80",
    "",
    "plain",
    "caf\u00e9",
    "\x80",
    "a\0b",
    "12:",
)


def part_by_part(*parts: str | bytes | int | None) -> str:
    """As the form is defined, one part after the other."""
    whole = b""
    for part in parts:
        kind, raw = b"n", b""
        if isinstance(part, str):
            kind, raw = b"s", part.encode("utf-8")
        elif isinstance(part, bytes):
            kind, raw = b"b", part
        elif part is not None:
            kind, raw = b"i", str(int(part)).encode("ascii")
        whole += kind + str(len(raw)).encode("ascii") + b":" + raw
    return hashlib.sha256(whole).hexdigest()


def test_every_mixture_of_parts_is_hashed_in_the_one_form() -> None:
    chance = random.Random(11)
    for _ in range(3_000):
        parts = [chance.choice(PARTS) for _ in range(chance.randrange(6))]
        assert digest(*parts) == part_by_part(*parts), parts


DESCRIPTION = Description(source_uri="u", source_version="1", title="t", source_time=5)
FULL = replace(
    DESCRIPTION,
    labels=("a",),
    supersedes=(Superseded(document_id="d"),),
    facts=(Fact(fact_id="f", topic="t", statement="s", value="v"),),
)


@pytest.mark.parametrize("description", [DESCRIPTION, replace(DESCRIPTION, labels=("a", "b")), FULL])
def test_a_description_is_read_as_the_general_reader_reads_it(description: Description) -> None:
    raw = codec.encode_description(description)
    assert codec.read_description(raw) == description == from_json(Description, codec.decode(raw))


@pytest.mark.parametrize("name", [item.name for item in fields(Description)])
@pytest.mark.parametrize("value", [True, 1.5, {"a": 1}, [1]])
def test_a_stored_description_of_another_type_is_refused(name: str, value: object) -> None:
    stored = codec.decode(codec.encode_description(DESCRIPTION)) | {name: value}
    with pytest.raises(IntegrityFault):
        codec.read_description(codec.encode(stored))
