"""Tell the names of people and companies from addresses and other lines."""

import re
from collections.abc import Iterator
from functools import cache

from forebay_agents.languages import LANGUAGES
from forebay_agents.rules import currencies, words
from forebay_agents.rules.dates import readings
from forebay_agents.rules.labels import Label, find_labels
from forebay_agents.rules.text import JAPANESE, fold, letters, squash


def _any_of(group: str, name: str, *, has_points: bool = False) -> str:
    """Return a pattern for any of the words; with `has_points` their points may be left out."""
    found = map(re.escape, sorted(words.of_names(group, name), key=len, reverse=True))
    plain = (word.replace(r"\.", r"\.?\s?") if has_points else word for word in found)
    return "|".join(dict.fromkeys(plain))


FORMS = _any_of("company", "forms")
JAPANESE_FORMS = _any_of("company", "japanese")
_WORD = r"(?:[A-ZÀ-ÞŒ0-9][\w.&'’+/®!-]*|[a-z]+[A-Z]\w*|[a-z]+\.[a-z]{2,3})"
_JOINING = _any_of("company", "joining")
_WORDS = rf"(?:\s+(?:{_WORD}|(?:{_JOINING})(?!\w)),?)"
COMPANY = re.compile(
    rf"(?<![\w@./-])(?P<name>{_WORD},?{_WORDS}{{0,7}}?(?:,\s*|\s+)(?:{FORMS}))(?![\w@]|\.\w)"
    r"(?P<more>(?:,?\s+(?:& ?Co\.? ?KG(?:aA)?|Ltd\.?|Inc\.?|LLC|Limited|KGaA|KG|Unipessoal))?)"
)
PREFIXED = re.compile(
    rf"(?:{_any_of('company', 'before')})(?!\s+au\s)"
    rf"(?:\s+(?!\d+\b)(?:{_WORD}|(?:{_JOINING})(?!\w))){{1,6}}"
)
JAPANESE_COMPANY = re.compile(
    rf"(?:{JAPANESE_FORMS})\s?[^\s、。,:;()/|]{{1,20}}(?:\s?[A-Za-z]+)?"
    rf"|[^\s、。,:;()/|]{{1,20}}\s?(?:{JAPANESE_FORMS})"
)

HONORIFIC = re.compile(rf"(?i:{_any_of('person', 'polite', has_points=True)})\s+(?=[A-ZÀ-Þ0-9])")
ALONE = re.compile(
    rf"(?i:{_any_of('person', 'polite', has_points=True)}|{_any_of('person', 'kept')})[\s:,]*"
)
"""A form of address that takes a line of its own."""

POLITE = re.compile(r"\s*(?:御中|様|殿|さま)\s*$")

POSTAL = re.compile(
    r"^\d{4,5}$|[^\W\d]+ (?!19|20)\d{4}$|(?:^|\s)\d{3} \d{2} [A-ZÀ-Þ]|〒|"
    r"[都道府県].{1,6}[市区町村郡]|"
    r"(?:^|[\s,·•|(-])(?:(?:[A-Z]{1,2}[- ])?\d{4,5}(?:[ -]\d{3})?,?\s+[A-ZÀ-Þ(][\w'’.-]+"
    r"|\d{4} ?[A-Z]{2}\b|[A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2}\b|[A-Z]{2},? \d{5}(?:-\d{4})?\b"
    r"|[A-Z]\d[A-Z] ?\d[A-Z]\d\b|(?:NSW|VIC|QLD|WA|SA|TAS|ACT|NT) \d{4}\b"
    r"|〒?\d{3}-\d{4}(?!\d)|\d{5}-\d{3}\b)"
)
CONTACT = re.compile(
    rf"@|www\.|https?:|(?<!\w)(?i:{_any_of('line', 'contact', has_points=True)})(?!\w)"
    r"|\bT \d{3}|登録番号|電話|☎|〒"
)
TOWN = re.compile(r"^[^\d,]+ [-–/] [A-Z]{2}(?:$|[ ,–-]+CEP\b)")
"""A town with its state, as in Brazil: 'Joinville - SC - CEP 89219-600'."""

