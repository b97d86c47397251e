"""Settings → who is who. A file kept by hand is read each time; what another system exports is taken over by
``sync_policy`` and resolved from the ledger, where the last good one stays."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from clearcite.adapters.ledgers.answering import AnsweringLedger, opened
from clearcite.adapters.resolvers.policy_file import PolicyFile
from clearcite.domain.policy import Accepted, Directory, Policy
from clearcite.errors import ClearciteError, ConfigError, InputError, IntegrityFault, StalePolicy
from clearcite.wire import canonical
from clearcite.wire.policies import kept_policy, policy_to_json
from clearcite.wiring.parts import LEDGER, SystemClock, existing_store

if TYPE_CHECKING:
    from clearcite.config import Settings
    from clearcite.keeping import GroupSource

_BEFORE_THE_LEDGER = "policy-revision"


def group_source(settings: Settings, policy: str | None = None) -> GroupSource:
    """Where the policy comes from: a flag, else ``[store] policy``, else ``[policy] command``."""
    name = policy or settings.policy
    path = Path(policy) if policy else settings.path(settings.policy)
    if name and path.suffix != ".json":
        return PolicyFile(path=path)
    from clearcite.adapters.resolvers.exported import ExportCommand, ExportedFile  # noqa: PLC0415 - runs programs

    if name:
        return ExportedFile(path=path)
    if settings.policy_command:
        seconds = float(settings.policy_timeout)
        return ExportCommand(words=settings.policy_command, folder=settings.path("."), seconds=seconds)
    raise ConfigError("No policy file is configured. Give one with --policy policy.toml")


def resolver_for(settings: Settings, policy: str | None = None) -> Directory:
    """Names → principals, under the newest policy. Raises StalePolicy for a file older than the last accepted."""
    source = group_source(settings, policy)
    if isinstance(source, PolicyFile):
        found = source.read()
        if (settings.path(settings.store) / LEDGER).is_file():
            with _ledger(settings) as ledger:
                _accept(ledger, settings, found, source.origin)
        return Directory(found)
    with _ledger(settings) as ledger:
        accepted, text = ledger.policy(), ledger.policy_snapshot()
    if accepted is None or text is None:
        raise ConfigError("No policy has been taken over yet. Do it with: clearcite policy sync")
    return Directory(kept_policy(text, accepted.content))


def directory_in_force(settings: Settings, policy: str | None = None) -> Directory:
    """The same for whoever only judges. A policy newer than the one in force is InputError: it would come into force.

    Where none is in force yet, the first one is accepted.
    """
    source = group_source(settings, policy)
    if isinstance(source, PolicyFile) and (settings.path(settings.store) / LEDGER).is_file():
        with _ledger(settings) as ledger:
            accepted, given = ledger.policy(), source.read().revision
        if accepted is not None and given > accepted.revision:
            raise InputError(
                f"The policy has revision {given}, and {accepted.revision} is in force; judging a policy puts none in"
                f" force. Do that with: clearcite policy sync --policy {source.path}\n"
                "To judge it before, restore a backup into a store of its own: docs/how-to/backup.md"
            )
    return resolver_for(settings, policy)


def sync_policy(settings: Settings, policy: str | None = None) -> int:
    """Take over the newest policy of its source; returns its revision.

    What fails raises, after the ledger has raised the alarm; the last good policy stays in force.
    """
    with _ledger(settings) as ledger:
        origin = "the settings"
        try:
            source = group_source(settings, policy)
            origin = source.origin
            found = source.read()
            _accept(ledger, settings, found, origin, again=True)
            _check_age(settings, found)
        except ClearciteError as error:
            ledger.policy_failed(origin, error.message)
            raise
    return found.revision


def _check_age(settings: Settings, policy: Policy) -> None:
    """What is accepted and too old is said at once: nobody can ask under it."""
    if settings.policy_age is None:
        return
    if policy.issued_at is None:
        raise StalePolicy("The policy does not say when it was issued, and [policy] max_age limits its age.")
    if SystemClock().now() - policy.issued_at > settings.policy_age:
        raise StalePolicy("The policy was taken over and is older than [policy] max_age allows.")


def _accept(
    ledger: AnsweringLedger, settings: Settings, policy: Policy, origin: str, *, again: bool = False
) -> None:
    """``again``: also where nothing has changed, to end an alarm."""
    legacy = settings.path(settings.store) / _BEFORE_THE_LEDGER
    last = _legacy_revision(legacy)
    if policy.revision < last:
        raise StalePolicy(f"The policy has revision {policy.revision}, but {last} was accepted before.")
    new = Accepted(revision=policy.revision, content=policy.digest(), issued_at=policy.issued_at)
    if again or ledger.policy() != new:
        ledger.accept_policy(new, origin, canonical(policy_to_json(policy)).decode("utf-8"))
    legacy.unlink(missing_ok=True)


def _legacy_revision(file: Path) -> int:
    """Stores of the first version kept the last revision in a file of its own."""
    try:
        text = file.read_text(encoding="ascii") if file.is_file() else "0"
        return int(text)
    except ValueError as error:
        raise IntegrityFault("The store's record of the last accepted policy is damaged.") from error


@contextmanager
def _ledger(settings: Settings) -> Iterator[AnsweringLedger]:
    with closing(AnsweringLedger(opened(existing_store(settings) / LEDGER, SystemClock()))) as ledger:
        yield ledger
