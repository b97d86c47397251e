"""``index panel``, ``shadow``, ``promote``, ``rollback``, ``retire``: which generation answers; by operators."""

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

from clearcite.bench.panel import measure
from clearcite.bench.shadow import Shadow, compare, questions_asked, questions_of
from clearcite.bench.suite import Suite
from clearcite.bench.suite_file import Names, read_suite
from clearcite.config import Settings
from clearcite.domain.access import Principal
from clearcite.domain.panel import Panel
from clearcite.errors import InputError
from clearcite.interfaces.cli import common
from clearcite.interfaces.cli.commands import Argument, Command, Option
from clearcite.interfaces.cli.common import AS, FORMAT, POLICY, STORE, say
from clearcite.operator import Operator
from clearcite.wiring import directory_in_force, engine_on, retire_in

PANEL_HELP = """Measure a generation: its answers to a suite, and its documents.

Without NAME the live one. Each rate has a least value (1, or what [minimum] of the suite says); what is wrong is named
with its stage and who has to act. Exit 0: it passes; 1: it does not. For operators; it leaves no traces.

Examples:

  clearcite index panel --suite questions.toml --as olga

  clearcite index panel g-3b5115faf084 --suite questions.toml --as olga --format json
"""

SHADOW_HELP = """Ask the live generation and a candidate the same questions, and show what differs.

The questions of a suite, or those that were asked lately, as those who asked them. Nobody else sees the answers. For
operators; it leaves no traces.

Examples:

  clearcite index shadow g-3b5115faf084 --traces 50 --as olga

  clearcite index shadow g-3b5115faf084 --suite questions.toml --as olga
"""

PROMOTE_HELP = """Let questions be answered from a generation.

Refused while its panel fails or events wait for it; --force overrides both. Who, why and the panel are recorded. The
one before is kept and goes on taking everything in. For operators.

Examples:

  clearcite index promote g-3b5115faf084 --suite questions.toml --as olga --reason "new synonyms"

  clearcite index promote g-3b5115faf084 --force --as olga --reason "incident 12"
"""

ROLLBACK_HELP = """Go back to the generation that answered before.

One switch of a name; nothing is built, and what was deleted or revoked meanwhile stays so. For operators.

Example:

  clearcite index rollback --as olga --reason "wrong answers about refunds"
"""

RETIRE_HELP = """Drop a generation and its files.

It can be built again, and cannot be gone back to. Refused for the live one. For operators.

Example:

  clearcite index retire g-3b5115faf084 --as olga
"""

NAME = Annotated[str, Argument(help="A generation; see: clearcite index list.")]
SUITE = Annotated[Path | None, Option("--suite", help="Questions and what must come out, TOML or YAML.")]
REASON = Annotated[str, Option("--reason", help="Why; it is recorded.")]
FORCE = Annotated[bool, Option("--force", help="Against the panel, or although events wait.")]


def panel(
    name: Annotated[str | None, Argument(help="A generation; the live one without.")] = None,
    suite: SUITE = None,
    as_: AS = None,
    policy: POLICY = None,
    store: STORE = None,
    format: FORMAT = None,  # noqa: A002 - the flag's name
) -> int:
    settings = common.settings_for(store)
    with engine_on(settings) as engine:
        operator = engine.operator(_principal(settings, as_, policy))
        found = _panel(settings, operator, name or _live(operator), _suite(settings, operator, suite, policy))
    if common.chosen_format(format) == "json":
        common.print_json({"passes": found.passes, "panel": found})
    else:
        _show(found)
    return 0 if found.passes else 1


def shadow(
    name: NAME,
    suite: SUITE = None,
    traces: Annotated[int | None, Option(help="How many of the newest recorded questions (50).")] = None,
    as_: AS = None,
    policy: POLICY = None,
    store: STORE = None,
    format: FORMAT = None,  # noqa: A002 - the flag's name
) -> int:
    settings = common.settings_for(store)
    with engine_on(settings) as engine:
        operator = engine.operator(_principal(settings, as_, policy))
        live = _live(operator)
        _require_active(operator, name)
        if suite is None:
            asked = questions_asked(operator.newest(50 if traces is None else traces))
        else:
            asked = questions_of(_suite(settings, operator, suite, policy)[0])
    with engine_on(settings, generation=live) as one, engine_on(settings, generation=name) as other:
        found = compare(one, other, (live, name), asked)
    if common.chosen_format(format) == "json":
        common.print_json(found)
    else:
        _show_shadow(found)
    return 0


