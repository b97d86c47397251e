"""Collections, policies and explanations on the command line."""

from __future__ import annotations

import json
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw
import pytest

from clearcite.interfaces.cli import ingestion
from tests.support.shell import Done, clearcite, everything, fed, write

CONFIG = """
[store]
policy = "policy.toml"

[[sources]]
path = "docs"
tenant = "acme"
allowed_groups = ["staff", "board"]
"""
POLICY = """
revision = 1
[subjects.ann]
tenant = "acme"
groups = ["staff"]
[subjects.olga]
tenant = "acme"
groups = ["staff"]
roles = ["operator"]
[groups.board]
member_groups = ["owners"]
[groups.owners]
members = ["olga"]
"""
HR = '\n[[collections]]\ntenant = "acme"\npath = "hr"\n'
ASK = ("ask", "How large is the bonus pool?")


@pytest.fixture
def firm(empty: Path) -> Path:
    bonus = "---\nparent: hr/pay\n---\n# Bonus\n\nThe bonus pool is EUR 90,000.\n"
    leave = "# Leave\n\nEvery employee has 25 days of leave.\n"
    return write(
        empty,
        {"clearcite.toml": CONFIG, "policy.toml": POLICY, "docs/bonus.md": bonus, "docs/leave.md": leave},
    )


def ingest(folder: Path) -> Done:
    done = clearcite(folder, "ingest")
    assert done.code == 0, done.err
    return done


def names(folder: Path, who: str = "ann") -> list[str]:
    return [item["document_id"] for item in clearcite(folder, "list", "--as", who).lines]


def collection(folder: Path, *args: str) -> Done:
    done = clearcite(folder, "collection", *args, "--tenant", "acme")
    assert done.code == 0, done.err
    return done


def test_a_path_without_collections_is_read_by_nobody_and_each_level_has_a_say(firm: Path) -> None:
    ingest(firm)
    assert names(firm) == ["leave.md"]
    assert "there is no collection hr above it" in collection(firm, "set", "hr/pay", "--unrestricted").err
    assert names(firm) == ["leave.md"]
    collection(firm, "set", "hr", "--group", "staff")
    assert names(firm) == ["bonus.md", "leave.md"]
    collection(firm, "set", "hr", "--group", "staff", "--deny", "user:ann")
    assert (names(firm), names(firm, "olga")) == (["leave.md"], ["bonus.md", "leave.md"])
    collection(firm, "set", "hr/pay", "--nobody")
    assert names(firm, "olga") == ["leave.md"]
    collection(firm, "set", "hr/pay", "--unrestricted")
    collection(firm, "remove", "hr")
    assert names(firm, "olga") == ["leave.md"]
    assert "restricted to nobody" not in clearcite(firm, "collection", "list", "--format", "text").out
    assert clearcite(firm, "collection", "list").lines == [
        {"tenant": "acme", "path": "hr/pay", "allowed_groups": None, "denied_groups": []}
    ]


WRONG = [
    ["set", "hr"], ["set"], ["set", "hr", "--nobody", "--unrestricted"], ["set", "hr", "--group", "a", "--nobody"],
    ["set", "/hr", "--nobody"], ["set", "hr\u200b", "--nobody"], ["set", "hr", "--group", "a "], ["close", "hr"],
    ["remove", "hr"], ["remove", "hr", "--nobody"], ["list", "hr"], ["list", "--nobody"],
    ["set", "hr", "--group", ""],
]  # fmt: skip


def test_a_wrong_command_changes_no_collection(firm: Path) -> None:
    ingest(firm)
    for args in WRONG:
        done = clearcite(firm, "collection", *args)
        assert (done.code, done.out) == (2, ""), args
    assert clearcite(firm, "collection", "list").lines == []


