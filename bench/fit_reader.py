"""Fit the weights by which MiniLM reads a question and a text together, on the pairs of ``bench/pairs``.

    pip install torch
    python -m bench.fit_reader [--pairs FOLDER] [--held NAME] [--epochs N] [--rate X] [--onwards] [--seed N]
        [--write]

Low-rank adaptation (Hu et al. 2021): MiniLM's own weights stay, and thin matrices are added to those of its upper
three layers, with a last row that gives log odds. ``--held``: a file of pairs that is kept for judging, by its name;
the area under the curve on it, and for each kind of near miss, is printed after each round. What questions alone
give away (``bench/alone.py``) is added while fitting, so that it need not be learned; ``--plain`` leaves that out.
From nothing it finds no way with that added: begin with weights there are (``--onwards --rate 5e-4``). Written: the
safetensors file beside the embedder, whose digest then belongs into ``minilm_reader.py``. Half an hour on two
processors; half-precision products differ between processors, so the file is not the same bit for bit elsewhere.
"""

import argparse
import hashlib
import json
import math
import random
import struct
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from bench.alone import log_odds_alone
from bench.shelf import auc
from clearcite.adapters.embedders.minilm import model_directory
from clearcite.adapters.embedders.minilm_reader import FILE, pair_of
from clearcite.adapters.embedders.safetensors import map_float32
from clearcite.adapters.wordpiece import WordPiece, read_vocabulary

try:
    import torch
except ImportError:
    sys.exit("PyTorch is needed to fit: pip install torch")

HIDDEN, HEADS, LAYERS, ADAPTED_FROM, RANK = 384, 12, 6, 3, 16
PARTS = ("attention.self.query", "attention.self.key", "attention.self.value")
REST = ("attention.output.dense", "intermediate.dense", "output.dense")
RATE, DROPPED, DECAY, BATCH = 2e-3, 0.1, 0.01, 48
MIXED = 160
"""So many texts are sorted by length at a time: little is padded, and a batch is still of texts drawn by chance."""
Tensor = Any


class Pair(Struct, frozen=True, kw_only=True):
    """``group``: pairs of one text stand in one batch, so that only the question tells. ``kind``: of the miss.

    ``alone``: log odds of the question by itself, in nats.
    """

    group: int
    question: str
    text: str
    kind: str | None
    alone: float = 0.0


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--pairs", type=Path, default=Path(__file__).parent / "pairs")
    parser.add_argument("--held", help="a file of pairs that is not fitted on")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--rate", type=float, default=RATE, help=f"{RATE}; half of it to go on")
    parser.add_argument("--onwards", action="store_true", help="begin with the weights that are shipped")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--plain", action="store_true", help="nothing is added for what questions give away")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    torch.manual_seed(options.seed)
    random.seed(options.seed)
    files = sorted(options.pairs.glob("*.jsonl"))
    if options.held not in (None, *(file.stem for file in files)):
        parser.error(f"--held: one of {', '.join(file.stem for file in files)}")
    held = list(read(file for file in files if file.stem == options.held))
    reader = Reading()
    if options.onwards:
        reader.take(map_float32(FILE))
    pairs = list(read(file for file in files if file.stem != options.held))
    fit(reader, pairs if options.plain else _told(pairs), held, options.epochs, options.rate)
    if options.write:
        save(reader)
    return 0


def read(files: Iterator[Path]) -> Iterator[Pair]:
    lines = (line for file in files for line in file.read_text("utf-8").splitlines())
    for group, item in enumerate(map(json.loads, lines)):
        text = f"{item['above']}\n{item['text']}"
        for question in item["yes"]:
            yield Pair(group=group, question=question, text=text, kind=None)
        for kind, question in item["no"]:
            yield Pair(group=group, question=question, text=text, kind=kind)


