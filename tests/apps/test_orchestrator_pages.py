"""Every page of the dashboard as people of each role see it, with what is odd in the database."""

from __future__ import annotations

import re
from decimal import Decimal

import psycopg
import pytest
from playwright.sync_api import Locator, Page, expect

from apps.conftest import ClientOf, Serve, Visit
from apps.support.browser import Complaints
from apps.support.busy import HOSTILE, OUTAGE, Busy
from apps.support.screen import assert_fits, look, seen
from apps.support.serving import Served
from conftest import Connect
from forebay.calls import agent, operator, submitter, upkeep, viewer, worker
from support.waiting import until

PAGES = {
    "overview": "/",
    "overview-all": "/?range=all&by=model",
    "tasks": "/tasks",
    "tasks-failed": "/tasks?status=failed&range=6h",
    "task-processing": "/tasks/{busy.processing}",
    "task-waiting": "/tasks/{busy.waiting}",
    "task-failed": "/tasks/{busy.failed}",
    "task-retried": "/tasks/{busy.retried}",
    "task-noted": "/tasks/{busy.noted}",
    "agents": "/agents",
    "agent": "/agents/one?agent=classify",
    "batches": "/batches",
    "batch": "/batches/{busy.other_batch}",
    "attempts": "/attempts",
    "audit": "/audit",
    "system": "/system",
    "act": "/act?act=annotate&task={busy.failed}&back=/tasks",
    "act-all": "/act?act=cancel&all=1&status=enqueued&agent=parse_document",
    "pause": "/agents/pause?agent=classify",
    "resume": "/agents/resume",
    "define": "/agents/define?agent=parse_document",
}
FOR_OPERATORS = [path for path in PAGES.values() if path.startswith(("/act", "/agents/pa"))]
LONG = "W" * 200


@pytest.mark.parametrize("name", PAGES)
def test_a_page_reads_well(name: str, busy: Busy, orchestrator: Served, visit: Visit) -> None:
    """In light and dark, wide and on a phone, axe finds nothing serious and nothing sticks out."""
    page = visit(orchestrator, PAGES[name].format(busy=busy), "root")
    expect(page.locator("h1")).to_be_visible()
    assert page.locator(".problem").count() == 0
    look(page, f"orchestrator-{name}")


def test_an_empty_database_is_no_error(orchestrator: Served, visit: Visit) -> None:
    """No task, agent or batch: every page says so, and none of them breaks."""
    page = visit(orchestrator, "/", "root")
    for path in PAGES.values():
        if "{" not in path and "agent=" not in path:
            page.goto(orchestrator.url + path)
            expect(page.locator("h1")).to_be_visible()
            assert page.locator(".problem").count() == 0, path


def test_what_was_lost_and_ended_well_is_no_error(
    orchestrator: Served, client: ClientOf, connect: Connect, superuser: psycopg.Connection
) -> None:
    """A report that came after the lease had run out succeeded: that it was lost is past."""
    conn = connect("all")
    operator.register_agent(conn, agent="a", launcher="pull")
    task_id = submitter.enqueue(conn, agent="a", payload={})
    (claimed,) = worker.dequeue(conn, worker="w", agents=["a"])
    superuser.execute(
        "update forebay.task_attempts set lease_expires_at = now() - interval '1 hour'"
    )
    worker.sweep(conn, worker="w")
    vic = client(orchestrator, "vic")
    assert 'class="error"' in vic.get(f"/tasks/{task_id}").text
    agent.complete(conn, attempt_id=claimed.attempt_id, result={})
    words = "Was lost, and ended well all the same: lease expired"
    until(lambda: words in vic.get(f"/tasks/{task_id}").text)
    assert 'class="error"' not in vic.get(f"/tasks/{task_id}").text


def test_what_is_not_there_is_not_found(busy: Busy, orchestrator: Served, client: ClientOf) -> None:
    """Ids and names that nothing has, and addresses that make no sense, are told in a sentence."""
    oscar = client(orchestrator, "oscar")
    for path in ("/tasks/987654", "/batches/987654", "/agents/one?agent=nobody"):
        assert oscar.get(path).status_code == 404, path
    for path in (
        "/tasks/9223372036854775808",
        "/tasks?status=done",
        "/tasks?q=%00",
        "/?by=colour",
        "/attempts?kind=good",
        "/act?act=delete&task=1",
        "/act?act=cancel",
        "/act?act=cancel&task=x",
    ):
        answer = oscar.get(path)
        assert answer.status_code in (200, 400), path
        assert "problem" in answer.text or answer.status_code == 400, path


