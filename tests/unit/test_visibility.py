"""Columns, verdicts and masks, from rows given by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from clearcite.domain.access import AccessClass, Acl, class_admits
from clearcite.domain.retrieval import Scope
from clearcite.domain.visible import ALWAYS, NEVER, VisibilityRow, VisibilityRows
from clearcite.testing.records import principal
from clearcite.visibility import NOTHING, Visibility

STAFF, GUEST = (
    AccessClass(parent=None, acl=Acl(allow=("staff",))),
    AccessClass(parent=None, acl=Acl(allow=("guest",))),
)
FOLDER = AccessClass(parent="a", acl=Acl(allow=("staff",)))


def row(slot: int, position: int = 1, **fields: object) -> VisibilityRow:
    values = {
        "document": slot,
        "served": STAFF,
        "head": STAFF,
        "valid_from": None,
        "valid_to": None,
        "present": True,
        **fields,
    }
    return VisibilityRow(slot=slot, position=position, **values)  # type: ignore[arg-type]


def columns_of(rows: Sequence[VisibilityRow]) -> VisibilityRows:
    classes = list(dict.fromkeys(cls for item in rows for cls in (item.served, item.head)))
    numbered = {
        "served": [classes.index(item.served) for item in rows],
        "head": [classes.index(item.head) for item in rows],
        "valid_from": [ALWAYS if item.valid_from is None else item.valid_from for item in rows],
        "valid_to": [NEVER if item.valid_to is None else item.valid_to for item in rows],
        "why": [0 for _ in rows],
    }
    for name in ("slot", "document", "position", "present", "supersedes"):
        numbered[name] = [getattr(item, name) for item in rows]
    columns = {name: np.array(values, dtype=np.int64) for name, values in numbered.items()}
    return VisibilityRows(**columns, classes=dict(enumerate(classes)), reasons={0: ()})


@dataclass
class Rows:
    """A snapshot made of a history of rows; ``asked`` counts the reads of it."""

    history: Sequence[VisibilityRow]
    position: int
    lists: Mapping[str, Acl] = field(default_factory=dict)
    lists_position: int = 0
    generation: str = "g1"
    asked: list[int] = field(default_factory=list)

    def visibility_since(self, partition: str, position: int) -> VisibilityRows:
        self.asked.append(position)
        newest: dict[int, VisibilityRow] = {}
        for item in self.history:
            if partition == "acme" and position < item.position <= self.position:
                newest[item.slot] = item
        return columns_of(list(newest.values()))

    def collections(self, partition: str) -> tuple[int, Mapping[str, Acl]]:
        return self.lists_position, self.lists


def scope(*groups: str, as_of: int = 100) -> Scope:
    return Scope(principal=principal(*groups), as_of=as_of, partitions=("acme",))


def mask(visibility: Visibility, snapshot: Rows, who: Scope) -> list[int]:
    return np.flatnonzero(visibility.readable(snapshot, who).mask("acme")).tolist()  # type: ignore[arg-type]


def test_both_sides_must_admit() -> None:
    rows = [
        row(0),
        row(1, served=GUEST),
        row(2, head=GUEST),
        row(3, served=GUEST, head=GUEST),
        row(4, present=False),
    ]
    assert mask(Visibility(), Rows(rows, 1), scope("staff")) == [0]
    assert mask(Visibility(), Rows(rows, 1), scope("guest")) == [3]
    assert mask(Visibility(), Rows(rows, 1), scope("guest", "staff")) == [0, 1, 2, 3]


def test_windows_are_half_open_and_masks_are_kept_between_their_bounds() -> None:
    snapshot, visibility = Rows([row(0, valid_from=10, valid_to=20), row(1)], 1), Visibility()
    seen = {as_of: mask(visibility, snapshot, scope(as_of=as_of)) for as_of in (9, 10, 15, 19, 20)}
    assert seen == {9: [1], 10: [0, 1], 15: [0, 1], 19: [0, 1], 20: [1]}
    tokens = [visibility.readable(snapshot, scope(as_of=as_of)).token for as_of in (9, 10, 15, 20)]  # type: ignore[arg-type]
    assert tokens[1] == tokens[2]
    assert len(set(tokens)) == 3


def test_callers_with_equal_verdicts_share_a_mask_and_others_do_not() -> None:
    snapshot, visibility = Rows([row(0), row(1, served=GUEST, head=GUEST)], 1), Visibility()
    one, other, third = (
        visibility.readable(snapshot, scope(*g)) for g in (("staff",), ("staff", "x"), ("x",))
    )  # type: ignore[arg-type]
    assert one.token == other.token
    assert one.mask("acme") is other.mask("acme")
    assert one.token != third.token


def test_nothing_changed_means_nothing_is_read_again() -> None:
    snapshot, visibility = Rows([row(0)], 5), Visibility()
    for _ in range(3):
        mask(visibility, snapshot, scope())
    assert snapshot.asked == [0]


def test_a_later_snapshot_reads_only_what_is_newer() -> None:
    history, visibility = [row(0, 1), row(1, 6), row(0, 7, present=False)], Visibility()
    assert mask(visibility, Rows(history, 5), scope()) == [0]
    later = Rows(history, 7)
    assert mask(visibility, later, scope()) == [1]
    assert later.asked == [5]


def test_an_older_snapshot_never_sees_newer_rows() -> None:
    history, visibility = [row(0, 1), row(0, 6, head=GUEST), row(1, 6)], Visibility()
    assert mask(visibility, Rows(history, 6), scope()) == [1]
    assert mask(visibility, Rows(history, 5), scope()) == [0]
    newest = Rows(history, 6)
    assert mask(visibility, newest, scope()) == [1]
    assert newest.asked == []


def test_a_snapshot_that_was_read_when_a_slot_was_gone_says_nothing_about_earlier_ones() -> None:
    before, after = Rows([row(0, 1), row(1, 1)], 3), Rows([row(1, 1)], 4)  # slot 0 has no row any more
    visibility = Visibility()
    assert mask(visibility, after, scope()) == [1]
    assert mask(visibility, before, scope()) == [0, 1]
    assert mask(visibility, after, scope()) == [1]


def test_a_collection_that_changes_is_judged_again_without_touching_rows() -> None:
    history, visibility = [row(0, served=FOLDER, head=FOLDER)], Visibility()
    opened = Rows(history, 2, {"a": Acl(allow=None)}, 2)
    assert mask(visibility, Rows(history, 1), scope()) == []
    assert mask(visibility, opened, scope()) == [0]
    closed = Rows(history, 3, {"a": Acl(allow=())}, 3)
    assert mask(visibility, closed, scope()) == []
    assert closed.asked == [2]
    assert mask(visibility, opened, scope()) == [0]


def test_classes_that_join_later_are_judged_too() -> None:
    history, visibility = [row(0), row(1, 2, served=GUEST, head=GUEST)], Visibility()
    assert mask(visibility, Rows(history, 1), scope("guest", "staff")) == [0]
    assert mask(visibility, Rows(history, 2), scope("guest", "staff")) == [0, 1]
    assert mask(visibility, Rows(history, 1), scope("guest", "staff")) == [0]


def test_generations_are_kept_apart() -> None:
    visibility = Visibility()
    assert mask(visibility, Rows([row(0)], 5), scope()) == [0]
    assert mask(visibility, Rows([row(1)], 5, generation="g2"), scope()) == [1]


@pytest.mark.parametrize("change", [{"groups": ()}, {"tenant_id": ""}, {"subject_id": ""}])
def test_an_incomplete_identity_reads_nothing(change: dict[str, object]) -> None:
    who = Scope(principal=replace(principal(), **change), as_of=1, partitions=("acme",))  # type: ignore[arg-type]
    view = Visibility().readable(Rows([row(0)], 1), who)  # type: ignore[arg-type]
    assert view.partitions == ()
    assert len(view.mask("acme")) == 0


def test_no_partition_and_a_foreign_partition_read_nothing() -> None:
    visibility, snapshot = Visibility(), Rows([row(0)], 1)
    view = visibility.readable(snapshot, replace(scope(), partitions=()))  # type: ignore[arg-type]
    assert view.token == ()
    assert view.mask("acme") is NOTHING
    assert not visibility.readable(snapshot, scope()).mask("globex").any()  # type: ignore[arg-type]


def test_masks_cannot_be_written_to() -> None:
    view = Visibility().readable(Rows([row(0)], 1), scope())  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="read-only"):
        view.mask("acme")[0] = False


classes = st.builds(
    AccessClass,
    parent=st.sampled_from([None, "a", "a/b"]),
    acl=st.builds(
        Acl,
        allow=st.sampled_from([("staff",), ("guest",), ("guest", "staff")]),
        deny=st.sampled_from([(), ("staff",)]),
    ),
)
bounds = st.none() | st.integers(95, 105)
changes = st.builds(
    lambda slot, served, head, start, end, present: row(
        slot, served=served, head=head, valid_from=start, valid_to=end, present=present
    ),
    st.integers(0, 6), classes, classes, bounds, bounds, st.booleans(),
)  # fmt: skip
LISTS = ({}, {"a": Acl(allow=None)}, {"a": Acl(allow=("staff",)), "a/b": Acl(allow=None, deny=("guest",))})


def plainly(snapshot: Rows, who: Scope) -> list[int]:
    """The same answer, document by document."""
    groups = who.principal.effective_groups
    return sorted(
        item.slot
        for item in snapshot.visibility_since("acme", 0)
        if item.present
        and (item.valid_from is None or item.valid_from <= who.as_of)
        and (item.valid_to is None or who.as_of < item.valid_to)
        and all(class_admits(cls, snapshot.lists, groups) for cls in (item.served, item.head))
    )


@settings(max_examples=150, deadline=None)
@given(st.lists(changes, max_size=14), st.data())
def test_in_any_order_of_snapshots_the_columns_equal_judging_each_document(
    history: list[VisibilityRow], data: st.DataObject
) -> None:
    numbered = [item._replace(position=number + 1) for number, item in enumerate(history)]
    visibility = Visibility()
    for _ in range(8):
        position = data.draw(st.integers(0, len(numbered)))
        lists = position % len(LISTS)
        snapshot = Rows(numbered, position, LISTS[lists], lists)
        who = scope(
            *data.draw(st.sampled_from([("staff",), ("guest",), ("x",)])),
            as_of=data.draw(st.integers(94, 106)),
        )
        assert mask(visibility, snapshot, who) == plainly(snapshot, who)


def test_threads_at_different_positions_each_see_their_own_state() -> None:
    history = [
        row(n % 40, n + 1, present=n % 3 != 0, head=GUEST if n % 7 == 0 else STAFF) for n in range(400)
    ]
    visibility = Visibility()

    def check(number: int) -> bool:
        snapshot = Rows(history, number * 37 % 401)
        return mask(visibility, snapshot, scope()) == plainly(snapshot, scope())

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(check, range(1_000)))
