"""Write the samples for people: python -m forebay_lab.samples FOLDER [--draw 1]."""

import argparse
from pathlib import Path

from forebay_lab.samples import write_samples


def main() -> None:
    """Write all samples and their truth into the folder that is named."""
    parser = argparse.ArgumentParser(prog="python -m forebay_lab.samples", description=__doc__)
    parser.add_argument("folder", type=Path, help="where to write; made if absent")
    parser.add_argument("--draw", type=int, default=0, help="other words, firms and sums for each")
    given = parser.parse_args()
    samples = write_samples(given.folder, draw=given.draw)
    print(f"Wrote {len(samples)} documents and their truth to {given.folder}")


if __name__ == "__main__":
    main()