class Reading:
    """MiniLM as ``scripts/make_minilm_skeleton.py`` builds it; what is fitted stands in ``thin`` and ``row``."""

    def __init__(self) -> None:
        directory = model_directory(None)
        weights = map_float32(directory / "model.safetensors")
        self.fixed = {name: torch.tensor(np.array(array)) for name, array in weights.items()}
        self.wordpiece = WordPiece(read_vocabulary(directory / "vocab.txt"))
        self.thin: dict[str, Tensor] = {}
        for layer in range(ADAPTED_FROM, LAYERS):
            for part in (*PARTS, *REST):
                name = f"encoder.layer.{layer}.{part}"
                outer, inner = self.fixed[f"{name}.weight"].shape
                self.thin[f"reader.{name}.down"] = torch.randn(RANK, inner) / math.sqrt(inner)
                self.thin[f"reader.{name}.up"] = torch.zeros(outer, RANK)
        self.row = {"head.weight": torch.zeros(1, 2 * HIDDEN), "head.bias": torch.zeros(1)}
        for value in (*self.thin.values(), *self.row.values()):
            value.requires_grad_()

    def take(self, weights: Mapping[str, Any]) -> None:
        for name, value in (self.thin | self.row).items():
            value.data.copy_(torch.tensor(np.array(weights[name])))

    @torch.no_grad()
    def lower(self, pairs: Sequence[Pair]) -> Iterator[Tensor]:
        """States (tokens × 384) of each below the layers that are fitted: they never change."""
        for start in range(0, len(pairs), BATCH):
            found = [self._embedded(pair) for pair in pairs[start : start + BATCH]]
            padded, mask = _padded(found)
            with torch.autocast("cpu", torch.bfloat16):
                states = self._layers(padded, mask, range(ADAPTED_FROM), 0.0).to(torch.bfloat16)
            yield from (one[: len(known)].clone() for one, known in zip(states, found, strict=True))

    def _embedded(self, pair: Pair) -> Tensor:
        ids, kinds = pair_of(self.wordpiece, pair.question, pair.text)
        start = "embeddings.word_embeddings.weight", "embeddings.token_type_embeddings.weight"
        places = self.fixed["embeddings.position_embeddings.weight"][: len(ids)]
        return self._norm(
            "embeddings.LayerNorm", self.fixed[start[0]][ids] + self.fixed[start[1]][kinds] + places
        )

    def log_odds(self, lower: Sequence[Tensor], dropped: float = 0.0) -> Tensor:
        padded, mask = _padded(lower)
        with torch.autocast("cpu", torch.bfloat16):
            found = self._layers(padded, mask, range(ADAPTED_FROM, LAYERS), dropped).float()
        counted = mask.float()[..., None]
        joined = torch.cat([found[:, 0], (found * counted).sum(1) / counted.sum(1)], 1)
        kept = torch.nn.functional.dropout(joined, dropped)
        return (kept @ self.row["head.weight"].T + self.row["head.bias"])[:, 0]

    def _layers(self, value: Tensor, mask: Tensor, numbers: range, dropped: float) -> Tensor:
        drop = torch.nn.functional.dropout
        for number in numbers:
            name = f"encoder.layer.{number}"
            query, key, content = (self._heads(f"{name}.{part}", value) for part in PARTS)
            attended = _attended(query, key, content, mask)
            joined = attended.transpose(1, 2).reshape(value.shape)
            outer = drop(self._dense(f"{name}.{REST[0]}", joined), dropped)
            value = self._norm(f"{name}.attention.output.LayerNorm", outer + value)
            inner = torch.nn.functional.gelu(self._dense(f"{name}.{REST[1]}", value))
            value = self._norm(
                f"{name}.output.LayerNorm", drop(self._dense(f"{name}.{REST[2]}", inner), dropped) + value
            )
        return value

    def _heads(self, name: str, value: Tensor) -> Tensor:
        return self._dense(name, value).view(*value.shape[:2], HEADS, HIDDEN // HEADS).transpose(1, 2)

    def _dense(self, name: str, value: Tensor) -> Tensor:
        linear = torch.nn.functional.linear
        plain = linear(value, self.fixed[f"{name}.weight"], self.fixed[f"{name}.bias"])
        down = self.thin.get(f"reader.{name}.down")
        return plain if down is None else plain + linear(linear(value, down), self.thin[f"reader.{name}.up"])

    def _norm(self, name: str, value: Tensor) -> Tensor:
        scale, bias = self.fixed[f"{name}.weight"], self.fixed[f"{name}.bias"]
        return torch.nn.functional.layer_norm(value, (HIDDEN,), scale, bias, 1e-12)


def _attended(query: Tensor, key: Tensor, content: Tensor, mask: Tensor) -> Tensor:
    """Plain: half a second of a batch's one is spent going back through the fused kernel."""
    with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH):
        return torch.nn.functional.scaled_dot_product_attention(
            query, key, content, attn_mask=mask[:, None, None, :]
        )


def _padded(states: Sequence[Tensor]) -> tuple[Tensor, Tensor]:
    """Pairs × tokens × 384, and which tokens are (pairs × tokens)."""
    lengths = torch.tensor([len(one) for one in states])
    padded = torch.nn.utils.rnn.pad_sequence(list(states), batch_first=True)
    return padded, torch.arange(padded.shape[1]) < lengths[:, None]


