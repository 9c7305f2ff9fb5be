"""Print how long `forebay --help` takes, in seconds: `python bench/cli_startup.py [RUNS]`."""

import statistics
import subprocess
import sys
import time

COMMAND = (sys.executable, "-m", "forebay.cli", "--help")


def main(runs: int = 10) -> None:
    """Start the command line that many times, one after the other."""
    seconds = []
    for _ in range(runs):
        began = time.perf_counter()
        subprocess.run(COMMAND, check=True, stdout=subprocess.DEVNULL)
        seconds.append(time.perf_counter() - began)
    print(
        f"forebay --help, {runs} runs: best {min(seconds):.3f} s,"
        f" median {statistics.median(seconds):.3f} s, worst {max(seconds):.3f} s"
    )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
