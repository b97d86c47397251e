"""Three real policies as PDF: whole words, rows that can be cited, pages that are right."""

from functools import cache
from pathlib import Path

import pytest

from clearcite.adapters.parsers.child import ChildParser
from clearcite.domain.corpus import Chunk, DocumentKey, ParsedDocument
from clearcite.ingest.chunk import chunk_document
from clearcite.testing.parser_suite import check_spans
from clearcite.wire.media import PDF
from tests.support.data import data_folder

LEAVE = "Inazuma.co Leave Policy.pdf"
PASSWORD = "Inazuma.co Password Policy Document.pdf"
TRAVEL = "Inazuma.co Travel and Business Expense Reimbursement Policy.pdf"

IMMEDIATE_FAMILY = (
    "Immediate Family Member | For the purposes of this policy, immediate family member typically includes: "
    "spouse, parents, children, siblings. The definition may be expanded for specific leave types "
    "(e.g., bereavement leave)"
)
TRAIN = (
    "Train Travel | AC Tier 2 or AC Chair Car | Authorized agents/corporate app | "
    "Sleeper class allowed only if cost-sensitive"
)

pytestmark = pytest.mark.data


@cache
def policies() -> dict[str, ParsedDocument]:
    folder = data_folder("policies_pdf")
    with ChildParser() as parser:
        return {file.name: parser.parse(file.read_bytes(), PDF) for file in sorted(folder.glob("*.pdf"))}


def found(name: str, text: str) -> list[tuple[str, int | None, str | None, tuple[str, ...]]]:
    """(kind, page, header, last headings) of the elements that are exactly this text."""
    parsed = policies()[name]
    return [
        (e.kind, e.page, e.header and parsed.text[slice(*e.header)], e.heading)
        for e in parsed.elements
        if parsed.text[e.start : e.end] == text
    ]


@pytest.fixture(autouse=True)
def _needs_the_data() -> None:
    data_folder("policies_pdf")


@pytest.mark.parametrize(
    ("name", "page", "header", "row"),
    [
        (LEAVE, 6, "Type of Leave | Eligibility | Entitlement | Carryover",
         "Casual Leave (CL) | All regular employees | 12 days per leave year | No carryover"),
        (LEAVE, 6, "Type of Leave | Eligibility | Entitlement | Carryover",
         "Leave Without Pay (LWP) | Employees who have exhausted paid leave | Case-by-case, subject to approval | No"),
        (LEAVE, 7, "Type of Leave | Eligibility | Entitlement | Carryover",
         "Military Leave | As per legal requirement | As per legal requirement | N/A"),
        (LEAVE, 2, "Term | Definition",
         IMMEDIATE_FAMILY),
        (TRAVEL, 1, "Travel Type | Approval Authority | Lead Time",
         "International Travel | Department Head & CFO | 21 days in advance"),
        (TRAVEL, 2, "Mode | Class | Preferred Booking Source | Notes",
         TRAIN),
        (TRAVEL, 2, "Mode | Class | Preferred Booking Source | Notes",
         "Car Rental | Mid-range sedan | App-based service/corporate vendor | Usage logs must be submitted"),
        (TRAVEL, 2, "Location | Hotel Category | Booking Restrictions",
         "International | 4-star business hotels | USD 100–200/night (region-based)"),
        (TRAVEL, 2, "Location | Per Diem Limit (INR) | Includes", "Tier 2/3 Cities | 1000 | Same as above"),
        (TRAVEL, 5, "Quarter | Session Type | Target Audience",
         "Q2 | Compliance and Documentation | Sales & Business Teams"),
        (PASSWORD, 2, "Requirement | Minimum Standard", "Length | At least 12 characters"),
        (PASSWORD, 2, "Requirement | Minimum Standard",
         "Common Passwords | Use of any password on the global blacklist is prohibited"),
        (PASSWORD, 8, "Event | Timeframe", "Post-Termination Deactivation | Within 2 hours of offboarding"),
    ],
)  # fmt: skip
def test_a_table_row_is_whole_has_its_header_and_its_page(
    name: str, page: int, header: str, row: str
) -> None:
    assert [item[:3] for item in found(name, row)] == [("table_row", page, header)]


