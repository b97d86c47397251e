"""One small company in a store, asked by every test that only reads; words only, for speed."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.shell import clearcite, write
from tests.support.world import fast_folder

CONFIG = """
[store]
policy = "policy.toml"

[routes]
tool_required = ["right now"]

[[sources]]
path = "handbook"
tenant = "acme"
source_id = "handbook"
allowed_groups = ["staff"]
source_type = "policy"

[[sources]]
path = "board"
tenant = "acme"
source_id = "board"
allowed_groups = ["board"]
"""

POLICY = """
revision = "7"

[subjects.ann]
tenant = "acme"
groups = ["staff"]

[subjects.bob]
tenant = "acme"
groups = ["staff", "board"]

[subjects.olga]
tenant = "acme"
groups = ["staff"]
roles = ["operator"]
"""

HIDDEN = ("nightjar-7f3a", "Nightjar Ledger", "7,131,313", "board")
"""Id, title, text and source of what ann may not read."""

COMPANY = {
    "clearcite.toml": CONFIG,
    "policy.toml": POLICY,
    "handbook/leave.md": "# Leave\n\nEvery employee has 25 days of paid leave a year.\n",
    "handbook/parking.md": "# Parking\n\nA parking space costs EUR 40 a month.\n",
    "handbook/lodging-a.md": "# Lodging\n\nThe lodging allowance is EUR 140 per night for a hotel.\n",
    "handbook/lodging-b.md": "# Site visits\n\nThe lodging allowance is EUR 165 per night for a hotel.\n",
    "handbook/ferias.md": "# Férias\n\nO subsídio de refeição é de 9,60 € por dia de trabalho.\n",
    "handbook/odd.md": "# Odd\n\nThe valve \x1b[31mred\x1b[0m \x9b31m \u202epart\u2028 opens at 7 bar.\n",
    "board/nightjar-7f3a.md": (
        "# Nightjar Ledger\n\nThe purchase price of the parking company is EUR 7,131,313.\n"
        "\nEvery employee has 99 days of paid leave a year.\n"
    ),
}


@pytest.fixture(autouse=True)
def _settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLEARCITE_SEMANTIC", "off")
    monkeypatch.setenv("COLUMNS", "100")


@pytest.fixture(scope="session")
def company() -> Iterator[Path]:
    """Read only; ``copy`` is for what changes something."""
    folder = write(fast_folder(), COMPANY)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CLEARCITE_SEMANTIC", "off")
        done = clearcite(folder, "ingest")
    assert done.code == 0, done.err
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def copy(company: Path) -> Iterator[Path]:
    """A copy of the company with its store, to change."""
    folder = fast_folder()
    shutil.copytree(company, folder, dirs_exist_ok=True)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def empty() -> Iterator[Path]:
    """An empty folder."""
    folder = fast_folder()
    yield folder
    shutil.rmtree(folder)
