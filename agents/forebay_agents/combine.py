"""Make one answer of what the XML, a model and the rules found, and say where they differ."""

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal

from forebay_agents.findings import (
    AMOUNTS,
    PARTIES,
    Evidence,
    Findings,
    Found,
    Line,
    Name,
)
from forebay_agents.rules.text import normal, squash
from forebay_agents.sums import lines_miss, lines_sum, sums, total_miss

WELL_FOUNDED = 0.5
"""From this confidence on a located value of the model goes before the rules' value."""

CONTRADICTION = 0.5
OF_THE_XML = 0.05
"""How much a contradiction takes away, if the other reading is sure; the XML's word is not
doubted much by what somebody reads off a page."""

UNLOCATED = 0.4
"""The most confidence in what only a model says and no page shows."""

TOLD_BY_THE_WHOLE: frozenset[Name] = frozenset({"kind", "language", "currency"})
"""Fields that a document may say without printing their value: only these need no place."""

WORDS = {"due_date": "due date", "total_net": "net total"}
"""How notes name a field where its own name is no word."""


def combine(
    rules: Findings, *, xml: Findings | None = None, model: Findings | None = None
) -> Findings:
    """Return the best of what each reader found, with one evidence for each field.

    The XML goes first, then what the model found on a page, then the rules. Where two agree the
    confidence rises; where they contradict it falls, and a note says who read what. What only the
    model says and no page shows is left out. Lines are the XML's, or else the model's if they add
    up better than the rules' do.
    """
    xml, model = xml or Findings(), model or Findings()
    notes = [*xml.notes, *model.notes, *rules.notes]
    fields: dict[Name, Found] = {}
    for name in {**xml.fields, **model.fields, **rules.fields}:
        if readings := _readings(name, xml, model, rules):
            fields[name] = _merged(name, readings)
            notes += _contradictions(name, readings)
        else:
            notes.append(f"{_says(model.fields[name], name)}, but no page shows it: left out.")
    lines = xml.lines or _better(model.lines, rules.lines, fields)
    notes += _wrong_sums(fields, [] if xml.lines else lines)
    return Findings(fields, lines, notes, model.unanswered)


def _readings(name: Name, xml: Findings, model: Findings, rules: Findings) -> list[Found]:
    """Return the readings of a field that count, the one that goes first first."""
    said, ruled = model.fields.get(name), rules.fields.get(name)
    if said and said.evidence.page is None:
        most = min(said.confidence, UNLOCATED)
        said = said.with_confidence(most) if name in TOLD_BY_THE_WHOLE else None
    is_first = said and (not ruled or said.confidence >= min(WELL_FOUNDED, ruled.confidence))
    order = (xml.fields.get(name), *((said, ruled) if is_first else (ruled, said)))
    return [found for found in order if found]


def _merged(name: Name, readings: Sequence[Found]) -> Found:
    """Return the first reading, as sure as the others leave it."""
    first, *others = readings
    confidence = first.confidence
    for other in others:
        if _agree(name, first.value, other.value):
            confidence += (1 - confidence) * other.confidence
        else:
            weight = OF_THE_XML if first.evidence.source == "xml" else CONTRADICTION
            confidence *= 1 - other.confidence * weight
    return first.with_confidence(round(confidence, 3))


def _contradictions(name: Name, readings: Sequence[Found]) -> Iterator[str]:
    """Tell in a sentence each well-founded reading that is not the first one's."""
    first, *others = readings
    for other in others:
        if other.confidence >= WELL_FOUNDED and not _agree(name, first.value, other.value):
            reading = _says(other)
            yield f"{_says(first, name)}, {reading[0].lower()}{reading[1:]}."


def _says(found: Found, name: str = "") -> str:
    """Return "Page 1 prints total “109.90”", by where the value comes from."""
    match found.evidence:
        case Evidence(source="xml"):
            who = "The XML inside says"
        case Evidence(source="model"):
            who = "The model reads"
        case Evidence(source="text", page=int(page)):
            who = f"Page {page} prints"
        case Evidence(page=int(page)):
            who = f"Page {page} seems to print"
        case _:
            who = "The text says"
    return " ".join(filter(None, (who, WORDS.get(name, name), f"“{found.value}”")))


def _agree(name: Name, one: str, other: str) -> bool:
    """Tell whether two values mean the same; of a party one may say less than the other."""
    if name in AMOUNTS:
        return abs(Decimal(one)) == abs(Decimal(other))
    short, long = sorted((squash(normal(text)) for text in (one, other)), key=len)
    return short in long if name in PARTIES else short == long


def _better(model: list[Line], rules: list[Line], fields: Mapping[Name, Found]) -> list[Line]:
    stated = sums(fields)
    model_miss, rules_miss = lines_miss(model, stated), lines_miss(rules, stated)
    is_better = model_miss is not None and (rules_miss is None or model_miss < rules_miss)
    return model if is_better or not rules else rules


def _wrong_sums(fields: Mapping[Name, Found], lines: Sequence[Line]) -> Iterator[str]:
    """Tell in sentences which sums do not add up; a statement's lines make no total."""
    stated = sums(fields)
    if total_miss(stated):
        made = stated["total_net"] + stated["tax"]
        yield (
            f"Net total {stated['total_net']} and tax {stated['tax']} make {made},"
            f" but the total is {stated['total']}."
        )
    if lines_miss(lines, stated) and "kind" in fields and fields["kind"].value != "statement":
        name: Name = "total_net" if "total_net" in stated else "total"
        goal = f"{WORDS.get(name, name)} is {stated[name]}"
        yield f"The lines sum to {lines_sum(lines)}, but the {goal}."
