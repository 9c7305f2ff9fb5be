"""Seller and buyer are names that the page gives as such."""

import pytest

from forebay_agents.rules import find_fields
from forebay_agents.rules.names import clean_name, companies

from .sheets import found, page

INVOICE = ("Invoice", "Invoice no: A-17", "Total: 10.00 EUR")


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Muster GmbH & Co. KG · Musterweg 1 · 12345 Berlin", ["Muster GmbH & Co. KG"]),
        ("Thank you for choosing Acme Pumps Ltd.", ["Acme Pumps Ltd."]),
        ("SARL Tuyauterie Lefèvre", ["SARL Tuyauterie Lefèvre"]),
        ("Amazon Web Services, Inc.", ["Amazon Web Services, Inc."]),
        ("Ferragens Bragança, Unipessoal Lda.", ["Ferragens Bragança, Unipessoal Lda."]),
        ("株式会社あおぞらデザイン", ["株式会社あおぞらデザイン"]),
        ("合同会社みなと商事 御中", []),
        ("9 Depot Rd, Port Augusta SA", []),
    ],
)
def test_legal_forms_tell_companies(text: str, names: list[str]) -> None:
    """A name ends with its legal form, or begins with it; who is addressed is no issuer."""
    assert list(companies(text)) == names


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("Herrn Max Mustermann", "Max Mustermann"),
        ("M. et Mme MARCHAND Élodie", "MARCHAND Élodie"),
        ("Spett.le Officine Rota S.r.l.", "Officine Rota S.r.l."),
        ("山田太郎 様", "山田太郎"),
        ("Cave du Marché, 3 place du Marché, 64000 Pau", "Cave du Marché"),
        ("Monsieur", None),
        ("12 Impasse des Rossignols", None),
        ("75018 Paris", None),
        ("Deutschland", None),
        ("12. Februar 2026", None),
        ("accounts@acme.example", None),
        ("We hope that you enjoyed your ride", None),
        ("Invoice date:", None),
    ],
)
def test_names_are_told_from_other_lines_of_an_address(line: str, name: str | None) -> None:
    """Forms of address, streets, towns, countries, dates and sentences are no names."""
    assert clean_name(line) == name


def test_labels_name_the_parties() -> None:
    """A name stands after its label, to its right or below it."""
    below = ("From | Bill to", "Acme Pumps Ltd | Jane Doe", "1 Lock Lane | 2 Mill Road")
    assert _parties(*INVOICE, *below) == ("Acme Pumps Ltd", "Jane Doe")
    beside = ("Seller: | Acme Pumps Ltd", "Customer: | Jane Doe")
    assert _parties(*INVOICE, *beside) == ("Acme Pumps Ltd", "Jane Doe")
    assert _parties(*INVOICE, "Seller: Acme Pumps Ltd", "Customer: Jane Doe") == (
        "Acme Pumps Ltd",
        "Jane Doe",
    )


def test_a_letter_names_its_parties_by_their_places() -> None:
    """The letterhead and the small print give the sender, the address below the receiver."""
    lines = (
        "Malerbetrieb Krause",
        "Gewerbering 4, 39126 Magdeburg, Tel. 0391 555 0188",
        *("", "", "", ""),
        "Herrn",
        "Ralf Thoms",
        "Harzblick 31",
        "39179 Barleben",
        *("", ""),
        "Rechnung Nr. 17",
        "Summe: 10,00 €",
        *("",) * 38,
        "Malerbetrieb Krause GmbH · HRB 10722 · IBAN DE55 8109 3274 0001 2233 44",
    )
    assert _parties(*lines) == ("Malerbetrieb Krause GmbH", "Ralf Thoms")
    buyer = find_fields([page(*lines, columns=200)])["buyer"]
    assert buyer.evidence.text == "Ralf Thoms"


def test_japanese_papers_say_whom_they_address() -> None:
    """御中 and 様 follow the receiver, in the same cell or in the next."""
    seller = ("登録番号T1234567890123", "株式会社あおぞらデザイン", "TEL 03-0000-1122")
    lines = ("請求書", "合同会社みなと商事 御中", *seller, "合計 | ¥1,000")
    assert _parties(*lines) == ("株式会社あおぞらデザイン", "合同会社みなと商事")


def test_without_signs_nobody_is_named() -> None:
    """A page that names nobody has no seller and no buyer."""
    assert _parties(*INVOICE) == (None, None)


def _parties(*lines: str) -> tuple[str | None, str | None]:
    fields = found(*lines, columns=200)
    return fields.get("seller"), fields.get("buyer")


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("STUDIO LEGALE", None),
        ("Original", None),
        ("Joinville - SC - CEP 89219-600", None),
        ("Name und Anschrift des Zuwendenden:", None),
        ("納税通知書", None),
        ("Invoice INV-7", None),
        ("Total USD 10.00", None),
        ("株式会社サクラ製作所 資材課", "株式会社サクラ製作所"),
        ("Studio Legale Conti", "Studio Legale Conti"),
    ],
)
def test_departments_papers_and_towns_are_no_names(line: str, name: str | None) -> None:
    """What says the sort of business or paper, a town or a sum names nobody."""
    assert clean_name(line) == name


def test_below_the_word_for_a_business_stands_its_name() -> None:
    """A first line that is no name by itself is passed over."""
    lines = ("NOTARÍA", "Alberto Quiroga", "Calle Mayor 1", "28013 Madrid", "NIF 12345678Z")
    assert found(*lines, "Factura", "Total: 10,00 €")["seller"] == "Alberto Quiroga"


def test_names_of_one_word_are_less_sure() -> None:
    """One word may be a title or a place as well."""
    lines = ("Invoice no: A-17", "Total: 10.00 EUR")
    one, two = (
        find_fields([page("Seller: " + name, *lines)])["seller"] for name in ("Acme", "Acme Pumps")
    )
    assert one.confidence < two.confidence


def test_a_block_that_addresses_a_person_needs_no_postal_code() -> None:
    """'Mr.' above two more lines is an address, too."""
    letterhead = ("Kavanagh Molloy Ltd", "Galway, VAT IE 6633018T", "", "", "")
    lines = ("Mr. Declan Byrne", "Oranmore", "Co. Galway", "", "", "Invoice no: A-17")
    assert "Declan Byrne" in found(*letterhead, *lines, "Total: 10.00 EUR")["buyer"]


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("SOLUCIONES DEL BAJIO SA DE CV", ["SOLUCIONES DEL BAJIO SA DE CV"]),
        ("SELARL au capital de 50 000 €", []),
        ("SELARL Durand", ["SELARL Durand"]),
    ],
)
def test_a_legal_form_is_read_whole_and_names_nobody_by_itself(line: str, names: list[str]) -> None:
    """'SA' is only a part of 'SA DE CV', and a capital is no name."""
    assert list(companies(line)) == names


def test_a_street_without_a_number_is_no_sender() -> None:
    """Below the name of a school stands the lane in which it is."""
    lines = ("Thornfield House", "Church Lane, Ludlow SY8 1AA", "Invoice A-17", "Total: £9.00")
    assert found(*lines).get("seller") != "Church Lane"
