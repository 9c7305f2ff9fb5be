"""Write the tables of docs/parsing.md: how the samples are read here and now, by rules and OCR.

.venv/bin/python docs/build_accuracy.py (takes some minutes; needs tesseract with all languages)
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytesseract

from forebay_lab.prompt_sizes import comparisons
from forebay_lab.samples import write_samples

PAGE = Path(__file__).parent / "parsing.md"
BEGIN = "<!-- written by docs/build_accuracy.py: do not edit -->"
END = "<!-- to here -->"
DRAWS = (1, 2, 3)


def tables() -> str:
    """Return what stands between the marks: tables for the samples, and sums for other draws."""
    version = pytesseract.get_tesseract_version()
    heads = ("draw", "documents", "fields right", "lines right", "rank correlation", "wrong lower")
    with printed(0) as folder:
        said = [
            f"With tesseract {version.major}.{version.minor}, and no model:",
            checked(folder, "--markdown"),
            estimated(folder),
        ]
    rows = []
    for draw in DRAWS:
        with printed(draw) as folder:
            rows.append(others(draw, json.loads(checked(folder, "--json"))))
    draws = "\n".join(["| " + " | ".join(heads) + " |", "|---" + "|---:" * 5 + "|", *rows])
    return "\n\n".join([*said, "Other draws of the same plans:", draws])


@contextmanager
def printed(draw: int) -> Iterator[Path]:
    """Give a folder with a draw of the samples."""
    with TemporaryDirectory() as folder:
        write_samples(Path(folder), draw=draw)
        yield Path(folder)


def checked(folder: Path, option: str) -> str:
    """Return what the check of a folder prints."""
    forebay = Path(sys.executable).with_name("forebay")
    command = [forebay, "parse", "--check", folder, option]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


def estimated(folder: Path) -> str:
    """Say how far estimated tokens are from those of the prompts."""
    off = [abs(each.deviation) for each in comparisons(sorted(folder.glob("*.pdf")))]
    return (
        f"The tokens estimated at submission are at most {100 * max(off):.1f} % off those of the"
        f" prompts, for {len(off)} documents with text."
    )


def others(draw: int, report: Mapping[str, Any]) -> str:
    """Return the row of one draw."""
    lines, ranked = report["lines"]["accuracy"], report["rank_correlation"]
    shares = f"{100 * report['accuracy']:.1f} % | {100 * lines:.1f} %"
    said = "- | -" if ranked is None else f"{ranked:.2f} | {100 * report['separation']:.1f} %"
    return f"| {draw} | {report['documents']} | {shares} | {said} |"


def main() -> None:
    """Put today's tables into the page."""
    before, _, rest = PAGE.read_text("utf-8").partition(BEGIN)
    after = rest.partition(END)[2]
    PAGE.write_text(f"{before}{BEGIN}\n\n{tables()}\n\n{END}{after}", "utf-8")


if __name__ == "__main__":
    main()
