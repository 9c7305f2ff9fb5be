"""The people who log in to the web apps with a password."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from forebay.cli import documents, output
from forebay.cli.errors import Refused
from forebay.cli.options import Json

if TYPE_CHECKING:
    from forebay_apps.web.people import Role
    from forebay_apps.web.users import Users

app = typer.Typer(
    help="People who log in to the web apps (file FOREBAY_USERS).", no_args_is_help=True
)

ROLES = ("submitter", "viewer", "operator", "admin")
USERS: output.Columns = {"name": "name", "role": "role"}

Name = Annotated[str, typer.Argument(help="The name to log in with.")]
RoleOption = Annotated[str, typer.Option(help=f"What they may: {', '.join(ROLES)}.")]


@app.command()
def add(name: Name, role: RoleOption = "submitter") -> None:
    """Add a person; the password is asked for, or read from standard input."""
    users = _users()
    if users.find(name):
        raise Refused(f"There is {name!r} already: 'forebay user passwd' changes a password.")
    users.put(name, _role(role), _password())
    output.note(f"{name} may log in now, as {role}.")


@app.command()
def passwd(name: Name) -> None:
    """Change a password; the person's sessions end."""
    users = _users()
    user = users.one(name)
    users.put(user.name, user.role, _password())


@app.command("role")
def set_role(name: Name, role: Annotated[str, typer.Argument(help=", ".join(ROLES))]) -> None:
    """Give a person another role; it counts at once."""
    _users().give(name, _role(role))


@app.command()
def remove(name: Name) -> None:
    """Take a person away; the sessions end."""
    _users().remove(name)


@app.command("list")
def list_(as_json: Json = False) -> None:
    """List the people and their roles."""
    output.print_rows([user.person for user in _users().all().values()], USERS, as_json)


def _users() -> Users:
    documents.require("apps", "Logging in with a password")
    from forebay_apps.web.settings import users_file
    from forebay_apps.web.users import Users

    return Users(users_file())


def _role(said: str) -> Role:
    from forebay_apps.web.people import ROLES as KNOWN

    for role in KNOWN:
        if role == said:
            return role
    raise Refused(f"There is no role {said!r}: use one of {', '.join(ROLES)}.")


def _password() -> str:
    """Ask for a new password twice, or read a line where nobody can be asked."""
    if not sys.stdin.isatty():
        return sys.stdin.readline().rstrip("\r\n")
    from forebay_apps.web.users import PASSWORD_CHARACTERS

    question = f"Password, {PASSWORD_CHARACTERS[0]} characters or more"
    said: str = typer.prompt(question, hide_input=True, confirmation_prompt=True)
    return said
