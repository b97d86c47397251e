"""The auditor's checker as an oracle: what it derives equals what the engine judged, and a bent export is found."""

from __future__ import annotations

import ast
import copy
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from clearcite import auditor
from clearcite.adapters.ledgers.events import STATES
from clearcite.domain.access import Acl, Principal
from clearcite.domain.audit import Heads
from clearcite.domain.corpus import DocumentKey
from clearcite.domain.policy import Accepted, Policy, Subject
from clearcite.errors import InputError
from clearcite.wire.convert import to_json
from tests.support.world import DAY, LEGS, NOW, World, close_worlds, deletion, make_world, principal, record

OPERATOR = Principal(
    tenant_id="acme", subject_id="op", groups=("staff",), authorization_revision="1", roles=("operator",)
)
QUESTION = "What is the retry limit of the worker queue?"
TEXT = "# Worker queue\n\nThe retry limit of the worker queue is {} attempts."
GROUPS = ("staff", "board", "guest", "user:alice")
PATHS = ("a", "a/b", "a/b/c", "gone", "gone/x")

lists = st.lists(st.sampled_from(GROUPS), min_size=1, max_size=2, unique=True).map(sorted)
denials = st.lists(st.sampled_from(GROUPS), max_size=1)
instants = st.sampled_from([None, NOW - DAY, NOW, NOW + DAY])


@st.composite
def accesses(draw: st.DrawFn) -> dict[str, Any]:
    start, end = draw(instants), draw(instants)
    if start is not None and end is not None and start >= end:
        end = None
    return {
        "groups": draw(lists),
        "deny": tuple(draw(denials)),
        "parent": draw(st.sampled_from([None, None, *PATHS])),
        "status": draw(st.sampled_from(["published"] * 4 + ["draft", "archived"])),
        "effective_from": start,
        "effective_to": end,
        "trusted": draw(st.sampled_from([True, True, True, False])),
    }


collections = st.fixed_dictionaries(
    {
        path: st.one_of(
            st.none(),
            st.builds(
                lambda allow, deny: Acl(allow=allow, deny=tuple(deny)),
                st.one_of(st.none(), st.just(()), lists.map(tuple)),
                denials,
            ),
        )
        for path in ("a", "a/b", "a/b/c")
    }
)


def put(world: World, n: int, access: dict[str, Any], sequence: int, *, publish: bool) -> None:
    rest = {key: value for key, value in access.items() if key != "groups"}
    item = record(f"doc-{n}", TEXT.format(n), access["groups"], sequence=sequence, access=rest)
    world.put(item, publish=publish)


def exported(world: World, trace_id: str, **options: Any) -> dict[str, Any]:
    found = world.engine.operator(OPERATOR).export(trace_id, **options)
    plain: dict[str, Any] = json.loads(json.dumps(found))
    return plain


def heads(world: World) -> dict[str, tuple[int, str]]:
    found = Heads(events=world.services.ledger.event_head(), traces=world.services.traces.head())
    return auditor.read_head(str(found))


def derived(export: dict[str, Any]) -> set[str]:
    body = json.loads(export["trace"]["body"])
    who, as_of = body["request"]["principal"], body["state"]["as_of"]
    return {
        document["document_id"]
        for document in export["documents"]
        if auditor.may_read(document, export["collections"], who, as_of)
    }


@LEGS
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    first=st.lists(accesses(), min_size=1, max_size=6),
    later=st.lists(accesses(), max_size=3),
    above=collections,
    groups=lists,
    published=st.booleans(),
)
def test_what_the_checker_derives_is_what_the_engine_judged(
    embedder: Any,
    first: list[dict[str, Any]],
    later: list[dict[str, Any]],
    above: dict[str, Acl | None],
    groups: list[str],
    published: bool,
) -> None:
    """Lists, denials, collections, status, trust, windows, and both sides of a change that waits."""
    world = make_world(embedder=embedder)
    for path, acl in above.items():
        world.services.ledger.put_collection("acme", path, acl)
    for n, access in enumerate(first):
        put(world, n, access, 1, publish=True)
    for n, access in enumerate(later[: len(first)]):
        put(world, n, access, 2, publish=published)
    asker = principal(*groups, subject="alice")
    public = world.engine.ask(QUESTION, asker)
    export = exported(world, public.trace_id, response=to_json(public), texts=True)
    findings, _ = auditor.check(export, heads(world))
    assert findings == []
    assert derived(export) == {item.document_id for item in world.engine.documents(asker)}
    close_worlds()


