"""Write the examples of README.md and docs/parsing.md: what a sample gives here and now.

.venv/bin/python docs/build_examples.py
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from forebay.cli import main
from forebay_lab.samples import write_samples

ROOT = Path(__file__).parents[1]
README, PARSING = ROOT / "README.md", ROOT / "docs" / "parsing.md"
SAMPLE = "rechnung.pdf"
WIDTH = 98


def readme() -> str:
    """Return the README with what `forebay parse` prints for people."""
    shown = f"$ pip install '.[cli,agents]'\n$ forebay parse {SAMPLE}\n{printed().rstrip()}\n"
    return replaced(README.read_text(), "console", [shown])


def parsing() -> str:
    """Return docs/parsing.md with the line for scripts, an evidence and a line item."""
    row = json.loads(printed("--json", "--full"))
    result = row.pop("result")
    examples = (row, result["evidence"]["total"], result["lines"][0])
    return replaced(PARSING.read_text(), "json", map(wrapped, examples))


def printed(*options: str) -> str:
    """Return what the command prints about the sample."""
    with TemporaryDirectory() as folder, contextlib.chdir(folder):
        write_samples(Path(folder), [Path(SAMPLE).stem])
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.suppress(SystemExit):
            main(["parse", SAMPLE, *options])
        return out.getvalue()


def wrapped(document: dict[str, Any]) -> str:
    """Return a document as JSON in lines of bounded width, none of which ends inside of a text."""
    text = json.dumps(document, ensure_ascii=False)
    tied = re.sub(r'"[^"]*"(: )?', lambda found: found[0].replace(" ", "\0"), text)
    lines = textwrap.wrap(tied, WIDTH, subsequent_indent=" ", break_on_hyphens=False)
    return "\n".join(lines).replace("\0", " ") + "\n"


def replaced(page: str, language: str, examples: Iterator[str] | list[str]) -> str:
    """Return a page with these examples between its fences of that language, in order."""
    each = iter(examples)
    fence = re.compile(rf"(?<=^```{language}\n).*?(?=^```$)", re.DOTALL | re.MULTILINE)
    return fence.sub(lambda _: next(each), page)


if __name__ == "__main__":
    for name in [name for name in os.environ if name.startswith("FOREBAY_")]:
        del os.environ[name]
    README.write_text(readme())
    PARSING.write_text(parsing())
