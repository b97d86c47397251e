"""The demo corpus in a store of its own, asked with files of questions."""

from __future__ import annotations

import tempfile
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clearcite.config import Settings
from clearcite.domain.access import Principal
from clearcite.domain.answer import PublicAnswer
from clearcite.engine import Engine
from clearcite.interfaces.cli.demo import unpack
from clearcite.interfaces.cli.ingestion import take_sources
from clearcite.wire.convert import to_json
from clearcite.wiring import Taking, engine_on, resolver_for

Item = Mapping[str, Any]


def read_questions(path: Path) -> Sequence[Item]:
    questions: Sequence[Item] = tomllib.loads(path.read_text(encoding="utf-8"))["questions"]
    return questions


@dataclass(frozen=True)
class Asked:
    item: Item
    public: PublicAnswer

    def faults(self) -> list[str]:
        """What is not as the item says; empty when everything is."""
        item, public = self.item, self.public
        if public.status != item["status"]:
            return [f"status {public.status}"]
        shown = "\n".join(statement.text for statement in public.answer).casefold()
        sides = "\n".join(side.text for c in public.conflicts for side in c.sides).casefold()
        whole = str(to_json(public)).casefold()
        found = [f"no {text!r}" for text in item.get("answer_contains", []) if text.casefold() not in shown]
        found += [
            f"no side {text!r}" for text in item.get("sides_contain", []) if text.casefold() not in sides
        ]
        found += [f"shows {text!r}" for text in item.get("never_shown", []) if text.casefold() in whole]
        cited = {citation.document_id for citation in public.citations}
        if item.get("cites") and not cited & set(item["cites"]):
            found.append(f"cites {sorted(cited)}")
        return found


@dataclass(frozen=True)
class Demo:
    settings: Settings
    engine: Engine

    def principal(self, name: str) -> Principal:
        return resolver_for(self.settings).resolve(name)

    def ask(self, item: Item) -> Asked:
        return Asked(item, self.engine.ask(item["text"], self.principal(item["as"])))

    def ask_all(self, items: Sequence[Item]) -> list[Asked]:
        return [self.ask(item) for item in items]


@contextmanager
def open_demo(semantic: str = "auto") -> Iterator[Demo]:
    with tempfile.TemporaryDirectory(prefix="clearcite-demo-") as name:
        settings = unpack(Path(name), semantic=semantic)
        take_sources(settings, Taking())
        with engine_on(settings) as engine:
            yield Demo(settings, engine)
