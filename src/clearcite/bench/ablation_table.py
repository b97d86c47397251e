"""An ablation as tables: text and Markdown, CSV, and one page of HTML without script or network."""

import csv
import io
from collections.abc import Sequence

from clearcite.bench.ablation import CONFIGURED, PASSES, Ablation, Effect
from clearcite.bench.markup import shown
from clearcite.bench.report_style import HEAD as HEAD_OF_PAGE
from clearcite.bench.stats import to_micros
from clearcite.wire import canonical, to_json

SHOWN = frozenset((PASSES, "status", "rr", "context_recall", "citation_precision", "citation_recall"))
SHOWN |= {"nugget_recall", "expected_empty"}
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
        "ablation.json": canonical({"schema": "urn:clearcite:ablation:1", **to_json(found)}) + b"\n",
        "ablation.csv": _csv(found),
        "ablation.md": summary(found).encode("utf-8"),
        "ablation.html": _page(found).encode("utf-8"),
    }


def _is_shown(effect: Effect) -> bool:
    return effect.measure in SHOWN or effect.measure.startswith(("ndcg@", "recall@")) or effect.significant


def _row(effect: Effect) -> str:
    low, high = effect.interval
    mark = "yes" if effect.significant else ""
    cells = (
        effect.axis,
        effect.value,
        effect.measure,
        effect.n,
        effect.configured,
        effect.mean,
        effect.difference,
    )
    return f"| {' | '.join(map(str, cells))} | {low} to {high} | {mark} |"


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


def _page(found: Ablation) -> str:
    effects = [one for one in found.effects if _is_shown(one)]
    rows = "\n".join(
        f"<tr>{''.join(f'<td>{shown(cell)}</td>' for cell in _cells(one))}</tr>" for one in found.effects
    )
    head = "".join(f"<th>{shown(name)}</th>" for name in HEAD)
    title = f"Ablation of {shown(found.suite)}"
    return (
        f"{HEAD_OF_PAGE.format(title=title)}<body>\n<main>\n<h1>{title}</h1>\n"
        f"<p>{found.cases} cases. A dot is the difference to {CONFIGURED}, a line its 95 % interval.</p>\n"
        f'{_forest(effects)}\n<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>\n{rows}\n'
        "</tbody></table></div>\n</main>\n</body>\n</html>\n"
    )


def _cells(one: Effect) -> tuple[object, ...]:
    low, high = one.interval
    numbers = (
        one.n,
        one.configured,
        one.mean,
        one.difference,
        f"{low} to {high}",
        "yes" if one.significant else "",
    )
    return (one.axis, one.value, one.measure, *numbers)


LABEL, CHART, LINE = 380, 420, 22


def _forest(effects: Sequence[Effect]) -> str:
    """From −1 to 1; each difference with its interval under one another."""
    height = LINE * len(effects) + 40
    parts = [
        f'<svg viewBox="0 0 {LABEL + CHART + 20} {height}" role="img" aria-labelledby="forest-t">',
        '<title id="forest-t">Differences to what is configured, with 95 % intervals</title>',
    ]
    for mark in (-1_000_000, -500_000, 0, 500_000, 1_000_000):
        x = _x(mark)
        parts.append(f'<line class="grid" x1="{x}" x2="{x}" y1="10" y2="{height - 24}"/>')
        parts.append(f'<text class="middle" x="{x}" y="{height - 6}">{mark // 10_000} %</text>')
    for n, one in enumerate(effects):
        y = 20 + LINE * n
        low, high = (_x(to_micros(end)) for end in one.interval)
        name = shown(f"{one.axis}, {one.value}: {one.measure}")
        parts.append(f'<text class="end" x="{LABEL - 10}" y="{y + 4}">{name}</text>')
        parts.append(f'<line class="whisker" x1="{low}" x2="{high}" y1="{y}" y2="{y}"/>')
        parts.append(f'<circle class="s1" cx="{_x(to_micros(one.difference))}" cy="{y}" r="4"/>')
    return "\n".join([*parts, "</svg>"])


def _x(value: int) -> int:
    return LABEL + CHART * (value + 1_000_000) // 2_000_000
