"""ParsedDocument → chunks: whole units, packed evenly, never across a page or a major heading.

A chunk stays under one heading of level 1 or 2 even when that makes it short: the heading that a citation
shows, and a rule that supersedes one section, must hold for all of its text. Sections of deeper levels are
joined while they are too small to stand alone; then the chunk's heading is what they have in common.
"""

from collections.abc import Iterator, Sequence

from msgspec import Struct

from clearcite.domain.corpus import Chunk, ChunkKind, DocumentKey, ParsedDocument, Unit, chunk_id
from clearcite.domain.digest import sha256_text
from clearcite.ingest.enrich import chunk_flags
from clearcite.ingest.units import Measured, measure_units
from clearcite.ingest.words import count_words
from clearcite.text.quoting import asks

CHUNKER = "clearcite-chunk-2"
"""Names the way of cutting; a part of each chunk's identity and of the manifest, like the target size."""

TARGET_WORDS = 180
MINIMUM_WORDS = 40
HARD_LIMIT_WORDS = 300

_MAJOR_LEVEL = 2
_MINOR_LEVEL = 5
"""Headings from here on never open a chunk by themselves."""

_UNCOVERED_WORDS = 3
"""More words than these between two elements are text that no element covers (a comment, a page footer). A
chunk does not span it, for its text would carry what nobody sees."""


class Cut(Struct, frozen=True, kw_only=True):
    """A chunk before it has a name: what depends on the parsed document and its title alone."""

    start: int
    end: int
    context: str
    heading: tuple[str, ...] = ()
    page: int | None = None
    kind: ChunkKind = "text"
    units: tuple[Unit, ...] = ()
    flags: tuple[str, ...] = ()


def chunk_document(
    parsed: ParsedDocument,
    key: DocumentKey,
    content_sha256: str,
    *,
    title: str = "",
    words: int = TARGET_WORDS,
) -> tuple[Chunk, ...]:
    """Cut a document. Each chunk's text is ``parsed.text[start:end]``; an id depends on content and cut only.

    ``title`` is the one shown (a source's own title goes before the parsed one); it stands in the context.
    ``words`` is the size a chunk is closed at; none is longer than the hard limit.
    """
    cuts = cut_document(parsed, title=title, words=words)
    return name_chunks(parsed.text, cuts, key, content_sha256)


def cut_document(parsed: ParsedDocument, *, title: str = "", words: int = TARGET_WORDS) -> tuple[Cut, ...]:
    """See ``chunk_document``."""
    hard_limit = max(words, HARD_LIMIT_WORDS)
    units = measure_units(parsed.text, parsed.elements, hard_limit)
    sections = _sections(parsed.text, units, words)
    runs = (group for section in sections for group in _pack(section, words, hard_limit))
    return tuple(_cut(parsed, group, title or parsed.title or "") for group in runs)


def _cut(parsed: ParsedDocument, group: Sequence[Measured], title: str) -> Cut:
    heading = _heading(parsed.text, group)
    kept = _without_ancestors(parsed.text, group, len(heading))
    start, end = kept[0].unit.start, kept[-1].unit.end
    return Cut(
        start=start,
        end=end,
        context=_context(
            parsed.text, kept, title, heading[:-1] if _opens_with(parsed.text, kept, heading) else heading
        ),
        heading=heading,
        page=_page(kept),
        kind=_kind(kept),
        units=tuple(item.unit for item in kept),
        flags=chunk_flags(parsed.text[start:end]),
    )


def name_chunks(text: str, cuts: Sequence[Cut], key: DocumentKey, content_sha256: str) -> tuple[Chunk, ...]:
    """Give the cuts of one revision their identities."""
    chunks: list[Chunk] = []
    for cut in cuts:
        piece = text[cut.start : cut.end]
        chunk = Chunk(
            chunk_id=chunk_id(key, content_sha256, CHUNKER, (cut.start, cut.end)),
            ordinal=len(chunks),
            start=cut.start,
            end=cut.end,
            text=piece,
            sha256=sha256_text(piece),
            context=cut.context,
            heading=cut.heading,
            page=cut.page,
            kind=cut.kind,
            units=cut.units,
            flags=cut.flags,
        )
        chunks.append(chunk)
    return tuple(chunks)


def _sections(text: str, units: Sequence[Measured], words: int) -> Iterator[list[Measured]]:
    """Runs of units that may share a chunk."""
    run: list[Measured] = []
    size = 0
    for item in units:
        if run and (_is_apart(text, run[-1], item) or _is_closed_by(item, size, words)):
            content, headings = _split_headings(run)
            if content:
                yield content
            run = headings if headings and not _is_apart(text, headings[-1], item) else []
            size = _size(run)
        run.append(item)
        size += item.words
    if run:
        yield run


