"""Every error clearcite raises on purpose, and the exit code each one means.

    ClearciteError                         code, exit_code; the message is safe to show
    ├── InputError                 2       the input must change
    │   ├── DuplicateKey                   a JSON object names a key twice
    │   ├── TooLarge                       bytes, depth, length or count over a limit
    │   ├── NotFound                       no such document, or none this caller may read
    │   ├── SequenceConflict               the same source sequence with another state
    │   ├── DeletesWait                    more deletes at once than may go without somebody's word
    │   ├── ReadingFailed                  reading a document ended in a crash or at a limit; it may be tried again
    │   └── StalePolicy                    a policy older than the last one accepted
    ├── ConfigError                2       the configuration must change
    │   ├── OutdatedStore                  a store of an older version; `clearcite migrate`
    │   └── MissingExtra                   an optional dependency; the message names the command
    ├── DependencyUnavailable      3       a part is unavailable; safe to retry
    │   ├── PolicyAlarm                    a policy could not be taken over; the last good one is in force
    │   └── DeadlineExceeded               the request ran out of time
    └── IntegrityFault             4       hash, access, pointer or identity mismatch; fail closed

Exit code 1 is a verdict (a gate does not hold), not an exception; 70 is an internal error, 130 an interrupt.
A message never holds document text, hidden identifiers, counts of hidden things or traces of the stack; what
caused an error stays in ``__cause__`` and in the protected trace.
"""

from collections.abc import Iterable
from difflib import get_close_matches
from typing import ClassVar


class ClearciteError(Exception):
    """The root. ``code`` is stable and meant for programs; the message is meant for people. ``remedy``: what mends
    every error of this class, where one thing does."""

    code: ClassVar[str] = "error"
    exit_code: ClassVar[int] = 70
    remedy: ClassVar[str] = ""

    @property
    def message(self) -> str:
        return str(self)


class InputError(ClearciteError):
    """What was given cannot be accepted as it is. ``violations`` lists every fault found, not only the first."""

    code = "invalid_input"
    exit_code = 2

    def __init__(self, message: str, violations: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.violations = violations or (message,)


class DuplicateKey(InputError):
    code = "duplicate_key"


class TooLarge(InputError):
    code = "too_large"


class NotFound(InputError):
    code = "not_found"


class SequenceConflict(InputError):
    code = "sequence_conflict"


class DeletesWait(InputError):
    code = "deletes_wait"


class ReadingFailed(InputError):
    """The process that read a document died, or ran out of time or memory. Another try may do."""

    code = "reading_failed"


class StalePolicy(InputError):
    code = "stale_policy"
    remedy = "use the newest policy, or raise its revision with every change"


class ConfigError(ClearciteError):
    code = "invalid_configuration"
    exit_code = 2


class OutdatedStore(ConfigError):
    code = "outdated_store"
    remedy = "clearcite migrate"


class MissingExtra(ConfigError):
    """An optional part is not installed. ``command`` installs it."""

    code = "missing_extra"

    def __init__(self, what: str, command: str) -> None:
        super().__init__(f"{what} is not installed. Install it with: {command}")
        self.command = command


class DependencyUnavailable(ClearciteError):
    code = "dependency_unavailable"
    exit_code = 3


class PolicyAlarm(DependencyUnavailable):
    code = "policy_alarm"
    remedy = "clearcite policy sync"


class DeadlineExceeded(DependencyUnavailable):
    code = "deadline_exceeded"


class IntegrityFault(ClearciteError):
    """``key`` names the document that is at fault, where one is known; it is for quarantine, never for a message."""

    code = "integrity_fault"
    exit_code = 4

    def __init__(self, message: str, key: object = None) -> None:
        super().__init__(message)
        self.key = key


class DamagedStore(IntegrityFault):
    """A database of the store cannot be read. Nothing else holds what stands in it, so nothing builds it again."""

    remedy = "clearcite restore FOLDER"


def did_you_mean(words: Iterable[str], known: Iterable[str]) -> str:
    """A sentence with the known word that is nearest to each, or nothing. ``known`` is shown: nothing hidden."""
    shown = list(known)
    near = [found for word in words for found in get_close_matches(word, shown, n=1)]
    return f" Did you mean {', '.join(dict.fromkeys(near))}?" if near else ""
