"""The confidence follows the evidence: whatever is missing or contradicted lowers it."""

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forebay_agents.confidence import document_confidence
from forebay_agents.findings import Evidence, EvidenceSource, Findings, Found, Line
from forebay_agents.pages import Page

VALUES = {
    "kind": "invoice",
    "number": "RE-7",
    "date": "2026-03-02",
    "due_date": "2026-04-01",
    "currency": "EUR",
    "total": "119.00",
    "total_net": "100.00",
    "tax": "19.00",
    "seller": "Weir & Sons",
    "buyer": "Mühle AG",
    "language": "en",
}
LINES = [Line("Weir", amount="60.00"), Line("Gate", amount="40.00")]
PAGES = [Page(1), Page(2)]


def findings(
    *without: str, confidence: float = 1.0, source: EvidenceSource = "text", **fields: str
) -> Findings:
    """Return a sound invoice's findings with `fields` changed and some left out."""
    values = {name: value for name, value in {**VALUES, **fields}.items() if name not in without}
    return Findings(
        {
            name: Found(value, Evidence(f"… {value}", confidence, 1, source=source))
            for name, value in values.items()
        },
        LINES,
    )


def confidence(found: Findings, pages: Sequence[Page] = PAGES) -> Decimal:
    """Return the confidence of a document."""
    return document_confidence(found, pages)


def unsure(name: str, by: float = 0.3, words: str = "…") -> Findings:
    """Return the findings with one field less sure."""
    fields = findings().fields
    return Findings({**fields, name: Found(VALUES[name], Evidence(words, 1 - by, 1))}, LINES)


def test_a_document_without_any_doubt_has_one() -> None:
    """Every field sure, sums that add up and all pages read: that is 1, and it is exact."""
    assert confidence(findings()) == Decimal("1.000")
    assert str(confidence(findings(confidence=0.9))).startswith("0.9")


@pytest.mark.parametrize("name", VALUES)
def test_each_unsure_field_lowers_it(name: str) -> None:
    """A field that may be wrong makes the document less sure, and more so the less sure it is."""
    assert 1 > confidence(unsure(name, 0.1)) > confidence(unsure(name, 0.6))


@pytest.mark.parametrize("name", ["number", "date", "currency", "total", "seller", "buyer"])
def test_each_expected_field_that_is_missing_lowers_it(name: str) -> None:
    """What every invoice says and this one seems not to is a doubt."""
    assert confidence(findings(name)) < 1


def test_fields_do_not_weigh_alike() -> None:
    """Fields count by what the reader of the result needs them for."""
    assert confidence(findings("total")) < confidence(findings("date"))
    assert confidence(findings("date")) < confidence(findings("due_date"))


def test_a_seller_that_is_the_buyer_lowers_it() -> None:
    """Nobody bills himself: one of the two was read in the wrong place."""
    assert confidence(findings(buyer=VALUES["seller"].upper())) < confidence(findings())


def test_each_kind_is_asked_for_what_it_has() -> None:
    """A contract needs no total, a report no number; without any kind nothing is sure."""
    sums = ("total", "total_net", "tax", "currency")
    assert confidence(findings(*sums, kind="contract")) == 1
    assert confidence(findings("number", "seller", "buyer", *sums, kind="report")) == 1
    assert confidence(findings("kind")) < Decimal("0.5")


@pytest.mark.parametrize(
    "worse",
    [
        findings("total_net", "tax").fields,
        findings(total="120.00").fields,
        findings(total_net="90.00").fields,
        findings(tax="20.00").fields,
    ],
    ids=["no sums beside the total", "wrong total", "wrong net", "wrong tax"],
)
def test_sums_that_do_not_confirm_the_total_lower_it(worse: dict[str, Found]) -> None:
    """A total that nothing confirms is a doubt, and one that the sums deny a bigger one."""
    assert confidence(Findings(worse)) < 1


def test_sums_and_lines_that_add_up_confirm_unsure_sums() -> None:
    """Net plus tax that make the total, or lines that do, take most of a sum's doubt away."""
    checked = confidence(findings(confidence=0.8))
    denied = confidence(findings(confidence=0.8, total="120.00"))
    alone = confidence(replace(findings("total_net", "tax", confidence=0.8), lines=[]))
    by_lines = confidence(
        replace(
            findings("total_net", "tax", confidence=0.8),
            lines=[Line("Weir", amount="119.00")],
        )
    )
    assert denied < checked
    assert alone < by_lines


