"""German as issuers in Switzerland write it, and as exporters do who say all in English too."""

from dataclasses import replace
from decimal import Decimal

from forebay_lab.samples.market import Party
from forebay_lab.samples.words.english import WORDS as ENGLISH_WORDS
from forebay_lab.samples.words.german import GERMAN

SWISS = replace(
    GERMAN,
    locale="de_CH",
    currency="CHF",
    rates=(Decimal("8.1"), Decimal("2.6")),
    money=("CHF 1'234.56", "1'234.56 CHF", "Fr. 1'234.56"),
    words=GERMAN.words
    | {
        "tax number": ("MWST-Nr.", "UID"),
        "rate": ("MWST",),
        "tax": ("MWST {}%", "{}% MwSt."),
        "tax total": ("MWST",),
        "total": ("Total CHF", "Rechnungstotal", "Gesamtbetrag", "Total inkl. MWST"),
        "plain total": ("Total CHF", "Gesamtbetrag"),
        "net": ("Zwischentotal", "Total exkl. MWST", "Nettobetrag"),
    },
    parties=(
        Party(
            *("Aare Wasserbau AG", "Mühleplatz 3", "3011 Bern", "CHE-123.456.788 MWST"),
            *("031 496 00 12", "finanzen@aarewasser.example", "CH93 0076 2011 6238 5295 7"),
        ),
        Party(
            *("Schreinerei Bürgi GmbH", "Dorfgasse 41", "6003 Luzern", "CHE-201.190.043 MWST"),
            *("+41 41 496 00 18", "info@buergi.example", "CH56 0483 5012 3456 7800 9"),
        ),
        Party(
            *("Elektrizitätswerk Linth", "Kraftwerkstr. 1", "8750 Glarus", "CHE-440.556.671 MWST"),
            *("055 496 00 00", "kunden@linth.example", "CH31 8123 9000 0012 4568 9"),
        ),
        Party(
            *("Käserei Zürcher & Co.", "Alpweg 9", "9050 Appenzell", "CHE-118.330.057 MWST"),
            *("071 496 07 71", "einkauf@zuercher.example", "CH15 0020 6206 1234 5678 9"),
        ),
        Party(
            *("Gasthaus Bären", "Kirchgasse 2", "3800 Interlaken", "CHE-265.009.812 MWST"),
            *("033 496 00 50", "baeren@gasthaus.example", "CH82 0900 0000 1234 5678 9"),
        ),
        Party("Ursula Däniken", "Seestrasse 7", "8008 Zürich"),
    ),
)
IN_ENGLISH_TOO = (
    *("invoice", "invoice number", "invoice date", "due", "buyer", "seller", "their order"),
    *("customer number", "delivery", "contact", "item", "quantity", "price", "amount"),
    *("net", "total", "bank"),
)
BILINGUAL = replace(
    GERMAN,
    money=("EUR 1.234,56",),
    days=("dd.MM.yyyy",),
    words=GERMAN.words
    | {
        key: tuple(f"{word} / {ENGLISH_WORDS[key][0]}" for word in GERMAN.words[key])
        for key in IN_ENGLISH_TOO
    }
    | {"tax": ("MwSt. / VAT {} %",)},
)
