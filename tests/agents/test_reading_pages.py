"""A page is read as a person sees it: sizes, places, pictures, forms, and what is hidden."""

from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image
from pypdf import PdfWriter

from forebay_agents.pages import Box, Page
from forebay_agents.reading import drawings, rendering
from forebay_agents.reading import pdf as pdf_module
from forebay_agents.reading.errors import DocumentError
from forebay_agents.reading.inspection import inspect
from forebay_agents.reading.pdf import Pdf
from forebay_agents.reading.reader import Reader

from . import hostile
from .conftest import RecordedAttempt
from .hostile import attached, one_page, stream
from .pdfs import pdf, text

INVISIBLE = b"BT 3 Tr /F 12 Tf 50 700 Td (read by a scanner) Tj ET"

PICTURE = {6: stream(b"\x80", b"/Subtype/Image/Width 1/Height 1/BitsPerComponent 8"
                     b"/ColorSpace/DeviceGray")}  # fmt: skip


def read(tmp_path: Path, content: bytes) -> Page:
    """Read the first page of a PDF."""
    path = tmp_path / "page.pdf"
    path.write_bytes(content)
    return Pdf(path).page(1)


def texts(page: Page) -> list[list[str]]:
    return [[segment.text for segment in row] for row in page.rows]


def pictured(content: bytes) -> bytes:
    """Return a page that a grey picture fills, with something drawn after it."""
    drawn = b"q 600 0 0 800 0 0 cm /I Do Q " + content
    return one_page(drawn, resources=b"/XObject<</I 6 0 R>>", more=PICTURE)


def close(one: Box, other: Box) -> bool:
    return all(abs(a - b) < 4 for a, b in zip(one, other, strict=True))


@pytest.mark.parametrize(
    ("rotation", "matrix", "size"),
    [
        (0, b"1 0 0 1 0 0", (600.0, 800.0)),
        (90, b"0 1 -1 0 600 0", (800.0, 600.0)),
        (180, b"-1 0 0 -1 600 800", (600.0, 800.0)),
        (270, b"0 -1 1 0 0 800", (800.0, 600.0)),
    ],
)
def test_a_turned_page_is_read_as_it_is_shown(
    rotation: int, matrix: bytes, size: tuple[float, float], tmp_path: Path
) -> None:
    """Rows, boxes, tables and the page's size are what a reader sees, however it is turned."""
    table = b"50 300 m 250 300 l 50 320 m 250 320 l 50 340 m 250 340 l " + (
        b"50 300 m 50 340 l 150 300 m 150 340 l 250 300 m 250 340 l S "
    )
    words = [(50, 500, "Date:"), (150, 500, "2026-03-01"), (50, 400, "below")]
    cells = [(60, 325, "a"), (160, 325, "b"), (60, 305, "c"), (160, 305, "d")]
    content = matrix + b" cm " + table + text(*words, *cells)
    page = read(tmp_path, pdf([content], b"/Rotate %d" % rotation))
    assert (page.width, page.height, page.rotation) == (*size, rotation)
    assert texts(page) == [["Date:", "2026-03-01"], ["below"], ["a", "b"], ["c", "d"]]
    top = page.height - 500
    assert close(page.rows[0][0].box, (50, top - 8, 75, top + 2))
    assert [table.rows for table in page.tables] == [[["a", "b"], ["c", "d"]]]
    assert close(page.tables[0].box, (50, page.height - 340, 250, page.height - 300))


def test_places_are_counted_from_the_part_that_is_shown(tmp_path: Path) -> None:
    """A crop box moves the corner that places are counted from, and hides what is outside."""
    content = text((150, 700, "inside"), (20, 700, "outside"))
    page = read(tmp_path, pdf([content], b"/CropBox[100 200 600 800]"))
    assert (page.width, page.height) == (500.0, 600.0)
    assert texts(page) == [["inside"]]
    assert close(page.rows[0][0].box, (50, 92, 76, 102))
    assert page.notes == ["Page 1 holds words that nobody sees; they are left out."]


def test_coverage_is_the_share_of_words(tmp_path: Path) -> None:
    """A blank page covers nothing; a line of words covers its own box."""
    assert read(tmp_path, pdf([b""])).coverage == 0
    page = read(tmp_path, pdf([text((50, 700, "W" * 40))]))
    left, top, right, bottom = page.rows[0][0].box
    assert page.coverage == pytest.approx((right - left) * (bottom - top) / (600 * 800), abs=1e-4)


