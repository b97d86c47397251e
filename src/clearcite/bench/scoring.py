"""One case → its numbers, layer by layer. None where there is nothing to measure: never 0, 1 or NaN.

Faithfulness, answer relevancy and answer correctness come from a judging model in other tools. Here stands what can be
counted in their place, the same each time: claims whose every citation holds (``supported_claims``), what must be said
and is (``nugget_recall``), whether it is the right kind of answer (``status``).
"""

from collections.abc import Callable, Iterable, Mapping, Sequence

from msgspec import Struct

from clearcite.bench import ranking
from clearcite.bench.answering import CaseRun
from clearcite.bench.suite import SuiteCase
from clearcite.domain.corpus import DocumentKey, Place
from clearcite.text.forms import clean_text

Scores = Mapping[str, str | None]
WORSE_WHEN_HIGHER = (
    "zero_result",
    "underfill",
    "candidate_underfill",
    "ranker_underfill",
    "stale_candidates",
    "over_refusal",
)
GIVEN = ("answered", "conflict")
"""How a question ends that a document answers."""
SILENT = ("insufficient_evidence", "refused")
Statements = Mapping[DocumentKey, Sequence[tuple[str, int, int]]]
"""Every statement of the suite's documents: fact id, start and end in the canonical text."""


class Grounds(Struct, frozen=True, kw_only=True):
    """What a case is judged by besides its oracle.

    ``readable``: what the asker may read. ``stale``: candidates whose served state is not the newest, or not in force.
    ``held``: of each citation, whether it resolves again. ``k``: how deep a ranking is looked at. ``text``: the
    canonical text of a document.
    """

    statements: Statements
    readable: frozenset[DocumentKey]
    stale: frozenset[DocumentKey]
    held: Sequence[bool]
    k: int
    text: Callable[[DocumentKey], str] = lambda _: ""


def scores_of(case: SuiteCase, run: CaseRun, grounds: Grounds) -> Scores:
    """A relevant document that the asker may not read does not count: nobody should find it for him."""
    grades = {key: grade for key, grade in case.oracle.graded.items() if key in grounds.readable}
    found = {**_ranking(case, run, grades, grounds.k), **_filled(run, grounds)}
    if case.asked.search:
        return found
    return {
        **found,
        **_context(run, grades),
        **_citation(run, grades, grounds.held),
        **_nuggets(case, run, grounds),
        **_answer(case, run),
    }


def ranked_documents(run: CaseRun) -> list[DocumentKey]:
    """A document ranks by its best passage."""
    return _documents(run.retrieved)


def _ranking(case: SuiteCase, run: CaseRun, grades: Mapping[DocumentKey, int], k: int) -> Scores:
    found = ranked_documents(run)
    scores: dict[str, str | None] = {
        f"ndcg@{k}": ranking.ndcg(found, grades, k) if grades else None,
        "rr": ranking.reciprocal_rank(found, grades) if grades else None,
        f"recall@{k}": ranking.recall(found, grades, k) if grades else None,
        "zero_result": _flag(not found) if grades else None,
    }
    for source in sorted({key.source_id for key in case.oracle.graded}):
        own = {key: grade for key, grade in grades.items() if key.source_id == source}
        scores[f"recall@{k}:{source}"] = ranking.recall(found, own, k) if own else None
    return scores


def _filled(run: CaseRun, grounds: Grounds) -> Scores:
    """Whether fewer documents came back than could have, and whether they were lost before ranking or by it."""
    least = 0 if run.public.status == "tool_required" else min(grounds.k, len(grounds.readable))
    ranked, candidates = len(ranked_documents(run)), len(run.candidates)
    return {
        "underfill": _flag(ranked < least) if least else None,
        "candidate_underfill": _flag(candidates < least) if least else None,
        "ranker_underfill": _flag(ranked < least <= candidates) if least else None,
        "stale_candidates": ranking.share(len(grounds.stale), candidates) if candidates else None,
    }


def _context(run: CaseRun, grades: Mapping[DocumentKey, int]) -> Scores:
    chosen = _documents(run.selected)
    return {"context_precision": _precision(chosen, grades), "context_recall": _recall(chosen, grades)}


def _citation(run: CaseRun, grades: Mapping[DocumentKey, int], held: Sequence[bool]) -> Scores:
    cited = _documents(run.cited)
    by_number = dict(zip((item.n for item in run.citations), held, strict=True))
    claims = run.claims
    supported = sum(
        all(by_number.get(n, False) for n in claim.citations) for claim in claims if claim.citations
    )
    return {
        "citation_precision": _precision(cited, grades),
        "citation_recall": _recall(cited, grades),
        "supported_claims": ranking.share(supported, len(claims)) if claims else None,
    }


def _nuggets(case: SuiteCase, run: CaseRun, grounds: Grounds) -> Scores:
    """What must be said, at each stage before it is: of the strings, those that stand in a passage there."""
    first = set(ranked_documents(run)[: grounds.k])
    stages = {
        "nugget_retrieved": [place for place in run.retrieved if place.document in first],
        "nugget_in_context": run.selected,
        "nugget_cited": run.cited,
    }
    wanted = [plain(nugget) for nugget in case.oracle.nuggets]
    return {name: _standing(wanted, places, grounds) for name, places in stages.items()}


def _standing(wanted: Sequence[str], places: Iterable[Place], grounds: Grounds) -> str | None:
    if not wanted:
        return None
    texts = [
        plain(grounds.text(place.document)[place.start : place.end])
        for place in places
        if place.document in grounds.readable
    ]
    return ranking.share(sum(any(nugget in text for text in texts) for nugget in wanted), len(wanted))


def _answer(case: SuiteCase, run: CaseRun) -> Scores:
    text, nuggets = plain("\n".join(claim.text for claim in run.claims)), case.oracle.nuggets
    found = sum(plain(nugget) in text for nugget in nuggets)
    empty, status = case.oracle.status == "insufficient_evidence", run.public.status
    # A part that was unavailable refused nothing.
    could = case.oracle.status in GIVEN and not status.endswith("_unavailable")
    return {
        "nugget_recall": ranking.share(found, len(nuggets)) if nuggets else None,
        "status": _flag(status == case.oracle.status),
        "expected_empty": _flag(status == "insufficient_evidence") if empty else None,
        "over_refusal": _flag(status in SILENT) if could else None,
    }


def plain(text: str) -> str:
    """As two statements are compared: one case, one form of each character, single spaces."""
    return " ".join(clean_text(text).casefold().split())


def _documents(places: Iterable[Place]) -> list[DocumentKey]:
    return list(dict.fromkeys(place.document for place in places))


def _precision(found: Sequence[DocumentKey], grades: Mapping[DocumentKey, int]) -> str | None:
    return ranking.share(sum(key in grades for key in found), len(found)) if found and grades else None


def _recall(found: Sequence[DocumentKey], grades: Mapping[DocumentKey, int]) -> str | None:
    return ranking.share(sum(key in found for key in grades), len(grades)) if grades else None


def _flag(holds: bool) -> str:
    return ranking.share(int(holds), 1)
