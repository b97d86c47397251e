"""Fit ``answer/sufficiency_model.py`` on development data and print five-fold cross-validated figures.

    python bench/fit_sufficiency.py [--data FOLDER] [--cache FOLDER] [--write]

Questions: the development questions of the demo and of the municipal corpus (tests/data), a small support corpus with
near misses (tests/data/support_dev.toml), and RAMDocs, where a question without the documents that hold an answer is
a near miss. Claims: SciFact NLI. Logistic regression with an L2 penalty; every set and side weighs the same, RAMDocs
half. Folds are by question text. The other halves of the public sets, and the blind questions, are not used.
"""

import argparse
import json
import sys
import tempfile
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.quality import holds, read_abstracts, read_claims, read_lines
from bench.shelf import ANALYZER, Remembering, Shelf, Text, auc, evidence_of
from clearcite.adapters.embedders.minilm import MiniLM
from clearcite.adapters.parsers.markdown import parse_markdown
from clearcite.answer.sufficiency import measure
from clearcite.domain.retrieval import Passage
from clearcite.ports import Embedder
from clearcite.text.candidates import candidates, read_question
from clearcite.text.similarity import Similarity
from clearcite.wire.frontmatter import split_front_matter

ROOT = Path(__file__).resolve().parents[1]
Matrix = NDArray[np.float64]
FEATURES = {
    ("question", True): (
        "soft",
        "kept",
        "gain",
        "cosine",
        "needs",
        "lacks_code",
        "rare_proper",
        "unknown_proper",
    ),
    ("claim", True): ("depth", "titled", "lacks_code", "spread"),
    ("question", False): (
        "depth",
        "reach",
        "needs",
        "lacks_code",
        "rare_proper",
        "unknown_proper",
        "lead",
        "near",
    ),
    ("claim", False): ("depth", "reach", "lacks_code", "spread"),
}
HALF = "ramdocs"
GROUPS = {
    "guest": "public", "alice": "public staff support", "omar": "public staff oncall", "visitor": "public",
    "fiona": "public staff finance", "olga": "public staff",
}  # fmt: skip


@dataclass(frozen=True, kw_only=True, slots=True)
class Example:
    source: str
    question: str
    answerable: bool
    features: dict[str, int]


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--cache", type=Path)
    parser.add_argument("--write", action="store_true", help="replace the model file")
    options = parser.parse_args()
    models: dict[tuple[str, bool], tuple[int, tuple[tuple[str, int], ...]]] = {}
    for meaning in (True, False):
        cache = options.cache / "vectors.pickle" if options.cache else None
        embedder = Remembering(MiniLM(), cache) if meaning else None
        with tempfile.TemporaryDirectory(prefix="clearcite-fit-") as name:
            for form, made in (("question", questions), ("claim", claims)):
                examples = list(made(options.data, Path(name), embedder))
                names = FEATURES[form, meaning]
                print(
                    json.dumps({"form": form, "with vectors": meaning, **cross_validated(examples, names)}),
                    flush=True,
                )
                weights, bias = fit(examples, names)
                scaled = tuple((n, round(1000 * w)) for n, w in zip(names, weights, strict=True))
                models[form, meaning] = (round(1000 * bias), scaled)
        if embedder is not None:
            embedder.save()
    if options.write:
        write(models)
    return 0


def questions(data: Path, folder: Path, embedder: Embedder | None) -> Iterator[Example]:
    support = tomllib.loads((ROOT / "tests/data/support_dev.toml").read_text("utf-8"))
    documents = [(item["id"], item["text"], item.get("product_version")) for item in support["documents"]]
    shelf = Shelf([_markdown(*item) for item in documents], folder / "support", embedder)
    for item in support["questions"]:
        yield from _example("support", (shelf, embedder), item["text"], "answer" in item)
    for source, root, file in (
        ("municipal", "tests/data/municipal", "tests/data/municipal_questions.toml"),
        ("demo", "src/clearcite/demo/corpus/hazelquay", "tests/data/questions_dev.toml"),
    ):
        asked = tomllib.loads((ROOT / file).read_text("utf-8"))["questions"]
        for who, groups in GROUPS.items():
            mine = [item for item in asked if item["as"] == who]
            if mine:
                readable = list(_folder(ROOT / root, frozenset(groups.split())))
                shelf = Shelf(readable, folder / f"{source}-{who}", embedder)
                for item in mine:
                    answered = item["status"] in ("answered", "conflict")
                    yield from _example(source, (shelf, embedder), item["text"], answered)
    yield from _ramdocs(data, folder, embedder)


def claims(data: Path, folder: Path, embedder: Embedder | None) -> Iterator[Example]:
    answered, unanswered = read_claims(data)
    shelf = Shelf(read_abstracts(data), folder / "scifact", embedder)
    for some, answerable in ((answered, True), (unanswered, False)):
        for claim in some:
            yield from _example("scifact", (shelf, embedder), claim, answerable)


def _ramdocs(data: Path, folder: Path, embedder: Embedder | None) -> Iterator[Example]:
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
        yield from _example("ramdocs", (shelf, embedder), item["question"], True)
        yield from _example("ramdocs", (shelf, embedder), item["question"], False, telling)


