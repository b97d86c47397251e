"""The contract of ``ports.GroupSource``: subclass ``GroupSourceSuite``, say how a document is put before a source.

A source gives the whole of what was put there, or fails; nothing is repaired, guessed or left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clearcite.domain.policy import Directory
from clearcite.errors import ClearciteError
from clearcite.keeping import GroupSource
from clearcite.testing.expect import expect, expect_equal, expect_raises

GOOD: dict[str, Any] = {
    "revision": 7,
    "issued_at": "2026-11-02T09:00:00Z",
    "complete": True,
    "subjects": {
        "alice": {"tenant": "acme", "groups": ["staff"]},
        "omar": {"tenant": "acme", "groups": ["staff"], "roles": ["operator"]},
        "zoë": {"tenant": "globex", "groups": ["équipe"]},
    },
    "groups": {
        "pager:night": {"members": ["omar"]},
        "leads": {"member_groups": ["pager:night", "leads"]},
        "round": {"members": ["alice"], "member_groups": ["about"]},
        "about": {"member_groups": ["round"]},
        "empty": {"members": []},
    },
}
BAD: dict[str, dict[str, Any]] = {
    "no revision": {"revision": None},
    "a revision that is no number": {"revision": "seven"},
    "an instant that is none": {"issued_at": "yesterday"},
    "an unknown key": {"admins": ["alice"]},
    "a subject without a tenant": {"subjects": {"alice": {"groups": ["staff"]}}},
    "an unknown key of a subject": {"subjects": {"alice": {"tenant": "acme", "groups": ["a"], "grups": []}}},
    "an invisible character in a subject": {
        "subjects": {"ali\u200bce": {"tenant": "acme", "groups": ["staff"]}}
    },
    "a group that is not trimmed": {"subjects": {"alice": {"tenant": "acme", "groups": ["staff "]}}},
    "a group that is not NFC": {"subjects": {"alice": {"tenant": "acme", "groups": ["cafe\u0301"]}}},
    "the implicit group of somebody": {"subjects": {"alice": {"tenant": "acme", "groups": ["user:omar"]}}},
    "groups that are one text": {"subjects": {"alice": {"tenant": "acme", "groups": "staff"}}},
    "an unknown member": {"groups": {"board": {"members": ["nobody-known"]}}},
    "an unknown member group": {"groups": {"board": {"member_groups": ["nothing-known"]}}},
    "a group that says nothing": {"groups": {"board": {}}},
    "a part that says so": {"complete": False},
    "a part that its counts betray": {"counts": {"subjects": 4, "groups": 5}},
}


class GroupSourceSuite:
    """``source_with(document)`` returns a source before which a document stands: keys and values as ``GOOD``."""

    def source_with(self, document: Mapping[str, Any]) -> GroupSource:
        raise NotImplementedError

    def source_without(self) -> GroupSource:
        """A source that cannot be reached."""
        raise NotImplementedError

    def test_the_whole_policy_is_read(self) -> None:
        found = self.source_with(GOOD).read()
        expect_equal((found.revision, found.issued_at), (7, 1_793_610_000_000_000))
        expect_equal(sorted(found.subjects), ["alice", "omar", "zoë"])
        expect_equal(sorted(found.groups), sorted(GOOD["groups"]))
        expect_equal(found.subjects["omar"].roles, ("operator",))

    def test_members_of_members_are_members_and_a_circle_ends(self) -> None:
        directory = Directory(self.source_with(GOOD).read())
        groups = {name: directory.resolve(name).groups for name in directory.names()}
        expect_equal(groups["omar"], ("leads", "pager:night", "staff"))
        expect_equal(groups["alice"], ("about", "round", "staff"))
        expect_equal(groups["zoë"], ("équipe",))

    def test_the_same_policy_has_the_same_digest_whatever_it_is_read_from(self) -> None:
        first, again = self.source_with(GOOD).read(), self.source_with(GOOD | {"revision": "8"}).read()
        expect_equal(first.digest(), again.digest())
        other = self.source_with(GOOD | {"groups": {"leads": {"members": ["alice"]}}}).read()
        expect(other.digest() != first.digest(), "another content has another digest")

    def test_what_is_not_sure_of_itself_is_refused(self) -> None:
        for what, changes in BAD.items():
            document = {name: value for name, value in (GOOD | changes).items() if value is not None}
            source = self.source_with(document)
            error = expect_raises(ClearciteError, source.read)
            expect(error.exit_code in (2, 3), f"{what} is refused as input or as unavailable")

    def test_a_source_that_cannot_be_reached_says_so(self) -> None:
        error = expect_raises(ClearciteError, self.source_without().read)
        expect(error.exit_code in (2, 3), "it fails as configuration or as unavailable")

    def test_the_name_of_a_source_tells_nothing_of_the_machine(self) -> None:
        for source in (self.source_with(GOOD), self.source_without()):
            expect(bool(source.origin) and "/" not in source.origin, "a name without a path")
