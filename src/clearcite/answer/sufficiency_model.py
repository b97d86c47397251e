"""The fitted numbers of ``sufficiency``. Written by ``bench/fit_sufficiency.py``; do not edit by hand."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

from msgspec import Struct

Form = Literal["claim", "question"]
Tier = Literal["pairs", "vectors", "words"]
"""What the embedder can do: read a question and a text together, one text at a time, or there is none."""


class Model(Struct, frozen=True, kw_only=True):
    """Log odds in thousandths: ``bias`` plus each feature (thousandths) times its weight (thousandths)."""

    bias: int
    weights: tuple[tuple[str, int], ...]


MODELS: Mapping[tuple[Form, Tier], Model] = MappingProxyType(
    {
        ("question", "pairs"): Model(
            bias=-2466,
            weights=(
                ("adrift", -7362),
                ("ahead", 3879),
                ("kept", 3460),
                ("gain", -6170),
                ("lacks_code", -2565),
                ("lacks_amount", -3411),
                ("rare_proper", -1268),
                ("unnamed", -719),
                ("untyped", -2758),
                ("gaps", 1510),
                ("opposed", -3221),
                ("other_bound", -4549),
                ("answers", 479),
            ),
        ),
        ("question", "vectors"): Model(
            bias=-2552,
            weights=(
                ("adrift", -8371),
                ("ahead", 3564),
                ("kept", 3531),
                ("gain", -6936),
                ("lacks_code", -2528),
                ("lacks_amount", -3854),
                ("rare_proper", -1123),
                ("unnamed", -844),
                ("untyped", -3367),
                ("gaps", 1749),
                ("opposed", -3235),
                ("other_bound", -4665),
            ),
        ),
        ("claim", "vectors"): Model(
            bias=-3161,
            weights=(
                ("depth", 7035),
                ("titled", 4282),
                ("lacks_code", -801),
                ("spread", -2684),
            ),
        ),
        ("question", "words"): Model(
            bias=-3105,
            weights=(
                ("around", 4156),
                ("plain", 186),
                ("depth", 1255),
                ("needs", -996),
                ("lacks_code", -3138),
                ("lacks_amount", -5518),
                ("rare_proper", -3325),
                ("lead", 175),
                ("unnamed", -956),
                ("untyped", -2740),
                ("gaps", 3741),
                ("opposed", -5511),
            ),
        ),
        ("claim", "words"): Model(
            bias=-1428,
            weights=(
                ("depth", 4949),
                ("reach", 3149),
                ("lacks_code", -605),
                ("spread", -2725),
            ),
        ),
    }
)
"""By the form of what was asked, and what could be compared. Claims are not read as pairs."""
