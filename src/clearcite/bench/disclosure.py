"""The last look at what would be written: no string that a suite says may be shown nowhere stands in any file.

A report holds codes and numbers, and the words by which a suite calls its own cases, slices and askers: these are the
author's, who may name a tenant that others may not hear of.
"""

import json
import re
from collections.abc import Mapping
from html import unescape
from urllib.parse import unquote

from clearcite.bench.suite import Suite
from clearcite.bench.trec import field_of

LEAST = 4
"""Characters of a string that is looked for; digests and numbers hold every shorter one by chance."""

MARKED = (".trec", ".xml", ".html")
_NOISE = re.compile(r"[0-9a-f]{32,}|[01]\.[0-9]{6}")


def leaking_files(files: Mapping[str, bytes], suite: Suite) -> tuple[str, ...]:
    """The names of files that hold one, as it is or as JSON escapes it."""
    labels = [name for case in suite.cases for name in (case.id, case.slice, case.cohort, case.tenant)]
    canaries = {text for case in suite.cases for text in case.oracle.canaries if len(text) >= LEAST}
    own = [text for text in canaries if any(text in label for label in (suite.name, *labels))]
    found = []
    for name, content in sorted(files.items()):
        text = _NOISE.sub("", content.decode("utf-8"))
        # Entities and percent signs as the writers of these files put them
        text = f"{text}\n{unquote(text)}\n{unescape(text)}" if name.endswith(MARKED) else text
        if any(_stands(canary, text, name, suite) for canary in canaries - set(own)):
            found.append(name)
    return tuple(found)


def _stands(canary: str, text: str, name: str, suite: Suite) -> bool:
    """A ranking names documents by question: an id is forbidden only on the lines of who may not see it."""
    forms = (canary, json.dumps(canary)[1:-1])
    if not name.endswith(".trec") or not any(form in text for form in forms):
        return any(form in text for form in forms)
    hidden_from = {field_of(case.id) for case in suite.cases if canary in case.oracle.canaries}
    lines = (line for line in text.splitlines() if line.partition(" ")[0] in hidden_from)
    return any(form in line for line in lines for form in forms)