def test_a_page_without_words_is_blank_or_a_scan(tmp_path: Path) -> None:
    """A picture that fills a page without words makes it a scan; an empty page is none."""
    blank, scan = read(tmp_path, pdf([b""])), read(tmp_path, pictured(b""))
    assert (blank.is_scanned, blank.source, blank.certainty) == (False, "none", 0.0)
    assert (scan.is_scanned, scan.source, scan.certainty) == (True, "none", 0.0)
    assert blank.notes == scan.notes == []


OUTLINES = b" ".join(b"%d %d m 9 9 20 20 30 9 c f" % (n, n) for n in range(400))


@pytest.mark.parametrize(
    ("content", "needs_ocr"),
    [
        (one_page(b""), False),
        (one_page(b"10 10 100 100 re S 20 20 m 90 90 l S"), False),
        (one_page(b"1 g " + OUTLINES), False),
        (one_page(OUTLINES), True),
        (pictured(b""), True),
        (hostile.to_unicode(b"e000"), True),
        (one_page(OUTLINES + b" BT /F 12 Tf 50 700 Td (printed) Tj ET"), False),
        (pictured(INVISIBLE), False),
    ],
    ids=["blank", "lines", "white", "outlines", "picture", "odd_font", "words", "scanned_words"],
)
def test_a_page_that_shows_words_which_it_does_not_give_needs_ocr(
    content: bytes, needs_ocr: bool, tmp_path: Path
) -> None:
    """Pictures, letters drawn as outlines and fonts without a meaning are for OCR, if all is."""
    assert read(tmp_path, content).needs_ocr is needs_ocr


def test_what_is_not_looked_at_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A page with more drawings than are looked at says so."""
    monkeypatch.setattr(drawings, "OBJECTS", 10)
    page = read(tmp_path, one_page(b"9 9 m 99 9 l S " * 11))
    assert page.notes == ["Page 1 holds too many drawings; tables may be missing."]


def test_words_behind_a_scan_count_and_are_trusted_less(tmp_path: Path) -> None:
    """Words without colour over a picture are a scanner's OCR: text, on a scanned page."""
    page = read(tmp_path, pictured(INVISIBLE))
    assert page.text == "read by a scanner"
    assert (page.is_scanned, page.source) == (True, "text")
    assert page.certainty == pdf_module.LAYER_CERTAINTY


def test_a_page_with_a_background_is_no_scan(tmp_path: Path) -> None:
    """Visible words over a picture are the page's own."""
    page = read(tmp_path, pictured(b"BT /F 12 Tf 50 700 Td (printed) Tj ET"))
    assert (page.text, page.is_scanned, page.certainty) == ("printed", False, 1.0)


@pytest.mark.parametrize(
    "hidden",
    [
        INVISIBLE,
        b"1 g BT /F 12 Tf 50 700 Td (white on white) Tj ET",
        b"BT /F 12 Tf 5000 700 Td (off the page) Tj ET",
    ],
    ids=["no_colour", "white_on_white", "off_the_page"],
)
def test_words_that_nobody_sees_are_left_out(hidden: bytes, tmp_path: Path) -> None:
    """What cannot be seen is no text of the page, and it is said that there was some."""
    page = read(tmp_path, one_page(hidden + b" 0 g BT 0 Tr /F 12 Tf 50 600 Td (seen) Tj ET"))
    assert (page.text, texts(page)) == ("seen", [["seen"]])
    assert page.notes == ["Page 1 holds words that nobody sees; they are left out."]


@pytest.mark.parametrize(("state", "said"), [(b"OFF", "seen"), (b"ON", "seen\nlayered")])
def test_words_of_a_layer_are_read_while_it_is_switched_on(
    state: bytes, said: str, tmp_path: Path
) -> None:
    """What stands on a layer that is switched off is seen by nobody."""
    page = read(
        tmp_path,
        one_page(
            b"BT /F 12 Tf 50 700 Td (seen) Tj ET"
            b" /OC /L BDC BT /F 12 Tf 50 600 Td (layered) Tj ET EMC",
            resources=b"/Properties<</L 6 0 R>>",
            catalog=b"/OCProperties<</OCGs[6 0 R]/D<</%s[6 0 R]>>>>" % state,
            more={6: b"<</Type/OCG/Name(draft)>>"},
        ),
    )
    assert page.text == said
    assert bool(page.notes) == (state == b"OFF")


def test_white_words_on_a_dark_ground_are_read(tmp_path: Path) -> None:
    """White is a colour like others where the ground is not white."""
    heading = b"0 0 0.4 rg 40 690 300 30 re f 1 g BT /F 12 Tf 50 700 Td (Description) Tj ET"
    page = read(tmp_path, one_page(heading))
    assert (page.text, page.notes) == ("Description", [])