def fit(reader: Reading, pairs: Sequence[Pair], held: Sequence[Pair], epochs: int, rate: float) -> None:
    lower, kept = list(reader.lower(pairs)), list(reader.lower(held))
    truth = torch.tensor([float(pair.kind is None) for pair in pairs])
    alone = torch.tensor([pair.alone for pair in pairs])
    fitted = [*reader.thin.values(), *reader.row.values()]
    parts = [
        {"params": list(reader.thin.values()), "lr": rate},
        {"params": list(reader.row.values()), "lr": rate / 2},
    ]
    optimizer = torch.optim.AdamW(parts, weight_decay=DECAY)
    steps = epochs * len(_batches(pairs, lower))
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min(1.0, (step + 1) / (0.06 * steps)) * max(0.02, 1 - step / steps)
    )
    heavier = (1 - truth).sum() / truth.sum()
    for epoch in range(epochs):
        total = 0.0
        for some in _batches(pairs, lower):
            said = reader.log_odds([lower[n] for n in some], DROPPED) + alone[some]
            loss = torch.nn.functional.binary_cross_entropy_with_logits(said, truth[some], pos_weight=heavier)
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(fitted, 1.0)
            optimizer.step()
            schedule.step()
            total += float(loss.detach()) * len(some)
        print(
            json.dumps({"epoch": epoch, "loss": round(total / len(pairs), 4), **judged(reader, held, kept)}),
            flush=True,
        )


def _told(pairs: Sequence[Pair]) -> list[Pair]:
    """With what questions alone give away; how much that is, is printed."""
    answered = [pair.kind is None for pair in pairs]
    found = log_odds_alone([pair.question for pair in pairs], answered, [pair.group for pair in pairs])
    sides: tuple[list[int], list[int]] = ([], [])
    for value, yes in zip(found, answered, strict=True):
        sides[not yes].append(round(1000 * value))
    print(json.dumps({"pairs": len(pairs), "question alone": round(auc(*sides), 3)}), flush=True)
    return [replace(pair, alone=value) for pair, value in zip(pairs, found, strict=True)]


def _batches(pairs: Sequence[Pair], lower: Sequence[Tensor]) -> list[list[int]]:
    """Numbers of pairs: those of one text together, texts of a like length together, in random order."""
    groups: dict[int, list[int]] = {}
    for number, pair in enumerate(pairs):
        groups.setdefault(pair.group, []).append(number)
    order = random.sample(list(groups.values()), len(groups))
    found = []
    for start in range(0, len(order), MIXED):
        near = sorted(order[start : start + MIXED], key=lambda group: len(lower[group[0]]))
        numbers = [number for group in near for number in group]
        found += [numbers[at : at + BATCH] for at in range(0, len(numbers), BATCH)]
    random.shuffle(found)
    return found


@torch.no_grad()
def judged(reader: Reading, held: Sequence[Pair], lower: Sequence[Tensor]) -> dict[str, float]:
    """Areas under the curve, of all and of each kind of near miss."""
    if not held:
        return {}
    batches = [lower[start : start + 64] for start in range(0, len(lower), 64)]
    said = [round(1000 * value) for batch in batches for value in reader.log_odds(batch).tolist()]
    good = [score for score, pair in zip(said, held, strict=True) if pair.kind is None]
    missed = {
        kind: [score for score, pair in zip(said, held, strict=True) if pair.kind == kind]
        for kind in sorted({pair.kind for pair in held if pair.kind})
    }
    every = {"held": auc(good, [score for scores in missed.values() for score in scores])}
    return {
        name: round(value, 3)
        for name, value in (every | {k: auc(good, v) for k, v in missed.items()}).items()
    }


def save(reader: Reading) -> None:
    """As safetensors: a length, a header in JSON, the arrays."""
    arrays = {name: value.detach().numpy() for name, value in (reader.thin | reader.row).items()}
    header, at = {}, 0
    for name, array in arrays.items():
        header[name] = {"dtype": "F32", "shape": array.shape, "data_offsets": [at, at + array.nbytes]}
        at += array.nbytes
    head = json.dumps(header).encode()
    head += b" " * (-len(head) % 8)
    FILE.write_bytes(
        struct.pack("<Q", len(head)) + head + b"".join(array.tobytes() for array in arrays.values())
    )
    print(f"{FILE.name}: {hashlib.sha256(FILE.read_bytes()).hexdigest()}")


if __name__ == "__main__":
    sys.exit(main())
