"""``demo``: ingest the corpus that is shipped and ask its questions, as the people who would ask them."""

import os
import shlex
import shutil
import tomllib
from collections.abc import Mapping, Sequence
from importlib.resources import as_file, files
from pathlib import Path
from typing import Annotated, Any

from clearcite.config import FILE_NAME, Settings, load_settings
from clearcite.errors import InputError, did_you_mean
from clearcite.interfaces.cli.answers import show_answer
from clearcite.interfaces.cli.commands import Command, Option
from clearcite.interfaces.cli.common import note, say
from clearcite.interfaces.cli.faults import FAILURE, FIXTURE, QUERY_ID, faults_for
from clearcite.interfaces.cli.ingestion import take_sources
from clearcite.wiring import Taking, engine_on, resolver_for

HELP = """See it work on a small company's documents.

Its people ask eight questions; the store stays in a folder, to ask your own.

Example:

  clearcite demo

  clearcite demo --all --dir /tmp/demo

  clearcite demo --lifecycle

  clearcite demo --suite manuals --dir /tmp/manuals
"""

SUITES = ("eight", "manuals", "lifecycle")
"""Folders of ``demo/suites``: questions, and the documents they are asked on where they are not the demo's."""

COMPARED = "semantic.toml"
"""In the folder of a suite: questions that words do not find, searched by words and by vectors."""

SUITE_MARK = ".suite"
"""In the folder of a suite: which one."""

USED_ENVIRONMENT = ("CLEARCITE_SEMANTIC", "CLEARCITE_MODEL_PATH")


def demo(
    folder: Annotated[Path, Option("--dir", help="Where the demo's store goes.")] = Path(".demo"),
    every: Annotated[bool, Option("--all", help="Ask all questions, not only the eight.")] = False,
    lifecycle: Annotated[
        bool, Option("--lifecycle", help="Publish, change, fail, mend, delete and erase a document, as JSON.")
    ] = False,
    suite: Annotated[
        str | None, Option("--suite", help=f"Fill a store that a suite asks: {', '.join(SUITES)}.")
    ] = None,
    fixture: FIXTURE = None,
    query_id: QUERY_ID = None,
    failure: FAILURE = None,
) -> int:
    if suite is not None:
        return demo_suite(suite, folder)
    if lifecycle:
        from clearcite.interfaces.cli.lifecycle import demo_lifecycle  # noqa: PLC0415 - only this way needs it

        return demo_lifecycle()
    if fixture is not None:
        from clearcite.interfaces.cli.fixtures import demo_fixture  # noqa: PLC0415 - the demo needs no bench

        return demo_fixture(fixture, query_id, failure)
    settings = unpack(folder)
    code = take_sources(settings, Taking())
    questions = [item for item in read_questions(folder) if every or item.get("demo")]
    surprises = ask_all(settings, questions, faults_for(failure))
    say()
    say(f"{len(questions)} questions asked; the store is in {folder}. Ask your own there:", "bold")
    say(f'  cd {shlex.quote(str(folder))} && clearcite ask "How long is a slot held?" --as alice')
    if surprises and failure is None:
        note(f"Not as expected: {', '.join(surprises)}")
        return code or 1
    return code


def demo_suite(name: str, folder: Path) -> int:
    """Put a suite beside its documents, and the documents into a store there."""
    if name not in SUITES:
        raise InputError(
            f"There is no suite {name}; there are {', '.join(SUITES)}.{did_you_mean([name], SUITES)}"
        )
    settings = unpack(folder, suite=name)
    code = take_sources(settings, Taking())
    if (folder / COMPARED).is_file():
        from clearcite.interfaces.cli.legs import show_legs  # noqa: PLC0415 - the demo needs no bench

        say()
        show_legs(settings, folder / COMPARED)
    say()
    say(f"The store is in {folder}, its questions in {folder / 'suite.toml'}. Judge them there:", "bold")
    say(f"  cd {shlex.quote(str(folder))} && clearcite evaluate suite.toml")
    return code


def unpack(folder: Path, *, suite: str | None = None, **flags: Any) -> Settings:
    """Copy the shipped corpus, or that of a suite, and read its settings; the environment cannot lead it to another
    store. Refused for a folder that holds anything but the same: files there would be overwritten."""
    if folder.exists() and not (folder.is_dir() and _is_demo(folder, suite)):
        raise InputError(f"{folder} holds something else; name an empty folder with --dir.")
    with as_file(files("clearcite.demo")) as shipped:
        own = [] if suite is None else [shipped / "suites" / suite]
        if not own or not (own[0] / FILE_NAME).is_file():
            own.insert(0, shipped / "corpus")
        for part in own:
            shutil.copytree(part, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
    if suite is not None:
        (folder / SUITE_MARK).write_text(suite + "\n", encoding="utf-8")
    kept = {name: value for name, value in os.environ.items() if name in USED_ENVIRONMENT}
    return load_settings(folder, env=kept, flags=flags)


def _is_demo(folder: Path, suite: str | None) -> bool:
    """An empty folder may become one."""
    mark = folder / SUITE_MARK
    if mark.is_file():
        return mark.read_text(encoding="utf-8").strip() == suite
    return (suite is None and (folder / "questions.toml").is_file()) or not any(folder.iterdir())


def read_questions(folder: Path) -> Sequence[Mapping[str, Any]]:
    raw = tomllib.loads((folder / "questions.toml").read_text(encoding="utf-8"))
    questions: Sequence[Mapping[str, Any]] = raw["questions"]
    return questions


def ask_all(
    settings: Settings, questions: Sequence[Mapping[str, Any]], faults: Mapping[str, Exception]
) -> list[str]:
    """Ask and show each question; returns the ids whose status was not the expected one."""
    surprises = []
    resolver = resolver_for(settings)
    with engine_on(settings, faults) as engine:
        for item in questions:
            principal = resolver.resolve(item["as"])
            say()
            say(f"── {item['as']} asks: {item['text']}", "bold cyan")
            reply = engine.reply(item["text"], principal)
            show_answer(reply.public)
            if reply.public.status != item["status"]:
                surprises.append(f"{item['id']} ({reply.public.status})")
    return surprises


COMMANDS = {"demo": Command(demo, HELP)}
