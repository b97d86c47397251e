"""What a run leaves behind: an attestation that anybody can derive the verdict from, its cases, and a summary.

Codes and numbers only: no text of a document or question, no title, no id of anything that an asker may not read.
Byte-identical on a rerun: no time, no path, no machine stands in it.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

from clearcite.bench.evaluate import Evaluation
from clearcite.bench.junit import junit
from clearcite.bench.measures import Rate
from clearcite.bench.report import report
from clearcite.bench.run_file import CASES, PREDICATE, STATEMENT, case_line, sealed
from clearcite.bench.trec import qrels_lines, run_lines
from clearcite.domain.digest import sha256_bytes
from clearcite.errors import InputError
from clearcite.wire import canonical
from clearcite.wire.convert import to_json


def files_of(evaluation: Evaluation) -> dict[str, bytes]:
    """``run.json`` and everything it vouches for."""
    files = {name: write(evaluation) for name, write in FILES.items()}
    files["run.json"] = canonical(sealed(statement(evaluation, files))) + b"\n"
    return files


def require_writable(folder: Path | None) -> None:
    """Before the work whose files go there, which may take minutes: raises InputError where nothing can be written to
    the folder. Leaves nothing behind."""
    if folder is None:
        return
    made = [place for place in (folder, *folder.parents) if not place.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise _cannot_write(folder, error) from None
    finally:
        for place in made:
            with suppress(OSError):
                place.rmdir()


def write_artifact(files: Mapping[str, bytes], folder: Path) -> None:
    """Raises InputError where the folder cannot be written."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            (folder / name).write_bytes(content)
    except OSError as error:
        raise _cannot_write(folder, error) from None


def _cannot_write(folder: Path, error: OSError) -> InputError:
    return InputError(f"the report cannot be written to {folder}: {error.strerror}")


def statement(evaluation: Evaluation, files: Mapping[str, bytes]) -> dict[str, Any]:
    """An in-toto statement about the run's files."""
    subject = [
        {"name": name, "digest": {"sha256": sha256_bytes(content)}} for name, content in sorted(files.items())
    ]
    return {
        "_type": STATEMENT,
        "subject": subject,
        "predicateType": PREDICATE,
        "predicate": {
            "suite": evaluation.suite,
            "state": dict(evaluation.state),
            "verdict": evaluation.verdict,
            "gates": [to_json(gate) for gate in evaluation.gates],
            "measures": _rates(evaluation.measures),
            "slices": {name: _rates(found) for name, found in evaluation.slices.items()},
            "scores": to_json(evaluation.scores),
            "cohorts": [
                {"tenant": tenant, "cohort": cohort, "scores": to_json(found)}
                for (tenant, cohort), found in evaluation.cohorts.items()
            ],
            "slice_scores": [
                {"slice": name, "scores": to_json(found)} for name, found in evaluation.slice_scores.items()
            ],
            "confusion": to_json(evaluation.confusion),
            "n": len(evaluation.results),
            "n_scored": sum(
                any(value is not None for value in one.scores.values()) for one in evaluation.results
            ),
        },
    }


def summary(evaluation: Evaluation) -> str:
    """Markdown for a build's summary page: the verdict, each gate, the worst slices, the failing cases."""
    lines = [
        f"## {evaluation.suite}: {evaluation.verdict}",
        "",
        "| gate | state | value | limit | n | why |",
        "|---|---|---|---|---|---|",
        *(
            _row(gate.name, gate.state, gate.value, gate.limit, gate.n, gate.reason or "")
            for gate in evaluation.gates
            if gate.state != "skipped"
        ),
        "",
        *_not_judged(evaluation),
        *_cohort_table(evaluation),
        *_confusion_table(evaluation),
        *_slice_table(evaluation),
    ]
    failing = [one for one in evaluation.results if not one.passes]
    lines += ["", f"{len(evaluation.results) - len(failing)} of {len(evaluation.results)} cases pass."]
    if failing:
        lines += ["", "| case | slice | expected | came back | codes |", "|---|---|---|---|---|"]
        lines += [
            _row(one.case_id, one.slice, one.expected, one.status, ", ".join(one.codes)) for one in failing
        ]
    return "\n".join(lines) + "\n"