def test_what_is_filled_into_a_form_is_read(tmp_path: Path) -> None:
    """A field's value stands in text and rows, at the field's place."""
    field = (
        b"<</Type/Annot/Subtype/Widget/FT/Tx/T(total)/V(119.00)/Rect[150 695 300 715]/P 3 0 R"
        b"/F 4/DA(/F 12 Tf 0 g)>>"
    )
    page = read(
        tmp_path,
        one_page(
            b"BT /F 12 Tf 50 700 Td (Total:) Tj ET",
            catalog=b"/AcroForm<</Fields[6 0 R]/NeedAppearances true/DR<</Font<</F 4 0 R>>>>>>",
            page=b"/MediaBox[0 0 600 800]/Annots[6 0 R]",
            more={6: field},
        ),
    )
    assert texts(page) == [["Total:", "119.00"]]
    assert "119.00" in page.text
    assert 149 <= page.rows[0][1].box[0] < page.rows[0][1].box[2] <= 301


def test_ligatures_and_hyphens_are_letters(tmp_path: Path) -> None:
    """A ligature is its letters, and a word that a hyphen parts is whole in the text."""
    ligature = read(tmp_path, hostile.to_unicode(b"fb01", b"(A)"))
    assert ligature.text == "fi"
    parted = text((50, 700, "The pay-"), (50, 688, "ment is due"))
    page = read(tmp_path, pdf([parted]))
    assert page.text == "The payment is due"
    assert texts(page) == [["The pay-"], ["ment is due"]]


def test_some_letters_without_a_meaning_lower_the_certainty(tmp_path: Path) -> None:
    """Certainty falls by the share of characters that a font does not explain."""
    page = read(tmp_path, hostile.to_unicode(b"e000", b"(ABBB)"))
    assert page.certainty == 0.75
    assert page.source == "text"


def test_attached_files_are_found_by_how_their_names_end(tmp_path: Path) -> None:
    """XML is handed over, which may be an e-invoice's; no other attached file is."""
    path = tmp_path / "invoice.pdf"
    path.write_bytes(attached(b"ZUGFeRD-invoice.xml", b"<xml/>"))
    with Reader(path, RecordedAttempt({})) as reader:
        assert reader.attached(".xml", 2_000_000) == {"zugferd-invoice.xml": b"<xml/>"}
    path.write_bytes(attached(b"photo.jpg", b"<xml/>"))
    with Reader(path, RecordedAttempt({})) as reader:
        assert reader.attached(".xml", 2_000_000) == {}
        assert reader.notes == []


def test_attachments_over_the_limit_are_named_only(tmp_path: Path) -> None:
    """A file that is larger than asked for is left out, with a note."""
    path = tmp_path / "invoice.pdf"
    path.write_bytes(attached(b"factur-x.xml", b"<xml/>"))
    with Reader(path, RecordedAttempt({})) as reader:
        assert reader.attached(".xml", 5) == {}
        assert reader.notes == ["factur-x.xml inside the PDF has over 5 bytes and was not read."]


def test_a_second_attachment_of_a_name_is_told(tmp_path: Path) -> None:
    """The first of two invoices is read, and nobody is left to think that there was one only."""
    path = tmp_path / "invoice.pdf"
    writer = PdfWriter(clone_from=BytesIO(hostile.GOOD))
    for data in (b"<first/>", b"<second/>"):
        writer.add_attachment("factur-x.xml", data)
    writer.write(path)
    with Reader(path, RecordedAttempt({})) as reader:
        assert reader.attached(".xml", 99) == {"factur-x.xml": b"<first/>"}
        assert reader.notes == ["The PDF holds another factur-x.xml, which was not read."]


def test_only_some_attachments_are_handed_over(tmp_path: Path) -> None:
    """A document full of XML fills nobody's memory."""
    path = tmp_path / "invoice.pdf"
    writer = PdfWriter(clone_from=BytesIO(hostile.GOOD))
    for number in range(12):
        writer.add_attachment(f"{number}.xml", b"<xml/>")
    writer.write(path)
    with Reader(path, RecordedAttempt({})) as reader:
        assert len(reader.attached(".xml", 99)) == 8
        assert reader.notes == ["The PDF holds more than 8 .xml files: not all read."]


