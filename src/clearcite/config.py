"""Settings: defaults < ``clearcite.toml`` < ``CLEARCITE_*`` < flags. An unknown key is refused.

Every value remembers where it came from, and the whole has a canonical hash that stands in each trace.
Tables: ``[store]``, ``[policy]``, ``[text]``, ``[answer]``, ``[limits]``, ``[sync]``, ``[retention]`` hold single
values; ``[synonyms]`` and ``[routes]`` hold lists of words; ``[[sources]]`` describes folders, feeds and repositories,
``[[collections]]`` lists of paths.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any, TypeVar

from msgspec import Struct, field
from msgspec.structs import replace

from clearcite.domain.access import Acl, Micros, Status
from clearcite.domain.digest import digest
from clearcite.errors import ConfigError, did_you_mean

Described = TypeVar("Described", "SourceSettings", "CollectionSettings")

FILE_NAME = "clearcite.toml"
PREFIX = "CLEARCITE_"
_MOMENTS = ("effective_from", "effective_to", "effective_through")
_UNITS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}


class SourceSettings(Struct, frozen=True, kw_only=True):
    """A source, and what it gives to documents that say nothing themselves.

    ``kind``: ``git`` for a repository; else the path tells a folder, a single file and a feed (.jsonl).
    ``folder`` and ``ref``: which part of a repository, and which branch, tag or commit of it. ``history``: questions
    about the past are answered from the revisions that were current then.
    """

    path: str
    kind: str = ""
    folder: str = ""
    ref: str = "HEAD"
    tenant: str = "default"
    source_id: str = "default"
    allowed_groups: tuple[str, ...] = ()
    denied_groups: tuple[str, ...] = ()
    parent: str | None = None
    status: Status = "published"
    source_type: str = "documentation"
    authority: int = 50
    trusted: bool = True
    history: bool = False
    language: str | None = None
    product_version: str | None = None
    effective_from: str | None = None
    effective_to: str | None = None
    effective_through: str | None = None
    zone: str = "UTC"


class CollectionSettings(Struct, frozen=True, kw_only=True):
    """The list of one path of collections. Exactly one of ``allowed_groups``, ``nobody`` and ``unrestricted``."""

    path: str
    tenant: str = "default"
    allowed_groups: tuple[str, ...] = ()
    denied_groups: tuple[str, ...] = ()
    nobody: bool = False
    unrestricted: bool = False

    @property
    def acl(self) -> Acl:
        allow = None if self.unrestricted else tuple(sorted(set(self.allowed_groups)))
        return Acl(allow=allow, deny=tuple(sorted(set(self.denied_groups))))


class Settings(Struct, frozen=True, kw_only=True):
    """``deadline_ms``: for one question. ``depth``: confirmed passages a leg. ``semantic``: auto, on or off.

    ``evidence_limit`` and ``evidence_chars`` bound what the writer sees. ``answer_words`` bounds the claims
    together. ``policy_command``: a program that prints the policy; ``policy_max_age``: such as ``24h``, how old the
    policy in force may be; empty means any age. ``max_deletions`` and ``max_deletion_share`` (percent of a source's
    documents): more deletes than both wait for an approval, and so do those of all of several. ``keep_*``: days until
    ``sweep`` erases the content of deleted documents, older revisions and traces; 0 keeps them for ever.
    """

    store: str = ".clearcite"
    policy: str = ""
    policy_command: tuple[str, ...] = ()
    policy_timeout: int = 60
    policy_max_age: str = ""
    languages: tuple[str, ...] = ("en", "pt")
    zone: str = "UTC"
    semantic: str = "auto"
    model_path: str = ""
    depth: int = 100
    evidence_limit: int = 8
    evidence_chars: int = 12_000
    answer_words: int = 100
    claims: int = 3
    deadline_ms: int = 30_000
    max_document_bytes: int = 10_000_000
    allow_past: bool = True
    keep_deleted: int = 0
    keep_revisions: int = 0
    keep_traces: int = 0
    max_deletions: int = 20
    max_deletion_share: int = 20
    synonyms: tuple[tuple[str, tuple[str, ...]], ...] = ()
    tool_required: tuple[str, ...] = ()
    sources: tuple[SourceSettings, ...] = ()
    collections: tuple[CollectionSettings, ...] = ()
    base: str = "."
    origins: Mapping[str, str] = field(default_factory=dict)

    def hash(self) -> str:
        """Over what can change an answer; paths and origins cannot."""
        skipped = {"store", "model_path", "base", "origins", "sources", "collections"}
        skipped |= {"policy", "policy_command", "policy_timeout", "policy_max_age"}
        skipped |= {"keep_deleted", "keep_revisions", "keep_traces"}
        skipped |= {"max_deletions", "max_deletion_share"}
        parts: list[str] = []
        for name in self.__struct_fields__:
            if name not in skipped:
                parts += [name, repr(getattr(self, name))]
        return digest("settings", *parts)

    @property
    def policy_age(self) -> Micros | None:
        """The greatest age of the policy in force, in microseconds; None for any."""
        return _duration(self.policy_max_age) if self.policy_max_age else None

    def path(self, value: str) -> Path:
        """A configured path; relative ones are relative to the file that names them."""
        return Path(self.base) / value


SINGLE: dict[str, tuple[str, str]] = {
    "store": ("store", "path"),
    "policy": ("store", "policy"),
    "policy_command": ("policy", "command"),
    "policy_timeout": ("policy", "timeout"),
    "policy_max_age": ("policy", "max_age"),
    "languages": ("text", "languages"),
    "zone": ("text", "zone"),
    "semantic": ("text", "semantic"),
    "model_path": ("text", "model_path"),
    "depth": ("answer", "depth"),
    "evidence_limit": ("answer", "evidence_limit"),
    "evidence_chars": ("answer", "evidence_chars"),
    "answer_words": ("answer", "answer_words"),
    "claims": ("answer", "claims"),
    "deadline_ms": ("limits", "deadline_ms"),
    "max_document_bytes": ("limits", "max_document_bytes"),
    "allow_past": ("limits", "allow_past"),
    "max_deletions": ("sync", "max_deletions"),
    "max_deletion_share": ("sync", "max_deletion_share"),
    "keep_deleted": ("retention", "deleted_days"),
    "keep_revisions": ("retention", "revisions_days"),
    "keep_traces": ("retention", "traces_days"),
}
"""Setting → (table, key) in clearcite.toml; the environment variable is CLEARCITE_ + the setting's name."""

