"""I17: the same documents give the same bytes, whatever the order, batches, hash seed, zone, locale or -O."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.world import LEGS, body, close_worlds, make_world, principal, record

DOCUMENTS = [
    (
        "queue.md",
        "# Worker queue\n\nThe retry limit of the worker queue is 8 attempts.\n\n- Retries wait 5 minutes.",
    ),
    (
        "limits.md",
        "# Limits\n\n| plan | requests |\n|---|---|\n| small | 300 per minute |\n| large | 900 per minute |",
    ),
    ("export.md", "# Export\n\nAn export is kept for 30 days. It can be downloaded as CSV."),
    ("escritorio.md", "# Escritório\n\nO escritório abre às 9 horas e fecha às 18 horas."),
    ("codes.md", "# Codes\n\nCode HX-42 means that the spool is full. Code HX-43 means that it is empty."),
]
QUESTIONS = [
    "What is the retry limit of the worker queue?",
    "How many requests may the large plan make?",
    "How long is an export kept?",
    "A que horas fecha o escritório?",
    "What does HX-42 mean?",
    "Who wrote the operating system?",
]


def bodies(order: list[int], batches: int, *, merge: bool = False, embedder: Any = None) -> list[bytes]:
    world = make_world(embedder=embedder)
    for start in range(0, len(order), batches):
        world.put(*(record(*DOCUMENTS[n]) for n in order[start : start + batches]))
    if merge:
        world.publish(merge=True)
    caller = principal("staff")
    found = [body(world.engine.ask(question, caller)) for question in QUESTIONS]
    found += [body(world.engine.search(question, caller, k=4)) for question in QUESTIONS]
    close_worlds()
    return found


@cache
def in_order(embedder: Any) -> list[bytes]:
    return bodies(list(range(len(DOCUMENTS))), len(DOCUMENTS), embedder=embedder)


@LEGS
@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
@given(order=st.permutations(range(len(DOCUMENTS))), batches=st.integers(1, 5), merge=st.booleans())
def test_order_batches_and_merging_do_not_show(
    embedder: Any, order: list[int], batches: int, merge: bool
) -> None:
    assert bodies(order, batches, merge=merge, embedder=embedder) == in_order(embedder)


SCRIPT = """
import json, sys
from clearcite.testing.embedder import HashedEmbedder
from tests.property.test_replay import bodies
found = bodies([0, 1, 2, 3, 4], 2) + bodies([0, 1, 2, 3, 4], 2, embedder=HashedEmbedder())
print(json.dumps([item.decode() for item in found]))
"""
ROOT = Path(__file__).resolve().parents[2]


def run(flags: list[str], **env: str) -> str:
    done = subprocess.run(
        [sys.executable, *flags, "-c", SCRIPT],
        cwd=ROOT,
        env={**os.environ, **env},
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    return done.stdout


def test_hash_seed_threads_zone_locale_and_optimisation_do_not_show() -> None:
    wanted = run([], PYTHONHASHSEED="0")
    assert json.loads(wanted)
    others = [
        run([], PYTHONHASHSEED="7", TZ="Asia/Tokyo", LC_ALL="C"),
        run(["-O"], PYTHONHASHSEED="99", OMP_NUM_THREADS="2", OPENBLAS_NUM_THREADS="2", TZ="America/Lima"),
    ]
    assert others == [wanted, wanted]
