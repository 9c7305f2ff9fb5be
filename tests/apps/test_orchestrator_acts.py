"""Acts of operators: on one task, on many, on all that match; each is audited with their name."""

from __future__ import annotations

import re
from datetime import datetime

import httpx
import psycopg
import pytest
from playwright.sync_api import Locator, Page, expect

from apps.conftest import ClientOf, Visit
from apps.support.browser import Complaints
from apps.support.busy import OUTAGE, Busy
from apps.support.serving import Served
from conftest import Connect
from forebay.calls import agent, submitter, viewer

ALL_MATCH = {"agent": "parse_document", "status": "enqueued"}


def _audited(conn: psycopg.Connection, task_id: int) -> tuple[str, str | None, str | None]:
    last = viewer.list_audit(conn, task_id=task_id, limit=1)[0]
    return last.action, last.actor, last.reason


def _status(conn: psycopg.Connection, task_id: int) -> str:
    return viewer.task_detail(conn, task_id=task_id).status


@pytest.mark.parametrize("has_scripts", [True, False])
def test_one_task_is_cancelled_by_keyboard(
    has_scripts: bool, busy: Busy, orchestrator: Served, visit: Visit, connect: Connect
) -> None:
    """From its page: the button asks, the reason is kept with the name; no script is needed."""
    page = visit(orchestrator, f"/tasks/{busy.waiting}", "oscar", java_script_enabled=has_scripts)
    page.get_by_role("button", name="Cancel…").focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/act?**")
    expect(page.locator("h1")).to_have_text("Cancel 1 task?")
    page.get_by_label("Reason").fill("sent twice")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/tasks/{busy.waiting}")
    expect(page.locator(".flash")).to_have_text("1 task cancelled.")
    conn = connect("viewer")
    assert _status(conn, busy.waiting) == "cancelled"
    assert _audited(conn, busy.waiting) == ("cancel", "oscar", "sent twice")


def test_only_what_makes_sense_is_offered(busy: Busy, orchestrator: Served, visit: Visit) -> None:
    """A finished task is not cancelled, a waiting one is not retried."""
    offered = {
        busy.waiting: {"Cancel…", "Change priority…", "Add note…"},
        busy.processing: {"Cancel…", "Add note…"},
        busy.failed: {"Retry…", "Reprocess…", "Add note…"},
        busy.completed: {"Reprocess…", "Add note…"},
    }
    page = visit(orchestrator, "/tasks", "oscar")
    for task_id, words in offered.items():
        page.goto(f"{orchestrator.url}/tasks/{task_id}")
        assert set(page.locator(".acts button").all_inner_texts()) == words


def test_a_failed_task_is_retried_and_says_so_without_a_reload(
    busy: Busy, orchestrator: Served, visit: Visit, connect: Connect
) -> None:
    """Another page that shows it follows by itself."""
    watching = visit(orchestrator, f"/tasks/{busy.failed}", "vic")
    expect(watching.locator(".why")).to_contain_text("failed")
    page = visit(orchestrator, f"/tasks/{busy.failed}", "oscar")
    page.get_by_role("button", name="Retry…").click()
    page.get_by_role("button", name="Retry 1 task").click()
    expect(page.locator(".flash")).to_have_text("1 task put back in line.")
    expect(watching.locator(".why")).to_contain_text("enqueued")
    assert _audited(connect("viewer"), busy.failed)[:2] == ("retry", "oscar")


def test_a_note_is_shown_with_who_wrote_it(
    busy: Busy, orchestrator: Served, visit: Visit, connect: Connect
) -> None:
    """On several lines, as text."""
    page = visit(orchestrator, f"/tasks/{busy.completed}", "oscar")
    page.get_by_role("button", name="Add note…").click()
    page.get_by_label("Note").fill("the total is <wrong>\nasked the customer")
    page.get_by_role("button", name="Add note to 1 task").click()
    note = page.locator(".notes li").last
    expect(note).to_contain_text("the total is <wrong>\nasked the customer")
    expect(note).to_contain_text("oscar")


