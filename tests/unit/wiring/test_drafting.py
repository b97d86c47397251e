"""Drafts made in a child are those made here, refusals among them."""

import os
import signal
from collections.abc import Iterator
from itertools import islice
from typing import Any

from clearcite.adapters.parsers.formats import LocalParser
from clearcite.adapters.parsers.process import ChildLimits
from clearcite.domain.corpus import Description, DocumentKey
from clearcite.domain.manifest import PipelineManifest
from clearcite.errors import InputError
from clearcite.ingest.draft import Draft, LocalDrafter, Recipe
from clearcite.storing import Job
from clearcite.text.analysis import Analyzer
from clearcite.wiring.drafting import ChildDrafter
from tests.support import terms

UNSAFE = "the document could not be parsed safely"


def job(number: int, content: bytes, *, kind: Any = "project", **description: Any) -> Job:
    return Job(
        event_id=number,
        fence=1,
        generation="g",
        kind=kind,
        key=DocumentKey(tenant_id="t", source_id="s", document_id=f"some-name-{number}.md"),
        slot=number,
        attempts=1,
        content=content,
        content_sha256="0" * 64,
        description=Description(source_uri="u", source_version="1", **description),
    )


def jobs() -> Iterator[Job]:
    for n in range(40):
        yield job(4 * n, b"# Head %d\n\nA sentence. Another one with CVX-%d.\n" % (n, n))
        yield job(4 * n + 1, "Prazo de validade não é só isso.".encode(), language="pt", title=f"T {n}")
        yield job(4 * n + 2, b"\xff" if n % 3 else b"plain", media_type="text/plain")
        yield job(4 * n + 3, b"", kind="access")


def told(draft: Draft | InputError | None) -> Any:
    if draft is None:
        return None
    return draft.message if isinstance(draft, InputError) else terms.told(draft)


def test_a_draft_made_in_the_child_is_the_one_made_here() -> None:
    manifest = PipelineManifest(
        parser="p", chunker="c", analysis="a", embedder=None, languages=("pt", "en"), chunk_words=20
    )
    recipe = Recipe(analyzer=Analyzer(("pt", "en")), chunk_words=20)
    local = LocalDrafter(parser=LocalParser(), recipe=recipe)
    child = ChildDrafter(manifest)
    try:
        made = [told(draft) for draft in child.draft_many(jobs())]
    finally:
        child.close()
    wanted = [told(draft) for draft in local.draft_many(jobs())]
    assert made == wanted
    assert sum(isinstance(item, str) for item in wanted) == 26
    assert sum(item is None for item in wanted) == 40


def test_a_child_that_is_renewed_or_killed_in_between_makes_the_same_drafts() -> None:
    """What one child told of its terms means nothing of another's."""
    manifest = PipelineManifest(parser="p", chunker="c", analysis="a", embedder=None, languages=("pt", "en"))
    recipe = Recipe(analyzer=Analyzer(("pt", "en")), chunk_words=manifest.chunk_words)
    wanted = [told(draft) for draft in LocalDrafter(parser=LocalParser(), recipe=recipe).draft_many(jobs())]
    child = ChildDrafter(manifest, ChildLimits(documents=17))
    try:
        made = [told(draft) for draft in child.draft_many(islice(jobs(), 80))]
        assert child.pid is not None
        os.kill(child.pid, signal.SIGKILL)
        made += [told(draft) for draft in child.draft_many(islice(jobs(), 80, None))]
    finally:
        child.close()
    assert [one for one in made if one != UNSAFE] == [
        one for one, other in zip(wanted, made, strict=True) if other != UNSAFE
    ]
    assert made.count(UNSAFE) <= 1
