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
            bias=-11644,
            weights=(
                ("soft", 9927),
                ("around", -2142),
                ("kept", 2490),
                ("gain", -8017),
                ("cosine", 1938),
                ("titled", 2303),
                ("needs", 3174),
                ("lacks_code", -7212),
                ("rare_proper", -1590),
                ("unknown_proper", -4076),
                ("unnamed", -550),
                ("untyped", -1080),
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
            bias=-3648,
            weights=(
                ("around", 2163),
                ("plain", 587),
                ("depth", 1863),
                ("needs", 3411),
                ("lacks_code", -4443),
                ("rare_proper", -3842),
                ("lead", 823),
                ("unnamed", -514),
                ("untyped", -1044),
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
