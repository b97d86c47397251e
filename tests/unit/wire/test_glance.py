"""A record that is read at a glance is the one that is read with care, and no wrong one is read so."""

import json
import random
from typing import Any

import pytest

from clearcite.errors import InputError
from clearcite.wire.glance import glance
from clearcite.wire.records import DEFAULT_RULES, RecordFields, RecordRules, read_line, read_record
from clearcite.wire.strict import loads
from tests.support.dice import new_seed

MOST = 1_000_000
PLAIN: dict[str, Any] = {
    "tenant_id": "acme",
    "document_id": "a/b",
    "source_sequence": 3,
    "source_uri": "a/b",
    "source_version": "1",
    "allowed_groups": ["staff", "support"],
    "content": 'Says "x". Ünïcode\n\nand more.',
    "title": "A title",
    "media_type": "text/plain",
    "authority": 70,
    "trusted": True,
    "labels": ["one", "two"],
    "effective_from": "2024-01-01",
}
DELETE: dict[str, Any] = {
    "tenant_id": "acme",
    "document_id": "a",
    "source_sequence": 4,
    "operation": "delete",
    "reason": "user_request",
}
VALUES: list[Any] = [
    *(
        None,
        True,
        False,
        0,
        1,
        -1,
        2**53,
        2**70,
        1.0,
        1.5,
        "",
        " ",
        "x",
        "x" * 201,
        "x" * 2001,
        [],
        ["a"],
        ["a", "a"],
    ),
    *(
        [""],
        [1],
        [None],
        {},
        {"a": 1},
        [{"document_id": "d"}],
        [{"document_id": "d", "heading": None}],
        [[["a"]]],
    ),
    *(
        "published",
        '"x": 1',
        "upsert",
        "2024-13-01",
        "a\u200bb",
        "\ud800",
        "\0",
        "\u0301",
        "a\r\nb",
        ["x"] * 129,
    ),
]
RAW = [
    *(
        '"a":1',
        '"title":"t"',
        '"title" : "t"',
        '"title"\t:null',
        "NaN",
        "Infinity",
        "1e999",
        "01",
        "\\u0000",
        "\\ud83d",
    ),
    *(
        '"\\ud83d\\ude00"',
        '\\"x\\":',
        "[",
        "]",
        "{",
        "}",
        ",",
        " ",
        "\x0b",
        "\n",
        "\x7f",
        "-0",
        "1.0",
        "null",
        "//",
    ),
]


def careful(line: bytes, rules: RecordRules) -> Any:
    return read_record(loads(line, max_bytes=MOST), rules)


def outcome(read: Any, *args: Any) -> Any:
    try:
        return read(*args)
    except InputError as error:
        return type(error), error.message, error.violations


def test_any_line_is_read_as_with_care() -> None:
    seed = new_seed()
    chance = random.Random(seed)
    rules = (
        DEFAULT_RULES,
        RecordRules(defaults={"language": "en", "denied_groups": ["guests"]}, trusted=False),
    )
    glanced = 0
    for _ in range(4_000):
        record = dict(chance.choice((PLAIN, PLAIN, DELETE)))
        for name in chance.sample([*RecordFields.__struct_fields__, "other"], chance.randrange(3)):
            record[name] = chance.choice(VALUES)
        text = json.dumps(record, ensure_ascii=chance.random() < 0.5)
        if chance.random() < 0.3:
            at = chance.randrange(len(text))
            text = text[:at] + chance.choice(RAW) + text[at + chance.randrange(3) :]
        line = text.encode("utf-8", "surrogatepass")
        if chance.random() < 0.05:
            at = chance.randrange(len(line))
            line = line[:at] + bytes([chance.randrange(256)]) + line[at + 1 :]
        some = chance.choice(rules)
        assert outcome(read_line, line, some, MOST) == outcome(careful, line, some), (seed, line)
        glanced += glance(RecordFields, line, lambda value: value) is not None
    assert glanced > 800


@pytest.mark.parametrize(
    "line",
    [
        b'{"tenant_id":"a","document_id":"b","source_sequence":1,"document_id":"c"}',
        b'{"tenant_id":"a","document_id":"b","source_sequence":1,"document_id" \n:"c"}',
        b'{"tenant_id":"a","document_id":"b","source_sequence":1,"document_\\u0069d":"c"}',
        b'{"tenant_id":"a","document_id":"b","source_sequence":true}',
        b'{"tenant_id":"a","document_id":"b","source_sequence":1,"labels":["x","x"]}',
        b'{"tenant_id":"a","document_id":"b","source_sequence":1,"facts":[null]}',
        b'{"tenant_id":"a","document_id":"b"}',
        b'{"tenant_id":"a","document_id":"b","source_sequence":1,"title":"\\ud800"}',
        b"[" * 5_000,
        b"null",
    ],
)
def test_what_is_wrong_is_left_to_the_careful_reader(line: bytes) -> None:
    assert glance(RecordFields, line, lambda value: value) is None


def test_what_is_plain_is_read_at_a_glance() -> None:
    found = glance(RecordFields, json.dumps(PLAIN).encode(), lambda value: value)
    expected = RecordFields(**PLAIN | {name: tuple(PLAIN[name]) for name in ("allowed_groups", "labels")})
    for name in RecordFields.__struct_fields__:
        assert getattr(found, name) == getattr(expected, name)
