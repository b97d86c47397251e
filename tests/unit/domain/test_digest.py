"""Hashes over length-prefixed parts: one form, however it is computed."""

import hashlib
import random

import pytest
from msgspec.structs import fields, replace

from clearcite.adapters.ledgers import codec
from clearcite.domain.corpus import (
    Chunk,
    Description,
    DocumentKey,
    Fact,
    Superseded,
    Unit,
    build_seal,
    chunk_id,
    state_hash_of,
)
from clearcite.domain.digest import digest
from clearcite.errors import IntegrityFault
from clearcite.wire.convert import from_json
from tests.support.dice import new_seed

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


def test_what_a_question_recomputes_is_written_out_as_the_one_form_says() -> None:
    seed = new_seed()
    chance = random.Random(seed)
    for _ in range(500):
        text = [
            "".join(chance.choices("ab1:s;\u00e9\x80\0", (9, 9, 9, 9, 9, 9, 1, 1, 1), k=chance.randrange(9)))
            for _ in range(12)
        ]
        maybe = [chance.choice((None, one)) for one in text]
        numbers = [chance.choice((0, -1, 7, 10**12)) for _ in range(3)]
        key = DocumentKey(tenant_id=text[0], source_id=text[1], document_id=text[2])
        identity = digest("chunk", *text[:5], *numbers[:2])[:32]
        assert chunk_id(key, text[3], text[4], (numbers[0], numbers[1])) == identity, seed
        assert build_seal(text[0], text[1]) == digest("build-seal", *text[:2]), seed
        assert state_hash_of(text[0], maybe[1], maybe[2]) == digest("source-state", text[0], *maybe[1:3]), (
            seed
        )
        units = tuple(
            Unit(kind="sentence", start=n, end=n + 1, header=chance.choice((None, (1, 2))), lead=None)
            for n in numbers[: chance.randrange(4)]
        )
        heading, flags = tuple(text[5 : 5 + chance.randrange(3)]), tuple(text[8 : 8 + chance.randrange(3)])
        page = chance.choice((None, numbers[0]))
        chunk = Chunk(
            chunk_id="0" * 32,
            ordinal=numbers[1],
            start=0,
            end=1,
            text="x",
            sha256="",
            context=text[0],
            heading=heading,
            page=page,
            units=units,
            language=maybe[3],
            flags=flags,
        )
        written = ";".join(f"{u.kind!r},{u.start},{u.end},{u.header},{u.lead}" for u in units)
        plain = (numbers[1], page, "text", maybe[3], text[0], written)
        assert chunk.seal() == digest("chunk-seal", *plain, str(len(heading)), *heading, *flags), seed
        described = Description(
            source_uri=text[0],
            source_version=text[1],
            title=maybe[2],
            media_type=text[3],
            canonical_document_id=maybe[4],
            authority=numbers[0],
            source_type=text[5],
            product_version=maybe[6],
            published_at=page,
            language=maybe[7],
            labels=tuple(text[8 : 8 + chance.randrange(2)]),
        )
        plain_parts = (
            text[0],
            text[1],
            maybe[2],
            text[3],
            maybe[4],
            numbers[0],
            text[5],
            maybe[6],
            page,
            maybe[7],
        )
        labels = (str(len(described.labels)), *described.labels)
        assert described.digest() == digest("description", *plain_parts, "0", *labels), seed


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
