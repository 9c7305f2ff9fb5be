"""The tokens estimated at submission are within 30 % of the real prompts of the samples."""

import re
from pathlib import Path

import pytest

from forebay_agents.languages import LANGUAGES
from forebay_agents.models.answer import Answer, schema_text
from forebay_agents.models.chunks import Chunk, shown
from forebay_agents.models.estimate import PAGE, PROMPT, TextSize, chunk_tokens, estimate_tokens
from forebay_agents.models.model import prompt_of
from forebay_agents.models.prompts import EXTRACT, prompt
from forebay_agents.reading.reader import Reader
from forebay_lab.model_server.tokens import encode
from forebay_lab.prompt_sizes import comparisons, main, real_tokens, table
from forebay_lab.samples import Sample, names, write_samples
from forebay_lab.samples.plans import PLANS

from .conftest import RecordedAttempt
from .model_support import INVOICE, page, statement_pages

LARGEST_DEVIATION = 0.3
LONGEST = "statement-year"

SOME = sorted({*names()[2::3], LONGEST})
"""A third of the samples; `python -m forebay_lab.prompt_sizes` compares them all."""


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Sample]]:
    """Return a folder with some samples, and the truth about them."""
    folder = tmp_path_factory.mktemp("samples")
    return folder, write_samples(folder, SOME)


@pytest.mark.timeout(300)
def test_samples_are_estimated_within_thirty_percent(written: tuple[Path, list[Sample]]) -> None:
    """The estimate from an inspection is close to the prompts that a tokenizer counts."""
    found = list(comparisons(sorted(written[0].glob("*.pdf"))))
    print(table(found))
    assert len(found) >= 40
    assert max(one.pages for one in found) > 100
    assert max(abs(one.deviation) for one in found) < LARGEST_DEVIATION


def test_the_samples_that_are_compared_are_of_all_sorts(
    written: tuple[Path, list[Sample]],
) -> None:
    """Each language is among them, and each kind of document that the samples have."""
    _, samples = written
    assert {one.fields["language"] for one in samples if one.fields} == set(LANGUAGES)
    assert {one.fields["kind"] for one in samples if one.fields} == {plan.kind for plan in PLANS}


def test_the_constant_for_a_call_is_the_prompt_that_is_sent() -> None:
    """A changed prompt or schema shows here: the estimates would be off for every document."""
    fixed = len(encode(prompt(EXTRACT))) + len(encode(schema_text(Answer)))
    assert fixed == pytest.approx(PROMPT, rel=0.05)


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("vertrag", r"[^0-9]+"),
        ("invoice-long", r".*[0-9].*"),
        ("rechnung-lang", r".*[0-9].*"),
        ("jp-keiyaku", r"[^ -~]+"),
    ],
    ids=["prose", "numbers", "German numbers", "wide characters"],
)
def test_the_constants_for_characters_are_what_a_tokenizer_counts(
    name: str, wanted: str, tmp_path: Path
) -> None:
    """Each sort of text is estimated well by itself: no error hides behind another one."""
    write_samples(tmp_path, [name])
    with Reader(tmp_path / f"{name}.pdf", RecordedAttempt({})) as reader:
        rows = [
            shown(row) for number in range(reader.pages) for row in reader.page(number + 1).rows
        ]
    text = "\n".join(row for row in rows if re.fullmatch(wanted, row))
    assert len(text) > 500
    assert TextSize.of(text, pages=0).tokens() == pytest.approx(len(encode(text)), rel=0.1)


def test_the_constant_for_a_page_is_the_row_that_marks_it() -> None:
    """A page costs the row over it, whatever its number."""
    chunk = Chunk.of([page(number) for number in (1, 20, 300)])
    marked = chunk.fenced("3fa9c01b").removesuffix("=== 3fa9c01b end")
    assert len(encode(marked)) / 3 == pytest.approx(PAGE, rel=0.1)


def test_what_is_counted_is_what_is_sent() -> None:
    """The prompt of a page holds the instructions, the schema and the page's text."""
    (sent,) = prompt_of([page(1, *INVOICE)])
    assert prompt(EXTRACT) in sent
    assert schema_text(Answer) in sent
    assert "Gesamtbetrag   119,00 €" in sent


def test_a_long_document_pays_the_prompt_for_every_chunk() -> None:
    """More calls than one are estimated where the text fits no single one."""
    sent = prompt_of(statement_pages(60))
    assert len(sent) > 2
    characters = sum(len(row) for row in sent) - len(sent) * 4000
    text = TextSize(60, characters).tokens()
    estimated = estimate_tokens(60, characters, 0)
    assert estimated == text + PROMPT * -(-text // chunk_tokens(32_000))
    assert estimated > 2 * PROMPT + 60 * PAGE
    assert real_tokens(statement_pages(60)) > len(sent) * PROMPT


def test_more_of_anything_is_never_estimated_as_less() -> None:
    """Pages, characters, digits and wide characters each add to an estimate; nothing is 0."""
    base = estimate_tokens(1, 1000, 100, 100)
    assert estimate_tokens(0, 0, 0) == 0
    assert estimate_tokens(2, 1000, 100, 100) > base
    assert estimate_tokens(1, 1100, 100, 100) > base
    assert estimate_tokens(1, 1000, 200, 100) > base
    assert estimate_tokens(1, 1000, 100, 200) > base


def test_digits_that_were_not_counted_are_a_tenth() -> None:
    """An estimate without their number takes a usual share of the narrow characters."""
    assert estimate_tokens(1, 1000, 400) == estimate_tokens(1, 1000, 400, 60)


def test_the_size_of_a_text_tells_wide_characters_and_digits() -> None:
    """Full-width digits are wide, narrow ones are digits."""
    assert TextSize.of("合計 ¥1,155 １２") == TextSize(1, 12, 4, 4)


def test_the_command_prints_the_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each document has a line, and the last line tells the worst; a bare folder says so."""
    write_samples(tmp_path, ["us-receipt-till"])
    main([str(tmp_path)])
    header, row, last = capsys.readouterr().out.splitlines()
    assert header.split() == ["document", "pages", "real", "estimated", "deviation"]
    assert row.startswith("us-receipt-till.pdf")
    assert last.startswith("1 documents, at most ")
    main([str(tmp_path / "none")])
    assert capsys.readouterr().out == "No document there can be read and has text.\n"
