"""Put the segments of a page into spots: texts in normal form, with their places and labels."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import get_args

from forebay_agents.pages import Box, Page, Row, Source, union
from forebay_agents.rules import currencies
from forebay_agents.rules.labels import RATE, Label, find_labels
from forebay_agents.rules.text import JAPANESE, normal

SPACES: dict[Source, float] = dict.fromkeys(get_args(Source), 1.3) | {"ocr": 1.9}
"""Up to how many letters wide a gap is a space; OCR cuts letters close."""

MISREAD = re.compile(r"\b([Nn])\.?[29](?=\s|:|$)")
"""How OCR often reads n° and nº."""

IN_SUMS = frozenset({("amount", "amount")})
"""What a label means that is part of a sum, as in 金12,345円."""

FILLER = " :.#=>*|)]}"


@dataclass(frozen=True, slots=True, eq=False)
class Spot:
    """A segment in normal form, with its place on the page and the labels in it."""

    text: str
    box: Box
    page: int
    row: int
    column: int
    labels: Sequence[Label]
    rows: int = 1

    @property
    def height(self) -> float:
        """The height of a line of it in points, at least 1."""
        return max((self.box[3] - self.box[1]) / self.rows, 1.0)

    def is_over(self, other: "Spot") -> bool:
        """Tell whether it shares a part of its width with `other`."""
        return self.box[0] < other.box[2] and other.box[0] < self.box[2]

    def begins_with_label(self) -> bool:
        """Tell whether it begins with a label that is no part of a value."""
        label = self.labels[0] if self.labels and self.labels[0].start <= 1 else None
        return label is not None and self._is_firm(label) and label.meanings != IN_SUMS

    def _is_firm(self, label: Label) -> bool:
        rest = self.text[label.end :].strip()
        is_short = label.end - label.start < 4 and not JAPANESE.match(self.text[label.start])
        return not rest or rest[0] == ":" or not is_short


def spots_of(row: Row, page: Page, index: int) -> list[Spot]:
    """Return a row's segments in normal form; words that only a space parts are one spot."""
    joined: list[tuple[str, Box]] = []
    for segment in row:
        text = normal(segment.text)
        if page.source == "ocr":
            text = MISREAD.sub(r"\1°", text)
        if joined and _gap(joined[-1], (text, segment.box)) < SPACES[page.source]:
            before, box = joined[-1]
            joined[-1] = normal(f"{before} {text}"), union((box, segment.box))
        elif text:
            joined.append((text, segment.box))
    return [
        Spot(text, box, page.number, index, column, find_labels(text))
        for column, (text, box) in enumerate(joined)
    ]


def _gap(left: tuple[str, Box], right: tuple[str, Box]) -> float:
    """Return how many letters wide a gap is: in some fonts a space is as wide as a letter."""
    letters = len(left[0]) + len(right[0])
    widths = (left[1][2] - left[1][0]) + (right[1][2] - right[1][0])
    return (right[1][0] - left[1][2]) * letters / max(widths, 1.0)


def is_broken(row: Sequence[Spot], spot: Spot) -> bool:
    """Tell whether a spot may be the upper half of a label: no value stands beside it."""
    beside = "".join(each.text for each in row[spot.column + 1 :])
    return (
        len(spot.text) < 25
        and not spot.text.endswith(":")
        and not re.search(r"\d", spot.text + beside)
    )


def stacked(upper: Spot, lower: Spot) -> Spot | None:
    """Return two spots as one, if together they begin with one label."""
    ends = zip(upper.box[::2], lower.box[::2], strict=True)
    is_aligned = any(abs(one - other) <= 3 for one, other in ends)
    if not is_aligned or lower.box[1] - upper.box[3] > 0.6 * upper.height:
        return None
    text = f"{upper.text} {lower.text}"
    labels = find_labels(text)
    own = max((label.end for label in lower.labels[:1]), default=1)
    if not labels or labels[0].start > 0 or labels[0].end < len(upper.text) + 1 + own:
        return None
    box = union((upper.box, lower.box))
    return replace(lower, text=text, box=box, labels=labels[:1], rows=2)


def is_remark(text: str) -> bool:
    """Tell whether a text after a label belongs to it: '(EUR)', 'in €', '19 %', 'for you:'."""
    plain = RATE.sub(" ", re.sub(r"[(\[][^)\]]*[)\]]?", " ", text))
    plain = re.sub(currencies.pattern(), " ", plain).strip()
    is_open = plain.endswith(":") and not re.search(r"\d", plain)
    return is_open or re.fullmatch(r"(?:in|en|em|of|\W)*", plain, re.IGNORECASE) is not None


def rest_of(spot: Spot, label: Label) -> str:
    """Return what stands after a label in its spot, up to the next label."""
    following = (other.start for other in spot.labels if other.start >= label.end and other.leads)
    return spot.text[label.end : next(following, None)].lstrip(FILLER).rstrip(" |;,/")
