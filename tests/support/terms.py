"""Terms compared however they are ordered."""

from msgspec.structs import replace

from clearcite.domain.terms import COUNT_BYTES, TERM_BYTES, Terms
from clearcite.ingest.draft import Draft


def counts_of(terms: Terms) -> dict[bytes, int]:
    """Each key with its hint, and how often it stands in the text."""
    keys = [terms.keys[at : at + TERM_BYTES] for at in range(0, len(terms.keys), TERM_BYTES)]
    counts = [
        int.from_bytes(terms.counts[at : at + COUNT_BYTES], "little")
        for at in range(0, len(terms.counts), COUNT_BYTES)
    ]
    return dict(zip(keys, counts, strict=True))


def told(draft: Draft) -> tuple[Draft, list[tuple[dict[bytes, int], int]]]:
    """All that a draft says, in one form."""
    return replace(draft, terms=()), [(counts_of(terms), terms.words) for terms in draft.terms]
