"""Acts on one task, on many, or on all that match: asked first, then done, in two requests."""

from __future__ import annotations

from collections import Counter
from typing import Annotated, Any

from fastapi import Depends, Request
from psycopg import Connection
from starlette.datastructures import FormData
from starlette.responses import Response

from forebay.calls import operator, viewer
from forebay.errors import MatchChangedError
from forebay_apps.orchestrator.acts import ACTS, Act, outcome, tasks_words
from forebay_apps.orchestrator.fields import Fields, every, first, whole
from forebay_apps.orchestrator.filter_form import words
from forebay_apps.orchestrator.filters import Filters
from forebay_apps.web import formats
from forebay_apps.web.database import Access, Db
from forebay_apps.web.errors import Refusal
from forebay_apps.web.guard import Operator
from forebay_apps.web.pages import Pages, back, local, page

MOST_PICKED = 1000
PRIORITIES = (-32768, 32767)

router = Pages()


async def _form(request: Request) -> FormData:
    return await request.form(max_files=0, max_fields=MOST_PICKED + 100)


@router.page("/act")
def ask(request: Request, person: Operator, db: Db) -> Response:
    """Ask whether an act is meant, and for what it needs: tasks are named, or all that match."""
    query = request.query_params
    act = _act(query)
    if "all" not in query:
        task_ids = _task_ids(query)
        return _question(request, act, task_ids=task_ids, back=_back(query))
    filters = Filters.read(query).fixed()
    with db.viewer() as conn:
        expected = viewer.count_matching(conn, **filters.tasks())
    return _question(request, act, filters=filters, expected=expected, back=_back(query))


@router.act("/act")
def act_on(
    request: Request, person: Operator, db: Db, form: Annotated[FormData, Depends(_form)]
) -> Response:
    """Do the act, in the name of the person, and go back to where it was asked for."""
    act = _act(form)
    given: dict[str, Any] = {"reason": _text(form, "reason") or None, "actor": person.name}
    if "expected" not in form:
        with db.operator() as conn:
            effects = _do(conn, act, _task_ids(form), form, given)
        return back(request, _back(form), outcome(act, Counter(effects).items()))
    filters = Filters.read(form)
    try:
        with db.operator() as conn:
            counts = operator.act_on_matching(
                conn,
                act=act.name,
                expected=_expected(form),
                **filters.tasks(),
                priority=_priority(form) if act.has_priority else None,
                note=_text(form, "note") if act.has_note else None,
                **given,
            )
    except MatchChangedError as moved:
        return _asked_again(request, db, act, filters, form, moved)
    return back(request, _back(form), outcome(act, [(row.effect, row.tasks) for row in counts]))


def _do(
    conn: Connection[Any], act: Act, task_ids: list[int], form: FormData, given: dict[str, Any]
) -> list[str]:
    """Act on these tasks, and return what it did to each."""
    if act.has_priority:
        given = given | {"priority": _priority(form)}
    if act.has_note:
        given = given | {"note": _text(form, "note")}
    call = getattr(operator, act.name)
    return [row.effect for row in call(conn, task_ids=task_ids, **given)]


def _asked_again(
    request: Request,
    db: Access,
    act: Act,
    filters: Filters,
    form: FormData,
    moved: MatchChangedError,
) -> Response:
    """Ask once more with the count of now: not as many match as the person was told."""
    with db.viewer() as conn:
        expected = viewer.count_matching(conn, **filters.tasks())
    return _question(
        request,
        act,
        status=409,
        filters=filters,
        expected=expected,
        back=_back(form),
        changed=f"Nothing was done: {formats.number(_expected(form))} tasks matched when"
        f" you were asked, now it is {formats.number(expected)}. Look again.",
        note=_text(form, "note"),
        reason=_text(form, "reason"),
        priority=_text(form, "priority"),
    )


def _question(request: Request, act: Act, *, status: int = 200, **values: Any) -> Response:
    filters: Filters | None = values.pop("filters", None)
    known: dict[str, Any] = {
        "task_ids": [],
        "expected": 0,
        "changed": "",
        "note": "",
        "reason": "",
        "priority": "10" if act.name == "reprocess" else "0",
        "described": " and ".join(words(filters)) if filters else "",
        "fields": filters.pairs() if filters else [],
    }
    known |= values
    count = len(known["task_ids"]) or known["expected"]
    known |= {"act": act, "count": count, "words": act.on.format(tasks_words(count))}
    return page(request, "act.html", status=status, **known)


def _act(fields: Fields) -> Act:
    name = first(fields, "act")
    if name not in ACTS:
        raise Refusal(400, f"There is no act {name[:40]!r}: it is one of {', '.join(ACTS)}.")
    return ACTS[name]


def _task_ids(fields: Fields) -> list[int]:
    said = every(fields, "task")
    if not said:
        raise Refusal(400, "No task was picked: go back and pick some.")
    if len(said) > MOST_PICKED:
        raise Refusal(400, f"At most {MOST_PICKED:,} tasks are picked at once: use all that match.")
    return list(dict.fromkeys(whole(each, "task") for each in said))


def _back(fields: Fields) -> str:
    """Return where to go afterwards: an address of this site, whatever was sent."""
    return local(first(fields, "back"), "/tasks")


def _text(fields: Fields, name: str) -> str:
    return first(fields, name).replace("\r\n", "\n")


def _expected(fields: Fields) -> int:
    return whole(first(fields, "expected"), "count")


def _priority(fields: Fields) -> int:
    said = _text(fields, "priority")
    low, high = PRIORITIES
    try:
        if low <= (priority := int(said)) <= high:
            return priority
    except ValueError:
        pass
    raise Refusal(400, f"The priority is a whole number from {low:,} to {high:,}.")
