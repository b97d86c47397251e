"""What an operator alerts on, from a small story with a clock of its own."""

from __future__ import annotations

from typing import Any

from tests.support.world import GENERATION, World, deletion, make_world, record

SECOND, HOUR = 1_000_000, 3_600_000_000


def told(world: World) -> Any:
    return world.services.ledger.status(in_full=True)


def slice_of(world: World, source: str) -> Any:
    (found,) = [row for row in told(world)["slices"] if row["source_id"] == source]
    return found


def test_counts_are_sliced_by_tenant_source_format_and_language() -> None:
    world = make_world()
    world.put(
        record("a.md", "The pump needs three bar of pressure and it is in the yard.", language="en"),
        record("b.md", "A bomba precisa de três bar de pressão.", language="pt"),
        record("c.html", "<p>x</p>", media_type="text/html", source="web"),
        record("d.md", "x", tenant="other"),
        record("e.md", "Draft.", access={"status": "draft"}, source="drafts"),
    )
    found = {
        (row["tenant_id"], row["source_id"], row["format"], row["language"]): row["active"]
        for row in told(world)["slices"]
    }
    assert found[("acme", "default", "text/markdown", "en")] == 1
    assert found[("acme", "default", "text/markdown", "pt")] == 1
    assert sum(found.values()) == 5
    assert {key[:3] for key in found} >= {("acme", "web", "text/html"), ("other", "default", "text/markdown")}
    draft = slice_of(world, "drafts")
    assert (draft["active"], draft["current"], draft["published"], draft["blocked"]) == (1, 1, 0, 1)


def test_what_waits_is_neither_current_nor_published_and_its_age_is_told() -> None:
    world = make_world()
    world.put(record("a", "One.", source="wiki"), record("b", "Two.", source="wiki"))
    world.clock.value += 10 * SECOND
    world.put(
        record("a", "New.", source="wiki", sequence=2), record("c", "Three.", source="wiki"), publish=False
    )
    world.clock.value += 90 * SECOND
    rows = told(world)["slices"]
    total = {name: sum(row[name] for row in rows) for name in ("active", "current", "published", "blocked")}
    assert total == {"active": 3, "current": 1, "published": 2, "blocked": 1}
    longest = told(world)["longest_waiting"]
    assert (longest["document_id"], longest["seconds"]) == ("a", 90)
    assert told(world)["stages"]["project"]["oldest_seconds"] == 90


def test_latency_and_throughput_come_from_the_log_of_events() -> None:
    world = make_world()
    first = record("a", "One.")
    world.put(first, record("b", "Two."), publish=False)
    world.clock.value += 4 * SECOND
    world.publish()
    world.put(record("b", "Two.", ("others",), sequence=2), publish=False)
    world.put(deletion(first), publish=False)
    world.clock.value += 7 * SECOND
    world.publish()
    stages = told(world)["stages"]
    assert stages["project"]["latency_ms"] == {"p50": 4_000, "p95": 4_000, "max": 4_000}
    assert stages["access"]["latency_ms"] == stages["delete"]["latency_ms"]
    assert stages["delete"]["latency_ms"] == {"p50": 7_000, "p95": 7_000, "max": 7_000}
    assert [stages[name]["done"] for name in ("project", "access", "delete")] == [
        {"hour": 2, "day": 2},
        {"hour": 1, "day": 1},
        {"hour": 1, "day": 1},
    ]
    world.clock.value += 2 * HOUR
    assert told(world)["stages"]["project"]["done"] == {"hour": 0, "day": 2}
    world.clock.value += 24 * HOUR
    assert told(world)["stages"]["project"]["latency_ms"] is None


def test_failures_retries_and_quarantine_are_told_by_stage_with_their_age() -> None:
    world = make_world()
    ledger = world.services.ledger
    world.put(record("a", "One."), record("b", "Two."), publish=False)
    for _ in range(3):
        for job in ledger.claim(GENERATION, 10, "w"):
            ledger.fail(job, "broken", final=job.key.document_id == "b")
        world.clock.value += 60 * SECOND
    stage = told(world)["stages"]["project"]
    assert (stage["waiting"], stage["failing"], stage["retries"]) == (1, 1, 2)
    assert (stage["quarantined"], stage["quarantine_seconds"]) == (1, 180)
    assert slice_of(world, "default")["quarantined"] == 1


def test_what_was_given_up_waits_no_more_however_old_it_is() -> None:
    world = make_world()
    world.put(record("b", "Two."), publish=False)
    (job,) = world.services.ledger.claim(GENERATION, 10, "w")
    world.services.ledger.fail(job, "broken", final=True)
    world.clock.value += 60 * SECOND
    found, stage = told(world), told(world)["stages"]["project"]
    (outbox,) = found["outbox"]
    assert (stage["waiting"], stage["oldest_seconds"], found["longest_waiting"]) == (0, None, None)
    assert (outbox["waiting"], outbox["quarantined"], outbox["oldest_seconds"]) == (0, 1, 0)
    assert slice_of(world, "default")["oldest_seconds"] is None
    world.put(record("a", "One."), publish=False)
    world.clock.value += 5 * SECOND
    assert (told(world)["outbox"][0]["waiting"], told(world)["outbox"][0]["oldest_seconds"]) == (1, 5)


def test_versions_are_distributed_over_the_served_documents() -> None:
    world = make_world()
    world.put(record("a", "One."), record("b", "Two."))
    versions = told(world)["versions"]
    assert versions["generation"] == {GENERATION: 2}
    assert versions["parser"] == {"direct": 2}


def test_what_should_be_nought_is_nought_and_is_counted_when_it_is_not() -> None:
    world = make_world()
    world.put(record("a", "One."), record("b", "Two.", tenant="other"))
    assert told(world)["access"] == {"missing": 0, "nobody": 0, "unknown_collection": 0}
    assert told(world)["cross_tenant"] == 0
    world.put(record("c", "Three.", access={"parent": "gone/away"}))
    assert told(world)["access"]["unknown_collection"] == 1
    db = world.services.ledger._writer._db  # type: ignore[attr-defined]
    db.execute("UPDATE projections SET revision = (SELECT max(revision) FROM projections) WHERE slot = 0")
    assert told(world)["cross_tenant"] >= 1