def promote(
    name: NAME,
    reason: REASON,
    suite: SUITE = None,
    force: FORCE = False,
    as_: AS = None,
    policy: POLICY = None,
    store: STORE = None,
) -> int:
    settings = common.settings_for(store)
    with engine_on(settings) as engine:
        operator = engine.operator(_principal(settings, as_, policy))
        found = None
        if suite is not None:
            found = _panel(settings, operator, name, _suite(settings, operator, suite, policy))
            _show(found)
        operator.promote(name, reason, found, force=force)
    say(f"{name} answers from now on. To go back: clearcite index rollback", "green")
    return 0


def rollback(
    reason: REASON,
    force: FORCE = False,
    as_: AS = None,
    policy: POLICY = None,
    store: STORE = None,
) -> int:
    settings = common.settings_for(store)
    with engine_on(settings) as engine:
        before = engine.operator(_principal(settings, as_, policy)).rollback(reason, force=force)
    say(f"{before} answers again.", "green")
    return 0


def retire(name: NAME, as_: AS = None, policy: POLICY = None, store: STORE = None) -> int:
    settings = common.settings_for(store)
    with engine_on(settings) as engine:
        engine.operator(_principal(settings, as_, policy))
    retire_in(settings, name)
    say(f"{name} is gone.")
    return 0


def _principal(settings: Settings, name: str | None, policy: str | None) -> Principal:
    if name is None:
        raise InputError(
            "Say who you are with --as NAME, a subject of the policy file with the role operator."
        )
    return common.principal_for(settings, name, policy, None, None)


def _suite(
    settings: Settings, operator: Operator, path: Path | None, policy: str | None
) -> tuple[Suite, Mapping[str, int]]:
    if path is None:
        raise InputError("Name the questions with --suite FILE.")
    resolve = directory_in_force(settings, policy).resolve
    return read_suite(path, Names(resolve=resolve, documents=operator.known()))


def _live(operator: Operator) -> str:
    return next((item.name for item in operator.generations() if item.is_live), "")


def _require_active(operator: Operator, name: str) -> None:
    if name not in {item.name for item in operator.generations() if item.state == "active"}:
        raise InputError("There is no such generation, or it is retired. See: clearcite index list")


def _panel(
    settings: Settings, operator: Operator, name: str, suite: tuple[Suite, Mapping[str, int]]
) -> Panel:
    _require_active(operator, name)
    with engine_on(settings, generation=name) as engine:
        return measure(engine, name, *suite, time.time_ns() // 1_000)


def _show(found: Panel) -> None:
    for name, rate in found.rates.items():
        share = "not measured" if rate.thousandths is None else f"{rate.thousandths / 10:.1f} %"
        line = f"{name:<24} {rate.right:>5} of {rate.all:<5} {share}"
        say(line if rate.holds else f"{line}  must be {rate.least / 10:.1f} %", "" if rate.holds else "red")
    for item in found.findings:
        say(f"- {item.stage}: {item.where}: {item.detail}")
        say(f"  to act: {item.owner}", "dim")
    say(f"{found.generation}: {found.line}", "green" if found.passes else "red")


def _show_shadow(found: Shadow) -> None:
    for item in found.differences:
        change = item.before if item.before == item.after else f"{item.before} → {item.after}"
        say(f"- {item.name}: {change}, {item.overlap / 10:.1f} % of what is cited is the same")
    say(
        f"{found.questions} questions, {found.status_changes} end otherwise,"
        f" {found.overlap / 10:.1f} % of what is cited is the same",
        "bold",
    )


COMMANDS = {
    "index panel": Command(panel, PANEL_HELP),
    "index shadow": Command(shadow, SHADOW_HELP),
    "index promote": Command(promote, PROMOTE_HELP),
    "index rollback": Command(rollback, ROLLBACK_HELP),
    "index retire": Command(retire, RETIRE_HELP),
}
