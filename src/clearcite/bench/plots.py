"""Plots as SVG that stands in a page: whole coordinates, no script, colours by class, a title and a description each.

A value is in millionths of 1, or None where nothing was measured: then it says so, and draws nothing.
"""

from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from clearcite.bench.markup import shown

WIDTH, LABEL, CHART = 760, 240, 400
ROW = 26
TOP, BOTTOM = 12, 34
NAME = 34
"""Characters of a label; the whole name stands in its tooltip and in the table beside the plot."""
WHOLE = 1_000_000


class Row(Struct, frozen=True, kw_only=True):
    """``ends``: of an interval. ``series``: which colour, from 1."""

    label: str
    value: int | None
    ends: tuple[int, int] | None = None
    series: int = 1


class Plot(Struct, frozen=True, kw_only=True):
    """``key`` names it on its page; ``said`` is for who cannot see it."""

    key: str
    title: str
    said: str


def bars(plot: Plot, groups: Sequence[tuple[str, Sequence[Row]]]) -> str:
    """Horizontal bars from 0 to 1 under the name of each group."""
    parts, y = [], TOP
    for name, rows in groups:
        if name:
            parts.append(_text(0, y + 17, name, "group", NAME * 2))
            y += ROW
        for row in rows:
            parts += [_text(LABEL - 10, y + 17, row.label, "end"), *_bar(row, y)]
            y += ROW
        y += 6
    return _figure(plot, y, [*_grid(y), *parts])


def intervals(plot: Plot, rows: Sequence[Row]) -> str:
    """A dot for each value and a line for its interval, from 0 to 1."""
    parts, y = [], TOP
    for row in rows:
        parts += [_text(LABEL - 10, y + 17, row.label, "end"), *_dot(row, y)]
        y += ROW
    return _figure(plot, y, [*_grid(y), *parts])


def differences(plot: Plot, groups: Sequence[tuple[str, Sequence[Row]]]) -> str:
    """A dot for each value and a line for its interval, from −1 to 1, under the name of each group."""
    parts, y = [], TOP
    for name, rows in groups:
        parts.append(_text(0, y + 17, name, "group", NAME * 2))
        y += ROW
        for row in rows:
            parts += [_text(LABEL - 10, y + 17, row.label, "end"), *_dot(_halved(row), y, _signed(row.value))]
            y += ROW
        y += 6
    return _figure(plot, y, [*_grid(y, ("-100 %", "-50 %", "0 %", "50 %", "100 %")), *parts])


