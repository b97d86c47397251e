"""``inspect`` and ``verify``: the protected side of an answer, for operators."""

import os
from pathlib import Path
from typing import Annotated

from clearcite.errors import InputError
from clearcite.interfaces.cli import common
from clearcite.interfaces.cli.commands import Argument, Command, Option
from clearcite.interfaces.cli.common import AS, POLICY, STORE
from clearcite.interfaces.cli.faults import FAILURE, FIXTURE, QUERY_ID, require_its_own
from clearcite.operator import Operator
from clearcite.wiring import engine_on

INSPECT_HELP = """Show the protected trace of an answer.

What was found, ranked, dropped and why; for operators. Without TRACE the newest ones are listed.

Example:

  clearcite inspect 3b5115faf08453c0027528b1863237b0 --operator-view
"""

VERIFY_HELP = """Recompute an answer from the store, or derive the verdict of a run again.

The ledger is taken as it stood at that moment. The answer is reproduced (exit 0), differs (4), or is unverifiable
(1), with the reason, such as a document that has been replaced since. For operators.

Given a run.json of evaluate or a baseline instead of a trace id: it holds (exit 0, whatever its verdict), or its files
or its verdict are not what it says (4).

Examples:

  clearcite verify 3b5115faf08453c0027528b1863237b0 --response kept.json

  clearcite verify report/run.json
"""


OPERATOR_VIEW = Annotated[
    bool,
    Option("--operator-view", help="Yes, show the protected trace. A guard against mistakes."),
]


def inspect(
    trace: Annotated[str | None, Argument(help="A trace id; the newest ones are listed without.")] = None,
    operator_view: OPERATOR_VIEW = False,
    fixture: FIXTURE = None,
    query_id: QUERY_ID = None,
    failure: FAILURE = None,
    as_: AS = None,
    policy: POLICY = None,
    store: STORE = None,
) -> int:
    if not operator_view:
        raise InputError("A trace is protected. To see it anyway, add --operator-view.")
    if fixture is not None:
        from clearcite.interfaces.cli.fixtures import inspect_fixture  # noqa: PLC0415 - a trace needs no bench

        require_its_own(trace, as_)
        return inspect_fixture(fixture, query_id, failure)
    if failure is not None or query_id is not None:
        raise InputError("--failure and --query-id need --fixture here: a stored trace is what it is.")
    settings = common.settings_for(store)
    with engine_on(settings) as engine:
        operator = engine.operator(common.operator_for(settings, as_, policy))
        if trace is None:
            for item in operator.newest():
                common.print_json({"trace_id": item.trace_id, "kind": item.kind, "cause": item.cause})
            return 0
        found = operator.inspect(trace)
        common.print_json({"trace": found, "reasons": operator.reasons(found)})
    return 0


def verify(
    trace: Annotated[str, Argument(help="A trace id, or the run.json of an evaluation.")],
    response: Annotated[
        Path | None, Option("--response", help="The public response that was kept, as JSON.")
    ] = None,
    as_: AS = None,
    policy: POLICY = None,
    store: STORE = None,
) -> int:
    if os.path.exists(trace) or trace.endswith(".json"):
        from clearcite.interfaces.cli.comparing import verify_run  # noqa: PLC0415 - a trace needs no bench

        return verify_run(Path(trace))
    settings = common.settings_for(store)
    kept = common.kept_response(response)
    with engine_on(settings) as engine:
        operator: Operator = engine.operator(common.operator_for(settings, as_, policy))
        verdict = operator.verify(trace, kept)
    common.say(verdict.outcome if verdict.detail is None else f"{verdict.outcome}: {verdict.detail}")
    return {"reproduced": 0, "unverifiable": 1, "differs": 4}[verdict.outcome]


COMMANDS = {"inspect": Command(inspect, INSPECT_HELP), "verify": Command(verify, VERIFY_HELP)}
