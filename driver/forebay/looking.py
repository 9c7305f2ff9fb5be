"""Look at files before they are submitted: can an agent read each, and what may that cost."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from forebay.extras import has

if TYPE_CHECKING:
    from forebay_agents.reading.limits import Limits

TOKENS_A_PAGE = 800
BYTES_A_PAGE = 50_000


@dataclass(frozen=True, slots=True)
class Look:
    """What a file is at a glance.

    `problem` says in a sentence why every agent will fail on it, as far as that is known; `pages`
    is None where nobody could count them.
    """

    path: Path
    estimated_tokens: int
    pages: int | None = None
    problem: str | None = None


def look(paths: Iterable[Path], limits: Limits | None = None) -> Iterator[Look]:
    """Yield what each file is, in order; a path is asked for when the one before it is done.

    One child process looks at all of them, within `limits` (those of the environment). Where the
    agents are not installed only the size of a file tells what it may cost.
    """
    if not has("agents"):
        for path in paths:
            yield Look(path, _by_size(path))
        return
    from forebay_agents.models.estimate import estimate_tokens
    from forebay_agents.reading.inspection import inspect

    for seen in inspect(paths, limits):
        if seen.pages is None:
            yield Look(seen.path, _by_size(seen.path), problem=seen.problem)
        else:
            text = (seen.characters, seen.wide_characters, seen.digits)
            yield Look(seen.path, estimate_tokens(seen.pages, *text), seen.pages, seen.problem)


def _by_size(path: Path) -> int:
    return TOKENS_A_PAGE * (1 + path.stat().st_size // BYTES_A_PAGE)
