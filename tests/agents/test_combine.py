"""What the XML, a model and the rules say is made one answer, and contradictions are told."""

import pytest

from forebay_agents.combine import combine
from forebay_agents.findings import Evidence, Findings, Found, Line


def xml(**fields: str) -> Findings:
    """Return what the XML inside states."""
    evidence = Evidence("factur-x.xml: …", 1.0, source="xml")
    return Findings({name: Found(value, evidence) for name, value in fields.items()})


def model(confidence: float = 0.9, page: int | None = 2, **fields: str) -> Findings:
    """Return what a model read, on page 2 or on none."""
    evidence = Evidence("…", confidence, page, source="model")
    return Findings({name: Found(value, evidence) for name, value in fields.items()})


def rules(confidence: float = 0.8, **fields: str) -> Findings:
    """Return what the rules found on page 1."""
    evidence = Evidence("…", confidence, page=1)
    return Findings({name: Found(value, evidence) for name, value in fields.items()})


def lines(*amounts: str) -> list[Line]:
    """Return lines with these amounts."""
    return [Line(f"Line of {amount}", amount=amount) for amount in amounts]


def value(findings: Findings, name: str = "total") -> str | None:
    """Return a field's value."""
    field = findings.fields.get(name)
    return field.value if field else None


def confidence(findings: Findings, name: str = "total") -> float:
    """Return how sure a field is."""
    return findings.fields[name].evidence.confidence


def test_one_reader_alone_is_taken_as_it_is() -> None:
    """Without XML and model the rules' findings stay as they are."""
    alone = Findings(rules(total="1.00").fields, lines("1.00"), ["A note."])
    assert combine(alone) == alone


def test_the_xml_goes_before_the_model_and_the_model_before_the_rules() -> None:
    """Each field is the best reader's that has it, with that reader's evidence."""
    both = combine(
        rules(total="1.00", number="A", date="2026-03-01"),
        xml=xml(total="3.00"),
        model=model(total="2.00", number="B"),
    )
    assert {name: found.value for name, found in both.fields.items()} == {
        "total": "3.00",
        "number": "B",
        "date": "2026-03-01",
    }
    sources = {name: found.evidence.source for name, found in both.fields.items()}
    assert sources == {"total": "xml", "number": "model", "date": "text"}


def test_agreement_makes_surer() -> None:
    """Two readers that agree are surer than each of them, and there is nothing to note."""
    both = combine(rules(0.8, total="1.00"), model=model(0.9, total="1.00"))
    assert confidence(both) > 0.9
    assert both.notes == []


@pytest.mark.parametrize(
    ("name", "one", "other"),
    [
        ("total", "104.90", "104.9"),
        ("total", "-104.90", "104.90"),
        ("seller", "Weir & Sons", "WEIR  & SONS"),
        ("seller", "Weir & Sons Ltd", "Weir & Sons"),
        ("number", "re-7", "RE-7"),
    ],
)
def test_the_same_may_be_said_in_two_ways(name: str, one: str, other: str) -> None:
    """Decimals, a credit note's sign, capitals and a party's legal form contradict nothing."""
    both = combine(rules(**{name: other}), xml=xml(**{name: one}))
    assert value(both, name) == one
    assert (confidence(both, name), both.notes) == (1.0, [])


def test_a_contradiction_lowers_the_confidence_and_is_told() -> None:
    """An auditor reads who says what; the surer the other one was, the less sure is the answer."""
    weak = combine(rules(0.5, total="109.90"), xml=xml(total="104.90"))
    strong = combine(rules(0.9, total="109.90"), xml=xml(total="104.90"))
    assert value(strong) == "104.90"
    assert confidence(strong) < confidence(weak) < 1
    assert strong.notes == ["The XML inside says total “104.90”, page 1 prints “109.90”."]
    both = combine(rules(due_date="2026-03-01"), model=model(due_date="2026-04-01"))
    said = "The model reads due date “2026-04-01”, page 1 prints “2026-03-01”."
    assert both.notes == [said]


