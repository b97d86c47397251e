"""An index that others publish and sweep meanwhile is not taken for a lost one."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from clearcite.config import Settings
from clearcite.domain.generations import Generation
from clearcite.ingest.pipeline import project
from clearcite.wiring.builds import is_sound
from clearcite.wiring.workshop import Workshop, open_workshop
from tests.support.world import record


def filled(folder: Path) -> Workshop:
    shop = open_workshop(Settings(store=str(folder / "store"), semantic="off"))
    add(shop, "one")
    return shop


def add(shop: Workshop, name: str) -> None:
    shop.ledger.apply([record(name, f"# {name}\n\nA line of {name}.\n")], shop.manifest.hash())
    for batch in project(shop.worker):
        assert not batch.failed
    shop.serve()


def only(shop: Workshop) -> Generation:
    (found,) = shop.ledger.generations()
    return found


def test_an_index_that_was_swept_since_it_was_looked_up_is_looked_up_again(tmp_path: Path) -> None:
    with closing(filled(tmp_path)) as shop:
        before = only(shop)
        add(shop, "two")
        assert is_sound(shop.ledger, shop.store, before)
        assert not (shop.index.root / f"{before.index_manifest}.manifest").exists(), "it was swept"


def test_an_index_that_is_lost_is_not_sound(tmp_path: Path) -> None:
    with closing(filled(tmp_path)) as shop:
        for path in shop.index.root.iterdir():
            path.unlink()
        assert not is_sound(shop.ledger, shop.store, only(shop))
