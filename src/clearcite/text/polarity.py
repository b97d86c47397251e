"""What a text affirms or denies: negations, and words that come in opposite pairs."""

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType

from clearcite.text.tokens import fold

_NEGATING = (
    r"\w+n['’]t|not|cannot|never|none|neither|nor|without|nothing|nobody"
    r"|não|nunca|jamais|nem|nenhum|nenhuma|sem|nada|ninguém"
)
_NEGATION = re.compile(rf"\b(?:{_NEGATING}|no(?!\.?\s*\d))\b", re.IGNORECASE)
# In Portuguese, "no" is "in the".
_NEGATION_PT = re.compile(rf"\b(?:{_NEGATING})\b", re.IGNORECASE)
# A negation reaches this many words to the right: "is not currently enabled".
_REACH = 3

# pair: words that affirm it / words that deny it
_PAIRS = """
allowed: allowed permitted allow allows permit permits authorized authorised permitido permitida permitidos
    permitidas autorizado autorizada
    / forbidden prohibited disallowed banned denied forbid forbids prohibit prohibits unauthorized proibido
    proibida proibidos proibidas vedado vedada negado negada
enabled: enabled enable enables activated ativado ativada habilitado habilitada
    / disabled disable disables deactivated desativado desativada desabilitado desabilitada
required: required mandatory compulsory requires obrigatorio obrigatoria obrigatorios obrigatorias exigido
    exigida / optional unnecessary opcional opcionais facultativo facultativa dispensado dispensada
supported: supported supports suportado suportada / unsupported deprecated obsolete obsoleto obsoleta
available: available disponivel disponiveis / unavailable indisponivel indisponiveis
included: included includes incluido incluida inclui / excluded excludes excluido excluida exclui
valid: valid valido valida / invalid expired invalido invalida expirado expirada
active: active ativo ativa / inactive inativo inativa
true: true yes verdadeiro sim / false falso
eligible: eligible elegivel elegiveis / ineligible inelegivel inelegiveis
increases: increases increased increase aumenta aumentou
    / decreases decreased decrease reduces reduced reduce diminui diminuiu reduz reduziu
encrypted: encrypted criptografado criptografada / unencrypted plaintext
"""


def _states(table: str) -> Mapping[str, tuple[str, bool]]:
    states: dict[str, tuple[str, bool]] = {}
    for name, sides in re.findall(r"^(\w+):([^:]*)$(?!\n    )", table, re.MULTILINE):
        affirming, denying = sides.split("/")
        states |= dict.fromkeys(affirming.split(), (name, True))
        states |= dict.fromkeys(denying.split(), (name, False))
    return MappingProxyType(states)


_STATES = _states(_PAIRS)
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")


def _negation(language: str) -> re.Pattern[str]:
    return _NEGATION_PT if language == "pt" else _NEGATION


def find_negations(text: str, language: str) -> Iterator[tuple[str, int, int]]:
    """(folded word, start, end) of each negation."""
    for match in _negation(language).finditer(text):
        yield fold(match.group()), match.start(), match.end()


def find_states(text: str, language: str) -> Iterator[tuple[str, str, int, int]]:
    """(pair, "yes" or "no", start, end): ``not enabled`` and ``disabled`` both give ("enabled", "no")."""
    words = list(_WORD.finditer(text))
    for i, match in enumerate(words):
        state = _STATES.get(fold(match.group()))
        if state is None:
            continue
        before = words[max(0, i - _REACH) : i]
        clause = text[before[0].start() : match.start()] if before else ""
        negations = len(_negation(language).findall(re.split(r"[.;:!?,]", clause)[-1]))
        affirmed = state[1] if negations % 2 == 0 else not state[1]
        yield state[0], "yes" if affirmed else "no", match.start(), match.end()