DEPARTMENT = re.compile(r"(?<=\S)\s\S{1,8}[課部室係]$")
"""What follows a company's name where one of its departments writes: '資材課'."""

PAPER = re.compile(r"[\u3040-\u9fff](?:書|票|明細|一覧|について)$")
"""How Japanese names of papers end."""

GENERAL = re.compile(rf"(?:{_any_of('line', 'general')})[\s:.]*", re.IGNORECASE)
"""A line that says what sort of business or copy it is, and no name."""

PARTICLE = re.compile(
    r"[a-z]+[A-Z]|[a-z]{3,}\.[a-z]{2}|(?:de|du|di|da|dos|del|le|la|el|van|von|zu|ter|ten|'t) \w"
)
"""How names begin that begin small: 'de Lattre', 'van den Berg', 'iRobot', 'amazon.de'."""

LONGEST = 70
"""Longer names, in characters, are sentences."""

NO_NAME = re.compile(
    r"\d{3,}|@|www\.|https?:|[?!;€$£¥%=]|^\W*$|\b(?:page|seite|página|pagina)\b|^\("
    r"|\d{1,2}[./]\d{1,2}[./]\d{2,4}|\d年",
    re.IGNORECASE,
)


def companies(text: str) -> Iterator[str]:
    """Yield the names in `text` (in normal form) that a legal form ends or begins."""
    for piece in re.split(r"\s*[|·•;●▪]\s*", text):
        if JAPANESE.search(piece):
            yield from _japanese(piece)
        elif prefixed := PREFIXED.match(piece):
            yield prefixed[0]
        else:
            for match in COMPANY.finditer(piece):
                name = (match["name"] + match["more"]).strip(" ,(")
                is_place = name[0].isdigit() and is_street(name)
                if letters(name) >= 4 and len(name) <= LONGEST and not is_place:
                    yield name


def _japanese(text: str) -> Iterator[str]:
    """Yield the companies in a Japanese text, but not those that it addresses with 御中."""
    for match in JAPANESE_COMPANY.finditer(text):
        if not (POLITE.match(text[match.end() :]) or POLITE.search(match[0])):
            is_whole = match.start() == 0 and len(text) < 26 and not re.search(r"\d", text)
            yield DEPARTMENT.sub("", text) if is_whole else match[0]


def clean_name(line: str, *, is_loose: bool = False) -> str | None:
    """Return the name that a line of an address begins with; None when it is no name.

    With `is_loose` it may end with a number, as 'Strata Plan 88121' does.
    """
    if line.rstrip().endswith(":") or TOWN.search(line):
        return None
    line = POLITE.sub("", line.strip(" ,;:-–·|*")).split(": ")[-1]
    polite = HONORIFIC.match(line)
    line = line[polite.end() :].strip() if polite else line
    if line[:1].isdigit() and is_address(line):
        return None
    named = next(companies(line), None)
    if named and line.startswith(named):
        return named
    line = _before_address(re.split(r"\s*[|·•;]\s*|\s+[–—-]\s+", line)[0].strip(" ,"))
    if is_loose and not is_address(line) and not any(readings(line)):
        plain = re.sub(r"(?<=\w)\s\d{3,6}$", "", line)
        return line if is_name(plain, is_loose=True) else None
    return line if is_name(line) else None


def _before_address(line: str) -> str:
    """Return a line without the address that follows a name in it after a comma."""
    pieces = re.split(r",\s+", line)
    if any(is_address(piece) or re.search(r"\d", piece) for piece in pieces[1:]):
        return pieces[0]
    return line


