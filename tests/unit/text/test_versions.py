"""Whether a text names a version."""

import pytest

from clearcite.text.versions import names_version


@pytest.mark.parametrize(
    ("version", "text", "expected"),
    [
        ("2", "since v2.6", True),
        ("2", "12 keys", False),
        ("2", "version 1.2", False),
        ("2.6", "Version 2.6.", True),
        ("2.6", "version 2.60", False),
        ("2.6", "V2.6 and later", True),
    ],
)
def test_a_version_is_named_as_a_word_and_not_as_a_part_of_one(
    version: str, text: str, expected: bool
) -> None:
    assert names_version(version, text) is expected
