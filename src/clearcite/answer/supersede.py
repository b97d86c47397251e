"""Text that a readable document in force supersedes is not quoted as current."""

from clearcite.domain.retrieval import Dropped, Passage, Ranked
from clearcite.ports import StoredDocument


def set_aside_superseded(
    ranked: tuple[Ranked, ...], superseding: tuple[StoredDocument, ...]
) -> tuple[tuple[Ranked, ...], tuple[Dropped, ...]]:
    """``superseding``: documents this caller may read, in force now, that supersede others of their source."""
    rules = {
        (document.key.tenant_id, document.key.source_id, item.document_id, _folded(item.heading))
        for document in superseding
        for item in document.description.supersedes
    }
    if not rules:
        return ranked, ()
    kept = tuple(item for item in ranked if not _is_superseded(item.passage, rules))
    lost = tuple(
        Dropped(chunk_id=item.passage.chunk_id, reason="superseded")
        for item in ranked
        if _is_superseded(item.passage, rules)
    )
    return kept, lost


def _is_superseded(passage: Passage, rules: set[tuple[str, str, str, str | None]]) -> bool:
    key = (passage.key.tenant_id, passage.key.source_id, passage.key.shown_id)
    return any((*key, _folded(heading)) in rules for heading in (None, *passage.heading))


def _folded(heading: str | None) -> str | None:
    return None if heading is None else " ".join(heading.casefold().split())
