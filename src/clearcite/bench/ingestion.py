"""The layer before all others: whether what the sources hold has come in, and how old that knowledge is.

Of each source: the share of its documents that is served, the share that failed, how far its cursor is, how long ago a
run reached its end, and how long a delete can have gone unseen. A source that is fed and never listed has no cursor, no
end and no listing: these are null with a reason, not 0. Ages change with each look, so they stand on the terminal only.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from clearcite.bench.stats import GRID, micros

FED = "it is fed, not listed"
NO_DOCUMENT = "it has no document"
NEVER = "no run has reached its end"
WITHHELD = "deletes wait for an approval"
NO_LISTING = "it was never listed in full"


class SourceHealth(Struct, frozen=True, kw_only=True):
    """Shares are millionths, ages whole seconds. ``missing``: why a value is None, by its name."""

    name: str
    documents: int
    coverage: int | None
    failures: int | None
    cursor: str | None
    lag_seconds: int | None
    deletes_unseen_seconds: int | None
    missing: Mapping[str, str]

    @property
    def is_listed(self) -> bool:
        return self.missing.get("cursor") != FED


def health_of(status: Mapping[str, Any]) -> tuple[SourceHealth, ...]:
    """From the operator's status, in full."""
    return tuple(_health(source, status["slices"]) for source in status["sources"])


def _health(source: Mapping[str, Any], slices: Sequence[Mapping[str, Any]]) -> SourceHealth:
    place = (source["tenant_id"], source["source_id"])
    own = [row for row in slices if (row["tenant_id"], row["source_id"]) == place]
    runs = source["runs"]
    withheld = any(run["withheld"] for run in runs)
    refused = sum(run["refused"] for run in runs)
    whole = sum(row["active"] for row in own) + refused
    failed = sum(row["failing"] + row["quarantined"] for row in own) + refused
    cursor = next((run["cursor"] or run["outcome"] for run in runs), None)
    found = SourceHealth(
        name="/".join(place),
        documents=source["documents"],
        coverage=sum(row["current"] for row in own) * GRID // whole if whole else None,
        failures=min(GRID, -(-failed * GRID // whole)) if whole else None,
        cursor=cursor,
        lag_seconds=_oldest(runs, "lag_seconds"),
        deletes_unseen_seconds=None if withheld else _oldest(runs, "covered_seconds"),
        missing={},
    )
    why = {"coverage": NO_DOCUMENT, "failures": NO_DOCUMENT, "cursor": FED}
    why |= {"lag_seconds": NEVER if runs else FED}
    why |= {"deletes_unseen_seconds": WITHHELD if withheld else NO_LISTING if runs else FED}
    return replace(found, missing={name: text for name, text in why.items() if getattr(found, name) is None})


def _oldest(runs: Sequence[Mapping[str, Any]], name: str) -> int | None:
    """None where one of the runs has none: a source is as old as what is known least of it."""
    ages = [run[name] for run in runs]
    return max(ages) if ages and None not in ages else None


def health_lines(sources: Sequence[SourceHealth]) -> Iterator[str]:
    """For the operator's terminal."""
    for one in sources:
        missing = one.missing
        parts = [
            f"{one.documents} documents",
            f"served {_share(one.coverage, missing.get('coverage'))}",
            f"failed {_share(one.failures, missing.get('failures'))}",
            f"cursor {'set' if one.cursor else _null(missing['cursor'])}",
            f"last complete run {_age(one.lag_seconds, missing.get('lag_seconds'))}",
            f"deletes seen {_age(one.deletes_unseen_seconds, missing.get('deletes_unseen_seconds'))}",
        ]
        yield f"source {one.name}: {', '.join(parts)}"


def _share(value: int | None, why: str | None) -> str:
    return _null(why) if value is None else micros(value)


def _age(value: int | None, why: str | None) -> str:
    return _null(why) if value is None else f"{value} s ago"


def _null(why: str | None) -> str:
    return f"null ({why})"
