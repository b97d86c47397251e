"""Golden samples: what some documents must hold once they are taken in, whoever asks what.

They look at the first layers, source and text, before any question: a parser that loses a table, a connector that
drops a title or a reader list shows here, and not as a wrong answer weeks later.
"""

from collections.abc import Callable, Iterator

from clearcite.bench.gates import Gate, GateRow, skipped
from clearcite.bench.samples import Golden
from clearcite.domain.corpus import DocumentKey
from clearcite.ports import StoredDocument

NAME = "content"
OWNER = "whoever runs ingestion: source, connector, parser"


def golden_gate(samples: tuple[Golden, ...], stored: Callable[[DocumentKey], StoredDocument | None]) -> Gate:
    """One sample that does not hold blocks. Codes name what is wrong, and no text of the document."""
    if not samples:
        return skipped(NAME, "the suite has no golden sample")
    found = {sample.id: faults_of(sample, stored(sample.document)) for sample in samples}
    failing = {name: codes for name, codes in found.items() if codes}
    return Gate(
        name=NAME,
        state="fail" if failing else "pass",
        value=str(len(failing)),
        limit="0",
        n=len(samples),
        n_scored=len(samples),
        reason=f"to act: {OWNER}" if failing else None,
        rows=tuple(
            _row(name, codes) for name, codes in sorted(found.items(), key=lambda item: (not item[1], item))
        ),
    )


def faults_of(sample: Golden, stored: StoredDocument | None) -> tuple[str, ...]:
    """Codes of what does not hold; a document that is not served holds nothing."""
    if stored is None or not stored.present:
        return ("not_served",)
    return tuple(_faults(sample, stored))


def _faults(sample: Golden, stored: StoredDocument) -> Iterator[str]:
    text = " ".join(stored.text.split())
    lines = {" ".join(line.lstrip("# ").split()) for line in stored.text.splitlines()}
    access = stored.head_access
    if any(" ".join(wanted.split()) not in text for wanted in sample.contains):
        yield "string_missing"
    if any(" ".join(unwanted.split()) in text for unwanted in sample.lacks):
        yield "string_present"
    if sample.title is not None and stored.title != sample.title:
        yield "title_differs"
    if any(heading not in lines for heading in sample.headings):
        yield "heading_missing"
    if sample.allowed_groups is not None and set(sample.allowed_groups) != set(access.allow):
        yield "readers_differ"
    if sample.denied_groups is not None and set(sample.denied_groups) != set(access.deny):
        yield "readers_differ"
    if sample.status is not None and sample.status != access.status:
        yield "status_differs"
    for name, wanted in sample.fields:
        if getattr(stored.description, name) != wanted:
            yield f"{name}_differs"


def _row(name: str, codes: tuple[str, ...]) -> GateRow:
    return GateRow(
        tenant=None,
        part=name,
        state="fail" if codes else "pass",
        value=str(len(codes)),
        n=1,
        n_scored=1,
        reason=", ".join(codes) or None,
    )
