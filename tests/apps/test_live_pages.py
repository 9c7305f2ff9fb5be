"""In a browser: what a page shows by itself, keeps while it does, and says when it cannot."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, Route, expect

from apps.conftest import Connect, Outage, Visit
from apps.support.browser import Complaints
from apps.support.screen import look
from apps.support.serving import Served
from forebay.calls import operator, submitter
from forebay_apps.live import snapshots, stream
from forebay_apps.web.users import Users
from support.waiting import until

BADGE = "[data-liveness]"
FASTER = {"POLL_MS": 400, "STALE_MS": 1200, "RETRY_MS": 200, "FETCH_MS": 1500, "SILENCE_MS": 1500}


@pytest.fixture
def work(connect: Connect) -> Callable[[], int]:
    """Return a function that enqueues a task."""
    conn = connect("submitter", "operator")
    operator.register_agent(conn, agent="a", launcher="pull")
    return lambda: submitter.enqueue(conn, agent="a", payload={})


@pytest.fixture(autouse=True)
def _reuse_less(monkeypatch: pytest.MonkeyPatch) -> None:
    """Answers are used again for less time than `quick` leaves until they are stale."""
    monkeypatch.setattr(snapshots, "REUSE_SECONDS", 0.1)


def quick(page: Page, **faster: int) -> None:
    """Have the page's next script wait less: what takes it seconds takes a test moments."""

    def answer(route: Route) -> None:
        answered = route.fetch()
        body = answered.text()
        for name, value in (FASTER | faster).items():
            body, count = re.subn(rf"const {name} = [\d_]+;", f"const {name} = {value};", body)
            assert count == 1, name
        route.fulfill(response=answered, body=body)

    page.route("**/live.js*", answer)
    page.reload()


def shows(page: Page, total: int) -> None:
    expect(page.locator("#now h2")).to_have_text(f"{total} tasks")


def is_in(page: Page, state: str) -> None:
    expect(page.locator(BADGE)).to_have_attribute("data-state", state)


def test_a_change_shows_by_itself(kit: Served, visit: Visit, work: Callable[[], int]) -> None:
    """Within moments, and without the poll; the indicator says live, and how old the data is."""
    page = visit(kit)
    is_in(page, "live")
    for total in range(1, 4):
        work()
        shows(page, total)
    expect(page.locator(f"{BADGE} .age")).to_have_text(re.compile(r"^\d s old$"))


def test_a_page_has_its_content_before_any_script_runs(
    kit: Served, visit: Visit, work: Callable[[], int]
) -> None:
    """It is whole without JavaScript, acts included."""
    work()
    page = visit(kit, "/", "oscar", java_script_enabled=False)
    shows(page, 1)
    assert "For oscar, operator" in page.locator("#mine").inner_text()


def test_what_the_person_does_is_kept_while_the_page_changes(
    kit: Served, visit: Visit, work: Callable[[], int]
) -> None:
    """Focus, selection, typed text, what is open, how far it is scrolled; and the nodes stay."""
    first = min(work() for _ in range(12))
    page = visit(kit)
    shows(page, 12)
    page.locator("#more summary").click()
    page.locator("#box").evaluate("box => { box.scrollTop = 100 }")
    page.locator("#note").fill("half a thought")
    page.locator("#note").evaluate("note => note.setSelectionRange(2, 6)")
    page.locator(f"#task-{first}").evaluate("row => { row.mark = 'the same node' }")
    for _ in range(3):
        work()
    shows(page, 15)
    found = page.evaluate(
        """first => ({
            focus: document.activeElement.id,
            typed: document.activeElement.value,
            selection: [document.activeElement.selectionStart, document.activeElement.selectionEnd],
            isOpen: document.querySelector("#more").open,
            said: document.querySelector("#more p").textContent,
            scrolled: document.querySelector("#box").scrollTop > 50,
            mark: document.querySelector(`#task-${first}`).mark,
        })""",
        first,
    )
    assert found == {
        "focus": "note",
        "typed": "half a thought",
        "selection": [2, 6],
        "isOpen": True,
        "said": "As of 15",
        "scrolled": True,
        "mark": "the same node",
    }


def test_a_row_that_has_the_focus_keeps_it_when_rows_come_and_go(
    kit: Served, visit: Visit, work: Callable[[], int]
) -> None:
    """Newer rows come before it, and others leave at the end."""
    last = [work() for _ in range(3)][-1]
    page = visit(kit, "/?limit=3")
    page.locator(f"#link-{last}").focus()
    work()
    work()
    shows(page, 5)
    assert page.evaluate("document.activeElement.id") == f"link-{last}"
    assert page.locator("#box li").count() == 3


