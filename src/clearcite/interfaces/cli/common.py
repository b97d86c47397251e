"""What commands share: options, identity, settings, and output that runs nothing when it is shown.

Results go to stdout through ``print_json`` and ``say``; everything else goes to stderr through ``note``.
"""

import json
import os
import sys
import unicodedata
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Annotated, Any, Literal, TextIO

from clearcite import wiring
from clearcite.config import FILE_NAME, Settings, load_settings
from clearcite.domain.access import Micros, Principal
from clearcite.domain.corpus import DocumentKey
from clearcite.domain.policy import LOCAL
from clearcite.errors import InputError, did_you_mean
from clearcite.interfaces.cli.commands import Option
from clearcite.wire import loads
from clearcite.wire.convert import to_json
from clearcite.wire.decode import fault_of_name
from clearcite.wire.instants import parse_moment

Format = Literal["text", "json"]

STORE = Annotated[str | None, Option("--store", help="The store's folder (default ./.clearcite).")]
FORMAT = Annotated[str | None, Option("--format", help="text or json (json when piped).")]
AS = Annotated[str | None, Option("--as", help="Who asks: a subject of the policy file.")]
POLICY = Annotated[str | None, Option("--policy", help="The policy file that names subjects.")]
TENANT = Annotated[str | None, Option("--tenant", help="For local use instead of --as: the tenant.")]
GROUP = Annotated[list[str] | None, Option("--group", help="For local use: a group. Repeatable.")]
AS_OF = Annotated[str | None, Option("--as-of", help="Which rules are in force: a date or instant.")]

SOURCE = Annotated[
    str | None, Option("--source", help="Its source, where several have a document of this id.")
]
DEFAULT_SOURCE = "default"

NO_IDENTITY = (
    "Nothing was read: no identity was given. Say who asks with --as NAME (a subject of the policy file),"
    " or for local use with --tenant TENANT --group GROUP."
)

Style = Literal["", "bold", "dim", "red", "green", "yellow", "bold cyan"]
STYLES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "bold cyan": "1;36"}
"""Parameters of the escape sequence that sets a style on a terminal."""


def key_of(settings: Settings, tenant: str, source: str | None, document: str) -> DocumentKey:
    """A document as operators name it, known or not. Raises InputError where several sources have its id and none is
    named."""
    if source is None:
        with closing(wiring.open_ledger(settings)) as ledger, ledger.snapshot() as snapshot:
            found = [key.source_id for key, _ in snapshot.numbers(tenant) if key.document_id == document]
        if len(found) > 1:
            named = ", ".join(found)
            raise InputError(
                f"Several sources have a document with this id: {named}. Choose one with --source."
            )
        source = found[0] if found else DEFAULT_SOURCE
    return DocumentKey(tenant_id=tenant, source_id=source, document_id=document)


def settings_for(store: str | None, **flags: Any) -> Settings:
    """The settings of the current folder; a --store that holds its own clearcite.toml is not consulted."""
    given = dict(flags)
    if store is not None:
        if not store.strip():
            raise InputError("--store needs the name of a folder.")
        given["store"] = str(Path(store).absolute())
    return load_settings(Path(), flags=given)


def principal_for(
    settings: Settings, name: str | None, policy: str | None, tenant: str | None, groups: list[str] | None
) -> Principal:
    """The caller, from the policy file or from explicit flags; never nobody."""
    if name is not None:
        if tenant is not None or groups:
            raise InputError("Use either --as, or --tenant with --group.")
        resolver = wiring.resolver_for(settings, policy)
        try:
            return resolver.resolve(name)
        except InputError as error:
            # Whoever may be anybody here may read the names; an engine that serves others never gives them away.
            if type(error) is not InputError or name in resolver.names():
                raise
            raise InputError(error.message + did_you_mean([name], resolver.names())) from error
    if tenant is None or not groups:
        raise InputError(NO_IDENTITY)
    for option, value in (("--tenant", tenant), *(("--group", group) for group in groups)):
        fault = fault_of_name(value) if value else "must not be empty"
        if fault is not None:
            raise InputError(f"Nothing was read: {option} {fault}.")
    return Principal(
        tenant_id=tenant,
        subject_id="local",
        groups=tuple(sorted(set(groups))),
        authorization_revision=LOCAL,
    )


