"""Tell the names of people and companies from addresses and other lines."""

import re
from collections.abc import Iterator
from functools import cache

from forebay_agents.rules.labels import LANGUAGES, find_labels, words
from forebay_agents.rules.text import JAPANESE, fold, letters, squash

FORMS = (
    r"(?:Beteiligungs|Verwaltungs)?(?:g?GmbH|GMBH|Gmbh|AG|KG|OHG|UG|SE|KGaA|mbH)(?: ?\(haftungsbeschränkt\))?"
    r"(?: ?& ?Co\.? ?(?:KGaA|KG|OHG))?|e\.? ?K(?:fr|fm)?\.?|e\.? ?V\.|e\.? ?G\.|eG|e\.?U\.|GbR|eGbR|PartG(?: ?mbB)?"
    r"|(?:Pty\.?|Pte\.?|Pvt\.?|Co\.?,?)? ?(?:Ltd|LTD|Limited|LIMITED)\.?|PLC|plc|Plc|LLP|L\.L\.P\.|LLC|L\.L\.C\.|Inc|INC|Incorporated"
    r"|Corp|CORP|Corporation|Company|S\.? ?[àa]\.? ?r\.? ?l\.?|S\.A\.R\.L\.?|S[àa]rl|A\.S\.D\.|SCA|SARL|SASU|SAS|S\.A\.S\.?|EURL|E\.U\.R\.L\.?|SNC|SCOP|SCI|SELARL|SCP"
    r"|S\.? ?A\.? ?U\.?|S\.A\.?|SA|SPRL|SRL|S\.? ?R\.? ?L\.?(?: ?S\.?)?|Srls?|S\.? ?[pP]\.? ?A\.?|SpA|S\.n\.c\.|S\.a\.s\.|Snc|Sas"
    r"|S\.? ?L\.? ?U\.?|S\.L\.?(?: ?N\.E\.)?|SL|S\. ?Coop\.?|C\.B\.|Unipessoal,? L\.?da\.?|Lda|LDA|L\.da|Ltda|LTDA|EIRELI|S/A|EPP"
    r"|B\. ?V\.|b\. ?v\.|BV|N\. ?V\.|NV|BVBA|V\.?O\.?F\.?|C\.V\.|A/S|ApS|AB|AS|Oyj?|Sp\. ?z ?o\. ?o\.|s\.r\.o\.|K\.K\.|GK|d\.o\.o\."
)
JAPANESE_FORMS = (
    r"株式会社|有限会社|合同会社|合資会社|合名会社|一般社団法人|公益社団法人|一般財団法人|公益財団法人"
    r"|特定非営利活動法人|NPO法人|医療法人(?:社団)?|学校法人|社会福祉法人|税理士法人|弁護士法人|\(株\)|\(有\)|\(同\)"
)
_WORD = r"(?:[A-ZÀ-ÞŒ0-9][\w.&'’+/®!-]*|[a-z]+[A-Z]\w*|[a-z]+\.[a-z]{2,3})"
_JOIN = r"(?:&|\+|-|–|and|und|et|y|e|of|the|de|du|des|del|della|delle|degli|dei|dell'|aux|au|la|le|les|di|do|da|das|dos|van|von|der|den|für|en|für|pour)"
COMPANY = re.compile(
    rf"(?<![\w@./-])(?P<name>{_WORD},?(?:\s+(?:{_WORD}|{_JOIN}),?){{0,7}}?(?:,\s*|\s+\(?)(?:{FORMS})\.?)(?![\w@]|\.\w)"
    r"(?P<more>(?:,?\s+(?:& ?Co\.? ?KG(?:aA)?|Ltd\.?|Inc\.?|LLC|Limited|KGaA|KG|Co\. KG|Unipessoal))?)"
)
PREFIXED = re.compile(
    rf"(?<![\w.])(?:SARL|SAS|SASU|EURL|SCI|SNC|SELARL|SCP|SCEA|EARL|GAEC|Ets\.?|Établissements|Etablissements|Firma|Fa\.|Ditta"
    rf"|PT|CV|TOV|OOO|NZOZ)(?:\s+(?:{_WORD}|{_JOIN})){{1,6}}"
)
JAPANESE_COMPANY = re.compile(
    rf"(?:{JAPANESE_FORMS})\s?[^\s、。,:;()/|]{{1,20}}(?:\s?[A-Za-z]+)?|[^\s、。,:;()/|]{{1,20}}\s?(?:{JAPANESE_FORMS})"
)

