"""Line items are found in ruled tables, under the heads of columns, and above sums."""

from collections.abc import Sequence
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forebay_agents.findings import Line
from forebay_agents.pages import Page, Row, Segment, Table
from forebay_agents.rules.heads import is_carried, is_total
from forebay_agents.rules.lines import LIMIT, LineReader

LETTER = 5.0
"""The width of a character in these pages, in points; Japanese ones are twice as wide."""

Columns = Sequence[float]
"""Where columns begin; one below zero is set right, and ends there."""

COLUMNS = (60.0, -340.0, -420.0, -520.0)
GERMAN = ("Bezeichnung", "Menge", "Einzelpreis", "Betrag")


def width(text: str) -> float:
    """Return how wide a text is, in points."""
    return sum(LETTER * (2 if character >= "\u3000" else 1) for character in text)


def segment(text: str, place: float, top: float) -> Segment:
    """Return a text that begins at `place`, or ends there if that is below zero."""
    left = place if place >= 0 else -place - width(text)
    return Segment(text, (left, top, left + width(text), top + 9))


def row(texts: Sequence[str], top: float, columns: Columns = COLUMNS) -> Row:
    """Return the texts in their columns, as one row of a page; empty ones are left out."""
    found = [segment(text, place, top) for text, place in zip(texts, columns, strict=False) if text]
    return sorted(found, key=lambda each: each.box[0])


def page(
    *rows: Sequence[str], columns: Columns = COLUMNS, number: int = 1, leading: float = 12
) -> Page:
    """Return a page with these rows."""
    return Page(
        number,
        rows=[row(texts, 100 + place * leading, columns) for place, texts in enumerate(rows)],
    )


def read(*pages: Page) -> list[tuple[str, str | None, str | None, str | None]]:
    """Return the lines of some pages as description, quantity, unit price and amount."""
    reader = LineReader()
    for each in pages:
        reader.add(each)
    return [
        (line.description, line.quantity, line.unit_price, line.amount) for line in reader.lines
    ]


VALVE = ("Valve", "2", "10.00", "20.00")
PUMP = ("Pump", "1", "50.00", "50.00")


@pytest.mark.parametrize(
    "heads",
    [
        ("Description", "Qty", "Unit price", "Amount"),
        ("Item", "Quantity", "Rate", "Line total"),
        ("Bezeichnung", "Menge", "E-Preis", "Gesamt"),
        ("Leistung", "Anz.", "Einzelpreis €", "Betrag EUR"),
        ("Désignation", "Qté", "P.U. HT", "Montant HT"),
        ("Concepto", "Cantidad", "Precio", "Importe"),
        ("Descrizione", "Q.tà", "Prezzo unit.", "Importo"),
        ("Descrição", "Quant.", "Preço", "Valor"),
        ("Omschrijving", "Aantal", "Prijs", "Bedrag"),
        ("品名", "数量", "単価", "金額"),
        ("DESCRIPTION", "QTY", "UNIT PRICE (EUR)", "TOTAL"),
        ("Artikel / Description", "Menge / Qty", "Preis / Price", "Summe / Amount"),
    ],
)
def test_heads_name_the_columns_in_eight_languages(heads: Sequence[str]) -> None:
    """A row of heads begins a table in each language; what stands before it does not count."""
    before = ("Weir & Sons", "", "", "17.00")
    assert read(page(before, heads, VALVE, PUMP)) == [VALVE, PUMP]


def test_numbers_are_read_as_the_document_writes_them() -> None:
    """The same marks mean the same in each number, and decimals stay as printed."""
    lines = read(
        page(
            GERMAN,
            ("Schraube", "1.500", "0,0125", "18,75"),
            ("Anlage", "2,5", "1.234,00 €", "3.085,00 €"),
            ("Nachlass", "1", "-100,00", "-100,00"),
            ("Rückgabe", "1", "5,00", "5,00-"),
        )
    )
    assert lines == [
        ("Schraube", "1500", "0.0125", "18.75"),
        ("Anlage", "2.5", "1234.00", "3085.00"),
        ("Nachlass", "1", "-100.00", "-100.00"),
        ("Rückgabe", "1", "5.00", "-5.00"),
    ]


@pytest.mark.parametrize("quantity", ["3 Stk", "3 Stk.", "3,0 h", "3 m²", "3 式", "3x", "3"])
def test_units_are_dropped_from_quantities(quantity: str) -> None:
    """A quantity is its number alone."""
    ((_, found, _, _),) = read(page(GERMAN, ("Arbeit", quantity, "10,00", "30,00")))
    assert Decimal(found or 0) == 3