def test_many_tasks_are_picked_and_reprioritised(
    busy: Busy, orchestrator: Served, visit: Visit, connect: Connect
) -> None:
    """Picked one by one or all of the page; the number is told, and what did not change too."""
    page = visit(orchestrator, "/tasks?agent=parse_document&status=enqueued", "oscar")
    boxes = page.locator("input[name=task]")
    page.get_by_label("Pick all of this page").check()
    count = boxes.count()
    expect(page.locator("[data-picked]")).to_have_text(f"{count} picked")
    boxes.first.uncheck()
    expect(page.locator("[data-picked]")).to_have_text(f"{count - 1} picked")
    page.get_by_role("button", name="Change priority…").click()
    page.get_by_label("Priority").fill("77")
    page.get_by_role("button", name=f"Change priority of {count - 1} tasks").click()
    expect(page.locator(".flash")).to_have_text(f"{count - 1} tasks moved in line.")
    conn = connect("viewer")
    waiting = viewer.list_tasks(conn, agents=["parse_document"], statuses=["enqueued"])
    assert sum(task.priority == 77 for task in waiting) == count - 1


def test_what_was_picked_stays_picked_while_the_list_goes_on(
    busy: Busy, orchestrator: Served, visit: Visit, connect: Connect
) -> None:
    """A swap of the list keeps the boxes, and a range is picked with Shift."""
    page = visit(orchestrator, "/tasks?agent=classify&status=completed", "oscar")
    boxes = page.locator("input[name=task]")
    boxes.nth(2).check()
    boxes.nth(5).click(modifiers=["Shift"])
    expect(page.locator("[data-picked]")).to_have_text("4 picked")
    picked = [box.get_attribute("value") for box in boxes.all() if box.is_checked()]
    submitter.enqueue(connect("submitter"), agent="classify", payload={})
    with page.expect_response("**/tasks/list**"):
        pass
    page.wait_for_timeout(200)
    assert [box.get_attribute("value") for box in boxes.all() if box.is_checked()] == picked


def test_all_that_match_are_cancelled_after_a_count(
    busy: Busy, orchestrator: Served, visit: Visit, connect: Connect
) -> None:
    """The question says how many; then as many are cancelled, in the person's name."""
    conn = connect("viewer")
    matching = viewer.list_tasks(conn, agents=["parse_document"], statuses=["enqueued"])
    page = visit(orchestrator, "/tasks?agent=parse_document&status=enqueued", "oscar")
    page.get_by_text("All that match").click()
    page.get_by_role("link", name="Cancel all…").click()
    expect(page.locator("h1")).to_have_text(f"Cancel {len(matching)} tasks?")
    expect(page.locator(".question")).to_contain_text("state enqueued and agent parse_document")
    page.get_by_role("button", name=f"Cancel {len(matching)} tasks").click()
    expect(page.locator(".flash")).to_have_text(f"{len(matching)} tasks cancelled.")
    page.wait_for_url("**/tasks?**agent=parse_document**")
    assert {_status(conn, task.task_id) for task in matching} == {"cancelled"}
    assert _audited(conn, matching[0].task_id)[:2] == ("cancel", "oscar")


