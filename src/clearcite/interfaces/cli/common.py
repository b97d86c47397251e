"""What commands share: options, identity, settings, and output that runs nothing when it is shown."""

import json
import sys
import unicodedata
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich.console import Console
from rich.text import Text

from clearcite.config import Settings, load_settings
from clearcite.domain.access import Micros, Principal
from clearcite.errors import InputError
from clearcite.wire import to_json
from clearcite.wire.instants import parse_moment, zone_of
from clearcite.wiring import resolver_for

Format = Literal["text", "json"]

STORE = Annotated[str | None, typer.Option("--store", help="The store's folder (default ./.clearcite).")]
FORMAT = Annotated[str | None, typer.Option("--format", help="text or json (json when piped).")]
AS = Annotated[str | None, typer.Option("--as", help="Who asks: a subject of the policy file.")]
POLICY = Annotated[str | None, typer.Option("--policy", help="The policy file that names subjects.")]
TENANT = Annotated[str | None, typer.Option("--tenant", help="For local use instead of --as: the tenant.")]
GROUP = Annotated[list[str] | None, typer.Option("--group", help="For local use: a group. Repeatable.")]
AS_OF = Annotated[str | None, typer.Option("--as-of", help="Which rules are in force: a date or instant.")]

NO_IDENTITY = (
    "Nothing was read: no identity was given. Say who asks with --as NAME (a subject of the policy file),"
    " or for local use with --tenant TENANT --group GROUP."
)

out = Console(highlight=False)
err = Console(stderr=True, highlight=False)


def settings_for(store: str | None, **flags: Any) -> Settings:
    """The settings of the current folder; a --store that holds its own clearcite.toml is not consulted."""
    given = dict(flags)
    if store is not None:
        given["store"] = str(Path(store).absolute())
    return load_settings(Path(), flags=given)


def principal_for(
    settings: Settings, name: str | None, policy: str | None, tenant: str | None, groups: list[str] | None
) -> Principal:
    """The caller, from the policy file or from explicit flags; never nobody."""
    if name is not None:
        if tenant is not None or groups:
            raise InputError("Use either --as, or --tenant with --group.")
        return resolver_for(settings, policy).resolve(name)
    if tenant is None or not groups:
        raise InputError(NO_IDENTITY)
    if any(not group.strip() for group in (tenant, *groups)):
        raise InputError("A tenant or group may not be empty.")
    return Principal(
        tenant_id=tenant,
        subject_id="local",
        groups=tuple(sorted(set(groups))),
        authorization_revision="local",
    )


def as_of_for(settings: Settings, text: str | None) -> Micros | None:
    return None if text is None else parse_moment(text, zone_of(settings.zone))


def chosen_format(given: str | None) -> Format:
    """``text`` on a terminal, ``json`` when piped, unless told."""
    if given is None:
        return "text" if sys.stdout.isatty() else "json"
    if given == "text":
        return "text"
    if given == "json":
        return "json"
    raise InputError("--format is text or json.")


def print_json(value: Any) -> None:
    """One line of JSON on stdout."""
    sys.stdout.write(json.dumps(to_json(value), ensure_ascii=False, separators=(",", ":")) + "\n")


def say(text: str = "", style: str = "") -> None:
    """One line for a person: document text cannot move the cursor, set colours or hide itself."""
    out.print(Text(printable(text), style=style), soft_wrap=not out.is_terminal)


def printable(text: str) -> str:
    """Control and format characters made visible, so that a terminal only shows them."""
    return "".join(char if char == "\n" or not _acts(char) else "\N{REPLACEMENT CHARACTER}" for char in text)


def _acts(char: str) -> bool:
    return unicodedata.category(char) in ("Cc", "Cf", "Cs", "Co") and char not in ("\t", "\u200c", "\u200d")
