"""Errors as people and programs are told of them."""

from __future__ import annotations

import psycopg
import pytest
from psycopg_pool import PoolTimeout
from starlette.exceptions import HTTPException

from apps.conftest import ClientOf
from apps.support.serving import Served
from conftest import Connect
from forebay import errors
from forebay.calls import viewer
from forebay_apps.live.snapshots import Slow
from forebay_apps.web.errors import HANDLED, Forbidden, Refusal, problem


@pytest.mark.parametrize(
    ("error", "status", "said"),
    [
        (errors.UnknownTaskError("task 7 is unknown"), 404, "Task 7 is unknown."),
        (errors.StateMovedError("it moved", hint="look again"), 409, "It moved. Look again."),
        (errors.InstallationClosedError("it is a copy"), 403, "It is a copy."),
        (errors.TooLargeError("it has 2 MiB"), 413, "It has 2 MiB."),
        (errors.TooManyMatchError("11 match", hint="filter"), 413, "11 match. Filter."),
        (errors.LineFullError("the line is full"), 429, "The line is full."),
        (errors.InvalidDocumentError("no NUL"), 400, "No NUL."),
        (errors.ConnectError("no"), 503, "Try again in a moment."),
        (psycopg.errors.InvalidParameterValue("p_limit must be 1"), 400, "limit must be 1."),
        (psycopg.errors.CheckViolation("a line of it is wrong"), 400, "A line of it is wrong."),
        (psycopg.errors.ProgramLimitExceeded("x"), 400, "more than the database takes."),
        (psycopg.errors.StatementTooComplex("x"), 400, "more than the database takes."),
        (psycopg.errors.SerializationFailure("x"), 409, "Try again."),
        (psycopg.errors.DeadlockDetected("x"), 409, "Try again."),
        (psycopg.errors.QueryCanceled("x"), 503, "It did not answer in time."),
        (psycopg.OperationalError("the password is x"), 503, "Try again in a moment."),
        (PoolTimeout("x"), 503, "Try again in a moment."),
        (Slow(), 503, "It did not answer in time."),
        (TimeoutError(), 503, "It did not answer in time."),
        (Forbidden("admin"), 403, "This needs the role admin."),
        (Refusal(413, "It is larger than 100 MB."), 413, "It is larger than 100 MB."),
        (HTTPException(404), 404, "There is nothing at this address."),
        (psycopg.errors.UndefinedFunction("x"), 500, "The log has more under"),
        (ValueError("a secret"), 500, "The log has more under"),
    ],
)
def test_each_error_has_its_status_and_a_sentence(error: Exception, status: int, said: str) -> None:
    """What is the person's to mend says how; what is ours says where to look, and no more."""
    found = problem(error)
    assert found.status == status
    assert said.casefold() in found.sentence.casefold()
    assert "password" not in found.sentence
    assert "secret" not in found.sentence
    assert status == 500 or isinstance(error, HANDLED)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('agent "map_reduce" does not exist', 'Agent "map_reduce" does not exist.'),
        ('agent "p_one" of corp_eu is unknown', 'Agent "p_one" of corp_eu is unknown.'),
        ("p_agent or p_customer must be given", "Agent or customer must be given."),
        ("(p_from, p_to) is no range", "(from, to) is no range."),
    ],
)
def test_parameters_are_named_plainly_and_data_as_it_is(text: str, said: str) -> None:
    """Only what is a parameter's name loses its prefix."""
    assert problem(errors.NotFoundError(text)).sentence == said


def test_no_page_names_a_stored_function(connect: Connect) -> None:
    """A hint for programmers is left out; another one is said."""
    with pytest.raises(errors.UnknownAgentError) as raised:
        viewer.list_tasks(connect("viewer"), agents=["nope"])
    assert "forebay." in str(raised.value.hint)
    assert "forebay." not in problem(raised.value).sentence.casefold()
    assert problem(errors.RefusedError("no", hint="ask later")).sentence == "No. Ask later."


def test_a_nul_is_told_in_our_words(connect: Connect) -> None:
    """The driver finds it, and says so in the database's terms."""
    with pytest.raises(psycopg.DataError) as raised:
        viewer.list_tasks(connect("viewer"), search="a\0b")
    found = problem(raised.value)
    assert (found.status, found.sentence) == (400, "A NUL character cannot be stored: remove it.")


def test_an_error_comes_in_the_form_that_was_asked_for(door: Served, client: ClientOf) -> None:
    """A page for a person, a part for a page that is open, JSON for a program."""
    vic = client(door, "vic")
    page = vic.get("/nothing")
    assert page.status_code == 404
    assert "<h1>Not here</h1>" in page.text
    part = vic.get("/nothing", headers={"X-Forebay-Live": "1"})
    assert part.text.startswith('<p class="problem">')
    for answer in (
        vic.get("/nothing", headers={"Accept": "application/json"}),
        vic.get("/api/nothing"),
    ):
        assert answer.json() == {"error": "There is nothing at this address."}
    wrong = vic.get("/board/now?limit=many", headers={"X-Forebay-Live": "1"})
    assert wrong.status_code == 400
    assert "Limit: Input should be a valid integer" in wrong.text


def test_what_was_done_is_said_on_the_next_page_once(door: Served, client: ClientOf) -> None:
    """As text, whatever is in it."""
    oscar = client(door, "oscar")
    oscar.follow_redirects = True
    assert '<p class="flash" role="status">&lt;Done&gt; by oscar.</p>' in oscar.post("/act").text
    assert 'class="flash"' not in oscar.get("/empty").text


def test_a_part_that_breaks_leaves_the_rest_of_the_page(door: Served, client: ClientOf) -> None:
    """And says nothing of the inside."""
    text = client(door, "vic").get("/broken").text
    assert "Something is broken" in text
    assert "For vic, viewer" in text
    assert "secret" not in text


def test_static_files_are_kept_as_long_as_their_address_names_their_content(
    door: Served, client: ClientOf
) -> None:
    """A new release is seen at once, and nothing is fetched twice."""
    vic = client(door, "vic")
    page = vic.get("/empty").text
    address = page.split('src="')[1].split('"')[0]
    assert address.startswith("/static/live.js?v=")
    assert "immutable" in vic.get(address).headers["cache-control"]
    for other in ("/static/live.js", f"{address}0", "/static/live.js?v=other", f"{address}&a=b"):
        assert vic.get(other).headers["cache-control"] == "no-cache", other
    known = {"If-None-Match": vic.get(address).headers["etag"]}
    for version, kept in ((address, "immutable"), ("/static/live.js?v=other", "no-cache")):
        unchanged = vic.get(version, headers=known)
        assert unchanged.status_code == 304
        assert kept in unchanged.headers["cache-control"]
    assert vic.get("/static/%2e%2e/settings.py").status_code == 404


def test_a_body_that_is_too_large_is_refused(door: Served, client: ClientOf) -> None:
    """Before it fills the memory, and before anybody logged in."""
    answer = client(door, "oscar").post("/login", data={"name": "x", "password": "y" * 3_000_000})
    assert answer.status_code == 413
