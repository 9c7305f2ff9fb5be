"""The wheel of this checkout: built as a deploy builds it, and installed into a folder."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from typing import Any

CHECKOUT = Path(__file__).parents[2]


def build_module() -> Any:
    """Return deploy/build.py, which is no module of a package."""
    found = importlib.util.spec_from_file_location("build", CHECKOUT / "deploy" / "build.py")
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


def built(folder: Path) -> Path:
    """Build what the apps are deployed from into the folder, and return the wheel in it."""
    wheel: Path = build_module().build(folder, "--no-isolation")
    return wheel


def install(wheel: Path, site: Path) -> None:
    """Install the wheel alone: what it needs is here."""
    options = ("--quiet", "--no-deps", "--no-index", "--no-compile", "--target")
    subprocess.run([sys.executable, "-m", "pip", "install", *options, site, wheel], check=True)
