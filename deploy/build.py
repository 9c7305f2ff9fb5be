"""Build what the apps are deployed from: build/app, with the wheel and a requirements.txt.

`databricks bundle deploy` runs it. `python deploy/build.py FOLDER` builds it elsewhere.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

CHECKOUT = Path(__file__).parents[1]
EXTRAS = "apps,databricks"


def build(folder: Path, *options: str) -> Path:
    """Build the wheel into an emptied folder, and return where it is; options go to `build`."""
    if find_spec("build") is None:
        sys.exit(f"The module build is missing: run '{sys.executable} -m pip install build'.")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    command = [sys.executable, "-m", "build", "--wheel", *options, "-o", folder, CHECKOUT]
    subprocess.run([str(word) for word in command], check=True)
    (wheel,) = folder.glob("*.whl")
    (folder / "requirements.txt").write_text(f"./{wheel.name}[{EXTRAS}]\n")
    return wheel


if __name__ == "__main__":
    build(Path(sys.argv[1]) if len(sys.argv) > 1 else CHECKOUT / "build" / "app")
