"""Which generation answers is decided by operators, on a panel, and can be taken back."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.interfaces.test_cli_builds import CONFIG, POLICY, SYNONYMS, active, generations, live
from tests.support.shell import Done, clearcite, write
from tests.support.world import fast_folder

SUITE = """
[[cases]]
id = "lodging"
ask = {text = "What is the lodging allowance?", as = "ann"}
expect = {status = "answered", cites = ["lodging.md"], never_shown = ["EUR 999"]}

[[cases]]
id = "nothing"
ask = {text = "What is the weather on Mars?", tenant = "default", groups = ["staff"]}
expect = {status = "insufficient_evidence", forbidden = ["board.md"]}
"""
INN = """
[[cases]]
id = "inn"
ask = {text = "What is the inn allowance?", as = "ann"}
expect = {status = "answered", cites = ["lodging.md"]}
"""
OLGA = ("--as", "olga")
BUILD = ("index", "build", "--settings", "candidate.toml")


@pytest.fixture(scope="module")
def template() -> Iterator[Path]:
    """A store with a candidate beside the live generation."""
    folder = fast_folder()
    docs = {f"docs/{i}.md": f"# Room {i}\n\nRoom {i} has {i + 2} beds.\n" for i in range(5)}
    docs["docs/lodging.md"] = "# Lodging\n\nThe lodging allowance is EUR 140 per night.\n"
    docs["docs/board.md"] = (
        "---\nallowed_groups: [board]\n---\n# Board\n\nThe lodging allowance is EUR 999.\n"
    )
    write(folder, {"clearcite.toml": CONFIG, "policy.toml": POLICY, "suite.toml": SUITE, **docs})
    write(folder, {"candidate.toml": SYNONYMS})
    assert clearcite(folder, "ingest").code == 0
    assert clearcite(folder, *BUILD).code == 0
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def shop(template: Path, empty: Path) -> Path:
    shutil.copytree(template, empty, dirs_exist_ok=True)
    return empty


def built(folder: Path) -> str:
    return str(generations(folder)[-1]["name"])


def panel(folder: Path, *args: str, suite: str = "suite.toml") -> Done:
    return clearcite(folder, "index", "panel", *args, "--suite", suite, *OLGA, "--format", "json")


def promote(folder: Path, name: str, *more: str) -> Done:
    return clearcite(folder, "index", "promote", name, "--reason", "new words", *OLGA, *more)


def test_a_generation_is_measured_promoted_and_taken_back(shop: Path) -> None:
    before, after = live(shop), built(shop)
    write(shop, {"suite.toml": SUITE + INN})
    assert (panel(shop).code, panel(shop, after).code) == (1, 0)
    shadow = clearcite(
        shop, "index", "shadow", after, "--suite", "suite.toml", *OLGA, "--format", "json"
    ).json
    assert (shadow["questions"], shadow["status_changes"]) == (3, 1)
    assert [item["name"] for item in shadow["differences"]] == ["inn"]
    assert live(shop) == before
    assert promote(shop, after, "--suite", "suite.toml").code == 0
    assert live(shop) == after and active(shop) == [before, after]
    assert clearcite(shop, "index", "rollback", "--reason", "no", *OLGA).code == 0
    assert live(shop) == before
    listed = clearcite(shop, "index", "list", "--format", "json").json["switches"]
    said = [
        (made["switch"]["kind"], made["switch"]["actor"], made["before"], made["after"]) for made in listed
    ]
    who = "default/olga"
    assert said == [("promote", who, before, after), ("rollback", who, after, before)]
    assert listed[0]["switch"]["panel"].startswith("passed; suite ")
    assert listed[0]["switch"]["reason"] == "new words"


def test_a_panel_that_fails_names_the_stage_and_the_owner_and_stops_a_promotion(shop: Path) -> None:
    name = built(shop)
    write(shop, {"docs/plain.txt": "Words without anything above them.\n"})
    assert clearcite(shop, "ingest").code == 0
    found = panel(shop, name)
    assert found.code == 1
    (finding,) = found.json["panel"]["findings"]
    assert (finding["stage"], finding["where"]) == ("content", "default/default/plain.txt")
    assert "owner of the source" in finding["owner"]
    refused = promote(shop, name, "--suite", "suite.toml")
    assert refused.code == 2 and "titled" in refused.err and live(shop) != name
    assert promote(shop, name).code == 2, "without a panel"
    assert promote(shop, name, "--suite", "suite.toml", "--force").code == 0
    (made,) = clearcite(shop, "index", "list", "--format", "json").json["switches"]
    assert made["switch"]["forced"] and made["switch"]["panel"].startswith("failed: titled 7/8")
    assert panel(shop).code == 1, "the live panel goes on failing"
    assert clearcite(shop, "index", "rollback", "--reason", "bad", *OLGA).code == 0


def test_a_least_value_lets_a_panel_pass(shop: Path) -> None:
    write(shop, {"docs/plain.txt": "Words without anything above them.\n"})
    clearcite(shop, "ingest")
    assert panel(shop).code == 1
    write(shop, {"suite.toml": '[minimum]\ntitled = "0.8"\n' + SUITE})
    assert panel(shop).code == 0


def test_what_was_not_measured_does_not_pass(shop: Path) -> None:
    write(
        shop,
        {"suite.toml": SUITE.split("[[cases]]", maxsplit=1)[0] + "[[cases]]" + SUITE.split("[[cases]]")[1]},
    )
    found = panel(shop)
    assert found.code == 1 and found.json["panel"]["rates"]["expected_empty_rate"]["all"] == 0


def test_a_generation_for_which_events_wait_is_not_promoted(shop: Path) -> None:
    name = built(shop)
    assert clearcite(shop, "delete", "0.md", "--tenant", "default").code == 0
    refused = promote(shop, name, "--suite", "suite.toml")
    assert refused.code == 2 and live(shop) != name
    assert "indexed" in refused.err or "events" in refused.err
    assert clearcite(shop, *BUILD).code == 0
    assert promote(shop, name, "--suite", "suite.toml").code == 0


@pytest.mark.parametrize("who", ["ann", "nobody", None])
@pytest.mark.parametrize("command", ["panel", "shadow", "promote", "rollback", "retire"])
def test_only_an_operator_may(shop: Path, command: str, who: str | None) -> None:
    name, before = built(shop), live(shop)
    args = [] if command == "rollback" else [name]
    args += ["--suite", "suite.toml"] if command in ("panel", "shadow", "promote") else []
    args += ["--reason", "x"] if command in ("promote", "rollback") else []
    done = clearcite(shop, "index", command, *args, *(() if who is None else ("--as", who)))
    assert (done.code, done.out, live(shop), len(active(shop))) == (2, "", before, 2)


@pytest.mark.parametrize("command", ["panel", "shadow", "promote", "retire"])
def test_a_generation_that_is_none_is_wrong_input_and_nothing_is_compared_with_it(
    shop: Path, command: str
) -> None:
    args = ["--suite", "suite.toml"] if command in ("panel", "shadow", "promote") else []
    args += ["--reason", "x"] if command == "promote" else []
    done = clearcite(shop, "index", command, "g-000000000000", *args, *OLGA)
    assert (done.code, done.out) == (2, "") and "no such generation" in done.err


def test_once_an_operator_has_promoted_ingestion_switches_no_more(shop: Path) -> None:
    before, name = live(shop), built(shop)
    assert promote(shop, name, "--suite", "suite.toml").code == 0
    write(shop, {"docs/new.md": "# New\n\nThe new wing opens in May.\n"})
    done = clearcite(shop, "ingest")
    assert (done.code, live(shop)) == (0, name) and "index build" in done.err
    assert [item["served"] for item in generations(shop)] == [8, 8]
    assert clearcite(shop, "index", "rollback", "--reason", "back", *OLGA).code == 0
    hits = clearcite(shop, "search", "new wing", "--tenant", "default", "--group", "staff").json["hits"]
    assert live(shop) == before and hits[0]["document_id"] == "new.md"


def test_a_generation_that_is_retired_is_gone_and_the_live_one_is_not(shop: Path) -> None:
    before, name = live(shop), built(shop)
    assert promote(shop, name, "--suite", "suite.toml").code == 0
    assert clearcite(shop, "index", "retire", name, *OLGA).code == 2
    assert clearcite(shop, "index", "retire", before, *OLGA).code == 0
    assert active(shop) == [name]
    refused = clearcite(shop, "index", "rollback", "--reason", "back", *OLGA)
    assert refused.code == 2 and live(shop) == name


def test_nobody_switches_to_a_generation_that_cannot_be_read(shop: Path) -> None:
    before, name = live(shop), built(shop)
    assert promote(shop, name, "--force").code == 0
    for path in (shop / ".clearcite/index" / before).glob("*.segment"):
        path.write_bytes(path.read_bytes()[:-1] + b"?")
    refused = clearcite(shop, "index", "rollback", "--reason", "back", *OLGA, "--force")
    assert (refused.code, live(shop)) == (4, name)
    doctor = clearcite(shop, "doctor")
    assert doctor.code == 2 and f"mend it with: clearcite index retire {before}" in doctor.out
    assert clearcite(shop, "index", "retire", before, *OLGA).code == 0
    assert clearcite(shop, "doctor").code == 0


def test_a_panel_and_a_comparison_leave_no_traces(shop: Path) -> None:
    name = built(shop)
    panel(shop, name)
    clearcite(shop, "index", "shadow", name, "--suite", "suite.toml", *OLGA)
    assert clearcite(shop, "inspect", "--operator-view").out == ""


def test_recorded_questions_are_compared_as_those_who_asked_them(shop: Path) -> None:
    for who in ("ann", "olga"):
        clearcite(shop, "ask", "What is the inn allowance?", "--as", who)
    found = clearcite(shop, "index", "shadow", built(shop), *OLGA, "--format", "json").json
    assert (found["questions"], found["status_changes"]) == (2, 2)


BAD: dict[str, Any] = {
    "no case": "",
    "not TOML": "[[cases]",
    "an unknown key": SUITE + "\n[more]\n",
    "a key of the oracle in what is asked": SUITE.replace('as = "ann"', 'as = "ann", status = "answered"'),
    "a repeated id": SUITE + INN + INN,
    "a document nobody knows": SUITE.replace("lodging.md", "lodgings.md"),
    "a subject nobody knows": SUITE.replace('as = "ann"', 'as = "eve"'),
    "no asker": SUITE.replace(', as = "ann"', ""),
    "a status that is none": SUITE.replace('"answered"', '"perhaps"'),
    "a least value above one": '[minimum]\ntitled = "1.5"\n' + SUITE,
    "a least value of nothing known": "[minimum]\nbeauty = 1\n" + SUITE,
}


@pytest.mark.parametrize("what", BAD)
def test_a_suite_that_is_wrong_is_refused(shop: Path, what: str) -> None:
    write(shop, {"suite.toml": BAD[what]})
    done = panel(shop)
    assert (done.code, done.out) == (2, "") and done.err


def test_a_suite_may_be_yaml(shop: Path) -> None:
    text = """
cases:
  - id: lodging
    ask: {text: What is the lodging allowance?, as: ann}
    expect: {status: answered, cites: ["default:lodging.md"]}
  - id: nothing
    ask: {text: What is the weather on Mars?, as: ann}
    expect: {status: insufficient_evidence}
"""
    write(shop, {"suite.yaml": text})
    assert panel(shop, suite="suite.yaml").code == 0
    shown = clearcite(shop, "index", "panel", "--suite", "suite.yaml", *OLGA, "--format", "text").out
    assert re.search(r"recall_at_2 +1 of 1 +100.0 %", shown)
