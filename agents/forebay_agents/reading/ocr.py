"""Read the picture of a page with tesseract."""

import re
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from statistics import median
from tempfile import NamedTemporaryFile
from typing import Any

import pytesseract
from PIL import Image

from forebay_agents.pages import Box, Page
from forebay_agents.reading.characters import Character, Gap
from forebay_agents.reading.drawings import Ruling
from forebay_agents.reading.errors import OcrUnavailable
from forebay_agents.reading.geometry import Frame
from forebay_agents.reading.pdf import Pdf, coverage
from forebay_agents.reading.pieces import is_wide
from forebay_agents.reading.rows import lay_out

DPI = 300
"""The resolution that tesseract asks for."""

PACKS = {
    **{"en": "eng", "de": "deu", "fr": "fra", "es": "spa", "it": "ita", "pt": "por"},
    **{"nl": "nld", "ja": "jpn"},
}
"""Languages of ISO 639-1 and the names of tesseract's files for them."""

SURE = 0.6
"""Certainty below which a page may lie on its side, where nothing tells how it lies."""

CLEAR_DIRECTION = 1.0
"""How sure tesseract must be of a page's direction, in its own measure."""

REACH = 60
"""Points that a line must reach across to tell whether the page was laid askew."""

KILLED = (-signal.SIGKILL, -signal.SIGTERM, -signal.SIGINT, -signal.SIGHUP)
"""How tesseract ends that the machine had no memory for, or that somebody stopped."""

DOUBTFUL = 10
"""Words of a lower confidence than this percentage are specks and pictures."""


def read(pdf: Pdf, number: int, languages: Sequence[str]) -> Page:
    """Return what tesseract reads on a page, turned upright, in languages of ISO 639-1.

    Languages whose file is not installed are passed over; if none is left, all that are known and
    installed are used. Raises OcrUnavailable when there is no tesseract, or no language for it.
    """
    picture = pdf.image(number, DPI).convert("L")
    words = _best(picture, pdf.frame(number), _packs(languages))
    frame = words.frame
    laid_out, _ = lay_out(words.found, frame, words.bars)
    return Page(
        number,
        width=round(frame.width, 1),
        height=round(frame.height, 1),
        rotation=frame.rotation,
        text="\n".join("  ".join(segment.text for segment in row) for row in laid_out),
        rows=laid_out,
        coverage=coverage(laid_out, frame),
        is_scanned=True,
        source="ocr" if laid_out else "none",
        certainty=round(words.certainty, 3),
    )


@dataclass(frozen=True, slots=True)
class _Words:
    """What tesseract made of a picture, and how sure it is, weighted by length, from 0 to 1.

    `frame` shows the page turned so that words are upright, `bars` are the lines of a table that
    were taken for letters.
    """

    frame: Frame
    found: list[Character]
    certainty: float
    bars: list[Ruling]


@dataclass(frozen=True, slots=True)
class _Word:
    """A word as tesseract printed it, its box in points, and how sure it is, in percent."""

    printed: str
    box: Box
    confidence: float

    @property
    def text(self) -> str:
        """The word without lines beside it, and with the yen sign that looks like a backslash."""
        return re.sub(r"^\\(?=\d)", "¥", self.printed.strip("|"))

    def bars(self) -> list[Ruling]:
        """Return the lines of a table that were taken for letters at the word's ends."""
        left, top, right, bottom = self.box
        ends = ((self.printed.startswith("|"), left), (self.printed.endswith("|"), right))
        return [Ruling(x, top, bottom) for is_there, x in ends if is_there]


def _best(picture: Image.Image, frame: Frame, packs: str) -> _Words:
    """Read a picture in the direction in which its words run; if that is unknown, in the best."""
    angle = _angle(picture)
    best = _words(picture, angle or 0, frame, packs)
    if angle is None and best.certainty < SURE:
        for other in (90, 270, 180):
            turned = _words(picture, other, frame, packs)
            best = max(best, turned, key=lambda words: words.certainty * len(words.found))
    return best


