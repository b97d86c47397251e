"""Who may read what, derived from the stored access lists: what the answers of a suite are judged against.

The engine judges classes of builds, slot by slot, and keeps masks. This reads the access of each document, as served
and as newest, and asks the rule for each reader, so that an error in the mask or in what feeds it shows.
"""

from collections.abc import Mapping

from msgspec import Struct, field

from clearcite.bench.suite import Asked
from clearcite.domain.access import Access, AccessClass, Acl, Micros, Principal, class_admits, in_force
from clearcite.domain.corpus import DocumentKey
from clearcite.operator import Operator

Reader = tuple[str, str, tuple[str, ...], Micros]
Sides = tuple[Access, Access]
"""The access of the served and of the newest state: both must admit."""


class Served(Struct, frozen=True, kw_only=True):
    """A document that is served: ``state`` is the hash of what is served of it."""

    key: DocumentKey
    sides: Sides
    state: str


class Readers(Struct):
    """``now``: the instant of the questions that name none. Each kind of reader is derived once."""

    operator: Operator
    now: Micros
    served: Mapping[DocumentKey, Served]
    lists: Mapping[str, Mapping[str, Acl]]
    known: dict[Reader, frozenset[DocumentKey]] = field(default_factory=dict)
    newest: dict[DocumentKey, str | None] = field(default_factory=dict)

    def readable(self, asked: Asked) -> frozenset[DocumentKey]:
        """The documents that whoever asks may read, of the sources the question names."""
        found = self._of(asked.principal, self._instant(asked))
        if not asked.sources:
            return found
        return frozenset(key for key in found if key.source_id in asked.sources)

    def is_current(self, key: DocumentKey, asked: Asked) -> bool:
        """Whether what is served of a document is its newest state, and in force when the question is asked."""
        served = self.served.get(key)
        if served is None:
            return False
        if key not in self.newest:
            self.newest[key] = self.operator.newest_state(key)
        return self.newest[key] == served.state and in_force(served.sides[0], self._instant(asked))

    def _instant(self, asked: Asked) -> Micros:
        return self.now if asked.as_of is None else asked.as_of

    def _of(self, principal: Principal, as_of: Micros) -> frozenset[DocumentKey]:
        reader = (principal.tenant_id, principal.subject_id, principal.groups, as_of)
        if reader not in self.known:
            rule = _Rule(principal.effective_groups if principal.groups else frozenset(), as_of, self.lists)
            tenant = principal.tenant_id
            self.known[reader] = frozenset(
                key
                for key, one in self.served.items()
                if key.tenant_id == tenant and rule.admits(key, one.sides)
            )
        return self.known[reader]


class _Rule(Struct, frozen=True):
    """The rule for one reader at one instant; documents of one class are judged once."""

    groups: frozenset[str]
    as_of: Micros
    lists: Mapping[str, Mapping[str, Acl]]
    judged: dict[tuple[str, AccessClass], bool] = field(default_factory=dict)

    def admits(self, key: DocumentKey, sides: Sides) -> bool:
        served, head = sides
        return self._side_admits(key, served) and (
            served is head or served == head or self._side_admits(key, head)
        )

    def _side_admits(self, key: DocumentKey, side: Access) -> bool:
        return (
            side.status == "published"
            and side.trusted
            and in_force(side, self.as_of)
            and self._class_admits(key.tenant_id, side.access_class)
        )

    def _class_admits(self, tenant: str, cls: AccessClass) -> bool:
        place = (tenant, cls)
        if place not in self.judged:
            self.judged[place] = class_admits(cls, self.lists.get(tenant, {}), self.groups)
        return self.judged[place]


def readers_of(operator: Operator, now: Micros) -> Readers:
    served = {
        item.key: Served(
            key=item.key, sides=(item.served_access, item.head_access), state=item.served_state_hash
        )
        for item in operator.contents()
    }
    return Readers(operator=operator, now=now, served=served, lists=operator.access_lists())
