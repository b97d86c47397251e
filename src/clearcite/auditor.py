"""An auditor's checker: one file, the standard library, and nothing of the program it checks.

    python clearcite_auditor.py export.json [--head "events=12:… traces=4:…"]

Reads what ``clearcite audit export`` wrote and derives again, from the access lists, collections, validity windows and
the identity in the trace: who could read which document; that this is what the engine counted over; that every citation
of the response stands where it says, in a document the asker could read; that every statement is made of its citations;
that trace, response and documents are those of the logs; and, with ``--head``, that the logs are those whose head was
kept. Exit 0: everything holds; 1: something does not; 2: the file cannot be read.
"""

import hashlib
import json
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

Json = dict[str, Any]
Name = tuple[str, ...]
Heads = dict[str, tuple[int, str]]
History = list[tuple[int, str, Json]]
"""What the log tells of one document, in its order: number, kind, detail."""

SCHEMA = "clearcite-audit-export-1"
GENESIS = "0" * 64
EVENT_FIELDS, TRACE_FIELDS = 8, 7
STATES: Name = ("found", "created", "revised", "access_changed", "reprocessed", "checkpoint_advanced")
STATES += ("restored", "put_back", "deleted")
ENDS = ("published", "dropped", "put_back")
SHOWN = ("answered", "conflict")
UNAVAILABLE = ("dependency_unavailable", "generation_unavailable")
STATUSES = (*SHOWN, *UNAVAILABLE, "insufficient_evidence", "tool_required", "refused")


