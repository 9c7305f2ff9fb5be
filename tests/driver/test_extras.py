"""How an extra is installed: what messages and pages say holds for a checkout and for a wheel."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from forebay.extras import install

ROOT = Path(__file__).parents[2]
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
README = (ROOT / "README.md").read_text()
TEXTS = ["driver/**/*.py", "apps/**/*.py", "agents/**/*.py", "lab/**/*.py", "deploy/**/*.py"]
PAGES = ["*.md", "docs/*.md", "Makefile", "requirements.lock"]


def texts(*patterns: str) -> dict[str, str]:
    """Return what is in the files of these patterns, by their names."""
    files = [file for pattern in patterns for file in sorted(ROOT.glob(pattern))]
    return {str(file.relative_to(ROOT)): file.read_text() for file in files}


def test_nobody_is_told_to_install_it_from_an_index() -> None:
    """There it is not, and who looks finds nothing, or what somebody else put there."""
    read = texts(*TEXTS, *PAGES)
    assert len(read) > 100
    command = re.compile(r"pip install [^\n]*?[ '\"]forebay(?![-\w./])")
    assert [name for name, text in read.items() if command.search(text)] == []


def test_messages_name_extras_that_there_are() -> None:
    """Each of them by way of the one sentence."""
    named = re.findall(r"""\binstall\(["'](\w+)["']\)""", "".join(texts(*TEXTS).values()))
    assert len(named) > 5
    assert set(named) <= set(EXTRAS)
    assert f"'.[{named[0]}]'" in install(named[0])


def test_the_readme_says_how_for_a_checkout_and_for_a_wheel() -> None:
    """Where messages lead: each extra that is not for development, and the wheel's name."""
    (section,) = re.findall(r"^## Install\n(.*?)^## ", README, re.DOTALL | re.MULTILINE)
    assert "README.md, under Install" in install("cli")
    assert set(re.findall(r"^\| `(\w+)`", section, re.MULTILINE)) == set(EXTRAS) - {"dev"}
    asked = re.findall(r"pip install '(\S+)\[([\w,]+)\]'", section)
    assert [where for where, _ in asked] == [".", "dist/forebay-VERSION-py3-none-any.whl"]
    assert {extra for _, extras in asked for extra in extras.split(",")} <= set(EXTRAS)