def test_viewers_see_no_acts_and_may_not_act(
    busy: Busy, orchestrator: Served, visit: Visit, client: ClientOf
) -> None:
    """The buttons are for operators; whoever sends the request all the same gets 403."""
    for path in ("/tasks", f"/tasks/{busy.failed}", f"/batches/{busy.running_batch}", "/agents"):
        page = visit(orchestrator, path, "vic")
        expect(page.locator("h1")).to_be_visible()
        assert page.locator(".acts").count() == 0, path
        assert page.locator("input[name=task]").count() == 0, path
        page.context.close()
    vic = client(orchestrator, "vic")
    for path in FOR_OPERATORS:
        assert vic.get(path.format(busy=busy)).status_code == 403, path
    for path, form in {
        "/act": {"act": "cancel", "task": str(busy.waiting)},
        "/agents/pause": {"agent": "classify"},
        "/agents/resume": {"agent": "summarise"},
    }.items():
        assert vic.post(path, data=form).status_code == 403, path
    answer = vic.get(f"/tasks/{busy.waiting}/body")
    assert "enqueued" in answer.text


def test_results_are_for_readers(busy: Busy, orchestrator: Served, client: ClientOf) -> None:
    """An operator sees no payload and no result, on the page or by its address; an admin does."""
    oscar, root = client(orchestrator, "oscar"), client(orchestrator, "root")
    assert "Oberwasser" not in oscar.get(f"/tasks/{busy.completed}").text
    assert oscar.get(f"/tasks/{busy.completed}/result").status_code == 403
    assert "Oberwasser" in root.get(f"/tasks/{busy.completed}").text


def test_of_a_large_result_the_page_shows_the_beginning(
    busy: Busy, orchestrator: Served, client: ClientOf, connect: Connect
) -> None:
    """Deep and wide as it is, the page stays small, and says so; all of it can be downloaded."""
    conn = connect("all")
    result: object = {"numbers": [1] * 100_000}
    for _ in range(450):
        result = {"a": result}
    operator.register_agent(conn, agent="deep")
    task_id = submitter.enqueue(conn, agent="deep", payload={"n": 1})
    (claim,) = worker.dequeue(conn, worker="w", agents=["deep"])
    agent.complete(conn, attempt_id=claim.attempt_id, result=result)
    oscar, root = client(orchestrator, "oscar"), client(orchestrator, "root")
    page = root.get(f"/tasks/{task_id}")
    assert page.status_code == 200
    assert len(page.content) < 200_000
    assert "This is not all of it" in page.text
    whole = root.get(f"/tasks/{task_id}/result.json").json()
    assert (whole["result"], whole["payload"]) == (result, {"n": 1})
    assert oscar.get(f"/tasks/{task_id}/result.json").status_code == 403


def test_names_and_errors_are_text(busy: Busy, orchestrator: Served, visit: Visit) -> None:
    """What others wrote is shown as they wrote it, and is never markup."""
    page = visit(orchestrator, "/tasks?range=all&agent=classify", "root")
    expect(page.get_by_text(HOSTILE).first).to_be_visible()
    page.goto(f"{orchestrator.url}/tasks/{busy.failed}")
    expect(page.get_by_text("page 3 is <encrypted>: nobody can read it").first).to_be_visible()
    page.goto(f"{orchestrator.url}/agents")
    expect(page.get_by_text(OUTAGE)).to_be_visible()
    page.goto(f"{orchestrator.url}/?by=customer")
    expect(page.get_by_role("link", name=HOSTILE)).to_be_visible()
    assert page.locator("main b b, main i").count() == 0


ATTACK = "\"><img src=x onerror=alert(1)><script>alert('x')</script>{{7*7}}"


