"""``ablate``: what each part of the pipeline is worth on a suite."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Annotated

from clearcite.bench.ablation import Ablation, ablate
from clearcite.bench.ablation_table import files, summary
from clearcite.bench.artifact import require_writable, write_artifact
from clearcite.bench.axes import AXES, Ground, Make
from clearcite.bench.evaluate import Subject, identity_of, judged_of
from clearcite.bench.judge import CaseResult
from clearcite.bench.legs import has_vectors
from clearcite.bench.suite import Suite
from clearcite.engine import Engine
from clearcite.errors import InputError, did_you_mean
from clearcite.interfaces.cli import common
from clearcite.interfaces.cli.commands import Argument, Command, Option
from clearcite.interfaces.cli.common import POLICY, STORE, note, say
from clearcite.interfaces.cli.evaluating import must_be_withheld, on_suite
from clearcite.wiring.variants import Variant, engine_of

Axes = Mapping[str, Mapping[str, Make]]

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
    cross_encoder: Annotated[
        Path | None,
        Option(
            "--cross-encoder", help="A folder with the model.onnx and vocab.txt of a reranker to compare."
        ),
    ] = None,
    out: Annotated[Path | None, Option("--out", help="A folder for the files.")] = None,
    policy: POLICY = None,
    store: STORE = None,
    format: Annotated[str | None, Option("--format", help="text (the default) or json.")] = None,  # noqa: A002
) -> int:
    form = "text" if format is None else common.chosen_format(format)
    if suite.suffix == ".json":
        raise InputError("An ablation needs a suite over a store of your own, TOML or YAML.")
    wanted = _axes(axis)
    if cross_encoder is not None and "reranker" not in wanted:
        raise InputError("--cross-encoder is compared on the axis reranker: add --axis reranker.")
    require_writable(out)
    with on_suite(suite, {}, store, policy) as (subject, asked):
        found = _ablated(subject, asked, wanted, cross_encoder)
    written = files(found)
    if must_be_withheld(written, asked):
        return 1
    if out is not None:
        write_artifact(written, out)
    if form == "json":
        common.print_json(found)
    else:
        say(summary(found))
    return 0


def _axes(names: Sequence[str] | None) -> Axes:
    for name in names or ():
        if name not in AXES:
            raise InputError(f"There is no axis {name}.{did_you_mean([name], AXES)} Axes: {', '.join(AXES)}.")
    return {name: values for name, values in AXES.items() if not names or name in names}


def _ablated(subject: Subject, suite: Suite, axes: Axes, cross_encoder: Path | None) -> Ablation:
    settings = subject.settings
    if settings is None:
        raise InputError("There is no store of one's own to change.")
    live = next(item for item in subject.engine.generations() if item.is_live)
    ground = Ground(settings=settings, has_vectors=has_vectors(live), cross_encoder=cross_encoder)
    made = {(axis, value): make(ground) for axis, values in axes.items() for value, make in values.items()}
    changes = {change: variant for change, variant in made.items() if isinstance(variant, Variant)}
    left_out = {", ".join(change): why for change, why in made.items() if isinstance(why, str)}

    def opened(axis: str, value: str) -> AbstractContextManager[Engine]:
        note(f"{axis}: {value}" if axis else "as configured")
        return engine_of(settings, live.name, changes[axis, value] if axis else Variant())

    def judged(engine: Engine) -> Sequence[CaseResult]:
        return judged_of(Subject(engine=engine, settings=settings), suite).results

    return ablate((suite.name, identity_of(subject, suite)), opened, judged, list(changes), left_out)


COMMANDS = {"ablate": Command(run_ablation, HELP)}
