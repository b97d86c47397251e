"""How much of a question a text covers: its informative words, each worth what it tells.

A word is worth one bit plus its inverse document frequency, in 1/1024 bits, from counts of readable chunks only.
Where nothing was counted, names and numbers are worth twice a plain word. Integers throughout.
"""

from collections.abc import Collection, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from clearcite.domain.retrieval import Plan, QueryTerm
from clearcite.text.analysis import Analyzer, is_covered
from clearcite.text.forms import clean_text
from clearcite.text.tokens import fold, token_spans
from clearcite.text.told import amounts_in, asked_part

BIT = 1024

# Words that seldom tell which thing is meant, however rare they are in a small collection: half their weight.
_WEAK = """
get gets got getting go goes going come comes coming make makes made making take takes took taking give gives gave
put puts let lets keep use uses used using say says said must need needs want wants like able kind sort type thing
things way ways one us someone somebody anybody anyone people person persons lot new old good still yet currently
exactly actually usually normally possible possibly now us something anything happen happens happened occur occurs
value values number name named called count counts try mean means meaning
ter fazer faz tenho temos fica ficar ir vai dar deve precisa coisa tipo forma pessoa pessoas numero nome novo nova
ainda acontece aconteceu ocorre significa significam significado quer dizer
"""
WEAK_WORDS = frozenset(_WEAK.split())


class Need(Struct, frozen=True, kw_only=True):
    """A word of the question that an answer should cover.

    ``named``: it is written like a name, a number or a code; ``coded``: it holds a digit, so nothing else will do;
    ``proper``: it is a capitalised word inside the question, so most likely the name of one thing; ``told``: it stands
    only in what is told with the question; ``amount``: it is a number that says how much, and names nothing.
    """

    unit: QueryTerm
    weight: int
    named: bool
    coded: bool = False
    proper: bool = False
    frequency: int | None = None
    told: bool = False
    amount: bool = False


def needs_of(plan: Plan, analyzer: Analyzer) -> tuple[Need, ...]:
    """What the question needs covered, in its order. Empty when it only asks. Where what it asks says nothing of its
    own (*What now?*), nothing counts as told."""
    named, proper = _named_words(plan.question), _proper_words(plan.question)
    part = asked_part(plan.question)
    asked = {form for unit in analyzer.analyze_question(part) for form in unit.forms}
    amounts = amounts_in(plan.question, part)
    found = []
    for unit in analyzer.informative(plan.question):
        is_name = any(word in unit.surface for word in named)
        frequency = _frequency(unit, plan)
        if frequency is None:
            weight = 4 * BIT if is_name else 2 * BIT
        else:
            weight = BIT + max(0, log2_ratio(2 * plan.documents + 2, 2 * frequency + 1))
        if unit.surface in WEAK_WORDS and not is_name:
            weight //= 2
        coded = any(char.isdigit() for char in unit.surface)
        found.append(
            Need(
                unit=unit,
                weight=weight,
                named=is_name,
                coded=coded,
                proper=unit.surface in proper,
                frequency=frequency,
                told=asked.isdisjoint(unit.forms),
                amount=unit.surface in amounts,
            )
        )
    if all(need.told or need.unit.surface in WEAK_WORDS for need in found):
        # How much it is in the asker's case stays told: *Our dog weighs 31 kg. How much is it?*
        return tuple(replace(need, told=need.told and need.amount) for need in found)
    return tuple(found)


def coverage(needs: Sequence[Need], terms: Collection[str]) -> int:
    """The covered share of the needs' weight in thousandths; 0 without needs."""
    total = sum(need.weight for need in needs)
    covered = sum(need.weight for need in needs if is_covered(need.unit, terms))
    return covered * 1000 // total if total else 0


def depth(needs: Sequence[Need], counts: Mapping[str, int]) -> int:
    """Like coverage, but a word that stands once counts less than one that recurs (t / (t + 1.2), as in BM25)."""
    total = sum(need.weight for need in needs)
    found = 0
    for need in needs:
        times = max((counts.get(form, 0) for form in need.unit.forms), default=0)
        found += need.weight * 1000 * times * 10 // (times * 10 + 12)
    return found // total if total else 0


def missing(needs: Sequence[Need], terms: Collection[str]) -> tuple[Need, ...]:
    return tuple(need for need in needs if not is_covered(need.unit, terms))


def wanted(needs: Sequence[Need], terms: Collection[str]) -> tuple[Need, ...]:
    """The needs that count for a text with these terms: what is only told with a question helps where it is met, and
    is not wanting where it is not."""
    return tuple(need for need in needs if not need.told or is_covered(need.unit, terms))


def log2_ratio(numerator: int, denominator: int) -> int:
    """log2(numerator / denominator) in 1/1024 bits, rounded down; exact integer arithmetic, both positive."""
    return _log2(numerator) - _log2(denominator)


def _log2(value: int) -> int:
    """By repeated squaring: each squaring yields one more binary digit."""
    whole = value.bit_length() - 1
    precision = 64
    mantissa = (value << precision) >> whole
    fraction = 0
    for _ in range(10):
        mantissa = mantissa * mantissa >> precision
        fraction <<= 1
        if mantissa >> (precision + 1):
            mantissa >>= 1
            fraction |= 1
    return whole * BIT + fraction


def _frequency(unit: QueryTerm, plan: Plan) -> int | None:
    """The count of the rarest searched word that shares a form with the unit."""
    if not plan.documents or len(plan.frequencies) != len(plan.lexical.terms):
        return None
    forms = frozenset(unit.forms)
    counts = [
        count
        for term, count in zip(plan.lexical.terms, plan.frequencies, strict=True)
        if not forms.isdisjoint(term.forms)
    ]
    return min(counts) if counts else 0


def _named_words(question: str) -> frozenset[str]:
    """Folded words that look like names where they stand: capitals after the first word, digits, inner capitals."""
    named = set()
    for position, (raw, _, _) in enumerate(token_spans(clean_text(question))):
        capital = any(char.isupper() for char in (raw if position else raw[1:]))
        if capital or any(char.isdigit() for char in raw):
            named.add(raw.casefold().strip("'’"))
    return frozenset(named)


def _proper_words(question: str) -> frozenset[str]:
    """Folded words with one capital at their start, not at the start of a sentence, or with capitals inside."""
    cleaned = clean_text(question)
    found = set()
    for raw, start, _ in token_spans(cleaned):
        begins = not start or cleaned[:start].rstrip()[-1:] in ".!?:"
        name = raw.removesuffix("'s")
        is_mixed = name.isalpha() and not name.islower() and not name[1:].islower() and not name.isupper()
        if is_mixed or (not begins and len(raw) > 2 and raw[0].isupper() and raw[1:].islower()):
            found.add(fold(name))
    return frozenset(found)
