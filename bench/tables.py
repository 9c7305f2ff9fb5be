"""Print how long pages take to read by us and by pdfplumber: `python bench/tables.py [RUNS]`.

Each gives the text and the ruled tables of the first pages of all samples: "ours" rows and what is
hidden as well; "pdfplumber" text and tables; "both" ours, and the tables of pdfplumber instead.
Each run starts a process for each, one after the other, so that a busy machine slows down all.
"""

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

PAGES = 3
"""How many pages of a sample are read at most."""


def main(runs: int = 5) -> None:
    """Read the samples that many times with each reader, and print how they compare with ours."""
    from forebay_lab.samples import write_samples
    from forebay_lab.samples.damaged import DAMAGED

    with TemporaryDirectory() as folder:
        write_samples(Path(folder))
        for name in DAMAGED:
            Path(folder, f"{name}.pdf").unlink()
        measured = [{reader: _measured(reader, folder) for reader in READERS} for _ in range(runs)]
    for reader in READERS:
        seconds, megabytes = zip(*(run[reader] for run in measured), strict=True)
        slower = [run[reader][0] / run["ours"][0] for run in measured]
        larger = [run[reader][1] / run["ours"][1] for run in measured]
        print(
            f"{reader}, {runs} runs: {median(seconds):.2f} s, {_spread(slower)} as long as ours;"
            f" {median(megabytes):.0f} MB, {_spread(larger)} as much as ours"
        )


def _spread(ratios: list[float]) -> str:
    return f"{min(ratios):.2f} / {median(ratios):.2f} / {max(ratios):.2f} times"


def _measured(reader: str, folder: str) -> tuple[float, float]:
    """Return the processor seconds and the megabytes that a reader takes in its own process."""
    command = (sys.executable, __file__, reader, folder)
    told = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    seconds, megabytes = map(float, told.split())
    return seconds, megabytes


def _read_ours(path: Path) -> None:
    from forebay_agents.reading.pdf import Pdf

    pdf = Pdf(path)
    for number in range(1, min(len(pdf), PAGES) + 1):
        pdf.page(number)
    pdf.close()


def _read_theirs(path: Path) -> None:
    import pdfplumber

    with pdfplumber.open(path) as pdf:
        for page in pdf.pages[:PAGES]:
            page.extract_text()
            page.extract_tables()
            page.close()


def _read_both(path: Path) -> None:
    import pdfplumber

    _read_ours(path)
    with pdfplumber.open(path) as pdf:
        for page in pdf.pages[:PAGES]:
            page.extract_tables()
            page.close()


READERS: dict[str, Callable[[Path], None]] = {
    "ours": _read_ours,
    "pdfplumber": _read_theirs,
    "both": _read_both,
}


def _read(reader: str, folder: str) -> None:
    """Read all samples, and print the seconds and megabytes that this process took for it."""
    paths = sorted(Path(folder).glob("*.pdf"))
    READERS[reader](paths[0])  # what is imported and loaded once is not counted
    began = time.process_time()
    for path in paths:
        READERS[reader](path)
    seconds = time.process_time() - began
    most = Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0]
    print(seconds, int(most) / 1024)


if __name__ == "__main__":
    if len(sys.argv) > 2:
        _read(*sys.argv[1:])
    else:
        main(*map(int, sys.argv[1:]))