def digest(*parts: Any) -> str:
    """SHA-256 over parts, each preceded by its type and length in bytes."""
    raw = bytearray()
    for part in parts:
        if part is None:
            kind, value = b"n", b""
        elif isinstance(part, str):
            kind, value = b"s", part.encode("utf-8")
        elif isinstance(part, bytes):
            kind, value = b"b", part
        else:
            kind, value = b"i", str(int(part)).encode("ascii")
        raw += kind + str(len(value)).encode("ascii") + b":" + value
    return hashlib.sha256(bytes(raw)).hexdigest()


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def canonical(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode("utf-8")


def access_digest(access: Json) -> str:
    lists = [str(len(access["allow"])), *access["allow"], str(len(access["deny"])), *access["deny"]]
    window = [access["effective_from"], access["effective_to"]]
    return digest("access", *lists, access["parent"], access["status"], *window, int(access["trusted"]))


def description_digest(about: Json) -> str:
    names = ("source_uri", "source_version", "title", "media_type", "canonical_document_id", "authority")
    plain = [about[name] for name in (*names, "source_type", "product_version", "published_at", "language")]
    lists = [str(len(about["supersedes"]))]
    for item in about["supersedes"]:
        lists += [item["document_id"], item["heading"]]
    lists += [str(len(about["labels"])), *about["labels"]]
    for fact in about["facts"]:
        lists += [fact[name] for name in ("fact_id", "topic", "statement", "value", "unit")]
    return digest("description", *plain, *lists)


def policy_digest(policy: Json) -> str:
    parts = []
    for name, subject in sorted(policy["subjects"].items()):
        parts += [name, subject["tenant"], *counted(subject.get("groups")), *counted(subject.get("roles"))]
    parts.append("groups")
    for name, group in sorted(policy.get("groups", {}).items()):
        parts += [name, *counted(group.get("members")), *counted(group.get("member_groups"))]
    return digest("policy", *parts)


def counted(names: list[str] | None) -> list[str]:
    return [str(len(names or [])), *sorted(names or [])]


def admits(acl: Json, groups: set[str]) -> bool:
    """Deny beats allow; a list that is null restricts nothing, an empty one admits nobody."""
    if any(group in groups for group in acl["deny"]):
        return False
    return acl["allow"] is None or any(group in groups for group in acl["allow"])


def state_admits(access: Json, collections: Json, groups: set[str], as_of: int) -> bool:
    if access["status"] != "published" or not access["trusted"]:
        return False
    start, end = access["effective_from"], access["effective_to"]
    if (start is not None and as_of < start) or (end is not None and as_of >= end):
        return False
    if not admits(access, groups):
        return False
    path = ""
    for part in access["parent"].split("/") if access["parent"] is not None else ():
        path = part if not path else path + "/" + part
        if path not in collections or not admits(collections[path], groups):
            return False
    return True


def may_read(document: Json, collections: Json, principal: Json, as_of: int) -> bool:
    """Both the state that is served and the newest state accepted must admit."""
    if not document["present"] or document["tenant_id"] != principal["tenant_id"] or not principal["groups"]:
        return False
    groups = set(principal["groups"]) | {"user:" + principal["subject_id"]}
    return all(state_admits(document[side], collections, groups, as_of) for side in ("served", "head"))


def mask_of(slots: list[int]) -> str:
    """Bits of readable slots, the first slot first, without what lies beyond the last of them."""
    bits = bytearray((max(slots) + 8) // 8 if slots else 0)
    for slot in slots:
        bits[slot // 8] |= 128 >> (slot % 8)
    return hashlib.sha256(bytes(bits)).hexdigest()


def groups_by_policy(policy: Json, subject: str) -> set[str]:
    """The groups a policy gives a subject: named, listed, and those that hold one of these, however deep."""
    found = set(policy["subjects"][subject].get("groups", []))
    tables = policy.get("groups", {})
    found |= {name for name, table in tables.items() if subject in (table.get("members") or [])}
    while True:
        more = {name for name, table in tables.items() if found & set(table.get("member_groups") or [])}
        if more <= found:
            return found
        found |= more


class Check:
    """Findings are what does not hold; notes are what could not be looked at."""

    def __init__(self, export: Json, head: Heads) -> None:
        self.export, self.head = export, head
        self.findings: list[str] = []
        self.notes: list[str] = []
        self.body: Json = {}
        self.readable: list[Json] = []

    def expect(self, condition: Any, what: str) -> None:
        if not condition:
            self.findings.append(what)

    def note(self, what: str) -> None:
        self.notes.append(what)

    def run(self) -> None:
        self.check_chain("events", EVENT_FIELDS, "event")
        self.check_chain("traces", TRACE_FIELDS, "trace")
        self.check_trace()
        self.check_documents()
        self.check_collections()
        self.check_reading()
        self.check_policy()
        self.check_response()

    def check_chain(self, log: str, fields: int, word: str) -> None:
        entries = self.export[log]
        before, kept = GENESIS, self.head.get(log)
        for place, entry in enumerate(entries, start=1):
            whole = len(entry) == fields and entry[0] == place
            self.expect(whole, f"{log}: an entry is missing before {entry[0]}")
            fits = digest(word, before, *entry[:-1]) == entry[-1]
            self.expect(fits, f"{log}: entry {place} does not fit the one before")
            before = entry[-1]
            if kept is not None and kept[0] == place:
                self.expect(kept[1] == before, f"{log}: this is not the log the head was taken of")
        if kept is None:
            self.note(f"{log}: no head was given, so a log that was written anew would not be noticed")
        else:
            self.expect(len(entries) >= kept[0], f"{log}: it ends at {len(entries)}, the head has {kept[0]}")

    def check_trace(self) -> None:
        trace = self.export["trace"]
        if trace is None or trace["body"] is None:
            self.findings.append("trace: there is none, or it was erased")
            return
        entry = next((item for item in self.export["traces"] if item[0] == trace["number"]), None)
        self.expect(entry is not None, "trace: it is not in the log")
        self.body = json.loads(trace["body"])
        if entry is not None:
            bound = digest("body", bytes.fromhex(trace["salt"]), trace["body"])
            self.expect(bound == entry[5], "trace: its content is not the one that was logged")
            named = [self.body.get(name) for name in ("trace_id", "tenant_id", "kind", "created_at")]
            self.expect(named == entry[1:5], "trace: it names itself otherwise than the log does")
        state = self.body.get("state", {})
        same = state.get("position") == self.export["position"]
        self.expect(same, "trace: the documents are of another position")
        same = state.get("generation") == self.export["generation"]
        self.expect(same, "trace: the documents are of another generation")

    def check_documents(self) -> None:
        """What is said of each document must be what was logged when it was accepted and when it was served."""
        past = logged(self.export["events"], self.export["generation"])
        changed = {tuple(item) for item in self.export["access_changed_since"]}
        if changed:
            self.note(f"documents: the access of {len(changed)} has changed since; judged by list and window")
        for document in self.export["documents"]:
            name = name_of(document)
            label = f"document {name[1]}/{name[2]}"
            told = past.get(name, [])
            heads = [detail.get("access") for _, kind, detail in told if kind in STATES]
            states = [detail for _, kind, detail in told if kind in ("published", "acknowledged", "narrowed")]
            built = [item for item in states if item.get("slot") == document["slot"] and "text" in item]
            if built:
                seal = digest("build-seal", document["title"], document["normal_sha256"])
                self.expect(built[-1]["text"] == document["text_sha256"], f"{label}: another text was served")
                self.expect(built[-1]["seal"] == seal, f"{label}: another title was served")
                began = document["description"]["source_time"]  # older logs do not tell it
                same = built[-1].get("source_time", began) == began
                self.expect(same, f"{label}: its state began at another time")
            elif any("text" in item for item in states):
                self.findings.append(f"{label}: this build was never served")
            else:
                self.note(f"{label}: served since before there was a log")
            if document["text"] is not None:
                same = sha256(document["text"]) == document["text_sha256"]
                self.expect(same, f"{label}: its text is another one")
            if name in changed:
                continue
            self.expect(access_digest(document["head"]) in heads, f"{label}: this access was never accepted")
            if built:
                access, about = access_digest(document["served"]), description_digest(document["description"])
                state = digest("source-state", document["content_sha256"], access, about)
                known = state in [item.get("state") for item in states]
                self.expect(known, f"{label}: this state was never served")
        self.check_presence(past, changed)

    def check_presence(self, past: dict[Name, History], changed: set[Name]) -> None:
        """Which documents there were. What the export holds was served at one moment, which lies after ``cut``: the
        last event that tells a position before it. Up to there all is exact; of what came after, only the count is."""
        tenant, position = self.body.get("tenant_id"), self.export["position"]
        there = {name_of(document): document for document in self.export["documents"]}
        self.expect(len(there) == len(self.export["documents"]), "documents: one of them stands twice")
        self.expect(all(name[0] == tenant for name in there), "documents: one is of another tenant")
        made = [(event, item["slot"]) for name, item in there.items() for event in past.get(name, ())]
        cut = max((e[0] for e, slot in made if e[1] == "published" and e[2]["slot"] == slot), default=0)
        for entry in self.export["events"]:
            if (json.loads(entry[6]).get("position") or position + 1) <= position:
                cut = max(cut, entry[0])
        gone = 0
        for name, told in past.items():
            label = f"document {name[1]}/{name[2]}"
            if name[0] == tenant and name not in there:
                ends = [(number, kind) for number, kind, _ in told if kind in ENDS]
                lives = ends and ends[-1][0] <= cut and ends[-1][1] == "published"
                self.expect(not lives, f"{label}: it is served, and not in the export")
                born = told[0][1] == "created"  # then the first of them is a build, and ends none
                gone += any(number > cut for number, _ in ends[int(born) :])
            elif name in there and told[-1][0] <= cut:
                self.expect(name not in changed, f"{label}: said to have changed since, and it has not")
                shown = is_shown(told)
                same = shown in (None, there[name]["present"]) or not is_open(there[name])
                self.expect(same, f"{label}: the log tells otherwise whether it is served")
        count = sum(document["present"] and is_open(document) for document in self.export["documents"])
        served = self.view().get("served", count)
        fits = served - gone <= count <= served
        self.expect(fits, f"documents: {served} were served, and {count} are in the export")
        if count < served:
            self.note(f"documents: {served - count} that were served have been replaced or dropped since")

    def view(self) -> Json:
        """What was counted before anything was read; {} where the trace ends before."""
        stages = [stage for stage in self.body.get("stages", ()) if stage["stage"] == "open_sight"]
        found: Json = stages[0]["detail"].get("filter", {}) if stages else {}
        view: Json = found.get(str(self.body.get("tenant_id")), {})
        return view

    def check_collections(self) -> None:
        """The lists at the position of the export, as the log tells them."""
        told: Json = {}
        tenant = self.body.get("tenant_id")
        for entry in self.export["events"]:
            if entry[2] == "collection":
                said = json.loads(entry[6])
                if said["tenant"] == tenant and said["position"] <= self.export["position"]:
                    told[said["path"]] = said["list"]
        there = {path: acl for path, acl in told.items() if acl is not None}
        for path in sorted({*there, *self.export["collections"]}):
            same = there.get(path) == self.export["collections"].get(path)
            self.expect(same, f"collection {path}: another list was set")

    def check_reading(self) -> None:
        if not self.body:
            return
        asker, as_of = self.body["request"]["principal"], self.body["state"]["as_of"]
        sources, lists = self.body["request"]["question"].get("sources") or (), self.export["collections"]
        self.readable = [item for item in self.export["documents"] if may_read(item, lists, asker, as_of)]
        counted = [item["slot"] for item in self.readable if not sources or item["source_id"] in sources]
        seen = self.view()
        if not seen:
            self.note("reading: the trace ends before anything was read")
            return
        told = f"reading: {len(counted)} were readable, not {seen['readable']}"
        self.expect(seen["readable"] == len(counted), told)
        same = seen["mask_sha256"] == mask_of(counted)
        self.expect(same, "reading: other documents were readable than were counted")

    def check_policy(self) -> None:
        policy = self.export["policy"]
        if policy is None or not self.body:
            self.note("policy: none in the export")
            return
        principal = self.body["request"]["principal"]
        told = [json.loads(entry[6]) for entry in self.export["events"] if entry[2] == "policy"]
        kept = [item["content"] for item in told if str(item["revision"]) == str(policy.get("revision"))]
        self.expect(kept, "policy: none of this revision was accepted")
        if kept and kept[-1] is None:
            self.note("policy: of this revision the number was logged, and not who is who")
        elif kept:
            self.expect(kept[-1] == policy_digest(policy), "policy: not the one that was accepted")
        if str(policy.get("revision")) != principal["authorization_revision"]:
            self.note("policy: the asker was resolved under another revision")
            return
        subject = policy["subjects"].get(principal["subject_id"])
        self.expect(subject is not None, "policy: it does not know the asker")
        if subject is not None:
            groups = groups_by_policy(policy, principal["subject_id"])
            self.expect(groups == set(principal["groups"]), "policy: it gives the asker other groups")
            same = subject["tenant"] == principal["tenant_id"]
            self.expect(same, "policy: it gives the asker another tenant")

    def check_response(self) -> None:
        response = self.export["response"]
        if response is None:
            self.note("response: none in the export")
            return
        same = hashlib.sha256(canonical(response)).hexdigest() == self.body.get("response", {}).get("sha256")
        self.expect(same, "response: not the traced one")
        self.expect(response.get("trace_id") == self.body.get("trace_id"), "response: of another trace")
        if self.body.get("kind") == "search":
            for hit in response["hits"]:
                self.check_hit(hit)
            return
        self.expect(response["status"] in STATUSES, "response: an unknown status")
        same = (response["answer"] != []) == (response["status"] == "answered")
        self.expect(same, "response: status and answer differ")
        shown = response["status"] in SHOWN or response["citations"] == []
        self.expect(shown, "response: citations of nothing")
        cited: dict[int, Json] = {}
        for place, citation in enumerate(response["citations"], start=1):
            self.expect(citation["n"] == place, f"citation {place}: has another number")
            self.check_citation(citation)
            cited[citation["n"]] = citation
        self.check_statements(response, cited)

    def check_hit(self, hit: Json) -> None:
        fits = [item["title"] == hit["title"] for item in self.named(hit)]
        self.expect(any(fits), f"hit {hit['n']}: no document the asker could read")

    def check_citation(self, citation: Json) -> None:
        label = f"citation {citation['n']}"
        span, text = citation["span"], citation["cited_text"]
        self.expect(0 <= span["start"] < span["end"], f"{label}: an empty or crossed span")
        self.expect(span["end"] - span["start"] == len(text), f"{label}: span and text differ in length")
        self.expect(sha256(text) == citation["sha256"], f"{label}: the hash is not that of the text")
        faults = [self.faults(document, citation) for document in self.named(citation)]
        self.expect(faults, f"{label}: no document the asker could read")
        if faults:
            least = min(faults, key=len)
            self.findings.extend(f"{label}: {fault}" for fault in least)

    def named(self, citation: Json) -> list[Json]:
        wanted = citation["document_id"]  # an older revision that is kept has a mark after its document's id
        return [one for one in self.readable if one["document_id"].partition("\x1f")[0] == wanted]

    def faults(self, document: Json, citation: Json) -> list[str]:
        """Why a citation is not one of this document; several sources may have one of its id."""
        about, text, span = document["description"], document["text"], citation["span"]
        said = {
            "title": document["title"],
            "uri": about["source_uri"],
            "revision": document["content_sha256"][:16],
            "document_sha256": document["text_sha256"],
            "valid_from": instant(document["served"]["effective_from"]),
            "valid_to": instant(document["served"]["effective_to"]),
            "product_version": about["product_version"],
        }
        found = [f"{name} is not the document's" for name, value in said.items() if citation[name] != value]
        if text is None:
            self.note(f"citation {citation['n']}: without the text only its hashes were checked")
        elif text[span["start"] : span["end"]] != citation["cited_text"]:
            found.append("it does not stand at its place")
        return found

    def check_statements(self, response: Json, cited: Mapping[int, Json]) -> None:
        used: set[int] = set()
        sides = [side for conflict in response["conflicts"] for side in conflict["sides"]]
        for statement in [*response["answer"], *sides]:
            numbers = statement["citations"]
            used.update(numbers)
            if not numbers or any(number not in cited for number in numbers):
                self.findings.append("a statement without a citation, or with one that is not there")
            elif all(cited[number]["support"] == "verbatim" for number in numbers):
                whole = "\n".join(cited[number]["cited_text"] for number in numbers)
                self.expect(statement["text"] == whole, "a statement is not made of what it cites")
        self.expect(used == set(cited), "a citation that no statement uses")


def logged(events: list[Any], generation: str) -> dict[Name, History]:
    """By document, what happened to it, in every generation or this one."""
    found: dict[Name, History] = {}
    for number, _, kind, *name, detail, _ in events:
        told = json.loads(detail)
        if any(name) and told.get("generation", generation) == generation:
            found.setdefault(tuple(name), []).append((number, kind, told))
    return found


def name_of(document: Json) -> Name:
    return document["tenant_id"], document["source_id"], document["document_id"]


def is_shown(told: History) -> bool | None:
    """Whether a document that is published and trusted is served; None where the log does not tell it all."""
    if told[0][1] != "created" or any(kind == "put_back" for _, kind, _ in told):
        return None
    held, gone = False, True
    for _, kind, detail in told:
        if kind in ("quarantined", "reinstated"):
            held, gone = kind == "quarantined", gone or (held and kind == "reinstated")
        elif kind in ("published", "dropped") or detail.get("operation") == "delete":
            gone = kind != "published"
    return not held and not gone


def is_open(document: Json) -> bool:
    sides = document["served"], document["head"]
    return all(side["status"] == "published" and side["trusted"] for side in sides)


def instant(micros: int | None) -> str | None:
    if micros is None:
        return None
    text = datetime.fromtimestamp(micros // 1_000_000, UTC).strftime("%Y-%m-%dT%H:%M:%S")
    rest = micros % 1_000_000
    return (f"{text}.{rest:06d}".rstrip("0") if rest else text) + "Z"


def read_head(text: str) -> Heads:
    """``events=12:ROOT traces=4:ROOT`` → {"events": (12, ROOT), …}."""
    found: Heads = {}
    for part in text.split():
        name, _, value = part.partition("=")
        size, _, root = value.partition(":")
        found[name] = (int(size), root)
    if set(found) != {"events", "traces"}:
        raise ValueError("no head")
    return found


def no_twice(pairs: list[tuple[str, Any]]) -> Json:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands twice")
    return found


def check(export: Any, head: Heads | None = None) -> tuple[list[str], list[str]]:
    """What does not hold, and what could not be looked at."""
    if not isinstance(export, dict) or export.get("schema") != SCHEMA:
        raise ValueError("this is no export")
    work = Check(export, head or {})
    work.run()
    return work.findings, list(dict.fromkeys(work.notes))


def main(args: list[str]) -> int:
    try:
        if len(args) not in (1, 3) or (len(args) == 3 and args[1] != "--head"):
            raise ValueError('use: python clearcite_auditor.py export.json [--head "events=… traces=…"]')
        with open(args[0], encoding="utf-8") as file:
            export = json.load(file, object_pairs_hook=no_twice)
        findings, notes = check(export, read_head(args[2]) if len(args) == 3 else None)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, IndexError, RecursionError) as error:
        print(f"cannot be read: {type(error).__name__}: {error}", file=sys.stderr)
        return 2
    for note in notes:
        print(f"note: {note}")
    for finding in findings:
        print(f"FAULT: {finding}")
    print("does not hold" if findings else "holds")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
