"""Why a principal may, or may not, read one document: every layer that is asked, and what it says.

The layers say the same as ``access.readable`` on both sides, one by one; a document is readable when all admit.
"""

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

from clearcite.domain.access import Access, Acl, Micros, Principal, ancestors
from clearcite.domain.corpus import DocumentKey

Side = Literal["served", "head"]
Chains = Mapping[str, tuple[str, ...]]
"""Groups of a subject, each with the groups that lead there."""


class Standing(Struct, frozen=True, kw_only=True):
    """What the ledger holds of a document, served or not. ``served`` is None where no build serves.

    ``deleted``, ``quarantined``: the reason, where it is so. ``waiting``: the kind of work that waits.
    ``intact``: both access lists give the digests they were accepted under.
    """

    key: DocumentKey
    head: Access | None
    served: Access | None
    deleted: str | None = None
    quarantined: str | None = None
    waiting: str | None = None
    intact: bool = True


class Layer(Struct, frozen=True, kw_only=True):
    """``side``: of the served or of the newest state, None for what holds for both. ``path``: of a collection."""

    name: str
    admits: bool
    why: str
    side: Side | None = None
    path: str | None = None


class Membership(Struct, frozen=True, kw_only=True):
    """``through``: the groups that lead there, () where the group names the subject itself."""

    group: str
    through: tuple[str, ...] = ()


class Explanation(Struct, frozen=True, kw_only=True):
    """``policy_revision``: the newest accepted one, None where there is none."""

    document: DocumentKey
    principal: Principal
    memberships: tuple[Membership, ...]
    readable: bool
    layers: tuple[Layer, ...]
    as_of: Micros
    position: int
    generation: str
    policy_revision: int | None


def layers_of(
    standing: Standing, principal: Principal, collections: Mapping[str, Acl], as_of: Micros
) -> tuple[Layer, ...]:
    """All layers, those that admit too. ``collections``: of the document's tenant."""
    groups = principal.effective_groups
    layers = [_tenant(standing, principal), *_serving(standing)]
    sides: list[tuple[Side, Access | None]] = [("head", standing.head), ("served", standing.served)]
    for side, access in sides:
        if access is not None:
            layers += _state(side, access, as_of)
            layers += _lists(side, access, collections, groups)
    return tuple(layers)


def _tenant(standing: Standing, principal: Principal) -> Layer:
    same = standing.key.tenant_id == principal.tenant_id
    why = "the same tenant" if same else "another tenant"
    return Layer(name="tenant", admits=same, why=why)


def _serving(standing: Standing) -> list[Layer]:
    if standing.deleted is not None:
        why = f"deleted: {standing.deleted}"
    elif standing.served is None:
        why = "not indexed yet" if standing.waiting else "no build serves it"
    else:
        why = {"project": "a newer text waits", "access": "a newer access waits"}.get(
            standing.waiting or "", "the newest state is served"
        )
    serves = standing.deleted is None and standing.served is not None
    quarantined = standing.quarantined
    intact = (
        "the lists give the digests they were accepted under" if standing.intact else "a list was changed"
    )
    return [
        Layer(name="published", admits=serves, why=why),
        Layer(
            name="quarantine",
            admits=quarantined is None,
            why="none" if quarantined is None else f"quarantined: {quarantined}",
        ),
        Layer(name="integrity", admits=standing.intact, why=intact),
    ]


def _state(side: Side, access: Access, as_of: Micros) -> list[Layer]:
    started = access.effective_from is None or access.effective_from <= as_of
    ended = access.effective_to is not None and as_of >= access.effective_to
    window = "ended" if ended else "in force" if started else "not begun"
    return [
        Layer(name="status", side=side, admits=access.status == "published", why=access.status),
        Layer(
            name="trust", side=side, admits=access.trusted, why="trusted" if access.trusted else "not trusted"
        ),
        Layer(name="validity", side=side, admits=started and not ended, why=window),
    ]


def _lists(side: Side, access: Access, collections: Mapping[str, Acl], groups: frozenset[str]) -> list[Layer]:
    paths = () if access.parent is None else ancestors(access.parent)
    found: list[tuple[str, str | None, Acl | None]] = [
        ("collection", path, collections.get(path)) for path in paths
    ]
    found.append(("list", None, Acl(allow=access.allow, deny=access.deny)))
    layers = []
    for name, path, acl in found:
        admits, why = _judged(acl, groups)
        layers.append(Layer(name=name, side=side, path=path, admits=admits, why=why))
    return layers


def _judged(acl: Acl | None, groups: frozenset[str]) -> tuple[bool, str]:
    """Whether a list admits, and the rule that decided."""
    if acl is None:
        return False, "there is no such collection"
    denied = sorted(groups.intersection(acl.deny))
    if denied:
        return False, f"denies {', '.join(denied)}"
    if acl.allow is None:
        return True, "no restriction of its own"
    if not acl.allow:
        return False, "restricted to nobody"
    admitted = sorted(groups.intersection(acl.allow))
    return bool(admitted), f"allows {', '.join(admitted)}" if admitted else "allows none of the groups"
