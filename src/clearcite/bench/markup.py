"""Text in XML and HTML: whatever a name holds, it is shown and does nothing."""

from collections.abc import Sequence
from html import escape

STATES = ("pass", "fail", "error", "inconclusive", "unscored", "skipped")
"""Of a gate: a cell that says one is coloured by it."""


def shown(text: object) -> str:
    """For an element or a quoted attribute. What cannot be printed is written as an escape."""
    plain = str(text)
    if not plain.isprintable():
        plain = "".join(
            mark if mark.isprintable() else mark.encode("unicode_escape").decode("ascii") for mark in plain
        )
    return escape(plain)


def section(title: str, body: str) -> str:
    return f"<section>\n<h2>{shown(title)}</h2>\n{body}\n</section>"


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    top = "".join(f'<th scope="col">{shown(cell)}</th>' for cell in head)
    body = "\n".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows)
    return (
        f'<div class="wide"><table>\n<thead><tr>{top}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table></div>'
    )


def _cell(value: object) -> str:
    text = "" if value is None else shown(value)
    return f'<td class="{text}">{text}</td>' if text in STATES else f"<td>{text}</td>"