HONORIFIC = re.compile(
    r"(?:m/s\.?:?|messrs\.?|attn\.?:?|att\.?:|t\.?a\.?v\.?|z\. ?hd\.?(?: v\.)?|(?:an\s+)?(?:herrn?|frau|firma|familie|fam\.|eheleute)(?:\s+und\s+(?:frau|herrn?))?|m\.|m\.? (?:ou|et) mme|mme\.?|mlle|monsieur|madame"
    r"|mademoiselle|société|ste\.?|sté\.?|sig\.?(?:ra|re)?|sr\.?|sra\.?|srta\.?|dhr\.?|de heer|mevr?\.?|mevrouw|spett\.?(?:le|abile)?(?: ditta)?"
    r"|egr\.? ?sig\.?|gent\.?(?:le|ma|mo)?(?: sig\.?ra)?|d\.[ªa]|exm[oa]\.?\(?s?\)?\.? ?s(?:enhor|r)\.?\(?(?:es|a)?\)?\.?)\s+(?=(?-i:[A-ZÀ-Þ0-9]))",
    re.IGNORECASE,
)
ADDRESS_FORM = re.compile(
    r"herrn?|frau|firma|familie|monsieur|madame|mademoiselle|m\. et mme|mme|sig\.?(?:ra)?|egr\.? sig\.?|spett\.?(?:le)?|"
    r"exmo\.?(?:\(?s?\)?)? s(?:enhor|r)\.?(?:es)?|de heer|mevrouw|sr\.?|sra\.?|mr\.?|mrs\.?",
    re.IGNORECASE,
)
"""Forms of address that take a line of their own."""

POLITE = re.compile(r"\s*(?:御中|様|殿|さま)\s*$")

POSTAL = re.compile(
    r"^\d{4,5}$|[^\W\d]+ (?!19|20)\d{4}$|(?:^|\s)\d{3} \d{2} [A-ZÀ-Þ]|(?:^|[\s,·•|(-])(?:(?:[A-Z]{1,2}[- ])?\d{4,5}(?:[ -]\d{3})?,?\s+[A-ZÀ-Þ(][\w'’.-]+|\d{4} ?[A-Z]{2}\b|[A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2}\b"
    r"|[A-Z]{2},? \d{5}(?:-\d{4})?\b|[A-Z]\d[A-Z] ?\d[A-Z]\d\b|(?:NSW|VIC|QLD|WA|SA|TAS|ACT|NT) \d{4}\b|〒?\d{3}-\d{4}(?!\d)|\d{5}-\d{3}\b)"
    r"|〒|[都道府県].{1,6}[市区町村郡]"
)
CONTACT = re.compile(
    r"@|www\.|https?:|\b(?:tel|phone|fax|telefon|téléphone|tél|teléfono|telefono|telefone|telefoon|mobile?|iban|bic|swift|vat|ust|siret|siren|rcs|nif|cif"
    r"|p\.? ?iva|part\. iva|partita iva|c\.f|cod\. fisc|codice fiscale|nipc|kvk|btw|abn|gstin|gst|uid|pan|ein|hrb|hra|steuernummer|steuer-nr|tva|cnpj)\b|\bt\d{3}|登録番号|電話|☎|〒",
    re.IGNORECASE,
)
PARTICLE = re.compile(
    r"[a-z]+[A-Z]|[a-z]{3,}\.[a-z]{2}|(?:de|du|di|da|dos|del|le|la|el|van|von|zu|ter|ten|'t) \w"
)
"""How names begin that begin small: 'de Lattre', 'van den Berg', 'iRobot', 'amazon.de'."""

NO_NAME = re.compile(
    r"\d{3,}|@|www\.|https?:|[?!;€$£¥%=]|^\W*$|\b(?:page|seite|página|pagina)\b|^\(|\d{1,2}[./]\d{1,2}[./]\d{2,4}",
    re.IGNORECASE,
)


def companies(text: str) -> Iterator[str]:
    """Yield the names in `text` (in normal form) that end with a legal form, or begin with a Japanese one."""
    for piece in re.split(r"\s*[|·•;●▪]\s*", text):
        if JAPANESE.search(piece):
            for match in JAPANESE_COMPANY.finditer(piece):
                if not (POLITE.match(piece[match.end() :]) or POLITE.search(match[0])):
                    is_whole = (
                        match.start() == 0 and len(piece) < 26 and not re.search(r"\d", piece)
                    )
                    yield piece if is_whole else match[0]
            continue
        if prefixed := PREFIXED.match(piece):
            yield prefixed[0]
            continue
        for match in COMPANY.finditer(piece):
            name = (match["name"] + match["more"]).strip(" ,(")
            name = re.sub(r"(?<=PLC|LLC|LLP|mbH|SAS|SpA)\.$|(?<=\b(?:AG|KG|SE|SA|SL))\.$", "", name)
            if (
                letters(name) >= 4
                and len(name) <= 70
                and name.split()[0].strip(",") not in FORMS.split("|")
            ):
                yield name