def test_a_value_that_ends_in_a_dot_ends_no_sentence_twice() -> None:
    """Values are quoted, so that a firm's dot and the sentence's stay apart."""
    both = combine(rules(seller="Cedar Inc."), model=model(seller="From"))
    assert both.notes == ["The model reads seller “From”, page 1 prints “Cedar Inc.”."]


def test_a_guess_that_differs_is_not_worth_a_note() -> None:
    """The rules' weak reading of a party does not accuse the XML."""
    assert combine(rules(0.3, seller="Weir"), xml=xml(seller="Mühle")).notes == []


def test_a_model_that_leans_on_a_mere_sentence_does_not_overrule_a_label() -> None:
    """Text that tells a model what the total is loses against the total that is printed."""
    both = combine(rules(0.8, total="119.00"), model=model(0.4, total="1.00"))
    assert value(both) == "119.00"
    both = combine(rules(0.3, total="119.00"), model=model(0.4, total="1.00"))
    assert value(both) == "1.00"


def test_what_only_a_model_says_and_no_page_shows_is_left_out() -> None:
    """A value without a place is no fact, and the note says that it was left out."""
    both = combine(rules(), model=model(page=None, total="1.00"))
    assert both.fields == {}
    assert both.notes == ["The model reads total “1.00”, but no page shows it: left out."]
    both = combine(rules(total="2.00"), model=model(page=None, total="1.00"))
    assert (value(both), both.notes) == ("2.00", [])


def test_a_kind_needs_no_place() -> None:
    """A model may tell an invoice that nowhere says so; it is then not very sure."""
    both = combine(rules(), model=model(0.9, None, kind="invoice"))
    assert value(both, "kind") == "invoice"
    assert confidence(both, "kind") < 0.5
    both = combine(rules(0.8, kind="receipt"), model=model(0.9, None, kind="invoice"))
    assert value(both, "kind") == "receipt"


def test_lines_are_the_xmls_or_those_that_add_up() -> None:
    """The XML's lines go first; the model's only when they add up better than the rules'."""

    def chosen(xml_lines: list[Line], model_lines: list[Line], rules_lines: list[Line]) -> str:
        stated = rules(total_net="10.00").fields
        both = combine(
            Findings(stated, rules_lines),
            xml=Findings({}, xml_lines),
            model=Findings({}, model_lines),
        )
        return "+".join(str(line.amount) for line in both.lines)

    right, other, wrong = lines("4.00", "6.00"), lines("10.00"), lines("4.00")
    assert chosen(wrong, right, other) == "4.00"
    assert chosen([], right, wrong) == "4.00+6.00"
    assert chosen([], right, other) == "10.00"
    assert chosen([], wrong, right) == "4.00+6.00"
    assert chosen([], wrong, []) == "4.00"
    assert chosen([], [], wrong) == "4.00"


def test_sums_that_do_not_add_up_are_told() -> None:
    """Net and tax that miss the total, and lines that miss the net, are said with the numbers."""
    stated = rules(kind="invoice", total="120.00", total_net="100.00", tax="19.00").fields
    assert combine(Findings(stated, lines("40.00", "50.00"))).notes == [
        "Net total 100.00 and tax 19.00 make 119.00, but the total is 120.00.",
        "The lines sum to 90.00, but the net total is 100.00.",
    ]


@pytest.mark.parametrize(
    "amounts", [("40.00", "60.00"), ("40.00", "79.00"), ("40.00", "60.01"), ("-40.00", "-60.00")]
)
def test_lines_may_be_net_or_gross_or_rounded(amounts: tuple[str, ...]) -> None:
    """Lines make the net or the total, to within a cent, with either sign."""
    stated = rules(kind="invoice", total="119.00", total_net="100.00", tax="19.00").fields
    assert combine(Findings(stated, lines(*amounts))).notes == []


def test_bookings_are_no_parts_of_a_balance() -> None:
    """The lines of a statement do not sum to its closing balance, and nobody says they should."""
    stated = rules(kind="statement", total="1000.00").fields
    assert combine(Findings(stated, lines("40.00"))).notes == []
