"""What makes the picture of a page hard to read; all take it in shades of grey, and give it so.

What is left to chance comes from the `Random` that each is given. Lengths are in dots.
"""

from random import Random

from PIL import Image, ImageChops, ImageDraw, ImageFilter

from forebay_lab.samples.paging import Wear

PAPER = 250


def skewed(degrees: float) -> Wear:
    """Let the page lie askew, its corners cut off."""
    return lambda page, _: page.rotate(degrees, Image.Resampling.BICUBIC, fillcolor=PAPER)


def faxed(threshold: int) -> Wear:
    """Leave black and white only: what is darker than the threshold is black."""
    return lambda page, _: page.point([0] * threshold + [255] * (256 - threshold))


def faded(black: int, white: int) -> Wear:
    """Let black and white come close to each other."""
    shades = [black + shade * (white - black) // 255 for shade in range(256)]
    return lambda page, _: page.point(shades)


def blurred(radius: float) -> Wear:
    """Put the page out of focus."""
    return lambda page, _: page.filter(ImageFilter.GaussianBlur(radius))


def grained(share: float) -> Wear:
    """Mix in noise, of which the share is told."""

    def grain(page: Image.Image, random: Random) -> Image.Image:
        noise = Image.frombytes("L", page.size, random.randbytes(page.width * page.height))
        return Image.blend(page, noise, share)

    return grain


def speckled(count: int, largest: int) -> Wear:
    """Scatter spots, half of them black and half white."""

    def speckle(page: Image.Image, random: Random) -> Image.Image:
        spotted = page.copy()
        draw = ImageDraw.Draw(spotted)
        for number in range(count):
            x, y = random.randrange(page.width), random.randrange(page.height)
            size = random.randrange(largest)
            draw.rectangle((x, y, x + size, y + size), fill=255 * (number % 2))
        return spotted

    return speckle


def stained(count: int) -> Wear:
    """Leave rings and pools of coffee, as large as a cup."""

    def stain(page: Image.Image, random: Random) -> Image.Image:
        cup, film = page.width // 6, Image.new("L", page.size, 255)
        draw = ImageDraw.Draw(film)
        for _ in range(count):
            x, y = random.randrange(page.width - cup), random.randrange(page.height - cup)
            corners = (x, y, x + 2 * cup, y + 2 * cup)
            draw.ellipse(corners, fill=random.randrange(180, 230), outline=100, width=cup // 12)
        return ImageChops.multiply(page, film.filter(ImageFilter.GaussianBlur(3)))

    return stain


def shaded(darkest: int) -> Wear:
    """Let a shadow lie on the page, darkest at its right edge."""

    def shade(page: Image.Image, _: Random) -> Image.Image:
        shades = [darkest + step * (255 - darkest) // 255 for step in range(256)]
        shadow = Image.linear_gradient("L").rotate(-90).point(shades)
        return ImageChops.multiply(page, shadow.resize(page.size))

    return shade


def tilted(share: float) -> Wear:
    """Hold the camera aslant: the upper edge is shorter than the lower one, by twice the share."""

    def tilt(page: Image.Image, _: Random) -> Image.Image:
        width, height = page.size
        off = width * share
        corners = (-off, -off, off / 4, height, width, height + off / 4, width + off, -off / 2)
        return page.transform(
            page.size, Image.Transform.QUAD, corners, Image.Resampling.BICUBIC, fillcolor=90
        )

    return tilt


def cut(*, right: float = 0, bottom: float = 0) -> Wear:
    """Cut off a share of the page at its right edge and at its foot."""

    def crop(page: Image.Image, _: Random) -> Image.Image:
        width, height = page.size
        return page.crop((0, 0, int(width * (1 - right)), int(height * (1 - bottom))))

    return crop
