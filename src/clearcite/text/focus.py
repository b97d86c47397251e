"""What exactly a question asks for: the words that name it, and the kind of thing that would answer.

*Which bank issues the cards?* asks for a bank; *how many weeks* for a span of time; *what percentage* for a percent;
*who* for somebody. A text that answers names the thing, or holds something of the kind. English and Portuguese; no
cue, no expectation.
"""

import re
from collections.abc import Mapping, Sequence
from itertools import dropwhile, islice, pairwise, takewhile
from types import MappingProxyType

from clearcite.text.asks import names_in, names_something
from clearcite.text.coverage import WEAK_WORDS, Need
from clearcite.text.phrases import folded_words
from clearcite.text.terms import stop_word_of, word_forms
from clearcite.text.units import Value, values

Words = tuple[str, ...]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


MOST_NAMING = 3
"""Words after *which* that may belong to the thing's name."""
MOST_LEADING = 4
"""The same, at the start of a question that leaves *what is the* out."""
_NAMES_IT = _words("which what whats whose many qual quais que quantos quantas")
_BETWEEN = _words("is are was were s the a an your our my e o a os as um uma do da kind type sort")
_ASKS = _NAMES_IT | _words(
    "who whom when where why how quem quando onde como quanto quanta do does did is are can may must"
)
_SPAN = _words("duration months working-days")
_AFTER_HOW = _words("long soon quickly often frequently")
_MEASURED = _words("many much large big deep high tall wide warm old heavy hot cold")
_COUNTS = _words("quantos quantas")
_BOUNDS = _words("maximum minimum max min limit maximo minimo limite quantidade")
_COSTS = _words("cost costs custa custam")
_PAID = _COSTS | _words("pay charge charged")
_NUMBERS = _words("quantity number phone date")
# Each of these says a number only where it stands before what is counted: *one*, not *the old one*.
_SINGLE = _words("one single once both um uma any no none")
# Words that give a number, or say that there is none, or no bound.
_SAYS_A_NUMBER = _words(
    "two three four five six seven eight nine ten eleven twelve twenty thirty hundred hundreds thousand thousands tens"
    " dozen dozens zero half twice never unlimited free nothing gratis gratuito gratuita dois duas tres quatro cinco"
    " seis sete oito nove dez ambos nada sem limite"
)

_SAID_BEFORE = _words("it they them this that these those he she him se isso isto ele ela eles elas")

# What a value is called, and the class it then has; see ``text.units``.
_CALLED: Mapping[str, str] = MappingProxyType(
    dict.fromkeys(("percentage", "percent", "share", "percentagem"), "percent")
    | dict.fromkeys(("price", "cost", "costs", "fee", "fare", "preco", "custo", "custa", "taxa"), "money")
    | dict.fromkeys(("fine", "deposit", "discount", "supplement", "surcharge", "desconto", "multa"), "amount")
    | dict.fromkeys(("phone", "telephone", "telefone"), "phone")
    | dict.fromkeys(("email", "mail"), "address")
    | dict.fromkeys(("version", "versao"), "version")
    | dict.fromkeys(("time", "times", "hours", "hora", "horas", "horario", "horarios"), "time")
    | dict.fromkeys(("date", "dates", "data"), "date")
    | dict.fromkeys(("year", "ano"), "year")
    | dict.fromkeys(("day", "weekday", "dia"), "day")
)
# Classes of values that serve as well; *number* and *quantity* are kinds, *year* is a number that may be one.
_SERVES: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "amount": _words("number quantity"),
        "version": _words("number"),
        "date": _words("weekday year"),
        "year": _words("date"),
        "day": _words("date weekday duration working-days"),
    }
)
# Words that say as much as a value of a class does.
_SAYS: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "money": _words("free gratis gratuito gratuita nothing coin coins cent cents pence moedas centimos"),
        "amount": _words("free gratis gratuito gratuita nothing half metade full whole double"),
        "time": _words("noon midnight meio daily closed fechado"),
        "day": _words("first last every primeiro ultimo"),
    }
    | dict.fromkeys(
        _SPAN,
        _words(
            "daily weekly monthly quarterly yearly annually hourly nightly immediately every each ever forever never"
            " cada sempre nunca"
        ),
    )
)
_YEAR = re.compile(r"\b(1[1-9]|20)\d\d\b")

_TIMES = _words("times vezes")
_ALL = _words("todos todas")

