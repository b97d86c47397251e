"""Recompute a stored trace: ``reproduced``, ``differs: field`` or ``unverifiable: reason``.

Nothing is believed from the trace but the question, the principal and the instant; the rest is recomputed and
compared. Text is never read from it, because it holds none.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from clearcite.answer.tracing import response_of
from clearcite.domain.access import Principal
from clearcite.domain.answer import PublicAnswer
from clearcite.domain.retrieval import Question
from clearcite.domain.trace import Trace
from clearcite.errors import InputError
from clearcite.wire import canonical, from_json, to_json

Replay = Callable[[Question, Principal, str], tuple[PublicAnswer, dict[str, Any]]]
STATE_FIELDS = ("generation", "manifest_hash", "config_hash")
CHOOSING_STAGES = ("deduplicate", "fit_budget")


@dataclass(frozen=True, kw_only=True, slots=True)
class Verdict:
    """``detail`` names the field that differs, or the reason why nothing can be said."""

    outcome: Literal["reproduced", "differs", "unverifiable"]
    detail: str | None = None


def verify_trace(trace: Trace, replay: Replay, response: Any | None = None) -> Verdict:
    """``response``: the public response someone kept, as a JSON value; it must be this trace's, to the byte."""
    if trace.kind != "ask":
        return Verdict(outcome="unverifiable", detail="only answers are replayed")
    fault = _inner_fault(trace)
    if fault is not None:
        return Verdict(outcome="differs", detail=fault)
    question = from_json(Question, trace.request["question"], what="the traced question")
    principal = from_json(Principal, trace.request["principal"], what="the traced principal")
    pinned = _pinned(question, trace)
    public, state = replay(pinned, principal, trace.trace_id)
    different = _difference(trace.response, response_of(public))
    if different is None:
        return _compare_response(public, response)
    moved = [name for name in STATE_FIELDS if state.get(name) != trace.state.get(name)]
    if moved or state.get("position") != trace.state.get("position"):
        return Verdict(outcome="unverifiable", detail="the documents or settings have changed since")
    return Verdict(outcome="differs", detail=different)


def _pinned(question: Question, trace: Trace) -> Question:
    return Question(
        text=question.text,
        as_of=trace.state["as_of"],
        target_version=question.target_version,
        sources=question.sources,
        route=question.route,
        topic=question.topic,
    )


def _compare_response(public: PublicAnswer, response: Any | None) -> Verdict:
    if response is None:
        return Verdict(outcome="reproduced")
    try:
        kept = from_json(PublicAnswer, response, what="the response")
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
