"""Tell which currency a sign, a code or a name stands for, in the document that it stands in."""

import re
from collections.abc import Collection
from functools import cache

from forebay_agents.languages import LANGUAGES
from forebay_agents.rules.country import countries

LOCALES = (
    *("en", "en_AU", "en_CA", "en_NZ", "en_SG", "de", "fr", "fr_CA", "es", "es_MX", "es_AR"),
    *(
        "es_CL",
        "es_CO",
        "it",
        "pt",
        "pt_BR",
        "nl",
        "ja",
        "zh",
        "pl",
        "cs",
        "sv",
        "nb",
        "da",
        "hu",
        "tr",
    ),
)
"""Where to look for the signs that people use for their own currency and for others."""

NAMED = ("EUR", "USD", "GBP", "JPY", "CHF", "CAD", "AUD", "BRL", "CNY")
"""Which currencies are also known by name: 'euros', 'US-Dollar'."""

OTHER_SIGNS = {
    "円": "JPY",
    "Fr.": "CHF",
    "SFr.": "CHF",
    "SFr": "CHF",
    "Rs.": "INR PKR LKR NPR MUR SCR",
    "S$": "SGD",
    "kr": "SEK NOK DKK ISK",
    "kr.": "SEK NOK DKK ISK",
    "kr,": "SEK NOK DKK ISK",
    "R": "ZAR",
    "RM": "MYR",
    "Rp": "IDR",
    "S/": "PEN",
}
LETTERS = frozenset({"R", "RM", "Rp"})
"""Signs that are letters, and stand for money only right before a number."""

SHORT_NAMES = {"euro": "EUR", "euros": "EUR", "yen": "JPY", "reais": "BRL", "sterling": "GBP"}
DOLLARS = frozenset(["USD", "CAD", "AUD", "NZD", "SGD", "HKD", "MXN", "ARS", "CLP", "COP"])

JAPANESE = re.compile(r"[\u3040-\u30ff]|円|JPY")
USUAL = frozenset({"USD", "INR"})
"""What $ and Rs mean where nothing points to another country."""

CHINESE = re.compile(r"CNY|RMB|人民|元(?!年)")


@cache
def codes() -> frozenset[str]:
    """Return the ISO 4217 codes of the money that is in use somewhere."""
    from babel.core import get_global

    return frozenset(
        code
        for used in get_global("territory_currencies").values()
        for code, _, end, is_tender in used
        if end is None and is_tender
    )


@cache
def signs() -> dict[str, frozenset[str]]:
    """Return the codes that each sign may stand for."""
    from babel import Locale

    found: dict[str, set[str]] = {sign: set(text.split()) for sign, text in OTHER_SIGNS.items()}
    for locale in map(Locale.parse, LOCALES):
        for code, sign in locale.currency_symbols.items():
            if code in codes() and sign != code and not re.fullmatch(r"[A-Z]{1,4}", sign):
                found.setdefault(sign.replace("\xa0", " "), set()).add(code)
    found |= {"$": set(DOLLARS), "Rs": found["Rs."]}
    return {sign: frozenset(possible) for sign, possible in found.items()}


@cache
def names() -> dict[str, str]:
    """Return the code for each name, in lower case."""
    from babel import Locale

    found = dict(SHORT_NAMES)
    for locale in map(Locale.parse, LANGUAGES):
        plurals = locale._data["currency_names_plural"]
        for code in NAMED:
            spelled = (locale.currencies[code], *dict(plurals.get(code, {})).values())
            found |= {name.lower(): code for name in spelled}
    return found


@cache
def pattern() -> str:
    """Return a regular expression for everything that names a currency beside a sum."""
    coded = "|".join(sorted(codes()))
    plain = [sign for sign in signs() if sign not in LETTERS]
    signed = "|".join(map(re.escape, sorted(plain, key=len, reverse=True)))
    lettered = "|".join(sign for sign in signs() if sign.isalpha() and sign in LETTERS)
    named = "|".join(map(re.escape, sorted(names(), key=len, reverse=True)))
    return (
        rf"(?:(?<![A-Za-z])(?:(?:{coded})|(?i:{named}|eur|usd|chf|gbp|dollars?))(?![A-Za-z])"
        rf"|(?<![A-Za-z])(?:{signed})(?![a-z])|(?<![\w.])(?:{lettered})(?=\s?\d))"
    )


def meanings(sign: str) -> frozenset[str]:
    """Return the codes that a sign, code or name may stand for."""
    if sign in signs():
        return signs()[sign]
    if sign.upper() in codes():
        return frozenset({sign.upper()})
    if sign.lower().startswith("dollar"):
        return DOLLARS
    return frozenset({names()[sign.lower()]}) if sign.lower() in names() else frozenset()


def decide(sign: str, text: str, mentioned: Collection[str]) -> tuple[str | None, float]:
    """Return the code that `sign` means in a document that says `text`, and how surely.

    `mentioned` are the codes that the document names. A bare $ is the US dollar unless something
    points to another one; ¥ and kr are read by the language and the country around them.
    """
    possible = meanings(sign)
    if len(possible) <= 1:
        return next(iter(possible), None), 0.97
    named = possible & set(mentioned)
    if named:
        return (next(iter(named)), 0.9) if len(named) == 1 else (None, 0.0)
    if possible == {"JPY", "CNY"}:
        japanese, chinese = bool(JAPANESE.search(text)), bool(CHINESE.search(text))
        code = None if japanese == chinese else "JPY" if japanese else "CNY"
        return code, 0.9
    local = possible & {code for country in countries(text) for code in _money_of(country)}
    if len(local) == 1:
        return next(iter(local)), 0.85
    usual = next(iter(possible & USUAL), None)
    if usual and (not local or usual in local):
        return usual, 0.75 if not local else 0.65
    return None, 0.0


def _money_of(country: str) -> list[str]:
    from babel.numbers import get_territory_currencies

    return list(get_territory_currencies(country))
