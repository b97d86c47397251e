"""Does a question ask for the state of something this very moment, which no document can hold?

Two cues together make it so: one's *own* thing (``my``, ``our``, "that I ordered"), and a question about *where it
is or how far it got* (``where is``, ``status of``, ``arrived yet``). One cue alone does not: "Where is my data
stored?" asks for a rule, so ``where is`` must not be followed by a passive. General words only; a host adds phrases
of its own (``[routes]`` in clearcite.toml), or states the route outright.
"""

from clearcite.text.phrases import PhraseSet, folded_words

_OWN = frozenset(
    {"my", "mine", "our", "ours", "meu", "minha", "meus", "minhas", "nosso", "nossa", "nossos", "nossas"}
)
_OWN_BY_DEED = PhraseSet(
    (
        "i ordered", "we ordered", "i bought", "we bought", "i placed", "we placed", "i requested", "we requested",
        "i booked", "we booked", "i was promised", "we were promised", "i paid for", "we paid for",
        "i am waiting", "we are waiting", "i m waiting", "we re waiting", "still waiting",
        "encomendei", "encomendamos", "comprei", "compramos", "pedi", "pedimos", "estou a espera", "estamos a espera",
    )
)  # fmt: skip
_PLACE = PhraseSet(
    ("where is", "where are", "where s", "wheres", "whereabouts", "onde esta", "onde estao", "onde anda",
     "onde andam", "por onde anda", "onde fica agora", "what happened to", "que aconteceu")
)  # fmt: skip
_PROGRESS = PhraseSet(
    (
        "status of", "current status", "state of", "track", "tracking", "eta", "how far", "how far along",
        "on its way", "on the way", "on their way", "in transit", "out for delivery", "arrived yet", "shipped yet",
        "left yet", "here yet", "come yet", "gone out", "been sent", "been shipped", "been dispatched",
        "been delivered", "been processed", "been approved", "get here", "got here", "get to me", "get to us",
        "reach me", "reach us", "going to arrive", "will arrive", "has arrived", "have arrived", "turn up",
        "show up", "showed up", "estado da", "estado do", "ponto de situacao", "ja chegou", "ja saiu",
        "ja foi enviada", "ja foi enviado", "ja vem", "vai chegar", "quando chega", "a caminho", "falta muito",
    )
)  # fmt: skip
_HAS_IT = frozenset(["has", "have", "did", "is", "are", "already", "yet", "ja"])
_MOVED = frozenset(
    {
        "shipped", "arrived", "dispatched", "delivered", "left", "sent", "landed", "cleared", "departed",
        "chegou", "saiu", "partiu", "enviada", "enviado", "entregue", "despachada", "despachado",
    }
)  # fmt: skip
_ASKED_OF = frozenset({"did", "will"})
_MOVE = frozenset({"arrive", "ship", "come", "land", "clear", "depart"})
_NOW = PhraseSet(
    (
        "right now", "at the moment", "at this moment", "this very moment", "this minute", "this second", "as we speak",
        "as of now", "neste momento", "neste instante", "agora mesmo",
    )
)  # fmt: skip
_HOW_TO = PhraseSet(
    ("how do i", "how do we", "how can i", "how can we", "how to", "how should", "in advance", "what happens",
     "como posso", "como podemos", "o que acontece")
)  # fmt: skip
_RULE = frozenset(
    {
        "stored",
        "office",
        "policy",
        "handbook",
        "settings",
        "kept",
        "saved",
        "hosted",
        "listed",
        "shown",
        "located",
        "published",
        "configured",
        "guardados",
    }
)


def asks_for_live_state(question: str) -> bool:
    """Whether the words of a question ask where one's own thing is, or how far it got."""
    words = frozenset(folded_words(question))
    own = bool(words & _OWN) or _OWN_BY_DEED.found_in(question)
    if not own or words & _RULE or _HOW_TO.found_in(question):
        return False
    moved = bool(words & _MOVED and words & _HAS_IT) or bool(words & _MOVE and words & _ASKED_OF)
    return moved or _PLACE.found_in(question) or _PROGRESS.found_in(question) or _NOW.found_in(question)
