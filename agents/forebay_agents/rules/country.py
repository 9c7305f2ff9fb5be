"""Tell the countries that a document comes from or goes to, by its addresses and numbers."""

import re
from functools import lru_cache

STATES = (
    "A[KLRZ]|C[AOT]|D[CE]|FL|GA|HI|I[ADLN]|K[SY]|LA|M[ADEINOST]|N[CDEHJMVY]|O[HKR]|PA|RI|S[CD]"
    "|T[NX]|UT|V[AT]|W[AIVY]"
)
SIGNS = {
    "US": rf"\b(?:{STATES}),? \d{{5}}(?:-\d{{4}})?\b|\bUSA\b|\bU\.S\.A\.|United States"
    r"|(?i:sales tax)|\bEIN\b|\bACH\b|Routing (?:number|no)",
    "CA": r"\b[A-Z]\d[A-Z] ?\d[A-Z]\d\b|\bCanada\b|\bHST\b|\bQST\b|\bTVQ\b",
    "AU": r"\bABN\b|\bAustralia\b|\bBSB\b|\b(?:NSW|QLD|VIC|TAS) \d{4}\b",
    "NZ": r"New Zealand|\bNZBN\b|\bGST (?:No|Number)[.:]? ?\d{2,3}-\d{3}-\d{3}",
    "SG": r"\bSingapore\b|\bUEN\b",
    "HK": r"Hong ?Kong",
    "MX": r"M[eé]xico\b|\bRFC\b|\bCFDI\b",
    "AR": r"\bArgentina\b|\bCUIT\b|\bAFIP\b",
    "CL": r"\bChile\b|\bR\.?U\.?T\.?\b",
    "CO": r"\bColombia\b|\bDIAN\b",
    "GB": r"\b[A-Z]{1,2}\d[A-Z\d]? \d[A-Z]{2}\b|United Kingdom|\bGB ?\d{9}\b|\bEngland\b"
    r"|\bU\.?K\.?\b|(?i:sort code)",
    "ZA": r"South Africa|\(Pty\)",
    "IE": r"\bIreland\b|\bIE ?\d{7}[A-Z]{1,2}\b",
    "IN": r"\bIndia\b|\bGSTIN\b|\bRupees\b|\bUPI\b|\bINR\b",
    "SE": r"\bSweden\b|\bSverige\b|\bSE ?\d{12}\b",
    "NO": r"\bNorway\b|\bNorge\b|\bMVA\b",
    "DK": r"\bDenmark\b|\bDanmark\b|\bDK ?\d{8}\b|\bCVR\b",
    "IS": r"\bIceland\b|\bÍsland\b",
    "JP": r"[\u3040-\u30ff]|\bJapan\b|〒",
    "CN": r"\bChina\b|人民",
}
_SIGNS = {country: re.compile(pattern) for country, pattern in SIGNS.items()}


@lru_cache(maxsize=8)
def countries(text: str) -> frozenset[str]:
    """Return the countries (ISO 3166) that `text` shows signs of, of those told apart here."""
    return frozenset(country for country, sign in _SIGNS.items() if sign.search(text))
