"""Whether a statement gives another value than one of a higher source does for the same thing.

Told from what the question asks for: values that contradict, or names of which each has its own. Here a doubt counts
as rivalry, unlike in ``answer.conflicts``: what is at stake is one further claim, not the answer.
"""

from clearcite.text.asks import names_in, wanted_values
from clearcite.text.candidates import Asked, Candidate
from clearcite.text.coverage import coverage
from clearcite.text.phrases import folded_words
from clearcite.text.readings import Reading, comparable, contradict, readings
from clearcite.text.units import values

AS_WELL = 700
"""Thousandths of what the humbler statement covers of the question that the higher one must cover."""
SAID_ALONE = 250
"""Thousandths of the question that the humbler one may say and the higher one not: more, and it is another thing."""
MUCH = 500
"""Thousandths of the shorter statement's words that two must share to be about one thing, if only names differ."""


def is_rival(asked: Asked, humble: Candidate, higher: Candidate) -> bool:
    """Whether ``humble`` says of the thing that ``higher`` answers about something that cannot also hold."""
    return _speaks_of_the_same(asked, humble, higher) and (
        _contradicts(asked, humble, higher) or _names_another(asked, humble, higher)
    )


def _speaks_of_the_same(asked: Asked, humble: Candidate, higher: Candidate) -> bool:
    mine, theirs = humble.terms | humble.context, higher.terms | higher.context
    own, known = coverage(asked.needs, mine), coverage(asked.needs, theirs)
    return known * 1000 >= own * AS_WELL and coverage(asked.needs, mine | theirs) - known <= SAID_ALONE


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
    """Each names somebody or something that neither the question nor the other does. Where nothing says that a name
    is asked for, they must say it in much the same words."""
    if asked.expected.kinds - {"name"}:
        return False
    mine, theirs = _names(asked, humble), _names(asked, higher)
    apart = bool(mine - theirs) and bool(theirs - mine)
    return apart and (bool(asked.expected.kinds) or _share(humble, higher) >= MUCH)


def _names(asked: Asked, item: Candidate) -> frozenset[str]:
    spans = names_in(item.text, asked.expected.known)
    return frozenset(" ".join(folded_words(item.text[start:end])) for start, end in spans)


def _share(one: Candidate, other: Candidate) -> int:
    """Common terms in thousandths of those of the shorter."""
    return 1000 * len(one.terms & other.terms) // max(1, min(len(one.terms), len(other.terms)))
