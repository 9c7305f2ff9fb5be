"""Write docs/functions.md: every public function and row type, as the SQL files describe them.

python docs/build_functions.py
"""

from __future__ import annotations

import re
from pathlib import Path

DOCS = Path(__file__).parent
DB = DOCS.parent / "db"
ROLES = ("submitter", "worker", "agent", "operator", "viewer", "reader", "upkeep")

FUNCTION = re.compile(
    r"create or replace function (?P<signature>forebay\.(?P<name>\w+)\(.*?\)\s+returns [^\n]+)"
    r".*?as \$function\$\n(?P<header>(?:--[^\n]*\n)+)",
    re.DOTALL,
)
GRANT = re.compile(r"grant execute on function(?P<names>.*?)\bto\b(?P<roles>.*?);", re.DOTALL)
ROW_TYPE = re.compile(
    r"create type forebay\.(?P<name>\w+) as \((?P<columns>.*?)\);"
    r"\s*comment on type \S+ is\s*'(?P<comment>(?:[^']|'')*)'",
    re.DOTALL,
)
FIELD = re.compile(r"^(Returns|Writes|Locks|Errors|Called by)\b", re.MULTILINE)

INTRODUCTION = """# Functions

All of the public SQL, by the role that may call it. Made from `db/` by `make docs`: do not edit.
Times are `timestamptz`, durations `interval`, ids `bigint`. The error codes are explained in
[db/README.md](../db/README.md#error-codes). From Python each function is called the same, in
`forebay.calls.<role>`, with the same arguments without `p_`.
"""


def functions_page() -> str:
    """Return the whole page."""
    granted = grants()
    described = {path.stem: path for path in DB.glob("functions/*/[a-z]*.sql")}
    parts = [INTRODUCTION]
    shown: set[str] = set()
    for role in ROLES:
        parts.append(f"## forebay_{role}\n")
        for name in granted[role]:
            if name in shown:
                parts.append(f"`{name}`: see above.\n")
            else:
                parts.append(describe(described[name]))
                shown.add(name)
    parts.append("## Row types\n")
    parts.append("\n".join(row_types()) + "\n")
    return "\n".join(parts)


def grants() -> dict[str, list[str]]:
    """Return the functions of each role, in the order of db/grants.sql."""
    found: dict[str, list[str]] = {role: [] for role in ROLES}
    for grant in GRANT.finditer((DB / "grants.sql").read_text()):
        for role in re.findall(r"forebay_(\w+)", grant["roles"]):
            found[role] += re.findall(r"forebay\.(\w+)", grant["names"])
    return found


def describe(path: Path) -> str:
    """Return the section of one function: its first sentence, its signature, its header."""
    function = FUNCTION.search(path.read_text())
    if function is None:
        raise ValueError(f"{path} does not look like a function with a header")
    header = re.sub(r"^-- ?", "", function["header"], flags=re.MULTILINE)
    field = FIELD.search(header)
    prose = (header[: field.start()] if field else header).strip()
    fields = header[field.start() :].rstrip() if field else ""
    signature = re.sub(r"\n\s+returns", "\n    returns", function["signature"])
    return (
        f"### {function['name']}\n\n{prose}\n\n```sql\n{signature}\n```\n\n```text\n{fields}\n```\n"
    )


def row_types() -> list[str]:
    """Return one line a row type that a public function returns, as its latest migration has it."""
    lines = {}
    for path in sorted(DB.glob("migrations/*.sql")):
        for found in ROW_TYPE.finditer(path.read_text()):
            comment = found["comment"].replace("''", "'")
            columns = " ".join(found["columns"].split())
            lines[found["name"]] = f"- **{found['name']}**: {comment}\n  `{columns}`"
    return [line for line in lines.values() if "**: Inside" not in line]


if __name__ == "__main__":
    (DOCS / "functions.md").write_text(functions_page())