def test_scripts_in_names_do_not_run(
    orchestrator: Served, visit: Visit, connect: Connect, busy: Busy
) -> None:
    """An agent, a customer, a note, an error, a worker and a run that attack: all are text."""
    conn = connect("all")
    operator.register_agent(conn, agent=ATTACK)
    batch = submitter.open_batch(conn, name=ATTACK, customer=ATTACK, owner=ATTACK)
    task = submitter.enqueue(conn, agent=ATTACK, payload={ATTACK: ATTACK}, batch_id=batch)
    (claim,) = worker.dequeue(conn, worker=ATTACK, agents=[ATTACK])
    worker.record_run(conn, attempt_id=claim.attempt_id, run_id=ATTACK)
    call = {"call_id": ATTACK, "model": ATTACK, "trace_id": ATTACK}
    agent.report_usage(conn, attempt_id=claim.attempt_id, usage=call)
    error = {"kind": "bad_input", "message": ATTACK, ATTACK: ATTACK}
    agent.fail(conn, attempt_id=claim.attempt_id, error=error, retryable=False)
    operator.annotate(conn, task_ids=[task], note=ATTACK, reason=ATTACK, actor=ATTACK)
    operator.pause_agent(conn, agent=ATTACK, reason=ATTACK, actor=ATTACK)
    page = visit(orchestrator, "/", "root")
    for path in ("/", "/?by=customer", f"/tasks/{task}", "/tasks", "/agents", "/batches", "/audit"):
        page.goto(orchestrator.url + path)
        expect(page.get_by_text(ATTACK).first).to_be_attached()
        assert page.locator("img[src=x]").count() == 0, path
    assert "49" not in page.locator("h1").inner_text()


UNSEEN = "\u202e"


def test_names_that_are_not_seen(
    orchestrator: Served, visit: Visit, connect: Connect, busy: Busy
) -> None:
    """A batch and a customer can be told and opened, whatever they are called; no name turns
    what stands beside it."""
    conn = connect("all")
    operator.register_agent(conn, agent="odd")
    operator.register_customer(conn, customer=UNSEEN, actor=f"a{UNSEEN}b")
    for name in (UNSEEN, "in\u202efdp"):
        batch = submitter.open_batch(conn, name=name, customer=name, owner=name)
        task = submitter.enqueue(conn, agent="odd", payload={}, batch_id=batch)
    page = visit(orchestrator, "/", "root")
    for path in ("/tasks?agent=odd", "/batches", f"/batches/{batch - 1}", f"/tasks/{task - 1}"):
        page.goto(orchestrator.url + path)
        main = page.locator("main")
        expect(main.locator("bdi", has_text=f"Batch {batch - 1}").first).to_be_visible()
        expect(main.locator("bdi", has_text="a customer without a name").first).to_be_visible()
        assert UNSEEN not in main.inner_text(), path
    page.goto(f"{orchestrator.url}/?by=customer&agent=odd")
    for shown in ("a customer without a name", "infdp"):
        expect(page.locator("bdi", has_text=shown)).to_be_visible()
    page.goto(f"{orchestrator.url}/tasks?customer=%E2%80%AE")
    expect(page.locator("#pick-more summary")).to_contain_text("one without a name")
    page.goto(f"{orchestrator.url}/audit")
    expect(page.get_by_text("customer blank")).to_be_visible()
    assert UNSEEN not in page.locator("main").inner_text()
    look(page, "orchestrator-names-unseen")


def test_very_long_names_do_not_push_the_page_apart(
    orchestrator: Served, visit: Visit, connect: Connect, busy: Busy
) -> None:
    """They break, or scroll in their own box."""
    conn = connect("all")
    operator.register_agent(conn, agent=LONG)
    batch = submitter.open_batch(conn, name=LONG * 2, customer=LONG, owner=LONG)
    task = submitter.enqueue(
        conn, agent=LONG, payload={}, batch_id=batch, idempotency_key=LONG, priority=32_000
    )
    (claim,) = worker.dequeue(conn, worker=LONG, agents=[LONG])
    error = {"kind": "bad_input", "message": LONG * 4}
    agent.fail(conn, attempt_id=claim.attempt_id, error=error, retryable=False)
    operator.annotate(conn, task_ids=[task], note=LONG * 5, actor=LONG)
    paths = ("/", "/?by=batch", f"/tasks/{task}", "/tasks", "/agents", f"/batches/{batch}")
    for path in (
        *paths,
        "/batches",
        "/audit",
        "/attempts?kind=failed",
        f"/agents/pause?agent={LONG}",
    ):
        page = visit(orchestrator, path, "root")
        assert_fits(page)
        with seen(page, phone=True):
            assert_fits(page)
        page.context.close()


