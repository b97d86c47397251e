"""The fitted numbers of ``sufficiency``. Written by ``bench/fit_sufficiency.py``; do not edit by hand."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Model:
    """Log odds in thousandths: ``bias`` plus each feature (thousandths) times its weight (thousandths)."""

    bias: int
    weights: tuple[tuple[str, int], ...]


SEMANTIC = Model(
    bias=-13075,
    weights=(
        ("soft", 8639),
        ("kept", 4175),
        ("gain", -9598),
        ("cosine", 2833),
        ("needs", 4116),
        ("lacks_code", -6473),
        ("unknown_name", -1245),
    ),
)
LEXICAL = Model(
    bias=-3653,
    weights=(
        ("reach", 3433),
        ("kind", -612),
        ("needs", 2827),
        ("lacks_code", -4942),
        ("unknown_name", -1362),
        ("lead", 1940),
    ),
)
