"""Defects of a pipeline: what it drafts is spoiled before it is published, so that the fault lives in a generation."""

from collections.abc import Callable, Iterable, Iterator

from msgspec import Struct
from msgspec.structs import replace

from clearcite.domain.corpus import Unit
from clearcite.domain.digest import sha256_text
from clearcite.errors import InputError
from clearcite.ingest.build import Builder
from clearcite.ingest.chunk import Cut
from clearcite.ingest.draft import Draft, Drafter
from clearcite.storing import Job

Spoil = Callable[[Draft], Draft]
LOST_TITLE = "untitled"
LONG_UNIT = 12
LOOKALIKE = str.maketrans("0123456789", "OIZEASGTBg")


class DefectiveDrafter(Struct, frozen=True, kw_only=True):
    """A drafter with a defect. Implements ``Drafter``."""

    inner: Drafter
    spoil: Spoil

    def draft_many(self, jobs: Iterable[Job]) -> Iterator[Draft | InputError | None]:
        for draft in self.inner.draft_many(jobs):
            yield self.spoil(draft) if isinstance(draft, Draft) else draft

    def close(self) -> None:
        self.inner.close()


def defective(spoil: Spoil) -> Callable[[Builder], Builder]:
    return lambda builder: replace(builder, drafter=DefectiveDrafter(inner=builder.drafter, spoil=spoil))


def without_titles(draft: Draft) -> Draft:
    """Title and headings are lost on the way: chunks stand alone."""
    cuts = tuple(replace(cut, context="", heading=()) for cut in draft.cuts)
    return replace(draft, title=LOST_TITLE, cuts=cuts)


def with_damaged_codes(draft: Draft) -> Draft:
    """Figures are read as the letters that look like them; every span keeps its length."""
    text = draft.text.translate(LOOKALIKE)
    return replace(draft, text=text, normal_sha256=sha256_text(text))


def with_split_statements(draft: Draft) -> Draft:
    """Each chunk ends in the middle of its longest statement, and the rest stands in another one."""
    cuts, terms = [], []
    for cut, words in zip(draft.cuts, draft.terms, strict=True):
        halves = _halves(cut)
        cuts += halves
        terms += [words] * len(halves)
    return replace(draft, cuts=tuple(cuts), terms=tuple(terms))


def _halves(cut: Cut) -> list[Cut]:
    long = max(cut.units, key=lambda unit: unit.end - unit.start, default=None)
    if long is None or long.end - long.start < LONG_UNIT:
        return [cut]
    at = (long.start + long.end) // 2
    first = long._replace(end=at)
    rest = Unit(kind="sentence", start=at, end=long.end)
    before = tuple(unit for unit in cut.units if unit.end <= long.start)
    after = tuple(unit for unit in cut.units if unit.start >= long.end)
    return [
        replace(cut, end=at, units=(*before, first)),
        replace(cut, start=at, units=(rest, *after)),
    ]