def test_all_that_match_are_left_alone_when_their_number_has_changed(
    busy: Busy,
    orchestrator: Served,
    visit: Visit,
    connect: Connect,
    complaints: Complaints,
) -> None:
    """Nothing is done; the question comes again with the new number, and what was typed."""
    complaints.expect("409")
    page = visit(
        orchestrator, "/act?act=annotate&all=1&agent=parse_document&status=enqueued", "oscar"
    )
    count = _count(page)
    page.get_by_label("Note").fill("to be looked at")
    conn = connect("all")
    submitter.enqueue(conn, agent="parse_document", payload={})
    page.get_by_role("button", name=f"Add note to {count} tasks").click()
    expect(page.get_by_role("alert")).to_contain_text(
        f"Nothing was done: {count} tasks matched when you were asked, now it is {count + 1}."
    )
    expect(page.get_by_label("Note")).to_have_value("to be looked at")
    assert not viewer.task_detail(conn, task_id=busy.waiting).audit
    page.get_by_role("button", name=f"Add note to {count + 1} tasks").click()
    expect(page.locator(".flash")).to_have_text(f"{count + 1} tasks annotated.")
    assert _audited(conn, busy.waiting)[:2] == ("annotate", "oscar")


def _count(page: Page) -> int:
    found = re.search(r"\d+", page.locator("h1").inner_text())
    assert found
    return int(found[0])


def test_all_of_a_batch_are_acted_on(
    busy: Busy, orchestrator: Served, visit: Visit, connect: Connect
) -> None:
    """A batch's page has the same acts, on that batch alone."""
    conn = connect("viewer")
    before = viewer.batch_progress(conn, batch_id=busy.running_batch)
    page = visit(orchestrator, f"/batches/{busy.running_batch}", "oscar")
    page.get_by_text("All that match").click()
    page.get_by_role("link", name="Cancel all…").click()
    expect(page.locator(".question")).to_contain_text(f"batch {busy.running_batch}")
    page.locator("button.danger").click()
    page.wait_for_url(f"**/batches/{busy.running_batch}")
    progress = viewer.batch_progress(conn, batch_id=busy.running_batch)
    assert progress.enqueued + progress.processing == 0
    assert progress.completed == before.completed


def test_an_agent_is_paused_and_resumed(
    busy: Busy, orchestrator: Served, visit: Visit, connect: Connect
) -> None:
    """For a time, with a reason that everybody sees; both acts have the person's name."""
    page = visit(orchestrator, "/agents", "oscar")
    card = page.get_by_role("article", name="classify")
    card.get_by_role("link", name="Pause…").click()
    page.get_by_label("For", exact=True).select_option("1h")
    page.get_by_label("Reason").fill("new prompts")
    page.get_by_role("button", name="Pause classify").click()
    expect(page.locator(".flash")).to_have_text("classify is paused.")
    expect(card).to_contain_text(re.compile(r"Paused, resumes in (1 h|59 m.*): new prompts"))
    conn = connect("viewer")
    (state,) = viewer.agent_status(conn, agents=["classify"])
    assert isinstance(state.paused_until, datetime)
    last = viewer.list_audit(conn, agent="classify", limit=1)[0]
    assert (last.action, last.actor, last.reason) == ("pause_agent", "oscar", "new prompts")
    card.get_by_role("link", name="Resume…").click()
    page.get_by_role("button", name="Resume classify").click()
    expect(page.locator(".flash")).to_have_text("classify is resumed.")
    last = viewer.list_audit(conn, agent="classify", limit=1)[0]
    assert (last.action, last.actor) == ("resume_agent", "oscar")


def test_everything_is_paused_and_resumed(
    busy: Busy, orchestrator: Served, visit: Visit, connect: Connect
) -> None:
    """One act for all agents."""
    page = visit(orchestrator, "/agents", "oscar")
    page.get_by_role("link", name="Pause everything…").click()
    page.get_by_role("button", name="Pause everything").click()
    expect(page.locator(".flash")).to_contain_text("paused.")
    conn = connect("viewer")
    assert {state.state for state in viewer.agent_status(conn)} == {"paused"}
    page.get_by_role("link", name="Resume everything…").click()
    page.get_by_role("button", name="Resume everything").click()
    expect(page.locator(".flash")).to_contain_text("resumed.")
    assert "paused" not in {state.state for state in viewer.agent_status(conn)}


