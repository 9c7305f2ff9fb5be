"""Compare estimated prompt tokens with real ones: `python -m forebay_lab.prompt_sizes FOLDER`."""

import argparse
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from forebay_agents.models import estimate_tokens, prompt_of
from forebay_agents.pages import Page
from forebay_agents.reading.inspection import Inspection, inspect
from forebay_agents.reading.reader import Reader
from forebay_agents.standalone import StandaloneAttempt
from forebay_lab.model_server.tokens import FRAME, encode

MESSAGES = 2
"""Messages of a request, each of which is framed."""


@dataclass(frozen=True, slots=True)
class Comparison:
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


def comparisons(paths: Iterable[Path]) -> Iterator[Comparison]:
    """Compare the documents that can be read and have text."""
    for seen in inspect(paths):
        if not seen.problem and seen.characters:
            yield _compared(seen)


def _compared(seen: Inspection) -> Comparison:
    attempt = StandaloneAttempt()
    with Reader(seen.path, attempt) as reader:
        real = real_tokens(reader.page(number) for number in range(1, reader.pages + 1))
    estimated = estimate_tokens(seen.pages or 0, seen.characters, seen.wide_characters, seen.digits)
    return Comparison(seen.path.name, seen.pages or 0, real, estimated)


def table(found: list[Comparison]) -> str:
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
    if found := list(comparisons(paths)):
        worst = max(found, key=lambda one: abs(one.deviation))
        print(table(found))
        print(f"{len(found)} documents, at most {worst.deviation:+.1%} ({worst.name})")
    else:
        print("No document there can be read and has text.")


if __name__ == "__main__":
    main()
