"""Switching between generations while questions run, while processes are killed, and after documents are taken away."""

from __future__ import annotations

import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from clearcite.config import Settings, load_settings
from clearcite.domain.access import Principal
from clearcite.domain.generations import Generation, Switch
from clearcite.operator import Operator
from clearcite.wiring import Recipe, build_target, engine_on, open_ledger, open_workshop
from tests.support.shell import clearcite, write
from tests.support.world import fast_folder

CONFIG = """
[text]
semantic = "off"
[[sources]]
path = "docs"
allowed_groups = ["staff"]
"""
QUESTION = "How long are audit logs kept?"
ANN = Principal(tenant_id="default", subject_id="ann", groups=("staff",), authorization_revision="1")
OLGA = Principal(
    tenant_id="default", subject_id="olga", groups=("staff",), authorization_revision="1", roles=("operator",)
)
SEED = 20_261_130
DOCUMENTS = 30
ENOUGH = 20
RECIPE = ("index", "build", "--chunk-words", "60")
ANOTHER = ("index", "build", "--chunk-words", "61")


@pytest.fixture(scope="module")
def template() -> Iterator[Path]:
    folder = fast_folder()
    docs = {
        f"docs/{i}.md": f"# Region {i}\n\nRegion {i} opens at {i % 12} o'clock.\n"
        for i in range(DOCUMENTS - 2)
    }
    docs["docs/logs.md"] = "# Logs\n\nAudit logs are kept for 30 days.\n"
    docs["docs/secret.md"] = "# Vault\n\nThe nightjar vault opens with the code 4711.\n"
    write(folder, {"clearcite.toml": CONFIG, **docs})
    assert clearcite(folder, "ingest").code == 0
    assert clearcite(folder, *RECIPE).code == 0
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def shop(template: Path) -> Iterator[Path]:
    folder = fast_folder()
    shutil.copytree(template, folder, dirs_exist_ok=True)
    yield folder
    shutil.rmtree(folder)


def settings(folder: Path) -> Settings:
    return load_settings(folder, env={})


def generations(folder: Path) -> list[Generation]:
    with closing(open_ledger(settings(folder))) as ledger:
        return [item for item in ledger.generations() if item.state == "active"]


def candidate(folder: Path, place: int = 1) -> tuple[str, str]:
    """The names of the live generation and of one beside it."""
    found = generations(folder)
    (live,) = [item.name for item in found if item.is_live]
    return live, found[place].name


@contextmanager
def operator_on(folder: Path) -> Iterator[Operator]:
    with engine_on(settings(folder)) as engine:
        yield engine.operator(OLGA)


def asked(folder: Path, question: str = QUESTION) -> str:
    with engine_on(settings(folder)) as engine:
        return engine.ask(question, ANN).status


# --- while questions run ----------------------------------------------------------------------------------

ASKER = """
import sys
from pathlib import Path
from clearcite.config import load_settings
from clearcite.domain.access import Principal
from clearcite.wiring import engine_on
ann = Principal(tenant_id="default", subject_id="ann", groups=("staff",), authorization_revision="1")
with engine_on(load_settings(Path("."), env={})) as engine:
    print("ready", flush=True)
    while not Path("stop").exists():
        print(engine.ask(sys.argv[1], ann).status, flush=True)
"""


def properly(operator: Operator, name: str) -> None:
    operator.promote(name, "to", force=True)


def blindly(operator: Operator, name: str) -> None:
    """Past the operator, who would look at it first."""
    switch = Switch(kind="promote", actor="nobody", reason="to", forced=True)
    operator._ledger.promote(name, switch)