def curve(plot: Plot, points: Sequence[tuple[str, int, int]]) -> str:
    """Points by name, x and y, joined from left to right, both axes from 0 to 1."""
    height = 220
    places = [
        (name, LABEL + _x(x), TOP + height - height * y // WHOLE) for name, x, y in sorted(points, key=_by_x)
    ]
    line = " ".join(f"{x},{y}" for _, x, y in places)
    parts = [
        *(
            f'<line class="grid" x1="{LABEL}" x2="{LABEL + CHART}" y1="{TOP + height * n // 4}" '
            f'y2="{TOP + height * n // 4}"/>'
            + _text(LABEL - 10, TOP + height * n // 4 + 5, f"{100 - 25 * n} %", "end")
            for n in range(5)
        ),
        f'<polyline class="line" points="{line}"/>',
    ]
    for n, (name, x, y) in enumerate(places):
        # Each label on a line of its own, away from the nearer edge.
        at = y - 10 - 18 * n if y > TOP + height // 2 else y + 22 + 18 * n
        parts += [f'<circle class="s1" cx="{x}" cy="{y}" r="5"/>', _text(x + 10, at, name, "start")]
    return _figure(plot, TOP + height, [*_grid(TOP + height), *parts])


def heat(plot: Plot, columns: Sequence[str], rows: Sequence[tuple[str, Sequence[str]]]) -> str:
    """A cell for each row and column: ``first`` is drawn as 1, ``also`` as +, anything else as nothing."""
    wide, head = min(60, (WIDTH - LABEL) // max(1, len(columns))), 90
    parts = []
    for n, name in enumerate(columns):
        x = LABEL + wide * n + wide // 2
        turned = f'<g transform="rotate(-60 {x} {TOP + head - 8})">'
        parts.append(turned + _text(x, TOP + head - 8, name, "start", 14) + "</g>")
    y = TOP + head
    for name, cells in rows:
        parts.append(_text(LABEL - 10, y + 17, name, "end"))
        for n, cell in enumerate(cells):
            kind, mark = {"first": ("first", "1"), "also": ("also", "+")}.get(cell, ("none", ""))
            x = LABEL + wide * n
            parts.append(f'<rect class="cell {kind}" x="{x}" y="{y}" width="{wide - 3}" height="{ROW - 3}"/>')
            if mark:
                parts.append(_text(x + wide // 2 - 1, y + 17, mark, f"mark in-{kind}"))
        y += ROW
    return _figure(plot, y, parts)


def percent(value: int | None) -> str:
    """Tenths of a percent, never rounded up to a whole that was not reached nor down to nothing that was."""
    if value is None:
        return "not scored"
    tenths = (value + 500) // 1_000
    if value < WHOLE:
        tenths = min(tenths, 999)
    return f"{max(tenths, int(value > 0)) // 10}.{max(tenths, int(value > 0)) % 10} %"


def _bar(row: Row, y: int) -> Iterator[str]:
    if row.value:
        yield f'<rect class="s{row.series}" x="{LABEL}" y="{y + 5}" width="{max(1, _x(row.value))}" height="16"/>'
    yield _text(LABEL + _x(row.value or 0) + 8, y + 17, percent(row.value), "start")


def _halved(row: Row) -> Row:
    """From −1 to 1 → from 0 to 1, as it is drawn."""
    ends = None if row.ends is None else (_half(row.ends[0]), _half(row.ends[1]))
    return replace(row, value=None if row.value is None else _half(row.value), ends=ends)


def _half(value: int) -> int:
    return (value + WHOLE) // 2


def _signed(value: int | None) -> str:
    return percent(value) if value is None or value >= 0 else f"-{percent(-value)}"


def _dot(row: Row, y: int, said: str | None = None) -> Iterator[str]:
    middle = y + 13
    if row.ends is not None:
        low, high = (LABEL + _x(end) for end in row.ends)
        yield f'<line class="whisker" x1="{low}" x2="{high}" y1="{middle}" y2="{middle}"/>'
        yield from (
            f'<line class="whisker" x1="{x}" x2="{x}" y1="{y + 8}" y2="{y + 18}"/>' for x in (low, high)
        )
    if row.value is not None:
        yield f'<circle class="s{row.series}" cx="{LABEL + _x(row.value)}" cy="{middle}" r="5"/>'
    yield _text(LABEL + CHART + 12, y + 17, said or percent(row.value), "start")


def _grid(bottom: int, marks: Sequence[str] = ("0 %", "25 %", "50 %", "75 %", "100 %")) -> Iterator[str]:
    for n, mark in enumerate(marks):
        x = LABEL + CHART * n // (len(marks) - 1)
        yield f'<line class="grid" x1="{x}" x2="{x}" y1="{TOP}" y2="{bottom}"/>'
        yield _text(x, bottom + 18, mark, "middle")


def _figure(plot: Plot, bottom: int, parts: Sequence[str]) -> str:
    return "\n".join(
        [
            f'<svg viewBox="0 0 {WIDTH} {bottom + BOTTOM}" role="img" aria-labelledby="{plot.key}-t {plot.key}-d">',
            f'<title id="{plot.key}-t">{shown(plot.title)}</title>',
            f'<desc id="{plot.key}-d">{shown(plot.said)}</desc>',
            *parts,
            "</svg>",
        ]
    )


def _text(x: int, y: int, text: str, kind: str, most: int = NAME) -> str:
    short = text if len(text) <= most else text[: most - 1] + "…"
    whole = f"<title>{shown(text)}</title>" if short != text else ""
    return f'<text class="{kind}" x="{x}" y="{y}">{shown(short)}{whole}</text>'


def _x(value: int) -> int:
    return CHART * min(max(value, 0), WHOLE) // WHOLE


def _by_x(point: tuple[str, int, int]) -> tuple[int, int, str]:
    return point[1], point[2], point[0]