def test_positions_codes_units_discounts_and_taxes_have_columns_of_their_own() -> None:
    """They are no part of the description, and no price or amount."""
    columns = (40.0, 70.0, 120.0, -300.0, 310.0, -400.0, -440.0, -480.0, -540.0)
    heads = (
        "Pos.",
        "Art.-Nr.",
        "Bezeichnung",
        "Menge",
        "Einh.",
        "Preis",
        "Rabatt",
        "MwSt",
        "Betrag",
    )
    item = ("10", "4400-12", "KVH Fichte 60/120", "50", "STK", "9,50", "10 %", "19 %", "427,50")
    assert read(page(heads, item, columns=columns)) == [
        ("KVH Fichte 60/120", "50", "9.50", "427.50")
    ]


def test_a_unit_needs_no_head() -> None:
    """Between a quantity and the description behind it there may be a unit."""
    columns = (-90.0, 100.0, 160.0, -440.0, -520.0)
    heads = ("Menge", "", "Beschreibung", "Preis", "Betrag")
    item = ("2,5", "Std.", "Wartung der Pumpe", "100,00", "250,00")
    assert read(page(heads, item, columns=columns)) == [
        ("Wartung der Pumpe", "2.5", "100.00", "250.00")
    ]


def test_numbers_in_the_same_segment_as_the_words_are_parted() -> None:
    """Where the gap is narrow a position or a quantity is still no word of the description."""
    columns = (40.0, -420.0, -520.0)
    heads = ("Anz. Leistung", "Preis", "Gesamt")
    narrow = ("2 Server Auction", "3,00", "6,00")
    assert read(page(heads, narrow, columns=columns)) == [("Server Auction", "2", "3.00", "6.00")]


def test_a_wrapped_description_is_joined_and_a_remark_is_not() -> None:
    """A row that was full goes on below; after one that was not, a remark follows."""
    wrapped = page(
        GERMAN,
        ("Überholung der Leitschaufeln und aller Lager", "1", "50,00", "50,00"),
        ("und Dichtungen, mit Probelauf",),
        ("Wartung", "2", "10,00", "20,00"),
        ("Zeitraum 01.01. bis 31.01.2026",),
    )
    assert [line[0] for line in read(wrapped)] == [
        "Überholung der Leitschaufeln und aller Lager und Dichtungen, mit Probelauf",
        "Wartung",
    ]


def test_words_above_a_row_of_numbers_are_its_description() -> None:
    """Numbers may stand between the two rows of a description."""
    rows = [
        row(GERMAN, 100),
        row(("KVH Fichte 60/120",), 120),
        row(("", "50", "9,50", "475,00"), 126),
        row(("Länge 5,0 m",), 132),
        row(("OSB/3 Platte",), 150),
        row(("", "30", "21,00", "630,00"), 156),
    ]
    assert read(Page(1, rows=rows)) == [
        ("KVH Fichte 60/120", "50", "9.50", "475.00"),
        ("OSB/3 Platte", "30", "21.00", "630.00"),
    ]


def test_titles_and_remarks_between_lines_do_not_count() -> None:
    """Free text has no amount, so that it is no line."""
    lines = read(
        page(
            GERMAN,
            ("Contract No. CON02858",),
            ("Wartung", "2", "10,00", "20,00"),
            ("Ihre Bestellung vom 3. März",),
            ("Pumpe", "1", "50,00", "50,00"),
        )
    )
    assert [line[0] for line in lines] == ["Wartung", "Pumpe"]


@pytest.mark.parametrize(
    "label",
    [
        *("Total", "Subtotal", "GRAND TOTAL", "Total due:", "VAT 20%", "Sales tax (8.132%)"),
        *("Summe", "Zwischensumme", "Nettobetrag", "zzgl. 19 % USt.", "MwSt. 19 %", "19 % MwSt"),
        *("Total HT", "TVA 20 %", "Net à payer", "Base imponible", "I.V.A. 21 %", "IMPORTE TOTAL"),
        *("Totale imponibile", "IVA 22%", "Total sem IVA", "Totaal incl. btw", "Btw 21%"),
        *("小計", "消費税(10%)", "合計", "Summe Nordfunk netto"),
    ],
)
def test_rows_that_sum_up_end_the_table(label: str) -> None:
    """Totals and taxes are no lines, and what follows them is none either."""
    assert is_total(label)
    lines = read(page(GERMAN, VALVE, PUMP, (label, "", "", "70.00"), ("Rest", "", "", "5.00")))
    assert lines == [VALVE, PUMP]


