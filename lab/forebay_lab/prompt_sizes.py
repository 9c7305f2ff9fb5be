"""Compare estimated prompt tokens with real ones: `python -m forebay_lab.prompt_sizes FOLDER`."""

import argparse
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from forebay_agents.models import estimate_tokens, prompt_of
from forebay_agents.pages import Page
from forebay_agents.reading.inspection import Inspection, inspect
from forebay_agents.reading.reader import Reader
from forebay_lab.model_server.tokens import FRAME, encode

MESSAGES = 2
"""Messages of a request, each of which is framed."""


@dataclass(frozen=True, slots=True)
class Size:
    """A document's prompts in tokens, as counted and as estimated from an inspection."""

    name: str
    pages: int
    real: int
    estimated: int

    @property
    def deviation(self) -> float:
        """How far the estimate is off: 0.1 is ten percent too much."""
        return self.estimated / self.real - 1


def real_tokens(pages: Iterable[Page]) -> int:
    """Return the tokens of all prompts that a document makes, counted with a real tokenizer."""
    return sum(len(encode(prompt)) + MESSAGES * FRAME for prompt in prompt_of(pages))


def sizes(paths: Iterable[Path]) -> Iterator[Size]:
    """Yield the sizes of the documents that can be read and have text."""
    for seen in inspect(paths):
        if not seen.problem and seen.characters:
            yield _size(seen)


def _size(seen: Inspection) -> Size:
    attempt = _Alone()
    with Reader(seen.path, attempt) as reader:
        real = real_tokens(reader.page(number) for number in range(1, reader.pages + 1))
    estimated = estimate_tokens(seen.pages or 0, seen.characters, seen.wide_characters, seen.digits)
    return Size(seen.path.name, seen.pages or 0, real, estimated)


@dataclass
class _Alone:
    """An attempt of nobody: never stopped, and what it reports is dropped."""

    payload: dict[str, Any] = field(default_factory=dict)
    task_id: int = 0
    attempt_id: int = 0
    attempt_no: int = 1
    agent: str = "prompt_sizes"

    def progress(self, done: int, total: int) -> None: ...

    def usage(self, call: object) -> None: ...

    def cancelled(self) -> bool:
        return False

    def seconds_left(self) -> float:
        return math.inf


def table(found: list[Size]) -> str:
    """Return a line for each document, the largest deviation last."""
    rows = [
        f"{one.name:40} {one.pages:5} {one.real:8} {one.estimated:9} {one.deviation:+9.1%}"
        for one in sorted(found, key=lambda one: abs(one.deviation))
    ]
    return "\n".join([f"{'document':40} pages     real estimated deviation", *rows])


def main(arguments: list[str] | None = None) -> None:
    """Print the table for the PDFs of a folder."""
    parser = argparse.ArgumentParser(prog="python -m forebay_lab.prompt_sizes", description=__doc__)
    parser.add_argument("folder", type=Path, help="where the PDFs are")
    paths = sorted(parser.parse_args(arguments).folder.glob("*.pdf"))
    if found := list(sizes(paths)):
        worst = max(found, key=lambda one: abs(one.deviation))
        print(table(found))
        print(f"{len(found)} documents, at most {worst.deviation:+.1%} ({worst.name})")
    else:
        print("No document there can be read and has text.")


if __name__ == "__main__":
    main()
