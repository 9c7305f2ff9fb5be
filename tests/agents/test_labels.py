"""Labels are found in eight languages, as long as they can be read."""

import pytest

from forebay_agents.findings import Name
from forebay_agents.rules.labels import find_labels, named
from forebay_agents.rules.text import normal


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("Rechnungs-Nr.: 17", ("number", "invoice")),
        ("RECHNUNGSNR:17", ("number", "invoice")),
        ("N° de facture : 17", ("number", "invoice")),
        ("Nº DE FACTURA 17", ("number", "invoice")),
        ("Fattura n. 17", ("number", "invoice")),
        ("Gebührenrechnung Nr. 17", ("number", "invoice")),
        ("請求書番号：17", ("number", "invoice")),
        ("inkl. 19 % MwSt. 3,19", ("amount", "included")),
        ("21% btw", ("amount", "tax")),
        ("T.V.A. 20 %", ("amount", "tax")),
        ("Total (excl. VAT)", ("amount", "net")),
        ("Montant EUR HT", ("amount", "net")),
        ("合 計", ("amount", "sum")),
        ("ご請求金額", ("amount", "total")),
        ("Due date", ("date", "due")),
        ("I N V O I C E", ("kind", "invoice")),
        ("USt-IdNr. DE123", ("number", "other")),
    ],
)
def test_labels_are_found_however_they_are_written(text: str, meaning: tuple[str, str]) -> None:
    """Case, accents, hyphens, points, brackets, spacing, rates and currencies do not matter."""
    label = find_labels(normal(text))[0]
    assert label.leads
    assert meaning in label.meanings


@pytest.mark.parametrize("text", ["Delivery schedule date: 3", "we sent the invoice", "INV2026"])
def test_labels_inside_other_words_do_not_lead(text: str) -> None:
    """A label after other words is not a label of its own, nor is the beginning of a number."""
    assert not any(label.leads for label in find_labels(text)[1:] or find_labels(text))


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Gesamtbetrag 119,00 €", {"total"}),
        ("Subtotal", {"total_net"}),
        ("MwSt 19 %", {"tax"}),
        ("Due date", {"due_date"}),
        ("Numéro de client", set()),
        ("Bill to", {"buyer"}),
        ("nothing of the kind", set()),
    ],
)
def test_a_text_tells_the_fields_that_it_names(text: str, names: set[Name]) -> None:
    """Models are checked by what the rules understand of the words around a value."""
    assert named(text) == names
