"""``drill``: put faults into a copy of a store, and see that each is caught where it belongs."""

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Annotated

from clearcite.bench.answering import OPERATOR
from clearcite.bench.artifact import require_writable, write_artifact
from clearcite.bench.drill import ALL_AT_ONCE, SAFE, Drill, Result, drill, fault_of, safe_copy
from clearcite.bench.evidence import OWNERS, drill_evidence, drill_json, rollback_evidence
from clearcite.bench.faults.registry import FAULTS
from clearcite.bench.faults.site import Site
from clearcite.bench.rollback import Step, rehearse
from clearcite.bench.suite_file import Names, read_suite
from clearcite.config import Settings
from clearcite.errors import InputError
from clearcite.interfaces.cli import common
from clearcite.interfaces.cli.commands import Command, Option
from clearcite.interfaces.cli.common import POLICY, STORE, say
from clearcite.interfaces.cli.demo import unpack
from clearcite.interfaces.cli.evaluating import must_be_withheld
from clearcite.interfaces.cli.ingestion import Summary, catch_up
from clearcite.interfaces.cli.progress import progress
from clearcite.wiring import Taking, directory_in_force, engine_on, open_workshop, take_one

HELP = """Put faults into a copy of the store, and see that each is caught at its own stage.

With a store here and --suite it is a copy of yours, else the documents of the demo. All faults: exit 0 when the copy
without a fault is clean and each fault is caught where it belongs. One fault (--fault): exit 1, for a store in that
state must not go out; 0 means that nothing noticed. The store itself is only read.

Examples:

  clearcite drill

  clearcite drill --fault acl_widen

  clearcite drill --suite questions.toml --out evidence

  clearcite drill --rollback
"""

REPORT = Annotated[str | None, Option("--format", help="text (the default, also when piped) or json.")]
ROWS = {"clean": "green", "caught": "green", "failed": "red", "elsewhere": "red", "missed": "red"}


def run_drill(
    fault: Annotated[
        str | None, Option("--fault", help=f"Only this one; {SAFE}: none, {ALL_AT_ONCE}: several at once.")
    ] = None,
    rollback: Annotated[
        bool, Option("--rollback", help="Let a defective generation go out, and bring the one before back.")
    ] = False,
    suite: Annotated[Path | None, Option("--suite", help="Questions about the store of this folder.")] = None,
    out: Annotated[Path | None, Option("--out", help="A folder for the evidence file.")] = None,
    policy: POLICY = None,
    store: STORE = None,
    format: REPORT = None,  # noqa: A002 - the flag's name
) -> int:
    if fault is not None and rollback:
        raise InputError("Use either --fault or --rollback.")
    if fault not in (None, SAFE, ALL_AT_ONCE):
        fault_of(str(fault))
    require_writable(out)
    is_json = format is not None and common.chosen_format(format) == "json"
    command = " ".join(
        ["clearcite drill", *(["--rollback"] if rollback else []), *(["--fault", fault] if fault else [])]
    )
    with _subject(store, suite, policy) as base:
        if rollback:
            return _rollback(base, out, command, is_json=is_json)
        names = [item.name for item in FAULTS] + [ALL_AT_ONCE] if fault is None else [fault]
        with _telling(len(names) + 1) as tell:
            found = drill(base, names, tell=tell)
        evidence = drill_evidence(found, base, command)
    if out is not None:
        if must_be_withheld(evidence, found.suite):
            return 1
        write_artifact(evidence, out)
    if is_json:
        common.print_json(drill_json(found))
    else:
        _show(found)
    return _code(found, fault)


def _code(found: Drill, fault: str | None) -> int:
    """One fault: 1 when anything fails, as a gate on a store in this state ends."""
    if fault is None:
        return 0 if found.holds else 1
    last = found.results[-1]
    if last.outcome == "not_applicable":
        raise InputError(f"{fault} cannot be put into this store: {last.reason}.")
    return 1 if any(item.failing for item in found.results) else 0