def test_pausing_everything_leaves_longer_pauses_and_says_so_before(
    busy: Busy, orchestrator: Served, client: ClientOf, connect: Connect
) -> None:
    """Nothing starts by itself that somebody paused for longer; the reason stays on this board."""
    conn = connect("viewer")
    oscar = client(orchestrator, "oscar")
    asked = oscar.get("/agents/pause").text
    assert "An agent that is paused for longer already stays so." in asked
    assert "not to those whose documents wait" in asked
    said = {"for": "15m", "reason": "all stop"}
    done = oscar.post("/agents/pause", data=said)
    assert done.status_code == 303
    states = {state.agent: state for state in viewer.agent_status(conn)}
    assert states.pop("summarise").pause_reason == OUTAGE
    assert {state.pause_reason for state in states.values()} == {"all stop"}


def _tab_to(page: Page, wanted: Locator) -> None:
    """Press Tab until this has the focus, as somebody without a mouse does."""
    expect(wanted).to_be_visible()
    for _ in range(150):
        if wanted.evaluate("one => one === document.activeElement"):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"Tab never comes to {wanted}")


def _press(page: Page, wanted: Locator, key: str = "Enter") -> None:
    _tab_to(page, wanted)
    page.keyboard.press(key)


@pytest.mark.parametrize(
    ("act", "link", "status", "field", "typed", "said"),
    [
        ("cancel", "Cancel all…", "enqueued", "Reason", "a mistake", "cancelled"),
        ("retry", "Retry all…", "cancelled", "Reason", "now it works", "put back in line"),
        ("reprocess", "Reprocess all…", "failed", "Reason", "better", "done again as new tasks"),
        ("reprioritize", "Change priority of all…", "enqueued", "Priority", "7", "moved in line"),
        ("annotate", "Add note to all…", "failed", "Note", "look at it", "annotated"),
    ],
)
def test_every_act_on_all_that_match_goes_by_keyboard_alone(
    act: str,
    link: str,
    status: str,
    field: str,
    typed: str,
    said: str,
    busy: Busy,
    orchestrator: Served,
    visit: Visit,
    connect: Connect,
) -> None:
    """From the list over the question with the count to the audit page, which names the person."""
    conn = connect("viewer")
    matching = viewer.list_tasks(conn, agents=["parse_document"], statuses=[status])
    tasks = "1 task" if len(matching) == 1 else f"{len(matching)} tasks"
    page = visit(orchestrator, f"/tasks?agent=parse_document&status={status}", "oscar")
    _press(page, page.get_by_text("All that match"))
    _press(page, page.get_by_role("link", name=link, exact=True))
    expect(page.locator("h1")).to_contain_text(f"{tasks}?")
    _tab_to(page, page.get_by_label(field))
    page.keyboard.press("Control+A")
    page.keyboard.type(typed)
    _press(page, page.locator("form.act button"))
    expect(page.locator(".flash")).to_have_text(f"{tasks} {said}.")
    _press(page, page.get_by_role("link", name="Audit"))
    _tab_to(page, page.get_by_label("Person"))
    page.keyboard.type("oscar")
    page.keyboard.press("Enter")
    page.wait_for_url("**/audit?**actor=oscar**")
    rows = page.locator("tbody tr")
    expect(rows).to_have_count(len(matching))
    assert set(rows.locator("b").all_inner_texts()) == {act}
    expect(rows.filter(has_text=typed).filter(has_text="oscar")).to_have_count(len(matching))


