"""Rows are what a reader sees: words of one cell together, cells apart."""

from itertools import count
from pathlib import Path

import pytest
from reportlab.pdfbase.cidfonts import UnicodeCIDFont
from reportlab.pdfbase.pdfmetrics import registerFont
from reportlab.pdfgen.canvas import Canvas

from forebay_agents.pages import Page
from forebay_agents.reading.pdf import Pdf

from .hostile import one_page, to_unicode
from .pdfs import pdf, text


def read(tmp_path: Path, content: bytes) -> Page:
    """Read the first page of a PDF."""
    path = tmp_path / "page.pdf"
    path.write_bytes(content)
    return Pdf(path).page(1)


def rows(tmp_path: Path, content: bytes) -> list[list[str]]:
    """Return the texts of a page's rows; `content` is drawn in /F, which is Helvetica."""
    return [[s.text for s in row] for row in read(tmp_path, one_page(content)).rows]


def test_characters_of_one_line_stay_together_in_any_font_size(tmp_path: Path) -> None:
    """A mark set smaller or bigger than the digits around it is not lost from the number."""
    content = b"BT /F 10 Tf 50 700 Td (Total 11,062) Tj /F 40 Tf (.) Tj /F 10 Tf (60) Tj ET\n"
    small = content.replace(b"50 700", b"50 680").replace(b"F 40", b"F 2")
    assert rows(tmp_path, content + small) == [["Total 11,062.60"]] * 2


def test_what_is_drawn_letter_by_letter_is_words(tmp_path: Path) -> None:
    """Letters drawn one by one, the last line first, make the words that they look like."""
    places = (50, 56, 62, 65, 70, 75, 81)  # as Helvetica spaces them
    letters = [(x, 680, letter) for x, letter in zip(places, "Total99", strict=True)]
    letters.reverse()
    assert rows(tmp_path, text(*letters, (50, 700, "first"))) == [["first"], ["Total 99"]]


def test_kerned_letters_stay_one_word(tmp_path: Path) -> None:
    """Letters moved a little, as kerning does, are one word; a wide move parts words."""
    content = b"BT /F 10 Tf 50 700 Td [(T) 80 (ot) -60 (al) -280 (d) 20 (ue)] TJ ET"
    assert rows(tmp_path, content) == [["Total due"]]


def test_a_narrow_space_parts_words_whose_letters_touch(tmp_path: Path) -> None:
    """A space that kerning made narrow, and that is not drawn, is one where letters stand close."""
    content = b"BT /F 10 Tf 50 700 Td (CANTONEIRA) Tj 67.06 0 Td (LARGA) Tj ET"
    assert rows(tmp_path, content) == [["CANTONEIRA LARGA"]]


@pytest.mark.parametrize(
    ("printed", "said"),
    [("株式会社ミナミ 御中", "株式会社ミナミ 御中"), ("ご 請 求 書", "ご請求書")],
)
def test_spaces_between_japanese_words_are_kept(printed: str, said: str, tmp_path: Path) -> None:
    """A space that is seen parts words, but not the single characters of a title."""
    registerFont(UnicodeCIDFont("HeiseiMin-W3"))
    canvas = Canvas(str(tmp_path / "page.pdf"))
    canvas.setFont("HeiseiMin-W3", 12)
    for part, x in zip(printed.split(), count(50, 12 * len(printed.split()[0]) + 4), strict=False):
        canvas.drawString(x, 700, part)
    canvas.save()
    assert [[s.text for s in row] for row in Pdf(tmp_path / "page.pdf").page(1).rows] == [[said]]


def test_spaced_out_titles_are_words(tmp_path: Path) -> None:
    """A title is a word, however its letters were set apart."""
    spaced = b"BT /F 20 Tf 5 Tc 50 700 Td (INVOICE) Tj ET BT 0 Tc /F 10 Tf 50 650 Td (plain) Tj ET "
    typed = b"BT /F 12 Tf 50 600 Td (R E C H N U N G) Tj ET "
    wide = b"BT /F 12 Tf 25 Tc 50 550 Td (FACTURE) Tj ET"
    expected = [["INVOICE"], ["plain"], ["RECHNUNG"], ["FACTURE"]]
    assert rows(tmp_path, spaced + typed + wide) == expected


def test_spaced_out_words_stay_two(tmp_path: Path) -> None:
    """Words of a spaced-out title are parted where the space is."""
    content = b"BT /F 12 Tf 3 Tc 50 700 Td (TAX INVOICE) Tj ET"
    assert rows(tmp_path, content) == [["TAX INVOICE"]]