_VALUES = ("store", "policy", "text", "answer", "limits", "sync", "retention")
TABLES = (*_VALUES, "synonyms", "routes", "sources", "collections")


def load_settings(
    folder: Path | None = None, env: Mapping[str, str] | None = None, flags: Mapping[str, Any] | None = None
) -> Settings:
    """Read the settings that hold for a folder (its ``clearcite.toml`` is optional)."""
    folder = folder or Path()
    values: dict[str, Any] = {"base": str(folder)}
    origins: dict[str, str] = {}
    file = folder / FILE_NAME
    if file.is_file():
        found = read_file(file)
        values |= found
        origins |= dict.fromkeys(found, FILE_NAME)
    found = _read_environment(os.environ if env is None else env)
    values |= found
    origins |= {name: PREFIX + name.upper() for name in found}
    given = {name: value for name, value in (flags or {}).items() if value is not None}
    values |= given
    origins |= dict.fromkeys(given, "flag")
    settings = Settings(**values, origins=origins)
    check_settings(settings)
    return settings


def read_file(file: Path) -> dict[str, Any]:
    """The settings that a file gives, by their names. Raises ConfigError."""
    try:
        raw = tomllib.loads(file.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{FILE_NAME} is not valid TOML: {error}.") from error
    except (OSError, ValueError, RecursionError) as error:
        raise ConfigError(f"{FILE_NAME} cannot be read: {type(error).__name__}.") from error
    unknown = sorted(set(raw) - set(TABLES))
    values: dict[str, Any] = {}
    for table in _VALUES:
        names = {key: name for name, (where, key) in SINGLE.items() if where == table}
        section = _table(raw, table)
        unknown += [f"{table}.{key}" for key in section if key not in names]
        for key, value in section.items():
            if key in names:
                values[names[key]] = _typed(f"{table}.{key}", names[key], value)
    if unknown:
        known = (*TABLES, *(".".join(place) for place in SINGLE.values()))
        raise ConfigError(
            f"{FILE_NAME} has unknown keys: {', '.join(unknown)}.{did_you_mean(unknown, known)}"
        )
    if "synonyms" in raw:
        values["synonyms"] = _synonyms(_table(raw, "synonyms"))
    if "routes" in raw:
        values["tool_required"] = _routes(_table(raw, "routes"))
    if "sources" in raw:
        items = _list("sources", raw["sources"])
        values["sources"] = tuple(_described(SourceSettings, "sources", item) for item in items)
    if "collections" in raw:
        values["collections"] = _collections(_list("collections", raw["collections"]))
    return values


def _read_environment(env: Mapping[str, str]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for key, text in env.items():
        name = key[len(PREFIX) :].lower() if key.startswith(PREFIX) else ""
        if name in SINGLE:
            values[name] = _typed(key, name, _from_text(name, text))
    return values


def _from_text(name: str, text: str) -> Any:
    default = getattr(Settings(), name)
    if isinstance(default, bool):
        return {"true": True, "1": True, "false": False, "0": False}.get(text.lower(), text)
    if isinstance(default, int):
        return int(text) if text.isascii() and text.isdigit() else text
    if isinstance(default, tuple):
        return [part.strip() for part in text.split(",") if part.strip()]
    return text


def _typed(where: str, name: str, value: Any) -> Any:
    default = getattr(Settings(), name)
    if isinstance(default, tuple):
        return tuple(_words(where, value))
    if type(value) is not type(default):
        raise ConfigError(f"{where} must be of type {type(default).__name__}.")
    return value


def _table(raw: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    section = raw.get(name, {})
    if not isinstance(section, dict):
        raise ConfigError(f"[{name}] in {FILE_NAME} must be a table.")
    return section


def _list(where: str, value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise ConfigError(f"{where} in {FILE_NAME} must be a list.")
    return value


def _words(where: str, value: Any) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(item, str) and item.strip() for item in value):
        raise ConfigError(f"{where} must be a list of words.")
    return value


def _synonyms(section: Mapping[str, Any]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    return tuple((word, tuple(_words(f"synonyms.{word}", section[word]))) for word in sorted(section))


def _routes(section: Mapping[str, Any]) -> tuple[str, ...]:
    unknown = sorted(set(section) - {"tool_required"})
    if unknown:
        raise ConfigError(f"{FILE_NAME} has unknown routes: {', '.join(unknown)}.")
    return tuple(_words("routes.tool_required", section.get("tool_required", [])))


def _described(kind: type[Described], table: str, item: Any) -> Described:
    """One entry of an array of tables; each has a path."""
    if not isinstance(item, dict) or not isinstance(item.get("path"), str):
        raise ConfigError(f"Each [[{table}]] in {FILE_NAME} needs a path.")
    plain: Any = kind(path=item["path"])
    known = set(kind.__struct_fields__)
    unknown = sorted(set(item) - known)
    if unknown:
        hint = did_you_mean(unknown, known)
        raise ConfigError(f"[[{table}]] in {FILE_NAME} has unknown keys: {', '.join(unknown)}.{hint}")
    values: dict[str, Any] = {}
    for key, given in item.items():
        default = getattr(plain, key)
        value = given.isoformat() if isinstance(given, date) and key in _MOMENTS else given
        if isinstance(default, tuple):
            values[key] = tuple(_words(f"{table}.{key}", value))
        elif isinstance(value, str if default is None else type(default)) and not (
            isinstance(value, bool) and not isinstance(default, bool)
        ):
            values[key] = value
        else:
            raise ConfigError(f"{table}.{key} in {FILE_NAME} has the wrong type.")
    if values.get("kind", "") not in ("", "git"):
        raise ConfigError(f'{table}.kind in {FILE_NAME} is "git" or left out.')
    described: Described = replace(plain, **values)
    return described


def _collections(items: list[Any]) -> tuple[CollectionSettings, ...]:
    found: dict[tuple[str, str], CollectionSettings] = {}
    for item in items:
        one = _described(CollectionSettings, "collections", item)
        if ("allowed_groups" in item) + one.nobody + one.unrestricted != 1:
            raise ConfigError(
                f"The collection {one.path} needs exactly one of allowed_groups, nobody = true and unrestricted = true."
            )
        if "allowed_groups" in item and not one.allowed_groups:
            raise ConfigError(f"The collection {one.path} allows no group; write nobody = true.")
        if (one.tenant, one.path) in found:
            raise ConfigError(
                f"The collection {one.path} of the tenant {one.tenant} stands twice in {FILE_NAME}."
            )
        found[one.tenant, one.path] = one
    return tuple(found.values())


def _duration(text: str) -> Micros:
    """``90s``, ``15m``, ``24h`` or ``7d`` in microseconds."""
    number, unit = text[:-1], text[-1:]
    if (
        not (number.isascii() and number.isdigit())
        or len(number) > 6
        or unit not in _UNITS
        or not int(number)
    ):
        raise ConfigError("policy.max_age must be a duration such as 90s, 15m, 24h or 7d.")
    return int(number) * _UNITS[unit] * 1_000_000


def check_settings(settings: Settings) -> None:
    """Raises ConfigError for values that cannot be."""
    _ = settings.policy_age  # refused here if it is none
    if settings.semantic not in ("auto", "on", "off"):
        raise ConfigError("text.semantic must be auto, on or off.")
    if not settings.languages:
        raise ConfigError("text.languages must name at least one language.")
    counts = ("depth", "evidence_limit", "evidence_chars", "answer_words", "claims")
    for name in (*counts, "deadline_ms", "policy_timeout"):
        if getattr(settings, name) < 1:
            raise ConfigError(f"{name} must be at least 1.")
    for name in ("keep_deleted", "keep_revisions", "keep_traces"):
        if getattr(settings, name) < 0:
            raise ConfigError(f"{'.'.join(SINGLE[name])} must be a number of days; 0 keeps for ever.")
    if settings.max_deletions < 0 or not 0 <= settings.max_deletion_share <= 100:
        raise ConfigError("max_deletions must be at least 0, and max_deletion_share from 0 to 100.")
