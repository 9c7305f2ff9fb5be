"""Build what the apps are deployed from: a folder each, with the wheel and a requirements.txt.

`databricks bundle deploy` runs it, but not before it has seen that the folders are there: run it
once before the first one. `python deploy/build.py FOLDER` builds them elsewhere than in build/.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from importlib import metadata
from pathlib import Path

CHECKOUT = Path(__file__).parents[1]
EXTRAS = "apps,databricks"
APPS = ("orchestrator", "intake")


def build(folder: Path, *options: str) -> Path:
    """Build the wheel into an emptied folder, and return where it is; options go to `build`."""
    if not any(metadata.distributions(name="build")):  # a module of that name is this one
        sys.exit(f"The module build is missing: run '{sys.executable} -m pip install build'.")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    command = [sys.executable, "-m", "build", "--wheel", *options, "-o", folder, CHECKOUT]
    subprocess.run([str(word) for word in command], check=True)
    (wheel,) = folder.glob("*.whl")
    (folder / "requirements.txt").write_text(f"./{wheel.name}[{EXTRAS}]\n")
    return wheel


def build_all(folder: Path, *options: str) -> None:
    """Build a folder for each app: a bundle takes no two apps from one."""
    first, *others = (folder / app for app in APPS)
    build(first, *options)
    for other in others:
        shutil.rmtree(other, ignore_errors=True)
        shutil.copytree(first, other)


if __name__ == "__main__":
    build_all(Path(sys.argv[1]) if len(sys.argv) > 1 else CHECKOUT / "build")
