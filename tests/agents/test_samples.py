"""The samples are read right, every field of every one."""

import json
from decimal import Decimal
from pathlib import Path

import pytest

from forebay.agent import Reject
from forebay_lab.samples import Sample, write_samples

from .conftest import Parse

READABLE = (
    *("invoice-pump", "invoice-long", "rechnung", "rechnung-lang", "facture", "seikyusho"),
    *("receipt", "agreement", "vertrag", "statement", "kontoauszug"),
)


@pytest.mark.parametrize("name", READABLE)
def test_every_field_is_the_true_one(
    name: str, folder: Path, samples: dict[str, Sample], parse: Parse
) -> None:
    """Fields equal the truth: none is missing, none is invented."""
    sample = samples[f"{name}.pdf"]
    result = parse(folder / sample.name)
    assert result.data["fields"] == sample.fields
    assert result.data["pages"] == sample.pages
    assert result.confidence is not None
    assert Decimal("0.9") < result.confidence <= 1


def test_two_hundred_pages_stay_below_the_limit_of_a_result(
    folder: Path, samples: dict[str, Sample], parse: Parse
) -> None:
    """A long statement gives its fields, whole text and most tables in less than 1 MiB."""
    sample = samples["statement-year.pdf"]
    result = parse(folder / sample.name)
    assert result.data["fields"] == sample.fields
    assert result.data["pages"] == sample.pages == 200
    assert "200/24" in result.data["text"]
    assert len(result.data["tables"]) > 100
    assert len(json.dumps(result.data, ensure_ascii=False).encode()) < 2**20


def test_tables_come_cell_by_cell(folder: Path, samples: dict[str, Sample], parse: Parse) -> None:
    """A ruled table is given with its page and with every cell in its place."""
    (table,) = parse(folder / "rechnung.pdf").data["tables"]
    assert table["page"] == 1
    assert table["rows"][0] == ["Bezeichnung", "Menge", "Einzelpreis", "Betrag"]
    assert [len(row) for row in table["rows"]] == [4] * 6


@pytest.mark.parametrize(
    ("name", "reason"), [("invoice-encrypted", "needs a password"), ("invoice-broken", "broken")]
)
def test_what_nobody_can_read_is_refused(
    name: str, reason: str, folder: Path, samples: dict[str, Sample], parse: Parse
) -> None:
    """The samples that are to fail are rejected with the reason."""
    assert samples[f"{name}.pdf"].outcome == "failed"
    with pytest.raises(Reject, match=reason):
        parse(folder / f"{name}.pdf")


def test_the_names_here_are_all_of_them(samples: dict[str, Sample]) -> None:
    """No readable sample is left out of these tests."""
    readable = {name for name, sample in samples.items() if sample.outcome == "completed"}
    assert readable == {f"{name}.pdf" for name in READABLE} | {"statement-year.pdf"}


def test_samples_are_the_same_bytes_every_time(
    folder: Path, samples: dict[str, Sample], tmp_path: Path
) -> None:
    """Printing the samples again gives equal files and equal truth."""
    assert write_samples(tmp_path) == list(samples.values())
    for name in samples:
        assert (tmp_path / name).read_bytes() == (folder / name).read_bytes(), name
