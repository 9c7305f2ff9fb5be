"""What people are called: the one form in which their names are kept and compared."""

MOST_CHARACTERS = 100  # of the name of somebody who logs in with a password


def folded(said: str) -> str:
    """Return a name as it is kept: without space around it, in lower case as SQL's lower().

    Addresses of mail come in any case from the same person.
    """
    return said.strip().lower()
