"""What a suite of one's own asks of a run: the table ``[gates]``. A limit that is not given is not judged.

Leaks, citations that do not hold and critical cases that fail block whatever is given.
"""

from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

from msgspec import Struct

from clearcite.errors import did_you_mean

MOST_K = 1_000
COUNTS = {"k": (1, MOST_K), "max_policy_age_hours": (1, 100_000), "max_index_lag_seconds": (0, 10_000_000)}
COUNTS |= dict.fromkeys(("max_source_age_hours", "max_deletes_unseen_hours"), (1, 100_000))
COUNTS |= {"noninterference_questions": (0, 100_000)}


class GateLimits(Struct, frozen=True, kw_only=True):
    """Shares are decimal strings from 0 to 1. ``k``: how deep a ranking is looked at. ``shown``: a least share must be
    shown with 95 % confidence, not only seen. ``noninterference_questions``: how many are asked twice; 0 for none."""

    k: int = 10
    shown: bool = False
    allow_degraded: bool = False
    min_case_pass_rate: str | None = None
    min_status_accuracy: str | None = None
    min_authorized_recall: str | None = None
    min_ndcg: str | None = None
    min_context_recall: str | None = None
    min_citation_precision: str | None = None
    min_citation_recall: str | None = None
    min_nugget_recall: str | None = None
    min_expected_empty_rate: str | None = None
    max_over_refusal_rate: str | None = None
    max_underfill_rate: str | None = None
    max_drop: str | None = None
    max_failure_rate: str | None = None
    max_source_age_hours: int | None = None
    max_policy_age_hours: int | None = None
    max_index_lag_seconds: int | None = None
    min_source_coverage: str | None = None
    max_deletes_unseen_hours: int | None = None
    noninterference_questions: int = 40


def read_limits(table: Mapping[str, Any]) -> tuple[GateLimits, list[str]]:
    """The limits of a table, and everything that is wrong with it."""
    known = set(GateLimits.__struct_fields__)
    values: dict[str, Any] = {}
    faults = []
    for name, value in table.items():
        if name not in known:
            faults.append(f"gates: there is no limit {name}.{did_you_mean([name], known)}")
        elif name in COUNTS:
            least, most = COUNTS[name]
            values[name] = _count(value)
            if values[name] is None or not least <= values[name] <= most:
                faults.append(f"gates: {name} must be a whole number from {least} to {most}.")
        elif name in ("shown", "allow_degraded"):
            values[name] = value in (True, "true")
            if value not in (True, False, "true", "false"):
                faults.append(f"gates: {name} must be true or false.")
        else:
            values[name] = _share(value)
            if values[name] is None:
                faults.append(f"gates: {name} must lie between 0 and 1.")
    return (GateLimits() if faults else GateLimits(**values)), faults


def _count(value: Any) -> int | None:
    """YAML gives texts, TOML gives numbers."""
    if isinstance(value, bool) or not isinstance(value, int | str):
        return None
    text = str(value)
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None


def _share(value: Any) -> str | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        found = Decimal(str(value))
    except InvalidOperation:
        return None
    return f"{found:.6f}" if found.is_finite() and 0 <= found <= 1 else None
