"""Who does something, and how something is called: whether a question asks that, and whether a text tells it.

English and Portuguese; no cue, no expectation.
"""

import re
from itertools import pairwise

from clearcite.text.asks import names_in
from clearcite.text.focus import Words, named, words_of
from clearcite.text.phrases import folded_words
from clearcite.text.tokens import raw_tokens

MOST_BEFORE_WHO = 2
_ASKS_WHO = words_of("who whom quem")
_WHO_IS_IT = frozenset(
    (
        ("who", "is", "the"),
        ("who", "is", "our"),
        ("who", "is", "your"),
        ("quem", "e", "o"),
        ("quem", "e", "a"),
    )
)
_WHICH = words_of("which what qual que")
_ASKS_NAME = frozenset(
    (("name", "of"), ("names", "of"), ("nome", "do"), ("nome", "da"), ("se", "chama"), ("se", "chamam"))
)
# Where one of these is asked for, its name is.
_HAVE_NAMES = words_of(
    "name names nome nomes model make brand manufacturer company companies firm firms customer customers supplier"
    " vendor insurer bank tool product account accounts modelo marca fabricante empresa firma cliente banco fornecedor"
)
_QUOTED = re.compile(r"`[^`]+`|\"[^\"]+\"|“[^”]+”|\*\w[^*]*\*")
_PLACED = re.compile(r"\b(?:in|at|from|to|within|near|em|no|na|para)\s\Z", re.IGNORECASE)
"""What stands before the name of a place."""
LONGEST_BEFORE_PLACE = 8
_DAYS = words_of(
    "monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays fridays saturdays"
    " sundays january february march april may june july august september october november december"
)
_SOME = words_of("group groups team teams department departments people members")
# Who does things in documents, where no name says it.
_WHO = _SOME | words_of(
    "manager managers lead leads leader director directors officer officers"
    " committee board council office staff employee employees member administrator administrators admin"
    " admins owner owners operator operators engineer engineers customer customers user users person anyone"
    " anybody everyone everybody nobody supervisor head chief president secretary treasurer chair author"
    " authors editor editors maintainer maintainers developer developers reader readers visitor visitors guest guests"
    " warden wardens keeper keepers guard guards porter porters caretaker cashier"
    " resident residents parent parents child children adult adults teacher teachers doctor doctors nurse nurses vet"
    " vets driver drivers carrier"
    " carriers agent agents clerk librarian mechanic mechanics technician technicians company partner partners"
    " supplier suppliers we colleague colleagues student students contractor contractors intern"
    " interns vendor vendors family desk helpdesk support hr finance legal caller callers host reporter approver"
    " reviewer reviewers buyer seller tenant equipa equipe gestor gestora chefe diretor diretora direcao departamento"
    " funcionario funcionarios administrador administradora cliente clientes pessoa pessoas todos ninguem empresa"
    " camara presidente responsavel utilizador utilizadores motorista motoristas transportador dono proprietario"
)
# *by the warden*, but not *by post* or *by the end*.
_BY = re.compile(r"\b(?:by (?:the |an? |our |your )|pel[oa]s? )(?=[^\W\d_])(\w+)", re.IGNORECASE)
_BY_NOBODY = words_of(
    "end time date day days week month year hour minute same way use help rest door side following latest fim dia hora"
    " mes ano porta lado menos"
)
# Who may do something can be *you* as well; who does it is somebody else.
_MAY = words_of("can may must should allowed pode podem deve devem")
_ANYBODY = words_of("you they none one voce")


def asks_who(question: str) -> bool:
    """Not *What does WHO recommend?*"""
    words = folded_words(question)
    return not _ASKS_WHO.isdisjoint(words[: MOST_BEFORE_WHO + 1]) and "WHO" not in raw_tokens(question)


def tells_who(asked: Words, text: str) -> bool:
    """Whether a text speaks of somebody who is not in the question."""
    told = _WHO if _MAY.isdisjoint(asked) else _WHO | _ANYBODY
    said = told.difference(asked).intersection(folded_words(text))
    return bool(said) or _has_name(asked, text) or "IT" in raw_tokens(text) or _is_by_somebody(asked, text)


def _is_by_somebody(asked: Words, text: str) -> bool:
    known = _BY_NOBODY.union(_DAYS, asked)
    return any(not known.issuperset(folded_words(match[1])) for match in _BY.finditer(text))


def asks_name(words: Words) -> bool:
    """Whether one of its kind is asked for by its name: *what is it called*, *who is the dean*, *which company*."""
    called = words[-1:] == ("called",) and not {"what", "how"}.isdisjoint(words)
    is_somebody = words[:3] in _WHO_IS_IT
    return called or is_somebody or _is_named_kind(words) or not _ASKS_NAME.isdisjoint(pairwise(words))


def _is_named_kind(words: Words) -> bool:
    kind = named(words)
    if not _HAVE_NAMES.isdisjoint(kind):
        return True
    return not _WHICH.isdisjoint(words[:1]) and bool(kind) and kind[0] in _WHO - _SOME


def tells_name(asked: Words, text: str) -> bool:
    """Whether a name stands in the text that is not the question's own."""
    return bool(_QUOTED.search(text)) or _has_name(asked, text)


def _has_name(asked: Words, text: str) -> bool:
    """No number, no day or month, no place where something is."""
    for start, end in names_in(text, frozenset(asked)):
        if _PLACED.search(text, max(0, start - LONGEST_BEFORE_PLACE), start):
            continue
        if any(
            not (word[0].isdigit() or word in _DAYS or word in asked)
            for word in folded_words(text[start:end])
        ):
            return True
    return False
