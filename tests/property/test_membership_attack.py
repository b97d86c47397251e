"""The membership attack of Wang et al. (S&P 2017) against shared search statistics, and against ours.

The attacker may write and read documents of his own. He wants to know whether a hidden document contains a word.
He writes one document with that word and one, otherwise alike, with a word he has made up, and asks for both words.
Where hidden documents count, the word that stands in one more of them weighs less, so his first document falls
behind the second; where they do not count, both weigh the same.
"""

import random
from collections.abc import Callable, Sequence
from pathlib import Path

import apsw
import pytest

from clearcite.adapters.indexes.local import LocalIndex
from clearcite.domain.manifest import PipelineManifest
from clearcite.domain.retrieval import HitPage
from clearcite.testing.index_fakes import ReadableSlots
from clearcite.testing.index_suite import chunk_id, entry, words

PIPELINE = PipelineManifest(parser="p", chunker="c", analysis="a", embedder=None)
TRIALS, SEED = 200, 20170524
FILLER = [f"filler text number {n} about the weather" for n in range(20)]

Ask = Callable[[Sequence[str], Sequence[str], str], tuple[list[tuple[int, float]], object]]
"""(hidden documents, the attacker's, question) → what he sees: (number of his document, score) in order; raw."""


def attack(ask: Ask) -> float:
    """The share of trials in which the attacker is right about the hidden document."""
    draw = random.Random(SEED)
    right = 0
    for trial in range(TRIALS):
        secret, made_up = f"secret{trial}", f"madeup{trial}"
        is_member = draw.random() < 0.5
        hidden = [*FILLER, f"plan {secret if is_member else 'other'} now"]
        mine = [f"memo {secret} one", f"memo {made_up} one"]
        draw.shuffle(hidden)
        seen, _ = ask(hidden, mine, f"{secret} {made_up}")
        scores = dict(seen)
        right += (scores[0] < scores[1]) == is_member
    return right / TRIALS


class Fts5:
    """SQLite's BM25 with a correct join against the access list: no hidden document is ever returned."""

    def __init__(self) -> None:
        self.db = apsw.Connection(":memory:")
        self.db.execute("create virtual table doc using fts5(body)")
        self.db.execute("create table acl(id integer primary key, owner text)")

    def __call__(
        self, hidden: Sequence[str], mine: Sequence[str], question: str
    ) -> tuple[list[tuple[int, float]], object]:
        self.db.execute("delete from doc; delete from acl")
        owned = [(text, "me") for text in mine] + [(text, "other") for text in hidden]
        for number, (text, owner) in enumerate(owned):
            self.db.execute("insert into doc(rowid, body) values (?, ?)", (number, text))
            self.db.execute("insert into acl values (?, ?)", (number, owner))
        rows = self.db.execute(
            "select doc.rowid, -bm25(doc) from doc join acl on acl.id = doc.rowid"
            " where doc.body match ? and owner = 'me' order by rank",
            (" OR ".join(question.split()),),
        ).fetchall()
        return rows, rows


class Local:
    def __init__(self, folder: Path) -> None:
        self.folder, self.runs = folder, 0

    def __call__(
        self, hidden: Sequence[str], mine: Sequence[str], question: str
    ) -> tuple[list[tuple[int, float]], HitPage]:
        self.runs += 1
        index = LocalIndex(self.folder / str(self.runs), PIPELINE)
        entries = [entry(number, text) for number, text in enumerate([*mine, *hidden])]
        view = index.open(index.commit(None, index.write(entries)))
        page = view.search(words(question), ReadableSlots({"acme": range(len(mine))}), None, 10)
        number_of = {chunk_id(number): number for number in range(len(entries))}
        return [(number_of[hit.chunk_id], hit.score) for hit in page.hits], page


def test_against_the_index_the_attacker_guesses(tmp_path: Path) -> None:
    accuracy = attack(Local(tmp_path))
    assert 0.35 < accuracy < 0.65, f"seed {SEED}"


def test_against_fts5_with_a_correct_join_he_knows() -> None:
    """The control."""
    assert attack(Fts5()) >= 0.95, f"seed {SEED}"


@pytest.mark.parametrize("secret", ["merger", "dismissal", "x1"])
def test_what_he_sees_is_the_same_byte_for_byte(tmp_path: Path, secret: str) -> None:
    ask = Local(tmp_path)
    mine = [f"memo {secret} one", "memo madeup one", f"{secret} {secret}"]
    worlds = [FILLER, [*FILLER, f"plan {secret}"], [*FILLER, *[f"{secret} {n}" for n in range(50)]], []]
    pages = {ask(hidden, mine, f"{secret} madeup")[1] for hidden in worlds}
    assert len(pages) == 1


def test_with_fts5_he_sees_a_difference() -> None:
    """The control."""
    ask = Fts5()
    mine = ["memo merger one", "memo madeup one"]
    without, having = (ask(hidden, mine, "merger madeup")[1] for hidden in (FILLER, [*FILLER, "plan merger"]))
    assert without != having
