"""The suite must kill each mutant: a test that passes with and without a guard does not hold it."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.mutants.table import MUTANTS, Mutant

ROOT = Path(__file__).parents[2]
FAILED = 1


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_the_suite_kills(mutant: Mutant) -> None:
    plugins = ("-p", "tests.mutants.plugin", "-p", "no:cacheprovider", "-p", "no:randomly")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-x", "-n0", *plugins, mutant.killer],
        cwd=ROOT,
        env={**os.environ, "CLEARCITE_TEST_MUTANT": mutant.name},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == FAILED, done.stdout[-2000:] + done.stderr[-2000:]
    assert "1 failed" in done.stdout


def test_no_mutant_is_in_the_wheel() -> None:
    packed = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"][
        "wheel"
    ]
    assert packed["packages"] == ["src/clearcite"]
    assert not [path for path in (ROOT / "src").rglob("*") if "mutant" in path.name]
    words = [mutant.name for mutant in MUTANTS]
    sources = [path.read_text("utf-8") for path in (ROOT / "src").rglob("*.py")]
    assert not [word for word in words for source in sources if word in source]
