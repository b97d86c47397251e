"""Whether a statement gives another value than one of a higher source does for the same thing.

Told from what the question asks for: values that contradict, or names of which each has its own. Here a doubt counts
as rivalry, unlike in ``answer.conflicts``: what is at stake is one further claim, not the answer.
"""

from clearcite.text.asks import names_in, wanted_values
from clearcite.text.candidates import Asked, Candidate
from clearcite.text.coverage import coverage
from clearcite.text.phrases import folded_words
from clearcite.text.readings import Reading, comparable, contradict, readings
from clearcite.text.scopes import OBSERVED
from clearcite.text.units import values

AS_WELL = 500
"""Thousandths of what the humbler statement covers of the question that the higher one must cover."""
SAID_ALONE = 350
"""Thousandths of the question that the humbler one may say and the higher one not: more, and it is another thing."""
MUCH = 500
"""Thousandths of its words that the higher one says too: the humbler one repeats it, or puts another value there."""


def is_rival(asked: Asked, humble: Candidate, higher: Candidate) -> bool:
    """Whether ``humble`` says of the thing that ``higher`` answers about something that may not also hold, or nothing
    that ``higher`` does not say."""
    if OBSERVED.found_in(asked.plan.question):
        return False
    mine, theirs = humble.terms | humble.context, higher.terms | higher.context
    own, known = coverage(asked.needs, mine), coverage(asked.needs, theirs)
    alone = coverage(asked.needs, mine | theirs) - known
    if known * 1000 < own * AS_WELL or alone > SAID_ALONE:
        return False
    if _share(humble, higher) >= MUCH or (not asked.expected.kinds and not alone):
        return True
    return _contradicts(asked, humble, higher) or _names_another(asked, humble, higher)


def _contradicts(asked: Asked, humble: Candidate, higher: Candidate) -> bool:
    """All values of the asked kind that can be compared contradict each other."""
    mine, theirs = (_asked_readings(asked, item) for item in (humble, higher))
    pairs = [(one, other) for one in mine for other in theirs if comparable(one, other)]
    return bool(pairs) and all(contradict(one, other) for one, other in pairs)


def _asked_readings(asked: Asked, item: Candidate) -> list[Reading]:
    language = item.passage.language
    wanted = wanted_values(asked.expected, item.text, values(item.text, language))
    return [
        reading
        for reading in readings(item.text, language)
        if any(value.start < reading.end and reading.start < value.end for value in wanted)
    ]


def _names_another(asked: Asked, humble: Candidate, higher: Candidate) -> bool:
    """A name is asked for, and each names somebody or something that neither the question nor the other does."""
    if "name" not in asked.expected.kinds:
        return False
    mine, theirs = _names(asked, humble), _names(asked, higher)
    return bool(mine - theirs) and bool(theirs - mine)


def _names(asked: Asked, item: Candidate) -> frozenset[str]:
    spans = names_in(item.text, asked.expected.known)
    return frozenset(" ".join(folded_words(item.text[start:end])) for start, end in spans)


def _share(humble: Candidate, higher: Candidate) -> int:
    """What the higher statement says too, in thousandths of the humbler one's terms."""
    return 1000 * len(humble.terms & higher.terms) // max(1, len(humble.terms))