def test_a_list_of_many_thousands_is_paged(
    orchestrator: Served, visit: Visit, connect: Connect
) -> None:
    """10,000 tasks come 50 at a time; the next page goes on where this one ended."""
    conn = connect("all")
    operator.register_agent(conn, agent="bulk")
    tasks = [{"payload": {}}] * 10_000
    ids = [row.task_id for row in submitter.enqueue_many(conn, agent="bulk", tasks=tasks)]
    page = visit(orchestrator, "/tasks", "vic")
    expect(page.get_by_text("10,000 tasks match")).to_be_visible()
    assert _shown(page) == [str(each) for each in ids[:-51:-1]]
    page.get_by_role("link", name="Older").click()
    page.wait_for_url("**before=**")
    assert _shown(page) == [str(each) for each in ids[-51:-101:-1]]


def _shown(page: Page) -> list[str]:
    return page.locator("tbody th[scope=row]").all_inner_texts()


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("{busy.failed}", "failed"),
        ("letter-1", "paused"),
        ("host-1/4{busy.processing:03}", "processing"),
    ],
)
def test_a_search_finds_one_task(
    query: str, found: str, busy: Busy, orchestrator: Served, visit: Visit
) -> None:
    """By id, by idempotency key, by run."""
    page = visit(orchestrator, "/tasks", "vic")
    page.get_by_label("Search").fill(query.format(busy=busy))
    page.keyboard.press("Enter")
    page.wait_for_url("**q=**")
    assert str(getattr(busy, found)) in _shown(page)
    assert len(_shown(page)) <= 3


def test_the_lease_runs_down_by_the_servers_clock(
    busy: Busy, orchestrator: Served, visit: Visit, connect: Connect
) -> None:
    """A browser whose clock is an hour wrong shows the same as the database says."""
    page = visit(orchestrator, "/system", "vic")
    page.clock.install(time="2031-01-01T00:00:00")
    page.goto(f"{orchestrator.url}/tasks/{busy.processing}")
    words = page.locator("[data-lease-words]")
    expect(words).to_have_text(re.compile(r"1[34] m \d+ s left"))
    before = words.inner_text()
    page.clock.run_for(3000)
    assert words.inner_text() != before
    with_detail = viewer.task_detail(connect("viewer"), task_id=busy.processing)
    assert with_detail.attempts[-1]["status"] == "running"


def test_a_running_attempt_counts_up_by_the_servers_clock_alone(
    busy: Busy, orchestrator: Served, visit: Visit
) -> None:
    """It says nothing by the browser's clock, which may be wrong."""
    page = visit(orchestrator, "/system", "vic")
    page.clock.install(time="2031-01-01T00:00:00")
    page.goto(f"{orchestrator.url}/tasks/{busy.processing}")
    attempt = page.locator(".attempt-running, .attempt-claimed")
    running = attempt.locator("[data-running-since]")
    expect(running).to_have_text(re.compile(r"^\d+ s$"))
    before = int(running.inner_text().removesuffix(" s"))
    page.clock.run_for(10_000)
    assert int(running.inner_text().removesuffix(" s")) >= before + 9
    assert attempt.locator(".remarks time").count() == 0


def test_of_two_sources_of_calls_it_says_which_counts(
    busy: Busy, orchestrator: Served, visit: Visit, connect: Connect
) -> None:
    """What does not count is marked so; where there is one source there is nothing to say."""
    conn = connect("all")
    detail = viewer.task_detail(conn, task_id=busy.retried)
    told = [
        {"source": "trace", "call_id": f"t{n}", "input_tokens": 10, "output_tokens": 1}
        for n in range(9)
    ]
    attempt = detail.attempts[-1]["attempt_id"]
    page = visit(orchestrator, f"/tasks/{busy.retried}", "vic")
    expect(page.get_by_text("both told of calls")).to_have_count(0)
    expect(page.get_by_text("not counted")).to_have_count(0)
    agent.report_usage(conn, attempt_id=attempt, usage=told)
    page.reload()
    shown = page.locator(f"#attempt-{attempt}")
    expect(shown).to_contain_text("those that the trace told")
    expect(shown.locator("summary")).to_have_text("9 calls, told by two sources")
    rows = shown.locator("tbody tr")
    of_trace = rows.filter(has_text="trace")
    expect(of_trace.filter(has_text="counts")).to_have_count(9)
    expect(rows.filter(has_text="not counted")).to_have_count(rows.count() - 9)
    assert rows.count() > 9


