"""The strict loader: what every well-known parser lets pass is refused here."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clearcite.errors import DuplicateKey, InputError, TooLarge
from clearcite.wire import canonical, loads

JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)

REFUSED = {
    "duplicate key": (b'{"a":1,"a":2}', DuplicateKey),
    "duplicate key deep inside": (b'{"x":[{"acl":["a"],"acl":["b"]}]}', DuplicateKey),
    "duplicate key by escape": (b'{"a":1,"\\u0061":2}', DuplicateKey),
    "NaN": (b"[NaN]", InputError),
    "Infinity": (b"[-Infinity]", InputError),
    "number that is not finite": (b"[1e400]", InputError),
    "integer of 2^53": (b"[9007199254740992]", InputError),
    "negative integer of 2^53": (b"[-9007199254740992]", InputError),
    "integer of 5,000 digits": (b"[" + b"9" * 5000 + b"]", InputError),
    "lone surrogate by escape": (b'["\\ud800"]', InputError),
    "lone low surrogate as a key": (b'{"\\udc00":1}', InputError),
    "surrogate encoded in UTF-8": (b'["\xed\xa0\x80"]', InputError),
    "byte order mark": (b"\xef\xbb\xbf{}", InputError),
    "UTF-16": ("{}".encode("utf-16"), InputError),
    "invalid UTF-8": (b'["\xff"]', InputError),
    "raw control character": (b'["\x00"]', InputError),
    "trailing text": (b"{} {}", InputError),
    "empty": (b"", InputError),
    "single quotes": (b"{'a':1}", InputError),
    "depth 65": (b"[" * 65 + b"]" * 65, TooLarge),
    "depth 100,000": (b"[" * 100_000, TooLarge),
    "deep objects": (b'{"a":' * 5000 + b"1" + b"}" * 5000, TooLarge),
}


@pytest.mark.parametrize("name", REFUSED)
def test_hostile_json_is_refused_with_a_controlled_error(name: str) -> None:
    raw, error = REFUSED[name]
    with pytest.raises(error) as caught:
        loads(raw)
    assert len(str(caught.value)) < 200


def test_the_control_standard_json_accepts_what_we_refuse() -> None:
    assert json.loads(b'{"a":1,"a":2}') == {"a": 2}
    assert json.loads(b"[1e400]") == [float("inf")]
    assert json.loads(b'["\\ud800"]') == ["\ud800"]


def test_depth_and_size_hold_at_the_limit_and_fail_one_beyond() -> None:
    assert loads(b"[" * 64 + b"]" * 64)
    assert loads(b"[[]]", max_depth=2)
    with pytest.raises(TooLarge):
        loads(b"[[[]]]", max_depth=2)
    assert loads(b"[1]", max_bytes=3) == [1]
    with pytest.raises(TooLarge):
        loads(b"[12]", max_bytes=3)
    with pytest.raises(TooLarge):
        loads('["é"]', max_bytes=5)


def test_brackets_inside_strings_do_not_count_as_depth() -> None:
    assert loads(json.dumps(["[" * 500])) == ["[" * 500]


def test_paired_surrogate_escapes_are_one_character() -> None:
    assert loads(b'["\\ud83d\\ude00"]') == ["😀"]


def test_the_largest_exact_integers_pass() -> None:
    assert loads(b"[9007199254740991,-9007199254740991]") == [2**53 - 1, 1 - 2**53]


def test_text_with_a_lone_surrogate_is_refused_before_parsing() -> None:
    with pytest.raises(InputError):
        loads('["\ud800"]')


@given(JSON_VALUES)
def test_what_is_written_canonically_reads_back(value: object) -> None:
    assert loads(canonical(value), max_depth=200) == value
