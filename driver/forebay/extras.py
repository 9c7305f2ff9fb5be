"""What of this package's optional parts is installed, and how the others are."""

import re
from importlib import metadata


def has(extra: str) -> bool:
    """Tell whether all that an extra of this package brings is installed."""
    for requirement in metadata.requires("forebay") or []:
        named, _, marker = requirement.partition(";")
        if re.search(rf"""extra\s*==\s*["']{extra}["']""", marker):
            try:
                metadata.distribution(re.split(r"[^\w.-]", named)[0])
            except metadata.PackageNotFoundError:
                return False
    return True


def install(extra: str) -> str:
    """Return what to do where an extra is missing, for a sentence: Forebay is on no index."""
    return (
        f"install Forebay's extra {extra} (in its checkout: pip install '.[{extra}]'; from its"
        " wheel: README.md, under Install)"
    )