@pytest.mark.parametrize(
    "words",
    ["Tax consulting", "Nettle tea", "Solder", "Base station", "Reports in print", "Ivaldi Vase"],
)
def test_things_that_sound_like_sums_are_lines(words: str) -> None:
    """A label of a sum is more than its first letters."""
    assert not is_total(words)
    assert not is_carried(words)


def test_a_table_goes_on_over_pages_with_heads_or_without() -> None:
    """Sums carried over are passed over; the columns stay known."""
    first = page(GERMAN, VALVE, ("Übertrag", "", "", "20.00"))
    letterhead = ("Weir & Sons", "", "", "")
    again = page(letterhead, GERMAN, ("Übertrag", "", "", "20.00"), PUMP, number=2)
    bare = page(letterhead, ("Gate", "3", "1.00", "3.00"), number=3)
    reader = LineReader()
    for each in (first, again, bare):
        reader.add(each)
    assert [(line.description, line.page) for line in reader.lines] == [
        ("Valve", 1),
        ("Pump", 2),
        ("Gate", 3),
    ]


def test_of_several_prices_and_amounts_those_are_taken_that_multiply() -> None:
    """Quantity times price makes the amount: that tells net from gross."""
    columns = (60.0, -250.0, -320.0, -370.0, -440.0, -520.0)
    heads = ("Beschreibung", "Menge", "Preis netto", "USt.", "Stückpreis", "Summe")
    item = ("Ersatzköpfe", "2", "26,04", "19%", "30,99", "61,98")
    assert read(page(heads, item, columns=columns)) == [("Ersatzköpfe", "2", "30.99", "61.98")]


def test_arithmetic_finds_what_the_heads_do_not_name() -> None:
    """A head without a known word does not hide a price."""
    heads = ("Bezeichnung", "Menge", "Xyz", "Betrag")
    assert read(page(heads, ("Pumpe", "3", "12,50", "37,50"))) == [("Pumpe", "3", "12.50", "37.50")]


def test_bookings_have_an_amount_with_its_sign_and_no_balance() -> None:
    """A debit is below zero, a credit above; dates, balances and carried sums are left out."""
    columns = (50.0, 110.0, -380.0, -460.0, -540.0)
    heads = ("Datum", "Verwendungszweck", "Soll", "Haben", "Saldo")
    lines = read(
        page(
            heads,
            ("", "Alter Saldo", "", "", "1.000,00"),
            ("02.03.2026", "Miete März", "800,00", "", "200,00"),
            ("09.03.2026", "Gehalt", "", "2.500,00", "2.700,00"),
            ("", "Neuer Saldo", "", "", "2.700,00"),
            columns=columns,
        )
    )
    assert lines == [
        ("Miete März", None, None, "-800.00"),
        ("Gehalt", None, None, "2500.00"),
    ]


def test_a_date_close_to_the_words_is_no_part_of_them() -> None:
    """Dates have their own column, even where no wide gap parts them from the description."""
    heads = ("Date", "Description", "Money out", "Money in", "Balance")
    columns = (50.0, 97.0, -400.0, -470.0, -540.0)
    booking = ("20 Mar  Received from Gower Marine", "", "", "2,150.00", "3,000.00")
    assert read(page(heads, booking, columns=columns)) == [
        ("Received from Gower Marine", None, None, "2150.00")
    ]


def test_a_delivery_note_has_quantities_alone() -> None:
    """Where no column is for sums a quantity makes a line."""
    heads = ("Article", "Quantité")
    assert read(page(heads, ("Joint torique 40 mm", "3"), columns=(60.0, -400.0))) == [
        ("Joint torique 40 mm", "3", None, None)
    ]


def test_ruled_tables_are_read_cell_by_cell() -> None:
    """Cells hold rows of words; a table goes on, on the next page, without its heads."""
    heads = ["Désignation", "Qté", "P.U.", "Montant"]
    long = ["Receveur de douche extra-plat\n120x80, pose comprise", "1", "785,00", "785,00 €"]
    first = Table([heads, long, ["", "", "", ""]], (50, 90, 550, 200))
    more = Table(
        [["Paroi", "2", "10,00", "20,00 €"], ["Total", "", "", "805,00 €"]], (50, 90, 550, 150)
    )
    pages = [Page(1, tables=[first]), Page(2, tables=[more])]
    assert read(*pages) == [
        ("Receveur de douche extra-plat 120x80, pose comprise", "1", "785.00", "785.00"),
        ("Paroi", "2", "10.00", "20.00"),
    ]


