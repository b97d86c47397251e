"""How many documents may go at once without somebody's word: a disk that is not mounted looks like a deletion."""

from dataclasses import dataclass

from clearcite.config import SourceSettings
from clearcite.errors import DeletesWait

ANY_NUMBER = 1 << 62


@dataclass(frozen=True, kw_only=True, slots=True)
class Deletions:
    """Deletes that a full listing finds are withheld when there are more than ``count`` *and* more than ``share``
    percent of the documents, unless an approval covers them: ``approved`` is a ceiling."""

    count: int = 20
    share: int = 20
    approved: int = 0

    def withhold(self, gone: int, alive: int) -> bool:
        return gone > self.count and gone * 100 > self.share * alive and gone > self.approved

    def waiting(self, gone: int, alive: int, source: SourceSettings) -> DeletesWait:
        """What is said of deletes that are withheld."""
        exceeded = f", more than the {self.approved} approved" if self.approved else ""
        tenant = "" if source.tenant == SourceSettings(path="").tenant else f" --tenant {source.tenant}"
        return DeletesWait(
            f"{gone} of {alive} documents of the source {source.source_id} have gone{exceeded}; their deletes wait"
            f" for approval. To accept them: clearcite approve {source.source_id}{tenant} --up-to {gone}"
        )