def _example(
    source: str,
    where: tuple[Shelf, Embedder | None],
    question: str,
    answerable: bool,
    without: frozenset[str] | set[str] = frozenset(),
) -> Iterator[Example]:
    def keep(passage: Passage) -> bool:
        return passage.key.document_id not in without

    shelf, embedder = where
    plan, ranked = shelf.ranked(question)
    similarity = Similarity(embedder, question) if embedder else None
    asked = read_question(plan, ANALYZER, similarity)
    found = candidates(asked, [item.passage for item in evidence_of(ranked, keep)])
    if found and asked.needs:
        features = measure(asked, found)
        yield Example(source=source, question=question, answerable=answerable, features=features)


def _folder(root: Path, groups: frozenset[str]) -> Iterator[Text]:
    """Markdown pages of a corpus that the groups may read, as their front matter and folder say."""
    import yaml

    for path in sorted(root.rglob("*.md")):
        text = path.read_text("utf-8")
        front, _ = split_front_matter(text)
        fields = yaml.safe_load(front) or {}
        name = str(path.relative_to(root))
        default = ["staff"] if name.startswith(("handbook", "carriers")) else ["public"]
        allowed = frozenset(fields.get("allowed_groups") or default)
        denied = frozenset(fields.get("denied_groups") or ())
        in_force = fields.get("status", "published") == "published" and "effective_to" not in fields
        if in_force and not name.startswith("inbox") and groups & allowed and not groups & denied:
            yield _markdown(
                name, text, fields.get("product_version"), fields.get("source_type", "documentation")
            )


def _markdown(name: str, text: str, version: str | None, source_type: str = "documentation") -> Text:
    parsed = parse_markdown(text)
    return Text(
        name=name,
        text=parsed.text,
        title=parsed.title or "",
        elements=parsed.elements,
        source_type=source_type,
        product_version=version,
    )


def matrix(examples: Sequence[Example], names: Sequence[str]) -> Matrix:
    return np.array([[item.features.get(name, 0) / 1000 for name in names] for item in examples])


def fit(examples: Sequence[Example], names: Sequence[str], penalty: float = 0.002) -> tuple[Matrix, float]:
    """Weights and bias on features divided by 1000, by gradient descent on standardised features."""
    plain = matrix(examples, names)
    mean, spread = plain.mean(0), plain.std(0) + 1e-9
    standard = (plain - mean) / spread
    truth = np.array([float(item.answerable) for item in examples])
    sizes = Counter((item.source, item.answerable) for item in examples)
    share = np.array([(0.5 if i.source == HALF else 1.0) / sizes[i.source, i.answerable] for i in examples])
    share /= share.sum()
    weights, bias = np.zeros(len(names)), 0.0
    for _ in range(1500):
        wrong = share * (1 / (1 + np.exp(-(standard @ weights + bias))) - truth)
        weights -= 2 * (standard.T @ wrong + penalty * weights)
        bias -= 2 * float(wrong.sum())
    return weights / spread, bias - float((weights / spread) @ mean)


def cross_validated(examples: Sequence[Example], names: Sequence[str], folds: int = 5) -> dict[str, object]:
    """AUC, false answers and over-refusals of each set; folds hold all examples of a question together."""
    texts = sorted({item.question for item in examples})
    order = np.random.RandomState(0).permutation(len(texts))
    fold = {texts[at]: int(n) % folds for n, at in enumerate(order)}
    scores: dict[int, float] = {}
    for part in range(folds):
        weights, bias = fit([item for item in examples if fold[item.question] != part], names)
        held = [n for n, item in enumerate(examples) if fold[item.question] == part]
        found = matrix([examples[n] for n in held], names) @ weights + bias
        scores.update(zip(held, map(float, found), strict=True))
    report: dict[str, object] = {}
    for source in sorted({item.source for item in examples}):
        sides = [
            [
                round(1000 * scores[n])
                for n, item in enumerate(examples)
                if (item.source, item.answerable) == (source, side)
            ]
            for side in (True, False)
        ]
        report[source] = {
            "AUC": round(auc(sides[0], sides[1]), 3),
            "false answers": f"{sum(score >= 0 for score in sides[1])} of {len(sides[1])}",
            "over-refusals": f"{sum(score < 0 for score in sides[0])} of {len(sides[0])}",
        }
    return report


def write(models: dict[tuple[str, bool], tuple[int, tuple[tuple[str, int], ...]]]) -> None:
    path = ROOT / "src/clearcite/answer/sufficiency_model.py"
    head, mark, _ = path.read_text("utf-8").partition("MODELS:")
    lines = [f"{mark} Mapping[tuple[Form, bool], Model] = MappingProxyType(\n    {{\n"]
    for (form, meaning), (bias, weights) in models.items():
        lines.append(
            f'        ("{form}", {meaning}): Model(\n            bias={bias},\n            weights=(\n'
        )
        lines += [f'                ("{name}", {weight}),\n' for name, weight in weights]
        lines.append("            ),\n        ),\n")
    lines.append('    }\n)\n"""By the form of what was asked, and whether meanings could be compared."""\n')
    path.write_text(head + "".join(lines), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
