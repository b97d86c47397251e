"""The safetensors format: an 8-byte length, a JSON header, then raw little-endian arrays, read by mapping."""

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from clearcite.errors import IntegrityFault

if TYPE_CHECKING:
    from numpy.typing import NDArray

_LONGEST_HEADER = 1 << 20


def map_float32(path: Path) -> "dict[str, NDArray[np.float32]]":
    """The float32 arrays of a file by name, as views of the mapped file. IntegrityFault if malformed."""
    raw = np.memmap(path, np.uint8, "r")
    size = int.from_bytes(raw[:8].tobytes(), "little")
    if not 0 < size <= min(_LONGEST_HEADER, raw.size - 8):
        raise IntegrityFault("The model file has no valid header.")
    try:
        header = json.loads(raw[8 : 8 + size].tobytes())
        entries = {name: entry for name, entry in header.items() if name != "__metadata__"}
        return {
            name: _view(raw[8 + size :], entry) for name, entry in entries.items() if entry["dtype"] == "F32"
        }
    except (ValueError, KeyError, TypeError, AttributeError) as fault:
        raise IntegrityFault("The model file has no valid header.") from fault


def _view(data: "NDArray[np.uint8]", entry: dict[str, Any]) -> "NDArray[np.float32]":
    start, end = entry["data_offsets"]
    if not 0 <= start <= end <= data.size or end - start != 4 * math.prod(entry["shape"]):
        raise ValueError("an array lies outside the file")
    return data[start:end].view("<f4").reshape(entry["shape"])