def switched_while_asked(folder: Path, switches: int, promote: Any = properly) -> Counter[str]:
    """What questions of two threads and another process ended as, while an operator switched to and fro."""
    seen: Counter[str] = Counter()
    before, after = candidate(folder)
    done = threading.Event()
    child = subprocess.Popen(
        [sys.executable, "-c", ASKER, QUESTION], cwd=folder, stdout=subprocess.PIPE, text=True
    )
    assert child.stdout is not None and child.stdout.readline() == "ready\n"
    with engine_on(settings(folder)) as engine, operator_on(folder) as operator:

        def ask() -> None:
            while not done.is_set():
                seen[engine.ask(QUESTION, ANN).status] += 1

        threads = [threading.Thread(target=ask) for _ in range(2)]
        for thread in threads:
            thread.start()
        while len(operator.switches()) < 2 * switches or sum(seen.values()) < ENOUGH:
            promote(operator, after)
            time.sleep(0.05)
            operator.rollback("fro")
            time.sleep(0.05)
        done.set()
        for thread in threads:
            thread.join()
        made = [item.after for item in operator.switches()]
        assert made == [after, before] * (len(made) // 2)
    (folder / "stop").touch()
    out, _ = child.communicate(timeout=60)
    seen.update(out.split())
    return seen


def test_no_question_fails_while_an_operator_switches_to_and_fro(shop: Path) -> None:
    seen = switched_while_asked(shop, 8)
    assert set(seen) == {"answered"} and seen["answered"] >= ENOUGH


def test_control_a_generation_without_its_files_is_noticed_by_the_same_questions(shop: Path) -> None:
    (lost,) = [item.name for item in generations(shop) if not item.is_live]
    shutil.rmtree(shop / ".clearcite/index" / lost)
    seen = switched_while_asked(shop, 3, blindly)
    assert seen["dependency_unavailable"] > 0


# --- killed processes -------------------------------------------------------------------------------------

SLOW = """
import sys, time
import clearcite.ingest.pipeline as pipeline
from clearcite.interfaces.cli.main import run
pipeline.BATCH_JOBS = 2
publish = pipeline._publish
def slowly(*args):
    print("batch", flush=True)
    time.sleep(0.05)
    return publish(*args)
pipeline._publish = slowly
sys.exit(run(sys.argv[1:]))
"""

SWITCHER = """
from pathlib import Path
from clearcite.config import load_settings
from clearcite.domain.access import Principal
from clearcite.wiring import engine_on
import sys
who = Principal(tenant_id="d", subject_id="olga", groups=("g",), authorization_revision="1", roles=("operator",))
with engine_on(load_settings(Path("."), env={})) as engine:
    operator = engine.operator(who)
    while True:
        live = next(item.name for item in operator.generations() if item.is_live)
        print("switch", flush=True)
        operator.promote([name for name in sys.argv[1:] if name != live][0], "to and fro", force=True)
"""


def killed(folder: Path, code: str, *args: str, after: int, wait: float) -> None:
    """Run a script and kill it so long after it said something for the ``after``-th time."""
    child = subprocess.Popen(
        [sys.executable, "-c", code, *args], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    assert child.stdout is not None
    for _ in range(after):
        if not child.stdout.readline():
            break
    time.sleep(wait)
    child.send_signal(signal.SIGKILL)
    child.wait()
    child.stdout.close()


def contents(folder: Path, generation: str) -> dict[str, Any]:
    """What a generation shows of every document, and what a few searches find in it."""
    with engine_on(settings(folder), generation=generation) as engine:
        listed = [engine.document(item.document_id, ANN) for item in engine.documents(ANN)]
        words = ("opens", "region 7", "logs days")
        pages = [[(h.n, h.document_id, h.span) for h in engine.search(w, ANN, k=50).hits] for w in words]
    return {"documents": [(item.document_id, item.text) for item in listed], "pages": pages}


def test_a_build_that_is_killed_again_and_again_leaves_the_live_one_alone_and_ends_like_one_that_was_not(
    shop: Path,
) -> None:
    clean = fast_folder()
    shutil.copytree(shop, clean, dirs_exist_ok=True)
    assert clearcite(clean, *ANOTHER).code == 0
    live, built = candidate(clean, 2)
    before = contents(shop, live)
    random_ = random.Random(SEED)
    for _ in range(3):
        killed(shop, SLOW, *ANOTHER, after=random_.randint(2, 3), wait=random_.random() / 10)
        assert asked(shop) == "answered", f"seed {SEED}"
        assert contents(shop, live) == before
    waiting = [item.waiting for item in generations(shop) if item.name == built]
    assert 0 < waiting[0] < DOCUMENTS, "it was killed half-way"
    assert clearcite(shop, *ANOTHER).code == 0 and candidate(shop, 2) == (live, built)
    assert contents(shop, built) == contents(clean, built)
    assert [item.waiting for item in generations(shop)] == [0, 0, 0]
    shutil.rmtree(clean)


def test_a_promotion_that_is_killed_happened_wholly_or_not_at_all(shop: Path) -> None:
    names = candidate(shop)
    random_ = random.Random(SEED)
    first = names[0]
    for _ in range(3):
        killed(shop, SWITCHER, *names, after=random_.randint(1, 8), wait=random_.random() / 50)
        with operator_on(shop) as operator:
            made = [(item.before, item.after) for item in operator.switches()]
            (live,) = [item.name for item in operator.generations() if item.is_live]
        expected = live
        for one, other in reversed(made):
            assert other == expected, f"seed {SEED}"
            expected = one
        assert expected == first and asked(shop) == "answered"
    assert len(made) >= 3


# --- what was taken away ----------------------------------------------------------------------------------

SECRET = "With which code does the nightjar vault open?"


def taken_away(folder: Path, how: str) -> None:
    if how != "revoked":
        assert clearcite(folder, "delete", "secret.md", "--tenant", "default").code == 0
        if how == "purged":
            assert clearcite(folder, *RECIPE).code == 0
            assert clearcite(folder, "index", "build").code == 0, "the live one takes it in as well"
            done = clearcite(folder, "purge", "secret.md", "--tenant", "default")
            assert done.code == 0, done.out + done.err
        return
    text = "---\nallowed_groups: [board]\n---\n# Vault\n\nThe nightjar vault opens with the code 4711.\n"
    write(folder, {"docs/secret.md": text})
    with closing(open_workshop(settings(folder), build_target(Recipe()))) as shop:
        revoke(shop.ledger)


def revoke(ledger: Any) -> None:
    """The access change alone, as the source gives it; nothing is projected after it."""
    from tests.support.world import record

    text = "# Vault\n\nThe nightjar vault opens with the code 4711.\n"
    change = record("secret.md", text, ("board",), tenant="default", sequence=99, source_uri="secret.md")
    (applied,) = ledger.apply([change], "manifest")
    assert applied.error is None and applied.decision.access_changed


@pytest.mark.parametrize(
    ("how", "projected"),
    [("deleted", False), ("deleted", True), ("revoked", False), ("revoked", True), ("purged", True)],
)
def test_no_generation_old_or_new_brings_back_what_was_taken_away(
    shop: Path, how: str, projected: bool
) -> None:
    before, after = candidate(shop)
    assert asked(shop, SECRET) == "answered", "the control: it can be read before"
    taken_away(shop, how)
    if projected:
        assert clearcite(shop, *RECIPE).code == 0
    with operator_on(shop) as operator:
        for name in (after, before, after):
            operator.promote(name, "to and fro", force=True)
            assert asked(shop, SECRET) == "insufficient_evidence"
            with engine_on(settings(shop)) as engine:
                assert "secret.md" not in {item.document_id for item in engine.documents(ANN)}
        operator.rollback("back", force=True)
        assert asked(shop, SECRET) == "insufficient_evidence"
    assert clearcite(shop, "index", "build", "--chunk-words", "90").code == 0
    if how == "purged":
        held = [path for path in (shop / ".clearcite").rglob("*") if path.is_file()]
        assert not [path.name for path in held if b"opens with the code" in path.read_bytes()]
    for item in generations(shop):
        with engine_on(settings(shop), generation=item.name) as engine:
            assert engine.ask(SECRET, ANN).status == "insufficient_evidence"


def test_control_a_generation_that_judged_by_what_it_serves_would_bring_it_back(
    shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Visibility of the generation that does not answer is not told of the change: the mistake."""
    from clearcite.adapters.ledgers import visible

    before, after = candidate(shop)
    refresh = visible.refresh

    def live_only(tx: Any, document: int) -> None:
        rows = tx.rows(
            "SELECT v.generation, v.partition, v.slot, v.from_position, v.present FROM visibility v"
            " WHERE v.document = ? AND v.to_position IS NULL"
            " AND v.generation <> (SELECT generation FROM aliases WHERE name = 'live')",
            document,
        )
        kept = list(rows)
        refresh(tx, document)
        for generation, partition, slot, *_ in kept:
            tx.run(
                "UPDATE visibility SET present = 1 WHERE generation = ? AND partition = ? AND slot = ?",
                generation, partition, slot,
            )  # fmt: skip

    monkeypatch.setattr(visible, "refresh", live_only)
    taken_away(shop, "deleted")
    with operator_on(shop) as operator:
        operator.promote(after, "to", force=True)
    assert before != after
    with engine_on(settings(shop)) as engine, engine._snapshot() as snapshot:
        scope = engine._scope(ANN)
        readable = engine._services.visibility.readable(snapshot, scope)
        assert int(readable.mask("default").sum()) == DOCUMENTS, "the mask shows the deleted document"
