"""One exported case: what a retrieval returned to one asker, and what the source's own policy says he may read.

``authorized_doc_ids`` come from the source permission system, never from the index under test, and answer for
every id among candidates, returned and relevant ones. ``eligible_doc_count`` counts the documents of the corpus
this asker may read.
"""

import json
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any, NamedTuple, Protocol

from clearcite.errors import InputError, TooLarge
from clearcite.wire.strict import MAX_INTEGER, loads, shown

MAX_LINE = 4_000_000
LISTS = {"authorized_doc_ids", "relevant_doc_ids", "returned_doc_ids"}
REQUIRED = {"id", "tenant", "cohort", "k", "eligible_doc_count", *LISTS}
FIELDS = REQUIRED | {"candidate_doc_ids", "policy_as_of", "retrieved_at"}
_PAIRS = json.JSONDecoder(object_pairs_hook=tuple)
"""Objects as tuples of pairs, built without a call back into Python; a nested one is no list, so none passes."""


class Case(NamedTuple):
    """A checked case. ``policy_age``: how old the policy snapshot was at the moment of retrieval."""

    id: str
    tenant: str
    cohort: str
    k: int
    eligible: int
    authorized: frozenset[str]
    relevant: frozenset[str]
    returned: frozenset[str]
    candidates: frozenset[str] | None
    policy_age: timedelta | None


class Lines(Protocol):
    def readline(self, limit: int, /) -> bytes: ...


def read_cases(stream: Lines) -> Iterator[Case]:
    """Cases of a JSONL stream, one at a time; an InputError names the line. Blank lines do not count."""
    number = 0
    while line := stream.readline(MAX_LINE + 1):
        number += 1
        case = _sound(line)
        if case is not None:
            yield case
        elif not line.isspace():
            yield _judged(line, number)


def _sound(line: bytes) -> Case | None:
    """The case of a line without a fault; None where the strict loader has to judge. It holds most of the time of a
    large file: so it reads a field once and calls nothing per number, object or list that Python would interpret."""
    if len(line) > MAX_LINE or b"\\" in line:  # an escape may be half a character
        return None
    try:
        text = line.decode()
        pairs, end = _PAIRS.raw_decode(text)
        if type(pairs) is not tuple or text[end:].strip(" \t\r\n"):
            return None
        fields = dict(pairs)
        if len(fields) != len(pairs):
            return None
        if len(fields) != len(REQUIRED) + 1 or "candidate_doc_ids" not in fields:
            return parse_case(fields)
        return _plain(fields)
    except (ValueError, KeyError, TypeError, RecursionError, InputError):
        return None


def _plain(raw: dict[str, Any]) -> Case | None:
    """What ``parse_case`` makes of an object with the required fields and candidates, if there is no fault in it."""
    name, tenant, cohort = raw["id"], raw["tenant"], raw["cohort"]
    k, eligible = raw["k"], raw["eligible_doc_count"]
    may, right = raw["authorized_doc_ids"], raw["relevant_doc_ids"]
    came, seen = raw["returned_doc_ids"], raw["candidate_doc_ids"]
    ids = may + right + came + seen
    authorized, relevant, returned, candidates = (
        frozenset(may),
        frozenset(right),
        frozenset(came),
        frozenset(seen),
    )
    sound = (
        type(ids) is list
        and len(ids) == len(authorized) + len(relevant) + len(returned) + len(candidates)
        and "" not in ids
        and "".join(ids) is not None  # the fastest way to see that all are strings
        and type(name) is type(tenant) is type(cohort) is str
        and not (name.isspace() or tenant.isspace() or cohort.isspace())
        and name
        and tenant
        and cohort
        and type(k) is type(eligible) is int
        and len(returned) <= k <= MAX_INTEGER
        and k >= 1
        and len(authorized) <= eligible <= MAX_INTEGER
        and candidates >= returned
    )
    if not sound:
        return None
    return Case(name, tenant, cohort, k, eligible, authorized, relevant, returned, candidates, None)


