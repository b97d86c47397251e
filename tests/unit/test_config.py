from pathlib import Path

import pytest

from clearcite.config import Settings, load_settings
from clearcite.errors import ConfigError


def write(folder: Path, text: str) -> Path:
    (folder / "clearcite.toml").write_text(text, encoding="utf-8")
    return folder


def test_flags_go_before_the_environment_before_the_file_before_defaults(tmp_path: Path) -> None:
    folder = write(tmp_path, "[answer]\ndepth = 40\nclaims = 2\nevidence_limit = 5\n")
    settings = load_settings(
        folder, env={"CLEARCITE_DEPTH": "50", "CLEARCITE_CLAIMS": "1"}, flags={"depth": 60}
    )
    assert (settings.depth, settings.claims, settings.evidence_limit, settings.answer_words) == (
        60,
        1,
        5,
        100,
    )
    assert settings.origins["depth"] == "flag"
    assert settings.origins["claims"] == "CLEARCITE_CLAIMS"
    assert settings.origins["evidence_limit"] == "clearcite.toml"
    assert "answer_words" not in settings.origins


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("[answr]\n", "answr"),
        ("[answer]\ndeth = 1\n", "answer.deth"),
        ("[[sources]]\npath = 'x'\ngroup = 'a'\n", "group"),
        ("[routes]\nlive = ['x']\n", "live"),
    ],
)
def test_an_unknown_key_is_refused_and_named(tmp_path: Path, text: str, named: str) -> None:
    with pytest.raises(ConfigError, match=named):
        load_settings(write(tmp_path, text), env={})


@pytest.mark.parametrize(
    "text",
    [
        "[answer]\ndepth = 'many'\n",
        "[answer]\ndepth = true\n",
        "[answer]\ndepth = 0\n",
        "[text]\nsemantic = 'maybe'\n",
        "[text]\nlanguages = []\n",
        "[synonyms]\nhotel = 'inn'\n",
        "[[sources]]\ntenant = 'x'\n",
        "[[sources]]\npath = 'x'\nauthority = true\n",
        "sources = 3\n",
        "not toml",
    ],
)
def test_a_value_of_the_wrong_kind_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(ConfigError):
        load_settings(write(tmp_path, text), env={})


def test_the_hash_covers_what_changes_answers_and_not_where_things_lie() -> None:
    assert Settings().hash() == Settings(store="/elsewhere", base="/x").hash()
    assert Settings().hash() != Settings(depth=7).hash()
    assert Settings().hash() != Settings(synonyms=(("a", ("b",)),)).hash()


def test_sources_give_their_documents_tenant_groups_and_trust(tmp_path: Path) -> None:
    folder = write(
        tmp_path,
        "[[sources]]\npath = 'docs'\ntenant = 'acme'\nallowed_groups = ['staff']\ntrusted = false\n",
    )
    (source,) = load_settings(folder, env={}).sources
    assert (source.tenant, source.allowed_groups, source.trusted) == ("acme", ("staff",), False)
