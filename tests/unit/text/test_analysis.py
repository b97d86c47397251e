import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clearcite.errors import ConfigError
from clearcite.text.analysis import Analyzer, analysed_length, detect_language, is_covered
from clearcite.text.tokens import identifiers, raw_tokens, versions

ANALYZER = Analyzer()


def finds(question: str, text: str, language: str | None = None, analyzer: Analyzer = ANALYZER) -> list[str]:
    """The surfaces of the question that the text contains."""
    terms = analyzer.analyze_document(text, language)
    return [unit.surface for unit in analyzer.analyze_question(question) if is_covered(unit, terms)]


def test_a_document_word_gives_its_folded_form_and_one_stem() -> None:
    assert ANALYZER.analyze_document("The running workers") == {
        "=running": 1, "en:run": 1, "=workers": 1, "en:worker": 1,
    }  # fmt: skip


def test_a_question_word_is_one_unit_with_a_form_per_language() -> None:
    (unit,) = ANALYZER.analyze_question("running")
    assert unit.surface == "running"
    assert unit.forms[:3] == ("=running", "en:run", "pt:running")
    assert len(set(unit.forms)) == len(unit.forms)


def test_repeating_a_word_adds_no_unit() -> None:
    assert ANALYZER.analyze_question("jobs jobs JOBS") == ANALYZER.analyze_question("jobs")


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("runs", "He is running"),
        ("informacao", "A informação não está disponível para todos"),
        ("informações", "A informação não está disponível"),
        ("informacoes", "A informação não está disponível"),
        ("café", "the cafe is open"),
        ("STRASSE", "die Straße"),
        ("email", "Send an e-mail to us"),
        ("e-mail", "Send an email to us"),
        ("CVX-4210", "Part cvx-4210 is recalled"),
        ("CVX4210", "Part CVX-4210 is recalled"),
        ("concurrency", "set workers.concurrency to 4"),
        ("workers.concurrency", "set workers.concurrency to 4"),
        ("max retries", "maxRetries = 3"),
        ("maxRetries", "max_retries = 3"),
        ("max-age", "use --max-age 60"),
        ("--max-age", "use --max-age 60"),
        ("2.6", "since v2.6 only"),
        ("v2.6", "since 2.6 only"),
        ("1000", "up to 1,000 rows"),
        ("1,000", "up to 1000 rows"),
        ("24 h", "kept for 24h"),
        ("p53", "the p53 gene"),
        ("C++", "written in C++"),
        ("hosts", "edit /etc/hosts"),
        ("退款", "如何处理退款"),
        ("pass\u200bword", "the password"),
        ("O'Brien", "Mr O’Brien’s desk"),
        ("USA", "in the U.S.A. only"),
    ],
)  # fmt: skip
def test_a_question_finds_other_spellings_of_its_words(question: str, text: str) -> None:
    units = ANALYZER.analyze_question(question)
    assert units
    assert len(finds(question, text)) == len(units)


@pytest.mark.parametrize(
    ("question", "text"),
    [("CVX-4210", "Part CVX-4211 is fine"), ("B-42", "B-43 and B-420"), ("v2.6", "since v2.60")],
)
def test_the_whole_form_of_an_identifier_is_exact(question: str, text: str) -> None:
    wholes = [form for unit in ANALYZER.analyze_question(question) for form in unit.forms if form[0] == "#"]
    assert wholes
    assert not set(wholes) & set(ANALYZER.analyze_document(text))
    assert set(wholes) & set(ANALYZER.analyze_document(question))


def test_stop_words_are_dropped_and_short_words_and_numbers_kept() -> None:
    assert set(ANALYZER.analyze_document("The vitamin C is in B 12 of it")) >= {"=c", "=12", "=b"}
    assert not {"=the", "=of", "=is"} & set(ANALYZER.analyze_document("The vitamin C is in B 12 of it"))
    assert not ANALYZER.analyze_document("don't")


def test_an_acronym_that_looks_like_a_stop_word_is_kept_unless_all_is_in_capitals() -> None:
    assert "=it" in ANALYZER.analyze_document("Ask the IT department")
    assert "=it" not in ANALYZER.analyze_document("Ask for it")
    assert [unit.surface for unit in ANALYZER.informative("What does the WHO say?")] == ["who", "say"]
    assert ANALYZER.informative("WHO SAYS THAT IT WORKS?") == ANALYZER.informative("who says that it works?")


def test_a_stop_word_of_another_language_is_dropped_only_where_it_is_one() -> None:
    assert "=era" in ANALYZER.analyze_document("the era of the steam engine")
    assert "=era" not in ANALYZER.analyze_document("ele era uma pessoa que não dizia nada")
    assert [unit.surface for unit in ANALYZER.analyze_question("what was the era of steam")] == [
        "era",
        "steam",
    ]


def test_the_language_is_voted_by_stop_words_and_the_first_one_wins_a_tie() -> None:
    assert detect_language("O servidor não está disponível") == "pt"
    assert detect_language("The server is not available") == "en"
    assert detect_language("CVX-4210") == "en"
    assert detect_language("CVX-4210", ("pt", "en")) == "pt"


def test_a_stated_language_beats_the_vote_and_an_unknown_one_is_indexed_by_words() -> None:
    assert "pt:the" in ANALYZER.analyze_document("the servers", "pt-BR")
    assert set(ANALYZER.analyze_document("die Server", "de")) == {"=die", "=server"}


