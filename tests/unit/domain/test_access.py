"""The rule of one document, and the meeting of two states of access."""

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clearcite.domain.access import Access, Acl, ancestors, class_admits, in_force, meet, readable, widens
from clearcite.testing.records import access

GROUPS = ("a", "b", "c")
lists = st.lists(st.sampled_from(GROUPS), unique=True, max_size=3).map(lambda names: tuple(sorted(names)))
accesses = st.builds(
    Access,
    allow=lists,
    deny=lists,
    parent=st.sampled_from([None, "x", "x/y"]),
    status=st.sampled_from(["published", "draft", "archived"]),
    effective_from=st.none() | st.integers(0, 4),
    effective_to=st.none() | st.integers(0, 4),
    trusted=st.booleans(),
)
trees = st.fixed_dictionaries(
    {}, optional={path: st.builds(Acl, allow=st.none() | lists, deny=lists) for path in ("x", "x/y")}
)


@given(accesses, accesses, trees, st.frozensets(st.sampled_from(GROUPS)), st.integers(0, 5))
def test_whom_the_meeting_of_two_admits_both_admit(
    one: Access, other: Access, tree: dict[str, Acl], groups: frozenset[str], as_of: int
) -> None:
    if readable(meet(one, other), tree, groups, as_of):
        assert readable(one, tree, groups, as_of)
        assert readable(other, tree, groups, as_of)


@given(accesses, st.data(), trees, st.frozensets(st.sampled_from(GROUPS)), st.integers(0, 5))
def test_the_meeting_with_a_part_of_itself_is_that_part(
    one: Access, data: st.DataObject, tree: dict[str, Acl], groups: frozenset[str], as_of: int
) -> None:
    part = Access(
        allow=tuple(name for name in one.allow if data.draw(st.booleans())),
        deny=one.deny,
        parent=one.parent,
        effective_from=one.effective_from,
        effective_to=one.effective_to,
        status=one.status,
        trusted=one.trusted,
    )
    for met in (meet(one, part), meet(part, one)):
        assert readable(met, tree, groups, as_of) == readable(part, tree, groups, as_of)


@given(accesses)
def test_an_access_meets_itself_unchanged(one: Access) -> None:
    assert meet(one, one) == one


def test_two_collections_meet_in_nobody() -> None:
    assert meet(access(parent="x"), access(parent="y")).allow == ()


def test_a_missing_collection_denies_and_nobody_is_not_everybody() -> None:
    groups = frozenset({"staff"})
    below = access(parent="x/y").access_class
    assert ancestors("x/y") == ("x", "x/y")
    assert not class_admits(below, {"x/y": Acl(allow=None)}, groups)
    assert not class_admits(below, {"x": Acl(allow=()), "x/y": Acl(allow=None)}, groups)
    assert class_admits(below, {"x": Acl(allow=None), "x/y": Acl(allow=("staff",))}, groups)


def test_the_start_belongs_to_a_window_and_the_end_does_not() -> None:
    window = access(effective_from=10, effective_to=20)
    assert [in_force(window, at) for at in (9, 10, 19, 20)] == [False, True, True, False]


LISTS = [
    None,
    *(
        Acl(allow=allow, deny=deny)
        for allow in (None, (), ("a",), ("b",), ("a", "b"))
        for deny in ((), ("a",), ("b",), ("c",))
    ),
]


@pytest.mark.parametrize("before", LISTS, ids=repr)
def test_a_list_that_admits_somebody_new_is_known_to_widen(before: Acl | None) -> None:
    people = [frozenset(some) for size in range(4) for some in combinations("abc", size)]
    for after in filter(None, LISTS):
        new = any(after.admits(who) and not (before and before.admits(who)) for who in people)
        assert widens(before, after) or not new
    assert before is None or not widens(before, before)


def test_deny_beats_allow() -> None:
    groups = frozenset({"staff", "support"})
    assert Acl(allow=("staff",)).admits(groups)
    assert not Acl(allow=("staff",), deny=("support",)).admits(groups)
    assert not Acl(allow=None, deny=("support",)).admits(groups)
