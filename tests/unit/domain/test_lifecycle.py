"""The sequence rules, one row each."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from clearcite.domain.corpus import SourceRecord
from clearcite.domain.lifecycle import Decision, Head, decide, head_of
from clearcite.errors import SequenceConflict
from clearcite.testing.records import access, delete, upsert

M1, M2 = "manifest-1", "manifest-2"


def head(record: SourceRecord, manifest: str = M1) -> Head:
    return head_of(record, manifest)


OLD = upsert("text", 5)
GONE = delete(5)

# name: (what the ledger holds, what comes, action, access_changed)
RULES = {
    "a first upsert creates": (None, head(upsert("text")), "created", False),
    "a delete of a missing document leaves a tombstone": (None, head(GONE), "deleted", False),
    "same sequence, same state": (head(OLD), head(OLD), "noop", False),
    "same sequence, same state, other newline form and original bytes": (
        head(OLD),
        head(replace(OLD, content=b"text\r\n")),
        "noop",
        False,
    ),
    "same sequence, same state, another moment of beginning": (
        head(OLD),
        head(upsert("text", 5, source_time=1)),
        "noop",
        False,
    ),
    "same sequence, same state, another run": (head(OLD), head(replace(OLD, run_id="run-2")), "noop", False),
    "same sequence, same state, another manifest": (head(OLD), head(OLD, M2), "reprocessed", False),
    "same sequence, same delete": (head(GONE), head(GONE), "noop", False),
    "same sequence, same delete, another manifest": (head(GONE), head(GONE, M2), "noop", False),
    "higher sequence, same state": (head(OLD), head(upsert("text", 6)), "checkpoint_advanced", False),
    "higher sequence, same state, another manifest": (
        head(OLD),
        head(upsert("text", 6), M2),
        "reprocessed",
        False,
    ),
    "higher sequence, another text": (head(OLD), head(upsert("new", 6)), "revised", False),
    "higher sequence, another title": (head(OLD), head(upsert("text", 6, title="T")), "revised", False),
    "higher sequence, another source version": (
        head(OLD),
        head(upsert("text", 6, source_version="2")),
        "revised",
        False,
    ),
    "higher sequence, another text and list": (
        head(OLD),
        head(upsert("new", 6, rights=access("guest"))),
        "revised",
        True,
    ),
    "higher sequence, another list": (
        head(OLD),
        head(upsert("text", 6, rights=access("guest"))),
        "access_changed",
        True,
    ),
    "higher sequence, a denied group": (
        head(OLD),
        head(upsert("text", 6, rights=access(deny=("guest",)))),
        "access_changed",
        True,
    ),
    "higher sequence, another status": (
        head(OLD),
        head(upsert("text", 6, rights=access(status="draft"))),
        "access_changed",
        True,
    ),
    "higher sequence, another window": (
        head(OLD),
        head(upsert("text", 6, rights=access(effective_to=9))),
        "access_changed",
        True,
    ),
    "higher sequence, another trust": (
        head(OLD),
        head(upsert("text", 6, rights=access(trusted=False))),
        "access_changed",
        True,
    ),
    "higher sequence, another parent": (
        head(OLD),
        head(upsert("text", 6, rights=access(parent="a"))),
        "access_changed",
        True,
    ),
    "higher sequence, another list and manifest": (
        head(OLD),
        head(upsert("text", 6, rights=access("guest")), M2),
        "access_changed",
        True,
    ),
    "higher sequence, a delete": (head(OLD), head(delete(6)), "deleted", False),
    "higher sequence, the same delete": (head(GONE), head(delete(6)), "checkpoint_advanced", False),
    "higher sequence, a delete for another reason": (
        head(GONE),
        head(delete(6, reason="user_request")),
        "deleted",
        False,
    ),
    "higher sequence, an upsert after a delete": (head(GONE), head(upsert("text", 6)), "restored", True),
    "lower sequence, another state": (head(OLD), head(upsert("new", 4)), "stale_ignored", False),
    "lower sequence, the same state": (head(OLD), head(upsert("text", 4)), "stale_ignored", False),
    "lower sequence, a delete": (head(OLD), head(delete(4)), "stale_ignored", False),
    "lower sequence, an upsert after a delete": (head(GONE), head(upsert("text", 4)), "stale_ignored", False),
}

CONFLICTS = {
    "another text": (head(OLD), head(upsert("new", 5))),
    "another title": (head(OLD), head(upsert("text", 5, title="T"))),
    "another list": (head(OLD), head(upsert("text", 5, rights=access("guest")))),
    "a delete of what was written": (head(OLD), head(GONE)),
    "a restore at the deleting sequence": (head(GONE), head(OLD)),
    "another reason to delete": (head(GONE), head(delete(5, reason="access_revoked"))),
}


@pytest.mark.parametrize("name", RULES)
def test_a_record_is_judged_by_its_sequence_and_state(name: str) -> None:
    held, new, action, access_changed = RULES[name]
    assert decide(held, new) == Decision(action=action, access_changed=access_changed)


@pytest.mark.parametrize("name", CONFLICTS)
def test_the_same_sequence_may_not_carry(name: str) -> None:
    with pytest.raises(SequenceConflict):
        decide(*CONFLICTS[name])


def test_every_decision_has_a_rule_that_leads_to_it() -> None:
    actions = {rule[2] for rule in RULES.values()}
    assert actions == {
        "created",
        "revised",
        "access_changed",
        "reprocessed",
        "checkpoint_advanced",
        "noop",
        "stale_ignored",
        "deleted",
        "restored",
    }


def test_only_four_decisions_write_a_state_and_two_more_need_projection() -> None:
    made = {rule[2]: Decision(action=rule[2]) for rule in RULES.values()}
    writing = {name for name, decision in made.items() if decision.writes_state}
    assert writing == {"created", "revised", "access_changed", "restored"}
    projecting = {name for name, decision in made.items() if decision.needs_projection}
    assert projecting == writing | {"reprocessed", "deleted"}


def test_digests_tell_where_one_list_ends_and_the_next_begins() -> None:
    one, other = access("a", "b"), access("a", deny=("b",))
    assert one.digest() != other.digest()
    assert access("a", "b").digest() != access("ab").digest()


events = st.tuples(
    st.integers(1, 4), st.sampled_from(["upsert a", "upsert b", "upsert a guest", "delete", "delete user"])
)


def record(event: tuple[int, str]) -> SourceRecord:
    sequence, what = event
    if what.startswith("delete"):
        return delete(sequence, reason="user_request" if "user" in what else "source_deleted")
    return upsert(what.split()[1], sequence, rights=access("guest") if "guest" in what else access())


@given(st.lists(events, max_size=12))
def test_in_any_order_the_head_never_moves_back_and_its_sequence_holds_one_state(
    given_events: list[tuple[int, str]],
) -> None:
    held: Head | None = None
    for new in (head(record(event)) for event in given_events):
        try:
            decision = decide(held, new)
        except SequenceConflict:
            assert held is not None
            assert new.source_sequence == held.source_sequence
            continue
        if held is not None and decision.action == "stale_ignored":
            assert new.source_sequence < held.source_sequence
            continue
        assert held is None or new.source_sequence >= held.source_sequence
        if held is not None and decision.action == "noop":
            assert new == held
        held = new
    assert (held is None) == (not given_events)
    if held is not None:
        assert held.source_sequence == max(sequence for sequence, _ in given_events)
