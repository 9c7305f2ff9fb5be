"""Pages written by hand, and a model at a simulated endpoint."""

from collections.abc import Callable, Iterable
from typing import Any

from forebay_agents.models.model import Model
from forebay_agents.models.settings import API_KEY, BASE_URL, NAME
from forebay_agents.pages import Page, Row, Segment
from forebay_lab.model_server import ModelServer

INVOICE = (
    "Oberwasser GmbH",
    "Rechnung",
    "Rechnungsnummer: RE-1 | Rechnungsdatum: 02.03.2026",
    "Fällig am: 16.03.2026",
    "Beschreibung | Menge | Preis | Betrag",
    "Pumpe | 2 | 40,00 | 80,00",
    "Ventil | 1 | 20,00 | 20,00",
    "Zwischensumme | 100,00 €",
    "MwSt. 19 % | 19,00 €",
    "Gesamtbetrag | 119,00 €",
)
TRUTH = {
    "kind": "invoice",
    "number": "RE-1",
    "date": "2026-03-02",
    "due_date": "2026-03-16",
    "currency": "EUR",
    "total": "119.00",
    "total_net": "100.00",
    "tax": "19.00",
    "seller": "Oberwasser GmbH",
}


def page(number: int, *lines: str) -> Page:
    """Return a page of these rows, whose segments are parted by bars."""
    rows = [_row(line, 50.0 + 14 * index) for index, line in enumerate(lines)]
    text = "\n".join(" ".join(segment.text for segment in row) for row in rows)
    return Page(number, 595.0, 842.0, rows=rows, text=text)


def _row(line: str, top: float) -> Row:
    return [
        Segment(text.strip(), (50.0 + 120 * column, top, 150.0 + 120 * column, top + 10))
        for column, text in enumerate(line.split("|"))
    ]


def settings(server: ModelServer, **more: str) -> dict[str, str]:
    """Return an environment that points to the server; `more` are FOREBAY_MODEL_ settings."""
    return {BASE_URL: server.base_url, API_KEY: "secret-key", NAME: "simulated-model"} | {
        f"FOREBAY_MODEL_{name}": value for name, value in more.items()
    }


def model_at(server: ModelServer, **more: str) -> Model:
    """Return the model at the server."""
    model = Model.from_environment(settings(server, **more))
    assert model is not None
    return model


def statement_pages(count: int, rows: int = 40) -> Iterable[Page]:
    """Yield the pages of a long statement, one by one; the closing balance is on the last."""
    for number in range(1, count + 1):
        lines = [f"Transfer no. {number}-{row} | {row} | 1.00 | {row}.00" for row in range(rows)]
        head = ["Harbour Bank", "Account Statement"] if number == 1 else []
        tail = ["Closing balance | $4,711.00"] if number == count else []
        yield page(number, *head, *lines, *tail)


class MemoryCheckpoints:
    """Keep them as long as this object lives."""

    def __init__(self) -> None:
        self.values: dict[str, dict[str, Any]] = {}

    def get(self, key: str, decode: Callable[[dict[str, Any]], Any]) -> Any:
        try:
            return decode(self.values[key])
        except (KeyError, TypeError, ValueError):
            return None

    def put(self, key: str, value: dict[str, Any]) -> None:
        self.values[key] = value
