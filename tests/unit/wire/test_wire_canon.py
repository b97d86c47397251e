"""Canonical JSON equals RFC 8785 and refuses whatever would differ."""

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from clearcite.errors import InputError
from clearcite.wire import canonical

JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.text(),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(), inner, max_size=5),
    max_leaves=30,
)


@given(JSON_VALUES)
def test_canonical_json_equals_rfc_8785(value: object) -> None:
    assert canonical(value) == rfc8785.dumps(value)  # type: ignore[arg-type]


def test_keys_are_ordered_by_utf_16_code_units() -> None:
    value = {"\ufb33": 1, "\U0001f600": 2, "\x80": 3, "1": 4, "\r": 5, "ö": 6}
    assert canonical(value) == rfc8785.dumps(value)
    assert list(value) != sorted(value, key=lambda key: key.encode("utf-16-be"))


def test_every_control_character_is_escaped_as_in_rfc_8785() -> None:
    text = "".join(map(chr, range(0x250))) + "\u2028\u2029\ufeff\U0010ffff"
    assert canonical([text]) == rfc8785.dumps([text])


@pytest.mark.parametrize(
    "value",
    [
        1.5,
        0.0,
        float("nan"),
        2**53,
        -(2**53),
        {1: 2},
        "\ud800",
        {"\udfff": 1},
        b"x",
        {1},
        object(),
        True.real + 0.0,
    ],
)
def test_what_has_no_exact_form_is_refused(value: object) -> None:
    with pytest.raises(InputError):
        canonical({"a": [value]})


def test_a_value_that_contains_itself_is_refused() -> None:
    loop: list[object] = []
    loop.append(loop)
    with pytest.raises(InputError):
        canonical(loop)


def test_tuples_count_as_lists_and_insertion_order_does_not_count() -> None:
    assert (
        canonical({"b": (1, 2), "a": None}) == canonical({"a": None, "b": [1, 2]}) == b'{"a":null,"b":[1,2]}'
    )
