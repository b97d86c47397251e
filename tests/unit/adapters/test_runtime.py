"""onnxruntime is loaded without its telemetry."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("onnxruntime", reason="the extra semantic is not installed")

TOLD = "ORT_DISABLE_TELEMETRY"
NOWHERE = dict.fromkeys(("http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy"), "http://127.0.0.1:9")
"""The control must not reach its maker either."""


def left_at_home(home: Path, **environment: str) -> list[str]:
    """What loading the runtime leaves in the home of its user."""
    home.mkdir()
    inherited = {name: value for name, value in os.environ.items() if name not in (TOLD, "XDG_CACHE_HOME")}
    code = "from clearcite.adapters.runtime import runtime; runtime()"
    env = inherited | NOWHERE | {"HOME": str(home)} | environment
    subprocess.run([sys.executable, "-c", code], env=env, check=True, timeout=60)
    return sorted(path.name for path in home.rglob("*") if path.is_file())


def test_the_runtime_keeps_no_id_and_no_events_of_its_use(tmp_path: Path) -> None:
    if not left_at_home(tmp_path / "control", **{TOLD: "0"}):
        pytest.skip("this build of onnxruntime has no telemetry")
    assert left_at_home(tmp_path / "ours") == []
