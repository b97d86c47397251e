"""What is known of each language: its stemmer, its stop words, and the words that only ask.

Word lists hold folded words: lower case, no accents, a straight apostrophe. The stop words follow the
Snowball lists. A language without a list here cannot be configured.
"""

from collections.abc import Mapping
from types import MappingProxyType

STEMMERS: Mapping[str, str] = MappingProxyType({"en": "english", "pt": "portuguese", "es": "spanish"})

_EN = """
i me my myself we our ours ourselves you your yours yourself yourselves he him his himself she her hers
herself it its itself they them their theirs themselves what which who whom this that these those am is
are was were be been being have has had having do does did doing would should could ought i'm you're he's
she's it's we're they're i've you've we've they've i'd you'd he'd she'd we'd they'd i'll you'll he'll
she'll we'll they'll isn't aren't wasn't weren't hasn't haven't hadn't doesn't don't didn't won't
wouldn't shan't shouldn't can't cannot couldn't mustn't let's that's who's what's here's there's when's
where's why's how's a an the and but if or because as until while of at by for with about against between
into through during before after above below to from up down in out on off over under again further then
once here there when where why how all any both each few more most other some such no nor not only own
same so than too very can will just
"""

_PT = """
de a o que e do da em um para com nao uma os no se na por mais as dos como mas ao ele das tem seu sua ou
ser quando muito nos ja esta eu tambem so pelo pela ate isso ela entre era depois sem mesmo aos ter seus
quem nas me esse eles estao voce voces tinha foram essa num nem suas meu minha tera numa pelos elas havia
seja qual sera tenho lhe deles essas esses pelas este fosse dele tu te lhes meus minhas teu tua teus tuas
nosso nossa nossos nossas dela delas esta estes estas aquele aquela aqueles aquelas isto aquilo estou
estamos estao estive esteve estivemos estiveram estava estavamos estavam esteja estejamos estejam hei ha
havemos hao houve houvemos houveram haja hajamos hajam sou somos sao eramos eram fui foi fomos sejamos
sejam for formos forem serei seremos serao seria seriamos seriam temos tinhamos tinham tive teve tivemos
tiveram tenha tenhamos tenham tiver terei teremos terao teria teriamos teriam quais onde porque cada
quanto quanta quantos quantas aonde
"""

_ES = """
de la que el en y a los del se las por un para con no una su al lo como mas pero sus le ya o este si
porque esta entre cuando muy sin sobre tambien me hasta hay donde quien desde todo nos durante todos uno
les ni contra otros ese eso ante ellos e esto mi antes algunos unos yo otro otras otra el tanto esa estos
mucho quienes nada muchos cual poco ella estar estas algunas algo nosotros mis tu tus te ti tuyo suyo
nuestro nuestra vuestro es soy eres somos sois son sea sean sera seran seria fue fueron era eran siendo
estoy estan estaba estaban ha han he hemos habia haber tiene tienen tenia
"""

# Stop words that are names when written like this: information technology, World Health Organization.
ACRONYMS = frozenset(("IT", "WHO", "OS", "AM"))

# Words that ask: no document has to contain them to answer.
_ASK_EN = """
who whom whose what which when where why how many much please do does did is are was were can could would
should may might
"""
_ASK_PT = """
quem que qual quais quando onde aonde como quanto quanta quantos quantas por porque favor pode podem
podemos posso
"""
_ASK_ES = """
quien quienes que cual cuales cuando donde adonde como cuanto cuanta cuantos cuantas por porque favor
puede pueden puedo
"""

# Requests, empty only at the start of a question: "list the mailing lists".
_OPEN_EN = "tell me show give explain describe list name find i we want need know like"
_OPEN_PT = "diga mostre explique descreva liste cite quero queria preciso gostaria saber"
_OPEN_ES = "diga dime muestra muestre explique explica describa liste quiero necesito saber"

# What follows "how" and belongs to it: "how long are jobs kept", "há quanto tempo".
_HOW_EN = "many much long often far old soon big large fast quickly late early"
_HOW_PT = "tempo vezes"
_HOW_ES = "tiempo veces"

# What follows "what" and belongs to it: "at what time", "a que horas".
_WHAT_EN = "time"
_WHAT_PT = "hora horas"
_WHAT_ES = "hora"


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


STOP_WORDS: Mapping[str, frozenset[str]] = MappingProxyType(
    {"en": _words(_EN), "pt": _words(_PT), "es": _words(_ES)}
)

QUESTION_WORDS: Mapping[str, frozenset[str]] = MappingProxyType(
    {"en": _words(_ASK_EN), "pt": _words(_ASK_PT), "es": _words(_ASK_ES)}
)
OPENING_WORDS: Mapping[str, frozenset[str]] = MappingProxyType(
    {"en": _words(_OPEN_EN), "pt": _words(_OPEN_PT), "es": _words(_OPEN_ES)}
)
HOW_WORDS: Mapping[str, frozenset[str]] = MappingProxyType(
    {"en": _words(_HOW_EN), "pt": _words(_HOW_PT), "es": _words(_HOW_ES)}
)
WHAT_WORDS: Mapping[str, frozenset[str]] = MappingProxyType(
    {"en": _words(_WHAT_EN), "pt": _words(_WHAT_PT), "es": _words(_WHAT_ES)}
)
ASKS_WHAT = _words("what que")
ASKS_HOW = _words("how quanto quanta quantos quantas cuanto cuanta cuantos cuantas")

# Particles and question words of Chinese and Japanese; they are matched but never needed in an answer.
UNSPACED_PARTICLES = frozenset("的了是在吗呢吧和与及或有把被就都也哪谁のはがをにでとも")
UNSPACED_QUESTIONS = _words(
    "什么 怎么 怎样 如何 多少 多久 多长 哪个 哪些 哪里 何时 为何 为什 几个 请问 です ます いつ どこ 何時 何日"
)
