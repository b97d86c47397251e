"""The limits that keep the code readable, and the rules that a linter does not know."""

import ast
import re
import tomllib
from pathlib import Path

import pytest

import clearcite

ROOT = Path(__file__).resolve().parents[2]
SRC = ROOT / "src" / "clearcite"
FILES = sorted(SRC.rglob("*.py"))
MAX_FILE, MAX_FUNCTION, MAX_PARAMETERS = 500, 60, 6


def functions(path: Path) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]


def length(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


def test_no_file_is_over_500_lines_and_nine_in_ten_are_under_300() -> None:
    sizes = [len(path.read_text(encoding="utf-8").splitlines()) for path in FILES]
    assert max(sizes) <= MAX_FILE
    assert sum(size <= 300 for size in sizes) >= 0.9 * len(sizes)


def test_no_function_is_over_60_lines_and_nine_in_ten_are_under_26() -> None:
    sizes = [length(node) for path in FILES for node in functions(path)]
    assert max(sizes) <= MAX_FUNCTION
    assert sum(size <= 25 for size in sizes) >= 0.9 * len(sizes)


def test_functions_take_few_parameters_except_commands_whose_parameters_are_their_flags() -> None:
    too_many = [
        f"{path.relative_to(SRC)}:{node.name}"
        for path in FILES
        if "cli" not in path.parts
        for node in functions(path)
        if len([a for a in (*node.args.args, *node.args.kwonlyargs) if a.arg not in ("self", "cls")])
        > MAX_PARAMETERS
    ]
    assert too_many == []


def test_nothing_that_is_shipped_relies_on_assert() -> None:
    found = [
        f"{path.relative_to(SRC)}:{node.lineno}"
        for path in FILES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Assert)
    ]
    assert found == []


def test_records_are_structs_and_what_is_run_without_packages_alone_has_data_classes() -> None:
    users = {
        str(path.relative_to(ROOT))
        for folder in (SRC, ROOT / "tests", ROOT / "bench")
        for path in folder.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and node.module == "dataclasses"
        if folder == SRC or {"replace", "fields", "asdict"} & {name.name for name in node.names}
    }
    assert users == {"src/clearcite/scope_check/measure.py"}


def test_the_public_names_are_what_all_says_sorted_and_each_resolves() -> None:
    assert clearcite.__all__ == sorted(clearcite.__all__)
    for name in clearcite.__all__:
        assert getattr(clearcite, name).__name__ == name
    with pytest.raises(AttributeError):
        _ = clearcite.nothing_of_this_name


DEMO_WORDS = (
    "hazelquay", "baybook", "gatehand", "northmoor", "brightwater", "wharf", "refund", "lodging", "invoice",
    "duplicate charge", "oncall", "on-call", "weather", "mars", "hotel", "haulage", "loading bay", "hq-4",
)  # fmt: skip


def demo_words_in(text: str) -> list[str]:
    return [word for word in DEMO_WORDS if re.search(rf"\b{re.escape(word)}", text, re.IGNORECASE)]


def test_no_code_knows_the_words_of_the_demo() -> None:
    found = {
        str(path.relative_to(SRC)): words
        for path in FILES
        if "demo" not in path.parts and "cli" not in path.parts
        if (words := demo_words_in(path.read_text(encoding="utf-8")))
    }
    assert found == {}


def test_the_search_for_demo_words_finds_them_where_they_are() -> None:
    questions = (SRC / "demo" / "corpus" / "questions.toml").read_text(encoding="utf-8")
    assert {"refund", "lodging", "hazelquay"} & set(demo_words_in(questions.replace("hotel", "lodging")))


def test_the_lock_file_pins_by_hash_and_names_no_index() -> None:
    for name in ("requirements.lock", "requirements-model.lock"):
        text = (ROOT / name).read_text(encoding="utf-8")
        assert "://" not in text
        assert "--index" not in text
        pins = re.findall(r"^[a-z0-9][^\n]*==[^\n]*", text, re.MULTILINE)
        assert pins and all(pin.rstrip().endswith("\\") for pin in pins)
        assert text.count("--hash=sha256:") >= len(pins)


def test_every_dependency_of_the_project_is_pinned() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = [*project["dependencies"], *project["optional-dependencies"]["semantic"]]
    names = {re.split(r"[>=<\[]", item)[0].lower() for item in wanted}
    pinned = set(re.findall(r"^([a-z0-9-]+)==", (ROOT / "requirements.lock").read_text(), re.MULTILINE))
    assert names <= pinned