def test_cells_are_parted_by_a_gap_without_a_space(tmp_path: Path) -> None:
    """Where words are parted by spaces, a gap without one parts cells, even a narrow one."""
    label = b"BT /F 10 Tf 50 700 Td (Unit price per item) Tj ET "
    line = label + b"BT /F 10 Tf 138 700 Td (Amount) Tj ET"
    assert rows(tmp_path, line) == [["Unit price per item", "Amount"]]


def test_words_without_any_space_are_still_words(tmp_path: Path) -> None:
    """Where a printer draws no spaces, as TeX does, narrow gaps part words and wide ones cells."""
    content = (
        b"BT /F 10 Tf 50 700 Td [(Total) -330 (amount) -330 (due) -3000 (119.00)] TJ ET "
        b"BT /F 10 Tf 50 680 Td [(paid) -450 (in) -450 (full)] TJ ET"
    )
    assert rows(tmp_path, content) == [["Total amount due", "119.00"], ["paid in full"]]


def test_a_line_between_them_parts_cells(tmp_path: Path) -> None:
    """Words on both sides of an upright line are two cells, however close they are."""
    words = b"BT /F 10 Tf 50 700 Td (Net) Tj ET BT /F 10 Tf 70 700 Td (100) Tj ET "
    assert rows(tmp_path, words) == [["Net 100"]]
    assert rows(tmp_path, words + b"68 690 m 68 715 l S") == [["Net", "100"]]
    assert rows(tmp_path, words + b"68 720 m 68 790 l S") == [["Net 100"]]


@pytest.mark.parametrize("leader", [".", "_", " ."])
def test_leaders_part_cells_and_are_no_words(leader: str, tmp_path: Path) -> None:
    """Dots that lead from a label to its value are neither's."""
    content = text((50, 700, "Total " + leader * 40 + " 99.00"))
    assert rows(tmp_path, content) == [["Total", "99.00"]]


def test_what_is_drawn_twice_is_read_once(tmp_path: Path) -> None:
    """Bold letters made by drawing them twice, a little aside, are there once."""
    content = text((50, 700, "Total"), (200, 700, "99")) + (
        b"BT /F 10 Tf 50.4 700 Td (Total) Tj ET BT /F 10 Tf 200.3 700 Td (99) Tj ET"
    )
    assert rows(tmp_path, content) == [["Total", "99"]]


def test_raised_letters_belong_to_their_line(tmp_path: Path) -> None:
    """A superscript is part of the word that it follows."""
    content = b"BT /F 10 Tf 50 700 Td (12 m) Tj /F 6 Tf 3.5 Ts (2) Tj /F 10 Tf 0 Ts ( floor) Tj ET"
    assert rows(tmp_path, content) == [["12 m2 floor"]]


def test_words_that_run_upwards_are_words(tmp_path: Path) -> None:
    """Words along the page's edge come after the others, as words, with their place as shown."""
    content = text((50, 700, "level words of a page"))
    content += b"BT /F 10 Tf 0 1 -1 0 20 300 Tm (VAT ID DE1) Tj ET"
    page = read(tmp_path, one_page(content))
    assert [[s.text for s in row] for row in page.rows] == [
        ["level words of a page"],
        ["VAT ID DE1"],
    ]
    left, top, right, bottom = page.rows[1][0].box
    assert right - left < 20 < bottom - top
    assert abs(bottom - 500) < 1


def test_a_page_printed_sideways_is_turned(tmp_path: Path) -> None:
    """Where most words run another way, rows, boxes and tables are those of the turned page."""
    table = b"50 100 m 250 100 l 50 120 m 250 120 l 50 140 m 250 140 l " + (
        b"50 100 m 50 140 l 150 100 m 150 140 l 250 100 m 250 140 l S "
    )
    cells = text((60, 125, "a"), (160, 125, "b"), (60, 105, "c"), (160, 105, "d"))
    sideways = b"0 1 -1 0 600 0 cm " + table + cells + text((50, 500, "Date: 2026-03-01"))
    page = read(tmp_path, one_page(sideways))
    assert (page.width, page.height, page.rotation) == (800.0, 600.0, 90)
    assert [[s.text for s in row] for row in page.rows] == [
        ["Date: 2026-03-01"],
        ["a", "b"],
        ["c", "d"],
    ]
    assert page.rows[0][0].box[0] == 50
    assert page.tables[0].rows == [["a", "b"], ["c", "d"]]
    assert page.tables[0].box == (50, 460, 250, 500)


