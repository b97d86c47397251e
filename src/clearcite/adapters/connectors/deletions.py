"""How many documents may go at once without somebody's word: a disk that is not mounted looks like a deletion."""

from msgspec import Struct

from clearcite.config import SourceSettings
from clearcite.errors import DeletesWait

ANY_NUMBER = 1 << 62


class Deletions(Struct, frozen=True, kw_only=True):
    """Deletes that a full listing finds are withheld when there are more than ``count`` *and* more than ``share``
    percent of the documents, or when none of several would be left, unless an approval covers them: ``approved`` is
    a ceiling."""

    count: int = 20
    share: int = 20
    approved: int = 0

    def withhold(self, gone: int, alive: int) -> bool:
        is_much = gone > self.count and gone * 100 > self.share * alive
        return (is_much or gone == alive > 1) and gone > self.approved

    def waiting(self, gone: int, alive: int, source: SourceSettings) -> DeletesWait:
        """What is said of deletes that are withheld."""
        exceeded = f", more than the {self.approved} approved" if self.approved else ""
        tenant = "" if source.tenant == SourceSettings(path="").tenant else f" --tenant {source.tenant}"
        which = f"All {alive}" if gone == alive else f"{gone} of {alive}"
        empty = "" if gone < alive or source.kind else f" Is {source.path} there and mounted?"
        return DeletesWait(
            f"{which} documents of the source {source.source_id} have gone{exceeded}; their deletes wait"
            f" for approval.{empty} To accept them: clearcite approve {source.source_id}{tenant} --up-to {gone}"
        )
