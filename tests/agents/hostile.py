"""Write PDFs that attack whoever reads them: bombs, loops, lies about sizes, and odd text.

Each is small on disk, and made by code, so that no such file lies about.
"""

import random
import zlib
from collections.abc import Callable

from .pdfs import pdf, text

GOOD = pdf([text((50, 700, "Invoice RE-1"), (50, 680, "Total 119.00 EUR"))] * 2)

Objects = dict[int, bytes]


def stream(content: bytes, entries: bytes = b"") -> bytes:
    """Return a stream object."""
    return b"<<%s/Length %d>>stream\n%s\nendstream" % (entries, len(content), content)


def file(objects: Objects, trailer: bytes = b"") -> bytes:
    """Return a PDF of these objects, the first of which is the catalog."""
    body, places = bytearray(b"%PDF-1.7\n"), {}
    for number, content in objects.items():
        places[number] = len(body)
        body += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    size = max(objects) + 1
    table = b"".join(
        b"%010d 00000 n \n" % places[number] if number in places else b"0000000000 65535 f \n"
        for number in range(size)
    )
    end = b"trailer<</Root 1 0 R/Size %d%s>>\nstartxref\n%d\n%%%%EOF" % (size, trailer, len(body))
    return b"%sxref\n0 %d\n%s%s" % (body, size, table, end)


def one_page(
    content: bytes = b"BT /F 12 Tf 50 700 Td (still here) Tj ET",
    *,
    resources: bytes = b"",
    page: bytes = b"/MediaBox[0 0 600 800]",
    catalog: bytes = b"",
    more: Objects | None = None,
) -> bytes:
    """Return a PDF with one page; `content` may be a whole stream object."""
    if not content.startswith(b"<<"):
        content = stream(content)
    return file(
        {
            1: b"<</Type/Catalog/Pages 2 0 R%s>>" % catalog,
            2: b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
            3: b"<</Type/Page/Parent 2 0 R/Resources<</Font<</F 4 0 R>>%s>>/Contents 5 0 R%s>>"
            % (resources, page),
            4: b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
            5: content,
            **(more or {}),
        }
    )


