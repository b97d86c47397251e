"""``index …``: generations of the index, built beside the one that answers."""

from contextlib import closing
from pathlib import Path
from typing import Annotated

from msgspec.structs import replace

from clearcite.config import Settings, check_settings, read_file
from clearcite.domain.generations import Generation
from clearcite.errors import DependencyUnavailable, InputError
from clearcite.interfaces.cli import common
from clearcite.interfaces.cli.commands import Command, Option
from clearcite.interfaces.cli.common import FORMAT, STORE, note, say
from clearcite.interfaces.cli.ingestion import Summary, catch_up, report
from clearcite.wire.instants import format_instant
from clearcite.wiring import Recipe, build_target, existing_store, open_ledger, open_workshop

LIST_HELP = """Show the generations of the index, and who made which one live.

Each is one build of all documents under one pipeline manifest. For operators.

Example:

  clearcite index list --format json
"""

BUILD_HELP = """Build a generation of the index beside the live one.

From the settings here, from the [text] and [synonyms] of another file, and from the options. Questions go on being
answered from the live one. Interrupt at any time and run the same command again to go on; it also takes in what
came meanwhile. A live index that cannot be read any more is replaced as soon as the new one is complete.

Examples:

  clearcite index build --settings candidate.toml

  clearcite index build --chunk-words 120 --semantic off
"""

FROM_FILE = ("languages", "semantic", "model_path", "synonyms")
"""What a settings file says about the pipeline; the store and the rest stay those of the folder."""


def listed(store: STORE = None, format: FORMAT = None) -> int:  # noqa: A002 - the flag's name
    settings = common.settings_for(store)
    with closing(open_ledger(settings)) as ledger:
        generations, switches = ledger.generations(), ledger.switches()
    if common.chosen_format(format) == "json":
        common.print_json({"generations": generations, "switches": switches})
        return 0
    for item in generations:
        say(_line(item), "bold" if item.is_live else "dim" if item.state == "retired" else "")
    for made in switches:
        switch = made.switch
        forced = ", forced" if switch.forced and switch.kind != "ingest" else ""
        say(
            f"{format_instant(made.at)} {switch.kind}{forced} by {switch.actor}: {made.before} → {made.after}"
        )
        say(f"    {switch.reason}" + (f" (panel: {switch.panel})" if switch.panel else ""))
    return 0


def _line(item: Generation) -> str:
    state = "live" if item.is_live else "kept" if item.is_kept and item.state == "active" else item.state
    counts = f"{item.served} served, {item.waiting} waiting, {item.given_up} given up"
    return f"{item.name}  {state:<8} {counts}"


def build(
    settings_file: Annotated[
        Path | None, Option("--settings", help="A file like clearcite.toml, for its [text] and [synonyms].")
    ] = None,
    semantic: Annotated[str | None, Option(help="auto, on or off: sentence vectors.")] = None,
    chunk_words: Annotated[int | None, Option(help="Words a chunk aims at (180).")] = None,
    bm25_k1: Annotated[int | None, Option(help="k1 of BM25 in hundredths (120).")] = None,
    bm25_b: Annotated[int | None, Option(help="b of BM25 in hundredths (30).")] = None,
    average_length: Annotated[
        int | None, Option(help="The length of a chunk BM25 takes as usual (100).")
    ] = None,
    store: STORE = None,
) -> int:
    settings = _settings(common.settings_for(store), settings_file, semantic)
    existing_store(settings)
    recipe = Recipe(chunk_words=chunk_words, bm25_k1=bm25_k1, bm25_b=bm25_b, average_length=average_length)
    summary = Summary()
    with closing(open_workshop(settings, build_target(recipe))) as shop:
        catch_up(shop, summary)
        if not summary.leased and shop.switch is not None:
            shop.serve()
        (made,) = [item for item in shop.ledger.generations() if item.name == shop.generation]
    report(summary)
    say(_line(made))
    if not made.is_live:
        note(f"It does not answer yet. Look at it: clearcite index panel {made.name} --suite FILE --as NAME")
    if summary.failed:
        return InputError.exit_code
    return DependencyUnavailable.exit_code if summary.leased else 0


def _settings(settings: Settings, file: Path | None, semantic: str | None) -> Settings:
    if file is not None:
        given = read_file(file)
        settings = replace(settings, **{name: given[name] for name in FROM_FILE if name in given})
    if semantic is not None:
        settings = replace(settings, semantic=semantic)
    check_settings(settings)
    return settings


COMMANDS = {"index list": Command(listed, LIST_HELP), "index build": Command(build, BUILD_HELP)}