def test_everything_is_paused_by_keyboard_and_shows_so(
    busy: Busy, orchestrator: Served, visit: Visit
) -> None:
    """Every gauge says why, also of what was paused before; then all goes on; acts have a name."""
    page = visit(orchestrator, "/agents", "oscar")
    _press(page, page.get_by_role("link", name="Pause everything…"))
    expect(page.get_by_label("Reason")).to_be_focused()
    page.keyboard.type("moving house")
    page.keyboard.press("Enter")
    expect(page.locator(".flash")).to_contain_text("paused.")
    agents = page.locator("article.agent")
    expect(agents.filter(has_text="moving house")).to_have_count(agents.count() - 1)
    expect(agents.filter(has_text=OUTAGE)).to_have_count(1)  # was paused for as long before
    _press(page, page.get_by_role("link", name="Resume everything…"))
    _press(page, page.get_by_role("button", name="Resume everything"))
    expect(page.locator(".flash")).to_contain_text("resumed.")
    expect(page.get_by_text("moving house")).to_have_count(0)
    _press(page, page.get_by_role("link", name="Audit"))
    for act in ("pause agent", "resume agent"):
        expect(page.locator("tbody tr").filter(has_text=act).first).to_contain_text("oscar")


@pytest.mark.parametrize("act", ["cancel", "retry", "reprocess", "reprioritize"])
def test_other_tasks_by_then_are_asked_about_anew(
    act: str,
    busy: Busy,
    orchestrator: Served,
    visit: Visit,
    connect: Connect,
    complaints: Complaints,
) -> None:
    """No act on all that match touches a task that the person was not told of."""
    complaints.expect("409")
    conn = connect("all")
    page = visit(orchestrator, f"/act?act={act}&all=1&range=all&agent=parse_document", "oscar")
    count = _count(page)
    before = viewer.task_counts(conn)
    submitter.enqueue(conn, agent="parse_document", payload={})
    page.locator("form.act button").click()
    expect(page.get_by_role("alert")).to_contain_text(f"{count} tasks matched when you were asked")
    assert _count(page) == count + 1
    changed = {row.status: row.tasks for row in viewer.task_counts(conn)}
    expected = {row.status: row.tasks + (row.status == "enqueued") for row in before}
    assert changed == expected


def test_a_quota_shows_what_is_used_of_it(
    busy: Busy, orchestrator: Served, visit: Visit, connect: Connect
) -> None:
    """A gauge for each of its limits, moving while a page is open."""
    conn = connect("all")
    page = visit(orchestrator, "/agents", "vic")
    card = page.get_by_role("article", name="openai/gpt-5")
    calls = card.locator(".gauge").filter(has_text="concurrent calls")
    expect(calls).to_contain_text("0 of 8")
    attempt = viewer.task_detail(conn, task_id=busy.processing).attempts[-1]["attempt_id"]
    assert agent.may_call(conn, attempt_id=attempt, tokens=50_000).decision == "go"
    expect(calls).to_contain_text("1 of 8")
    expect(card.locator(".gauge").filter(has_text="tokens a minute")).to_contain_text(
        "52,260 of 200,000"
    )
    assert float(calls.locator(".fill").get_attribute("width") or 0) == 12.5


def test_the_audit_page_says_what_each_act_is_on(
    busy: Busy, orchestrator: Served, visit: Visit
) -> None:
    """Also where that is neither a task nor an agent."""
    page = visit(orchestrator, "/audit?actor=root@example.org", "vic")
    on = page.locator("td[data-label=on]")
    expect(on.filter(has_text="quota openai/gpt-5")).to_have_count(1)
    expect(on.filter(has_text="model gpt-5")).to_have_count(1)
    page.goto(f"{orchestrator.url}/audit?actor=ops")
    expect(on.filter(has_text="customer acme")).to_have_count(1)


def test_an_admin_defines_an_agent(
    busy: Busy, orchestrator: Served, visit: Visit, connect: Connect, client: ClientOf
) -> None:
    """What is not touched stays as it was; operators may not."""
    conn = connect("viewer")
    (before,) = viewer.agent_status(conn, agents=["classify"])
    page = visit(orchestrator, "/agents/one?agent=classify", "root")
    page.get_by_role("link", name="Define…").click()
    page.get_by_label("Tasks at once").fill("7")
    page.get_by_role("button", name="Set").click()
    expect(page.locator(".flash")).to_have_text("classify is set.")
    (after,) = viewer.agent_status(conn, agents=["classify"])
    assert after.max_concurrent_tasks == 7
    kept = ("max_tpm", "max_rpm", "tpm_burst", "lease", "timeout", "backoff_base", "retention")
    for name in (*kept, "is_fair_by_customer", "max_usd_per_day", "quota_names", "aging"):
        assert getattr(after, name) == getattr(before, name), name
    oscar = client(orchestrator, "oscar")
    assert oscar.get("/agents/define?agent=classify").status_code == 403
    assert oscar.post("/agents/define", data={"agent": "classify"}).status_code == 403


