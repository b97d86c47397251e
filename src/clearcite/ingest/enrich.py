"""What is derived or noticed: a title from a file name, flags. A flag alone never hides a document."""

import re

from clearcite.text.forms import hidden_spans, search_text

_EXTENSION = re.compile(r"\.[A-Za-z]{1,8}\Z")

# Addressed to a machine that reads, in the languages shipped. Verb, then what it is told to drop or show.
_INSTRUCTION = re.compile(
    r"\b(?:ignore|disregard|forget|override|bypass)\s+(?:\w+\s+){0,3}?"
    r"(?:previous|prior|above|earlier|preceding|system|all|any|your)\s+(?:\w+\s+){0,2}?"
    r"(?:instructions?|rules?|prompts?|guidelines?|directions?|context|commands?)\b"
    r"|\b(?:ignore|desconsidere|esque[çc]a|ignora|olvida)\s+(?:\w+\s+){0,3}?"
    r"(?:instru[çc][õo]es|instrucciones|regras|reglas|orienta[çc][õo]es|comandos)\b"
    r"|\b(?:reveal|print|show|repeat|exporte|revele)\s+(?:\w+\s+){0,2}?"
    r"(?:system prompt|hidden prompt|your instructions|credenciais|credentials)\b"
    r"|\byou are now\s+(?:an?|the|in)\b|\bact as (?:an?|the) (?:unrestricted|jailbroken|different)\b"
    r"|\bdo not (?:tell|inform|mention (?:this|it) to) the user\b|<\|?(?:im_start|system|endoftext)\|?>"
)
# One of these stands in every match; looking for them first is ten times faster.
_TRIGGERS = (
    *("ignor", "disregard", "forget", "override", "bypass", "desconsider", "esque", "olvida"),
    *("prompt", "creden", "your instructions", "you are now", "act as", "the user"),
    *("im_start", "endoftext", "<system", "<|system"),
)


def chunk_flags(text: str) -> tuple[str, ...]:
    """``hidden_text``: characters that a model reads and a person does not see; ``instruction_like``."""
    flags: list[str] = []
    if hidden_spans(text):
        flags.append("hidden_text")
    if is_instruction_like(text):
        flags.append("instruction_like")
    return tuple(flags)


def is_instruction_like(text: str) -> bool:
    """Whether a text gives orders to a machine that reads it. A hint for reviewers, not a defence."""
    form = search_text(text)
    for trigger in _TRIGGERS:
        if trigger in form:
            return _INSTRUCTION.search(form) is not None
    return False


def derive_title(document_id: str) -> str:
    """When neither source nor text gives a title: ``guides/user-login.md`` → ``user login``."""
    name = document_id.rstrip("/").rsplit("/", 1)[-1]
    stem = _EXTENSION.sub("", name) or name
    return " ".join(re.split(r"[\s_-]+", stem)).strip() or document_id
