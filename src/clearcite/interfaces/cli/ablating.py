"""``ablate``: what each part of the pipeline is worth on a suite."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Annotated

from clearcite.bench.ablation import Ablation, ablate
from clearcite.bench.ablation_table import files, summary
from clearcite.bench.artifact import write_artifact
from clearcite.bench.axes import AXES, NEEDS_VECTORS
from clearcite.bench.evaluate import Subject, identity_of, judged_of
from clearcite.bench.judge import CaseResult
from clearcite.bench.suite import Suite
from clearcite.engine import Engine
from clearcite.errors import InputError, did_you_mean
from clearcite.interfaces.cli import common
from clearcite.interfaces.cli.commands import Argument, Command, Option
from clearcite.interfaces.cli.common import POLICY, STORE, note, say
from clearcite.interfaces.cli.evaluating import on_suite
from clearcite.wiring.variants import Variant, engine_of

HELP = """Change one part of the pipeline at a time, and see what a suite loses or gains by it.

The same cases are asked as configured and with each change; differences are paired, with 95 % intervals, and a drop is
called significant over all tests of the run. Changes of chunks and vectors are built in a copy of the store, which is
gone at the end. SUITE is a suite of your own (TOML or YAML). --out keeps ablation.json, .csv, .md and .html.

Examples:

  clearcite ablate suite.toml

  clearcite ablate suite.toml --axis retrieval --axis chunks --out ablation
"""


def run_ablation(
    suite: Annotated[Path, Argument(help="A suite of your own (TOML, YAML).")],
    axis: Annotated[list[str] | None, Option("--axis", help="Only this axis. Repeatable.")] = None,
    out: Annotated[Path | None, Option("--out", help="A folder for the files.")] = None,
    policy: POLICY = None,
    store: STORE = None,
    format: Annotated[str | None, Option("--format", help="text (the default) or json.")] = None,  # noqa: A002
) -> int:
    form = "text" if format is None else common.chosen_format(format)
    if suite.suffix == ".json":
        raise InputError("An ablation needs a suite over a store of your own, TOML or YAML.")
    wanted = _axes(axis)
    with on_suite(suite, {}, store, policy) as (subject, asked):
        found = _ablated(subject, asked, wanted)
    if out is not None:
        write_artifact(files(found), out)
    if form == "json":
        common.print_json(found)
    else:
        say(summary(found))
    return 0


def _axes(names: Sequence[str] | None) -> Mapping[str, Mapping[str, Variant]]:
    for name in names or ():
        if name not in AXES:
            raise InputError(f"There is no axis {name}.{did_you_mean([name], AXES)} Axes: {', '.join(AXES)}.")
    return {name: values for name, values in AXES.items() if not names or name in names}


def _ablated(subject: Subject, suite: Suite, axes: Mapping[str, Mapping[str, Variant]]) -> Ablation:
    settings = subject.settings
    if settings is None:
        raise InputError("There is no store of one's own to change.")
    live = next(item for item in subject.engine.generations() if item.is_live)
    has_vectors = '"embedder":null' not in live.manifest
    left_out = {
        f"{axis}, {value}": "the store has no vectors"
        for axis, value in sorted(NEEDS_VECTORS)
        if axis in axes and not has_vectors
    }
    changes = [
        (axis, value)
        for axis, values in axes.items()
        for value in values
        if f"{axis}, {value}" not in left_out
    ]

    def opened(axis: str, value: str) -> AbstractContextManager[Engine]:
        note(f"{axis}: {value}" if axis else "as configured")
        return engine_of(settings, live.name, axes[axis][value] if axis else Variant())

    def judged(engine: Engine) -> Sequence[CaseResult]:
        return judged_of(Subject(engine=engine, settings=settings), suite).results

    return ablate((suite.name, identity_of(subject, suite)), opened, judged, changes, left_out)


COMMANDS = {"ablate": Command(run_ablation, HELP)}
