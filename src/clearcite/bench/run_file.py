"""A run that was kept, read again: ``run.json`` with its cases beside it, or a blessed baseline that holds both.

What is read is not trusted: the verdict is derived again from the gates, and files are compared with their digests.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from clearcite.bench.gates import Gate, Verdict, verdict_of
from clearcite.bench.judge import CaseResult
from clearcite.bench.rederived import contradictions
from clearcite.domain.digest import sha256_bytes
from clearcite.errors import InputError
from clearcite.wire import canonical, loads
from clearcite.wire.convert import from_json, to_json

STATEMENT = "https://in-toto.io/Statement/v1"
PREDICATE = "urn:clearcite:evaluation:1"
CASE = "urn:clearcite:case:1"
BASELINE = "urn:clearcite:baseline:1"
CASES = "cases.jsonl"
MAX_RUN = 64_000_000
"""Bytes of a file that is read: a million cases are no suite."""
COMPARED = {"harness": "harness version", "suite_sha256": "suite", "corpus_sha256": "corpus"}
"""What two runs must have in common before a figure of one says anything about the other."""
ALTERED = "it was changed after it was written, or written by an earlier version"

_SHARE = re.compile(r"[01]\.[0-9]{6}")


class KeptRun(Struct, frozen=True, kw_only=True):
    """``statement`` is the whole of ``run.json``."""

    statement: Mapping[str, Any]
    suite: str
    state: Mapping[str, Any]
    verdict: Verdict
    gates: tuple[Gate, ...]
    cases: tuple[CaseResult, ...]


class _Digest(Struct, frozen=True, kw_only=True):
    sha256: str


class _File(Struct, frozen=True, kw_only=True):
    name: str
    digest: _Digest


def read_run(path: Path) -> KeptRun:
    """A run's folder, its ``run.json``, or a baseline. Raises InputError for anything else, and for cases that are
    not those of the run."""
    place = path / "run.json" if path.is_dir() else path
    value = json_of(place)
    statement, kept = _opened(value)
    digests, parts = read_statement(statement)
    raw = bounded(place.with_name(CASES)) if kept is None else kept
    if digests.get(CASES) != sha256_bytes(raw):
        raise InputError(
            f"The cases beside {place.name} are not those of this run. Evaluate again with --out."
        )
    if not is_sealed(value):
        raise InputError(f"{place.name}: {ALTERED}. Evaluate again with --out.")
    return KeptRun(statement=statement, cases=tuple(_cases(raw)), **parts)


def read_statement(value: Mapping[str, Any]) -> tuple[dict[str, str], dict[str, Any]]:
    """Digests by file name, and suite, state, verdict and gates. Raises InputError where it is none of ours."""
    predicate = value.get("predicate")
    if value.get("predicateType") != PREDICATE or not isinstance(predicate, dict):
        raise InputError("This is no run.json of an evaluation.")
    files = [from_json(_File, item, what="run.json") for item in _list(value.get("subject"), "subject")]
    if any("/" in one.name or one.name in ("", ".", "..") for one in files):
        raise InputError("run.json names a file outside its folder.")
    gates = [from_json(Gate, gate, what="run.json") for gate in _list(predicate.get("gates"), "gates")]
    suite, state, verdict = (predicate.get(name) for name in ("suite", "state", "verdict"))
    if not isinstance(suite, str) or not isinstance(state, dict) or verdict not in ("PASS", "BLOCK"):
        raise InputError("run.json names no suite, no state or no verdict.")
    nameless = [
        what for name, what in COMPARED.items() if not isinstance(state.get(name), str) or not state[name]
    ]
    if nameless:
        raise InputError(f"run.json does not say of which {', '.join(nameless)} it is.")
    parts = {"suite": suite, "state": state, "verdict": verdict, "gates": tuple(gates)}
    return {one.name: one.digest.sha256 for one in files}, parts


def faults_of(value: Mapping[str, Any], folder: Path) -> tuple[str, ...]:
    """What does not hold of a ``run.json`` or a baseline: a file that differs, cases, gates or a verdict that say
    something else. Raises InputError for anything else."""
    statement, kept = _opened(value)
    digests, parts = read_statement(statement)
    faults = []
    # A baseline holds its cases and no other file of the run.
    for name, digest in sorted(digests.items()) if kept is None else ():
        path = folder / name
        if not path.is_file() or sha256_bytes(bounded(path)) != digest:
            faults.append(f"{name} is not the file of this run")
    if kept is not None and digests.get(CASES) != sha256_bytes(kept):
        faults.append("the cases are not those of this run")
    if CASES not in digests:
        faults.append("no cases belong to this run")
    if verdict_of(parts["gates"]) != parts["verdict"]:
        faults.append("the verdict does not follow from the gates")
    if not faults:
        cases = list(_cases(bounded(folder / CASES) if kept is None else kept))
        if len(cases) != statement["predicate"].get("n"):
            faults.append("the run counts other cases than it holds")
        faults += contradictions(parts["gates"], cases)
    if not is_sealed(value):
        faults.append(ALTERED)
    return tuple(faults)


def sealed(value: Mapping[str, Any]) -> dict[str, Any]:
    """A run or a baseline with the digest of all that it says, so that an edit by hand shows in any field. Whoever
    writes the digest anew is not found."""
    part = _sealed_part(value)
    return {**value, part: {**value[part], "seal": _seal_of(value)}}


def is_sealed(value: Mapping[str, Any]) -> bool:
    inner = _opened(value)[0]
    return all(one[_sealed_part(one)].get("seal") == _seal_of(one) for one in (value, inner))


def _seal_of(value: Mapping[str, Any]) -> str:
    part = _sealed_part(value)
    said = {name: item for name, item in value[part].items() if name != "seal"}
    return sha256_bytes(canonical({**value, part: said}))


def _sealed_part(value: Mapping[str, Any]) -> str:
    part = "blessed" if value.get("schema") == BASELINE else "predicate"
    if not isinstance(value.get(part), dict):
        raise InputError(f"This is no run.json and no baseline: it has no {part}.")
    return part


def require_comparable(state: Mapping[str, Any], other_state: Mapping[str, Any]) -> None:
    """Raises InputError that says what the two runs do not share."""
    other = [
        what
        for name, what in COMPARED.items()
        if state.get(name) is None or state.get(name) != other_state.get(name)
    ]
    if other:
        raise InputError(
            f"The runs cannot be compared: another {', another '.join(other)}."
            " Evaluate the same suite on the same documents with the same version. What changed on purpose starts"
            " anew: clearcite evaluate SUITE --out RUN, then clearcite bless RUN --to BASELINE."
        )


def case_line(one: CaseResult) -> bytes:
    """A case as a line of ``cases.jsonl``."""
    return canonical({"schema": CASE, **to_json(one), "passes": one.passes}) + b"\n"


def bounded(path: Path) -> bytes:
    try:
        with path.open("rb") as stream:
            raw = stream.read(MAX_RUN + 1)
    except OSError as error:
        raise InputError(f"The file {path} cannot be read: {error.strerror}.") from error
    if len(raw) > MAX_RUN:
        raise InputError(f"The file {path} is larger than any run.")
    return raw


def json_of(path: Path) -> dict[str, Any]:
    value = loads(bounded(path), max_bytes=MAX_RUN)
    if not isinstance(value, dict):
        raise InputError(f"{path.name} is no run.json and no baseline.")
    return value


def _opened(value: Mapping[str, Any]) -> tuple[Mapping[str, Any], bytes | None]:
    """The statement, and the cases where they stand in the same file."""
    if value.get("schema") != BASELINE:
        return value, None
    statement = value.get("run")
    if not isinstance(statement, dict):
        raise InputError("The baseline holds no run.")
    return statement, b"".join(canonical(case) + b"\n" for case in _list(value.get("cases"), "cases"))


def _list(value: Any, name: str) -> Sequence[Any]:
    if not isinstance(value, list):
        raise InputError(f"run.json is not valid: {name} must be a list.")
    return value


def _cases(raw: bytes) -> Iterator[CaseResult]:
    """Raises InputError for a case that is not as ``case_line`` writes it, or stands twice."""
    seen = set()
    for number, line in enumerate(raw.splitlines(), start=1):
        value = loads(line)
        if not isinstance(value, dict) or value.pop("schema", None) != CASE:
            raise InputError(f"Line {number} of the cases is no case.")
        passes = value.pop("passes", None)
        one = from_json(CaseResult, value, what=f"line {number} of the cases")
        shares = [share for share in one.scores.values() if share is not None]
        if passes is not one.passes or not all(_SHARE.fullmatch(share) for share in shares):
            raise InputError(f"Line {number} of the cases contradicts itself.")
        if one.case_id in seen:
            raise InputError(f"Line {number} of the cases: {one.case_id} stands twice.")
        seen.add(one.case_id)
        yield one
