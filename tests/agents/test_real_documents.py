"""Documents that nobody here wrote, from the folder that FOREBAY_TEST_DOCUMENTS names."""

import os
from pathlib import Path

import pytest

from forebay.agent import Reject

from .conftest import Parse

FOLDER = os.environ.get("FOREBAY_TEST_DOCUMENTS", "")

pytestmark = pytest.mark.skipif(not FOLDER, reason="FOREBAY_TEST_DOCUMENTS names no folder")


def test_the_e_invoice_gives_the_fields_of_its_xml(parse: Parse) -> None:
    """The XML inside goes first, and the evidence says so; the pages' tables are read as well."""
    result = parse(Path(FOLDER, "invoice_EN16931.pdf"))
    assert result.data["fields"] == {
        "kind": "invoice",
        "number": "F20260023",
        "date": "2026-01-31",
        "due_date": "2026-03-02",
        "currency": "EUR",
        "total": "104.90",
        "total_net": "100.00",
        "tax": "4.90",
        "seller": "LE FOURNISSEUR",
        "buyer": "LE CLIENT",
        "language": "fr",
    }
    sources = {name: each["source"] for name, each in result.data["evidence"].items()}
    assert sources.pop("language") == "text"
    assert set(sources.values()) == {"xml"}
    assert [line["amount"] for line in result.data["lines"]] == ["60.00", "28.00", "7.00"]
    assert ["TOTAL HT", "TOTAL TVA", "TOTAL TTC"] in [t["rows"][0] for t in result.data["tables"]]
    assert result.confidence is not None
    assert result.confidence > 0.9


def test_a_password_is_a_reason_to_refuse(parse: Parse) -> None:
    """A PDF that asks for a password fails with a sentence that says so."""
    with pytest.raises(Reject, match="needs a password"):
        parse(Path(FOLDER, "crazyones-encrypted-256.pdf"))


def test_an_owner_password_does_not_keep_readers_out(parse: Parse) -> None:
    """A PDF that only restricts what may be done with it is read."""
    assert "encryption test" in parse(Path(FOLDER, "r4-owner-password.pdf")).data["text"]


def test_a_scanned_book_gives_the_text_behind_it(parse: Parse) -> None:
    """Words that a hyphen parted are whole, and prose is not taken for a document kind."""
    data = parse(Path(FOLDER, "Seige_of_Vicksburg_Sample_OCR.pdf")).data
    assert data["page_count"] == 6
    assert all(page["is_scanned"] for page in data["pages"])
    assert "dangerous for use" in data["text"]
    assert data["fields"] == {"language": "en"}


@pytest.mark.parametrize("text", ["Привет, мир", "你好世界", "こんにちは世界", "مرحبا بالعالم"])
def test_every_script_gives_text(text: str, parse: Parse) -> None:
    """Text comes in whatever script it is written."""
    assert text in parse(Path(FOLDER, "multilang.pdf")).data["text"]


def test_a_census_table_states_no_total_of_money(parse: Parse) -> None:
    """A row named Total is no invoice total where nothing says that this is an invoice."""
    result = parse(Path(FOLDER, "12s0324.pdf"))
    assert "10,690,561" in result.data["text"]
    assert "total" not in result.data["fields"]
    assert result.confidence is not None
    assert result.confidence < 1
