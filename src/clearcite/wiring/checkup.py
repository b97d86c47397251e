"""``doctor``, ``status`` and ``migrate``: what works here, and the command that mends what does not."""

import platform
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, Literal

import apsw
from msgspec import Struct
from msgspec.structs import replace

from clearcite.adapters.connectors.git_repository import INSTALL_GIT, git_version
from clearcite.adapters.embedders.minilm import INSTALL_MODEL, MiniLM
from clearcite.adapters.ledgers.connection import check_library
from clearcite.adapters.ledgers.migrate import migrate, migrations
from clearcite.adapters.ledgers.sqlite import open_sqlite_ledger
from clearcite.adapters.parsers.child import ChildParser
from clearcite.adapters.traces.sqlite import SCRIPTS as TRACE_SCRIPTS
from clearcite.config import FILE_NAME, Settings
from clearcite.errors import (
    ClearciteError,
    DependencyUnavailable,
    IntegrityFault,
    MissingExtra,
    PolicyAlarm,
)
from clearcite.wiring.engines import engine_on
from clearcite.wiring.parts import LEDGER, TRACES, SystemClock, existing_store
from clearcite.wiring.policies import resolver_for
from clearcite.wiring.sources import unlisted


def store_status(settings: Settings) -> Mapping[str, Any]:
    """Counts and ages of a store; for operators."""
    ledger = open_sqlite_ledger(existing_store(settings) / LEDGER, SystemClock())
    try:
        found = [
            {"tenant_id": tenant_id, "source_id": source_id, "documents": count}
            for (tenant_id, source_id), count in unlisted(settings, ledger).items()
        ]
        return {**ledger.status(in_full=True), "unlisted": found}
    finally:
        ledger.close()


def migrate_store(settings: Settings) -> list[str]:
    """Bring the files of a store to this version; returns what was done."""
    store = existing_store(settings)
    found = [(LEDGER, migrations())]
    if (store / TRACES).is_file():
        found.append((TRACES, migrations(TRACE_SCRIPTS)))
    said = []
    for name, scripts in found:
        done = migrate(store / name, scripts)
        said.append(f"{name}: from version {done.before} to {done.after}")
    return said


class Finding(Struct, frozen=True, kw_only=True):
    """One line of ``doctor``. ``remedy`` is a command that mends it."""

    what: str
    state: Literal["ok", "note", "bad"]
    detail: str
    remedy: str = ""


def check_up(settings: Settings) -> Iterator[Finding]:
    """Look at the installation, the settings, the store and the policy; each check stands by itself."""
    yield Finding(what="python", state="ok", detail=platform.python_version())
    yield _settings(settings)
    yield _checked("sqlite", _sqlite_version, "pip install -U apsw")
    yield _check_semantic(settings)
    yield _checked("parsers", _try_parser, "pip install --force-reinstall clearcite")
    if any(source.kind == "git" for source in settings.sources):
        yield _checked("git", git_version, INSTALL_GIT)
    yield _checked("store", lambda: _try_store(settings), "clearcite ingest FOLDER", "clearcite index build")
    yield from _unlisted(settings)
    yield from _kept(settings)
    if settings.policy or settings.policy_command:
        is_file = settings.policy.endswith(".toml")
        remedy = "edit policy.toml" if is_file else "clearcite policy sync"
        yield _checked("policy", lambda: _try_policy(settings), remedy)
    else:
        yield Finding(what="policy", state="note", detail="none; ask with --tenant and --group", remedy="")


def _try_policy(settings: Settings) -> str:
    """Raises PolicyAlarm while the last attempt to take one over has failed."""
    names = resolver_for(settings).names()
    has_store = (settings.path(settings.store) / LEDGER).is_file()
    alarm = store_status(settings)["policy"]["alarm"] if has_store else None
    if alarm is not None:
        raise PolicyAlarm(f"It could not be taken over: {alarm['reason']} The last good one is in force.")
    shown = ", ".join(names[:10])
    return shown if len(names) <= 10 else f"{shown} and {len(names) - 10} more"


def _settings(settings: Settings) -> Finding:
    """Which settings are not the defaults, and where each comes from."""
    values = [
        f"{name} = {_shown(getattr(settings, name))} ({settings.origins[name]})"
        for name in sorted(settings.origins)
    ]
    return Finding(what="settings", state="ok", detail="; ".join(values) or "all defaults")


def _shown(value: object) -> str:
    """A list of words by its length: it may be long."""
    return f"{len(value)} entries" if isinstance(value, tuple) else str(value)


def _checked(what: str, check: Callable[[], str], remedy: str, rebuild: str = "") -> Finding:
    """``rebuild`` mends what is there and cannot be read, where ``remedy`` does not."""
    try:
        return Finding(what=what, state="ok", detail=check())
    except (IntegrityFault, DependencyUnavailable) as error:
        return Finding(what=what, state="bad", detail=error.message, remedy=error.remedy or rebuild or remedy)
    except ClearciteError as error:
        return Finding(what=what, state="bad", detail=error.message, remedy=error.remedy or remedy)


def _check_semantic(settings: Settings) -> Finding:
    if settings.semantic == "off":
        return Finding(what="semantic", state="note", detail="switched off; search is by words only")
    try:
        embedder = MiniLM(settings.model_path or None)
        embedder.verify()
    except MissingExtra as error:
        state: Literal["note", "bad"] = "bad" if settings.semantic == "on" else "note"
        return Finding(what="semantic", state=state, detail=error.message, remedy=error.command)
    except ClearciteError as error:
        return Finding(what="semantic", state="bad", detail=error.message, remedy=INSTALL_MODEL)
    return Finding(what="semantic", state="ok", detail=embedder.fingerprint)


def _sqlite_version() -> str:
    check_library()
    return apsw.sqlite_lib_version()


def _try_parser() -> str:
    with ChildParser() as parser:
        parser.parse(b"# A heading\n\nA line.\n", "text/markdown")
    return "the child process answers"


def _kept(settings: Settings) -> Iterator[Finding]:
    """Generations beside the live one that nobody could go back to."""
    try:
        with engine_on(settings) as engine:
            beside = [
                item.name for item in engine.generations() if item.state == "active" and not item.is_live
            ]
            checks = [(name, _checked("kept", partial(engine.probe, name), "")) for name in beside]
    except ClearciteError:
        return  # said of the store already
    for name, found in checks:
        if found.state == "bad":
            remedy = f"clearcite index retire {name}"
            yield replace(found, what="kept", detail=f"{name}: {found.detail}", remedy=remedy)


def _unlisted(settings: Settings) -> Iterator[Finding]:
    """Sources that are not configured any more and go on answering."""
    try:
        found = store_status(settings)["unlisted"]
    except ClearciteError:
        return  # said of the store already
    for row in found:
        source, tenant = row["source_id"], row["tenant_id"]
        detail = (
            f"{source} is not in {FILE_NAME} any more and goes on answering (documents: {row['documents']})"
        )
        remedy = f"clearcite source remove {source} --tenant {tenant}"
        yield Finding(what="source", state="note", detail=detail, remedy=remedy)


def _try_store(settings: Settings) -> str:
    with engine_on(settings) as engine:
        return engine.probe()
