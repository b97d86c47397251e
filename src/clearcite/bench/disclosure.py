"""The last look at what would be written: no string that a suite says may be shown nowhere stands in any file.

A report holds codes and numbers, and the words by which a suite calls its own cases, slices and askers: these are the
author's, who may name a tenant that others may not hear of.
"""

import json
import re
from collections.abc import Mapping

from clearcite.bench.suite import Suite

LEAST = 4
"""Characters of a string that is looked for; digests and numbers hold every shorter one by chance."""

_NOISE = re.compile(r"[0-9a-f]{32,}|[01]\.[0-9]{6}")


def leaking_files(files: Mapping[str, bytes], suite: Suite) -> tuple[str, ...]:
    """The names of files that hold one, as it is or as JSON escapes it."""
    labels = [name for case in suite.cases for name in (case.id, case.slice, case.cohort, case.tenant)]
    canaries = {text for case in suite.cases for text in case.oracle.canaries if len(text) >= LEAST}
    own = [text for text in canaries if any(text in label for label in (suite.name, *labels))]
    wanted = {form for text in canaries - set(own) for form in (text, json.dumps(text)[1:-1])}
    found = []
    for name, content in sorted(files.items()):
        text = _NOISE.sub("", content.decode("utf-8"))
        if any(canary in text for canary in wanted):
            found.append(name)
    return tuple(found)
