"""The panel of a generation: a few rates over the answers of a suite and over its documents, each with a least value.

A rate is two counts, how many are right and how many there are. A panel passes when every rate reaches its least
value; a rate without a case does not, unless its least value is 0: what was not measured is not known.
"""

from collections.abc import Mapping

from msgspec import Struct

OWNERS: Mapping[str, tuple[str, str]] = {
    "recall_at_2": ("retrieval", "whoever runs search: analysis, synonyms, chunks, vectors"),
    "citation_precision_at_1": ("citation", "whoever runs answering: writer and checks"),
    "expected_empty_rate": ("sufficiency", "whoever runs answering: what counts as evidence"),
    "expected_status_rate": ("answer", "whoever runs answering: conflicts, routes, statuses"),
    "freshness": ("publication", "whoever runs ingestion: workers and their backlog"),
    "nothing_forbidden": ("access", "whoever runs permissions: policy, lists, collections"),
    "titled": ("content", "the owner of the source: a document needs a title or a heading"),
    "indexed": ("ingestion", "whoever runs ingestion: parsers and failed documents"),
}
"""What each rate looks at, by stage, and who has to act when it is too low."""

WHOLE = 1_000
"""Least values are in thousandths."""

MOST_FINDINGS = 20


class Rate(Struct, frozen=True, kw_only=True):
    """``right`` of ``all`` cases or documents; ``least`` in thousandths."""

    right: int
    all: int
    least: int = WHOLE

    @property
    def holds(self) -> bool:
        return self.right * WHOLE >= self.least * self.all if self.all else not self.least

    @property
    def thousandths(self) -> int | None:
        """Rounded down; None where there was nothing to measure."""
        return self.right * WHOLE // self.all if self.all else None


class Finding(Struct, frozen=True, kw_only=True):
    """One case or document that is wrong. ``stage`` and ``owner``: where to look, and who does."""

    rate: str
    stage: str
    owner: str
    where: str
    detail: str


class Panel(Struct, frozen=True, kw_only=True):
    """``live``: the generation that answered while this was measured. ``suite``: the SHA-256 of the suite's file."""

    generation: str
    live: str
    suite: str
    rates: Mapping[str, Rate]
    findings: tuple[Finding, ...]

    @property
    def passes(self) -> bool:
        return all(rate.holds for rate in self.rates.values())

    @property
    def line(self) -> str:
        """The verdict in one line, as a switch records it."""
        too_low = [f"{name} {rate.right}/{rate.all}" for name, rate in self.rates.items() if not rate.holds]
        verdict = f"failed: {', '.join(too_low)}" if too_low else "passed"
        return f"{verdict}; suite {self.suite[:12]}"


def finding(rate: str, where: str, detail: str) -> Finding:
    stage, owner = OWNERS[rate]
    return Finding(rate=rate, stage=stage, owner=owner, where=where, detail=detail)
