"""The samples are the same each time, their truth stands on their pages, and they are read."""

import json
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytesseract
import pytest

from forebay_agents.check import Report, compare, judge
from forebay_agents.check.report import SURE
from forebay_agents.reading.reader import ocr_is_installed
from forebay_agents.standalone import StandaloneAttempt, parse_file
from forebay_lab.samples import Sample, names, write_samples
from forebay_lab.samples.damaged import DAMAGED
from forebay_lab.samples.hard import HARD
from forebay_lab.samples.plans import PLANS
from forebay_lab.samples.special import SPECIAL

pytestmark = pytest.mark.timeout(600)  # all samples are read once, for all of these tests

Row = dict[str, Any]

DOCS = Path(__file__).parents[2] / "docs" / "parsing.md"
HEADING = "## Accuracy on the samples"
SCANS = {plan.name for plan, _ in SPECIAL if "-scan-" in plan.name}
HARD_ONES = [plan.name for plan, _ in HARD]
TEXTS = [name for name in names() if name not in {*DAMAGED, *SCANS, *HARD_ONES}]

REASONS = {
    "invoice-encrypted": "password",
    "invoice-broken": "broken",
    "invoice-empty": "empty",
    "invoice-login-page": "PDF",
}

needs_ocr = pytest.mark.skipif(not ocr_is_installed(), reason="tesseract is not installed")


@pytest.fixture(scope="module")
def rows(folder: Path, samples: dict[str, Sample]) -> Iterator[dict[str, Row]]:
    """Parse all samples once, two at a time, as `forebay parse` does."""
    with ThreadPoolExecutor(2) as threads:
        found = threads.map(lambda name: parse_file(folder / name, StandaloneAttempt()), samples)
        yield dict(zip(names(), found, strict=True))


@pytest.fixture(scope="module")
def report(rows: dict[str, Row], samples: dict[str, Sample]) -> Report:
    """Compare what was found in the samples with their truth."""
    return compare((row, samples[f"{name}.pdf"].truth()) for name, row in rows.items())


@pytest.mark.parametrize("name", names())
def test_a_sample_is_the_same_bytes_every_time(
    name: str, folder: Path, samples: dict[str, Sample], tmp_path: Path
) -> None:
    """Written again and alone, a sample has equal bytes and equal truth."""
    assert write_samples(tmp_path, [name]) == [samples[f"{name}.pdf"]]
    for file in (f"{name}.pdf", f"{name}.json"):
        assert (tmp_path / file).read_bytes() == (folder / file).read_bytes()


def test_the_truth_stands_beside_each_sample(folder: Path, samples: dict[str, Sample]) -> None:
    """NAME.json says status, pages and fields of NAME.pdf, and only the status of a bad one."""
    for name, sample in samples.items():
        truth = json.loads((folder / name).with_suffix(".json").read_text("utf-8"))
        assert truth["status"] == sample.outcome
        assert truth.get("fields", {}) == sample.fields


def test_the_samples_are_many_and_of_every_language_and_kind(samples: dict[str, Sample]) -> None:
    """At least sixty can be read; each language has invoices, and no layout makes up the set."""
    fields = [sample.fields for sample in samples.values() if sample.outcome == "completed"]
    assert len(fields) >= 60
    languages = {"en", "de", "fr", "es", "it", "pt", "nl", "ja"}
    assert {each["language"] for each in fields if each["kind"] == "invoice"} == languages
    assert len({plan.layout for plan in PLANS}) >= 10
    assert {"contract", "receipt", "statement"} < {each["kind"] for each in fields}


@pytest.mark.parametrize("name", TEXTS)
def test_fields_of_a_text_are_the_true_ones(
    name: str, rows: dict[str, Row], samples: dict[str, Sample]
) -> None:
    """No field is wrong, missing or invented."""
    judged = judge(rows[name], samples[f"{name}.pdf"].truth())
    assert set(judged.fields.values()) == {"right"}, judged.misses
    assert rows[name]["pages"] == samples[f"{name}.pdf"].pages


@needs_ocr
@pytest.mark.parametrize("name", sorted(SCANS))
def test_most_fields_of_a_scan_are_the_true_ones(
    name: str, rows: dict[str, Row], samples: dict[str, Sample]
) -> None:
    """Two thirds are right with any tesseract, and none is made up."""
    judged = judge(rows[name], samples[f"{name}.pdf"].truth())
    assert judged.read == "ocr"
    assert judged.share > 2 / 3, judged.misses
    assert "invented" not in judged.fields.values(), judged.misses


def test_most_lines_are_the_true_ones(report: Report) -> None:
    """Where all pages are text, nearly all lines are right with all their numbers."""
    lines = sum((each.lines for each in report.documents if each.read == "text"), Counter())
    assert lines["right"] > 0.98 * lines.total()


@pytest.mark.parametrize("name", DAMAGED)
def test_what_nobody_can_read_is_refused(name: str, rows: dict[str, Row]) -> None:
    """A damaged sample fails with a sentence that says what is wrong."""
    assert rows[name]["status"] == "failed"
    assert REASONS[name] in rows[name]["reason"]


@pytest.mark.parametrize("name", HARD_ONES)
def test_a_hard_sample_is_read_or_doubted(
    name: str, rows: dict[str, Row], samples: dict[str, Sample]
) -> None:
    """It ends as any other, and with a mistake no one takes it for sure."""
    judged = judge(rows[name], samples[f"{name}.pdf"].truth())
    assert judged.is_status_right
    assert judged.confidence is not None
    assert judged.share == 1 or judged.confidence < SURE, judged.misses


def test_most_hard_samples_are_doubted(rows: dict[str, Row]) -> None:
    """More than half of them have a confidence below 0.65, as hardly any text has."""
    assert sum(rows[name]["confidence"] < 0.65 for name in HARD_ONES) > len(HARD_ONES) / 2


@needs_ocr
def test_confidence_orders_documents(report: Report) -> None:
    """Whoever reviews documents by confidence, the least sure first, meets the mistakes first."""
    assert report.rank_correlation is not None
    assert report.rank_correlation > 0.4
    assert report.separation is not None
    assert report.separation > 0.85


@needs_ocr
def test_the_documented_accuracy_is_todays(report: Report) -> None:
    """The tables of docs/parsing.md are what --check --markdown prints for the samples."""
    section = DOCS.read_text("utf-8").partition(HEADING)[2].partition("\n## ")[0]
    version = pytesseract.get_tesseract_version()
    known = f"tesseract {version.major}.{version.minor}"
    if known not in section:
        pytest.skip(f"the documented tables are not those of {known}")
    assert report.markdown() in section, "run docs/build_accuracy.py"


def test_a_long_statement_stays_below_the_limit_of_a_result(rows: dict[str, Row]) -> None:
    """More than a hundred pages give a result of less than 1 MiB."""
    result = rows["statement-year"]["result"]
    assert result["page_count"] > 100
    assert len(json.dumps(result, ensure_ascii=False).encode()) < 2**20
