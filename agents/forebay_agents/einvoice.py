"""Read the XML that an e-invoice carries: Factur-X, ZUGFeRD 1 and 2, XRechnung, Order-X, UBL."""

import re
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal, InvalidOperation
from unicodedata import category
from xml.etree.ElementTree import Element, ParseError

import defusedxml.ElementTree
from babel.numbers import list_currencies
from defusedxml import DefusedXmlException

from forebay_agents.einvoice_paths import SYNTAXES, Syntax
from forebay_agents.findings import Evidence, Findings, Found, Line, Name

KNOWN_NAMES = frozenset(
    {"factur-x.xml", "zugferd-invoice.xml", "xrechnung.xml", "order-x.xml", "cii.xml", "ubl.xml"}
)
"""The names, in lower case, under which PDFs carry such XML."""

SIZE_LIMIT = 2_000_000
"""Bytes of XML that are read at most: about a thousand lines."""

DIGITS_LIMIT = 18
"""Digits of a number that is believed."""

CREDIT_NOTES = {81, 83, 261, 262, 296, 308, 381, 396, 420, 458, 502, 503, 532}
ORDERS = {220, 230, 231}
"""Type codes of UNTDID 1001; all others that an e-invoice may have are invoices."""


def read_xml(name: str, xml: bytes) -> Findings:
    """Return what the XML named `name` states; what it says oddly is left out with a note.

    Raises ValueError, with a sentence, for what is no XML of an e-invoice, has a document type of
    its own, or is too big.
    """
    root = _root(name, xml)
    syntax = SYNTAXES.get(_local(root))
    if syntax is None:
        raise ValueError(f"{name} inside the PDF is no e-invoice: it begins with {_local(root)}.")
    return _Reading(name, root, syntax).findings()


def _root(name: str, xml: bytes) -> Element:
    if len(xml) > SIZE_LIMIT:
        raise ValueError(f"{name} inside the PDF is too big: {SIZE_LIMIT // 10**6} MB are read.")
    try:
        root: Element = defusedxml.ElementTree.fromstring(_trimmed(xml), forbid_dtd=True)
    except DefusedXmlException as error:
        raise ValueError(f"{name} inside the PDF defines entities or types: not read.") from error
    except (ParseError, ValueError, LookupError) as error:
        raise ValueError(f"{name} inside the PDF is no readable XML: {error}.") from error
    return root


def _trimmed(xml: bytes) -> bytes:
    """Return the XML without what writers leave around it; UTF-16 needs each of its zeros."""
    is_wide = b"\0" in xml[:4] or xml[:2] in (BOM_UTF16_LE, BOM_UTF16_BE)
    return xml if is_wide else xml.strip(b"\0\t\r\n ")


@dataclass(frozen=True, slots=True)
class _Said:
    """An element of the XML, with the path that led there."""

    path: str
    element: Element

    @property
    def text(self) -> str:
        said = (c for c in self.element.text or "" if category(c) != "Cf")  # invisible, or turns
        return " ".join("".join(said).split())

    def __str__(self) -> str:
        return f"{'/'.join(self.path.split('/')[-2:])} {self.text}".strip()


