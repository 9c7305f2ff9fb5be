"""The file of people who log in with a password: names, roles, and what their passwords hash to."""

import fcntl
import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from argon2 import PasswordHasher, extract_parameters
from argon2.exceptions import InvalidHashError, VerificationError

from forebay.errors import ForebayError
from forebay.logs import first_line
from forebay_apps.web.names import MOST_CHARACTERS, folded
from forebay_apps.web.people import ROLES, Person, Role

PASSWORD_CHARACTERS = (12, 1000)

_hasher = PasswordHasher()
_nobodys = _hasher.hash("the password of nobody")


class UserError(ForebayError):
    """The users file cannot be used or changed like that: the message says how to do it."""


@dataclass(frozen=True, slots=True)
class User:
    """One line of the file."""

    name: str
    role: Role
    password: str  # the argon2 hash
    logouts: int = 0  # each ended all sessions of before

    @classmethod
    def read(cls, line: Any) -> "User":
        """Return a user as the file has it; raise ValueError that says what is wrong."""
        match line:
            case {"name": str(name), "role": str(role), "password": str(password), **rest}:
                logouts = rest.pop("logouts", 0)
                if rest or not isinstance(logouts, int):
                    raise ValueError(f"{name[:50]!r} has what no user has")
            case _:
                raise ValueError("a user lacks a name, a role or a password")
        if not is_name(name) or role not in ROLES or not _is_hash(password):
            raise ValueError(f"the name, the role or the password of {name[:50]!r} is none")
        return cls(name, role, password, logouts)

    @property
    def person(self) -> Person:
        return Person(self.name, self.role)

    @property
    def stamp(self) -> str:
        """What a session remembers: a new password or a log-out ends the older sessions."""
        return sha256(f"{self.logouts} {self.password}".encode()).hexdigest()[:16]


class Users:
    """The users of a file, read again whenever it changes."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._read: tuple[tuple[int, int, int], dict[str, User]] = ((0, 0, 0), {})

    def all(self) -> dict[str, User]:
        """Return the users by folded name; none when there is no file. Raises UserError."""
        try:
            found = self.path.stat()
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise self._unreadable(error) from None
        state = (found.st_ino, found.st_mtime_ns, found.st_size)
        if state != self._read[0]:
            self._read = (state, self._load())
        return self._read[1]

    def find(self, name: str) -> User | None:
        """Return the user of this name, in any case, or None. Raises UserError."""
        return self.all().get(folded(name))

    def checked(self, name: str, password: str) -> User | None:
        """Return the user with this name and password, after as long as for any other answer.

        It takes 64 MiB and some of a processor: see to it that few are checked at once. Raises
        UserError.
        """
        user = self.find(name)
        try:
            _hasher.verify(user.password if user else _nobodys, password)
        except (VerificationError, InvalidHashError):
            return None
        return user

    def put(self, name: str, role: Role, password: str) -> None:
        """Add a user, or give one another role and password. Raises UserError."""
        if not is_name(name):
            raise UserError(f"The name must have 1 to {MOST_CHARACTERS} printable characters.")
        least, most = PASSWORD_CHARACTERS
        if not least <= len(password) <= most:
            raise UserError(f"The password must have {least:,} to {most:,} characters.")
        user = User(folded(name), role, _hasher.hash(password))
        with self._changing() as users:
            users[user.name] = user

    def give(self, name: str, role: Role) -> None:
        """Give a user another role. Raises UserError."""
        with self._changing() as users:
            users[folded(name)] = replace(self.one(name), role=role)

    def end_sessions(self, name: str) -> None:
        """End every session of a user, in every process and app. Raises UserError."""
        with self._changing() as users:
            user = self.one(name)
            users[folded(name)] = replace(user, logouts=user.logouts + 1)

    def remove(self, name: str) -> None:
        """Take a user away; the sessions end with the next request. Raises UserError."""
        with self._changing() as users:
            del users[folded(self.one(name).name)]

    def one(self, name: str) -> User:
        """Return the user of this name. Raises UserError."""
        if user := self.find(name):
            return user
        raise UserError(f"There is no user {name!r}: 'forebay user list' shows who there is.")

    def _load(self) -> dict[str, User]:
        """Read the file; one line that is wrong makes all of it unusable. Raises UserError."""
        try:
            lines = json.loads(self.path.read_text())
            if not isinstance(lines, list):
                raise ValueError("it holds no list of users")
            users = [User.read(line) for line in lines]
            by_name = {folded(user.name): user for user in users}
            if len(by_name) < len(users):
                raise ValueError("two users have the same name")
        except (OSError, ValueError, RecursionError) as error:
            raise self._unreadable(error) from None
        return by_name

    def _unreadable(self, error: Exception) -> UserError:
        return UserError(f"{self.path} cannot be read ({first_line(error)}): correct or remove it.")

    @contextmanager
    def _changing(self) -> Iterator[dict[str, User]]:
        """Give the users to change, and write them afterwards; one process at a time."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with open(self.path.with_name(f".{self.path.name}.lock"), "w") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                users = dict(self.all())
                yield users
                self._write(users)
        except OSError as error:
            reason = error.strerror or first_line(error)
            raise UserError(f"{self.path} cannot be changed ({reason}).") from None

    def _write(self, users: dict[str, User]) -> None:
        """Replace the file in one step; only its owner may read it."""
        number, name = tempfile.mkstemp(dir=self.path.parent, prefix=f".{self.path.name}.")
        with open(number, "w") as file:
            json.dump([asdict(user) for user in users.values()], file, indent=1)
            file.flush()
            os.fsync(file.fileno())
        os.replace(name, self.path)


def is_name(said: str) -> bool:
    """Tell whether somebody may be called so."""
    return bool(said.strip()) and len(said) <= MOST_CHARACTERS and said.isprintable()


def _is_hash(said: str) -> bool:
    try:
        extract_parameters(said)
    except InvalidHashError:
        return False
    return said.isascii()