def test_collections_of_the_configuration_are_applied_before_its_documents(firm: Path) -> None:
    pay = HR.replace('"hr"', '"hr/pay"')
    write(
        firm, {"clearcite.toml": CONFIG + HR + "unrestricted = true\n" + pay + 'allowed_groups = ["staff"]\n'}
    )
    assert "The collection hr of the tenant acme is set" in ingest(firm).err
    assert names(firm) == ["bonus.md", "leave.md"]
    assert "collection" not in ingest(firm).err
    write(firm, {"clearcite.toml": CONFIG + HR + "nobody = true\n"})
    ingest(firm)
    assert names(firm) == ["leave.md"]


def test_what_one_edit_opens_is_opened_after_what_it_closes(
    firm: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A collection is opened and a document in it closed by one edit: nobody sees the document in between."""
    hr = HR + "{}" + HR.replace('"hr"', '"hr/pay"') + "{}"
    write(
        firm, {"clearcite.toml": CONFIG + hr.format('allowed_groups = ["board"]\n', "unrestricted = true\n")}
    )
    ingest(firm)
    seen: list[dict[str, Any]] = []
    real = ingestion.take_one

    def spied(shop: Any, *args: Any) -> Any:
        for batch in real(shop, *args):
            with shop.ledger.snapshot() as snapshot:
                seen.append({path: acl.allow for path, acl in snapshot.collections("acme")[1].items()})
            yield batch

    monkeypatch.setattr(ingestion, "take_one", spied)
    write(firm, {"clearcite.toml": CONFIG + hr.format("unrestricted = true\n", "nobody = true\n")})
    ingest(firm)
    assert seen and all(state == {"hr": ("board",), "hr/pay": ()} for state in seen)
    assert {item["path"]: item["allowed_groups"] for item in clearcite(firm, "collection", "list").lines} == {
        "hr": None,
        "hr/pay": [],
    }


def test_what_an_operator_closed_in_a_hurry_is_not_opened_by_the_next_ingestion(firm: Path) -> None:
    pay = HR.replace('"hr"', '"hr/pay"') + "unrestricted = true\n"
    write(firm, {"clearcite.toml": CONFIG + HR + 'allowed_groups = ["staff"]\n' + pay})
    ingest(firm)
    collection(firm, "set", "hr", "--nobody")
    assert "stays as an operator has set it" in ingest(firm).err
    assert names(firm) == ["leave.md"]
    write(firm, {"clearcite.toml": CONFIG + HR + 'allowed_groups = ["staff", "board"]\n' + pay})
    ingest(firm)
    assert names(firm) == ["bonus.md", "leave.md"]


@pytest.mark.parametrize(
    "entry",
    ["", "nobody = true\nunrestricted = true\n", "allowed_groups = []\n", 'allowed_groups = ["a"]\nnobody = true\n',
     "nobody = 1\n", 'readers = ["a"]\n', "nobody = true\n" + HR + "nobody = true\n", "allowed_groups = 'a'\n"],
    ids=repr,
)  # fmt: skip
def test_an_entry_that_leaves_a_doubt_is_refused(firm: Path, entry: str) -> None:
    write(firm, {"clearcite.toml": CONFIG + HR + entry})
    done = clearcite(firm, "ingest")
    assert (done.code, (firm / ".clearcite").exists()) == (2, False)


WINDOWS = {
    'effective_from = "2099-01-01"': False, "effective_from = 2020-01-01": True, 'effective_to = "2020-01-01"': False,
    'effective_through = "2099-12-31"': True, "effective_from = 2020-01-01T00:00:00Z": True,
}  # fmt: skip


def test_a_source_says_when_its_documents_hold_and_a_document_may_say_otherwise(firm: Path) -> None:
    own = "---\neffective_from: 2000-01-01\neffective_to: 2098-01-01\n---\n# Own\n\nA window of its own.\n"
    write(firm, {"docs/own.md": own})
    for line, holds in WINDOWS.items():
        write(firm, {"clearcite.toml": f"{CONFIG}{line}\n"})
        ingest(firm)
        assert names(firm) == (["leave.md", "own.md"] if holds else ["own.md"]), line


@pytest.mark.parametrize(
    "lines",
    ['effective_from = "soon"', 'effective_from = "2025-01-02"\neffective_to = "2025-01-01"', "effective_to = 5",
     'effective_to = "2025-01-01"\neffective_through = "2025-01-01"', "effective_from = 2020-01-01T00:00:00"],
)  # fmt: skip
def test_a_window_of_a_source_that_is_none_is_refused_once_and_nothing_is_written(
    firm: Path, lines: str
) -> None:
    write(firm, {"clearcite.toml": f"{CONFIG}{lines}\n"})
    done = clearcite(firm, "ingest")
    assert done.code == 2
    assert everything(firm, tenant="acme") == [] or not (firm / ".clearcite").exists()


def test_what_a_source_says_holds_for_the_records_of_a_feed_that_are_silent(firm: Path) -> None:
    base = {
        "tenant_id": "acme",
        "source_sequence": 1,
        "source_uri": "u",
        "source_version": "1",
        "content": "Text.",
    }
    feed = fed(
        base | {"document_id": "a"},
        base | {"document_id": "b", "allowed_groups": ["guest"]},
        base | {"document_id": "c", "denied_groups": ["board"]},
        base | {"document_id": "d", "effective_to": "2098-01-01"},
    )
    source = (
        '\n[[sources]]\npath = "feed.jsonl"\nallowed_groups = ["staff"]\ndenied_groups = ["trainee"]\n'
        "effective_through = 2020-01-01\n"
    )
    write(firm, {"feed.jsonl": feed, "clearcite.toml": CONFIG + source})
    ingest(firm)

    def read(*groups: str) -> list[str]:
        flags = [part for group in groups for part in ("--group", group)]
        found = clearcite(firm, "list", "--tenant", "acme", *flags).lines
        return [item["document_id"] for item in found if "." not in item["document_id"]]

    assert (read("staff"), read("staff", "trainee"), read("guest")) == (["d"], [], [])
    write(firm, {"clearcite.toml": CONFIG + source.replace("2020", "2098")})
    moved = feed.replace('"source_sequence": 1', '"source_sequence": 2')
    write(firm, {"feed.jsonl": moved})
    ingest(firm)
    assert (read("staff"), read("staff", "trainee"), read("guest")) == (["a", "c", "d"], [], ["b"])
    assert read("staff", "board") == ["a", "d"]


# --- policies


def test_an_identity_is_resolved_under_the_newest_policy_of_the_ledger(firm: Path) -> None:
    ingest(firm)
    assert names(firm) == ["leave.md"]
    write(firm, {"policy.toml": POLICY.replace("revision = 1", "revision = 3")})
    assert names(firm) == ["leave.md"]
    write(firm, {"policy.toml": POLICY.replace("revision = 1", "revision = 2")})
    refused = clearcite(firm, "list", "--as", "ann")
    assert (refused.code, refused.out) == (2, "")
    assert refused.err.startswith("stale_policy: ")
    ill = clearcite(firm, "doctor")
    assert ill.code == 2
    assert "BAD   policy: The policy has revision 2, but 3 was accepted before." in ill.out
    assert "mend it with: use the newest policy, or raise its revision" in ill.out


def test_a_policy_that_changes_must_raise_its_revision(firm: Path) -> None:
    ingest(firm)
    assert names(firm) == ["leave.md"]
    write(firm, {"policy.toml": POLICY.replace('groups = ["staff"]', 'groups = ["staff", "hr"]', 1)})
    assert "still has revision 1" in clearcite(firm, "list", "--as", "ann").err


def test_a_store_of_the_first_version_remembers_the_policy_it_had_accepted(firm: Path) -> None:
    ingest(firm)
    write(firm, {".clearcite/policy-revision": "5"})
    assert clearcite(firm, "list", "--as", "ann").code == 2
    write(firm, {"policy.toml": POLICY.replace("revision = 1", "revision = 5")})
    assert names(firm) == ["leave.md"]
    assert not (firm / ".clearcite" / "policy-revision").exists()
    write(firm, {".clearcite/policy-revision": "five"})
    assert clearcite(firm, "list", "--as", "ann").code == 4


def exported(**changes: Any) -> str:
    subjects = {"ann": {"tenant": "acme", "groups": ["staff"]}}
    return json.dumps({"revision": 1, "complete": True, "subjects": subjects, **changes})


def by_command(firm: Path, program: str) -> None:
    command = json.dumps([sys.executable, "-S", "-c", program])
    config = CONFIG.replace('[store]\npolicy = "policy.toml"', f"[policy]\ncommand = {command}")
    write(firm, {"clearcite.toml": config})


def test_a_sync_that_fails_keeps_the_last_good_policy_and_raises_an_alarm(firm: Path) -> None:
    by_command(firm, "print(open('export.json').read())")
    write(firm, {"export.json": exported()})
    ingest(firm)
    early = clearcite(firm, "list", "--as", "ann")
    assert (early.code, "clearcite policy sync" in early.err) == (2, True)
    assert clearcite(firm, "policy", "sync").code == 0
    assert names(firm) == ["leave.md"]
    for content, code in (
        (exported(revision=2, subjects={}, complete=False), 3),
        (exported(revision=2)[:-5], 3),
        (exported(revision=0), 2),
        (exported(revision=2, subjects={"an\u200bn": {"tenant": "acme", "groups": ["a"]}}), 2),
    ):
        write(firm, {"export.json": content})
        assert clearcite(firm, "policy", "sync").code == code
        assert names(firm) == ["leave.md"], "the last good one"
    (firm / "export.json").unlink()
    assert clearcite(firm, "policy", "sync").code == 3
    found = clearcite(firm, "status").json["policy"]
    assert (found["revision"], found["alarm"]["failures"]) == (1, 5)
    assert "ALARM" in clearcite(firm, "status", "--format", "text").out
    assert "ALARM" in clearcite(firm, "policy", "show", "--format", "text").out
    ill = clearcite(firm, "doctor")
    assert (ill.code, "mend it with: clearcite policy sync" in ill.out) == (2, True)
    write(
        firm, {"export.json": exported(revision=2, subjects={"ann": {"tenant": "acme", "groups": ["board"]}})}
    )
    assert clearcite(firm, "policy", "sync").code == 0
    assert clearcite(firm, "policy", "show").json["alarm"] is None
    assert clearcite(firm, "doctor").code == 0


def test_a_kept_policy_that_somebody_changed_resolves_nobody(firm: Path) -> None:
    by_command(firm, "print(open('export.json').read())")
    write(firm, {"export.json": exported()})
    ingest(firm)
    assert "clearcite policy sync" in clearcite(firm, "doctor").out
    clearcite(firm, "policy", "sync")
    assert names(firm) == ["leave.md"]
    for old, new in (("staff", "board"), ('{"', "{")):
        with closing(apsw.Connection(str(firm / ".clearcite" / "ledger.db"))) as db:
            db.execute("UPDATE policies SET snapshot = replace(snapshot, ?, ?)", (old, new))
        refused = clearcite(firm, "list", "--as", "ann")
        assert (refused.code, refused.out) == (4, "")


def test_a_policy_that_is_too_old_is_an_error_and_a_local_identity_needs_none(firm: Path) -> None:
    write(firm, {"clearcite.toml": CONFIG + '\n[policy]\nmax_age = "1h"\n'})
    ingest(firm)
    for issued in ("", 'issued_at = "2020-01-01T00:00:00Z"\n'):
        write(
            firm, {"policy.toml": issued + POLICY.replace("revision = 1", f"revision = {2 + bool(issued)}")}
        )
        refused = clearcite(firm, "list", "--as", "ann")
        assert (refused.code, refused.err.startswith("stale_policy: ")) == (2, True)
        assert clearcite(firm, "policy", "sync").code == 2
    assert clearcite(firm, "list", "--tenant", "acme", "--group", "staff").code == 0
    write(
        firm,
        {
            "policy.toml": 'issued_at = "2999-01-01T00:00:00Z"\n'
            + POLICY.replace("revision = 1", "revision = 9")
        },
    )
    assert clearcite(firm, "list", "--as", "ann").code == 2


@pytest.mark.parametrize("age", ["", "1", "h", "0h", "1.5h", "-1h", "1 h", "9999999d"])
def test_an_age_that_is_none_is_refused(firm: Path, age: str) -> None:
    write(firm, {"clearcite.toml": CONFIG + f'\n[policy]\nmax_age = "{age}"\n'})
    assert clearcite(firm, "doctor").code == 2 or age == ""


# --- explanations


def layers(found: Any) -> dict[str, str]:
    return {
        " ".join(filter(None, (item["name"], item["path"], item["side"]))): item["why"]
        for item in found["layers"]
        if not item["admits"]
    }


def test_an_explanation_names_each_layer_that_denies(firm: Path) -> None:
    collection_lines = HR + 'allowed_groups = ["staff"]\ndenied_groups = ["board"]\n'
    write(firm, {"clearcite.toml": CONFIG + collection_lines})
    ingest(firm)
    ann = clearcite(firm, "explain", "bonus.md", "--as", "ann").json
    assert layers(ann) == {
        "collection hr/pay head": "there is no such collection",
        "collection hr/pay served": "there is no such collection",
    }
    collection(firm, "set", "hr/pay", "--nobody")
    olga = clearcite(firm, "explain", "bonus.md", "--as", "olga").json
    assert (olga["readable"], olga["policy_revision"]) == (False, 1)
    assert layers(olga)["collection hr served"] == "denies board"
    assert layers(olga)["collection hr/pay served"] == "restricted to nobody"
    assert {"group": "board", "through": ["owners"]} in olga["memberships"]
    open_ = clearcite(firm, "explain", "leave.md", "--as", "ann").json
    assert (open_["readable"], layers(open_)) == (True, {})
    text = clearcite(firm, "explain", "bonus.md", "--as", "olga", "--format", "text").out
    assert "olga of acme may not read acme/default/bonus.md" in text
    assert "NO   collection hr, served state: denies board" in text
    assert "board through owners" in text


def test_an_explanation_tells_tenant_window_draft_deletion_and_what_waits(firm: Path) -> None:
    write(
        firm,
        {
            "docs/draft.md": "---\nstatus: draft\n---\nA draft.\n",
            "docs/later.md": "---\neffective_from: 2099-01-01\n---\nLater.\n",
            "docs/odd.md": "---\ntrusted: false\n---\nOdd.\n",
        },
    )
    ingest(firm)
    clearcite(firm, "delete", "leave.md", "--tenant", "acme")

    def why(document: str, *args: str) -> dict[str, str]:
        return layers(clearcite(firm, "explain", document, *(args or ("--as", "ann"))).json)

    assert why("draft.md")["status served"] == "draft"
    assert why("later.md")["validity head"] == "not begun"
    assert why("odd.md")["trust head"] == "not trusted"
    assert why("leave.md")["published"] == "deleted: user_request"
    other = ("--tenant", "globex", "--group", "staff", "--of", "acme")
    assert why("leave.md", *other)["tenant"] == "another tenant"


def test_only_an_operator_gets_an_explanation(firm: Path) -> None:
    ingest(firm)
    refused = clearcite(firm, "explain", "leave.md", "--as", "ann", "--by", "ann")
    assert (refused.code, refused.out) == (2, "")
    assert clearcite(firm, "explain", "leave.md", "--as", "ann", "--by", "olga").code == 0
    missing = clearcite(firm, "explain", "absent.md", "--as", "ann")
    assert (missing.code, missing.err) == (2, "not_found: The ledger has never seen such a document.\n")