def test_what_stands_in_a_ruled_table_is_not_read_twice() -> None:
    """The rows of the page inside the box of a table that was read are left out."""
    rows = page(GERMAN, VALVE, PUMP).rows
    table = Table([list(GERMAN), list(VALVE), list(PUMP)], (50, 90, 550, 150))
    assert read(Page(1, rows=rows, tables=[table])) == [VALVE, PUMP]


def test_a_table_whose_rows_ran_together_is_read_from_the_page() -> None:
    """Rules around a whole table make one cell of many lines: the rows of the page tell them."""
    rows = page(GERMAN, VALVE, PUMP).rows
    one = ["Valve\nPump", "2\n1", "10.00\n50.00", "20.00\n50.00"]
    table = Table([list(GERMAN), one], (50, 90, 550, 150))
    assert read(Page(1, rows=rows, tables=[table])) == [VALVE, PUMP]


@pytest.mark.parametrize(
    "text", ["1." * 100_000, "total " * 50_000, "(" * 100_000, "1,1.1 " * 50_000, "a" * 300_000]
)
@pytest.mark.timeout(20)
def test_absurd_pages_take_no_time(text: str) -> None:
    """Endless words, rows and cells belong to no table, and are passed over at once."""
    wide = [Segment(f"{place} x", (place, 0.0, place + 1.0, 9.0)) for place in range(5_000)]
    table = Table([["Description", "Amount"], [text, text]], (0, 0, 500, 500))
    absurd = Page(1, rows=[[Segment(text, (60.0, 90.0, 500.0, 99.0))], wide], tables=[table])
    assert read(page(GERMAN, VALVE), absurd) == [VALVE]


def test_prices_that_make_the_total_are_amounts() -> None:
    """A shop may call the sum of a line its price: the total below tells."""
    columns = (60.0, -340.0, -520.0)
    heads = ("Produkt", "Anzahl", "Preis")
    items = (("Sencha", "2", "43,80 €"), ("Kanne", "1", "26,50 €"))
    sums = page(heads, *items, ("Zwischensumme", "", "70,30 €"), columns=columns)
    other = page(heads, *items, ("Zwischensumme", "", "114,10 €"), columns=columns)
    assert read(sums) == [("Sencha", "2", None, "43.80"), ("Kanne", "1", None, "26.50")]
    assert read(other) == [("Sencha", "2", "43.80", None), ("Kanne", "1", "26.50", None)]


def test_numbers_that_all_descriptions_begin_with_are_quantities() -> None:
    """A receipt counts before the words; one number among other lines belongs to the words."""
    heads = ("Descripción", "", "", "Importe")
    counted = page(heads, ("2 LECHE", "", "", "1.90"), ("1 PAN", "", "", "0.95"))
    mixed = page(heads, ("24 Module", "", "", "8.00"), ("Montage", "", "", "0.95"))
    assert read(counted) == [("LECHE", "2", None, "1.90"), ("PAN", "1", None, "0.95")]
    assert [line[:2] for line in read(mixed)] == [("24 Module", None), ("Montage", None)]


def test_without_heads_lines_are_what_a_sum_adds_up() -> None:
    """Words and amounts above a total that they make are lines, else they are none."""
    lines = (("Bread", "", "", "1.79"), ("Milk", "", "", "2.38"), ("Deposit", "", "", "-0.50"))
    right = page(("1 High Street", "", "", "77.00"), *lines, ("TOTAL", "", "", "3.67"))
    wrong = page(*lines, ("TOTAL", "", "", "9.99"))
    assert read(right) == [
        ("Bread", None, None, "1.79"),
        ("Milk", None, None, "2.38"),
        ("Deposit", None, None, "-0.50"),
    ]
    assert read(wrong) == []


def test_a_till_counts_below_or_above_what_it_sells() -> None:
    """'2 x 1.19' tells quantity and price of the line above, or below a title makes the line."""
    above = page(
        ("Milk", "", "", "2.38"), ("2 x 1.19",), ("Tea", "", "", "4.00"), ("TOTAL", "", "", "6.38")
    )
    below = page(
        ("Milk",),
        ("2 x 1.19", "", "", "2.38"),
        ("Tea",),
        ("1 x 4.00", "", "", "4.00"),
        ("TOTAL", "", "", "6.38"),
    )
    assert read(above) == [("Milk", "2", "1.19", "2.38"), ("Tea", None, None, "4.00")]
    assert read(below) == [("Milk", "2", "1.19", "2.38"), ("Tea", "1", "4.00", "4.00")]