def _judged(line: bytes, number: int) -> Case:
    try:
        if len(line) > MAX_LINE:
            raise TooLarge(f"a case is larger than {MAX_LINE} bytes")
        return parse_case(loads(line))
    except InputError as error:
        faults = tuple(f"line {number}: {fault}" for fault in error.violations)
        raise InputError(f"line {number}: {error}", faults) from None


def parse_case(raw: Any) -> Case:
    """A case from its JSON object. Raises InputError with every fault found."""
    faults: list[str] = []
    if not _has_fields(raw, faults):
        raise _refused(faults)
    case = Case(
        raw["id"],
        raw["tenant"],
        raw["cohort"],
        raw["k"],
        raw["eligible_doc_count"],
        _ids(raw, "authorized_doc_ids", faults),
        _ids(raw, "relevant_doc_ids", faults),
        _ids(raw, "returned_doc_ids", faults),
        _ids(raw, "candidate_doc_ids", faults) if "candidate_doc_ids" in raw else None,
        _policy_age(raw, faults) if "policy_as_of" in raw or "retrieved_at" in raw else None,
    )
    if not (_is_name(case.id) and _is_name(case.tenant) and _is_name(case.cohort)):
        faults.append("id, tenant and cohort must be strings that are not blank")
    if not (_is_count(case.k, 1) and _is_count(case.eligible, 0)):
        faults.append("k and eligible_doc_count must be integers, of at least 1 and 0")
    if faults or _disagrees(case, faults):
        raise _refused(faults)
    return case


def _is_name(text: Any) -> bool:
    return type(text) is str and bool(text) and not text.isspace()


def _is_count(count: Any, least: int) -> bool:
    """A boolean is no integer here, though Python says so."""
    return type(count) is int and least <= count <= MAX_INTEGER


def _refused(faults: list[str]) -> InputError:
    distinct = tuple(dict.fromkeys(faults))
    return InputError("; ".join(distinct), distinct)


def _has_fields(raw: Any, faults: list[str]) -> bool:
    if not isinstance(raw, dict):
        faults.append("a case must be a JSON object")
    elif raw.keys() != REQUIRED and not REQUIRED <= raw.keys() <= FIELDS:
        faults.extend(f"unknown field {shown(str(name))}" for name in raw if name not in FIELDS)
        faults.extend(f"{name} is missing" for name in sorted(REQUIRED - raw.keys()))
    return not faults


def _ids(raw: dict[str, Any], name: str, faults: list[str]) -> frozenset[str]:
    ids = raw[name]
    try:
        found = frozenset(ids)
        # Joining is the fastest way to see that all are strings.
        if type(ids) is list and len(found) == len(ids) and "" not in found and "".join(ids) is not None:
            return found
    except TypeError:
        pass
    faults.append(f"{name} must be a list of document ids, each once")
    return frozenset()


def _disagrees(case: Case, faults: list[str]) -> bool:
    """Faults that show only when fields are read together."""
    if len(case.returned) > case.k:
        faults.append("more than k documents were returned")
    if case.candidates is not None and not case.candidates >= case.returned:
        faults.append("a returned document is not among the candidates")
    seen = case.returned if case.candidates is None else case.candidates
    if case.eligible < len(case.authorized) and case.eligible < len(seen & case.authorized):
        faults.append("eligible_doc_count is below the authorized documents that were retrieved")
    return bool(faults)


def _policy_age(raw: dict[str, Any], faults: list[str]) -> timedelta | None:
    if not ("policy_as_of" in raw and "retrieved_at" in raw):
        faults.append("policy_as_of and retrieved_at must be given together")
        return None
    policy, retrieved = _moment(raw["policy_as_of"]), _moment(raw["retrieved_at"])
    if policy is None or retrieved is None:
        faults.append(
            "policy_as_of and retrieved_at must be ISO 8601 instants with a zone: 2026-07-22T09:00:00Z"
        )
        return None
    if policy > retrieved:
        faults.append("policy_as_of is later than retrieved_at")
    return retrieved - policy


def _moment(text: Any) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text)
        return moment if moment.utcoffset() is not None else None
    except (TypeError, ValueError, OverflowError):
        return None
