"""The list of tasks: searched, filtered, a page at a time, and picked from to act on."""

from __future__ import annotations

from fastapi import Request
from starlette.responses import Response

from forebay.calls import viewer
from forebay.rows import TaskSummary
from forebay_apps.orchestrator.acts import ACTS
from forebay_apps.orchestrator.costs import AND_MORE, NOTHING
from forebay_apps.orchestrator.filter_form import shown
from forebay_apps.orchestrator.lists import PAGE_SIZE, Filtered, agent_names, older, query
from forebay_apps.web import formats
from forebay_apps.web.database import Db
from forebay_apps.web.guard import Viewer
from forebay_apps.web.ids import OptionalId
from forebay_apps.web.pages import Pages, fragment, page

MOST_COUNTED = 100_000
NO_CALL = "none reported"
"""Of tokens and costs of a task whose attempts told of no call of a model."""

router = Pages()


@router.page("/tasks")
def tasks(
    request: Request, person: Viewer, db: Db, filters: Filtered, before: OptionalId = None
) -> Response:
    """Show the page around the list."""
    return page(
        request,
        "tasks.html",
        **shown(filters, agent_names(db)),
        before=before,
        list_query=query(filters.pairs(), before),
        acts=ACTS.values(),
        may_act=person.may("operator"),
    )


@router.fragment("/tasks/list", is_personal=False)
def task_list(
    request: Request, person: Viewer, db: Db, filters: Filtered, before: OptionalId = None
) -> Response:
    """Show a page of the tasks that match, and how many do."""
    with db.viewer() as conn:
        found = viewer.list_tasks(
            conn, **filters.tasks(), before_task_id=before, limit=PAGE_SIZE + 1
        )
        count = viewer.count_matching(conn, **filters.tasks())
        now = viewer.server_time(conn)
    return fragment(
        request,
        "tasks_list.html",
        tasks=found[:PAGE_SIZE],
        older=older("/tasks", filters.pairs(), found, "task_id"),
        count=count_words(count),
        is_filtered=not filters.is_open,
        now=now,
        is_partial=any(AND_MORE in tokens(task) + cost(task) for task in found[:PAGE_SIZE]),
        nothing=NOTHING,
        tokens_of=tokens,
        cost_of=cost,
    )


def count_words(count: int) -> str:
    """Return how many match; counting ends at a bound."""
    if count > MOST_COUNTED:
        return f"more than {formats.number(MOST_COUNTED)} tasks match"
    return "1 task matches" if count == 1 else f"{formats.number(count)} tasks match"


def tokens(task: TaskSummary) -> str:
    """Return what a task has used; + where some attempt has not told."""
    if not task.attempt_count:
        return NOTHING
    if task.used_input_tokens is None or task.used_output_tokens is None:
        return NOTHING if task.status == "processing" else NO_CALL
    used = formats.number(task.used_input_tokens + task.used_output_tokens)
    return used if task.is_usage_known else f"{used}{AND_MORE}"


def cost(task: TaskSummary) -> str:
    """Return what a task's calls have cost; + where some of it is not known."""
    if not task.attempt_count:
        return NOTHING
    if task.cost_usd is None:
        if task.status == "processing":
            return NOTHING
        return NO_CALL if task.used_input_tokens is None else formats.UNKNOWN
    return (
        formats.usd(task.cost_usd)
        if task.is_cost_known
        else f"{formats.usd(task.cost_usd)}{AND_MORE}"
    )