def filled() -> World:
    world = make_world()
    world.services.ledger.put_collection("acme", "open", Acl(allow=("staff",)))
    world.services.ledger.put_collection("acme", "closed", Acl(allow=()))
    world.put(
        record("queue.md", TEXT.format(8), access={"parent": "open"}, product_version="2.4", labels=("q",)),
        record("export.md", "# Export\n\nAn export of the queue is kept for 30 days.", ("guest", "staff")),
        record("secret.md", TEXT.format(9), ("board",), source_time=NOW - DAY),
        record("vault.md", TEXT.format(7), access={"parent": "closed", "effective_from": NOW - DAY}),
        record("rival.md", TEXT.format(7), tenant="rival"),
    )
    return world


POLICY = {
    "revision": "1",
    "subjects": {"alice": {"tenant": "acme", "groups": ["staff"]}},
    "groups": {},
}


def sample(world: World) -> dict[str, Any]:
    who = Subject(tenant_id="acme", groups=("staff",))
    written = Policy(revision=1, subjects={"alice": who}, groups={})
    accepted = Accepted(revision=1, content=written.digest(), issued_at=None)
    world.services.ledger.accept_policy(accepted, "file")
    public = world.engine.ask(QUESTION, principal("staff"))
    assert public.status == "answered"
    return exported(world, public.trace_id, response=to_json(public), policy=POLICY, texts=True)


