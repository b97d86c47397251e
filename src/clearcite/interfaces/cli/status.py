"""``status`` for a person: what there is, what waits, what to look at in yellow."""

from collections.abc import Mapping
from typing import Any

from clearcite.interfaces.cli.common import counted, say, unlisted_line
from clearcite.interfaces.cli.permissions import alarm_line, policy_line


def show_status(found: Mapping[str, Any]) -> None:
    documents = found["documents"]
    say("documents  " + ", ".join(f"{count} {name}" for name, count in documents.items()), "bold")
    say(f"chunks     {found['chunks']}, revisions {found['revisions']}, tombstones {found['tombstones']}")
    say(policy_line(found["policy"]))
    if found["policy"]["alarm"]:
        say(alarm_line(found["policy"]["alarm"]), "red")
    for row in found["outbox"]:
        say(
            "waiting    "
            + ", ".join(f"{value} {name}" for name, value in row.items() if name != "generation")
        )
    for row in found["sources"]:
        say(f"source     {row['tenant_id']}/{row['source_id']}: {counted(row['documents'], 'document')}")
        for run in row["runs"]:
            _say_run(run)
    for row in found["unlisted"]:
        say(f"look at    {unlisted_line((row['tenant_id'], row['source_id']), row['documents'])}", "yellow")
    _say_upkeep(found)
    for row in found["failing"]:
        say(f"failing    {row['source_id']}/{row['document_id']}: {row['reason']}, {row['attempts']} tries")
    for row in found["quarantine"]:
        say(f"quarantine {row['source_id']}/{row['document_id']}: {row['reason']}", "yellow")
    for row in found["slices"]:
        _say_slice(row)
    for name, stage in found["stages"].items():
        _say_stage(name, stage)
    _say_nought(found)
    for part, versions in found["versions"].items():
        for version, count in sorted(versions.items()):
            say(f"version    {part} {version}: {counted(count, 'document')}")


def _say_upkeep(found: Mapping[str, Any]) -> None:
    last = found["retention"]
    if last is not None:
        say(f"retention  purge {last['purge']}, {'complete' if last['complete'] else 'not complete'}")
    if found["purges"]["unfinished"]:
        say(f"purges     {found['purges']['unfinished']} were interrupted: clearcite sweep", "yellow")
    for row in found["restores"]:
        if row["journal_number"] is None:
            say(f"restored   without knowing what was taken away since: {row['reason']}", "red")


def _say_slice(row: Mapping[str, Any]) -> None:
    kind = f"{row['format'] or 'no format'}, {row['language'] or 'no language'}"
    counted = ("active", "current", "published", "blocked", "deleted", "waiting", "failing", "quarantined")
    counts = ", ".join(f"{row[name]} {name}" for name in counted if row[name])
    is_good = not (row["failing"] or row["quarantined"])
    say(f"slice      {row['tenant_id']}/{row['source_id']} ({kind}): {counts}", "" if is_good else "yellow")


def _say_stage(name: str, stage: Mapping[str, Any]) -> None:
    took = stage["latency_ms"]
    spread = f", p95 {took['p95']} ms, longest {took['max']} ms" if took else ""
    stuck = f", {stage['failing']} failing, {stage['quarantined']} quarantined"
    say(f"stage      {name}: {stage['done']['day']} done in a day{spread}, {stage['waiting']} wait{stuck}")


def _say_nought(found: Mapping[str, Any]) -> None:
    """What should not be there at all."""
    access = found["access"]
    for count, what in (
        (access["missing"], "active documents have no access list"),
        (access["nobody"], "active documents are open to nobody"),
        (access["unknown_collection"], "active documents lie in a collection that does not exist"),
        (found["cross_tenant"], "builds point into another tenant or document: clearcite reconcile"),
        (len(found["refused_events"]), "events name another identity and are refused: clearcite reconcile"),
    ):
        if count:
            say(f"look at    {count} {what}", "yellow")


def _say_run(run: dict[str, Any]) -> None:
    listed = (
        "never listed whole" if run["covered_seconds"] is None else f"listed {run['covered_seconds']} s ago"
    )
    ended = "never ended" if run["lag_seconds"] is None else f"ended {run['lag_seconds']} s ago"
    waits = f", {run['withheld']} deletes wait for approval" if run["withheld"] else ""
    refused = f", {run['refused']} refused" if run["refused"] else ""
    is_good = run["outcome"] == "ok" and not waits and not refused
    say(
        f"           {run['kind']}: {run['outcome']}, {ended}, {listed}{waits}{refused}",
        "" if is_good else "yellow",
    )
