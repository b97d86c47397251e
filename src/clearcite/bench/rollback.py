"""A bad generation goes out and comes back, in a copy: refused, forced, noticed, rolled back. What is gone stays."""

import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from clearcite.bench.answering import OPERATOR
from clearcite.bench.drill import copy_of
from clearcite.bench.faults.mutations import NOBODY, bad_pipeline
from clearcite.bench.faults.observe import Seen, look
from clearcite.bench.faults.site import Site
from clearcite.bench.faults.stages import failing
from clearcite.bench.panel import measure
from clearcite.domain.corpus import DocumentKey
from clearcite.domain.digest import digest, sha256_bytes
from clearcite.domain.generations import Switch
from clearcite.domain.panel import Panel
from clearcite.errors import InputError
from clearcite.operator import Operator
from clearcite.wiring import engine_on, existing_store, open_ledger

REASON = "drill"
Tell = Callable[[str], None]


class Step(Struct, frozen=True, kw_only=True):
    """What was shown, whether it holds, and on what that is said."""

    name: str
    holds: bool
    detail: str


def rehearse(base: Site, tell: Tell = lambda _: None) -> tuple[Step, ...]:
    """``base`` is the safe copy and stays as it is."""
    now = time.time_ns() // 1_000
    golden = look(base.settings, base.suite, {}, now)
    if golden.live is None or golden.evaluation is None:
        raise InputError("The store answers nothing: a drill on it proves nothing.")
    steps = []
    with tempfile.TemporaryDirectory(prefix="clearcite-drill-") as folder:
        site = copy_of(base, golden, Path(folder) / "rollback")
        for step in (*_out_and_back(site, golden), *_stays_gone(site, golden)):
            tell(step.name)
            steps.append(step)
    return tuple(steps)


def _out_and_back(site: Site, golden: Seen) -> Iterator[Step]:
    good = "" if golden.live is None else golden.live.name
    kept = _originals(golden), _files(site, good)
    passing = _panel(site, good)
    yield Step(name="the live generation passes its panel", holds=passing.passes, detail=passing.line)
    bad = bad_pipeline(site)
    panel = _panel(site, bad)
    yield Step(name="the panel of the defective one fails", holds=not panel.passes, detail=panel.line)
    yield _refused(site, bad, panel)
    with _operator(site) as operator:
        operator.promote(bad, REASON, panel, force=True)
        switch = operator.switches()[-1]
        is_written = switch.after == bad and switch.switch.forced and switch.switch.reason == REASON
    yield Step(
        name="it is promoted by force, with a reason", holds=is_written, detail="the switch is recorded"
    )
    found = failing(golden, look(site.settings, site.suite, {}, golden.now, golden))
    first = next(iter(found), None)
    detail = "; ".join(f"{name}: {lines[0]}" for name, lines in found.items())
    yield Step(name="the live panel fails and names the stage", holds=first == "parsing", detail=detail)
    with _operator(site) as operator:
        back = operator.rollback(REASON)
    yield Step(name="the alias is rolled back", holds=back == good, detail="one switch of a name")
    after = look(site.settings, site.suite, {}, golden.now, golden)
    wrong = failing(golden, after)
    yield Step(
        name="the panel passes again",
        holds=not wrong,
        detail="every stage holds" if not wrong else str(wrong),
    )
    is_same = kept == (_originals(after), _files(site, good))
    yield Step(
        name="sources untouched, nothing rebuilt",
        holds=is_same,
        detail="originals and index files by their hash",
    )


def _refused(site: Site, bad: str, panel: Panel) -> Step:
    with _operator(site) as operator:
        try:
            operator.promote(bad, REASON, panel)
        except InputError:
            return Step(name="its promotion is refused", holds=True, detail="without force")
    return Step(name="its promotion is refused", holds=False, detail="it was let through")


def _stays_gone(site: Site, golden: Seen) -> Iterator[Step]:
    """A delete and a narrowed list, and then each generation once more: none of them brings the documents back."""
    deleted, closed = golden.chosen.bystander, golden.chosen.answering
    if deleted is not None:
        site.delete(deleted.key)
        yield from _never_back(site, golden, deleted.key, "a deleted document stays deleted")
    if closed is not None:
        access = replace(golden.documents[closed.key].access, allow=NOBODY)
        site.send(site.record(closed.key, access=access), publish=False)
        yield from _never_back(site, golden, closed.key, "a revoked document stays revoked")


def _never_back(site: Site, golden: Seen, key: DocumentKey, name: str) -> Iterator[Step]:
    with closing(open_ledger(site.settings)) as ledger:
        generations = [item.name for item in ledger.generations() if item.state == "active"]
        shown = []
        for generation in generations:
            if not any(item.is_live and item.name == generation for item in ledger.generations()):
                ledger.promote(generation, Switch(kind="promote", actor=REASON, reason=REASON, forced=True))
            seen = look(site.settings, site.suite, {}, golden.now, golden)
            shown.append(_shows(seen, key))
    yield Step(
        name=name, holds=not any(shown), detail=f"in each of {len(generations)} generations, made live again"
    )


def _shows(seen: Seen, key: DocumentKey) -> bool:
    is_readable = any(key in keys for keys in seen.readable.values())
    places = (place.document for run in seen.runs for place in (*run.retrieved, *run.selected, *run.cited))
    return is_readable or key in places or any(key in run.candidates for run in seen.runs)


@contextmanager
def _operator(site: Site) -> Iterator[Operator]:
    with engine_on(site.settings) as engine:
        yield engine.operator(OPERATOR)


def _panel(site: Site, generation: str) -> Panel:
    with engine_on(site.settings, generation=generation) as engine:
        return measure(engine, generation, site.suite, site.least, site.before.now)


def _originals(seen: Seen) -> str:
    return digest(
        "originals",
        *(part for key, item in sorted(seen.documents.items()) for part in (key.document_id, item.content)),
    )


def _files(site: Site, generation: str) -> Mapping[str, str]:
    folder = existing_store(site.settings) / "index" / generation
    return {path.name: sha256_bytes(path.read_bytes()) for path in sorted(folder.iterdir()) if path.is_file()}
