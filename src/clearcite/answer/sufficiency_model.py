"""The fitted numbers of ``sufficiency``. Written by ``bench/fit_sufficiency.py``; do not edit by hand."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

from msgspec import Struct

Form = Literal["claim", "question"]


class Model(Struct, frozen=True, kw_only=True):
    """Log odds in thousandths: ``bias`` plus each feature (thousandths) times its weight (thousandths)."""

    bias: int
    weights: tuple[tuple[str, int], ...]


MODELS: Mapping[tuple[Form, bool], Model] = MappingProxyType(
    {
        ("question", True): Model(
            bias=-2535,
            weights=(
                ("adrift", -8421),
                ("ahead", 3703),
                ("kept", 3511),
                ("gain", -6983),
                ("lacks_code", -2524),
                ("lacks_amount", -3869),
                ("rare_proper", -1124),
                ("unnamed", -859),
                ("untyped", -3437),
                ("gaps", 1740),
                ("opposed", -3252),
                ("other_bound", -4663),
            ),
        ),
        ("claim", True): Model(
            bias=-3161,
            weights=(
                ("depth", 7035),
                ("titled", 4282),
                ("lacks_code", -801),
                ("spread", -2684),
            ),
        ),
        ("question", False): Model(
            bias=-2206,
            weights=(
                ("around", 3948),
                ("plain", -308),
                ("depth", 269),
                ("needs", -1185),
                ("lacks_code", -2074),
                ("lacks_amount", -3361),
                ("rare_proper", -2516),
                ("lead", 104),
                ("unnamed", -1049),
                ("untyped", -2200),
                ("gaps", 3707),
                ("opposed", -2314),
                ("other_bound", -4250),
            ),
        ),
        ("claim", False): Model(
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
"""By the form of what was asked, and whether meanings could be compared."""
