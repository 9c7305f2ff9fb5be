"""The people of the tests: one for each role, with a password that is hashed once a session."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from apps.support.serving import Served
from forebay_apps.web.people import Role
from forebay_apps.web.users import Users

PEOPLE: dict[str, Role] = {
    "mila": "submitter",
    "alice": "submitter",
    "vic": "viewer",
    "oscar": "operator",
    "root": "admin",
}
PASSWORD = "correct horse battery"


def write_people(file: Path) -> None:
    """Write the users file with all of them."""
    users = Users(file)
    for name, role in PEOPLE.items():
        users.put(name, role, PASSWORD)


@contextmanager
def logged_in(app: Served, name: str) -> Iterator[httpx.Client]:
    """Give a client that has logged in as a browser does, within the block."""
    with httpx.Client(base_url=app.url, headers={"Origin": app.url}, timeout=20) as client:
        answer = client.post("/login", data={"name": name, "password": PASSWORD})
        assert answer.status_code == 303, f"{name} could not log in: {answer.text[:300]}"
        yield client