@pytest.mark.parametrize(
    ("name", "page", "kind", "text"),
    [
        (LEAVE, 1, "list_item", "Minimize disruption to business operations while accommodating employee leave needs."),
        (LEAVE, 5, "list_item", "Impact: LWP may impact salary, benefits, and service accrual."),
        (PASSWORD, 1, "paragraph", "Reviewed By: IT Security Department"),
        (PASSWORD, 3, "list_item", "High-privilege accounts must change passwords every 30 days."),
        (TRAVEL, 2, "paragraph", "Meal reimbursements without receipts are capped at 75% of per diem."),
        (TRAVEL, 4, "paragraph",
         "Lost or stolen cards must be reported to the bank and Finance team within 24 hours."),
        (TRAVEL, 3, "heading", "7. Non-Reimbursable Expenses"),
        (PASSWORD, 3, "heading", "4.3 Multi-Factor Authentication (MFA)"),
        (LEAVE, 4, "heading", "5.4 Maternity Leave (ML)"),
    ],
)  # fmt: skip
def test_sentences_items_and_headings_are_whole_and_on_their_page(
    name: str, page: int, kind: str, text: str
) -> None:
    assert [item[:2] for item in found(name, text)] == [(kind, page)]


@pytest.mark.parametrize(
    ("name", "text", "heading"),
    [
        (LEAVE, "Eligibility: Male employees are eligible for Paternity Leave.",
         ("Inazuma.co Leave Policy", "5. Types of Leave", "5.5 Paternity Leave (PL)")),
        (PASSWORD, "SMS-based MFA is discouraged due to known vulnerabilities.",
         ("Inazuma.co Password Policy Document", "4. Password Management", "4.3 Multi-Factor Authentication (MFA)")),
        (TRAVEL, "Disbursed within 5 days of approval.",
         ("Inazuma.co Travel and Business Expense Reimbursement Policy", "9. Advances and Settlements",
          "9.1 Travel Advance")),
    ],
)  # fmt: skip
def test_the_headings_above_an_item_are_those_of_the_page(
    name: str, text: str, heading: tuple[str, ...]
) -> None:
    assert found(name, text)[0][3] == heading


def test_titles_come_from_the_documents() -> None:
    assert {parsed.title for parsed in policies().values()} == {
        "Inazuma.co Leave Policy",
        "Inazuma.co Password Policy Document",
        "Inazuma.co Travel and Business Expense Reimbursement Policy",
    }


@pytest.mark.parametrize(
    "broken",
    ["Tr av", "Internation al", "Authorize d", "co rporate", "C ar", "Locat ion", "\x02", "\ufffe", "  "],
)
def test_no_word_is_left_in_pieces(broken: str) -> None:
    assert all(broken not in parsed.text for parsed in policies().values())


def test_spans_and_chunks_hold_and_every_chunk_lies_on_one_page() -> None:
    for name, parsed in policies().items():
        check_spans(parsed)
        chunks = chunks_of(name, parsed)
        pages = {(element.start, element.end): element.page for element in parsed.elements}
        for chunk in chunks:
            inside = {
                page for (start, end), page in pages.items() if chunk.start <= start and end <= chunk.end
            }
            assert inside == {chunk.page}


def test_a_chunk_with_rows_only_still_names_its_table() -> None:
    chunks = chunks_of(TRAVEL, policies()[TRAVEL])
    per_diem = [chunk for chunk in chunks if "Metro Cities | 1500" in chunk.text]
    assert len(per_diem) == 1
    assert "Location | Per Diem Limit (INR) | Includes" in per_diem[0].text + per_diem[0].context


def chunks_of(name: str, parsed: ParsedDocument) -> tuple[Chunk, ...]:
    return chunk_document(
        parsed, DocumentKey(tenant_id="t", source_id="s", document_id=name), Path(name).stem
    )