def _angle(picture: Image.Image) -> int | None:
    """Return the angle at which words run, anticlockwise; None if tesseract cannot tell."""
    try:
        with _saved(picture) as path:
            seen = pytesseract.image_to_osd(path, output_type=pytesseract.Output.DICT)
    except pytesseract.TesseractError:  # too few characters, or its file is not installed
        return None
    return int(seen["rotate"]) if seen["orientation_conf"] >= CLEAR_DIRECTION else None


def _words(picture: Image.Image, angle: int, frame: Frame, packs: str) -> _Words:
    """Read a picture whose words run at `angle`."""
    with _saved(picture.rotate(-angle, expand=True)) as path:
        data = pytesseract.image_to_data(
            path, lang=packs, config=f"--dpi {DPI}", output_type=pytesseract.Output.DICT
        )
    frame = frame.turned(angle)
    lines = _lines(data, frame.width / (picture.height if angle % 180 else picture.width))
    slope = _slope(lines)
    words = [word for line in lines for word in line]
    weight = sum(len(word.text) for word in words)
    sure = sum(len(word.text) * word.confidence for word in words)
    return _Words(
        frame,
        [character for line in lines for character in _characters(line, slope)],
        sure / weight / 100 if weight else 0.0,
        [bar for word in words for bar in word.bars()],
    )


def _lines(data: dict[str, list[Any]], scale: float) -> list[list[_Word]]:
    """Return the words of each line that tesseract saw, in points."""
    lines: dict[tuple[int, ...], list[_Word]] = {}
    for index, printed in enumerate(data["text"]):
        left, top = data["left"][index] * scale, data["top"][index] * scale
        right = left + data["width"][index] * scale
        bottom = top + data["height"][index] * scale
        place = tuple(data[f"{name}_num"][index] for name in ("block", "par", "line"))
        word = _Word(printed.strip(), (left, top, right, bottom), data["conf"][index])
        if word.confidence >= DOUBTFUL and (word.text or word.printed):
            lines.setdefault(place, []).append(word)
    return list(lines.values())


def _slope(lines: list[list[_Word]]) -> float:
    """Return by how much lines fall to the right, on a page that was laid askew."""
    slopes = []
    for line in lines:
        first, last = line[0].box, line[-1].box
        if (reach := last[0] - first[0]) > REACH:
            slopes.append((last[1] + last[3] - first[1] - first[3]) / 2 / reach)
    return median(slopes) if len(slopes) > 2 else 0.0


def _characters(line: list[_Word], slope: float) -> list[Character]:
    """Return the words of a line as if it were level, with boxes where they are."""
    base = median(word.box[3] - slope * word.box[0] for word in line)
    height = median(word.box[3] - word.box[1] for word in line)
    found = []
    for word in line:
        left, _, right, _ = word.box
        bottom = base + slope * left
        box = (left, bottom - height, right, bottom)
        if word.text:
            found.append(Character(word.text, box, (left, base), 0, _gap(word.text)))
    return found


def _gap(word: str) -> Gap:
    """Return what precedes a word: a space, but for characters that tesseract parts needlessly."""
    return "" if is_wide(word) else "meant"


@contextmanager
def _saved(picture: Image.Image) -> Iterator[str]:
    """Give the name of a file that holds the picture for as long as tesseract reads it.

    Raises ChildProcessError when tesseract is killed from outside.
    """
    with NamedTemporaryFile(suffix=".pgm") as file:
        picture.save(file, "PPM")
        file.flush()
        try:
            yield file.name
        except pytesseract.TesseractError as error:
            if error.status in KILLED:
                raise ChildProcessError("tesseract was killed") from error
            raise


def _packs(languages: Sequence[str]) -> str:
    """Return the names of tesseract's files for these languages, as it takes them."""
    installed = _installed()
    asked = [PACKS[language] for language in languages if PACKS.get(language) in installed]
    packs = asked or [pack for pack in PACKS.values() if pack in installed]
    if not packs:
        raise OcrUnavailable("tesseract has none of its languages installed")
    return "+".join(packs)


@cache
def _installed() -> frozenset[str]:
    try:
        return frozenset(pytesseract.get_languages())
    except pytesseract.TesseractNotFoundError as error:
        raise OcrUnavailable("tesseract is not installed") from error
