"""What files are at a glance: by one rule, for the command line and for intake."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.pdfgen.canvas import Canvas

from forebay.looking import look
from forebay_agents.reading.limits import Limits


def pdf(path: Path, pages: int = 1, **options: object) -> Path:
    """Write a PDF file of so many pages."""
    canvas = Canvas(str(path), **options)
    for page in range(pages):
        canvas.drawString(72, 720, f"Page {page}")
        canvas.showPage()
    canvas.save()
    return path


def test_a_file_has_pages_and_may_cost_something(tmp_path: Path) -> None:
    """More pages cost more, and a file that can be read is no problem."""
    short, long = look([pdf(tmp_path / "1.pdf"), pdf(tmp_path / "9.pdf", pages=9)])
    assert (short.pages, long.pages) == (1, 9)
    assert long.estimated_tokens > short.estimated_tokens > 0
    assert (short.problem, long.problem) == (None, None)


def test_what_no_agent_can_read_is_a_sentence(tmp_path: Path) -> None:
    """Cut off, locked, or over a limit: said in one sentence, while the others go on."""
    whole = pdf(tmp_path / "whole.pdf", pages=3)
    cut = tmp_path / "cut.pdf"
    cut.write_bytes(whole.read_bytes()[:200])
    locked = pdf(tmp_path / "locked.pdf", encrypt=StandardEncryption("weir"))
    limits = replace(Limits.from_environment(), pages=3)
    seen = list(look([cut, locked, whole, pdf(tmp_path / "4.pdf", pages=4)], limits))
    assert [each.problem is None for each in seen] == [False, False, True, False]
    for each in seen:
        assert each.problem is None or each.problem.endswith(".")
        assert each.estimated_tokens > 0


def test_files_are_asked_for_one_by_one(tmp_path: Path) -> None:
    """They may arrive while others are looked at."""
    asked: list[Path] = []

    def arriving() -> Iterator[Path]:
        for name in ("a.pdf", "b.pdf"):
            asked.append(pdf(tmp_path / name))
            yield asked[-1]

    looks = look(arriving())
    assert next(looks).path == tmp_path / "a.pdf"
    assert len(asked) == 1
    assert [each.path for each in looks] == [tmp_path / "b.pdf"]


def test_without_the_agents_the_size_tells(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody counts pages then, and nothing is known to be a problem."""
    monkeypatch.setattr("forebay.looking.has", lambda extra: False)
    small, large = tmp_path / "small.pdf", tmp_path / "large.pdf"
    small.write_bytes(b"%PDF-")
    large.write_bytes(b"%PDF-" + b"x" * 500_000)
    one, other = look([small, large])
    assert other.estimated_tokens > 5 * one.estimated_tokens > 0
    assert (one.pages, one.problem) == (None, None)
