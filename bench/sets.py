"""Development questions, each with what the engine had found when it judged whether that answers.

Sets: the demo; a town, a clinic, a faculty, a server of messages, a ferry line, a museum and growers of fruit (folders
of `tests/data`); two fictional firms (support_dev, cycles_dev); public PDF policies (policies_dev), public software
pages (software_docs_dev) and pages of this project (howto_dev). They are ingested and asked as any user would; a
writer that listens keeps plan and evidence. RAMDocs and SciFact stand on shelves. Half of
the questions are for choices (`dev`), the other half only for totals (`check`), by a hash of their text.
"""

import contextlib
import hashlib
import io
import subprocess
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from bench.quality import holds, read_abstracts, read_claims, read_lines
from bench.shelf import ANALYZER, Shelf, Text, evidence_of
from clearcite.answer.pipeline import Parts
from clearcite.config import Settings, SourceSettings
from clearcite.domain.access import Principal
from clearcite.domain.answer import Claim, Disagreement, PublicAnswer
from clearcite.domain.retrieval import Evidence, Passage, Plan
from clearcite.engine import Engine
from clearcite.interfaces.cli.demo import unpack
from clearcite.interfaces.cli.ingestion import take_sources
from clearcite.ports import Embedder, Writer
from clearcite.text.analysis import Analyzer
from clearcite.wiring import Taking, engine_on, resolver_for

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT / "tests" / "data"
SETS = (
    "demo",
    "municipal",
    "clinic",
    "faculty",
    "queue",
    "ferry",
    "museum",
    "orchard",
    "support",
    "cycles",
    "policies",
    "software",
    "howto",
)
QUESTIONS = {
    "demo": (
        "questions_dev",
        "questions_hard",
        "questions_blind",
        "paraphrases_blind",
        "questions_blind_3",
        "questions_blind_4",
        "questions_blind_5",
        "questions_blind_6",
        "questions_blind_7",
    ),
    "municipal": ("municipal_questions", "municipal_hard"),
    "clinic": ("clinic_questions",),
    "faculty": ("faculty_questions",),
    "queue": ("queue_questions",),
    "ferry": ("ferry_questions",),
    "museum": ("museum_questions",),
    "orchard": ("orchard_questions",),
    "policies": ("policies_dev", "policies_hard"),
    "software": ("software_docs_dev",),
    "howto": ("howto_dev", "howto_hard"),
}
"""Files of questions; of a set that is not named here, its own. The hard ones were written later, in a harder style;
the blind ones were held out until they had been looked at."""
ANYBODY = Principal(tenant_id="t", subject_id="u", groups=("public",), authorization_revision="1")


class Posed(Struct, frozen=True, kw_only=True):
    """``miss``: in which way the documents do not answer; None where they do. ``public``: what was said in full."""

    source: str
    question: str
    answer: str | None
    miss: str | None
    plan: Plan
    evidence: tuple[Evidence, ...]
    analyzer: Analyzer = ANALYZER
    public: PublicAnswer | None = None

    @property
    def answerable(self) -> bool:
        return self.miss is None

    @property
    def half(self) -> Literal["dev", "check"]:
        return "dev" if hashlib.sha256(self.question.encode()).digest()[0] % 2 else "check"


class Listening:
    """A writer that keeps what it was given last."""

    def __init__(self, writer: Writer) -> None:
        self._writer, self.fingerprint = writer, writer.fingerprint
        self.heard: tuple[Plan, tuple[Evidence, ...]] | None = None

    def compose(
        self, plan: Plan, evidence: Sequence[Evidence], disagreements: Sequence[Disagreement]
    ) -> Sequence[Claim]:
        self.heard = plan, tuple(evidence)
        return self._writer.compose(plan, evidence, disagreements)


def asked_of_engines(data: Path, folder: Path, semantic: str) -> Iterator[Posed]:
    """All sets that have documents of their own."""
    for name in SETS:
        place = folder / name
        settings = _settings(name, data, place, semantic)
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            if take_sources(settings, Taking()):
                raise RuntimeError(f"the documents of {name} could not be ingested")
        with engine_on(settings) as engine:
            yield from _asked(name, engine, settings)


def _asked(name: str, engine: Engine, settings: Settings) -> Iterator[Posed]:
    resolver = resolver_for(settings) if settings.policy else None
    with engine._services.ledger.snapshot() as snapshot:
        pipeline = engine._services.pipeline(snapshot.generation)
    ear = Listening(pipeline.parts.writer)
    parts: Parts = replace(pipeline.parts, writer=ear)
    heard = Engine(replace(engine._services, pipeline=lambda _: replace(pipeline, parts=parts)))
    for item in _questions(name):
        who = resolver.resolve(item["as"]) if resolver else ANYBODY
        ear.heard = None
        public = heard.ask(item["text"], who)
        if ear.heard is not None and item.get("status") != "tool_required":
            plan, evidence = ear.heard
            answer, miss = _expected(item)
            yield Posed(
                source=name,
                question=item["text"],
                answer=answer,
                miss=miss,
                plan=plan,
                evidence=evidence,
                analyzer=parts.analyzer,
                public=public,
            )


