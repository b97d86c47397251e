"""Text in XML and HTML: whatever a name holds, it is shown and does nothing."""

from html import escape


def shown(text: object) -> str:
    """For an element or a quoted attribute. What cannot be printed is written as an escape."""
    plain = str(text)
    if not plain.isprintable():
        plain = "".join(
            mark if mark.isprintable() else mark.encode("unicode_escape").decode("ascii") for mark in plain
        )
    return escape(plain)
