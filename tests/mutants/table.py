"""Guards of ours, each taken out by one edit, and the test that must fail without it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Mutant:
    """``old`` stands once in the source of ``module``; ``killer``: a test, as pytest names it."""

    name: str
    module: str
    old: str
    new: str
    killer: str


MUTANTS = (
    Mutant(
        name="drop_the_hash_check",
        module="clearcite.answer.confirm",
        old="if not (same_text and whole) or chunk.seal() != stored.seal:",
        new="if False:",
        killer="tests/scenario/test_ledger_tampering.py",
    ),
    Mutant(
        name="rank_before_filtering",
        module="clearcite.adapters.indexes.local_readable",
        old="    rows = np.flatnonzero(mask)",
        new="    rows = np.arange(segment.chunks)",
        killer="tests/property/test_index_oracle.py::test_every_list_equals_the_oracle",
    ),
    Mutant(
        name="drop_the_access_predicate",
        module="clearcite.visibility",
        old="return self.present & verdicts.take(self.served) & verdicts.take(self.head)",
        new="return self.present.copy()",
        killer="tests/contract/test_ledgers.py",
    ),
    Mutant(
        name="count_hidden_documents",
        module="clearcite.adapters.indexes.local_lexical",
        old="documents = bounds[-1]",
        new="documents = sum(part.segment.chunks for part in parts)",
        killer="tests/property/test_index_oracle.py::test_a_large_segment_takes_every_way_through_the_code",
    ),
    Mutant(
        name="ignore_deny",
        module="clearcite.domain.access",
        old="if any(group in groups for group in self.deny):",
        new="if False:",
        killer="tests/unit/domain/test_access.py::test_deny_beats_allow",
    ),
    Mutant(
        name="skip_tombstones",
        module="clearcite.adapters.ledgers.visible",
        old='withdrawn or operation == "delete" or not',
        new="not",
        killer="tests/contract/test_ledgers.py",
    ),
    Mutant(
        name="let_a_window_hold_at_its_end",
        module="clearcite.domain.access",
        old="as_of < access.effective_to)",
        new="as_of <= access.effective_to)",
        killer="tests/unit/domain/test_access.py::test_the_start_belongs_to_a_window_and_the_end_does_not",
    ),
    Mutant(
        name="ignore_the_authorization_revision",
        module="clearcite.domain.policy",
        old="if revision == LOCAL or (accepted is None and max_age is None):",
        new="if True:",
        killer="tests/scenario/test_stale_identity.py::test_every_entrance_refuses_an_identity_of_before_the_policy_in_force",
    ),
    Mutant(
        name="leave_access_to_the_mask",
        module="clearcite.domain.access",
        old="        and class_admits(access.access_class, collections, groups)\n",
        new="",
        killer="tests/unit/answer/test_guards.py",
    ),
    Mutant(
        name="leave_status_and_trust_to_the_mask",
        module="clearcite.domain.access",
        old='access.status == "published"\n        and access.trusted',
        new="True",
        killer="tests/unit/answer/test_guards.py",
    ),
    Mutant(
        name="confirm_the_served_side_alone",
        module="clearcite.answer.confirm",
        old=" and (served is head or self._allows(partition, head))",
        new="",
        killer="tests/unit/answer/test_guards.py",
    ),
    Mutant(
        name="believe_where_a_quote_stands",
        module="clearcite.answer.check",
        old="if not _stands(quote, texts[key]):",
        new="if False:",
        killer="tests/unit/answer/test_guards.py",
    ),
    Mutant(
        name="look_at_the_quote_and_not_at_its_passage",
        module="clearcite.answer.check",
        old="text[passage.start : passage.end] == passage.text\n        and text",
        new="text",
        killer="tests/unit/answer/test_guards.py",
    ),
)