def test_the_length_counts_words_once() -> None:
    assert analysed_length(ANALYZER.analyze_document("running workers run p53 CVX-4210")) == 6


def test_synonyms_are_forms_of_the_word_and_several_words_are_units() -> None:
    analyzer = Analyzer(synonyms={"PTO": ("vacation", "paid time off")})
    units = analyzer.analyze_question("PTO policy")
    assert [unit.surface for unit in units] == ["pto", "paid", "time", "policy"]
    assert {"=pto", "=vacation", "en:vacat"} <= set(units[0].forms)
    assert [unit.surface for unit in analyzer.informative("PTO policy")] == ["pto", "policy"]
    assert finds("PTO", "the vacation rules", analyzer=analyzer) == ["pto"]


def test_a_code_has_synonyms_like_any_word() -> None:
    analyzer = Analyzer(synonyms={"K8s": ("kubernetes", "container platform"), "kubernetes": ("k8s",)})
    assert finds("upgrade K8s", "kubernetes is upgraded at night", analyzer=analyzer) == ["upgrade", "k8s"]
    assert [unit.surface for unit in analyzer.analyze_question("k8s")] == ["k8s", "container", "platform"]
    assert "=kubernetes" in analyzer.informative("k8s")[0].forms
    assert finds("kubernetes", "the K8s nodes", analyzer=analyzer) == ["kubernetes"]
    assert finds("upgrade K8s", "kubernetes is upgraded at night", analyzer=ANALYZER) == ["upgrade"]


def test_the_fingerprint_tells_configurations_apart() -> None:
    prints = {
        Analyzer().fingerprint,
        Analyzer(("pt", "en")).fingerprint,
        Analyzer(synonyms={"pto": ("vacation",)}).fingerprint,
        Analyzer(synonyms={"pto": ("leave",)}).fingerprint,
    }
    assert len(prints) == 4
    assert Analyzer().fingerprint == ANALYZER.fingerprint


@pytest.mark.parametrize("languages", [(), ("xx",), ("en", "en")])
def test_a_language_that_cannot_be_analysed_is_refused(languages: tuple[str, ...]) -> None:
    with pytest.raises(ConfigError):
        Analyzer(languages)


def test_a_synonym_key_of_several_words_is_refused() -> None:
    with pytest.raises(ConfigError):
        Analyzer(synonyms={"paid time off": ("pto",)})


@pytest.mark.parametrize(
    ("question", "needed"),
    [
        ("How long are completed jobs kept?", ["completed", "jobs", "kept"]),
        ("What is the mailing list?", ["mailing", "list"]),
        ("List the mailing lists", ["mailing", "lists"]),
        ("Qual é o prazo de reembolso?", ["prazo", "reembolso"]),
        ("Quanto tempo os jobs ficam retidos?", ["jobs", "ficam", "retidos"]),
        ("Tell me about CVX-4210", ["cvx-4210"]),
        ("Who?", []),
        ("退款的期限是多少", ["退款", "期限"]),
    ],
)
def test_informative_words_are_those_an_answer_has_to_contain(question: str, needed: list[str]) -> None:
    assert [unit.surface for unit in ANALYZER.informative(question)] == needed


@pytest.mark.parametrize(
    ("text", "codes", "named"),
    [
        ("CVX-4210 costs 1,000 in v2.6", ("cvx-4210",), ("2.6",)),
        ("set workers.concurrency and max_retries", ("workers.concurrency", "max_retries"), ()),
        ("a 24-hour risk-based e-mail, 10mg", (), ()),
        (
            "call getUserById(--max-age) in /etc/app/x.toml",
            ("getuserbyid", "--max-age", "etc/app/x.toml"),
            (),
        ),
        ("on 2024-03-01 at 12:30", (), ()),
        ("version 3 and 2.6.1, release 1.4-rc1", (), ("3", "2.6.1", "1.4-rc1")),
        ("mail ana.b@example.com", ("ana.b@example.com",), ()),
        ("the U.S.A. and a Ph.D", ("ph.d",), ()),
    ],
)
def test_identifiers_are_told_apart_from_numbers_and_versions(
    text: str, codes: tuple[str, ...], named: tuple[str, ...]
) -> None:
    assert identifiers(text) == codes
    assert versions(text) == named


@given(st.text(max_size=60))
def test_any_text_is_analysed_and_finds_itself(text: str) -> None:
    terms = ANALYZER.analyze_document(text, "de")
    assert all(count > 0 for count in terms.values())
    for unit in Analyzer(("en",)).analyze_question(text):
        assert is_covered(unit, terms)


def test_hostile_tokens_take_linear_time() -> None:
    started = time.process_time()
    for text in ("a-" * 50_000, "1," * 50_000, "字" * 50_000, "_" * 50_000, "A" * 50_000, "." * 50_000):
        ANALYZER.analyze_document(text)
    assert time.process_time() - started < 60


def test_raw_tokens_do_not_cut_numbers_or_names() -> None:
    assert raw_tokens("v2.6, 3.14; a_b-c (x)") == ["v2.6", "3.14", "a_b-c", "x"]


def test_threads_share_an_analyzer() -> None:
    texts = [f"running workers number {i} and informação {i % 7}" for i in range(200)]
    expected = [ANALYZER.analyze_document(text) for text in texts]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(Analyzer().analyze_document, texts)) == expected
