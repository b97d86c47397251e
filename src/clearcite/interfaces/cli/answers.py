"""``ask`` and ``search``. What answers is loaded while the embedder, which needs no Python for it, is opening."""

from typing import TYPE_CHECKING, Annotated

from clearcite import wiring
from clearcite.errors import InputError
from clearcite.interfaces.cli import common
from clearcite.interfaces.cli.commands import Argument, Command, Option
from clearcite.interfaces.cli.common import AS, AS_OF, FORMAT, GROUP, POLICY, STORE, TENANT, say
from clearcite.interfaces.cli.faults import FAILURE, FIXTURE, QUERY_ID, faults_for, require_its_own

if TYPE_CHECKING:
    from clearcite.domain.answer import Citation, PublicAnswer, PublicSearch, Statement

ASK_HELP = """Answer a question from what the asker may read.

Each statement has numbered citations. The response is on stdout in every case; exit 3: a part is
unavailable.

Examples:

  clearcite ask "How long do refunds take?" --as alice

  clearcite ask "How long do refunds take?" --tenant default --group staff --format json

  clearcite ask --fixture suite.json --query-id Q-refund
"""

SEARCH_HELP = """List the documents or passages that fit, best first.

No scores and no totals: these could tell what the asker may not read.

Example:

  clearcite search "refund policy" --as alice -k 5
"""


def ask(
    question: Annotated[str | None, Argument(help="The question, in quotes.")] = None,
    as_: AS = None,
    policy: POLICY = None,
    tenant: TENANT = None,
    group: GROUP = None,
    as_of: AS_OF = None,
    version: Annotated[str | None, Option("--version", help="The product version meant.")] = None,
    source: Annotated[list[str] | None, Option("--source", help="Only this source. Repeatable.")] = None,
    fixture: FIXTURE = None,
    query_id: QUERY_ID = None,
    failure: FAILURE = None,
    store: STORE = None,
    format: FORMAT = None,  # noqa: A002 - the flag's name
) -> int:
    form = common.chosen_format(format)
    if fixture is not None:
        from clearcite.interfaces.cli.fixtures import ask_fixture  # noqa: PLC0415 - a question needs no bench

        require_its_own(question, as_, tenant, group, as_of, version, source)
        return ask_fixture(fixture, query_id, failure, form)
    if query_id is not None:
        raise InputError("--query-id needs --fixture: it names one of its queries.")
    if question is None:
        raise InputError("QUESTION is missing. Usage: clearcite ask QUESTION --as NAME")
    settings = common.settings_for(store)
    embedder = wiring.opening_embedder(settings, question)
    principal = common.principal_for(settings, as_, policy, tenant, group)
    with wiring.engine_on(settings, faults_for(failure), embedder=embedder) as engine:
        reply = engine.reply(
            question,
            principal,
            as_of=common.as_of_for(settings, as_of),
            target_version=version,
            sources=tuple(source or ()),
        )
    if form == "json":
        common.print_json(reply.public)
    else:
        show_answer(reply.public)
    return reply.exit_code


def search(
    question: Annotated[str, Argument(help="Words to look for, in quotes.")],
    as_: AS = None,
    policy: POLICY = None,
    tenant: TENANT = None,
    group: GROUP = None,
    as_of: AS_OF = None,
    k: Annotated[int, Option("-k", help="How many, 1 to 100.")] = 10,
    collapse: Annotated[str, Option(help="document or passage.")] = "document",
    after: Annotated[str | None, Option(help="The next of the page before.")] = None,
    store: STORE = None,
    format: FORMAT = None,  # noqa: A002 - the flag's name
) -> int:
    settings = common.settings_for(store)
    form = common.chosen_format(format)
    embedder = wiring.opening_embedder(settings, question)
    principal = common.principal_for(settings, as_, policy, tenant, group)
    with wiring.engine_on(settings, embedder=embedder) as engine:
        found = engine.search(
            question,
            principal,
            k=k,
            collapse=collapse,
            after=after,
            as_of=common.as_of_for(settings, as_of),
        )
    if form == "json":
        common.print_json(found)
    else:
        _show_hits(found)
    return 0


def show_answer(public: "PublicAnswer") -> None:
    """A public answer for a person: statements with their numbers, then what the numbers mean."""
    confidence = f" (confidence {public.confidence})" if public.confidence else ""
    say(f"{public.status}{confidence}: {public.message}", "bold")
    for statement in public.answer:
        say()
        _show_statement(statement)
    for conflict in public.conflicts:
        decided = f", resolved by {conflict.resolved_by}" if conflict.resolved_by else ""
        say()
        say(f"Sources disagree about: {conflict.topic}{decided}", "bold")
        for side in conflict.sides:
            _show_statement(side, "- ")
    if public.citations:
        say()
    places: dict[str, str] = {}
    for citation in public.citations:
        place = _place(citation)
        places[place] = f"{places.get(place, '')}[{citation.n}] "
    for place, numbers in places.items():
        say(f"{numbers}{place}", "dim")
    say(f"trace {public.trace_id}", "dim")


def _place(citation: "Citation") -> str:
    """Where a quote stands, for a person; quotes of one place are shown on one line."""
    page = f", page {citation.page}" if citation.page else ""
    heading = " › ".join(part for part in citation.heading if part != citation.title)
    where = f", {heading}" if heading else ""
    return f"{citation.title}{where}{page} ({citation.uri})"


def _show_statement(statement: "Statement", lead: str = "") -> None:
    marks = "".join(f" [{n}]" for n in statement.citations)
    say(f"{lead}{statement.text.strip()}{marks}")


def _show_hits(found: "PublicSearch") -> None:
    for hit in found.hits:
        page = f", page {hit.page}" if hit.page else ""
        say(f"{hit.n}. {hit.title}{page} ({hit.uri})", "bold")
        say(f"   {hit.snippet}")
    if not found.hits:
        say("Nothing you may read fits these words.")
    if found.next:
        say(f"More: --after {found.next}", "dim")


COMMANDS = {"ask": Command(ask, ASK_HELP), "search": Command(search, SEARCH_HELP)}