def leaves(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield from leaves(item, (*at, key))
    elif isinstance(value, list):
        for n, item in enumerate(value):
            yield from leaves(item, (*at, n))
    else:
        yield at


def bent(export: dict[str, Any], at: tuple[Any, ...]) -> dict[str, Any]:
    changed = copy.deepcopy(export)
    place = changed
    for key in at[:-1]:
        place = place[key]
    value = place[at[-1]]
    if isinstance(value, bool):
        place[at[-1]] = not value
    elif isinstance(value, int):
        place[at[-1]] = value + 1
    else:
        place[at[-1]] = (value or "") + "x"
    return changed


def is_found(export: dict[str, Any], head: auditor.Heads | None) -> bool:
    try:
        return auditor.check(export, head)[0] != []
    except (ValueError, KeyError, TypeError, AttributeError, IndexError):
        return True  # it cannot be read, and exit 2 says so


def decides_nothing(at: tuple[Any, ...]) -> bool:
    """When it was made is bound by nothing, and nothing is derived from it."""
    return bool(at[0] == "made_at")


def test_every_value_of_an_export_that_is_changed_is_found() -> None:
    world = filled()
    export, head = sample(world), heads(world)
    assert auditor.check(export, head)[0] == []
    places = list(leaves(export))
    assert len(places) > 150
    missed = [at for at in places if not decides_nothing(at) and not is_found(bent(export, at), head)]
    assert missed == []


BENT: dict[str, Callable[[dict[str, Any]], Any]] = {
    "a document left out": lambda e: e["documents"].pop(0),
    "a document added": lambda e: e["documents"].append(
        {**e["documents"][0], "document_id": "x", "slot": 77}
    ),
    "an event left out": lambda e: e["events"].pop(3),
    "the end of the events cut off": lambda e: e["events"].pop(),
    "two events swapped": lambda e: e["events"].insert(2, e["events"].pop(3)),
    "the trace of another answer": lambda e: e["trace"].update(
        body=e["trace"]["body"].replace("acme", "emca")
    ),
    "no trace": lambda e: e.update(trace=None),
    "a collection opened": lambda e: e["collections"].update(closed={"allow": None, "deny": []}),
    "a collection removed": lambda e: e["collections"].pop("open"),
    "a citation left out": lambda e: e["response"]["citations"].clear(),
    "a statement added": lambda e: e["response"]["answer"].append({"text": "It is 9.", "citations": [1]}),
    "another response": lambda e: e["response"].update(status="refused", answer=[], citations=[]),
    "a denial added": lambda e: e["documents"][0]["served"]["deny"].append("staff"),
    "an allowance added": lambda e: e["documents"][-1]["head"]["allow"].append("staff"),
    "the groups of the policy": lambda e: e["policy"]["subjects"]["alice"]["groups"].append("board"),
    "the asker's entry": lambda e: e["policy"]["subjects"].pop("alice"),
    "a group that holds the asker": lambda e: e["policy"]["groups"].update(
        board={"member_groups": ["staff"]}
    ),
    "a policy of a revision that was never accepted": lambda e: (
        e["policy"].update(revision="7"),
        e["policy"]["subjects"]["alice"].update(groups=["board"]),
    ),
    "no policy under its name": lambda e: e.update(policy={}),
    "all said to have changed, and a hidden one with another list": lambda e: (
        e.update(access_changed_since=[identity(item) for item in e["documents"]]),
        hidden(e)["served"].update(allow=["guest"]),
        hidden(e)["head"].update(allow=["guest"]),
    ),
    "one said to have changed that has not": lambda e: e["access_changed_since"].append(identity(hidden(e))),
    "a hidden document left out": lambda e: e["documents"].remove(hidden(e)),
    "the hidden document that was served last left out": lambda e: e["documents"].remove(
        hidden(e, "vault.md")
    ),
    "a hidden document said not to be served": lambda e: hidden(e).update(present=False),
    "a document twice": lambda e: e["documents"].append(hidden(e)),
    "a document of another tenant": lambda e: hidden(e).update(tenant_id="rival"),
    "both logs written anew": lambda e: rewritten(e),
}


def hidden(export: dict[str, Any], name: str = "secret.md") -> dict[str, Any]:
    """A document the asker may not read."""
    found: dict[str, Any] = next(item for item in export["documents"] if item["document_id"] == name)
    return found


def identity(document: dict[str, Any]) -> list[str]:
    return [document["tenant_id"], document["source_id"], document["document_id"]]


def rewritten(export: dict[str, Any]) -> None:
    """Everything consistent in itself, and another history."""
    for log, word in (("events", "event"), ("traces", "trace")):
        before = auditor.GENESIS
        for entry in export[log]:
            entry[1 if log == "events" else 4] += 1
            entry[-1] = before = auditor.digest(word, before, *entry[:-1])


@pytest.mark.parametrize("what", BENT)
def test_an_export_with_more_less_or_other_things_in_it_is_found(what: str) -> None:
    world = filled()
    export, head = sample(world), heads(world)
    BENT[what](export)
    assert is_found(export, head)


def test_control_without_the_head_a_history_written_anew_is_not_found_and_it_says_so() -> None:
    export = sample(filled())
    rewritten(export)
    entry = export["traces"][export["trace"]["number"] - 1]
    body = json.loads(export["trace"]["body"])
    export["trace"]["body"] = json.dumps({**body, "created_at": entry[4]})
    entry[5] = auditor.digest("body", bytes.fromhex(export["trace"]["salt"]), export["trace"]["body"])
    entry[6] = auditor.digest(
        "trace", export["traces"][entry[0] - 2][-1] if entry[0] > 1 else auditor.GENESIS, *entry[:-1]
    )
    findings, notes = auditor.check(export)
    assert findings == [] and any("no head was given" in note for note in notes)


def test_control_a_checker_that_forgets_denials_disagrees(monkeypatch: pytest.MonkeyPatch) -> None:
    """The comparison with the engine can fail."""
    world = make_world()
    world.put(record("a.md", TEXT.format(8)), record("b.md", TEXT.format(9), access={"deny": ("staff",)}))
    export = sample(world)
    assert auditor.check(export)[0] == []
    monkeypatch.setattr(auditor, "admits", lambda acl, groups: bool(set(acl["allow"] or ()) & groups))
    assert any("reading" in finding for finding in auditor.check(export)[0])


def test_an_answer_is_exported_as_it_was_after_documents_joined_and_access_changed() -> None:
    world = filled()
    public = world.engine.ask(QUESTION, principal("staff"))
    world.put(record("new.md", TEXT.format(5)))
    world.put(
        record("export.md", "# Export\n\nAn export of the queue is kept for 30 days.", ("board",), sequence=2)
    )
    world.services.ledger.put_collection("acme", "open", Acl(allow=()))
    export = exported(world, public.trace_id)
    findings, notes = auditor.check(export, heads(world))
    assert findings == [] and any("has changed since" in note for note in notes)
    assert export["response"] is not None, "computed again"
    assert derived(export) == {"queue.md", "export.md"}


def moved_on(world: World) -> dict[str, Any]:
    """An answer exported after hidden documents were replaced, deleted, quarantined and joined."""
    public = world.engine.ask(QUESTION, principal("staff"))
    world.put(record("vault.md", TEXT.format(1), access={"parent": "closed"}, sequence=2))
    world.put(record("new.md", TEXT.format(5), ("board",)))
    world.services.ledger.quarantine(
        DocumentKey(tenant_id="acme", source_id="default", document_id="export.md"), "damaged"
    )
    return exported(world, public.trace_id, response=to_json(public), texts=True)


def test_an_answer_holds_after_hidden_documents_were_replaced_and_joined_and_says_how_many() -> None:
    world = filled()
    export, head = moved_on(world), heads(world)
    findings, notes = auditor.check(export, head)
    assert findings == [] and any("1 that were served have been replaced" in note for note in notes)
    for what in (
        lambda e: e["documents"].remove(hidden(e)),
        lambda e: hidden(e).update(present=False),
        lambda e: e["access_changed_since"].append(identity(hidden(e))),
    ):
        changed = copy.deepcopy(export)
        what(changed)
        assert is_found(changed, head)


def test_what_was_served_last_cannot_be_left_out_though_it_had_been_replaced_before() -> None:
    """Its newest build lies after every other one, so that only its position tells that it was there in time."""
    world = filled()
    world.put(record("secret.md", TEXT.format(1), ("board",), sequence=2))
    export, head = sample(world), heads(world)
    assert auditor.check(export, head) == ([], [])
    less = {**export, "documents": [item for item in export["documents"] if item != hidden(export)]}
    assert "document default/secret.md: it is served, and not in the export" in auditor.check(less, head)[0]


def test_control_in_a_log_without_positions_it_is_only_counted() -> None:
    world = filled()
    world.put(record("secret.md", TEXT.format(1), ("board",), sequence=2))
    export = sample(world)
    for entry in export["events"]:
        entry[6] = json.dumps(
            {name: item for name, item in json.loads(entry[6]).items() if name != "position"}
        )
    rewritten(export)
    entries = [item for item in export["events"] if item[2] != "collection"]
    less = [item for item in export["documents"] if item != hidden(export)]
    work = auditor.Check({**export, "events": entries, "documents": less}, {})
    work.body = json.loads(export["trace"]["body"])
    work.check_presence(auditor.logged(entries, export["generation"]), set())
    assert work.findings == [] and any("1 that were served" in note for note in work.notes)


steps = st.lists(
    st.tuples(
        st.sampled_from(["put", "access", "delete", "quarantine", "reinstate", "collection"]),
        st.integers(0, 3),
        st.booleans(),
    ),
    max_size=10,
)


def take(world: World, step: tuple[str, int, bool], sequence: int) -> None:
    """Documents 0 to 3 are hidden from the asker, whatever happens to them."""
    what, n, publish = step
    ledger = world.services.ledger
    key = DocumentKey(tenant_id="acme", source_id="default", document_id=f"hidden-{n}")
    if what == "collection":
        ledger.put_collection("acme", f"c{n}", Acl(allow=("staff",) if publish else ()))
    elif what in ("quarantine", "reinstate"):
        if ledger.head(key) is not None:
            getattr(ledger, what)(*((key, "damaged") if what == "quarantine" else (key,)))
    else:
        text = TEXT.format(sequence if what == "put" else n)
        status = "draft" if what == "access" and n == 1 else "published"
        groups = ("board", "guest") if what == "access" else ("board",)
        item = record(f"hidden-{n}", text, groups, sequence=2 * sequence, access={"status": status})
        world.put(deletion(item) if what == "delete" else item, publish=publish)


@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
@given(before=steps, after=steps)
def test_whatever_happens_to_hidden_documents_before_and_after_an_answer_its_export_holds(
    before: list[tuple[str, int, bool]], after: list[tuple[str, int, bool]]
) -> None:
    """And one that was served cannot be left out without a fault, or a note of one that is not there any more."""
    world = make_world()
    world.put(record("queue.md", TEXT.format(8)))
    for n, step in enumerate(before, start=1):
        take(world, step, n)
    public = world.engine.ask(QUESTION, principal("staff"))
    for n, step in enumerate(after, start=len(before) + 1):
        take(world, step, n)
    export, head = exported(world, public.trace_id, response=to_json(public)), heads(world)
    findings, notes = auditor.check(export, head)
    assert findings == [] and (after or not any("replaced or dropped" in note for note in notes))
    for n, document in enumerate(export["documents"]):
        less = {**export, "documents": [*export["documents"][:n], *export["documents"][n + 1 :]]}
        if document["present"] and auditor.is_open(document):
            findings, more = auditor.check(less, head)
            assert findings or set(more) - set(notes)
    close_worlds()


def test_the_state_of_a_store_with_quarantined_and_deleted_documents_is_derived_from_the_log() -> None:
    world = filled()
    secret = DocumentKey(tenant_id="acme", source_id="default", document_id="secret.md")
    world.services.ledger.quarantine(secret, "damaged")
    export, head = sample(world), heads(world)
    assert auditor.check(export, head)[0] == [] and hidden(export)["present"] is False
    world.services.ledger.reinstate(secret)
    export, head = sample(world), heads(world)
    assert auditor.check(export, head)[0] == [] and hidden(export)["present"] is False, "built again first"
    hidden(export)["present"] = True
    assert is_found(export, head)


@pytest.mark.parametrize("what", ["a list of a change that came since", "made_at"])
def test_control_what_the_page_names_as_not_bound_is_not_found(what: str) -> None:
    """The limits of the promise: they would be news if they no longer held."""
    world = filled()
    public = world.engine.ask(QUESTION, principal("staff"))
    world.put(record("secret.md", TEXT.format(9), ("guest",), sequence=2))
    export, head = exported(world, public.trace_id, response=to_json(public)), heads(world)
    assert auditor.check(export, head)[0] == [] and len(export["access_changed_since"]) == 1
    if what == "made_at":
        export["made_at"] += 1
    else:
        hidden(export)["served"]["allow"] = hidden(export)["head"]["allow"] = ["guest"]
    assert not is_found(export, head)


def test_an_answer_whose_documents_are_gone_is_not_exported() -> None:
    world = filled()
    public = world.engine.ask(QUESTION, principal("staff"))
    world.put(record("queue.md", TEXT.format(3), access={"parent": "open"}, sequence=2))
    with pytest.raises(InputError, match="retired"):
        exported(world, public.trace_id)


def test_a_search_can_be_exported_too() -> None:
    world = filled()
    public = world.engine.search(QUESTION, principal("staff"))
    export = exported(world, public.trace_id, response=to_json(public))
    assert auditor.check(export, heads(world))[0] == []
    export["response"]["hits"][0]["title"] = "Other"
    assert auditor.check(export, heads(world))[0] != []


def test_text_goes_out_only_where_it_is_asked_for_and_cited() -> None:
    world = filled()
    public = world.engine.ask(QUESTION, principal("staff"))
    assert "attempts" not in json.dumps(exported(world, public.trace_id)["documents"])
    shown = exported(world, public.trace_id, texts=True)["documents"]
    assert [item["document_id"] for item in shown if item["text"]] == ["queue.md"]


def test_the_checker_knows_every_kind_of_event_that_tells_a_state() -> None:
    assert set(auditor.STATES) == STATES


def test_the_checker_is_one_file_that_imports_nothing_but_the_standard_library(tmp_path: Path) -> None:
    source = Path(auditor.__file__).read_text(encoding="utf-8")
    imported = {
        name.split(".")[0]
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in (
            [node.module or ""] if isinstance(node, ast.ImportFrom) else [a.name for a in node.names]
        )
    }
    assert imported <= set(sys.stdlib_module_names)
    world = filled()
    (tmp_path / "checker.py").write_text(source, encoding="utf-8")
    export = sample(world)
    (tmp_path / "good.json").write_text(json.dumps(export), encoding="utf-8")
    export["response"]["answer"][0]["text"] += "!"
    (tmp_path / "bent.json").write_text(json.dumps(export), encoding="utf-8")
    (tmp_path / "broken.json").write_text("{", encoding="utf-8")
    head = " ".join(f"{name}={size}:{root}" for name, (size, root) in heads(world).items())
    codes = []
    for args in (["good.json", "--head", head], ["bent.json", "--head", head], ["broken.json"], []):
        done = subprocess.run(
            [sys.executable, "-I", "-S", "checker.py", *args],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        codes.append(done.returncode)
        assert "Traceback" not in done.stderr
    assert codes == [0, 1, 2, 2]
