"""Who may read what, row by row from the ledger: what the answers of a suite are judged against.

The engine judges a class of documents once and keeps a mask; this asks the rule for each document by itself, so that an
error in the mask shows.
"""

from dataclasses import dataclass, field

from clearcite.bench.suite import Asked
from clearcite.domain.access import Micros, Principal
from clearcite.domain.corpus import DocumentKey
from clearcite.operator import Operator

Reader = tuple[str, str, tuple[str, ...], Micros]


@dataclass(slots=True)
class Readers:
    """``now``: the instant of the questions that name none. Each kind of reader is derived once."""

    operator: Operator
    now: Micros
    known: dict[Reader, frozenset[DocumentKey]] = field(default_factory=dict)

    def readable(self, asked: Asked) -> frozenset[DocumentKey]:
        """The documents that whoever asks may read, of the sources the question names."""
        found = self._of(asked.principal, self.now if asked.as_of is None else asked.as_of)
        return (
            found if not asked.sources else frozenset(key for key in found if key.source_id in asked.sources)
        )

    def _of(self, principal: Principal, as_of: Micros) -> frozenset[DocumentKey]:
        reader = (principal.tenant_id, principal.subject_id, principal.groups, as_of)
        if reader not in self.known:
            hidden = self.operator.hidden_from(principal, as_of)
            self.known[reader] = frozenset(key for key, why in hidden.items() if not why)
        return self.known[reader]
