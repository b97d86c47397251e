"""How far a source has been taken."""

from msgspec import Struct

from clearcite.domain.access import Micros


class Checkpoint(Struct, frozen=True, kw_only=True):
    """Said by a connector between its records, of all that it has said before.

    ``cursor``: where the next run may go on, in the connector's own words. ``covered``: every document the
    source has was listed. ``withheld``: how many deletes wait for an approval.
    """

    cursor: str | None = None
    covered: bool = False
    withheld: int = 0


class SourceState(Struct, frozen=True, kw_only=True):
    """What is known of taking one source. ``outcome``: ``running`` (also after a kill), ``ok``, or why it failed.

    ``covered_at``: when a full listing last ended. ``withheld``: deletes that wait; ``approved``: how many of
    them may go, set by ``approve`` alone. ``refused``: inputs refused by the run.
    """

    tenant_id: str
    source_id: str
    kind: str
    cursor: str | None = None
    tried_at: Micros | None = None
    finished_at: Micros | None = None
    covered_at: Micros | None = None
    outcome: str = "running"
    refused: int = 0
    withheld: int = 0
    approved: int = 0

    @property
    def place(self) -> tuple[str, str, str]:
        return self.tenant_id, self.source_id, self.kind
