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
            bias=-1869,
            weights=(
                ("adrift", -13017),
                ("ahead", 2621),
                ("kept", 3577),
                ("gain", -6066),
                ("needs", -355),
                ("lacks_code", -4807),
                ("lacks_amount", -6194),
                ("rare_proper", -1700),
                ("unknown_proper", -1102),
                ("unnamed", -773),
                ("untyped", -3045),
                ("gaps", 1898),
                ("opposed", -4044),
                ("lead", 20),
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
            bias=-3017,
            weights=(
                ("around", 4026),
                ("plain", 91),
                ("depth", 1318),
                ("needs", -853),
                ("lacks_code", -3257),
                ("lacks_amount", -5539),
                ("rare_proper", -3323),
                ("lead", 236),
                ("unnamed", -998),
                ("untyped", -2643),
                ("gaps", 3567),
                ("opposed", -5557),
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