def test_attachments_beyond_those_looked_at_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A document with more attached files than are looked at says so."""
    monkeypatch.setattr(pdf_module, "ATTACHMENTS", 0)
    path = tmp_path / "invoice.pdf"
    path.write_bytes(attached(b"factur-x.xml", b"<xml/>"))
    found, notes = Pdf(path).attachments(".xml", 99)
    assert (found, notes) == ({}, ["The PDF holds 1 files; 0 were looked at."])


def test_attachments_that_are_too_much_cost_no_page(tmp_path: Path) -> None:
    """An attached bomb is told, and the document is read."""
    path = tmp_path / "invoice.pdf"
    path.write_bytes(hostile.attached_bomb())
    with Reader(path, RecordedAttempt({})) as reader:
        assert reader.attached(".xml", 2_000_000) == {}
        assert reader.notes == ["The files attached to the PDF cannot be read."]
        assert reader.page(1).text == "still here"


def test_a_page_is_drawn_as_it_is_shown(tmp_path: Path) -> None:
    """An image has the page's size at the resolution asked for, and a bounded size in any case."""
    path = tmp_path / "page.pdf"
    path.write_bytes(pdf([text((50, 700, "page"))], b"/Rotate 90"))
    with Reader(path, RecordedAttempt({})) as reader:
        png = reader.image(1, dpi=72)
    assert png.startswith(b"\x89PNG")
    assert (int.from_bytes(png[16:20], "big"), int.from_bytes(png[20:24], "big")) == (800, 600)
    path.write_bytes(one_page(page=b"/MediaBox[0 0 14400 14400]"))
    with Reader(path, RecordedAttempt({})) as reader:
        png = reader.image(1, dpi=300)
    width = int.from_bytes(png[16:20], "big")
    assert width * width <= 1.01 * rendering.PIXELS


@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
@pytest.mark.parametrize(
    "matrix", [b"1 0 0 1 0 0", b"0 1 -1 0 600 0", b"-1 0 0 -1 600 800", b"0 -1 1 0 0 800"]
)
def test_words_are_drawn_where_their_boxes_are(
    rotation: int, matrix: bytes, tmp_path: Path
) -> None:
    """A page drawn with the rotation that it was read with shows its words in their boxes."""
    path = tmp_path / "page.pdf"
    words = [(50, 500, "Date: 2026-03-01"), (50, 400, "below")]
    path.write_bytes(pdf([matrix + b" cm " + text(*words)], b"/Rotate %d" % rotation))
    with Reader(path, RecordedAttempt({})) as reader:
        page = reader.page(1)
        png = reader.image(1, dpi=72, rotation=page.rotation)
    picture = Image.open(BytesIO(png)).convert("L")
    assert picture.size == (page.width, page.height)
    for row in page.rows:
        box = (int(edge) for edge in row[0].box)
        assert picture.crop(tuple(box)).getextrema()[0] < 128
    for row in page.rows:
        left, top, right, bottom = row[0].box
        picture.paste(255, (int(left) - 3, int(top) - 3, int(right) + 3, int(bottom) + 3))
    assert picture.getextrema()[0] > 200


def test_many_files_are_inspected_by_one_child(tmp_path: Path) -> None:
    """Each file gives its pages and characters, or the sentence that reading it would give."""
    line = "Invoice RE-1 over 119.00 EUR"
    files = {
        "a.pdf": pdf([text((50, 700, line))] * 40),
        "b.pdf": b"",
        "c.pdf": b"no PDF at all",
        "d.pdf": hostile.to_unicode(b"8acb"),
        "e.pdf": pdf([]),
    }
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    paths = [tmp_path / name for name in (*files, "gone.pdf")]
    good, *refused = inspect(paths)
    assert (good.path, good.problem, good.pages) == (paths[0], None, 40)
    assert (good.characters, good.wide_characters) == (40 * len(line), 0)
    japanese = refused.pop(2)
    assert (japanese.pages, japanese.characters, japanese.wide_characters) == (1, 3, 3)
    assert all(each.pages is None and not each.characters for each in refused)
    for each in refused:
        with pytest.raises(DocumentError) as error:
            Reader(each.path, RecordedAttempt({}))
        assert each.problem == error.value.message


def test_a_page_that_costs_the_child_is_no_problem_of_its_document(tmp_path: Path) -> None:
    """A document with a bomb on a page has pages, and the next file is inspected too."""
    bomb, good = tmp_path / "bomb.pdf", tmp_path / "good.pdf"
    bomb.write_bytes(hostile.form_loop())
    good.write_bytes(pdf([text((50, 700, "fine"))]))
    first, second = inspect([bomb, good])
    assert (first.problem, first.pages, first.characters) == (None, 1, 0)
    assert (second.problem, second.pages, second.characters) == (None, 1, 4)