def _rollback(base: Site, out: Path | None, command: str, *, is_json: bool) -> int:
    with _telling(9) as tell:
        steps = rehearse(base, tell=tell)
    if out is not None:
        evidence = rollback_evidence(steps, base, command)
        if must_be_withheld(evidence, base.suite):
            return 1
        write_artifact(evidence, out)
    if is_json:
        common.print_json({"holds": all(step.holds for step in steps), "steps": steps})
    else:
        _show_steps(steps)
    return 0 if all(step.holds for step in steps) else 1


@contextmanager
def _subject(store: str | None, suite: Path | None, policy: str | None) -> Iterator[Site]:
    """A copy of the user's store, or of the documents that are shipped."""
    with ExitStack() as stack:
        settings = common.settings_for(store)
        is_there = (settings.path(settings.store) / "ledger.db").is_file()
        if suite is None and is_there:
            raise InputError("There is a store here: name questions about it with --suite FILE.")
        if suite is None and store is None:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="clearcite-drill-")))
            settings, suite = _bundled(folder / "demo"), folder / "demo" / "questions.toml"
        elif suite is None:
            raise InputError("Name questions about the store with --suite FILE.")
        with engine_on(settings) as engine:
            names = Names(
                resolve=directory_in_force(settings, policy).resolve,
                documents=engine.operator(OPERATOR).known(),
            )
            found, least = read_suite(suite, names)
        yield stack.enter_context(safe_copy(settings, found, least))


def _bundled(folder: Path) -> Settings:
    """Words only, so that the same is measured with and without a model."""
    folder.mkdir()
    settings = unpack(folder, semantic="off")
    with closing(open_workshop(settings)) as shop:
        for source in settings.sources:
            for _ in take_one(shop, settings, source, Taking()):
                pass
        catch_up(shop, Summary())
        shop.serve()
    return settings


@contextmanager
def _telling(total: int) -> Iterator[Callable[[str], None]]:
    with progress() as bar:
        task = bar.add_task("drill", total=total)

        def tell(name: str) -> None:
            bar.update(task, description=name, advance=1)

        yield tell


def _show(found: Drill) -> None:
    for item in found.results:
        _show_result(item)
    if len(found.results) > 2:
        counts: Mapping[str, int] = {
            outcome: sum(item.outcome == outcome for item in found.results)
            for outcome in (*ROWS, "not_applicable")
        }
        say(
            ", ".join(f"{count} {outcome.replace('_', ' ')}" for outcome, count in counts.items() if count),
            "bold",
        )
    say("DRILL: HOLDS" if found.holds else "DRILL: DOES NOT HOLD", "green" if found.holds else "red")


def _show_result(item: Result) -> None:
    if item.outcome == "not_applicable":
        say(f"- {item.name:<18} left out: {item.reason}", "dim")
        return
    own = "" if item.fault is None or item.first == item.fault.stage else f" (its own: {item.fault.stage})"
    say(f"{item.name:<20} {item.outcome:<9} first: {item.first or 'nothing'}{own}", ROWS[item.outcome])  # type: ignore[arg-type]
    for name, lines in item.failing.items():
        say(f"    {name}: {'; '.join(lines)[:200]}")
    if item.first in OWNERS:
        say(f"    to act: {OWNERS[item.first]}", "dim")


def _show_steps(steps: Sequence[Step]) -> None:
    for number, step in enumerate(steps, start=1):
        say(f"{number}. {step.name}: {'yes' if step.holds else 'NO'}", "green" if step.holds else "red")
        say(f"   {step.detail[:300]}", "dim")
    holds = all(step.holds for step in steps)
    say("ROLLBACK: HOLDS" if holds else "ROLLBACK: DOES NOT HOLD", "green" if holds else "red")


COMMANDS = {"drill": Command(run_drill, HELP)}
