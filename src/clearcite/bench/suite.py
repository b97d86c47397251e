"""A suite: questions, who asks them, and what must come out.

What the answerer gets (``Asked``) and what only the judge knows (``Oracle``) are two objects. Whoever answers is given
the first and cannot reach the second.
"""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct, field

from clearcite.bench.fixture import RUNTIME, Fixture, FixturePolicy, FixtureQuery
from clearcite.bench.golden_sample import Golden
from clearcite.bench.limits import GateLimits
from clearcite.domain.access import Micros, Principal
from clearcite.domain.answer import AnswerStatus
from clearcite.domain.corpus import DocumentKey
from clearcite.domain.retrieval import Route
from clearcite.wire.instants import parse_moment
from clearcite.wire.zones import zone_of

FIXTURE_SOURCE = "fixture"


class Asked(Struct, frozen=True, kw_only=True):
    """What the answerer may see of a case. ``search``: ranked passages are wanted, and no answer."""

    text: str
    principal: Principal
    as_of: Micros | None = None
    target_version: str | None = None
    sources: tuple[str, ...] = ()
    route: Route | None = None
    topic: str | None = None
    search: bool = False

    def options(self, *, use_topic: bool = False) -> Mapping[str, Any]:
        """As ``Engine.ask`` takes them. The topic is a host's label, used only where a run asks for it."""
        return {
            "as_of": self.as_of,
            "target_version": self.target_version,
            "sources": self.sources,
            "route": self.route,
            "topic": self.topic if use_topic else None,
        }


class ExpectedFact(Struct, frozen=True, kw_only=True):
    """A statement that an answer must rest on, and the document in which it stands verbatim."""

    fact_id: str
    document: DocumentKey
    statement: str


class Oracle(Struct, frozen=True, kw_only=True):
    """What must come out of a case. Never passed to whoever answers.

    ``relevant``: documents that answer the question, for measures of retrieval. ``forbidden``: documents that may
    show in no way. ``canaries``: strings that may stand nowhere in what leaves. ``nuggets``: what an answer must say.
    ``grades``: how relevant, above 0; 1 where nothing is said.
    """

    status: AnswerStatus
    facts: tuple[ExpectedFact, ...] = ()
    relevant: tuple[DocumentKey, ...] = ()
    forbidden: tuple[DocumentKey, ...] = ()
    canaries: tuple[str, ...] = ()
    nuggets: tuple[str, ...] = ()
    grades: Mapping[DocumentKey, int] = field(default_factory=dict)

    @property
    def graded(self) -> Mapping[DocumentKey, int]:
        """Every relevant document with its grade."""
        return {key: self.grades.get(key, 1) for key in self.relevant}


class SuiteCase(Struct, frozen=True, kw_only=True):
    """``slice`` says what kind of question it is; ``cohort`` who asks. Both are shown in reports."""

    id: str
    slice: str
    cohort: str
    critical: bool
    asked: Asked
    oracle: Oracle

    @property
    def tenant(self) -> str:
        return self.asked.principal.tenant_id


class Suite(Struct, frozen=True, kw_only=True):
    """``policy`` holds the limits of a fixture, which is judged by these alone; else ``limits`` hold."""

    name: str
    cases: tuple[SuiteCase, ...]
    sha256: str
    policy: FixturePolicy | None = None
    limits: GateLimits = field(default_factory=GateLimits)
    golden: tuple[Golden, ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict)


def suite_of_fixture(fixture: Fixture, sha256: str) -> Suite:
    policy, pipeline = fixture.evaluation_policy, fixture.pipeline
    facts = {
        fact.id: ExpectedFact(
            fact_id=fact.id, document=fixture_key(document.tenant_id, document.id), statement=fact.statement
        )
        for document in fixture.documents
        for fact in document.facts
    }
    tenants = {document.id: document.tenant_id for document in fixture.documents}
    return Suite(
        name=policy.suite_revision,
        cases=tuple(_case(query, facts, tenants) for query in fixture.queries),
        sha256=sha256,
        policy=policy,
        labels={
            "suite_revision": policy.suite_revision,
            "harness_revision": policy.harness_revision,
            **{
                name: getattr(pipeline, name)
                for name in pipeline.__struct_fields__
                if name.endswith("_revision")
            },
        },
    )


def fixture_key(tenant: str, document: str) -> DocumentKey:
    return DocumentKey(tenant_id=tenant, source_id=FIXTURE_SOURCE, document_id=document)


def _case(query: FixtureQuery, facts: Mapping[str, ExpectedFact], tenants: Mapping[str, str]) -> SuiteCase:
    expected = tuple(facts[name] for name in query.expected_fact_ids)
    return SuiteCase(
        id=query.id,
        slice=query.slice,
        cohort="+".join(query.subject_groups),
        critical=query.critical,
        asked=_asked({name: getattr(query, name) for name in RUNTIME}),
        oracle=Oracle(
            status=query.expected_status,
            facts=expected,
            relevant=tuple(dict.fromkeys(fact.document for fact in expected)),
            forbidden=tuple(fixture_key(tenants[name], name) for name in query.forbidden_document_ids),
            canaries=query.forbidden_output_substrings,
        ),
    )


def _asked(runtime: Mapping[str, Any]) -> Asked:
    """From the runtime projection alone: this function cannot see an oracle field."""
    return Asked(
        text=runtime["text"],
        principal=Principal(
            tenant_id=runtime["tenant_id"],
            subject_id=f"query:{runtime['id']}",
            groups=runtime["subject_groups"],
            authorization_revision=runtime["authorization_revision"],
        ),
        as_of=parse_moment(runtime["as_of"], zone_of("UTC")),
        route=runtime["route"],
        topic=runtime["topic"],
    )
