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
            bias=-2209,
            weights=(
                ("around", 3933),
                ("plain", -302),
                ("depth", 260),
                ("needs", -1166),
                ("lacks_code", -2071),
                ("lacks_amount", -3348),
                ("rare_proper", -2503),
                ("lead", 99),
                ("unnamed", -1017),
                ("untyped", -2132),
                ("gaps", 3673),
                ("opposed", -2303),
                ("other_bound", -4264),
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
