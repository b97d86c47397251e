"""Write src/clearcite/schemas/*.json from the structs. A test fails while they are not current."""

import json
from pathlib import Path

from clearcite.wire.schema import all_schemas

FOLDER = Path(__file__).resolve().parents[1] / "src" / "clearcite" / "schemas"


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    schemas = all_schemas()
    for old in FOLDER.glob("*.json"):
        if old.stem not in schemas:
            old.unlink()
    for name, schema in schemas.items():
        text = json.dumps(schema, indent=2, ensure_ascii=False) + "\n"
        (FOLDER / f"{name}.json").write_text(text, encoding="utf-8")
    print(f"{len(schemas)} schemas written")


if __name__ == "__main__":
    main()
