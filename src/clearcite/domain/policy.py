"""Who is who at one revision of a policy: subjects, and groups whose members may be groups.

A policy is taken whole or not at all. Revisions only rise: an older one could give back what was taken away, and the
same one with other content could not be told from the one before.
"""

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

from clearcite.domain.access import Micros, Principal
from clearcite.domain.digest import digest
from clearcite.errors import ConfigError, InputError, StalePolicy

PolicyDecision = Literal["accepted", "reissued", "unchanged"]
LOCAL = "local"
"""The authorization revision of an identity that stands on no policy: whoever can open the store said who he is."""

MAX_GROUPS = 128
MAX_SKEW: Micros = 300_000_000
"""By how much the clock that issued a policy may be ahead of ours."""


class Subject(Struct, frozen=True, kw_only=True):
    """``groups``: those he is named in himself, by his own entry."""

    tenant_id: str
    groups: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()


class Group(Struct, frozen=True, kw_only=True):
    """``members`` are subjects; everybody in one of ``member_groups`` is in this group too."""

    members: tuple[str, ...] = ()
    member_groups: tuple[str, ...] = ()


class Policy(Struct, frozen=True, kw_only=True):
    """One complete snapshot. ``issued_at``: when its source made it, where it says so."""

    revision: int
    subjects: Mapping[str, Subject]
    groups: Mapping[str, Group]
    issued_at: Micros | None = None

    def digest(self) -> str:
        """Over who is who; a policy that was only issued anew has the same one."""
        parts: list[str] = []
        for name, subject in sorted(self.subjects.items()):
            parts += [name, subject.tenant_id, *_counted(subject.groups), *_counted(subject.roles)]
        parts.append("groups")
        for name, group in sorted(self.groups.items()):
            parts += [name, *_counted(group.members), *_counted(group.member_groups)]
        return digest("policy", *parts)


class Accepted(Struct, frozen=True, kw_only=True):
    """The newest policy a ledger has accepted. ``content``: the digest of it; None where a host only announced
    its revision."""

    revision: int
    content: str | None
    issued_at: Micros | None


def decide_policy(last: Accepted | None, new: Accepted) -> PolicyDecision:
    """Judge a policy against the last one accepted. Raises StalePolicy; then nothing may be written."""
    if last is None or new.revision > last.revision:
        return "accepted"
    if new.revision < last.revision:
        raise StalePolicy(f"The policy has revision {new.revision}, but {last.revision} was accepted before.")
    if None not in (new.content, last.content) and new.content != last.content:
        raise StalePolicy(
            f"The policy has changed and still has revision {new.revision}. Raise its revision with every change."
        )
    newer = new.issued_at is not None and (last.issued_at is None or new.issued_at > last.issued_at)
    known = new.content is not None and last.content is None
    return "reissued" if newer or known else "unchanged"


def check_current(
    principal: Principal, accepted: Accepted | None, now: Micros, max_age: Micros | None
) -> None:
    """Raises StalePolicy for an identity that was resolved under an older policy than the last one accepted, and
    for any identity while that policy is older than ``max_age``. Revisions that are no whole numbers have no order,
    so they cannot be shown to be current. The message says nothing of the policy."""
    revision = principal.authorization_revision
    if revision == LOCAL or (accepted is None and max_age is None):
        return
    if accepted is None:
        raise StalePolicy(
            "No policy has been accepted yet, and its age is limited. Run: clearcite policy sync"
        )
    if (
        not (revision.isascii() and revision.isdigit())
        or len(revision) > 18
        or int(revision) < accepted.revision
    ):
        raise StalePolicy("This identity was resolved under an older policy. Resolve it again.")
    if max_age is not None and (accepted.issued_at is None or now - accepted.issued_at > max_age):
        raise StalePolicy("The policy is older than it may be. Run: clearcite policy sync")


class Directory:
    """Resolves names under one policy. Immutable."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self._named: dict[str, list[str]] = {}
        self._above: dict[str, list[str]] = {}
        for name in sorted(policy.groups):
            for member in policy.groups[name].members:
                self._named.setdefault(member, []).append(name)
            for inner in policy.groups[name].member_groups:
                self._above.setdefault(inner, []).append(name)

    def names(self) -> tuple[str, ...]:
        return tuple(sorted(self.policy.subjects))

    def memberships(self, name: str) -> Mapping[str, tuple[str, ...]]:
        """Every group a subject is in, with the groups that lead there; () where it names him itself.

        Each group is entered once, so groups that are members of each other end, and the chain is a shortest one.
        Raises ConfigError when there are more than an identity may have: leaving some out could leave out one
        that is denied.
        """
        subject = self.policy.subjects.get(name)
        if subject is None:
            raise InputError(f"The policy knows no subject called {name!r}.")
        found: dict[str, tuple[str, ...]] = {}
        level = sorted({*subject.groups, *self._named.get(name, ())})
        chains: dict[str, tuple[str, ...]] = dict.fromkeys(level, ())
        while level:
            for group in level:
                found[group] = chains[group]
            if len(found) > MAX_GROUPS:
                break
            above: dict[str, tuple[str, ...]] = {}
            for group in level:
                for outer in self._above.get(group, ()):
                    if outer not in found:
                        above.setdefault(outer, (*found[group], group))
            level, chains = sorted(above), above
        if not 1 <= len(found) <= MAX_GROUPS:
            raise ConfigError(f"subjects.{name} needs 1 to {MAX_GROUPS} groups, nested ones counted.")
        return found

    def resolve(self, name: str) -> Principal:
        """The principal behind a name; InputError for an unknown one."""
        groups = self.memberships(name)
        subject = self.policy.subjects[name]
        return Principal(
            tenant_id=subject.tenant_id,
            subject_id=name,
            groups=tuple(sorted(groups)),
            authorization_revision=str(self.policy.revision),
            roles=subject.roles,
        )


def _counted(names: tuple[str, ...]) -> list[str]:
    return [str(len(names)), *sorted(names)]
