"""Who may read what, against an evaluator of a few lines that shares no code with the product.

The evaluator knows a world as plain values: collections with null, nobody or lists, documents with two sides, groups
whose members are groups. What the store lists, shows, finds and explains for each subject must be what it says. The
controls are evaluators with one rule bent: worlds made in the same way tell each of them from the right one.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec import Struct
from msgspec.structs import replace

from clearcite.domain.access import AccessClass, Acl, class_admits, path_judge
from clearcite.domain.policy import Directory, Group, Policy, Subject
from clearcite.errors import NotFound
from tests.support.world import DAY, NOW, World, close_worlds, make_world, record

SOAK = os.environ.get("CLEARCITE_SOAK") == "1"
NAMES = ("a", "b", "c", "d", "e")
PATHS = ("x", "x/y", "x/y/z", "x/w", "v", "v/y")
SUBJECTS = ("alice", "bob", "cleo")
TENANTS = ("acme", "globex")


@dataclass(frozen=True)
class Side:
    """One state of a document, as plain values. ``start`` and ``end`` in days from now."""

    allow: tuple[str, ...]
    deny: tuple[str, ...] = ()
    parent: str | None = None
    status: str = "published"
    trusted: bool = True
    start: int | None = None
    end: int | None = None


@dataclass(frozen=True)
class Doc:
    """``head``: a newer state whose projection has not been published; None where there is none."""

    served: Side
    head: Side | None = None
    tenant: str = "acme"


@dataclass(frozen=True)
class Facts:
    """``collections``: path → (allow or None, deny). ``groups``: name → (subjects, groups)."""

    docs: tuple[Doc, ...]
    collections: Mapping[str, tuple[tuple[str, ...] | None, tuple[str, ...]]]
    groups: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]]
    own: Mapping[str, tuple[str, ...]]


# --- the evaluator: no import of the product above is used below this line, until the worlds are built


class Rules(Struct, frozen=True):
    """The right rules; each field bends one of them."""

    deny_beats_allow: bool = True
    nobody_is_nobody: bool = True
    null_is_no_restriction: bool = True
    missing_denies: bool = True
    every_ancestor_counts: bool = True
    both_sides_count: bool = True
    groups_nest: bool = True
    implicit_group: bool = True
    end_is_open: bool = True
    own_list_counts: bool = True


def groups_of(facts: Facts, who: str, rules: Rules) -> set[str]:
    """By adding until nothing is added."""
    found = {*facts.own[who], *(f"user:{who}" for _ in [0] if rules.implicit_group)}
    found |= {name for name, (subjects, _) in facts.groups.items() if who in subjects}
    while rules.groups_nest:
        more = {name for name, (_, inner) in facts.groups.items() if found & set(inner)} - found
        if not more:
            break
        found |= more
    return found


def list_admits(allow: Sequence[str] | None, deny: Sequence[str], groups: set[str], rules: Rules) -> bool:
    if rules.deny_beats_allow and groups & set(deny):
        return False
    if allow is None:
        return rules.null_is_no_restriction
    if not allow:
        return not rules.nobody_is_nobody
    return bool(groups & set(allow))


def side_admits(facts: Facts, side: Side, tenant: str, groups: set[str], rules: Rules) -> bool:
    if side.status != "published" or not side.trusted:
        return False
    if side.start is not None and side.start > 0:
        return False
    if side.end is not None and (side.end < 0 or (side.end == 0 and rules.end_is_open)):
        return False
    path = side.parent
    while path is not None:
        entry = facts.collections.get(path) if tenant == "acme" else None
        if entry is None and rules.missing_denies:
            return False
        if entry is not None and not list_admits(*entry, groups, rules):
            return False
        path = path.rsplit("/", 1)[0] if "/" in path and rules.every_ancestor_counts else None
    return not rules.own_list_counts or list_admits(side.allow, side.deny, groups, rules)


def may_read(facts: Facts, doc: Doc, who: str, rules: Rules = Rules()) -> bool:
    groups = groups_of(facts, who, rules)
    sides = [doc.served] if doc.head is None or not rules.both_sides_count else [doc.served, doc.head]
    return doc.tenant == "acme" and all(side_admits(facts, side, doc.tenant, groups, rules) for side in sides)


def readable(facts: Facts, who: str, rules: Rules = Rules()) -> list[str]:
    return [name(n) for n, doc in enumerate(facts.docs) if may_read(facts, doc, who, rules)]


def name(number: int) -> str:
    return f"doc-{number:02}"


# --- worlds

names = st.lists(st.sampled_from((*NAMES, "user:alice")), max_size=3, unique=True).map(tuple)
some = st.lists(st.sampled_from((*NAMES, "user:alice", "user:bob")), min_size=1, max_size=4, unique=True).map(
    tuple
)
days = st.one_of(st.none(), st.sampled_from((-3, -1, 0, 1, 3)))
denied = st.one_of(st.just(()), names)
window = st.one_of(st.just((None, None)), st.tuples(days, days)).filter(
    lambda both: None in both or both[0] < both[1]
)
sides = st.builds(
    lambda allow, deny, parent, status, trusted, when: Side(allow, deny, parent, status, trusted, *when),
    some,
    denied,
    st.one_of(st.none(), st.sampled_from((*PATHS, "missing", "x/missing"))),
    st.sampled_from(("published",) * 6 + ("draft", "archived")),
    st.sampled_from((True,) * 6 + (False,)),
    window,
)
docs = st.builds(
    Doc, sides, st.one_of(st.none(), st.none(), sides), st.sampled_from(("acme",) * 5 + ("globex",))
)
lists = st.tuples(st.one_of(st.none(), st.just(()), some, some), denied)
members = st.tuples(
    st.lists(st.sampled_from(SUBJECTS), max_size=2, unique=True).map(tuple),
    st.lists(st.sampled_from(NAMES), max_size=2, unique=True).map(tuple),
)
facts = st.builds(
    Facts,
    st.lists(docs, min_size=4, max_size=10).map(tuple),
    st.dictionaries(st.sampled_from(PATHS), lists, min_size=2),
    st.fixed_dictionaries(dict.fromkeys(NAMES, members)),
    st.fixed_dictionaries({who: st.lists(st.sampled_from(NAMES), min_size=1, max_size=2, unique=True).map(tuple)
                           for who in SUBJECTS}),
)  # fmt: skip


def directory_of(given: Facts) -> Directory:
    return Directory(
        Policy(
            revision=1,
            subjects={who: Subject(tenant_id="acme", groups=groups) for who, groups in given.own.items()},
            groups={
                group: Group(members=subjects, member_groups=inner)
                for group, (subjects, inner) in given.groups.items()
            },
        )
    )


def access_of(side: Side) -> dict[str, Any]:
    def instant(day: int | None) -> int | None:
        return None if day is None else NOW + day * DAY

    return {
        "deny": tuple(sorted(side.deny)),
        "parent": side.parent,
        "status": side.status,
        "trusted": side.trusted,
        "effective_from": instant(side.start),
        "effective_to": instant(side.end),
    }


def text_of(number: int) -> str:
    return f"# Part {number}\n\nThe walrus sits on stone number {number}."


def built(given: Facts) -> World:
    world = make_world()
    for number, doc in enumerate(given.docs):
        state = access_of(doc.served)
        world.put(
            record(name(number), text_of(number), doc.served.allow, tenant=doc.tenant, access=state),
            publish=False,
        )
    world.publish()
    for number, doc in enumerate(given.docs):
        if doc.head is not None:
            state = access_of(doc.head)
            newer = record(
                name(number), text_of(number), doc.head.allow, tenant=doc.tenant, access=state, sequence=2
            )
            world.put(newer, publish=False)
    for path, (allow, deny) in given.collections.items():
        acl = Acl(allow=None if allow is None else tuple(sorted(allow)), deny=tuple(sorted(deny)))
        world.services.ledger.put_collection("acme", path, acl)
    return world


def seen(world: World, given: Facts, who: str) -> dict[str, list[str]]:
    """What each entrance shows a subject, by document id."""
    caller = directory_of(given).resolve(who)
    engine = world.engine
    operator = engine.operator(replace(caller, roles=("operator",)))
    shown, explained = [], []
    for number, doc in enumerate(given.docs):
        key = record(name(number), "", ("a",), tenant=doc.tenant).key
        if operator.explain(key, caller).readable:
            explained.append(name(number))
        try:
            engine.document(name(number), caller)
            shown.append(name(number))
        except NotFound:
            pass
    return {
        "show": shown,
        "list": [item.document_id for item in engine.documents(caller)],
        "search": sorted(hit.document_id for hit in engine.search("walrus stone", caller, k=50).hits),
        "explain": explained,
    }


def check(given: Facts) -> None:
    world = built(given)
    try:
        for who in SUBJECTS:
            expected = readable(given, who)
            for entrance, found in seen(world, given, who).items():
                assert found == expected, f"{entrance} for {who}"
    finally:
        close_worlds()


relaxed = {"deadline": None, "suppress_health_check": list(HealthCheck), "print_blob": True}


@settings(max_examples=40, **relaxed)  # type: ignore[arg-type]
@given(facts)
def test_check_list_search_and_explanation_are_what_the_evaluator_says(given: Facts) -> None:
    check(given)


@pytest.mark.soak
@pytest.mark.skipif(not SOAK, reason="long; run with `make soak`")
@settings(max_examples=5_000, **relaxed)  # type: ignore[arg-type]
@given(facts)
def test_five_thousand_worlds_are_what_the_evaluator_says(given: Facts) -> None:
    check(given)


def verdicts(given: Facts) -> Iterator[tuple[Doc, str, bool]]:
    """Without a store: the two ways in which the product judges an access class must be one."""
    collections = {
        path: Acl(allow=None if allow is None else tuple(sorted(allow)), deny=tuple(sorted(deny)))
        for path, (allow, deny) in given.collections.items()
    }
    for doc, who in itertools.product(given.docs, SUBJECTS):
        groups = directory_of(given).resolve(who).effective_groups
        side = doc.served
        own = Acl(allow=tuple(sorted(side.allow)), deny=tuple(sorted(side.deny)))
        one = class_admits(AccessClass(parent=side.parent, acl=own), collections, groups)
        other = own.admits(groups) and path_judge(collections, groups)(side.parent)
        assert one == other
        yield doc, who, one


@settings(max_examples=200, **relaxed)  # type: ignore[arg-type]
@given(facts)
def test_a_class_is_judged_as_the_evaluator_judges_its_lists(given: Facts) -> None:
    for doc, who, verdict in verdicts(given):
        plain = Side(doc.served.allow, doc.served.deny, doc.served.parent)
        assert verdict == side_admits(given, plain, "acme", groups_of(given, who, Rules()), Rules())


BENT: dict[str, Rules] = {rule: replace(Rules(), **{rule: False}) for rule in Rules.__struct_fields__}


def test_control_an_evaluator_with_one_rule_bent_is_caught() -> None:
    """Among worlds made in the same way there are some on which each bent rule says something else."""
    left = dict(BENT)

    @settings(max_examples=150, derandomize=True, database=None, **relaxed)  # type: ignore[arg-type]
    @given(facts)
    def look(given: Facts) -> None:
        for rule, bent in list(left.items()):
            if any(readable(given, who) != readable(given, who, bent) for who in SUBJECTS):
                del left[rule]

    look()
    assert not left, "no world shows that these rules matter"
    assert len(BENT) == 10


def test_control_a_store_that_ignores_denials_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """The differential itself can fail: the product with a rule bent is told from the evaluator."""
    monkeypatch.setattr(
        Acl, "admits", lambda self, groups: self.allow is None or bool(groups & set(self.allow))
    )
    given = Facts(
        docs=(Doc(Side(("a",), deny=("b",))),),
        collections={},
        groups=dict.fromkeys(NAMES, ((), ())),
        own={"alice": ("a", "b"), "bob": ("a",), "cleo": ("c",)},
    )
    with pytest.raises(AssertionError, match="for alice"):
        check(given)