def operator_for(settings: Settings, name: str | None, policy: str | None) -> Principal:
    """Whoever can read the store's files is its operator; a name, where given, must have the role."""
    if name is not None:
        return principal_for(settings, name, policy, None, None)
    return Principal(
        tenant_id="local",
        subject_id="local",
        groups=("local",),
        authorization_revision=LOCAL,
        roles=("operator",),
    )


MAX_RESPONSE = 16_000_000


def read_bounded(path: Path, limit: int) -> bytes:
    """The bytes of a file a user names, one more than the limit at most."""
    try:
        with path.open("rb") as stream:
            return stream.read(limit + 1)
    except OSError as error:
        raise InputError(f"The file {path} cannot be read: {error.strerror}.") from error


def kept_response(path: Path | None) -> Any:
    """A public response that somebody kept, as JSON; None where none is named."""
    return None if path is None else loads(read_bounded(path, MAX_RESPONSE), max_bytes=MAX_RESPONSE)


def as_of_for(settings: Settings, text: str | None) -> Micros | None:
    if text is None:
        return None
    from clearcite.wire.zones import zone_of  # noqa: PLC0415 - few questions name a day

    try:
        return parse_moment(text, zone_of(settings.zone))
    except InputError as error:
        raise InputError(f"--as-of {error.message}.") from error


def counted(number: int, one: str) -> str:
    """``1 chunk``, ``2 chunks``."""
    return f"{number} {one}" if number == 1 else f"{number} {one}s"


def unlisted_line(place: tuple[str, str], documents: int) -> str:
    """What is said of a source that is not configured any more; ``place``: tenant and source."""
    tenant, source = place
    return (
        f"The source {source} is not in {FILE_NAME} any more and goes on answering (documents: {documents})."
        f" To let them go: clearcite source remove {source} --tenant {tenant}"
    )


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
    """One line of JSON on stdout. What would act on a terminal, or end the line, stands in it as an escape."""
    line = json.dumps(to_json(value), ensure_ascii=False, separators=(",", ":"))
    sys.stdout.write(line.translate(_ESCAPED) + "\n")


def say(text: str = "", style: Style = "") -> None:
    """One line for a person: document text cannot move the cursor, set colours or hide itself."""
    _write(sys.stdout, text, style)


def note(text: str, style: Style = "") -> None:
    """One line on stderr."""
    _write(sys.stderr, text, style)


def _write(stream: TextIO, text: str, style: Style) -> None:
    line = printable(text)
    if style and _has_styles(stream):
        line = f"\x1b[{STYLES[style]}m{line}\x1b[0m"
    stream.write(line + "\n")


def _has_styles(stream: TextIO) -> bool:
    """A terminal that says what it is, of somebody who did not refuse colours."""
    return (
        stream.isatty()
        and os.environ.get("TERM", "dumb") not in ("dumb", "unknown")
        and not os.environ.get("NO_COLOR")
    )


def printable(text: str) -> str:
    """Control and format characters made visible, so that a terminal only shows them."""
    return text.translate(_REPLACED)


class _Table(dict[int, str]):
    """A table for ``str.translate`` that is filled as characters are met."""

    def __init__(self, keep: str, categories: tuple[str, ...], write: Callable[[int], str]) -> None:
        super().__init__((ord(char), char) for char in keep)
        self._categories = categories
        self._write = write

    def __missing__(self, code: int) -> str:
        char = chr(code)
        self[code] = self._write(code) if unicodedata.category(char) in self._categories else char
        return self[code]


_JOINERS = "\u200c\u200d"
"""Scripts need them to be read; they act on nothing."""

_REPLACED = _Table("\t\n" + _JOINERS, ("Cc", "Cf", "Cs", "Co"), lambda _: "\N{REPLACEMENT CHARACTER}")
_ESCAPED = _Table(_JOINERS, ("Cc", "Cf", "Cs", "Co", "Zl", "Zp"), lambda code: json.dumps(chr(code))[1:-1])