def test_a_sum_of_which_a_part_is_not_known_is_marked(
    busy: Busy, orchestrator: Served, visit: Visit
) -> None:
    """In the lists of tasks and of batches, which say what the mark means."""
    for path in ("/tasks?range=all", "/batches"):
        page = visit(orchestrator, path, "vic")
        expect(page.get_by_text("+ means: and what is not known.")).to_be_visible()
        expect(page.get_by_text(re.compile(r"^\$[\d.]+\s\+$")).first).to_be_visible()
        page.context.close()


def test_a_submitter_is_told_where_to_go(
    orchestrator: Served, visit: Visit, complaints: Complaints
) -> None:
    """The dashboard is not theirs; what is theirs is in the other app."""
    complaints.expect("403")
    page = visit(orchestrator, "/", "mila")
    expect(page.locator("h1")).to_have_text("Not allowed")
    expect(page.locator("main")).to_contain_text(
        "Documents are handed in, and their results read, in the intake app."
    )


def test_runs_and_traces_are_linked_as_the_settings_say(
    busy: Busy, serve: Serve, visit: Visit, connect: Connect
) -> None:
    """An id of more than 53 bits stays whole, and the address is the template's."""
    conn = connect("all")
    task = submitter.enqueue(conn, agent="translate", payload={})
    claims = worker.dequeue(conn, worker="d", agents=["translate"], launchers=["lakeflow"])
    worker.record_run(conn, attempt_id=claims[0].attempt_id, run_id="9007199254740993")
    call = {"call_id": "1", "trace_id": "tr-1"}
    agent.report_usage(conn, attempt_id=claims[0].attempt_id, usage=call)
    app = serve(
        "orchestrator",
        FOREBAY_RUN_URL="https://dbx.example/jobs/{job_id}/runs/{run_id}",
        FOREBAY_TRACE_URL="https://dbx.example/traces/{trace_id}",
    )
    page = visit(app, f"/tasks/{task}", "vic")
    run = page.get_by_role("link", name="9007199254740993")
    expect(run).to_have_attribute("href", "https://dbx.example/jobs/81/runs/9007199254740993")
    trace = page.get_by_role("link", name="tr-1").first
    expect(trace).to_have_attribute("href", "https://dbx.example/traces/tr-1")


def test_unknown_is_said_and_never_zero(
    busy: Busy, orchestrator: Served, visit: Visit, superuser: psycopg.Connection, connect: Connect
) -> None:
    """A task whose attempt told of no call has used we do not know what: the page says so."""
    conn = connect("all")
    operator.register_agent(conn, agent="silent")
    task = submitter.enqueue(conn, agent="silent", payload={})
    (claim,) = worker.dequeue(conn, worker="w", agents=["silent"])
    agent.complete(conn, attempt_id=claim.attempt_id, result={})
    page = visit(orchestrator, f"/tasks/{task}", "vic")
    facts = page.locator(".facts").nth(1)
    expect(facts).to_contain_text(re.compile(r"LLM cost\s*no call reported"))
    page.goto(f"{orchestrator.url}/tasks?agent=silent")
    row = page.locator("tbody tr")
    assert row.get_by_text("none reported").count() == 2
    page.goto(f"{orchestrator.url}/?agent=silent")
    expect(page.locator("section", has=page.locator("#figure-llm")).last).to_contain_text("unknown")


def _facts(page: Page, name: str) -> Locator:
    return page.locator("dl.facts div", has=page.locator("dt", has_text=name)).locator("dd")


