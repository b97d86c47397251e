"""Media types that can be read, and the file names they come under."""

MARKDOWN = "text/markdown"
PLAIN = "text/plain"
RST = "text/x-rst"
HTML = "text/html"
THREAD = "application/vnd.clearcite.thread+json"
PDF = "application/pdf"
DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"

TEXTUAL = frozenset((MARKDOWN, PLAIN, RST, HTML, THREAD))
"""Their bytes are UTF-8 text; all others are parsed from bytes."""

KNOWN = TEXTUAL | {PDF, DOCX}

_BY_EXTENSION = {
    "md": MARKDOWN,
    "markdown": MARKDOWN,
    "txt": PLAIN,
    "text": PLAIN,
    "rst": RST,
    "html": HTML,
    "htm": HTML,
    "xhtml": HTML,
    "json": THREAD,
    "pdf": PDF,
    "docx": DOCX,
}


def media_type_of(name: str) -> str | None:
    """By the file's extension, never by its content; None for one that is not known."""
    return _BY_EXTENSION.get(name.rpartition(".")[2].lower()) if "." in name else None
