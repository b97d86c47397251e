"""A suite in a file of one's own, TOML or YAML: what is asked and what must come out stand apart.

    as_of = "2026-03-01"            # optional: when the questions are asked that say nothing themselves

    [gates]                         # optional: what `evaluate` asks for; see ``limits.GateLimits``
    min_authorized_recall = 0.9

    [minimum]                       # optional: least rates of a panel, 1 where none is given
    recall_at_2 = "0.9"

    [[golden]]                      # optional: what a document must hold once it is taken in
    document = "leave.md"
    contains = ["25 days"]

    [[cases]]
    id = "leave"
    ask = {text = "How many days of leave are there?", as = "alice"}
    expect = {status = "answered", cites = ["leave.md"], says = ["25 days"], never_shown = ["22 days"]}

``ask`` reaches whoever answers and nothing else does. Instead of ``as``, a subject of the policy, it may hold
``tenant`` and ``groups``. A document is ``DOCUMENT`` or ``SOURCE:DOCUMENT`` of the asker's tenant and must be there;
``cites`` may be a table that gives each a grade. ``cohort`` names who asks in reports; else his groups do. With
``search = true`` only a search is made, which ends as ``answered`` whatever it finds; what is found is judged.
``[[golden]]``: what must be true of documents; see ``golden_file``. The flat tables of the demo are read as well.
"""

import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any, get_args

from msgspec import Struct, field
from msgspec.structs import replace

from clearcite.bench.golden_file import read_golden
from clearcite.bench.limits import read_limits
from clearcite.bench.suite import Asked, Oracle, Suite, SuiteCase
from clearcite.bench.suite_values import Place, choice, flag, known, mapping, moment, tables, text, words
from clearcite.domain.access import Micros, Principal
from clearcite.domain.answer import AnswerStatus
from clearcite.domain.corpus import DocumentKey
from clearcite.domain.digest import sha256_bytes
from clearcite.domain.panel import OWNERS, WHOLE
from clearcite.domain.policy import LOCAL
from clearcite.domain.retrieval import Route
from clearcite.errors import InputError, did_you_mean
from clearcite.wire.convert import refusal
from clearcite.wire.frontmatter import read_front_matter

ASK = {"text", "search", "as", "tenant", "groups", "as_of", "target_version", "sources", "route", "topic"}
EXPECT = {"status", "cites", "says", "forbidden", "never_shown"}
CASE = {"id", "slice", "cohort", "critical", "ask", "expect"}
ROOT = {"as_of", "gates", "minimum", "cases", "questions", "golden"}
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

NOBODY = Principal(tenant_id="", subject_id="", groups=(), authorization_revision=LOCAL)


class Names(Struct, frozen=True, kw_only=True):
    """What a suite names by name: subjects of the policy, and documents the ledger knows."""

    resolve: Callable[[str], Principal]
    documents: Sequence[DocumentKey]
    known: dict[tuple[str, str], list[DocumentKey]] = field(default_factory=dict)
    """By tenant and name, filled at the first question."""

    def keys(self, tenant: str, names: Iterable[str], place: Place) -> tuple[DocumentKey, ...]:
        """A name that no document has is a fault: what expects nothing proves nothing. None is looked
        for where the asker, and so the tenant, is not known."""
        if not tenant:
            return ()
        found: list[DocumentKey] = []
        for name in names:
            some = self._called(tenant, name)
            if not some:
                near = did_you_mean(
                    [name], {key.shown_id for key in self.documents if key.tenant_id == tenant}
                )
                place.fault(f"the store knows no document {name!r} of this tenant.{near}")
            found += some
        return tuple(dict.fromkeys(found))

    def _called(self, tenant: str, name: str) -> list[DocumentKey]:
        """An older revision that is kept goes by the id of its document; the date asked for says which one counts."""
        if not self.known:
            for key in self.documents:
                for called in (key.shown_id, f"{key.source_id}:{key.shown_id}"):
                    self.known.setdefault((key.tenant_id, called), []).append(key)
        return self.known.get((tenant, name), [])

    def subject(self, name: str, place: Place) -> Principal:
        try:
            return self.resolve(name)
        except InputError as error:
            place.fault(error.message)
            return NOBODY


def read_suite(path: Path, names: Names) -> tuple[Suite, Mapping[str, int]]:
    """The suite, and the least value of each rate in thousandths. Raises InputError that names everything wrong."""
    raw, content = _read(path)
    place = Place("suite")
    known(raw, ROOT, place)
    limits, wrong = read_limits(mapping(raw.get("gates", {}), place.at("gates")))
    place.faults.extend(wrong)
    minimum = _minimum(mapping(raw.get("minimum", {}), place.at("minimum")), place.at("minimum"))
    as_of = moment(raw, "as_of", place)
    flat = [
        _flat(item, place.at("question")) for item in tables(raw.get("questions", []), place.at("question"))
    ]
    items = [*flat, *tables(raw.get("cases", []), place.at("case"))]
    cases = tuple(_case(item, place.at(f"case {n}"), as_of, names) for n, item in enumerate(items, start=1))
    if not items:
        place.fault("it holds no case.")
    golden = read_golden(raw.get("golden", []), place.at("golden"))
    place.faults.extend(_repeated(case.id for case in cases))
    if place.faults:
        raise refusal(f"The suite {path.name}", place.faults)
    suite = Suite(name=path.name, cases=cases, sha256=sha256_bytes(content), limits=limits, golden=golden)
    return suite, minimum