def test_a_new_agent_starts_with_the_defaults(
    orchestrator: Served, visit: Visit, connect: Connect, client: ClientOf
) -> None:
    """They are those of register_agent; a wrong value is told by its name."""
    page = visit(orchestrator, "/agents/define", "root")
    page.get_by_role("textbox", name="Name", exact=True).fill("brand new")
    page.get_by_role("button", name="Set").click()
    expect(page.locator("h1")).to_have_text("brand new")
    (state,) = viewer.agent_status(connect("viewer"), agents=["brand new"])
    assert (state.launcher, state.max_attempts, state.quota_names) == ("pull", 3, [])
    root = client(orchestrator, "root")
    answer = root.post("/agents/define", data={"agent": "x", "launcher": "pull", "max_rpm": "many"})
    assert answer.status_code == 400
    assert "Claims a minute cannot be" in answer.text


def test_what_another_site_sends_is_refused(
    busy: Busy, orchestrator: Served, client: ClientOf, connect: Connect
) -> None:
    """A session alone is not enough: the request has to come from our own page."""
    oscar = client(orchestrator, "oscar")
    form = {"act": "cancel", "task": str(busy.waiting)}
    for headers in ({"Origin": "https://evil.example"}, {"Sec-Fetch-Site": "cross-site"}):
        assert oscar.post("/act", data=form, headers=headers).status_code == 403
    assert _status(connect("viewer"), busy.waiting) == "enqueued"


@pytest.mark.parametrize(
    "form",
    [
        {"act": "erase", "task": "1"},
        {"act": "cancel"},
        {"act": "cancel", "task": "1; drop"},
        {"act": "cancel", "task": "²"},
        {"act": "cancel", "task": "9223372036854775808"},
        {"act": "reprioritize", "task": "1", "priority": "soon"},
        {"act": "reprioritize", "task": "1", "priority": "99999"},
        {"act": "annotate", "task": "1", "note": "   "},
        {"act": "annotate", "task": "1", "note": "n" * 2001},
        {"act": "annotate", "task": "1", "note": "a\0b"},
        {"act": "cancel", "expected": "-1"},
        {"act": "cancel", "expected": "many"},
        {"act": "cancel", "expected": "1", "status": "done"},
    ],
)
def test_a_form_that_makes_no_sense_is_refused(
    form: dict[str, str], busy: Busy, orchestrator: Served, client: ClientOf
) -> None:
    """It is 400 with a sentence, and nothing is done."""
    answer = client(orchestrator, "oscar").post("/act", data=form)
    assert answer.status_code == 400
    assert "That cannot be done" in answer.text


@pytest.mark.parametrize(
    "address",
    [
        "https://evil.example/",
        "//evil.example",
        "/\\evil.example",
        "javascript:alert(1)",
        "/a\r\nb",
    ],
)
def test_an_act_leads_back_to_this_site_alone(
    address: str, busy: Busy, orchestrator: Served, client: ClientOf
) -> None:
    """Wherever the form says to go."""
    oscar = client(orchestrator, "oscar")
    form = {"act": "annotate", "task": str(busy.failed), "note": "x", "back": address}
    answer = oscar.post("/act", data=form)
    assert answer.status_code == 303
    assert httpx.URL(answer.headers["Location"]).path == "/tasks"
    assert not httpx.URL(answer.headers["Location"]).host
