"""``--failure``: make a part fail on purpose, to see that an answer fails closed. ``--fixture``: on its documents."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

from clearcite.errors import DependencyUnavailable, InputError
from clearcite.interfaces.cli.commands import Option

FAILURE = Annotated[
    str | None,
    Option("--failure", help="Inject retrieval_error, reranker_error or generation_error."),
]

FIXTURE = Annotated[
    Path | None, Option("--fixture", help="A cited-qa fixture: its documents, in a store of their own.")
]
QUERY_ID = Annotated[str | None, Option("--query-id", help="With --fixture: which of its queries.")]

STAGES = {"retrieval_error": "recall", "reranker_error": "rerank", "generation_error": "compose"}


def faults_for(name: str | None) -> Mapping[str, Exception]:
    """The stage that shall fail, with the exception it raises."""
    if name is None:
        return {}
    if name not in STAGES:
        raise InputError(f"--failure is one of: {', '.join(STAGES)}.")
    return {STAGES[name]: DependencyUnavailable("injected")}


def require_its_own(*given: object) -> None:
    """With --fixture: whatever else was said of the question or of who asks would count for nothing."""
    if any(one is not None for one in given):
        raise InputError(
            "With --fixture, the question, who asks and as of when are those of --query-id; leave out the others."
        )
