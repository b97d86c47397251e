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
            bias=-4271,
            weights=(
                ("adrift", -18333),
                ("ahead", 4346),
                ("kept", 4644),
                ("gain", -6267),
                ("needs", 2732),
                ("lacks_code", -6529),
                ("rare_proper", -1534),
                ("unknown_proper", -3161),
                ("unnamed", -332),
                ("untyped", -3094),
                ("gaps", 2290),
                ("opposed", -5423),
                ("lead", 581),
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
            bias=-4097,
            weights=(
                ("around", 2701),
                ("plain", 702),
                ("depth", 1796),
                ("needs", 2524),
                ("lacks_code", -4389),
                ("rare_proper", -4189),
                ("lead", 965),
                ("unnamed", -633),
                ("untyped", -2322),
                ("gaps", 1810),
                ("opposed", -4980),
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
