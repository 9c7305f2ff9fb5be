"""Write the samples for people: python -m forebay_lab.samples FOLDER."""

import argparse
from pathlib import Path

from forebay_lab.samples import write_samples


def main() -> None:
    """Write all samples and their truth into the folder that is named."""
    parser = argparse.ArgumentParser(prog="python -m forebay_lab.samples", description=__doc__)
    parser.add_argument("folder", type=Path, help="where to write; made if absent")
    folder = parser.parse_args().folder
    print(f"Wrote {len(write_samples(folder))} documents and their truth to {folder}")


if __name__ == "__main__":
    main()
