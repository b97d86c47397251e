"""A missed grant that no leak test sees: SQLite full-text search over a stale copy of the access lists.

    python examples/sqlite_acl_demo.py > stale.jsonl
    python examples/sqlite_acl_demo.py --sync-permissions > fresh.jsonl
    python -m clearcite.scope_check stale.jsonl --min-cohort-recall 0.8 --max-underfill-rate 0

The source table says that finance may read the third version of the expense policy; the copy in the index was made
before. The stale search returns only what the copy allows: nothing leaks, and the answer is missed. Everything else
(corpus, question, grants, relevance, k) is the same in both runs. Needs a Python whose SQLite has FTS5.
"""

import json
import sqlite3
import sys

DOCUMENTS = [
    ("handbook", "Expense reports are explained in the employee handbook."),
    ("policy-v3", "Expense policy, version 3: meals on a trip are paid up to 40 euros a day."),
    ("board-notes", "Notes of the board on the expense policy of executives."),
    ("menu", "The canteen serves soup on Mondays."),
]
SOURCE_GRANTS = [
    ("handbook", "finance"),
    ("policy-v3", "finance"),
    ("menu", "finance"),
    ("board-notes", "board"),
]
STALE_COPY = [("handbook", "finance"), ("menu", "finance"), ("board-notes", "board")]
QUESTION, COHORT, K, RELEVANT = "expense", "finance", 2, ["policy-v3"]


def main() -> None:
    database = sqlite3.connect(":memory:")
    build(database)
    if "--sync-permissions" in sys.argv[1:]:
        synchronize(database)
    returned = search(database)
    known = sorted({*returned, *RELEVANT})
    grants = dict.fromkeys(
        document
        for (document,) in database.execute("SELECT document FROM source_acl WHERE cohort = ?", (COHORT,))
    )
    case = {
        "id": "acme-finance-expense",
        "tenant": "acme",
        "cohort": COHORT,
        "k": K,
        "eligible_doc_count": len(grants),
        "authorized_doc_ids": [document for document in known if document in grants],
        "relevant_doc_ids": RELEVANT,
        "candidate_doc_ids": returned,
        "returned_doc_ids": returned,
    }
    sys.stdout.write(json.dumps(case) + "\n")


def build(database: sqlite3.Connection) -> None:
    database.executescript(
        "CREATE VIRTUAL TABLE pages USING fts5(document UNINDEXED, body);"
        "CREATE TABLE source_acl(document TEXT, cohort TEXT);"
        "CREATE TABLE index_acl(document TEXT, cohort TEXT);"
    )
    database.executemany("INSERT INTO pages VALUES (?, ?)", DOCUMENTS)
    database.executemany("INSERT INTO source_acl VALUES (?, ?)", SOURCE_GRANTS)
    database.executemany("INSERT INTO index_acl VALUES (?, ?)", STALE_COPY)


def synchronize(database: sqlite3.Connection) -> None:
    database.execute("DELETE FROM index_acl")
    database.execute("INSERT INTO index_acl SELECT document, cohort FROM source_acl")


def search(database: sqlite3.Connection) -> list[str]:
    """The ordinary way: match, join the copy of the lists, best k."""
    rows = database.execute(
        "SELECT document FROM pages JOIN index_acl USING (document)"
        " WHERE pages MATCH ? AND cohort = ? ORDER BY bm25(pages), document LIMIT ?",
        (QUESTION, COHORT, K),
    )
    return [document for (document,) in rows]


if __name__ == "__main__":
    main()