@pytest.mark.parametrize(
    "shown",
    [b"(TOTAL HORS TAXES  12,00) Tj", b"[(TOTAL) -600 (HORS) -600 (TAXES) -1200 (12,00)] TJ"],
)
def test_one_space_of_a_typewriter_parts_no_cells(shown: bytes, tmp_path: Path) -> None:
    """In a font whose letters are equally wide, one space parts words, and two part cells."""
    content = one_page(b"BT /F 10 Tf 50 700 Td %s ET" % shown)
    page = read(tmp_path, content.replace(b"/BaseFont/Helvetica", b"/BaseFont/Courier"))
    assert [[s.text for s in row] for row in page.rows] == [["TOTAL HORS TAXES", "12,00"]]


def test_a_watermark_is_one_row_at_the_end(tmp_path: Path) -> None:
    """Slanted words do not mix with the rows that they cross."""
    slanted = b"BT /F 60 Tf 0.7 0.7 -0.7 0.7 100 300 Tm (COPY) Tj ET "
    found = rows(tmp_path, slanted + text((50, 500, "one"), (50, 400, "two")))
    assert found == [["one"], ["two"], ["COPY"]]


def test_the_text_keeps_the_order_in_which_it_was_drawn(tmp_path: Path) -> None:
    """Columns that were drawn one after the other stay whole in the text; rows go across."""
    words = ((50, 700, "left one"), (50, 688, "left two"), (300, 700, "right one"))
    page = read(tmp_path, pdf([text(*words)]))
    assert page.text == "left one\nleft two\nright one"
    assert [[s.text for s in row] for row in page.rows] == [["left one", "right one"], ["left two"]]


@pytest.mark.parametrize(
    ("letter", "move", "expected"),
    [
        (b"8acb", b"0 -8 TD", "請請請請請"),  # from top to bottom
        (b"8acb", b"30 0 Td", "請請請請請"),  # a title, set wide
        (b"05d0", b"-8 0 Td", "אאאאא"),  # from right to left
    ],
)
def test_other_ways_to_write_are_read(
    letter: bytes, move: bytes, expected: str, tmp_path: Path
) -> None:
    """Columns of Japanese, wide titles and words from right to left are each one piece."""
    shown = b" ".join([b"(A) Tj %s" % move] * 5)
    page = read(tmp_path, to_unicode(letter, shown))
    assert [[s.text for s in row] for row in page.rows] == [[expected]]


def test_a_cell_that_spans_others_stands_first(tmp_path: Path) -> None:
    """All rows of a table are equally long; a wide cell's text is in its first place."""
    lines = b"50 600 m 350 600 l 50 620 m 350 620 l 50 640 m 350 640 l 50 660 m 350 660 l "
    lines += b"50 600 m 50 660 l 350 600 m 350 660 l 150 620 m 150 660 l 250 620 m 250 660 l S "
    cells = [(60, 645, "Item"), (160, 645, "Qty"), (260, 645, "Sum"), (60, 625, "Pump")]
    cells += [(160, 625, "2"), (260, 625, "9.00"), (60, 605, "Total 9.00")]
    page = read(tmp_path, one_page(lines + text(*cells)))
    (table,) = page.tables
    assert table.rows == [["Item", "Qty", "Sum"], ["Pump", "2", "9.00"], ["Total 9.00", "", ""]]
    assert table.box == (50, 140, 350, 200)


def test_two_tables_are_two(tmp_path: Path) -> None:
    """Grids that do not touch are tables of their own, from the top downwards."""

    def grid(x: int, y: int) -> bytes:
        rects = [(x + 50 * i, y + 20 * j) for i in (0, 1) for j in (0, 1)]
        drawn = b"".join(b"%d %d 50 20 re S " % rect for rect in rects)
        return drawn + text(*((x + 9, y + 6, f"{x}/{y}") for x, y in rects))

    page = read(tmp_path, one_page(grid(300, 200) + grid(50, 600)))
    assert [table.rows[0] for table in page.tables] == [
        ["50/620", "100/620"],
        ["300/220", "350/220"],
    ]


def test_a_frame_and_an_underline_are_no_table(tmp_path: Path) -> None:
    """A box around words and lines under them rule no cells."""
    drawn = b"40 600 300 100 re S 40 650 m 340 650 l S 60 500 m 200 500 l S "
    assert read(tmp_path, one_page(drawn + text((50, 660, "a"), (50, 610, "b")))).tables == []
