"""An ablation as tables: text and Markdown, CSV, and one page of HTML without script or network."""

import csv
import io
import re

from clearcite.bench.ablation import CONFIGURED, PASSES, Ablation, Effect
from clearcite.bench.markup import shown, table
from clearcite.bench.plots import Plot, Row, differences
from clearcite.bench.report_style import HEAD as HEAD_OF_PAGE
from clearcite.bench.scoring import WORSE_WHEN_HIGHER
from clearcite.bench.stats import to_micros
from clearcite.errors import InputError
from clearcite.wire import canonical, loads
from clearcite.wire.convert import from_json, to_json

SCHEMA = "urn:clearcite:ablation:1"
SHOWN = frozenset((PASSES, "status", "rr", "context_recall", "citation_precision", "citation_recall"))
SHOWN |= {"nugget_recall", "expected_empty", "over_refusal"}
"""Measures of the short table; the files hold all."""
HEAD = ("axis", "instead", "measure", "n", CONFIGURED, "so", "difference", "95 % interval", "significant")
CSV_HEAD = (
    "axis",
    "value",
    "measure",
    "n",
    "configured",
    "mean",
    "difference",
    "low",
    "high",
    "chance",
    "significant",
)
_NUMBER = re.compile(r"-?[01]\.[0-9]{6}")


def summary(found: Ablation) -> str:
    """Markdown: what moved, what did not, and the cases each change loses."""
    lines = [
        f"## Ablation of {found.suite}: {found.cases} cases",
        "",
        f"| {' | '.join(HEAD)} |",
        "|" + "---|" * len(HEAD),
        *(_row(effect) for effect in found.effects if _is_shown(effect)),
        "",
    ]
    for lost in found.lost:
        if lost.cases:
            names = ", ".join(lost.cases[:10])
            lines.append(
                f"- {lost.axis}, {lost.value}: {len(lost.cases)} cases are lost ({names}),"
                f" {len(lost.attributed)} of them come back without the change"
            )
    lines += [f"- {name} was left out: {why}" for name, why in found.left_out.items()]
    return "\n".join(lines) + "\n"


def files(found: Ablation) -> dict[str, bytes]:
    """What ``ablate --out`` writes; names and numbers only."""
    return {
        "ablation.json": canonical({"schema": SCHEMA, **to_json(found)}) + b"\n",
        "ablation.csv": _csv(found),
        "ablation.md": summary(found).encode("utf-8"),
        "ablation.html": _page(found).encode("utf-8"),
    }


def _is_shown(effect: Effect) -> bool:
    return effect.measure in SHOWN or effect.measure.startswith(("ndcg@", "recall@")) or effect.significant


def _row(effect: Effect) -> str:
    return f"| {' | '.join(map(str, _cells(effect)))} |"


def _csv(found: Ablation) -> bytes:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(CSV_HEAD)
    for one in found.effects:
        row = (
            one.axis,
            one.value,
            one.measure,
            one.n,
            one.configured,
            one.mean,
            one.difference,
            *one.interval,
        )
        writer.writerow([*row, one.chance, int(one.significant)])
    return out.getvalue().encode("utf-8")


def read_ablation(raw: bytes) -> Ablation:
    """Raises InputError for anything but an ``ablation.json``."""
    value = loads(raw)
    if not isinstance(value, dict) or value.pop("schema", None) != SCHEMA:
        raise InputError("This is no ablation.json of an ablation.")
    found = from_json(Ablation, value, what="ablation.json")
    for one in found.effects:
        numbers = (one.mean, one.configured, one.difference, *one.interval, one.chance)
        if not all(_NUMBER.fullmatch(number) for number in numbers):
            raise InputError(f"ablation.json is not valid: a number of {one.axis}, {one.value} is none.")
    return found


def body(found: Ablation) -> str:
    """Of a page: the differences drawn, their table, and which cases each change loses."""
    effects = [one for one in found.effects if _is_shown(one)]
    plot = Plot(
        key="forest",
        title="Differences to what is configured",
        said="A dot for each measure with one thing changed, a line for its 95 % interval; see the table.",
    )
    groups: dict[str, list[Row]] = {}
    for one in effects:
        low, high = (to_micros(end) for end in one.interval)
        label = f"{one.measure} (less is better)" if one.measure in WORSE_WHEN_HIGHER else one.measure
        row = Row(label=label, value=to_micros(one.difference), ends=(low, high))
        groups.setdefault(f"{one.axis}: {one.value}", []).append(row)
    lost = [
        (one.axis, one.value, ", ".join(one.cases), ", ".join(one.attributed))
        for one in found.lost
        if one.cases
    ]
    parts = [
        f"<p>{found.cases} cases, one thing changed at a time. Left of 0: less than {CONFIGURED}.</p>",
        differences(plot, list(groups.items())),
        table(HEAD, [_cells(one) for one in effects]),
    ]
    if lost:
        parts.append(table(("axis", "instead", "cases lost", "come back without the change"), lost))
    if found.left_out:
        parts.append(table(("left out", "why"), list(found.left_out.items())))
    return "\n".join(parts)


def _page(found: Ablation) -> str:
    title = f"Ablation of {shown(found.suite)}"
    return (
        f"{HEAD_OF_PAGE.format(title=title)}<body>\n<main>\n<h1>{title}</h1>\n{body(found)}\n"
        "</main>\n</body>\n</html>\n"
    )


def _cells(one: Effect) -> tuple[object, ...]:
    low, high = one.interval
    numbers = (one.n, one.configured, one.mean, one.difference, f"{low} to {high}")
    return (one.axis, one.value, one.measure, *numbers, "yes" if one.significant else "")
