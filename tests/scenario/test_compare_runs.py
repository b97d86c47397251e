"""``evaluate --baseline``, ``diff``, ``bless`` and ``verify run.json`` on runs of the shipped fixture."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import pytest

from clearcite.bench.run_file import faults_of, sealed
from clearcite.errors import InputError
from tests.support.shell import clearcite
from tests.support.world import fast_folder


@pytest.fixture(scope="module")
def runs() -> Iterator[Path]:
    """A run as it is, and one whose retrieval failed."""
    folder = fast_folder()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CLEARCITE_SEMANTIC", "off")
        with as_file(files("clearcite.demo") / "fixture.json") as shipped:
            shutil.copy(shipped, folder / "suite.json")
        assert clearcite(folder, "evaluate", "suite.json", "--out", "sound").code == 0
        assert (
            clearcite(
                folder, "evaluate", "suite.json", "--failure", "retrieval_error", "--out", "broken"
            ).code
            == 1
        )
        yield folder
    shutil.rmtree(folder)


@pytest.fixture
def home(runs: Path) -> Iterator[Path]:
    folder = fast_folder()
    shutil.copytree(runs, folder, dirs_exist_ok=True)
    yield folder
    shutil.rmtree(folder)


def edited(home: Path, edit: Callable[[dict[str, Any]], object], name: str = "sound/run.json") -> None:
    """By somebody who knows the digest that a run holds of itself, and writes it anew."""
    value = json.loads((home / name).read_text())
    edit(value)
    (home / name).write_text(json.dumps(sealed(value)))


def test_a_run_against_its_own_baseline_passes(home: Path) -> None:
    assert clearcite(home, "bless", "sound", "--to", "b.json", "--reason", "first", "--by", "olga").code == 0
    done = clearcite(home, "evaluate", "suite.json", "--baseline", "b.json", "--out", "again")
    gates = {
        gate["name"]: gate for gate in json.loads((home / "again/run.json").read_text())["predicate"]["gates"]
    }
    assert done.code == 0 and gates["regression"]["state"] == "pass"
    kept = json.loads((home / "b.json").read_text())["blessed"]
    assert (kept["by"], kept["reason"], kept["forced"], kept["verdict"]) == ("olga", "first", False, "PASS")


def test_a_run_that_got_worse_is_blocked_by_the_baseline(home: Path) -> None:
    done = clearcite(
        home,
        "evaluate",
        "suite.json",
        "--baseline",
        "sound/run.json",
        "--failure",
        "retrieval_error",
        "--out",
        "x",
    )
    gates = {
        gate["name"]: gate for gate in json.loads((home / "x/run.json").read_text())["predicate"]["gates"]
    }
    assert done.code == 1 and gates["regression"]["rows"][0]["value"].startswith("-")


@pytest.mark.parametrize("name", ["harness", "suite_sha256", "corpus_sha256"])
def test_a_baseline_of_something_else_is_refused_and_nothing_is_written(home: Path, name: str) -> None:
    edited(home, lambda run: run["predicate"]["state"].update({name: "another"}))
    done = clearcite(home, "evaluate", "suite.json", "--baseline", "sound", "--out", "new")
    assert done.code == 2 and "cannot be compared" in done.err and not (home / "new").exists()
    assert clearcite(home, "diff", "sound", "broken").code == 2


def test_a_difference_is_shown_by_gate_slice_and_case(home: Path) -> None:
    same = clearcite(home, "diff", "sound", "sound")
    assert same.code == 0 and "nothing differs" in same.out
    done = clearcite(home, "diff", "sound", "broken")
    assert done.code == 1 and "PASS → BLOCK" in done.out and "gate case_pass_rate: pass → fail" in done.out
    assert "case Q-refund (" in done.out and "answered → dependency_unavailable" in done.out
    found = json.loads(clearcite(home, "diff", "sound", "broken", "--format", "json").out)
    assert found["differs"] and found["diff"]["scores"][0]["mean"].startswith("-")


def test_a_run_that_blocks_becomes_no_baseline_without_force(home: Path) -> None:
    refused = clearcite(home, "bless", "broken", "--to", "b.json", "--reason", "why not")
    assert refused.code == 1 and not (home / "b.json").exists()
    assert clearcite(home, "bless", "broken", "--to", "b.json", "--reason", " ", "--force").code == 2
    assert clearcite(home, "bless", "broken", "--to", "b.json", "--reason", "incident", "--force").code == 0
    assert json.loads((home / "b.json").read_text())["blessed"]["forced"] is True
    assert [path.name for path in home.glob(".baseline*")] == []


@pytest.mark.parametrize("state", [{}, {"harness": "x", "suite_sha256": "y"}, {"corpus_sha256": None}])
def test_a_run_that_does_not_say_of_what_it_is_becomes_no_baseline(home: Path, state: dict[str, Any]) -> None:
    edited(home, lambda run: run["predicate"].update({"state": state}))
    for args in (("bless", "sound", "--to", "b.json", "--reason", "r"), ("verify", "sound/run.json")):
        done = clearcite(home, *args)
        assert (done.code, done.out) == (2, "") and "of which" in done.err
    assert not (home / "b.json").exists()
    assert clearcite(home, "diff", "sound", "broken").code == 2


def test_a_blessed_file_is_the_same_bytes_at_the_same_epoch(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    for name in ("a.json", "b.json"):
        assert clearcite(home, "bless", "sound", "--to", name, "--reason", "r", "--by", "o").code == 0
    assert (home / "a.json").read_bytes() == (home / "b.json").read_bytes()
    assert b"2023-11-14T22:13:20Z" in (home / "a.json").read_bytes()


def test_a_run_and_a_baseline_hold_as_they_were_written(home: Path) -> None:
    clearcite(home, "bless", "sound", "--to", "b.json", "--reason", "r")
    for name in ("sound/run.json", "sound", "broken/run.json", "b.json"):
        done = clearcite(home, "verify", name)
        assert done.code == 0 and "follows from" in done.out, name


def verdict(run: dict[str, Any]) -> None:
    run["predicate"]["verdict"] = "PASS"


def state(run: dict[str, Any]) -> None:
    run["predicate"]["gates"][0]["state"] = "fail"


@pytest.mark.parametrize(("edit", "name"), [(verdict, "broken"), (state, "sound")])
def test_a_verdict_that_its_gates_do_not_give_is_found(home: Path, edit: Any, name: str) -> None:
    edited(home, edit, f"{name}/run.json")
    done = clearcite(home, "verify", f"{name}/run.json")
    assert done.code == 4 and "does not follow" in done.err
    assert clearcite(home, "bless", name, "--to", "b.json", "--reason", "r", "--force").code == 4


def test_gates_that_the_cases_contradict_are_found_and_become_no_baseline(home: Path) -> None:
    def all_pass(run: dict[str, Any]) -> None:
        run["predicate"]["verdict"] = "PASS"
        for gate in run["predicate"]["gates"]:
            gate["state"] = "pass" if gate["state"] == "fail" else gate["state"]

    edited(home, all_pass, "broken/run.json")
    done = clearcite(home, "verify", "broken/run.json")
    assert done.code == 4 and "the gate case_pass_rate does not follow from the cases" in done.err
    assert clearcite(home, "bless", "broken", "--to", "b.json", "--reason", "r").code == 4
    assert not (home / "b.json").exists()


def test_an_edited_file_of_a_run_is_found(home: Path) -> None:
    (home / "sound/summary.md").write_text("PASS")
    assert clearcite(home, "verify", "sound/run.json").code == 4
    assert clearcite(home, "bless", "broken", "--to", "b.json", "--reason", "r", "--force").code == 0
    edited(home, lambda kept: kept["cases"][0].update({"passes": True, "codes": []}), "b.json")
    assert clearcite(home, "verify", "b.json").code == 4
    assert clearcite(home, "evaluate", "suite.json", "--baseline", "b.json").code == 2


def places(value: Any) -> Iterator[tuple[dict[str, Any] | list[Any], Any]]:
    """Where each value stands that holds no other."""
    for key, item in list(value.items() if isinstance(value, dict) else enumerate(value)):
        if isinstance(item, dict | list) and item:
            yield from places(item)
        else:
            yield value, key


def holds(value: dict[str, Any], folder: Path) -> bool:
    try:
        return not faults_of(value, folder)
    except InputError:
        return False


@pytest.mark.parametrize("name", ["sound/run.json", "b.json"])
def test_no_field_of_a_run_or_a_baseline_can_be_changed_by_hand(home: Path, name: str) -> None:
    clearcite(home, "bless", "sound", "--to", "b.json", "--reason", "r", "--by", "olga")
    value = json.loads((home / name).read_text())
    folder = (home / name).parent
    assert holds(value, folder), "control: as it was written"
    tried, held = set(), []
    for number, (holder, key) in enumerate(places(value)):
        if key in tried and number % 40:
            continue  # one of each name, and some of those that are called the same
        tried.add(key)
        was = holder[key]
        for other in ("other", 7, None):
            if other == was:
                continue
            holder[key] = other
            if holds(value, folder):
                held.append((key, was))
            break
        holder[key] = was
    assert held == [] and len(tried) > 30
    (home / name).write_text(json.dumps(value | {"note": "added"}))
    assert clearcite(home, "verify", name).code == 4, "a field more"
    for args in (("evaluate", "suite.json", "--baseline", name), ("diff", name, "broken")):
        assert clearcite(home, *args).code == 2, args


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"predicateType": "urn:clearcite:evaluation:1"}',
        '{"schema": "urn:clearcite:baseline:1"}',
        "{",
    ],
)
def test_a_file_that_is_no_run_is_wrong_input(home: Path, text: str) -> None:
    (home / "other.json").write_text(text)
    assert clearcite(home, "verify", "other.json").code == 2
    assert clearcite(home, "diff", "sound", "other.json").code == 2
    assert clearcite(home, "verify", "missing.json").code == 2


@pytest.mark.parametrize("value", ["NaN", "1e3", "2.000000", 1])
def test_a_case_with_a_number_that_is_none_is_wrong_input(home: Path, value: Any) -> None:
    clearcite(home, "bless", "sound", "--to", "b.json", "--reason", "r")
    edited(home, lambda kept: kept["cases"][0]["scores"].update({"status": value}), "b.json")
    assert clearcite(home, "diff", "b.json", "sound").code == 2


def test_a_file_outside_the_folder_is_never_opened(home: Path) -> None:
    edited(home, lambda run: run["subject"][0].update({"name": "../suite.json"}))
    done = clearcite(home, "verify", "sound/run.json")
    assert done.code == 2 and "outside" in done.err