_ASKS_WHEN_IT_WAS = frozenset(
    (("when", "did"), ("when", "was"), ("when", "were"), ("quando", "foi"), ("quando", "foram"))
)
_DATES = _words("date weekday version time duration")
_SAYS_WHEN = _words("after before once until since yesterday today ago depois antes desde")

_ASKS_WHO = _words("who whom quem")
MOST_BEFORE_WHO = 2
_ASKS_NAME = frozenset(
    (("name", "of"), ("names", "of"), ("nome", "do"), ("nome", "da"), ("se", "chama"), ("se", "chamam"))
)
# Where one of these is asked for, its name is.
_HAVE_NAMES = _words(
    "name names nome nomes model make brand manufacturer company companies firm firms customer customers supplier"
    " vendor insurer bank tool product account accounts modelo marca fabricante empresa firma cliente banco fornecedor"
)
_QUOTED = re.compile(r"`[^`]+`|\"[^\"]+\"|“[^”]+”|\*\w[^*]*\*")
_DAYS = _words(
    "monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays fridays saturdays"
    " sundays january february march april may june july august september october november december"
)
# Who does things in documents, where no name says it.
_WHO = _words(
    "manager managers team teams department departments lead leads leader director directors officer officers"
    " committee board council office staff employee employees member members administrator administrators admin"
    " admins owner owners operator operators engineer engineers customer customers user users person people anyone"
    " anybody everyone everybody nobody none one supervisor head chief president secretary treasurer chair author"
    " authors editor editors maintainer maintainers developer developers reader readers visitor visitors guest guests"
    " resident residents parent parents child children adult adults teacher doctor nurse driver drivers carrier"
    " carriers agent agents clerk librarian mechanic mechanics technician technicians company partner partners"
    " supplier suppliers group groups you we they colleague colleagues student students contractor contractors intern"
    " interns vendor vendors family desk helpdesk support hr it finance legal caller callers host reporter approver"
    " reviewer reviewers buyer seller tenant equipa equipe gestor gestora chefe diretor diretora direcao departamento"
    " funcionario funcionarios administrador administradora cliente clientes pessoa pessoas todos ninguem empresa"
    " camara presidente responsavel utilizador utilizadores motorista motoristas transportador dono proprietario voce"
)


def focus_words(question: str) -> frozenset[str]:
    """The folded words that name what is asked for; empty when the question does not name it."""
    return frozenset(_named(folded_words(question))) - WEAK_WORDS  # *what happens when* names nothing


def is_untyped(question: str, text: str, found: Sequence[Value]) -> bool:
    """Whether something of a kind is asked for, and the text with these values holds nothing of that kind."""
    asked, said = folded_words(question), folded_words(text)
    wanted = _wanted_classes(asked)
    new = [value for value in found if not set(folded_words(text[value.start : value.end])) <= set(asked)]
    return (
        (bool(wanted) and not _holds_class(wanted, text, new))
        or (_asks_name(asked) and not _tells_name(asked, text))
        or (_asks_number(asked) and not _tells_number(asked, text, found))
        or (not _ASKS_WHO.isdisjoint(asked[: MOST_BEFORE_WHO + 1]) and not _tells_who(asked, text))
        or (not _ASKS_WHEN_IT_WAS.isdisjoint(pairwise(asked)) and not _tells_date(said, text, found))
    )


def names_nothing(question: str, needs: Sequence[Need]) -> bool:
    """Whether a question leaves unsaid what it is about: *When is it replaced?* says one plain word of a thing that
    some sentence before it named, and none was asked before."""
    plain = [need for need in needs if not need.named]
    return len(needs) == len(plain) == 1 and not _SAID_BEFORE.isdisjoint(folded_words(question))


def _named(words: Words) -> Words:
    for at, word in enumerate(words):
        if word in _NAMES_IT:
            rest = dropwhile(_BETWEEN.__contains__, words[at + 1 :])
            named = takewhile(
                lambda other: not stop_word_of(other), (other for other in rest if other != "s")
            )
            return tuple(islice(named, MOST_NAMING))
    return ()


def _head(words: Words) -> Words:
    """What is asked for, also where *what is* is left out: *price of a spare wheel*."""
    if _ASKS.isdisjoint(words):
        return tuple(takewhile(lambda other: not stop_word_of(other), words[:MOST_LEADING]))
    return _named(words)


