"""Where a measurement keeps its figures, for the page that is written from them."""

import json
from pathlib import Path
from typing import Any


def keep_json(file: str | Path | None, found: dict[str, Any]) -> None:
    """Nothing where no file is named."""
    if file is not None:
        Path(file).write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
