"""onnxruntime, which runs the models; an optional extra."""

import os
from typing import Any


def runtime() -> Any:
    """The module of onnxruntime. Raises ImportError where it is not installed.

    Its telemetry is turned off before it is loaded, unless the environment says otherwise. As published (since 1.30
    at the latest, on Linux too) it makes an id of the machine, keeps events of its use in the user's cache and sends
    them to its maker, as its Privacy.md says.
    """
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    import onnxruntime  # noqa: PLC0415

    return onnxruntime
