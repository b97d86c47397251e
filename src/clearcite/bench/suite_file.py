"""A suite in a file of one's own, TOML or YAML: what is asked and what must come out stand apart.

    as_of = "2026-03-01"            # optional: when the questions are asked that say nothing themselves

    [gates]                         # optional: what `evaluate` asks for; see ``limits.GateLimits``
    min_authorized_recall = 0.9

    [minimum]                       # optional: least rates of a panel, 1 where none is given
    recall_at_2 = "0.9"

    [[cases]]
    id = "leave"
    ask = {text = "How many days of leave are there?", as = "alice"}
    expect = {status = "answered", cites = ["leave.md"], says = ["25 days"], never_shown = ["22 days"]}

``ask`` reaches whoever answers and nothing else does. Instead of ``as``, a subject of the policy, it may hold
``tenant`` and ``groups``. A document is ``DOCUMENT`` or ``SOURCE:DOCUMENT`` of the asker's tenant and must be there;
``cites`` may be a table that gives each a grade. ``cohort`` names who asks in reports; else his groups do.
The questions of the demo, a list of flat tables, are read as well.
"""

import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any, get_args

from clearcite.bench.limits import read_limits
from clearcite.bench.suite import Asked, Oracle, Suite, SuiteCase
from clearcite.domain.access import Micros, Principal
from clearcite.domain.answer import AnswerStatus
from clearcite.domain.corpus import DocumentKey
from clearcite.domain.digest import sha256_bytes
from clearcite.domain.panel import OWNERS, WHOLE
from clearcite.domain.policy import LOCAL
from clearcite.domain.retrieval import Route
from clearcite.errors import InputError, did_you_mean
from clearcite.wire.frontmatter import read_front_matter
from clearcite.wire.instants import parse_moment, zone_of

