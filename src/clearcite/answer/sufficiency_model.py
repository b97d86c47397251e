"""The fitted numbers of ``sufficiency``. Written by ``bench/fit_sufficiency.py``; do not edit by hand."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

Form = Literal["claim", "question"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Model:
    """Log odds in thousandths: ``bias`` plus each feature (thousandths) times its weight (thousandths)."""

    bias: int
    weights: tuple[tuple[str, int], ...]


MODELS: Mapping[tuple[Form, bool], Model] = MappingProxyType(
    {
        ("question", True): Model(
            bias=-3875,
            weights=(
                ("adrift", -16344),
                ("ahead", 5150),
                ("kept", 4045),
                ("gain", -5347),
                ("needs", 4377),
                ("lacks_code", -6454),
                ("rare_proper", -1809),
                ("unknown_proper", -3650),
                ("unnamed", -326),
                ("untyped", -1734),
                ("uncounted", -2889),
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
            bias=-3708,
            weights=(
                ("around", 1954),
                ("plain", 630),
                ("depth", 1982),
                ("needs", 3817),
                ("lacks_code", -4521),
                ("rare_proper", -3985),
                ("lead", 786),
                ("unnamed", -617),
                ("untyped", -1259),
                ("uncounted", -3377),
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
