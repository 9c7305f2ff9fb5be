"""Read a picture as a vision model would: what a test registered for it, else by OCR."""

import base64
import io
import shutil

GAP = "   "
WIDE_GAP = 2.0
"""Heights of a word that part two columns."""


def rows(url: str) -> list[str]:
    """Return the rows that tesseract sees on a picture in a data URL; none where it is missing."""
    if shutil.which("tesseract") is None:
        return []
    import pytesseract
    from PIL import Image

    with Image.open(io.BytesIO(content(url))) as picture:
        seen = pytesseract.image_to_data(picture, output_type=pytesseract.Output.DICT)
    lines: dict[tuple[int, ...], str] = {}
    ends: dict[tuple[int, ...], int] = {}
    keys = ("block_num", "par_num", "line_num", "left", "width", "height", "text")
    for block, paragraph, line, left, width, height, text in zip(
        *(seen[key] for key in keys), strict=True
    ):
        if text.strip():
            place = (block, paragraph, line)
            is_apart = place in ends and left - ends[place] > WIDE_GAP * height
            gap = GAP if is_apart else " "
            lines[place] = f"{lines[place]}{gap}{text}" if place in lines else text
            ends[place] = left + width
    return list(lines.values())


def content(url: str) -> bytes:
    """Return the bytes of a data URL."""
    return base64.b64decode(url.partition("base64,")[2])
