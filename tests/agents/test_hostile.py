"""Whatever a PDF does, it is read or refused in a sentence, and the reader lives."""

import json
import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from forebay_agents.pages import Page
from forebay_agents.reading.inspection import inspect
from forebay_agents.reading.process import PATIENCE
from forebay_agents.reading.reader import DocumentError, Limits, Reader

from . import hostile
from .conftest import RecordedAttempt

LIMITS = Limits(memory_mb=384, seconds_to_open=10, seconds_per_page=5)

LIMIT = 2_000_000
"""Bytes of an attached file."""

LONGEST = PATIENCE * (LIMITS.seconds_to_open + 2 * LIMITS.seconds_per_page) + 3
"""Seconds that opening a document, its attachments and one page may take, and some for starting."""

NO_NAMES = re.compile(r"Error|Exception|pdfium|Pdfium|errno|Traceback|0x", re.IGNORECASE)
"""What means nothing to a person who sent a file."""


def outcome(path: Path, content: bytes) -> tuple[list[Page], list[str]]:
    """Read a file's first two pages and attachments; return the pages, and all that people see."""
    path.write_bytes(content)
    try:
        with Reader(path, RecordedAttempt({}), LIMITS) as reader:
            pages = [reader.page(number) for number in range(1, min(reader.pages, 2) + 1)]
            assert all(
                isinstance(data, bytes)
                for data in reader.attached(["factur-x.xml"], LIMIT).values()
            )
            notes = [*reader.notes, *(note for page in pages for note in page.notes)]
    except DocumentError as error:
        return [], [error.message]
    return pages, notes


def assert_sentences(sentences: list[str]) -> None:
    for sentence in sentences:
        assert sentence.endswith("."), sentence
        assert not NO_NAMES.search(sentence), sentence


@pytest.mark.parametrize("make", hostile.ODDITIES.values(), ids=hostile.ODDITIES)
def test_what_lies_or_loops_is_read_or_refused(make: Callable[[], bytes], tmp_path: Path) -> None:
    """A document that lies about itself costs little time, and what comes of it is JSON."""
    before = time.monotonic()
    pages, sentences = outcome(tmp_path / "odd.pdf", make())
    assert time.monotonic() - before < LONGEST
    assert pages or sentences
    assert_sentences(sentences)
    for page in pages:
        assert 0 <= page.coverage <= 1
        assert 0 < page.width < 1e7 or page.is_broken
        json.dumps([page.width, page.height, page.coverage], allow_nan=False)
        page.text.encode()  # raises for half a surrogate pair
        assert "\0" not in page.text


@pytest.mark.parametrize("make", hostile.BOMBS.values(), ids=hostile.BOMBS)
def test_bombs_are_read_or_refused_within_the_limits(
    make: Callable[[], bytes], tmp_path: Path
) -> None:
    """A small file that becomes a huge one loses a page at most, and says why."""
    content = make()
    before = time.monotonic()
    pages, sentences = outcome(tmp_path / "bomb.pdf", content)
    assert time.monotonic() - before < LONGEST
    assert_sentences(sentences)
    assert len(pages) == 1
    assert not pages[0].is_broken or sentences


def test_a_bomb_names_the_limit_that_it_broke(tmp_path: Path) -> None:
    """Two million lines need more memory than is given, as far as pdfium's abort can tell."""
    _, sentences = outcome(tmp_path / "bomb.pdf", hostile.many_paths())
    assert sentences == ["Page 1 seems to need more than 384 MB of memory and was skipped."]


def test_pages_after_a_bomb_are_read(tmp_path: Path) -> None:
    """A new child reads on where the first was lost."""
    content = hostile.two_pages(b"/N Do ", b"BT /F 12 Tf 50 700 Td (after the bomb) Tj ET")
    pages, sentences = outcome(tmp_path / "second.pdf", content)
    assert [page.is_broken for page in pages] == [True, False]
    assert pages[1].text == "after the bomb"
    assert len(sentences) == 1


@pytest.mark.parametrize("files", [hostile.truncated, hostile.flipped], ids=["cut", "flipped"])
def test_damaged_files_are_read_or_refused(
    files: Callable[[], dict[str, bytes]], tmp_path: Path
) -> None:
    """Any part of a good file, and a good file with wrong bytes, gives pages or a sentence."""
    for name, content in files().items():
        (tmp_path / f"{name}.pdf").write_bytes(content)
    paths = sorted(tmp_path.iterdir())
    found = list(inspect(paths, LIMITS))
    assert [each.path for each in found] == paths
    for each in found:
        assert (each.problem is None) == (each.pages is not None)
        assert_sentences([each.problem] if each.problem else [])
    assert any(each.problem for each in found)


def test_words_of_a_virus_are_words(tmp_path: Path) -> None:
    """What looks like malware on a page is text like any other."""
    pages, _ = outcome(tmp_path / "words.pdf", hostile.eicar_like())
    assert pages[0].text.startswith("X5O!P%@AP")


def test_scripts_do_not_run_and_values_are_read(tmp_path: Path) -> None:
    """A field that computes itself for ever by a script shows the value that it was saved with."""
    pages, _ = outcome(tmp_path / "script.pdf", hostile.scripted_form())
    assert "119.00" in pages[0].text


@pytest.mark.parametrize("target", [b"0000", b"d800", b"dc00", b"e001"])
def test_letters_without_a_meaning_are_no_text(target: bytes, tmp_path: Path) -> None:
    """A page of NULs, half surrogates or private characters counts as one without text."""
    (page,), sentences = outcome(tmp_path / "odd.pdf", hostile.to_unicode(target))
    assert (page.text, page.rows, page.source, page.certainty) == ("", [], "none", 0.0)
    assert sentences == ["The fonts of page 1 do not say what its characters mean."]


def test_a_pair_of_surrogates_is_its_character(tmp_path: Path) -> None:
    """What PDF writes as two halves is one character outside."""
    (page,), _ = outcome(tmp_path / "odd.pdf", hostile.to_unicode(b"d83dde00"))
    assert page.text == "\N{GRINNING FACE}" * 3
