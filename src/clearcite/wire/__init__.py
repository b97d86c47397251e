"""What crosses the edge: strict JSON in, canonical JSON out, structs from and to plain JSON values.

Standard library only, as ``scope_check`` needs it. Structs, records, front matter and instants have modules of their
own beside this one.
"""

from clearcite.wire.canon import canonical
from clearcite.wire.strict import MAX_BYTES, MAX_DEPTH, loads

__all__ = ["MAX_BYTES", "MAX_DEPTH", "canonical", "loads"]
