"""The check that contracts bite must itself bite: it refuses a suite in which anything passes or breaks."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts" / "must_fail.py"
UNMET = "from clearcite.testing.expect import expect\n\ndef test_refused():\n    expect(False, 'this')\n"


def run(folder: Path, *flags: str) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, *flags, str(SCRIPT), str(folder)],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


def test_every_test_that_must_fail_does_fail_without_asserts() -> None:
    code, said = run(ROOT / "tests" / "must_fail", "-O")
    assert code == 0, said
    assert "4 tests failed as they must" in said


CONTROLS = {
    "test_a.py": (UNMET + "\ndef test_fine():\n    pass\n", "test_fine passed"),
    "test_b.py": (UNMET + "\ndef test_plain():\n    one = 1\n    assert one == 1\n", "test_plain passed"),
    "test_c.py": (
        UNMET + "\ndef test_broken():\n    expect.equal(1, 2)\n",
        "test_broken ended in AttributeError",
    ),
    "test_d.py": ("import clearcite.not_there\n" + UNMET, "test_d.py cannot be collected"),
    "test_e.py": (
        "import clearcite.testing.expect as e\ne.expect = lambda *_: None\n" + UNMET,
        "test_refused passed",
    ),
}
"""File → content and the fault that must be named; the last one is an ``expect`` that does nothing."""


def test_the_control_anything_else_is_refused(tmp_path: Path) -> None:
    for name, (content, _) in CONTROLS.items():
        (tmp_path / name).write_text(content, encoding="utf-8")
    code, said = run(tmp_path, "-O")
    assert code == 1
    assert [fault for _, fault in CONTROLS.values() if fault not in said] == []


def test_no_test_and_asserts_that_are_on_prove_nothing(tmp_path: Path) -> None:
    code, said = run(tmp_path)
    assert code == 1
    assert "no test was run" in said and "python -O" in said


def test_make_runs_it_and_pytest_alone_does_not_collect_it() -> None:
    assert "$(PY) -O scripts/must_fail.py tests/must_fail" in (ROOT / "Makefile").read_text(encoding="utf-8")
    others = [
        path for path in (ROOT / "tests").iterdir() if path.name not in ("must_fail", "docs", "conftest.py")
    ]
    ignored = [f"--ignore={path}" for path in others]
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "--collect-only",
            "-q",
            "-p",
            "no:cacheprovider",
            "-p",
            "no:xdist",
            *ignored,
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert "test_readme.py" in done.stdout, done.stdout
    assert "must_fail" not in done.stdout
