"""databricks.yml as the CLI reads it for a target: its files joined, its variables filled in."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
REFERENCE = re.compile(r"\$\{([^}]+)\}")
GIVEN = {
    "var.agent_principal": "44444444-dddd-4ddd-8ddd-444444444444",
    "var.model_endpoint": "databricks-simulated-model",
    "workspace.current_user.userName": "ada@example.com",
}
"""What only a deploy can know: the variables without a default, and who deploys."""

Tree = dict[str, Any]
Path_ = tuple[str | int, ...]


def files() -> dict[str, Tree]:
    """Return what stands in databricks.yml, and in each file that it includes."""
    main = yaml.safe_load((ROOT / "databricks.yml").read_text())
    included = [path for pattern in main["include"] for path in sorted(ROOT.glob(pattern))]
    return {
        str(path.relative_to(ROOT)): yaml.safe_load(path.read_text())
        for path in [ROOT / "databricks.yml", *included]
    }


def joined(target: str | None = None) -> Tree:
    """Return all of it as one; for a target with what that changes, and names filled in."""
    whole: Tree = {}
    for tree in files().values():
        _merge(whole, tree)
    if target is None:
        return whole
    changed = copy.deepcopy(whole["targets"][target])
    _merge(whole, {"resources": changed.get("resources", {})})
    known = {"bundle.target": target, **GIVEN}
    for name, variable in whole["variables"].items():
        if "default" in variable:
            known[f"var.{name}"] = filled(variable["default"], known)
    return {**whole, "resources": filled(whole["resources"], known)}


def leaves(tree: Any, path: Path_ = ()) -> Iterator[tuple[Path_, Any]]:
    """Give every value that is no list or mapping, with where it stands."""
    items = tree.items() if isinstance(tree, dict) else enumerate(tree)
    for key, value in items:
        if isinstance(value, dict | list):
            yield from leaves(value, (*path, key))
        else:
            yield (*path, key), value


def references(tree: Any) -> Iterator[tuple[Path_, str]]:
    """Give every ${...}, with where it stands."""
    for path, value in leaves(tree):
        for name in REFERENCE.findall(str(value)):
            yield path, name


def filled(tree: Any, known: Tree) -> Any:
    """Return the tree with what is known in the place of references; others stay."""
    if isinstance(tree, dict):
        return {key: filled(value, known) for key, value in tree.items()}
    if isinstance(tree, list):
        return [filled(value, known) for value in tree]
    if not isinstance(tree, str):
        return tree
    whole = REFERENCE.fullmatch(tree)
    if whole and whole[1] in known:
        return known[whole[1]]
    return REFERENCE.sub(lambda found: str(known.get(found[1], found[0])), tree)


def _merge(into: Tree, tree: Tree) -> None:
    for key, value in tree.items():
        if isinstance(value, dict) and isinstance(into.get(key), dict):
            _merge(into[key], value)
        else:
            into[key] = copy.deepcopy(value)
