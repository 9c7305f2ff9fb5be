"""Write the tables of docs/parsing.md: how the samples are read here and now, by rules and OCR.

.venv/bin/python docs/build_accuracy.py (takes some minutes; needs tesseract with all languages)
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytesseract

from forebay_lab.samples import write_samples

PAGE = Path(__file__).parent / "parsing.md"
BEGIN = "<!-- written by docs/build_accuracy.py: do not edit -->"
END = "<!-- to here -->"
DRAWS = (1, 2, 3)


def tables() -> str:
    """Return what stands between the marks: tables for the samples, and sums for other draws."""
    version = pytesseract.get_tesseract_version()
    said = [
        f"With tesseract {version.major}.{version.minor}, and no model:",
        checked(0, "--markdown"),
    ]
    head = (
        "| draw | documents | fields right | lines right | rank correlation |\n|---" + "|---:" * 4
    )
    rows = [others(draw, json.loads(checked(draw, "--json"))) for draw in DRAWS]
    return "\n\n".join([*said, "Other draws of the same plans:", "\n".join([f"{head}|", *rows])])


def checked(draw: int, option: str) -> str:
    """Return what the check prints for a draw of the samples."""
    forebay = Path(sys.executable).with_name("forebay")
    with TemporaryDirectory() as folder:
        write_samples(Path(folder), draw=draw)
        command = [forebay, "parse", "--check", folder, option]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def others(draw: int, report: Mapping[str, Any]) -> str:
    """Return the row of one draw."""
    lines, ranked = report["lines"]["accuracy"], report["rank_correlation"]
    shares = f"{100 * report['accuracy']:.1f} % | {100 * lines:.1f} %"
    said = "-" if ranked is None else f"{ranked:.2f}"
    return f"| {draw} | {report['documents']} | {shares} | {said} |"


def main() -> None:
    """Put today's tables into the page."""
    before, _, rest = PAGE.read_text("utf-8").partition(BEGIN)
    after = rest.partition(END)[2]
    PAGE.write_text(f"{before}{BEGIN}\n\n{tables()}\n\n{END}{after}", "utf-8")


if __name__ == "__main__":
    main()
