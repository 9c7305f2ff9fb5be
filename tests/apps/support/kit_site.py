"""A small site made of the kit: pages with live parts, for tests of how these behave."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

from fastapi import Depends, FastAPI, Request
from starlette.responses import Response

from forebay.calls import viewer
from forebay_apps.web.app import Site, build
from forebay_apps.web.database import Db
from forebay_apps.web.guard import Admin, Operator, Viewer, requires
from forebay_apps.web.pages import Pages, back, fragment, page
from forebay_apps.web.people import Person

AnyPerson = Annotated[Person, Depends(requires("submitter"))]

BOARD = """
{% call only("operator") %}<p>Act</p>{% endcall %}
<h2>{{ total }} tasks</h2>
<details id="more"><summary>More</summary><p>As of {{ total }}</p></details>
<label>Note <input id="note" value=""></label>
<div id="box" class="scroll" style="height: 60px" tabindex="0" role="region" aria-label="Tasks">
<ul>{% for task in tasks %}<li id="task-{{ task.task_id }}">
<a id="link-{{ task.task_id }}" href="#{{ task.task_id }}">{{ task.task_id }} {{ task.status }}</a>
</li>{% endfor %}</ul></div>
<div id="kept" data-keep>{{ total }}</div>
"""
TEMPLATES = {
    "board.html": '{% extends "base.html" %}{% block main %}<h1>Board</h1>'
    '{{ live("/board/now", request.url.query, id="now", class_="card", label="Now") }}'
    '{{ live("/mine", id="mine") }}{% endblock %}',
    "now.html": BOARD,
    "mine.html": "<p>For {{ person.name }}, {{ person.role }}</p>",
    "empty.html": '{% extends "base.html" %}{% block main %}<h1>Empty</h1>'
    '<section class="card empty"><p>There is nothing here yet.</p></section>{% endblock %}',
    "broken.html": '{% extends "base.html" %}{% block main %}<h1>Broken</h1>'
    '{{ live("/broken/now") }}{{ live("/mine", id="mine") }}{% endblock %}',
}


def make_site(variables: Mapping[str, str], folder: Path) -> FastAPI:
    """Return the site; `app.state.made` and `acted` count boards that were made and acts."""
    (folder / "templates").mkdir(exist_ok=True)
    for name, text in TEMPLATES.items():
        (folder / "templates" / name).write_text(text)
    nav = [("Board", "/", "submitter"), ("Rules", "/rules", "admin")]
    app = build(
        Site(
            "kit",
            "Kit",
            folder,
            [_routes()],
            nav=nav,
            open_paths=["/api/open"],  # type: ignore[arg-type]
        ),
        variables,
    )
    app.state.made = app.state.acted = 0
    return app


def _routes() -> Pages:
    router = Pages()

    @router.page("/")
    def board(request: Request, person: AnyPerson) -> Response:
        return page(request, "board.html")

    @router.fragment("/board/now", is_personal=False)
    def now(request: Request, person: Viewer, db: Db, limit: int = 100) -> Response:
        request.app.state.made += 1
        with db.viewer() as conn:
            total = sum(count.tasks for count in viewer.task_counts(conn))
            tasks = viewer.list_tasks(conn, limit=limit)
        return fragment(request, "now.html", total=total, tasks=tasks)

    @router.fragment("/mine")
    def mine(request: Request, person: AnyPerson) -> Response:
        return fragment(request, "mine.html")

    @router.page("/broken")
    def broken(request: Request, person: AnyPerson) -> Response:
        return page(request, "broken.html")

    @router.fragment("/broken/now")
    def broken_now(request: Request, person: AnyPerson) -> Response:
        raise RuntimeError("a secret of the inside")

    @router.page("/empty")
    def empty(request: Request, person: AnyPerson) -> Response:
        return page(request, "empty.html")

    @router.page("/rules")
    def rules(request: Request, person: Admin) -> Response:
        return page(request, "empty.html")

    @router.act("/act")
    def act(request: Request, person: Operator) -> Response:
        request.app.state.acted += 1
        return back(request, "/empty", f"<Done> by {person.name}.")

    @router.act("/api/open")
    def opened(request: Request) -> Response:
        return Response("opened")

    return router