def clean_name(line: str, *, is_loose: bool = False) -> str | None:
    """Return the name that a line of an address begins with; None when it is no name.

    With `is_loose` it may end with a number, as 'Strata Plan 88121' does.
    """
    line = POLITE.sub("", line.strip(" ,;:-–·|*"))
    polite = HONORIFIC.match(line)
    line = line[polite.end() :].strip() if polite else line
    named = next(companies(line), None)
    if named and line.startswith(named):
        return named
    line = _before_address(re.split(r"\s*[|·•;]\s*|\s+[–—-]\s+", line)[0].strip(" ,"))
    plain = re.sub(r"\s\d+$", "", line) if is_loose else line
    return line if is_name(plain, is_loose=is_loose) else None


def _before_address(line: str) -> str:
    """Return a line without the address that follows a name in it after a comma."""
    pieces = re.split(r",\s+", line)
    if len(pieces) > 1 and any(map(is_address, pieces[1:])):
        return pieces[0]
    return line


def is_name(line: str, *, is_loose: bool = False) -> bool:
    """Tell whether a line may be a name: some letters, no address, no label, no sentence.

    With `is_loose` it may also begin small, as 'de Lattre Alexis' does.
    """
    if not 2 <= letters(line) <= 60 or NO_NAME.search(line) or len(line.split()) > 9:
        return False
    if ADDRESS_FORM.fullmatch(line):
        return False
    if is_address(line) or is_country(line) or re.fullmatch(r"\D+\s\d+\s?[a-zA-Z]?", line):
        return False
    labels = [label for label in find_labels(line) if label.start == 0]
    if any(
        label.end - label.start >= 0.6 * len(line.rstrip(": .")) for label in labels
    ) or line.endswith(":"):
        return False
    return (
        bool(JAPANESE.search(line))
        or line[0].isupper()
        or line[0].isdigit()
        or PARTICLE.match(line) is not None
        and (is_loose or " " not in line[:3])
    )


def is_address(line: str) -> bool:
    """Tell whether a line is a street, a town with its postal code, or a country."""
    return POSTAL.search(line) is not None or is_street(line) or is_country(line)


def is_country(line: str) -> bool:
    """Tell whether a line is the name of a country, in any of the languages."""
    return fold(line).strip(" .") in _countries()


def is_street_name(line: str) -> bool:
    """Tell whether a line begins as the names of streets do where these come first."""
    first = fold(line).split(" ")[0].strip(".,")
    return first in _first_words()


def is_street(line: str) -> bool:
    """Tell whether a line names a street and a number, or a business park."""
    plain = fold(line)
    if re.match(r"(?:za|zi|zac|zone|zona|poligono|parc|parque|c/o|z\.i\.)\s", plain):
        return True
    return bool(re.search(r"\d", plain)) and _streets().search(plain) is not None


def core(name: str) -> str:
    """Return what is left of a name when its legal form is taken away, to compare it with others."""
    plain = re.sub(rf"(?<!\w)(?:{FORMS})(?!\w)|{JAPANESE_FORMS}", " ", name)
    return re.sub(r"[^\w]", "", squash(plain))


@cache
def _countries() -> frozenset[str]:
    from babel import Locale

    others = {
        "uk",
        "usa",
        "u.s.a",
        "u.k",
        "england",
        "scotland",
        "wales",
        "hk",
        "hong kong",
        "holland",
    }
    locales = [Locale.parse(language) for language in LANGUAGES]
    return frozenset(
        others
        | {
            fold(name)
            for locale in locales
            for code, name in locale.territories.items()
            if code.isalpha()
        }
    )


@cache
def _first_words() -> frozenset[str]:
    known = {
        fold(word)
        for language in ("fr", "es", "it", "pt")
        for word in words("place", "street", language)
    }
    return frozenset(known)


@cache
def _streets() -> re.Pattern[str]:
    """Return a pattern for words that streets are called by; German and Dutch ones end longer words."""
    known = sorted({fold(word) for word in words("place", "street")}, key=len, reverse=True)
    whole = "|".join(re.escape(word) for word in known if not JAPANESE.search(word))
    ends = "strasse|straße|str\\.|str|weg|platz|allee|gasse|straat|laan|plein|gracht|kade|dijk|ring|damm|ufer"
    return re.compile(
        rf"(?<!\w)(?:{whole})(?!\w)|\w(?:{ends})(?=[\s.,\d]|$)|丁目|番地|\d-\d+(?:-\d+)?$"
    )
