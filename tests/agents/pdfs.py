"""Write small PDFs by hand, sound or not."""


def pdf(pages: list[bytes], page_entry: bytes = b"") -> bytes:
    """Return a PDF with one page for each content stream, and no compression anywhere."""
    kids = b" ".join(b"%d 0 R" % (4 + 2 * index) for index in range(len(pages)))
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[%s]/Count %d>>" % (kids, len(pages)),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>",
    ]
    for index, content in enumerate(pages):
        objects.append(
            b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Resources<</Font<</F 3 0 R>>>>"
            b"/Contents %d 0 R%s>>" % (5 + 2 * index, page_entry)
        )
        objects.append(b"<</Length %d>>stream\n%s\nendstream" % (len(content), content))
    body, places = b"%PDF-1.4\n", []
    for number, content in enumerate(objects, start=1):
        places.append(len(body))
        body += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    count = len(objects) + 1
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    trailer = b"trailer<</Root 1 0 R/Size %d>>\nstartxref\n%d\n%%%%EOF" % (count, len(body))
    return b"%sxref\n0 %d\n0000000000 65535 f \n%s%s" % (body, count, table, trailer)


def text(*lines: tuple[int, int, str]) -> bytes:
    """Return a content stream that writes each (x, y, line)."""
    return b"".join(
        b"BT /F 10 Tf %d %d Td (%s) Tj ET\n" % (x, y, line.encode("cp1252")) for x, y, line in lines
    )
