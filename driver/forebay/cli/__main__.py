"""Run the command line as `python -m forebay.cli`, for when the script is not on PATH."""

from forebay.cli import main

main()
