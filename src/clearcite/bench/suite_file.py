"""A suite in a file of one's own, TOML or YAML: what is asked and what must come out stand apart.

    [minimum]                       # optional: least rates of a panel, 1 where none is given
    recall_at_2 = "0.9"

    [[cases]]
    id = "leave"
    ask = {text = "How many days of leave are there?", as = "alice"}
    expect = {status = "answered", cites = ["leave.md"], never_shown = ["22 days"]}

``ask`` reaches whoever answers and nothing else does. Instead of ``as``, a subject of the policy, it may hold
``tenant`` and ``groups``. A document is ``DOCUMENT`` or ``SOURCE:DOCUMENT`` of the asker's tenant and must be there.
The questions of the demo, a list of flat tables, are read as well.
"""

import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any, get_args

from clearcite.bench.suite import Asked, Oracle, Suite, SuiteCase
from clearcite.domain.access import Principal
from clearcite.domain.answer import AnswerStatus
from clearcite.domain.corpus import DocumentKey
from clearcite.domain.digest import sha256_bytes
from clearcite.domain.panel import OWNERS, WHOLE
from clearcite.domain.policy import LOCAL
from clearcite.domain.retrieval import Route
from clearcite.errors import InputError
from clearcite.wire.frontmatter import MAX_CHARACTERS, read_front_matter
from clearcite.wire.instants import parse_moment, zone_of

ASK = {"text", "as", "tenant", "groups", "as_of", "target_version", "sources", "route", "topic"}
EXPECT = {"status", "cites", "forbidden", "never_shown"}
CASE = {"id", "slice", "critical", "ask", "expect"}
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
    """The suite, and the least value of each rate in thousandths. Raises InputError that names the case."""
    raw, content = _read(path)
    unknown = sorted(set(raw) - {"minimum", "cases", "questions"})
    if unknown:
        raise InputError(f"The suite has unknown keys: {', '.join(unknown)}.")
    tables = [_flat(item) for item in _tables(raw, "questions")] + _tables(raw, "cases")
    cases = tuple(_case(item, f"case {number}", names) for number, item in enumerate(tables, start=1))
    if not cases:
        raise InputError("The suite holds no case.")
    ids = [case.id for case in cases]
    repeated = sorted({name for name in ids if ids.count(name) > 1})
    if repeated:
        raise InputError(f"The suite names a case twice: {', '.join(repeated)}.")
    suite = Suite(name=path.name, cases=cases, sha256=sha256_bytes(content))
    return suite, _minimum(_mapping(raw.get("minimum", {}), "minimum"))


def _read(path: Path) -> tuple[Mapping[str, Any], bytes]:
    try:
        with path.open("rb") as stream:
            content = stream.read(4 * MAX_CHARACTERS + 1)
        text = content.decode("utf-8")
    except (OSError, ValueError) as error:
        raise InputError(
            f"The suite cannot be read: {getattr(error, 'strerror', None) or type(error).__name__}."
        ) from error
    if len(text) > MAX_CHARACTERS:
        raise InputError(f"The suite is longer than {MAX_CHARACTERS} characters.")
    if path.suffix != ".toml":
        return read_front_matter(text), content
    try:
        return tomllib.loads(text), content
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise InputError("The suite is not valid TOML.") from error


def _case(item: Mapping[str, Any], where: str, names: Names) -> SuiteCase:
    name = item.get("id")
    if not isinstance(name, str) or not name.strip():
        raise InputError(f"{where}: it needs an id.")
    where = f"case {name}"
    _known(item, CASE, where)
    ask, expect = (_mapping(item.get(key), f"{where}: {key}") for key in ("ask", "expect"))
    asked = _asked(ask, where, names)
    return SuiteCase(
        id=name,
        slice=str(item.get("slice", "all")),
        cohort="+".join(asked.principal.groups),
        critical=item.get("critical") in (True, "true"),
        asked=asked,
        oracle=_oracle(expect, where, asked.principal.tenant_id, names),
    )


def _asked(ask: Mapping[str, Any], where: str, names: Names) -> Asked:
    """From the runtime table alone."""
    _known(ask, ASK, where)
    text, route = ask.get("text"), ask.get("route")
    if not isinstance(text, str) or not text.strip():
        raise InputError(f"{where}: ask needs a text.")
    if route is not None and route not in get_args(Route):
        raise InputError(f"{where}: route is {' or '.join(get_args(Route))}.")
    as_of = ask.get("as_of")
    return Asked(
        text=text,
        principal=_principal(ask, where, names),
        as_of=None if as_of is None else parse_moment(str(as_of), zone_of("UTC")),
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
    return Oracle(
        status=status,
        relevant=names.keys(where, tenant, _words(expect, "cites", where)),
        forbidden=names.keys(where, tenant, _words(expect, "forbidden", where)),
        canaries=tuple(_words(expect, "never_shown", where)),
    )


def _flat(item: Mapping[str, Any]) -> Mapping[str, Any]:
    """A question of the demo as a case."""
    _known(item, DEMO, f"question {item.get('id', '?')}")
    return {
        "id": item.get("id"),
        "ask": {key: item[key] for key in ("text", "as") if key in item},
        "expect": {key: item[key] for key in ("status", "cites", "never_shown") if key in item},
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
