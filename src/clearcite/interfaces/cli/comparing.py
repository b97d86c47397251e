"""``diff``, ``bless`` and the half of ``verify`` that reads runs: what was kept of evaluations, side by side."""

import getpass
import os
import time
from pathlib import Path
from typing import Annotated

from clearcite.bench.baseline import baseline_of, write_whole
from clearcite.bench.run_diff import RunDiff, diff
from clearcite.bench.run_file import faults_of, json_of, read_run
from clearcite.errors import InputError, IntegrityFault
from clearcite.interfaces.cli import common
from clearcite.interfaces.cli.commands import Argument, Command, Option
from clearcite.interfaces.cli.common import counted, note, say
from clearcite.wire.instants import format_instant

DIFF_HELP = """Show what changed between two runs: gates, scores by slice and cohort, cases.

Exit 0: nothing differs; 1: something does; 2: the runs are of another suite, other documents or another version.

Example:

  clearcite diff before after
"""

BLESS_HELP = """Make a run the baseline that later ones are measured by.

The only way to move a baseline. Who, when and why are kept in it. A run that BLOCKs is refused (exit 1) unless --force
is given.

Examples:

  clearcite bless report --to baseline.json --reason "first release"

  clearcite evaluate suite.yaml --baseline baseline.json
"""

RUN = "A run's folder (the --out of evaluate), its run.json, or a baseline."


def diff_runs(
    earlier: Annotated[str, Argument(help=RUN)],
    later: Annotated[str, Argument(help=RUN)],
    format: Annotated[str | None, Option("--format", help="text (the default) or json.")] = None,  # noqa: A002
) -> int:
    form = "text" if format is None else common.chosen_format(format)
    found = diff(read_run(Path(earlier)), read_run(Path(later)))
    if form == "json":
        common.print_json({"differs": found.differs, "diff": found})
    else:
        _show(found)
    return 1 if found.differs else 0


def bless(
    run: Annotated[str, Argument(help="A run's folder, or its run.json.")],
    to: Annotated[Path, Option("--to", help="The baseline's file; it is replaced.")],
    reason: Annotated[str, Option("--reason", help="Why; it is kept in the baseline.")],
    by: Annotated[str | None, Option("--by", help="Who (the name you are logged in by).")] = None,
    force: Annotated[bool, Option("--force", help="Although the run blocks.")] = False,
) -> int:
    who = getpass.getuser() if by is None else by
    if not reason.strip() or not who.strip():
        raise InputError("Nothing was written: --reason and --by must say something.")
    _require_whole(Path(run))
    kept = read_run(Path(run))
    if kept.verdict == "BLOCK" and not force:
        note(
            "Nothing was written: the run BLOCKs. See its summary.md, or bless it all the same with --force."
        )
        return 1
    write_whole(baseline_of(kept, by=who, reason=reason, at=_now(), forced=force), to)
    say(f"{to}: {counted(len(kept.cases), 'case')}, {kept.verdict}")
    return 0


def verify_run(path: Path) -> int:
    """Raises IntegrityFault for a run that is not what it says, InputError for a file that is no run."""
    _require_whole(path)
    kept = read_run(path)
    say(
        f"holds: {kept.verdict} follows from {counted(len(kept.gates), 'gate')}, and the files are those of the run"
    )
    return 0


def _require_whole(path: Path) -> None:
    place = path / "run.json" if path.is_dir() else path
    faults = faults_of(json_of(place), place.parent)
    if faults:
        raise IntegrityFault(f"{place.name} does not hold: {'; '.join(faults)}.")


def _now() -> str:
    """As SOURCE_DATE_EPOCH says, where something is built twice to be the same."""
    given = os.environ.get("SOURCE_DATE_EPOCH")
    if given is None:
        return format_instant(time.time_ns() // 1_000)
    if not given.isascii() or not given.isdigit() or len(given) > 11:
        raise InputError("SOURCE_DATE_EPOCH must be a number of seconds.")
    return format_instant(int(given) * 1_000_000)


def _show(found: RunDiff) -> None:
    say(_pair(found.verdicts), "bold")
    if found.state:
        say(f"they did not share: {', '.join(found.state)}")
    for gate in found.gates:
        say(f"gate {gate.name}: {_pair(gate.states)}, {_pair(gate.values)}")
    for score in found.scores:
        part = score.part if score.tenant is None else f"{score.tenant}, {score.part}"
        signed = score.mean if score.mean.startswith("-") else f"+{score.mean}"
        low, high = score.interval
        say(
            f"{part}: {score.score} {signed} ({low} to {high}, {counted(score.n_scored, 'case')}, p {score.chance})"
        )
    for case in found.cases:
        codes = [f"+{code}" for code in case.codes[1] if code not in case.codes[0]]
        codes += [f"-{code}" for code in case.codes[0] if code not in case.codes[1]]
        changed = [f"{name} {_pair(values)}" for name, values in case.scores.items()]
        say(f"case {case.case_id} ({case.slice}): {', '.join([_pair(case.statuses), *codes, *changed])}")
    if not found.differs:
        say("nothing differs")


def _pair(values: tuple[str | None, str | None]) -> str:
    shown = ["not scored" if value is None else value for value in values]
    return shown[0] if shown[0] == shown[1] else f"{shown[0]} → {shown[1]}"


COMMANDS = {"diff": Command(diff_runs, DIFF_HELP), "bless": Command(bless, BLESS_HELP)}
