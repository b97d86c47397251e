"""Front matter: everything stays text, and nothing clever is accepted."""

import pytest

from clearcite.errors import DuplicateKey, InputError, TooLarge
from clearcite.wire.frontmatter import read_front_matter, split_front_matter


def test_front_matter_and_body_are_told_apart() -> None:
    text = "---\na: 1\n---\nbody"
    source, body = split_front_matter(text)
    assert (source, text[body:]) == ("a: 1\n", "body")


@pytest.mark.parametrize("text", ["", "body", "--- a", "---", "---\nno end", "----\na\n----\n"])
def test_text_without_front_matter_is_all_body(text: str) -> None:
    assert split_front_matter(text) == ("", 0)


def test_scalars_stay_as_they_were_written() -> None:
    front = read_front_matter("v: 3.10\nd: 2024-01-01\nb: no\nn: 0x10\ne:\nl: [1, yes]\nm: {k: 1e3}")
    assert front == {
        "v": "3.10", "d": "2024-01-01", "b": "no", "n": "0x10", "e": "", "l": ["1", "yes"], "m": {"k": "1e3"},
    }  # fmt: skip


@pytest.mark.parametrize(
    ("source", "error"),
    [
        ("a: 1\na: 2", DuplicateKey),
        ("a: &x [1]\nb: *x", InputError),
        ("a: &a [*a]", InputError),
        ("? [1]\n: 2", InputError),
        ("- a\n- b", InputError),
        ("just text", InputError),
        ("a: [", InputError),
        ("a: \x01", InputError),
        ("a: " + "[" * 20 + "]" * 20, TooLarge),
        ("a: " + "[" * 5000, InputError),
        ("a: " + "x" * 70_000, TooLarge),
        ("a: !!python/object/apply:os.system [id]\nb: &c 1\nd: *c", InputError),
    ],
)
def test_what_could_surprise_is_refused(source: str, error: type[InputError]) -> None:
    with pytest.raises(error):
        read_front_matter(source)


def test_a_tag_never_makes_an_object() -> None:
    assert read_front_matter("a: !!python/object/apply:os.system [id]") == {"a": ["id"]}