@dataclass(slots=True)
class _Reading:
    """One XML on its way to findings."""

    name: str
    root: Element
    syntax: Syntax
    notes: list[str] = field(default_factory=list)

    def findings(self) -> Findings:
        currency = next(_find(self.root, self.syntax.fields["currency"][0]), None)
        found: dict[Name, Found] = {"kind": self._kind()}
        for name in self.syntax.fields:
            if value := self._field(name, _currency(currency) if currency else None):
                found[name] = value
        return Findings(found, list(self._lines()), self.notes)

    def _kind(self) -> Found:
        """Tell the kind by the type code, or by the root where there is none."""
        said = next(_find(self.root, self.syntax.kind), _Said(_local(self.root), self.root))
        code = int(said.text) if re.fullmatch(r"\d{1,4}", said.text) else None
        is_credit = code in CREDIT_NOTES or (code is None and _local(self.root) == "CreditNote")
        kind = "credit_note" if is_credit else "order" if code in ORDERS else "invoice"
        return self._found(kind, said)

    def _field(self, name: Name, currency: str | None = None) -> Found | None:
        read = _READERS.get(name, _text)
        places = (list(_find(self.root, path)) for path in self.syntax.fields[name])
        said = [each for each in next(filter(None, places), []) if _is_in(each, currency)]
        found = [(value, each) for each in said if (value := read(each))]
        if said and not found:
            self._note(f'says "{said[0]}", from which no {name.replace("_", " ")} can be read')
        if name == "due_date" and len(days := {value for value, _ in found}) > 1:
            self._note(f"asks for payment on {', '.join(sorted(days))}: no due date is taken")
            found = []
        return self._found(*found[0]) if found else None

    def _lines(self) -> Iterator[Line]:
        """Yield the lines that count: a group's own line repeats what its parts say."""
        for said in _find(self.root, self.syntax.line):
            if _first(said.element, self.syntax.reason, _text) not in ("GROUP", "INFORMATION"):
                line = self._line(said.element)
                if line.description or line.amount:
                    yield line

    def _line(self, element: Element) -> Line:
        names = (_first(element, path, _text) for path in self.syntax.description)
        return Line(
            next(filter(None, names), ""),
            _first(element, self.syntax.quantity, _quantity),
            self._unit_price(element),
            _first(element, self.syntax.amount, _amount),
        )

    def _unit_price(self, element: Element) -> str | None:
        """Return the price of one, where the XML may say that of a hundred."""
        price = _first(element, self.syntax.price, _amount)
        per = Decimal(_first(element, self.syntax.per, _quantity) or 1)
        if price is None or per in (0, 1):
            return price
        try:
            return _plain(round(Decimal(price) / per, 6))
        except InvalidOperation:  # more digits than anything costs
            return None

    def _found(self, value: str, said: _Said) -> Found:
        return Found(value, Evidence(f"{self.name}: {said}", 1.0, source="xml"))

    def _note(self, what: str) -> None:
        self.notes.append(f"The XML inside ({self.name}) {what}.")


def _find(element: Element, path: str, above: str = "") -> Iterator[_Said]:
    """Yield all elements at `path` below `element`, in the order of the document."""
    step, _, rest = path.partition("/")
    names = step.split("|")
    for child in element:
        if (local := _local(child)) in names:
            here = f"{above}/{local}"
            yield from _find(child, rest, here) if rest else [_Said(here, child)]


def _first(element: Element, path: str, read: Callable[[_Said], str | None]) -> str | None:
    return next((read(said) for said in _find(element, path)), None) if path else None


def _local(element: Element) -> str:
    return str(element.tag).rpartition("}")[2]


def _is_in(said: _Said, currency: str | None) -> bool:
    """Tell whether an element is in the invoice's currency: tax may be said in two."""
    return currency is None or said.element.get("currencyID", currency) == currency


def _text(said: _Said) -> str | None:
    return said.text or None


def _currency(said: _Said) -> str | None:
    return said.text if said.text in list_currencies() else None


def _amount(said: _Said) -> str | None:
    """Return a sum with its decimals, but without the zeros of 9.9000 beyond the cents."""
    is_number = re.fullmatch(r"[+-]?(\d+(\.\d*)?|\.\d+)", said.text)
    if not is_number or len(said.text) > DIGITS_LIMIT + 2:
        return None
    return _plain(Decimal(said.text))


def _quantity(said: _Said) -> str | None:
    amount = _amount(said)
    return f"{Decimal(amount).normalize():f}" if amount else None


def _plain(value: Decimal) -> str:
    whole, _, decimals = f"{value:f}".partition(".")
    decimals = decimals[:2] + decimals[2:].rstrip("0")
    return f"{whole}.{decimals}" if decimals else whole


def _day(said: _Said) -> str | None:
    """Read 20260302 and 202603021430 (formats 102 and 203) and ISO 8601; a week is no day."""
    match = re.match(r"(\d{4})-?(\d{2})-?(\d{2})(?!\d{1,3}$|\d{5}$)", said.text)
    try:
        return date(*map(int, match.groups())).isoformat() if match else None
    except ValueError:
        return None


_READERS: Mapping[Name, Callable[[_Said], str | None]] = {
    "date": _day,
    "due_date": _day,
    "currency": _currency,
    "total": _amount,
    "total_net": _amount,
    "tax": _amount,
}
"""How the text of each field is read; the others are taken as they stand."""