def test_lines_that_miss_the_sums_lower_it() -> None:
    """Lines that do not sum up are wrong, or something else is."""
    missing = replace(findings(), lines=LINES[:1])
    assert confidence(missing) < confidence(replace(findings(), lines=[])) == 1


def test_bookings_need_not_sum_up() -> None:
    """A statement's lines are movements: they confirm nothing and deny nothing."""
    statement = findings("total_net", "tax", kind="statement")
    assert confidence(statement) == confidence(replace(statement, lines=[]))


@pytest.mark.parametrize(
    ("words", "language", "is_clear"),
    [
        ("Date: 03/02/2026", "en", False),
        ("Date: 02-03-26", "en", False),
        ("Date: 03/02/2026", None, False),
        ("Date: 03/02/2026", "fr", True),
        ("Date: 03/03/2026", "en", True),
        ("Date: 03/25/2026", "en", True),
        ("Date: 2026-03-02", "en", True),
        ("2 March 2026", "en", True),
    ],
)
def test_a_date_with_two_readings_lowers_it(
    words: str, language: str | None, is_clear: bool
) -> None:
    """03/02 is a day in March or in February, unless the language writes the day first."""
    fields = dict(findings("language").fields)
    fields["date"] = Found(VALUES["date"], Evidence(words, 1.0, 1))
    if language:
        fields["language"] = Found(language, Evidence("", 1.0))
    assert (confidence(Findings(fields, LINES)) == 1) == is_clear


@pytest.mark.parametrize(
    "page",
    [
        Page(2, is_broken=True),
        Page(2, is_scanned=True, needs_ocr=True, source="none"),
        Page(2, needs_ocr=True, source="none"),
        Page(2, is_scanned=True, source="ocr", certainty=0.7),
        Page(2, source="text", certainty=0.7),
        Page(2, source="text", lacks_font=True),
        Page(2, source="none", lacks_font=True),
    ],
    ids=["broken", "scanned", "drawn", "OCR", "unmapped text", "no font", "all letters lost"],
)
def test_each_page_that_could_not_be_read_well_lowers_it(page: Page) -> None:
    """Broken pages, scans, unsure OCR, text without meaning or font: what is unread may matter."""
    assert confidence(findings(), [Page(1), Page(2), page]) < 1
    assert confidence(findings(), [Page(1), page]) > confidence(findings(), [page, page])


def test_a_model_that_gave_no_usable_answer_lowers_it() -> None:
    """What the rules found alone where a model was to look too is less sure, part by part."""
    whole, half, none = (
        confidence(replace(findings(), unanswered=share)) for share in (0.0, 0.5, 1.0)
    )
    assert none < half < whole


def test_a_blank_page_is_no_doubt() -> None:
    """There is nothing to read on it; but a document of nothing else says nothing."""
    blank = Page(2, source="none")
    assert confidence(findings(), [Page(1), blank]) == 1
    assert confidence(Findings(), [blank]) < Decimal("0.1")


def test_the_xml_inside_needs_no_page_to_be_read() -> None:
    """An e-invoice whose pages are pictures is as sure as its XML."""
    scan = [Page(1, is_scanned=True, needs_ocr=True, source="none")]
    assert confidence(findings(source="xml"), scan) == 1
    assert confidence(findings(), scan) < Decimal("0.2")


@given(
    sureness=st.dictionaries(st.sampled_from(sorted(VALUES)), st.floats(0, 1), max_size=11),
    certainty=st.floats(0, 1),
    name=st.sampled_from(sorted(VALUES)),
)
def test_it_never_rises_when_evidence_falls(
    sureness: dict[str, float], certainty: float, name: str
) -> None:
    """Whatever was found: a less sure field or a worse page never makes the document surer."""
    fields = {each: Found(VALUES[each], Evidence("…", sure)) for each, sure in sureness.items()}
    before = confidence(Findings(fields), [Page(1, certainty=certainty)])
    assert 0 <= before <= 1
    assert confidence(Findings(fields), [Page(1, certainty=certainty / 2)]) <= before
    if name in fields:
        worse = {**fields, name: Found(VALUES[name], Evidence("…", sureness[name] / 2))}
        assert confidence(Findings(worse), [Page(1, certainty=certainty)]) <= before
