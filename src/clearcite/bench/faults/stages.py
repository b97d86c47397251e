"""The stages in the order in which a document goes through them, each with its check and who has to act.

A check compares what is seen of the copy with what was seen before the fault, or with itself. It gives lines that name
no document and no text; none means that the stage holds. What comes after a broken stage may fail with it: the first
one that fails is the one to mend.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations

from msgspec import Struct

from clearcite.bench.faults.observe import Document, Seen
from clearcite.domain.corpus import DocumentKey

Check = Callable[[Seen, Seen], Iterator[str]]
LEAST_SHARED = 2
INGESTION = "whoever runs ingestion"
ANSWERING = "whoever runs answering"
PERMISSIONS = "whoever runs permissions"
SOURCE = "the owner of the source"


class Stage(Struct, frozen=True, kw_only=True):
    """``check``: golden and current → what is wrong."""

    name: str
    owner: str
    check: Check


def _alias(_golden: Seen, seen: Seen) -> Iterator[str]:
    served = 0 if seen.live is None else seen.live.served
    fullest = max((item.served for item in seen.generations if item.state == "active"), default=0)
    if served < fullest or not served:
        yield "the live generation serves fewer documents than another one that is kept"


def _index(_golden: Seen, seen: Seen) -> Iterator[str]:
    if "index" in seen.damage:
        yield f"the index cannot be read: {seen.damage['index']}"
    if len(seen.vectors) > 1:
        yield "the index holds vectors of different lengths, or some chunks have none"


def _publication(golden: Seen, seen: Seen) -> Iterator[str]:
    waiting = 0 if seen.live is None else seen.live.waiting + seen.live.given_up
    if waiting:
        yield f"accepted and not published: {waiting}"
    missing = sum(key not in seen.documents for key in golden.documents)
    if missing:
        yield f"documents that were served and are not any more: {missing}"


def _parsing(golden: Seen, seen: Seen) -> Iterator[str]:
    differing = sum(before.text_sha256 != after.text_sha256 for before, after in _pairs(golden, seen))
    if differing:
        yield f"documents that read otherwise than their golden sample: {differing}"


def _chunking(golden: Seen, seen: Seen) -> Iterator[str]:
    untitled = sum(before.title != after.title for before, after in _pairs(golden, seen))
    bare = sum(not chunk.context.strip() for item in seen.documents.values() for chunk in item.chunks)
    if untitled or bare:
        yield f"titles lost or changed: {untitled}; chunks that name no title: {bare}"
    cut = sum(len(before.units() - after.units()) for before, after in _pairs(golden, seen))
    if cut:
        yield f"statements that no chunk holds whole any more: {cut}"


def _canonical(golden: Seen, seen: Seen) -> Iterator[str]:
    more = copies(seen) - copies(golden)
    if more:
        yield f"copies that say of nothing that they are copies: {len(more)}"


def _lifecycle(golden: Seen, seen: Seen) -> Iterator[str]:
    back = sum(key not in golden.documents for key in seen.documents)
    if back:
        yield f"documents that were gone and are served: {back}"
    changed = sum(
        before.is_usable(golden.now) != after.is_usable(golden.now) for before, after in _pairs(golden, seen)
    )
    if changed:
        yield f"documents whose status, window or approval says otherwise than before: {changed}"


def _validity(golden: Seen, seen: Seen) -> Iterator[str]:
    differing = sum(seen.edges.get(edge) != readable for edge, readable in golden.edges.items())
    if differing:
        yield f"instants at the ends of windows that are judged otherwise: {differing}"


def _access(golden: Seen, seen: Seen) -> Iterator[str]:
    pairs = [(before, seen.readable[case]) for case, before in golden.readable.items()]
    wider = sum(bool(after - before) for before, after in pairs)
    narrower = sum(bool(before - after) for before, after in pairs)
    if wider:
        yield f"cases whose asker may read more than the source allows: {wider}"
    if narrower:
        yield f"cases whose asker may read less than the source allows: {narrower}"


def _authorization(_golden: Seen, seen: Seen) -> Iterator[str]:
    leaking = [run.case_id for run in seen.runs if set(run.candidates) - seen.readable[run.case_id]]
    if leaking:
        yield f"cases with a candidate that the asker may not read: {', '.join(leaking)}"


def _retrieval(golden: Seen, seen: Seen) -> Iterator[str]:
    if "answers" in seen.damage:
        yield f"no question can be asked: {seen.damage['answers']}"
    failed = _ended(seen, "dependency_unavailable", "dependency")
    if failed:
        yield f"cases that ended because nothing could be looked for: {', '.join(failed)}"
    yield from _rate(golden, seen, "recall_at_2")


def _reranking(_golden: Seen, seen: Seen) -> Iterator[str]:
    degraded = [run.case_id for run in seen.runs if run.degraded and run.public.status == "answered"]
    if degraded:
        yield f"cases answered in the order before the reranker: {', '.join(degraded)}"


def _generation(_golden: Seen, seen: Seen) -> Iterator[str]:
    failed = _ended(seen, "generation_unavailable", None)
    if failed:
        yield f"cases without a draft: {', '.join(failed)}"


def _citation(golden: Seen, seen: Seen) -> Iterator[str]:
    drifted = sum(
        chunk.text != item.text[chunk.start : chunk.end]
        for item in seen.documents.values()
        for chunk in item.chunks
    )
    if drifted:
        yield f"chunks whose span holds another text than theirs: {drifted}"
    closed = [run.case_id for run in seen.runs if run.cause == "integrity"]
    if closed:
        yield f"cases that were not answered because bytes are not as they were accepted: {', '.join(closed)}"
    results = () if seen.evaluation is None else seen.evaluation.results
    loose = [one.case_id for one in results if "citation_does_not_hold" in one.codes]
    if loose:
        yield f"cases with a citation that does not resolve: {', '.join(loose)}"
    yield from _rate(golden, seen, "citation_precision_at_1")


def _freshness(golden: Seen, seen: Seen) -> Iterator[str]:
    yield from _rate(golden, seen, "freshness")


def _sufficiency(golden: Seen, seen: Seen) -> Iterator[str]:
    yield from _rate(golden, seen, "expected_empty_rate")


def _answer(golden: Seen, seen: Seen) -> Iterator[str]:
    yield from _rate(golden, seen, "expected_status_rate")
    yield from _rate(golden, seen, "nothing_forbidden")


def _report(golden: Seen, seen: Seen) -> Iterator[str]:
    """Names of documents that somebody may not read stand in no file of the run; rankings (``.trec``) are lists of
    names, of what each asker may read."""
    public = frozenset.intersection(*golden.readable.values())
    names = {name for key in golden.documents if key not in public for name in _names(golden, key)}
    showing = [
        name
        for name, content in seen.reports.items()
        if not name.endswith(".trec") and any(one.encode("utf-8") in content for one in names)
    ]
    if showing:
        yield f"files that name a document which not everybody may read: {', '.join(showing)}"


STAGES: tuple[Stage, ...] = (
    Stage(name="alias", owner="whoever promotes generations", check=_alias),
    Stage(name="index", owner=INGESTION, check=_index),
    Stage(name="publication", owner=INGESTION, check=_publication),
    Stage(name="parsing", owner=INGESTION, check=_parsing),
    Stage(name="chunking", owner=INGESTION, check=_chunking),
    Stage(name="canonical", owner=SOURCE, check=_canonical),
    Stage(name="lifecycle", owner=SOURCE, check=_lifecycle),
    Stage(name="validity", owner=SOURCE, check=_validity),
    Stage(name="access", owner=PERMISSIONS, check=_access),
    Stage(name="authorization", owner=PERMISSIONS, check=_authorization),
    Stage(name="retrieval", owner="whoever runs search", check=_retrieval),
    Stage(name="reranking", owner="whoever runs search", check=_reranking),
    Stage(name="generation", owner=ANSWERING, check=_generation),
    Stage(name="citation", owner=ANSWERING, check=_citation),
    Stage(name="freshness", owner=INGESTION, check=_freshness),
    Stage(name="sufficiency", owner=ANSWERING, check=_sufficiency),
    Stage(name="answer", owner=ANSWERING, check=_answer),
    Stage(name="report", owner="whoever runs the release gate", check=_report),
)


def failing(golden: Seen, seen: Seen, stages: Sequence[Stage] = STAGES) -> dict[str, tuple[str, ...]]:
    """What is wrong, by stage, in their order; stages that hold are left out."""
    found = {stage.name: tuple(stage.check(golden, seen)) for stage in stages}
    return {name: lines for name, lines in found.items() if lines}


def copies(seen: Seen) -> set[tuple[DocumentKey, DocumentKey]]:
    """Pairs of documents of one tenant that share most of what may be quoted and do not say so."""
    said: dict[tuple[str, str], list[Document]] = {}
    for item in seen.documents.values():
        for unit in item.units():
            said.setdefault((item.key.tenant_id, unit), []).append(item)
    shared: dict[tuple[DocumentKey, DocumentKey], int] = {}
    for holders in said.values():
        for one, other in combinations(sorted(holders, key=lambda item: item.key), 2):
            shared[one.key, other.key] = shared.get((one.key, other.key), 0) + 1
    return {pair for pair, count in shared.items() if _is_unsaid_copy(seen, pair, count)}


def _is_unsaid_copy(seen: Seen, pair: tuple[DocumentKey, DocumentKey], count: int) -> bool:
    one, other = (seen.documents[key] for key in pair)
    smaller = min(len(one.units()), len(other.units()))
    is_copy = count >= min(LEAST_SHARED, smaller) and 2 * count > smaller
    canonical = one.description.canonical_document_id
    is_said = canonical is not None and canonical == other.description.canonical_document_id
    return is_copy and not is_said and one.normal_sha256 != other.normal_sha256


def _pairs(golden: Seen, seen: Seen) -> Iterator[tuple[Document, Document]]:
    for key, before in golden.documents.items():
        if key in seen.documents:
            yield before, seen.documents[key]


def _names(seen: Seen, key: DocumentKey) -> Iterator[str]:
    yield from (name for name in (key.document_id, seen.documents[key].title) if len(name) > LEAST_SHARED)


def _ended(seen: Seen, status: str, cause: str | None) -> list[str]:
    return [run.case_id for run in seen.runs if run.public.status == status and cause in (None, run.cause)]


def _rate(golden: Seen, seen: Seen, name: str) -> Iterator[str]:
    """A rate of the panel below what it was: a suite need not be perfect to show a fault."""
    if golden.panel is None or seen.panel is None:
        return
    before, after = golden.panel.rates[name], seen.panel.rates[name]
    if after.right * before.all < before.right * after.all or (before.all and not after.all):
        yield f"{name}: {after.right} of {after.all}, before {before.right} of {before.all}"