def is_name(line: str, *, is_loose: bool = False) -> bool:
    """Tell whether a line may be a name: some letters, no address, no label, no sentence.

    With `is_loose` it may also begin small, as 'de Lattre Alexis' does.
    """
    if sum(map(str.isdigit, line)) > letters(line) / 2 or line in currencies.codes():
        return False
    enough = 2 if JAPANESE.search(line) else 3
    if not enough <= letters(line) <= 60 or NO_NAME.search(line) or len(line.split()) > 9:
        return False
    if GENERAL.fullmatch(line) or PAPER.search(line):
        return False
    if ALONE.fullmatch(line) or next(readings(line), None) or _is_sentence(line):
        return False
    if is_address(line) or is_country(line) or re.fullmatch(r"\D+\s\d+\s?[a-zA-Z]?", line):
        return False
    labels = [label for label in find_labels(line) if label.start == 0]
    if any(_gives_value(line, label) for label in labels):
        return False
    if any(
        label.end - label.start >= 0.6 * len(line.rstrip(": .")) for label in labels
    ) or line.endswith(":"):
        return False
    return (
        bool(JAPANESE.search(line))
        or line[0].isupper()
        or line[0].isdigit()
        or (PARTICLE.match(line) is not None and (is_loose or " " not in line[:3]))
    )


def _gives_value(line: str, label: Label) -> bool:
    """Tell a title or a field with its value: 'Invoice INV-7', 'Total USD 10.00'."""
    is_field = any(label.means(group) for group in ("kind", "number", "date", "amount"))
    return is_field and re.search(r"\d", line[label.end :]) is not None


def _is_sentence(line: str) -> bool:
    """Tell whether a line has words that begin small, other than the small words of names."""
    small = re.findall(r"(?<![\w'’.])[a-zà-þ]{3,}(?![\w.])", line)
    joining = set(words.of_names("company", "joining"))
    return len([word for word in small if word not in joining]) >= 2


def is_address(line: str) -> bool:
    """Tell whether a line is a street, a town with its postal code, or a country."""
    return POSTAL.search(line) is not None or is_street(line) or is_country(line)


def is_country(line: str) -> bool:
    """Tell whether a line is the name of a country, in any of the languages."""
    return fold(line).strip(" .") in _countries()


def is_street_name(line: str) -> bool:
    """Tell whether a line begins as the names of streets do where these come first."""
    return fold(line).split(" ")[0].strip(".,") in _first_words()


def is_street(line: str) -> bool:
    """Tell whether a line names a street and a number, or a business park."""
    plain = fold(line)
    if re.match(r"(?:za|zi|zac|zone|zona|poligono|parc|parque|c/o|z\.i\.)\s", plain):
        return True
    return bool(re.search(r"\d", plain)) and _streets().search(plain) is not None


def core(name: str) -> str:
    """Return what is left of a name without its legal form, to compare it with others."""
    plain = re.sub(rf"(?<!\w)(?:{FORMS})(?!\w)|{JAPANESE_FORMS}", " ", name)
    return re.sub(r"[^\w]", "", squash(plain))


@cache
def _countries() -> frozenset[str]:
    from babel import Locale

    others = {"uk", "usa", "u.s.a", "u.k", "england", "scotland", "wales", "hk", "hong kong"}
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
    """Return the words for streets in the languages in which these come first."""
    languages = ("fr", "es", "it", "pt")
    return frozenset(
        fold(word) for each in languages for word in words.phrases("place", "street", each)
    )


@cache
def _streets() -> re.Pattern[str]:
    """Return a pattern for the words that streets are called by, in German and Dutch as endings."""
    known = sorted({fold(word) for word in words.phrases("place", "street")}, key=len, reverse=True)
    whole = "|".join(re.escape(word) for word in known if not JAPANESE.search(word))
    joined = [
        fold(word) for each in ("de", "nl") for word in words.phrases("place", "street", each)
    ]
    ends = "|".join(re.escape(word) for word in joined if len(word) > 2)
    return re.compile(
        rf"(?<!\w)(?:{whole})(?!\w)|\w(?:{ends})(?=[\s.,\d]|$)|丁目|番地|\d-\d+(?:-\d+)?$"
    )
