"""YAML front matter: read leniently in what it may say, strictly in what it may do.

Every scalar stays the text that was written (``3.10`` is not a number, ``2024-01-01`` not a date object,
``no`` not a boolean); aliases, duplicate keys and deep nesting are refused.
"""

import re
from typing import Any

import yaml

from clearcite.errors import DuplicateKey, InputError, TooLarge
from clearcite.wire.strict import shown

MAX_CHARACTERS = 64_000
_MAX_DEPTH = 8
_FENCE = "---"
_OPENING = re.compile(r"((?:[ \t]*\n)*)---[ \t]*\n")
_KEY = re.compile(r"[A-Za-z_][\w-]*[ \t]*:(?:\s|\Z)")
_LOADER: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)


def split_front_matter(text: str) -> tuple[str, int]:
    """The YAML between the fences, and where the body begins; ("", 0) when there is none.

    Spaces after the fence and blank lines before it do not make an access list disappear, and neither does a
    fence that is never closed: that one is an InputError. A rule across the page is no fence.
    """
    start = _opening(text)
    if start is None:
        return "", 0
    at = start
    while at < len(text):
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        if text[at:end].rstrip() in (_FENCE, "..."):
            return text[start:at], min(end + 1, len(text))
        at = end + 1
    if _KEY.match(text, start):
        raise InputError("the front matter is not closed: a line with --- is missing after it")
    return "", 0


def body_of(text: str) -> str:
    """The text after its front matter; the whole text where a second one would follow, for whoever reads it next
    would take that one away too."""
    body = text[split_front_matter(text)[1] :]
    return text if split_front_matter(body)[1] else body


def _opening(text: str) -> int | None:
    """Where the line after the opening fence begins."""
    match = _OPENING.match(text)
    if match is None or (match.group(1) and not _KEY.match(text, match.end())):
        return None
    return match.end()


def read_front_matter(source: str, most: int = MAX_CHARACTERS) -> dict[str, Any]:
    """The mapping it holds: strings, lists and mappings only. Raises InputError for anything else."""
    if len(source) > most:
        raise TooLarge(f"the front matter is longer than {most} characters")
    try:
        node = yaml.compose(source, Loader=_LOADER)
        value = _plain(node, 0, set()) if node is not None else {}
    except (yaml.YAMLError, RecursionError, ValueError):
        raise InputError("the front matter is not valid YAML") from None
    if not isinstance(value, dict):
        raise InputError("the front matter must be a list of keys with values")
    return value


def _plain(node: Any, depth: int, seen: set[int]) -> Any:
    if id(node) in seen:
        raise InputError("the front matter uses aliases, which are not accepted")
    if depth > _MAX_DEPTH:
        raise TooLarge(f"the front matter is nested deeper than {_MAX_DEPTH} levels")
    seen.add(id(node))
    if isinstance(node, yaml.ScalarNode):
        return node.value
    if isinstance(node, yaml.SequenceNode):
        return [_plain(item, depth + 1, seen) for item in node.value]
    result: dict[str, Any] = {}
    for key_node, value_node in node.value:
        key = _plain(key_node, depth + 1, seen)
        if not isinstance(key, str):
            raise InputError("a key of the front matter is not text")
        if key in result:
            raise DuplicateKey(f"the front matter names {shown(key)} twice")
        result[key] = _plain(value_node, depth + 1, seen)
    return result
