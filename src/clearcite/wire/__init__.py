"""What crosses the edge: strict JSON in, canonical JSON out, dataclasses from and to plain JSON values.

Standard library only. Records, front matter and instants have modules of their own beside this one.
"""

from clearcite.wire.canon import canonical
from clearcite.wire.convert import Limits, from_json, to_json
from clearcite.wire.strict import MAX_BYTES, MAX_DEPTH, loads

__all__ = ["MAX_BYTES", "MAX_DEPTH", "Limits", "canonical", "from_json", "loads", "to_json"]