def test_dates_and_initials_before_the_words_are_left_out() -> None:
    """Who did the work, and when, is no part of what was done."""
    columns = (60.0, 120.0, 150.0, -520.0)
    lines = read(
        page(
            ("05/06/2026", "JBP", "Review title commitment", "1,312.50"),
            ("05/14/2026", "KLH", "Attend board meeting", "1,500.00"),
            ("", "", "Total Fees", "2,812.50"),
            columns=columns,
        )
    )
    assert [line[0] for line in lines] == ["Review title commitment", "Attend board meeting"]


def test_what_sums_to_nothing_is_no_line() -> None:
    """A balance and its payment cancel out: that makes no lines of them."""
    rows = (("Last bill", "", "", "980.10"), ("Payment", "", "", "-980.10"))
    assert read(page(*rows, ("TOTAL", "", "", "0.00"))) == []


def test_one_line_alone_needs_its_tax_to_be_told() -> None:
    """An amount equal to the total is no line; one that the tax makes the total is."""
    alone = page(("Weir", "", "", "75.00"), ("TOTAL", "", "", "75.00"))
    taxed = page(
        ("3 × Weir", "", "", "75.00"), ("VAT 20%", "", "", "15.00"), ("TOTAL", "", "", "90.00")
    )
    assert read(alone) == []
    assert read(taxed) == [("Weir", "3", None, "75.00")]


@pytest.mark.parametrize(
    "texts",
    [
        ("Please pay the total amount for all services",),
        ("Invoice number", "Invoice date", "Amount due"),
        ("TOTAL HT", "TOTAL TVA", "TOTAL TTC"),
        ("VAT", "Net", "Gross"),
    ],
)
def test_other_rows_are_no_heads(texts: Sequence[str]) -> None:
    """Sentences, labels of fields and the table of taxes begin no table of lines."""
    assert read(page(texts, ("A-17", "2026-03-04", "99.50"))) == []


def test_only_so_many_lines_are_kept() -> None:
    """A long statement keeps its first lines, and says that there are more."""
    reader = LineReader()
    for number in range(1, 60):
        rows = [("Booking", "1", "1.00", "1.00")] * 50
        reader.add(page(GERMAN, *rows, number=number))
    assert len(reader.lines) == LIMIT
    assert reader.notes == ["Only the first 2000 lines are kept: page 41 has more."]


NUMBERS = st.decimals(Decimal("0.01"), Decimal("9999.99"), places=2)
ITEMS = st.lists(
    st.tuples(
        st.from_regex(r"[A-Z][a-z]{2,9} [a-z]{3,9}", fullmatch=True).filter(
            lambda words: not is_total(words) and not is_carried(words)
        ),
        st.integers(1, 99),
        NUMBERS,
    ),
    min_size=1,
    max_size=12,
)


def printed(value: Decimal, style: str) -> str:
    """Return a sum as `style` (1,234.50 or 1.234,50 or 1 234,50) writes it."""
    english = f"{value:,.2f}"
    thousands, mark = style[1], style[5]
    return english.translate({ord(","): thousands, ord("."): mark})


@settings(max_examples=60, deadline=None)
@given(items=ITEMS, style=st.sampled_from(["1,234.50", "1.234,50", "1 234,50", "1'234.50"]))
def test_what_is_printed_under_heads_is_found(
    items: list[tuple[str, int, Decimal]], style: str
) -> None:
    """Any table of items is read back: words, quantities, prices and amounts, to the cent."""
    rows = [
        (words, str(quantity), printed(price, style), printed(quantity * price, style))
        for words, quantity, price in items
    ]
    expected = [
        (words, str(quantity), str(price), str(quantity * price))
        for words, quantity, price in items
    ]
    assert read(page(("Description", "Qty", "Price", "Amount"), *rows, leading=20)) == expected


def test_a_line_keeps_its_page() -> None:
    """Each line says on which page it stands."""
    reader = LineReader()
    reader.add(page(GERMAN, VALVE, number=7))
    assert reader.lines == [Line("Valve", "2", "10.00", "20.00", 7)]
