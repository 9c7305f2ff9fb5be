"""What sample documents say in each language, and how they write sums and dates."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from forebay_lab.paper import JAPANESE_FONT, LATIN_FONT

SIGNS = {"USD": "$", "GBP": "£", "EUR": "€"}
GERMAN_MONTHS = (
    *("Januar", "Februar", "März", "April", "Mai", "Juni"),
    *("Juli", "August", "September", "Oktober", "November", "Dezember"),
)


@dataclass(frozen=True, slots=True)
class Language:
    """Hold the words of a language; `sum` writes an amount in a currency, `day` a date."""

    sum: Callable[[Decimal, str], str]
    day: Callable[[date], str]
    words: dict[str, str]
    items: tuple[str, ...]
    clauses: tuple[str, ...] = ()
    font: str = LATIN_FONT

    def __getitem__(self, word: str) -> str:
        return self.words[word]


ENGLISH = Language(
    sum=lambda value, currency: f"{SIGNS[currency]}{value:,.2f}",
    day=lambda day: f"{day:%B} {day.day}, {day.year}",
    words={
        "invoice": "INVOICE",
        "invoice number": "Invoice No.",
        "invoice date": "Invoice date",
        "due": "Due date",
        "buyer": "Bill to",
        "item": "Description",
        "quantity": "Quantity",
        "price": "Unit price",
        "amount": "Amount",
        "net": "Subtotal",
        "tax": "Tax 10%",
        "total": "Total due",
        "receipt": "Receipt",
        "receipt number": "Receipt No.",
        "date": "Date",
        "statement": "Account Statement",
        "statement number": "Statement No.",
        "statement date": "Statement date",
        "opening": "Opening balance",
        "closing": "Closing balance",
        "balance": "Balance",
        "contract": "Service Agreement",
        "contract number": "Agreement No.",
        "contract date": "Agreement date",
        "parties": "Between {} and {}",
    },
    items=("Pump inspection", "Valve seal, 40 mm", "Travel", "Turbine oil, 20 l", "Site survey"),
    clauses=(
        "The contractor keeps the intake, the screens and the gates in working order.",
        "Each visit is written down, with the readings of all gauges and the hours worked.",
        "Spare parts are charged at cost; the client may ask for the supplier's bill.",
        "Either party may end this arrangement in writing with three months' notice.",
        "What is said here in confidence is not passed on, during the term or after it.",
    ),
)
GERMAN = Language(
    sum=lambda value, currency: f"{value:,.2f} {currency}".translate(str.maketrans(",.", ".,")),
    day=lambda day: f"{day.day}. {GERMAN_MONTHS[day.month - 1]} {day.year}",
    words={
        "invoice": "Rechnung",
        "invoice number": "Rechnungsnummer:",
        "invoice date": "Rechnungsdatum:",
        "due": "Fällig am:",
        "buyer": "Kunde:",
        "item": "Bezeichnung",
        "quantity": "Menge",
        "price": "Einzelpreis",
        "amount": "Betrag",
        "net": "Zwischensumme",
        "tax": "MwSt. 10 %",
        "total": "Gesamtbetrag",
        "statement": "Kontoauszug",
        "statement number": "Auszugsnummer:",
        "statement date": "Auszugsdatum:",
        "opening": "Alter Saldo",
        "closing": "Neuer Saldo",
        "balance": "Saldo",
        "contract": "Wartungsvertrag",
        "contract number": "Vertrags-Nr.",
        "contract date": "Vertragsdatum:",
        "parties": "Zwischen {} und {}",
    },
    items=("Wartung der Pumpe", "Dichtung 40 mm", "Anfahrt", "Turbinenöl 20 l", "Begehung"),
    clauses=(
        "Der Auftragnehmer hält Einlauf, Rechen und Schütze betriebsbereit.",
        "Jeder Einsatz wird mit allen Messwerten und Stunden festgehalten.",
        "Ersatzteile werden zum Einkaufspreis berechnet und auf Wunsch belegt.",
        "Beide Seiten können schriftlich mit einer Frist von drei Monaten kündigen.",
        "Vertrauliches bleibt während der Laufzeit und danach vertraulich.",
    ),
)
FRENCH = Language(
    sum=lambda value, currency: f"{value:,.2f} {SIGNS[currency]}".translate(
        str.maketrans(",.", "\u00a0,")
    ),
    day=lambda day: f"{day:%d/%m/%Y}",
    words={
        "invoice": "Facture",
        "invoice number": "N° de facture :",
        "invoice date": "Date de facture :",
        "due": "Date d'échéance :",
        "buyer": "Client :",
        "item": "Désignation",
        "quantity": "Quantité",
        "price": "Prix unitaire",
        "amount": "Montant",
        "net": "Total HT",
        "tax": "TVA 10 %",
        "total": "Total TTC",
    },
    items=("Révision de la pompe", "Joint 40 mm", "Déplacement", "Huile 20 l", "Visite du site"),
)
JAPANESE = Language(
    sum=lambda value, currency: f"￥{value:,.0f}".translate(
        str.maketrans("0123456789,", "０１２３４５６７８９，")
    ),
    day=lambda day: f"令和{day.year - 2018}年{day.month}月{day.day}日",
    words={
        "invoice": "請求書",
        "invoice number": "請求書番号：",
        "invoice date": "発行日：",
        "due": "お支払期限：",
        "buyer": "お客様：",
        "item": "品名",
        "quantity": "数量",
        "price": "単価",
        "amount": "金額",
        "net": "小計",
        "tax": "消費税 10%",
        "total": "合計金額",
    },
    items=("ポンプ点検", "弁シール 40mm", "出張費", "タービン油 20L", "現地調査"),
    font=JAPANESE_FONT,
)
