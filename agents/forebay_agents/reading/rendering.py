"""Draw pages as pictures."""

from typing import Any, cast

from PIL import Image

from forebay_agents.pages import Box
from forebay_agents.reading.geometry import Frame

CONTRAST = 8
"""Of 255; less of it between the darkest and the lightest place shows no words."""

PIXELS = 30_000_000
"""How many pixels a page is drawn with at most."""


def draw(page: Any, scale: float) -> Image.Image:
    """Draw a page as shown, in grey or colours; a very large one smaller than asked."""
    width, height = page.get_size()
    area = max(width * height, 1.0)
    scale = min(scale, (PIXELS / area) ** 0.5, 20_000 / max(width, height, 1.0))
    picture: Image.Image = page.render(scale=scale).to_pil()
    return picture


def turned(picture: Image.Image, angle: int) -> Image.Image:
    """Return a picture turned clockwise."""
    return picture.rotate(-angle % 360, expand=True)


class Paper:
    """The page as a picture, drawn when it is first asked about."""

    def __init__(self, page: Any, frame: Frame) -> None:
        self._page = page
        self._frame = frame
        self._picture: Image.Image | None = None

    def is_blank(self, box: Box) -> bool:
        """Tell whether the page shows one colour only in this box."""
        if self._picture is None:
            angle = self._frame.rotation - self._page.get_rotation()
            self._picture = turned(draw(self._page, 2.0), angle).convert("L")
        across = self._picture.width / max(self._frame.width, 1.0)
        down = self._picture.height / max(self._frame.height, 1.0)
        left, top, right, bottom = box
        edge = (bottom - top) / 4  # its neighbours above and below may be drawn on something
        place = (left * across, (top + edge) * down, right * across + 1, (bottom - edge) * down + 1)
        part = self._picture.crop(place)
        darkest, lightest = cast(tuple[int, int], part.getextrema())
        return lightest - darkest < CONTRAST