def blanks(size: int, times: int = 1) -> bytes:
    """Return at least `size` blanks, deflated so many times; quick, and the checksum is wrong."""
    packer = zlib.compressobj(9)
    head = packer.compress(b"") + packer.flush(zlib.Z_FULL_FLUSH)
    block = packer.compress(b" " * (16 << 20)) + packer.flush(zlib.Z_FULL_FLUSH)
    packed = head + block * (-(-size // (16 << 20))) + packer.flush()
    for _ in range(times - 1):
        packed = zlib.compress(packed, 9)
    return packed


def deflated_bomb() -> bytes:
    """A page of two gigabytes of blanks."""
    return one_page(stream(blanks(2 << 30), b"/Filter/FlateDecode"))


def nested_bomb() -> bytes:
    """A page of two gigabytes, deflated three times."""
    filters = b"/Filter[/FlateDecode/FlateDecode/FlateDecode]"
    return one_page(stream(blanks(2 << 30, 3), filters))


def lzw_bomb() -> bytes:
    """A page whose stream says that it was packed by LZW and then deflated."""
    return one_page(stream(blanks(64 << 20), b"/Filter[/FlateDecode/LZWDecode]"))


def hex_bomb() -> bytes:
    """A stream with a hundred filters, one upon the other."""
    return one_page(stream(b"41>", b"/Filter[%s]" % (b"/ASCIIHexDecode" * 100)))


def image(entries: bytes, data: bytes = b"\0" * 64) -> bytes:
    """Return a page with one picture on it."""
    return one_page(
        b"q 600 0 0 800 0 0 cm /I Do Q",
        resources=b"/XObject<</I 6 0 R>>",
        more={6: stream(data, b"/Type/XObject/Subtype/Image" + entries)},
    )


def huge_image() -> bytes:
    """A picture that says it is 2,000,000 by 2,000,000 pixels."""
    return image(
        b"/Width 2000000/Height 2000000/BitsPerComponent 8/ColorSpace/DeviceRGB/Filter/FlateDecode",
        blanks(16 << 20),
    )


def large_image() -> bytes:
    """A picture of 30,000 by 30,000 pixels, all of them there."""
    return image(
        b"/Width 30000/Height 30000/BitsPerComponent 8/ColorSpace/DeviceRGB/Filter/FlateDecode",
        blanks(30000 * 30000 * 3),
    )


def jbig2_image() -> bytes:
    """A JBIG2 picture whose page says that it is four thousand million pixels high."""
    page_information = b"\0\0\0\0\x30\0\x01\0\0\0\x13" + b"\x00\x01\x00\x00" + b"\xff\xff\xff\xfe"
    return image(
        b"/Width 65536/Height 65536/BitsPerComponent 1/ColorSpace/DeviceGray/Filter/JBIG2Decode",
        page_information + b"\0" * 11,
    )


def page_tree_loop() -> bytes:
    """A page tree that is its own child."""
    return file(
        {1: b"<</Type/Catalog/Pages 2 0 R>>", 2: b"<</Type/Pages/Kids[2 0 R 2 0 R]/Count 9>>"}
    )


def deep_page_tree() -> bytes:
    """A page tree 20,000 levels deep."""
    depth = 20_000
    objects = {1: b"<</Type/Catalog/Pages 2 0 R>>"}
    for number in range(2, depth):
        objects[number] = b"<</Type/Pages/Kids[%d 0 R]/Count 1>>" % (number + 1)
    objects[depth] = b"<</Type/Page/Parent %d 0 R/MediaBox[0 0 9 9]>>" % (depth - 1)
    return file(objects)


def count_lie() -> bytes:
    """A document that says it has two thousand million pages, and has one."""
    return one_page().replace(b"/Count 1", b"/Count 2000000000")


def parent_loop() -> bytes:
    """A page that inherits from itself."""
    return one_page(page=b"").replace(b"/Parent 2 0 R", b"/Parent 3 0 R")


def form_loop() -> bytes:
    """Two forms that draw each other."""
    form = b"/Type/XObject/Subtype/Form/BBox[0 0 600 800]/Resources<</XObject<</A 6 0 R/B 7 0 R>>>>"
    return one_page(
        b"/A Do BT /F 12 Tf 50 700 Td (still here) Tj ET",
        resources=b"/XObject<</A 6 0 R>>",
        more={6: stream(b"/A Do /B Do", form), 7: stream(b"/A Do /B Do", form)},
    )


def form_tree() -> bytes:
    """Forms that each draw the next ten times: ten thousand million drawings in all."""
    more = {}
    for number in range(6, 16):
        entries = (
            b"/Type/XObject/Subtype/Form/BBox[0 0 600 800]"
            b"/Resources<</Font<</F 4 0 R>>/XObject<</N %d 0 R>>>>" % (number + 1)
        )
        more[number] = stream(b"/N Do " * 10, entries)
    more[16] = stream(
        b"BT /F 9 Tf (x) Tj ET 0 0 9 9 re f",
        b"/Type/XObject/Subtype/Form/BBox[0 0 600 800]/Resources<</Font<</F 4 0 R>>>>",
    )
    return one_page(b"/N Do", resources=b"/XObject<</N 6 0 R>>", more=more)


def two_pages(first: bytes, second: bytes) -> bytes:
    """Return a PDF with two pages, the first of which may draw a form that is its own part."""
    page = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Resources 7 0 R/Contents %d 0 R>>"
    form = b"/Type/XObject/Subtype/Form/BBox[0 0 600 800]/Resources 7 0 R"
    return file(
        {
            1: b"<</Type/Catalog/Pages 2 0 R>>",
            2: b"<</Type/Pages/Kids[3 0 R 4 0 R]/Count 2>>",
            3: page % 5,
            4: page % 6,
            5: stream(first),
            6: stream(second),
            7: b"<</Font<</F 8 0 R>>/XObject<</N 9 0 R/M 10 0 R>>>>",
            8: b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
            9: stream(b"/N Do /M Do ", form),
            10: stream(b"/N Do /M Do ", form),
        }
    )


def object_stream_loop() -> bytes:
    """An object stream that is said to lie in itself."""
    objects = {
        1: b"<</Type/Catalog/Pages 2 0 R>>",
        9: stream(b"2 0 <</Type/Pages/Kids[]/Count 0>>", b"/Type/ObjStm/N 1/First 4/Extends 9 0 R"),
    }
    body, places = b"%PDF-1.7\n", {}
    for number, content in objects.items():
        places[number] = len(body)
        body += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    row = b"%c%s%s"
    rows = b"".join(
        row % (1, places[number].to_bytes(4, "big"), b"\0\0")
        if number in places
        else row % (2, (9).to_bytes(4, "big"), b"\0\0")
        for number in range(10)
    )
    table = stream(rows, b"/Type/XRef/Size 10/W[1 4 2]/Root 1 0 R")
    return b"%s10 0 obj\n%s\nendobj\nstartxref\n%d\n%%%%EOF" % (body, table, len(body))


def huge_xref() -> bytes:
    """A table of references that says it has two thousand million entries."""
    return one_page().replace(b"xref\n0 6", b"xref\n0 2000000000")


def long_xref() -> bytes:
    """A table of references with a million entries that point nowhere."""
    table = b"9999999999 00000 n \n" * 1_000_000
    return one_page().replace(b"trailer", table + b"trailer").replace(b"0 6\n", b"0 1000006\n")


def xref_anywhere() -> bytes:
    """References that point to where no object is."""
    good = one_page()
    start = good.index(b"xref\n")
    return good[:start] + good[start:].replace(b"00000000", b"00000777")


def startxref_outside() -> bytes:
    """A file whose table of references lies behind its end."""
    good = one_page()
    return good[: good.rindex(b"startxref")] + b"startxref\n99999999999999\n%%EOF"


def previous_loop() -> bytes:
    """A table of references that is its own predecessor."""
    good = one_page()
    place = good.index(b"xref\n0")
    return good.replace(b"/Size", b"/Prev %d/Size" % place)


def nested_arrays() -> bytes:
    """An array in an array, a hundred thousand times."""
    return one_page(catalog=b"/X " + b"[" * 100_000 + b"]" * 100_000)


def nested_in_content() -> bytes:
    """A page whose words are nested arrays and dictionaries without an end."""
    return one_page(b"BT /F 9 Tf " + b"[" * 200_000 + b"<<" * 200_000)


def saved_states() -> bytes:
    """A page that saves its state half a million times."""
    return one_page(b"q " * 500_000 + b"BT /F 12 Tf 50 700 Td (still here) Tj ET")


def many_paths() -> bytes:
    """A page of two million lines."""
    content = zlib.compress(b"9 9 m 99 99 l S\n" * 2_000_000, 9)
    return one_page(stream(content, b"/Filter/FlateDecode"))


def many_words(lines: int = 50_000) -> bytes:
    """A page of very many lines of twenty words, in letters too small to be seen."""
    words = b"(%s) ' " % (b"word " * 20)
    content = zlib.compress(b"BT /F 0.01 Tf 0.01 TL 9 790 Td " + words * lines + b" ET", 9)
    return one_page(stream(content, b"/Filter/FlateDecode"))


def grid() -> bytes:
    """A page ruled by 2,000 lines each way: four million cells."""
    lines = [b"%f 0 m %f 800 l S 0 %f m 600 %f l S" % ((n * 0.3,) * 4) for n in range(2000)]
    return one_page(b"\n".join(lines) + b" BT /F 12 Tf 50 700 Td (still here) Tj ET")


def long_string() -> bytes:
    """A word of twenty million letters."""
    content = zlib.compress(b"BT /F 9 Tf 9 9 Td (" + b"A" * 20_000_000 + b") Tj ET", 9)
    return one_page(stream(content, b"/Filter/FlateDecode"))


def long_name() -> bytes:
    """A name of five million letters."""
    return one_page(catalog=b"/" + b"N" * 5_000_000 + b" 1")


def actions() -> bytes:
    """A document that wants to run JavaScript, start programs and send itself away."""
    script = b"<</S/JavaScript/JS(while(true){app.alert\\('x'\\)})>>"
    launch = b"<</S/Launch/F(/bin/sh)/Win<</F(cmd.exe)/P(/c calc)>>>>"
    send = b"<</S/SubmitForm/F(http://127.0.0.1:9/)>>"
    return one_page(
        catalog=b"/OpenAction %s/AA<</WC %s/DP %s>>/Names<</JavaScript<</Names[(a)%s]>>>>"
        % (script, launch, send, script),
        page=b"/MediaBox[0 0 600 800]/AA<</O %s/C %s>>" % (launch, script),
    )


def scripted_form() -> bytes:
    """A form whose field computes itself by a script for ever."""
    field = (
        b"<</Type/Annot/Subtype/Widget/FT/Tx/T(total)/V(119.00)/Rect[50 600 200 620]/P 3 0 R"
        b"/AA<</F<</S/JavaScript/JS(while(1);)>>/C<</S/JavaScript/JS(while(1);)>>>>>>"
    )
    return one_page(
        catalog=b"/AcroForm<</Fields[6 0 R]/NeedAppearances true/CO[6 0 R]>>",
        page=b"/MediaBox[0 0 600 800]/Annots[6 0 R]",
        more={6: field},
    )


def field_loop() -> bytes:
    """A form whose field is its own child, and whose words are in themselves."""
    field = (
        b"<</Type/Annot/Subtype/Widget/FT/Tx/T(a)/Kids[6 0 R]/Parent 6 0 R/Rect[0 0 9 9]"
        b"/AP<</N 7 0 R>>>>"
    )
    form = stream(b"/A Do", b"/Subtype/Form/BBox[0 0 9 9]/Resources<</XObject<</A 7 0 R>>>>")
    return one_page(
        catalog=b"/AcroForm<</Fields[6 0 R]>>",
        page=b"/MediaBox[0 0 600 800]/Annots[6 0 R 6 0 R]",
        more={6: field, 7: form},
    )


def many_annotations() -> bytes:
    """A page with a hundred thousand notes on it, all the same one."""
    return one_page(
        page=b"/MediaBox[0 0 600 800]/Annots[%s]" % (b"6 0 R " * 100_000),
        more={6: b"<</Type/Annot/Subtype/FreeText/Contents(x)/DA(/F 9 Tf)/Rect[0 0 9 9]>>"},
    )


def font(entries: bytes, shown: bytes = b"(AAA)", **options: bytes) -> bytes:
    """Return a page in one odd font."""
    more: Objects = {6: entries, 7: stream(options.get("program", b"/F 9 Tf (A) Tj"))}
    more[8] = stream(options.get("map", b""))
    content = b"BT /F 12 Tf 50 700 Td %s Tj ET" % shown
    return one_page(content, more=more).replace(b"/F 4 0 R", b"/F 6 0 R")


def type3_loop() -> bytes:
    """A font whose letter is drawn with that letter."""
    return font(
        b"<</Type/Font/Subtype/Type3/FontBBox[0 0 9 9]/FontMatrix[1 0 0 1 0 0]/FirstChar 65"
        b"/LastChar 65/Widths[9]/Encoding<</Differences[65/A]>>/CharProcs<</A 7 0 R>>"
        b"/Resources<</Font<</F 6 0 R>>>>>>",
        program=b"9 0 d0 BT /F 9 Tf (A) Tj ET",
    )


def font_without_widths() -> bytes:
    """A font that says nothing of its letters, and lies about their number."""
    return font(b"<</Type/Font/Subtype/TrueType/BaseFont/X/FirstChar -9/LastChar 2147483647>>")


def encoding_loop() -> bytes:
    """A font whose encoding builds on itself."""
    return font(
        b"<</Type/Font/Subtype/Type0/BaseFont/X/Encoding 8 0 R/DescendantFonts[6 0 R]"
        b"/ToUnicode 8 0 R>>",
        map=b"/CMapName/X def /X usecmap begincmap endcmap",
    )


def broken_font_file() -> bytes:
    """A font whose program is noise."""
    noise = random.Random(3).randbytes(5000)
    return font(
        b"<</Type/Font/Subtype/TrueType/BaseFont/X/FontDescriptor<</Type/FontDescriptor"
        b"/FontName/X/Flags 4/FontFile2 7 0 R>>>>",
        program=noise,
    )


def to_unicode(target: bytes, shown: bytes = b"(AAA)") -> bytes:
    """Return a page whose letter A stands for `target`, UTF-16 in hexadecimal digits."""
    return font(
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/ToUnicode 8 0 R>>",
        shown,
        map=b"begincmap 1 begincodespacerange <00> <ff> endcodespacerange "
        b"1 beginbfchar <41> <%s> endbfchar endcmap" % target,
    )


def media_box(numbers: bytes) -> bytes:
    """Return a page of an odd size."""
    return one_page(page=b"/MediaBox[%s]" % numbers)


def user_unit() -> bytes:
    """A page whose points are a thousand million times as large as others'."""
    return one_page(page=b"/MediaBox[0 0 600 800]/UserUnit 1000000000")


def name_tree_loop() -> bytes:
    """Attachments in a tree of names that is its own child."""
    return one_page(
        catalog=b"/Names<</EmbeddedFiles 6 0 R>>",
        more={6: b"<</Kids[6 0 R 6 0 R]/Limits[(a)(z)]>>"},
    )


def attached(name: bytes, data: bytes, entries: bytes = b"") -> bytes:
    """Return a page with one attached file."""
    return one_page(
        catalog=b"/Names<</EmbeddedFiles<</Names[(%s) 6 0 R]>>>>" % name,
        more={
            6: b"<</Type/Filespec/F(%s)/UF(%s)/EF<</F 7 0 R>>>>" % (name, name),
            7: stream(data, b"/Type/EmbeddedFile" + entries),
        },
    )


def attached_bomb() -> bytes:
    """An e-invoice of two gigabytes of blanks."""
    return attached(b"factur-x.xml", blanks(2 << 30), b"/Filter/FlateDecode")


def eicar_like() -> bytes:
    """Words that look like a test virus, on the page and attached."""
    words = b"X5O!P%@AP[4PZX54-NOT-THE-REAL-TEST-FILE!$H+H*"
    return attached(b"factur-x.xml", words).replace(b"still here", words)


def polyglot() -> bytes:
    """A file that is a web page too, with other things before and after the PDF."""
    return b"<html><script>alert(1)</script><!--\n" + one_page() + b"\n--></html>PK\x03\x04" * 9


def truncated() -> dict[str, bytes]:
    """Give a good file cut off at many places."""
    good = GOOD
    return {f"cut_at_{size}": good[:size] for size in range(20, len(good), len(good) // 25)}


def flipped(count: int = 100) -> dict[str, bytes]:
    """Give a good file with a few bytes changed, always the same ones."""
    chance, files = random.Random(7), {}
    for index in range(count):
        damaged = bytearray(GOOD)
        for _ in range(chance.randint(1, 12)):
            damaged[chance.randrange(len(damaged))] = chance.randrange(256)
        files[f"flipped_{index}"] = bytes(damaged)
    return files


BOMBS: dict[str, Callable[[], bytes]] = {
    made.__name__: made
    for made in (
        *(deflated_bomb, nested_bomb, lzw_bomb, hex_bomb, huge_image, large_image, jbig2_image),
        *(form_tree, many_paths, many_words, grid, long_string, long_name, attached_bomb),
        *(many_annotations, nested_arrays, nested_in_content, saved_states, long_xref),
    )
}
"""What takes memory or time; each is built only when asked for."""

ODDITIES: dict[str, Callable[[], bytes]] = {
    made.__name__: made
    for made in (
        *(page_tree_loop, deep_page_tree, count_lie, parent_loop, form_loop, object_stream_loop),
        *(huge_xref, xref_anywhere, startxref_outside, previous_loop, actions, scripted_form),
        *(field_loop, type3_loop, font_without_widths, encoding_loop, broken_font_file),
        *(user_unit, name_tree_loop, eicar_like, polyglot),
    )
} | {
    "nul_in_text": lambda: to_unicode(b"0000"),
    "lone_surrogate": lambda: to_unicode(b"d800"),
    "low_surrogate": lambda: to_unicode(b"dc00"),
    "private_use": lambda: to_unicode(b"e001"),
    "beyond_unicode": lambda: to_unicode(b"dbffdfffdbff"),
    "negative_box": lambda: media_box(b"0 0 -600 -800"),
    "empty_box": lambda: media_box(b"0 0 0 0"),
    "enormous_box": lambda: media_box(b"0 0 1e38 1e38"),
    "endless_box": lambda: media_box(b"-99999999999999999999 0 99999999999999999999 9"),
    "nan_box": lambda: media_box(b"nan inf -inf /six"),
}
"""What lies, loops or is no text."""