def _not_judged(evaluation: Evaluation) -> list[str]:
    """The gates that were left out, by the reason."""
    found: dict[str, list[str]] = {}
    for gate in evaluation.gates:
        if gate.state == "skipped":
            found.setdefault(gate.reason or "", []).append(gate.name)
    return [
        line
        for reason, names in found.items()
        for line in (f"Not judged ({reason}): {', '.join(names)}.", "")
    ]


def _confusion_table(evaluation: Evaluation) -> list[str]:
    """Expected statuses against those that came back, where any differ."""
    table = evaluation.confusion
    if all(list(row) == [expected] for expected, row in table.items()):
        return []
    statuses = sorted({*table, *(status for row in table.values() for status in row)})
    return [
        f"| expected, came back | {' | '.join(statuses)} |",
        "|---|" + "---|" * len(statuses),
        *(_row(expected, *(row.get(status, 0) for status in statuses)) for expected, row in table.items()),
        "",
    ]


def _slice_table(evaluation: Evaluation) -> list[str]:
    """Each slice, the worst first: how far the facts of a fixture get, else what is relevant and what must be said."""
    if any(one.wanted for one in evaluation.results):
        stages = {f"{stage}_fact_recall": f"{stage} facts" for stage in ("retrieval", "context", "citation")}
    else:
        found = (name for name in evaluation.scores if name.startswith("recall@") and ":" not in name)
        stages = dict.fromkeys(found, "found") | {"context_recall": "in the context"}
        stages |= {"citation_recall": "cited", "nugget_recall": "said"}
    lines = [
        f"| slice | cases passed | status | {' | '.join(stages.values())} |",
        "|---|---|---|" + "---|" * len(stages),
    ]
    for name, rates in evaluation.slices.items():
        means = evaluation.slice_scores[name]
        values = {stage: rates[stage].decimal() for stage in stages if stage in rates}
        values |= {stage: means[stage].value for stage in stages if stage in means}
        status = rates["status_accuracy"].decimal()
        lines.append(
            _row(name, rates["case_pass_rate"].decimal(), status, *(values.get(stage) for stage in stages))
        )
    return lines


def _cohort_table(evaluation: Evaluation) -> list[str]:
    """Each cohort of each tenant, the one that finds least first."""
    names = [
        name for name in evaluation.scores if name.startswith(("recall@", "underfill", "citation_", "status"))
    ]
    names = [name for name in names if ":" not in name]
    if not names:
        return []
    return [
        f"| tenant | cohort | {' | '.join(names)} |",
        "|---|---|" + "---|" * len(names),
        *(
            _row(tenant, cohort, *(found[name].value for name in names))
            for (tenant, cohort), found in evaluation.cohorts.items()
        ),
        "",
    ]


def _row(*cells: object) -> str:
    texts = (
        "not scored" if cell is None else str(cell).replace("|", "\\|").replace("\n", " ") for cell in cells
    )
    return f"| {' | '.join(texts)} |"


def _rates(found: Mapping[str, Rate]) -> dict[str, Any]:
    return {
        name: {"value": rate.decimal(), "hits": rate.hits, "n": rate.n, "reason": rate.reason}
        for name, rate in found.items()
    }


FILES: dict[str, Callable[[Evaluation], bytes]] = {
    CASES: lambda evaluation: b"".join(map(case_line, evaluation.results)),
    "summary.md": lambda evaluation: summary(evaluation).encode("utf-8"),
    "run.trec": lambda evaluation: run_lines(evaluation.ranked),
    "qrels.trec": lambda evaluation: qrels_lines(evaluation.ranked),
    "report.html": report,
    "junit.xml": lambda evaluation: junit(evaluation.suite, evaluation.gates, evaluation.results),
}
"""What ``run.json`` vouches for; a new file is one entry."""
