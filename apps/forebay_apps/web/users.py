"""The file of people who log in with a password: names, roles, and what their passwords hash to."""

import fcntl
import json
import os
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from pathlib import Path

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from forebay.errors import ForebayError
from forebay_apps.web.errors import Refusal
from forebay_apps.web.people import Person, Role

LEAST_LENGTH = 12
BUSY_SECONDS = 2.0
AT_ONCE = threading.Semaphore(2)  # each check takes 64 MiB

_hasher = PasswordHasher()
_nobodys = _hasher.hash("the password of nobody")


class UserError(ForebayError):
    """The users file cannot be changed like that: the message says how to do it."""


@dataclass(frozen=True, slots=True)
class User:
    """One line of the file."""

    name: str
    role: Role
    password: str  # the argon2 hash

    @property
    def person(self) -> Person:
        return Person(self.name, self.role)

    @property
    def stamp(self) -> str:
        """What a session remembers of the password: a new password ends the older sessions."""
        return sha256(self.password.encode()).hexdigest()[:16]


class Users:
    """The users of a file, read again whenever it changes."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._read: tuple[tuple[int, int, int], dict[str, User]] = ((0, 0, 0), {})

    def all(self) -> dict[str, User]:
        """Return the users by name; none when there is no file. Raises UserError."""
        try:
            found = self.path.stat()
        except FileNotFoundError:
            return {}
        state = (found.st_ino, found.st_mtime_ns, found.st_size)
        if state != self._read[0]:
            self._read = (state, self._load())
        return self._read[1]

    def checked(self, name: str, password: str) -> User | None:
        """Return the user with this name and password, after as long as for any other answer."""
        user = self.all().get(name)
        if not AT_ONCE.acquire(timeout=BUSY_SECONDS):
            raise Refusal(503, "Too many people log in at this moment: try again.")
        try:
            _hasher.verify(user.password if user else _nobodys, password)
        except (VerificationError, InvalidHashError):
            return None
        finally:
            AT_ONCE.release()
        return user

    def put(self, name: str, role: Role, password: str) -> None:
        """Add a user, or give one another role and password. Raises UserError."""
        if not name.strip() or len(name) > 100 or not name.isprintable():
            raise UserError("The name must have 1 to 100 printable characters.")
        if len(password) < LEAST_LENGTH:
            raise UserError(f"The password must have at least {LEAST_LENGTH} characters.")
        user = User(name, role, _hasher.hash(password))
        with self._changing() as users:
            users[name] = user

    def give(self, name: str, role: Role) -> None:
        """Give a user another role. Raises UserError."""
        with self._changing() as users:
            users[name] = replace(self.one(name), role=role)

    def remove(self, name: str) -> None:
        """Take a user away; the sessions end with the next request. Raises UserError."""
        with self._changing() as users:
            del users[self.one(name).name]

    def one(self, name: str) -> User:
        """Return the user of this name. Raises UserError."""
        if name not in self.all():
            raise UserError(f"There is no user {name!r}: 'forebay user list' shows who there is.")
        return self.all()[name]

    def _load(self) -> dict[str, User]:
        try:
            lines = json.loads(self.path.read_text())
            users = [User(**line) for line in lines]
        except (OSError, ValueError, TypeError) as error:
            raise UserError(
                f"{self.path} cannot be read ({error}): correct or remove it."
            ) from None
        return {user.name: user for user in users}

    @contextmanager
    def _changing(self) -> Iterator[dict[str, User]]:
        """Give the users to change, and write them afterwards; one process at a time."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with open(self.path.with_name(f".{self.path.name}.lock"), "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            users = dict(self.all())
            yield users
            self._write(users)

    def _write(self, users: dict[str, User]) -> None:
        """Replace the file in one step; only its owner may read it."""
        number, name = tempfile.mkstemp(dir=self.path.parent, prefix=f".{self.path.name}.")
        with open(number, "w") as file:
            json.dump([asdict(user) for user in users.values()], file, indent=1)
            file.flush()
            os.fsync(file.fileno())
        os.replace(name, self.path)