def _expected(item: Mapping[str, Any]) -> tuple[str | None, str | None]:
    if "status" in item:
        answers = [*item.get("answer_contains", []), *item.get("sides_contain", []), ""]
        return (None, "miss") if item["status"] == "insufficient_evidence" else (answers[0], None)
    return item.get("answer"), (None if "answer" in item else item.get("miss", "miss"))


def _questions(name: str) -> list[dict[str, Any]]:
    files = [DATA / f"{file}.toml" for file in QUESTIONS.get(name, (f"{name}_dev",))]
    return [item for file in files for item in tomllib.loads(file.read_text("utf-8"))["questions"]]


def _settings(name: str, data: Path, place: Path, semantic: str) -> Settings:
    if name == "demo":
        return unpack(place, semantic=semantic)
    documents = place / "documents"
    documents.mkdir(parents=True)
    if (DATA / name).is_dir():
        documents = DATA / name
    elif name == "policies":
        for file in (data / "policies_pdf").glob("*.pdf"):  # not the page that describes the set
            (documents / file.name).write_bytes(file.read_bytes())
    elif name == "howto":
        for page in tomllib.loads((DATA / "howto_dev.toml").read_text("utf-8"))["pages"]:
            (documents / page).write_bytes((ROOT / "docs" / "how-to" / page).read_bytes())
    elif name == "software":
        _pages_at_last_state(data / "docs_history" / "docs-history.bundle", place / "clone", documents)
    else:
        _write_documents(DATA / f"{name}_dev.toml", documents)
    return settings_on(documents, place, semantic)


def settings_on(documents: Path, base: Path, semantic: str) -> Settings:
    """For the files of a folder, which ``ANYBODY`` may read; the store stands in ``base``."""
    source = SourceSettings(path=str(documents), tenant="t", source_id="s", allowed_groups=("public",))
    return Settings(base=str(base), semantic=semantic, sources=(source,))


def _pages_at_last_state(bundle: Path, clone: Path, documents: Path) -> None:
    subprocess.run(["git", "clone", "--quiet", str(bundle), str(clone)], check=True)
    for page in tomllib.loads((DATA / "software_docs_dev.toml").read_text("utf-8"))["pages"]:
        (documents / page).write_bytes((clone / "docs" / page).read_bytes())


def _write_documents(file: Path, documents: Path) -> None:
    for item in tomllib.loads(file.read_text("utf-8"))["documents"]:
        fields = [f"{key}: {item[key]!r}" for key in ("product_version", "source_type") if key in item]
        front = "\n".join(["---", *fields, "---", ""]) if fields else ""
        (documents / f"{item['id']}.md").write_text(front + item["text"].lstrip(), "utf-8")


def ramdocs(data: Path, folder: Path, embedder: Embedder | None) -> Iterator[Posed]:
    """A question over all documents of the set: with those that hold an answer, and without them."""
    items = read_lines(data / "ramdocs_dev/ramdocs_dev.jsonl")
    texts = [
        Text(name=f"{at}-{n}", text=document["text"])
        for at, item in enumerate(items)
        for n, document in enumerate(item["documents"])
    ]
    shelf = Shelf(texts, folder / "ramdocs", embedder)
    for at, item in enumerate(items):
        answers = item["gold_answers"] + item["wrong_answers"]
        telling = {
            f"{at}-{n}"
            for n, document in enumerate(item["documents"])
            if document["type"] != "noise" or holds(document["text"], answers)
        }
        plan, ranked = shelf.ranked(item["question"])
        for without in (frozenset[str](), frozenset(telling)):

            def keep(passage: Passage, without: frozenset[str] = without) -> bool:
                return passage.key.document_id not in without

            yield Posed(
                source="ramdocs",
                question=item["question"],
                answer=None if without else item["gold_answers"][0],
                miss="without" if without else None,
                plan=plan,
                evidence=evidence_of(ranked, keep),
            )


def claims(data: Path, folder: Path, embedder: Embedder | None) -> Iterator[Posed]:
    """SciFact: claims to be checked, which its abstracts speak to or not."""
    answered, unanswered = read_claims(data)
    shelf = Shelf(read_abstracts(data), folder / "scifact", embedder)
    for some, miss in ((answered, None), (unanswered, "no evidence")):
        for claim in some:
            plan, ranked = shelf.ranked(claim)
            yield Posed(
                source="scifact",
                question=claim,
                answer=None,
                miss=miss,
                plan=plan,
                evidence=evidence_of(ranked),
            )