def _repeated(ids: Iterable[str]) -> Iterator[str]:
    count = Counter(ids)
    yield from (
        f"case {name}: it is named {number} times." for name, number in count.items() if number > 1 and name
    )


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
        raise InputError(f"The suite is not valid TOML: {error}.") from error


def _case(item: Mapping[str, Any], place: Place, as_of: Micros | None, names: Names) -> SuiteCase:
    name = text(item, "id", place)
    if "id" not in item:
        place.fault("it needs an id.")
    place = place.at(f"case {name}") if name else place
    known(item, CASE, place)
    ask, expect = (mapping(item.get(key), place.at(f"{place.where}: {key}")) for key in ("ask", "expect"))
    asked = _asked(ask, place.at(f"{place.where}: ask"), as_of, names)
    cohort = text(item, "cohort", place) or "+".join(asked.principal.groups)
    return SuiteCase(
        id=name or "",
        slice=text(item, "slice", place) or "all",
        cohort=cohort,
        critical=flag(item, "critical", place),
        asked=asked,
        oracle=_oracle(expect, place.at(f"{place.where}: expect"), asked, names),
    )


def _asked(ask: Mapping[str, Any], place: Place, default: Micros | None, names: Names) -> Asked:
    """From the runtime table alone."""
    known(ask, ASK, place)
    if "text" not in ask:
        place.fault("it needs a text.")
    return Asked(
        text=text(ask, "text", place) or "",
        principal=_principal(ask, place, names),
        as_of=moment(ask, "as_of", place) if "as_of" in ask else default,
        target_version=text(ask, "target_version", place),
        sources=words(ask, "sources", place),
        route=choice(ask, "route", get_args(Route), place),
        topic=text(ask, "topic", place),
        search=flag(ask, "search", place),
    )


def _principal(ask: Mapping[str, Any], place: Place, names: Names) -> Principal:
    if ("as" in ask) == ("tenant" in ask or "groups" in ask):
        place.fault("say who asks with `as`, or with `tenant` and `groups`.")
        return NOBODY
    if "as" in ask:
        return names.subject(str(ask["as"]), place)
    tenant, groups = text(ask, "tenant", place), words(ask, "groups", place)
    if tenant is None or not groups:
        place.fault("an asker needs a tenant and at least one group.")
    return replace(NOBODY, tenant_id=tenant or "", subject_id="suite", groups=tuple(sorted(set(groups))))


def _oracle(expect: Mapping[str, Any], place: Place, asked: Asked, names: Names) -> Oracle:
    known(expect, EXPECT, place)
    tenant = asked.principal.tenant_id
    if asked.search:
        expect = {"status": "answered", **expect}
        if "says" in expect:
            place.fault("a search says nothing; leave out says.")
    if "status" not in expect:
        place.fault(f"it needs a status: {', '.join(get_args(AnswerStatus))}.")
    grades = _grades(expect, place, tenant, names)
    forbidden = names.keys(tenant, words(expect, "forbidden", place), place)
    if set(forbidden) & set(grades):
        place.fault("a document is expected and forbidden.")
    return Oracle(
        status=choice(expect, "status", get_args(AnswerStatus), place) or "refused",
        relevant=tuple(grades),
        grades=grades,
        nuggets=words(expect, "says", place),
        forbidden=forbidden,
        canaries=words(expect, "never_shown", place),
    )


def _grades(expect: Mapping[str, Any], place: Place, tenant: str, names: Names) -> Mapping[DocumentKey, int]:
    cites = expect.get("cites", [])
    if not isinstance(cites, dict):
        return dict.fromkeys(names.keys(tenant, words(expect, "cites", place), place), 1)
    found: dict[DocumentKey, int] = {}
    for name, grade in cites.items():
        digits = "" if isinstance(grade, bool) else str(grade)
        if not (digits.isascii() and digits.isdigit() and 1 <= int(digits[:9]) <= MOST_GRADE):
            place.fault(f"the grade of {name} must be a whole number from 1 to {MOST_GRADE}.")
            continue
        found |= dict.fromkeys(names.keys(tenant, [name], place), int(digits))
    return found


def _flat(item: Mapping[str, Any], place: Place) -> Mapping[str, Any]:
    """A question of the demo as a case."""
    known(item, DEMO, place.at(f"question {item.get('id', '?')}"))
    return {
        "id": item.get("id"),
        "ask": {key: item[key] for key in ("text", "as") if key in item},
        "expect": {
            **{key: item[key] for key in ("status", "cites", "never_shown") if key in item},
            "says": [*words(item, "answer_contains", place), *words(item, "sides_contain", place)],
        },
    }


def _minimum(table: Mapping[str, Any], place: Place) -> dict[str, int]:
    found = dict.fromkeys(OWNERS, WHOLE)
    known(table, OWNERS, place)
    for name in OWNERS.keys() & table.keys():
        try:
            least = Decimal(str(table[name])) * WHOLE
        except InvalidOperation:
            least = Decimal(-1)
        if not least.is_finite() or not 0 <= least <= WHOLE or least != int(least):
            place.fault(f"{name} must lie between 0 and 1, with three places at most.")
        else:
            found[name] = int(least)
    return found
