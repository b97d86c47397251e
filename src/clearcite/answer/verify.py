"""Recompute a stored trace: ``reproduced``, ``differs: field`` or ``unverifiable: reason``.

Nothing is believed from the trace but the question, the principal, the instant and the position; the rest is
recomputed from the ledger as it stood then, and compared. Text is never read from it, because it holds none.
"""

from collections.abc import Callable, Mapping
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from clearcite.answer.tracing import found_of, response_of
from clearcite.domain.access import Principal
from clearcite.domain.answer import PublicAnswer, PublicSearch
from clearcite.domain.retrieval import Question
from clearcite.domain.trace import Trace
from clearcite.errors import InputError
from clearcite.wire import canonical
from clearcite.wire.convert import from_json, to_json

SETTINGS = ("manifest_hash", "config_hash", "parts")
CHOOSING_STAGES = ("deduplicate", "fit_budget")


class Asked(Struct, frozen=True, kw_only=True):
    """What a trace says was asked, with the instant and position pinned. ``page``: of a search; ``filter``: what
    it says of who could read how much."""

    question: Question
    principal: Principal
    position: int
    generation: str
    page: Mapping[str, Any] | None
    filter: Mapping[str, Any]


class Replayed(Struct, frozen=True, kw_only=True):
    """What the same request gives now, the state it depended on, and why a difference may prove nothing."""

    public: PublicAnswer | PublicSearch
    state: Mapping[str, Any]
    cause: str | None
    doubt: str | None


Replay = Callable[[Asked, str], Replayed]
"""The request, and the trace id to publish under."""


class Verdict(Struct, frozen=True, kw_only=True):
    """``detail`` names the field that differs, or the reason why nothing can be said."""

    outcome: Literal["reproduced", "differs", "unverifiable"]
    detail: str | None = None


def verify_trace(trace: Trace, replay: Replay, response: Any | None = None) -> Verdict:
    """``response``: the public response someone kept, as a JSON value; it must be this trace's, to the byte."""
    fault = _inner_fault(trace)
    if fault is not None:
        return Verdict(outcome="differs", detail=fault)
    if not trace.state:
        return Verdict(outcome="unverifiable", detail="failed before anything was read")
    again = replay(asked_of(trace), trace.trace_id)
    if again.cause == "integrity" and trace.cause != "integrity":
        return Verdict(outcome="differs", detail="integrity")
    different = _difference(trace.response, _projection(again.public))
    if different is None:
        return _compare_response(again.public, response)
    if trace.degraded:
        return Verdict(outcome="unverifiable", detail="a part had failed then")
    moved = [name for name in SETTINGS if again.state.get(name) != trace.state.get(name)]
    if moved:
        return Verdict(outcome="unverifiable", detail=f"settings have changed since: {', '.join(moved)}")
    if again.doubt is not None:
        return Verdict(outcome="unverifiable", detail=again.doubt)
    return Verdict(outcome="differs", detail=different)


def asked_of(trace: Trace) -> Asked:
    """Raises InputError for a trace that holds no request."""
    question = from_json(Question, trace.request["question"], what="the traced question")
    views = [stage.detail.get("filter", {}) for stage in trace.stages if stage.stage == "open_sight"]
    return Asked(
        question=replace(question, as_of=trace.state["as_of"]),
        principal=from_json(Principal, trace.request["principal"], what="the traced principal"),
        position=trace.state["position"],
        generation=trace.state["generation"],
        page=trace.request.get("page"),
        filter=views[0] if views else {},
    )


def _projection(public: PublicAnswer | PublicSearch) -> dict[str, Any]:
    return response_of(public) if isinstance(public, PublicAnswer) else found_of(public)


def _compare_response(public: PublicAnswer | PublicSearch, response: Any | None) -> Verdict:
    if response is None:
        return Verdict(outcome="reproduced")
    try:
        kept = from_json(type(public), response, what="the response")
    except InputError as error:
        return Verdict(outcome="differs", detail=f"response: {error.violations[0]}")
    wanted, given = to_json(public), to_json(kept)
    if canonical(wanted) == canonical(given):
        return Verdict(outcome="reproduced")
    return Verdict(outcome="differs", detail=f"response.{_difference(wanted, given)}")


def _difference(left: Mapping[str, Any], right: Mapping[str, Any]) -> str | None:
    """The first field, in order of name, whose values differ."""
    for name in sorted(set(left) | set(right)):
        if name != "sha256" and left.get(name) != right.get(name):
            return name
    return "sha256" if left.get("sha256") != right.get("sha256") else None


def _inner_fault(trace: Trace) -> str | None:
    """A trace must agree with itself: what was selected and what was dropped were both ranked."""
    stages = {stage.stage: stage.detail for stage in trace.stages}
    if any(name not in stages for name in CHOOSING_STAGES):
        return None
    kept = [entry[0] for entry in stages["deduplicate"].get("ranked", [])]
    selected = [entry[1] for entry in stages["fit_budget"].get("selected", [])]
    dropped = [entry[0] for entry in stages["fit_budget"].get("dropped", [])]
    if sorted(selected + dropped) != sorted(kept):
        return "stages.fit_budget"
    fell_back = any(stage.outcome == "fallback" for stage in trace.stages)
    return "degraded" if fell_back and not trace.degraded else None