ASK = {"text", "as", "tenant", "groups", "as_of", "target_version", "sources", "route", "topic"}
EXPECT = {"status", "cites", "says", "forbidden", "never_shown"}
CASE = {"id", "slice", "cohort", "critical", "ask", "expect"}
ROOT = {"as_of", "gates", "minimum", "cases", "questions"}
MOST_CHARACTERS = 4_000_000
MOST_GRADE = 100
DEMO = {
    "id",
    "text",
    "as",
    "status",
    "cites",
    "never_shown",
    "demo",
    "shows",
    "answer_contains",
    "sides_contain",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Names:
    """What a suite names by name: subjects of the policy, and documents the ledger knows."""

    resolve: Callable[[str], Principal]
    documents: Sequence[DocumentKey]

    def keys(self, where: str, tenant: str, names: Iterable[str]) -> tuple[DocumentKey, ...]:
        """Raises InputError for a name that no document has: what expects nothing proves nothing."""
        found: list[DocumentKey] = []
        for name in names:
            some = [key for key in self.documents if key.tenant_id == tenant and _is_called(key, name)]
            if not some:
                raise InputError(f"{where}: the store knows no document {name!r} of this tenant.")
            found += some
        return tuple(found)


def read_suite(path: Path, names: Names) -> tuple[Suite, Mapping[str, int]]:
    """The suite, and the least value of each rate in thousandths. Raises InputError that names everything wrong."""
    raw, content = _read(path)
    faults = [
        f"the suite has the unknown key {name}.{did_you_mean([name], ROOT)}"
        for name in sorted(set(raw) - ROOT)
    ]
    limits, wrong = read_limits(_mapping(raw.get("gates", {}), "gates"))
    as_of = _moment(raw.get("as_of"))
    cases = []
    for number, item in enumerate(_all_tables(raw), start=1):
        try:
            cases.append(_case(item, f"case {number}", as_of, names))
        except InputError as error:
            faults += error.violations
    faults += wrong
    if not cases and not faults:
        raise InputError("The suite holds no case.")
    ids = [case.id for case in cases]
    faults += [
        f"the suite names the case {name} twice" for name in sorted({n for n in ids if ids.count(n) > 1})
    ]
    minimum = _minimum(_mapping(raw.get("minimum", {}), "minimum"))
    if faults:
        raise InputError(faults[0] if len(faults) == 1 else "The suite has several faults.", tuple(faults))
    suite = Suite(name=path.name, cases=tuple(cases), sha256=sha256_bytes(content), limits=limits)
    return suite, minimum


def _all_tables(raw: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [_flat(item) for item in _tables(raw, "questions")] + _tables(raw, "cases")


def _read(path: Path) -> tuple[Mapping[str, Any], bytes]:
    try:
        with path.open("rb") as stream:
            content = stream.read(4 * MOST_CHARACTERS + 1)
        text = content.decode("utf-8")
    except (OSError, ValueError) as error:
        raise InputError(
            f"The suite cannot be read: {getattr(error, 'strerror', None) or type(error).__name__}."
        ) from error
    if len(text) > MOST_CHARACTERS:
        raise InputError(f"The suite is longer than {MOST_CHARACTERS} characters.")
    if path.suffix != ".toml":
        try:
            return read_front_matter(text, MOST_CHARACTERS), content
        except InputError as error:
            raise InputError(error.message.replace("front matter", "suite")) from error
    try:
        return tomllib.loads(text), content
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise InputError("The suite is not valid TOML.") from error


def _case(item: Mapping[str, Any], where: str, as_of: Micros | None, names: Names) -> SuiteCase:
    name = item.get("id")
    if not isinstance(name, str) or not name.strip():
        raise InputError(f"{where}: it needs an id.")
    where = f"case {name}"
    _known(item, CASE, where)
    ask, expect = (_mapping(item.get(key), f"{where}: {key}") for key in ("ask", "expect"))
    asked = _asked(ask, where, as_of, names)
    return SuiteCase(
        id=name,
        slice=str(item.get("slice", "all")),
        cohort=str(item.get("cohort") or "+".join(asked.principal.groups)),
        critical=item.get("critical") in (True, "true"),
        asked=asked,
        oracle=_oracle(expect, where, asked.principal.tenant_id, names),
    )


def _asked(ask: Mapping[str, Any], where: str, default: Micros | None, names: Names) -> Asked:
    """From the runtime table alone."""
    _known(ask, ASK, where)
    text, route = ask.get("text"), ask.get("route")
    if not isinstance(text, str) or not text.strip():
        raise InputError(f"{where}: ask needs a text.")
    if route is not None and route not in get_args(Route):
        raise InputError(f"{where}: route is {' or '.join(get_args(Route))}.")
    return Asked(
        text=text,
        principal=_principal(ask, where, names),
        as_of=_moment(ask["as_of"]) if "as_of" in ask else default,
        target_version=ask.get("target_version"),
        sources=tuple(_words(ask, "sources", where)),
        route=route,
        topic=ask.get("topic"),
    )


def _principal(ask: Mapping[str, Any], where: str, names: Names) -> Principal:
    if ("as" in ask) == ("tenant" in ask or "groups" in ask):
        raise InputError(f"{where}: say who asks with `as`, or with `tenant` and `groups`.")
    if "as" in ask:
        return names.resolve(str(ask["as"]))
    groups = _words(ask, "groups", where)
    if not ask.get("tenant") or not groups:
        raise InputError(f"{where}: an asker needs a tenant and at least one group.")
    return Principal(
        tenant_id=str(ask["tenant"]),
        subject_id="suite",
        groups=tuple(sorted(set(groups))),
        authorization_revision=LOCAL,
    )


def _oracle(expect: Mapping[str, Any], where: str, tenant: str, names: Names) -> Oracle:
    _known(expect, EXPECT, where)
    status: Any = expect.get("status")
    if status not in get_args(AnswerStatus):
        raise InputError(f"{where}: expect needs a status: {', '.join(get_args(AnswerStatus))}.")
    grades = _grades(expect, where, tenant, names)
    return Oracle(
        status=status,
        relevant=tuple(grades),
        grades=grades,
        nuggets=tuple(_words(expect, "says", where)),
        forbidden=names.keys(where, tenant, _words(expect, "forbidden", where)),
        canaries=tuple(_words(expect, "never_shown", where)),
    )


def _grades(expect: Mapping[str, Any], where: str, tenant: str, names: Names) -> Mapping[DocumentKey, int]:
    cites = expect.get("cites", [])
    if not isinstance(cites, dict):
        return dict.fromkeys(names.keys(where, tenant, _words(expect, "cites", where)), 1)
    found: dict[DocumentKey, int] = {}
    for name, grade in cites.items():
        text = str(grade)
        if not (text.isascii() and text.isdigit() and 1 <= int(text) <= MOST_GRADE):
            raise InputError(f"{where}: the grade of {name} must be a whole number from 1 to {MOST_GRADE}.")
        found |= dict.fromkeys(names.keys(where, tenant, [name]), int(text))
    return found


def _moment(value: Any) -> Micros | None:
    return None if value is None else parse_moment(str(value), zone_of("UTC"))


def _flat(item: Mapping[str, Any]) -> Mapping[str, Any]:
    """A question of the demo as a case."""
    _known(item, DEMO, f"question {item.get('id', '?')}")
    return {
        "id": item.get("id"),
        "ask": {key: item[key] for key in ("text", "as") if key in item},
        "expect": {
            **{key: item[key] for key in ("status", "cites", "never_shown") if key in item},
            "says": [*item.get("answer_contains", []), *item.get("sides_contain", [])],
        },
    }


def _minimum(table: Mapping[str, Any]) -> dict[str, int]:
    found = dict.fromkeys(OWNERS, WHOLE)
    _known(table, set(OWNERS), "minimum")
    for name, value in table.items():
        try:
            least = Decimal(str(value)) * WHOLE
        except InvalidOperation:
            least = Decimal(-1)
        if not 0 <= least <= WHOLE or least != int(least):
            raise InputError(f"minimum.{name} must lie between 0 and 1, with three places at most.")
        found[name] = int(least)
    return found


def _known(table: Mapping[str, Any], keys: set[str], where: str) -> None:
    unknown = sorted(set(table) - keys)
    if unknown:
        raise InputError(f"{where} has unknown keys: {', '.join(unknown)}.")


def _mapping(value: Any, where: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise InputError(f"{where} must be a table.")
    return value


def _tables(raw: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    value = raw.get(name, [])
    if not isinstance(value, list):
        raise InputError(f"{name} of the suite must be a list of tables.")
    return [_mapping(item, name) for item in value]


def _words(table: Mapping[str, Any], key: str, where: str) -> list[str]:
    value = table.get(key, [])
    if not isinstance(value, list) or not all(isinstance(item, str) and item for item in value):
        raise InputError(f"{where}: {key} must be a list of texts.")
    return value


def _is_called(key: DocumentKey, name: str) -> bool:
    return name in (key.document_id, f"{key.source_id}:{key.document_id}")
