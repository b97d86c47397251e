"""Documents that an asker cannot read, made to weigh as much as they can on what he asks."""

import re
from collections.abc import Iterator

from msgspec import Struct

from clearcite.bench.suite import SuiteCase
from clearcite.domain.access import Access
from clearcite.domain.corpus import Description, DocumentKey
from clearcite.domain.digest import digest

NOBODY = "clearcite-bench-nobody"
"""A group of which no asker of a suite is a member, and the tenant that no asker is of."""
FAR = 253_370_764_800_000_000
"""The year 9999: what begins then is not in force."""
LEAST_TIMES, MOST_TIMES = 12, 120
"""How often the words of a question are repeated: by the size of the store, which they shall outweigh."""


class Planted(Struct, frozen=True, kw_only=True):
    """``kind``: what it is made of and how it is hidden, in a word."""

    kind: str
    key: DocumentKey
    text: str
    access: Access
    description: Description


def planted(case: SuiteCase, said: str, source: str, documents: int) -> Iterator[Planted]:
    """``said``: what was answered before, as JSON; ``documents``: of the store. Each text is hidden in its own way."""
    own, question = case.asked.principal.groups, _question(case)
    ways = {
        "near": (_near(question), Access(allow=(NOBODY,))),
        "canary": (f"{question} {digest('canary', case.id)}", Access(allow=own, deny=own)),
        "frequent": (_frequent(question, documents), Access(allow=own, status="draft")),
        "conflict": (_other_values(said), Access(allow=own, trusted=False)),
        "later": (_near(question), Access(allow=own, effective_from=FAR)),
        "closed": (_other_values(said), Access(allow=own, parent=NOBODY)),
    }
    for name, (text, access) in ways.items():
        yield _planted(case, f"{digest(case.id)[:16]}-{name}", text, access, (case.tenant, source))
    yield _planted(
        case, f"{digest(case.id)[:16]}-foreign", _near(question), Access(allow=own), (NOBODY, source)
    )


def _question(case: SuiteCase) -> str:
    """As a document may say it: a question may hold a NUL, a text document may not."""
    return case.asked.text.replace("\0", " ")


def _planted(case: SuiteCase, name: str, text: str, access: Access, place: tuple[str, str]) -> Planted:
    tenant, source = place
    return Planted(
        kind=name.rpartition("-")[2],
        key=DocumentKey(tenant_id=tenant, source_id=source, document_id=name),
        text=text,
        access=access,
        description=Description(
            source_uri=name,
            source_version="1",
            title=_question(case)[:200],
            media_type="text/plain",
            authority=100,
            source_type="policy",
        ),
    )


def _near(question: str) -> str:
    plain = question.rstrip("?. ")
    return f"{plain}.\n\nThe answer to this is 42 days. {plain}: 42 euros, always."


def _frequent(question: str, documents: int) -> str:
    """Every word of the question so often that it would count for little, were it counted."""
    times = min(max(documents, LEAST_TIMES), MOST_TIMES)
    return "\n\n".join(f"{question} {question} {number}" for number in range(times))


def _other_values(said: str) -> str:
    """What was answered, with other numbers; the question's asker would see a conflict, if he could see it."""
    texts = re.findall(r'"text":"((?:[^"\\]|\\.)*)"', said)
    plain = "\n\n".join(text.encode("ascii", "ignore").decode().replace("\\n", " ") for text in texts)
    return re.sub(r"\d+", lambda found: str(int(found[0][:9]) + 7), plain) or "It is not so. It is 7."
