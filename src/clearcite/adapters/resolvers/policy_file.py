"""Identities from a ``policy.toml``: subjects, their tenants and groups, and members of namespaced groups.

The newest revision accepted is remembered beside the store; an older file is refused, because it could give
back what was taken away.
"""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from clearcite.domain.access import Principal
from clearcite.errors import ConfigError, InputError, IntegrityFault, StalePolicy

KEYS = {"revision", "issued_at", "subjects", "groups"}
SUBJECT_KEYS = {"tenant", "groups", "attributes", "roles"}
MAX_GROUPS = 128


class PolicyFile:
    """A parsed and checked policy. ``accepted``: where the last accepted revision is kept, or None."""

    def __init__(self, path: Path, accepted: Path | None = None) -> None:
        raw = _read(path)
        self.revision = _revision(raw)
        self._subjects = _tables(raw, "subjects")
        self._members = _members(_tables(raw, "groups"), self._subjects)
        if accepted is not None:
            _accept(accepted, self.revision)

    def names(self) -> tuple[str, ...]:
        return tuple(sorted(self._subjects))

    def resolve(self, name: str) -> Principal:
        """The principal behind a name; InputError for an unknown one."""
        subject = self._subjects.get(name)
        if subject is None:
            raise InputError(f"The policy knows no subject called {name!r}.")
        unknown = sorted(set(subject) - SUBJECT_KEYS)
        if unknown:
            raise ConfigError(f"subjects.{name} has unknown keys: {', '.join(unknown)}.")
        tenant = subject.get("tenant")
        if not isinstance(tenant, str) or not tenant:
            raise ConfigError(f"subjects.{name} needs a tenant.")
        groups = {*_words(subject, "groups", name), *self._members.get(name, ())}
        if not 1 <= len(groups) <= MAX_GROUPS:
            raise ConfigError(f"subjects.{name} needs 1 to {MAX_GROUPS} groups.")
        return Principal(
            tenant_id=tenant,
            subject_id=name,
            groups=tuple(sorted(groups)),
            authorization_revision=str(self.revision),
            roles=tuple(_words(subject, "roles", name)),
        )


def _read(path: Path) -> Mapping[str, Any]:
    try:
        raw = tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"The policy file is not valid TOML: {error}.") from error
    except (OSError, ValueError, RecursionError) as error:
        raise ConfigError(f"The policy file cannot be read: {type(error).__name__}.") from error
    unknown = sorted(set(raw) - KEYS)
    if unknown:
        raise ConfigError(f"The policy file has unknown keys: {', '.join(unknown)}.")
    return raw


def _revision(raw: Mapping[str, Any]) -> int:
    text = str(raw.get("revision", ""))
    if not (text.isascii() and text.isdigit()):
        raise ConfigError("The policy file needs a revision: a whole number that rises with every change.")
    return int(text)


def _tables(raw: Mapping[str, Any], name: str) -> Mapping[str, Mapping[str, Any]]:
    tables = raw.get(name, {})
    if not isinstance(tables, dict) or not all(isinstance(item, dict) for item in tables.values()):
        raise ConfigError(f"[{name}.*] in the policy file must be tables.")
    return tables


def _members(groups: Mapping[str, Mapping[str, Any]], subjects: Mapping[str, Any]) -> dict[str, set[str]]:
    """Subject → the groups that list him. A group may not list someone unknown: a typo must not pass."""
    found: dict[str, set[str]] = {}
    for group, table in groups.items():
        if set(table) != {"members"}:
            raise ConfigError(f"groups.{group} must have members and nothing else.")
        for member in _words(table, "members", group):
            if member not in subjects:
                raise ConfigError(f"groups.{group} lists an unknown member {member!r}.")
            found.setdefault(member, set()).add(group)
    return found


def _words(table: Mapping[str, Any], key: str, where: str) -> list[str]:
    value = table.get(key, [])
    if not isinstance(value, list) or not all(isinstance(item, str) and item.strip() for item in value):
        raise ConfigError(f"{key} of {where} must be a list of names.")
    return value


def _accept(accepted: Path, revision: int) -> None:
    try:
        last = int(accepted.read_text(encoding="ascii")) if accepted.is_file() else 0
    except ValueError as error:
        raise IntegrityFault("The store's record of the last accepted policy is damaged.") from error
    if revision < last:
        raise StalePolicy(f"The policy file has revision {revision}, but {last} was accepted before.")
    if revision > last:
        fresh = accepted.with_suffix(".new")
        fresh.write_text(str(revision), encoding="ascii")
        fresh.replace(accepted)