def test_a_call_of_pages_says_how_many_and_whose_price_it_has(
    orchestrator: Served, visit: Visit, connect: Connect
) -> None:
    """Pages stand in place of tokens that there are none of, and each cost says whose it is."""
    conn = connect("all")
    operator.register_agent(conn, agent="a")
    operator.register_price(conn, model="ai_parse_document", usd_per_page=Decimal("0.003"))
    task = submitter.enqueue(conn, agent="a", payload={})
    (claim,) = worker.dequeue(conn, worker="w", agents=["a"])
    by_page = {"call_id": "p", "model": "ai_parse_document", "pages": 2}
    with_a_cost = {"call_id": "r", "model": "m", "cost_usd": 1, "pages": 1}
    calls = [
        by_page | {"input_tokens": 0, "output_tokens": 0},
        with_a_cost | {"input_tokens": 10, "output_tokens": 5},
    ]
    agent.report_usage(conn, attempt_id=claim.attempt_id, usage=calls)
    agent.complete(conn, attempt_id=claim.attempt_id, result={})
    page = visit(orchestrator, f"/tasks/{task}", "vic")
    rows = page.locator(".attempt tbody tr")
    used = ["agent", "2 pages", "–", "–", "$0.0060 agent price", "unknown", "–"]
    expect(rows.nth(0).locator("td")).to_have_text(["ai_parse_document", *used])
    expect(rows.nth(1).locator("td").nth(2)).to_have_text("10 and 1 page")
    expect(rows.nth(1)).to_contain_text(re.compile(r"\$1\.00\s*agent reported"))
    expect(_facts(page, "LLM cost")).to_have_text("$1.01 agent price, agent reported")
    expect(_facts(page, "pages")).to_have_text("3")
    said = page.locator(".attempt .remarks").first
    expect(said).to_contain_text("LLM cost $1.01 (agent price, agent reported)")
    look(page, "orchestrator-task-of-pages")


def test_a_list_price_of_a_trace_is_called_so(
    orchestrator: Served, visit: Visit, connect: Connect
) -> None:
    """Of a model without a registered price, what MLflow makes of it is no price of ours."""
    conn = connect("all")
    operator.register_agent(conn, agent="a")
    task = submitter.enqueue(conn, agent="a", payload={})
    (claim,) = worker.dequeue(conn, worker="w", agents=["a"])
    used = {"source": "trace", "input_tokens": 10, "output_tokens": 5, "list_usd": 2}
    agent.report_usage(conn, attempt_id=claim.attempt_id, usage=used | {"call_id": "t"})
    agent.complete(conn, attempt_id=claim.attempt_id, result={})
    page = visit(orchestrator, f"/tasks/{task}", "vic")
    expect(_facts(page, "LLM cost")).to_have_text("$2.00 trace list price")


def test_compute_that_was_not_looked_up_is_unknown(
    orchestrator: Served, visit: Visit, connect: Connect
) -> None:
    """A cost of models alone is called so, beside it is said what it leaves out."""
    conn = connect("all")
    operator.register_agent(conn, agent="a")
    tasks = [submitter.enqueue(conn, agent="a", payload={}) for _ in range(3)]
    claims = worker.dequeue(conn, worker="w", agents=["a"], batch_size=2)
    done = claims[0].attempt_id
    call = {"call_id": "1", "model": "m", "cost_usd": "0.0082"}
    agent.report_usage(conn, attempt_id=done, usage=call | {"input_tokens": 9, "output_tokens": 9})
    agent.complete(conn, attempt_id=done, result={})
    operator.cancel(conn, task_ids=[tasks[2]], reason="r", actor="oscar")
    for task, said in zip(tasks, ("unknown", "not known yet", "nothing ran"), strict=True):
        page = visit(orchestrator, f"/tasks/{task}", "vic")
        expect(_facts(page, "compute cost")).to_have_text(said)
        if task != tasks[2]:
            expect(page.locator(".attempt .remarks").first).to_contain_text(f"compute cost {said}")
        page.context.close()
    record = {"record_id": "1", "attempt_id": done, "usd": "2"}
    upkeep.record_compute_usage(conn, rows=[record], source="cloud bill")
    page = visit(orchestrator, f"/tasks/{tasks[0]}", "vic")
    expect(_facts(page, "compute cost")).to_have_text("$2.00 cloud bill")
    remarks = page.locator(".attempt .remarks").first
    expect(remarks).to_contain_text("LLM cost $0.0082 (agent reported)")
    expect(remarks).to_contain_text("compute cost $2.00 (cloud bill)")
