"""Fit ``answer/sufficiency_model.py`` on development data and print how the weights do on what they did not see.

    python -m bench.fit_sufficiency [--data FOLDER] [--cache FOLDER] [--form question|claim]
                                    [--tier pairs|vectors|words] [--write]

Questions: the sets of `bench/sets.py`, and RAMDocs, where a question without the documents that hold an answer is a
near miss. Claims: SciFact NLI. Logistic regression with an L2 penalty; every set and side weighs the same, RAMDocs
half. Printed for questions: each set by weights fitted on the other sets, which says how they carry over to other
documents; and the half kept for checking by weights fitted on the other half. For claims: five folds. Written:
weights fitted on everything. The other halves of the public sets, and the blind questions, are not used.

A cache keeps vectors, and what the engine had found for each question: take a new one when retrieval has changed.
"""

import argparse
import copyreg
import json
import pickle
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, get_args

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from bench import sets
from bench.sets import Posed
from bench.shelf import Remembering, auc
from clearcite.adapters.embedders.minilm import MiniLM
from clearcite.answer.sufficiency import measure
from clearcite.answer.sufficiency_model import MODELS, Form, Tier
from clearcite.ports import Embedder
from clearcite.text.candidates import candidates, read_question
from clearcite.text.similarity import Similarity

ROOT = Path(__file__).resolve().parents[1]
Matrix = NDArray[np.float64]
Weights = tuple[Matrix, float]
Scaled = tuple[int, tuple[tuple[str, int], ...]]
"""Bias and weights in thousandths, as they are written."""
_BY_VECTORS = (
    "adrift",
    "ahead",
    "kept",
    "gain",
    "lacks_code",
    "lacks_amount",
    "rare_proper",
    "unnamed",
    "untyped",
    "gaps",
    "opposed",
    "other_bound",
)
FEATURES: Mapping[tuple[Form, Tier], tuple[str, ...]] = {
    ("question", "pairs"): (*_BY_VECTORS, "answers"),
    ("question", "vectors"): _BY_VECTORS,
    ("claim", "vectors"): ("depth", "titled", "lacks_code", "spread"),
    ("question", "words"): (
        "around",
        "plain",
        "depth",
        "needs",
        "lacks_code",
        "lacks_amount",
        "rare_proper",
        "lead",
        "unnamed",
        "untyped",
        "gaps",
        "opposed",
    ),
    ("claim", "words"): ("depth", "reach", "lacks_code", "spread"),
}
LIGHT = "ramdocs"
PENALTY = 0.002


class Example(Struct, frozen=True, kw_only=True):
    source: str
    question: str
    half: str
    answerable: bool
    features: dict[str, int]


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--cache", type=Path)
    parser.add_argument("--write", action="store_true", help="replace the model file")
    parser.add_argument("--form", choices=tuple(FORMS), help="fit this one; the other keeps its weights")
    parser.add_argument("--tier", choices=get_args(Tier), help="fit this one; the others keep their weights")
    options = parser.parse_args()
    models = {key: (model.bias, model.weights) for key, model in MODELS.items()}
    examples: dict[tuple[Form, bool], list[Example]] = {}
    embedder = Remembering(MiniLM(), options.cache and options.cache / "vectors.pickle")
    for (form, tier), names in FEATURES.items():
        if options.form not in (None, form) or options.tier not in (None, tier):
            continue
        reads = None if tier == "words" else embedder
        if (form, reads is None) not in examples:
            name = f"{form}-{'on' if reads else 'off'}"
            posed = _kept(options.cache, name, FORMS[form], options.data, reads)
            examples[form, reads is None] = list(examples_of(posed, reads))
            embedder.save()
        models[form, tier] = _fitted(form, tier, examples[form, reads is None], names)
    if options.write:
        write(models)
    return 0


def _fitted(form: Form, tier: Tier, examples: Sequence[Example], names: Sequence[str]) -> Scaled:
    """Print how weights do on what they did not see, and give those of everything."""
    for title, rows in reports(examples, names).items():
        for source, row in rows.items():
            shown = {"form": form, "tier": tier, "fitted": title, "set": source, **row}
            print(json.dumps(shown), flush=True)
    weights, bias = fit(examples, names)
    return round(1000 * bias), tuple((n, round(1000 * w)) for n, w in zip(names, weights, strict=True))


def _questions(data: Path, folder: Path, embedder: Embedder | None) -> Iterator[Posed]:
    yield from sets.asked_of_engines(data, folder, "on" if embedder else "off")
    yield from sets.ramdocs(data, folder, embedder)


FORMS: Mapping[Form, Callable[[Path, Path, Embedder | None], Iterable[Posed]]] = {
    "question": _questions,
    "claim": sets.claims,
}


def _kept(
    cache: Path | None,
    name: str,
    made: Callable[[Path, Path, Embedder | None], Iterable[Posed]],
    data: Path,
    embedder: Embedder | None,
) -> list[Posed]:
    file = cache / f"{name}.pickle" if cache else None
    if file is not None and file.is_file():
        found: list[Posed] = pickle.loads(file.read_bytes())  # written by this function only
        return found
    with tempfile.TemporaryDirectory(prefix="clearcite-fit-") as folder:
        found = list(made(data, Path(folder), embedder))
    if file is not None:
        file.write_bytes(pickle.dumps(found))
    return found


