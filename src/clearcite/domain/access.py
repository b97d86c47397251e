"""Who asks, and the one rule that decides whether he may read.

An access list names groups. Deny beats allow; an empty identity reads nothing; ``allow=None`` means "no
restriction of its own" (for collections only) and ``allow=()`` means "nobody". Effective permission is the
intersection along the path of collections above a document; a missing ancestor denies.
"""

from collections.abc import Callable, Mapping
from typing import Literal

from msgspec import Struct

from clearcite.domain.digest import digest

Micros = int
"""An instant: microseconds since 1970-01-01 UTC."""

Status = Literal["published", "draft", "archived"]
Groups = frozenset[str]


class Principal(Struct, frozen=True, kw_only=True):
    """The caller as a trusted resolver gave him; never taken from a question."""

    tenant_id: str
    subject_id: str
    groups: tuple[str, ...]
    authorization_revision: str
    roles: tuple[str, ...] = ()

    @property
    def effective_groups(self) -> frozenset[str]:
        """The groups given, and the implicit group of the subject himself."""
        return frozenset(self.groups) | {f"user:{self.subject_id}"}


class Acl(Struct, frozen=True, kw_only=True):
    """Groups that may read and groups that may not. Both are sorted and unique."""

    allow: tuple[str, ...] | None
    deny: tuple[str, ...] = ()

    def admits(self, groups: frozenset[str]) -> bool:
        if any(group in groups for group in self.deny):
            return False
        return self.allow is None or any(group in groups for group in self.allow)


class AccessClass(Struct, frozen=True, kw_only=True):
    """What documents share when one judgement serves them all: the collection above and their own list."""

    parent: str | None
    acl: Acl


class Access(Struct, frozen=True, kw_only=True):
    """Everything about one document that decides who may read it, and when."""

    allow: tuple[str, ...]
    deny: tuple[str, ...] = ()
    parent: str | None = None
    status: Status = "published"
    effective_from: Micros | None = None
    effective_to: Micros | None = None
    trusted: bool = True

    @property
    def access_class(self) -> AccessClass:
        return AccessClass(parent=self.parent, acl=Acl(allow=self.allow, deny=self.deny))

    def digest(self) -> str:
        lists = [str(len(self.allow)), *self.allow, str(len(self.deny)), *self.deny]
        window = (self.effective_from, self.effective_to)
        return digest("access", *lists, self.parent, self.status, *window, int(self.trusted))


def ancestors(path: str) -> tuple[str, ...]:
    """``a/b/c`` → ``("a", "a/b", "a/b/c")``."""
    parts = path.split("/")
    return tuple("/".join(parts[: i + 1]) for i in range(len(parts)))


def class_admits(cls: AccessClass, collections: Mapping[str, Acl], groups: frozenset[str]) -> bool:
    """Judge one access class for a set of groups. A collection that is not known denies."""
    if not cls.acl.admits(groups):
        return False
    if cls.parent is None:
        return True
    for path in ancestors(cls.parent):
        acl = collections.get(path)
        if acl is None or not acl.admits(groups):
            return False
    return True


def widens(before: Acl | None, after: Acl) -> bool:
    """Whether a collection's list may admit somebody whom the one before it did not; before None there was nobody."""
    if before is None:
        return after.allow != ()
    if set(before.deny) - set(after.deny):
        return True
    if before.allow is None:
        return False
    return after.allow is None or bool(set(after.allow) - set(before.allow))


def path_judge(collections: Mapping[str, Acl], groups: Groups) -> Callable[[str | None], bool]:
    """Judges paths of collections as ``class_admits`` does; a collection above several of them is judged once."""
    known: dict[str, bool] = {}

    def admits(path: str | None) -> bool:
        if path is None:
            return True
        if path not in known:
            above, is_below, _ = path.rpartition("/")
            acl = collections.get(path)
            known[path] = acl is not None and acl.admits(groups) and (not is_below or admits(above))
        return known[path]

    return admits


def in_force(access: Access, as_of: Micros) -> bool:
    """Half-open validity: the start belongs to the window, the end does not."""
    started = access.effective_from is None or access.effective_from <= as_of
    return started and (access.effective_to is None or as_of < access.effective_to)


def meet(one: Access, other: Access) -> Access:
    """An access that admits nobody, at no instant, whom either of the two denies.

    Exact where one list is part of the other. Where the lists only overlap it keeps the groups they share, and
    it admits nobody where the two stand under different collections: too narrow, never too wide.
    """
    others = set(other.allow)
    together = one.parent is None or other.parent is None or one.parent == other.parent
    shared = tuple(group for group in one.allow if group in others) if together else ()
    starts = [start for start in (one.effective_from, other.effective_from) if start is not None]
    ends = [end for end in (one.effective_to, other.effective_to) if end is not None]
    return Access(
        allow=shared,
        deny=tuple(sorted({*one.deny, *other.deny})),
        parent=other.parent if one.parent is None else one.parent,
        status=other.status if one.status == "published" else one.status,
        effective_from=max(starts, default=None),
        effective_to=min(ends, default=None),
        trusted=one.trusted and other.trusted,
    )


def readable(access: Access, collections: Mapping[str, Acl], groups: frozenset[str], as_of: Micros) -> bool:
    """The whole rule for one document of the caller's partition, by itself."""
    return (
        access.status == "published"
        and access.trusted
        and in_force(access, as_of)
        and class_admits(access.access_class, collections, groups)
    )
