"""Measures of ``ir-measures`` over a run, where the extra is installed: any that it knows, by trec_eval's own code."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from clearcite.bench.stats import micros, to_micros
from clearcite.bench.trec import Ranked
from clearcite.errors import InputError, MissingExtra

INSTALL = "pip install 'clearcite[eval]'"


def other_measures(ranked: Sequence[Ranked], names: Sequence[str]) -> dict[str, str]:
    """Name → mean over the queries given, each of which has a relevant document.

    Scores are passed on as integers that strictly decrease: trec_eval compares them in single precision, and would
    break ties by the document. Raises MissingExtra, and InputError for a measure that is not known or cannot be had.
    """
    try:
        import ir_measures  # noqa: PLC0415 - an optional extra
    except ImportError:
        raise MissingExtra("ir-measures", INSTALL) from None
    # By trec_eval alone: another provider would have to be installed, and may count in another way.
    provider: Any = ir_measures.pytrec_eval
    measures = {}
    for name in names:
        try:
            measures[name] = ir_measures.parse_measure(name)
        except (ValueError, NameError, SyntaxError, KeyError, AttributeError, TypeError):
            raise InputError(
                f"ir-measures knows no measure {name}; such as AP, P@5, nDCG@20 or RR."
            ) from None
        if not provider.supports(measures[name]):
            raise InputError(f"trec_eval cannot give {name}.")
    qrels = {one.query: dict(one.grades) for one in ranked}
    run = {one.query: _falling(one.documents) for one in ranked}
    values: dict[str, list[int]] = {name: [] for name in names}
    for item in provider.iter_calc(list(measures.values()), qrels, run):
        name = next(name for name, measure in measures.items() if measure == item.measure)
        values[name].append(to_micros(str(Decimal(item.value).quantize(Decimal("0.000001")))))
    # Queries that the run says nothing about may be left out by a provider, and count as 0.
    return {name: micros(sum(some) // len(ranked)) for name, some in values.items()}


def _falling(documents: Sequence[str]) -> dict[str, int]:
    return {name: len(documents) - place for place, name in enumerate(documents)}
