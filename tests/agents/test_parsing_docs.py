"""docs/parsing.md shows what the agent really prints, and names every limit."""

from __future__ import annotations

import importlib.util
import os
import re
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from forebay_agents.reading.limits import Limits
from forebay_agents.result import ResultBuilder
from forebay_agents.standalone import StandaloneAttempt, parse_file
from forebay_lab.samples import write_samples

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "parsing.md").read_text()
EXAMPLE = "rechnung"


@pytest.fixture(scope="module")
def row(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Parse the sample that the page shows."""
    folder = tmp_path_factory.mktemp("samples")
    write_samples(folder, [EXAMPLE])
    return parse_file(folder / f"{EXAMPLE}.pdf", StandaloneAttempt())


def test_the_examples_are_what_is_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    """docs/build_examples.py would change nothing, in this page and in the README."""
    for name in [name for name in os.environ if name.startswith("FOREBAY_")]:
        monkeypatch.delenv(name)
    spec = importlib.util.spec_from_file_location("build_examples", DOCS / "build_examples.py")
    assert spec is not None
    assert spec.loader is not None
    build = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(build)
    assert build.README.read_text() == build.readme()
    assert build.parsing() == PAGE


def test_every_key_of_a_result_is_described(row: dict[str, Any]) -> None:
    """The table names the keys that a result has, and no other."""
    section = PAGE[PAGE.index("## The result") : PAGE.index("## Confidence")]
    assert set(re.findall(r"^\| `(\w+)` \|", section, re.M)) == set(row["result"])
    for key in ("pages", "lines", "evidence"):
        first = row["result"][key]["total"] if key == "evidence" else row["result"][key][0]
        described = next(text for text in section.splitlines() if text.startswith(f"| `{key}`"))
        assert set(first) <= set(re.findall(r"`(\w+)`", described))


def test_every_limit_is_described() -> None:
    """The table has each variable with its default."""
    table = re.findall(r"^\| `FOREBAY_PARSE_(\w+)` \| .* \| (\d+) \|$", PAGE, re.M)
    assert {(name.lower(), int(default)) for name, default in table} == {
        (field.name, field.default) for field in fields(Limits)
    }


def test_the_files_beside_a_document_are_named() -> None:
    """Whatever does not fit into a result is in a file that the page names."""
    with ResultBuilder(0) as builder:
        names = {f"{part}_file" for part in builder.parts}
    assert names <= set(re.findall(r"`(\w+_file)`", PAGE))
