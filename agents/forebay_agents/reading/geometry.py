"""From a PDF's coordinates to those of the page as it is shown, and to those of its words."""

from dataclasses import dataclass, replace

from forebay_agents.pages import Box, Point, middle

FAR = 1e6
"""Points; nothing on a page is farther away than this."""

Matrix = tuple[float, float, float, float, float, float]


@dataclass(frozen=True, slots=True)
class Frame:
    """Show a page: its box in the PDF (left, bottom, right, top), turned clockwise by `rotation`.

    Shown points are counted from the top left corner, rightwards and downwards.
    """

    left: float
    bottom: float
    right: float
    top: float
    rotation: int = 0

    @property
    def width(self) -> float:
        return self.right - self.left if self.rotation % 180 == 0 else self.top - self.bottom

    @property
    def height(self) -> float:
        return self.top - self.bottom if self.rotation % 180 == 0 else self.right - self.left

    def turned(self, angle: int) -> "Frame":
        """Return the same page, turned so that words which run at `angle` become upright."""
        return replace(self, rotation=(self.rotation + angle) % 360)

    def point(self, x: float, y: float) -> Point:
        """Return where a point of the PDF is shown."""
        match self.rotation:
            case 90:
                return y - self.bottom, x - self.left
            case 180:
                return self.right - x, y - self.bottom
            case 270:
                return self.top - y, self.right - x
            case _:
                return x - self.left, self.top - y

    def box(self, left: float, bottom: float, right: float, top: float) -> Box:
        """Return where a box of the PDF is shown."""
        x0, y0 = self.point(left, bottom)
        x1, y1 = self.point(right, top)
        return min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1)

    def holds(self, box: Box, margin: float = 2.0) -> bool:
        """Tell whether the middle of a shown box lies on the page."""
        x, y = middle(box)
        return -margin <= x <= self.width + margin and -margin <= y <= self.height + margin


def upright(box: Box, angle: int, width: float, height: float) -> Box:
    """Return a shown box as it lies once words at `angle` are turned upright.

    The angle is counted anticlockwise: at 90, words run upwards. Width and height are the page's.
    """
    left, top, right, bottom = box
    match angle:
        case 90:
            return height - bottom, left, height - top, right
        case 180:
            return width - right, height - bottom, width - left, height - top
        case 270:
            return top, width - right, bottom, width - left
        case _:
            return box


def as_shown(box: Box, angle: int, width: float, height: float) -> Box:
    """Undo `upright`."""
    if angle % 180:
        width, height = height, width
    return upright(box, -angle % 360, width, height)


def times(inner: Matrix, outer: Matrix) -> Matrix:
    """Return the matrix that does `inner` first, then `outer`."""
    a, b, c, d, e, f = inner
    g, h, i, j, k, m = outer
    return (
        *(a * g + b * i, a * h + b * j),
        *(c * g + d * i, c * h + d * j),
        *(e * g + f * i + k, e * h + f * j + m),
    )


def applied(matrix: Matrix, x: float, y: float) -> Point:
    """Return where a matrix moves a point, no farther than any page reaches."""
    a, b, c, d, e, f = matrix
    return (
        max(-FAR, min(FAR, a * x + c * y + e)),
        max(-FAR, min(FAR, b * x + d * y + f)),
    )