def _proxy(plain: dict[Any, Any]) -> Mapping[Any, Any]:
    return MappingProxyType(plain)


# An analyser keeps its synonyms in one.
copyreg.pickle(MappingProxyType, lambda proxy: (_proxy, (dict(proxy),)))


def examples_of(posed: Iterable[Posed], embedder: Embedder | None) -> Iterator[Example]:
    for item in posed:
        similarity = Similarity(embedder, item.question) if embedder else None
        asked = read_question(item.plan, item.analyzer, similarity)
        found = candidates(asked, [entry.passage for entry in item.evidence])
        if found and asked.needs:
            yield Example(
                source=item.source,
                question=item.question,
                half=item.half,
                answerable=item.answerable,
                features=measure(asked, found),
            )


def matrix(examples: Sequence[Example], names: Sequence[str]) -> Matrix:
    return np.array([[item.features.get(name, 0) / 1000 for name in names] for item in examples])


def fit(examples: Sequence[Example], names: Sequence[str]) -> Weights:
    """Weights and bias on features divided by 1000, by Newton's method on standardised features."""
    plain = matrix(examples, names)
    mean, spread = plain.mean(0), plain.std(0) + 1e-9
    standard = np.column_stack([(plain - mean) / spread, np.ones(len(examples))])
    truth = np.array([float(item.answerable) for item in examples])
    sizes = Counter((item.source, item.answerable) for item in examples)
    share = np.array([(0.5 if i.source == LIGHT else 1.0) / sizes[i.source, i.answerable] for i in examples])
    share /= share.sum()
    penalty = np.diag([PENALTY] * len(names) + [1e-9])
    found = np.zeros(len(names) + 1)
    for _ in range(25):
        chance = 1 / (1 + np.exp(-(standard @ found)))
        slope = standard.T @ (share * (chance - truth)) + penalty @ found
        curve = (standard * (share * chance * (1 - chance))[:, None]).T @ standard + penalty
        found -= np.linalg.solve(curve, slope)
    weights = found[:-1] / spread
    return weights, float(found[-1] - weights @ mean)


def reports(examples: Sequence[Example], names: Sequence[str]) -> dict[str, dict[str, dict[str, Any]]]:
    sources = sorted({item.source for item in examples})
    if len(sources) == 1:
        texts = sorted({item.question for item in examples})
        order = np.random.RandomState(0).permutation(len(texts))
        fold = {texts[at]: int(n) % 5 for n, at in enumerate(order)}
        return {"on other folds": _judged(examples, names, lambda item: fold[item.question], range(5))}
    checked = [item for item in examples if item.half == "check"]
    weights = fit([item for item in examples if item.half == "dev"], names)
    return {
        "on other sets": _judged(examples, names, lambda item: item.source, sources),
        "on the other half": _by_set(checked, matrix(checked, names) @ weights[0] + weights[1]),
    }


def _judged(
    examples: Sequence[Example], names: Sequence[str], group: Callable[[Example], Any], groups: Iterable[Any]
) -> dict[str, dict[str, Any]]:
    scores = np.zeros(len(examples))
    for one in groups:
        weights, bias = fit([item for item in examples if group(item) != one], names)
        held = [n for n, item in enumerate(examples) if group(item) == one]
        scores[held] = matrix([examples[n] for n in held], names) @ weights + bias
    return _by_set(examples, scores)


def _by_set(examples: Sequence[Example], scores: Matrix) -> dict[str, dict[str, Any]]:
    found = {}
    sources = sorted({item.source for item in examples})
    for source in [*sources, "all but RAMDocs"] if len(sources) > 1 else sources:
        sides: tuple[list[int], list[int]] = ([], [])
        for item, score in zip(examples, scores, strict=True):
            if source == item.source or (source.startswith("all") and item.source != LIGHT):
                sides[not item.answerable].append(round(1000 * score))
        found[source] = _row(*sides)
    return found


def _row(answerable: Sequence[int], not_answerable: Sequence[int]) -> dict[str, Any]:
    at = sorted(answerable)[len(answerable) * 15 // 100]
    return {
        "AUC": round(auc(answerable, not_answerable), 3),
        "false answers": f"{sum(score >= 0 for score in not_answerable)} of {len(not_answerable)}",
        "over-refusals": f"{sum(score < 0 for score in answerable)} of {len(answerable)}",
        "false answers at 15 % over-refusals": round(
            sum(score >= at for score in not_answerable) / len(not_answerable), 3
        ),
    }


def write(models: Mapping[tuple[Form, Tier], Scaled]) -> None:
    path = ROOT / "src/clearcite/answer/sufficiency_model.py"
    head, mark, _ = path.read_text("utf-8").partition("MODELS:")
    lines = [f"{mark} Mapping[tuple[Form, Tier], Model] = MappingProxyType(\n    {{\n"]
    for (form, tier), (bias, weights) in models.items():
        lines.append(
            f'        ("{form}", "{tier}"): Model(\n            bias={bias},\n            weights=(\n'
        )
        lines += [f'                ("{name}", {weight}),\n' for name, weight in weights]
        lines.append("            ),\n        ),\n")
    lines.append(
        '    }\n)\n"""By the form of what was asked, and what could be compared. Claims are not read as pairs."""\n'
    )
    path.write_text(head + "".join(lines), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
