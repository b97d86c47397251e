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
            bias=-12078,
            weights=(
                ("soft", 8711),
                ("kept", 2738),
                ("gain", -6378),
                ("cosine", 3680),
                ("needs", 3584),
                ("lacks_code", -7683),
                ("rare_proper", -1579),
                ("unknown_proper", -2951),
            ),
        ),
        ("claim", True): Model(
            bias=-3184,
            weights=(
                ("depth", 7013),
                ("titled", 4321),
                ("lacks_code", -805),
                ("spread", -2676),
            ),
        ),
        ("question", False): Model(
            bias=-4105,
            weights=(
                ("depth", 2956),
                ("reach", 2639),
                ("needs", 2874),
                ("lacks_code", -6726),
                ("rare_proper", -3333),
                ("unknown_proper", -1844),
                ("lead", 1127),
                ("near", 528),
            ),
        ),
        ("claim", False): Model(
            bias=-1388,
            weights=(
                ("depth", 4935),
                ("reach", 3159),
                ("lacks_code", -611),
                ("spread", -2767),
            ),
        ),
    }
)
"""By the form of what was asked, and whether meanings could be compared."""
