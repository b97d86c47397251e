"""At which rank words and vectors find what a question is about, as lines."""

from pathlib import Path

from clearcite.bench.answering import OPERATOR
from clearcite.bench.legs import LEGS, Ranks, ranks_by_leg
from clearcite.bench.suite_file import Names, read_suite
from clearcite.config import Settings
from clearcite.interfaces.cli.common import say
from clearcite.wiring import engine_on, resolver_for


def show_legs(settings: Settings, path: Path) -> None:
    """A line for each question of a suite that names a relevant document."""
    with engine_on(settings) as engine:
        live = next(item for item in engine.generations() if item.is_live)
        known = engine.operator(OPERATOR).known()
    suite, _ = read_suite(path, Names(resolve=resolver_for(settings).resolve, documents=known))
    for found in ranks_by_leg(settings, live, suite):
        pages = ", ".join(key.document_id for key in found.case.oracle.relevant)
        say(f"{found.case.asked.text}", "bold")
        say(f"  {pages} is found {'; '.join(_said(found, leg) for leg in LEGS)}")


def _said(found: Ranks, leg: str) -> str:
    if leg not in found.ranks:
        return f"{leg}: the store has no vectors"
    rank, n = found.ranks[leg]
    return f"{leg}: not at all" if rank is None else f"{leg}: at rank {rank} of {n}"
