"""How long each stage took, for a person to read: times differ from run to run, so they stand in no file."""

from collections.abc import Iterator, Sequence

from clearcite.bench.answering import CaseRun


def latency_lines(runs: Sequence[CaseRun]) -> Iterator[str]:
    """One line a stage and one for the whole, in milliseconds over the cases: median, 95th percentile, most."""
    stages = list(dict.fromkeys(stage for run in runs for stage in run.milliseconds))
    yield f"{'milliseconds':<16} {'median':>7} {'p95':>7} {'most':>7} {'cases':>7}"
    for stage in stages:
        yield _line(stage, [run.milliseconds[stage] for run in runs if stage in run.milliseconds])
    yield _line("all stages", [sum(run.milliseconds.values()) for run in runs])


def percentile(values: Sequence[int], percent: int) -> int:
    """The least value that so many percent of all do not exceed (nearest rank); at least one value."""
    return sorted(values)[max(0, -(-len(values) * percent // 100) - 1)]


def _line(name: str, values: Sequence[int]) -> str:
    shown = (percentile(values, 50), percentile(values, 95), max(values), len(values))
    return f"{name:<16} " + " ".join(f"{value:>7}" for value in shown)
