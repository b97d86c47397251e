"""A policy as it stands in a file or comes from a command → ``Policy``. TOML and JSON have the same keys."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any

from msgspec import Struct, field

from clearcite.domain.policy import Group, Policy, Subject
from clearcite.errors import ConfigError, DependencyUnavailable, InputError, IntegrityFault
from clearcite.wire.convert import Limits, from_json, to_json
from clearcite.wire.decode import fault_of_name
from clearcite.wire.instants import format_instant, parse_instant
from clearcite.wire.strict import loads, shown

Name = Annotated[str, Limits(least=1, most=200)]
Names = Annotated[tuple[Name, ...], Limits(most=1_000_000, unique=True)]
MAX_REVISION_DIGITS = 18
MAX_POLICY_BYTES = 64_000_000
IMPLICIT = "user:"
"""How the implicit group of each subject begins; a policy must not put anybody into the one of another."""


class SubjectFields(Struct, frozen=True, kw_only=True):
    """``attributes`` are accepted and decide nothing."""

    tenant: Name
    groups: Names = ()
    roles: Names = ()
    attributes: Mapping[str, Any] = field(default_factory=dict)


class GroupFields(Struct, frozen=True, kw_only=True):
    """At least one of both must be said: a group that says nothing is a mistake."""

    members: Names | None = None
    member_groups: Names | None = None


class CountFields(Struct, frozen=True, kw_only=True):
    subjects: int
    groups: int


class PolicyFields(Struct, frozen=True, kw_only=True):
    """``complete`` must be true in what is exported by another system; ``counts`` lets a part be noticed."""

    revision: int | str
    subjects: Mapping[str, SubjectFields]
    groups: Mapping[str, GroupFields] = field(default_factory=dict)
    issued_at: str | None = None
    complete: bool | None = None
    counts: CountFields | None = None


def read_policy(raw: Any, *, exported: bool = False) -> Policy:
    """Raises ConfigError for anything that is not sure of itself. ``exported``: it must say that it is complete;
    DependencyUnavailable for a part."""
    try:
        fields = from_json(PolicyFields, _with_instant(raw), what="the policy")
    except InputError as error:
        raise ConfigError(error.message) from error
    _check_complete(fields, exported=exported)
    for name, item in fields.groups.items():
        if item.members is None and item.member_groups is None:
            raise ConfigError(f"groups.{name} must have members or member_groups.")
    _check_names(fields)
    policy = Policy(
        revision=_revision(fields.revision),
        issued_at=_issued(fields.issued_at),
        subjects={
            name: Subject(tenant_id=item.tenant, groups=item.groups, roles=item.roles)
            for name, item in fields.subjects.items()
        },
        groups={
            name: Group(members=item.members or (), member_groups=item.member_groups or ())
            for name, item in fields.groups.items()
        },
    )
    _check_members(policy)
    return policy


def policy_to_json(policy: Policy) -> Any:
    """What ``read_policy`` reads back."""
    return {
        "revision": policy.revision,
        "issued_at": None if policy.issued_at is None else format_instant(policy.issued_at),
        "subjects": {
            name: {"tenant": item.tenant_id, "groups": list(item.groups), "roles": list(item.roles)}
            for name, item in policy.subjects.items()
        },
        "groups": {name: to_json(item) for name, item in policy.groups.items()},
    }


def kept_policy(text: str, content: str | None) -> Policy:
    """A policy as the ledger keeps it, checked when it was accepted. Raises IntegrityFault for one that does not give
    the digest it was accepted under."""
    try:
        kept = loads(text.encode("utf-8"), max_bytes=2 * MAX_POLICY_BYTES)
        policy = Policy(
            revision=kept["revision"],
            issued_at=_issued(kept["issued_at"]),
            subjects={
                name: Subject(
                    tenant_id=item["tenant"], groups=tuple(item["groups"]), roles=tuple(item["roles"])
                )
                for name, item in kept["subjects"].items()
            },
            groups={
                name: Group(members=tuple(item["members"]), member_groups=tuple(item["member_groups"]))
                for name, item in kept["groups"].items()
            },
        )
        intact = policy.digest() == content
    except (KeyError, TypeError, AttributeError, ValueError, InputError, ConfigError) as error:
        raise IntegrityFault("The policy that the ledger keeps cannot be read.") from error
    if not intact:
        raise IntegrityFault("The policy that the ledger keeps is not the one it accepted.")
    return policy


def _with_instant(raw: Any) -> Any:
    """TOML has instants of its own."""
    if isinstance(raw, dict) and isinstance(raw.get("issued_at"), datetime):
        return raw | {"issued_at": raw["issued_at"].isoformat()}
    return raw


def _check_complete(fields: PolicyFields, *, exported: bool) -> None:
    counts = fields.counts
    whole = counts is None or (counts.subjects, counts.groups) == (len(fields.subjects), len(fields.groups))
    if not whole or fields.complete is False or (exported and fields.complete is None):
        raise DependencyUnavailable(
            "The policy is only a part: it does not say complete = true, or its counts do not fit."
        )


def _check_names(fields: PolicyFields) -> None:
    groups = {*fields.groups}
    others = {*fields.subjects}
    for subject in fields.subjects.values():
        groups |= {*subject.groups}
        others |= {subject.tenant, *subject.roles}
    for name in sorted(groups | others):
        fault = fault_of_name(name) if 0 < len(name) <= 200 else "must have 1 to 200 characters"
        if fault is not None:
            raise ConfigError(f"The policy names {shown(name)}: it {fault}.")
    for name in sorted(groups):
        if name.startswith(IMPLICIT):
            raise ConfigError(f"The policy names the group {shown(name)}: such groups are implicit.")


def _check_members(policy: Policy) -> None:
    """Nobody unknown: a name that is misspelt must not let somebody past a denial."""
    known = {*policy.groups, *(group for item in policy.subjects.values() for group in item.groups)}
    for name, group in policy.groups.items():
        for what, given, there in (
            ("member", group.members, policy.subjects),
            ("member group", group.member_groups, known),
        ):
            unknown = sorted(set(given) - set(there))
            if unknown:
                raise ConfigError(f"groups.{name} lists an unknown {what} {unknown[0]!r}.")


def _revision(value: int | str) -> int:
    text = str(value)
    if not (text.isascii() and text.isdigit()) or len(text) > MAX_REVISION_DIGITS:
        raise ConfigError("The policy needs a revision: a whole number that rises with every change.")
    return int(text)


def _issued(text: str | None) -> int | None:
    try:
        return None if text is None else parse_instant(text)
    except InputError as error:
        raise ConfigError(f"issued_at of the policy {error.message}.") from error
