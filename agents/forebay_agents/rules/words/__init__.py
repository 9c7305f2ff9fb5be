"""The words by which documents name their fields: a file for each language, and one for names."""

import tomllib
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import Any

from forebay_agents.languages import LANGUAGES

LABELS = ("kind", "number", "date", "amount", "party", "word")
"""The groups of phrases that are labels."""


def phrases(group: str, name: str, only: str | None = None) -> tuple[str, ...]:
    """Return the phrases of all languages, or of one, for a thing, as the word files have them."""
    return tuple(
        phrase
        for language in ((only,) if only else LANGUAGES)
        for phrase in _listed(_file(language).get(group, {}).get(name, ""), ",")
    )


def labels() -> Iterator[tuple[str, tuple[str, str], str]]:
    """Yield language, group and name, and phrase of each label, with every word for {no}."""
    for language in LANGUAGES:
        data = _file(language)
        numbers = _listed(data["no"], ",")
        for group in LABELS:
            for name, text in data[group].items():
                for phrase in _listed(text, ","):
                    for number in numbers if "{no}" in phrase else [""]:
                        yield language, (group, name), phrase.replace("{no}", number)


def of_names(group: str, name: str) -> list[str]:
    """Return what tells names of one sort, the longest first."""
    return sorted(_listed(_file("names")[group][name], ";"), key=len, reverse=True)


def _listed(text: str, mark: str) -> list[str]:
    return [item.strip() for item in text.split(mark) if item.strip()]


@cache
def _file(name: str) -> dict[str, Any]:
    path = files(__name__) / f"{name}.toml"
    return tomllib.loads(path.read_text(encoding="utf-8"))
