"""Where the public data sets are; a test that needs one skips with a reason where it is missing."""

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def data_folder(name: str) -> Path:
    base = Path(os.environ.get("CLEARCITE_TEST_DATA", ROOT.parent / "shared" / "data"))
    folder = base / name
    if not folder.is_dir():
        pytest.skip(f"the public data set {name} is not here; set CLEARCITE_TEST_DATA to its folder")
    return folder