def test_what_scripts_draw_into_is_left_alone_and_they_are_told(
    kit: Served, visit: Visit, work: Callable[[], int]
) -> None:
    """data-keep, and an event after each swap."""
    page = visit(kit)
    page.evaluate(
        """() => {
            document.querySelector("#kept").textContent = "drawn";
            window.swaps = [];
            document.addEventListener("forebay:swapped", (e) => window.swaps.push(e.target.id));
        }"""
    )
    work()
    shows(page, 1)
    assert page.locator("#kept").inner_text() == "drawn"
    assert "now" in page.evaluate("window.swaps")


def test_an_older_answer_never_overwrites_a_newer_one(kit: Served, visit: Visit) -> None:
    """Whatever order answers come in; those of a process that was started anew do count."""
    answers = iter(["b.7 seven", "b.5 five", "b.6 six", "b.8 eight", "c.1 anew"])
    said = {"text": "b.3 three"}

    def answer(route: Route) -> None:
        said["text"] = next(answers, said["text"])
        version, _, body = said["text"].partition(" ")
        headers = {"X-Forebay-Version": version, "X-Forebay-Age": "0", "ETag": f'"{body}"'}
        route.fulfill(status=200, body=f"<p>{body}</p>", headers=headers)

    page = visit(kit, "/empty")
    page.route("**/board/now*", answer)
    quick(page)
    page.goto(kit.url)
    page.evaluate(
        """() => {
            window.shown = [];
            document.addEventListener("forebay:swapped", (event) => {
                if (event.target.id === "now") window.shown.push(event.target.innerText);
            });
        }"""
    )
    expect(page.locator("#now")).to_have_text("anew")
    order = [each for each in page.evaluate("window.shown") if each != "anew"]
    assert "five" not in order
    assert "six" not in order
    assert order[-1] == "eight"


def test_when_the_session_ends_the_page_says_so_and_stops_asking(
    kit: Served, visit: Visit, complaints: Complaints, work: Callable[[], int]
) -> None:
    """It keeps what it shows, offers the login, and does not loop."""
    complaints.expect("401")
    page = visit(kit)
    quick(page)
    shows(page, 0)
    Users(kit.home / "users.json").remove("vic")
    expect(page.get_by_role("alert")).to_contain_text("Your session has ended")
    is_in(page, "ended")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    work()
    page.wait_for_timeout(2500)
    assert asked == []
    shows(page, 0)
    assert page.get_by_role("alert").count() == 1
    look(page, "session-ended")
    page.get_by_role("link", name="Log in again").click()
    page.wait_for_url(f"{kit.url}/login*")


def test_what_the_person_may_no_longer_see_is_taken_off_the_page(
    kit: Served, visit: Visit, complaints: Complaints
) -> None:
    """A part that is forbidden says so in its place; the others go on."""
    complaints.expect("403")
    page = visit(kit)
    quick(page)
    shows(page, 0)
    Users(kit.home / "users.json").give("vic", "submitter")
    expect(page.locator("#now .problem")).to_contain_text("This needs the role viewer")
    expect(page.locator("#mine")).to_contain_text("For vic, submitter")


def test_while_the_database_is_away_the_page_is_stale_and_then_live_again(
    kit: Served, visit: Visit, complaints: Complaints, outage: Outage, work: Callable[[], int]
) -> None:
    """It keeps what it shows and says how old that is; nobody has to reload it."""
    complaints.expect("503")
    work()
    page = visit(kit)
    quick(page, FETCH_MS=10_000)
    is_in(page, "live")
    with outage():
        is_in(page, "stale")
        shows(page, 1)
        look(page, "stale")
    expect(page.locator(BADGE)).to_have_attribute("data-state", "live", timeout=30_000)
    shows(page, 1)


def test_without_a_listener_pages_poll_and_say_so(
    kit: Served, visit: Visit, work: Callable[[], int]
) -> None:
    """Behind a pooler that swallows notifications nothing is lost but time: NT6."""
    hub = kit.app.state.hub
    until(lambda: hub.is_listening)
    hub._listener.stop()
    page = visit(kit)
    quick(page, SILENCE_MS=60_000)  # nothing but the poll fetches
    is_in(page, "polling")
    work()
    shows(page, 1)


