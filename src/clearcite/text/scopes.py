"""Words that say of which part of a thing something holds: roles, kinds, seasons, conditions. Folded, two languages.

They decide whether two statements may be about one thing; see ``statements``. The lists are of common words, not of
any collection's own.
"""

from collections.abc import Mapping
from types import MappingProxyType

from clearcite.text.phrases import PhraseSet


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Groups of people and kinds of places or accounts. A statement that names one holds of that one.
ROLES = _words(
    """
    adult adults child children kid kids junior juniors senior seniors student students pupil pupils teacher teachers
    intern interns trainee trainees apprentice apprentices contractor contractors freelancer freelancers volunteer
    volunteers manager managers director directors supervisor supervisors executive executives tenant tenants
    resident residents guest guests visitor visitors member members nonmember nonmembers partner partners reseller
    pensioner pensioners family families couple couples group groups school schools charity
    part-time full-time parttime fulltime temporary permanent trial demo beta alpha preview draft staging sandbox
    abroad overseas international domestic
    adulto adultos adultas crianca criancas jovem jovens estudante estudantes aluno alunos professor professores
    estagiario estagiarios contratado contratados voluntario voluntarios gerente gerentes residente residentes
    visitante visitantes socio socios familia familias grupo grupos escola escolas rascunho estrangeiro
    """
)
# These, and what else tells one of several: kinds, sizes, order, seasons.
SCOPES = ROLES | _words(
    """
    test tests testing production development internal external foreign national regional local urgent express
    standard premium basic enterprise professional personal business commercial residential private public
    first second third fourth fifth last final initial next previous former early late summer winter spring autumn
    holiday holidays weekend weekends weekday weekdays night nights morning evening overtime new old small medium
    large big heavy light single double shared indoor outdoor primary secondary main teaching minor major critical
    exceptional teste testes experimental interno externo nacional internacional urgente expresso
    primeiro primeira segundo segunda terceiro terceira ultimo ultima verao inverno primavera outono feriado
    feriados noite manha tarde novo nova pequeno grande
    """
)

# Opposites: one statement holds before, the other after.
CONTRASTS: tuple[tuple[frozenset[str], frozenset[str]], ...] = tuple(
    (_words(left), _words(right))
    for left, right in (
        ("before antes prior", "after depois apos following"),
        ("with com", "without sem"),
        ("above over acima exceeding", "below under abaixo"),
        ("inside within dentro", "outside fora"),
        ("minimum least minimo", "maximum most maximo"),
        ("earliest earlier", "latest later"),
        ("opens open abre", "closes closed close shuts shut fecha"),
        ("start starts begins begin comeca inicio", "end ends finish finishes termina fim"),
        ("arrive arrives arrival chegada", "leave leaves depart departure partida"),
        ("buy buys purchase", "sell sells sale"),
        ("weekday weekdays", "weekend weekends"),
    )
)

# Phrases that begin with one of these narrow what a statement holds of, unless the other side knows them too.
NARROWING = _words(
    """
    for in on at during when if unless while without with before after from under above below until except only per
    provided where who of outside inside against via through between
    para em no na nos nas durante quando se salvo excepto exceto sem com antes depois apos apenas so por onde entre
    de da do dos das
    """
)
# After these, even a comma does not make an addition of it.
RESTRICTING = _words(
    "if unless except only when provided without se salvo exceto excepto apenas so quando sem"
)
OF = _words("of de da do dos das")
ARTICLES = _words("a an the our your their its this that o os as um uma uns umas")
EVERYBODY = _words(
    "all every each both any everybody everyone anybody anyone always todos todas todo toda cada ambos ambas qualquer"
)

# No statement of what holds: examples, plans, what used to be.
UNREAL = PhraseSet(
    (
        "for example", "for instance", "e.g.", "eg", "example", "examples", "such as", "would be", "would", "could be",
        "is planned", "are planned", "planned change", "proposed", "proposal", "propose", "draft", "roadmap",
        "next year", "next month", "will be raised", "will include", "will become", "used to", "formerly",
        "previously", "no longer", "until recently", "until last", "last year", "last month", "last week",
        "in the past", "at the time", "imagine", "suppose", "assume", "hypothetical",
        "por exemplo", "exemplo", "seria", "proposta", "rascunho", "antigamente", "anteriormente",
        "ate ao ano passado", "no ano passado", "no passado", "deixou de", "costumava",
    )
)  # fmt: skip

# A question with one of these asks what people saw, which is no matter of rank.
OBSERVED = PhraseSet(
    (
        "on the forum", "in the forum", "community", "observed", "reported by", "have people seen", "experience with",
        "experiences with", "workaround", "symptom", "symptoms", "no forum", "na comunidade", "observado", "relatado",
    )
)  # fmt: skip

# A date near these words is the page's own.
ABOUT_PAGE = PhraseSet(
    (
        "updated", "last updated", "last checked", "last reviewed", "reviewed", "published", "posted", "written",
        "printed", "revised", "last changed", "last modified", "atualizado",
        "actualizado", "publicado", "revisto",
    )
)  # fmt: skip

# Past forms that no stemmer takes back.
_IRREGULAR = """
kept keep held hold paid pay sent send built build given give gave give taken take took take made make sold sell bought
buy left leave lost lose found find met meet told tell spent spend begun begin began begin chosen choose written write
stood stand lent lend brought bring done do went go gone go came come ran run shut close shuts close costing cost
"""
_pairs = _IRREGULAR.split()
BASE_FORMS: Mapping[str, str] = MappingProxyType(dict(zip(_pairs[::2], _pairs[1::2], strict=True)))


def other_forms(word: str) -> tuple[str, ...]:
    """``kept`` → keep; ``keep`` → kept; nothing for regular words."""
    past = tuple(form for form, base in BASE_FORMS.items() if base == word)
    return (BASE_FORMS[word],) if word in BASE_FORMS else past


# Say how a value binds, or nothing: no words by which two statements could be told to be of one thing.
HOLLOW = _words(
    """
    within per must may shall upon also always until up least most via amount amounts total value current currently
    please note each every all both any it is are be has have get gets
    """
)

# Words that name a document, not a thing.
DOCUMENT_WORDS = _words(
    """
    policy policies guide handbook manual rules rule notice notices overview faq help page document documentation
    notes terms conditions procedure procedures process instructions information summary sheet list table frequently
    asked questions regulations guidelines standard about introduction reference
    politica guia manual regras aviso ajuda pagina documento notas termos condicoes procedimento informacoes resumo
    tabela perguntas frequentes
    """
)

# A bare number after one of these names something and is no value.
NUMBERED = _words(
    """
    section step chapter page figure table level severity version no number note annex article item stage tier phase
    part grade room dock gate bay building floor line unit question option form rule zone day week year id
    secao seccao passo capitulo pagina figura tabela nivel versao numero artigo anexo fase parte sala cais doca portao
    """
)