def _wanted_classes(words: Words) -> frozenset[str]:
    """Classes of values of which one must be given; empty where any will do."""
    for before, word, after in zip(words, words[1:], (*words[2:], ""), strict=False):
        if before == "how" and word in _AFTER_HOW:
            # *How long must a rope be?* asks for no time.
            return frozenset() if word == "long" and words[-1] == "be" else _SPAN
        if before in ("what", "which", "qual", "que") and word in ("time", "hora", "horas"):
            return frozenset(("time",))
        if (before, word) == ("how", "many"):
            return _class_counted_in(after)
        if before in _COUNTS:
            return _class_counted_in(word)
        if (before, word) == ("how", "much") and not _PAID.isdisjoint(words):
            return frozenset(("money",))
    if words[:1] in (("what",), ("quanto",)) and not _COSTS.isdisjoint(words):
        return frozenset(("money",))
    return frozenset(_CALLED[word] for word in _head(words) if word in _CALLED)


def _class_counted_in(unit: str) -> frozenset[str]:
    """The class of a unit of measure; nothing for what is merely counted."""
    found = {value.unit_class for language in ("en", "pt") for value in values(f"2 {unit}", language)}
    known = frozenset(name for name in found if name and not name.startswith("count:"))
    return _SPAN if known & _SPAN else known


def _holds_class(wanted: frozenset[str], text: str, found: Sequence[Value]) -> bool:
    """Whether a text with these values holds one of a wanted class, or says as much in a word."""
    if "address" in wanted and "@" in text:
        return True
    plain = {value.unit_class.partition("/")[0] for value in found}  # 25 days a year are days
    given = {"money" if name.startswith("currency:") else name for name in plain}
    given |= {value.kind for value in found} & {"number", "quantity"}
    if _YEAR.search(text):
        given.add("year")
    serving = wanted.union(*(_SERVES.get(name, ()) for name in wanted))
    says = frozenset[str]().union(*(_SAYS.get(name, ()) for name in wanted))
    return not given.isdisjoint(serving) or not says.isdisjoint(folded_words(text))


def _asks_number(words: Words) -> bool:
    """Whether *how many*, *how deep* or a bound is asked for."""
    measured = any(before == "how" and word in _MEASURED for before, word in pairwise(words))
    return measured or not _COUNTS.isdisjoint(words) or not _BOUNDS.isdisjoint(_head(words))


def _tells_number(asked: Words, text: str, found: Sequence[Value]) -> bool:
    """Whether a text with these values says a number of its own."""
    known, said = frozenset(asked) | _SINGLE, folded_words(text)
    told = (value for value in found if value.kind in _NUMBERS)
    if any(not known.issuperset(folded_words(text[value.start : value.end])) for value in told):
        return True
    if not (_SAYS_A_NUMBER - known).isdisjoint(said):
        return True
    if not _TIMES.isdisjoint(_counted(asked)) and not (_SAYS["duration"] | _ALL).isdisjoint(said):
        return True  # *how many times?* *every day*
    counted = {form for word in _counted(asked) for form in _forms(word)}
    return any(word in _SINGLE and not counted.isdisjoint(_forms(after)) for word, after in pairwise(said))


def _counted(words: Words) -> Words:
    """The words for what is counted, if the question has them."""
    for at, word in enumerate(words):
        if word in _COUNTS or (word in ("many", "much") and words[at - 1 : at] == ("how",)):
            return words[at + 1 : at + 2]
    return tuple(word for word in _head(words) if word not in _BOUNDS)


def _forms(word: str) -> list[str]:
    return word_forms(word, ("en", "pt"))


def _tells_who(asked: Words, text: str) -> bool:
    known = frozenset(asked)
    return names_something(text, known) or not (_WHO - known).isdisjoint(folded_words(text))


def _asks_name(words: Words) -> bool:
    """Whether one thing of its kind is asked for by its name: *what is it called*, *which company*."""
    pairs = frozenset(pairwise(words))
    called = words[-1:] == ("called",) and not {"what", "how"}.isdisjoint(words)
    of_a_kind = not _asks_number(words) and not _HAVE_NAMES.isdisjoint(_named(words))
    return called or of_a_kind or not _ASKS_NAME.isdisjoint(pairs)


def _tells_name(asked: Words, text: str) -> bool:
    """Whether a name stands in the text that is not the question's own: no number, and no day or month."""
    names = (text[start:end] for start, end in names_in(text, frozenset(asked)))
    said = (word for name in names for word in folded_words(name) if not word[0].isdigit())
    return bool(_QUOTED.search(text)) or any(word not in _DAYS and word not in asked for word in said)


def _tells_date(said: Words, text: str, found: Sequence[Value]) -> bool:
    is_dated = any(value.unit_class in _DATES for value in found) or _YEAR.search(text) is not None
    return is_dated or not _SAYS_WHEN.isdisjoint(said)
