"""What can be said of a document from its own bytes: canonical text, cuts, index terms. A pure function.

That is why it can be done in another process: see ``draft_frames`` for how a draft comes back.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from clearcite.domain.corpus import Description, ParsedDocument
from clearcite.domain.digest import sha256_text
from clearcite.domain.terms import Terms
from clearcite.errors import InputError, IntegrityFault
from clearcite.ingest.chunk import Cut, cut_document
from clearcite.ingest.enrich import derive_title
from clearcite.storing import Job, Parser
from clearcite.text.analysis import Analyzer
from clearcite.text.keys import document_keys
from clearcite.text.phrases import folded_words
from clearcite.text.terms import Table

_FOLDED = Table(lambda piece: " ".join(folded_words(piece)))
_WORDS_ONLY = bytes(
    code if code > 127 else ord(chr(code).lower() if chr(code).isalnum() else " ") for code in range(256)
)
"""Of the bytes of a text whose pieces beyond ASCII are folded already: lower case, and no sign but white space."""

Parse = Callable[[bytes, str], ParsedDocument]


class Sheet(Struct, frozen=True, kw_only=True):
    """What reading a document needs to know besides its content. ``title``: the source's own, which goes before
    the parsed one; ``name`` is the title where neither gives one, and empty where the source does. ``language``: as
    stated."""

    media_type: str
    title: str | None
    name: str
    language: str | None


class Draft(Struct, frozen=True, kw_only=True):
    """``terms``: the index terms of text and context, cut by cut; ``normal_sha256`` is the digest of the
    normalised text, by which mirrors are recognised."""

    text: str
    title: str
    normal_sha256: str
    cuts: tuple[Cut, ...]
    terms: tuple[Terms, ...] = ()
    flags: tuple[str, ...] = ()
    notes: tuple[tuple[str, str], ...] = ()


class Drafter(Protocol):
    """Runs ``draft`` over the jobs of an outbox."""

    def draft_many(self, jobs: Iterable[Job]) -> Iterator[Draft | InputError | None]:
        """In the order of the jobs; InputError for a document that cannot be read, None for a job that projects
        nothing. Jobs may be taken ahead of their drafts."""

    def close(self) -> None: ...


class Recipe(Struct, frozen=True, kw_only=True):
    """What a pipeline manifest says about drafts."""

    analyzer: Analyzer
    chunk_words: int
    cut: Callable[..., tuple[Cut, ...]] = cut_document

    def draft(self, parse: Parse, content: bytes, sheet: Sheet) -> Draft:
        """Raises InputError for a document that cannot be parsed."""
        read, texts = self.read(parse, content, sheet)
        return replace(
            read, terms=tuple([document_keys(self.analyzer, text, sheet.language) for text in texts])
        )

    def read(self, parse: Parse, content: bytes, sheet: Sheet) -> tuple[Draft, list[str]]:
        """The draft without terms, and the texts that they are to be made of, one for each cut. Raises InputError for
        a document that cannot be parsed."""
        parsed = parse(content, sheet.media_type)
        title = sheet.title or parsed.title or sheet.name
        cuts = self.cut(parsed, title=title, words=self.chunk_words)
        read = Draft(
            text=parsed.text,
            title=title,
            normal_sha256=sha256_text(normal_text(parsed.text)),
            cuts=cuts,
            flags=parsed.flags,
            notes=parsed.notes,
        )
        return read, [f"{cut.context}\n{parsed.text[cut.start : cut.end]}" for cut in cuts]


def normal_text(text: str) -> str:
    """The text as mirrors have it in common: its ``folded_words``."""
    if not text.isascii():
        text = "\n".join([line if line.isascii() else _folded_line(line) for line in text.split("\n")])
    return b" ".join(text.encode("utf-8").translate(_WORDS_ONLY).split()).decode("utf-8")


def _folded_line(line: str) -> str:
    """No word goes across white space: where folding is slow, each piece is folded once and not in every document."""
    return " ".join([piece if piece.isascii() else _FOLDED[piece] for piece in line.split()])


class LocalDrafter(Struct, frozen=True, kw_only=True):
    """In this process: for tests and for text one wrote oneself."""

    parser: Parser
    recipe: Recipe

    def draft_many(self, jobs: Iterable[Job]) -> Iterator[Draft | InputError | None]:
        for job in jobs:
            yield self._draft(job) if job.kind == "project" else None

    def close(self) -> None:
        """Nothing is held."""

    def _draft(self, job: Job) -> Draft | InputError:
        try:
            return self.recipe.draft(self.parser.parse, content_of(job), sheet_of(job))
        except InputError as error:
            return error


def sheet_of(job: Job) -> Sheet:
    described = description_of(job)
    return Sheet(
        media_type=described.media_type,
        title=described.title,
        name="" if described.title else derive_title(job.key.shown_id),
        language=described.language,
    )


def content_of(job: Job) -> bytes:
    return job.content if job.text is None else job.text.encode("utf-8")


def description_of(job: Job) -> Description:
    if job.description is None:
        raise IntegrityFault("A revision has no description.")
    return job.description