def test_a_stream_that_the_server_ends_is_renewed_without_a_flicker(
    kit: Served, visit: Visit, monkeypatch: pytest.MonkeyPatch, work: Callable[[], int]
) -> None:
    """The indicator says live throughout, and changes still show."""
    monkeypatch.setattr(stream, "END_AFTER", 0.3)
    page = visit(kit)
    is_in(page, "live")
    page.evaluate(
        """() => {
            window.states = [];
            new MutationObserver(() => {
                window.states.push(document.querySelector("[data-liveness]").dataset.state);
            }).observe(document.querySelector("[data-liveness]"), { attributes: true });
        }"""
    )
    streams: list[str] = []
    page.on("request", lambda request: request.url.endswith("/events") and streams.append("one"))
    until(lambda: page.wait_for_timeout(50) or len(streams) >= 3)
    work()
    shows(page, 1)
    assert set(page.evaluate("window.states")) <= {"live"}


def test_a_hidden_tab_is_quiet_and_fresh_when_it_is_shown(
    kit: Served, visit: Visit, work: Callable[[], int]
) -> None:
    """No stream, no fetch; shown again it does not wait for the poll."""
    page = visit(kit)
    quick(page)
    is_in(page, "live")
    hide = """isHidden => {
        Object.defineProperty(document, "hidden", { configurable: true, get: () => isHidden });
        document.dispatchEvent(new Event("visibilitychange"));
    }"""
    page.evaluate(hide, True)
    until(lambda: kit.app.state.hub.streams == 0)
    page.wait_for_timeout(100)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    work()
    page.wait_for_timeout(2000)
    assert asked == []
    shows(page, 0)
    page.evaluate(hide, False)
    shows(page, 1)
    is_in(page, "live")


def test_a_fetch_that_gets_no_answer_is_given_up_and_tried_again(
    kit: Served, visit: Visit, work: Callable[[], int], complaints: Complaints
) -> None:
    """Bytes that a network silently drops: the page is stale, and recovers with the network."""
    complaints.expect("ERR_", "Failed to load")
    page = visit(kit)
    quick(page)
    is_in(page, "live")
    swallowed: list[Route] = []
    page.route("**/board/now*", lambda route: swallowed.append(route))
    work()
    is_in(page, "stale")
    until(lambda: page.wait_for_timeout(50) or len(swallowed) >= 2)
    page.unroute("**/board/now*")
    shows(page, 1)
    is_in(page, "live")


def test_times_run_on_without_asking(kit: Served, visit: Visit) -> None:
    """How long ago something was is counted in the page."""
    page = visit(kit, "/empty")
    page.evaluate(
        """() => {
            const at = new Date(Date.now() - 55_000).toISOString();
            document.querySelector("main").innerHTML = `<time datetime="${at}">?</time>`;
        }"""
    )
    expect(page.locator("main time")).to_have_text(re.compile(r"^5\d s ago$"))
    expect(page.locator("main time")).to_have_text(
        re.compile(r"^1 m( \d+ s)? ago$"), timeout=15_000
    )


@pytest.mark.parametrize("path", ["/", "/empty", "/broken", "/nothing", "/rules"])
def test_every_kind_of_page_reads_well(
    kit: Served, visit: Visit, complaints: Complaints, work: Callable[[], int], path: str
) -> None:
    """Light, dark, on a phone: a page, an empty one, a broken part, what is not there or not for
    this person."""
    complaints.expect("404", "403", "500")
    work()
    page = visit(kit, path)
    look(page, f"kit{path.replace('/', '-')}")


def test_a_row_whose_neighbours_leave_stays_where_it_is(kit: Served, visit: Visit) -> None:
    """Moving it would take its focus, in browsers that cannot move without that."""
    page = visit(kit, "/empty")
    found = page.evaluate(
        """async () => {
            delete Element.prototype.moveBefore;
            const { morph } = await import("/static/morph.js");
            const list = document.querySelector("main");
            const row = (id) => `<p id="${id}"><a href="#">${id}</a></p>`;
            const rows = (...ids) => ids.map(row).join("");
            list.innerHTML = rows("a", "b", "c", "d");
            list.querySelector("#c a").focus();
            const wanted = document.createElement("template");
            wanted.innerHTML = rows("x", "c", "d", "e");
            morph(list, wanted.content);
            return [document.activeElement.textContent, list.textContent];
        }"""
    )
    assert found == ["c", "xcde"]
