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
            bias=-2207,
            weights=(
                ("adrift", -8345),
                ("ahead", 2754),
                ("kept", 3288),
                ("gain", -5829),
                ("lacks_code", -2664),
                ("lacks_amount", -5591),
                ("rare_proper", -1209),
                ("unnamed", -577),
                ("untyped", -2965),
                ("gaps", 1377),
                ("opposed", -4096),
                ("other_bound", -4534),
                ("answers", 488),
            ),
        ),
        ("question", "vectors"): Model(
            bias=-2307,
            weights=(
                ("adrift", -8788),
                ("ahead", 2600),
                ("kept", 3408),
                ("gain", -7054),
                ("lacks_code", -2729),
                ("lacks_amount", -5955),
                ("rare_proper", -1109),
                ("unnamed", -745),
                ("untyped", -3526),
                ("gaps", 1459),
                ("opposed", -4030),
                ("other_bound", -4582),
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