def _is_apart(text: str, last: Measured, item: Measured) -> bool:
    """Whether two neighbours stand on different pages or have uncovered text between them."""
    if last.element is item.element:
        return False
    if last.element.page != item.element.page:
        return True
    between = text[last.element.end : item.element.start]
    return len(between) > 8 and count_words(between) > _UNCOVERED_WORDS


def _is_closed_by(item: Measured, size: int, words: int) -> bool:
    if item.unit.kind != "heading":
        return False
    level = item.element.level
    return level <= _MAJOR_LEVEL or (level < _MINOR_LEVEL and size >= min(MINIMUM_WORDS, words))


def _pack(section: list[Measured], words: int, hard_limit: int) -> Iterator[list[Measured]]:
    """Cut one run into pieces of about equal size, none above the hard limit."""
    left = _size(section)
    group: list[Measured] = []
    size = 0
    for item in section:
        goal = _even_share(left, words)
        overshoot, undershoot = size + item.words - goal, goal - size
        if group and (size + item.words > hard_limit or overshoot > undershoot):
            content, group = _split_headings(group)
            if content:
                yield content
            left -= size - _size(group)
            size = _size(group)
            if size + item.words > hard_limit:
                group, size = [], 0
        group.append(item)
        size += item.words
    if group:
        yield group


def _even_share(total: int, words: int) -> int:
    """The size of the pieces when ``total`` is cut into as few as possible of at most ``words``."""
    return -(-total // max(1, -(-total // words)))


def _split_headings(run: list[Measured]) -> tuple[list[Measured], list[Measured]]:
    """Headings at the end of a run belong to what follows it."""
    cut = len(run)
    while cut > 0 and run[cut - 1].unit.kind == "heading":
        cut -= 1
    return run[:cut], run[cut:]


def _heading(text: str, group: Sequence[Measured]) -> tuple[str, ...]:
    """The headings above everything in the group."""
    paths = [item.element.heading for item in group if item.unit.kind != "heading"]
    if not paths:
        first = group[0]
        return (*first.element.heading, " ".join(text[first.unit.start : first.unit.end].split()))
    common = paths[0]
    for path in paths[1:]:
        size = 0
        while size < min(len(common), len(path)) and common[size] == path[size]:
            size += 1
        common = common[:size]
    return common


def _without_ancestors(text: str, group: Sequence[Measured], depth: int) -> Sequence[Measured]:
    """Drop leading headings that the chunk's heading path already names; the last stays where what it heads can not
    be read, and so not be quoted, without it: a reply to a question, a list that nothing leads in."""
    cut = 0
    while cut < len(group) - 1 and group[cut].unit.kind == "heading":
        here = len(group[cut].element.heading)
        following = group[cut + 1]
        is_parent = len(following.element.heading) > here
        if here >= depth or not is_parent:
            break
        cut += 1
    return group[cut - 1 :] if cut and _is_needed(text, group[cut - 1].unit, group[cut].unit) else group[cut:]


def _is_needed(text: str, heading: Unit, following: Unit) -> bool:
    is_bare_list = following.kind == "list_item" and following.lead is None
    return is_bare_list or asks(text[heading.start : heading.end])


def _opens_with(text: str, group: Sequence[Measured], heading: tuple[str, ...]) -> bool:
    """Whether the text of a chunk begins with the last heading of its path, which then is no context."""
    first = group[0].unit
    return first.kind == "heading" and heading[-1:] == (" ".join(text[first.start : first.end].split()),)


def _context(text: str, group: Sequence[Measured], title: str, heading: tuple[str, ...]) -> str:
    lines = [title] if title else []
    lines += [part for part in heading if part != title]
    start, end = group[0].unit.start, group[-1].unit.end
    for item in group:
        header = item.unit.header
        if header and not (start <= header[0] and header[1] <= end):
            line = " ".join(text[header[0] : header[1]].split())
            if line not in lines:
                lines.append(line)
    return "\n".join(lines)


def _page(group: Sequence[Measured]) -> int | None:
    return next((item.element.page for item in group if item.unit.kind != "heading"), group[0].element.page)


def _kind(group: Sequence[Measured]) -> ChunkKind:
    kinds = {item.unit.kind for item in group} - {"heading"}
    if kinds == {"table_row"}:
        return "table"
    return "code" if kinds == {"code"} else "text"


def _size(group: Sequence[Measured]) -> int:
    return sum(item.words for item in group)
