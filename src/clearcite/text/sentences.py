"""Sentence boundaries in code points, by rules: the same text always gives the same spans.

A sentence ends at ``. ! ? …`` before white space and something that can begin a sentence, at a full stop of
Chinese or Japanese, at an empty line, and before a list item. A line break alone ends nothing. An end is
never inside a number or an identifier, because those hold no white space.
"""

import re
from collections.abc import Iterator

_CLOSERS = r"[\"'”’»)\]}*_`」』）】〉》]*"
_END = re.compile(
    rf"(?P<stop>[.!?…]+{_CLOSERS})(?=\s)"
    rf"|[。！？｡]+{_CLOSERS}"
    r"|\n[^\S\n]*(?=\n)"
    r"|\n(?=[^\S\n]*(?:[-*•+–]|\d{1,3}[.)]|[a-z][)])[^\S\n])"
)
# Every end begins with one of these; looking for them first is several times faster.
_STOP = re.compile(r"[.!?…。！？｡\n]")
_STOPS = re.compile(r"[.!?…]+|[。！？｡\n]")
_OPENERS = " \t\r\n\"'“‘«([{*_`¿¡「『（【〈《"
_LAST_WORD = re.compile(r"[^\s\"'“‘«(\[{*_`]+\Z")
_LIST_NUMBER = re.compile(r"[\s*_•+-]*(?:\d{1,3}|[a-zA-Z])\.")
_INITIALS = re.compile(r"(?:[^\W\d_]\.)+\Z")
_NAME_LIKE = re.compile(r"[^\W\d_]+[._]\w|\w*\d")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Followed by more of the same sentence, whatever comes next.
_NEVER_ENDS = _words("""
    mr mrs ms dr drs prof st sr sra srta dra mme mlle rev gen col sgt capt lt hon messrs vs cf e.g i.e
    viz ex approx ca esp incl resp aprox exmo exma ilmo p.ex av eng arq adv
""")
# Followed by a number or a name they belong to.
_BEFORE_NUMBER = _words("""
    no nos nr nº n° n num núm p pp pg pág págs pag vol fig figs figura eq eqs sec sect art arts ch chap
    cap tab ref refs tel ext fl item §
""")
# Ends a sentence only when the next word looks like a beginning.
_MAY_END = _words("""
    inc ltd co corp llc ltda cia bros jr al dept univ assoc est min max jan feb mar apr jun jul aug sep
    sept oct nov dec fev abr mai ago set out dez
""")
# Ends a sentence before a capital, unless the day or the zone of the time follows.
_HALVES = _words("a.m p.m am pm")
_AFTER_TIME = _words("""
    monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays fridays saturdays
    sundays january february march april may june july august september october november december
    gmt utc est edt cst cdt mst mdt pst pdt cet cest bst eastern central pacific mountain greenwich
""")
_BEGINNERS = _words("""
    the this that these those it its they he she we you i in on at for if when while after before all
    each every no any a an as to there here but and or however see use our your their please do does is
    are o a os as um uma este esta esse essa isso isto ele ela eles elas em no na nos nas para se quando
    após antes todos todas cada não mas e ou veja use nosso nossa seu sua el la los las un una es en
""")


def split_sentences(text: str) -> list[tuple[int, int]]:
    """Half-open spans of the sentences, in order, without the white space around them.

    Every character that is not white space is in exactly one span.
    """
    spans: list[tuple[int, int]] = []
    start = 0
    for match in _ends(text):
        if match.group("stop") is None or _ends_sentence(text, start, match):
            _add(spans, text, start, match.end())
            start = match.end()
    _add(spans, text, start, len(text))
    return spans


def _ends(text: str) -> Iterator[re.Match[str]]:
    """Where a sentence may end. A run of stops that is no end holds none either."""
    at = 0
    while found := _STOP.search(text, at):
        match = _END.match(text, found.start())
        if match is not None:
            at = match.end()
            yield match
        elif run := _STOPS.match(text, found.start()):
            at = run.end()


def _add(spans: list[tuple[int, int]], text: str, start: int, end: int) -> None:
    while start < end and text[start].isspace():
        start += 1
    while start < end and text[end - 1].isspace():
        end -= 1
    if start < end:
        spans.append((start, end))


def _ends_sentence(text: str, start: int, match: re.Match[str]) -> bool:
    following = text[match.end() : match.end() + 80].lstrip(_OPENERS)
    if not following:
        return True
    if match.group("stop")[0] == ".":
        near = max(start, match.start() - 60)
        return _full_stop_ends(text[near : match.start() + 1], match.group("stop"), following)
    return not following[0].islower()


def _full_stop_ends(before: str, stop: str, following: str) -> bool:
    if _LIST_NUMBER.fullmatch(before):
        return False
    last = _LAST_WORD.search(before.rsplit(None, 1)[-1])
    word = last.group().rstrip(".").casefold() if last else ""
    if word in _NEVER_ENDS:
        return False
    if word in _BEFORE_NUMBER and (following[0].isdigit() or following[0] in "§IVX"):
        return False
    if following[0] in ".!?…":
        return False
    if following[0].islower():
        return bool(_NAME_LIKE.match(following)) and not stop.startswith("..") and len(word) > 1
    if word in _HALVES:
        return following[0].isupper() and _first_word(following) not in _AFTER_TIME
    if word in _MAY_END or (last and _INITIALS.match(last.group()) and last.group()[0].isupper()):
        return _first_word(following) in _BEGINNERS
    return True


def _first_word(text: str) -> str:
    words = text.split(None, 1)
    return words[0].strip(",.;:").casefold() if words else ""
