"""The recipes of the page make accepted cases: on stand-ins everywhere, on the real libraries where they are."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from clearcite.scope_check.cases import parse_case
from clearcite.scope_check.measure import measure

PAGE = Path(__file__).parents[3] / "docs" / "how-to" / "scope-check.md"
FOUND = ("a", "b", "b", "c", "d")
"""Documents of the chunks that a retriever returns, best first where it has an order."""


@pytest.fixture(scope="module")
def recipes() -> dict[str, Any]:
    made: dict[str, Any] = {}
    exec(PAGE.read_text(encoding="utf-8").split("```python\n")[1].split("```")[0], made)
    return made


def accepted(recipes: dict[str, Any], returned: Sequence[str]) -> None:
    """Three documents, one of them closed to the asker, one that he wants not among them."""
    asker = SimpleNamespace(tenant="acme", cohort="staff")
    policy = SimpleNamespace(may_read=lambda _, document: document != returned[0], count=lambda _: 7)
    made = recipes["case"]("q", asker, 3, returned, policy, ["z"])
    outcome = measure(parse_case(made))
    assert made["returned_doc_ids"] == list(dict.fromkeys(returned))[:3]
    assert (list(outcome.leaked), outcome.wanted, len(made["returned_doc_ids"])) == ([returned[0]], 1, 3)


def stand_ins() -> dict[str, Any]:
    thing = SimpleNamespace
    return {
        "from_langchain": thing(invoke=lambda _: [thing(metadata={"doc_id": one}) for one in FOUND]),
        "from_llamaindex": thing(retrieve=lambda _: [thing(node=thing(ref_doc_id=one)) for one in FOUND]),
        "from_haystack": thing(
            run=lambda query: {"documents": [thing(meta={"doc_id": one}) for one in FOUND if query]}
        ),
    }


@pytest.mark.parametrize("name", stand_ins())
def test_a_recipe_makes_a_case_from_an_object_of_the_library_s_shape(
    recipes: dict[str, Any], name: str
) -> None:
    returned = recipes[name](stand_ins()[name], "?")
    assert returned == list(FOUND)
    accepted(recipes, returned)


def test_the_recipe_for_plain_sql_makes_a_case_from_a_database(recipes: dict[str, Any]) -> None:
    database = sqlite3.connect(":memory:")
    database.execute("CREATE TABLE pages(id, words)")
    database.executemany("INSERT INTO pages VALUES (?, 'pump')", [(one,) for one in FOUND])
    returned = recipes["from_sql"](database, "SELECT id FROM pages WHERE words = ?", "pump")
    database.close()
    accepted(recipes, returned)


def langchain() -> Any:
    documents = pytest.importorskip("langchain_core.documents", reason="langchain-core is not installed")
    from langchain_core.embeddings import DeterministicFakeEmbedding  # type: ignore[import-not-found]
    from langchain_core.vectorstores import InMemoryVectorStore  # type: ignore[import-not-found]

    store = InMemoryVectorStore(DeterministicFakeEmbedding(size=8))
    store.add_documents(
        [
            documents.Document(page_content=f"pump {n}", metadata={"doc_id": one})
            for n, one in enumerate(FOUND)
        ]
    )
    return store.as_retriever(search_kwargs={"k": len(FOUND)})


def llamaindex() -> Any:
    core = pytest.importorskip("llama_index.core", reason="llama-index-core is not installed")
    from llama_index.core.node_parser import SentenceSplitter  # type: ignore[import-not-found]

    long = " ".join(f"word{n}." for n in range(300))
    index = core.VectorStoreIndex.from_documents(
        [core.Document(text=f"pump {one} {long}", doc_id=one) for one in sorted(set(FOUND))],
        embed_model=core.MockEmbedding(embed_dim=8),
        transformations=[SentenceSplitter(chunk_size=400, chunk_overlap=0)],
    )
    return index.as_retriever(similarity_top_k=1_000)


def haystack() -> Any:
    library = pytest.importorskip("haystack", reason="haystack-ai is not installed")
    from haystack.components.retrievers.in_memory import (  # type: ignore[import-not-found]
        InMemoryBM25Retriever,
    )
    from haystack.document_stores.in_memory import InMemoryDocumentStore  # type: ignore[import-not-found]

    store = InMemoryDocumentStore()
    store.write_documents(
        [library.Document(content=f"pump {n}", meta={"doc_id": one}) for n, one in enumerate(FOUND)]
    )
    return InMemoryBM25Retriever(store)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("name", "made"), [("langchain", langchain), ("llamaindex", llamaindex), ("haystack", haystack)]
)
def test_a_recipe_makes_a_case_from_the_library_itself(
    recipes: dict[str, Any], name: str, made: Callable[[], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HAYSTACK_TELEMETRY_ENABLED", "False")
    returned = recipes[f"from_{name}"](made(), "pump")
    assert set(returned) == set(FOUND) and len(returned) >= len(FOUND), "a document has several chunks"
    accepted(recipes, returned)
